"""The client's side of the protocol, without I/O: what we ask in our own name, and how the answers are read."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from brimgate import __version__
from brimgate.relay.protocol.message import encode
from brimgate.relay.protocol.versions import CAPABILITIES_KEY, HANDSHAKE_VERSIONS, MODERN_VERSION, VERSION_KEY

CLIENT: Final = {"name": "brimgate", "version": __version__}
MODERN_META: Final[dict[str, Any]] = {
    VERSION_KEY: MODERN_VERSION,
    CAPABILITIES_KEY: {},
    "io.modelcontextprotocol/clientInfo": CLIENT,
}
"""What a modern request of ours says about itself."""
INITIALIZE: Final[dict[str, Any]] = {
    "protocolVersion": HANDSHAKE_VERSIONS[-1],
    "capabilities": {},
    "clientInfo": CLIENT,
}
LIST_SECONDS: Final = 10.0
"""How long a call waits for a list of tools that it needs first."""
MAX_LIST_PAGES: Final = 50


def request(number: int | str, method: str, params: Mapping[str, Any]) -> bytes:
    """Write a request."""
    return encode({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def list_params(meta: Mapping[str, Any], cursor: str = "") -> dict[str, Any]:
    """Return the parameters of a `tools/list` that speaks for itself as another request does."""
    own = {key: value for key, value in meta.items() if key != "progressToken"}
    return {"_meta": own} | ({"cursor": cursor} if cursor else {})


class ToolPage(msgspec.Struct):
    """One page of a list of tools, each as the server wrote it."""

    tools: list[msgspec.Raw] = msgspec.field(default_factory=lambda: [])
    nextCursor: str | None = None  # noqa: N815  # as on the wire


class Discovery(msgspec.Struct):
    """What we need of the answer to `server/discover`."""

    supportedVersions: list[str] = msgspec.field(default_factory=lambda: [])  # noqa: N815  # as on the wire


def read_tool_page(result: bytes) -> ToolPage:
    """Read a page; an empty one where the server answered something else."""
    try:
        return msgspec.json.decode(result, type=ToolPage)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ToolPage()


def speaks_modern(result: bytes) -> bool:
    """Check whether a server says that it speaks 2026-07-28; some have an answer to any method."""
    try:
        return MODERN_VERSION in msgspec.json.decode(result, type=Discovery).supportedVersions
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
