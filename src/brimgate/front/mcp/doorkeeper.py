"""Client connections: uvicorn's HTTP/1.1 protocol, plus the checks that it leaves to others.

A request has one Host and one length and arrives in time; we do not wait for a client that sends half of one. The
number of connections is bounded, and those without a complete request are the first to be closed.
"""

import asyncio
from collections import OrderedDict
from contextlib import suppress
from typing import Any, Final

from httptools import HttpParserUpgrade, HttpRequestParser
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.server import ServerState

from brimgate.front.mcp.request import HANGUP, Hangup, Report, new_request_id, request_fields
from brimgate.guard.principal import NOBODY

HEAD_SECONDS: Final = 10.0
"""From the connection, or the first byte of a later request, to the end of its headers."""
BODY_PAUSE_SECONDS: Final = 8.0
"""Between two pieces of a body."""
BODY_SECONDS: Final = 60.0
_SWEEP_SECONDS: Final = 1.0
_LINGER_SECONDS: Final = 2.0
_LINGER_BYTES: Final = 1 << 20
_PROBE_SECONDS: Final = 0.05
_MAX_HEAD_BYTES: Final = 64 << 10
_ARRIVALS: Final = 10
"""One of so many connections may be without a complete request before those are closed instead of idle ones."""
_MAX_HEADERS: Final = 100
_MAX_PIPELINED: Final = 16
"""Requests of one connection that wait for their turn: all that came at once would hold up everyone."""


class Doorkeeper:
    """Knows all connections, and which of them have timed out."""

    def __init__(self, max_connections: int, report: Report) -> None:
        self._max_connections = max_connections
        self._report = report
        self._open: set[ClientConnection] = set()
        self._unasked: OrderedDict[ClientConnection, None] = OrderedDict()
        """Connections that have not sent a complete request yet, oldest first."""
        self._idle: OrderedDict[ClientConnection, None] = OrderedDict()
        """Connections between two requests, the longest idle first."""
        self._sweeping: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._open)

    def admit(self, connection: "ClientConnection") -> bool:
        """Return False if there is no room, even after closing a connection without a complete request."""
        if len(self._open) >= self._max_connections:
            # Whoever has only just come is not closed for the next, unless so many come that they fill the house.
            is_crowded = len(self._unasked) > self._max_connections // _ARRIVALS
            waiting = self._unasked if is_crowded else self._idle or self._unasked
            if not waiting:
                return False
            oldest = next(iter(waiting))
            self.forget(oldest)  # it ends later, and there is room now
            oldest.drop()
        self._open.add(connection)
        self._unasked[connection] = None
        return True

    def note_head(self, connection: "ClientConnection") -> None:
        """Note that a request has begun. Until it is complete, it may come as slowly as nobody honest is."""
        if self._idle.pop(connection, self) is not self:
            self._unasked[connection] = None

    def note_request(self, connection: "ClientConnection") -> None:
        self._unasked.pop(connection, None)
        self._idle.pop(connection, None)

    def note_waiting(self, connection: "ClientConnection") -> None:
        self._idle[connection] = None

    def forget(self, connection: "ClientConnection") -> None:
        self._open.discard(connection)
        self.note_request(connection)

    def tell(self, method: str, path: str, status: int, seconds: float, request_id: bytes) -> None:
        """Log a request that was refused before there was anybody to answer it."""
        if self._report.tells("info"):
            fields = request_fields(method, path, status, seconds, NOBODY, request_id)
            self._report.write("request", fields, "info")

    def start(self) -> None:
        loop = asyncio.get_running_loop()
        now = loop.time()
        for connection in [one for one in self._open if one.deadline < now]:
            connection.expire(now)
        self._sweeping = loop.call_later(_SWEEP_SECONDS, self.start)

    def stop(self) -> None:
        if self._sweeping is not None:
            self._sweeping.cancel()

    @property
    def is_answering(self) -> bool:
        """Whether a response has begun and is not fully sent."""
        return any(connection.is_answering for connection in self._open)

    def close_idle(self) -> None:
        """Close connections between two requests. The others close after their response."""
        for connection in list(self._open):
            connection.shutdown()

    def drop_all(self) -> None:
        for connection in list(self._open):
            connection.drop()


class _Corked:
    """A transport that sends everything written in one turn of the loop at once: head, body and end of a response."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._pending: list[bytes | bytearray] = []
        self.is_closing = transport.is_closing
        self.pause_reading = transport.pause_reading
        self.resume_reading = transport.resume_reading
        self.get_extra_info = transport.get_extra_info
        self.get_write_buffer_size = transport.get_write_buffer_size
        self.abort = transport.abort
        self.can_write_eof = transport.can_write_eof

    def write(self, data: bytes | bytearray) -> None:
        if not self._pending:
            self._loop.call_soon(self._flush)
        self._pending.append(data)

    def _flush(self) -> None:
        pending, self._pending = self._pending, []
        if pending and not self.is_closing():
            self._transport.write(pending[0] if len(pending) == 1 else b"".join(pending))

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def write_eof(self) -> None:
        self._flush()
        self._transport.write_eof()


class ClientConnection(HttpToolsProtocol):
    def __init__(self, config: Config, state: ServerState, doorkeeper: Doorkeeper) -> None:
        super().__init__(config, state, {})
        self._doorkeeper = doorkeeper
        self.deadline = float("inf")
        self._body_deadline = float("inf")
        self._silent_bytes = 0
        """Bytes received since the last piece of a body, or without any body."""
        self._is_in_head = True
        self._began = self.loop.time()
        self.url = b""
        """The target of the request whose head is being read, as far as it has come."""
        self._hangups: list[Hangup] = []
        self._unsent_bytes = 0
        """The unsent bytes at the last check."""
        self._is_overrun = False
        """Whether more requests came than may wait for their turn; those are not read."""
        self._is_lingering = False
        """It is refused, and what it still sends is thrown away until it has read why."""
        self._unread_bytes = 0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(_Corked(transport, self.loop))  # type: ignore[arg-type]
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

    @property
    def is_answering(self) -> bool:
        is_within = self.cycle and self.cycle.response_started and not self.cycle.response_complete
        return bool(is_within or self.transport.get_write_buffer_size())

    def expire(self, now: float) -> None:
        """Drop the connection, unless the client still reads its response, however slowly."""
        before, self._unsent_bytes = self._unsent_bytes, self.transport.get_write_buffer_size()
        if self._unsent_bytes and self._unsent_bytes != before:
            self.deadline = now + self.timeout_keep_alive
            return
        has_begun = self.url or self._silent_bytes or not self._is_in_head
        if has_begun and not self.transport.is_closing():
            self._tell(408)
        self.drop()

    def drop(self) -> None:
        """Close at once and silently: the client broke the rules, or is gone."""
        self.deadline = float("inf")
        self.transport.abort()

    def eof_received(self) -> bool:  # pyright: ignore[reportIncompatibleMethodOverride]  # as asyncio has it
        """Keep the connection of a client that sends no more and waits for its answer.

        One that is gone looks the same, until something is written to it. So we do that, and are told.
        """
        if not self.transport.can_write_eof():
            return False  # over TLS the end of one half is the end of both
        if self._is_lingering or not self._hangups or not self._is_in_head or self.url:
            return False
        if not self._hangups[0].probe or self._version() != "1.1":
            return False  # nothing can be written that has no meaning
        self.cycle.keep_alive = False
        self._probe(_PROBE_SECONDS)
        return True

    def _probe(self, pause: float) -> None:
        """Write what has no meaning, again and again: the first makes a peer that is gone say so, the next one fails."""
        if self.transport.is_closing() or not self._hangups or not self._hangups[0].probe:
            return
        self.transport.write(self._hangups[0].probe)
        self.loop.call_later(pause, self._probe, 2 * pause)

    def data_received(self, data: bytes) -> None:
        if self._is_lingering:
            self._unread_bytes += len(data)
            if self._unread_bytes > _LINGER_BYTES:
                self.transport.abort()
            return
        if self.transport.is_closing() or self._is_overrun:
            return
        self._unset_keepalive_if_required()
        if not self._is_in_head:
            self.deadline = min(self.loop.time() + BODY_PAUSE_SECONDS, self._body_deadline)
        self._silent_bytes += len(data)
        try:
            self.parser.feed_data(data)
        except HttpParserUpgrade as offer:
            self._decline(data[offer.args[0] :])
        except Exception:  # noqa: BLE001  # whatever a parser makes of hostile bytes, only this client may notice
            if not self._is_overrun:
                self._refuse(400, b"this is not a request we understand")
        if self._silent_bytes > _MAX_HEAD_BYTES:
            self._refuse(431, b"the headers are too large")

    def _decline(self, rest: bytes) -> None:
        """Decline an upgrade to another protocol.

        The parser treats the body as that protocol, so it reads the head again.
        """
        method = self.parser.get_method()
        kept = [b"%b: %b\r\n" % header for header in self.headers if header[0] != b"upgrade"]
        self.parser = HttpRequestParser(self)
        self.data_received(b"%b %b HTTP/1.1\r\n%b\r\n" % (method, self.url, b"".join(kept)) + rest)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_in_head = True
        self._began = self.loop.time()
        self.deadline = self._began + HEAD_SECONDS

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._is_in_head:
            return  # a trailer, where any intermediary may have put it
        name, value = name.lower(), value.strip(b" \t")  # llhttp leaves the space after a value
        if name == b"expect" and value.lower() == b"100-continue":
            self.expect_100_continue = True
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        if self.parser.should_upgrade():
            if self.parser.get_method() == b"CONNECT":
                raise ValueError("we lead nowhere else")
            return
        if self._silent_bytes > _MAX_HEAD_BYTES and self._head_bytes() > _MAX_HEAD_BYTES:
            self._refuse(431, b"the headers are too large")
            raise ValueError("the headers are too large")
        names = [name for name, _ in self.headers]
        if len(names) > _MAX_HEADERS:
            raise ValueError("too many headers")
        if len(self.pipeline) >= _MAX_PIPELINED:
            self._is_overrun = True
            raise ValueError("too many requests at a time")
        hosts = names.count(b"host")
        if hosts > 1 or (not hosts and self._version() != "1.0"):
            raise ValueError("a request has one Host")
        if names.count(b"content-length") + names.count(b"transfer-encoding") > 1:
            raise ValueError("a request has one length")
        self._check_target(dict(self.headers))
        now = self.loop.time()
        self._body_deadline = now + BODY_SECONDS
        self.deadline = now + BODY_PAUSE_SECONDS
        self._doorkeeper.note_head(self)
        self.scope[HANGUP] = hangup = Hangup()  # type: ignore[typeddict-unknown-key]
        self._hangups.append(hangup)
        super().on_headers_complete()
        self._is_in_head, self._silent_bytes = False, 0

    def _check_target(self, headers: dict[bytes, bytes]) -> None:
        """Refuse what other readers could take for another length, or for a request to another host."""
        if headers.get(b"transfer-encoding", b"chunked").lower() != b"chunked":
            raise ValueError("a request is chunked or not, and nothing else")
        scheme, mark, rest = self.url.partition(b"://")
        if (
            mark
            and b"/" not in scheme
            and rest.partition(b"/")[0].lower() != headers.get(b"host", b"").lower()
        ):
            raise ValueError("the target is of another host")

    def _head_bytes(self) -> int:
        """Return the size of the head without the beginning of the body, which may have come with it."""
        return sum(len(name) + len(value) for name, value in self.headers) + len(self.url)

    def _version(self) -> str:
        return self.parser.get_http_version()

    def on_body(self, body: bytes) -> None:
        self._silent_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        if self.parser.should_upgrade():
            return
        self.deadline = float("inf")
        self._doorkeeper.note_request(self)
        self._is_in_head, self._silent_bytes = True, 0
        if not self.pipeline:
            # The end of a large body leaves it paused, and then we would not notice a client that hangs up.
            self.flow.resume_reading()
        super().on_message_complete()
        self.url = b""
        self._wait_if_idle()

    def on_response_complete(self) -> None:
        del self._hangups[:1]  # responses come in the order of their requests
        super().on_response_complete()
        if self._is_overrun and not self.pipeline and self.cycle.response_complete:
            self.transport.close()  # what came beyond the bound was not read: its client asks again
            return
        self._wait_if_idle()

    def _wait_if_idle(self) -> None:
        """Start the timeout for the next request, if everything is answered."""
        if self.transport.is_closing() or not self.cycle.response_complete:
            return
        self._doorkeeper.note_waiting(self)
        if self.deadline == float("inf"):
            # Besides uvicorn's own timer, which bytes that begin no request postpone forever.
            self.deadline = self.loop.time() + self.timeout_keep_alive

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, b"this is not a request we understand")

    def _refuse(self, status: int, text: bytes) -> None:
        """Refuse, where there is no request yet that could be answered."""
        if self.transport.is_closing():
            return
        request_id = self._tell(status)
        if self.cycle and self.cycle.response_started and not self.cycle.response_complete:
            self.drop()  # in the middle of a response, our text would be taken for part of it
            return
        named = b"x-request-id: %b\r\n" % request_id if request_id else b""
        head = b"content-type: text/plain\r\nconnection: close\r\ncontent-length: %d\r\n%b\r\n"
        with suppress(OSError, RuntimeError):
            self.transport.write(STATUS_LINE[status] + head % (len(text), named) + text)
            self._linger()

    def _linger(self) -> None:
        """Close our half, and the rest when the client has: unread bytes would reset the connection, and our text with
        it. TLS has no halves, but a client knows from the head where our text ends."""
        self._is_lingering = True
        self.deadline = float("inf")
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(_LINGER_SECONDS, self.transport.abort)  # in case it does not read even that

    def _tell(self, status: int) -> bytes:
        """Log a refusal, and return the id of the line.

        If the application has the request by now, it gets a line anyway, which then names this status.
        """
        if not self._is_in_head:
            if self._hangups:
                self._hangups[-1].status = status
            return b""
        target = self.url.partition(b"?")[0].decode("latin-1")
        self._doorkeeper.tell(
            self.parser.get_method().decode("latin-1") if target else "-",
            target if target.startswith("/") else "-",
            status,
            self.loop.time() - self._began,
            request_id := new_request_id(),
        )
        return request_id
