"""All commands, and what is common to running them."""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from headgate import __version__
from headgate.cli import complain
from headgate.errors import HeadgateError

COMMANDS = ("run", "serve", "check", "reduce", "read", "cursor", "demo")


def run(arguments: Sequence[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    # Only the command that is asked for is loaded: `run` stands in front of every server a user has.
    named = [name for name in COMMANDS if arguments and arguments[0] == name]
    options = build_parser(named or COMMANDS).parse_args(arguments)
    if sys.stdout is None:
        complain("standard output is closed")
        return 2
    try:
        return options.run(options)
    except HeadgateError as error:
        complain(str(error))
        return 2


def build_parser(names: Sequence[str] = COMMANDS) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="headgate", description="Keeps every MCP answer inside a token budget without losing a byte."
    )
    parser.add_argument("--version", action="version", version=f"headgate {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in names:
        import_module(f"headgate.cli.{name}").add_parser(commands)
    return parser
