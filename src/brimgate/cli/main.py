"""All commands, and what running them has in common.

Exit codes: 0 done, 1 the answer is no (a walk that does not add up, a tool that failed), 2 wrong usage, input or
configuration, 3 the server cannot be started, reached or talked to, 4 it did not answer in time, 130 Ctrl-C.
"""

import argparse
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr
from difflib import get_close_matches
from importlib import import_module
from io import StringIO, TextIOWrapper
from typing import Any, NoReturn, TextIO

from brimgate import __version__
from brimgate.cli.output import complain, printable
from brimgate.errors import BrimgateError, UpstreamError, UpstreamTimeout

COMMANDS = (
    "run", "serve", "call", "tools", "read", "reduce", "stats", "dashboard", "ab", "packs", "measure", "check", "key", "cursor",
    "completion", "demo",
)  # fmt: skip
_START = """start here:
  brimgate demo                     a tour of thirty seconds
  brimgate run -- COMMAND ARGS…     what your client starts in place of COMMAND
  brimgate serve -- COMMAND ARGS…   the same at http://127.0.0.1:3010/mcp
  brimgate tools -- COMMAND ARGS…   its tools; `brimgate call` calls one

`brimgate COMMAND --help` describes a command.
"""
WORDY = ("call", "tools", "measure")
"""Commands whose words and options may come in any order, up to the server's own command."""


def main(arguments: Sequence[str] | None = None) -> int:
    _write_what_can_be_written()
    try:
        return _run_and_flush(arguments)
    except BrokenPipeError:
        _abandon(sys.stdout)
        return 0
    except KeyboardInterrupt:
        _abandon(sys.stdout)
        return 130
    except OSError as error:
        complain(f"{error.filename or 'standard output'}: {error.strerror or error}")
        _abandon(sys.stdout)
        return 2
    finally:
        _flush_stderr()


def _run_and_flush(arguments: Sequence[str] | None) -> int:
    """Run a command. What cannot be written is an error here, and not the interpreter's at exit."""
    try:
        code = run(arguments)
    except SystemExit:  # argparse has shown its help, or a signal has come
        _flush_stdout()
        raise
    _flush_stdout()
    return code


def run(arguments: Sequence[str] | None = None) -> int:
    if sys.stdout is None:
        complain("standard output is closed")
        return 2
    with redirect_stderr(sys.stderr or StringIO()):  # the argparse of early 3.11 cannot do without
        options = _parse(sys.argv[1:] if arguments is None else arguments)
    try:
        return options.run(options)
    except BrimgateError as error:
        complain(printable(str(error)) if isinstance(error, UpstreamError) else str(error))
        return exit_code(error)


def exit_code(error: BrimgateError) -> int:
    """Return the exit code for an error: the one place that decides."""
    match error:
        case UpstreamTimeout():
            return 4
        case UpstreamError():
            return 3
        case _:
            return 2


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    if arguments and not arguments[0].startswith("-") and arguments[0] not in COMMANDS:
        complain(_no_command(arguments))
        raise SystemExit(2)
    # Load only the requested command: `run` starts in front of every server a user has.
    named = [name for name in COMMANDS if arguments and arguments[0] == name]
    parser = build_parser(named or COMMANDS)
    if not named or named[0] not in WORDY:
        options, left_over = parser.parse_known_args(arguments or ["--help"])
        if left_over:
            _refuse(options.parser, left_over[0])
        options.given = list(arguments)
        return options
    cut = list(arguments).index("--") if "--" in arguments else len(arguments)
    # argparse takes the first words that are together, and leaves over those after an option.
    options, left_over = parser.parse_known_args(arguments[:cut])
    options.words += options.checked(left_over)
    options.command = list(arguments[cut:])
    return options


def _no_command(arguments: Sequence[str]) -> str:
    """Say that there is no such command, and what may be meant."""
    from brimgate.cli.gateway import near_url

    word = arguments[0]
    told = f"there is no command {printable(word)[:60]}"
    if near := get_close_matches(word[:60], COMMANDS, 1):
        return f"{told}; did you mean {near[0]}?"
    if url := near_url(word):
        return f"{told}; did you mean brimgate run --upstream {shlex.quote(url)}, or brimgate serve?"
    if shutil.which(word):
        return f"{told}; did you mean brimgate run -- {printable(shlex.join(arguments))}, or brimgate serve?"
    return f"{told}; there are: {', '.join(COMMANDS)}"


def _refuse(parser: argparse.ArgumentParser, word: str) -> NoReturn:
    from brimgate.cli.gateway import near_option

    if not word.startswith("-"):
        parser.error(f"there is no place for {printable(word)[:60]!r}")
    parser.error(f"there is no option {printable(word)[:60]}{near_option(parser, word)}")


class HelpText(argparse.HelpFormatter):
    """Wraps descriptions, and leaves examples as they are: they have lines of their own."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if "\n" in text else super()._fill_text(text, width, indent)


def build_parser(names: Sequence[str] = COMMANDS) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="brimgate",
        description="Keeps every MCP answer inside a token budget without losing a byte.",
        epilog=_START,
        formatter_class=HelpText,
    )
    parser.add_argument("--version", action="version", version=f"brimgate {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in names:
        import_module(f"brimgate.cli.{name}").add_parser(commands)
        command = commands.choices[name]
        command.formatter_class = HelpText
        command.set_defaults(parser=command)
    return parser


def _write_what_can_be_written() -> None:
    """Replace unsupported characters: the help has some that an ASCII terminal lacks."""
    stdout: Any = sys.stdout
    if isinstance(stdout, TextIOWrapper):
        stdout.reconfigure(errors="replace")


def _flush_stdout() -> None:
    if sys.stdout is not None:
        sys.stdout.flush()


def _flush_stderr() -> None:
    """Leave nothing to the interpreter's last flush: where that fails, the exit code is 120, and not ours."""
    if sys.stderr is not None:
        try:
            sys.stderr.flush()
        except OSError:
            _abandon(sys.stderr)


def _abandon(stream: TextIO | None) -> None:
    """Stop writing: nobody reads, or nothing can be written. Keeps the interpreter from trying again at exit."""
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
