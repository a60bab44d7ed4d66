"""The command line: one module per command. stdout is data, stderr is talk.

Exit codes: 0 done, 1 the answer is no (a walk that does not add up), 2 wrong usage, input or configuration.
"""

import argparse
import os
import sys
from collections.abc import Sequence

from headgate import __version__
from headgate.cli import cursor, demo, read, reduce
from headgate.errors import HeadgateError

_COMMANDS = (reduce, read, cursor, demo)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = build_parser()
    options = parser.parse_args(arguments)
    try:
        return options.run(options)
    except HeadgateError as error:
        sys.stderr.write(f"headgate: {error}\n")
        return 2
    except BrokenPipeError:
        # Whoever read our output has seen enough; keep the interpreter from complaining when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="headgate", description="Keeps every MCP answer inside a token budget without losing a byte."
    )
    parser.add_argument("--version", action="version", version=f"headgate {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module in _COMMANDS:
        module.add_parser(commands)
    return parser
