"""Show progress while a server takes its time."""

import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from brimgate.cli.output import printable

if TYPE_CHECKING:
    import asyncio

    from brimgate.app.client import McpClient, ProgressNote


class Patience:
    """A line on stderr while something takes longer than a second; nothing where nobody would see it."""

    def __init__(
        self, loop: "asyncio.AbstractEventLoop", caller: "McpClient", more_time: Callable[[], None]
    ) -> None:
        """Create it. `more_time` resets the timeout of the whole conversation, for those who make many calls."""
        self._loop, self._caller, self.more_time = loop, caller, more_time
        self._is_live = sys.stderr is not None and sys.stderr.isatty()
        self._began = time.monotonic()
        self._said = ""
        self._shown = 0
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> "Patience":
        if self._is_live:
            self._timer = self._loop.call_later(1.0, self._tick)
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """End, also when something else begins to show progress."""
        if self._timer is not None:
            self._timer.cancel()
        self._erase()

    def note(self, progress: "ProgressNote") -> None:
        """Record the progress that the server reports."""
        done = "" if progress.progress is None else f"{progress.progress:g}"
        of = f"/{progress.total:g}" if done and progress.total else ""
        # Drawn at the next tick: a server may report far more often than anyone can read.
        self._said = printable(" ".join(filter(None, (done + of, (progress.message or "")[:200]))))

    def _tick(self) -> None:
        self._draw()
        self._timer = self._loop.call_later(1.0, self._tick)

    def _draw(self) -> None:
        try:
            columns = os.get_terminal_size(sys.stderr.fileno()).columns or 80
        except OSError:
            columns = 80
        said = self._said or f"for the {self._caller.awaited}"
        line = f"{time.monotonic() - self._began:.0f} s {said}"[: max(columns - 1, 10)]
        self._erase()
        self._shown = len(line)
        sys.stderr.write(line)
        sys.stderr.flush()

    def _erase(self) -> None:
        if self._shown:
            sys.stderr.write(f"\r{' ' * self._shown}\r")
            sys.stderr.flush()
            self._shown = 0
