"""A sandbox on a real socket: in a thread of this process, or as a process of its own."""

import socket
import sys
import threading
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Final, Self, cast

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from brimgate.sandboxes.faults import DROP
from brimgate.sandboxes.wire import Receive, Scope, Send

Application = Callable[[Scope, Receive, Send], Awaitable[None]]
_PATIENCE_SECONDS: Final = 30


class _Protocol(HttpToolsProtocol):
    def on_message_begin(self) -> None:
        super().on_message_begin()
        cast("dict[str, Any]", self.scope)[DROP] = self.transport.abort


class SandboxThread:
    """An application on a socket, in a thread. Use it with `with`, or `start` and `stop`."""

    def __init__(self, make: Callable[[], Application], host: str, port: int) -> None:
        self._make, self._host, self._port = make, host, port
        self._thread: threading.Thread | None = None
        self._server: uvicorn.Server | None = None
        self._origin = ""

    @property
    def origin(self) -> str:
        """Scheme, host and port; empty before the start."""
        return self._origin

    def start(self) -> Self:
        listening = listen(self._host, self._port)  # connections are accepted from here on, and answered soon
        self._origin = origin_of(self._host, listening)
        self._server = server_of(self._make())
        self._thread = threading.Thread(target=self._server.run, args=([listening],), name="sandbox")
        self._thread.daemon = True  # a test that fails to stop it does not block the process
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stop, and drop whatever still hangs."""
        if not self._server or not self._thread:
            return
        self._server.should_exit = self._server.force_exit = True
        self._thread.join(_PATIENCE_SECONDS)
        self._server = self._thread = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def serve(app: Application, host: str, port: int, announced: Callable[[str], str]) -> None:
    """Serve until a signal. Print what is to be announced of the origin once connections are accepted."""
    with listen(host, port) as listening:
        server = server_of(app)
        sys.stderr.write(announced(origin_of(host, listening)))
        sys.stderr.flush()
        server.run([listening])


def listen(host: str, port: int) -> socket.socket:
    return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)


def origin_of(host: str, listening: socket.socket) -> str:
    where = f"[{host}]" if ":" in host else host
    return f"http://{where}:{listening.getsockname()[1]}"


def server_of(app: Application) -> uvicorn.Server:
    config = uvicorn.Config(
        app,
        http=_Protocol,
        log_level="critical",  # an answer that is cut short on purpose is no news
        access_log=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=1,
    )
    return uvicorn.Server(config)
