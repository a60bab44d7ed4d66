"""Learn from a server's own list which arguments of which tools it wants repeated in headers."""

import asyncio
from contextlib import suppress
from typing import Any, Final

import msgspec

from brimgate.back.mcp.request import messages_in, read_outgoing
from brimgate.back.mcp.response import OverCap, is_event_stream
from brimgate.back.mcp.server import ServerConversation
from brimgate.errors import UpstreamError
from brimgate.http.sse import Event
from brimgate.relay.protocol import message as rpc
from brimgate.relay.protocol.headers import param_headers_of
from brimgate.relay.protocol.message import NOTHING, Message, one_line
from brimgate.relay.protocol.versions import meta_of
from brimgate.wire.framing import TooLong

_ID: Final = "brimgate-list"
_MAX_PAGES: Final = 50
_MAX_TOOLS: Final = 10_000
_LIST_SECONDS: Final = 10.0


class _Tool(msgspec.Struct):
    name: str = ""
    inputSchema: msgspec.Raw = NOTHING  # noqa: N815  # as on the wire


class _Listed(msgspec.Struct):
    tools: list[_Tool] = msgspec.field(default_factory=lambda: [])
    nextCursor: str | None = None  # noqa: N815


def learn_tools(conversation: ServerConversation, result: bytes) -> str:
    """Learn from one page of a list. Return where the next page begins, if there is one."""
    try:
        listed = msgspec.json.decode(result, type=_Listed)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    for tool in listed.tools:
        if len(conversation.tools) < _MAX_TOOLS:
            conversation.tools[tool.name] = param_headers_of(bytes(tool.inputSchema))
    return listed.nextCursor or ""


async def list_tools(conversation: ServerConversation, call: Message, tool: str) -> None:
    """Request the list the same way as the call. Whatever the result, this tool is known afterwards."""
    meta = {key: value for key, value in meta_of(call).items() if key != "progressToken"}
    params: dict[str, Any] = {"_meta": meta}
    with suppress(UpstreamError, ValueError, OverCap, TimeoutError):
        async with asyncio.timeout(_LIST_SECONDS):
            for _ in range(_MAX_PAGES):
                cursor = learn_tools(conversation, await _page(conversation, params))
                if not cursor:
                    break
                params["cursor"] = cursor
    conversation.tools.setdefault(tool, ())


async def _page(conversation: ServerConversation, params: dict[str, Any]) -> bytes:
    request = {"jsonrpc": "2.0", "id": _ID, "method": "tools/list", "params": params}
    response = await conversation.post(read_outgoing(rpc.encode(request)))
    results: list[bytes] = []

    def note(line: bytes) -> None:
        results.extend(bytes(one.result) for one in messages_in(line) if not one.method)

    def note_event(event: Event | TooLong) -> None:
        if isinstance(event, TooLong):
            raise OverCap(event.beginning)
        note(event.data or b"")

    if is_event_stream(response):
        await conversation.ear.follow(response, note_event)
    else:
        note(one_line(await conversation.ear.body(response)))
    return results[0] if results else b""
