"""The official SDK's server over Streamable HTTP, in both eras, and through the link that `brimgate run` uses."""

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from brimgate.app.link import Link
from brimgate.back.mcp.streamable import StreamableServer
from brimgate.config.declarations import Config
from brimgate.config.rule_reader import make_rules
from brimgate.hold.runtime import ProcessProtection
from brimgate.http.client import HttpClient, Origin
from brimgate.relay.protocol.versions import CAPABILITIES_KEY, MODERN_VERSION, VERSION_KEY
from brimgate.relay.session import Session
from brimgate.watch.log import Log
from tests.back.mcp_script import Heard, Talk, soon, talking
from tests.back.scripted import Run
from tests.conformance.processes import free_port, listens, running

CLIENT = "io.modelcontextprotocol/clientInfo"
META = {VERSION_KEY: MODERN_VERSION, CAPABILITIES_KEY: {}, CLIENT: {"name": "t", "version": "1"}}


def command(port: int) -> list[str]:
    return [sys.executable, "-m", "tests.conformance.fixture_server", "--http", str(port)]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    port = free_port()
    with running(command(port), tmp_path_factory.mktemp("http") / "server.log", listens(port)):
        yield f"http://127.0.0.1:{port}/mcp"


def text_of(told: Any) -> str:
    return told["result"]["content"][0]["text"]


def test_the_older_era(run: Run, url: str) -> None:
    async def conversation() -> None:
        async with talking(url) as talk:
            assert (await talk.greet())["result"]["protocolVersion"] == "2025-11-25"
            assert len((await talk.ask("tools/list", 1))["result"]["tools"]) > 10
            talk.send("tools/call", 2, name="test_tool_with_progress", _meta={"progressToken": "p"})
            progress = [await talk.heard.next() for _ in range(3)]
            assert [one["params"]["progress"] for one in progress] == [0, 50, 100]
            assert text_of(await talk.heard.answer(2)) == "Reported progress."
            assert "Reconnection" in text_of(await talk.ask("tools/call", 3, name="test_reconnection"))

    run(conversation())


def test_questions_of_the_server_are_answered_while_the_tool_runs(run: Run, url: str) -> None:
    async def conversation() -> None:
        async with talking(url) as talk:
            hello = {"protocolVersion": "2025-11-25", "capabilities": {"sampling": {}}}
            await talk.ask("initialize", 0, **hello, clientInfo={"name": "t", "version": "1"})
            talk.send("notifications/initialized")
            talk.send("tools/call", 1, name="test_sampling", arguments={"prompt": "?"})
            question = await talk.heard.next()
            assert question["method"] == "sampling/createMessage"
            content = {"type": "text", "text": "forty-two"}
            result = {"role": "assistant", "content": content, "model": "m"}
            talk.channel.send(json.dumps({"jsonrpc": "2.0", "id": question["id"], "result": result}).encode())
            assert "forty-two" in json.dumps(await talk.heard.answer(1))
            talk.send("tools/call", 2, name="test_sampling", arguments={"prompt": "?"})
            assert (await talk.heard.next())["method"] == "sampling/createMessage"
            talk.send("notifications/cancelled", requestId=2)
            assert "result" in await talk.ask("ping", 3)

    run(conversation())


def test_what_belongs_to_no_request_comes_by_the_standing_stream(run: Run, url: str) -> None:
    async def conversation() -> None:
        async with talking(url) as talk:
            await talk.greet()
            # The stream is opened beside the conversation: until it is there, its news are lost.
            for id_ in range(1, 200):
                talk.send("tools/call", id_, name="test_trigger_tool_change")
                heard = [await talk.heard.next()]
                while heard[-1].get("id") != id_:
                    heard.append(await talk.heard.next())
                if any(one.get("method") == "notifications/tools/list_changed" for one in heard):
                    return
            raise AssertionError("no news")

    run(conversation())


def test_the_session_is_ended_with_the_channel(run: Run, url: str) -> None:
    async def conversation() -> None:
        async with talking(url) as talk:
            await talk.greet()
            await talk.ask("ping", 1)
            session: bytes = talk.channel._conversation.session_id  # type: ignore[attr-defined]
        client = HttpClient(Origin.of(url))
        headers = [
            (b"mcp-session-id", session),
            (b"content-type", b"application/json"),
            (b"accept", b"application/json, text/event-stream"),
        ]
        ping = b'{"jsonrpc":"2.0","id":2,"method":"ping"}'
        response = await soon(client.request(b"POST", b"/mcp", headers, ping))
        response.abort()
        await client.close()
        assert session
        assert response.status == 404

    run(conversation())


def test_the_newer_era(run: Run, url: str) -> None:
    async def conversation() -> None:
        async with talking(url) as talk:
            found = await talk.ask("server/discover", 1, _meta=META)
            assert MODERN_VERSION in json.dumps(found["result"])
            # Not listed yet: we look it up ourselves.
            call = {"name": "test_header_parameter", "arguments": {"region": "eu"}, "_meta": META}
            assert json.loads(text_of(await talk.ask("tools/call", 2, **call))) == {"region": "eu"}
            assert len((await talk.ask("tools/list", 3, _meta=META))["result"]["tools"]) > 10
            call["arguments"] = {"region": "Zürich"}
            assert json.loads(text_of(await talk.ask("tools/call", 4, **call))) == {"region": "Zürich"}
            talk.send("subscriptions/listen", 5, notifications={"toolsListChanged": True}, _meta=META)
            assert "acknowledged" in (await talk.heard.next())["method"]
            talk.send("tools/call", 6, name="test_trigger_tool_change", _meta=META)
            heard = [await talk.heard.next(), await talk.heard.next()]
            assert {"notifications/tools/list_changed"} == {one["method"] for one in heard if "method" in one}
            talk.send("notifications/cancelled", requestId=5)
            assert text_of(await talk.ask("tools/call", 7, name="test_simple_text", _meta=META))

    run(conversation())


def linked(url: str, heard: Heard) -> Link:
    session = Session(make_rules(Config(), "there"), ProcessProtection(Config()), time.time, upstream="there")
    connect = StreamableServer("there", url, {}, max_bytes=1 << 20).connect
    return Link(
        "there",
        connect,
        session,
        Log("error"),
        max_bytes=1 << 20,
        on_answer=lambda told: heard.lines.put_nowait(bytes(told.data)),
    )


class _Linked:
    """A link, spoken to as a channel is."""

    def __init__(self, link: Link) -> None:
        self.send = link.from_client


def test_a_server_that_comes_back_is_greeted_anew_for_the_next_call(run: Run, tmp_path: Path) -> None:
    async def conversation() -> None:
        port = free_port()
        heard = Heard()
        link = linked(f"http://127.0.0.1:{port}/mcp", heard)
        talk = Talk(_Linked(link), heard)  # type: ignore[arg-type]
        loop = asyncio.get_running_loop()
        call = {"name": "test_simple_text"}

        server = running(command(port), tmp_path / "first.log", listens(port))
        await loop.run_in_executor(None, server.__enter__)
        try:
            await link.start()
            await talk.greet()
            assert text_of(await talk.ask("tools/call", 1, **call))
        finally:
            await loop.run_in_executor(None, server.__exit__, None, None, None)
        assert "error" in await talk.ask("tools/call", 2, **call)

        server = running(command(port), tmp_path / "second.log", listens(port))
        await loop.run_in_executor(None, server.__enter__)
        try:
            told: dict[str, Any] = {}
            for id_ in range(3, 30):
                told = await talk.ask("tools/call", id_, **call)
                if "result" in told:
                    break
            assert text_of(told)
        finally:
            await link.end(1.0)
            await loop.run_in_executor(None, server.__exit__, None, None, None)

    run(conversation())
