"""The transport of 2024-11-05, for clients that know no other: one long GET to listen, a POST for each message."""

import asyncio
from collections.abc import Callable
from typing import Final

from brimgate.front.mcp.errors import Challenge, HttpError, from_access, no_session, too_many, upstream_down
from brimgate.front.mcp.event_stream import EventStream
from brimgate.front.mcp.request import (
    SESSION_ID,
    Conversation,
    Converse,
    HttpExchange,
    check_batch,
    wait_for_room,
)
from brimgate.front.mcp.router import not_allowed
from brimgate.front.mcp.session_ids import SessionIds, session_ids_in
from brimgate.guard.limits import too_many_calls
from brimgate.http.sse import write_event
from brimgate.relay.actions import ToClient
from brimgate.relay.calls import same_spelling, spellings
from brimgate.relay.protocol import message as rpc
from brimgate.relay.protocol.message import Garbage, Message, one_line
from brimgate.relay.trace_context import Arrival

_DEPRECATED: Final = (b"deprecation", b"@1742947200")
"""Since the revision of 2025-03-26."""
_GRACE_SECONDS: Final = 1.0


class _Listening:
    """One client, as long as it listens."""

    def __init__(
        self, exchange: HttpExchange, converse: Converse, messages_path: str, session_id: str
    ) -> None:
        self.id = session_id
        self.principal = exchange.principal.id
        self.token = exchange.token
        address = f"{messages_path}?sessionId={self.id}".encode()
        self.stream = EventStream(0, preface=write_event(address, name=b"endpoint"))
        self.stream.on_pressure = self._press
        self.link: Conversation = converse(self._deliver, exchange.principal)
        self._waiting: set[bytes] = set()

    @property
    def pending(self) -> int:
        return len(self._waiting)

    def take(self, line: bytes, arrival: Arrival) -> None:
        message = rpc.read_any(line)
        if isinstance(message, Message) and message.is_request:
            self._waiting.add(same_spelling(message.key))
        elif isinstance(message, Message) and message.method == "notifications/cancelled":
            self._waiting.discard(same_spelling(bytes(rpc.member(message.params, "requestId")) or b"null"))
        self.link.from_client(line, arrival)

    def _deliver(self, answer: ToClient) -> None:
        message = rpc.read_any(answer.data)
        if isinstance(message, Message) and not message.method:
            self._waiting.difference_update(spellings(message.key))
        self.stream.put(answer.data)

    def _press(self, pressed: bool) -> None:
        (self.link.pause if pressed else self.link.resume)()


class LegacySse:
    def __init__(
        self,
        converse: Converse,
        messages_path: str,
        on_use: Callable[[], None],
        ids: SessionIds,
        most_calls: Callable[[], int] = lambda: 0,
    ) -> None:
        """Create the transport. `on_use` is called for every client that uses it.

        `most_calls` says how many of a client's calls may wait for their answers; 0 is no limit.
        """
        self._ids, self._most_calls = ids, most_calls
        self._converse, self._messages_path = converse, messages_path
        newer = messages_path.replace("/messages", "/mcp", 1).encode()
        self._deprecation = [_DEPRECATED, (b"link", b"<" + newer + b'>; rel="successor-version"')]
        self._on_use = on_use
        self._clients: dict[str, _Listening] = {}
        self.created = 0
        self.is_draining = False

    def __len__(self) -> int:
        return len(self._clients)

    @property
    def pending(self) -> int:
        """Calls that wait for their answers."""
        return sum(client.pending for client in self._clients.values())

    async def sse(self, exchange: HttpExchange) -> None:
        """Handle `/sse`: GET listens; POST is a message, for clients that send it here."""
        match exchange.method:
            case "GET":
                await self._listen(exchange)
            case "POST":
                await self._take(exchange)
            case _:
                raise not_allowed("GET, POST")

    async def messages(self, exchange: HttpExchange) -> None:
        if exchange.method != "POST":
            raise not_allowed("POST")
        await self._take(exchange)

    async def _listen(self, exchange: HttpExchange) -> None:
        if not exchange.accepts(b"text/event-stream"):
            raise HttpError(406, "Accept must name text/event-stream")
        if self.is_draining:
            raise too_many("no more sessions can be opened: Brimgate is about to end", b"")
        client = _Listening(exchange, self._converse, self._messages_path, self._ids.new())
        self._clients[client.id] = client
        self.created += 1
        self._on_use()
        try:
            await client.link.start()
            if not client.link.is_up:
                raise upstream_down(client.link.failure, b"", is_greeting=True)
            await client.stream.carry(exchange, self._deprecation)
        finally:
            # Nobody can resume it: a new GET is a new session.
            del self._clients[client.id]
            await asyncio.shield(client.link.end(_GRACE_SECONDS))

    async def _take(self, exchange: HttpExchange) -> None:
        given = session_ids_in(exchange.query)
        if len(given) != 1:
            raise HttpError(400, "the address must hold the sessionId that GET /sse told")
        client = self._clients.get(given[0])
        if client is None or client.principal != exchange.principal.id:
            raise no_session()
        body, message = await exchange.posted()
        if isinstance(message, Garbage):
            raise HttpError(400, f"this is not JSON: {message.reason[:200]}", code=rpc.PARSE_ERROR)
        check_batch(message)
        if (most := self._most_calls()) and client.pending >= most:
            raise from_access(too_many_calls(most), await exchange.posted_key(), Challenge())
        await wait_for_room(client.link, exchange, b"")
        client.take(one_line(body), Arrival([*exchange.headers, (SESSION_ID, client.id.encode())]))
        await exchange.answer(202, b"Accepted", [(b"content-type", b"text/plain"), *self._deprecation])

    def token_of(self, exchange: HttpExchange) -> str:
        """Return the token that the session of a message was opened with; empty if there is none."""
        found = [
            one for given in session_ids_in(exchange.query) if (one := self._clients.get(given)) is not None
        ]
        return found[0].token if len(found) == 1 else ""

    def sweep(self) -> None:
        for client in self._clients.values():
            client.stream.ping()

    def drain(self) -> None:
        self.is_draining = True

    def end(self) -> None:
        for client in self._clients.values():
            client.stream.finish()
