"""Small calls beside large ones: how long 50 clients wait, at a fixed rate of four small calls to one large.

`python -m bench.mixed [CHECKOUT…]` also measures the code of other checkouts, in turns.
"""

import asyncio
import sys
import tempfile
import time
from pathlib import Path

from bench.load import Client, Process
from bench.report import Row

CLIENTS = 50
RATE = 200
SECONDS = 15
SMALL, LARGE = "bookings-1000", "bookings-100000"


def rows() -> list[Row]:
    small, large = asyncio.run(_waits(None))
    return [
        Row(
            f"{RATE} calls/s, 4 small : 1 of 100 KB, {CLIENTS} clients: small, p99",
            "",
            _ms(_p99(small)),
            True,
        ),
        Row("… large, p99", "", _ms(_p99(large)), True),
    ]


async def _waits(checkout: Path | None) -> tuple[list[float], list[float]]:
    """The seconds that small and large calls took."""
    with tempfile.TemporaryDirectory() as state:
        upstream = [sys.executable, "-m", "bench.upstreams.raw_http", "{port}"]
        with Process(upstream, Path(state)) as server:
            server.wait()
            command = [
                sys.executable,
                "-m",
                "brimgate",
                "serve",
                "--port",
                "{port}",
                "--upstream",
                server.url,
            ]
            if checkout is not None:
                path = f"{checkout / 'src'}"
                command = ["env", f"PYTHONPATH={path}", *command]
            with Process(command, Path(state)) as gate:
                return await _load(gate.wait())


async def _load(gate: Process) -> tuple[list[float], list[float]]:
    clients = [Client(gate) for _ in range(CLIENTS)]
    for client in clients:
        await client.open()
    waits: dict[str, list[float]] = {SMALL: [], LARGE: []}
    await clients[0].call(LARGE)
    began = time.perf_counter()

    async def calls(number: int) -> None:
        for turn in range(RATE * SECONDS // CLIENTS):
            due = began + (turn * CLIENTS + number) / RATE
            await asyncio.sleep(max(due - time.perf_counter(), 0))
            tool = LARGE if (turn + number) % 5 == 0 else SMALL
            body = await clients[number].call(tool)
            assert b'"result"' in body, body[:300]
            waits[tool].append(time.perf_counter() - due)

    await asyncio.gather(*map(calls, range(CLIENTS)))
    for client in clients:
        client.close()
    return waits[SMALL], waits[LARGE]


def _p99(waits: list[float]) -> float:
    return sorted(waits)[int(len(waits) * 0.99)]


def _ms(seconds: float) -> str:
    return f"{seconds * 1_000:.0f} ms"


if __name__ == "__main__":
    for place in (None, *map(Path, sys.argv[1:])):
        small, large = asyncio.run(_waits(place))
        middle = [_ms(sorted(one)[len(one) // 2]) for one in (small, large)]
        ends = [_ms(_p99(one)) for one in (small, large)]
        print(f"{place or 'here'}: small {middle[0]}, p99 {ends[0]}; large {middle[1]}, p99 {ends[1]}")
