"""A REST API as an MCP server in our own process, on the official SDK. Whoever talks to it sees a channel as any other."""

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import msgspec

from brimgate import __version__
from brimgate.back.channel import Line, Listener
from brimgate.errors import ClientError, OperatorError, UpstreamError
from brimgate.hold.live_lists import EVERYTHING, TICKET, ClaimTickets, WholeList

if TYPE_CHECKING:
    from brimgate.back.rest.api import ApiAnswer, RestApi

try:
    import mcp_types as types
    from anyio import ClosedResourceError
    from mcp.server.lowlevel import Server
    from mcp.shared._context_streams import create_context_streams
    from mcp.shared.exceptions import MCPError
    from mcp.shared.message import SessionMessage
except ImportError as error:
    raise OperatorError("a REST API as MCP tools needs the MCP SDK: pip install 'brimgate[rest]'") from error

Ending = Callable[[], Awaitable[None]]
_INVALID_REQUEST: Final = -32600
_INVALID_PARAMS: Final = -32602
_INTERNAL_ERROR: Final = -32603
_log: Final = logging.getLogger("brimgate.rest")
_SMALL_BYTES: Final = 16 << 10


class RestServer:
    """Begins as many conversations about one API as it is asked for."""

    def __init__(
        self, name: str, api: "RestApi", tickets: ClaimTickets | None, on_end: Ending | None = None
    ) -> None:
        """`handover`: takes lists that go on upstream, for those who read page by page; without it they come whole.
        `on_end`: what is done when a conversation has ended."""
        self._name, self._api, self._tickets, self._on_end = name, api, tickets, on_end

    async def connect(self, listener: Listener) -> "RestChannel":
        server: Server[dict[str, Any]] = Server(
            self._name,
            version=__version__,
            title=self._api.api.title or None,
            instructions=self._api.api.description or None,
            on_list_tools=self._list,
            on_call_tool=self._call,
        )
        return RestChannel(self._name, server, listener, self._on_end)

    async def _list(self, _: Any, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=tool.name,
                    title=tool.title or None,
                    description=tool.description,
                    input_schema=tool.input_schema,
                    annotations=types.ToolAnnotations.model_validate(tool.annotations),
                )
                for tool in self._api.api.tools.values()
            ]
        )

    async def _call(self, _: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name not in self._api.api.tools:
            raise MCPError(_INVALID_PARAMS, f"Unknown tool: {params.name[:100]}")
        try:
            return await self._told(await self._api.run(params.name, params.arguments or {}))
        except (ClientError, UpstreamError) as error:
            return types.CallToolResult(content=[_text(str(error))], is_error=True)
        except Exception:  # noqa: BLE001  # the SDK would tell the client what it says
            _log.exception("the call of %s failed", params.name)
            raise MCPError(_INTERNAL_ERROR, "Brimgate failed on this call; its log says why") from None

    async def _told(self, answer: "ApiAnswer") -> types.CallToolResult:
        live_list, body = answer.live_list, answer.body
        if self._tickets is not None and (live_list is not None or len(body) > _SMALL_BYTES):
            # It does not travel through JSON-RPC: whoever takes it over reads it where it is.
            token = self._tickets.give(live_list or WholeList(body))
            return types.CallToolResult(content=[_text("")], _meta={TICKET: token})
        if live_list is not None:
            await live_list.reach(EVERYTHING)
            body = live_list.data
        return types.CallToolResult(content=[_text(body.decode("utf-8", "replace"))])


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)


class _Asked(msgspec.Struct):
    id: msgspec.Raw = msgspec.Raw()
    method: str = ""


def _refusal(line: Line) -> bytes:
    """The answer to a request that cannot be read; nothing for what asks for none."""
    try:
        asked = msgspec.json.decode(line, type=_Asked)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return b""
    if not asked.method or bytes(asked.id) in (b"", b"null"):
        return b""
    text = "the request cannot be read: is its id a text or an integer, and what it holds of usual size and depth?"
    error = {"code": _INVALID_REQUEST, "message": text}
    return msgspec.json.encode({"jsonrpc": "2.0", "id": asked.id, "error": error})


class RestChannel:
    """One conversation: lines in, lines out, the SDK between them."""

    def __init__(
        self, name: str, server: "Server[dict[str, Any]]", listener: Listener, on_end: Ending | None
    ) -> None:
        self._name, self._listener, self._on_end = name, listener, on_end
        self._sent, heard = create_context_streams[SessionMessage | Exception](math.inf)
        said, self._said = create_context_streams[SessionMessage](math.inf)
        run: Callable[[], Awaitable[None]] = lambda: server.run(  # noqa: E731  # typed, which a def would repeat
            heard, said, server.create_initialization_options()
        )
        self._going_on = asyncio.Event()
        self._going_on.set()
        self._backlog: asyncio.Queue[SessionMessage] = asyncio.Queue()
        self._tasks = [asyncio.ensure_future(work) for work in (self._serve(run), self._feed(), self._tell())]

    @property
    def is_stuck(self) -> bool:
        return False

    def send(self, line: Line) -> None:
        """One message, or a batch of them, of which the SDK knows nothing: its messages one by one."""
        if bytes(line[:100]).lstrip()[:1] != b"[":
            self._send(line)
            return
        with suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            for one in msgspec.json.decode(line, type=list[msgspec.Raw]):
                self._send(bytes(one))

    def _send(self, line: Line) -> None:
        message: types.JSONRPCMessage | None = None
        with suppress(ValueError):
            message = types.jsonrpc_message_adapter.validate_json(bytes(line), by_name=False)
        # The SDK is stricter than we are, such as about depth and ids: it would drop what it cannot read, or take it for
        # a notification, and whoever asked would wait for ever.
        is_heard = message is not None and not isinstance(message, types.JSONRPCNotification)
        refusal = b"" if is_heard else _refusal(line)
        if refusal:
            asyncio.get_running_loop().call_soon(self._listener.on_line, refusal)
        elif message is not None:
            self._backlog.put_nowait(SessionMessage(message))

    def pause(self) -> None:
        self._going_on.clear()

    def resume(self) -> None:
        self._going_on.set()

    async def end(self, grace_seconds: float) -> None:
        self._sent.close()
        serving, *others = self._tasks
        with suppress(TimeoutError, asyncio.CancelledError):
            await asyncio.wait_for(asyncio.shield(serving), grace_seconds)
        for task in (serving, *others):
            task.cancel()
        await asyncio.wait(self._tasks)
        if self._on_end is not None:
            await self._on_end()

    async def _serve(self, run: Callable[[], Awaitable[None]]) -> None:
        reason = "ended"
        try:
            await run()
        except Exception as error:  # noqa: BLE001  # whatever the SDK fails on, the session hears of it
            reason = f"failed: {type(error).__name__}"
        self._listener.on_lost(self, f"the upstream {self._name} {reason}")

    async def _feed(self) -> None:
        """In the order in which it was sent; the streams of the SDK can only be awaited."""
        with suppress(ClosedResourceError):
            while True:
                await self._going_on.wait()  # who does not listen is not asked for more either
                await self._sent.send(await self._backlog.get())

    async def _tell(self) -> None:
        async for said in self._said:
            await self._going_on.wait()
            self._listener.on_line(
                said.message.model_dump_json(by_alias=True, exclude_unset=True).encode("utf-8", "replace")
            )
