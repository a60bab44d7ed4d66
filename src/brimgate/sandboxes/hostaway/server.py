"""The sandbox on a real socket: in a thread of this process, or as a process of its own."""

import socket
import sys
import threading
from types import TracebackType
from typing import Any, Final, Self, cast

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from brimgate.sandboxes.hostaway.app import App
from brimgate.sandboxes.hostaway.faults import DROP
from brimgate.sandboxes.hostaway.settings import Settings

_PATIENCE_SECONDS: Final = 30


class _Protocol(HttpToolsProtocol):
    def on_message_begin(self) -> None:
        super().on_message_begin()
        cast("dict[str, Any]", self.scope)[DROP] = self.transport.abort


class Sandbox:
    """A sandbox on a socket.

    Use `with Sandbox(reservations=500) as sandbox:` and call `sandbox.url`, or `start` and `stop`.
    """

    def __init__(self, *, host: str = "127.0.0.1", port: int = 0, **settings: Any) -> None:
        self.settings = Settings(**settings)
        self._host, self._port = host, port
        self._thread: threading.Thread | None = None
        self._server: uvicorn.Server | None = None
        self._url = ""

    @property
    def url(self) -> str:
        """The URL with its /v1; empty before the start."""
        return self._url

    @property
    def control_url(self) -> str:
        return self._url.removesuffix("/v1") + "/control"

    def start(self) -> Self:
        listening = listen(self._host, self._port)  # connections are accepted from here on, and answered soon
        self._url = url_of(self._host, listening)
        self._server = server_of(self.settings)
        self._thread = threading.Thread(target=self._server.run, args=([listening],), name="hostaway-sandbox")
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


def sandbox(*, host: str = "127.0.0.1", port: int = 0, **settings: Any) -> Sandbox:
    """Create a sandbox that has not started, with the given `Settings`."""
    return Sandbox(host=host, port=port, **settings)


def run(settings: Settings, host: str, port: int) -> None:
    """Serve until a signal. Print the address once connections are accepted."""
    with listen(host, port) as listening:
        server = server_of(settings)
        sys.stderr.write(f"listening on {url_of(host, listening)}\n")
        sys.stderr.flush()
        server.run([listening])


def listen(host: str, port: int) -> socket.socket:
    return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)


def url_of(host: str, listening: socket.socket) -> str:
    where = f"[{host}]" if ":" in host else host
    return f"http://{where}:{listening.getsockname()[1]}/v1"


def server_of(settings: Settings) -> uvicorn.Server:
    config = uvicorn.Config(
        App(settings),
        http=_Protocol,
        log_level="critical",  # an answer that is cut short on purpose is no news
        access_log=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=1,
    )
    return uvicorn.Server(config)
