"""One client that does the handshake: where each of its messages goes, and each message for it."""

import time
from collections import OrderedDict
from collections.abc import Iterator
from typing import Final

from brimgate.front.mcp.errors import REQUEST_CANCELLED, HttpError
from brimgate.front.mcp.event_stream import EventStream, priming
from brimgate.front.mcp.request import Converse, Timing
from brimgate.guard.principal import Principal
from brimgate.relay.actions import Line, ToClient
from brimgate.relay.calls import progress_token, same_spelling, spellings
from brimgate.relay.protocol import message as rpc
from brimgate.relay.protocol.message import Message
from brimgate.relay.trace_context import Arrival

_MAX_STREAMS: Final = 64
_MAX_KEPT_BYTES: Final = 8 << 20
_SMALL_BYTES: Final = _MAX_KEPT_BYTES // _MAX_STREAMS
"""At this size no number of streams adds up to too much."""
GRACE_SECONDS: Final = 1.0
_STANDALONE: Final = 0
"""The number of the stream that a client opens with GET."""


class HttpSession:
    """One client: where each of its messages goes, and each message for it."""

    def __init__(self, principal: Principal, converse: Converse, session_id: str) -> None:
        self.id = session_id.encode()
        self.owner, self.principal, self.account = principal, principal.id, principal.account
        self.link = converse(self._deliver, principal)
        self._streams: OrderedDict[int, EventStream] = OrderedDict()
        self._last_stream = _STANDALONE
        self._waiting: dict[bytes, EventStream] = {}
        self._tokens: dict[bytes, EventStream] = {}
        self._pressed = 0
        self.standalone = self._add(EventStream(_STANDALONE))
        self.responses = 0
        """How many responses are open."""
        self.used_at = time.monotonic()
        self.dropped_at = 0.0
        """When the last connection was cut; 0 if one is open or none was cut."""

    @property
    def pending(self) -> int:
        return len(self._waiting)

    # From the client

    def ask(
        self, requests: list[Message], line: Line, arrival: Arrival, *, primed: bool, streams: bool
    ) -> EventStream:
        """Send a line with requests; their answers come on the returned stream."""
        keys = [same_spelling(request.key) for request in requests]
        if any(key in self._waiting for key in keys) or len(set(keys)) < len(keys):
            raise HttpError(400, "the id of the request is in use by another that waits", key=requests[0].key)
        self._last_stream += 1
        preface = priming(self._last_stream) if primed and streams else b""
        stream = EventStream(self._last_stream, preface=preface, waits_for=len(keys))
        if streams:
            self._add(stream)
        for key, request in zip(keys, requests, strict=True):
            self._waiting[key] = stream
            if streams and (token := progress_token(request.params)):
                self._tokens[token] = stream
        self.link.from_client(line, arrival)
        return stream

    def _add(self, stream: EventStream) -> EventStream:
        stream.on_pressure = self._press
        self._streams[stream.number] = stream
        if len(self._streams) > _MAX_STREAMS:
            self._forget(next(self._over(), None))
        return stream

    def _over(self) -> Iterator[EventStream]:
        """Return streams that are kept only for a client that may come back, oldest first."""
        return (one for one in self._streams.values() if one.is_done and not one.has_reader)

    def _forget(self, stream: EventStream | None) -> None:
        if stream is not None:
            del self._streams[stream.number]

    def _bound_kept_bytes(self) -> None:
        over = list(self._over())
        kept = sum(one.kept_bytes for one in over)
        for stream in over[:-1]:
            if kept <= _MAX_KEPT_BYTES:
                return
            kept -= stream.kept_bytes
            self._forget(stream)

    def stream_of(self, event_id: bytes) -> tuple[EventStream, int] | None:
        """Return where a client stopped listening, or None if nothing of that is kept."""
        number, _, last = event_id.partition(b"-")
        if not number.isdigit() or not last.isdigit() or len(event_id) > 40:
            return None
        stream = self._streams.get(int(number))
        return None if stream is None else (stream, int(last))

    def note_cancellation(self, message: Message) -> None:
        """End the stream of a cancelled request, which nobody answers."""
        key = (
            bytes(rpc.member(message.params, "requestId"))
            if message.method == "notifications/cancelled"
            else b""
        )
        if key:
            self._deliver(ToClient(rpc.failure(key, REQUEST_CANCELLED, "the request was called off")))

    # To the client

    def _deliver(self, answer: ToClient) -> None:
        message = rpc.read_any(answer.data)
        if isinstance(message, list):
            for element in rpc.elements_of(answer.data):
                self._deliver(answer._replace(data=element))
        elif isinstance(message, Message) and not message.method:
            self._answer(message, answer)
        elif isinstance(message, Message):
            self._stream_for(message).put(answer.data)
        else:
            self.standalone.put(answer.data)

    def _answer(self, message: Message, answer: ToClient) -> None:
        key = next((key for key in spellings(message.key) if key in self._waiting), None)
        if key is None:
            return  # answered already, or cancelled
        stream = self._waiting.pop(key)
        stream.put(answer.data, is_answer=True, failure=answer.failure)
        if stream.kept_bytes > _SMALL_BYTES:
            self._bound_kept_bytes()
        if stream.is_done and self._tokens:
            self._tokens = {token: one for token, one in self._tokens.items() if one is not stream}

    def _stream_for(self, message: Message) -> EventStream:
        """Return the stream for a server's message: by its progress token, else the newest call, else GET."""
        if message.method == "notifications/progress":
            stream = self._tokens.get(same_spelling(bytes(rpc.member(message.params, "progressToken"))))
            if stream is not None:
                return stream
        newest = next(
            (one for one in reversed(self._streams.values()) if one.number and not one.is_done), None
        )
        return newest or self.standalone

    def _press(self, pressed: bool) -> None:
        self._pressed += 1 if pressed else -1
        if self._pressed == 1 and pressed:
            self.link.pause()
        elif not self._pressed:
            self.link.resume()

    # Lifetime

    def note_use(self) -> None:
        self.used_at, self.dropped_at = time.monotonic(), 0.0

    def begin_response(self) -> None:
        self.note_use()
        self.responses += 1

    def end_response(self, *, was_cut: bool) -> None:
        self.responses -= 1
        self.used_at = time.monotonic()
        if was_cut and not self.responses:
            self.dropped_at = self.used_at

    def is_over(self, now: float, timing: Timing) -> bool:
        if self.responses:
            return False
        if self.dropped_at and now - self.dropped_at > timing.session_dropped_seconds:
            return True
        return now - self.used_at > timing.session_idle_seconds

    def refresh(self, now: float, timing: Timing) -> None:
        """Send a ping on open streams, and forget streams that nobody came back for."""
        for stream in list(self._streams.values()):
            stream.ping()
            if (
                stream.is_done
                and not stream.has_reader
                and now - self.used_at > timing.session_dropped_seconds
            ):
                del self._streams[stream.number]

    async def end(self, grace_seconds: float = GRACE_SECONDS) -> None:
        for stream in [*self._streams.values(), *self._waiting.values()]:
            stream.finish()
        await self.link.end(grace_seconds)
