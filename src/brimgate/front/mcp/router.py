"""The ASGI application: access checks, routing and error handling."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, Protocol

from brimgate.errors import UpstreamError
from brimgate.front.mcp.errors import INTERNAL_ERROR, HttpError, NoLoginHere, upstream_down
from brimgate.front.mcp.request import CHECKED, JSON, HttpExchange, Report, check_batch, check_id
from brimgate.front.mcp.sessions import HandshakeSessions
from brimgate.front.mcp.stateless import StatelessExchanges
from brimgate.guard.origin import OriginRules
from brimgate.http.asgi import Receive, Scope, Send
from brimgate.relay.protocol import message as rpc
from brimgate.relay.protocol.message import Garbage, Message, Opaque, one_line
from brimgate.relay.protocol.versions import MODERN_VERSION, is_modern_header

Handler = Callable[[HttpExchange], Awaitable[None]]
_CORS_HEADERS: Final = (
    b"content-type, accept, authorization, last-event-id, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name, "
    b"x-request-id"
)
_LOGIN_PATHS: Final = ("/.well-known/", "/register", "/authorize", "/token")
"""Where clients look for an authorization server, whether there is one or not. They parse what they get."""
_EXPOSED: Final = b"mcp-session-id, mcp-protocol-version, x-request-id, www-authenticate"


class Endpoint:
    def __init__(self, sessions: HandshakeSessions, singles: StatelessExchanges) -> None:
        self.sessions, self.singles = sessions, singles

    async def handle(self, exchange: HttpExchange) -> None:
        is_modern = is_modern_header(exchange.header(b"mcp-protocol-version")) and not self.sessions.knows(
            exchange
        )
        match exchange.method:
            case "POST":
                await self._post(exchange, is_modern=is_modern)
            case "GET" if not is_modern:
                await self.sessions.get(exchange)
            case "DELETE" if not is_modern:
                await self.sessions.delete(exchange)
            case _:
                raise not_allowed("POST" if is_modern else "GET, POST, DELETE")

    async def _post(self, exchange: HttpExchange, *, is_modern: bool) -> None:
        body, message = await exchange.posted()
        if isinstance(message, Garbage):
            raise HttpError(400, f"this is not JSON: {message.reason[:200]}", code=rpc.PARSE_ERROR)
        if isinstance(message, Opaque) or not message or message == Message():
            raise HttpError(400, "this is not a JSON-RPC message")
        check_batch(message)
        if isinstance(message, Message):
            check_id(message)
        if (line := one_line(body)) is not body:
            # A server on a pipe takes one line per message: a line break in here would begin another message.
            body, message = line, rpc.read_any(line)
        if isinstance(message, Message) and self._is_single(exchange, message, is_modern=is_modern):
            await self.singles.post(exchange, body, message)
        elif (is_modern and isinstance(message, list)) or not isinstance(message, Message | list):
            raise HttpError(400, "send one request or notification, not a batch")
        else:
            await self.sessions.post(exchange, body, message)

    def _is_single(self, exchange: HttpExchange, message: Message, *, is_modern: bool) -> bool:
        """Return whether a message stands for itself. A session that began with a handshake stays one to its end."""
        if self.sessions.knows(exchange):
            return False
        version = exchange.header(b"mcp-protocol-version").decode("latin-1")
        begins = message.method == "initialize" and version != MODERN_VERSION
        return rpc.is_modern(message.params) or (is_modern and not begins)


def not_allowed(methods: str) -> HttpError:
    return HttpError(405, f"use {methods}", headers=[(b"allow", methods.encode())])


class PeerRouting(Protocol):
    """Other workers that may have the session of a request."""

    def home_of(self, exchange: HttpExchange) -> str: ...

    async def hand_on(self, exchange: HttpExchange, name: str) -> None: ...


class Router:
    def __init__(
        self,
        routes: Mapping[str, Handler],
        report: Report,
        *,
        origins: OriginRules,
        max_body_bytes: int,
        mounted: "Mapping[str, Handler] | None" = None,
    ) -> None:
        """Create the router. `mounted` has what answers all paths that begin so."""
        self._mounted = mounted or {}
        self.origins = origins
        self.max_body_bytes = max_body_bytes
        self._routes = routes
        self._report = report
        self.peers: PeerRouting | None = None
        self.tells_paths = True
        """Whether a wrong path is answered with the right ones, which name the upstreams."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        exchange = HttpExchange(scope, receive, send, max_body_bytes=self.max_body_bytes)
        try:
            await self._answer(exchange, self._route if CHECKED in scope else self._handle)
        finally:  # also if we are about to end, and it is cut
            if self._report.tells(exchange.log_level):
                self._report.write("request", exchange.summary(), exchange.log_level)

    async def _answer(self, exchange: HttpExchange, handler: Handler) -> None:
        try:
            await handler(exchange)
        except HttpError as refusal:
            await self._refuse(exchange, refusal)
        except UpstreamError as error:
            await self._refuse(exchange, upstream_down(error, b"", is_greeting=False))
        except asyncio.CancelledError:
            if not exchange.hangup.is_over:
                raise
        except Exception as error:  # noqa: BLE001  # one request must not affect the others
            self._report.write("internal_error", exchange.summary() | {"error": repr(error)[:200]}, "error")
            text = f"Brimgate failed on this request; its log says why, at {exchange.request_id.decode()}"
            await self._refuse(exchange, HttpError(500, text, code=INTERNAL_ERROR))

    async def _handle(self, exchange: HttpExchange) -> None:
        # Only the decoded path counts: whatever two readers could read differently decides nothing.
        if not self.origins.allows_host(exchange.header(b"host")):
            raise HttpError(421, "this is not a name we answer to (server.allowed_hosts)")
        origin = exchange.header(b"origin")
        if not all(self.origins.allows_origin(one) for name, one in exchange.headers if name == b"origin"):
            raise HttpError(403, "pages of this origin may not call (server.allowed_origins)")
        if origin:
            exchange.more_headers += [
                (b"access-control-allow-origin", origin),
                (b"access-control-expose-headers", _EXPOSED),
                (b"vary", b"origin"),
            ]
        if exchange.method == "OPTIONS" and origin:
            await exchange.answer(
                204,
                headers=[
                    (b"access-control-allow-methods", b"GET, POST, DELETE"),
                    (b"access-control-allow-headers", _asked_headers(exchange)),
                    (b"access-control-max-age", b"600"),
                ],
            )
            return
        if self.peers is not None and (peer := self.peers.home_of(exchange)):
            await self.peers.hand_on(exchange, peer)
        else:
            await self._route(exchange)

    async def _route(self, exchange: HttpExchange) -> None:
        handler = self._routes.get(exchange.path)
        if handler is not None:
            await handler(exchange)
            return
        for beginning, handler in self._mounted.items():
            if exchange.path == beginning or exchange.path.startswith(beginning + "/"):
                await handler(exchange)
                return
        raise self._not_found(exchange.path)

    def _not_found(self, path: str) -> HttpError:
        if path.startswith(_LOGIN_PATHS):
            return NoLoginHere()
        if not self.tells_paths:
            return HttpError(404, "there is nothing here")
        listed = {one for one in (*self._routes, *self._mounted) if not one.startswith(_LOGIN_PATHS)}
        there = ", ".join(sorted(listed))
        return HttpError(404, f"there is nothing here; there is {there}")

    async def _refuse(self, exchange: HttpExchange, refusal: HttpError) -> None:
        if not exchange.status and not exchange.hangup.is_over:
            await exchange.refuse(refusal)
        # If the response has begun, returning without its end cuts the connection: the client sees that it is
        # incomplete.


def _asked_headers(exchange: HttpExchange) -> bytes:
    """Return the headers that a page may send: those that we know, and the parameters it repeats in headers."""
    asked = exchange.header(b"access-control-request-headers").lower()
    params = [name.strip() for name in asked.split(b",") if name.strip().startswith(b"mcp-param-")]
    return b", ".join([_CORS_HEADERS, *params])


def only(method: str, handler: Handler) -> Handler:
    """Return a handler for one method; HEAD is GET without its body."""

    async def handle(exchange: HttpExchange) -> None:
        if exchange.method != method and (method, exchange.method) != ("GET", "HEAD"):
            raise not_allowed(method)
        await handler(exchange)

    return handle


async def answer_document(exchange: HttpExchange, document: bytes, status: int = 200) -> None:
    await exchange.answer(status, document, [JSON, (b"cache-control", b"no-store")])
