"""`brimgate demo`: a tour. It calls a server with large answers directly, through `brimgate run` and from a shell."""

import argparse
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from brimgate.cli import Commands
from brimgate.cli.output import complain, write_text
from brimgate.cli.tour import Client, DemoAnswer, FinishedWalk, Json, Quit, Stage, connect, walk
from brimgate.config.declarations import Config, Server, Telemetry, Upstream
from brimgate.config.sources import load
from brimgate.engine import jsontext
from brimgate.engine.document import Document
from brimgate.watch.log import Log

_EXAMPLE: Final = """example:
  brimgate demo
  brimgate demo --fast | less
  brimgate demo --serve
"""
_GRAPH: Final = (sys.executable, "-m", "brimgate.sandboxes.graphiti")
_PROPERTIES: Final = (sys.executable, "-m", "brimgate.sandboxes.demo")
_BRIMGATE: Final = (sys.executable, "-m", "brimgate")
_TOOL: Final = "search_memory_facts"
_QUESTION: Final[Json] = {"query": "replicates runs", "max_facts": 500}
_NEEDLE: Final = {
    "source_node_name": "NimbusDB",
    "edge_name": "BACKUP_FAILED",
    "fact": "NimbusDB runs without a backup: the nightly copy to TriesteIndex has failed since 3 November, "
    "and nobody was told",
    "target_node_name": "TriesteIndex",
}
"""Its many words make it the weakest match, and so the last: no answer that is cut to its beginning has it."""
_OTHER_CALLS: Final[dict[tuple[str, ...], dict[str, Json]]] = {
    _GRAPH: {
        "search_nodes": {"query": "the", "max_nodes": 300},
        "get_episodes": {"max_episodes": 300},
        "build_communities": {},
    },
    _PROPERTIES: {"list_bookings": {}, "read_log": {}},
}
_SHELL_CALL: Final = ("call", "search_nodes", "nightly backup", "max_nodes=8")
_SHELL_OPTIONS: Final = ("--pack", "graphiti", "--metrics")
_WINDOW_TOKENS: Final = 200_000
_PLACED: Final = re.compile(r"(/\S*?(\d+)): ")
_RARE: Final = re.compile(r"/\S+: .*\(1 of [\d,]+\)")
"""A line about what stands out: a value that nothing else has."""


def add_parser(commands: Commands) -> None:
    parser = commands.add_parser(
        "demo",
        help="see in thirty seconds what Brimgate does to large answers",
        description="A tour: an agent's question to a knowledge graph, answered directly and behind `brimgate run`; "
        "reading on from a cursor, finding what a cut would have hidden, and walking to the end to prove that nothing is "
        "lost. On a terminal it goes on by itself, or at any key; q ends it. Exits with 1 if anything was lost.",
        epilog=_EXAMPLE,
    )
    parser.add_argument("--fast", action="store_true", help="without pauses, as where there is no terminal")
    parser.add_argument(
        "--serve",
        action="store_true",
        help="then serve the graph over HTTP, for clients of your own, until Ctrl-C",
    )
    parser.add_argument("--port", metavar="N", help="port to serve it on (default: 3010)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    is_kept = True
    try:
        with Stage(is_fast=options.fast, quitting="serve at once" if options.serve else "end") as stage:
            is_kept = _show_all(stage)
    except Quit:
        complain("all of it at once: brimgate demo --fast")
    if options.serve and is_kept:
        _serve(options.port)
    return 0 if is_kept else 1


def _show_all(stage: Stage) -> bool:
    """Return whether everything was there in the end."""
    with TemporaryDirectory(prefix="brimgate-demo-") as state:
        environment = _environment(state)
        with connect(_GRAPH, environment) as direct, connect(_behind(_GRAPH), environment) as gated:
            for server in (direct, gated):
                server.call("add_triplet", _NEEDLE)
            whole = _ask_directly(stage, direct)
            first = _ask_behind(stage, gated, whole)
            _read_on(stage, gated, first)
            is_found = _find_the_odd_one(stage, gated, first, whole)
            walked = walk(gated, first)
            _tell_walk(stage, walked, whole)
        is_answered = _call_from_a_shell(stage, environment)
        is_kept = _compare_all(stage, environment, whole, walked)
    _show_how(stage)
    return is_found and is_answered and is_kept


def _ask_directly(stage: Stage, direct: Client) -> DemoAnswer:
    whole = direct.call(_TOOL, _QUESTION)
    share = whole.tokens / _WINDOW_TOKENS
    stage.head("1  An agent asks its memory which databases run where, and replicate to where")
    stage.say(_as_call(_TOOL, _QUESTION))
    stage.quote(whole.lines, 12)
    stage.say(
        f"All of it would go to the model: {_tokens(whole.tokens)}, {share:.0%} of a window of {_WINDOW_TOKENS:,}, "
        "for one call. One of these facts matters more than the others; we have just added it with add_triplet."
    )
    stage.pause()
    return whole


def _ask_behind(stage: Stage, gated: Client, whole: DemoAnswer) -> DemoAnswer:
    first = gated.call(_TOOL, _QUESTION)
    stage.head("2  The same call behind `brimgate run`")
    stage.quote(first.lines, 12)
    stage.say(
        f"{_tokens(first.tokens)} in place of {_tokens(whole.tokens)}, {_saved(whole.tokens, first.tokens)} saved: how to "
        "go on, what stands out in the rest and where it is, a first page as a table. (The notice counts on the safe side.)"
    )
    stage.pause()
    return first


def _read_on(stage: Stage, gated: Client, first: DemoAnswer) -> None:
    onward = {"cursor": first.record["nextCursor"]}
    page = gated.call("brimgate_read", onward)
    stage.head("3  Following the cursor")
    stage.say(_as_call("brimgate_read", onward))
    stage.quote(page.lines, 5)
    stage.say(f"The next page, {_tokens(page.tokens)}. Or only the fields that one wants to read:")
    stage.gap()
    chosen = onward | {"fields": "fact,valid_at"}
    fields = gated.call("brimgate_read", chosen)
    stage.say(_as_call("brimgate_read", chosen))
    stage.quote(fields.lines, 7)
    stage.say(f"{_tokens(fields.tokens)}. The tool did not run again: Brimgate holds its answer.")
    stage.pause()


def _find_the_odd_one(stage: Stage, gated: Client, first: DemoAnswer, whole: DemoAnswer) -> bool:
    record = first.record
    stage.head("4  Finding what a cut would have hidden")
    line = _odd_one(first.remarks)
    placed = _PLACED.match(line)
    if not placed:
        stage.say("The first page names nothing that stands out: what we added is lost in the rest.")
        return False
    at, total = int(placed[2]), record["total"]["items"]
    asked = {"cursor": record["nextCursor"], "path": placed[1]}
    section = gated.call("brimgate_read", asked)
    stage.say(
        f"The first page shows {record['shown']['items']} of {total:,} items, and names one of the others:"
    )
    stage.quote([line], 1)
    stage.say(_as_call("brimgate_read", asked))
    for one in section.lines:
        stage.quote_whole(one)
    is_same = walk(gated, section).rebuilt == _at(whole, asked["path"])
    stage.say(
        f"Item {at + 1:,} of {total:,}, {_tokens(section.tokens)}, {_verdict(is_same)}. "
        "An answer cut to its beginning would never have shown it."
    )
    stage.pause()
    return is_same


def _odd_one(remarks: list[str]) -> str:
    """Return a value that nothing else has, else the last of what stands out; empty if nothing does."""
    placed = [line for line in remarks if _PLACED.match(line)]
    return next((line for line in placed if _RARE.match(line)), placed[-1] if placed else "")


def _at(whole: DemoAnswer, path: str) -> bytes:
    source = Document(jsontext.canonical(whole.texts[0].encode()))
    return source.raw(source.resolve(path))


def _tell_walk(stage: Stage, walked: FinishedWalk, whole: DemoAnswer) -> None:
    stage.head("5  Walking to the end")
    stage.say(
        f"From cursor to cursor: {len(walked.tokens)} replies, none above {_tokens(max(walked.tokens))}, together "
        f"{_tokens(sum(walked.tokens))} where the original has {_tokens(whole.tokens)}."
    )
    stage.say(
        f"Put together again from these replies alone: {len(walked.rebuilt):,} bytes of JSON, "
        f"{_verdict(walked.gives(whole.texts[0].encode()))}. Only white space between values is not kept."
    )
    stage.pause()


def _call_from_a_shell(stage: Stage, environment: dict[str, str]) -> bool:
    done = subprocess.run(  # noqa: S603  # our own command
        (*_BRIMGATE, *_SHELL_CALL, *_SHELL_OPTIONS, "--", *_GRAPH),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment,
        check=False,
    )
    stage.head("6  From a shell, without any agent")
    # Three lines, because the commands may be paths.
    lines = (
        f"$ {_shown('brimgate')} {shlex.join(_SHELL_CALL)}",
        shlex.join(_SHELL_OPTIONS),
        f"-- {_shown('python')} {shlex.join(_GRAPH[1:])}",
    )
    stage.paste(" \\\n    ".join(lines))
    stage.quote(_lines(done.stdout), 12)
    stage.quote(_lines(done.stderr), 4)
    stage.pause()
    return done.returncode == 0


def _compare_all(stage: Stage, environment: dict[str, str], whole: DemoAnswer, walked: FinishedWalk) -> bool:
    stage.head("7  Other tools, and all of them walked to the end")
    stage.row(f"{'tool':20}{'direct':>8}{'first answer':>13}{'saved':>7}{'all of it':>11}  walked back")
    is_kept = _compare(stage, _TOOL, whole, walked)
    for command, calls in _OTHER_CALLS.items():
        with connect(command, environment) as direct, connect(_behind(command), environment) as gated:
            for tool, arguments in calls.items():
                one = direct.call(tool, arguments)
                is_kept &= _compare(stage, tool, one, walk(gated, gated.call(tool, arguments)))
    stage.say("Tokens as Claude counts them. What fits into the budget passes as it is.")
    stage.pause()
    return is_kept


def _compare(stage: Stage, tool: str, whole: DemoAnswer, walked: FinishedWalk) -> bool:
    """Write a line of the table: the cost without us, with us at first, and with us for everything."""
    before, first, count = whole.tokens, walked.tokens[0], len(walked.tokens)
    is_same = walked.gives(whole.texts[0].encode())
    stage.row(
        f"{tool:20}{before:>8,}{first:>13,}{_saved(before, first):>7}{sum(walked.tokens):>11,}"
        f"  {count:>3} {'reply' if count == 1 else 'replies'}, {_verdict(is_same)}"
    )
    return is_same


def _show_how(stage: Stage) -> None:
    stage.head("8  In front of a server of your own")
    stage.say("Where a client starts its servers, brimgate run -- goes before the command:")
    stage.paste(_snippet({"command": _entry_command(), "args": ["run", "--", *_GRAPH]}))
    stage.say("For clients that want a URL:")
    stage.paste(f"$ {_shown('brimgate')} serve -- COMMAND ARGS…")


def _environment(state: str) -> dict[str, str]:
    """Return an environment that makes the tour the same for everybody, and leaves nothing behind."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("BRIMGATE_")}
    return own | {"BRIMGATE_STATE_DIR": state}


def _behind(command: tuple[str, ...]) -> tuple[str, ...]:
    return (*_BRIMGATE, "run", "--log-level", "error", "--", *command)


def _as_call(tool: str, arguments: Json) -> str:
    return f"{tool}({', '.join(f'{name}={json.dumps(value)}' for name, value in arguments.items())})"


def _tokens(count: int) -> str:
    """Write a number of tokens with a non-breaking space."""
    return f"{count:,}\u00a0tokens"


def _saved(before: int, after: int) -> str:
    """Round down: never claim that everything is saved."""
    return f"{max(before - after, 0) * 100 // before}%"


def _verdict(is_same: bool) -> str:
    return "exact" if is_same else "NOT the same"


def _lines(data: bytes) -> list[str]:
    return data.decode("utf-8", "replace").splitlines()


def _beside(name: str) -> Path:
    return Path(sys.executable).with_name(name)


def _shown(name: str) -> str:
    """Return our command for this shell: its name if that is found, else its path."""
    found, beside = shutil.which(name), _beside(name)
    if not beside.exists() or (found and Path(found) == beside):
        return name
    here = Path.cwd()
    return shlex.quote(str(beside.relative_to(here) if beside.is_relative_to(here) else beside))


def _entry_command() -> str:
    """Return the command, with its path if its name is not found."""
    beside = _beside("brimgate")
    return "brimgate" if shutil.which("brimgate") or not beside.exists() else str(beside)


def _snippet(entry: dict[str, Any]) -> str:
    """Return the entry for a client's configuration."""
    return json.dumps({"mcpServers": {"demo": entry}}, indent=2)


def _serve(port: str | None) -> None:
    from brimgate.cli.serve import run_loop, serve

    demo = {"demo": Upstream(command=_GRAPH[0], args=_GRAPH[1:])}

    chosen = {"--port": port or _usual_port()}

    def read(_: bytes | None = None) -> Config:
        # What is tried here is no part of anybody's statistics.
        return replace(load(overrides=chosen), upstreams=demo, telemetry=Telemetry(enabled=False))

    config = read()
    run_loop(serve(config, read, None, Log(config.effective_log_level, config.log_format), on_open=_announce))


def _usual_port() -> str:
    """Return the default port, or any if it is in use: a demo should need no configuration."""
    usual = Server()
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((usual.host, usual.port))
        except OSError:
            complain(f"port {usual.port} is in use by another program: taking a free one")
            return "0"
    return str(usual.port)


def _announce(address: str, _: Config, __: object) -> None:
    url = f"{address}/mcp"
    write_text(
        f"\nThe graph of the tour is served at {url} until Ctrl-C.\n\n"
        f"{_snippet({'type': 'http', 'url': url})}\n\n"
        f"  Claude Code     claude mcp add --transport http demo {url}\n"
        f"  n8n and others  {url}\n"
        f"  older clients   {address}/sse\n"
        f"  health check    curl {address}/health\n\n"
    )
