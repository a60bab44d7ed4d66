"""`/mcp` in front of a server that is no HTTP server itself: which era a request is of, and who handles it."""

from brimgate.front.http.conversation import check_batch, check_id
from brimgate.front.mcp.errors import Refusal
from brimgate.front.mcp.request import Exchange
from brimgate.front.mcp.sessions import HandshakeSessions
from brimgate.front.mcp.stateless import SingleExchanges
from brimgate.relay.protocol import message as rpc
from brimgate.relay.protocol.message import Garbage, Message, Opaque, one_line
from brimgate.relay.protocol.versions import is_modern_header


class Endpoint:
    def __init__(self, sessions: HandshakeSessions, singles: SingleExchanges) -> None:
        self.sessions, self.singles = sessions, singles

    async def handle(self, exchange: Exchange) -> None:
        is_modern = is_modern_header(exchange.header(b"mcp-protocol-version"))
        match exchange.method:
            case "POST":
                await self._post(exchange, is_modern=is_modern)
            case "GET" if not is_modern:
                await self.sessions.get(exchange)
            case "DELETE" if not is_modern:
                await self.sessions.delete(exchange)
            case _:
                raise not_allowed("POST" if is_modern else "GET, POST, DELETE")

    async def _post(self, exchange: Exchange, *, is_modern: bool) -> None:
        check_content_type(exchange)
        body = await exchange.body()
        message = rpc.read(body)
        if isinstance(message, Garbage):
            raise Refusal(400, f"this is not JSON: {message.reason[:200]}", code=rpc.PARSE_ERROR)
        if isinstance(message, Opaque) or not message or message == Message():
            raise Refusal(400, "this is not a JSON-RPC message")
        check_batch(message)
        if isinstance(message, Message):
            check_id(message)
        if (line := one_line(body)) is not body:
            # A server on a pipe takes a line: what stood on one of its own in here would be another message to it.
            body, message = line, rpc.read(line)
        if isinstance(message, Message) and (is_modern or rpc.is_modern(message.params)):
            await self.singles.post(exchange, message)
        elif is_modern or not isinstance(message, Message | list):
            raise Refusal(400, "send one request or notification, not a batch")
        else:
            await self.sessions.post(exchange, body, message)


def check_content_type(exchange: Exchange) -> None:
    kind = exchange.header(b"content-type").partition(b";")[0].strip().lower()
    if kind != b"application/json":
        raise Refusal(415, "Content-Type must be application/json")


def not_allowed(methods: str) -> Refusal:
    return Refusal(405, f"use {methods}", headers=[(b"allow", methods.encode())])
