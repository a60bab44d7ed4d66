"""An MCP server over HTTP that is nothing but a script: what it sends are bytes, right or wrong.

A request is answered by the script that its tool is named after (or its method, where it calls no tool).
"""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from tests.http.serving import PATIENCE, wait_until

Script = Callable[["Called"], object]
"""Comes back with True if the connection is to stay open."""


def into(scripts: dict[str, Script]) -> Callable[[Script], Script]:
    """Puts a script among others, under its own name."""

    def add(function: Script) -> Script:
        scripts[function.__name__] = function
        return function

    return add


@dataclass
class Called:
    """One request, and the connection to answer it on."""

    socket: socket.socket
    method: str
    target: str
    headers: list[tuple[str, str]]
    """As they came, but for the names, which are in small letters."""
    body: bytes
    was_closed: threading.Event = field(default_factory=threading.Event)
    """Whether the other side has hung up while a script waited for that."""

    @property
    def json(self) -> Any:
        return json.loads(self.body, strict=False) if self.body else {}

    @property
    def name(self) -> str:
        message = self.json if isinstance(self.json, dict) else {}
        if message.get("method") == "tools/call":
            return message["params"]["name"]
        return message.get("method") or self.method

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def head(self, status: str = "200 OK", kind: str = "application/json", *more: str) -> None:
        lines = [f"HTTP/1.1 {status}", *([f"Content-Type: {kind}"] if kind else []), *more]
        self.send("\r\n".join([*lines, "", ""]).encode())

    def answer(self, body: bytes, *more: str, status: str = "200 OK", kind: str = "application/json") -> bool:
        self.head(status, kind, f"Content-Length: {len(body)}", *more)
        self.send(body)
        return True

    def result(self, text: str = "ok", *more: str) -> bool:
        return self.answer(self.written(text), *more)

    def written(self, text: str) -> bytes:
        return self.message(result={"content": [{"type": "text", "text": text}]})

    def message(self, **member: Any) -> bytes:
        """Write the message that answers it, with a `result` or an `error`."""
        return json.dumps({"jsonrpc": "2.0", "id": self.json.get("id"), **member}).encode()

    def begin_stream(self, *more: str) -> None:
        """Of events, that ends with the connection."""
        self.head("200 OK", "text/event-stream", "Connection: close", *more)

    def wait_for_end(self) -> None:
        """Until the other side hangs up."""
        with suppress(ConnectionResetError):
            while self.socket.recv(65_536):
                pass
        self.was_closed.set()

    def pour(self, piece: bytes, times: int) -> None:
        """For as long as the other side listens."""
        try:
            for _ in range(times):
                self.send(piece)
        except (ConnectionResetError, BrokenPipeError):
            self.was_closed.set()


class RawUpstream:
    def __init__(self, scripts: dict[str, Script]) -> None:
        self.scripts = scripts
        self.calls: list[Called] = []
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=128)
        self._threads: list[threading.Thread] = []
        self._sockets: list[socket.socket] = []
        self._is_over = False
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    @property
    def port(self) -> int:
        return int(self._listening.getsockname()[1])

    def last(self, name: str) -> Called:
        """The latest request by this name, once there is one."""
        return wait_until(
            lambda: next((one for one in reversed(self.calls) if one.name == name), None), f"a call of {name}"
        )

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                opened, _ = self._listening.accept()
                if self._is_over:
                    opened.close()
                    return
                opened.settimeout(PATIENCE)
                opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._sockets.append(opened)
                thread = threading.Thread(target=self._serve, args=(opened,), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _serve(self, opened: socket.socket) -> None:
        with opened, opened.makefile("rb") as reading, suppress(OSError):
            while call := _read(opened, reading):
                self.calls.append(call)
                script = self.scripts.get(call.name, lambda one: one.result())
                if script(call) is not True:
                    break

    def close(self) -> None:
        self._is_over = True
        with ExitStack() as closing:
            closing.callback(self._listening.close)
            for opened in self._sockets:
                with suppress(OSError):
                    opened.shutdown(socket.SHUT_RDWR)
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 5):
                pass
            for thread in (self._accepting, *self._threads):
                thread.join(PATIENCE)


def _read(opened: socket.socket, reading: Any) -> Called | None:
    line = reading.readline().decode()
    if not line:
        return None
    method, target, _ = line.split()
    headers: list[tuple[str, str]] = []
    while header := reading.readline().strip():
        name, _, value = header.decode("latin-1").partition(":")
        headers.append((name.lower(), value.strip()))
    length = next((int(value) for name, value in headers if name == "content-length"), 0)
    return Called(opened, method, target, headers, reading.read(length))


@contextmanager
def raw_upstream(scripts: dict[str, Script]) -> Iterator[RawUpstream]:
    upstream = RawUpstream(scripts)
    try:
        yield upstream
    finally:
        upstream.close()
