"""Notices that the configuration file has changed, however it was changed: written, renamed over, a link swapped.

It looks, 40 times a second, at what the path leads to now. Unlike a watch on the file or its folder that also
sees through links and network mounts (ADR 5).
"""

import asyncio
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from brimgate.config.sources import read_file
from brimgate.errors import ConfigError

LOOK_SECONDS: Final = 0.025
_AGAIN_SECONDS: Final = 0.01
"""While a file changes: what is read must be the same twice, or it may be half of what is being written."""
_SETTLING_SECONDS: Final = 0.2
"""A file system's clock may not tell two writes apart that are this close: until then the content is compared.

Until then an empty file is taken for one that has been opened to be written.
"""


class ConfigWatch:
    def __init__(self, path: Path, on_change: Callable[[float], None], known: bytes | None = None) -> None:
        """`on_change` gets the time at which the file was written; `known` is the content in force.

        Where it is not known, the first look counts as a change: the file may have changed since it was loaded.
        """
        self._path, self._on_change = path, on_change
        self._content = known
        self._seen = known
        """What the last look found; it may still be changing."""
        self._mark: tuple[int, ...] | None = self._look()
        self._looked_at = time.time()
        self._written_at = 0.0
        self._settled = time.monotonic() + _SETTLING_SECONDS
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        self._wait(LOOK_SECONDS)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _wait(self, seconds: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, self._tick)

    def _tick(self) -> None:
        mark, before = self._look(), self._looked_at
        self._looked_at = time.time()
        if mark != self._mark:
            self._mark = mark
            self._settled = time.monotonic() + _SETTLING_SECONDS
            # The time of a file that was made long ago and is only now put in place says nothing.
            self._written_at = max(mark[1] / 1e9, before) if mark else self._looked_at
        is_settled = time.monotonic() > self._settled
        self._wait(LOOK_SECONDS if is_settled and self._seen == self._content else _AGAIN_SECONDS)
        if not is_settled or self._seen != self._content:
            self._compare(is_settled=is_settled)

    def _compare(self, *, is_settled: bool) -> None:
        try:
            content = read_file(self._path) if self._is_file else self._content
        except ConfigError:
            content = self._content  # between two renames, or gone: what is in force stays
        seen, self._seen = self._seen, content
        if (
            content is None
            or content == self._content
            or content != seen
            or (not content.strip() and not is_settled)
        ):
            return
        self._content = content
        self._on_change(self._written_at or self._looked_at)

    @property
    def _is_file(self) -> bool:
        """A pipe could be read only once, and reading it might wait for ever."""
        return self._mark is not None and stat.S_ISREG(self._mark[0])

    def _look(self) -> tuple[int, ...] | None:
        try:
            found = os.stat(self._path)  # noqa: PTH116  # once every 40 ms: without the detour
        except (OSError, ValueError):
            return None
        return found.st_mode, found.st_mtime_ns, found.st_ino, found.st_size, found.st_ctime_ns
