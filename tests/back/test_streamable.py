"""Whatever a server does over HTTP, every request gets one answer, and nothing stays behind."""

import asyncio
import json
from typing import Any

import pytest

from brimgate.back.mcp.streamable import StreamableServer
from brimgate.errors import ConfigError, UpstreamError
from brimgate.relay.protocol.message import guess_id
from brimgate.relay.protocol.versions import CAPABILITIES_KEY, MODERN_VERSION, VERSION_KEY
from tests.back.mcp_script import Asked, Heard, Reply, ScriptedServer, answer, soon, talking
from tests.back.scripted import Run

META = {VERSION_KEY: MODERN_VERSION, CAPABILITIES_KEY: {}}
GREETED = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}


async def older(asked: Asked, reply: Reply) -> bool:
    """Does what a server of the older era does at the edges; whether that was it."""
    if asked.called == "initialize":
        await reply.result(asked, GREETED, Mcp_Session_Id="s-1")
    elif asked.called in ("DELETE", "notifications/initialized"):
        await reply.taken()
    elif asked.called == "GET":
        await reply.whole("405 Method Not Allowed")
    else:
        return False
    return True


def error(id_: Any, code: int, **more: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": "no"} | more}


# The handshake


def test_all_else_waits_for_the_handshake_and_then_carries_its_session(run: Run) -> None:
    async def conversation() -> None:
        may_answer = asyncio.Event()

        async def handle(asked: Asked, reply: Reply) -> None:
            if asked.called in ("initialize", "notifications/initialized"):
                await may_answer.wait()
            if not await older(asked, reply):
                await reply.result(asked, {"tools": []})

        async with ScriptedServer(handle) as server, talking(server.url + "/mcp?a=b", X_Key="k") as talk:
            talk.send("initialize", 1, protocolVersion="2025-11-25")
            talk.send("notifications/initialized")
            talk.send("tools/list", 2)
            await server.until(lambda asked: len(asked) == 1)
            may_answer.set()
            assert (await talk.heard.answer(1))["result"] == GREETED
            assert (await talk.heard.answer(2))["result"] == {"tools": []}
            await server.until(lambda asked: any(one.called == "GET" for one in asked))
            assert server.calls[:2] == ["initialize", "notifications/initialized"]
            assert sorted(server.calls[2:]) == ["GET", "tools/list"]
            first, *others = server.asked
            assert "mcp-session-id" not in first.headers
            assert first.headers["accept"] == "application/json, text/event-stream"
            assert {one.target for one in server.asked} == {"/mcp?a=b"}
            assert {one.headers["x_key"] for one in server.asked} == {"k"}
            for one in others:
                assert one.headers["mcp-session-id"] == "s-1"
                assert one.headers["mcp-protocol-version"] == "2025-06-18"
            await talk.channel.end(1.0)
            assert server.calls[-1] == "DELETE"
            assert server.asked[-1].headers["mcp-session-id"] == "s-1"

    run(conversation())


def test_a_server_without_sessions_gets_no_farewell(run: Run) -> None:
    async def conversation() -> None:
        async def handle(asked: Asked, reply: Reply) -> None:
            if asked.called == "initialize":
                await reply.result(asked, GREETED)
            else:
                await older(asked, reply)

        async with ScriptedServer(handle) as server:
            async with talking(server.url) as talk:
                await talk.greet()
                await server.until(lambda asked: len(asked) == 3)
            assert server.calls == ["initialize", "notifications/initialized", "GET"]

    run(conversation())


@pytest.mark.parametrize("how", ["refused", "cut", "empty", "too large"])
def test_a_greeting_that_fails_is_a_server_lost(run: Run, how: str) -> None:
    async def conversation() -> None:
        async def handle(asked: Asked, reply: Reply) -> None:
            match how:
                case "refused":
                    await reply.whole("401 Unauthorized", b"who?", "text/plain")
                case "cut":
                    reply.peer.cut()
                case "empty":
                    await reply.whole("200 OK")
                case _:
                    await reply.result(asked, "x" * 5_000)

        async with ScriptedServer(handle) as server, talking(server.url, max_bytes=1_000) as talk:
            talk.send("initialize", 1, protocolVersion="2025-11-25")
            talk.send("tools/list", 2)
            reason = str(await soon(talk.heard.lost.get()))
            if how == "refused":
                assert "there answered 401 Unauthorized" in reason
                assert "headers:" in reason
            assert talk.heard.lines.empty()
            assert talk.heard.too_long.empty()
            assert server.calls == ["initialize"]

    run(conversation())


def test_a_greeting_that_is_answered_with_an_error_is_answered(run: Run) -> None:
    async def conversation() -> None:
        async def handle(asked: Asked, reply: Reply) -> None:
            if asked.called == "initialize":
                await reply.json(error(None, -32602), "400 Bad Request")
            else:
                await reply.result(asked, {})

        async with ScriptedServer(handle) as server, talking(server.url) as talk:
            talk.send("initialize", 1, protocolVersion="1999-01-01")
            talk.send("ping", 2)
            assert (await talk.heard.next()) == error(1, -32602)
            assert (await talk.heard.next())["id"] == 2

    run(conversation())


def test_a_server_that_is_not_there_cannot_be_reached(run: Run) -> None:
    async def conversation() -> None:
        async with ScriptedServer(older) as server:
            url = server.url
        with pytest.raises(UpstreamError, match="cannot connect"):
            await soon(StreamableServer("there", url, {}, max_bytes=9).connect(Heard().listener()))

    with pytest.raises(ConfigError):
        StreamableServer("there", "ftp://x", {}, max_bytes=9)
    run(conversation())


# Requests and their answers


def test_requests_run_side_by_side_and_no_more_than_a_hundred(run: Run) -> None:
    async def conversation() -> None:
        may_answer = asyncio.Event()

        async def handle(asked: Asked, reply: Reply) -> None:
            if asked.called == "answer":
                may_answer.set()
                await reply.taken()
            else:
                await may_answer.wait()
                await reply.result(asked, {})

        async with ScriptedServer(handle) as server, talking(server.url) as talk:
            for id_ in range(130):
                talk.send("tools/call", id_)
            await server.until(lambda asked: len(asked) == 100)
            # All of them may wait for what the client has to say: that is not queued behind the rest.
            talk.channel.send(b'{"jsonrpc":"2.0","id":"q","result":{}}')
            ids = {(await talk.heard.next())["id"] for _ in range(130)}
            assert ids == set(range(130))
            assert server.calls[100] == "answer"
            assert server.accepted <= 102  # one more to see whether it is there, one for the note

    run(conversation())


def test_notes_go_out_in_order(run: Run) -> None:
    async def conversation() -> None:
        async def handle(asked: Asked, reply: Reply) -> None:
            await reply.taken()

        async with ScriptedServer(handle) as server, talking(server.url) as talk:
            for number in range(50):
                talk.send(f"notifications/n{number}")
            await server.until(lambda asked: len(asked) == 50)
            assert server.calls == [f"notifications/n{number}" for number in range(50)]

    run(conversation())


def test_every_shape_of_answer_comes_as_one_line(run: Run) -> None:
    async def conversation() -> None:
        async def handle(asked: Asked, reply: Reply) -> None:
            match asked.message["id"] if asked.body.startswith(b"{") else "batch":
                case 1:
                    await reply.whole("200 OK", json.dumps(answer(asked, {"a": [1]}), indent=2).encode())
                case 2:
                    await reply.stream()
                    await reply.raw(b": hello\r\n\r\ndata:\nid: 7\n\n")
                    await reply.event({"jsonrpc": "2.0", "method": "notifications/progress"})
                    await reply.event("{}", name="other")
                    await reply.raw(b'data: {"jsonrpc":"2.0",\ndata: "id":2,"result":{}}\n\n')
                    await reply.finish()
                case 3:
                    await reply.stream()
                    await reply.raw(b'data: {"jsonrpc":"2.0","id":3,"result":{"no":"blank line behind"}}')
                    await reply.finish()
                case _:
                    await reply.whole("200 OK", b'[{"id":4,"result":{}},\n{"id":5,"result":{}}]')

        async with ScriptedServer(handle) as server, talking(server.url) as talk:
            assert (await talk.ask("a", 1))["result"] == {"a": [1]}
            talk.send("b", 2)
            assert (await talk.heard.next())["method"] == "notifications/progress"
            assert (await talk.heard.next())["id"] == 2
            assert (await talk.ask("c", 3))["result"]
            talk.channel.send(b'[{"id":4,"method":"x"},{"id":5,"method":"x"}]')
            assert [one["id"] for one in await talk.heard.next()] == [4, 5]
            assert talk.heard.lines.empty()

    run(conversation())


@pytest.mark.parametrize("behind", ["open", "closed"])
def test_an_answer_is_there_even_if_its_stream_stays_open(run: Run, behind: str) -> None:
    async def conversation() -> None:
        async def handle(asked: Asked, reply: Reply) -> None:
            await reply.stream()
            await reply.event(answer(asked, {}))
            await reply.event(answer(asked, {"again": True}))
            if behind == "open":
                await reply.peer.is_left()
            else:
                await reply.finish()

        async with ScriptedServer(handle) as server, talking(server.url) as talk:
            assert await talk.ask("x", 1) == {"jsonrpc": "2.0", "id": 1, "result": {}}
            if behind == "open":
                await soon(server.all_left.wait())
            assert (await talk.ask("x", 2))["result"] == {}
            assert talk.heard.lines.empty()

    run(conversation())


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("cut", "lost"),
        ("silence", "lost"),
        ("accepted", "lost"),
        ("html", "garbled"),
        ("wrong id", "lost"),
        ("half a body", "lost"),
        ("stream without ids", "lost"),
        ("not http", "garbled"),
    ],
)
def test_what_is_no_answer_is_an_error_for_the_caller(run: Run, fault: str, kind: str) -> None:
    async def conversation() -> None:
        async def handle(asked: Asked, reply: Reply) -> None:
            match fault:
                case "cut":
                    reply.peer.cut()
                case "silence":
                    await reply.whole("200 OK")
                case "accepted":
                    await reply.taken()
                case "html":
                    await reply.whole("200 OK", b"<html>", "text/html")
                case "wrong id":
                    await reply.json({"jsonrpc": "2.0", "id": 99, "result": {}})
                case "half a body":
                    await reply.peer.say(b'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"id":1,')
                    reply.peer.writer.close()
                case "not http":
                    await reply.peer.say(b"hello\r\n\r\n")
                case _:
                    await reply.stream()
                    await reply.event({"jsonrpc": "2.0", "method": "notifications/message"})
                    reply.peer.cut()

        async with ScriptedServer(handle) as server, talking(server.url) as talk:
            failed = await talk.ask("tools/call", "x-1")
            assert failed["error"]["code"] == -32000
            assert failed["error"]["message"]
            assert [failure.kind for failure in talk.heard.failures] == [kind]
            assert len(server.asked) == 1
            assert talk.heard.lines.empty()
            assert talk.heard.lost.empty()

    run(conversation())


def test_a_server_that_has_gone_fails_the_request_and_not_the_channel(run: Run) -> None:
    async def conversation() -> None:
        async with ScriptedServer(older) as server:
            port_is_closed = talking(server.url)
            talk = await port_is_closed.__aenter__()
        assert "cannot connect" in (await talk.ask("tools/call", 1))["error"]["message"]
        assert [failure.kind for failure in talk.heard.failures] == ["unreachable"]
        assert talk.heard.lost.empty()
        await port_is_closed.__aexit__(None, None, None)

    run(conversation())


# Errors of HTTP


@pytest.mark.parametrize(
    ("method", "status", "body", "code"),
    [
        ("tools/call", "400 Bad Request", error(1, -32602, data=[1]), -32602),
        ("tools/call", "400 Bad Request", error(None, -32602, data=[1]), -32602),
        ("tools/call", "400 Bad Request", error("server-error", -32602, data=[1]), -32602),
        ("tools/call", "200 OK", error(None, -32602, data=[1]), -32602),
        ("tools/call", "401 Unauthorized", {"error": "invalid_token"}, -32000),
        ("tools/call", "503 Service Unavailable", "down", -32000),
        ("server/discover", "404 Not Found", error(1, -32601), -32601),
        ("server/discover", "400 Bad Request", error(1, -32022), -32022),
        ("server/discover", "400 Bad Request", error(None, -32000), -32601),
        ("server/discover", "400 Bad Request", error("server-error", -32600), -32601),
        ("server/discover", "405 Method Not Allowed", "no", -32601),
        ("server/discover", "404 Not Found", "no", -32601),
        ("server/discover", "503 Service Unavailable", "no", -32000),
    ],
)
def test_an_error_of_http_becomes_one_of_the_request(
    run: Run, method: str, status: str, body: Any, code: int
) -> None:
    async def conversation() -> None:
        async def handle(_asked: Asked, reply: Reply) -> None:
            await reply.json(body, status)

        async with ScriptedServer(handle) as server, talking(server.url) as talk:
            failed = (await talk.ask(method, 1, _meta=META))["error"]
            assert failed["code"] == code
            assert [one.kind for one in talk.heard.failures] == (["refused"] if code == -32000 else [])
            assert failed.get("data") == ([1] if code == -32602 else None)
            if code == -32000:
                assert f"the upstream there answered {status}" in failed["message"]
            assert ("headers:" in failed["message"]) == status.startswith("401")
            assert talk.heard.lines.empty()

    run(conversation())


def test_a_batch_that_fails_is_answered_by_a_batch(run: Run) -> None:
    async def conversation() -> None:
        async def handle(_asked: Asked, reply: Reply) -> None:
            await reply.whole("500 Internal Server Error")

        async with ScriptedServer(handle) as server, talking(server.url) as talk:
            talk.channel.send(b'[{"id":1,"method":"a"},{"method":"note"},{"id":"2","method":"b"}]')
            assert [one["id"] for one in await talk.heard.next()] == [1, "2"]

    run(conversation())


def test_a_note_that_is_refused_goes_to_the_log(run: Run) -> None:
    async def conversation() -> None:
        async def handle(_asked: Asked, reply: Reply) -> None:
            await reply.json(error(None, -32600), "400 Bad Request")

        async with ScriptedServer(handle) as server, talking(server.url) as talk:
            talk.send("notifications/roots/list_changed")
            assert "400 Bad Request to notifications/roots" in await soon(talk.heard.chatter.get())
            assert talk.heard.lines.empty()

    run(conversation())


@pytest.mark.parametrize(
    ("status", "body"),
    [
        ("404 Not Found", error(None, -32600)),
        ("404 Not Found", "gone"),
        ("400 Bad Request", error(None, -32000, message="Bad Request: No valid session ID provided")),
    ],
)
def test_a_session_that_was_forgotten_is_a_server_lost(run: Run, status: str, body: Any) -> None:
    async def conversation() -> None:
        async def handle(asked: Asked, reply: Reply) -> None:
            if not await older(asked, reply):
                await reply.json(body, status)

        async with ScriptedServer(handle) as server:
            async with talking(server.url) as talk:
                await talk.greet()
                talk.send("tools/call", 1)
                assert "forgotten the session" in str(await soon(talk.heard.lost.get()))
                talk.send("tools/call", 2)
            assert talk.heard.lines.empty()
            assert "DELETE" not in server.calls
            assert server.calls.count("tools/call") == 1

    run(conversation())


# Streams that break


def test_a_broken_stream_is_taken_up_where_it_broke(run: Run) -> None:
    async def conversation() -> None:
        async def handle(asked: Asked, reply: Reply) -> None:
            last = asked.headers.get("last-event-id")
            if asked.called == "tools/call":
                await reply.stream()
                await reply.event("", "a1", retry="5")
                await reply.event({"jsonrpc": "2.0", "method": "notifications/one"}, "a2")
                reply.peer.cut()
            elif last == "a2":
                await reply.stream()
                await reply.event({"jsonrpc": "2.0", "method": "notifications/two"}, "a3")
                await reply.finish()
            elif last == "a3" and [one.headers.get("last-event-id") for one in server.asked].count("a3") == 1:
                await reply.whole("502 Bad Gateway")
            elif last == "a3":
                await reply.stream()
                await reply.event({"jsonrpc": "2.0", "id": 1, "result": {}}, "a4")
                await reply.finish()
            else:
                await older(asked, reply)

        async with ScriptedServer(handle) as server, talking(server.url) as talk:
            await talk.greet()
            talk.send("tools/call", 1)
            assert (await talk.heard.next())["method"] == "notifications/one"
            assert (await talk.heard.next())["method"] == "notifications/two"
            assert (await talk.heard.next())["id"] == 1
            resumed = [one for one in server.asked if "last-event-id" in one.headers]
            assert {one.headers["mcp-session-id"] for one in resumed} == {"s-1"}

    run(conversation())


@pytest.mark.parametrize("then", ["405 Method Not Allowed", "502 Bad Gateway", "empty"])
def test_a_stream_that_cannot_be_taken_up_is_an_error(run: Run, then: str) -> None:
    async def conversation() -> None:
        async def handle(asked: Asked, reply: Reply) -> None:
            if asked.called == "tools/call":
                await reply.stream()
                await reply.event("", "a1", retry="1")
                await reply.finish()
            elif "last-event-id" in asked.headers and then == "empty":
                await reply.stream()
                await reply.finish()
            elif "last-event-id" in asked.headers:
                await reply.whole(then)
            else:
                await older(asked, reply)

        async with ScriptedServer(handle) as server, talking(server.url) as talk:
            await talk.greet()
            assert (await talk.ask("tools/call", 1))["error"]["code"] == -32000
            tries = sum("last-event-id" in one.headers for one in server.asked)
            assert tries == (1 if then.startswith("405") else 5)

    run(conversation())


def test_the_standing_stream_comes_back_and_tells_when_the_session_is_gone(run: Run) -> None:
    async def conversation() -> None:
        async def handle(asked: Asked, reply: Reply) -> None:
            last = asked.headers.get("last-event-id")
            if asked.called != "GET":
                await older(asked, reply)
            elif last is None:
                await reply.stream()
                await reply.event({"jsonrpc": "2.0", "method": "notifications/one"}, "g1", retry="1")
                reply.peer.cut()
            elif last == "g1":
                await reply.stream()
                await reply.event({"jsonrpc": "2.0", "id": "q", "method": "ping"}, "g2")
                await reply.finish()
            else:
                await reply.whole("404 Not Found")

        async with ScriptedServer(handle) as server, talking(server.url) as talk:
            await talk.greet()
            assert (await talk.heard.next())["method"] == "notifications/one"
            assert (await talk.heard.next())["method"] == "ping"
            assert "forgotten the session" in str(await soon(talk.heard.lost.get()))

    run(conversation())


# The newer era


def test_headers_of_the_newer_era_repeat_what_the_message_says(run: Run) -> None:
    async def conversation() -> None:
        async def handle(asked: Asked, reply: Reply) -> None:
            if asked.called == "tools/list":
                await reply.result(asked, {"tools": [tool("weather")]})
            else:
                await reply.result(asked, {"content": []}, Mcp_Session_Id="not for us")

        async with ScriptedServer(handle) as server, talking(server.url) as talk:
            await talk.ask("tools/list", 1, _meta=META)
            await talk.ask("tools/call", 2, name="weather", arguments={"region": "Zürich"}, _meta=META)
            await talk.ask("tools/call", 3, name="weather", arguments={"region": "eu"}, _meta=META)
            _, coded, plain = (one.headers for one in server.asked)
            assert plain["mcp-protocol-version"] == MODERN_VERSION
            assert plain["mcp-method"] == "tools/call"
            assert plain["mcp-name"] == "weather"
            assert plain["mcp-param-region"] == "eu"
            assert coded["mcp-param-region"].startswith("=?base64?")
            assert "mcp-session-id" not in plain

    run(conversation())


def tool(name: str) -> dict[str, Any]:
    region = {"type": "string", "x-mcp-header": "Region"}
    return {"name": name, "inputSchema": {"type": "object", "properties": {"region": region}}}


@pytest.mark.parametrize("streams", [False, True])
def test_a_tool_that_was_never_listed_is_looked_up_when_its_headers_are_missed(
    run: Run, streams: bool
) -> None:
    async def conversation() -> None:
        async def handle(asked: Asked, reply: Reply) -> None:
            if asked.called == "tools/list":
                cursor = asked.message["params"].get("cursor")
                page = {"tools": [tool("weather")]} if cursor else {"tools": [], "nextCursor": "2"}
                if streams:
                    await reply.stream()
                    await reply.event(answer(asked, page))
                    await reply.finish()
                else:
                    await reply.result(asked, page)
            elif "mcp-param-region" in asked.headers:
                await reply.result(asked, {"content": []})
            else:
                await reply.json(error(asked.message["id"], -32020), "400 Bad Request")

        async with ScriptedServer(handle) as server, talking(server.url) as talk:
            arguments = {"region": "eu"}
            told = await talk.ask("tools/call", 1, name="weather", arguments=arguments, _meta=META)
            assert told["result"] == {"content": []}
            assert server.calls == ["tools/call", "tools/list", "tools/list", "tools/call"]
            for id_ in (2, 3):
                failed = await talk.ask("tools/call", id_, name="other", arguments=arguments, _meta=META)
                assert failed["error"]["code"] == -32020
            assert server.calls[4:] == ["tools/call", "tools/list", "tools/list", "tools/call", "tools/call"]
            assert talk.heard.lines.empty()

    run(conversation())


def test_a_cancelled_request_of_the_newer_era_is_hung_up_on(run: Run) -> None:
    async def conversation() -> None:
        async def handle(_asked: Asked, reply: Reply) -> None:
            await reply.peer.is_left()

        async with ScriptedServer(handle) as server, talking(server.url) as talk:
            talk.send("tools/call", "c", name="x", _meta=META)
            await server.until(lambda asked: len(asked) == 1)
            talk.send("notifications/cancelled", requestId="c")
            await soon(server.all_left.wait())
            talk.send("notifications/cancelled", requestId="c")
            assert server.calls == ["tools/call"]
            assert talk.heard.lines.empty()

    run(conversation())


def test_a_cancelled_request_of_the_older_era_is_told_to_the_server_and_needs_no_answer(run: Run) -> None:
    async def conversation() -> None:
        cancelled = asyncio.Event()

        async def handle(asked: Asked, reply: Reply) -> None:
            if asked.called == "notifications/cancelled":
                cancelled.set()
                await reply.taken()
            elif asked.called == "tools/call" and asked.message["id"] == 1:
                await reply.stream()
                await cancelled.wait()
                await reply.finish()
            elif not await older(asked, reply):
                await reply.result(asked, {})

        async with ScriptedServer(handle) as server, talking(server.url) as talk:
            await talk.greet()
            talk.send("tools/call", 1)
            await server.until(lambda asked: asked[-1].called == "tools/call" or len(asked) > 3)
            talk.send("notifications/cancelled", requestId=1)
            await soon(cancelled.wait())
            assert (await talk.ask("tools/call", 2))["id"] == 2
            assert talk.heard.lines.empty()

    run(conversation())


# Too much


@pytest.mark.parametrize("shape", ["body", "event"])
def test_an_answer_over_the_cap_says_whose_it_was(run: Run, shape: str) -> None:
    async def conversation() -> None:
        async def handle(asked: Asked, reply: Reply) -> None:
            if asked.called == "small":
                await reply.result(asked, {})
                return
            large = json.dumps({"result": "x" * 500_000, "jsonrpc": "2.0", "id": asked.message["id"]})
            if shape == "event":
                await reply.stream()
                await reply.event(large)
                await reply.finish()
            else:
                await reply.whole("200 OK", large.encode())

        async with (
            ScriptedServer(handle) as server,
            talking(server.url, max_bytes=10_000) as talk,
        ):
            talk.send("large", "a-1")
            assert guess_id(await soon(talk.heard.too_long.get())) == b'"a-1"'
            assert (await talk.ask("small", 2))["result"] == {}
            assert talk.heard.too_long.empty()
            assert talk.heard.lines.empty()

    run(conversation())


def test_a_client_that_does_not_keep_up_is_sent_no_more(run: Run) -> None:
    async def conversation() -> None:
        async def handle(asked: Asked, reply: Reply) -> None:
            await reply.stream()
            await reply.event({"jsonrpc": "2.0", "method": "notifications/message"})
            await may_go_on.wait()
            await reply.event(answer(asked, {}))
            await reply.finish()

        may_go_on = asyncio.Event()
        async with ScriptedServer(handle) as server, talking(server.url) as talk:
            talk.send("x", 1)
            assert (await talk.heard.next())["method"] == "notifications/message"
            talk.channel.pause()
            may_go_on.set()
            # Neither the rest of an answer that has begun nor a new one is heard.
            talk.send("x", 2)
            await server.until(lambda asked: len(asked) == 2)
            assert talk.heard.lines.empty()
            talk.channel.resume()
            ids = [(await talk.heard.next()).get("id") for _ in range(3)]
            assert sorted(str(id_) for id_ in ids) == ["1", "2", "None"]

    run(conversation())


def test_a_paused_channel_hears_nothing_until_it_is_resumed(run: Run) -> None:
    async def conversation() -> None:
        async def handle(asked: Asked, reply: Reply) -> None:
            await reply.result(asked, {})
            answered.set()

        answered = asyncio.Event()
        async with ScriptedServer(handle) as server, talking(server.url) as talk:
            talk.channel.pause()
            talk.send("x", 1)
            await soon(answered.wait())
            assert talk.heard.lines.empty()
            talk.channel.resume()
            assert (await talk.heard.next())["id"] == 1

    run(conversation())


def test_pressure_is_told_when_too_much_waits_and_when_it_is_gone(run: Run) -> None:
    async def conversation() -> None:
        may_answer = asyncio.Event()

        async def handle(asked: Asked, reply: Reply) -> None:
            if asked.called == "initialize":
                await may_answer.wait()
            if not await older(asked, reply):
                await reply.result(asked, {})

        async with ScriptedServer(handle) as server, talking(server.url) as talk:
            talk.send("initialize", "hello", protocolVersion="2025-11-25")
            for id_ in range(20):
                talk.send("tools/call", id_, name="x" * (1 << 20))
            assert talk.heard.pressure == [True]
            may_answer.set()
            for _ in range(21):
                await talk.heard.next()
            assert talk.heard.pressure == [True, False]

    run(conversation())


def test_an_end_in_the_middle_of_everything_leaves_nothing_behind(run: Run) -> None:
    async def conversation() -> None:
        async def handle(asked: Asked, reply: Reply) -> None:
            if asked.called == "GET":
                await reply.stream()
                await reply.peer.is_left()
            elif asked.called in ("notifications/slow", "DELETE"):
                await reply.peer.is_left()
            elif not await older(asked, reply):
                await reply.stream()
                await reply.peer.is_left()

        async with ScriptedServer(handle) as server:
            async with talking(server.url) as talk:
                await talk.greet()
                talk.send("tools/call", 1)
                talk.send("tools/call", 2)
                talk.send("notifications/slow")
                await server.until(lambda asked: len(asked) == 6)
            await soon(server.all_left.wait())
            assert talk.heard.lines.empty()
            assert talk.heard.lost.empty()

    run(conversation())
