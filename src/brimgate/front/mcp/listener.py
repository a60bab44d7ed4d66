"""The listening sockets and their connections."""

import asyncio
import logging
from collections.abc import Callable
from errno import EADDRINUSE
from typing import TYPE_CHECKING, Any

from uvicorn.config import Config
from uvicorn.server import ServerState

from brimgate.errors import OperatorError
from brimgate.front.mcp.doorkeeper import ClientConnection, Doorkeeper
from brimgate.front.mcp.request import Report

if TYPE_CHECKING:
    import socket

_KEEP_ALIVE_SECONDS = 30
_BACKLOG = 2_048
_CUT = "ASGI callable returned without completing response"


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
        self._server: asyncio.Server | None = None
        self.port = 0

    @property
    def connections(self) -> int:
        return len(self._doorkeeper)

    @property
    def is_answering(self) -> bool:
        return self._doorkeeper.is_answering

    async def open(self, host: str, port: int) -> None:
        loop = asyncio.get_running_loop()

        def connection() -> ClientConnection:
            return ClientConnection(self._config, self._state, self._doorkeeper)

        try:
            self._server = await loop.create_server(connection, host or None, port, backlog=_BACKLOG)
        except (OSError, OverflowError) as error:
            is_taken = isinstance(error, OSError) and error.errno == EADDRINUSE
            what = "it is in use by another program; --port N chooses another, --port 0 any free one"
            raise OperatorError(f"cannot listen on {host}:{port}: {what if is_taken else error}") from None
        self.port = _port_of(self._server.sockets)
        self._doorkeeper.start()

    def stop_accepting(self) -> None:
        if self._server is not None:
            self._server.close()
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


def _is_news(record: logging.LogRecord) -> bool:
    """Return False for what we do on purpose.

    An answer that cannot be completed is cut, so that the client sees it. What is under way when we end is cancelled.
    """
    was_cancelled = record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError)
    return not was_cancelled and not str(record.msg).startswith(_CUT)


def _port_of(sockets: Any) -> int:
    found: socket.socket = next(iter(sockets))
    return int(found.getsockname()[1])
