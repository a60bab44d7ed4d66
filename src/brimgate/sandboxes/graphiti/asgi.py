"""Requests and responses of a small ASGI application: bodies with a limit, answers as JSON or as events."""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from brimgate.relay.protocol.message import INVALID_REQUEST

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Scope]]
Send = Callable[[Scope], Awaitable[None]]

JSON, EVENTS = b"application/json", b"text/event-stream"
_MOST_BODY_BYTES: Final = 4 << 20


class Refusal(Exception):
    def __init__(self, status: int, text: str, code: int = INVALID_REQUEST) -> None:
        super().__init__(text)
        error = {"code": code, "message": text}
        self.status, self.body = status, json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()


def accepted(accept: bytes) -> list[bytes]:
    kinds = [kind for kind in (JSON, EVENTS) if kind in accept or kind.partition(b"/")[0] + b"/*" in accept]
    if b"*/*" in accept or not accept:
        return [JSON, EVENTS]
    if not kinds:
        raise Refusal(406, "accept application/json or text/event-stream")
    return kinds


async def read(receive: Receive) -> bytes:
    body = b""
    while True:
        part = await receive()
        body += part.get("body", b"")
        if len(body) > _MOST_BODY_BYTES:
            raise Refusal(413, f"a body may have {_MOST_BODY_BYTES} bytes")
        if not part.get("more_body"):
            return body


async def disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def event(data: bytes) -> bytes:
    return b"event: message\ndata: " + data.strip() + b"\n\n"


async def respond(
    send: Send, status: int, body: bytes = b"", kind: bytes = JSON, session_id: str = "", allow: bytes = b""
) -> None:
    await begin(send, status, kind if body else b"", session_id, allow if status == 405 else b"", len(body))
    await send({"type": "http.response.body", "body": body})


async def begin(
    send: Send,
    status: int,
    kind: bytes,
    session_id: str = "",
    allow: bytes = b"",
    length: int | None = None,
) -> None:
    named = {
        b"content-type": kind,
        b"mcp-session-id": session_id.encode(),
        b"allow": allow,
        b"content-length": b"" if length is None else str(length).encode(),
    }
    headers = [(name, value) for name, value in named.items() if value]
    await send({"type": "http.response.start", "status": status, "headers": headers})
