"""An HTTP answer that is none: what it says about the request, in words and in JSON-RPC."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from brimgate.back.mcp.request import messages_in
from brimgate.back.mcp.response import bare
from brimgate.http.client import Response, TooLarge
from brimgate.relay.protocol import message as rpc
from brimgate.relay.protocol.message import one_line

_MAX_BYTES: Final = 1 << 20
_SESSION_CODES: Final = frozenset((0, rpc.UPSTREAM_GONE, -32001, -32600))
"""What servers of the older era say to a request outside of a session; 0 if they say nothing."""
_HINTS: Final = {
    401: "it wants credentials: configure them under headers:",
    403: "it refuses our credentials or our address: look at headers:",
    404: "is its address right?",
    405: "is its address right? A server of the older HTTP+SSE needs transport: sse",
}


@dataclass(frozen=True, slots=True)
class Refusal:
    status: int
    body: bytes
    """Of a JSON-RPC error on one line, else empty."""
    error: bytes = b""
    code: int = 0
    mentions_session: bool = False

    @property
    def is_outside_session(self) -> bool:
        """What a server says that has forgotten the session a request belongs to."""
        if self.code not in _SESSION_CODES:
            return False
        return self.status == 404 or (self.status == 400 and self.mentions_session)

    @property
    def is_of_older_era(self) -> bool:
        """What a server says to a request that stands for itself if it only knows sessions."""
        return self.status in (400, 404, 405) and self.code in _SESSION_CODES

    def text(self, name: str) -> str:
        try:
            said = f"{self.status} {HTTPStatus(self.status).phrase}"
        except ValueError:
            said = str(self.status)
        hint = _HINTS.get(self.status)
        return f"the upstream {name} answered {said}" + (f": {hint}" if hint else "")


async def read_refusal(response: Response) -> Refusal:
    try:
        body = one_line(bare(await response.read(_MAX_BYTES)))
    except TooLarge:
        return Refusal(response.status, b"")
    finally:
        response.abort()
    mentions = b"session" in body.lower() or b"not initialized" in body.lower()
    found = messages_in(body) if body[:1] == b"{" else []
    error = bytes(found[0].error) if found else b""
    found = rpc.read_error(error)
    code = found and found.code
    if code is None:
        return Refusal(response.status, b"", mentions_session=mentions)
    return Refusal(response.status, body, error, code, mentions)


def error_answer(key: bytes, error: bytes) -> bytes:
    """A JSON-RPC error under another id."""
    return b'{"jsonrpc":"2.0","id":' + key + b',"error":' + error + b"}"
