"""A real server on a free port, and a client that shows what was on the wire."""

import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlencode

import uvicorn


@dataclass(frozen=True)
class Answered:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Served:
    port: int

    def ask(
        self, path: str, method: str = "GET", headers: dict[str, str] | None = None, /, **query: object
    ) -> Answered:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        target = path + ("?" + urlencode(query) if query else "")
        try:
            connection.request(method, target, headers=headers or {})
            response = connection.getresponse()
            body = response.read()
        finally:
            connection.close()
        found = {key.lower(): value for key, value in response.getheaders()}
        if method != "HEAD" and "content-length" in found:
            assert int(found["content-length"]) == len(body)
        return Answered(response.status, found, body)

    def follow(self, path: str, first: Answered, /, **query: object) -> Iterator[Answered]:
        """An answer and all that its cursors lead to."""
        answer = first
        while True:
            assert answer.status == 200, answer.body
            yield answer
            cursor = answer.json.get("nextCursor") if isinstance(answer.json, dict) else None
            if cursor is None:
                return
            answer = self.ask(path, cursor=cursor, **query)

    @contextmanager
    def raw(self, request: bytes) -> Iterator[socket.socket]:
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as connection:
            connection.sendall(request)
            yield connection


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self.ready.set()


class _Pool:
    """One server with a port for each application at a time: to stop a server takes a fifth of a second."""

    def __init__(self, size: int = 8) -> None:
        self._apps: dict[int, Callable[..., Any]] = {}
        self._size = size
        self._free: list[int] = []
        self._running: ExitStack | None = None

    def start(self) -> None:
        self._running = ExitStack()
        self._free = self._running.enter_context(running(self._dispatch, self._size))

    def stop(self) -> None:
        if self._running is not None:
            self._running.close()
            self._running = None

    async def _dispatch(self, scope: Any, receive: Any, send: Any) -> None:
        await self._apps[scope["server"][1]](scope, receive, send)

    @contextmanager
    def lend(self, app: Callable[..., Any]) -> Iterator[int]:
        if self._running is None:
            self.start()
        port = self._free.pop()
        self._apps[port] = app
        try:
            yield port
        finally:
            self._free.append(port)


POOL = _Pool()


@contextmanager
def serve(app: Callable[..., Any]) -> Iterator[Served]:
    with POOL.lend(app) as port:
        yield Served(port)


@contextmanager
def serve_alone(app: Callable[..., Any], **options: Any) -> Iterator[Served]:
    """By a server of its own, with its own settings."""
    with running(app, 1, **options) as ports:
        yield Served(ports[0])


@contextmanager
def running(
    app: Callable[..., Any], sockets: int, *, lifespan: Literal["auto", "on", "off"] = "off", **options: Any
) -> Iterator[list[int]]:
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(sockets)]
    config = uvicorn.Config(
        app, log_config=None, interface="asgi3", lifespan=lifespan, timeout_graceful_shutdown=2, **options
    )
    server = _Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": listeners}, daemon=True)
    ports = [listener.getsockname()[1] for listener in listeners]
    thread.start()
    try:
        assert server.ready.wait(20)
        yield ports
    finally:
        server.should_exit = True
        thread.join(20)
        for listener in listeners:
            listener.close()
