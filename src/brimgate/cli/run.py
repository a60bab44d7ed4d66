"""`brimgate run`: stand between a client on our pipes and any MCP server."""

import argparse
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Final

from brimgate.back.process import Command, Process, spawn
from brimgate.cli import Commands
from brimgate.cli.gateway import (
    ConfigurationSource,
    add_gateway_options,
    add_sandbox_option,
    config_path,
    sandboxes,
    warn_of_unknown,
)
from brimgate.cli.output import complain
from brimgate.config.declarations import Config, Upstream
from brimgate.config.placeholders import filled
from brimgate.config.sources import Read
from brimgate.errors import OperatorError, UpstreamError
from brimgate.platform import EarlySignals
from brimgate.watch.log import Log

if TYPE_CHECKING:
    from brimgate.hold.live_lists import ClaimTickets
    from brimgate.watch.otel import Otel
    from brimgate.watch.recorder import Recorder

_EXAMPLE: Final = """example:
  brimgate run -- npx -y @modelcontextprotocol/server-filesystem ~/notes
  brimgate run --budget 2000 --model gpt-5 -- python my_server.py
  brimgate run --upstream https://mcp.example.com/mcp
  brimgate run --config brimgate.yaml --upstream notes
"""


def add_parser(commands: Commands) -> None:
    parser = commands.add_parser(
        "run",
        help="put Brimgate in front of an MCP server, on stdio",
        description="Speak MCP on stdin and stdout, in front of the stdio server that COMMAND starts, or of one that "
        "runs at a URL.",
        usage="brimgate run [options] [-- COMMAND ARGS…]",
        epilog=_EXAMPLE,
    )
    add_gateway_options(parser)
    add_sandbox_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    with sandboxes(options, ConfigurationSource(options)) as read:
        return _relay(options, read)


def _relay(options: argparse.Namespace, read: Read) -> int:
    config = read(None)
    name, one = _only(config)
    log = Log(config.effective_log_level, config.log_format)
    warn_of_unknown(log, config)
    if sys.stdin is not None and sys.stdin.isatty():
        _greet_typist(options)
    if config.telemetry.otel:
        from brimgate.watch.otel import check_installed

        check_installed()
    early = EarlySignals()
    # Before our other modules are loaded, so that the server starts meanwhile.
    process = _start(one) if one.command else None
    import asyncio

    from brimgate.app.connect import connector, reach_of
    from brimgate.app.reload import Reload
    from brimgate.app.stdio import StdioGateway
    from brimgate.watch.library_log import take_records
    from brimgate.watch.recorder import Recorder

    take_records(log)
    log.recorder = recorder = Recorder(config.telemetry, log.write)
    otel = _open_otel(config, log, recorder) if config.telemetry.otel else None
    tracer = otel.tracer(name, **reach_of(one)) if otel is not None else None

    async def relay() -> int:
        tickets = _tickets() if one.is_rest else None
        connect = connector(
            name,
            one,
            config.max_result_bytes,
            started=process,
            tickets=tickets,
            is_traced=tracer is not None,
        )
        gateway = StdioGateway(
            name, connect, config, log, budget=options.budget, tickets=tickets, tracer=tracer
        )
        if path := config_path(options):
            Reload(gateway, read, log).watch(path)
        return await gateway.run(early)

    with redirect_stdout(sys.stderr):  # stdout is the client's: a pack's output must not get in between
        try:
            return asyncio.run(relay())
        finally:
            recorder.close()
            if otel is not None:
                otel.close()
            _tell_savings(log, recorder)


def _open_otel(config: Config, log: Log, recorder: "Recorder") -> "Otel | None":
    from brimgate.watch.otel import open_otel

    otel = open_otel(config.telemetry, log)
    if otel is not None:
        recorder.on_counted = otel.take
    return otel


def _tell_savings(log: Log, recorder: "Recorder") -> None:
    """Say in one line what was saved, if there was anything to save."""
    counters = recorder.counters
    if recorder.options.savings_line and counters.reductions:
        fields: dict[str, object] = {
            "answers": counters.answers,
            "reduced": counters.reductions,
            "tokens_before": counters.original_tokens,
            "tokens_after": counters.estimated_tokens,
        }
        if recorder.options.enabled:
            file = recorder.options.file
            fields["hint"] = f"brimgate stats{f' --file {file}' if file else ''} shows which tool it was"
        log.write("savings", fields)


def _greet_typist(options: argparse.Namespace) -> None:
    """Tell someone at a terminal what this command waits for. Clients start it with a pipe."""
    import json

    from brimgate.config.masking import masked_arguments

    entry = {"command": "brimgate", "args": masked_arguments(options.given)}
    complain(
        f"waiting for an MCP client on standard input (Ctrl-C ends). Clients start it themselves; paste into theirs: "
        f'"mcpServers": {json.dumps({"NAME": entry}, ensure_ascii=False)}'
    )


def _tickets() -> "ClaimTickets":
    from brimgate.hold.live_lists import ClaimTickets  # half the engine, for those who need it anyway

    return ClaimTickets()


def _start(one: Upstream) -> Process | UpstreamError:
    try:
        return spawn(Command((one.command, *one.args), env=one.env_for(), cwd=one.cwd or None))
    except UpstreamError as error:
        return error


def _only(config: Config) -> tuple[str, Upstream]:
    """Return the one server, and its name for the log and for cursors."""
    names = list(config.upstreams)
    if not names:
        raise OperatorError(
            "no server to start: brimgate run -- COMMAND ARGS…, or --upstream URL, or `upstreams:` in --config FILE"
        )
    if len(names) > 1:
        raise OperatorError(f"the file names several servers; choose one: --upstream {' | '.join(names)}")
    return names[0], filled(config.upstreams[names[0]])
