"""Access that is taken away while it is used: by a reload, at once; and the end of `serve` with callers who have keys."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.http.callers import Keys, bearer, serving_for, write_config
from tests.http.processes import children, is_alive
from tests.http.raw_upstream import Called, raw_upstream
from tests.http.serving import META, PATIENT, LegacyClient, Serving, text_of, wait_until
from tests.http.test_life import call
from tests.http.wire import Wire, request

KEYS = Keys("alice", "bob")
PATIENT_MODERN = {"command": PATIENT[0], "args": [*PATIENT[1:], "--modern"]}
JSON = b"Content-Type: application/json"
SERVER: dict[str, Any] = {"server": {"grace_seconds": 60, "session_dropped_seconds": 3_600}}


def login(name: str) -> bytes:
    return f"Authorization: {KEYS.of(name)['authorization']}".encode()


def opened(serving: Serving, name: str) -> LegacyClient:
    client = serving.client(**KEYS.of(name))
    assert client.initialize().status == 200
    return client


class Streams:
    """Every kind of stream that one caller can have open, and a call that never ends."""

    def __init__(self, serving: Serving, name: str, held: Path) -> None:
        self.client = opened(serving, name)
        self.pid = int(text_of(self.client.call("pid")))
        self.standing, self.listening, self.old = (serving.keep(Wire(serving.port)) for _ in range(3))
        session = b"Mcp-Session-Id: " + self.client.session.encode()
        accept = b"Accept: text/event-stream"
        self.standing.send(request(b"GET /mcp", login(name), session, accept))
        self.old.send(request(b"GET /sse", login(name)))
        listen = {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": {"_meta": META}}
        modern_headers = (b"Mcp-Protocol-Version: 2026-07-28", b"Mcp-Method: subscriptions/listen")
        self.listening.send(
            request(b"POST /mcp", login(name), JSON, *modern_headers, body=json.dumps(listen).encode())
        )
        for one in self.all:
            assert one.head()[0] == 200
        waiting = json.dumps(call("held", "wait", path=str(held))).encode()
        self.asking = serving.keep(Wire(serving.port))
        self.asking.send(
            request(b"POST /mcp", login(name), session, JSON, b"Accept: application/json", body=waiting)
        )

    @property
    def all(self) -> list[Wire]:
        return [self.standing, self.listening, self.old]


def is_over(wire: Wire) -> bool:
    """Waits for the end of a stream, proper or not."""
    try:
        for _ in wire.chunks():
            pass
    except (EOFError, ConnectionResetError, ValueError):
        pass
    return True


def is_open(wire: Wire) -> bool:
    wire.socket.setblocking(False)
    try:
        return wire.socket.recv(1) != b""
    except BlockingIOError:
        return True


@pytest.mark.parametrize("by", ["signal", "file"])
def test_a_key_that_is_removed_ends_what_it_has_open_and_nothing_else(tmp_path: Path, by: str) -> None:
    with serving_for(tmp_path, KEYS.auth(), PATIENT_MODERN, **SERVER) as serving:
        before = children(serving.process.pid)
        alice = Streams(serving, "alice", tmp_path / "never")
        hers = children(serving.process.pid) - before
        bob = Streams(serving, "bob", tmp_path / "bobs")
        write_config(tmp_path, KEYS.auth("bob"), PATIENT_MODERN, **SERVER)
        if by == "signal":
            serving.process.send_signal(signal.SIGHUP)
        serving.wait_for_line("config_reloaded")
        assert alice.client.post(call(9, "echo")).status == 401
        assert all(is_over(one) for one in alice.all)
        cut = alice.asking.answer()
        assert (cut.status, cut.json["id"], cut.json["error"]["code"]) == (401, "held", -32001)
        assert "withdrawn" in cut.json["error"]["message"]
        assert len(hers) == 3
        for pid in hers:
            wait_until(lambda pid=pid: not is_alive(pid), f"the end of {pid}")
        assert int(text_of(bob.client.call("pid"))) == bob.pid
        (tmp_path / "bobs").touch()
        assert text_of(bob.asking.answer().json) == "at last"
        assert is_open(bob.standing)
    assert not [line for line in serving.all_lines() if "Traceback" in line or "internal_error" in line]


def test_one_of_two_keys_may_go_without_anybody_noticing(tmp_path: Path) -> None:
    other = Keys("alice")
    both, one = KEYS.auth("alice"), KEYS.auth("alice")
    both["keys"]["alice"] = [*one["keys"]["alice"], *other.auth()["keys"]["alice"]]
    with serving_for(tmp_path, both, PATIENT_MODERN, **SERVER) as serving:
        client = opened(serving, "alice")
        pid = int(text_of(client.call("pid")))
        write_config(tmp_path, one, PATIENT_MODERN, **SERVER)
        serving.wait_for_line("config_reloaded")
        assert serving.client(**other.of("alice")).initialize().status == 401
        assert int(text_of(client.call("pid"))) == pid


def test_a_tool_that_is_no_longer_allowed_ends_the_sessions_that_knew_it(tmp_path: Path) -> None:
    with serving_for(tmp_path, KEYS.auth(), PATIENT_MODERN, **SERVER) as serving:
        client = opened(serving, "alice")
        pid = int(text_of(client.call("pid")))
        access = {"alice": {"tools": ["echo"]}}
        write_config(tmp_path, KEYS.auth(access=access), PATIENT_MODERN, **SERVER)
        serving.wait_for_line("config_reloaded")
        wait_until(lambda: not is_alive(pid), "the end of the session")
        assert client.post(call(9, "pid")).status == 404
        again = opened(serving, "alice")
        assert "error" in again.call("pid")
        assert text_of(again.call("echo")) == "ok"


def test_a_file_by_which_nobody_could_come_in_changes_nothing(tmp_path: Path) -> None:
    with serving_for(tmp_path, KEYS.auth(), PATIENT_MODERN, **SERVER) as serving:
        client = opened(serving, "alice")
        for number, auth in enumerate(
            ({"mode": "static"}, {"mode": "static", "keys": {"bob": ["sha256:x"]}}), 1
        ):
            write_config(tmp_path, auth, PATIENT_MODERN, **SERVER)
            wait_until(
                lambda number=number: sum("config_rejected" in line for line in serving.lines) == number,
                "a refusal",
            )
            assert text_of(client.call("echo")) == "ok"
            assert serving.client(**bearer("made-up")).initialize().status == 401


def test_a_server_with_a_url_is_cut_off_too(tmp_path: Path) -> None:
    def hold(called: Called) -> None:
        called.begin_stream()
        called.wait_for_end()

    with raw_upstream({"GET": hold, "held": hold}) as upstream:
        one = {"url": upstream.url}
        with serving_for(tmp_path, KEYS.auth(), one, **SERVER) as serving:
            standing, calling = (serving.keep(Wire(serving.port)) for _ in range(2))
            standing.send(request(b"GET /mcp", login("alice"), b"Accept: text/event-stream"))
            calling.send(
                request(b"POST /mcp", login("alice"), JSON, body=json.dumps(call(1, "held")).encode())
            )
            assert [wire.head()[0] for wire in (standing, calling)] == [200, 200]
            write_config(tmp_path, KEYS.auth("bob"), one, **SERVER)
            assert is_over(standing) and is_over(calling)
            assert upstream.last("held").was_closed.wait(60)
            assert upstream.last("GET").was_closed.wait(60)


def test_the_end_waits_for_calls_and_not_for_streams_of_callers_with_keys(tmp_path: Path) -> None:
    held = tmp_path / "now"
    with serving_for(tmp_path, KEYS.auth(), PATIENT_MODERN, **SERVER) as serving:
        streams = Streams(serving, "alice", held)
        task = Path(f"/proc/{streams.pid}/task")
        wait_until(lambda: len(list(task.iterdir())) > 1, "the call")
        serving.process.send_signal(signal.SIGTERM)
        serving.wait_for_line("stopping")
        assert all(is_over(one) for one in (streams.standing, streams.listening))
        assert serving.process.poll() is None
        held.touch()
        assert text_of(streams.asking.answer().json) == "at last"
        assert is_over(streams.old)
        assert serving.process.wait(60) == 0
