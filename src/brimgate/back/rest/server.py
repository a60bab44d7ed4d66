"""A REST API as an MCP server in our own process. To the rest of the code it is a channel like any other."""

import asyncio
import logging
from base64 import b64encode
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote

import msgspec

from brimgate import __version__
from brimgate.back.channel import Line, Listener
from brimgate.back.rest.confirmation import (
    METHOD,
    Ask,
    can_ask,
    given_answer,
    input_required,
    is_confirmed,
    question,
)
from brimgate.back.rest.live_list import last_pointer
from brimgate.engine import jsontext
from brimgate.errors import ClientError, UpstreamError
from brimgate.hold.live_lists import (
    EVERYTHING,
    TICKET,
    ClaimTickets,
    LiveList,
    WholeList,
    count_items,
    first_items,
)
from brimgate.relay.protocol import message
from brimgate.relay.protocol.server import Json, McpServer, ServerSession, ToolCall

if TYPE_CHECKING:
    from brimgate.back.rest.api import ApiAnswer, RestApi
    from brimgate.back.rest.model import ApiTool

Ending = Callable[[], Awaitable[None]]
Run = Callable[[ToolCall, Ask], Coroutine[Any, Any, bytes]]
_log: Final = logging.getLogger("brimgate.rest")
_SMALL_BYTES: Final = 16 << 10
_USER_SECONDS: Final = 300.0
"""How long a user may take to answer."""
_QUESTION: Final = "brimgate-question-"
_TEXT_KINDS: Final = frozenset(("application/json", "application/xml", "application/yaml", "application/csv"))
_DECLINED: Final = "not done: the user did not agree. Do not call it again unless the user asks for it"


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

    async def _run(self, call: ToolCall, ask: Ask) -> bytes:
        try:
            tool = self._api.api.tools[call.name]
            if tool.is_destructive and can_ask(call):
                if call.is_modern and not given_answer(call):
                    return call.finish(input_required(tool, self._api.api.title, call))
                if not is_confirmed(await self._answer_of_user(tool, call, ask)):
                    return call.finish({"content": [_text(_DECLINED)], "isError": True})
            return call.finish(await self._result(await self._api.run(call.name, call.arguments)))
        except (ClientError, UpstreamError) as error:
            return call.finish({"content": [_text(str(error))], "isError": True})
        except Exception:  # noqa: BLE001  # the call is answered, and the session continues
            _log.exception("the call of %s failed", call.name)
            return call.fail(message.INTERNAL_ERROR, "Brimgate failed on this call; its log says why")

    async def _answer_of_user(self, tool: "ApiTool", call: ToolCall, ask: Ask) -> Any:
        if call.is_modern:
            return given_answer(call)
        return await ask(METHOD, question(tool, self._api.api.title, call))

    async def _result(self, answer: "ApiAnswer") -> Json:
        live_list, body = answer.live_list, answer.body
        if answer.is_file and (block := _file_block(answer)) is not None:
            return {"content": [block]}
        is_reduced = live_list is not None or len(body) > _SMALL_BYTES or answer.page
        if self._tickets is not None and is_reduced:
            # The answer does not travel through JSON-RPC: whoever takes the ticket reads it in place.
            ticket = self._tickets.give(live_list or _whole(body, answer.page))
            return {"content": [_text("")], "_meta": {TICKET: ticket}}
        if live_list is not None or answer.page:
            whole = live_list or _whole(body, answer.page)
            await whole.reach(answer.page or EVERYTHING)
            body = first_items(whole, answer.page or EVERYTHING)
            if answer.page and (len(body) < len(whole.data) or not whole.state().is_complete):
                body = _with_total(body, whole)
        return {"content": [_text(body.decode("utf-8", "replace"))]}


def _with_total(body: bytes, whole: LiveList) -> bytes:
    """Say in a page how many there are in all: whoever gets it has no cursor that would tell."""
    if not body.startswith(b'{"') or body.startswith(b'{"meta"'):
        return body
    state = whole.state()
    total = state.total or count_items(whole)
    told = {"totalCount": total} if state.is_total_known else {"hasMore": True}
    return b'{"meta":' + msgspec.json.encode(told) + b"," + body[1:]


def _whole(body: bytes, page: int) -> WholeList:
    return WholeList(body, page=page, pointer=last_pointer(body)) if page else WholeList(body)


def _file_block(answer: "ApiAnswer") -> Json | None:
    """Return a file as the content block of its kind; None for text, which is bounded like any other."""
    kind = answer.content_type
    if (kind.startswith("text/") or kind in _TEXT_KINDS) and jsontext.is_utf8(answer.body):
        return None
    data = b64encode(answer.body).decode("ascii")
    family = kind.partition("/")[0]
    if family in ("image", "audio"):
        return {"type": family, "data": data, "mimeType": kind}
    uri = f"attachment:///{quote(answer.file_name or 'file')}"
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "blob": data}}


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


class _Cancelled(msgspec.Struct):
    requestId: msgspec.Raw = message.NOTHING  # noqa: N815  # as the protocol spells it


class _Notification(msgspec.Struct):
    method: str = ""
    params: _Cancelled = msgspec.field(default_factory=_Cancelled)


class _ClientAnswer(msgspec.Struct):
    id: Any = None
    result: Any = None


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
        self._questions: dict[str, asyncio.Future[Any]] = {}
        """Requests to the client that it has not answered yet."""
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
            elif not self._take_answer(line):
                self._cancel(_cancelled_id(line))

    def _start(self, call: ToolCall) -> None:
        task = asyncio.ensure_future(self._answer(call))
        self._calls[call.id] = task
        task.add_done_callback(lambda done: self._forget(call.id, done))

    def _forget(self, number: str | int, done: "asyncio.Task[None]") -> None:
        if self._calls.get(number) is done:
            del self._calls[number]

    async def _answer(self, call: ToolCall) -> None:
        answer = await self._run(call, self._ask)
        await self._going_on.wait()
        self._listener.on_line(answer)

    async def _ask(self, method: str, params: Json) -> Any:
        """Ask the client, and wait for its user. Return the result, or None if there is none."""
        number = f"{_QUESTION}{token_hex(8)}"
        answer = self._questions[number] = asyncio.get_running_loop().create_future()
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self._listener.on_line(msgspec.json.encode(request))
        try:
            async with asyncio.timeout(_USER_SECONDS):
                return await answer
        except TimeoutError:
            return None
        finally:
            del self._questions[number]

    def _take_answer(self, line: Line) -> bool:
        """Hand the answer of the client to whoever has asked. Return whether it was one."""
        with suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            told = msgspec.json.decode(line, type=_ClientAnswer)
            asked = self._questions.get(told.id) if isinstance(told.id, str) else None
            if asked is not None and not asked.done():
                asked.set_result(told.result)
                return True
        return False

    def _cancel(self, number: str | int | None) -> None:
        task = None if number is None else self._calls.get(number)
        if task is not None:
            task.cancel()
