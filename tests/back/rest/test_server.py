"""A REST API as an MCP server: what it answers is what a server on the official SDK answers, and calls can be left."""

import asyncio
import itertools
import json
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

import anyio
import mcp_types as types
import pytest
from mcp.server.lowlevel import Server as SdkServer
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage

from brimgate import __version__
from brimgate.back.channel import Line, Listener
from brimgate.back.rest.api import RestApi
from brimgate.back.rest.declaration import read_api
from brimgate.back.rest.server import RestServer
from brimgate.errors import ClientError, UpstreamError
from tests.back.rest.listing_server import respond
from tests.back.scripted import Peer, Server

PATIENCE = 20.0
Json = dict[str, Any]
DECLARED = b"""
name: toy
title: Toy
description: A toy API.
base_url: http://127.0.0.1:9
tools:
  get_thing:
    title: Thing
    description: Gets a thing.
    path: /things/{thing_id}
    parameters:
      thing_id: {schema: {type: integer}}
    answer: {item: /result}
"""

# Messages

VERSION = "io.modelcontextprotocol/protocolVersion"
META: Json = {
    VERSION: "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
}
READY: Json = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def request(key: Any, method: str, params: Any = None) -> Json:
    message = {"jsonrpc": "2.0", "id": key, "method": method}
    return message if params is None else message | {"params": params}


def hello(version: Any = "2025-11-25", key: int = 0, **more: Any) -> Json:
    who = {"name": "t", "version": "1"}
    return request(
        key, "initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": who} | more
    )


def modern(key: Any, method: str, params: Json | None = None, meta: Json | None = None) -> Json:
    return request(key, method, (params or {}) | {"_meta": META if meta is None else meta})


def thing(key: Any, number: Any, **more: Any) -> Json:
    return request(key, "tools/call", {"name": "get_thing", "arguments": {"thing_id": number}} | more)


def cancelled(key: Any) -> Json:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": key}}


# Both servers, behind the same API


class Channel(Protocol):
    def send(self, line: Line) -> None: ...
    def pause(self) -> None: ...
    def resume(self) -> None: ...
    async def end(self, grace_seconds: float) -> None: ...


class SdkChannel:
    """A server on the official SDK, as its own stdio transport would drive it."""

    def __init__(self, api: RestApi, listener: Listener) -> None:
        self._api, self._listener = api, listener
        server: SdkServer[Any] = SdkServer(
            "toy",
            version=__version__,
            title=api.api.title,
            instructions=api.api.description,
            on_list_tools=self._list,
            on_call_tool=self._call,
        )
        self._sent, heard = anyio.create_memory_object_stream[SessionMessage | Exception](math.inf)
        said, self._said = anyio.create_memory_object_stream[SessionMessage](math.inf)
        running = server.run(heard, said, server.create_initialization_options())
        self._tasks = [asyncio.ensure_future(running), asyncio.ensure_future(self._tell())]

    async def _list(self, _: Any, __: Any) -> types.ListToolsResult:
        [tool] = self._api.api.tools.values()
        told = {"name": tool.name, "title": tool.title, "description": tool.description}
        told |= {"inputSchema": tool.input_schema, "annotations": tool.annotations}
        return types.ListToolsResult(tools=[types.Tool.model_validate(told)])

    async def _call(self, _: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name not in self._api.api.tools:
            raise MCPError(-32602, f"Unknown tool: {params.name}")
        try:
            body = (await self._api.run(params.name, params.arguments or {})).body
        except (ClientError, UpstreamError) as error:
            return types.CallToolResult(
                content=[types.TextContent(type="text", text=str(error))], is_error=True
            )
        return types.CallToolResult(content=[types.TextContent(type="text", text=body.decode())])

    def send(self, line: Line) -> None:
        try:
            message = types.jsonrpc_message_adapter.validate_json(bytes(line), by_name=False)
        except ValueError as error:
            self._sent.send_nowait(error)
        else:
            self._sent.send_nowait(SessionMessage(message))

    def pause(self) -> None: ...
    def resume(self) -> None: ...

    async def _tell(self) -> None:
        async for said in self._said:
            self._listener.on_line(said.message.model_dump_json(by_alias=True, exclude_unset=True).encode())

    async def end(self, grace_seconds: float) -> None:
        self._sent.close()
        await asyncio.wait(self._tasks, timeout=grace_seconds)
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)
        self._said.close()


@dataclass
class Talk:
    """One conversation, and what was answered in it."""

    channel: Channel
    said: asyncio.Queue[Json]
    _barriers: Any = field(default_factory=lambda: map("barrier {}".format, itertools.count()))

    def send(self, message: Json | list[Json] | bytes) -> None:
        self.channel.send(message if isinstance(message, bytes) else json.dumps(message).encode())

    async def next(self) -> Json:
        async with asyncio.timeout(PATIENCE):
            return await self.said.get()

    async def ask(self, message: Json) -> Json:
        self.send(message)
        return await self.next()

    async def until_quiet(self, *expected: Any) -> list[Json]:
        """Return what is answered until all of the expected ids are, and a ping that was sent afterwards."""
        answers: list[Json] = []
        missing = list(expected)
        while missing:
            answers.append(await self.next())
            with suppress(ValueError):
                missing.remove(answers[-1].get("id"))
        barrier = next(self._barriers)
        self.send(request(barrier, "ping"))
        while (answer := await self.next()).get("id") != barrier:
            answers.append(answer)
        return answers


Connect = Callable[[RestApi, Listener], Awaitable[Channel]]


async def connect_ours(api: RestApi, listener: Listener) -> Channel:
    return await RestServer("toy", api, None).connect(listener)


async def connect_sdk(api: RestApi, listener: Listener) -> Channel:
    return SdkChannel(api, listener)


def listening(said: asyncio.Queue[Json]) -> Listener:
    return Listener(
        on_line=lambda line: said.put_nowait(json.loads(line)),
        on_failed=lambda _, __, ___: None,
        on_too_long=lambda _: None,
        on_lost=lambda _, __: None,
        on_pressure=lambda _: None,
        on_chatter=lambda _: None,
    )


@asynccontextmanager
async def talking(url: str, connect: Connect = connect_ours) -> AsyncIterator[Talk]:
    api = RestApi(read_api(DECLARED, "toy.yaml"), base_url=url, variables={})
    said: asyncio.Queue[Json] = asyncio.Queue()
    channel = await connect(api, listening(said))
    try:
        yield Talk(channel, said)
    finally:
        await channel.end(0)
        await api.close()


async def tell_things(peer: Peer) -> None:
    """The API: each thing has its number."""
    while True:
        head, _ = await peer.request()
        number = head.split()[1].rpartition(b"/")[2]
        if number == b"404":
            await peer.say(respond(b'{"message": "no such thing"}', "404 Not Found"))
        else:
            await peer.say(respond(b'{"result": {"number": %s, "name": "gr\\u00f6\\u00dfe"}}' % number))


# The SDK as the oracle

INFO_LESS = {key: value for key, value in META.items() if not key.endswith("clientInfo")}
MET = [hello(), READY]
CASES: Mapping[str, list[Json | list[Json] | bytes]] = {
    **{
        f"initialize with {version}": [hello(version)]
        for version in (
            "2024-11-05",
            "2025-03-26",
            "2025-06-18",
            "2025-11-25",
            "2026-07-28",
            "2030-01-01",
            "x",
        )
    },
    "initialize without params": [request(1, "initialize")],
    "initialize with a version that is a number": [hello(5)],
    "initialize without clientInfo": [
        request(1, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}})
    ],
    "initialize with _meta": [hello(key=1, _meta=META)],
    "initialize twice": [*MET, hello(key=7)],
    "tools/list": [*MET, request(1, "tools/list")],
    "tools/list before initialize": [request(1, "tools/list")],
    "tools/list before initialized": [hello(), request(1, "tools/list")],
    "tools/list with a null cursor": [*MET, request(1, "tools/list", {"cursor": None})],
    "tools/list with a cursor": [*MET, request(1, "tools/list", {"cursor": "x"})],
    "tools/list with a cursor that is a number": [*MET, request(1, "tools/list", {"cursor": 5})],
    "ping": [*MET, request("a", "ping")],
    "ping first": [request("a", "ping")],
    "unknown method": [*MET, request(1, "foo/bar")],
    "unknown method first": [request(1, "foo/bar")],
    "resources/list": [*MET, request(1, "resources/list")],
    "prompts/get": [*MET, request(1, "prompts/get", {"name": "x"})],
    "logging/setLevel": [*MET, request(1, "logging/setLevel", {"level": "info"})],
    "completion/complete": [
        *MET,
        request(
            1,
            "completion/complete",
            {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a", "value": "b"}},
        ),
    ],
    "tasks/list": [*MET, request(1, "tasks/list")],
    "call": [*MET, thing(1, 7)],
    "call with an id that is a text": [*MET, thing("größe", 7)],
    "call before initialize": [thing(1, 7)],
    "call that the API refuses": [*MET, thing(1, 404)],
    "call with arguments of the wrong type": [*MET, thing(1, "abc")],
    "call without arguments": [*MET, request(1, "tools/call", {"name": "get_thing"})],
    "call with null arguments": [*MET, request(1, "tools/call", {"name": "get_thing", "arguments": None})],
    "call with a list of arguments": [*MET, request(1, "tools/call", {"name": "get_thing", "arguments": []})],
    "call of an unknown tool": [*MET, request(1, "tools/call", {"name": "nope", "arguments": {}})],
    "call without a name": [*MET, request(1, "tools/call", {"arguments": {}})],
    "call without params": [*MET, request(1, "tools/call")],
    "call with a progress token": [*MET, thing(1, 7, _meta={"progressToken": 5})],
    "call as a task": [*MET, thing(1, 7, task={"ttl": 5})],
    "unknown notification": [*MET, {"jsonrpc": "2.0", "method": "foo"}],
    "answer to nothing": [*MET, {"jsonrpc": "2.0", "id": 4, "result": {}}],
    "cancellation of nothing": [*MET, cancelled(99)],
    "params that are a list": [*MET, request(1, "tools/list", [])],
    "id that is null": [*MET, request(None, "ping")],
    "id that is a fraction": [*MET, request(1.5, "ping")],
    "id that is true": [*MET, request(True, "ping")],
    "no jsonrpc": [*MET, {"id": 1, "method": "ping"}],
    "broken JSON": [*MET, b"{not json"],
    "batch": [*MET, [request(1, "ping"), request(2, "tools/list")]],
    "server/discover": [modern(1, "server/discover")],
    "server/discover, then tools/list": [modern(1, "server/discover"), modern(2, "tools/list")],
    "modern tools/list": [modern(1, "tools/list")],
    "modern ping": [modern(1, "ping")],
    "modern unknown method": [modern(1, "foo/bar")],
    "modern call": [modern(1, "tools/call", {"name": "get_thing", "arguments": {"thing_id": 7}})],
    "modern call that the API refuses": [
        modern(1, "tools/call", {"name": "get_thing", "arguments": {"thing_id": 404}})
    ],
    "modern call of an unknown tool": [modern(1, "tools/call", {"name": "nope", "arguments": {}})],
    "subscriptions/listen": [
        modern(1, "subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    ],
    "subscriptions/listen to nothing": [modern(1, "subscriptions/listen", {"notifications": {}})],
    "modern with an unknown version": [modern(1, "tools/list", meta=META | {VERSION: "2099-01-01"})],
    "modern with an older version": [modern(1, "tools/list", meta=META | {VERSION: "2025-11-25"})],
    "modern without capabilities": [modern(1, "tools/list", meta={VERSION: "2026-07-28"})],
    "modern without clientInfo": [modern(1, "tools/list", meta=INFO_LESS)],
    "modern, then initialize": [modern(1, "server/discover"), hello(key=2)],
    "modern, then without _meta": [modern(1, "server/discover"), request(2, "tools/list")],
    "handshake, then modern": [*MET, modern(2, "tools/list")],
    "handshake, then server/discover": [*MET, modern(2, "server/discover")],
}

SILENT = "silence"
UNREADABLE = "the SDK cannot read it and is silent: whoever asked would wait for ever"
DIFFERENT: Mapping[str, tuple[list[Any], list[Any], str]] = {
    "tools/list with a cursor": (
        [-32602], ["result"], "a cursor that nobody issued is invalid, says the specification"
    ),
    "initialize without clientInfo": (
        ["result"], [-32602], "clients that leave it out exist, and we need nothing of it"
    ),
    "params that are a list": ([-32602], [SILENT], UNREADABLE),
    "id that is null": ([-32600], [SILENT], UNREADABLE),
    "id that is a fraction": ([-32600], [SILENT], UNREADABLE),
    "id that is true": ([-32600], [SILENT], UNREADABLE),
    "no jsonrpc": ([-32600], [SILENT], UNREADABLE),
    "broken JSON": ([-32700], [SILENT], UNREADABLE),
    "batch": (["result", "result"], [SILENT], "the revision 2025-03-26 has batches, the SDK does not"),
}  # fmt: skip
"""The cases in which we differ from the SDK: how each answers what comes after the handshake, and why."""


def asked_ids(message: Json | list[Json] | bytes) -> list[Any]:
    """Return the ids that have to be answered: of what cannot be read, null is."""
    if isinstance(message, bytes):
        return [None]
    if isinstance(message, list):
        return [key for one in message for key in asked_ids(one)]
    return [message["id"]] if "id" in message and "method" in message else []


async def answers_to(case: str, url: str, connect: Connect) -> list[Json]:
    """Return the answers of all messages, in their order."""
    is_silent = connect is connect_sdk and case in DIFFERENT and DIFFERENT[case][1] == [SILENT]
    async with talking(url, connect) as talk:
        answers: list[Json] = []
        *first, last = CASES[case]
        for message in first:
            talk.send(message)
            answers += await talk.until_quiet(*asked_ids(message))
        talk.send(last)
        told = await talk.until_quiet(*([] if is_silent else asked_ids(last)))
        return answers + sorted(told, key=lambda answer: str(answer.get("id")))


def compared(answer: Json) -> Json:
    """Results are compared as they are, errors by their code: everyone words them in their own way.

    The SDK writes `"isError": false`, which says what its absence says: the specification has it so. We leave it out.
    """
    if "error" in answer:
        return answer | {"error": answer["error"]["code"]}
    result = answer["result"]
    told = {key: value for key, value in result.items() if (key, value) != ("isError", False)}
    return answer | {"result": told}


def kind(answer: Json) -> Any:
    return "result" if "result" in answer else answer["error"]["code"]


@pytest.mark.parametrize("case", [case for case in CASES if case not in DIFFERENT])
def test_it_answers_as_a_server_on_the_sdk_does(case: str) -> None:
    async def main() -> None:
        async with Server(tell_things) as api:
            ours = await answers_to(case, api.url, connect_ours)
            theirs = await answers_to(case, api.url, connect_sdk)
        assert [compared(answer) for answer in ours] == [compared(answer) for answer in theirs]

    asyncio.run(main())


@pytest.mark.parametrize("case", DIFFERENT)
def test_where_it_differs_from_the_sdk_it_is_meant_to(case: str) -> None:
    handshake = sum(len(asked_ids(message)) for message in CASES[case][:-1])

    async def main() -> None:
        async with Server(tell_things) as api:
            ours = await answers_to(case, api.url, connect_ours)
            theirs = await answers_to(case, api.url, connect_sdk)
        assert ours[:handshake] == theirs[:handshake]
        kinds = [[kind(answer) for answer in answers[handshake:]] or [SILENT] for answers in (ours, theirs)]
        assert kinds == list(DIFFERENT[case][:2]), DIFFERENT[case][2]
        keys = [key if isinstance(key, str | int | float) else None for key in asked_ids(CASES[case][-1])]
        assert [answer["id"] for answer in ours[handshake:]] == keys

    asyncio.run(main())


# Calls that take their time


class SlowApi:
    """An API that answers when it is told to, and knows who asks and who has left."""

    def __init__(self) -> None:
        self.asked: asyncio.Queue[int] = asyncio.Queue()
        self.left: asyncio.Queue[int] = asyncio.Queue()
        self._may_answer: dict[int, asyncio.Event] = {}

    def answer(self, number: int) -> None:
        self._may_answer.setdefault(number, asyncio.Event()).set()

    async def serve(self, peer: Peer) -> None:
        while True:
            head, _ = await peer.request()
            number = int(head.split()[1].rpartition(b"/")[2])
            self.asked.put_nowait(number)
            told = self._may_answer.setdefault(number, asyncio.Event())
            leaving, answering = asyncio.ensure_future(peer.is_left()), asyncio.ensure_future(told.wait())
            done, waiting = await asyncio.wait([leaving, answering], return_when=asyncio.FIRST_COMPLETED)
            for task in waiting:
                task.cancel()
            await asyncio.wait([leaving, answering])
            if leaving in done:
                self.left.put_nowait(number)
                return
            await peer.say(respond(b'{"result": {"number": %d}}' % number))

    async def next_asked(self) -> int:
        async with asyncio.timeout(PATIENCE):
            return await self.asked.get()

    async def next_left(self) -> int:
        async with asyncio.timeout(PATIENCE):
            return await self.left.get()


Scene = Callable[[Talk, SlowApi, str], Awaitable[None]]


def play(scene: Scene) -> None:
    """A conversation that has begun, with a slow API."""

    async def main() -> None:
        slow = SlowApi()
        async with Server(slow.serve) as api, talking(api.url) as talk:
            await talk.ask(hello())
            talk.send(READY)
            await scene(talk, slow, api.url)

    asyncio.run(main())


def number_in(answer: Json) -> int:
    return json.loads(answer["result"]["content"][0]["text"])["number"]


def test_a_call_that_is_cancelled_leaves_the_api_and_is_not_answered() -> None:
    async def scene(talk: Talk, slow: SlowApi, _: str) -> None:
        talk.send(thing("x", 1))
        assert await slow.next_asked() == 1
        talk.send(cancelled("y"))
        assert await talk.until_quiet() == [], "the cancellation of another changes nothing"
        assert slow.left.empty()
        talk.send(cancelled("x"))
        assert await slow.next_left() == 1
        assert await talk.until_quiet() == []
        slow.answer(2)
        assert number_in(await talk.ask(thing("x", 2))) == 2, "its id may be used again"

    play(scene)


def test_calls_run_side_by_side_and_are_answered_as_they_end() -> None:
    async def scene(talk: Talk, slow: SlowApi, _: str) -> None:
        for number in (1, 2, 3):
            talk.send(thing(number, number))
        assert {await slow.next_asked() for _ in range(3)} == {1, 2, 3}
        for number in (2, 3, 1):
            slow.answer(number)
            answer = await talk.next()
            assert (answer["id"], number_in(answer)) == (number, number)

    play(scene)


async def another_conversation(url: str) -> None:
    """Take part in a whole one, with several answers: whatever could be answered meanwhile was."""
    async with talking(url) as talk:
        await talk.ask(hello())
        for number in range(10):
            await talk.ask(request(number, "tools/list"))


def test_while_it_is_paused_nothing_is_begun() -> None:
    async def scene(talk: Talk, slow: SlowApi, url: str) -> None:
        talk.channel.pause()
        talk.send(request("p", "ping"))
        talk.send(thing("x", 1))
        await another_conversation(url)
        assert talk.said.empty() and slow.asked.empty()
        slow.answer(1)
        talk.channel.resume()
        assert [(await talk.next())["id"] for _ in range(2)] == ["p", "x"]

    play(scene)


def test_an_answer_that_comes_while_it_is_paused_is_kept_for_later() -> None:
    async def scene(talk: Talk, slow: SlowApi, url: str) -> None:
        talk.send(thing("x", 1))
        await slow.next_asked()
        talk.channel.pause()
        slow.answer(1)
        await another_conversation(url)
        assert talk.said.empty()
        talk.channel.resume()
        assert number_in(await talk.next()) == 1

    play(scene)


def test_a_batch_is_answered_message_by_message() -> None:
    async def scene(talk: Talk, slow: SlowApi, _: str) -> None:
        slow.answer(1)
        talk.send([request("a", "ping"), READY, thing("b", 1), request("c", "ping")])
        answers = await talk.until_quiet("a", "b", "c")
        assert sorted(answer["id"] for answer in answers) == ["a", "b", "c"]
        talk.send([])
        assert await talk.until_quiet() == []

    play(scene)


def test_an_end_without_grace_leaves_the_api_and_answers_nothing() -> None:
    async def main() -> None:
        slow, ended = SlowApi(), asyncio.Event()

        async def on_end() -> None:
            ended.set()

        async def connect(api: RestApi, listener: Listener) -> Channel:
            return await RestServer("toy", api, None, on_end).connect(listener)

        async with Server(slow.serve) as api, talking(api.url, connect) as talk:
            await talk.ask(hello())
            talk.send(thing("x", 1))
            await slow.next_asked()
            await talk.channel.end(0)
            assert ended.is_set()
            assert await slow.next_left() == 1
            slow.answer(1)
            await another_conversation(api.url)
            assert talk.said.empty()

    asyncio.run(main())


def test_an_end_with_grace_waits_for_the_calls_that_run() -> None:
    async def scene(talk: Talk, slow: SlowApi, _: str) -> None:
        talk.send(thing("x", 1))
        await slow.next_asked()
        ending = asyncio.ensure_future(talk.channel.end(PATIENCE))
        slow.answer(1)
        async with asyncio.timeout(PATIENCE):
            await ending
        assert number_in(await talk.next()) == 1

    play(scene)
