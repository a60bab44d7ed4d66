"""Requests and answers of a small ASGI application, whatever API it stands in for."""

import json
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from email import message_from_bytes
from email.message import Message
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Scope]]
Send = Callable[[Scope], Awaitable[None]]
Json = dict[str, Any]

JSON: Final = "application/json"


class Answer(NamedTuple):
    status: int
    body: bytes
    kind: str = JSON
    headers: tuple[tuple[str, str], ...] = ()


class Refused(Exception):
    """An answer that ends the work on a request. An API gives it the shape of its errors."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


class BodyTooLarge(Exception):
    """Raised while a body is read, before all of it is in memory."""


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
    def parts(self) -> Iterator["Part"]:
        """Yield the parts of a multipart form."""
        kind = self.headers.get("content-type", "")
        message = message_from_bytes(f"Content-Type: {kind}\r\n\r\n".encode() + self.body)
        for part in message.walk():
            name = part.get_param("name", header="content-disposition")
            content = part.get_payload(decode=True)
            if isinstance(name, str) and isinstance(content, bytes):
                yield Part(name, part, content)


class Part(NamedTuple):
    """A field or a file of a multipart form."""

    name: str
    message: Message
    content: bytes


def encode(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


async def read_request(scope: Scope, receive: Receive, most_bytes: int) -> Request:
    body = bytearray()
    while True:
        part = await receive()
        body += part.get("body", b"")
        if len(body) > most_bytes:
            raise BodyTooLarge
        if not part.get("more_body"):
            break
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
    address = scope["client"][0] if scope.get("client") else ""
    query = scope["query_string"].decode("latin-1")
    return Request(scope["method"], scope["path"], query, headers, address, bytes(body))


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
    """Group values of lists: `ids[]=1`, `ids[0]=1` and `ids=1` all belong to `ids`."""
    gathered: dict[str, list[str]] = {}
    for name, value in pairs:
        gathered.setdefault(name.partition("[")[0], []).append(value)
    return gathered
