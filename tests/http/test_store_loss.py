"""Whatever becomes of the store, no call fails for it: each replica works alone until it is back."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from brimgate.testing.bookings import bookings
from tests.http.callers import Keys
from tests.http.replicas import DEMO_SERVER, StoreWire, health, opened, replicas
from tests.http.serving import LegacyClient, Serving, text_of, wait_until
from tests.relay.replies import as_rebuilt, following, rebuild
from tests.store.redis_server import RedisServer, redis_server

LOST = ("invalid or expired cursor", "cannot be reached now")
KEYS = Keys("alice")
LIMITS = {"requests": 1_000_000, "concurrency": 1_000}


class Fault:
    """Something that happens to a store, and how it ends."""

    def __init__(self, begin: Callable[["Ground"], object], end: Callable[["Ground"], object]) -> None:
        self.begin, self.end = begin, end


class Ground:
    def __init__(self, store: RedisServer, wire: StoreWire, other: RedisServer) -> None:
        self.store, self.wire, self.other = store, wire, other

    def way(self, way: str) -> None:
        self.wire.way = way
        self.wire.cut()

    def fail_over(self) -> None:
        self.store.kill()
        self.wire.target = self.other.port
        self.wire.cut()

    def fill(self) -> None:
        self.store.ask("CONFIG", "SET", "maxmemory-policy", "noeviction")
        self.store.ask("CONFIG", "SET", "maxmemory", "1")

    def empty(self) -> None:
        self.store.ask("CONFIG", "SET", "maxmemory", "0")

    def restart(self) -> None:
        self.store.kill()
        self.store.start()


def _nothing(_: Ground) -> None:
    pass


FAULTS = {
    "killed": Fault(lambda on: on.store.kill(), lambda on: on.store.start()),
    "frozen": Fault(lambda on: on.store.freeze(), lambda on: on.store.thaw()),
    "slow": Fault(lambda on: setattr(on.wire, "way", "slow"), lambda on: setattr(on.wire, "way", "pass")),
    "full": Fault(Ground.fill, Ground.empty),
    "restarted empty": Fault(Ground.restart, _nothing),
    "read-only": Fault(
        lambda on: on.store.ask("REPLICAOF", "127.0.0.1", on.other.port),
        lambda on: on.store.ask("REPLICAOF", "NO", "ONE"),
    ),
    "garbage": Fault(lambda on: setattr(on.wire, "way", "garbage"), lambda on: on.way("pass")),
    "wrong answers": Fault(lambda on: setattr(on.wire, "way", "wrong"), lambda on: on.way("pass")),
    "dropping": Fault(lambda on: on.way("drop"), lambda on: on.way("pass")),
    "refusing": Fault(lambda on: on.way("refuse"), lambda on: on.way("pass")),
    "another password": Fault(
        lambda on: on.store.ask("CONFIG", "SET", "requirepass", "other") and on.wire.cut(),
        lambda on: _with_password(on),
    ),
    "failing over to an empty one": Fault(Ground.fail_over, _nothing),
}


def _with_password(on: Ground) -> None:
    import redis

    with redis.Redis(port=on.store.port, password="other") as client:  # noqa: S106
        client.config_set("requirepass", on.store.password)
    on.wire.cut()


@contextmanager
def ground(folder: Path) -> Iterator[tuple[Ground, list[Serving]]]:
    with ExitStack() as running:
        store, other = (running.enter_context(redis_server()) for _ in range(2))
        wire = StoreWire(store.port)
        running.callback(wire.close)
        url = f"redis://:{store.password}@127.0.0.1:{wire.port}/0"
        servings = running.enter_context(
            replicas(
                folder,
                url,
                upstream=DEMO_SERVER,
                auth=KEYS.auth(),
                limits=LIMITS,
                redis_timeout_seconds=0.4,  # less than a slow store takes
            )
        )
        yield Ground(store, wire, other), servings


class Traffic(threading.Thread):
    """A client that calls and reads on, over and over, until it is told to stop."""

    def __init__(self, client: LegacyClient) -> None:
        super().__init__(daemon=True)
        self.client = client
        self.rounds = 0
        self.lost = 0
        self.problems: list[Any] = []
        self.is_over = threading.Event()

    def run(self) -> None:
        while not self.is_over.is_set():
            try:
                self._round()
            except Exception as error:  # noqa: BLE001
                self.problems.append(repr(error))
                return
            self.rounds += 1

    def _round(self) -> None:
        small = text_of(self.client.call("get_booking", id=5_400_000 + self.rounds % 50))
        large = self.client.call("list_bookings")["result"]
        if "error" in small[:20].lower() or large.get("isError"):
            self.problems.append((small[:200], large))
        read = self.client.call("brimgate_read", cursor=following(large))["result"]
        if read.get("isError"):
            self.lost += 1
            if not any(words in read["content"][0]["text"] for words in LOST):
                self.problems.append(read)


@pytest.mark.slow_except("killed", "frozen")
@pytest.mark.parametrize("name", FAULTS)
def test_no_call_fails_while_the_store_is(name: str, tmp_path: Path) -> None:
    fault = FAULTS[name]
    with ground(tmp_path) as (on, servings):
        traffic = [Traffic(opened(serving, **KEYS.of("alice"))) for serving in servings for _ in range(2)]
        for one in traffic:
            one.start()
        wait_until(lambda: all(one.rounds >= 3 for one in traffic), "calls before")
        fault.begin(on)
        if fault.end is not _nothing:
            for serving in servings:
                wait_until(lambda at=serving: _status(at) == "degraded", "it is noticed")
        before = [one.rounds for one in traffic]
        wait_until(
            lambda: all(one.rounds >= at + 5 for one, at in zip(traffic, before, strict=True)),
            "calls without it",
        )
        fault.end(on)
        for serving in servings:
            wait_until(lambda at=serving: _status(at) == "healthy", "it is back")
        before = [one.rounds for one in traffic]
        wait_until(
            lambda: all(one.rounds >= at + 3 for one, at in zip(traffic, before, strict=True)), "after"
        )
        for one in traffic:
            one.is_over.set()
        for one in traffic:
            one.join(60)
        assert [one.problems for one in traffic if one.problems] == []
        clients = [opened(serving, **KEYS.of("alice")) for serving in servings]
        wait_until(lambda: _shared_walk(clients), "they share again")


def _shared_walk(clients: list[LegacyClient]) -> bool:
    """Whether an answer is read to its end from both in turn; not if a busy machine makes one of them alone meanwhile."""
    results = [clients[0].call("list_bookings")["result"]]
    while cursor := following(results[-1]):
        results.append(clients[len(results) % 2].call("brimgate_read", cursor=cursor)["result"])
        if results[-1].get("isError"):
            return False
    assert rebuild(results) == as_rebuilt(json.dumps(bookings(500)))
    return True


def _status(serving: Serving) -> str:
    found = health(serving)
    assert found["http"] == 200, found
    return found["status"]


@pytest.mark.slow
def test_every_change_of_state_is_one_line(tmp_path: Path) -> None:
    with ground(tmp_path) as (on, servings):
        client = opened(servings[0], **KEYS.of("alice"))
        for _ in range(2):
            on.store.kill()
            wait_until(lambda: _status(servings[0]) == "degraded", "it is noticed")
            for _ in range(10):
                client.call("list_bookings")
            on.store.start()
            wait_until(lambda: _status(servings[0]) == "healthy", "it is back")
        servings[0].stop()
        lines = [line for line in servings[0].all_lines() if " store_" in line]
        kinds = [line.split(" store_")[1].split()[0] for line in lines]
        assert kinds == ["healthy", "away", "healthy", "away", "healthy"], lines


def test_a_store_that_is_away_at_the_start_is_used_when_it_comes(tmp_path: Path) -> None:
    with redis_server() as store:
        store.kill()
        with replicas(tmp_path, store.url, upstream=DEMO_SERVER) as servings:
            clients = [opened(serving) for serving in servings]
            alone = clients[0].call("list_bookings")["result"]
            assert {_status(serving) for serving in servings} == {"degraded"}
            store.start()
            for serving in servings:
                wait_until(lambda at=serving: _status(at) == "healthy", "it is there")
            read = clients[0].call("brimgate_read", cursor=following(alone))["result"]
            assert not read.get("isError"), "its own cursors stay good"
            first = clients[0].call("list_bookings")["result"]
            assert not clients[1].call("brimgate_read", cursor=following(first))["result"].get("isError")


@pytest.mark.parametrize("name", ["full", "read-only"])
def test_a_store_that_takes_nothing_is_still_read(name: str, tmp_path: Path) -> None:
    with ground(tmp_path) as (on, servings):
        clients = [opened(serving, **KEYS.of("alice")) for serving in servings]
        first = clients[0].call("list_bookings")["result"]
        FAULTS[name].begin(on)
        for serving in servings:
            wait_until(lambda at=serving: _status(at) == "degraded", "it is noticed")
        if name == "full":  # one that becomes a replica of another takes over what that has
            read = clients[1].call("brimgate_read", cursor=following(first))["result"]
            assert not read.get("isError"), read
        FAULTS[name].end(on)
        for serving in servings:
            wait_until(lambda at=serving: _status(at) == "healthy", "it is back")


def test_what_a_replica_has_opened_stays_readable_there(tmp_path: Path) -> None:
    with redis_server() as store, replicas(tmp_path, store.url, upstream=DEMO_SERVER) as servings:
        clients = [opened(serving) for serving in servings]
        first = clients[0].call("list_bookings")["result"]
        second = clients[0].call("brimgate_read", cursor=following(first))["result"]
        store.kill()
        for serving in servings:
            serving.wait_for_line("store_away")
        third = clients[0].call("brimgate_read", cursor=following(second))["result"]
        assert not third.get("isError"), third
        told = clients[1].call("brimgate_read", cursor=following(second))["result"]
        assert told["isError"] and "cannot be reached now" in told["content"][0]["text"]
        assert "invalid" not in told["content"][0]["text"]


def test_limits_hold_on_without_the_store(tmp_path: Path) -> None:
    limits = {"requests": 20, "window_seconds": 900, "block_seconds": 60}
    with redis_server() as store, replicas(tmp_path, store.url, 1, auth=KEYS.auth(), limits=limits) as (one,):
        client = opened(one, **KEYS.of("alice"))
        ping = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        assert [client.post(ping).status for _ in range(10)] == [200] * 10
        store.kill()
        one.wait_for_line("store_away")
        assert [client.post(ping).status for _ in range(12)] == [200] * 10 + [429] * 2
        store.start()
        one.wait_for_line("store_healthy")
        assert client.post(ping).status == 429, "an empty store admits nobody anew"
