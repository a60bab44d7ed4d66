"""A second round of what odd upstreams, clients and signals do to the relay, and what must hold."""

import asyncio
import base64
import json
import os
import signal
import struct
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from brimgate.back.channel import Listener
from brimgate.back.process import Command, spawn
from brimgate.back.stdio import StdioUpstream
from brimgate.engine.policy import Policy, ToolRule
from tests.relay.conversation import Conversation, policy, record_of
from tests.relay.rawclient import RawClient
from tests.relay.test_attacks import FLOOD, HARD_CAP, PIXEL, everything_about, paid, server
from tests.world import through_brimgate

needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and /proc")
HEADER = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 100, 100) + b"\x08\x06\0\0\0"
PICTURE = {
    "type": "image",
    "data": base64.b64encode(HEADER + bytes(range(256)) * 300).decode(),
    "mimeType": "image/png",
}
PAGE = {"type": "resource", "resource": {"uri": "ui://app", "text": FLOOD}}
LISTING = b'{"jsonrpc":"2.0","id":7,"method":"tools/list"}'


def with_schema(mode: Any, budget: int) -> Conversation:
    """A conversation in which the client knows an output schema."""
    conversation = Conversation(ToolRule(policy(budget), output_schema=mode))
    conversation.client(LISTING)
    listed = {"tools": [{"name": "tool", "outputSchema": {"type": "object"}}]}
    conversation.upstream(json.dumps({"jsonrpc": "2.0", "id": 7, "result": listed}).encode())
    return conversation


# Answers


@pytest.mark.parametrize("block", [PICTURE, PAGE], ids=["a picture", "an app's page"])
def test_what_costs_a_model_nothing_as_text_passes_inside_a_prompt(block: dict[str, Any]) -> None:
    result = {"messages": [{"role": "user", "content": block}]}
    answer = Conversation(ToolRule(Policy())).exchange("prompts/get", {"name": "p"}, {"result": result})
    assert answer["result"] == result


@pytest.mark.parametrize("block", [PICTURE, PAGE], ids=["a picture", "an app's page"])
def test_what_costs_a_model_nothing_as_text_passes_inside_a_task(block: dict[str, Any]) -> None:
    result = {"taskId": "1", "status": "completed", "result": {"content": [block]}}
    answer = Conversation(ToolRule(Policy())).exchange("tasks/get", {"taskId": "1"}, {"result": result})
    assert answer["result"] == result


def test_a_kept_schema_costs_no_block_that_stood_beside_the_data() -> None:
    rows = [{"id": number, "name": f"name {number}"} for number in range(3_000)]
    content = [{"type": "text", "text": json.dumps(rows)}, {"type": "text", "text": "mind the gap"}, PICTURE]
    conversation = with_schema("keep", 2_000)
    first = conversation.call({"content": content, "structuredContent": {"rows": rows}})
    reachable = everything_about(conversation, first)
    assert "mind the gap" in reachable and PICTURE["data"] in reachable


@pytest.mark.parametrize("mode", ["relax", "keep"])
@pytest.mark.parametrize("character", ['"', "\x01"], ids=["quotes", "control characters"])
def test_a_client_that_knows_a_schema_gets_structured_data_or_an_error(mode: str, character: str) -> None:
    """SDKs fail the call of a tool with an output schema whose answer has neither."""
    text = character * 50_000
    result = {"content": [{"type": "text", "text": text}], "structuredContent": {"result": text}}
    answer = with_schema(mode, 12_000).call(result)
    assert "structuredContent" in answer or answer.get("isError")


def test_a_path_to_a_picture_with_a_flood_beside_it_stays_under_the_hard_cap() -> None:
    conversation = Conversation(ToolRule(Policy()))
    block = {"type": "image", "data": PIXEL, "mimeType": "image/png", "text": FLOOD}
    first = conversation.call({"content": [block]})
    assert paid(conversation.read(cursor=record_of(first)["nextCursor"], path="/content/0")) <= HARD_CAP


@pytest.mark.parametrize(
    "members",
    [{"result": {"content": [{"type": "text", "text": FLOOD}]}}, {"error": {"code": 1, "message": FLOOD}}],
    ids=["a result", "an error"],
)
def test_a_large_answer_without_an_id_does_not_become_broken_json(members: dict[str, Any]) -> None:
    line = json.dumps({"jsonrpc": "2.0"} | members).encode()
    _, back = Conversation(ToolRule(Policy())).upstream(line)
    assert all(json.loads(one) for one in back)


def test_a_picture_of_a_resource_that_was_held_can_be_seen() -> None:
    """Twelve pictures of 3,000 tokens each: some are held, and a cursor leads to each of them."""
    big = HEADER.replace(struct.pack(">II", 100, 100), struct.pack(">II", 1500, 1500))
    contents = [
        {
            "uri": f"a:{n}",
            "mimeType": "image/png",
            "blob": base64.b64encode(big + bytes(range(n, 200)) * 9).decode(),
        }
        for n in range(12)
    ]
    conversation = Conversation(ToolRule(Policy()))
    first = conversation.exchange("resources/read", {"uri": "a:"}, {"result": {"contents": contents}})
    stubs = {stub["uri"]: stub["cursor"] for stub in record_of(first["result"])["blobs"]}
    assert len(stubs) == 9
    for resource in contents[3:]:
        read = conversation.read(cursor=stubs[resource["uri"]])
        assert read["content"][1] == {"type": "resource", "resource": resource}


def test_a_path_leads_to_a_picture_in_a_held_document() -> None:
    conversation = Conversation(ToolRule(Policy()))
    document = {"pages": [PICTURE], "text": FLOOD}
    first = conversation.call({"content": [{"type": "text", "text": json.dumps(document)}]})
    read = conversation.read(cursor=record_of(first)["nextCursor"], path="/pages/0")
    assert read["content"][1] == PICTURE


# Sessions


def test_calls_whose_ids_are_a_number_and_its_text_are_both_answered() -> None:
    conversation = Conversation()
    for key in ("7", '"7"'):
        conversation.client(f'{{"jsonrpc":"2.0","id":{key},"method":"tools/call","params":{{}}}}'.encode())
    assert conversation.session.pending_calls == 2


@pytest.mark.parametrize("name", ["brimgate_read", "secret"])
def test_a_tool_with_an_odd_description_is_hidden_all_the_same(name: str) -> None:
    conversation = Conversation(resolve=lambda tool: ToolRule(policy(), hidden=tool == "secret"))
    conversation.client(LISTING)
    entry = {"name": name, "description": None}
    _, (back,) = conversation.upstream(
        json.dumps({"jsonrpc": "2.0", "id": 7, "result": {"tools": [entry]}}).encode()
    )
    assert entry not in json.loads(back)["result"]["tools"]


def test_a_tool_with_an_odd_description_loses_its_output_schema_all_the_same() -> None:
    conversation = Conversation()
    conversation.client(LISTING)
    entry = {"name": "tool", "description": None, "outputSchema": {"type": "object"}}
    _, (back,) = conversation.upstream(
        json.dumps({"jsonrpc": "2.0", "id": 7, "result": {"tools": [entry]}}).encode()
    )
    assert "outputSchema" not in json.loads(back)["result"]["tools"][0]


def test_a_list_of_tools_with_a_broken_character_reaches_the_client() -> None:
    conversation = Conversation()
    conversation.client(LISTING)
    line = b'{"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"a","description":"caf\xe9"}]}}'
    _, (back,) = conversation.upstream(line)
    assert b"brimgate_read" in back


def test_our_own_tool_in_a_batch_that_strict_readers_refuse_stays_here() -> None:
    params = b'{"name":"brimgate_read","arguments":{"x":NaN}}'
    call = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":' + params + b"}"
    onward, back = Conversation().client(b"[" + call + b"]")
    assert not onward and back


def test_a_request_that_strict_readers_refuse_is_told_when_it_could_not_be_sent() -> None:
    conversation = Conversation()
    line = b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"a","arguments":{"x":NaN}}}'
    conversation.client(line)
    assert conversation.session.fail(line, "gone")
    assert not conversation.session.pending_calls


# Processes

GREETS = 'if m["method"] == "initialize": send(id=m["id"], result={"capabilities": {"tools": {}}})\n'


@needs_posix
def test_a_line_that_was_written_whole_before_the_end_is_heard_before_the_end() -> None:
    """Its end, and that it reads no more, may be known before all of what it wrote has been read."""
    told: list[str] = []

    async def listen() -> None:
        over = asyncio.Event()

        def lost(*_: object) -> None:
            told.append("lost")
            over.set()

        process = spawn(Command((sys.executable, "-c", "print('x' * 900_000)")))
        listener = Listener(
            on_line=lambda _: told.append("line"),
            on_failed=lambda _, __, ___: None,
            on_too_long=lambda _: None,
            on_lost=lost,
            on_pressure=lambda _: None,
            on_chatter=lambda _: None,
        )
        upstream = StdioUpstream("u", process, listener, max_line_bytes=1 << 20)
        await upstream.connect()
        upstream.pause()  # as a slow client does
        await asyncio.wait_for(asyncio.shield(upstream._exited), 60)
        # Its end is known; a look for the rest of what it wrote, or even several, change nothing.
        for _ in range(3):
            upstream._hear_out(-1)
            upstream._hear_out(upstream._port.received_bytes)
        assert told == []
        upstream.resume()
        await asyncio.wait_for(over.wait(), 60)
        await upstream.end(0.0)

    asyncio.run(listen())
    assert told == ["line", "lost"]


@needs_posix
def test_a_signal_while_it_restarts_leaves_no_upstream_behind(tmp_path: Path) -> None:
    died, script = tmp_path / "died", tmp_path / "server.sh"
    script.write_text(f"#!/bin/sh\nif [ -e {died} ]; then exec sleep 20; fi\ntouch {died}\nread x\n")
    script.chmod(0o755)
    with RawClient(through_brimgate([str(script)])) as client:
        client.request("ping")
        client.begin("ping")
        found = next_child(client.process.pid)
        client.process.send_signal(signal.SIGTERM)
        client.process.wait(60)
    stat = Path(f"/proc/{found}/stat")
    try:
        assert not stat.exists() or stat.read_text().rsplit(")", 1)[1].split()[0] == "Z"
    finally:
        if stat.exists():
            os.kill(found, signal.SIGKILL)


def next_child(process: int) -> int:
    """Returns the first one there is, at the moment it was started: a thread may have done it."""
    deadline = time.monotonic() + 60
    while True:
        for task in Path(f"/proc/{process}/task").iterdir():
            with suppress(FileNotFoundError):
                if children := (task / "children").read_text().split():
                    return int(children[0])
        assert time.monotonic() < deadline


@needs_posix
def test_a_client_that_greets_a_restarted_upstream_itself_greets_it_once(tmp_path: Path) -> None:
    journal = tmp_path / "heard"
    noting = f'open({str(journal)!r}, "a").write(m["method"] + "\\n")\n'
    body = f'{noting}{GREETS}if m["method"] == "die": os._exit(3)'
    with RawClient(through_brimgate(server(tmp_path, body))) as client:
        client.greet()
        client.request("die")
        journal.write_text("")
        client.greet()
        assert journal.read_text().split().count("initialize") == 1


@needs_posix
def test_calls_that_wait_for_an_upstream_that_had_to_be_stopped_are_answered(tmp_path: Path) -> None:
    endless = 'sys.stdout.write("{\\"id\\":%d," % m["id"] + "x" * 1_100_000); sys.stdout.flush()'
    ping = 'if m["method"] == "ping": send(id=m["id"], result={})'
    body = f'{GREETS}if m["method"] == "endless": {endless}\n{ping}'
    command = through_brimgate(server(tmp_path, body), "--set", "max_result_bytes=1000000")
    with RawClient(command) as client:
        try:
            client.greet()
            slow = client.begin("tools/call", {"name": "slow"})
            assert "error" in client.request("endless")
            assert client.request("ping")["id"]
            assert client.answer_to(slow)["error"]
        finally:
            client.process.terminate()
