"""Answers over HTTP, read as fast as whoever listens takes them."""

import asyncio
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from typing import Final

from brimgate.http.client import Response
from brimgate.http.sse import Event, EventBuffer, read_event
from brimgate.relay.protocol import message as rpc
from brimgate.wire.framing import TooLong

_SAMPLE_BYTES: Final = 4_096
_BLANK: Final = re.compile(rb"\r\n\r\n|\n\n|\n\r\n?|\r\r")
_FIRST_WAIT_SECONDS: Final = 1.0
_LONGEST_WAIT_SECONDS: Final = 30.0
_SHORTEST_WISH_SECONDS: Final = 0.1
"""A server that hangs up at once, and wants us back at once, would keep both busy with nothing else."""
_LONGEST_WISH_SECONDS: Final = 60.0
"""A server may ask us to come back later than that: nobody waits so long for an answer."""


class OverCap(Exception):
    """A message went over the cap of bytes."""

    def __init__(self, beginning: bytes) -> None:
        super().__init__("a message is too large")
        self.beginning = beginning


class Ear:
    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._may_hear = asyncio.Event()
        self._may_hear.set()

    def pause(self) -> None:
        self._may_hear.clear()

    def resume(self) -> None:
        self._may_hear.set()

    async def next(self, response: Response) -> bytes:
        await self._may_hear.wait()
        return await response.next()

    async def body(self, response: Response) -> bytes:
        """The whole of it, bare; OverCap if that is too much."""
        pieces: list[bytes] = []
        size = 0
        try:
            while piece := await self.next(response):
                pieces.append(piece)
                size += len(piece)
                if size > self.max_bytes:
                    raise OverCap(b"".join(pieces)[:_SAMPLE_BYTES])
        finally:
            response.abort()
        return bare(b"".join(pieces))

    async def follow(self, response: Response, on_event: "Callable[[Event | TooLong], None]") -> None:
        """Every event until the stream ends, or breaks (UpstreamError)."""
        events = Events(self.max_bytes)
        try:
            while piece := await self.next(response):
                for event in events.feed(piece):
                    on_event(event)
            if last := events.last():
                on_event(last)
        finally:
            response.abort()


class Events:
    """Events as they come. One that is too large is told of, and skipped."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._buffer = EventBuffer(max_bytes)
        self._tail = b""
        self.is_skipping = False

    def feed(self, data: bytes) -> "Iterator[Event | TooLong]":
        if self.is_skipping:
            data = self._skip(data)
        for raw in self._buffer.feed(data):
            if isinstance(raw, TooLong):
                self._buffer = EventBuffer(self._max_bytes)
                self._tail = data[-3:]
                self.is_skipping = True
                yield raw
            else:
                yield read_event(raw)

    def _skip(self, data: bytes) -> bytes:
        """What comes behind the event that is skipped."""
        data = self._tail + data
        end = _BLANK.search(data)
        if end is None:
            self._tail = data[-3:]
            return b""
        self.is_skipping = False
        return data[end.end() :]

    def last(self) -> Event | None:
        """An event that only lacks the empty line behind it: some servers save it at the end."""
        event = read_event(self._buffer.rest())
        if not event.data or isinstance(rpc.read(event.data), rpc.Garbage):
            return None
        return event


class Trail:
    """How far a stream was heard, and when it may be taken up again."""

    def __init__(self) -> None:
        self.last_id = b""
        self._retry_seconds = _FIRST_WAIT_SECONDS
        self.failures = 0
        """Tries in a row that brought nothing new."""

    def note(self, event: Event) -> None:
        if event.id is not None:
            self.last_id = event.id
        if event.retry:
            wish = int(event.retry[:9]) / 1_000
            self._retry_seconds = min(max(wish, _SHORTEST_WISH_SECONDS), _LONGEST_WISH_SECONDS)
        self.failures = 0

    async def rest(self) -> None:
        longest = max(_LONGEST_WAIT_SECONDS, self._retry_seconds)
        await asyncio.sleep(min(self._retry_seconds * 2 ** min(self.failures, 10), longest))


def bare(body: bytes) -> bytes:
    """Without what may stand around JSON."""
    return body.removeprefix(BOM_UTF8).strip()


def is_event_stream(response: Response) -> bool:
    return response.header(b"content-type").partition(b";")[0].strip().lower() == b"text/event-stream"
