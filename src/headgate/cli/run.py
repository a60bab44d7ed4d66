"""`headgate run`: a stdio MCP server behind us, a client in front."""

import argparse
import os
from dataclasses import replace
from pathlib import Path
from typing import Final

from headgate.back.process import Command, spawn
from headgate.cli.parsers import Commands
from headgate.config import Config, load
from headgate.config.loading import unknown_variables
from headgate.engine.policy import MIN_BUDGET
from headgate.engine.tokens import FAMILIES
from headgate.errors import OperatorError, UpstreamError
from headgate.stopping import EarlySignals
from headgate.watch.log import LEVELS, Log

_EXAMPLE: Final = """example:
  headgate run -- npx -y @modelcontextprotocol/server-filesystem ~/notes
  headgate run --budget 2000 --model gpt-5 -- python my_server.py
  headgate run --config headgate.yaml --upstream notes
"""


def add_parser(commands: Commands) -> None:
    parser = commands.add_parser(
        "run",
        help="stand in front of an MCP server",
        description="Speak MCP on stdin and stdout, in front of the stdio server that COMMAND starts.",
        usage="headgate run [options] -- COMMAND ARGS…",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add(
        "--config",
        metavar="FILE",
        type=Path,
        help="YAML or JSON; also HEADGATE_CONFIG. Changes apply at once",
    )
    add(
        "--upstream",
        metavar="NAME",
        help="server of the file to start, where it names several and no COMMAND is given",
    )
    add(
        "--budget",
        metavar="N",
        type=int,
        help=f"tokens per answer, at least {MIN_BUDGET} (default: 4000, text 2000)",
    )
    add("--model", metavar="NAME", help="model to count tokens for, such as gpt-5 or claude-sonnet-5")
    add("--family", choices=FAMILIES, help="token family to count in (default: claude)")
    add(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="any other option, such as default_page_size=20",
    )
    add("--log-level", choices=tuple(LEVELS), help="least level that is logged on stderr (default: info)")
    add("--log-format", choices=("text", "json"), help="log lines for people or for programs")
    add("command", nargs=argparse.REMAINDER, metavar="-- COMMAND ARGS…", help="the server to start")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    path = options.config or (
        Path(os.environ["HEADGATE_CONFIG"]) if os.environ.get("HEADGATE_CONFIG") else None
    )
    _check_budget(options.budget)
    overrides = _overrides(options)
    config = load(path, overrides=overrides)
    name, command = _command(options, config)
    log = Log(config.effective_log_level, config.log_format)
    for variable in unknown_variables(os.environ):
        log.write("unknown_variable", {"name": variable, "hint": "no option has this name"}, "warning")
    early = EarlySignals()
    try:
        # Before the rest of us is loaded, so that the server starts meanwhile.
        process = spawn(command)
    except UpstreamError as error:
        process = error
    import asyncio

    from headgate.app import Reloading, StdioGateway

    async def relay() -> int:
        gateway = StdioGateway(name, command, config, log, budget=options.budget)
        if path is not None:
            Reloading(gateway, path, overrides, log).start()
        return await gateway.run(process, early)

    return asyncio.run(relay())


def _check_budget(budget: int | None) -> None:
    if budget is not None and budget < MIN_BUDGET:
        raise OperatorError(f"--budget must be at least {MIN_BUDGET} tokens, not {budget}")


def _overrides(options: argparse.Namespace) -> dict[str, str]:
    """Options of the command line as the keys of the configuration they stand for."""
    given: dict[str, str] = {}
    for text in options.set:
        key, equals, value = text.partition("=")
        if not equals:
            raise OperatorError(f"--set {text}: must be KEY=VALUE")
        given[key.strip()] = value
    named = {
        "model": options.model,
        "token_family": options.family,
        "log_level": options.log_level,
        "log_format": options.log_format,
    }
    return given | {key: value for key, value in named.items() if value is not None}


def _command(options: argparse.Namespace, config: Config) -> tuple[str, Command]:
    """What to start, and how to call it in the log and in cursors."""
    arguments = tuple(options.command[1:] if options.command[:1] == ["--"] else options.command)
    if arguments:
        if options.upstream:
            raise OperatorError("give either --upstream or a command behind --, not both")
        return Path(arguments[0]).stem, Command(arguments)
    names = [options.upstream] if options.upstream else list(config.upstreams)
    if not names:
        raise OperatorError(
            "no server to start: headgate run -- COMMAND ARGS…, or `upstreams:` in --config FILE"
        )
    if len(names) > 1:
        raise OperatorError(f"the file names several servers; choose one: --upstream {' | '.join(names)}")
    if names[0] not in config.upstreams:
        known = ", ".join(config.upstreams) or "none"
        raise OperatorError(f"there is no upstream {names[0]} in the configuration; there are: {known}")
    one = config.upstreams[names[0]]
    return names[0], replace(Command((one.command, *one.args)), env=one.env, cwd=one.cwd or None)
