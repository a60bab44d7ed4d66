"""Single exchanges over one upstream: each client gets what is its own, under the names it chose."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brimgate.relay.protocol.ids import Multiplexer

SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


def request(key: Any, method: str = "tools/call", params: Any = None) -> bytes:
    message = {"jsonrpc": "2.0", "id": key, "method": method} | (
        {"params": params} if params is not None else {}
    )
    return json.dumps(message).encode()


def routed(seats: "Multiplexer[str]", message: Any) -> list[tuple[str, Any, bool]]:
    return [(one.who, json.loads(one.line), one.is_last) for one in seats.route(json.dumps(message).encode())]


keys = st.one_of(st.integers(-(2**53), 2**53), st.text(max_size=20))
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@pytest.mark.property
@given(st.lists(st.tuples(keys, keys, values), min_size=1, max_size=8), st.randoms())
def test_answers_and_progress_find_their_way_whatever_the_ids(
    calls: list[tuple[Any, Any, Any]], random: Any
) -> None:
    seats: Multiplexer[int] = Multiplexer()
    sent: list[tuple[int, Any]] = []
    for who, (key, token, value) in enumerate(calls):
        params = {"name": "t", "arguments": {"v": value}, "_meta": {"progressToken": token, "x": 1}}
        number, line = seats.enter(request(key, params=params), who)
        seen = json.loads(line)
        assert seen["id"] == number == seen["params"]["_meta"]["progressToken"]
        assert seen["params"]["arguments"] == {"v": value}
        assert seen["params"]["_meta"]["x"] == 1
        sent.append((who, seen))
    random.shuffle(sent)
    for who, seen in sent:
        key, token, value = calls[who]
        note = {"method": "notifications/progress", "params": {"progressToken": seen["id"], "progress": 1}}
        (found,) = seats.route(json.dumps({"jsonrpc": "2.0"} | note).encode())
        assert (found.who, found.is_last) == (who, False)
        assert json.loads(found.line)["params"] == {"progressToken": token, "progress": 1}
        (found,) = seats.route(json.dumps({"jsonrpc": "2.0", "id": seen["id"], "result": value}).encode())
        assert (found.who, found.is_last) == (who, True)
        assert json.loads(found.line) == {"jsonrpc": "2.0", "id": key, "result": value}
    assert len(seats) == 0


def test_a_request_without_a_token_keeps_its_parameters_as_they_came() -> None:
    raw = b'{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name" : "t", "x":1.50}}'
    seats: Multiplexer[str] = Multiplexer()
    assert b'"params":{"name" : "t", "x":1.50}' in seats.enter(raw, "me")[1]


def test_an_error_comes_back_whole() -> None:
    seats: Multiplexer[str] = Multiplexer()
    number, _ = seats.enter(request("a"), "me")
    error = {"code": -32042, "message": "no", "data": {"x": [1]}}
    assert routed(seats, {"jsonrpc": "2.0", "id": number, "error": error}) == [
        ("me", {"jsonrpc": "2.0", "id": "a", "error": error}, True)
    ]


def test_a_subscription_is_called_what_its_client_calls_it() -> None:
    seats: Multiplexer[str] = Multiplexer()
    number, _ = seats.enter(request("mine", "subscriptions/listen", {}), "me")
    seats.enter(request("mine", "subscriptions/listen", {}), "other")
    note = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
    ((who, told, last),) = routed(seats, note | {"params": {"_meta": {SUBSCRIPTION: number}}})
    assert (who, last, told["params"]["_meta"][SUBSCRIPTION]) == ("me", False, "mine")
    ((who, told, last),) = routed(seats, note | {"params": {"_meta": {SUBSCRIPTION: str(number)}}})
    assert (who, told["params"]["_meta"][SUBSCRIPTION]) == ("me", "mine")
    result = {"jsonrpc": "2.0", "id": number, "result": {"_meta": {SUBSCRIPTION: number}}}
    ((who, told, last),) = routed(seats, result)
    assert (who, last, told["result"]["_meta"][SUBSCRIPTION]) == ("me", True, "mine")


def test_nobody_is_told_what_is_nobodys() -> None:
    seats: Multiplexer[str] = Multiplexer()
    number, _ = seats.enter(request(1), "me")
    for message in (
        {"method": "notifications/message", "params": {"level": "info", "data": "whose?"}},
        {
            "method": "notifications/progress",
            "params": {"progressToken": number, "progress": 1},
        },  # not asked for
        {"method": "notifications/progress", "params": {"progressToken": 999, "progress": 1}},
        {"id": 999, "result": {}},
        {"id": str(number) + "x", "result": {}},
        {"id": None, "result": {}},
        {"id": number, "method": "sampling/createMessage", "params": {}},
        [],
    ):
        assert routed(seats, {"jsonrpc": "2.0"} | message if isinstance(message, dict) else message) == []
    assert len(seats) == 1


def test_who_has_left_is_called_off_once() -> None:
    seats: Multiplexer[str] = Multiplexer()
    number, _ = seats.enter(request(1), "me")
    told = json.loads(seats.leave(number))
    assert (told["method"], told["params"]["requestId"]) == ("notifications/cancelled", number)
    assert seats.leave(number) == b""
    assert routed(seats, {"jsonrpc": "2.0", "id": number, "result": {}}) == []


def test_a_batch_of_answers_is_told_apart() -> None:
    seats: Multiplexer[str] = Multiplexer()
    one, other = seats.enter(request(1), "me")[0], seats.enter(request(1), "you")[0]
    found = routed(seats, [{"jsonrpc": "2.0", "id": key, "result": key} for key in (other, one)])
    assert [(who, told["result"]) for who, told, _ in found] == [("you", other), ("me", one)]
