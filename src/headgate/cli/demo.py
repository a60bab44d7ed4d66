"""`headgate demo`: a server with large answers, called directly and through `headgate run`."""

import argparse
import json
import shutil
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from headgate.cli import complain
from headgate.cli.output import write_text
from headgate.cli.parsers import Commands
from headgate.config import Config, Server, Upstream, load
from headgate.engine import jsontext
from headgate.engine.rebuild import Rebuilder, next_on_walk
from headgate.engine.reply import Reply
from headgate.engine.source import Source
from headgate.engine.tokens import Estimator
from headgate.watch.log import Log

_EXAMPLE: Final = """example:
  headgate demo
  headgate demo --serve
"""
_SERVER: Final = (sys.executable, "-m", "headgate.testing.demo_server")
_CALLS: Final[dict[str, dict[str, Any]]] = {
    "list_bookings": {},
    "list_listings": {},
    "list_tasks": {},
    "read_log": {},
    "read_document": {},
    "search_knowledge": {"query": "guest"},
    "fail": {},
}
_SHOWN_LINES: Final = 12


def add_parser(commands: Commands) -> None:
    parser = commands.add_parser(
        "demo",
        help="see what Headgate does to a server with large answers",
        description="Start a property manager's MCP server directly and behind `headgate run`, make the same calls of "
        "both, compare what a model would get, and read on to the end to prove that nothing is lost.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--serve", action="store_true", help="then serve it over HTTP, for clients of your own, until Ctrl-C"
    )
    parser.add_argument("--port", metavar="N", help="port to serve it on (default: 3010)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    status = _compare_all()
    if options.serve and not status:
        _serve(options.port)
    return status


def _compare_all() -> int:
    through = (sys.executable, "-m", "headgate", "run", "--log-level", "error", "--", *_SERVER)
    lost: list[str] = []
    with _server(_SERVER) as direct, _server(through) as gated:
        first = gated.call("list_bookings")
        lines = "\n".join(block["text"] for block in first["content"]).split("\n")
        shown = "\n".join(line[:150] + ("…" if len(line) > 150 else "") for line in lines[:_SHOWN_LINES])
        write_text(
            f"What a model gets for `list_bookings`:\n\n{shown}\n… {len(lines) - _SHOWN_LINES} more lines\n\n"
        )
        write_text(
            f"{'tool':20}{'direct':>10}{'first answer':>15}{'saved':>8}{'all of it':>12}   walked back\n"
        )
        for tool, arguments in _CALLS.items():
            whole = direct.call(tool, **arguments)["content"][0]["text"]
            row, is_same = _compare(gated, tool, whole)
            write_text(row)
            if not is_same:
                lost.append(tool)
    write_text(f"\n(tokens as Claude counts them)\n\nTo use it in a client:\n\n{_snippet(_entry())}\n\n")
    complain("put it before a server of your own: headgate run -- COMMAND ARGS…")
    return 1 if lost else 0


def _entry() -> dict[str, Any]:
    """With the path, where the command is not found by its name."""
    beside = Path(sys.executable).with_name("headgate")
    command = "headgate" if shutil.which("headgate") or not beside.exists() else str(beside)
    return {"command": command, "args": ["run", "--", *_SERVER]}


def _snippet(entry: dict[str, Any]) -> str:
    """What goes into the configuration of a client."""
    return json.dumps({"mcpServers": {"demo": entry}}, indent=2)


def _serve(port: str | None) -> None:
    from headgate.cli.serve import run_loop, serve

    demo = {"demo": Upstream(command=_SERVER[0], args=_SERVER[1:])}

    chosen = {"server.port": port or _usual_port()}

    def read() -> Config:
        return replace(load(overrides=chosen), upstreams=demo)

    config = read()
    run_loop(serve(config, read, None, Log(config.effective_log_level, config.log_format), on_open=_announce))


def _usual_port() -> str:
    """The one that serve takes, or any if somebody else has it: whoever tries a demo has nothing to configure yet."""
    usual = Server()
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((usual.host, usual.port))
        except OSError:
            return "0"
    return str(usual.port)


def _announce(address: str, _: Config) -> None:
    url = f"{address}/mcp"
    write_text(
        f"Served at {url} until Ctrl-C.\n\n"
        f"{_snippet({'type': 'http', 'url': url})}\n\n"
        f"  Claude Code     claude mcp add --transport http demo {url}\n"
        f"  n8n and others  {url}\n"
        f"  older clients   {address}/sse\n"
        f"  is it well?     curl {address}/health\n\n"
    )


def _compare(gated: "_Client", tool: str, whole: str) -> tuple[str, bool]:
    """A line of the table: what is paid without us, with us at first, and with us for everything."""
    count = Estimator().count
    rebuilder = Rebuilder()
    result = gated.call(tool, **_CALLS[tool])
    costs: list[int] = []
    while True:
        texts = [block["text"] for block in result["content"]]
        costs.append(count("\n".join(texts)))
        reply = Reply.from_wire(texts[0], texts[1], result["_meta"]["headgate/result"])
        rebuilder.feed(reply)
        cursor = next_on_walk(reply)
        if not cursor:
            break
        result = gated.call("headgate_read", cursor=cursor)
    data = whole.encode()
    is_same = rebuilder.answer() == (jsontext.canonical(data) if Source(data).is_json else data)
    before = count(whole)
    verdict = f"{len(costs):>4} replies, {'exact' if is_same else 'NOT the same'}"
    saved = f"{1 - costs[0] / before:.0%}"
    return f"{tool:20}{before:>10,}{costs[0]:>15,}{saved:>8}{sum(costs):>12,}   {verdict}\n", is_same


class _Client:
    """As small a client as there can be: one call at a time, in raw lines."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self._calls = 0

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._calls += 1
        self.send({"jsonrpc": "2.0", "id": self._calls, "method": method, "params": params})
        line = self._process.stdout.readline() if self._process.stdout else b""
        answer: dict[str, Any] = json.loads(line)
        return answer["result"]

    def send(self, message: dict[str, Any]) -> None:
        if self._process.stdin:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()


@contextmanager
def _server(command: tuple[str, ...]) -> Generator[_Client]:
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:  # noqa: S603
        client = _Client(process)
        who = {"name": "headgate demo", "version": "1"}
        client.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": who})
        client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        try:
            yield client
        finally:
            if process.stdin:
                process.stdin.close()
