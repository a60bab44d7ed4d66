"""A client on our own stdin and stdout."""

import asyncio
import os
import sys
from collections.abc import Callable
from contextlib import suppress

from headgate.wire.framing import LineBuffer, TooLong
from headgate.wire.pipes import PipeReader, PipeWriter, ThreadReader, ThreadWriter, read_pipe, write_pipe


class StdioClient:
    def __init__(
        self,
        *,
        max_line_bytes: int,
        on_line: Callable[[bytes | bytearray], None],
        on_too_long: Callable[[bytes], None],
    ) -> None:
        self._lines = LineBuffer(max_line_bytes)
        self._on_line, self._on_too_long = on_line, on_too_long
        self.silent = asyncio.Event()
        """Set when the client will send nothing more."""
        self.gone = asyncio.Event()
        """Set when the client reads nothing more."""
        self._reader: PipeReader | ThreadReader | None = None
        self._writer: PipeWriter | ThreadWriter | None = None
        self._shared: list[int] = []

    async def connect(self) -> None:
        # The pipes' modes are shared with whoever started us: they are put back when we end.
        self._shared = [fd for fd in (0, 1) if _is_blocking(fd)]
        self._writer = await write_pipe(os.fdopen(os.dup(1), "wb", 0), self.gone.set)
        self._reader = await read_pipe(os.fdopen(os.dup(0), "rb", 0), self._received, self._ended)

    @property
    def writer(self) -> PipeWriter | ThreadWriter:
        if self._writer is None:
            raise AssertionError("connect() comes first")
        return self._writer

    @property
    def reader(self) -> PipeReader | ThreadReader:
        if self._reader is None:
            raise AssertionError("connect() comes first")
        return self._reader

    def send(self, line: bytes | bytearray) -> None:
        self.writer.write_line(line)

    def _received(self, data: bytes) -> None:
        for line in self._lines.feed(data):
            if isinstance(line, TooLong):
                self._on_too_long(line.beginning)
            else:
                self._on_line(line)

    def _ended(self) -> None:
        last = self._lines.flush()
        if last is not None and not self._lines.is_skipping:
            self._on_line(last)
        self.silent.set()

    async def close(self, within_seconds: float) -> None:
        """Send what is still waiting, as long as the client takes it."""
        self.reader.close()
        self.writer.close()
        with suppress(TimeoutError):
            await asyncio.wait_for(self.gone.wait(), within_seconds)
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
