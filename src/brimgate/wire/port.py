"""One end of a conversation in lines: a pipe to read from, a pipe to write to."""

from collections.abc import Callable
from typing import Any

from brimgate.wire.framing import LineBuffer, TooLong
from brimgate.wire.pipes import PipeReader, PipeWriter, ThreadReader, ThreadWriter, read_pipe, write_pipe


class LinePort:
    def __init__(
        self,
        *,
        max_line_bytes: int,
        on_line: Callable[[bytes | bytearray], None],
        on_too_long: Callable[[bytes], None],
        on_silent: Callable[[], None],
        on_gone: Callable[[], None],
    ) -> None:
        """`on_silent`: the other side will say no more. `on_gone`: it reads no more."""
        self._lines = LineBuffer(max_line_bytes)
        self._on_line, self._on_too_long = on_line, on_too_long
        self._on_silent, self._on_gone = on_silent, on_gone
        self.received_bytes = 0
        self._reader: PipeReader | ThreadReader | None = None
        self._writer: PipeWriter | ThreadWriter | None = None

    async def connect(self, source: Any, target: Any) -> None:
        self._writer = await write_pipe(target, self._on_gone)
        self._reader = await read_pipe(source, self._received, self._ended)

    @property
    def is_stuck(self) -> bool:
        """Inside a line that was refused: nothing behind it can be heard."""
        return self._lines.is_skipping

    @property
    def reader(self) -> PipeReader | ThreadReader:
        if self._reader is None:
            raise AssertionError("connect() comes first")
        return self._reader

    @property
    def writer(self) -> PipeWriter | ThreadWriter:
        if self._writer is None:
            raise AssertionError("connect() comes first")
        return self._writer

    def send(self, line: bytes | bytearray) -> None:
        self.writer.write_line(line)

    def _received(self, data: bytes) -> None:
        self.received_bytes += len(data)
        for line in self._lines.feed(data):
            if isinstance(line, TooLong):
                self._on_too_long(line.beginning)
            else:
                self._on_line(line)

    def _ended(self) -> None:
        last = self._lines.flush()
        if last is not None and not self._lines.is_skipping:
            self._on_line(last)
        self._on_silent()
