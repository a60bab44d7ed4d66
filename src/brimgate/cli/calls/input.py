"""Read input for a call from files and from standard input."""

import os
import sys
from pathlib import Path
from typing import Final

from brimgate.cli.output import printable
from brimgate.errors import InputError

_MAX_INPUT_BYTES: Final = 64 << 20
_PATIENCE_SECONDS: Final = 2.0


def read_file(name: str) -> bytes:
    try:
        with Path(name).open("rb") as file:
            data = file.read(_MAX_INPUT_BYTES + 1)
    except FileNotFoundError:
        raise InputError(
            f"{name}: no such file (a text that begins with @ is given as NAME:='\"@…\"')"
        ) from None
    except IsADirectoryError:
        raise InputError(f"{name}: is a directory, not a file") from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "no such file"
        raise InputError(f"{printable(name)}: cannot be read: {why}") from None
    return _bounded(data, name)


async def has_input() -> bool:
    """Return whether standard input may have the arguments.

    Do not wait long for a pipe that is only left open, as by cron and many programs.
    """
    import asyncio
    import select

    if sys.stdin is None or sys.stdin.isatty():
        return False
    try:
        ready, _, _ = await asyncio.to_thread(select.select, [0], [], [], _PATIENCE_SECONDS)
    except (OSError, ValueError):  # on Windows only sockets can be polled
        return True
    return bool(ready)


async def read_standard_input() -> bytes:
    """Read standard input in a thread that nobody waits for: a pipe may stay open, and silent, forever."""
    import asyncio
    import threading
    from contextlib import suppress

    if sys.stdin is None:
        raise InputError("standard input is closed")
    loop = asyncio.get_running_loop()
    arrived: asyncio.Future[bytes] = loop.create_future()

    def settle(data: bytes, error: OSError | None) -> None:
        if arrived.done():
            return
        if error is None:
            arrived.set_result(data)
        else:
            arrived.set_exception(InputError(f"standard input: cannot be read: {error.strerror}"))

    def read() -> None:
        data, error = bytearray(), None
        try:
            while len(data) <= _MAX_INPUT_BYTES and (piece := os.read(0, 1 << 20)):
                data += piece
        except OSError as fault:
            error = fault
        with suppress(RuntimeError):  # we have ended first
            loop.call_soon_threadsafe(settle, bytes(data), error)

    threading.Thread(target=read, daemon=True).start()
    return _bounded(await arrived, "standard input")


def _bounded(data: bytes, name: str) -> bytes:
    if len(data) > _MAX_INPUT_BYTES:
        raise InputError(f"{name}: larger than {_MAX_INPUT_BYTES >> 20} MiB")
    return data
