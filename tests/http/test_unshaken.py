"""What one client or upstream does too much of, nobody else notices."""

import json
import os
import signal
import sys
from typing import Any

from brimgate.testing.bookings import bookings
from tests.http.processes import is_alive
from tests.http.serving import DEMO, LegacyClient, Serving, exchange, serve, wait_until, workers_of
from tests.http.wire import Wire
from tests.relay.replies import as_rebuilt, following, rebuild

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
        wait_until(lambda: workers_of(serving) - {worker}, "another process works")
        decided = [line for line in serving.all_lines() if "decision outcome=page" in line]
        assert len(decided) >= 8
    with serve("--set", "engine_processes=0", command=DEMO) as serving:
        client = serving.client()
        client.initialize()
        assert [_large_calls(client, serving) for _ in range(3)] == [0, 0, 0]


def test_a_process_that_works_for_us_ends_with_us_however_we_end() -> None:
    with serve(command=DEMO) as serving:
        client = serving.client()
        client.initialize()
        worker = wait_until(lambda: _large_calls(client, serving), "a process works")
        serving.process.kill()
        wait_until(lambda: not is_alive(worker), "its end")


def _large_calls(client: LegacyClient, serving: Serving) -> int:
    for _ in range(8):
        client.call("list_bookings")
    return next(iter(workers_of(serving)), 0)


def _walk(client: LegacyClient, first: dict[str, Any]) -> list[dict[str, Any]]:
    results = [first]
    while cursor := following(results[-1]):
        results.append(client.call("brimgate_read", cursor=cursor)["result"])
    return results
