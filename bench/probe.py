"""How long an event loop makes those wait who are due.

`python -m bench.probe FILE serve …` runs Brimgate with a task beside it that measures how late it is woken. When it is told
to end, it writes to FILE what it found since SIGUSR1. `python -m bench.probe FILE` does the same with nothing beside it: what
is late there is the machine.
"""

import asyncio
import json
import signal
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

_TICK_SECONDS = 0.005
_LATE_SECONDS = 0.05
_FRAMES = 6


class Probe:
    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self._due = time.perf_counter()
        self._waits: list[tuple[float, float]] = []
        """How late each tick was, and the CPU that this process took meanwhile, in seconds."""
        self._holders: Counter[str] = Counter()
        """Who had the loop while somebody was late."""

    def begin(self) -> None:
        """Begin anew: what is loaded with the first answers is not what is measured."""
        self._waits.clear()
        self._holders.clear()

    async def run(self) -> None:
        while True:
            self._due, spent = time.perf_counter() + _TICK_SECONDS, time.process_time()
            await asyncio.sleep(_TICK_SECONDS)
            late = max(time.perf_counter() - self._due, 0.0)
            self._waits.append((late, min(time.process_time() - spent, late)))

    def watch(self) -> None:
        """Look from another thread who has the loop whenever a tick is late."""
        while True:
            time.sleep(_LATE_SECONDS / 2)
            if time.perf_counter() - self._due > _LATE_SECONDS:
                frames = traceback.extract_stack(sys._current_frames()[self._thread])[-_FRAMES:]
                self._holders[
                    " > ".join(f"{Path(one.filename).stem}.{one.name}:{one.lineno}" for one in frames)
                ] += 1

    def found(self) -> dict:
        late = sorted(wait for wait, _ in self._waits)
        spent = sorted(cpu for _, cpu in self._waits)
        return {
            "ticks": len(late),
            "longest_ms": 1_000 * late[-1],
            "p99_ms": 1_000 * late[int(len(late) * 0.99)],
            "longest_cpu_ms": 1_000 * spent[-1],
            "histogram_ms": Counter(_bin(1_000 * wait) for wait in late),
            "holders": self._holders.most_common(8),
        }


def _bin(milliseconds: float) -> int:
    """The least of 1, 2, 4, 8… that it is below."""
    return 1 << int(milliseconds).bit_length()


async def _idle() -> None:
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    await ended.wait()


def main() -> None:
    path = Path(sys.argv.pop(1))
    if len(sys.argv) > 1:
        _serve(path)
        return

    async def idle() -> None:
        await _probed(path, _idle())

    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(idle())


async def _probed(path: Path, work: Awaitable[None]) -> None:
    probe = Probe()
    threading.Thread(target=probe.watch, daemon=True).start()
    running = asyncio.create_task(probe.run())
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, probe.begin)
    try:
        await work
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        path.write_text(json.dumps(probe.found()), encoding="utf-8")


def _serve(path: Path) -> None:
    """The command as it is, with the probe on its loop."""
    from brimgate.app.server import HttpGateway
    from brimgate.cli.main import main as brimgate

    run = HttpGateway.run

    async def probed(
        self: HttpGateway, on_reload: Callable[[], None], on_stop: Callable[[], None] = lambda: None
    ) -> None:
        await _probed(path, run(self, on_reload, on_stop))

    HttpGateway.run = probed
    sys.exit(brimgate())


if __name__ == "__main__":
    main()
