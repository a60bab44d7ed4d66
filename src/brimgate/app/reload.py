"""Reload the configuration file while we run: notice that it has changed, read it, apply it."""

import asyncio
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Protocol

from brimgate.config.declarations import Config
from brimgate.config.show import difference, needs_restart
from brimgate.config.sources import Read, read_file
from brimgate.errors import ConfigError, OperatorError
from brimgate.platform import FolderWatch
from brimgate.watch.log import Log

_LOOK_SECONDS: Final = 0.5
_RARE_LOOK_SECONDS: Final = 5.0
"""Where events tell us. They say nothing of network mounts, nor of a link that is swapped further up."""
_AGAIN_SECONDS: Final = 0.01
"""While a file changes: what is read must be the same twice, or it may be half of what is being written."""
_SETTLING_SECONDS: Final = 0.2
"""A file system's clock may not tell two writes apart that are this close: until then the content is compared.

Until then an empty file is taken for one that has been opened to be written.
"""
_WRITING_SECONDS: Final = 5.0
"""How long an empty file may stay open for writing before it is taken as it is."""
_MAX_LINKS: Final = 40


class ConfigWatch:
    """Notices every kind of change: a file that is written, renamed over, or behind a link that is swapped."""

    def __init__(
        self, path: Path, on_change: Callable[[float, bytes], None], known: bytes | None = None
    ) -> None:
        """`on_change` gets the time at which the file was written, and its content; `known` is the one in force.

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
        self._events: FolderWatch | None = None
        self._names: set[str] = set()
        """Files and links in the watched folders that lead to the configuration."""
        self._writing_until = 0.0
        """While somebody has the file open for writing."""

    def start(self) -> None:
        self._events = FolderWatch.open()
        if self._events is not None:
            asyncio.get_running_loop().add_reader(self._events.descriptor, self._hear)
            self._follow()
        self._wait(_AGAIN_SECONDS)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._events is not None:
            asyncio.get_running_loop().remove_reader(self._events.descriptor)
            self._events.close()
            self._events = None

    def _wait(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._tick)

    def _follow(self) -> None:
        """Watch every folder in which something leads to the file: its own, and those of the links to it."""
        events = self._events
        if events is not None:
            places = list(_places(self._path))
            self._names = {name for _, name in places} | {""}
            for folder, _ in places:
                events.add(folder)

    def _hear(self) -> None:
        is_ours = False
        for kind, name in self._events.events() if self._events is not None else ():
            if name in self._names:
                is_ours = True
                self._writing_until = (
                    time.monotonic() + _WRITING_SECONDS if kind & FolderWatch.WRITTEN else 0.0
                )
        if is_ours:
            self._tick()

    def _tick(self) -> None:
        mark, before = self._look(), self._looked_at
        self._looked_at = time.time()
        if mark != self._mark:
            self._mark = mark
            self._settled = time.monotonic() + _SETTLING_SECONDS
            # The time of a file that was made long ago and is only now put in place says nothing.
            self._written_at = max(mark[1] / 1e9, before) if mark else self._looked_at
            self._follow()
        is_settled = time.monotonic() > self._settled
        usual = _LOOK_SECONDS if self._events is None else _RARE_LOOK_SECONDS
        self._wait(usual if is_settled and self._seen == self._content else _AGAIN_SECONDS)
        if not is_settled or self._seen != self._content:
            self._compare(is_settled=is_settled and time.monotonic() > self._writing_until)

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
        self._on_change(self._written_at or self._looked_at, content)

    @property
    def _is_file(self) -> bool:
        """A pipe could be read only once, and reading it might wait for ever."""
        return self._mark is not None and stat.S_ISREG(self._mark[0])

    def _look(self) -> tuple[int, ...] | None:
        try:
            found = self._path.stat()
        except (OSError, ValueError):
            return None
        return found.st_mode, found.st_mtime_ns, found.st_ino, found.st_size, found.st_ctime_ns


def _places(path: Path) -> Iterator[tuple[str, str]]:
    """Name every folder and entry in it that the path goes through by a link, and the last: the file itself."""
    folder, names, links = "/", list(reversed(path.absolute().parts[1:])), 0
    while names:
        name = names.pop()
        here = os.path.join(folder, name)  # noqa: PTH118  # `..` behind a link must not be folded away
        if links < _MAX_LINKS and os.path.islink(here):  # noqa: PTH114
            yield folder, name
            links += 1
            target = Path(os.readlink(here))  # noqa: PTH115
            folder = "/" if target.is_absolute() else folder
            names += reversed(target.parts[1:] if target.is_absolute() else target.parts)
        elif not names:
            yield folder, name
        else:
            folder = here


@dataclass(frozen=True, slots=True)
class ReloadNote:
    """How the last change of the configuration went."""

    time: float
    result: Literal["applied", "rejected"]
    seconds: float
    """From the moment in which the file was written."""
    told: str
    """What has changed, or why it was rejected."""


class Configured(Protocol):
    config: Config

    def note_reload(self, note: ReloadNote) -> None: ...

    def apply(self, config: Config) -> None:
        """Use a new configuration for all calls from now on; those under way keep the old one.

        Raise OperatorError if it cannot be used. Then nothing has changed.
        """
        ...


class Reload:
    """Keeps a running gateway to its configuration file. A file that is wrong changes nothing."""

    def __init__(self, gateway: Configured, read: Read, log: Log) -> None:
        self._gateway, self._read, self._log = gateway, read, log
        self._declarations: list[ConfigWatch] = []

    def watch(self, path: Path) -> None:
        """Reload whenever the file changes."""
        self._watch = ConfigWatch(path, self.reload)
        self._watch.start()
        for name, one in self._gateway.config.upstreams.items():
            if one.api:
                self._watch_declaration(f"upstreams.{name}.api", Path(one.api))

    def _watch_declaration(self, key: str, path: Path) -> None:
        """Say that a declaration has changed: its tools are those it had when we started."""

        def tell(_: float, content: bytes) -> None:
            self._log.write("config_needs_restart", {"keys": [key], "file": str(path)}, "warning")

        with suppress(ConfigError):
            watch = ConfigWatch(path, tell, read_file(path))
            watch.start()
            self._declarations.append(watch)

    def _reject(self, error: OperatorError, written_at: float) -> None:
        self._log.write("config_rejected", {"reason": str(error), "kept": "the one before"}, "error")
        self._note("rejected", written_at, str(error))

    def _note(self, result: Literal["applied", "rejected"], written_at: float, told: str) -> float:
        now = time.time()
        note = ReloadNote(now, result, max(now - written_at, 0.0), told)
        self._gateway.note_reload(note)
        return note.seconds

    def reload(self, written_at: float, content: bytes | None = None) -> None:
        """Apply the content that was noticed, which may not be what the file holds by now; without it, look."""
        level, old = self._log.level, self._gateway.config
        try:
            config = self._read(content)
            changes = difference(old, config)
            if not changes:
                return
            self._gateway.apply(config)
        except OperatorError as error:
            self._reject(error, written_at)
            return
        latency = round(self._note("applied", written_at, ", ".join(changes)) * 1_000, 1)
        # Logged at the more verbose of both levels: a change to a quiet log is the last thing it logs.
        self._log.level, quiet = min(level, self._log.level), self._log.level
        self._log.write("config_reloaded", {"changes": changes, "latency_ms": latency})
        self._log.level = quiet
        if late := needs_restart(old, config):
            self._log.write("config_needs_restart", {"keys": late}, "warning")
