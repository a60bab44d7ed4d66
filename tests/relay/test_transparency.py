"""What is not a large answer passes as if Brimgate were not there: the same session, directly and through it."""

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.session import ClientRequestContext, IncomingMessage
from mcp.client.subscriptions import Subscription
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, FileUrl

from tests.relay.feature_server import NOTE, QUESTIONS
from tests.relay.tap import ANSWERED, ASKED
from tests.world import feature_server, tapped, through_brimgate

pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
ERAS = {"legacy": "2025-11-25", "auto": "2026-07-28"}
READ_TOOL = "brimgate_read"


@dataclass
class Session:
    """One scripted client and all that happens to it."""

    command: list[str]
    mode: str
    happened: list[Any] = field(default_factory=list)
    client: Client = field(init=False)

    def __post_init__(self) -> None:
        self.client = Client(
            StdioServerParameters(command=self.command[0], args=self.command[1:]),
            mode=self.mode,
            read_timeout_seconds=60,
            client_info=types.Implementation(name="transcript", version="1"),
            sampling_callback=self.sample,
            elicitation_callback=self.elicit,
            list_roots_callback=self.list_roots,
            logging_callback=self.log,
            log_level="info",
            message_handler=self.hear,
        )

    def note(self, what: str, value: BaseModel | object) -> None:
        plain = value.model_dump(by_alias=True, mode="json") if isinstance(value, BaseModel) else value
        self.happened.append([what, plain])

    async def sample(
        self, context: ClientRequestContext, params: types.CreateMessageRequestParams
    ) -> types.CreateMessageResult:
        self.note("asked for a model's answer", params)
        return types.CreateMessageResult(
            role="assistant", content=types.TextContent(text="4"), model="abacus"
        )

    async def elicit(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult:
        self.note("asked for the user's answer", params)
        return types.ElicitResult(action="accept", content={"name": "Zoë"})

    async def list_roots(self, context: ClientRequestContext) -> types.ListRootsResult:
        self.note("asked for the roots", None)
        return types.ListRootsResult(roots=[types.Root(uri=FileUrl("file:///home"), name="home")])

    async def log(self, params: types.LoggingMessageNotificationParams) -> None:
        self.note("log", params)

    async def hear(self, message: IncomingMessage) -> None:
        self.note("heard", message if isinstance(message, BaseModel) else repr(message))

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        self.note("progress", [progress, total, message])

    async def call(self, tool: str, /, **arguments: Any) -> None:
        try:
            result = await self.client.call_tool(tool, arguments, progress_callback=self.progress)
        except MCPError as error:
            self.note(f"{tool} failed", error.error)
        else:
            self.note(f"{tool} answered", result)


async def hold_session(session: Session) -> None:
    client = session.client
    async with asyncio.timeout(120), client:
        session.note("server", client.server_info)
        session.note("version", client.protocol_version)
        session.note("capabilities", client.server_capabilities)
        session.note("instructions", client.instructions)
        await list_everything(session)
        for tool in (*QUESTIONS, "count_up", "show_all", "measure", "fail", "no_such_tool"):
            await session.call(tool)
        await session.call("fail", loudly=True)
        await read_prompt_and_complete(session)
        await cancel_a_call(session)
        if session.mode == "legacy":
            await use_what_only_handshakes_have(session)
        else:
            await session.call("talk")
            await listen_for_changes(session)


async def list_everything(session: Session) -> None:
    client, cursor = session.client, None
    while True:
        page = await client.list_tools(cursor=cursor)
        session.note("tools", page)
        cursor = page.next_cursor
        if cursor is None:
            break
    session.note("resources", await client.list_resources())
    session.note("templates", await client.list_resource_templates())
    session.note("prompts", await client.list_prompts())
    for uri in (NOTE, "note://blob"):
        session.note("resource", await client.read_resource(uri))


async def read_prompt_and_complete(session: Session) -> None:
    client = session.client
    session.note("prompt", await client.get_prompt("greet", {"who": "Zoë"}))
    reference = types.PromptReference(name="greet")
    session.note("completion", await client.complete(reference, {"name": "who", "value": "Zo"}, {"x": "y"}))
    request = types.Request[dict[str, Any], str](method="example.org/echo", params={"said": [1, {"2": "☃"}]})
    session.note("unknown method", await client.session.send_request(request, types.Result))


async def cancel_a_call(session: Session) -> None:
    began = anyio.Event()

    async def begin(progress: float, total: float | None, message: str | None) -> None:
        began.set()

    async with anyio.create_task_group() as group:
        group.start_soon(lambda: session.client.call_tool("hang", {}, progress_callback=begin))
        await began.wait()
        group.cancel_scope.cancel()
    await session.call("tell_cancelled")


async def use_what_only_handshakes_have(session: Session) -> None:
    client = session.client
    session.note("pong", await client.send_ping())
    session.note("level", await client.set_logging_level("debug"))
    await session.call("talk")
    session.note("subscribed", await client.subscribe_resource(NOTE))
    await session.call("touch")
    await client.send_roots_list_changed()
    session.note("unsubscribed", await client.unsubscribe_resource(NOTE))


async def listen_for_changes(session: Session) -> None:
    async with session.client.listen(tools_list_changed=True, resource_subscriptions=[NOTE]) as subscription:
        session.note("honoured", subscription.honored)
        await session.call("touch")
        session.note("events", await two_events(subscription))


async def two_events(subscription: Subscription) -> list[str]:
    return sorted([repr(await anext(subscription)), repr(await anext(subscription))])


@dataclass
class Run:
    happened: list[Any]
    asked: list[bytes]
    """Lines that reached the server."""
    answered: list[bytes]
    """Lines that reached the client."""


def run(folder: Path, mode: str, around: Callable[[list[str]], list[str]]) -> Run:
    inside, outside = folder / "inside", folder / "outside"
    session = Session(tapped(around(tapped(feature_server(), inside)), outside), mode)
    asyncio.run(hold_session(session))
    asked, answered = ((path / name).read_bytes() for path, name in ((inside, ASKED), (outside, ANSWERED)))
    return Run(session.happened, _lines(asked), _lines(answered))


def _lines(journal: bytes) -> list[bytes]:
    # The client counts its subscriptions over the whole process, not over a connection.
    return re.sub(rb"listen-\d+", b"listen-1", journal).splitlines()


@pytest.fixture(scope="module", params=ERAS, ids=list(ERAS.values()))
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    folder = tmp_path_factory.mktemp("session")
    direct = run(folder / "direct", request.param, list)
    assert ["version", ERAS[request.param]] in direct.happened
    return direct, run(folder / "through", request.param, through_brimgate)


def without_rewrites(line: bytes) -> bytes | dict[str, Any]:
    """A line as it is, but a list of tools without what Brimgate adds and drops."""
    if b'"tools":[' not in line:
        return line
    message = json.loads(line)
    tools = message["result"]["tools"]
    message["result"]["tools"] = [
        {key: tool[key] for key in tool if key != "outputSchema"}
        for tool in tools
        if tool["name"] != READ_TOOL
    ]
    return message


def by_stream(lines: list[bytes]) -> list[list[bytes | dict[str, Any]]]:
    """What belongs to a subscription apart from the rest: each has an order, the two have none between them."""
    rewritten = [(b"subscriptionId" in line, without_rewrites(line)) for line in lines]
    return [
        [line for is_subscribed, line in rewritten if is_subscribed is wanted] for wanted in (False, True)
    ]


def test_every_line_reaches_the_client_byte_for_byte_except_the_list_of_tools(runs: tuple[Run, Run]) -> None:
    direct, through = runs
    assert by_stream(through.answered) == by_stream(direct.answered)


def test_every_line_reaches_the_server_byte_for_byte(runs: tuple[Run, Run]) -> None:
    direct, through = runs
    assert through.asked == direct.asked


def test_the_client_is_asked_told_and_answered_the_same(runs: tuple[Run, Run]) -> None:
    direct, through = (by_kind(run.happened) for run in runs)
    assert through == direct
    assert {"asked for a model's answer", "asked for the user's answer", "asked for the roots"} <= set(direct)
    assert {"progress", "log", "tell_cancelled answered", "fail failed"} <= set(direct)


def by_kind(happened: list[Any]) -> dict[str, list[Any]]:
    """The client runs callbacks side by side: only what happened to one of them has an order."""
    kinds: dict[str, list[Any]] = {}
    for what, value in happened:
        key = f"{what} {value['method']}" if what == "heard" else what
        plain = _without_own_tool(value) if what == "tools" else value
        kinds.setdefault(key, []).append(json.loads(re.sub(r"listen-\d+", "listen-1", json.dumps(plain))))
    return kinds


def _without_own_tool(page: dict[str, Any]) -> dict[str, Any]:
    tools = [tool | {"outputSchema": None} for tool in page["tools"] if tool["name"] != READ_TOOL]
    return page | {"tools": tools}


def test_the_first_page_of_tools_gains_one_and_no_other_page_does(runs: tuple[Run, Run]) -> None:
    _direct, through = runs
    pages = [value["tools"] for what, value in through.happened if what == "tools"]
    assert [[tool["name"] for tool in page].count(READ_TOOL) for page in pages] == [1] + [0] * (
        len(pages) - 1
    )
    assert len(pages) > 1
    assert all(tool["outputSchema"] is None for page in pages for tool in page)
