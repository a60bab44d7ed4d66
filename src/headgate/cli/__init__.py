"""The command line: one module per command. stdout is data, stderr is talk.

Exit codes: 0 done, 1 the answer is no (a walk that does not add up), 2 wrong usage, input or configuration.
"""

import os
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    try:
        # Imported here so that an interrupt while the modules load ends as quietly as any other.
        from headgate.cli.commands import run

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
        sys.stderr.write(f"headgate: {message}\n")


def _abandon_stdout() -> None:
    """Nobody reads on, or nothing more can be written: keep the interpreter from trying when it exits."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
