"""Sessions of clients that shake hands (2024-11-05 to 2025-11-25), over Streamable HTTP, each with a server of its own."""

import asyncio
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, Final, Protocol, cast

import msgspec

from headgate.front.http.exchange import Exchange, Header
from headgate.front.http.refusals import (
    REQUEST_CANCELLED,
    Refusal,
    no_session,
    not_modern,
    too_many,
    upstream_down,
)
from headgate.front.http.streams import EventStream, priming
from headgate.relay import message as rpc
from headgate.relay.actions import Line, ToClient
from headgate.relay.calls import same_spelling, spellings
from headgate.relay.eras import ASSUMED_VERSION, PRIMED_SINCE, is_modern_header
from headgate.relay.message import Message

SESSION_ID: Final = b"mcp-session-id"
_HOLD_SECONDS: Final = 0.02
"""An answer that comes within this goes out in one piece with the headers."""
_MAX_STREAMS: Final = 64
"""Of one session that are kept for a client that comes back."""
_MAX_BATCH: Final = 1_000
_GRACE_SECONDS: Final = 1.0
"""As the official SDK says it: in this era the stream of a request ends with its answer, and with nothing else."""
_STANDALONE: Final = 0
"""The number of the stream that a client opens with GET."""


class Conversation(Protocol):
    """A session with a server, that takes what the client says."""

    trouble: str

    @property
    def is_up(self) -> bool: ...
    async def start(self) -> None: ...
    def from_client(self, line: Line) -> None: ...
    def pause(self) -> None: ...
    def resume(self) -> None: ...
    async def end(self, grace_seconds: float) -> None: ...


Converse = Callable[[Callable[[ToClient], None], str], Conversation]
"""Makes one, given who hears its answers and for whom (the principal) it is; Refusal if there is no room."""


class Timing(Protocol):
    """What may change while we run."""

    @property
    def session_idle_seconds(self) -> float: ...
    @property
    def session_dropped_seconds(self) -> float: ...
    @property
    def json_response(self) -> bool: ...


class HttpSession:
    """One client: where each of its messages goes, and where each message for it."""

    def __init__(self, principal: str, converse: Converse) -> None:
        self.id = secrets.token_hex(16).encode()
        self.principal = principal
        self.link = converse(self._deliver, principal)
        self._streams: OrderedDict[int, EventStream] = OrderedDict()
        self._last_stream = _STANDALONE
        self._waiting: dict[bytes, EventStream] = {}
        self._tokens: dict[bytes, EventStream] = {}
        self._pressed = 0
        self.standalone = self._add(EventStream(_STANDALONE))
        self.responses = 0
        """How many are open."""
        self.used_at = time.monotonic()
        self.dropped_at = 0.0
        """When a connection was cut and none is left; 0 if that is not so."""

    @property
    def pending(self) -> int:
        return len(self._waiting)

    # What the client says

    def ask(self, requests: list[Message], line: Line, *, primed: bool, streams: bool) -> EventStream:
        """Send a line with requests in it; their answers come on the stream."""
        keys = [same_spelling(request.key) for request in requests]
        if any(key in self._waiting for key in keys) or len(set(keys)) < len(keys):
            raise Refusal(400, "the id of the request is in use by another that waits", key=requests[0].key)
        self._last_stream += 1
        preface = priming(self._last_stream) if primed and streams else b""
        stream = EventStream(self._last_stream, preface=preface, waits_for=len(keys))
        if streams:
            self._add(stream)
        for key, request in zip(keys, requests, strict=True):
            self._waiting[key] = stream
            if streams and (token := _progress_token(request)):
                self._tokens[token] = stream
        self.link.from_client(line)
        return stream

    def _add(self, stream: EventStream) -> EventStream:
        stream.on_pressure = self._press
        self._streams[stream.number] = stream
        while len(self._streams) > _MAX_STREAMS:
            done = next((one for one in self._streams.values() if one.is_done and not one.has_reader), None)
            if done is None:
                break
            del self._streams[done.number]
        return stream

    def stream_of(self, event_id: bytes) -> tuple[EventStream, int] | None:
        """Where a client stopped listening; None if nothing is kept of that."""
        number, _, last = event_id.partition(b"-")
        if not number.isdigit() or not last.isdigit() or len(event_id) > 40:
            return None
        stream = self._streams.get(int(number))
        return None if stream is None else (stream, int(last))

    def note_cancellation(self, message: Message) -> None:
        """Nobody answers a request that was called off, but its stream must come to an end."""
        key = member(message.params, "requestId") if message.method == "notifications/cancelled" else b""
        if key:
            self._deliver(
                ToClient(rpc.failure(key, REQUEST_CANCELLED, "the request was called off"), is_ours=True)
            )

    # What the client is told

    def _deliver(self, answer: ToClient) -> None:
        message = rpc.read(answer.data)
        if isinstance(message, list):
            for element in message:
                self._deliver(answer._replace(data=bytes(element)))
        elif isinstance(message, Message) and not message.method:
            self._answer(message, answer)
        elif isinstance(message, Message):
            self._stream_for(message).put(answer.data)
        else:
            self.standalone.put(answer.data)

    def _answer(self, message: Message, answer: ToClient) -> None:
        key = next((key for key in spellings(message.key) if key in self._waiting), None)
        if key is None:
            return  # answered already, or the request was called off
        stream = self._waiting.pop(key)
        stream.put(answer.data, is_answer=True, is_stopgap=answer.is_ours)
        if stream.is_done and self._tokens:
            self._tokens = {token: one for token, one in self._tokens.items() if one is not stream}

    def _stream_for(self, message: Message) -> EventStream:
        """Of a request or notification of the server: by its progress token, else the newest call, else GET."""
        if message.method == "notifications/progress":
            stream = self._tokens.get(member(message.params, "progressToken"))
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

    # Its life

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
        """Say that open streams are alive; forget what nobody came back for."""
        for stream in list(self._streams.values()):
            stream.ping()
            if (
                stream.is_done
                and not stream.has_reader
                and now - self.used_at > timing.session_dropped_seconds
            ):
                del self._streams[stream.number]

    async def end(self, grace_seconds: float = _GRACE_SECONDS) -> None:
        for stream in [*self._streams.values(), *self._waiting.values()]:
            stream.finish()
        await self.link.end(grace_seconds)


class HandshakeSessions:
    """The endpoint: POST, GET and DELETE of clients that shake hands."""

    def __init__(self, converse: Converse, timing: Callable[[], Timing]) -> None:
        self._converse, self._timing = converse, timing
        self._sessions: dict[bytes, HttpSession] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self.created = 0
        self.trouble = ""
        """Why the last handshake failed, if it did."""
        self.is_draining = False

    def __len__(self) -> int:
        return len(self._sessions)

    @property
    def pending(self) -> int:
        """Calls that wait for their answers."""
        return sum(session.pending for session in self._sessions.values())

    async def post(self, exchange: Exchange, body: bytes, message: "Message | list[msgspec.Raw]") -> None:
        """`body`: on one line."""
        if isinstance(message, Message) and _greets(message) and not exchange.header(SESSION_ID):
            await self._initialize(exchange, body, message)
            return
        messages = [message] if isinstance(message, Message) else list(_messages(message))
        requests = [one for one in messages if one.is_request]
        session = self.find(exchange, requests[0].key if requests else b"")
        session.note_use()
        for one in messages:
            session.note_cancellation(one)
        if not requests:
            session.link.from_client(body)
            await exchange.answer(202, headers=[(SESSION_ID, session.id)])
            return
        if any(_greets(one) for one in requests):
            raise Refusal(400, "the session is initialized already", key=requests[0].key)
        version = exchange.header(b"mcp-protocol-version").decode("latin-1") or ASSUMED_VERSION
        streams = self._streams(exchange)
        stream = session.ask(requests, body, primed=version >= PRIMED_SINCE, streams=streams)
        is_batch = isinstance(message, list)
        await self._respond(exchange, session, stream, requests[0].key, streams=streams, is_batch=is_batch)

    def _streams(self, exchange: Exchange) -> bool:
        """Whether the answer goes out as a stream of events."""
        takes_json = exchange.accepts(b"application/json")
        if self._timing().json_response and takes_json:
            return False
        if exchange.accepts(b"text/event-stream"):
            return True
        if takes_json:
            return False
        raise Refusal(406, "Accept must name application/json or text/event-stream")

    async def _respond(
        self,
        exchange: Exchange,
        session: HttpSession,
        stream: EventStream,
        key: bytes,
        *,
        streams: bool,
        is_batch: bool,
    ) -> None:
        """`key`: for the error that is the answer of a session which ends before."""
        session.begin_response()
        is_whole = False
        headers: list[Header] = [(SESSION_ID, session.id)]
        try:
            if streams:
                await stream.settle(_HOLD_SECONDS)
                is_whole = await stream.carry(exchange, headers)
            else:
                is_whole = await stream.whole(exchange)
                if is_whole:
                    await exchange.answer_json(stream.document(is_batch=is_batch), headers)
                elif not exchange.hangup.is_over:
                    raise no_session(key)
        finally:
            session.end_response(was_cut=not is_whole)

    async def _initialize(self, exchange: Exchange, body: bytes, message: Message) -> None:
        if is_modern_header(exchange.header(b"mcp-protocol-version")):
            raise not_modern(message.key)
        streams = self._streams(exchange)
        if self.is_draining:
            raise too_many("no more sessions can be opened: Headgate is about to end", message.key)
        try:
            session = HttpSession(exchange.principal, self._converse)
        except Refusal as full:
            full.key = message.key
            raise
        session.begin_response()
        self._sessions[session.id] = session
        self.created += 1
        is_established = False
        try:
            await session.link.start()
            if not session.link.is_up:
                raise self._down(session, message.key)
            wanted = str(_value(message.params, "protocolVersion"))
            stream = session.ask([message], body, primed=wanted >= PRIMED_SINCE, streams=streams)
            if not await stream.whole(exchange):
                return
            if stream.is_stopgap:
                raise self._down(session, message.key)
            self.trouble = ""
            document = stream.document(is_batch=False)
            answer = rpc.read(document)
            is_established = isinstance(answer, Message) and not answer.has_error
            headers: list[Header] = [(SESSION_ID, session.id)] if is_established else []
            if streams:
                await stream.carry(exchange, headers)
            else:
                await exchange.answer_json(document, headers)
        finally:
            session.end_response(was_cut=False)
            if not is_established:
                self.close(session)

    def _down(self, session: HttpSession, key: bytes) -> Refusal:
        self.trouble = session.link.trouble
        return upstream_down(self.trouble, key, is_greeting=True)

    async def get(self, exchange: Exchange) -> None:
        session = self.find(exchange)
        if not exchange.accepts(b"text/event-stream"):
            raise Refusal(406, "Accept must name text/event-stream")
        stream, after = session.standalone, None
        if event_id := exchange.header(b"last-event-id"):
            found = session.stream_of(event_id)
            if found is None:
                raise Refusal(400, "nothing is kept of the stream with this Last-Event-ID")
            stream, after = found
        elif stream.has_reader:
            raise Refusal(409, "the session has a stream already")
        session.begin_response()
        is_whole = False
        try:
            is_whole = await stream.carry(exchange, [(SESSION_ID, session.id)], after)
        finally:
            session.end_response(was_cut=not is_whole)

    async def delete(self, exchange: Exchange) -> None:
        self.close(self.find(exchange))
        await exchange.answer(200)

    def find(self, exchange: Exchange, key: bytes = b"") -> HttpSession:
        """`key`: of the request that asks, for the error it may get."""
        given = exchange.header(SESSION_ID)
        if not given:
            raise Refusal(400, "the header Mcp-Session-Id is missing: begin with initialize", key=key)
        session = self._sessions.get(given)
        if session is None or session.principal != exchange.principal:
            raise no_session(key)
        return session

    def close(self, session: HttpSession, grace_seconds: float = _GRACE_SECONDS) -> None:
        if self._sessions.pop(session.id, None) is not None:
            self.end_later(session.end(grace_seconds))

    def end_later(self, ending: Coroutine[Any, Any, None]) -> None:
        """Nobody waits for it, but for our own end."""
        task = asyncio.get_running_loop().create_task(ending)
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    def sweep(self) -> None:
        now, timing = time.monotonic(), self._timing()
        for session in list(self._sessions.values()):
            if session.is_over(now, timing):
                self.close(session)
            else:
                session.refresh(now, timing)

    def drain(self) -> None:
        """No new sessions; streams that wait for nothing in particular end."""
        self.is_draining = True
        for session in self._sessions.values():
            session.standalone.finish()

    async def end(self) -> None:
        for session in list(self._sessions.values()):
            self.close(session, 0.0)
        if self._ending:
            await asyncio.wait(set(self._ending))


def _greets(message: Message) -> bool:
    return message.is_request and message.method == "initialize"


def check_id(message: Message) -> None:
    if message.is_request and message.key[:1] in (b"[", b"{"):
        raise Refusal(400, "the id of a request is a text or a number")


def check_batch(message: object) -> None:
    """Each message of a batch costs its time; all of them together are read before anybody else is heard."""
    if isinstance(message, list) and len(cast("list[Any]", message)) > _MAX_BATCH:
        raise Refusal(400, f"a batch may hold {_MAX_BATCH:,} messages at most")


def _messages(elements: list[msgspec.Raw]) -> Iterator[Message]:
    for element in elements:
        message = rpc.read(bytes(element))
        if not isinstance(message, Message):
            raise Refusal(400, "a batch holds requests, notifications and answers only")
        check_id(message)
        yield message


def _progress_token(request: Message) -> bytes:
    if b"progressToken" not in bytes(request.params):
        return b""
    return member(_raw(request.params, "_meta"), "progressToken")


def _raw(params: msgspec.Raw, name: str) -> msgspec.Raw:
    try:
        return msgspec.json.decode(params, type=dict[str, msgspec.Raw]).get(name, rpc.NOTHING)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return rpc.NOTHING


def member(params: msgspec.Raw, name: str) -> bytes:
    """Of an object, as it is spelled there; empty if it has none of that name."""
    return bytes(_raw(params, name))


def _value(params: msgspec.Raw, name: str) -> Any:
    raw = member(params, name)
    return msgspec.json.decode(raw) if raw else ""
