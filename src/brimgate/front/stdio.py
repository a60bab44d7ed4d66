"""A client on our own stdin and stdout."""

import asyncio
import os
import sys
from collections.abc import Callable
from contextlib import suppress

from brimgate.wire.pipes import LinePort


class StdioClient:
    def __init__(
        self,
        *,
        max_line_bytes: int,
        on_line: Callable[[bytes | bytearray], None],
        on_too_long: Callable[[bytes], None],
    ) -> None:
        self.silent = asyncio.Event()
        """Set when the client will send nothing more."""
        self.gone = asyncio.Event()
        """Set when the client no longer reads."""
        self.port = LinePort(
            max_line_bytes=max_line_bytes,
            on_line=on_line,
            on_too_long=on_too_long,
            on_silent=self.silent.set,
            on_gone=self.gone.set,
        )
        self._shared: list[int] = []
        self._early: list[bytes | bytearray] = []
        self.send: Callable[[bytes | bytearray], None] = self._early.append
        """Sends a line. What the server says before the client is connected is sent then."""
        self.is_connected = False

    async def connect(self) -> None:
        # The modes of the pipes are shared with whoever started us: they are restored when we end.
        self._shared = [descriptor for descriptor in (0, 1) if _is_blocking(descriptor)]
        await self.port.connect(os.fdopen(os.dup(0), "rb", 0), os.fdopen(os.dup(1), "wb", 0))
        self.is_connected = True
        self.send = self.port.send
        for line in self._early:
            self.send(line)
        self._early.clear()

    async def close(self, within_seconds: float) -> None:
        """Send what is still waiting, as long as the client takes it, then close."""
        self.port.close()
        self.port.writer.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(within_seconds):
                await self.gone.wait()
        for descriptor in self._shared:
            with suppress(OSError):
                os.set_blocking(descriptor, True)


def _is_blocking(descriptor: int) -> bool:
    if sys.platform == "win32":
        return False
    try:
        return os.get_blocking(descriptor)
    except OSError:
        return False
