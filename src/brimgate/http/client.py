"""A small HTTP/1.1 client for one origin: one request is one call of the upstream, never two.

What can go wrong, as in errors.py:

UpstreamUnreachable  nothing was sent: the call did not run
UpstreamLost         the connection ended before the response did
UpstreamGarbled      not an HTTP response whose boundaries can be trusted
AnswerTooLarge       larger than the caller accepts
UpstreamTimeout      the response did not begin in time

It follows no redirect, and knows no proxies, cookies or credentials.
"""

import asyncio
import errno
import re
import socket
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from brimgate.errors import AnswerTooLarge, ConfigError, UpstreamGarbled, UpstreamLost, UpstreamUnreachable
from brimgate.http.connection import Connection, Headers, Incoming

if TYPE_CHECKING:
    import ssl

    from brimgate.http.encodings import Inflater

__all__ = ["Headers", "HttpClient", "Origin", "Response"]

_NAME_BYTES: Final = b"!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_TARGET_BYTES: Final = bytes(byte for byte in range(0x21, 0x7F) if byte != ord("#"))
_CONTROL_BYTES: Final = bytes(byte for byte in (*range(0x20), 0x7F) if byte != ord("\t"))
_OURS: Final = frozenset(
    (
        b"host",
        b"content-length",
        b"transfer-encoding",
        b"connection",
        b"accept-encoding",
        b"expect",
        b"te",
        b"upgrade",
    )
)
"""Headers that decide where a message ends, or what may come back: only the client may write them."""
_REPEATABLE: Final = frozenset((b"GET", b"HEAD", b"DELETE"))
_WITHOUT_BODY: Final = frozenset((b"GET", b"HEAD", b"DELETE", b"OPTIONS"))
_MAX_GOOD_NAMES: Final = 256
_PORTS: Final = {"http": 80, "https": 443}
_IS_IT_RUNNING: Final = "is the server running?"
_HOST: Final = re.compile(r"[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_.])?")
_IPV6: Final = re.compile(r"[0-9a-f:.]*:[0-9a-f:.]*")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a server is: the part of its URL before the path."""

    scheme: str
    host: str
    """Without brackets."""
    port: int

    @classmethod
    def of(cls, url: str) -> "Origin":
        """Parse the URL of a server.

        Raise ConfigError, which repeats nothing that may be a secret, if it is not one.
        """
        from urllib.parse import urlsplit

        if any(char <= " " or char == "\x7f" for char in url):
            raise ConfigError("the upstream's url has spaces or control characters in it: write them as %XX")
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            raise ConfigError("the upstream's url has no valid host and port: http://host:8000/mcp") from None
        if parts.scheme not in _PORTS:
            raise ConfigError("the upstream's url must begin with http:// or https://")
        if "@" in parts.netloc:
            raise ConfigError(
                "the upstream's url has credentials in it: put them into a header, taken from a secret"
            )
        host = parts.hostname or ""
        labels = host.removesuffix(".").split(".")
        is_name = _HOST.fullmatch(host) and all(0 < len(label) < 64 for label in labels)
        if not (_IPV6.fullmatch(host) if ":" in host else is_name):
            raise ConfigError(
                "the upstream's url has no valid host: a name (in its xn-- form), an IPv4 address, or an IPv6 one in []"
            )
        if port == 0:
            raise ConfigError("the upstream's url has port 0: a port is between 1 and 65535")
        return cls(parts.scheme, host, port or _PORTS[parts.scheme])

    @property
    def host_header(self) -> bytes:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return (host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}").encode("ascii")

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host_header.decode('ascii')}"


class Response:
    """A response whose head has arrived. Read it to its end, or abort it: until then it holds its connection."""

    __slots__ = ("_incoming", "_inflater", "headers", "status")

    def __init__(self, incoming: Incoming) -> None:
        self.status = incoming.status
        self.headers = incoming.headers
        """Names in lower case, values without surrounding space."""
        self._incoming = incoming
        self._inflater: Inflater | None = None
        if incoming.coding:
            from brimgate.http import encodings  # few answers are compressed: we ask for identity

            self._inflater = encodings.Inflater(incoming.coding.decode("ascii"))

    def header(self, name: bytes) -> bytes:
        """Return the first value under this lower-case name, or b""."""
        for known, value in self.headers:
            if known == name:
                return value
        return b""

    async def next(self) -> bytes:
        """Return the next piece of the decoded body, b"" at its end. Cancelling closes the connection."""
        if self._inflater is None:
            return await self._incoming.take()
        try:
            return await self._inflated(self._inflater)
        except ValueError as error:
            self.abort()
            raise UpstreamGarbled(
                f"the answer from {self._incoming.where} cannot be decoded: {error}"
            ) from None
        except asyncio.CancelledError:
            self.abort()
            raise

    async def _inflated(self, inflater: "Inflater") -> bytes:
        while True:
            if not inflater.has_more:
                raw = await self._incoming.take()
                if not raw:
                    inflater.end()
                    return b""
                inflater.feed(raw)
            piece = inflater.take()
            if piece:
                if inflater.has_more:
                    # A compression bomb of 256 KiB yields a thousand of these: let others run in between.
                    await asyncio.sleep(0)
                return piece

    async def read(self, max_bytes: int) -> bytes:
        """Read the whole body. Raise AnswerTooLarge and close the connection as soon as it is known to be larger."""
        pieces: list[bytes] = []
        size = 0 if self._inflater else self._incoming.announced_bytes
        if size <= max_bytes:
            size = 0
            while piece := await self.next():
                size += len(piece)
                if size > max_bytes:
                    break
                pieces.append(piece)
        if size > max_bytes:
            self.abort()
            where = self._incoming.where
            raise AnswerTooLarge(f"the answer from {where} has more than the {max_bytes:,} bytes allowed")
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def abort(self) -> None:
        """Close the connection at once, so that the upstream sees that nobody listens. Does nothing after the end."""
        self._incoming.give_up()


class HttpClient:
    """Pooled connections to one origin, all on one event loop. The number of busy connections is not limited."""

    def __init__(
        self,
        origin: Origin,
        *,
        connect_seconds: float = 10.0,
        idle_seconds: float = 3.0,
        max_idle: int = 64,
        tls: "ssl.SSLContext | None" = None,
        socket_path: str = "",
    ) -> None:
        """Create a client. `socket_path` is the Unix socket where the origin is reached, if it is.

        `tls` must check certificates and names; the default uses those of the system or of SSL_CERT_FILE.
        """
        if tls is not None and not (tls.check_hostname and tls.verify_mode.name == "CERT_REQUIRED"):
            raise ConfigError(
                "certificates of upstreams are always checked: name a private CA in SSL_CERT_FILE"
            )
        self.origin = origin
        self._where = str(origin)
        self._connect_seconds = connect_seconds
        self._idle_seconds = idle_seconds
        self._max_idle = max_idle
        self._tls, self._socket_path = tls, socket_path
        self._prelude = b" HTTP/1.1\r\nHost: " + origin.host_header + b"\r\nAccept-Encoding: identity"
        self._prelude_controls = self._prelude.count(b"\r") + self._prelude.count(b"\n")
        self._good_names: set[bytes] = set()
        self._idle: deque[Connection] = deque()
        """Most recently used last."""
        self._open: set[Connection] = set()
        self._sweeper: asyncio.TimerHandle | None = None
        self._is_closed = False

    async def request(
        self,
        method: bytes,
        target: bytes,
        headers: Headers,
        body: bytes | None = None,
        *,
        headers_within: float | None = None,
    ) -> Response:
        """Send a request and return the response once its head has arrived. Raise ValueError if it is malformed.

        The timeout `headers_within` counts from the first byte sent. Cancelling closes the connection.
        """
        head = self._compose(method, target, headers, body)
        expects_body = method != b"HEAD"
        connection = self._take_idle()
        if connection is not None:
            try:
                return Response(
                    await connection.exchange(
                        head, body, expects_body=expects_body, headers_within=headers_within
                    )
                )
            except UpstreamLost:
                # Closed while our request was on its way. A call that may have run is not repeated.
                if method not in _REPEATABLE or connection.is_heard:
                    raise
        connection = await self._connect()
        return Response(
            await connection.exchange(head, body, expects_body=expects_body, headers_within=headers_within)
        )

    async def close(self) -> None:
        """Close every connection, idle or busy. Whoever reads from one gets an error."""
        self._is_closed = True
        self._idle.clear()
        if self._sweeper is not None:
            self._sweeper.cancel()
            self._sweeper = None
        going = list(self._open)
        for connection in going:
            connection.fail(UpstreamLost(f"the connection to {self._where} was closed by us"))
        if going:
            await asyncio.wait([connection.gone for connection in going])

    def _compose(self, method: bytes, target: bytes, headers: Headers, body: bytes | None) -> bytes:
        if not method or method.translate(None, _NAME_BYTES):
            raise ValueError("the method is not a word of HTTP")
        if not target.startswith(b"/") or target.translate(None, _TARGET_BYTES):
            raise ValueError(
                "a target begins with / and has neither spaces, control characters nor a fragment"
            )
        names = [name for name, _ in headers]
        if not self._good_names.issuperset(names):
            self._learn(names)
        if body is not None:
            length = b"\r\nContent-Length: %d" % len(body)
        else:
            length = b"" if method in _WITHOUT_BODY else b"\r\nContent-Length: 0"
        lines = b"\r\n".join((self._prelude, *map(b": ".join, headers)))
        # Every control character in there is ours: two for each header, and those of the first lines.
        ours = self._prelude_controls + 2 * len(headers)
        if len(lines.translate(None, _CONTROL_BYTES)) + ours != len(lines):
            raise ValueError("a header's value has control characters in it")
        return b"%b %b%b%b\r\n\r\n" % (method, target, lines, length)

    def _learn(self, names: list[bytes]) -> None:
        """Check new header names. Names are few and recur, so each is checked once."""
        for name in names:
            if not name or name.translate(None, _NAME_BYTES):
                raise ValueError("a header's name is empty or has characters that no name has")
            if name.lower() in _OURS:
                raise ValueError(f"the header {name.decode()} is written by the client, or must not be sent")
        if len(self._good_names) > _MAX_GOOD_NAMES:
            self._good_names.clear()
        self._good_names.update(names)

    def _take_idle(self) -> Connection | None:
        if not self._idle:
            return None
        now = asyncio.get_running_loop().time()
        while self._idle:
            connection = self._idle.pop()
            if now < connection.idle_until and connection.can_serve():
                return connection
            connection.drop()
        return None

    def _put_idle(self, connection: Connection, promised_seconds: float | None) -> None:
        loop = asyncio.get_running_loop()
        seconds = self._idle_seconds
        if promised_seconds is not None:
            # Close it one second before the server does, so that our request does not cross with its closing.
            seconds = min(seconds, promised_seconds - 1.0)
        if seconds <= 0 or self._max_idle < 1 or self._is_closed:
            connection.drop()
            return
        if len(self._idle) >= self._max_idle:
            self._idle.popleft().drop()
        connection.idle_until = loop.time() + seconds
        self._idle.append(connection)
        if self._sweeper is None:
            self._sweeper = loop.call_later(self._idle_seconds, self._sweep)

    def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        now = loop.time()
        kept: deque[Connection] = deque()
        for connection in self._idle:
            if connection.is_open and now < connection.idle_until:
                kept.append(connection)
            else:
                connection.drop()
        self._idle = kept
        self._sweeper = loop.call_later(self._idle_seconds, self._sweep) if kept else None

    async def _connect(self) -> Connection:
        connection = Connection(self._where, self._put_idle, self._open)
        try:
            async with asyncio.timeout(self._connect_seconds):
                await self._open_transport(connection)
            if self._is_closed or not connection.is_open:
                raise ConnectionAbortedError
        except TimeoutError:
            connection.forget()
            raise self._cannot(f"no connection within {self._connect_seconds:g} s", _IS_IT_RUNNING) from None
        except OSError as error:
            connection.forget()
            raise self._cannot(*_reason(error)) from None
        except BaseException:
            connection.forget()  # it may have been made at the very moment we were cancelled
            raise
        return connection

    async def _open_transport(self, connection: Connection) -> None:
        if self._is_closed:
            raise ConnectionAbortedError
        loop = asyncio.get_running_loop()
        origin = self.origin
        if self._socket_path:
            await loop.create_unix_connection(lambda: connection, self._socket_path)
            return
        if origin.scheme == "http":
            await loop.create_connection(lambda: connection, origin.host, origin.port)
            return
        if self._tls is None:
            self._tls = _default_tls()
        await loop.create_connection(
            lambda: connection,
            origin.host,
            origin.port,
            ssl=self._tls,
            server_hostname=origin.host,
        )

    def _cannot(self, why: str, advice: str) -> UpstreamUnreachable:
        if self._is_closed:
            return UpstreamUnreachable(f"the client of {self._where} was closed")
        return UpstreamUnreachable(f"cannot connect to {self._where} ({why}): {advice}")


def _default_tls() -> "ssl.SSLContext":
    import ssl

    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


def _reason(error: OSError) -> tuple[str, str]:
    import ssl

    if isinstance(error, ssl.SSLCertVerificationError):
        return (
            error.verify_message,
            "if its certificate is signed by a CA of yours, name that in SSL_CERT_FILE",
        )
    if isinstance(error, ssl.SSLError):
        return (error.reason or "TLS failed").lower().replace("_", " "), "does it speak TLS on this port?"
    if isinstance(error, socket.gaierror):
        return "no such host", "is the name right?"
    if isinstance(error, (ConnectionAbortedError, ConnectionResetError)):
        return "it closed the connection at once", "is it a server of HTTP, and does it want TLS?"
    # When several addresses were tried, the event loop's error has their reasons only in its text.
    if error.errno == errno.ECONNREFUSED or f"[Errno {errno.ECONNREFUSED}]" in str(error):
        return "connection refused", _IS_IT_RUNNING
    return (error.strerror or type(error).__name__).lower(), _IS_IT_RUNNING
