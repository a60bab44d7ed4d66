"""Requests and answers of a small ASGI application."""

import json
import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, MutableMapping
from email import message_from_bytes
from typing import Any, Final, NamedTuple, cast
from urllib.parse import parse_qsl

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Scope]]
Send = Callable[[Scope], Awaitable[None]]
Json = dict[str, Any]

JSON: Final = "application/json"
_MOST_BODY_BYTES: Final = 1 << 20


class Refusal(Exception):
    """Sent to the caller in the shape of the API's errors."""

    def __init__(self, status: int, message: str, **headers: str) -> None:
        super().__init__(message)
        self.answer = Answer(
            status, encode({"status": "fail", "message": message}), JSON, tuple(headers.items())
        )


class Answer(NamedTuple):
    status: int
    body: bytes
    kind: str = JSON
    headers: tuple[tuple[str, str], ...] = ()


class Request(NamedTuple):
    method: str
    path: str
    query: str
    headers: dict[str, str]
    address: str
    body: bytes

    @property
    def parameters(self) -> dict[str, list[str]]:
        return gather(parse_qsl(self.query))

    @property
    def form(self) -> dict[str, list[str]]:
        """Return the fields of the body: sent as JSON, as a form, or as a multipart form (what `curl --form` sends)."""
        kind = self.headers.get("content-type", "")
        if kind.startswith(JSON):
            return _form_of_json(self.body)
        if kind.startswith("multipart/form-data"):
            return gather(_parts(kind, self.body))
        return gather(parse_qsl(self.body.decode("utf-8", "replace")))


def encode(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def succeed(result: Any) -> Answer:
    return Answer(200, encode({"status": "success", "result": result}))


def read_json(body: bytes) -> Json:
    try:
        told: Any = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        raise Refusal(400, "The body is not JSON") from None
    if not isinstance(told, dict):
        raise Refusal(400, "The body must be an object")
    return cast("Json", told)


async def read_request(scope: Scope, receive: Receive) -> Request:
    body = b""
    while True:
        part = await receive()
        body += part.get("body", b"")
        if len(body) > _MOST_BODY_BYTES:
            raise Refusal(413, f"A body may have {_MOST_BODY_BYTES} bytes")
        if not part.get("more_body"):
            break
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
    address = scope["client"][0] if scope.get("client") else ""
    query = scope["query_string"].decode("latin-1")
    return Request(scope["method"], scope["path"], query, headers, address, body)


async def respond(send: Send, answer: Answer) -> None:
    await begin(send, answer, len(answer.body))
    await send({"type": "http.response.body", "body": answer.body})


async def begin(send: Send, answer: Answer, length: int) -> None:
    named = (("content-type", answer.kind), ("content-length", str(length)), *answer.headers)
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in named]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})


async def disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def gather(pairs: list[tuple[str, str]]) -> dict[str, list[str]]:
    """Group values as PHP does for lists: `ids[]=1`, `ids[0]=1` and `ids=1` all belong to `ids`."""
    gathered: dict[str, list[str]] = {}
    for name, value in pairs:
        gathered.setdefault(name.partition("[")[0], []).append(value)
    return gathered


def _form_of_json(body: bytes) -> dict[str, list[str]]:
    form: dict[str, list[str]] = {}
    for name, value in read_json(body).items():
        values = cast("list[Any]", value) if isinstance(value, list) else [value]
        form[name] = [str(item) for item in values if item is not None]
    return form


def _parts(kind: str, body: bytes) -> list[tuple[str, str]]:
    message = message_from_bytes(f"Content-Type: {kind}\r\n\r\n".encode() + body)
    parts: list[tuple[str, str]] = []
    for part in message.walk():
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True)
        if isinstance(name, str) and isinstance(content, bytes):
            parts.append((name, content.decode("utf-8", "replace")))
    return parts


class Limit:
    """A rate limit with a sliding window. A refused request does not count: whoever waits gets through."""

    def __init__(self, most: int, window_seconds: float) -> None:
        self._most, self._window_seconds = most, window_seconds
        self._times: defaultdict[str, deque[float]] = defaultdict(deque)

    def count(self, caller: str) -> None:
        if not self._most:
            return
        now, times = time.monotonic(), self._times[caller]
        while times and times[0] <= now - self._window_seconds:
            times.popleft()
        if len(times) >= self._most:
            raise Refusal(429, "Too many requests")  # and no Retry-After: the real API sends none
        times.append(now)

    def reset(self) -> None:
        self._times.clear()
