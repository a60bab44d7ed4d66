"""What goes wrong around a relay, each with real processes: nothing hangs, nothing is left behind, the next call works."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from brimgate.engine.tokens.estimator import Estimator
from tests.relay.conversation import cost, texts
from tests.relay.rawclient import PATIENCE, RawClient
from tests.world import through_brimgate

SERVER = [sys.executable, str(Path(__file__).with_name("faulty_server.py"))]
STARTS = int(os.environ.get("BRIMGATE_STARTS", "80"))
"""`make soak` takes more."""
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and /proc")


def gateway(*options: str, server: list[str] | None = None, **settings: Any) -> RawClient:
    return RawClient(through_brimgate(server or SERVER, *options), **settings)


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def wait_until_gone(pid: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while is_running(pid):
        assert time.monotonic() < deadline, f"process {pid} is still there"
        os.sched_yield()


def upstream_pid(client: RawClient) -> int:
    return int(client.call("pid")["result"]["content"][0]["text"])


# The upstream


def test_an_upstream_that_dies_in_a_call_answers_it_with_an_error_and_the_next_call_starts_it_again() -> None:
    with gateway() as client:
        client.greet()
        waiting = client.begin("tools/call", {"name": "hang"})
        error = client.call("die")["error"]
        assert "exited with code 3" in error["message"] and "out of luck" in error["message"]
        assert "exited with code 3" in client.answer_to(waiting)["error"]["message"]
        assert texts(client.call("echo", text="back")["result"]) == ["back"]


def test_an_upstream_that_is_killed_says_by_which_signal() -> None:
    with gateway() as client:
        client.greet()
        pid = upstream_pid(client)
        waiting = client.begin("tools/call", {"name": "hang"})
        os.kill(pid, signal.SIGKILL)
        assert "signal 9" in client.answer_to(waiting)["error"]["message"]
        assert upstream_pid(client) != pid


def test_cursors_survive_the_death_of_the_upstream() -> None:
    with gateway("--budget", "1000") as client:
        client.greet()
        first = client.call("rows")["result"]
        client.call("die")
        assert len(json.loads(client.walk(first))) == 1_800


def test_an_upstream_that_keeps_dying_is_tried_less_and_less_and_says_why() -> None:
    with gateway() as client:
        client.greet()
        messages = [client.call("die")["error"]["message"] for _ in range(4)]
        assert any("times in a row; next try in" in message for message in messages), messages


@pytest.mark.parametrize(
    ("server", "says"),
    [
        ([sys.executable, "-c", "import sys; sys.exit('no configuration')"], "no configuration"),
        (["/nonexistent/server"], "there is no such command"),
        ([str(Path(__file__))], "not executable"),
    ],
)
def test_an_upstream_that_does_not_start_is_told_to_the_client(server: list[str], says: str) -> None:
    with gateway(server=server) as client:
        answer = client.greet()
        assert says in answer["error"]["message"]
        assert client.close() == (1 if "exit" not in str(server) else 0)


def test_a_hung_call_can_be_cancelled_and_others_go_on() -> None:
    with gateway() as client:
        client.greet()
        key = client.begin("tools/call", {"name": "hang"})
        client.send({"method": "notifications/cancelled", "params": {"requestId": key}})
        assert texts(client.call("echo")["result"]) == ["ok"]


def test_garbage_on_stdout_is_skipped_and_logged() -> None:
    with gateway() as client:
        client.greet()
        assert texts(client.call("garbage")["result"]) == ["after garbage"]
        assert "WARNING garbage" in client.wait_for_log("garbage")


def test_duplicate_and_unknown_ids_are_passed_on_bounded() -> None:
    with gateway() as client:
        client.greet()
        assert texts(client.call("twice")["result"]) == ["first"]
        second = client.receive()
        assert cost(second["result"]) <= 4_000
        assert texts(client.call("strange_id")["result"]) == ["mine"]
        strange = client.others[-1] if client.others else client.receive()  # a large one may come later
        assert cost(strange["result"]) <= 4_000


def test_an_upstream_that_closes_its_stdout_only_is_replaced() -> None:
    with gateway() as client:
        client.greet()
        pid = upstream_pid(client)
        error = client.call("mute")["error"]
        assert "closed its output" in error["message"]
        assert texts(client.call("echo")["result"]) == ["ok"]
        wait_until_gone(pid)


def test_a_flood_on_stderr_is_thinned_and_stops_nothing() -> None:
    with gateway() as client:
        client.greet()
        assert texts(client.call("stderr")["result"]) == ["still here"]
        client.wait_for_log("lines left out")
        client.close()
        passed = sum("complaint" in line for line in client.log)
        assert 100 < passed < 100_000


def test_a_line_that_never_ends_is_refused_at_the_cap_and_the_next_call_works() -> None:
    with gateway("--set", f"max_result_bytes={1 << 20}") as client:
        client.greet()
        assert "max_result_bytes" in client.call("endless")["error"]["message"]
        assert texts(client.call("echo", text="after")["result"]) == ["after"]


def test_an_answer_over_the_cap_of_bytes_is_refused_and_the_upstream_lives_on() -> None:
    with gateway("--set", f"max_result_bytes={1 << 20}") as client:
        client.greet()
        pid = upstream_pid(client)
        assert "max_result_bytes" in client.call("too_long", bytes=2 << 20)["error"]["message"]
        assert upstream_pid(client) == pid


def test_the_environment_and_the_working_directory_are_as_configured(tmp_path: Path) -> None:
    config = tmp_path / "brimgate.yaml"
    command = json.dumps(
        {"command": SERVER[0], "args": SERVER[1:], "cwd": str(tmp_path), "env": {"FAULTY_VALUE": "v"}}
    )
    config.write_text(f"upstreams:\n  faulty: {command}\n")
    with RawClient([sys.executable, "-m", "brimgate", "run", "--config", str(config)]) as client:
        client.greet()
        told = json.loads(texts(client.call("environment")["result"])[0])
        assert told == {"cwd": str(tmp_path), "value": "v"}


# The client


def test_a_client_that_goes_in_the_middle_of_a_call_leaves_nothing_behind() -> None:
    command = through_brimgate(SERVER)
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin and process.stdout
        pids: list[int] = []
        for tool in ("pid", "child"):
            request = {"jsonrpc": "2.0", "id": tool, "method": "tools/call", "params": {"name": tool}}
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            pids.append(int(json.loads(process.stdout.readline())["result"]["content"][0]["text"]))
        request = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "hang"}}
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        process.stdout.close()
        process.stdin.close()
        process.wait(PATIENCE)
    for pid in pids:
        wait_until_gone(pid)


def test_a_client_that_closes_its_side_still_gets_the_answers_it_waits_for() -> None:
    with gateway() as client:
        client.greet()
        waiting = [client.begin("tools/call", {"name": "rows"}) for _ in range(5)]
        client.process.stdin.close()  # type: ignore[union-attr]
        assert all(cost(client.answer_to(key)["result"]) <= 4_000 for key in waiting)
        assert client.process.wait(PATIENCE) == 0


def test_a_last_message_without_a_line_end_is_answered() -> None:
    with gateway() as client:
        client.greet()
        client.process.stdin.write(b'{"jsonrpc":"2.0","id":77,"method":"ping"}')  # type: ignore[union-attr]
        client.process.stdin.close()  # type: ignore[union-attr]
        assert client.answer_to(77)["result"] == {}


def test_a_message_of_the_client_over_the_cap_is_refused_and_the_next_one_works() -> None:
    with gateway("--set", f"max_result_bytes={1 << 20}") as client:
        client.greet()
        key = client.begin("tools/call", {"name": "echo", "arguments": {"text": "x" * (2 << 20)}})
        assert "larger than" in client.answer_to(key)["error"]["message"]
        assert texts(client.call("echo")["result"]) == ["ok"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_calls_under_way_with_an_error_and_everything_else_with_them(number: int) -> None:
    with gateway() as client:
        client.greet()
        pid = upstream_pid(client)
        waiting = client.begin("tools/call", {"name": "hang"})
        assert texts(client.call("echo")["result"]) == ["ok"]
        client.process.send_signal(number)
        assert "told to stop" in client.answer_to(waiting)["error"]["message"]
        assert client.process.wait(PATIENCE) == 0
        wait_until_gone(pid)


def test_an_upstream_that_ignores_being_asked_is_ended_with_its_children() -> None:
    with gateway(server=[*SERVER, "--stubborn"]) as client:
        client.greet()
        pid, child = upstream_pid(client), int(client.call("child")["result"]["content"][0]["text"])
        client.close()
        wait_until_gone(pid)
        wait_until_gone(child)


def test_a_client_that_goes_while_a_lost_upstream_is_being_ended_leaves_nothing_behind() -> None:
    with gateway(server=[*SERVER, "--stubborn"]) as client:
        client.greet()
        pid = upstream_pid(client)
        assert "closed its output" in client.call("mute")["error"]["message"]
        client.close()
        assert not is_running(pid)


@pytest.mark.slow
def test_many_starts_and_kills_leave_no_process_descriptor_or_file_behind(tmp_path: Path) -> None:
    before = set(tmp_path.iterdir())
    descriptors = len(list(Path("/proc/self/fd").iterdir()))
    ways = (signal.SIGTERM, signal.SIGKILL, None)
    pids: list[int] = []
    for cycle in range(STARTS):
        with gateway(env={"TMPDIR": str(tmp_path)}) as client:
            if cycle % 4 == 0:
                client.greet()
                pids.append(upstream_pid(client))
            way = ways[cycle % 3]
            if way is not None:
                client.process.send_signal(way)
                client.process.wait(PATIENCE)
    for pid in pids:
        wait_until_gone(pid)
    assert set(tmp_path.iterdir()) == before
    assert len(list(Path("/proc/self/fd").iterdir())) <= descriptors + 8


def test_a_gateway_that_restarts_its_upstream_often_keeps_its_descriptors() -> None:
    with gateway() as client:
        client.greet()
        counts: list[int] = []
        for _ in range(12):
            pid = upstream_pid(client) if "result" in client.call("echo") else None
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
                client.wait_for_log("upstream_lost")
                client.log.clear()
            counts.append(len(list(Path(f"/proc/{client.process.pid}/fd").iterdir())))
        assert max(counts) - min(counts) <= 6, counts


# All edge cases of an answer at once


def test_everything_a_result_can_carry_is_bounded_and_nothing_is_dropped() -> None:
    with gateway("--budget", "4000") as client:
        client.greet()
        both = client.call("both")["result"]
        assert cost(both) <= 4_000 and "structuredContent" not in both
        assert len(json.loads(client.walk(both))["result"]) == 1_800
        assert "tok-2" in texts(both)[1]

        error = client.call("error_result")["result"]
        assert error["isError"] and cost(error) <= 4_000
        assert client.walk(error).decode() == "Traceback: something\n" * 2_500

        picture = client.call("picture")["result"]
        assert [block["type"] for block in picture["content"]] == ["text", "text", "image"]
        assert cost(picture) <= 4_000
        assert client.walk(picture).decode() == "a long caption. " * 15_000

        params = {"name": "progress", "arguments": {}, "_meta": {"progressToken": "p1"}}
        report = client.request("tools/call", params)["result"]
        told = [
            one["params"]["progress"]
            for one in client.others
            if one.get("method") == "notifications/progress"
        ]
        assert told == [1, 2, 3] and cost(report) <= 4_000

        resource = client.request("resources/read", {"uri": "book:1"})["result"]["contents"][0]
        assert resource["uri"] == "book:1" and Estimator().ceiling(resource["text"]) <= 4_000

        failed = client.call("rpc_error")["error"]
        assert (failed["code"], failed["message"]) == (-32042, "query failed")
        assert Estimator().ceiling(json.dumps(failed)) <= 4_400

        envelope = client.call("envelope")["result"]
        assert "tok-9" in texts(envelope)[1] and cost(envelope) <= 4_000
        assert json.loads(client.walk(envelope)).get("next_page_token") == "tok-9"
