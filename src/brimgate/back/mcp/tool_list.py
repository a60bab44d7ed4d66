"""Learn from a server's own list which arguments of which tools it wants repeated in headers."""

import asyncio
from contextlib import suppress
from typing import Any, Final

import msgspec

from brimgate.back.mcp.request import read_outgoing
from brimgate.back.mcp.response import OverCap, is_event_stream
from brimgate.back.mcp.server import ServerConversation
from brimgate.errors import UpstreamError
from brimgate.http.sse import Event
from brimgate.relay.protocol.client import LIST_SECONDS, MAX_LIST_PAGES, list_params, read_tool_page, request
from brimgate.relay.protocol.headers import param_headers_of
from brimgate.relay.protocol.message import NOTHING, Message, messages_in, one_line
from brimgate.relay.protocol.versions import meta_of
from brimgate.wire.framing import TooLong

_ID: Final = "brimgate-list"
_MAX_TOOLS: Final = 10_000


class _Tool(msgspec.Struct):
    name: str = ""
    inputSchema: msgspec.Raw = NOTHING  # noqa: N815  # as on the wire


def learn_tools(conversation: ServerConversation, result: bytes) -> str:
    """Learn from one page of a list. Return where the next page begins, if there is one."""
    listed = read_tool_page(result)
    for raw in listed.tools:
        if len(conversation.tools) < _MAX_TOOLS:
            tool = _read_tool(raw)
            if tool.name:
                conversation.tools[tool.name] = param_headers_of(bytes(tool.inputSchema))
    return listed.nextCursor or ""


def _read_tool(raw: bytes) -> _Tool:
    try:
        return msgspec.json.decode(raw, type=_Tool)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _Tool()


async def list_tools(conversation: ServerConversation, call: Message, tool: str) -> None:
    """Request the list the same way as the call. Whatever the result, this tool is known afterwards."""
    meta, cursor = meta_of(call), ""
    with suppress(UpstreamError, ValueError, OverCap, TimeoutError):
        async with asyncio.timeout(LIST_SECONDS):
            for _ in range(MAX_LIST_PAGES):
                cursor = learn_tools(conversation, await _page(conversation, list_params(meta, cursor)))
                if not cursor:
                    break
    conversation.tools.setdefault(tool, ())


async def _page(conversation: ServerConversation, params: dict[str, Any]) -> bytes:
    response = await conversation.post(read_outgoing(request(_ID, "tools/list", params)))
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
