"""What tests can do to the sandbox: faults of each kind, new data underneath, and what was asked."""

import json
import socket
from contextlib import ExitStack
from http.client import IncompleteRead, RemoteDisconnected
from urllib.parse import urlsplit

import pytest

from brimgate.sandboxes.hostaway import sandbox
from brimgate.sandboxes.hostaway.faults import LEAK
from tests.hostaway.asking import PATIENCE, SMALL, Caller, Json, ids, small


def waiting(caller: Caller, path: str) -> socket.socket:
    """Someone who has asked and listens."""
    address = urlsplit(caller.url)
    connection = socket.create_connection((address.hostname, address.port), PATIENCE)
    connection.sendall(f"GET /v1/{path} HTTP/1.1\r\nhost: x\r\n\r\n".encode())
    return connection


def heard(caller: Caller, count: int) -> list[Json]:
    """What was asked, once it is so much."""
    tries = (caller.control("/requests") for _ in range(10_000))
    return next(asked for asked in tries if len(asked) == count)


@pytest.mark.parametrize(
    ("kind", "status", "content"),
    [
        ("html500", 500, b"<h1>500 Internal Server Error</h1>"),
        ("stack_trace", 500, LEAK.encode()),
        ("redirect", 302, b""),
        ("wrong_type", 200, b'"result":"none"'),
        ("rate_limited", 429, b"Too many requests"),
    ],
)
def test_a_fault_comes_as_often_as_it_is_planned(
    caller: Caller, kind: str, status: int, content: bytes
) -> None:
    caller.control("/fault", path="/v1/reservations", kind=kind, times=2)
    assert caller.ask("/listings", limit=1).status == 200
    for _ in range(2):
        told = caller.ask("/reservations")
        assert told.status == status
        assert content in told.body
    assert caller.ask("/reservations").json["count"] == 130


def test_a_redirect_leads_where_it_is_told_to(caller: Caller) -> None:
    caller.control("/fault", path="/v1/users", kind="redirect", location="http://127.0.0.1:9/else")
    assert caller.ask("/users").headers["location"] == "http://127.0.0.1:9/else"


def test_a_truncated_answer_is_good_http_and_bad_json(caller: Caller) -> None:
    whole = caller.ask("/reservations")
    caller.control("/fault", path="/v1/reservations", kind="truncated")
    told = caller.ask("/reservations")
    assert told.status == 200
    assert whole.body.startswith(told.body)
    with pytest.raises(ValueError, match="line 1"):
        json.loads(told.body)


def test_a_connection_is_dropped_or_cut(caller: Caller) -> None:
    caller.control("/fault", path="/v1/reservations", kind="drop")
    with pytest.raises((RemoteDisconnected, ConnectionResetError)):
        caller.ask("/reservations")
    caller.control("/fault", path="/v1/reservations", kind="cut")
    with pytest.raises(IncompleteRead):
        caller.ask("/reservations")
    assert caller.ask("/reservations").status == 200


def test_what_hangs_hangs_and_the_rest_goes_on(caller: Caller) -> None:
    caller.control("/fault", path="/v1/reservations", kind="hang")
    with waiting(caller, "reservations") as connection:
        assert heard(caller, 1)[0]["status"] is None
        assert caller.ask("/reservations").status == 200
        connection.setblocking(False)
        with pytest.raises(BlockingIOError):
            connection.recv(1)


def test_a_slow_answer_is_the_right_one(caller: Caller) -> None:
    right = caller.ask("/reservations").json
    caller.control("/fault", path="/v1/reservations", kind="slow", seconds=0.01)
    assert caller.ask("/reservations").json == right


def test_a_sandbox_stops_although_someone_hangs() -> None:
    with ExitStack() as stack:
        with sandbox(**SMALL) as started:
            caller = Caller(started.url).sign_in()
            caller.control("/fault", path="/v1/users", kind="hang")
            caller.control("/fault", path="/v1/listings", kind="slow", seconds=600)
            connections = [stack.enter_context(waiting(caller, path)) for path in ("users", "listings")]
            heard(caller, 3)
        for connection in connections:
            while connection.recv(4_096):
                pass


def test_new_reservations_push_the_others_on(caller: Caller) -> None:
    before = ids(caller.result("/reservations", limit=500))
    caller.control("/add_reservations", count=7)
    page = caller.ask("/reservations", limit=500).json
    assert page["count"] == 137
    assert ids(page["result"])[7:] == before
    made = [one["insertedOn"] for one in page["result"]]
    assert made == sorted(made, reverse=True)
    assert caller.ask("/conversations").json["count"] == 137
    caller.control("/reset")
    assert ids(caller.result("/reservations", limit=500)) == before


def test_what_was_asked_is_told(caller: Caller) -> None:
    caller.ask("/reservations", limit=3, match="a b")
    Caller(caller.url).ask("/listings")
    first, second = caller.control("/requests")
    asked = {"method": "GET", "path": "/v1/reservations", "query": "limit=3&match=a+b"}
    assert first == asked | {"authorization": True, "status": 200}
    assert (second["path"], second["authorization"], second["status"]) == ("/v1/listings", False, 401)


def test_control_says_what_is_wrong_and_is_not_there_unless_asked_for(caller: Caller) -> None:
    control = Caller(caller.url.replace("/v1", "/control"))
    for body in ("{", "[]"):
        assert control.ask("/fault", "POST", body, "application/json").status == 400
    for told in (
        {},
        {"path": "/v1/users", "kind": "fire"},
        {"path": "/v1/users", "kind": "hang", "times": -1},
    ):
        assert control.ask("/fault", "POST", json.dumps(told), "application/json").status == 422
    assert control.ask("/elsewhere").status == 404
    with sandbox(**small(control=False)) as started:
        assert Caller(started.url.replace("/v1", "/control")).ask("/requests").status == 404
