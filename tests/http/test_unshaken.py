"""What one client or upstream does too much of, nobody else notices."""

import asyncio
import json
import os
import re
import signal
import sys
from contextlib import ExitStack, suppress
from typing import Any

import pytest

from bench.attack import HONEST, attack
from bench.upstreams.raw import text_of_call
from brimgate.testing.bookings import bookings
from tests.http.crowd import Wire as AsyncWire
from tests.http.processes import is_alive
from tests.http.serving import (
    DEMO,
    PATIENCE,
    LegacyClient,
    Serving,
    exchange,
    serve,
    text_of,
    wait_until,
    workers_of,
)
from tests.http.wire import Wire
from tests.relay.replies import as_rebuilt, following, rebuild

RAW = [sys.executable, "-m", "bench.upstreams.raw"]
CROWD = 200
_CURSOR = re.compile(r'cursor=\\?"[\w-]+')
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


def get(port: int) -> bytes:
    return b"GET /healthz-not-there HTTP/1.1\r\nhost: 127.0.0.1:%d\r\n\r\n" % port


def test_a_connection_with_thousands_of_requests_gets_as_many_answers_as_may_wait() -> None:
    with serve() as serving, Wire(serving.port) as wire:
        wire.try_to_send(get(serving.port) * 3_000)
        answers = 0
        try:
            while True:
                assert wire.answer().status == 404
                answers += 1
        except (AssertionError, ConnectionResetError) as end:
            assert "closed" in str(end) or "reset" in str(end)
        assert (
            1 <= answers <= 40
        )  # one that is answered, those that wait, and what came before they were answered
        assert serving.get("/health").status == 200


def test_bodies_that_come_slowly_make_room_for_others() -> None:
    head = b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 1000\r\n\r\n{"
    with serve("--set", "max_connections=10") as serving, ExitStack() as closing:
        client = serving.client()
        client.initialize()
        slow = [closing.enter_context(Wire(serving.port)) for _ in range(30)]
        for one in slow:
            one.try_to_send(head)
        before = client.connection.sock
        for number in range(30):
            assert serving.get("/health").status == 200
            assert text_of(client.call("echo", text=f"{number}")) == f"{number}"
        assert client.connection.sock is before, "one that waits for its next request is no cheaper to close"


@pytest.mark.parametrize(
    "line", ["not a message", json.dumps({"jsonrpc": "2.0", "method": "notifications/x"})]
)
def test_lines_without_end_leave_turns_to_everybody_else(line: str) -> None:
    script = (
        "import sys, json, threading\n"
        f"def flood():\n    while True: sys.stdout.write({line + chr(10)!r} * 5000)\n"
        "for given in sys.stdin:\n"
        "    message = json.loads(given)\n"
        "    result = {'protocolVersion': '2025-11-25', 'capabilities': {}, 'serverInfo': {'name': 's', 'version': '1'}}\n"
        "    print(json.dumps({'jsonrpc': '2.0', 'id': message['id'], 'result': result}), flush=True)\n"
        "    threading.Thread(target=flood).start()\n"
        "    break\n"
    )
    with serve(command=[sys.executable, "-c", script]) as serving:
        for _ in range(3):
            client = serving.client()
            hello = client.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO})
            assert hello.status == 200
        for _ in range(50):
            assert serving.get("/health").status == 200


@pytest.mark.slow
def test_honest_clients_notice_nothing_of_all_attacks_at_once() -> None:
    found, _, honest = attack(8)
    assert found["ticks"] and honest["calls"] >= HONEST and not honest["errors"], (found, honest)


def test_few_requests_at_a_time_are_all_answered_in_order() -> None:
    with serve() as serving, Wire(serving.port) as wire:
        wire.send(get(serving.port) * 10)
        assert [wire.answer().status for _ in range(10)] == [404] * 10


def test_clients_that_go_without_a_word_lock_nobody_out() -> None:
    with serve("--set", "max_sessions=3", "--set", "max_processes=3", "--set", "grace_seconds=0") as serving:
        sessions = [serving.client() for _ in range(3)]
        for session in sessions:
            session.initialize()
        wait_until(lambda: _is_let_in(serving), "a place becomes free")
        serving.wait_for_line("idle for longest")
        assert sessions[0].post({"jsonrpc": "2.0", "id": 9, "method": "ping"}).status == 404
        assert sessions[2].post({"jsonrpc": "2.0", "id": 9, "method": "ping"}).status == 200


def _is_let_in(serving: Serving) -> bool:
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    return exchange(serving.connect(), "POST", "/mcp", json.dumps(body).encode(), headers).status == 200


def test_ids_of_sessions_that_somebody_makes_up_are_checked_and_forgotten() -> None:
    with (
        serve(command=DEMO) as inner,
        serve("--upstream", f"http://127.0.0.1:{inner.port}/mcp", command=()) as outer,
    ):
        client = outer.client()
        client.initialize()
        for made_up, status in (("two words", 400), ("x" * 5_000, 400), ("unknown", 404)):
            headers = {"mcp-session-id": made_up, "mcp-protocol-version": "2025-11-25"}
            assert client.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}, **headers).status == status
        for number in range(600):
            client.post(
                {"jsonrpc": "2.0", "id": 1, "method": "ping"}, **{"mcp-session-id": f"made-up-{number}"}
            )
        assert "result" in client.request("ping")


def test_garbage_without_end_is_told_at_its_first_second_fourth_time() -> None:
    script = (
        "import sys, json\n"
        "for line in sys.stdin:\n"
        "    message = json.loads(line)\n"
        "    if 'id' in message:\n"
        "        print('not a message\\n' * 5000, end='')\n"
        "        result = {'protocolVersion': '2025-11-25', 'capabilities': {}, 'serverInfo': {'name': 's', 'version': '1'}}\n"
        "        print(json.dumps({'jsonrpc': '2.0', 'id': message['id'], 'result': result}), flush=True)\n"
    )
    with serve(command=[sys.executable, "-c", script]) as serving:
        client = serving.client()
        client.initialize()
        serving.stop()
        told = [line for line in serving.all_lines() if "garbage" in line]
        assert 5 <= len(told) <= 20 and "times=4096" in told[-1]


def test_large_answers_are_worked_on_by_another_process_and_read_to_their_end() -> None:
    with serve("--set", "engine_processes=1", command=DEMO) as serving:
        client = serving.client()
        client.initialize()
        first = client.call("list_bookings")["result"]
        worker = wait_until(lambda: _large_calls(client, serving), "a process works")
        assert client.call("list_bookings")["result"]["content"] == first["content"]  # cursors too
        assert rebuild(_walk(client, first)) == as_rebuilt(json.dumps(bookings(500)))
        os.kill(worker, signal.SIGKILL)
        assert client.call("list_bookings")["result"]["content"] == first["content"]
        wait_until(lambda: _large_calls(client, serving, but=frozenset({worker})), "another process works")
        serving.stop()
        decided = [line for line in serving.all_lines() if "decision outcome=page" in line]
        assert len(decided) >= 8
    with serve("--set", "engine_processes=0", command=DEMO) as serving:
        client = serving.client()
        client.initialize()
        assert [_large_calls(client, serving) for _ in range(3)] == [0, 0, 0]


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 3])
def test_two_hundred_calls_are_answered_right_while_their_process_is_killed_again_and_again(
    count: int,
) -> None:
    with serve("--set", f"engine_processes={count}", command=RAW) as serving:
        client = serving.client()
        client.initialize()
        wait_until(lambda: _large_calls(client, serving, "bookings-100000"), "a process works")
        tools = [f"bookings-{60_000 + 400 * number}" for number in range(CROWD)]
        rounds = asyncio.run(_calls_under_fire(serving, client, tools))
        client.connection.close()  # it was idle for longer than connections are kept
        assert len(workers_of(serving)) <= count, (
            "one is started for each that ended, not for each that waited"
        )
        for answers in rounds:
            assert list(map(_told, answers)) == list(map(_told, rounds[0]))
        for tool, answer in list(zip(tools, rounds[-1], strict=True))[::20]:
            assert rebuild(_walk(client, answer["result"])) == as_rebuilt(text_of_call(tool))
        assert "internal_error" not in "\n".join(serving.lines)


async def _calls_under_fire(
    serving: Serving, client: LegacyClient, tools: list[str]
) -> list[list[dict[str, Any]]]:
    """The answers of each round of calls, all of which are made at once, until nobody kills any more."""
    firing = asyncio.create_task(_kill(serving))
    rounds: list[list[dict[str, Any]]] = []
    async with asyncio.timeout(3 * PATIENCE):
        while not firing.done() or len(rounds) < 2:
            async with asyncio.TaskGroup() as calls:
                begun = [calls.create_task(_call(client, tool)) for tool in tools]
            rounds.append([one.result() for one in begun])
    await firing
    return rounds


async def _kill(serving: Serving) -> None:
    """Kill processes that appear: some while they start, some while they work."""
    gone: set[int] = set()
    for pause in (0.3, 0.8, 1.3, 1.8) * 2:
        while not (workers := workers_of(serving) - gone):
            await asyncio.sleep(0.02)
        await asyncio.sleep(pause)
        gone.add(chosen := min(workers))
        with suppress(ProcessLookupError):
            os.kill(chosen, signal.SIGKILL)


async def _call(client: LegacyClient, tool: str) -> dict[str, Any]:
    wire = AsyncWire(client.serving.port, client.path)
    params = {"name": tool, "arguments": {}}
    message = {"jsonrpc": "2.0", "id": tool, "method": "tools/call", "params": params}
    try:
        response = await wire.begin("POST", client.headers, message)
        body = await response.body()
    finally:
        await wire.cut()
    said = body.decode().rpartition("data: ")[2]
    answer = json.loads(said)
    assert answer["id"] == tool and "result" in answer, answer
    return answer


def _told(answer: dict[str, Any]) -> str:
    """What a model reads, without the cursors, whose time of expiry differs."""
    return _CURSOR.sub("", json.dumps(answer["result"]["content"]))


def test_a_process_that_works_for_us_ends_with_us_however_we_end() -> None:
    with serve(command=DEMO) as serving:
        client = serving.client()
        client.initialize()
        worker = wait_until(lambda: _large_calls(client, serving), "a process works")
        serving.process.kill()
        wait_until(lambda: not is_alive(worker), "its end")


def _large_calls(
    client: LegacyClient, serving: Serving, tool: str = "list_bookings", but: frozenset[int] = frozenset()
) -> int:
    """A process that works, if any does after several calls."""
    for _ in range(8):
        client.call(tool)
    return next(iter(workers_of(serving) - but), 0)


def _walk(client: LegacyClient, first: dict[str, Any]) -> list[dict[str, Any]]:
    results = [first]
    while cursor := following(results[-1]):
        results.append(client.call("brimgate_read", cursor=cursor)["result"])
    return results
