"""How `brimgate serve` and the servers behind it begin, end, and change while they run; and what never stays behind."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.http.processes import children, descriptors, is_alive, memory
from tests.http.serving import (
    FAULTY,
    META,
    PATIENCE,
    PATIENT,
    LegacyClient,
    Serving,
    modern,
    next_event,
    serve,
    text_of,
    wait_until,
)
from tests.http.wire import Wire, request, wire

JSON = b"Content-Type: application/json"
CYCLES = int(os.environ.get("BRIMGATE_CYCLES", "100"))


def call(key: Any, tool: str, **arguments: Any) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "id": key,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }


def settings(**given: Any) -> list[str]:
    return [word for name, value in given.items() for word in ("--set", f"{name}={value}")]


def opened(serving: Serving, path: str = "/mcp") -> LegacyClient:
    client = serving.client(path=path)
    assert client.initialize().status == 200
    return client


def pid_of(client: LegacyClient) -> int:
    return int(text_of(client.call("pid")))


def wait_for_end(pid: int) -> None:
    wait_until(lambda: not is_alive(pid), f"the end of {pid}")


# The end


class Asking:
    """A call that waits, in one of the ways a client can ask, on a connection that is looked at later."""

    def __init__(self, serving: Serving, way: str, message: dict[str, Any]) -> None:
        self.way = way
        self.wire = serving.keep(Wire(serving.port))
        headers = [JSON]
        if way == "modern":
            message["params"]["_meta"] = META
            headers += [b"Accept: application/json, text/event-stream", b"Mcp-Protocol-Version: 2026-07-28"]
            headers += [b"Mcp-Method: tools/call", b"Mcp-Name: " + message["params"]["name"].encode()]
        elif way == "sse":
            self._begin_sse(serving, message)
            return
        else:
            client = opened(serving)
            headers.append(b"Mcp-Session-Id: " + client.session.encode())
            headers.append(b"Accept: " + {"stream": b"text/event-stream", "json": b"application/json"}[way])
        self.wire.send(request(b"POST /mcp", *headers, body=json.dumps(message).encode()))

    def _begin_sse(self, serving: Serving, message: dict[str, Any]) -> None:
        self.wire.send(request(b"GET /sse", b"Accept: text/event-stream"))
        assert self.wire.head()[0] == 200
        self._chunks = self.wire.chunks()
        address = next(self._chunks).decode().partition("data: ")[2].strip()
        hello = {
            "protocolVersion": "2024-11-05",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        }
        for body in ({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}, message):
            with wire(serving) as other:
                other.send(request(b"POST " + address.encode(), JSON, body=json.dumps(body).encode()))
                assert other.answer().status == 202
        assert b"serverInfo" in next(self._chunks)

    def text(self) -> str:
        if self.way == "sse":
            body = next(self._chunks)
        else:
            answer = self.wire.answer()
            assert answer.status == 200
            if answer.headers["content-type"] == "application/json":
                return text_of(answer.json)
            return text_of(answer.messages[-1])
        return text_of(json.loads(body.decode().partition("data: ")[2]))


@pytest.mark.parametrize("way", ["stream", "json", "modern", "sse"])
def test_a_call_under_way_is_answered_before_the_end(tmp_path: Path, way: str) -> None:
    path = tmp_path / "now"
    starts = tmp_path / "starts"
    with serve(
        *settings(grace_seconds=60), command=[*PATIENT, "--modern"], env={"PATIENT_STARTS": str(starts)}
    ) as serving:
        asking = Asking(serving, way, call("late", "wait", path=str(path)))
        idle = serving.keep(Wire(serving.port))
        idle.send(request())
        assert idle.answer().status == 200
        wait_until(lambda: _is_asked(serving, path, starts), "the call")
        port = serving.port
        serving.process.send_signal(signal.SIGTERM)
        serving.wait_for_line("stopping")
        wait_until(lambda: _is_refused(port), "that nobody new is let in")
        assert idle.is_closed()
        assert serving.process.poll() is None
        path.touch()
        assert asking.text() == "at last"
        assert serving.process.wait(PATIENCE) == 0
        for pid in map(int, starts.read_text().split()):
            wait_for_end(pid)


def _is_asked(serving: Serving, path: Path, starts: Path) -> bool:
    """Whether the server has a thread that waits: nothing it says could tell without a second call."""
    pids = [int(line) for line in starts.read_text().split()] if starts.exists() else []
    return any(is_alive(pid) and len(list(Path(f"/proc/{pid}/task").iterdir())) > 1 for pid in pids)


def _is_refused(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE):
            return False
    except ConnectionRefusedError:
        return True


def test_a_large_answer_to_a_slow_reader_is_whole_before_the_end(tmp_path: Path) -> None:
    path, starts, size = tmp_path / "now", tmp_path / "starts", 40_000_000
    with serve(
        *settings(grace_seconds=60, enabled="false"), command=PATIENT, env={"PATIENT_STARTS": str(starts)}
    ) as serving:
        asking = Asking(serving, "json", call("late", "wait", path=str(path), bytes=size))
        wait_until(lambda: _is_asked(serving, path, starts), "the call")
        serving.process.send_signal(signal.SIGTERM)
        serving.wait_for_line("stopping")
        path.touch()
        assert len(asking.text()) == size
        assert serving.process.wait(PATIENCE) == 0


def test_open_streams_do_not_hold_up_the_end() -> None:
    with serve(*settings(grace_seconds=60), command=[*PATIENT, "--modern"]) as serving:
        client = opened(serving)
        pids = {pid_of(client)}
        standing, listening, old = (serving.keep(Wire(serving.port)) for _ in range(3))
        session = b"Mcp-Session-Id: " + client.session.encode()
        standing.send(request(b"GET /mcp", session, b"Accept: text/event-stream"))
        old.send(request(b"GET /sse"))
        body = {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": {"_meta": META}}
        headers = (b"Mcp-Protocol-Version: 2026-07-28", b"Mcp-Method: subscriptions/listen")
        listening.send(request(b"POST /mcp", JSON, *headers, body=json.dumps(body).encode()))
        assert {one.head()[0] for one in (standing, old, listening)} == {200}
        pids |= children(serving.process.pid)
        assert len(pids) == 3
        acknowledged = listening.chunks()
        assert b"acknowledged" in next(acknowledged)
        assert serving.stop() == 0
        # Those that wait for nothing in particular come to a proper end.
        assert b"".join(standing.chunks()).replace(b": ping\n\n", b"") == b""
        assert b"".join(acknowledged).replace(b": ping\n\n", b"") == b""
        for pid in pids:
            wait_for_end(pid)


def test_a_call_that_never_ends_is_given_up_after_the_grace(tmp_path: Path) -> None:
    with serve(*settings(grace_seconds=1), command=[*FAULTY, "--stubborn"]) as serving:
        client = opened(serving)
        pid = pid_of(client)
        client.begin(call("never", "hang"))
        assert serving.stop() == 0
        wait_for_end(pid)


def test_a_second_signal_changes_nothing(tmp_path: Path) -> None:
    with serve(*settings(grace_seconds=1)) as serving:
        client = opened(serving)
        client.begin(call("never", "hang"))
        serving.process.send_signal(signal.SIGTERM)
        serving.wait_for_line("stopping")
        assert serving.stop(signal.SIGINT) == 0


# Changes while it runs


def test_a_change_of_the_file_is_followed_and_a_broken_one_is_not(tmp_path: Path) -> None:
    path = tmp_path / "brimgate.yaml"

    def written(size: int, json_response: str) -> str:
        upstream = {"faulty": {"command": FAULTY[0], "args": FAULTY[1:]}}
        return (
            f"upstreams: {json.dumps(upstream)}\ncontext_protection: {{default_page_size: {size}}}\n"
            f"server: {{json_response: {json_response}}}\n"
        )

    path.write_text(written(3, "false"))
    with serve("--config", str(path), command=()) as serving:
        client = opened(serving)

        def shown() -> tuple[int, str]:
            answer = client.post(call("x", "rows"))
            [result] = [one["result"] for one in answer.messages if one.get("id") == "x"]
            return result["_meta"][_record(result)]["shown"]["items"], answer.headers["content-type"]

        assert shown() == (3, "text/event-stream")
        path.write_text(written(5, "true"))
        serving.wait_for_line("config_reloaded")
        assert shown() == (5, "application/json")
        path.write_text("server: {no_such_key: 1}\n")
        serving.wait_for_line("config_rejected")
        assert shown() == (5, "application/json")
        for count in (2, 3):
            serving.process.send_signal(signal.SIGHUP)
            wait_until(
                lambda least=count: sum("config_rejected" in line for line in serving.lines) >= least,
                "that it is read again when told to",
            )
        assert shown() == (5, "application/json")
        path.write_text(written(7, "false"))
        serving.process.send_signal(signal.SIGHUP)
        wait_until(lambda: shown() == (7, "text/event-stream"), "the new file")
        assert text_of(opened(serving).call("echo")) == "ok"


def _record(result: dict[str, Any]) -> str:
    [name] = [name for name in result["_meta"] if "shown" in str(result["_meta"][name])]
    return name


# Sessions end


@pytest.fixture(scope="module")
def fleeting() -> Iterator[Serving]:
    """Where nothing is waited for long."""
    given = settings(session_idle_seconds=2, session_dropped_seconds=1, grace_seconds=0)
    with serve(*given, command=[*PATIENT, "--modern"]) as serving:
        yield serving


def test_a_session_nobody_uses_ends(fleeting: Serving) -> None:
    client = opened(fleeting)
    pid = pid_of(client)
    wait_for_end(pid)
    assert client.post(call(9, "echo")).status == 404


def test_a_server_that_single_exchanges_share_ends_with_them(fleeting: Serving) -> None:
    answer = modern(fleeting, "tools/call", {"name": "pid", "arguments": {}})
    pid = int(text_of(answer.messages[-1]))
    wait_for_end(pid)
    again = modern(fleeting, "tools/call", {"name": "pid", "arguments": {}})
    assert int(text_of(again.messages[-1])) != pid


def test_a_session_whose_connection_was_cut_ends_unless_its_client_comes_back() -> None:
    given = settings(session_idle_seconds=600, session_dropped_seconds=2, grace_seconds=0)
    with serve(*given, command=PATIENT) as serving:
        back, gone, quiet = (opened(serving) for _ in range(3))
        pids = [pid_of(client) for client in (back, gone, quiet)]
        streams = [client.listen() for client in (back, gone)]
        for stream in streams:
            serving.cut(stream)
        wait_until(lambda: back.listen().status == 200, "a stream anew")
        wait_for_end(pids[1])
        assert gone.post(call(9, "echo")).status == 404
        assert [pid_of(client) for client in (back, quiet)] == [pids[0], pids[2]]


def test_a_session_with_a_stream_open_is_used(fleeting: Serving) -> None:
    client, other = opened(fleeting), opened(fleeting)
    pid, pid_of_other = pid_of(client), pid_of(other)
    stream = client.listen()
    assert stream.status == 200
    wait_for_end(pid_of_other)
    assert pid_of(client) == pid
    fleeting.cut(stream)
    wait_for_end(pid)


def test_a_client_that_is_killed_leaves_no_server(fleeting: Serving) -> None:
    """Whatever way it came: its streams end with it."""
    program = (
        "import sys, socket, time\n"
        "port = int(sys.argv[1])\n"
        "opened = [socket.create_connection(('127.0.0.1', port)) for _ in sys.argv[2:]]\n"
        "for one, line in zip(opened, sys.argv[2:]):\n"
        "    one.sendall(line.encode())\n"
        "    one.recv(10)\n"
        "print('listening', flush=True)\n"
        "time.sleep(600)\n"
    )
    client = opened(fleeting)
    pid = pid_of(client)
    before = children(fleeting.process.pid)
    session = b"Mcp-Session-Id: " + client.session.encode()
    heads = [request(b"GET /mcp", session), request(b"GET /sse")]
    with subprocess.Popen(
        [sys.executable, "-c", program, str(fleeting.port), *(head.decode() for head in heads)],
        stdout=subprocess.PIPE,
    ) as killed:
        assert killed.stdout is not None
        assert killed.stdout.readline() == b"listening\n"
        own = children(fleeting.process.pid) - before
        assert own
        killed.send_signal(signal.SIGKILL)
    for one in (*own, pid):
        wait_for_end(one)


def test_delete_ends_the_server_at_once_and_all_below_it() -> None:
    with serve() as serving:
        client = opened(serving)
        pid, child = pid_of(client), int(text_of(client.call("child")))
        assert client.delete().status == 200
        wait_for_end(pid)
        wait_for_end(child)
        # A session that is being ended is as good as none.
        assert client.post(call(1, "echo")).status == 404
        assert client.delete().status == 404


# How many


@pytest.mark.parametrize("cap", ["max_sessions", "max_processes"])
def test_one_too_many_is_told_to_come_back_and_fits_after_another_has_ended(cap: str) -> None:
    with serve(*settings(**{cap: 2}), command=PATIENT) as serving:
        first, _ = opened(serving), opened(serving)
        late = serving.client()
        answer = late.initialize()
        assert (answer.status, answer.json["id"]) == (503, 0)
        assert f"({cap})" in answer.json["error"]["message"]
        assert int(answer.headers["retry-after"]) > 0
        assert first.delete().status == 200
        wait_until(lambda: late.initialize().status == 200, "room")
        assert text_of(late.call("echo")) == "ok"
        assert len(children(serving.process.pid)) == 2


def test_all_ways_share_the_room_for_processes() -> None:
    with serve(*settings(max_processes=1), command=[*PATIENT, "--modern"]) as serving:
        client = opened(serving)
        for answer in (
            serving.get("/sse"),
            modern(serving, "tools/list"),
            modern(serving, "server/discover"),
        ):
            assert answer.status == 503
            assert "(max_processes)" in answer.json["error"]["message"]
        client.delete()
        wait_until(lambda: modern(serving, "tools/list").status == 200, "room")
        assert serving.client().initialize().status == 503


def test_the_older_way_is_a_session_too() -> None:
    with serve(*settings(max_sessions=1), command=PATIENT) as serving:
        with wire(serving) as listening:
            listening.send(request(b"GET /sse"))
            assert listening.head()[0] == 200
            answer = serving.get("/sse")
            assert answer.status == 503
            assert "(max_sessions)" in answer.json["error"]["message"]
            assert serving.client().initialize().status == 503
        wait_until(lambda: serving.client().initialize().status == 200, "room")


@pytest.mark.slow
def test_clients_that_come_and_are_killed_leave_nothing() -> None:
    """Neither a process, nor a descriptor, nor memory, in every way a client can come. `make soak` runs 500."""
    given = settings(session_idle_seconds=600, session_dropped_seconds=1, grace_seconds=0)
    with serve(*given, command=PATIENT) as serving:
        pid, port = serving.process.pid, serving.port

        def come_and_go(number: int) -> None:
            with Wire(port) as one:
                if number % 4 == 0:
                    one.send(request(b"GET /sse"))
                    assert one.head()[0] == 200
                elif number % 4 == 1:
                    one.send(request(b"POST /mcp", JSON, b"Content-Length: 999"), b"{")
                else:
                    _shake_hands(one, hangs=number % 4 == 2)
                # As a client that dies: with a reset, and without a word.
                one.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

        def is_quiet() -> bool:
            return not children(pid) and not _sessions(serving)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(come_and_go, range(24)))
            wait_until(is_quiet, "quiet")
            before, memory_before = descriptors(pid), memory(pid)
            list(pool.map(come_and_go, range(CYCLES)))
        wait_until(is_quiet, "that all servers end")
        wait_until(lambda: descriptors(pid) <= before, "that all descriptors are closed")
        assert memory(pid) < memory_before + 20_000_000
        assert not [line for line in serving.lines if "internal_error" in line or "Traceback" in line]
        assert text_of(opened(serving).call("echo")) == "ok"


def _shake_hands(one: Wire, *, hangs: bool) -> None:
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    one.send(request(b"POST /mcp", JSON, body=json.dumps(hello).encode()))
    answer = one.answer()
    assert answer.status == 200
    session = b"Mcp-Session-Id: " + answer.headers["mcp-session-id"].encode()
    if hangs:
        body = json.dumps(call(1, "wait", path="/nonexistent/file")).encode()
        one.send(request(b"POST /mcp", JSON, session, body=body))
    else:
        one.send(request(b"GET /mcp", session, b"Accept: text/event-stream"))
    assert one.head()[0] == 200


def _sessions(serving: Serving) -> int:
    with wire(serving) as one:
        one.send(request(b"GET /health", b"Connection: close"))
        return one.answer().json["sessions"]["active"]


# Servers that die, or are of another era


def test_a_server_that_dies_fails_what_waits_for_it_and_nothing_else() -> None:
    with serve() as serving:
        client, other = opened(serving), opened(serving)
        before, others = pid_of(client), pid_of(other)
        held = [client.begin(call(f"held {number}", "hold")) for number in range(3)]
        for response in held:
            assert next_event(response)["data"] == ""  # the call has been sent
        os.kill(before, signal.SIGKILL)
        for number, response in enumerate(held):
            failed = json.loads(next_event(response)["data"])
            assert (failed["id"], "error" in failed) == (f"held {number}", True)
        assert pid_of(client) != before
        assert pid_of(other) == others


def test_a_server_that_single_exchanges_share_is_there_again_for_the_next() -> None:
    with serve(command=[*PATIENT, "--modern"]) as serving:
        answers: list[Any] = []
        waiting = threading.Thread(
            target=lambda: answers.append(
                modern(serving, "tools/call", {"name": "wait", "arguments": {"path": "/nonexistent/file"}})
            )
        )
        waiting.start()
        [pid] = wait_until(lambda: children(serving.process.pid), "its server")
        wait_until(lambda: len(list(Path(f"/proc/{pid}/task").iterdir())) > 1, "the call")
        os.kill(pid, signal.SIGKILL)
        waiting.join(PATIENCE)
        assert "error" in answers[0].messages[-1]
        again = modern(serving, "tools/call", {"name": "pid", "arguments": {}})
        assert int(text_of(again.messages[-1])) != pid


def test_a_server_of_the_older_era_is_asked_once_and_modern_clients_are_sent_to_the_handshake(
    tmp_path: Path,
) -> None:
    starts = tmp_path / "starts"
    with serve(command=PATIENT, env={"PATIENT_STARTS": str(starts)}) as serving:
        for method, params in (
            ("server/discover", {}),
            ("tools/list", {}),
            ("tools/call", {"name": "echo", "arguments": {}}),
            ("initialize", {}),
            ("subscriptions/listen", {}),
        ):
            answer = modern(serving, method, params, key="mine")
            assert (answer.status, answer.json["id"]) == (404, "mine")
            assert answer.json["error"]["code"] == -32601
        [probed] = map(int, starts.read_text().split())
        wait_for_end(probed)
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
        answer = serving.client().post(hello, **{"mcp-protocol-version": "2026-07-28"})
        assert (answer.status, answer.json["error"]["code"]) == (404, -32601)
        assert not answer.headers.get("mcp-session-id")
        assert text_of(opened(serving).call("echo")) == "ok"
        assert len(starts.read_text().split()) == 2


def test_a_server_that_has_an_answer_to_anything_is_not_taken_for_a_modern_one() -> None:
    with serve() as serving:
        answer = modern(serving, "server/discover")
        assert (answer.status, answer.json["error"]["code"]) == (404, -32601)
        wait_until(lambda: not children(serving.process.pid), "the end of the probe")
        assert text_of(opened(serving).call("echo")) == "ok"


def test_many_that_ask_at_once_start_one_server(tmp_path: Path) -> None:
    for flags in ([], ["--modern"]):
        starts = tmp_path / f"starts{len(flags)}"
        with (
            serve(command=[*PATIENT, *flags], env={"PATIENT_STARTS": str(starts)}) as serving,
            ThreadPoolExecutor(16) as pool,
        ):
            connections = [serving.connect() for _ in range(16)]
            asked = pool.map(lambda one: modern(serving, "tools/list", connection=one).status, connections)
            assert set(asked) == {200 if flags else 404}
            assert len(starts.read_text().split()) == 1


def test_a_server_that_cannot_start_is_unavailable_to_all_who_greet_it() -> None:
    with serve(command=["/nonexistent/server"]) as serving:
        for answer in (
            modern(serving, "server/discover"),
            serving.client().initialize(),
            serving.get("/sse"),
        ):
            assert answer.status == 503
            assert "no such command" in answer.json["error"]["message"]
        assert modern(serving, "tools/list").status == 502
