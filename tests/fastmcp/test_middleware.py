"""A FastMCP server with Brimgate inside: what its clients get."""

import asyncio
import json
import subprocess
import sys
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastmcp", reason="FastMCP is not installed")

import mcp_types as mt
from fastmcp import Client, Context, FastMCP
from fastmcp.client.transports import StdioTransport
from fastmcp.exceptions import ResourceError, ToolError
from fastmcp.prompts import Message
from fastmcp.resources import ResourceContent, ResourceResult
from fastmcp.server.auth.providers.jwt import StaticTokenVerifier
from fastmcp.server.extensions import MethodBinding, ServerExtension
from fastmcp.tools.base import ToolResult
from fastmcp.utilities.tests import asgi_server
from mcp import ClientSession, MCPError, StdioServerParameters, stdio_client

from brimgate.engine.tokens.estimator import Estimator
from brimgate.fastmcp import BrimgateMiddleware, Config, Override, Policy, Rules
from brimgate.hold.stores.file import FileStore
from brimgate.hold.stores.memory import MemoryStore
from brimgate.testing import bookings
from tests.conftest import ROOT
from tests.fastmcp.talking import Talk, as_sent, talking
from tests.relay.conversation import cost, policy, record_of, texts
from tests.world import through_brimgate

EXAMPLE = ROOT / "examples" / "fastmcp_server.py"
LOG = "\n".join(f"2026-11-16 12:00:{number % 60:02d} INFO request {number} served" for number in range(4_000))
ROWS = [{"id": number, "name": f"guest {number}", "paid": None} for number in range(1_000)]


def server(**middleware: Any) -> FastMCP[Any]:
    """A server with something large of every kind."""
    mcp = FastMCP("tested", middleware=[BrimgateMiddleware(policy(), **middleware)])
    mcp.tool(lambda: ROWS, name="list_guests")
    mcp.tool(lambda: {"rows": ROWS}, name="table")

    @mcp.tool
    def log() -> str:
        """The whole log of today, from its beginning to its end."""
        return LOG

    @mcp.tool
    def note() -> dict[str, int]:
        return {"n": 1}

    @mcp.tool
    def fail(text: str = LOG) -> str:
        raise ToolError(text)

    mcp.resource("data://log")(lambda: LOG)
    mcp.prompt(lambda: [Message("Summarise this."), Message(LOG)], name="summarise")
    return mcp


@contextmanager
def one_server(**middleware: Any) -> Iterator[Talk]:
    with talking(server(**middleware)) as talk:
        yield talk


def as_first(notice_and_payload: str, meta: dict[str, Any]) -> dict[str, Any]:
    """A bounded resource or message as the first result of a walk."""
    notice, _, payload = notice_and_payload.partition("\n")
    return {"content": [{"type": "text", "text": text} for text in (notice, payload)], "_meta": meta}


# Tools


def test_a_large_result_is_a_notice_a_payload_and_a_record_and_walks_back_exactly() -> None:
    with one_server() as talk:
        got = talk.use("list_guests")
        assert [block["type"] for block in got["content"]] == ["text", "text"]
        assert texts(got)[0].startswith("[brimgate] ") and "structuredContent" not in got
        assert cost(got) <= 2_000
        assert json.loads(talk.walk(got)) == ROWS
        assert talk.walk(talk.use("log")).decode() == LOG
        assert json.loads(talk.walk(talk.use("table"))) == {"rows": ROWS}


def test_a_result_that_fits_is_the_same_object() -> None:
    small = ToolResult(content="hello", structured_content={"a": None}, meta={"trace": "t1"})
    mcp = FastMCP("tested", middleware=[BrimgateMiddleware()])
    mcp.tool(lambda: small, name="small")
    assert asyncio.run(mcp.call_tool("small")) is small
    with talking(mcp) as talk:
        got = talk.use("small")
    assert got["structuredContent"] == {"a": None} and got["_meta"] == {"trace": "t1"}


def test_a_tool_runs_once_however_much_is_read_of_its_result() -> None:
    runs: list[int] = []
    mcp = FastMCP("tested", middleware=[BrimgateMiddleware(policy())])
    mcp.tool(lambda: runs.append(1) or LOG, name="log")
    with talking(mcp) as talk:
        assert talk.walk(talk.use("log")).decode() == LOG
    assert len(runs) == 1


def test_small_structured_data_beside_a_large_text_is_told_as_text() -> None:
    mcp = FastMCP("tested", middleware=[BrimgateMiddleware(policy())])
    mcp.tool(lambda: ToolResult(content=LOG, structured_content={"exitCode": 0}), name="run")
    with talking(mcp) as talk:
        got = talk.use("run")
    assert "structuredContent" not in got and texts(got)[2] == '{"exitCode":0}'


def test_embedded_resources_count_too() -> None:
    mcp = FastMCP("tested", middleware=[BrimgateMiddleware(policy())])
    inner = mt.TextResourceContents(uri="file:///a", text=LOG)
    mcp.tool(lambda: mt.EmbeddedResource(type="resource", resource=inner), name="attach")
    with talking(mcp) as talk:
        got = talk.use("attach")
        assert cost(got) <= 2_000 and len(json.dumps(got)) < 20_000
        assert json.loads(talk.walk(got)) == {"type": "resource", "resource": as_sent(inner)}


def test_an_error_is_bounded_and_stays_an_error() -> None:
    with one_server() as talk:
        got = talk.use("fail")
        assert got["isError"] and cost(got) <= 2_000
        assert talk.walk(got).decode() == LOG
        assert talk.use("fail", text="no such guest") == {
            "content": [{"type": "text", "text": "no such guest"}],
            "isError": True,
        }
        assert cost(talk.use("x" * 50_000)) <= 2_000


def test_the_exception_of_a_long_error_has_its_text() -> None:
    """FastMCP's client raises the first block of an error; it was the notice alone."""
    with one_server() as talk, pytest.raises(ToolError) as raised:
        talk.portal.call(talk.caller.call_tool, "fail", {})
    assert str(raised.value).startswith("[brimgate] ")
    assert "INFO request 0 served\n2026-11-16 12:00:01 INFO request 1 served" in str(raised.value)


def test_a_long_error_through_the_relay_has_its_text_in_every_client() -> None:
    command = through_brimgate([sys.executable, str(ROOT / "tests" / "relay" / "faulty_server.py")])
    with talking(StdioTransport(command[0], command[1:])) as talk, pytest.raises(ToolError) as raised:
        talk.portal.call(talk.caller.call_tool, "error_result", {})

    async def first_block() -> Any:
        parameters = StdioServerParameters(command=command[0], args=command[1:])
        async with stdio_client(parameters) as streams, ClientSession(*streams) as session:
            await session.initialize()
            return (await session.call_tool("error_result", {})).content[0]

    for told in (str(raised.value), asyncio.run(first_block()).text):
        assert told.startswith("[brimgate] ") and told.count("Traceback: something\n") > 20


def test_a_blob_passes_and_a_larger_one_is_held_whole() -> None:
    """In a tool's result and in a resource alike; what FastMCP sends is what the server gave."""
    data = b"%PDF-1.7\n" + bytes(range(256)) * 400
    mcp = FastMCP(
        "tested",
        middleware=[
            BrimgateMiddleware(
                policy(),
                tools={
                    "large*": Override(max_blob_bytes=9),
                    "resources/read": Override(max_blob_bytes=150_000),
                },
            )
        ],
    )
    inner = mt.BlobResourceContents(
        uri="file:///a.pdf", mime_type="application/pdf", blob=b64encode(data).decode()
    )
    block = mt.EmbeddedResource(type="resource", resource=inner)
    mcp.tool(lambda: block, name="attach")
    mcp.tool(lambda: block, name="large_attach")
    mcp.resource("file:///a.pdf", mime_type="application/pdf")(lambda: data)
    mcp.resource("file:///b.pdf", mime_type="application/pdf")(lambda: data * 2)
    with talking(mcp) as talk:
        assert talk.use("attach")["content"] == [as_sent(block)]
        assert talk.resource("file:///a.pdf")["contents"] == [as_sent(inner)]
        got = talk.use("large_attach")
        assert "application/pdf, 102,409 bytes, file:///a.pdf: held" in texts(got)[0]
        assert talk.read(cursor=record_of(got)["blobs"][0]["cursor"])["content"][1] == as_sent(block)
        (stub,) = (resource := talk.resource("file:///b.pdf"))["contents"]
        assert stub["uri"] == "file:///b.pdf" and "204,818 bytes" in stub["text"]
        read = talk.read(cursor=record_of(resource)["blobs"][0]["cursor"])["content"][1]
        assert read["resource"]["blob"] == b64encode(data * 2).decode()


def test_text_that_is_no_unicode_is_bounded_all_the_same() -> None:
    mcp = FastMCP("tested", middleware=[BrimgateMiddleware(policy())])
    mcp.tool(lambda: "\ud800" + LOG, name="odd")
    with talking(mcp) as talk:
        got = talk.use("odd")
        assert cost(got) <= 2_000
        assert talk.walk(got).decode()[1:] == LOG


def test_results_of_concurrent_calls_lead_each_to_its_own() -> None:
    mcp = FastMCP("tested", middleware=[BrimgateMiddleware(policy())])
    inside: list[int] = []
    all_inside = asyncio.Event()

    @mcp.tool
    async def numbered(number: int) -> list[dict[str, int]]:
        inside.append(number)
        if len(inside) == 8:
            all_inside.set()
        await asyncio.wait_for(all_inside.wait(), 30)
        return [{"of": number, "id": row} for row in range(2_000)]

    with talking(mcp) as talk:

        async def call_all() -> list[Any]:
            calls = (talk.caller.call_tool_mcp("numbered", {"number": number}) for number in range(8))
            return await asyncio.gather(*calls)

        for number, result in enumerate(talk.portal.call(call_all)):
            walked = json.loads(talk.walk(as_sent(result)))
            assert walked == [{"of": number, "id": row} for row in range(2_000)]


class PatientStore(MemoryStore):
    """Takes nothing before somebody else has been served."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.served = threading.Event(), threading.Event()

    def put(self, principal: str, snapshot: bytes, data: bytes, expires_minute: int, now_minute: int) -> bool:
        self.asked.set()
        assert self.served.wait(10), "nobody else was served meanwhile"
        return super().put(principal, snapshot, data, expires_minute, now_minute)


def test_others_are_served_while_a_very_large_result_is_worked_on() -> None:
    store = PatientStore()
    mcp = FastMCP("tested", middleware=[BrimgateMiddleware(policy(), store=store)])
    mcp.tool(lambda: LOG * 10, name="log")
    mcp.tool(lambda: store.served.set(), name="other")
    with talking(mcp) as talk:

        async def both() -> Any:
            large = asyncio.create_task(talk.caller.call_tool_mcp("log", {}))
            assert await asyncio.to_thread(store.asked.wait, 30)
            await talk.caller.call_tool_mcp("other", {})
            return await large

        assert talk.walk(as_sent(talk.portal.call(both))).decode() == LOG * 10


# The list


def test_our_tool_is_listed_once_and_costs_at_most_250_tokens() -> None:
    with one_server() as talk:
        (ours,) = [tool for tool in talk.tools() if tool["name"] == "brimgate_read"]
    shown = {name: ours[name] for name in ("name", "description", "inputSchema")}
    assert ours["annotations"] == {"readOnlyHint": True} and ours["_meta"]["anthropic/alwaysLoad"] is True
    assert shown["inputSchema"]["required"] == ["cursor"]
    assert Estimator().ceiling(json.dumps(shown, separators=(",", ":"))) <= 250


def output_schema(mode: Any, tool: str = "table") -> Any:
    with one_server(tools={"*": Override(output_schema=mode)}) as talk:
        return next(entry for entry in talk.tools() if entry["name"] == tool).get("outputSchema")


def test_output_schemas_are_dropped_relaxed_or_kept() -> None:
    assert output_schema("drop", "log") is None
    assert output_schema("relax", "log") == {"type": "object"}
    assert output_schema("keep", "log")["required"] == ["result"]


@pytest.mark.parametrize("mode", ["drop", "relax", "keep"])
def test_fastmcps_own_client_takes_results_whatever_becomes_of_the_schema(mode: Any) -> None:
    with one_server(tools={"*": Override(output_schema=mode)}) as talk:

        async def log_and_note() -> tuple[Any, Any]:
            return await talk.caller.call_tool("log"), await talk.caller.call_tool("note")

        large, small = talk.portal.call(log_and_note)
    assert small.data == {"n": 1}
    assert large.content[0].text.startswith("[brimgate] ")
    match mode:
        case "drop":
            assert large.structured_content is None and large.data is None
        case "relax":
            assert large.structured_content["payload"] == large.content[1].text
        case _:
            assert large.data.startswith("[brimgate] ")


# Rules


def test_a_rule_for_some_tools_holds_for_those_alone() -> None:
    tools = {
        "list_*": Override(default_page_size=7),
        "log": Override(enabled=False),
        "table": Override(hidden=True),
    }
    with one_server(tools=tools) as talk:
        assert record_of(talk.use("list_guests"))["shown"]["items"] == 7
        assert texts(talk.use("log")) == [LOG]
        assert "table" not in [tool["name"] for tool in talk.tools()]
        assert texts(talk.use("table")) == ["Unknown tool: 'table'"]


def test_a_rollout_protects_its_share_of_calls_and_each_call_always_alike() -> None:
    mcp = FastMCP("tested", middleware=[BrimgateMiddleware(policy(), tools={"*": Override(rollout=40)})])

    @mcp.tool
    def page(number: int) -> str:
        return f"page {number}\n" * 2_000

    with talking(mcp) as talk:
        first, second = ([len(texts(talk.use("page", number=n))) == 2 for n in range(50)] for _ in range(2))
    assert first == second and 8 < sum(first) < 34


def test_descriptions_are_cut_where_a_rule_says_so() -> None:
    with one_server(tools={"log": Override(max_description_chars=13)}) as talk:
        assert next(tool for tool in talk.tools() if tool["name"] == "log")["description"] == "The whole log…"


def test_a_configuration_or_rules_say_the_same_as_a_policy() -> None:
    config = Config(read_tool="more")
    assert BrimgateMiddleware().rules.of("t") == BrimgateMiddleware(Config()).rules.of("t")
    assert BrimgateMiddleware(Policy()).rules.of("t") == BrimgateMiddleware().rules.of("t")
    rules = Rules()
    assert BrimgateMiddleware(rules).rules is rules
    mcp = FastMCP("tested", middleware=[BrimgateMiddleware(config)])
    mcp.tool(lambda: LOG, name="log")
    with talking(mcp) as talk:
        first = talk.use("log")
        assert 'more(cursor="' in texts(first)[0]
        assert not talk.use("more", cursor=record_of(first)["nextCursor"]).get("isError")


@pytest.mark.parametrize(
    ("given", "tools"),
    [
        (Policy(), {"a": Override(threshold=50_000)}),
        (Config(), {"a": Override()}),
        (Rules(), {"a": Override()}),
    ],
)
def test_rules_that_cannot_be_are_refused_at_once(given: Any, tools: dict[str, Override]) -> None:
    with pytest.raises(ValueError, match=r"hard_output_token_cap|not both"):
        BrimgateMiddleware(given, tools=tools)


# Resources, prompts, tasks


def test_a_resource_is_bounded_and_walks_back() -> None:
    with one_server() as talk:
        got = talk.resource("data://log")
        (contents,) = got["contents"]
        assert contents["uri"] == "data://log" and Estimator().ceiling(contents["text"]) <= 2_000
        assert talk.walk(as_first(contents["text"], got["_meta"])).decode() == LOG


def test_parts_of_a_resource_that_are_light_stay() -> None:
    mcp = FastMCP("tested", middleware=[BrimgateMiddleware(policy())])
    parts = [ResourceContent(b"\x00\x01"), ResourceContent(LOG), ResourceContent("end", meta={"last": True})]
    mcp.resource("data://parts")(lambda: ResourceResult(parts, meta={"count": 3}))
    with talking(mcp) as talk:
        got = talk.resource("data://parts")
    assert got["contents"][0]["text"].startswith("[brimgate] ")
    assert got["contents"][1]["blob"] == "AAE=" and got["contents"][3]["_meta"] == {"last": True}
    assert got["_meta"]["count"] == 3


def test_a_prompt_is_bounded_where_its_message_stands() -> None:
    with one_server() as talk:
        got = talk.prompt("summarise")
        notice, said, payload = (message["content"]["text"] for message in got["messages"])
        assert said == "Summarise this."
        first = as_first(f"{notice}\n{payload}", got["_meta"])
        assert talk.walk(first).decode() == LOG


def test_an_error_of_a_resource_is_bounded_and_keeps_its_code() -> None:
    mcp = FastMCP("tested", middleware=[BrimgateMiddleware(policy())])

    @mcp.resource("data://{name}")
    def broken(name: str) -> str:
        raise ResourceError(LOG if name == "large" else "no such thing")

    with talking(mcp) as talk:
        for name in ("large", "small"):
            with pytest.raises(MCPError) as raised:
                talk.resource(f"data://{name}")
            assert raised.value.error.code == -32603
            if name == "small":
                assert raised.value.error.message == "no such thing"
            else:
                assert "brimgate_read(cursor=" in raised.value.error.message
                assert len(raised.value.error.message) < 20_000


class Tasks(ServerExtension):
    identifier = "io.modelcontextprotocol/tasks"

    def methods(self) -> list[MethodBinding]:
        async def get(_context: Any, _params: Any) -> dict[str, Any]:
            result = {"content": [{"type": "text", "text": LOG}]}
            return {"taskId": "t1", "status": "completed", "result": result}

        return [MethodBinding("tasks/get", mt.RequestParams, get)]


def test_the_result_of_a_task_is_bounded() -> None:
    mcp = FastMCP("tested", middleware=[BrimgateMiddleware(policy())])
    mcp.add_extension(Tasks())
    with talking(mcp) as talk:

        async def get() -> Any:
            request = mt.Request[Any, Any](method="tasks/get", params=mt.RequestParams())
            return await talk.caller.session.send_request(request, AnyResult)

        result = talk.portal.call(get).result
        assert talk.walk(result).decode() == LOG


class AnyResult(mt.Result):
    result: dict[str, Any]


# One in another


def mounted(*, outer: bool, inner: bool, namespace: str | None = "child") -> FastMCP[Any]:
    child = FastMCP("child", middleware=[BrimgateMiddleware(policy(600))] if inner else [])
    child.tool(lambda: LOG, name="log")
    child.resource("data://log")(lambda: LOG)
    parent = FastMCP("parent", middleware=[BrimgateMiddleware(policy())] if outer else [])
    parent.mount(child, namespace)
    return parent


@pytest.mark.parametrize("namespace", ["child", None])
@pytest.mark.parametrize("inner", [True, False])
def test_the_tools_of_a_mounted_server_are_protected_once_and_our_tool_is_listed_once(
    inner: bool, namespace: str | None
) -> None:
    name = f"{namespace}_log" if namespace else "log"
    with talking(mounted(outer=True, inner=inner, namespace=namespace)) as talk:
        assert [tool["name"] for tool in talk.tools()] == ["brimgate_read", name]
        got = talk.use(name)
        assert 1_000 < cost(got) <= 2_000  # by the rules of the outermost
        assert talk.walk(got).decode() == LOG
        uri = f"data://{namespace}/log" if namespace else "data://log"
        bounded = talk.resource(uri)
        assert talk.walk(as_first(bounded["contents"][0]["text"], bounded["_meta"])).decode() == LOG


def test_a_protected_server_on_one_that_is_not_is_read_on_by_the_name_it_is_mounted_under() -> None:
    with talking(mounted(outer=False, inner=True)) as talk:
        assert [tool["name"] for tool in talk.tools()] == ["child_brimgate_read", "child_log"]
        first = talk.use("child_log")
        assert cost(first) <= 600
        following = talk.use("child_brimgate_read", cursor=record_of(first)["nextCursor"])
        assert following["content"][1]["text"].startswith("2026-11-16") and cost(following) <= 600


def test_a_tool_that_calls_another_of_its_server_gets_the_whole_result() -> None:
    mcp = server()

    @mcp.tool
    async def last_line(ctx: Context) -> str:
        result = await ctx.fastmcp.call_tool("log")
        assert isinstance(result.content[0], mt.TextContent)
        return result.content[0].text.splitlines()[-1]

    with talking(mcp) as talk:
        assert texts(talk.use("last_line")) == [LOG.splitlines()[-1]]


def test_a_tool_that_is_a_client_of_another_protected_server_gets_what_clients_get() -> None:
    other = server()
    mcp = FastMCP("asking", middleware=[BrimgateMiddleware(policy())])

    @mcp.tool
    async def ask() -> str:
        async with Client(other) as client:
            block = (await client.call_tool("log")).content[0]
            assert isinstance(block, mt.TextContent)
            return block.text

    with talking(mcp) as talk:
        assert texts(talk.use("ask"))[0].startswith("[brimgate] lines 1-")


# Who may read on


def test_a_cursor_is_of_no_use_to_another_user() -> None:
    tokens = {name: {"client_id": "app", "sub": name, "scopes": []} for name in ("alice", "bob")}
    mcp = server()
    mcp.auth = StaticTokenVerifier(tokens)

    async def calls() -> list[dict[str, Any]]:
        async with (
            asgi_server(mcp) as running,
            running.client(auth="alice") as alice,
            running.client(auth="bob") as bob,
        ):
            first = as_sent(await alice.call_tool_mcp("log", {}))
            given = {"cursor": record_of(first)["nextCursor"]}
            return [as_sent(await one.call_tool_mcp("brimgate_read", given)) for one in (alice, bob)]

    for_alice, for_bob = asyncio.run(calls())
    assert record_of(for_alice)["shown"]["from"] > 0
    assert for_bob["isError"] and "run the tool again" in texts(for_bob)[0]


def test_servers_that_share_a_store_and_a_key_read_each_others_cursors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIMGATE_CURSOR_KEY", b64encode(bytes(range(32))).decode())
    with one_server(store=FileStore(tmp_path)) as one, one_server(store=FileStore(tmp_path)) as other:
        assert other.walk(one.use("log")).decode() == LOG


# Real processes


def test_the_example_walks_back_to_what_it_returned_over_stdio() -> None:
    with talking(StdioTransport(sys.executable, [str(EXAMPLE)])) as talk:
        assert [tool["name"] for tool in talk.tools()] == ["brimgate_read", "list_bookings"]
        first = talk.use("list_bookings", count=300)
        assert record_of(first)["shown"]["items"] == 20 and cost(first) <= 4_000
        assert json.loads(talk.walk(first)) == bookings(300)


def test_the_official_client_reads_on_too() -> None:
    async def pages() -> list[dict[str, Any]]:
        parameters = StdioServerParameters(command=sys.executable, args=[str(EXAMPLE)])
        async with stdio_client(parameters) as streams, ClientSession(*streams) as session:
            await session.initialize()
            await session.list_tools()
            first = as_sent(await session.call_tool("list_bookings", {"count": 100}))
            cursor = record_of(first)["nextCursor"]
            return [first, as_sent(await session.call_tool("brimgate_read", {"cursor": cursor}))]

    first, second = asyncio.run(pages())
    assert (record_of(first)["shown"]["from"], record_of(second)["shown"]["from"]) == (0, 20)
    assert record_of(first)["total"]["items"] == 100


def test_without_fastmcp_the_import_says_what_to_install() -> None:
    code = "import sys; sys.modules['fastmcp'] = None; import brimgate.fastmcp"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and "pip install '.[fastmcp]'" in done.stderr
