"""Two replicas that share a store: what one gives, the other takes, and nobody else."""

import json
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from brimgate.sandboxes.hostaway import sandbox
from brimgate.testing.bookings import bookings
from tests.http.callers import Keys, bearer
from tests.http.raw_upstream import raw_upstream
from tests.http.replicas import DEMO_SERVER, health, opened, replicas
from tests.http.serving import Answer, LegacyClient, Serving, exchange, modern, next_event, serve, wait_until
from tests.http.test_credentials import STREAMABLE
from tests.http.test_life import call
from tests.http.test_unshaken import RAW
from tests.http.test_upstream_token import GOOD, MANY, Verifier
from tests.relay.conversation import record_of
from tests.relay.replies import as_rebuilt, following, rebuild
from tests.store.redis_server import STORES, RedisServer, redis_server
from tests.systems.hostaway import config_of

REFUSED = "invalid or expired cursor: run the tool again from the start"
_CLIENTS = 10
HEADERS = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


def read(client: LegacyClient, cursor: str | None, **more: Any) -> dict[str, Any]:
    return client.call("brimgate_read", cursor=cursor, **more)["result"]


def walked(first: dict[str, Any], *clients: LegacyClient) -> list[dict[str, Any]]:
    """Each page by the next client in turn."""
    results = [first]
    while cursor := following(results[-1]):
        results.append(read(clients[len(results) % len(clients)], cursor))
        assert not results[-1].get("isError"), results[-1]
    return results


def error_of(result: dict[str, Any]) -> str:
    assert result.get("isError"), result
    return result["content"][0]["text"]


@pytest.mark.parametrize("name", STORES)
def test_pages_of_one_answer_come_from_both(name: str, tmp_path: Path) -> None:
    with redis_server(name) as store, replicas(tmp_path, store.url, upstream=DEMO_SERVER) as (one, two):
        clients = [opened(one), opened(two)]
        first = clients[0].call("list_bookings")["result"]
        assert rebuild(walked(first, *clients)) == as_rebuilt(json.dumps(bookings(500)))
        text = clients[1].call("read_log")["result"]
        assert len(walked(text, *clients)) > 3
        searched = read(clients[1], following(first), search="payment_failed", limit=1)
        assert "payment_failed" in json.dumps(read(clients[0], record_of(searched)["nextCursor"]))


@pytest.mark.parametrize("tool", ["bookings-3000000", "log-3000000"])
def test_pages_of_a_large_answer_come_from_both(tool: str, tmp_path: Path) -> None:
    upstream = {"command": RAW[0], "args": RAW[1:]}
    with redis_server() as store, replicas(tmp_path, store.url, upstream=upstream) as (one, two):
        clients = [opened(one), opened(two)]
        results = [clients[0].call(tool)["result"]]
        for number in range(1, 9):
            results.append(read(clients[number % 2], following(results[-1])))
        alone = [results[0]]
        for _ in range(8):
            alone.append(read(clients[0], following(alone[-1])))
        told = [[one["content"][1]["text"] for one in some] for some in (results, alone)]
        assert told[0] == told[1] and all(told[0])


def test_modern_clients_read_on_from_either(tmp_path: Path) -> None:
    script = Path(__file__).with_name("modern_server.py")
    upstream = {"command": sys.executable, "args": [str(script), str(tmp_path / "journal")]}
    with redis_server() as store, replicas(tmp_path, store.url, upstream=upstream) as (one, two):
        large = {"name": "echo", "arguments": {"text": "A sentence that is told again. ", "times": 4_000}}
        first = modern(one, "tools/call", large).messages[-1]
        assert "result" in first, first
        seen = [first["result"]]
        while cursor := following(seen[-1]):
            params = {"name": "brimgate_read", "arguments": {"cursor": cursor}}
            seen.append(modern((two, one)[len(seen) % 2], "tools/call", params).messages[-1]["result"])
        assert "".join(one["content"][1]["text"] for one in seen) == "A sentence that is told again. " * 4_000


def test_a_cursor_of_another_is_unknown_on_both(tmp_path: Path) -> None:
    keys = Keys("alice", "bob")
    with (
        redis_server() as store,
        replicas(tmp_path, store.url, upstream=DEMO_SERVER, auth=keys.auth()) as (one, two),
    ):
        alice = [opened(serving, **keys.of("alice")) for serving in (one, two)]
        bob = [opened(serving, **keys.of("bob")) for serving in (one, two)]
        cursor = following(alice[0].call("list_bookings")["result"])
        assert not read(alice[1], cursor).get("isError")
        made_up = "A" * 48
        assert {error_of(read(client, given)) for client in bob for given in (cursor, made_up)} == {
            f"brimgate_read: {REFUSED}"
        }


def test_limits_are_counted_together_and_exactly(tmp_path: Path) -> None:
    keys = Keys("alice", "bob")
    limits = {"requests": 100, "window_seconds": 900, "block_seconds": 60}
    with (
        redis_server() as store,
        replicas(tmp_path, store.url, auth=keys.auth(), limits=limits) as both,
    ):
        answers = _asked_by_many(both, keys.of("alice"), 130)
        assert sorted(one.status for one in answers) == [200] * 100 + [429] * 30
        refused = next(one for one in answers if one.status == 429)
        assert 58 <= int(refused.headers["retry-after"]) <= 900 and refused.json["error"]["code"] == -32000
        assert refused.json["error"]["data"] == {
            "retryAfter": int(refused.headers["retry-after"]),
            "limit": 100,
            "window": 900,
        }
        assert all(opened(serving, **keys.of("bob")).request("tools/list") for serving in both)


def _asked_by_many(servings: list[Serving], headers: dict[str, str], count: int) -> list[Answer]:
    """So many requests from several clients at once, to each replica in turn."""
    answers: list[Answer] = []

    def ask(client: LegacyClient) -> None:
        for number in range(count // _CLIENTS):
            answers.append(client.post({"jsonrpc": "2.0", "id": number, "method": "tools/list"}))  # noqa: PERF401

    clients = [opened(servings[number % len(servings)], **headers) for number in range(_CLIENTS)]
    threads = [threading.Thread(target=ask, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def test_a_ticket_of_one_opens_a_stream_of_the_other_once(tmp_path: Path) -> None:
    keys = Keys("alice")
    with redis_server() as store, replicas(tmp_path, store.url, auth=keys.auth()) as (one, two):
        given = exchange(one.connect(), "POST", "/sse/ticket", b"", keys.of("alice")).json["ticket"]
        connection = two.connect()
        connection.request("GET", f"/sse?ticket={given}", headers={"accept": "text/event-stream"})
        stream = two.answer_of(connection)
        assert stream.status == 200 and next_event(stream)["event"] == "endpoint"
        for serving in (one, two):
            again = exchange(
                serving.connect(), "GET", f"/sse?ticket={given}", None, {"accept": "text/event-stream"}
            )
            assert again.status == 401


def test_a_token_that_one_has_checked_is_known_to_the_other_but_not_to_a_later_one(tmp_path: Path) -> None:
    verifier = Verifier()
    with redis_server() as store, raw_upstream({**STREAMABLE, "GET": verifier}) as upstream:
        base = upstream.url.removesuffix("/mcp")
        auth = {"mode": "upstream_token", "verify_url": f"{base}/token/test", **MANY}
        given = {"upstream": {"url": upstream.url}, "auth": auth, "limits": {"requests": 100_000}}
        with replicas(tmp_path, store.url, **given) as (one, two):
            for serving in (one, two, one, two):
                assert _call(serving, GOOD).status == 200
            assert verifier.checks(GOOD) == 1
            assert {_call(serving, "tk_made_up").status for serving in (one, two)} == {401}
            assert verifier.checks("tk_made_up") == 1
            with replicas(tmp_path, store.url, 1, **given) as (later,):
                assert _call(later, GOOD).status == 200
                assert verifier.checks(GOOD) == 2, "what was found out before it started does not count"


def _call(serving: Serving, token: str) -> Answer:
    return exchange(serving.connect(), "POST", "/mcp", call("mine", "echo"), HEADERS | bearer(token))


def test_nothing_that_is_secret_is_in_the_store_in_clear(tmp_path: Path) -> None:
    keys = Keys("canary-name")
    with (
        redis_server() as store,
        replicas(tmp_path, store.url, upstream=DEMO_SERVER, auth=keys.auth()) as (one, two),
    ):
        client = opened(one, **keys.of("canary-name"))
        first = client.call("list_bookings")["result"]
        read(opened(two, **keys.of("canary-name")), following(first), search="payment_failed")
        exchange(one.connect(), "POST", "/sse/ticket", b"", keys.of("canary-name"))
        held = store.everything()
        assert b"brimgate:answer:" in held and b"brimgate:ticket:" in held
        secrets = (
            "canary-name",
            keys.key["canary-name"],
            "payment_failed",
            "list_bookings",
            "search",
            "farah",
        )
        assert [one for one in secrets if one.encode() in held] == []
        key_record = store.ask("GET", "brimgate:keys")
        assert isinstance(key_record, bytes) and key_record[:1] == b"s", (
            "encrypted by the password of the store"
        )
        ttls = {key: store.ask("TTL", key) for key in _keys(store) if key != "brimgate:keys"}
        assert all(isinstance(ttl, int) and ttl > 0 for ttl in ttls.values()), ttls


def _keys(store: RedisServer) -> list[str]:
    found = store.ask("KEYS", "*")
    assert isinstance(found, list)
    return [key.decode() for key in found]


def test_without_a_password_the_keys_are_told_to_be_in_clear(tmp_path: Path) -> None:
    with redis_server(password="") as store, replicas(tmp_path, store.url, 1) as (one,):
        opened(one)
        assert "BRIMGATE_CURSOR_KEY" in one.wait_for_line("store_keys_in_clear")


def test_replicas_with_another_password_of_the_keys_do_not_start(tmp_path: Path) -> None:
    with redis_server() as store, replicas(tmp_path, store.url, 1) as (one,):
        opened(one)
        store.ask("SET", "brimgate:keys", b"s" + b"\0" * 60)
        with replicas(tmp_path, store.url, 1) as (two,):
            assert two.process.wait(60) == 2
            assert "another password" in "\n".join(two.all_lines())


def test_a_session_of_a_server_with_a_url_goes_on_through_the_other(tmp_path: Path) -> None:
    keys = Keys("alice", "bob")
    with (
        redis_server() as store,
        serve() as behind,
        replicas(
            tmp_path,
            store.url,
            upstream={"url": f"http://127.0.0.1:{behind.port}/mcp"},
            auth=keys.auth(),
        ) as (one, two),
    ):
        alice, bob = opened(one, **keys.of("alice")), opened(two, **keys.of("bob"))
        moved = two.client(**keys.of("alice"))
        moved.session = alice.session
        assert "result" in moved.request("tools/list")
        bob.session = alice.session
        assert bob.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}).status == 404
        assert moved.delete().status == 200
        assert alice.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}).status == 404


def test_a_session_with_a_process_is_told_to_be_unknown_elsewhere(tmp_path: Path) -> None:
    with redis_server() as store, replicas(tmp_path, store.url, server={"replica": "north"}) as (one, two):
        client = opened(one)
        assert client.session.startswith("north-")
        moved = two.client()
        moved.session = client.session
        answer = moved.post({"jsonrpc": "2.0", "id": 1, "method": "ping"})
        assert answer.status == 404 and answer.json["id"] == 1
        assert "result" in client.request("ping")


def test_a_list_that_is_being_fetched_elsewhere_says_by_whom(tmp_path: Path) -> None:
    with redis_server() as store, sandbox(reservations=260, rate_ip=0, rate_account=0) as api:
        upstream = json.loads(config_of(tmp_path, api).read_text())["upstreams"]["hostaway"]
        with replicas(tmp_path, store.url, upstream=upstream) as (one, two):
            client, other = opened(one), opened(two)
            first = client.call("list_reservations")["result"]
            told = error_of(read(other, following(first)))
            assert f"still being fetched by the replica {client.session.partition('.')[0]}" in told
            pages = walked(first, client)
            assert not read(other, following(pages[-2])).get("isError"), "it is complete, and so in the store"


def test_keys_that_the_store_has_lost_are_put_there_again(tmp_path: Path) -> None:
    with redis_server() as store, replicas(tmp_path, store.url, upstream=DEMO_SERVER) as (one, two):
        client, other = opened(one), opened(two)
        before = client.call("list_bookings")["result"]
        store.kill()
        one.wait_for_line("store_away")
        during = client.call("list_bookings")["result"]
        store.start()
        for serving in (one, two):
            wait_until(lambda at=serving: health(at)["status"] == "healthy", "it is back")
        assert not read(other, following(during)).get("isError"), "what was held meanwhile is handed over"
        assert not read(client, following(before)).get("isError"), "it is the same answer"
