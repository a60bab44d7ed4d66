"""Servers that say exactly what a test tells them to, on real sockets."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, Self, TypeVar

import pytest

from brimgate.http.client import Headers, HttpClient, Origin, Response

_T = TypeVar("_T")
GENEROUS_SECONDS = 10.0
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

Run = Callable[[Coroutine[Any, Any, None]], None]


def run_on(loop: str) -> Run:
    """uvloop does not exist for Windows."""
    return asyncio.run if loop == "asyncio" else pytest.importorskip("uvloop").run


class Peer:
    """One accepted connection, as its server sees it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def head(self) -> bytes:
        return await self.reader.readuntil(b"\r\n\r\n")

    async def request(self) -> tuple[bytes, bytes]:
        head = await self.head()
        length = 0
        for line in head.lower().split(b"\r\n"):
            if line.startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        return head, await self.reader.readexactly(length)

    async def say(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def is_left(self) -> None:
        """Until the other side has gone, politely or not."""
        with suppress(ConnectionError):
            while await self.reader.read(65_536):
                pass

    def cut(self) -> None:
        self.writer.transport.abort()


class Server:
    """Runs `serve` for each connection. What goes wrong in it comes out at the end of the test."""

    def __init__(self, serve: Callable[[Peer], Awaitable[None]], tls: Any = None) -> None:
        self._serve, self._tls = serve, tls
        self.accepted = 0
        self.open = 0
        self.all_left = asyncio.Event()
        self._failure: BaseException | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(
            self._accepted, "127.0.0.1", 0, ssl=self._tls, limit=1 << 20, backlog=512
        )
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()
        if self._failure is not None:
            raise self._failure

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    def client(self, **settings: Any) -> HttpClient:
        return HttpClient(Origin.of(self.url), **settings)

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.accepted += 1
        self.open += 1
        self.all_left.clear()
        try:
            await self._serve(Peer(reader, writer))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        except asyncio.CancelledError:
            return  # the test is over
        except Exception as error:  # noqa: BLE001  # raised again where the test can see it
            self._failure = error
        finally:
            self.open -= 1
            if not self.open:
                self.all_left.set()
            self._tasks.discard(task)
            writer.transport.abort()


def always(answer: bytes) -> Callable[[Peer], Awaitable[None]]:
    """The same answer to every request, as long as anybody asks."""

    async def serve(peer: Peer) -> None:
        while True:
            await peer.request()
            await peer.say(answer)

    return serve


def once(answer: bytes, *, then_close: bool = True) -> Callable[[Peer], Awaitable[None]]:
    async def serve(peer: Peer) -> None:
        await peer.request()
        await peer.say(answer)
        if then_close:
            peer.writer.close()
        await peer.is_left()

    return serve


async def soon(awaitable: Awaitable[_T]) -> _T:
    return await asyncio.wait_for(awaitable, GENEROUS_SECONDS)


async def get(client: HttpClient, target: bytes = b"/", **settings: Any) -> Response:
    return await soon(client.request(b"GET", target, [], **settings))


async def post(
    client: HttpClient, body: bytes | None = b"{}", headers: Headers | None = None, **settings: Any
) -> Response:
    return await soon(client.request(b"POST", b"/mcp", headers or [], body, **settings))


async def whole(response: Response, max_bytes: int = 1 << 26) -> bytes:
    return await soon(response.read(max_bytes))
