"""Single exchanges of clients since 2026-07-28: every POST is independent, and many share one server."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Final, Protocol

from brimgate.errors import UpstreamError
from brimgate.front.mcp.errors import HttpError, from_refused, not_modern, status_of, upstream_down
from brimgate.front.mcp.event_stream import MAX_BACKLOG_BYTES, PING
from brimgate.front.mcp.request import Conversation, HttpExchange, wait_for_room
from brimgate.guard.principal import Principal
from brimgate.http.sse import write_event
from brimgate.relay.actions import Line
from brimgate.relay.protocol import message as rpc
from brimgate.relay.protocol.headers import ParamHeaders, check_params
from brimgate.relay.protocol.message import Message, RpcError
from brimgate.relay.protocol.versions import (
    LISTEN,
    MODERN_VERSION,
    UNSUPPORTED_VERSION,
    ProtocolRefusal,
    call_arguments,
    check_envelope,
)
from brimgate.relay.trace_context import Arrival

_QUIET_SECONDS: Final = 5.0
"""A call that takes longer is answered by a stream, which can send pings meanwhile."""
_PING_SECONDS: Final = 15.0
_GREETINGS: Final = ("server/discover",)


class Replies:
    """The messages that come back for one exchange."""

    def __init__(self, *, only_last: bool = False) -> None:
        """Create it. If `only_last`, keep the answer alone, and nothing that precedes it."""
        self._only_last = only_last
        self.lines: deque[Line] = deque()
        self.is_done = False
        self.failure: UpstreamError | None = None
        """Why the answer replaces one that never came."""
        self.is_overrun = False
        """A client that does not keep up cannot make a shared server wait: it is cut off."""
        self._bytes = 0
        self._wake: asyncio.Future[None] | None = None

    def put(self, line: Line, *, is_last: bool, failure: UpstreamError | None = None) -> None:
        if self._bytes > MAX_BACKLOG_BYTES and len(self.lines) > 1:
            self.is_overrun = True
            self.take()
        if not self.is_overrun and (is_last or not self._only_last):
            self.lines.append(line)
            self._bytes += len(line)
        self.is_done, self.failure = self.is_done or is_last, failure
        self.wake()

    def wake(self) -> None:
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    async def wait(self, seconds: float) -> None:
        """Wait until something comes, or somebody wakes us, or for `seconds`."""
        loop = asyncio.get_running_loop()
        self._wake = loop.create_future()
        timer = loop.call_later(seconds, self.wake)
        try:
            await self._wake
        finally:
            timer.cancel()
            self._wake = None

    def take(self) -> list[Line]:
        taken = list(self.lines)
        self.lines.clear()
        self._bytes = 0
        return taken


class Shared(Protocol):
    """A server that many exchanges share."""

    @property
    def link(self) -> Conversation: ...

    def enter(self, line: bytes, replies: Replies, arrival: Arrival) -> int: ...
    def leave(self, number: int) -> None: ...
    def tell(self, line: bytes) -> None: ...
    async def param_headers(self, tool: str, meta: dict[str, Any]) -> ParamHeaders: ...


Share = Callable[[Principal, str], Awaitable[Shared | None]]
"""Returns the server for a principal and the name of its client program. None: it speaks only the older era."""


class StatelessExchanges:
    """The endpoint for clients since 2026-07-28."""

    def __init__(self, share: Share, json_response: Callable[[], bool]) -> None:
        self._share, self._json_response = share, json_response
        self.pending = 0
        self._listening: set[Replies] = set()

    async def post(self, exchange: HttpExchange, body: bytes, message: Message) -> None:
        """Handle a POST. `body` is on one line, `message` is what it says."""
        if not message.is_request:
            await self._take_note(exchange, body, message)
            return
        if message.method == "initialize":
            raise not_modern(message.key)
        counts = message.method != LISTEN  # which never ends by itself
        self.pending += counts
        try:
            await self._ask(exchange, body, message)
        finally:
            self.pending -= counts

    async def _ask(self, exchange: HttpExchange, body: bytes, message: Message) -> None:
        try:
            meta = check_envelope(message, exchange.headers)
        except ProtocolRefusal as refused:
            raise from_refused(refused, message.key) from None
        takes_stream = exchange.accepts(b"text/event-stream")
        if not exchange.accepts(b"application/json") or (message.method == LISTEN and not takes_stream):
            raise HttpError(406, "Accept must name application/json and text/event-stream", key=message.key)
        shared = await self._shared(exchange, message)
        if shared is None:
            raise not_modern(message.key)
        if message.method == "tools/call":
            await self._check_params(exchange, message, shared, meta)
        if not shared.link.room.is_set():
            await wait_for_room(shared.link, exchange, message.key)
        streams = takes_stream and (message.method == LISTEN or not self._json_response())
        await self._exchange(exchange, body, message, shared, streams=streams)

    async def _shared(self, exchange: HttpExchange, message: Message) -> Shared | None:
        try:
            return await self._share(exchange.principal, rpc.client_name(message.params))
        except UpstreamError as error:
            is_greeting = message.method in _GREETINGS
            raise upstream_down(error, message.key, is_greeting=is_greeting) from None
        except HttpError as full:
            full.key = message.key
            raise

    async def _take_note(self, exchange: HttpExchange, body: bytes, message: Message) -> None:
        """Pass on a notification, and acknowledge it."""
        if not message.method:
            raise HttpError(400, "send one request or notification", key=message.key)
        version = exchange.header(b"mcp-protocol-version").decode("latin-1")
        if version != MODERN_VERSION:
            data = rpc.encode({"supported": [MODERN_VERSION], "requested": version})
            raise HttpError(400, "unsupported protocol version", code=UNSUPPORTED_VERSION, data=data)
        if (shared := await self._shared(exchange, message)) is not None:
            shared.tell(body)
        await exchange.answer(202)

    async def _check_params(
        self, exchange: HttpExchange, message: Message, shared: Shared, meta: dict[str, Any]
    ) -> None:
        tool, arguments = call_arguments(message)
        try:
            check_params(await shared.param_headers(tool, meta), arguments, exchange.headers)
        except ProtocolRefusal as refused:
            raise from_refused(refused, message.key) from None

    async def _exchange(
        self, exchange: HttpExchange, body: bytes, message: Message, shared: Shared, *, streams: bool
    ) -> None:
        replies = Replies(only_last=not streams)
        try:
            number = shared.enter(body, replies, Arrival(exchange.headers, message.key))
        except ValueError as error:
            raise HttpError(400, f"this cannot be forwarded: {error}", key=message.key) from None
        exchange.hangup.then(replies.wake)
        if message.method == LISTEN:
            self._listening.add(replies)
        try:
            await self._answer(exchange, replies, message, streams=streams)
        finally:
            self._listening.discard(replies)
            exchange.hangup.forget(replies.wake)
            shared.leave(number)

    async def _answer(
        self, exchange: HttpExchange, replies: Replies, message: Message, *, streams: bool
    ) -> None:
        hangup = exchange.hangup
        while not hangup.is_over and not replies.is_done and not (replies.lines and streams):
            await replies.wait(_QUIET_SECONDS)
            if not replies.lines and streams and not hangup.is_over:
                break
        if hangup.is_over:
            return
        if replies.is_done and replies.lines and (len(replies.lines) == 1 or not streams):
            await self._answer_at_once(exchange, replies, message)
            return
        await exchange.begin_stream()
        while not hangup.is_over and not replies.is_overrun:
            if lines := replies.take():
                await exchange.write(b"".join(write_event(line) for line in lines))
            elif replies.is_done:
                break
            else:
                await replies.wait(_PING_SECONDS)
                if not replies.lines and not replies.is_done:
                    await exchange.write(PING)
        if not hangup.is_over and not replies.is_overrun:  # else returning cuts the connection
            await exchange.end()

    async def _answer_at_once(self, exchange: HttpExchange, replies: Replies, message: Message) -> None:
        line = replies.lines[-1]
        if replies.failure is not None and message.method in _GREETINGS:
            raise upstream_down(replies.failure, message.key, is_greeting=True)
        error = _error(line)
        await exchange.answer_json(line, status=status_of(error.code) if error else 200)

    def drain(self) -> None:
        """End streams that wait for nothing in particular."""
        for replies in list(self._listening):
            replies.is_done = True
            replies.wake()


def _error(line: Line) -> RpcError | None:
    """Return the error in an answer, if it is one: such answers are short."""
    message = rpc.read(line) if len(line) < 1_000_000 and b'"error"' in line else None
    return (
        rpc.read_error(bytes(message.error)) if isinstance(message, Message) and message.has_error else None
    )
