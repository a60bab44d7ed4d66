"""Who may come in, and how much: every route, by every credential, over real sockets."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from brimgate.guard.static_keys import digest_of, new_key
from tests.http.serving import (
    DEMO,
    FAULTY,
    PATIENT,
    Answer,
    LegacyClient,
    Serving,
    exchange,
    next_event,
    serve,
    text_of,
    wait_until,
)

ANN, OLD, BOB, EVE = (new_key() for _ in range(4))
KEYS = {"ann": [digest_of(ANN), digest_of(OLD)], "bob": [digest_of(BOB)], "eve": [digest_of(EVE)]}
JSON_TYPES = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
PING = {"jsonrpc": "2.0", "id": "p7", "method": "ping"}
HANG = {"jsonrpc": "2.0", "id": "h", "method": "tools/call", "params": {"name": "hang", "arguments": {}}}
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "echo", "arguments": {}}}


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


def commanded(command: list[str]) -> dict[str, Any]:
    return {"command": command[0], "args": command[1:]}


@dataclass
class Gate:
    """A configuration file that may be changed while it is in force."""

    path: Path
    document: dict[str, Any] = field(default_factory=dict)

    def write(self, **changes: Any) -> None:
        self.document |= changes
        self.path.write_text(json.dumps(self.document))


@contextmanager
def gated(folder: Path, **more: Any) -> Iterator[tuple[Serving, Gate]]:
    gate = Gate(folder / "brimgate.yaml")
    gate.write(
        **{
            "upstreams": {"notes": commanded(FAULTY)},
            "server": {"grace_seconds": 0},
            "auth": {"mode": "static", "keys": KEYS},
        }
        | more
    )
    with serve("--config", str(gate.path), command=()) as serving:
        yield serving, gate


@pytest.fixture(scope="module")
def static(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    upstreams = {
        "notes": commanded(FAULTY),
        "patient": commanded(PATIENT),
        "bookings": {"pack": "hostaway", "base_url": "http://127.0.0.1:9", "env": HOSTAWAY},
    }
    limits = {"requests": 10_000, "sessions": 100}
    with gated(tmp_path_factory.mktemp("static"), upstreams=upstreams, limits=limits) as (serving, _):
        yield serving


HOSTAWAY = {"HOSTAWAY_ACCOUNT_ID": "1", "HOSTAWAY_API_KEY": "x"}
ROUTES = [
    ("POST", "/mcp/notes"),
    ("GET", "/mcp/notes"),
    ("DELETE", "/mcp/notes"),
    ("GET", "/sse/notes"),
    ("POST", "/sse/notes?sessionId=x"),
    ("POST", "/messages/notes?sessionId=x"),
    ("GET", "/api/v1/listings"),
    ("GET", "/api/v1/docs"),
    ("GET", "/api/v1/openapi.json"),
    ("POST", "/sse/ticket"),
]
CREDENTIALS: dict[str, tuple[dict[str, str], int, str]] = {
    "none": ({}, 401, ""),
    "another scheme": ({"authorization": "Basic YTpi"}, 401, ""),
    "malformed": ({"authorization": "Bearer two words"}, 400, "invalid_request"),
    "empty": ({"authorization": "Bearer "}, 400, "invalid_request"),
    "wrong": (bearer(new_key()), 401, "invalid_token"),
    "a digest in place of the key": (bearer(digest_of(ANN)), 401, "invalid_token"),
    "a name": (bearer("ann"), 401, "invalid_token"),
    "almost": (bearer(ANN[:-1] + ("A" if ANN[-1] != "A" else "B")), 401, "invalid_token"),
    "an api key": ({"x-api-key": ANN}, 401, ""),
    "a cookie": ({"cookie": f"token={ANN}"}, 401, ""),
    "a proxy's word": ({"x-forwarded-user": "ann", "x-forwarded-for": "127.0.0.1"}, 401, ""),
}


def ask(serving: Serving, method: str, path: str, headers: dict[str, str], body: Any = PING) -> Answer:
    return exchange(serving.connect(), method, path, body if method == "POST" else None, JSON_TYPES | headers)


@pytest.mark.parametrize("credential", CREDENTIALS)
def test_no_route_lets_anyone_in_without_a_valid_credential(static: Serving, credential: str) -> None:
    headers, status, error = CREDENTIALS[credential]
    for method, path in ROUTES:
        answer = ask(static, method, path, headers)
        assert answer.status == status, (method, path, answer)
        challenge = answer.headers["www-authenticate"]
        assert challenge.startswith('Bearer realm="brimgate"') and "resource_metadata" not in challenge
        assert (f'error="{error}"' in challenge) if error else ("error=" not in challenge)
        told = answer.json["error"]
        if "/api/" in path:
            assert told["code"] == "unauthorized"
        else:
            assert told["code"] == -32001
            is_message = method == "POST" and path != "/sse/ticket"
            assert answer.json["id"] == ("p7" if is_message else None)


def test_two_credentials_at_once_are_refused(static: Serving) -> None:
    connection = static.connect()
    connection.putrequest("POST", "/mcp/notes")
    for name, value in (
        *JSON_TYPES.items(),
        ("authorization", f"Bearer {ANN}"),
        ("authorization", "Bearer x"),
    ):
        connection.putheader(name, value)
    connection.putheader("content-length", "2")
    connection.endheaders(b"{}")
    assert static.answer_of(connection).status == 400


def test_both_keys_of_a_caller_are_valid_and_are_the_same_caller(static: Serving) -> None:
    client = static.client(path="/mcp/notes", **bearer(ANN))
    client.initialize()
    client.more = bearer(OLD)
    assert text_of(client.call("echo", text="hello")) == "hello"


@pytest.mark.parametrize(
    "path", ["/.well-known/oauth-protected-resource", "/.well-known/openid-configuration", "/register"]
)
def test_clients_that_look_for_an_authorization_server_get_json(static: Serving, path: str) -> None:
    for method in ("GET", "POST"):
        answer = ask(static, method, path, {})
        assert answer.status == 404 and answer.headers["content-type"] == "application/json"
        assert "error" in answer.json and "notes" not in answer.body.decode()


def test_a_foreign_session_is_answered_as_an_unknown_one(static: Serving) -> None:
    ann = static.client(path="/mcp/notes", **bearer(ANN))
    ann.initialize()
    stream = static.connect()
    stream.request("GET", "/sse/notes", headers={"accept": "text/event-stream"} | bearer(ANN))
    endpoint = next_event(static.answer_of(stream))["data"]

    def seen(session: str, messages: str) -> list[tuple[int, bytes]]:
        given = bearer(BOB) | {"mcp-session-id": session}
        tries = [("POST", "/mcp/notes"), ("GET", "/mcp/notes"), ("DELETE", "/mcp/notes"), ("POST", messages)]
        answers = [ask(static, method, path, given) for method, path in tries]
        resumed = ask(static, "GET", "/mcp/notes", given | {"last-event-id": "1-1"})
        return [(one.status, one.body) for one in (*answers, resumed)]

    foreign = seen(ann.session, endpoint)
    unknown = seen("0" * 32, "/messages/notes?sessionId=" + "0" * 32)
    assert foreign == unknown and {status for status, _ in foreign} == {404}
    assert ann.request("ping")["result"] == {}


def test_a_foreign_cursor_is_answered_as_an_unknown_one(static: Serving) -> None:
    clients = {key: static.client(path="/mcp/notes", **bearer(key)) for key in (ANN, BOB)}
    for client in clients.values():
        client.initialize()
    first = clients[ANN].call("rows")["result"]
    cursor = first["_meta"]["brimgate/result"]["nextCursor"]

    def told(client: LegacyClient, given: str) -> Any:
        return client.call("brimgate_read", cursor=given)["result"]["content"][0]["text"]

    assert told(clients[BOB], cursor) == told(clients[BOB], "A" * len(cursor))
    assert "item" in told(clients[ANN], cursor)


def is_let_in(serving: Serving, key: str) -> bool:
    return serving.client(**bearer(key)).initialize().status == 200


# Limits


def test_a_hundred_pass_and_the_next_does_not(tmp_path: Path) -> None:
    with gated(tmp_path) as (serving, _):
        client = serving.client(**bearer(ANN))
        client.initialize()
        for number in range(100):
            if number % 10 == 0:
                assert client.request("ping")["result"] == {}  # free
            answer = client.post(CALL | {"id": number})
            assert answer.status == 200
            assert answer.headers["ratelimit"].startswith(f'"user";r={99 - number};t=')
            assert answer.headers["ratelimit-policy"] == '"user";q=100;w=900'
        refused = client.post(CALL | {"id": "x1"})
        error = refused.json["error"]
        assert (refused.status, refused.json["id"], error["code"]) == (429, "x1", -32000)
        assert error["message"] == "Rate limit exceeded"
        assert error["data"]["limit"] == 100 and error["data"]["window"] == 900
        assert refused.headers["retry-after"] == str(error["data"]["retryAfter"])
        assert 60 <= error["data"]["retryAfter"] <= 900
        assert client.request("ping")["result"] == {}
        assert is_let_in(serving, BOB)  # of another
        assert client.post([CALL, CALL | {"id": 2}]).status == 429
        assert client.post({"jsonrpc": "2.0", "method": "notifications/initialized"}).status == 202
        assert client.call("brimgate_read", cursor="made up")["result"]["isError"]  # has a limit of its own


def test_whoever_waits_as_long_as_told_is_admitted(tmp_path: Path) -> None:
    with gated(tmp_path, limits={"requests": 2, "window_seconds": 1, "block_seconds": 2}) as (serving, _):
        client = serving.client(**bearer(ANN))
        client.initialize()
        assert [client.post(CALL | {"id": n}).status for n in range(3)] == [200, 200, 429]
        wait_until(lambda: client.post(CALL | {"id": 9}).status == 200, "the block ends")


def test_limits_of_tools_and_upstreams_take_the_place_of_the_general_one(tmp_path: Path) -> None:
    limits = {
        "requests": 2,
        "upstreams": {"notes": {"requests": 4}},
        "tools": {"ec*": {"requests": 1}},
    }
    with gated(tmp_path, limits=limits) as (serving, _):
        client = serving.client(**bearer(ANN))
        client.initialize()
        assert [client.post(CALL | {"id": n}).status for n in range(2)] == [200, 429]
        other = {"jsonrpc": "2.0", "method": "tools/list"}
        assert [client.post(other | {"id": n}).status for n in range(5)] == [200] * 4 + [429]


def test_a_batch_counts_as_what_is_in_it_and_is_refused_as_a_whole(tmp_path: Path) -> None:
    with gated(tmp_path, limits={"requests": 3}) as (serving, _):
        client = serving.client("2025-03-26", **bearer(ANN))
        client.initialize()
        two = [CALL | {"id": 1}, CALL | {"id": 2}]
        assert client.post(two).status == 200
        assert client.post(two).status == 429
        answer = client.post([CALL | {"id": n} for n in range(4)])
        assert answer.status == 429 and "send fewer" in answer.json["error"]["message"]


def test_only_so_many_calls_of_one_caller_run_at_a_time(tmp_path: Path) -> None:
    hang = {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "hang", "arguments": {}}}
    with gated(tmp_path, limits={"concurrency": 2, "requests": 10_000}) as (serving, _):
        client = serving.client(**bearer(ANN))
        client.initialize()
        open_ones = [client.begin(hang | {"id": number}) for number in ("a", "b")]
        refused = wait_until(
            lambda: (found := client.post(CALL)).status == 429 and found, "a third call is refused"
        )
        assert "calls at a time" in refused.json["error"]["message"]
        assert is_let_in(serving, BOB)
        for response in open_ones:
            serving.cut(response)
        wait_until(lambda: client.post(CALL | {"id": 5}).status == 200, "their places are free")


def test_reading_on_has_a_limit_of_its_own(tmp_path: Path) -> None:
    with gated(tmp_path, limits={"requests": 1, "reads": 2, "legacy_headers": True}) as (serving, _):
        client = serving.client(**bearer(ANN))
        client.initialize()
        read = {"name": "brimgate_read", "arguments": {"cursor": "made up"}}
        asked = {"jsonrpc": "2.0", "method": "tools/call", "params": read}
        answers = [client.post(asked | {"id": number}) for number in range(3)]
        assert [one.status for one in answers] == [200, 200, 429]
        first = answers[0].headers
        assert (first["x-ratelimit-limit"], first["x-ratelimit-remaining"]) == ("2", "1")
        assert client.post(CALL).status == 200


@pytest.mark.parametrize("bound", ["sessions", "processes"])
def test_whoever_has_all_that_one_may_have_makes_room_for_itself(tmp_path: Path, bound: str) -> None:
    with gated(tmp_path, limits={bound: 1}) as (serving, _):
        bob, first, second = (serving.client(**bearer(key)) for key in (BOB, ANN, ANN))
        bob.initialize()
        first.initialize()
        wait_until(lambda: second.initialize().status == 200, "the idle one makes room")
        assert first.post(PING).status == 404
        assert bob.post(PING).status == second.post(PING).status == 200
        busy = second.begin(HANG)
        refused = first.serving.client(**bearer(ANN)).initialize()
        assert refused.status == 503 and f"limits.{bound}" in refused.json["error"]["message"]
        serving.cut(busy)


def test_attempts_are_bounded_in_all(tmp_path: Path) -> None:
    with gated(tmp_path, auth={"mode": "static", "keys": KEYS, "attempts": 3}) as (serving, _):
        statuses = [ask(serving, "POST", "/mcp", bearer(new_key())).status for _ in range(4)]
        assert statuses == [401] * 3 + [429]


def test_health_tells_everyone_all_if_it_is_told_to(tmp_path: Path) -> None:
    with gated(tmp_path, server={"grace_seconds": 0, "health_details": True}) as (serving, _):
        assert "checks" in ask(serving, "GET", "/health", {}).json


def test_bad_keys_are_not_tried_without_end(tmp_path: Path) -> None:
    auth = {"mode": "static", "keys": KEYS, "attempts_per_address": 5}
    with gated(tmp_path, auth=auth) as (serving, _):
        statuses = [ask(serving, "POST", "/mcp", bearer(new_key())).status for _ in range(7)]
        assert statuses == [401] * 5 + [429] * 2
        assert is_let_in(serving, ANN)  # known keys are no attempts


def test_a_cursor_in_a_value_is_no_reading_on(static: Serving) -> None:
    def policy(query: str) -> str:
        return ask(static, "GET", f"/api/v1/listings?{query}", bearer(ANN)).headers["ratelimit-policy"]

    assert policy("cursor=made-up").startswith('"read"')
    assert policy("city=cursor=").startswith('"user"')


# Allow-lists


ACCESS = {
    "ann": {},
    "bob": {"upstreams": ["notes"], "tools": ["echo"]},
    "eve": {"upstreams": ["other"]},
}


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    auth = {"mode": "static", "keys": KEYS, "access": ACCESS}
    upstreams = {"notes": commanded(DEMO), "other": commanded(FAULTY)}
    with gated(tmp_path_factory.mktemp("listed"), auth=auth, upstreams=upstreams) as (serving, _):
        yield serving


def tools_of(client: LegacyClient) -> set[str]:
    return {tool["name"] for tool in client.request("tools/list")["result"]["tools"]}


def test_what_is_not_allowed_is_neither_listed_nor_callable(listed: Serving) -> None:
    ann, bob = (listed.client(path="/mcp/notes", **bearer(key)) for key in (ANN, BOB))
    ann.initialize()
    bob.initialize()
    everything = tools_of(ann)
    assert tools_of(bob) == (everything & {"echo"}) | {"brimgate_read"}
    hidden = sorted(everything - {"echo", "brimgate_read"})[0]
    assert bob.call(hidden)["error"] == bob.call("made_up")["error"] | {"message": f"Unknown tool: {hidden}"}
    whole = bob.call("brimgate_read", cursor=f"tool:{hidden}")["result"]
    assert whole["isError"]


def test_an_upstream_that_is_not_allowed_is_not_there(listed: Serving) -> None:
    for method in ("POST", "GET", "DELETE"):
        answer = ask(listed, method, "/mcp/notes", bearer(EVE))
        nowhere = ask(listed, method, "/mcp/nowhere", bearer(EVE))
        assert answer.status == nowhere.status == 404
        assert answer.json["error"] == nowhere.json["error"]


@pytest.mark.parametrize(
    "body",
    [
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","Name":"big"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call","params":{"name":"big"}}',
        b'[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","name":"big"}}]',
    ],
)
def test_no_difference_between_readers_leads_past_a_list(listed: Serving, body: bytes) -> None:
    bob = listed.client("2025-03-26", path="/mcp/notes", **bearer(BOB))
    bob.initialize()
    assert bob.post(body).status == 400


# Tickets, reload, health


def test_a_ticket_opens_one_stream_once(static: Serving) -> None:
    given = ask(static, "POST", "/sse/ticket", bearer(ANN))
    assert given.status == 201 and given.json["expires_in"] == 30
    path = f"/sse/notes?ticket={given.json['ticket']}"
    connection = static.connect()
    connection.request("GET", path, headers={"accept": "text/event-stream"})
    endpoint = next_event(static.answer_of(connection))["data"]
    assert ask(static, "POST", endpoint, bearer(ANN)).status == 202
    assert ask(static, "POST", endpoint, bearer(BOB)).status == 404
    assert ask(static, "POST", endpoint, {}).status == 401
    assert ask(static, "GET", path, {"accept": "text/event-stream"}).status == 401


def test_a_key_that_is_taken_away_is_refused_from_then_on(tmp_path: Path) -> None:
    with gated(tmp_path) as (serving, gate):
        client = serving.client(**bearer(BOB))
        client.initialize()
        gate.write(auth={"mode": "static", "keys": {"ann": KEYS["ann"]}})
        wait_until(lambda: client.post(PING).status == 401, "bob is refused")
        assert is_let_in(serving, ANN)


def test_health_tells_strangers_the_status_alone(static: Serving) -> None:
    away = {"x-forwarded-for": "192.0.2.1"}
    assert set(ask(static, "GET", "/health", away).json) == {"status"}
    assert set(ask(static, "GET", "/health", away | bearer(new_key())).json) == {"status"}
    for known in (away | bearer(ANN), {}):
        told = ask(static, "GET", "/health", known).json
        assert {"status", "timestamp", "version", "uptime", "checks", "sessions"} <= set(told)
    assert ask(static, "GET", "/healthz", {}).status == ask(static, "GET", "/readyz", {}).status == 200


def test_the_log_has_the_caller_and_no_key(tmp_path: Path) -> None:
    wrong = new_key()
    with gated(tmp_path, log_level="debug") as (serving, _):
        ask(serving, "POST", "/mcp", bearer(wrong))
        assert is_let_in(serving, ANN)
        serving.stop()
        lines = serving.all_lines()
    told = [line for line in lines if "request " in line]
    assert any("principal=ann" in line and "status=200" in line for line in told)
    assert any("principal=refused:" in line and "status=401" in line for line in told)
    assert not any(secret in line for line in lines for secret in (ANN, wrong, digest_of(ANN)))


def test_without_auth_a_forwarded_request_is_not_of_this_machine() -> None:
    with serve() as serving:
        for name in ("x-forwarded-for", "forwarded", "x-real-ip"):
            answer = ask(serving, "POST", "/mcp", {name: "127.0.0.1"})
            assert answer.status == 403 and "proxy" in answer.json["error"]["message"]
        assert ask(serving, "POST", "/mcp", {}).status == 400  # no session, but let in


def test_an_open_address_needs_auth() -> None:
    with serve("--host", "0.0.0.0") as serving:  # noqa: S104
        assert serving.process.wait(60) == 2
        assert any("auth.mode" in line for line in serving.all_lines())


PROVED = {
    "Config.auth": test_no_route_lets_anyone_in_without_a_valid_credential,
    "AuthOptions.mode": test_no_route_lets_anyone_in_without_a_valid_credential,
    "AuthOptions.keys": test_a_key_that_is_taken_away_is_refused_from_then_on,
    "Server.health_details": test_health_tells_everyone_all_if_it_is_told_to,
    "Config.limits": test_a_hundred_pass_and_the_next_does_not,
    "AuthOptions.access": test_what_is_not_allowed_is_neither_listed_nor_callable,
    "AuthOptions.attempts": test_attempts_are_bounded_in_all,
    "AuthOptions.attempts_per_address": test_bad_keys_are_not_tried_without_end,
    "RequestLimits.requests": test_a_batch_counts_as_what_is_in_it_and_is_refused_as_a_whole,
    "RequestLimits.window_seconds": test_whoever_waits_as_long_as_told_is_admitted,
    "RequestLimits.block_seconds": test_whoever_waits_as_long_as_told_is_admitted,
    "RequestLimits.reads": test_reading_on_has_a_limit_of_its_own,
    "RequestLimits.legacy_headers": test_reading_on_has_a_limit_of_its_own,
    "RequestLimits.concurrency": test_only_so_many_calls_of_one_caller_run_at_a_time,
    "RequestLimits.sessions": test_whoever_has_all_that_one_may_have_makes_room_for_itself,
    "RequestLimits.processes": test_whoever_has_all_that_one_may_have_makes_room_for_itself,
    "RequestLimits.upstreams": test_limits_of_tools_and_upstreams_take_the_place_of_the_general_one,
    "RequestLimits.tools": test_limits_of_tools_and_upstreams_take_the_place_of_the_general_one,
}
"""The tests that prove a key of the configuration (see tests/config/test_keys.py)."""
