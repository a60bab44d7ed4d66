"""Memory of one answer of any shape: at its peak, while it is searched, and while it is held."""

import json
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench.driver import Driver
from bench.generators.hostile import SHAPES
from bench.report import Row
from bench.upstreams.raw import _result

SIZES = (2 << 20, 8 << 20, 48 << 20)
ROOM = 130 << 20
MOST_PEAK = 6
MOST_HELD = 2
_RECORDED_SECONDS = 2.5
_CURSOR = re.compile(rb'cursor=\\"([\w-]+)\\"')
_SHAPES = [name for name in SHAPES if name != "broken-utf8"]  # no text of JSON


class Memory(NamedTuple):
    sent: int
    """The bytes of the message."""
    idle: int
    peak: int
    """While the answer is read, searched and its fields chosen."""
    held: int


def rows() -> list[Row]:
    out: list[Row] = []
    for size in SIZES:
        found = dict(_measured(size))
        worst = max(found, key=lambda name: (found[name].peak - ROOM) / found[name].sent)
        peak = (found[worst].peak - ROOM) / found[worst].sent
        out.append(
            Row(
                f"peak of {size >> 20} MB, over 130 MB ({worst})", "≤ 6 ×", f"{peak:.1f} ×", peak <= MOST_PEAK
            )
        )
        worst = max(found, key=lambda name: (found[name].held - found[name].idle) / found[name].sent)
        held = (found[worst].held - found[worst].idle) / found[worst].sent
        out.append(Row(f"held of {size >> 20} MB ({worst})", "≤ 2 ×", f"{held:.1f} ×", held <= MOST_HELD))
    return out


def _measured(size: int, shapes: list[str] = _SHAPES) -> Iterator[tuple[str, Memory]]:
    for name in shapes:
        found = memory_of(name, size)
        print(
            f"{name} {size >> 20} MB: peak {found.peak >> 20}, held {found.held - found.idle >> 20} MB",
            flush=True,
        )
        yield name, found


def memory_of(shape: str, size: int) -> Memory:
    command = [
        sys.executable,
        "-m",
        "brimgate",
        "run",
        "--set",
        "store=memory",
        "--",
        sys.executable,
        "-m",
        "bench.upstreams.raw",
    ]
    with tempfile.TemporaryDirectory() as state, Driver(command, Path(state)) as driver:
        driver.shake_hands()
        driver.call("bookings-1000000")
        idle = driver.memory_bytes("VmRSS")
        sent = len(_result(f"{shape}-{size}"))
        answer = driver.call(f"{shape}-{size}")
        first = driver.memory_bytes("VmHWM")
        held = _settled(driver)
        if found := _CURSOR.search(answer):
            for extra in ({"search": "nowhere to be found"}, {"fields": "id"}, {}):
                driver.ask(
                    "tools/call",
                    {"name": "brimgate_read", "arguments": {"cursor": found[1].decode(), **extra}},
                )
        driver.call("bookings-1000")
        print(json.dumps({"first": first >> 20, "read": driver.memory_bytes("VmHWM") >> 20}))
        return Memory(sent, idle, driver.memory_bytes("VmHWM"), max(held, _settled(driver)))


def _settled(driver: Driver) -> int:
    """Return what is held when the recorder has measured the answers, which it does once a second, in a thread."""
    least, until = driver.memory_bytes("VmRSS"), time.monotonic() + _RECORDED_SECONDS
    while time.monotonic() < until:
        time.sleep(0.1)
        least = min(least, driver.memory_bytes("VmRSS"))
    return least


if __name__ == "__main__":
    for _ in _measured(int(sys.argv[1]) << 20, sys.argv[2:] or _SHAPES):
        pass
