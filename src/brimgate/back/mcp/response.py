"""Responses over HTTP, read as fast as the listener takes them. Also how a server refuses a request."""

import asyncio
import re
from codecs import BOM_UTF8
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from brimgate.errors import AnswerTooLarge, UpstreamRefused
from brimgate.http.client import Response
from brimgate.http.sse import Event, EventBuffer, in_turns, read_event
from brimgate.relay.protocol import message as rpc
from brimgate.relay.protocol.message import messages_in, one_line
from brimgate.wire.framing import TooLong

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SAMPLE_BYTES: Final = 4_096
_BLANK: Final = re.compile(rb"\r\n\r\n|\n\n|\n\r\n?|\r\r")
_FIRST_WAIT_SECONDS: Final = 1.0
_LONGEST_WAIT_SECONDS: Final = 30.0
_SHORTEST_WISH_SECONDS: Final = 0.1
"""A server that hangs up and wants us back at once would keep both sides busy."""
_LONGEST_WISH_SECONDS: Final = 60.0
"""A server may ask us to come back even later, but nobody waits that long for an answer."""
_MAX_BYTES: Final = 1 << 20
_SESSION_CODES: Final = frozenset((0, rpc.UPSTREAM_GONE, -32001, -32600))
"""Error codes of older servers for a request outside of a session; 0 if there is none."""
_HINTS: Final = {
    401: "it wants credentials: configure them under headers:",
    403: "it refuses our credentials or our address: look at headers:",
    404: "is its address right?",
    405: "is its address right? A server of the older HTTP+SSE needs transport: sse",
}


class OverCap(Exception):
    """A message exceeded the byte limit."""

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
        """Return the next piece, once it has come and may be heard: one that comes during a pause waits here."""
        await self._until_resumed()
        piece = await response.next()
        await self._until_resumed()
        return piece

    async def _until_resumed(self) -> None:
        # Not just one wait: it also ends for a resume that the next pause has already taken back.
        while not self._may_hear.is_set():
            await self._may_hear.wait()

    async def body(self, response: Response) -> bytes:
        """Read the whole body, stripped. Raise OverCap if it is too large."""
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
        """Pass on every event until the stream ends, or breaks (UpstreamError)."""
        events = Events(self.max_bytes)
        try:
            while piece := await self.next(response):
                async for event in in_turns(events.feed(piece)):
                    on_event(event)
            if last := events.last():
                on_event(last)
        finally:
            response.abort()


class Events:
    """Reads events as they come. Reports one that is too large, and skips it."""

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
        """Return what follows the skipped event."""
        data = self._tail + data
        end = _BLANK.search(data)
        if end is None:
            self._tail = data[-3:]
            return b""
        self.is_skipping = False
        return data[end.end() :]

    def last(self) -> Event | None:
        """Return an event that lacks only the empty line after it: some servers omit it at the end."""
        event = read_event(self._buffer.rest())
        if not event.data or isinstance(rpc.read(event.data), rpc.Garbage):
            return None
        return event


class Trail:
    """How far a stream was read, and when it may be resumed."""

    def __init__(self) -> None:
        self.last_id = b""
        self._retry_seconds = _FIRST_WAIT_SECONDS
        self.failures = 0
        """The number of retries in a row that brought nothing new."""

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
    """Remove what may surround JSON."""
    return body.removeprefix(BOM_UTF8).strip()


def is_event_stream(response: Response) -> bool:
    return response.header(b"content-type").partition(b";")[0].strip().lower() == b"text/event-stream"


@dataclass(frozen=True, slots=True)
class HttpRefusal:
    status: int
    body: bytes
    """The body of a JSON-RPC error on one line, else empty."""
    error: bytes = b""
    code: int = 0
    mentions_session: bool = False

    @property
    def is_outside_session(self) -> bool:
        """Whether this is the response of a server that has forgotten the session of the request."""
        if self.code not in _SESSION_CODES:
            return False
        return self.status == 404 or (self.status == 400 and self.mentions_session)

    @property
    def is_of_older_era(self) -> bool:
        """Whether this is the response to an independent request of a server that knows only sessions."""
        return self.status in (400, 404, 405) and self.code in _SESSION_CODES

    def failure(self, name: str) -> UpstreamRefused:
        """Return the failure of a request that was refused."""
        return UpstreamRefused(self.text(name), self.status)

    def text(self, name: str) -> str:
        try:
            said = f"{self.status} {HTTPStatus(self.status).phrase}"
        except ValueError:
            said = str(self.status)
        hint = _HINTS.get(self.status)
        return f"the upstream {name} answered {said}" + (f": {hint}" if hint else "")


async def read_refusal(response: Response) -> HttpRefusal:
    try:
        body = one_line(bare(await response.read(_MAX_BYTES)))
    except AnswerTooLarge:
        return HttpRefusal(response.status, b"")
    finally:
        response.abort()
    mentions = b"session" in body.lower() or b"not initialized" in body.lower()
    found = messages_in(body) if body[:1] == b"{" else []
    error = bytes(found[0].error) if found else b""
    found = rpc.read_error(error)
    code = found and found.code
    if code is None:
        return HttpRefusal(response.status, b"", mentions_session=mentions)
    return HttpRefusal(response.status, body, error, code, mentions)
