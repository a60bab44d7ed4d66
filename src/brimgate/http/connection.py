"""One HTTP/1.1 connection: a request goes out, the pieces of its response come in.

A connection serves one exchange at a time. It is free again only when the response has ended by its own framing,
nothing came after it, and the whole request was sent.
"""

import asyncio
import re
import select
from collections.abc import Callable
from typing import Any, Final

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from brimgate.errors import UpstreamError, UpstreamGarbled, UpstreamLost, UpstreamTimeout

Headers = list[tuple[bytes, bytes]]

MAX_UNREAD_BYTES: Final = 256 << 10
"""If more than this waits for the caller, we stop reading from the socket."""
MAX_HEAD_BYTES: Final = 64 << 10
MAX_HEADERS: Final = 200
_MAX_INTERIM: Final = 16
_JOINED_BYTES: Final = 64 << 10
"""Up to this size one copy is cheaper than a second system call."""
_WRITE_BYTES: Final = 128 << 10
_PIECE_BYTES: Final = 48
"""What Python takes to hold even one byte: a body in chunks of one must not cost fifty times its size."""
_WANTED: Final = frozenset((b"content-length", b"transfer-encoding", b"content-encoding", b"keep-alive"))
_PROMISED: Final = re.compile(rb"""\btimeout\s*=\s*"?(\d{1,9})""", re.IGNORECASE)
_TOKEN: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,40}")


class Incoming:
    """The unread part of one response: the connection adds to it, one reader takes from it."""

    __slots__ = (
        "announced_bytes",
        "coding",
        "connection",
        "fault",
        "headers",
        "is_complete",
        "pieces",
        "status",
        "unread_bytes",
        "waiter",
        "where",
    )

    def __init__(self, connection: "Connection", where: str) -> None:
        self.where = where
        self.connection: Connection | None = connection
        """None after the end: the connection may then serve another request."""
        self.status = 0
        self.headers: Headers = []
        self.announced_bytes = 0
        """The Content-Length of a body that has one, as it comes over the wire."""
        self.coding = b""
        self.pieces: list[bytes] = []
        self.unread_bytes = 0
        self.is_complete = False
        self.fault: UpstreamError | None = None
        self.waiter: asyncio.Future[None] | None = None

    async def head(self) -> None:
        while not self.status:
            if self.fault is not None:
                raise self.fault
            await self._wait()

    async def take(self) -> bytes:
        """Return all that is waiting, as it came over the wire; b"" at the end."""
        pieces = self.pieces
        while not pieces:
            if self.is_complete:
                return b""
            if self.fault is not None:
                raise self.fault
            await self._wait()
        data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        pieces.clear()
        self.unread_bytes = 0
        if self.connection is not None:
            self.connection.read_on()
        return data

    def give_up(self, fault: UpstreamError | None = None) -> None:
        """Close the connection at once. Does nothing after the end."""
        if self.connection is not None:
            self.pieces.clear()
            self.connection.fail(fault or UpstreamLost(f"the answer from {self.where} was given up by us"))

    def overdue(self, seconds: float) -> None:
        if not self.status:
            text = f"{self.where} did not begin to answer within {seconds:g} s: the call may still run"
            self.give_up(UpstreamTimeout(text))

    def end(self, fault: UpstreamError | None) -> None:
        self.connection = None
        self.fault = fault
        self.is_complete = fault is None
        self.wake()

    def wake(self) -> None:
        waiter = self.waiter
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    async def _wait(self) -> None:
        if self.waiter is not None:
            raise RuntimeError("an answer has one reader")
        self.waiter = asyncio.get_running_loop().create_future()
        try:
            await self.waiter
        except BaseException:
            self.give_up()
            raise
        finally:
            self.waiter = None


class Connection(asyncio.Protocol):
    """One connection. `on_free` gets the seconds that the server promised to keep it open, if it said so."""

    def __init__(
        self,
        where: str,
        on_free: "Callable[[Connection, float | None], None]",
        open_connections: "set[Connection]",
    ) -> None:
        self._where = where
        self._on_free = on_free
        self._open = open_connections
        self._parser: Any = HttpResponseParser(self)
        self._transport: asyncio.Transport | None = None
        self._readable: Callable[[], bool] = lambda: False
        self._incoming: Incoming | None = None
        self._headers: Headers = []
        self._unsent: memoryview | None = None
        self._is_pressed = False
        self.gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.idle_until = 0.0
        self._is_usable = True
        self._begin(None, expects_body=True)

    def _begin(self, incoming: Incoming | None, *, expects_body: bool) -> None:
        self._incoming = incoming
        self._expects_body = expects_body
        self._headers = []
        self._silent_bytes = 0
        """Bytes received since the request, or since the head or a piece of the body."""
        self._interim = 0
        self._promised_seconds: float | None = None
        self.is_heard = False
        self._is_interim = self._has_head = self._is_complete = self._to_eof = False
        self._keeps_open = self._is_paused = False

    # Called by the caller.

    async def exchange(
        self, head: bytes, body: bytes | None, *, expects_body: bool, headers_within: float | None
    ) -> Incoming:
        incoming = Incoming(self, self._where)
        self._begin(incoming, expects_body=expects_body)
        timer = None
        if headers_within is not None:
            loop = asyncio.get_running_loop()
            timer = loop.call_later(headers_within, incoming.overdue, headers_within)
        try:
            self._send(head, body)
            await incoming.head()
        finally:
            if timer is not None:
                timer.cancel()
        return incoming

    @property
    def is_open(self) -> bool:
        return self._is_usable and self._transport is not None and not self._transport.is_closing()

    def can_serve(self) -> bool:
        """Return whether it is open and nothing came after the last response: neither an end nor unexpected bytes."""
        return self.is_open and not self._readable()

    def fail(self, fault: UpstreamError) -> None:
        incoming, self._incoming = self._incoming, None
        self.drop()
        if incoming is not None:
            incoming.end(fault)

    def drop(self) -> None:
        self._is_usable = False
        self._unsent = None
        if self._transport is not None:
            self._transport.abort()

    def forget(self) -> None:
        """Clean up after a failed connect. uvloop then sometimes calls connection_made, and never connection_lost."""
        self.drop()
        self.connection_lost(None)

    def read_on(self) -> None:
        if self._is_paused and self._transport is not None and not self._transport.is_closing():
            self._is_paused = False
            self._transport.resume_reading()

    # Called by the event loop.

    def connection_made(self, transport: Any) -> None:
        if not self._is_usable:
            transport.abort()
            return
        self._transport = transport
        transport.set_write_buffer_limits(high=2 * _WRITE_BYTES, low=_WRITE_BYTES // 2)
        self._readable = _readiness(transport.get_extra_info("socket").fileno())
        self._open.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._open.discard(self)
        self._transport = None
        self.fail(self._lost())
        self._parser = None  # it references our methods: without the cycle the memory is freed at once
        self._readable = lambda: False
        if not self.gone.done():
            self.gone.set_result(None)

    def eof_received(self) -> None:
        if self._to_eof and not self._is_complete and _is_farewell(self._transport):
            self._is_complete = True
            self._finish()
        self.fail(self._lost())

    def data_received(self, data: bytes) -> None:
        incoming = self._incoming
        if incoming is None:
            self.drop()  # nobody asked: never the beginning of the next response
            return
        self.is_heard = True
        had_head, unread = self._has_head, incoming.unread_bytes
        self._silent_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:
            self._refuse(error)
            return
        if self._is_complete:
            self._finish()
        elif incoming.unread_bytes > unread or self._has_head != had_head:
            self._silent_bytes = 0
            if incoming.unread_bytes > MAX_UNREAD_BYTES and not self._is_paused:
                self._pause()
            incoming.wake()
        elif self._silent_bytes > MAX_HEAD_BYTES:
            # A head, a chunk extension or a trailer that does not end.
            self.fail(self._bad(f"more than {MAX_HEAD_BYTES:,} bytes of headers or trailers"))

    def pause_writing(self) -> None:
        self._is_pressed = True

    def resume_writing(self) -> None:
        self._is_pressed = False
        self._send_more()

    # Called by the parser. It does not know HEAD, and does not report the end of a body that ends with the
    # connection.

    def on_message_begin(self) -> None:
        if self._is_complete:
            raise UpstreamGarbled("something follows it")

    def on_header(self, name: bytes, value: bytes) -> None:
        # Trailers come here too, into a list that nobody reads. Their number is bounded by their bytes.
        self._headers.append((name.lower(), value.strip()))

    def on_headers_complete(self) -> None:
        status: int = self._parser.get_status_code()
        if not 200 <= status < 600:
            self._pass_over(status)
            return
        headers, self._headers = self._headers, []
        incoming = self._incoming
        if incoming is None or len(headers) > MAX_HEADERS:
            raise UpstreamGarbled(f"more than {MAX_HEADERS} headers")
        if self._silent_bytes > MAX_HEAD_BYTES and _size(headers) > MAX_HEAD_BYTES:
            raise UpstreamGarbled(f"more than {MAX_HEAD_BYTES:,} bytes of headers")
        self._keeps_open = self._parser.should_keep_alive()
        self._frame(status, incoming, _wanted(headers))
        if self._unsent is not None and status >= 300:
            self._unsent = None  # it does not want the rest
            self._keeps_open = False
        self._has_head = True
        incoming.headers = headers
        incoming.status = status

    def on_body(self, data: bytes) -> None:
        incoming = self._incoming
        if incoming is None or self._is_complete or self._is_interim:
            raise UpstreamGarbled("a body where there is none")
        incoming.pieces.append(data)
        incoming.unread_bytes += len(data) + _PIECE_BYTES

    def on_message_complete(self) -> None:
        if self._is_interim:
            self._is_interim = False
            self._headers = []
        else:
            self._is_complete = True

    # Internal.

    def _pass_over(self, status: int) -> None:
        if status == 101:
            raise UpstreamGarbled("it changes to a protocol nobody asked for")
        self._interim += 1
        if not 100 <= status < 200 or self._interim > _MAX_INTERIM:
            raise UpstreamGarbled("a status there is not, or interim answers without end")
        self._is_interim = True

    def _frame(self, status: int, incoming: Incoming, wanted: dict[bytes, bytes]) -> None:
        length, transfer = wanted.get(b"content-length"), wanted.get(b"transfer-encoding")
        if transfer is not None and (length is not None or transfer.lower() != b"chunked"):
            raise UpstreamGarbled(
                "a Transfer-Encoding other than just chunked, or a Content-Length beside it"
            )
        if length is not None:
            if not length.isdigit():
                raise UpstreamGarbled("no single Content-Length")
            incoming.announced_bytes = int(length)
        if b"keep-alive" in wanted and (promise := _PROMISED.search(wanted[b"keep-alive"])):
            self._promised_seconds = float(promise[1])
        if status in (204, 304) or not self._expects_body:
            incoming.announced_bytes = 0
            self._is_complete = not self._expects_body  # else the parser will report the end
            return
        self._to_eof = length is None and transfer is None
        if b"content-encoding" in wanted:
            incoming.coding = self._coding(wanted[b"content-encoding"].lower())

    def _coding(self, coding: bytes) -> bytes:
        if coding in (b"", b"identity"):
            return b""
        from brimgate.http.encodings import (
            readable_codings,  # few answers are compressed: we ask for identity
        )

        if coding.decode("latin-1") in readable_codings():
            return coding
        name = coding.decode() if _TOKEN.fullmatch(coding) else "not one of HTTP's"
        extra = {"br": "brotli", "zstd": "zstd"}.get(name)
        hint = f"; the extra `{extra}` reads it" if extra else ""
        raise UpstreamGarbled(f"its Content-Encoding is {name}: identity was asked for{hint}")

    def _send(self, head: bytes, body: bytes | None) -> None:
        transport = self._transport
        if transport is None:
            self.fail(self._lost())
            return
        if body is None or len(body) <= _JOINED_BYTES:
            transport.write(head + body if body else head)
            return
        transport.write(head)
        self._unsent = memoryview(body)
        self._send_more()

    def _send_more(self) -> None:
        while self._unsent is not None and not self._is_pressed and self._transport is not None:
            piece, rest = self._unsent[:_WRITE_BYTES], self._unsent[_WRITE_BYTES:]
            self._unsent = rest if rest else None
            self._transport.write(piece)

    def _pause(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._is_paused = True
            self._transport.pause_reading()

    def _finish(self) -> None:
        incoming, self._incoming = self._incoming, None
        transport = self._transport
        is_free = (
            self._keeps_open
            and self.is_open
            and self._unsent is None
            and transport is not None
            and not transport.get_write_buffer_size()
        )
        if is_free:
            self.read_on()
            if not self._expects_body:
                self._parser = HttpResponseParser(self)  # the old one waits for a body
            self._on_free(self, self._promised_seconds)
        else:
            self.drop()
        if incoming is not None:
            incoming.end(None)

    def _refuse(self, error: Exception) -> None:
        if self._is_complete:
            self._keeps_open = False
            self._finish()  # the response is complete; what follows it is not ours
            return
        cause = error.__context__
        self.fail(self._bad(str(cause if isinstance(cause, UpstreamGarbled) else error)))

    def _bad(self, why: str) -> UpstreamGarbled:
        return UpstreamGarbled(f"the answer from {self._where} was refused: {why}")

    def _lost(self) -> UpstreamLost:
        if self._has_head:
            return UpstreamLost(f"the answer from {self._where} ended early: the connection was lost")
        return UpstreamLost(
            f"the connection to {self._where} was lost before an answer: it is unknown whether the call ran"
        )


def _is_farewell(transport: asyncio.Transport | None) -> bool:
    """Return whether the end is genuine.

    With TLS only a signed end counts: whoever cuts the connection cannot shorten a body.
    """
    secured = transport.get_extra_info("ssl_object") if transport is not None else None
    if secured is None:
        return True
    import ssl

    try:
        return not secured.read(1)
    except ssl.SSLZeroReturnError:
        return True
    except ssl.SSLError:
        return False


def _size(headers: Headers) -> int:
    return sum(len(name) + len(value) + 4 for name, value in headers)


def _wanted(headers: Headers) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    for name, value in headers:
        if name in _WANTED:
            found[name] = found[name] + b", " + value if name in found else value
    return found


def _readiness(descriptor: int) -> Callable[[], bool]:
    """Return a function that checks whether there is unread data that the event loop has not seen yet.

    It takes 1 µs.
    """
    if not hasattr(select, "poll"):  # Windows
        return lambda: bool(select.select([descriptor], [], [], 0)[0])
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    poll = poller.poll
    return lambda: bool(poll(0))
