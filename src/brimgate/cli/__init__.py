"""The command line: one module per command. stdout is data, stderr is talk.

Exit codes: 0 done, 1 the answer is no (a walk that does not add up, a tool that failed), 2 wrong usage, input or
configuration, 3 the server cannot be started, reached or talked to, 4 it did not answer in time, 130 Ctrl-C.
"""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from io import TextIOWrapper
from typing import Any


def main(arguments: Sequence[str] | None = None) -> int:
    _write_what_can_be_written()
    try:
        # Imported here so that an interrupt while the modules load ends as quietly as any other.
        from brimgate.cli.commands import run

        code = run(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except BrokenPipeError:
        _abandon_stdout()
        return 0
    except KeyboardInterrupt:
        _abandon_stdout()
        return 130
    except OSError as error:
        complain(f"{error.filename or 'standard output'}: {error.strerror or error}")
        _abandon_stdout()
        return 2


def complain(message: str) -> None:
    if sys.stderr is not None:
        with suppress(OSError):  # a full disk, say: what we have to tell costs nobody the answer
            sys.stderr.write(f"brimgate: {message}\n")


def printable(text: str) -> str:
    """What a server said, as it may stand in a line on a terminal."""
    return text if text.isprintable() else "".join(one if one.isprintable() else " " for one in text)


def _write_what_can_be_written() -> None:
    """Help has characters that a terminal in plain ASCII has not."""
    stdout: Any = sys.stdout
    if isinstance(stdout, TextIOWrapper):
        stdout.reconfigure(errors="replace")


def _abandon_stdout() -> None:
    """Nobody reads on, or nothing more can be written: keep the interpreter from trying when it exits."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
