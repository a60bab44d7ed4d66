"""Several workers behind one port: sessions are found, whoever is asked; workers that end are replaced, one by one."""

import json
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.http.callers import Keys, write_config
from tests.http.processes import is_alive
from tests.http.replicas import opened
from tests.http.serving import LegacyClient, Serving, next_event, serve, wait_until, workers_of
from tests.http.test_replicas import _asked_by_many
from tests.store.redis_server import redis_server

KEYS = Keys("alice", "bob")


@contextmanager
def serving_by(folder: Path, store: str, count: int = 3, **sections: object) -> Iterator[Serving]:
    path = write_config(folder, KEYS.auth(), **{"limits": {"requests": 100_000}, **sections})
    options = (
        "--config",
        str(path),
        "--set",
        f"store={store}",
        "--workers",
        str(count),
        "--set",
        "grace_seconds=1",
        "--set",
        "redis_timeout_seconds=5",
    )
    with serve(*options, command=()) as serving:
        assert serving.port, "all workers serve"
        yield serving


def workers(serving: Serving) -> set[int]:
    return workers_of(serving, "brimgate")


def moved(client: LegacyClient) -> LegacyClient:
    """On a new connection, which any worker may get."""
    client.connection.close()
    return client


def home(client: LegacyClient) -> str:
    return client.session.partition(".")[0]


def test_a_session_is_found_on_every_connection(tmp_path: Path) -> None:
    with redis_server() as store, serving_by(tmp_path, store.url) as serving:
        assert len(workers(serving)) == 3
        clients = [opened(serving, **KEYS.of("alice")) for _ in range(12)]
        wait_until(lambda: _spread(serving, clients), "several workers have sessions")
        for _ in range(5):
            for client in clients:
                assert "result" in moved(client).request("tools/list")
        stranger = serving.client(**KEYS.of("bob"))
        stranger.session = clients[0].session
        assert {moved(stranger).post(_ping()).status for _ in range(6)} == {404}
        stranger.more = {}
        assert {moved(stranger).post(_ping()).status for _ in range(6)} == {401}
        for client in clients:
            assert moved(client).delete().status == 200
            assert moved(client).post(_ping()).status == 404


def _spread(serving: Serving, clients: list[LegacyClient]) -> bool:
    if len({home(client) for client in clients}) > 1:
        return True
    clients.append(opened(serving, **KEYS.of("alice")))
    return False


def _ping() -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def test_streams_of_a_session_pass_from_one_worker_to_the_other(tmp_path: Path) -> None:
    with redis_server() as store, serving_by(tmp_path, store.url, 2) as serving:
        for _ in range(6):
            client = opened(serving, **KEYS.of("alice"))
            response = client.begin(
                {
                    "jsonrpc": "2.0",
                    "id": "c",
                    "method": "tools/call",
                    "params": {"name": "echo", "arguments": {"text": "hello"}},
                }
            )
            assert response.status == 200 and "hello" in next_event(response).get("data", "") + str(
                response.read()
            )
        for _ in range(4):
            connection = serving.connect()
            connection.request("GET", "/sse", headers={"accept": "text/event-stream", **KEYS.of("alice")})
            stream = serving.answer_of(connection)
            path = next_event(stream)["data"]
            from tests.http.serving import exchange

            headers = {"content-type": "application/json", **KEYS.of("alice")}
            for _ in range(3):
                assert exchange(serving.connect(), "POST", path, _ping(), headers).status == 202
            assert json.loads(next_event(stream)["data"])["id"] == 1


@pytest.mark.slow
def test_limits_are_exact_over_four_workers(tmp_path: Path) -> None:
    with (
        redis_server() as store,
        serving_by(tmp_path, store.url, 4, limits={"requests": 100}) as serving,
    ):
        answers = _asked_by_many([serving], KEYS.of("alice"), 150)
        assert sorted(one.status for one in answers) == [200] * 100 + [429] * 50


@pytest.mark.slow
def test_a_worker_that_is_killed_is_replaced_and_the_others_go_on(tmp_path: Path) -> None:
    with redis_server() as store, serving_by(tmp_path, store.url, 2) as serving:
        before = workers(serving)
        killed = min(before)
        os.kill(killed, signal.SIGKILL)
        serving.wait_for_line("worker_ended")
        wait_until(lambda: len(workers(serving) - {killed}) == 2, "another one")
        wait_until(lambda: _all_answer(serving), "all answer")


def _all_answer(serving: Serving) -> bool:
    return all(opened(serving, **KEYS.of("alice")).session for _ in range(6))


@pytest.mark.slow
def test_workers_are_replaced_one_by_one_and_no_new_client_notices(tmp_path: Path) -> None:
    with redis_server() as store, serving_by(tmp_path, store.url, 2) as serving:
        before, problems, over = workers(serving), list[str](), threading.Event()

        def visit() -> None:
            while not over.is_set():
                try:
                    client = serving.client(**KEYS.of("alice"))
                    answer = client.initialize()
                    if client.session:
                        client.delete()
                    client.connection.close()
                    if not client.session:
                        problems.append(f"{answer.status} {answer.body!r}")
                except (AssertionError, OSError) as error:
                    problems.append(repr(error))

        visitor = threading.Thread(target=visit)
        visitor.start()
        serving.process.send_signal(signal.SIGHUP)
        serving.wait_for_line("workers_replaced")
        over.set()
        visitor.join(60)
        assert not workers(serving) & before and len(workers(serving)) == 2
        assert len(problems) <= 2, problems  # whoever was with a worker at its very end


def test_a_reload_that_is_rejected_changes_nothing(tmp_path: Path) -> None:
    with redis_server() as store, serving_by(tmp_path, store.url, 2) as serving:
        before, path = workers(serving), tmp_path / "brimgate.yaml"
        good = path.read_text()
        path.write_text(good[:-1] + ', "unknown": 1}')
        for turn in range(2):
            serving.process.send_signal(signal.SIGHUP)
            wait_until(lambda at=turn: _count(serving, "reload_rejected") > at, "it is rejected")
        assert workers(serving) == before
        path.write_text(good)
        serving.process.send_signal(signal.SIGHUP)
        assert "workers=2" in serving.wait_for_line("workers_replaced")
        assert len(workers(serving)) == 2 and not workers(serving) & before


def _count(serving: Serving, event: str) -> int:
    return sum(event in line for line in list(serving.lines))


def test_all_end_together(tmp_path: Path) -> None:
    with redis_server() as store, serving_by(tmp_path, store.url, 3) as serving:
        opened(serving, **KEYS.of("alice"))
        found = workers(serving)
        assert serving.stop() == 0
        wait_until(lambda: not any(is_alive(one) for one in found), "they end")


@pytest.mark.slow
def test_workers_end_with_whoever_started_them_however_it_ends(tmp_path: Path) -> None:
    with redis_server() as store, serving_by(tmp_path, store.url, 2) as serving:
        found = workers(serving)
        serving.process.kill()
        wait_until(lambda: not any(is_alive(one) for one in found), "they end")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--workers", "2"), "needs a store that they share"),
        (("--workers", "0"), "at least 1"),
        (
            ("--workers", "2", "--set", "store=redis://127.0.0.1:1", "--sandbox", "--pack", "hostaway"),
            "one worker",
        ),
    ],
)
def test_what_cannot_be_is_told(options: tuple[str, ...], says: str) -> None:
    behind = () if "--sandbox" in options else None
    with serve(*options, command=behind) as serving:
        assert serving.process.wait(60) == 2
        assert says in "\n".join(serving.all_lines())
