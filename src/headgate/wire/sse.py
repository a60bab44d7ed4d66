"""Server-sent events: cut out of a stream as they came, read, and written."""

from collections.abc import Iterator
from dataclasses import dataclass

from headgate.wire.framing import TooLong

_SAMPLE_BYTES = 4_096


class EventBuffer:
    """Feed it what arrives; it gives back whole events, whose bytes together are those that came."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._partial = bytearray()
        self._seen = 0

    def feed(self, data: bytes) -> Iterator[bytes | TooLong]:
        """After a `TooLong` nothing more can be read from the stream."""
        buffer = self._partial
        buffer += data
        start = 0
        while (end := _end_of_event(buffer, max(self._seen - 3, start))) > 0:
            yield bytes(memoryview(buffer)[start:end])
            start = self._seen = end
        if start:
            del buffer[:start]
        self._seen = len(buffer)
        if len(buffer) > self._max_bytes:
            yield TooLong(bytes(buffer[:_SAMPLE_BYTES]))

    def rest(self) -> bytes:
        """What came behind the last whole event, when the stream has ended."""
        return bytes(self._partial)


def _end_of_event(buffer: bytearray, start: int) -> int:
    """Where the first empty line ends, or 0. Lines end in CR, LF or both, so one of three pairs is at its end."""
    found = [at for pair in (b"\n\n", b"\n\r", b"\r\r") if (at := buffer.find(pair, start)) >= 0]
    if not found:
        return 0
    end = min(found) + 2
    return end + 1 if buffer.startswith(b"\r\n", end - 1) else end


@dataclass(frozen=True, slots=True)
class Event:
    data: bytes | None
    """None if it has none: such an event is not dispatched."""
    id: bytes | None = None
    name: bytes = b"message"
    retry: bytes = b""


def read_event(raw: bytes) -> Event:
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
    """The same event with other data."""
    kept = [line for line in raw.splitlines() if line and line.partition(b":")[0] != b"data"]
    return b"".join((*(line + b"\n" for line in kept), b"data: ", data, b"\n\n"))


def write_event(data: bytes | bytearray, id_: bytes = b"", name: bytes = b"message") -> bytes:
    """`data` is JSON on one line, as every message is."""
    head = b"id: " + id_ + b"\n" if id_ else b""
    return b"".join((head, b"event: ", name, b"\ndata: ", data, b"\n\n"))
