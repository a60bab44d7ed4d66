"""One HTTP request and its response, as the handlers see them."""

import asyncio
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, MutableMapping
from functools import lru_cache
from typing import Any, Final, NamedTuple, Protocol, cast

from brimgate.errors import UpstreamError
from brimgate.front.mcp.errors import HttpError, too_many
from brimgate.guard.principal import NOBODY, Principal
from brimgate.http.asgi import Header, Receive, Scope, Send
from brimgate.http.encodings import BodyTooLong, UnknownEncoding, Unreadable, decoded
from brimgate.relay.actions import Line, ToClient
from brimgate.relay.protocol import message as rpc
from brimgate.relay.protocol.message import Message
from brimgate.relay.trace_context import Arrival

_INTERIM: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
_PING_CHUNK: Final = b"8\r\n: ping\n\n\r\n"
HANGUP: Final = "brimgate.hangup"
"""Where the connection puts the callback for its end."""
PRINCIPAL: Final = "brimgate.principal"
"""Where another application that answers finds the principal."""
CHECKED: Final = "brimgate.checked"
"""Where a request says that it comes from another worker, which has checked it and knows that its session is here."""
SESSION_ID: Final = b"mcp-session-id"
JSON: Final = (b"content-type", b"application/json")
_STREAM: Final = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
)
_REQUEST_ID: Final = re.compile(rb"[A-Za-z0-9._:/+=-]{1,128}")
_MAX_BATCH: Final = 1_000
_MAX_REFUSED_BYTES: Final = 64 << 10
"""Up to this size the body of a refused request is read, so that the error can name its id."""
_ROOM_SECONDS: Final = 30.0
_MAX_PATH_CHARS: Final = 200


class Report(Protocol):
    """The log, as far as requests need it."""

    def tells(self, level: str) -> bool: ...
    def write(self, event: str, fields: dict[str, Any], level: str) -> None: ...


class Hangup:
    """Tells, once, that the client has gone."""

    __slots__ = ("_callbacks", "is_over", "probe", "status")

    def __init__(self) -> None:
        self._callbacks: list[Callable[[], object]] = []
        self.is_over = False
        self.status = 0
        """The status that the connection ended with, if it refused the rest of a request."""
        self.probe = _INTERIM
        """What may be written now without a meaning, to see whether a client that sends no more still reads."""

    def __call__(self) -> None:
        self.is_over = True
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def then(self, callback: Callable[[], object]) -> None:
        if self.is_over:
            callback()
        else:
            self._callbacks.append(callback)

    def forget(self, callback: Callable[[], object]) -> None:
        if callback in self._callbacks:
            self._callbacks.remove(callback)


class Posted(NamedTuple):
    body: bytes
    message: rpc.Read


def _believe() -> None:
    pass


def check_content_type(exchange: "HttpExchange") -> None:
    kind = exchange.header(b"content-type").partition(b";")[0].strip().lower()
    if kind != b"application/json":
        raise HttpError(415, "Content-Type must be application/json")


class HttpExchange:
    def __init__(self, scope: Scope, receive: Receive, send: Send, *, max_body_bytes: int) -> None:
        self._scope, self._receive, self._send = scope, receive, send
        self._max_body_bytes = max_body_bytes
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.query: bytes = scope["query_string"]
        self.headers: list[Header] = scope["headers"]
        self.client: str = (scope.get("client") or ("",))[0]
        """The address that the request came from."""
        self._first = dict(reversed(self.headers))
        self.hangup: Hangup = scope.get(HANGUP) or Hangup()
        self.principal: Principal = NOBODY
        """Whose it is, once that is decided."""
        self.token = ""
        """What the caller has shown."""
        self.is_login_of_server = False
        """Whether what the caller has shown is a credential of the server behind us."""
        self.refusal = ""
        """Why it was not let in, for the log."""
        self.doubt: Callable[[], None] = _believe
        """Called when an upstream refuses the caller's token."""
        self._posted: Posted | None = None
        self.log_level = "info"
        self._began = time.perf_counter()
        self.more_headers: list[Header] = []
        """Sent with every response."""
        given = self.header(b"x-request-id")
        self.request_id = given if _REQUEST_ID.fullmatch(given) else new_request_id()
        self.status = 0
        """The status of the response, once it has begun."""

    def header(self, name: bytes) -> bytes:
        """Return the first header of this name; empty if there is none."""
        return self._first.get(name, b"")

    @property
    def is_from_peer(self) -> bool:
        """Whether another worker of the same port hands it on, or asks for itself."""
        return CHECKED in self._scope

    def accepts(self, kind: bytes) -> bool:
        """Return whether the client accepts a response of this media type."""
        return _accepts(tuple(value for name, value in self.headers if name == b"accept"), kind)

    async def body(self) -> bytes:
        """Read and decode the whole body. Raise HttpError if it is too large."""
        length = self.header(b"content-length")
        if length.isdigit() and int(length) > self._max_body_bytes:
            raise self._too_large()
        parts: list[bytes] = []
        size = 0
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise asyncio.CancelledError
            if part := message.get("body", b""):
                parts.append(part)
                size += len(part)
            if size > self._max_body_bytes:
                raise self._too_large()
            if not message.get("more_body"):
                break
        data = parts[0] if len(parts) == 1 else b"".join(parts)
        coding = self.header(b"content-encoding").lower()
        return self._decoded(data, coding) if coding not in (b"", b"identity") else data

    async def posted(self) -> "Posted":
        """Read the body as a JSON-RPC message, once. Raise HttpError if it cannot be one."""
        if self._posted is None:
            check_content_type(self)
            body = await self.body()
            self._posted = Posted(body, rpc.read_any(body))
        return self._posted

    async def posted_key(self) -> bytes:
        """Return the id of the request in a small body, for an error; empty if there is none."""
        length = self.header(b"content-length")
        if self.method != "POST" or not length.isdigit() or int(length) > _MAX_REFUSED_BYTES:
            return b""
        try:
            message = (await self.posted()).message
        except HttpError:
            return b""
        return message.key if isinstance(message, Message) and message.is_request else b""

    def _too_large(self) -> HttpError:
        return HttpError(413, f"a request may have {self._max_body_bytes:,} bytes at most (max_body_bytes)")

    def _decoded(self, data: bytes, coding: bytes) -> bytes:
        try:
            if b"," in coding:  # requests in several layers are not worth the bombs
                raise UnknownEncoding
            return decoded(data, coding, self._max_body_bytes)
        except UnknownEncoding:
            raise HttpError(415, "send the request without Content-Encoding, or with gzip") from None
        except Unreadable:
            raise HttpError(400, "the request is not what its Content-Encoding says") from None
        except BodyTooLong:
            raise self._too_large() from None

    def summary(self) -> dict[str, object]:
        """Return what the log says of it. Status 0: the client has gone before there was an answer."""
        status = self.status or self.hangup.status
        seconds = time.perf_counter() - self._began
        fields = request_fields(self.method, self.path, status, seconds, self.principal, self.request_id)
        return fields | {"refused": self.refusal} if self.refusal else fields

    async def hand_to(self, app: Callable[[Scope, Receive, Send], Awaitable[None]]) -> None:
        """Let another application answer, and add our own headers to its response."""

        async def send(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                self.status = message["status"]
                self.hangup.probe = b""
                ours = [*self.more_headers, (b"x-request-id", self.request_id)]
                message = {**message, "headers": [*message.get("headers", ()), *ours]}
            await self._send(message)

        self._scope[PRINCIPAL] = self.principal
        await app(self._scope, self._receive, send)

    async def answer(
        self, status: int, body: bytes | bytearray = b"", headers: Iterable[Header] = ()
    ) -> None:
        self.status = status
        self.hangup.probe = b""
        length = (b"content-length", b"%d" % len(body))
        await self._send(
            {
                "type": "http.response.start",
                "status": status,
                "headers": [*headers, *self.more_headers, length, (b"x-request-id", self.request_id)],
            }
        )
        await self._send({"type": "http.response.body", "body": body})

    async def answer_json(
        self, body: bytes | bytearray, headers: Iterable[Header] = (), status: int = 200
    ) -> None:
        await self.answer(status, body, [JSON, *headers])

    async def refuse(self, refusal: HttpError) -> None:
        await self.answer_json(refusal.body, refusal.headers, refusal.status)

    async def begin_stream(self, headers: Iterable[Header] = (), status: int = 200) -> None:
        await self.begin([*_STREAM, *headers], status)

    async def begin(self, headers: Iterable[Header], status: int) -> None:
        """Begin a response of unknown length."""
        self.status = status
        all_headers = [*headers, *self.more_headers, (b"x-request-id", self.request_id)]
        is_stream = any(
            value.startswith(b"text/event-stream") for name, value in all_headers if name == b"content-type"
        )
        self.hangup.probe = _PING_CHUNK if is_stream else b""
        await self._send({"type": "http.response.start", "status": status, "headers": all_headers})

    async def write(self, data: bytes, *, is_last: bool = False) -> None:
        """Write data. Return when the client has room for more, or has gone."""
        await self._send({"type": "http.response.body", "body": data, "more_body": not is_last})

    async def end(self) -> None:
        await self.write(b"", is_last=True)


def new_request_id() -> bytes:
    return secrets.token_hex(8).encode()


def request_fields(
    method: str, path: str, status: int, seconds: float, principal: Principal, request_id: bytes
) -> dict[str, object]:
    """Return the fields of the line that the log has for every request."""
    return {
        "method": method,
        "path": path[:_MAX_PATH_CHARS],
        "status": status,
        "ms": round(seconds * 1_000, 1),
        "principal": principal.name,
        "request": request_id.decode(),
    }


@lru_cache(1_000)
def _accepts(given: tuple[bytes, ...], kind: bytes) -> bool:
    text = b",".join(given).lower()
    wanted = (kind, kind.partition(b"/")[0] + b"/*", b"*/*")
    return not text or any(
        part.partition(b";")[0].strip() in wanted and part.rpartition(b";")[2].strip() != b"q=0"
        for part in text.split(b",")
    )


class Conversation(Protocol):
    """A session with a server that takes the client's messages."""

    failure: UpstreamError
    """Why there is no server, if there is none."""
    room: asyncio.Event
    """Unset while the server does not keep up."""

    @property
    def is_up(self) -> bool: ...
    async def start(self) -> None: ...
    def from_client(self, line: Line, arrival: Arrival | None = None) -> None: ...
    def pause(self) -> None: ...
    def resume(self) -> None: ...
    async def end(self, grace_seconds: float) -> None: ...


Converse = Callable[[Callable[[ToClient], None], Principal], Conversation]
"""Creates one, given who receives its answers and the principal. Raises HttpError if there is no room."""


class Timing(Protocol):
    """Settings that may change while we run."""

    @property
    def session_idle_seconds(self) -> float: ...
    @property
    def session_dropped_seconds(self) -> float: ...
    @property
    def json_response(self) -> bool: ...


async def wait_for_room(link: Conversation, exchange: HttpExchange, key: bytes) -> None:
    """Make the client wait while the server does not read, instead of buffering what it sends."""
    if link.room.is_set() or exchange.hangup.is_over:
        return
    waiting = asyncio.ensure_future(link.room.wait())
    exchange.hangup.then(waiting.cancel)
    await asyncio.wait([waiting], timeout=_ROOM_SECONDS)
    exchange.hangup.forget(waiting.cancel)
    if not waiting.done():
        waiting.cancel()
        raise too_many("the server does not take more now", key)


def check_id(message: Message) -> None:
    if message.is_request and message.key[:1] in (b"[", b"{"):
        raise HttpError(400, "the id of a request is a text or a number")


def check_batch(message: object) -> None:
    """Limit the size of a batch: all its messages are read before anybody else is served."""
    if isinstance(message, list) and len(cast("list[Any]", message)) > _MAX_BATCH:
        raise HttpError(400, f"a batch may hold {_MAX_BATCH:,} messages at most")


def messages_of(body: bytes) -> Iterator[Message]:
    """Yield the messages of a batch. Raise HttpError if it holds anything else."""
    for element in rpc.elements_of(body):
        message = rpc.read_any(element)
        if not isinstance(message, Message):
            raise HttpError(400, "a batch holds requests, notifications and answers only")
        check_id(message)
        yield message
