"""All commands, and what is common to running them."""

import argparse
import sys
from collections.abc import Sequence

from headgate import __version__
from headgate.cli import complain, cursor, demo, read, reduce
from headgate.errors import HeadgateError

_COMMANDS = (reduce, read, cursor, demo)


def run(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    if sys.stdout is None:
        complain("standard output is closed")
        return 2
    try:
        return options.run(options)
    except HeadgateError as error:
        complain(str(error))
        return 2


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="headgate", description="Keeps every MCP answer inside a token budget without losing a byte."
    )
    parser.add_argument("--version", action="version", version=f"headgate {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module in _COMMANDS:
        module.add_parser(commands)
    return parser
