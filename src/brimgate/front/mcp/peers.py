"""The workers of one machine that serve the same port: each hands on the requests for the sessions of another.

They reach each other by Unix sockets in a folder of our own user. What comes by these was checked already, and says
for whom it comes.
"""

import asyncio
from pathlib import Path
from typing import Final

from brimgate.errors import UpstreamError, UpstreamUnreachable
from brimgate.front.mcp.errors import no_session
from brimgate.front.mcp.request import CHECKED, HttpExchange
from brimgate.front.mcp.router import Router
from brimgate.front.mcp.session_ids import home_of
from brimgate.http.asgi import Header, Receive, Scope, Send
from brimgate.http.client import HttpClient, Origin, Response

_CLIENT: Final = b"brimgate-client"
"""The header in which a worker tells another whose request it hands on."""
_NOT_HANDED_ON: Final = frozenset(
    (
        b"host",
        b"connection",
        b"content-length",
        b"content-encoding",
        b"transfer-encoding",
        b"accept-encoding",
        b"expect",
        b"te",
        b"upgrade",
        b"keep-alive",
        b"x-request-id",
        _CLIENT,
    )
)
_LOCAL: Final = Origin("http", "localhost", 80)
_ANSWER_SECONDS: Final = 2.0
_MAX_ANSWER_BYTES: Final = 32 << 20
_OK: Final = 200


class Peers:
    def __init__(self, folder: Path, own: str) -> None:
        self._folder, self._own = folder, own
        self._clients: dict[str, HttpClient] = {}

    @property
    def socket(self) -> str:
        """Where the others reach us."""
        return str(self._folder / f"{self._own}.sock")

    def home_of(self, exchange: HttpExchange) -> str:
        """Return the name of the peer that has the session of a request; empty if that is no other worker."""
        name = home_of(exchange)
        return name if name and name != self._own and (self._folder / f"{name}.sock").exists() else ""

    async def hand_on(self, exchange: HttpExchange, name: str) -> None:
        """Let another worker answer. When the client hangs up, so do we."""
        task = asyncio.current_task()
        if task is None:
            raise AssertionError("handlers run in tasks")
        cancel = task.cancel
        exchange.log_level = "debug"  # the other one tells
        exchange.hangup.then(cancel)
        try:
            await self._pass_on(exchange, await self._ask(exchange, name))
        finally:
            exchange.hangup.forget(cancel)

    async def ask_all(self, path: str) -> dict[str, bytes]:
        """Return what each other worker answers to a question of ours; nothing of one that does not answer at once."""
        names = [one.stem for one in self._folder.glob("*.sock") if one.stem != self._own]
        answers = await asyncio.gather(*(self._answer_of(name, path) for name in names))
        return dict(zip(names, answers, strict=True))

    async def _answer_of(self, name: str, path: str) -> bytes:
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                answer = await (await self._client(name)).request(b"GET", path.encode(), [], None)
                return await answer.read(_MAX_ANSWER_BYTES) if answer.status == _OK else b""
        except (UpstreamError, TimeoutError):
            return b""

    async def _client(self, name: str) -> HttpClient:
        client = self._clients.get(name)
        if client is None:
            await self._forget_ended()
            client = HttpClient(_LOCAL, socket_path=str(self._folder / f"{name}.sock"))
            self._clients[name] = client
        return client

    async def _ask(self, exchange: HttpExchange, name: str) -> Response:
        client = await self._client(name)
        target = exchange.path.encode() + (b"?" + exchange.query if exchange.query else b"")
        headers: list[Header] = [one for one in exchange.headers if one[0] not in _NOT_HANDED_ON]
        headers += [(_CLIENT, exchange.client.encode()), (b"x-request-id", exchange.request_id)]
        body = await exchange.body() if exchange.method == "POST" else None
        try:
            return await client.request(exchange.method.encode(), target, headers, body)
        except UpstreamUnreachable:
            raise no_session() from None  # it has ended, and its sessions with it

    async def _forget_ended(self) -> None:
        for name in [one for one in self._clients if not (self._folder / f"{one}.sock").exists()]:
            await self._clients.pop(name).close()

    async def _pass_on(self, exchange: HttpExchange, answer: Response) -> None:
        try:
            await exchange.begin(
                [one for one in answer.headers if one[0] not in _NOT_HANDED_ON], answer.status
            )
            while piece := await answer.next():
                await exchange.write(piece)
            await exchange.end()
        finally:
            answer.abort()

    async def close(self) -> None:
        for client in self._clients.values():
            await client.close()


class PeersDoor:
    """The application behind the Unix socket of a worker: the same as for everybody, for requests that were checked."""

    def __init__(self, router: Router) -> None:
        self._router = router

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            clients = [value for name, value in scope["headers"] if name == _CLIENT]
            scope["headers"] = [one for one in scope["headers"] if one[0] != _CLIENT]
            scope["client"] = (clients[0].decode("latin-1"), 0) if clients and clients[0] else None
        scope[CHECKED] = True
        await self._router(scope, receive, send)
