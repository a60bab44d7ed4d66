"""The listening sockets and their connections."""

import asyncio
import logging
import os
import socket
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from errno import EADDRINUSE
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from uvicorn.config import Config
from uvicorn.server import ServerState

from brimgate.errors import OperatorError
from brimgate.front.mcp.doorkeeper import ClientConnection, Doorkeeper
from brimgate.front.mcp.request import Report

if TYPE_CHECKING:
    import ssl

_KEEP_ALIVE_SECONDS = 30
_BACKLOG = 2_048
_TRY_SECONDS = 5.0
_CUT = "ASGI callable returned without completing response"
PORT_CHOICE: Final = "--port N chooses another, --port 0 any free one"
METRICS_CHOICE: Final = "server.metrics_port chooses another for metrics"


class Listening:
    def __init__(self, app: Callable[..., Any], report: Report, *, max_connections: int) -> None:
        # What it says below this of requests and connections, we say ourselves.
        logger = logging.getLogger("uvicorn.error")
        logger.setLevel(logging.WARNING)
        logger.addFilter(_is_news)
        self._config = Config(
            app,
            http=ClientConnection,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            interface="asgi3",
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        )
        self._config.load()
        self._state = ServerState()
        self._doorkeeper = Doorkeeper(max_connections, report)
        self._servers: list[asyncio.Server] = []
        self._unix: UnixPath | None = None
        self.port = 0

    @property
    def connections(self) -> int:
        return len(self._doorkeeper)

    @property
    def is_answering(self) -> bool:
        return self._doorkeeper.is_answering

    def _connection(self) -> ClientConnection:
        return ClientConnection(self._config, self._state, self._doorkeeper)

    async def open(
        self,
        host: str,
        port: int,
        tls: "ssl.SSLContext | None" = None,
        *,
        reuse_port: bool = False,
        choice: str = PORT_CHOICE,
    ) -> None:
        """Listen on a port; with `reuse_port`, together with other workers. `choice` says how to choose another."""
        loop = asyncio.get_running_loop()
        try:
            server = await loop.create_server(
                self._connection, host or None, port, backlog=_BACKLOG, ssl=tls, reuse_port=reuse_port or None
            )
        except (OSError, OverflowError) as error:
            raise cannot_listen(host, port, error, choice) from None
        self._servers.append(server)
        self.port = _port_of(server.sockets)
        self._doorkeeper.start()

    async def open_given(self, *listening: socket.socket, tls: "ssl.SSLContext | None" = None) -> None:
        """Listen on sockets that another process has bound."""
        loop = asyncio.get_running_loop()
        for one in listening:
            if one.family == socket.AF_UNIX:
                made = await self._open_given_unix(one, tls)
            else:
                made = await loop.create_server(self._connection, sock=one, backlog=_BACKLOG, ssl=tls)
                self.port = self.port or _port_of([one])
            self._servers.append(made)
        self._doorkeeper.start()

    async def _open_given_unix(
        self, listening: socket.socket, tls: "ssl.SSLContext | None"
    ) -> asyncio.Server:
        make = asyncio.get_running_loop().create_unix_server
        # Since Python 3.13 a loop removes the file of what it closes. Here it is another's, who goes on listening.
        kept = {"cleanup_socket": False} if "cleanup_socket" in signature(make).parameters else {}
        options: dict[str, Any] = {"backlog": _BACKLOG, "ssl": tls, **kept}
        return await make(self._connection, sock=listening, **options)

    async def open_unix(self, path: str, tls: "ssl.SSLContext | None" = None) -> None:
        """Listen on a Unix socket. What a process that has ended has left there is replaced."""
        if sys.platform == "win32":
            raise OperatorError("a Unix socket cannot be served on Windows: use --host and --port")
        self._unix = UnixPath(path)
        server = await asyncio.get_running_loop().create_unix_server(
            self._connection, sock=self._unix.bind(), backlog=_BACKLOG, ssl=tls
        )
        self._servers.append(server)
        self._doorkeeper.start()

    def stop_accepting(self) -> None:
        for server in self._servers:
            server.close()
        if self._unix is not None:
            self._unix.remove()
        self._doorkeeper.close_idle()

    async def close(self) -> None:
        """Close everything, whatever is still under way."""
        self._doorkeeper.drop_all()
        self._doorkeeper.stop()
        tasks = list(self._state.tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=0.5)


def cannot_listen(host: str, port: int, error: Exception, choice: str = PORT_CHOICE) -> OperatorError:
    is_taken = isinstance(error, OSError) and error.errno == EADDRINUSE
    what = f"it is in use by another program; {choice}"
    return OperatorError(f"cannot listen on {host}:{port}: {what if is_taken else error}")


class UnixPath:
    """The file of a Unix socket."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._mark: tuple[int, int] | None = None

    def bind(self) -> socket.socket:
        """Return a socket that is bound there. Only our own user may connect to it, from its first moment on."""
        self._make_way()
        bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = os.umask(0o177)
        try:
            bound.bind(str(self._path))
            self._mark = self._look()
        except (OSError, ValueError) as error:
            bound.close()
            raise OperatorError(f"cannot listen on {self._path}: {error}") from None
        finally:
            os.umask(before)
        return bound

    def _make_way(self) -> None:
        """Remove a socket on which nobody listens. Raise OperatorError for everything else."""
        try:
            found = self._path.lstat()
        except (OSError, ValueError):
            return  # binding it tells what is wrong, if anything is
        if not stat.S_ISSOCK(found.st_mode):
            raise OperatorError(f"cannot listen on {self._path}: there is a file, and it is no socket")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as trying:
            trying.settimeout(_TRY_SECONDS)
            try:
                trying.connect(str(self._path))
            except ConnectionRefusedError:
                with suppress(FileNotFoundError):
                    self._path.unlink()
                return
            except OSError as error:
                raise OperatorError(f"cannot listen on {self._path}: {error}") from None
        raise OperatorError(f"cannot listen on {self._path}: another program listens there")

    def remove(self) -> None:
        """Remove it, unless another process has put its own in place."""
        with suppress(OSError):
            if self._mark is not None and self._look() == self._mark:
                self._path.unlink()

    def _look(self) -> tuple[int, int]:
        found = self._path.lstat()
        return found.st_dev, found.st_ino


def _is_news(record: logging.LogRecord) -> bool:
    """Return False for what we do on purpose.

    An answer that cannot be completed is cut, so that the client sees it. What is under way when we end is cancelled.
    """
    was_cancelled = record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError)
    return not was_cancelled and not str(record.msg).startswith(_CUT)


def _port_of(sockets: Any) -> int:
    found: socket.socket = next(iter(sockets))
    return int(found.getsockname()[1])
