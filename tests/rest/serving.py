"""A real server on a free port, and a client that shows what was on the wire."""

import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
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


@contextmanager
def serve(app: Callable[..., Any], *, lifespan: str = "off", root_path: str = "") -> Iterator[Served]:
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        app, log_config=None, lifespan=lifespan, root_path=root_path, timeout_graceful_shutdown=2
    )
    server = _Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        assert server.ready.wait(20)
        yield Served(listener.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join(20)
        listener.close()
