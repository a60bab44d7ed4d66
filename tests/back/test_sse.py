"""A server of 2024-11-05 is talked to as any other: by its one stream, and by POST."""

import asyncio
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from brimgate.back.mcp.legacy_sse import SseServer
from brimgate.errors import UpstreamError, UpstreamRefused
from brimgate.http.sse import EventBuffer, in_turns
from brimgate.relay.protocol.message import guess_id
from tests.back.mcp_script import Asked, Heard, Reply, ScriptedServer, Talk, answer, soon, talking
from tests.back.scripted import Run
from tests.conformance.processes import free_port, listens, running

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    port = free_port()
    log: Path = tmp_path_factory.mktemp("sse") / "server.log"
    with running([sys.executable, "-m", "tests.back.sse_server", str(port)], log, listens(port)):
        yield f"http://127.0.0.1:{port}/sse"


def test_the_official_server_is_greeted_listed_called_and_left(run: Run, url: str) -> None:
    async def conversation() -> None:
        for _ in range(2):
            async with talking(url, SseServer) as talk:
                assert (await talk.greet("2024-11-05"))["result"]["protocolVersion"] == "2024-11-05"
                listed = await talk.ask("tools/list", 1)
                assert [tool["name"] for tool in listed["result"]["tools"]] == ["echo", "slow"]
                talk.send("tools/call", 2, name="slow", arguments={})
                meta = {"progressToken": "p"}
                talk.send("tools/call", 3, name="echo", arguments={"text": "line\nline"}, _meta=meta)
                progress = [await talk.heard.next() for _ in range(2)]
                assert [one["params"]["progress"] for one in progress] == [1, 2]
                told = await talk.heard.answer(3)
                assert told["result"]["content"][0]["text"] == "line\nline"
                talk.send("notifications/cancelled", requestId=2)
                assert "result" in await talk.ask("ping", 4)

    run(conversation())


class Old:
    """A scripted server: its stream, and what it does to each message."""

    def __init__(self, endpoint: str = "/messages?id=1") -> None:
        self.endpoint = endpoint
        self.stream: asyncio.Queue[Reply] = asyncio.Queue()
        self.status = "202 Accepted"
        self.over = asyncio.Event()

    async def __call__(self, asked: Asked, reply: Reply) -> None:
        if asked.method == "GET":
            await reply.stream()
            await reply.raw(b": hello\n\n")
            await reply.event(self.endpoint, name="endpoint")
            self.stream.put_nowait(reply)
            await self.over.wait()
            await reply.finish()
        elif asked.called == "hang":
            await reply.peer.is_left()
        else:
            await reply.whole(self.status)


async def heard_of(server: ScriptedServer, talk: Talk, method: str, id_: Any) -> Asked:
    talk.send(method, id_)
    await server.until(lambda asked: asked[-1].called == method)
    return server.asked[-1]


@pytest.mark.parametrize("endpoint", ["/messages?id=1", "messages?id=1", "absolute"])
def test_messages_go_where_the_server_says(run: Run, endpoint: str) -> None:
    async def conversation() -> None:
        old = Old(endpoint)
        async with ScriptedServer(old) as server:
            if endpoint == "absolute":
                old.endpoint = server.url + "/messages?id=1"
            async with talking(server.url + "/sse", SseServer, X_Key="k") as talk:
                reply = await soon(old.stream.get())
                asked = await heard_of(server, talk, "tools/list", 1)
                assert (asked.method, asked.target) == ("POST", "/messages?id=1")
                assert asked.headers["content-type"] == "application/json"
                assert {one.headers["x_key"] for one in server.asked} == {"k"}
                await reply.raw(
                    b'event: message\r\ndata: {"jsonrpc":"2.0",\r\ndata: "id":1,"result":{}}\r\n\r\n'
                )
                assert await talk.heard.next() == answer(asked, {})
                old.over.set()
                assert "closed its stream" in str(await soon(talk.heard.lost.get()))
                talk.send("tools/list", 2)
            assert len(server.asked) == 2

    run(conversation())


@pytest.mark.parametrize(
    "endpoint", ["http://127.0.0.1:9/messages", "//other/messages", "ftp://x", "http://["]
)
def test_messages_go_to_no_other_origin(run: Run, endpoint: str) -> None:
    async def conversation() -> None:
        async def handle(_asked: Asked, reply: Reply) -> None:
            await reply.stream()
            await reply.event(endpoint, name="endpoint")
            await reply.peer.is_left()

        async with ScriptedServer(handle) as server:
            with pytest.raises(UpstreamError, match="another origin"):
                await soon(SseServer("there", server.url, {}, max_bytes=99).connect(Heard().listener()))
            await soon(server.all_left.wait())

    run(conversation())


@pytest.mark.parametrize(
    ("status", "kind", "why"),
    [
        ("401 Unauthorized", "text/plain", "401 Unauthorized.*headers:"),
        ("404 Not Found", "text/plain", "404 Not Found"),
        ("200 OK", "text/html", "does not answer with events"),
        ("200 OK", "text/event-stream", "closed its stream at once"),
    ],
)
def test_a_server_that_does_not_begin_cannot_be_reached(run: Run, status: str, kind: str, why: str) -> None:
    async def conversation() -> None:
        async def handle(_asked: Asked, reply: Reply) -> None:
            await reply.whole(status, b"", kind)

        async with ScriptedServer(handle) as server:
            with pytest.raises(UpstreamError, match=why):
                await soon(SseServer("there", server.url, {}, max_bytes=99).connect(Heard().listener()))
            url = server.url
        with pytest.raises(UpstreamError, match="cannot connect"):
            await soon(SseServer("there", url, {}, max_bytes=99).connect(Heard().listener()))

    run(conversation())


def test_messages_keep_their_order_and_a_slow_one_keeps_none_back_for_ever(run: Run) -> None:
    async def conversation() -> None:
        old = Old()
        async with ScriptedServer(old) as server, talking(server.url, SseServer) as talk:
            reply = await soon(old.stream.get())
            sent = [f"notifications/{number}" for number in range(20)]
            for method in sent:
                talk.send(method)
            talk.send("hang", 1)
            talk.send("tools/list", 2)
            await server.until(lambda asked: len(asked) == 23)
            assert server.calls[1:] == [*sent, "hang", "tools/list"]
            await reply.event(answer(server.asked[-1], {}))
            assert (await talk.heard.next())["id"] == 2

    run(conversation())


def test_a_message_that_is_refused_fails_alone_and_is_answered_once(run: Run) -> None:
    async def conversation() -> None:
        old = Old()
        async with ScriptedServer(old) as server, talking(server.url, SseServer) as talk:
            reply = await soon(old.stream.get())
            old.status = "500 Internal Server Error"
            failed = await talk.ask("tools/call", "x")
            assert failed["error"]["code"] == -32000
            assert "500 Internal Server Error" in failed["error"]["message"]
            [failure] = talk.heard.failures
            assert isinstance(failure, UpstreamRefused) and failure.answered == 500
            talk.send("notifications/x")
            assert "500" in await soon(talk.heard.chatter.get())
            old.status = "202 Accepted"
            asked = await heard_of(server, talk, "tools/list", 2)
            await reply.event({"jsonrpc": "2.0", "id": "x", "result": "late"})
            await reply.event({"jsonrpc": "2.0", "id": "s", "method": "ping"})
            await reply.event(answer(asked, {}))
            assert (await talk.heard.next())["method"] == "ping"
            assert (await talk.heard.next())["id"] == 2

    run(conversation())


def test_a_message_over_the_cap_is_told_of_and_passed_over(run: Run) -> None:
    async def conversation() -> None:
        old = Old()
        async with ScriptedServer(old) as server, talking(server.url, SseServer, max_bytes=10_000) as talk:
            reply = await soon(old.stream.get())
            asked = await heard_of(server, talk, "large", "a")
            text = json.dumps(answer(asked, "x" * 900_000))
            await reply.raw(f"event: message\ndata: {text}\n".encode())
            assert guess_id(await soon(talk.heard.too_long.get())) == b'"a"'
            await reply.raw(b"\n")
            asked = await heard_of(server, talk, "small", 2)
            await reply.event(answer(asked, {}))
            assert (await talk.heard.next())["id"] == 2
            assert not talk.channel.is_stuck

    run(conversation())


def test_a_paused_channel_hears_nothing_until_it_is_resumed(run: Run) -> None:
    async def conversation() -> None:
        old = Old()
        async with ScriptedServer(old) as server, talking(server.url, SseServer) as talk:
            reply = await soon(old.stream.get())
            await reply.event({"jsonrpc": "2.0", "method": "notifications/before the pause"})
            await talk.heard.next()
            talk.channel.pause()
            await reply.event({"jsonrpc": "2.0", "method": "notifications/message"})
            await heard_of(server, talk, "x", 1)
            assert talk.heard.lines.empty()
            talk.channel.resume()
            talk.channel.pause()
            await heard_of(server, talk, "y", 2)
            assert talk.heard.lines.empty()
            talk.channel.resume()
            assert (await talk.heard.next())["method"] == "notifications/message"

    run(conversation())


def test_others_have_their_turn_within_a_chunk_of_many_events() -> None:
    async def conversation() -> None:
        turns = 0

        async def other() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        task = asyncio.ensure_future(other())
        heard = [one async for one in in_turns(EventBuffer(1 << 20).feed(b"data: x\n\n" * 5_000))]
        task.cancel()
        assert len(heard) == 5_000 and turns >= 40

    asyncio.run(conversation())
