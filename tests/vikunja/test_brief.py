"""The acceptance criteria of the brief (002), one test for each, over real sockets: with a Valkey, and without any."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest

from tests.conformance.processes import free_port
from tests.http.serving import Serving, exchange, modern, next_event, serve, wait_until
from tests.store.redis_server import RedisServer, redis_server
from tests.vikunja.team import Team, team

LIMIT = 100
WINDOW = 900
PROJECT_TOOLS = {"list_projects", "list_tasks", "create_task", "update_task", "complete_task"}


class Served(NamedTuple):
    our: Team
    store: RedisServer | None


@pytest.fixture(scope="module", params=[True, False], ids=["valkey", "no store"])
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    """The server of the brief, by the names of its environment."""
    with ExitStack() as stack:
        store = stack.enter_context(redis_server("valkey")) if request.param else None
        given = {"REDIS_URL": store.url, "BRIMGATE_REDIS_TIMEOUT_SECONDS": "5"} if store else {}
        usual = {"BRIMGATE_LIMITS_REQUESTS": str(LIMIT), "BRIMGATE_HEALTH_INTERVAL_SECONDS": "0.2"}
        yield Served(stack.enter_context(team(env=usual | given)), store)


def bearer_of_another(our: Team, name: str = "alice") -> dict[str, str]:
    """A new token of a user, which nothing was counted for yet."""
    granted = {"tasks": ["read_all"], "projects": ["read_all"], "other": ["user"]}
    token = our.standin.control("/token", user=name, permissions=granted)["token"]
    return {"authorization": f"Bearer {token}"}


def test_r1_streamable_http_is_the_primary_transport(served: Served) -> None:
    our, _ = served
    login = bearer_of_another(our)
    client = our.serving.client(**login)
    greeted = client.initialize()
    assert greeted.messages[0]["result"]["serverInfo"]["title"] == "Vikunja"
    assert {one["name"] for one in client.request("tools/list")["result"]["tools"]} >= PROJECT_TOOLS
    client.accept = "application/json"
    message = {
        "jsonrpc": "2.0",
        "id": 5,
        "method": "tools/call",
        "params": {"name": "get_info", "arguments": {}},
    }
    plain = client.post(message)
    assert plain.headers["content-type"] == "application/json" and plain.json["id"] == 5
    assert client.delete().status == 200
    assert client.post(message).status == 404
    answer = modern(our.serving, "tools/call", {"name": "get_info", "arguments": {}}, **login)  # type: ignore[arg-type]
    assert "v2.5.0" in answer.messages[-1]["result"]["content"][-1]["text"]


def test_r2_old_clients_use_sse(served: Served) -> None:
    our, _ = served
    login = bearer_of_another(our)
    connection = our.serving.connect()
    connection.request("GET", "/sse", headers=login | {"accept": "text/event-stream"})
    stream = our.serving.answer_of(connection)
    assert stream.status == 200 and stream.getheader("deprecation")
    path = next_event(stream)["data"]
    for at in (path, path.replace("/messages", "/sse")):  # the brief posts to /sse itself
        params = {
            "protocolVersion": "2024-11-05",
            "capabilities": {},
            "clientInfo": {"name": "old", "version": "1"},
        }
        message = {"jsonrpc": "2.0", "id": at, "method": "initialize", "params": params}
        headers = login | {"content-type": "application/json"}
        assert exchange(our.serving.connect(), "POST", at, message, headers).status == 202
        assert json.loads(next_event(stream)["data"])["id"] == at
    our.serving.wait_for_line("deprecated_transport")


def test_r3_the_token_is_checked_at_vikunja_and_remembered(served: Served) -> None:
    our, store = served
    our.standin.control("/reset")
    mine = {name: {"authorization": f"Bearer {token}"} for name, token in our.tokens.items()}
    for name in ("alice", "bob"):
        for _ in range(3):
            assert our.serving.client(**mine[name]).initialize().status == 200
    asked = our.standin.control("/requests")
    checks = [one["user"] for one in asked if one["path"].endswith("/token/test") and one["user"]]
    assert sorted(checks) == ["alice", "bob"], "one for each token"
    for wrong in ({}, {"authorization": "Bearer tk_" + "0" * 40}, {"authorization": "Basic eDp5"}):
        refused = our.serving.client(**wrong).post({"jsonrpc": "2.0", "id": 3, "method": "ping"})
        assert refused.status == 401 and refused.json["error"]["code"] == -32001 and refused.json["id"] == 3
    if store is not None:
        keys = cast("list[bytes]", store.ask("KEYS", "*"))
        assert keys and all(key.startswith(b"vikunja:mcp:") for key in keys)
        assert not any(token.encode() in store.everything() for token in our.tokens.values())
    log = "\n".join(our.serving.lines)
    assert "authenticated" in log and not any(token in log for token in our.tokens.values())


def test_r4_a_token_has_a_hundred_requests_in_fifteen_minutes(served: Served) -> None:
    our, _ = served
    login = bearer_of_another(our)
    client = our.serving.client(**login)
    client.initialize()
    call = {
        "jsonrpc": "2.0",
        "id": 9,
        "method": "tools/call",
        "params": {"name": "get_info", "arguments": {}},
    }
    statuses = [client.post(call).status for _ in range(LIMIT + 5)]
    assert statuses == [200] * statuses.count(200) + [429] * statuses.count(429)
    assert statuses.count(200) in (LIMIT, LIMIT - 1)  # the handshake may count
    refused = client.post(call)
    data = refused.json["error"]["data"]
    assert refused.status == 429 and refused.json["error"]["code"] == -32000
    assert (data["limit"], data["window"]) == (LIMIT, WINDOW) and data["retryAfter"] > 0
    assert int(refused.headers["retry-after"]) > 0
    assert our.serving.client(**bearer_of_another(our, "bob")).initialize().status == 200


def test_r5_sessions_are_of_one_user(served: Served) -> None:
    our, _ = served
    login = bearer_of_another(our)
    alice = our.serving.client(**login)
    alice.initialize()
    thief = our.serving.client(**bearer_of_another(our, "bob"))
    thief.session = alice.session
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert thief.post(ping).status == 404
    assert alice.post(ping).status == 200
    assert alice.delete().status == 200 and alice.post(ping).status == 404


def test_r6_health_tells_of_vikunja_and_of_redis(served: Served) -> None:
    our, store = served
    login = bearer_of_another(our)
    our.serving.client(**login).initialize()
    told = wait_until(lambda: healthy(our.serving), "a healthy answer")
    assert told["sessions"]["active"] >= 1 and told["sessions"]["total_created"] >= told["sessions"]["active"]
    assert {"timestamp", "version", "uptime"} <= told.keys()
    assert told["checks"]["vikunja_api"]["latency"] >= 0
    assert ("redis" in told["checks"]) is (store is not None)
    if store is not None:
        assert told["checks"]["redis"]["latency"] >= 0
        store.kill()
        degraded = wait_until(lambda: health_is(our.serving, "degraded"), "degraded without Redis")
        assert degraded.status == 200
        assert our.serving.client(**login).initialize().status == 200
    our.standin.control("/database", is_gone=True)
    # The check of tokens may be the first to see it.
    away = wait_until(lambda: is_away(our.serving), "unhealthy without Vikunja")
    assert away.status == 503 and away.json["status"] == "unhealthy"
    our.standin.control("/database", is_gone=False)
    if store is not None:
        store.start()
    assert wait_until(lambda: healthy(our.serving), "well again")


def exchange_health(serving: Serving) -> Any:
    return serving.get("/health")


def health_is(serving: Serving, status: str) -> Any:
    answer = exchange_health(serving)
    return answer if answer.json["status"] == status else None


def is_away(serving: Serving) -> Any:
    answer = exchange_health(serving)
    return answer if answer.json["checks"]["vikunja_api"].get("error") else None


def healthy(serving: Serving) -> Any:
    answer = health_is(serving, "healthy")
    return answer.json if answer else None


def test_r7_a_bad_token_is_refused_before_it_is_counted_and_a_large_body_before_that(served: Served) -> None:
    our, _ = served
    login = bearer_of_another(our)
    nobody = our.serving.client()
    large = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "y" * (33 << 20)}}
    assert our.serving.client(**login).post(large).status == 413
    for _ in range(LIMIT + 20):
        assert nobody.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}).status == 401
    assert our.serving.client(**login).initialize().status == 200
    logged = our.serving.requests()
    assert [one for one in logged if one["status"] == "401"] and [
        one for one in logged if one["status"] == "413"
    ]


def test_r8_the_names_of_the_environment_work(tmp_path: Path) -> None:
    """The units and the script have tests of their own in `tests/deploy`."""
    port = free_port()
    with team(tasks=50) as our:
        url = our.standin.running.url
        for name in ("VIKUNJA_API_URL", "VIKUNJA_URL"):
            for address in (url, f"{url}/", f"{url}/api/v1"):
                env = {name: address, "MCP_HTTP_PORT": str(port)}
                with serve("--pack", "vikunja", command=(), env=env, port=None) as serving:
                    assert serving.port == port
                    client = serving.client(authorization=f"Bearer {our.tokens['bob']}")
                    client.initialize()
                    assert "projects:" in client.call("list_projects")["result"]["content"][-1]["text"]
        other = free_port()
        env = {"VIKUNJA_API_URL": url, "MCP_HTTP_PORT": str(port), "BRIMGATE_PORT": str(other)}
        with serve("--pack", "vikunja", command=(), env=env, port=None) as serving:
            assert serving.port == other, "ours wins"
        path = tmp_path / "brimgate.yaml"
        path.write_text(
            json.dumps({"server": {"port": other}, "upstreams": {"vikunja": {"pack": "vikunja"}}})
        )
        env.pop("BRIMGATE_PORT")
        with serve("--config", str(path), command=(), env=env, port=None) as serving:
            assert serving.port == other, "and so does a file"
            assert serving.client(authorization="Bearer tk_nobody").post({}).status == 401
