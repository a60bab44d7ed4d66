"""Clients that shake hands, in front of a stdio server: sessions, streams, and what a cut connection does not lose."""

import json
from collections.abc import Iterator
from http.client import HTTPResponse
from typing import Any

import pytest

from tests.http.serving import FAULTY, Serving, next_event, serve, text_of, wait_until

NEVER_OPENED = "0123456789abcdef0123456789abcdef"


@pytest.fixture(scope="module")
def serving() -> Iterator[Serving]:
    with serve("--set", "grace_seconds=0") as started:
        yield started


def call(key: Any, tool: str, arguments: dict[str, Any] | None = None, **meta: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments or {}} | ({"_meta": meta} if meta else {})
    return {"jsonrpc": "2.0", "id": key, "method": "tools/call", "params": params}


def read_rest(response: HTTPResponse) -> list[dict[str, str]]:
    events: list[dict[str, str]] = []
    while True:
        try:
            events.append(next_event(response))
        except AssertionError:
            return events


def test_a_session_has_a_process_of_its_own_and_ends_with_delete(serving: Serving) -> None:
    one, other = serving.client(), serving.client()
    one.initialize()
    other.initialize()
    assert one.session != other.session
    pids = {text_of(client.call("pid")) for client in (one, other)}
    assert len(pids) == 2
    assert one.delete().status == 200
    gone = one.post(call(7, "echo"))
    unknown = other.post(call(7, "echo"), **{"mcp-session-id": NEVER_OPENED})
    assert gone.status == unknown.status == 404
    assert gone.json == unknown.json
    assert gone.json["id"] == 7
    assert text_of(other.call("echo", text="still here")) == "still here"


def test_without_a_session_id_a_request_is_told_to_initialize(serving: Serving) -> None:
    answer = serving.client().post(call(1, "echo"))
    assert answer.status == 400
    assert "initialize" in answer.json["error"]["message"]


def test_notifications_are_accepted_and_nothing_more(serving: Serving) -> None:
    client = serving.client()
    client.initialize()
    answer = client.post({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
    assert (answer.status, answer.body) == (202, b"")


def test_an_answer_is_json_or_a_stream_as_the_client_accepts(serving: Serving) -> None:
    client = serving.client()
    client.initialize()
    streamed = client.post(call(1, "echo"))
    assert streamed.headers["content-type"] == "text/event-stream"
    assert streamed.events[0] == {"id": "2-0", "retry": "1000", "data": ""}
    plain = client.post(call(2, "echo"), accept="application/json")
    assert plain.headers["content-type"] == "application/json"
    assert plain.json["result"] == streamed.messages[0]["result"]
    assert client.post(call(3, "echo"), accept="text/html").status == 406


def test_json_response_makes_every_answer_plain_json() -> None:
    with serve("--set", "json_response=true") as serving:
        client = serving.client()
        assert client.initialize().headers["content-type"] == "application/json"
        assert client.post(call(1, "echo")).headers["content-type"] == "application/json"


def test_older_clients_get_no_event_without_data(serving: Serving) -> None:
    client = serving.client("2025-06-18")
    client.initialize()
    events = client.post(call(1, "echo")).events
    assert events and all(event["data"] for event in events)


def test_progress_comes_on_the_stream_of_its_call(serving: Serving) -> None:
    client = serving.client()
    client.initialize()
    answer = client.post(call(1, "progress", progressToken="mine"))
    steps = [one["params"]["progress"] for one in answer.messages if "method" in one]
    assert steps == [1, 2, 3]
    assert {one["params"]["progressToken"] for one in answer.messages if "method" in one} == {"mine"}
    assert answer.messages[-1]["id"] == 1


def test_an_answer_lost_with_its_connection_is_asked_for_again(serving: Serving) -> None:
    client = serving.client()
    client.initialize()
    response = client.begin(call("held", "hold"))
    first = next_event(response)
    serving.cut(response)  # its tool has been called
    assert client.call("release")
    again = client.listen(**{"last-event-id": first["id"]})
    event = next_event(again)
    assert json.loads(event["data"])["id"] == "held"
    assert again.readline() == b""  # and the stream ends with its answer


def test_what_was_seen_is_not_sent_again(serving: Serving) -> None:
    client = serving.client()
    client.initialize()
    events = client.post(call(1, "progress", progressToken=1)).events
    rest = read_rest(client.listen(**{"last-event-id": events[2]["id"]}))
    assert rest == events[3:]


@pytest.mark.parametrize("event_id", ["99-1", "x", "1", "", "-1-1", "9" * 50 + "-1"])
def test_an_event_nobody_knows_is_an_error_or_a_new_stream(serving: Serving, event_id: str) -> None:
    client = serving.client()
    client.initialize()
    assert client.listen(**{"last-event-id": event_id}).status == (400 if event_id else 200)


def test_there_is_one_stream_by_get_at_a_time(serving: Serving) -> None:
    client = serving.client()
    client.initialize()
    stream = client.listen()
    assert (stream.status, client.listen().status) == (200, 409)
    serving.cut(stream)
    wait_until(lambda: client.listen().status == 200, "a new stream")


def test_an_id_in_use_is_refused(serving: Serving) -> None:
    client = serving.client()
    client.initialize()
    client.begin(call(5, "hang"))
    answer = client.post(call(5, "echo"))
    assert (answer.status, answer.json["id"]) == (400, 5)
    assert text_of(client.call("echo")) == "ok"


def test_a_batch_is_answered_as_a_whole(serving: Serving) -> None:
    client = serving.client("2025-03-26")
    client.initialize()
    batch = [call(1, "echo", {"text": "one"}), call(2, "echo", {"text": "two"})]
    answers = client.post(batch, accept="application/json").json
    assert {one["id"]: text_of(one) for one in answers} == {1: "one", 2: "two"}
    assert {one["id"] for one in client.post(batch).messages} == {1, 2}


def test_a_body_in_many_lines_reaches_the_server_as_one(serving: Serving) -> None:
    client = serving.client()
    client.initialize()
    body = json.dumps(call(1, "echo", {"text": "a\nb"}), indent=2).replace("\n", "\r\n").encode()
    assert text_of(client.post(body).messages[0]) == "a\nb"


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"{", 400, -32700),
        (b"nonsense", 400, -32700),
        (b'{"jsonrpc":"2.0"}', 400, -32600),
        (b"[]", 400, -32600),
        (b"[1]", 400, -32600),
        (b'{"a": NaN}', 400, -32600),
    ],
)
def test_what_is_no_message_is_refused(serving: Serving, body: bytes, status: int, code: int) -> None:
    client = serving.client()
    client.initialize()
    answer = client.post(body)
    assert (answer.status, answer.json["error"]["code"]) == (status, code)


def crash(serving: Serving) -> None:
    client = serving.client()
    client.initialize()
    before = text_of(client.call("pid"))
    answer = client.call("die")
    assert "exited with code 3" in answer["error"]["message"]
    assert text_of(client.call("pid")) != before


def test_a_server_that_dies_fails_the_call_and_is_there_for_the_next(serving: Serving) -> None:
    crash(serving)


def test_a_server_that_cannot_start_is_503_at_the_handshake() -> None:
    with serve(command=["/nonexistent/server"]) as serving:
        answer = serving.client().initialize()
        assert answer.status == 503
        assert "no such command" in answer.json["error"]["message"]


def test_a_server_that_dies_at_the_handshake_is_503() -> None:
    with serve(
        command=[FAULTY[0], "-c", "import sys; sys.stderr.write('no licence'); sys.exit(4)"]
    ) as serving:
        answer = serving.client().initialize()
        assert answer.status == 503
        assert "no licence" in answer.json["error"]["message"]


def test_a_call_that_is_called_off_ends_its_stream(serving: Serving) -> None:
    client = serving.client()
    client.initialize()
    response = client.begin(call(8, "hang"))
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 8}}
    assert client.post(cancelled).status == 202
    *_, last = read_rest(response)
    assert json.loads(last["data"])["error"]["code"] == -32800
    assert text_of(client.call("echo")) == "ok"


def test_the_older_way_says_that_it_is_old(serving: Serving) -> None:
    connection = serving.connect()
    connection.request("GET", "/sse", headers={"accept": "text/event-stream"})
    response = serving.answer_of(connection)
    assert response.getheader("deprecation") == "@1742947200"  # 2025-03-26
    assert response.getheader("link") == '</mcp>; rel="successor-version"'
    address = next_event(response)
    assert (address["event"], address["data"].split("=")[0]) == ("endpoint", "/messages?sessionId")
    assert "deprecated" in serving.wait_for_line("deprecated_transport")
    serving.cut(response)
