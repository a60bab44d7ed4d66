"""The types of an ASGI application, and how a whole response is sent."""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

Header = tuple[bytes, bytes]
Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


async def send_response(send: Send, status: int, headers: Iterable[Header], body: bytes | bytearray) -> None:
    """Send status, headers and body in one go."""
    await send({"type": "http.response.start", "status": status, "headers": list(headers)})
    await send({"type": "http.response.body", "body": body})
