"""Watch the configuration file for changes of any kind: written, replaced by a rename, a link swapped.

It checks, 40 times a second, what the path leads to now. Unlike a watch on the file or its folder, that also works
through links and network mounts (ADR 5).
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
"""The interval while a file changes: its content must be the same twice, or it may be only half written."""
_SETTLING_SECONDS: Final = 0.2
"""A file system's clock may not tell apart two writes this close: until then the content is compared.

Until then an empty file is assumed to have been opened for writing.
"""


class ConfigWatch:
    def __init__(self, path: Path, on_change: Callable[[float], None], known: bytes | None = None) -> None:
        """Watch `path`. `on_change` gets the time at which the file was written; `known` is the content in force.

        If it is not known, the first check counts as a change: the file may have changed since it was loaded.
        """
        self._path, self._on_change = path, on_change
        self._content = known
        self._seen = known
        """What the last check found; it may still be changing."""
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
            # The time of a file that was made long ago and is put in place only now says nothing.
            self._written_at = max(mark[1] / 1e9, before) if mark else self._looked_at
        is_settled = time.monotonic() > self._settled
        self._wait(LOOK_SECONDS if is_settled and self._seen == self._content else _AGAIN_SECONDS)
        if not is_settled or self._seen != self._content:
            self._compare(is_settled=is_settled)

    def _compare(self, *, is_settled: bool) -> None:
        try:
            content = read_file(self._path) if self._is_file else self._content
        except ConfigError:
            content = self._content  # between two renames, or gone: the configuration in force stays
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
        """Whether it is a regular file. A pipe could be read only once, and reading it might wait forever."""
        return self._mark is not None and stat.S_ISREG(self._mark[0])

    def _look(self) -> tuple[int, ...] | None:
        try:
            found = os.stat(self._path)  # noqa: PTH116  # 40 times a second: without the detour
        except (OSError, ValueError):
            return None
        return found.st_mode, found.st_mtime_ns, found.st_ino, found.st_size, found.st_ctime_ns
