"""The bars on a shared store: what a call costs with it, a page from another replica, workers, and losing it.

`python -m bench store`; needs Valkey or Redis as the tests do (`.venv-stores`).
"""

import asyncio
import json
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from bench.http import PYTHON, RAW_HTTP
from bench.load import Client, Crowd, Process
from bench.report import Row
from brimgate.guard.static_keys import digest_of, new_key
from tests.store.redis_server import RedisServer, redis_server

CLIENTS = 16
EACH = 120
ROUNDS = 15
SMALL, LARGE, HUGE = "bookings-1000", "bookings-100000", "bookings-10000000"
MOST_CPU_MS = 0.3
MOST_PAGE_MS = 15.0
LEAST_TIMES = 1.5
MOST_ADDED_MS = 250.0
MOST_BACK_SECONDS = 5.0
PAGES = 25
LIMITS = {"requests": 10**9, "concurrency": 1_000, "sessions": 1_000}
SECONDS = 6.0


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder, redis_server() as store:
        state = Path(folder)
        return [
            *asyncio.run(_cost(state, store)),
            *asyncio.run(_pages(state, store)),
            *asyncio.run(_workers(state, store)),
            *asyncio.run(_loss(state, store)),
        ]


def _gateway(path: Path, upstream: dict[str, Any], key: str, store: str, *options: str) -> list[str]:
    document: dict[str, Any] = {
        "upstreams": {"one": upstream},
        "auth": {"mode": "static", "keys": {"ann": [digest_of(key)]}},
        "limits": LIMITS,
        "log_level": "error",
        "store": store or "memory",
        "max_result_bytes": 128 << 20,
    }
    path.write_text(json.dumps(document))
    return [PYTHON, "-m", "brimgate", "serve", "--port", "{port}", "--config", str(path), *options]


@contextmanager
def _gates(state: Path, stores: dict[str, str], *options: str) -> Iterator[tuple[dict[str, Process], str]]:
    """A gateway for each store, all before the same cheap server; and the key of their caller."""
    key = new_key()
    with ExitStack() as stack:
        upstream = stack.enter_context(Process(RAW_HTTP, state)).wait()
        gates = {
            name: stack.enter_context(
                Process(_gateway(state / f"{name}.json", {"url": upstream.url}, key, store, *options), state)
            ).wait()
            for name, store in stores.items()
        }
        yield gates, key


# CPU of a small call


async def _cost(state: Path, store: RedisServer) -> list[Row]:
    with _gates(state, {"alone": "", "shared": store.url}) as (gates, key):
        crowds = {name: Crowd(gate, CLIENTS, key) for name, gate in gates.items()}
        for crowd in crowds.values():
            await crowd.open()
            assert b'"result"' in await crowd.call(SMALL)
            await crowd.cpu_ms_per_call(SMALL, EACH // 4)
        found: dict[str, list[float]] = {name: [] for name in crowds}
        for _ in range(ROUNDS):
            for name, crowd in crowds.items():
                found[name].append(await crowd.cpu_ms_per_call(SMALL, EACH))
        for crowd in crowds.values():
            crowd.close()
    shared, alone = median(found["shared"]), median(found["alone"])
    what = f"CPU per call of 1 KB with `static` keys and a limit counted in the store ({alone:.3f} ms alone)"
    added = shared - alone
    return [
        Row(what, "", f"{shared:.3f} ms", True),
        Row("… of it, for the store", f"≤ {MOST_CPU_MS} ms", f"{added:.3f} ms", added <= MOST_CPU_MS),
    ]


# A page of a large answer


async def _pages(state: Path, store: RedisServer) -> list[Row]:
    out: list[Row] = []
    with _gates(state, {"one": store.url, "two": store.url}) as (gates, key):
        for tool, kind in ((HUGE, "list"), (HUGE.replace("bookings", "log"), "text")):
            waits = [await _page_elsewhere(gates, key, tool, number) for number in range(9)]
            found = 1_000 * median(waits)
            what = f"page k of a {kind} of 10 MB from a replica that has not seen it"
            out.append(Row(what, f"≤ {MOST_PAGE_MS:g} ms", f"{found:.1f} ms", found <= MOST_PAGE_MS))
    return out


async def _page_elsewhere(gates: dict[str, Process], key: str, tool: str, number: int) -> float:
    """The seconds of the first page that the other replica gives, some pages into the answer."""
    first, second = Client(gates["one"], key), Client(gates["two"], key)
    for client in (first, second):
        await client.open()
    name = f"{tool[:-3]}{number:03}"  # another answer each time, so that nothing of it is known there
    cursor = _cursor(await first.call(name))
    for _ in range(3 + number):
        cursor = _cursor(await first.call("brimgate_read", {"cursor": cursor}))
    await second.call(SMALL)
    began = time.perf_counter()
    answer = await second.call("brimgate_read", {"cursor": cursor})
    took = time.perf_counter() - began
    assert b"[brimgate]" in answer and b"isError" not in answer, answer[:400]
    for client in (first, second):
        client.close()
    return took


def _cursor(answer: bytes) -> str:
    body = answer.decode().rpartition("data: ")[2]
    record = json.loads(body)["result"]["_meta"]["brimgate/result"]
    return record["nextCursor"]


# Workers


async def _workers(state: Path, store: RedisServer) -> list[Row]:
    """One process, with and without another that works on answers for it; and two workers. Rounds are taken in turns."""
    ways = {"one process": (1, 0), "one with an engine process": (1, 1), "2 workers": (2, 0)}
    rates: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
    for _ in range(3):
        for way, (count, engines) in ways.items():
            options = ("--workers", str(count), "--set", f"engine_processes={engines}")
            with _gates(state, {"gate": store.url}, *options) as (gates, key):
                rates[way].append(await _throughput(gates["gate"], key))
    found = {way: median(rate for rate, _ in some) for way, some in rates.items()}
    own = median(cpu for some in rates.values() for _, cpu in some)
    told = ", ".join(f"{way} {rate:.0f}" for way, rate in found.items())
    times = found["2 workers"] / found["one process"]
    return [
        Row(f"calls of 100 KB a second; making them takes {own:.0%} of a core", "", told, True),
        Row("… 2 workers against one process", f"≥ {LEAST_TIMES} ×", f"{times:.2f} ×", times >= LEAST_TIMES),
    ]


async def _throughput(gate: Process, key: str) -> tuple[float, float]:
    """Calls a second, and the share of a core that making them took."""
    clients = [Client(gate, key) for _ in range(CLIENTS)]
    for client in clients:
        await client.open()
    for client in clients:
        assert b"[brimgate]" in await client.call(LARGE)
    for _ in range(3):
        await asyncio.gather(*(client.call(LARGE) for client in clients))
    began, cpu, done = time.perf_counter(), time.process_time(), 0

    async def call(client: Client) -> None:
        nonlocal done
        while time.perf_counter() - began < SECONDS:
            await client.call(LARGE)
            done += 1

    await asyncio.gather(*map(call, clients))
    took = time.perf_counter() - began
    for client in clients:
        client.close()
    return done / took, (time.process_time() - cpu) / took


# Losing it


async def _loss(state: Path, store: RedisServer) -> list[Row]:
    """Freeze the store under calls at a fixed rate: nothing tells a gateway that it is gone but time."""
    with _gates(state, {"gate": store.url}) as (gates, key):
        clients = [Client(gates["gate"], key) for _ in range(CLIENTS)]
        for client in clients:
            await client.open()
            await client.call(LARGE)
        before = await _waits(clients, 4.0)
        during: list[float] = []
        back = 0.0
        for _ in range(3):
            asyncio.get_running_loop().call_later(1.0, store.freeze)
            during += await _waits(clients, 4.0)
            assert await _status(gates["gate"], key) == "degraded"
            store.thaw()
            back = max(back, await _seconds_until_healthy(gates["gate"], key))
        for client in clients:
            client.close()
    added = 1_000 * (_p99(during) - _p99(before))
    return [
        Row(
            f"store frozen under 100 calls/s: p99 {1_000 * _p99(during):.0f} ms instead of {1_000 * _p99(before):.0f} ms, "
            "0 failed; added",
            f"≤ {MOST_ADDED_MS:g} ms",
            f"{added:.0f} ms",
            added <= MOST_ADDED_MS,
        ),
        Row(
            "… used again after it answers",
            f"≤ {MOST_BACK_SECONDS:g} s",
            f"{back:.1f} s",
            back <= MOST_BACK_SECONDS,
        ),
    ]


async def _waits(clients: list[Client], seconds: float, rate: int = 100) -> list[float]:
    waits: list[float] = []
    began = time.perf_counter()

    async def calls(number: int) -> None:
        for turn in range(int(rate * seconds) // len(clients)):
            due = began + (turn * len(clients) + number) / rate
            await asyncio.sleep(max(due - time.perf_counter(), 0))
            answer = await clients[number].call(LARGE if (turn + number) % 5 == 0 else SMALL)
            assert b'"result"' in answer and b"isError" not in answer, answer[:300]
            waits.append(time.perf_counter() - due)

    await asyncio.gather(*map(calls, range(len(clients))))
    return waits


async def _seconds_until_healthy(gate: Process, key: str) -> float:
    began = time.perf_counter()
    while await _status(gate, key) != "healthy" and time.perf_counter() - began < 60:
        await asyncio.sleep(0.02)
    return time.perf_counter() - began


async def _status(gate: Process, key: str) -> str:
    reader, writer = await asyncio.open_connection("127.0.0.1", gate.port)
    head = (
        f"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {key}\r\nconnection: close\r\n\r\n"
    )
    writer.write(head.encode())
    body = (await reader.read()).partition(b"\r\n\r\n")[2]
    writer.close()
    return json.loads(body)["status"]


def _p99(waits: list[float]) -> float:
    return sorted(waits)[int(len(waits) * 0.99)]


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    for row in rows():
        print(*row)
    sys.exit(0)
