"""Connections from clients: uvicorn's reading of HTTP/1.1, and what it leaves to others to insist on.

A request has one Host and one length, comes within its time, and a client that sends half of one is not waited for. How
many may be connected is bounded, and those who have not asked for anything yet are the first to go.
"""

import asyncio
from collections import OrderedDict
from contextlib import suppress
from typing import Any, Final

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.server import ServerState

from headgate.front.http.exchange import HANGUP, Hangup

HEAD_SECONDS: Final = 10.0
"""From the connection, or the first byte of a later request, to the end of its headers."""
BODY_PAUSE_SECONDS: Final = 8.0
"""Between two pieces of a body."""
BODY_SECONDS: Final = 60.0
_SWEEP_SECONDS: Final = 1.0
_MAX_HEAD_BYTES: Final = 64 << 10
_MAX_HEADERS: Final = 100


class Doorkeeper:
    """Knows all connections, and which of them have been waited for long enough."""

    def __init__(self, max_connections: int) -> None:
        self._max_connections = max_connections
        self._open: set[Connection] = set()
        self._unasked: OrderedDict[Connection, None] = OrderedDict()
        """Those that have not sent a whole head yet, oldest first."""
        self._sweeping: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._open)

    def admit(self, connection: "Connection") -> bool:
        """False if there is no room, not even by showing out one who has not asked for anything."""
        if len(self._open) >= self._max_connections:
            if not self._unasked:
                return False
            oldest, _ = self._unasked.popitem(last=False)
            oldest.drop()
        self._open.add(connection)
        self._unasked[connection] = None
        return True

    def note_request(self, connection: "Connection") -> None:
        self._unasked.pop(connection, None)

    def note_waiting(self, connection: "Connection") -> None:
        self._unasked[connection] = None

    def forget(self, connection: "Connection") -> None:
        self._open.discard(connection)
        self._unasked.pop(connection, None)

    def start(self) -> None:
        loop = asyncio.get_running_loop()
        now = loop.time()
        for connection in [one for one in self._open if one.deadline < now]:
            connection.drop()
        self._sweeping = loop.call_later(_SWEEP_SECONDS, self.start)

    def stop(self) -> None:
        if self._sweeping is not None:
            self._sweeping.cancel()

    def close_idle(self) -> None:
        """Those between two requests; the others are closed after their answer."""
        for connection in list(self._open):
            connection.shutdown()

    def drop_all(self) -> None:
        for connection in list(self._open):
            connection.drop()


class Connection(HttpToolsProtocol):
    def __init__(self, config: Config, state: ServerState, doorkeeper: Doorkeeper) -> None:
        super().__init__(config, state, {})
        self._doorkeeper = doorkeeper
        self.deadline = float("inf")
        self._body_deadline = float("inf")
        self._head_bytes = 0
        self._is_in_head = True
        self._hangups: list[Hangup] = []

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if not self._doorkeeper.admit(self):
            self._refuse(503, b"too many connections")
            return
        self.deadline = self.loop.time() + HEAD_SECONDS

    def connection_lost(self, exc: Exception | None) -> None:
        self._doorkeeper.forget(self)
        self.deadline = float("inf")
        super().connection_lost(exc)
        hangups, self._hangups = self._hangups, []
        for hangup in hangups:
            hangup()

    def drop(self) -> None:
        """At once, and without a word: whoever is there has not kept to the rules, or is not there any more."""
        self.deadline = float("inf")
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        if self._is_in_head:
            self._head_bytes += len(data)
            if self._head_bytes > _MAX_HEAD_BYTES and self._head_is_endless(data):
                self._refuse(431, b"the headers are too large")
                return
        else:
            self.deadline = min(self.loop.time() + BODY_PAUSE_SECONDS, self._body_deadline)
        try:
            super().data_received(data)
        except Exception:  # noqa: BLE001  # whatever a parser makes of hostile bytes, only this client may notice
            self._refuse(400, b"this is not HTTP/1.1")

    def _head_is_endless(self, data: bytes) -> bool:
        """A large first piece may be a small head with much of a body behind it."""
        return self._head_bytes != len(data) or b"\r\n\r\n" not in data[:_MAX_HEAD_BYTES]

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_in_head = True
        self.deadline = self.loop.time() + HEAD_SECONDS

    def on_header(self, name: bytes, value: bytes) -> None:
        if len(self.headers) >= _MAX_HEADERS:
            raise ValueError("too many headers")
        # llhttp leaves the space behind a value.
        super().on_header(name, value.strip(b" \t"))

    def on_headers_complete(self) -> None:
        names = [name for name, _ in self.headers]
        hosts = names.count(b"host")
        if hosts > 1 or (not hosts and self._version() != "1.0"):
            raise ValueError("a request has one Host")
        if names.count(b"content-length") + names.count(b"transfer-encoding") > 1:
            raise ValueError("a request has one length")
        self._is_in_head, self._head_bytes = False, 0
        now = self.loop.time()
        self._body_deadline = now + BODY_SECONDS
        self.deadline = now + BODY_PAUSE_SECONDS
        self._doorkeeper.note_request(self)
        self.scope[HANGUP] = hangup = Hangup()  # type: ignore[typeddict-unknown-key]
        self._hangups.append(hangup)
        super().on_headers_complete()

    def _version(self) -> str:
        return self.parser.get_http_version() if self.parser is not None else ""

    def on_message_complete(self) -> None:
        self.deadline = float("inf")
        self._is_in_head = True
        super().on_message_complete()

    def on_response_complete(self) -> None:
        self._hangups.clear()
        super().on_response_complete()
        if not self.pipeline and not self.transport.is_closing():
            self._doorkeeper.note_waiting(self)

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, b"this is not a request we understand")

    def _refuse(self, status: int, text: bytes) -> None:
        """Where there is no request yet that could be answered."""
        if self.transport.is_closing():
            return
        head = b"content-type: text/plain\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(text)
        with suppress(OSError, RuntimeError):
            self.transport.write(STATUS_LINE[status] + head + text)
        self.transport.close()
        self.deadline = self.loop.time() + _SWEEP_SECONDS  # should it not take even that
