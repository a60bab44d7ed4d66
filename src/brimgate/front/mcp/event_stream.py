"""The events of one response to a client. What a cut connection lost can be requested again."""

import asyncio
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, Final

from brimgate.front.mcp.request import HttpExchange
from brimgate.http.asgi import Header
from brimgate.http.sse import write_event
from brimgate.relay.actions import Line

if TYPE_CHECKING:
    from collections.abc import Callable

    from brimgate.errors import UpstreamError

MAX_BACKLOG_BYTES: Final = 4 << 20
"""What may wait for a client that does not read, before the sender must wait."""
KEPT_BYTES: Final = 1 << 20
KEPT_EVENTS: Final = 1_000
_CARRIED_BYTES: Final = 256 << 10
PING: Final = b": ping\n\n"


class EventStream:
    """Events in order, each with an id.

    One response at a time carries them; a later one may continue where it ended.
    """

    def __init__(self, number: int, *, preface: bytes = b"", waits_for: int = 0) -> None:
        """Create a stream. `preface` is an event that precedes all others."""
        self.number = number
        self.waits_for = waits_for
        """The number of answers it waits for; 0 for a stream without an end."""
        self.is_done = False
        self.answers: list[Line] = []
        self.failure: UpstreamError | None = None
        """Why its answer replaces one that never came."""
        self._events: deque[tuple[int, Line]] = deque()
        self._last = 0
        self._sent = 0
        """The last event that was given to a connection."""
        self._bytes = 0
        self._unsent_bytes = 0
        self._waiting: list[asyncio.Future[None]] = []
        """Responses that carry it, and those that did until a moment ago."""
        self._reader: object = None
        self.on_pressure: Callable[[bool], None] = lambda _: None
        self._is_pressed = False
        self._ping_is_due = False
        self._preface = preface
        if preface:
            self._events.append((0, b""))
            self._sent = -1

    @property
    def has_reader(self) -> bool:
        return self._reader is not None

    @property
    def kept_bytes(self) -> int:
        return self._bytes

    @property
    def is_sent(self) -> bool:
        return self._sent >= self._last

    def put(self, line: Line, *, is_answer: bool = False, failure: "UpstreamError | None" = None) -> None:
        self._last += 1
        self._events.append((self._last, line))
        self._bytes += len(line)
        self._unsent_bytes += len(line)
        if is_answer:
            self.answers.append(line)
            self.failure = failure
            self.waits_for -= 1
            self.is_done = self.is_done or self.waits_for <= 0
        self._trim()
        if self._unsent_bytes > MAX_BACKLOG_BYTES and self.has_reader and not self._is_pressed:
            self._is_pressed = True
            self.on_pressure(True)
        self.wake()

    def ping(self) -> None:
        """Send a ping, so that no intermediary takes the connection for dead."""
        self._ping_is_due = self.has_reader
        self.wake()

    def finish(self) -> None:
        self.is_done = True
        self.wake()

    def wake(self) -> None:
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)

    def _trim(self) -> None:
        """Forget the oldest events, preferably sent ones; never the newest."""
        while len(self._events) > 1 and (
            len(self._events) > KEPT_EVENTS
            or self._bytes > (KEPT_BYTES if self.is_sent else MAX_BACKLOG_BYTES)
        ):
            if self.has_reader and self._events[0][0] > self._sent:
                return  # a reader waits for it
            number, line = self._events.popleft()
            self._bytes -= len(line)
            if number > self._sent:
                self._unsent_bytes -= len(line)

    def _take(self) -> bytes:
        """Return events that are not sent yet, not too many at once: others wait for the event loop."""
        taken: list[bytes] = []
        size = 0
        # Their numbers follow each other.
        for number, line in islice(self._events, max(self._sent + 1 - self._events[0][0], 0), None):
            taken.append(self._written(number, line))
            size += len(line)
            self._sent = number
            if size > _CARRIED_BYTES:
                break
        self._unsent_bytes = 0 if self.is_sent else max(self._unsent_bytes - size, 0)
        return b"".join(taken)

    def _written(self, number: int, line: Line) -> bytes:
        return write_event(line, b"%d-%d" % (self.number, number)) if number else self._preface

    def document(self, *, is_batch: bool) -> Line:
        """Return the answers as one JSON document."""
        return b"[" + b",".join(self.answers) + b"]" if is_batch else self.answers[0]

    async def whole(self, exchange: HttpExchange) -> bool:
        """Wait for all answers. Return False if the client has gone first, or there will be none."""
        exchange.hangup.then(self.wake)
        while not self.is_done and not exchange.hangup.is_over:
            await self._wait()
        exchange.hangup.forget(self.wake)
        return not exchange.hangup.is_over and self.waits_for <= 0

    async def settle(self, seconds: float) -> None:
        """Wait until it is done or has more to send than its preface, or for `seconds`."""
        if self.is_done or self._last:
            return
        timer = asyncio.get_running_loop().call_later(seconds, self.wake)
        await self._wait()
        timer.cancel()

    async def _wait(self) -> None:
        waiting = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        try:
            await waiting
        finally:
            self._waiting.remove(waiting)

    async def carry(self, exchange: HttpExchange, headers: list[Header], after: int | None = None) -> bool:
        """Send everything after the event `after`, until it is done or the client has gone.

        Return whether all of it was sent. A later response takes over.
        """
        me = self._reader = object()
        self.wake()  # the previous carrier sees that it was replaced
        if after is not None:
            self._sent = min(after, self._last)
        exchange.hangup.then(self.wake)
        await exchange.begin_stream(headers)
        try:
            while self._reader is me and not exchange.hangup.is_over:
                if not self.is_sent:
                    ready = self._take()
                    is_last = self.is_done and self.is_sent
                    await exchange.write(ready, is_last=is_last)
                    self._relieve()
                    self._trim()
                    if is_last:
                        return not exchange.hangup.is_over
                elif self.is_done:
                    break
                elif self._ping_is_due:
                    self._ping_is_due = False
                    await exchange.write(PING)
                else:
                    await self._wait()
            is_whole = self._reader is me and self.is_done and not exchange.hangup.is_over
            if not exchange.hangup.is_over:
                await exchange.end()
            return is_whole
        finally:
            exchange.hangup.forget(self.wake)
            if self._reader is me:
                self._reader = None
                self._trim()
            self._relieve()

    def _relieve(self) -> None:
        """Release the sender if the client is gone or has caught up: what the client misses is kept or forgotten."""
        if self._is_pressed and (not self.has_reader or self._unsent_bytes <= MAX_BACKLOG_BYTES):
            self._is_pressed = False
            self.on_pressure(False)


def priming(number: int) -> bytes:
    """Return an event with an id before anything has happened: without one a client could not resume."""
    return b"id: %d-0\nretry: 1000\ndata: \n\n" % number
