"""Sessions of clients with a handshake (2024-11-05 to 2025-11-25) over Streamable HTTP, each with its own server."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, Final

import msgspec

from brimgate.front.mcp.client_session import GRACE_SECONDS, HttpSession
from brimgate.front.mcp.errors import HttpError, no_session, too_many, upstream_down
from brimgate.front.mcp.event_stream import EventStream
from brimgate.front.mcp.request import SESSION_ID, Converse, HttpExchange, Timing, messages_of, wait_for_room
from brimgate.front.mcp.session_ids import SessionIds
from brimgate.guard.principal import Principal
from brimgate.relay.protocol import message as rpc
from brimgate.relay.protocol.message import Message
from brimgate.relay.protocol.versions import ASSUMED_VERSION, PRIMED_SINCE
from brimgate.relay.trace_context import Arrival

if TYPE_CHECKING:
    from brimgate.errors import UpstreamError
    from brimgate.http.asgi import Header

_HOLD_SECONDS: Final = 0.02
"""An answer that comes within this time is sent in one piece with the headers."""


class HandshakeSessions:
    """The endpoint for POST, GET and DELETE of clients that do the handshake."""

    def __init__(
        self,
        converse: Converse,
        timing: Callable[[], Timing],
        on_handshake: "Callable[[UpstreamError | None], None]",
        ids: SessionIds,
    ) -> None:
        """Create it. `on_handshake` gets why the server failed a handshake, or None if it answered."""
        self._ids = ids
        self._converse, self._timing, self._on_handshake = converse, timing, on_handshake
        self._sessions: dict[bytes, HttpSession] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self.created = 0
        self.is_draining = False
        self.make_room: Callable[[str], Awaitable[bool]] = _no_room
        """Ends a session that nobody uses, of any upstream, for one of this principal. Returns whether there was one."""

    def __len__(self) -> int:
        return len(self._sessions)

    @property
    def pending(self) -> int:
        """Calls that wait for their answers."""
        return sum(session.pending for session in self._sessions.values())

    async def post(self, exchange: HttpExchange, body: bytes, message: "Message | list[msgspec.Raw]") -> None:
        """Handle a POST. `body` is on one line."""
        if isinstance(message, Message) and _greets(message) and not exchange.header(SESSION_ID):
            await self._initialize(exchange, body, message)
            return
        messages = [message] if isinstance(message, Message) else list(messages_of(body))
        requests = [one for one in messages if one.is_request]
        session = self.find(exchange, requests[0].key if requests else b"")
        session.note_use()
        if not session.link.room.is_set():
            await wait_for_room(session.link, exchange, requests[0].key if requests else b"")
        for one in messages:
            session.note_cancellation(one)
        if not requests:
            session.link.from_client(body)
            await exchange.answer(202, headers=[(SESSION_ID, session.id)])
            return
        if any(_greets(one) for one in requests):
            raise HttpError(400, "the session is initialized already", key=requests[0].key)
        version = exchange.header(b"mcp-protocol-version").decode("latin-1") or ASSUMED_VERSION
        streams = self._streams(exchange)
        arrival = Arrival(exchange.headers)
        stream = session.ask(requests, body, arrival, primed=version >= PRIMED_SINCE, streams=streams)
        is_batch = isinstance(message, list)
        await self._respond(exchange, session, stream, requests[0].key, streams=streams, is_batch=is_batch)

    def _streams(self, exchange: HttpExchange) -> bool:
        """Return whether the answer is sent as an event stream."""
        takes_json = exchange.accepts(b"application/json")
        if self._timing().json_response and takes_json:
            return False
        if exchange.accepts(b"text/event-stream"):
            return True
        if takes_json:
            return False
        raise HttpError(406, "Accept must name application/json or text/event-stream")

    async def _respond(
        self,
        exchange: HttpExchange,
        session: HttpSession,
        stream: EventStream,
        key: bytes,
        *,
        streams: bool,
        is_batch: bool,
    ) -> None:
        """Send the answer. `key` is for the error if the session ends first."""
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

    async def _initialize(self, exchange: HttpExchange, body: bytes, message: Message) -> None:
        streams = self._streams(exchange)
        if self.is_draining:
            raise too_many("no more sessions can be opened: Brimgate is about to end", message.key)
        session = await self._opened(exchange.principal, message.key)
        session.begin_response()
        self._sessions[session.id] = session
        self.created += 1
        is_established = False
        try:
            await session.link.start()
            if not session.link.is_up:
                raise self._down(session.link.failure, message.key)
            wanted = _text(rpc.member(message.params, "protocolVersion"))
            arrival = Arrival([*exchange.headers, (SESSION_ID, session.id)])
            stream = session.ask([message], body, arrival, primed=wanted >= PRIMED_SINCE, streams=streams)
            if not await stream.whole(exchange):
                return
            if stream.failure is not None:
                raise self._down(stream.failure, message.key)
            self._on_handshake(None)
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

    async def _opened(self, principal: Principal, key: bytes) -> HttpSession:
        """Open a session. Where there is no room, the one that nobody has used for longest ends."""
        try:
            return HttpSession(principal, self._converse, self._ids.new())
        except HttpError as full:
            full.key = key
            if not await self.make_room(principal.account):
                raise
        return HttpSession(principal, self._converse, self._ids.new())

    def idlest(self, account: str, before: float) -> HttpSession | None:
        """Return an account's session that was not used for longest, and not since `before`.

        It has no open response.
        """
        idle = [
            one
            for one in self._sessions.values()
            if one.account == account and not one.responses and not one.pending
        ]
        found = min(idle, key=lambda one: one.used_at, default=None)
        return found if found is not None and found.used_at < before else None

    def _down(self, failure: "UpstreamError", key: bytes) -> HttpError:
        self._on_handshake(failure)
        return upstream_down(failure, key, is_greeting=True)

    async def get(self, exchange: HttpExchange) -> None:
        session = self.find(exchange)
        if not exchange.accepts(b"text/event-stream"):
            raise HttpError(406, "Accept must name text/event-stream")
        stream, after = session.standalone, None
        if event_id := exchange.header(b"last-event-id"):
            found = session.stream_of(event_id)
            if found is None:
                raise HttpError(400, "nothing is kept of the stream with this Last-Event-ID")
            stream, after = found
        elif stream.has_reader:
            raise HttpError(409, "the session has a stream already")
        session.begin_response()
        is_whole = False
        try:
            is_whole = await stream.carry(exchange, [(SESSION_ID, session.id)], after)
        finally:
            session.end_response(was_cut=not is_whole)

    async def delete(self, exchange: HttpExchange) -> None:
        self.close(self.find(exchange))
        await exchange.answer(200)

    def knows(self, exchange: HttpExchange) -> bool:
        """Return whether a request names a session of its principal."""
        session = self._sessions.get(exchange.header(SESSION_ID))
        return session is not None and session.principal == exchange.principal.id

    def find(self, exchange: HttpExchange, key: bytes = b"") -> HttpSession:
        """Find the session. `key` is the id of the request, for a possible error."""
        given = exchange.header(SESSION_ID)
        if not given:
            raise HttpError(400, "the header Mcp-Session-Id is missing: begin with initialize", key=key)
        session = self._sessions.get(given)
        if session is None or session.principal != exchange.principal.id:
            raise no_session(key)
        return session

    def close(
        self, session: HttpSession, grace_seconds: float = GRACE_SECONDS
    ) -> "asyncio.Task[None] | None":
        if self._sessions.pop(session.id, None) is None:
            return None
        return self.end_later(session.end(grace_seconds))

    def end_unless(self, may_stay: Callable[[Principal], bool]) -> None:
        for session in list(self._sessions.values()):
            if not may_stay(session.owner):
                self.close(session, 0.0)

    def end_later(self, ending: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """End a session in the background. Our own shutdown waits for it, whoever else does."""
        task = asyncio.get_running_loop().create_task(ending)
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
        return task

    def sweep(self) -> None:
        now, timing = time.monotonic(), self._timing()
        for session in list(self._sessions.values()):
            if session.is_over(now, timing):
                self.close(session)
            else:
                session.refresh(now, timing)

    def drain(self) -> None:
        """Accept no new sessions, and end streams that wait for nothing in particular."""
        self.is_draining = True
        for session in self._sessions.values():
            session.standalone.finish()

    async def end(self) -> None:
        for session in list(self._sessions.values()):
            self.close(session, 0.0)
        if self._ending:
            await asyncio.wait(set(self._ending))


async def _no_room(_: str) -> bool:
    return False


def _greets(message: Message) -> bool:
    return message.is_request and message.method == "initialize"


def _text(raw: msgspec.Raw) -> str:
    """Return the text of a JSON string; empty if it is not a string."""
    return rpc.text_of(bytes(raw)).decode("utf-8", "replace") if bytes(raw)[:1] == b'"' else ""
