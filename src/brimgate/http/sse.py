"""Server-sent events: cut them out of a stream unchanged, read them, and write them."""

import asyncio
from codecs import BOM_UTF8
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeVar

from brimgate.wire.framing import TooLong

_SAMPLE_BYTES: Final = 4_096
_EMPTY_LINE: Final = (b"\n\n", b"\n\r", b"\r\r")
"""Lines end in CR, LF or both, so an empty line ends with one of these pairs."""


class EventBuffer:
    """Cuts a stream into whole events. Their bytes together are those that were fed."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._partial = bytearray()
        self._seen = 0

    def feed(self, data: bytes) -> Iterator[bytes | TooLong]:
        """Add data and yield whole events. After a `TooLong` nothing more can be read from the stream."""
        buffer = self._partial
        buffer += data
        start = 0
        ends = [buffer.find(pair, max(self._seen - 3, 0)) for pair in _EMPTY_LINE]
        while found := [at for at in ends if at >= 0]:
            end = min(found) + 2
            end += buffer.startswith(b"\r\n", end - 1)
            yield bytes(memoryview(buffer)[start:end])
            start = end
            # Do not search again for a pair that is nowhere: a thousand small events would cost a thousand
            # searches of the rest.
            ends = [
                buffer.find(pair, start) if 0 <= at < start else at
                for pair, at in zip(_EMPTY_LINE, ends, strict=True)
            ]
        if start:
            del buffer[:start]
        self._seen = len(buffer)
        if len(buffer) > self._max_bytes:
            yield TooLong(bytes(buffer[:_SAMPLE_BYTES]))

    def rest(self) -> bytes:
        """Return what follows the last whole event, when the stream has ended."""
        return bytes(self._partial)


@dataclass(frozen=True, slots=True)
class Event:
    data: bytes | None
    """None if it has none: such an event is not dispatched."""
    id: bytes | None = None
    name: bytes = b"message"
    retry: bytes = b""


def read_event(raw: bytes) -> Event:
    raw = raw.removeprefix(BOM_UTF8)  # a stream may begin with one
    data: list[bytes] = []
    name, id_, retry = b"message", None, b""
    for line in raw.splitlines():
        field, _, value = line.partition(b":")
        value = value[1:] if value[:1] == b" " else value
        if field == b"data":
            data.append(value)
        elif field == b"id" and b"\0" not in value:
            id_ = value
        elif field == b"event":
            name = value or b"message"
        elif field == b"retry" and value.isdigit():
            retry = value
    return Event(b"\n".join(data) if data else None, id_, name, retry)


def with_data(raw: bytes, data: bytes) -> bytes:
    """Return the same event with other data."""
    lines = raw.removeprefix(BOM_UTF8).splitlines()
    kept = [line for line in lines if line and line.partition(b":")[0] != b"data"]
    return b"".join((*(line + b"\n" for line in kept), b"data: ", data, b"\n\n"))


def write_event(data: bytes | bytearray, id_: bytes = b"", name: bytes = b"message") -> bytes:
    """Write an event. `data` is JSON on one line, as every message is."""
    head = b"id: " + id_ + b"\n" if id_ else b""
    return b"".join((head, b"event: ", name, b"\ndata: ", data, b"\n\n"))


_TURN: Final = 100
_T = TypeVar("_T")


async def in_turns(items: Iterable[_T]) -> AsyncIterator[_T]:
    """Yield items, and let others have their turn in between: one chunk may have thousands of events."""
    for number, item in enumerate(items, 1):
        yield item
        if number % _TURN == 0:
            await asyncio.sleep(0)
