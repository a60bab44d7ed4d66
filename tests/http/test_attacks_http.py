"""What hostile, careless and unlucky clients do to `brimgate serve`: nobody else notices, and nothing stays behind."""

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

import pytest

from tests.http.serving import (
    META,
    PATIENCE,
    Answer,
    Serving,
    exchange,
    modern,
    next_event,
    serve,
    text_of,
    wait_until,
)
from tests.http.wire import Wire, request, wire

SERVER = [sys.executable, "-S", str(Path(__file__).with_name("talking_server.py"))]
MODERN = {
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
}


@pytest.fixture(scope="module")
def serving() -> Iterator[Serving]:
    with serve("--budget", "20000", "--set", "grace_seconds=0", command=SERVER) as started:
        yield started


def call(key: Any, tool: str, arguments: dict[str, Any] | None = None, **meta: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments or {}} | ({"_meta": meta} if meta else {})
    return {"jsonrpc": "2.0", "id": key, "method": "tools/call", "params": params}


def single(serving: Serving, tool: str, arguments: dict[str, Any] | None = None, **more: Any) -> Answer:
    return modern(serving, "tools/call", {"name": tool, "arguments": arguments or {}}, **more)


def raw_single(serving: Serving, tool: str, body: bytes) -> Answer:
    """A modern call of this very body."""
    return exchange(serving.connect(), "POST", "/mcp", body, MODERN | {"mcp-name": tool})


def begin_single(serving: Serving, tool: str, arguments: dict[str, Any], **meta: Any) -> HTTPResponse:
    """A modern call whose answer is not read yet."""
    connection = serving.connect()
    message = call(1, tool, arguments, **(META | meta))
    connection.request("POST", "/mcp", json.dumps(message), MODERN | {"mcp-name": tool})
    return serving.answer_of(connection)


def sends_single(opened: Wire, tool: str, arguments: dict[str, Any], **meta: Any) -> None:
    """The same, without waiting for as much as the beginning of an answer."""
    headers = [f"{name}: {value}".encode() for name, value in (MODERN | {"mcp-name": tool}).items()]
    body = json.dumps(call(1, tool, arguments, **(META | meta))).encode()
    opened.send(request(b"POST /mcp", *headers, body=body))


def heard(serving: Serving) -> list[str]:
    return json.loads(text_of(single(serving, "heard").json))


def read_rest(response: HTTPResponse) -> list[dict[str, str]]:
    events: list[dict[str, str]] = []
    with suppress(AssertionError):
        while True:
            events.append(next_event(response))
    return events


# One client at the expense of another


def test_a_body_in_many_lines_is_one_message_to_a_shared_server(serving: Serving) -> None:
    """Or else a line in the middle of it would be a message of its own, in the name of anybody."""
    smuggled = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}'
    meta = json.dumps(META).encode()
    params = b'{"name":"echo","arguments":{"x":\n%b\r\n},"_meta":%b}' % (smuggled, meta)
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%b}' % params
    assert text_of(raw_single(serving, "echo", body).json) == "ok"
    assert not any(line.startswith('{"jsonrpc":"2.0","method"') for line in heard(serving))


def test_a_token_in_many_lines_does_not_break_an_event(serving: Serving) -> None:
    meta = json.dumps(META).encode()
    params = b'{"name":"progress","arguments":{},"_meta":%b,"progressToken":[1,\n2]}}' % meta[:-1]
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%b}' % params
    step, last = raw_single(serving, "progress", body).messages
    assert (step["params"]["progressToken"], last["id"]) == ([1, 2], 1)


@pytest.mark.parametrize(
    "spelled",
    [b'"progress\\u0054oken":%d', b'"progressToken":%d},"_meta":{}'],
    ids=["escaped", "twice"],
)
def test_progress_never_reaches_the_call_of_another(serving: Serving, spelled: bytes, tmp_path: Path) -> None:
    """Whatever number a client makes up for its own, it is not that of another."""
    done = tmp_path / "done"
    with wire(serving) as victim:
        sends_single(victim, "wait", {"path": str(done)}, progressToken="mine")
        number = int(wait_until(lambda: number_of(serving, str(done)), "the call of the other"))
        meta = json.dumps(META).encode()[:-1] + b"," + spelled % number
        if spelled.endswith(b"{}"):
            meta = b'{"progressToken":%d},"_meta":%b' % (number, json.dumps(META).encode()[:-1])
        params = b'{"name":"progress","arguments":{},"_meta":%b}}' % meta
        body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%b}' % params
        assert text_of(raw_single(serving, "progress", body).messages[-1]) == "ok"
        done.touch()
        assert [one.get("id") for one in victim.answer().messages] == [1]


# Streams


def test_a_response_that_was_taken_over_ends(serving: Serving) -> None:
    """A client comes back before its first connection is known to be dead: nothing may wait for that one."""
    client = serving.client()
    client.initialize()
    first = client.begin(call(1, "hang"))
    beginning = next_event(first)
    second = client.listen(**{"last-event-id": beginning["id"]})
    third = client.listen(**{"last-event-id": beginning["id"]})
    assert read_rest(first) == read_rest(second) == []
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    assert client.post(cancelled).status == 202
    assert [json.loads(event["data"])["id"] for event in read_rest(third)] == [1]


def test_a_stream_that_was_left_in_the_middle_of_a_flood_does_not_stop_the_session(
    serving: Serving, tmp_path: Path
) -> None:
    path = tmp_path / "far"
    client = serving.client()
    client.initialize()
    flood = {"count": 2_000, "bytes": 32_768, "path": str(path)}
    response = client.begin(call("flood", "pour", flood, progressToken=1))
    next_event(response)

    def is_held_up() -> bool:
        before = path.read_text() if path.exists() else ""
        return bool(before) and not wait_until_changed(path, before)

    wait_until(is_held_up, "a server that has to wait")
    assert path.read_text() != "done"
    serving.cut(response)
    assert text_of(client.call("echo", text="still here")) == "still here"


def wait_until_changed(path: Path, before: str) -> bool:
    try:
        wait_until(lambda: path.read_text() != before, "a change", patience=0.5)
    except AssertionError:
        return False
    return True


def test_a_shared_server_fills_nobodys_memory_for_a_client_that_does_not_read(
    serving: Serving, tmp_path: Path
) -> None:
    path = tmp_path / "far"
    assert text_of(single(serving, "echo").json) == "ok"
    before = resident_mb(serving)
    with wire(serving) as opened:
        flood = {"count": 2_500, "bytes": 50_000, "path": str(path)}
        sends_single(opened, "pour", flood, progressToken=1)
        wait_until(lambda: path.exists() and path.read_text() == "done", "all of the flood")
        assert text_of(single(serving, "echo").json) == "ok"
        assert resident_mb(serving) - before < 60
        with pytest.raises(EOFError):
            opened.answer()


def resident_mb(serving: Serving) -> int:
    status = Path(f"/proc/{serving.process.pid}/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) >> 10


# Ends


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_a_session_that_ends_during_a_call_answers_it(serving: Serving, accept: str) -> None:
    client = serving.client()
    client.initialize()
    with wire(serving) as opened:
        headers = [
            f"{name}: {value}".encode() for name, value in (client.headers | {"accept": accept}).items()
        ]
        opened.send(request(b"POST /mcp", *headers, body=json.dumps(call("hung", "hang")).encode()))
        wait_until(lambda: "hung" in text_of(client.call("heard")), "the call")
        assert (client.delete().status, client.delete().status) == (200, 404)
        answer = opened.answer()
    if accept == "application/json":
        assert (answer.status, answer.json["id"]) == (404, "hung")
    else:
        assert (answer.status, answer.messages) == (200, [])


def test_a_client_that_hangs_up_after_a_large_body_is_noticed(serving: Serving) -> None:
    with wire(serving) as opened:
        headers = [f"{name}: {value}".encode() for name, value in (MODERN | {"mcp-name": "hang"}).items()]
        body = json.dumps(call(1, "hang", {"mark": "large", "text": "x" * 400_000}, **META)).encode()
        whole = request(b"POST /mcp", *headers, body=body)
        opened.send(whole[:20_000])
        opened.wait_until_read()
        opened.send(whole[20_000:])
        number = wait_until(lambda: number_of(serving, '"large"'), "the call")
    cancelled = f'"requestId":{number},'
    wait_until(lambda: any(cancelled in line for line in heard(serving)), "that it is called off")


def number_of(serving: Serving, mark: str) -> str:
    """What a call with this in its beginning is called on its way to the server; empty if it has not come."""
    line = next((line for line in heard(serving) if mark in line and '"heard"' not in line), "")
    return line.partition('"id":')[2].partition(",")[0]


# Odd input


def test_a_batch_without_measure_is_refused(serving: Serving) -> None:
    client = serving.client("2025-03-26")
    client.initialize()
    answer = client.post(b"[" + b",".join([b"{}"] * 100_000) + b"]")
    assert (answer.status, answer.json["error"]["code"]) == (400, -32600)
    batch = [call(key, "echo") for key in range(1_000)]
    assert len(client.post(batch, accept="application/json").json) == 1_000


def test_no_depth_of_an_id_is_an_error_of_ours(serving: Serving) -> None:
    client = serving.client()
    client.initialize()
    for depth in range(940, 1_000):
        deep = b"[" * depth + b"]" * depth
        body = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%b}}' % deep
        assert client.post(body).status in (202, 400)
        body = b'{"jsonrpc":"2.0","id":%b,"method":"nope"}' % deep
        assert client.post(body).status == 400
    assert not any("internal_error" in line for line in serving.lines)


def test_made_up_names_of_tools_neither_stay_nor_hide_those_there_are(serving: Serving) -> None:
    for number in range(3):
        assert single(serving, f"made up {number}").json["error"]["code"] == -32602
    assert single(serving, "marked", {"text": "a"}, mcp_param_text="b").status == 400


DEAF = """
import json, os, sys, time
for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "initialize":
        told = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "deaf", "version": "1"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": told}), flush=True)
        while not os.path.exists(sys.argv[1]):
            time.sleep(0.02)
"""


def test_a_server_that_does_not_read_makes_its_client_wait(tmp_path: Path) -> None:
    """And Brimgate does not hold what it cannot pass on."""
    listens = tmp_path / "listens"
    file = tmp_path / "brimgate.yaml"
    commands = {name: ["-c", DEAF, str(path)] for name, path in (("deaf", listens), ("open", tmp_path))}
    upstreams = {name: {"command": sys.executable, "args": args} for name, args in commands.items()}
    file.write_text(json.dumps({"upstreams": upstreams}))
    note = {"jsonrpc": "2.0", "method": "notifications/x", "params": {"text": "x" * 1_000_000}}
    taken: list[int] = []
    with serve("--config", str(file), command=()) as serving:
        client, other = (serving.client(path=f"/mcp/{name}") for name in upstreams)
        for one in (client, other):
            one.session = one.post(hello()).headers["mcp-session-id"]

        def send() -> None:
            taken.extend(client.post(note).status for _ in range(8))

        sending = threading.Thread(target=send)
        sending.start()
        wait_until(lambda: taken, "the first message")
        # Without a bound all eight would have been taken before another client has sent three times as many.
        assert [other.post(note).status for _ in range(24)] == [202] * 24
        assert len(taken) < 8
        listens.touch()
        sending.join(PATIENCE)
        assert taken == [202] * 8


def hello() -> dict[str, Any]:
    who = {"name": "test", "version": "1"}
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": who}
    return {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
