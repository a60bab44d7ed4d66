"""A REST API as an MCP server in our own process. To the rest of the code it is a channel like any other."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from brimgate import __version__
from brimgate.back.channel import Line, Listener
from brimgate.back.rest.live_list import last_pointer
from brimgate.errors import ClientError, UpstreamError
from brimgate.hold.live_lists import EVERYTHING, TICKET, ClaimTickets, WholeList, first_items
from brimgate.relay.protocol import message
from brimgate.relay.protocol.server import Json, McpServer, ServerSession, ToolCall

if TYPE_CHECKING:
    from brimgate.back.rest.api import ApiAnswer, RestApi
    from brimgate.back.rest.model import ApiTool

Ending = Callable[[], Awaitable[None]]
Run = Callable[[ToolCall], Coroutine[Any, Any, bytes]]
_log: Final = logging.getLogger("brimgate.rest")
_SMALL_BYTES: Final = 16 << 10


class _DeclaredTool(NamedTuple):
    tool: "ApiTool"
    output_schema: None = None

    def definition(self) -> Json:
        one = self.tool
        told: Json = {"name": one.name, "title": one.title, "description": one.description}
        told |= {"inputSchema": one.input_schema, "annotations": one.annotations}
        return {key: value for key, value in told.items() if value or key == "inputSchema"}


class RestServer:
    """Begins conversations about one API, as many as it is asked for."""

    def __init__(
        self, name: str, api: "RestApi", tickets: ClaimTickets | None, on_end: Ending | None = None
    ) -> None:
        """Create the server.

        `tickets` takes live lists, for those who read page by page; without it they come whole. `on_end` is called
        when a conversation has ended.
        """
        self._name, self._api, self._tickets, self._on_end = name, api, tickets, on_end

    async def connect(self, listener: Listener) -> "RestChannel":
        declared = self._api.api
        tools = {name: _DeclaredTool(tool) for name, tool in declared.tools.items()}
        server = McpServer(self._name, __version__, declared.description, tools, declared.title)
        return RestChannel(self._name, ServerSession(server), self._run, listener, self._on_end)

    async def _run(self, call: ToolCall) -> bytes:
        try:
            return call.finish(await self._result(await self._api.run(call.name, call.arguments)))
        except (ClientError, UpstreamError) as error:
            return call.finish({"content": [_text(str(error))], "isError": True})
        except Exception:  # noqa: BLE001  # the call is answered, and the session continues
            _log.exception("the call of %s failed", call.name)
            return call.fail(message.INTERNAL_ERROR, "Brimgate failed on this call; its log says why")

    async def _result(self, answer: "ApiAnswer") -> Json:
        live_list, body = answer.live_list, answer.body
        is_reduced = live_list is not None or len(body) > _SMALL_BYTES or answer.page
        if self._tickets is not None and is_reduced:
            # The answer does not travel through JSON-RPC: whoever takes the ticket reads it in place.
            ticket = self._tickets.give(live_list or _whole(body, answer.page))
            return {"content": [_text("")], "_meta": {TICKET: ticket}}
        if live_list is not None or answer.page:
            whole = live_list or _whole(body, answer.page)
            await whole.reach(answer.page or EVERYTHING)
            body = first_items(whole, answer.page or EVERYTHING)
        return {"content": [_text(body.decode("utf-8", "replace"))]}


def _whole(body: bytes, page: int) -> WholeList:
    return WholeList(body, page=page, pointer=last_pointer(body)) if page else WholeList(body)


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


class _Cancelled(msgspec.Struct):
    requestId: msgspec.Raw = message.NOTHING  # noqa: N815  # as the protocol spells it


class _Notification(msgspec.Struct):
    method: str = ""
    params: _Cancelled = msgspec.field(default_factory=_Cancelled)


def _cancelled_id(line: Line) -> str | int | None:
    """Return the id of the request that a message cancels, if it is a cancellation."""
    with suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        told = msgspec.json.decode(line, type=_Notification)
        if told.method == "notifications/cancelled":
            return msgspec.json.decode(told.params.requestId, type=str | int)
    return None


class RestChannel:
    """One conversation: messages are taken in order, calls run in parallel."""

    def __init__(
        self, name: str, session: ServerSession, run: Run, listener: Listener, on_end: Ending | None
    ) -> None:
        self._name, self._session, self._run = name, session, run
        self._listener, self._on_end = listener, on_end
        self._going_on = asyncio.Event()
        self._going_on.set()
        self._backlog: asyncio.Queue[bytes] = asyncio.Queue()
        self._calls: dict[str | int, asyncio.Task[None]] = {}
        self._taking = asyncio.ensure_future(self._take())

    @property
    def is_stuck(self) -> bool:
        return False

    def send(self, line: Line) -> None:
        """Take one message, or a batch, which is answered message by message."""
        if bytes(line[:100]).lstrip()[:1] != b"[":
            self._backlog.put_nowait(bytes(line))
            return
        with suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            for one in msgspec.json.decode(line, type=list[msgspec.Raw]):
                self._backlog.put_nowait(bytes(one))

    def pause(self) -> None:
        self._going_on.clear()

    def resume(self) -> None:
        self._going_on.set()

    async def end(self, grace_seconds: float) -> None:
        if self._calls:
            await asyncio.wait(self._calls.values(), timeout=grace_seconds)
        going = [self._taking, *self._calls.values()]
        for task in going:
            task.cancel()
        await asyncio.wait(going)
        if self._on_end is not None:
            await self._on_end()

    async def _take(self) -> None:
        while True:
            line = await self._backlog.get()
            await self._going_on.wait()  # a client that does not read gets no more work done
            received = self._session.receive(line)
            if isinstance(received, ToolCall):
                self._start(received)
            elif received is not None:
                self._listener.on_line(received)
            else:
                self._cancel(_cancelled_id(line))

    def _start(self, call: ToolCall) -> None:
        task = asyncio.ensure_future(self._answer(call))
        self._calls[call.id] = task
        task.add_done_callback(lambda done: self._forget(call.id, done))

    def _forget(self, number: str | int, done: "asyncio.Task[None]") -> None:
        if self._calls.get(number) is done:
            del self._calls[number]

    async def _answer(self, call: ToolCall) -> None:
        answer = await self._run(call)
        await self._going_on.wait()
        self._listener.on_line(answer)

    def _cancel(self, number: str | int | None) -> None:
        task = None if number is None else self._calls.get(number)
        if task is not None:
            task.cancel()
