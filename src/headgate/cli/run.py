"""`headgate run`: a stdio MCP server behind us, a client in front."""

import argparse
from typing import Final

from headgate.back.process import Command, spawn
from headgate.cli.options import Commands, add_budget_options, make_policy
from headgate.errors import OperatorError, UpstreamError

_EXAMPLE: Final = """example:
  headgate run -- npx -y @modelcontextprotocol/server-filesystem ~/notes
  headgate run --budget 2000 --model gpt-5 -- python my_server.py
"""


def add_parser(commands: Commands) -> None:
    parser = commands.add_parser(
        "run",
        help="stand in front of an MCP server",
        description="Speak MCP on stdin and stdout, in front of the stdio server that COMMAND starts.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_budget_options(parser)
    parser.add_argument(
        "command", nargs=argparse.REMAINDER, metavar="-- COMMAND ARGS…", help="the server to start"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    arguments = tuple(options.command[1:] if options.command[:1] == ["--"] else options.command)
    if not arguments:
        raise OperatorError("no command: headgate run -- COMMAND ARGS…")
    command = Command(arguments)
    try:
        # Before the rest of us is loaded, so that the server starts meanwhile.
        process = spawn(command)
    except UpstreamError as error:
        process = error
    import asyncio

    from headgate.app import StdioGateway
    from headgate.relay.rules import Rules, ToolRule
    from headgate.watch.log import Log

    policy = make_policy(options)

    async def relay() -> int:
        rules = Rules(lambda _: ToolRule(policy))
        return await StdioGateway(arguments[0], command, rules, Log()).run(process)

    return asyncio.run(relay())
