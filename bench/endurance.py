"""Memory over many answers: `python -m bench.endurance [ANSWERS]` prints what `run` and `serve` take as answers go by.

Each answer has 0.1 to 1 MB, in a random one of the hostile shapes or of bookings and logs, and no two are the same. What
may be held is bounded by the store; beyond that, memory must not grow.
"""

import asyncio
import random
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from bench.driver import Driver
from bench.generators.hostile import SHAPES
from bench.load import Client, Process
from brimgate.hold.stores.contract import Bounds

ROOM = 150 << 20
_KINDS = ["bookings", "log", *(name for name in SHAPES if name != "broken-utf8")]
_UPSTREAM = [sys.executable, "-m", "bench.upstreams.raw"]
_LOOKS = 20
_CLIENTS = 4


def tool(dice: random.Random) -> str:
    return f"{dice.choice(_KINDS)}-{dice.randrange(100_000, 1_000_000)}"


class Course:
    """What a process takes, looked at now and then."""

    def __init__(self, name: str, answers: int, look: Callable[[], int]) -> None:
        self._name, self._look = name, look
        self._every = max(answers // _LOOKS, 1)
        self.most = 0

    def note(self, number: int) -> None:
        if number % self._every == 0:
            now = self._look()
            self.most = max(self.most, now)
            print(f"{self._name}: {number:,} answers, {now >> 20} MB", flush=True)

    def verdict(self) -> bool:
        bound = Bounds().per_principal_bytes + ROOM  # all callers are one
        print(f"{self._name}: at most {self.most >> 20} MB of {bound >> 20}", flush=True)
        return self.most <= bound


def over_run(answers: int) -> bool:
    command = [sys.executable, "-m", "brimgate", "run", "--set", "store=memory", "--", *_UPSTREAM]
    dice = random.Random(1)
    with tempfile.TemporaryDirectory() as state, Driver(command, Path(state)) as driver:
        driver.shake_hands()
        course = Course("run", answers, lambda: driver.memory_bytes("VmRSS"))
        for number in range(answers + 1):
            driver.call(tool(dice))
            course.note(number)
        return course.verdict()


def over_serve(answers: int) -> bool:
    command = [sys.executable, "-m", "brimgate", "serve", "--port", "{port}", "--", *_UPSTREAM]
    with tempfile.TemporaryDirectory() as state, Process(command, Path(state)) as gate:
        gate.wait()
        course = Course("serve", answers, gate.memory_bytes)
        asyncio.run(_call(gate, answers, course))
        return course.verdict()


async def _call(gate: Process, answers: int, course: Course) -> None:
    dice = random.Random(2)
    clients = [Client(gate) for _ in range(_CLIENTS)]
    for client in clients:
        await client.open()
    for number in range(0, answers + 1, _CLIENTS):
        calls: list[Awaitable[bytes]] = [client.call(tool(dice)) for client in clients]
        for body in await asyncio.gather(*calls):
            assert b'"result"' in body, body[:300]
        course.note(number)


if __name__ == "__main__":
    count = int(sys.argv[1]) if sys.argv[1:] else 20_000
    sys.exit(not all([over_run(count), over_serve(count)]))
