"""Cut a stream of bytes into messages, one per line, without copying bytes that were already searched."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_SAMPLE_BYTES: Final = 4_096


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line that exceeded the limit. It was not kept; its beginning may still tell whose it was."""

    beginning: bytes


class LineBuffer:
    """Cuts a stream into whole lines, and refuses a line that grows beyond `max_bytes`."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._partial = bytearray()
        self._skipping = False

    @property
    def is_skipping(self) -> bool:
        """Whether we are inside a refused line that has not ended yet."""
        return self._skipping

    def feed(self, data: bytes) -> Iterator[bytes | bytearray | TooLong]:
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            line = self._finish(data, start, end)
            start = end + 1
            if line is not None:
                yield line
        if start < len(data) and (refused := self._keep(data, start)):
            yield refused

    def flush(self) -> bytes | bytearray | None:
        """Return what follows the last line end, when the stream has ended."""
        left, self._partial = self._partial, bytearray()
        return left or None

    def _finish(self, data: bytes, start: int, end: int) -> bytes | bytearray | TooLong | None:
        if self._skipping:
            self._skipping = False
            return None
        if not self._partial:
            if end - start > self._max_bytes:
                return TooLong(data[start : start + _SAMPLE_BYTES])
            return data[start:end]
        # The buffer itself is handed over: a message of 64 MiB is not copied once more.
        line, self._partial = self._partial, bytearray()
        if len(line) + end - start > self._max_bytes:
            return TooLong(bytes(line[:_SAMPLE_BYTES]))
        line += memoryview(data)[start:end]
        return line

    def _keep(self, data: bytes, start: int) -> TooLong | None:
        if self._skipping:
            return None
        self._partial += memoryview(data)[start:] if start else data
        if len(self._partial) <= self._max_bytes:
            return None
        beginning = bytes(self._partial[:_SAMPLE_BYTES])
        self._partial = bytearray()
        self._skipping = True
        return TooLong(beginning)
