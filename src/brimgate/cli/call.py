"""`brimgate call`: call one tool of an MCP server from a shell."""

import argparse
import time
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from brimgate.cli import Commands
from brimgate.cli.calls.conversation import converse
from brimgate.cli.calls.target import (
    Target,
    add_calling_options,
    choose,
    find,
    is_destructive,
    pack_of,
    recognised,
    remember,
)
from brimgate.cli.gateway import add_budget_flag, add_flags
from brimgate.cli.output import complain, printable, report
from brimgate.errors import BadRequest, UpstreamError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brimgate.app.client import CallOutcome, ListedTool, McpClient
    from brimgate.cli.calls.progress import Patience
    from brimgate.config.declarations import Config
    from brimgate.engine.policy import Policy
    from brimgate.packs.pack import Pack

_PRESENTING: Final = "brimgate.cli.calls.answer_text"
"""Half of all our modules, and not needed before there is an answer."""
_MAX_REASON: Final = 2_000
_MAX_SHOWN: Final = 500

_EXAMPLE: Final = """arguments:
  key=value      converted to the type of the parameter; lists are a,b,c
  key:=json      JSON as it is
  key=@file      the text of a file; key:=@file its JSON
  a.b=value      a member of an object
  value          the next parameter that is not given by name
  @file, -       several at once: a JSON object in a file, or on standard input

example:
  brimgate call https://mcp.example.com/mcp search "late payment" limit=20
  brimgate call --config brimgate.yaml notes add_note title=Today text=@todo.md
  brimgate call list_bookings -- python -m brimgate.sandboxes.demo

exit codes: 0 done, 1 the tool failed, 2 wrong usage or arguments,
3 no such server, 4 no answer in time
"""


def add_parser(commands: Commands) -> None:
    parser = commands.add_parser(
        "call",
        help="call one tool of an MCP server",
        description="Call one tool of an MCP server and print its answer within a token budget. UPSTREAM is a URL, or a "
        "name in the configuration; a server on stdio is given by its command behind --.",
        usage="brimgate call [options] UPSTREAM TOOL [ARGUMENTS…]\n"
        "       brimgate call [options] TOOL [ARGUMENTS…] -- COMMAND ARGS…",
        epilog=_EXAMPLE,
    )
    parser.add_argument(
        "words", nargs="*", metavar="WORD", help="the server, its tool, and the tool's arguments"
    )
    _add_doing_options(parser)
    _add_showing_options(parser)
    add_calling_options(parser)
    parser.set_defaults(run=run, multiplier=1.0)


def _add_doing_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("the call").add_argument
    add("--force", action="store_true", help="call the tool even if it destroys something")
    add(
        "--dry-run",
        action="store_true",
        help="check the arguments and print what would be sent; call nothing",
    )


def _add_showing_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the answer")
    whole = group.add_mutually_exclusive_group().add_argument
    whole("--raw", action="store_true", help="print the result as the server sent it, whatever its size")
    whole("--json", action="store_true", help="print the whole answer as JSON, minified")
    add = group.add_argument
    add(
        "--query",
        metavar="SQL",
        help='ask with SQL, such as "SELECT status, count(*) FROM t GROUP BY status"',
    )
    add_budget_flag(group)
    add_flags(group, "model", "token_family")
    add(
        "--pack",
        metavar="NAME",
        help="pack to format the answer with, or none (default: recognized by the tools)",
    )
    add("--metrics", action="store_true", help="print the savings on stderr")
    add(
        "--metrics-file",
        metavar="FILE",
        type=Path,
        help="append the savings to this file, as a line of JSON",
    )
    add("--quiet", action="store_true", help="print no messages on stderr")


@dataclass(frozen=True, slots=True)
class _Call:
    tool: str
    arguments: dict[str, Any]
    text: bytes
    """The arguments as they are sent."""
    pack: "Pack | None" = None
    outcome: "CallOutcome | None" = None
    """None for a dry run."""
    seconds: float = 0.0
    """How long the server took to answer."""
    read_tool: str = ""
    """The tool that reads on, if the server is a Brimgate."""


def run(options: argparse.Namespace) -> int:
    target = choose(options)
    if not target.words:
        raise BadRequest("which tool? `brimgate tools` lists those of a server")

    tool, *words = target.words
    if options.query and (options.raw or options.json):
        raise BadRequest("--query shows its result: leave out --raw and --json")

    if options.metrics_file:
        from brimgate.cli.savings import check_writable

        check_writable(options.metrics_file)

    def prepare() -> None:
        import_module("jsonschema_rs")
        import_module("brimgate.packs.discovery")
        if options.budget is not None or options.model:
            from brimgate.cli.engine_options import make_policy

            make_policy(
                options
            )  # refuse an impossible budget before anything is called, and tell of an unknown model

    async def talk(caller: "McpClient", patience: "Patience") -> _Call:
        return await _call(caller, patience, target, tool, words, options)

    def show(call: _Call) -> int:
        return _show(call, target, options)

    try:
        return converse(target, options, prepare, talk, show)
    except UpstreamError as error:
        _report_failure(tool, str(error), target, options)
        raise


def _report_failure(
    tool: str,
    reason: str,
    target: Target,
    options: argparse.Namespace,
    error: bytes = b"",
    seconds: float = 0.0,
) -> None:
    from brimgate.cli.calls.answer_text import CLIENT
    from brimgate.config.rule_reader import general_rule
    from brimgate.engine.decision import AnswerSizes, Decision
    from brimgate.guard.principal import USER

    family = general_rule(_config(target, options), None).policy.estimator.family
    decision = Decision(
        time.time(), USER.name, target.name, tool, "error", len(error), len(reason.encode()), AnswerSizes(0, 0),
        CLIENT, family, upstream_seconds=seconds, reason=reason, principal_id=USER.id,
    )  # fmt: skip
    report(decision, options.log_level, _config(target, options).telemetry)


async def _call(
    caller: "McpClient",
    patience: "Patience",
    target: Target,
    name: str,
    words: list[str],
    options: argparse.Namespace,
) -> _Call:
    import asyncio

    from brimgate.cli.calls.arguments import needs_input, parse
    from brimgate.cli.calls.input import has_input, read_file, read_standard_input
    from brimgate.cli.calls.values import encode
    from brimgate.packs.discovery import NO_PACK

    tools = await caller.tools()
    remember(target, tools)
    tool, pack = find(tools, name), pack_of(options.pack, target, tools)
    if needs_input(words, tool.schema) and await has_input():
        words = ["-"]
    piped = b""
    if any(word == "-" or word.endswith("@-") for word in words):
        caller.awaited = "arguments on standard input"
        piped = await read_standard_input()

    def read(source: str) -> bytes:
        return piped if source == "-" else read_file(source)

    arguments = parse(name, words, tool.schema, read, pack.tool(name).order if pack else ())
    if pack is not None:
        from brimgate.cli.calls.pack_text import resolve_references

        arguments = resolve_references(pack, name, arguments)
    text = encode(arguments)
    if options.dry_run:
        return _Call(name, arguments, text)
    # Without a pack's formatter the caller still needs the pack's warning.
    guard = recognised(tools) if options.pack == NO_PACK else pack
    if is_destructive(tool, guard) and not options.force:
        raise BadRequest(_refusal(name, text))
    began = time.perf_counter()
    called = asyncio.create_task(caller.call(name, text, patience.note))
    await asyncio.sleep(0)
    import_module(_PRESENTING)  # while the server is at work
    outcome, seconds = await called, time.perf_counter() - began
    return _Call(name, arguments, text, pack, outcome, seconds, _read_tool(tools, target))


def _read_tool(tools: "Sequence[ListedTool]", target: Target) -> str:
    """Return the tool by which a Brimgate is recognised; empty if the server is none."""
    return next((one.name for one in tools if one.name == target.config.read_tool), "")


def _refusal(tool: str, arguments: bytes) -> str:
    shown = printable(arguments[: _MAX_SHOWN + 1].decode("utf-8", "replace"))
    shown = f"{shown[:_MAX_SHOWN]}…" if len(shown) > _MAX_SHOWN else shown
    return (
        f"{printable(tool)} destroys something and was not called. It would get {shown}: "
        "--force calls it, --dry-run shows what would be sent"
    )


def _show(call: _Call, target: Target, options: argparse.Namespace) -> int:
    from brimgate.cli.output import write_json

    outcome = call.outcome
    if outcome is None:
        from brimgate.relay.protocol.message import quoted

        write_json(b'{"name":%s,"arguments":%s}\n' % (quoted(call.tool), call.text))
        return 0
    if not outcome.has_failed:
        from brimgate.cli.calls.answer_text import Called, present

        config = target.config
        called = Called(
            call.tool,
            call.arguments,
            outcome.result,
            _policy(call.tool, target, options),
            call.pack,
            lambda: _policy(call.tool, target, options, call.pack),
            config,
            target.name,
            call.seconds,
            partial(target.command_line, call.read_tool) if call.read_tool else None,
        )
        return present(called, options)
    _report_failure(call.tool, outcome.reason, target, options, outcome.error, call.seconds)
    if options.raw or options.json:
        write_json(outcome.error + b"\n")
    code = "" if outcome.code is None else f" ({outcome.code})"
    complain(f"{printable(call.tool)} failed: {printable(outcome.reason[:_MAX_REASON])}{code}")
    return 1


def _policy(tool: str, target: Target, options: argparse.Namespace, pack: "Pack | None" = None) -> "Policy":
    """Return the policy by the rules of the configuration and the pack. Here, reading on takes a command."""
    from brimgate.cli.output import READ_COMMAND
    from brimgate.config.rule_reader import make_rules

    one = replace(target.upstream, pack=pack.name if pack else "")
    config = replace(_config(target, options), upstreams={target.name: one})
    rule = make_rules(config, target.name, options.budget).of(tool)
    return replace(rule.policy, read_tool=READ_COMMAND, compact="always", has_notices=False)


def _config(target: Target, options: argparse.Namespace) -> "Config":
    """Return the configuration, with what the command line says about tokens."""
    if not options.model and not options.token_family:
        return target.config
    protection = target.config.context_protection
    counted = replace(protection, model=options.model or "", token_family=options.token_family)
    return replace(target.config, context_protection=counted)
