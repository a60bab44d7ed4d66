"""Notices that the configuration file has changed, however it was changed: written, renamed over, a link swapped.

It looks, 25 times a second, at what the path leads to now. A look costs some 10 µs; unlike a watch on the file
or its folder it also sees through links and network mounts (ADR 5).
"""

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

LOOK_SECONDS: Final = 0.04
_SETTLING_SECONDS: Final = 0.2
"""A file system's clock may not tell two writes apart that are this close: until then the content is compared."""


class ConfigWatch:
    def __init__(self, path: Path, on_change: Callable[[float], None], known: bytes) -> None:
        """`on_change` gets the time at which the file was written; `known` is the content in force."""
        self._path, self._on_change = path, on_change
        self._content = known
        self._mark: tuple[int, ...] | None = self._look()
        self._settled = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._tick)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _tick(self) -> None:
        self.start()
        mark = self._look()
        if mark != self._mark:
            self._mark = mark
            self._settled = time.monotonic() + _SETTLING_SECONDS
        elif time.monotonic() > self._settled:
            return
        try:
            content = self._path.read_bytes()
        except OSError:
            return  # between two renames, or gone: what is in force stays
        if content != self._content:
            self._content = content
            self._on_change(mark[0] / 1e9 if mark else time.time())

    def _look(self) -> tuple[int, ...] | None:
        try:
            found = os.stat(self._path)  # noqa: PTH116  # once every 40 ms: without the detour
        except OSError:
            return None
        return found.st_mtime_ns, found.st_ino, found.st_size, found.st_ctime_ns
