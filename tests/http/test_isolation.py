"""Nobody ever gets a word that was meant for another, whatever everybody calls their requests, cancels and loses."""

import asyncio
import io
import json
import os
import random
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import uvloop

from brimgate.guard.static_keys import digest_of, new_key
from brimgate.wire.pipes import read_pipe
from tests.conformance.processes import free_port, listens, running
from tests.http.crowd import CALLED_OFF, LOG_LEVEL, Passer, Shaker, Single, Someone, Tally, crowd
from tests.http.crowd import SECRET as CANARY
from tests.http.serving import Answer, Serving, modern, next_event, serve
from tests.relay.replies import following
from tests.store.redis_server import redis_server

CALLS = int(os.environ.get("BRIMGATE_ISOLATION_CALLS", "10000"))
"""In all; `make soak` makes more."""
TEAM_CALLS = int(os.environ.get("BRIMGATE_TEAM_CALLS", "20000"))
CALLERS = 64
PEOPLE = 32
SECRET = [sys.executable, str(Path(__file__).parent / "secret_server.py")]
OPTIONS = ("--budget", "600", "--log-level", "warning")


def seeds(first: int) -> Iterator[random.Random]:
    for number in range(PEOPLE):
        yield random.Random(first + number)


def check_tally(tally: Tally, calls: int) -> None:
    """Every call came to one end, and all kinds of ends were among them."""
    assert tally.calls == calls // PEOPLE * PEOPLE
    assert tally.answered > tally.cut > 0
    assert tally.reduced
    assert tally.notifications


@pytest.mark.slow
def test_sessions_on_stdio_servers_of_their_own() -> None:
    calls, tally = CALLS * 2 // 5, Tally()
    with serve(*OPTIONS, command=[*SECRET, "stdio"]) as serving:
        people = [Shaker(serving.port, "/mcp", dice, tally) for dice in seeds(1_000)]
        asyncio.run(crowd(people, calls, listening=PEOPLE // 2))
    check_tally(tally, calls)
    assert tally.called_off
    assert tally.resumed
    assert tally.unasked


@pytest.mark.slow_except("few")
@pytest.mark.parametrize("calls", [CALLS // 20, CALLS * 2 // 5], ids=["few", "many"])
def test_single_exchanges_over_one_stdio_server(calls: int) -> None:
    tally = Tally()
    with serve(*OPTIONS, command=[*SECRET, "stdio"]) as serving:
        people = [Single(serving.port, "/mcp", dice, tally) for dice in seeds(2_000)]
        asyncio.run(crowd(people, calls))
    check_tally(tally, calls)


@pytest.mark.slow
def test_clients_of_both_eras_in_front_of_an_http_server(tmp_path: Path) -> None:
    calls, tally = CALLS // 5, Tally()
    port = free_port()
    url = f"http://127.0.0.1:{port}/mcp"
    with (
        running([*SECRET, "http", str(port)], tmp_path / "server.log", listens(port)),
        serve(*OPTIONS, "--upstream", url, command=()) as serving,
    ):
        people: list[Someone] = [
            (Passer if number % 2 else Single)(serving.port, "/mcp", dice, tally)
            for number, dice in enumerate(seeds(3_000))
        ]
        asyncio.run(crowd(people, calls))
    check_tally(tally, calls)
    assert tally.called_off


# Callers that are authenticated


@contextmanager
def team(folder: Path, keys: Sequence[str], store: str = "", count: int = 1) -> Iterator[list[Serving]]:
    """A command at /mcp/pipes and a server with a URL at /mcp/url, for callers with these keys; by so many replicas."""
    port, config = free_port(), folder / "brimgate.json"
    many = {"sessions": 1_000, "processes": 1_000, "requests": 10**9, "reads": 10**9, "concurrency": 1_000}
    document = {
        "upstreams": {
            "pipes": {"command": SECRET[0], "args": [*SECRET[1:], "stdio"]},
            "url": {"url": f"http://127.0.0.1:{port}/mcp"},
        },
        "auth": {"mode": "static", "keys": {name_of(n): [digest_of(key)] for n, key in enumerate(keys)}},
        "limits": many,
        "server": {"max_sessions": 10_000, "max_processes": 10_000, "grace_seconds": 0},
        "store": store or "memory",
        "redis_timeout_seconds": 5,
    }
    config.write_text(json.dumps(document))
    options = ("--budget", "600", "--config", str(config), "--log-level", "debug")
    with (
        running([*SECRET, "http", str(port)], folder / "server.log", listens(port)),
        ExitStack() as replicas,
    ):
        yield [replicas.enter_context(serve(*options, command=())) for _ in range(count)]


def name_of(number: int) -> str:
    return f"caller-{number:02}"


def members(servings: Sequence[Serving], keys: Sequence[str], tally: Tally) -> list[Someone]:
    """Everybody in one of four ways; two programs of one caller share its process, and use the same ids at once."""
    ways = (
        (Shaker, "/mcp/pipes", 1),
        (Single, "/mcp/pipes", 2),
        (Passer, "/mcp/url", 1),
        (Single, "/mcp/url", 1),
    )
    people: list[Someone] = []
    for number, key in enumerate(keys):
        kind, path, programs = ways[number % len(ways)]
        secret = f"secret-{sha256(key.encode()).hexdigest()[:16]}"
        for program in range(programs):
            dice = random.Random(10_000 * program + number)
            port = servings[len(people) % len(servings)].port
            people.append(kind(port, path, dice, tally, secret=secret, key=key))
    return people


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("count", [1, 2], ids=["alone", "replicas"])
def test_callers_with_keys_get_nothing_of_each_other(count: int, tmp_path: Path) -> None:
    tally, keys, calls = Tally(), [new_key() for _ in range(CALLERS)], TEAM_CALLS // count
    with ExitStack() as running_store:
        store = running_store.enter_context(redis_server()).url if count > 1 else ""
        with team(tmp_path, keys, store, count) as servings:
            people = members(servings, keys, tally)
            asyncio.run(crowd(people, calls))
            for serving in servings:
                serving.stop()
            lines = [line for serving in servings for line in serving.all_lines()]
    assert tally.calls == calls // len(people) * len(people)
    assert tally.answered > tally.cut > 0
    assert all(
        (tally.reduced, tally.notifications, tally.called_off, tally.resumed, tally.failed, tally.refused)
    )
    check_log(
        lines, {f"secret-{sha256(key.encode()).hexdigest()[:16]}": name_of(n) for n, key in enumerate(keys)}
    )
    assert not any(key in line for line in lines for key in keys)


def check_log(lines: list[str], owners: dict[str, str]) -> None:
    """No line is about two callers, and every caller has lines."""
    named: set[str] = set()
    for line in lines:
        found = {secret.decode() for secret in CANARY.findall(line.encode())}
        about = set(re.findall(r"principal=(caller-\d\d)\b", line))
        named |= about
        assert len({owners[secret] for secret in found} | about) <= 1, line
    assert named == set(owners.values())


# Two servers behind one gateway


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """At /mcp/a and /mcp/b."""
    config = tmp_path_factory.mktemp("two") / "brimgate.json"
    one = {"command": SECRET[0], "args": [*SECRET[1:], "stdio"]}
    config.write_text(json.dumps({"upstreams": {"a": one, "b": one}}))
    with serve(*OPTIONS, "--config", str(config), command=()) as serving:
        yield serving


def tell(**arguments: Any) -> dict[str, Any]:
    return {"name": "tell", "arguments": {"call": 1, "secret": "mine"} | arguments}


def test_unknown_ended_and_foreign_sessions_look_the_same(two: Serving) -> None:
    ended, foreign, asking = two.client(path="/mcp/a"), two.client(path="/mcp/b"), two.client(path="/mcp/a")
    for client in (ended, foreign):
        client.initialize()
    assert ended.delete().status == 200

    def ask(session: str) -> Answer:
        message = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": tell()}
        return asking.post(message, **{"mcp-session-id": session})

    answers = [ask(session) for session in (ended.session, foreign.session, "0" * 32, "x")]
    assert {answer.status for answer in answers} == {404}
    assert len({answer.body for answer in answers}) == 1
    names = [sorted(set(answer.headers) - {"x-request-id"}) for answer in answers]
    assert names == [names[0]] * len(names)
    assert foreign.request("tools/call", tell())["result"]


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_a_cursor_of_one_server_is_refused_at_another(two: Serving, era: str) -> None:
    def ask(path: str, params: dict[str, Any]) -> dict[str, Any]:
        if era == "modern":
            return modern(two, "tools/call", params, path=path).json["result"]
        client = two.client(path=path)
        client.initialize()
        return client.request("tools/call", params)["result"]

    cursor = following(ask("/mcp/a", tell(rows=80)))
    assert cursor
    reading = {"name": "brimgate_read", "arguments": {"cursor": cursor}}
    refused = ask("/mcp/b", reading)
    assert refused["isError"]
    assert "mine" not in json.dumps(refused)
    assert not ask("/mcp/a", reading).get("isError")


# What the crowd found


def test_a_call_that_was_called_off_is_answered_so_and_its_stream_ends(two: Serving) -> None:
    """Or else it would count as under way for as long as the session lives."""
    client = two.client(path="/mcp/a")
    client.initialize()
    params = tell(hangs=True)
    response = client.begin({"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": params})
    next_event(response)
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "x"}}
    assert client.post(note).status == 202
    answer = json.loads(next_event(response)["data"])
    assert (answer["id"], answer["error"]["code"]) == ("x", CALLED_OFF)
    assert response.readline() == b""


def test_what_a_call_logs_after_it_was_called_off_reaches_no_other_caller(two: Serving) -> None:
    """Logs name no call: they are for those of the same caller who asked for them."""
    tally, logs = Tally(), {LOG_LEVEL: "info"}
    one, other = (Single(two.port, "/mcp/a", random.Random(seed), tally) for seed in (1, 2))

    async def hang_up_and_call() -> None:
        await one.begin(1, meta=logs, steps=1, logs=True, deaf=True, delay=0.3)
        await one.close()
        await other.call(2, meta=logs, logs=True, delay=0.6)
        await other.close()

    asyncio.run(hang_up_and_call())
    assert (tally.answered, tally.notifications) == (1, 1)


def test_a_descriptor_is_closed_once() -> None:
    """A second time it may be another's: a client's connection, or a pipe to a server that is just being started."""
    taken: list[int] = []

    class Late(io.FileIO):
        def close(self) -> None:
            if not self.closed:
                taken.append(os.open(os.devnull, os.O_RDONLY))  # of the lowest number that is free
            super().close()

    async def read_and_close() -> None:
        out, into = os.pipe()
        over = asyncio.Event()
        reader = await read_pipe(Late(out), lambda _: None, over.set)
        reader.close()
        await over.wait()
        os.close(into)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(read_and_close())
    assert taken
    for descriptor in taken:
        os.fstat(descriptor)
        os.close(descriptor)
