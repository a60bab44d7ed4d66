"""Snapshots in files, so that `brimgate read` can continue where another process stopped.

One folder per principal (named by a hash), one file per snapshot, its views beside it. The expiry is in the file's
name and the last use is its modification time, so a sweep reads no file. Every file is put in place by a rename. A
file that another process removes in between is simply gone.
"""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from brimgate.hold.stores.contract import Bounds
from brimgate.platform import DRAFT, make_private_dir, write_private


@dataclass(frozen=True, slots=True)
class _Entry:
    path: Path
    expires_minute: int
    used: float
    size: int


class FileStore:
    blocks = True

    def __init__(self, folder: Path, bounds: Bounds | None = None) -> None:
        self._folder = folder
        self._bounds = bounds or Bounds()
        self._swept = -1
        make_private_dir(folder)

    def put(self, principal: str, snapshot: bytes, data: bytes, expires_minute: int, now_minute: int) -> bool:
        if len(data) > self._bounds.per_principal_bytes:
            return False
        if self.renew(principal, snapshot, expires_minute, now_minute):
            return True
        home = self._home(principal)
        make_private_dir(home)
        write_private(home / f"{snapshot.hex()}-{expires_minute}.data", data)
        self._evict(home)
        return True

    def renew(self, principal: str, snapshot: bytes, expires_minute: int, now_minute: int) -> bool:
        if self._swept != now_minute:
            self.sweep(now_minute)
        entry = self._find(principal, snapshot)
        if entry is None:
            return False
        path = entry.path
        if entry.expires_minute < expires_minute:
            try:
                path = path.replace(path.with_name(f"{snapshot.hex()}-{expires_minute}.data"))
            except FileNotFoundError:
                return False
        _touch(path)
        return True

    def get(self, principal: str, snapshot: bytes, now_minute: int) -> bytes | None:
        entry = self._find(principal, snapshot)
        if entry is None:
            return None
        if entry.expires_minute < now_minute:
            self._drop(entry)
            return None
        _touch(entry.path)
        try:
            return entry.path.read_bytes()
        except FileNotFoundError:
            return None

    def put_view(self, principal: str, snapshot: bytes, key: bytes, view: bytes) -> None:
        if self._find(principal, snapshot) is not None:
            write_private(self._view_path(principal, snapshot, key), view)

    def get_view(self, principal: str, snapshot: bytes, key: bytes) -> bytes | None:
        if self._find(principal, snapshot) is None:
            return None
        try:
            return self._view_path(principal, snapshot, key).read_bytes()
        except FileNotFoundError:
            return None

    def sweep(self, now_minute: int) -> int:
        expired = [entry for entry in self._entries(self._folder) if entry.expires_minute < now_minute]
        for entry in expired:
            self._drop(entry)
        self._swept = now_minute
        for draft in self._folder.rglob(f".*{DRAFT}"):
            # Left by a process that was killed while writing; a live one needs far less than an hour.
            with suppress(FileNotFoundError):
                if draft.stat().st_mtime < time.time() - 3_600:
                    draft.unlink()
        return len(expired)

    def _home(self, principal: str) -> Path:
        return self._folder / sha256(principal.encode()).hexdigest()[:32]

    def _view_path(self, principal: str, snapshot: bytes, key: bytes) -> Path:
        return self._home(principal) / f"{snapshot.hex()}.{key.hex()}.view"

    def _find(self, principal: str, snapshot: bytes) -> _Entry | None:
        found = list(_read_entries(self._home(principal).glob(f"{snapshot.hex()}-*.data")))
        return max(found, key=lambda entry: entry.expires_minute, default=None)

    def _entries(self, folder: Path) -> list[_Entry]:
        return list(_read_entries(folder.rglob("*.data")))

    def _evict(self, home: Path) -> None:
        """Evict the least recently used: first of the principal who put, then of everyone."""
        for folder, bound in (
            (home, self._bounds.per_principal_bytes),
            (self._folder, self._bounds.total_bytes),
        ):
            entries = sorted(self._entries(folder), key=lambda entry: entry.used)
            total = sum(entry.size for entry in entries)
            for entry in entries:
                if total <= bound:
                    break
                self._drop(entry)
                total -= entry.size

    def _drop(self, entry: _Entry) -> None:
        snapshot = entry.path.name.partition("-")[0]
        entry.path.unlink(missing_ok=True)
        for view in entry.path.parent.glob(f"{snapshot}.*.view"):
            view.unlink(missing_ok=True)


def _read_entries(paths: Iterator[Path]) -> Iterator[_Entry]:
    for path in paths:
        _, _, minute = path.stem.partition("-")
        try:
            status = path.stat()
        except FileNotFoundError:
            continue
        if minute.isdigit():
            yield _Entry(path, int(minute), status.st_mtime, status.st_size)


def _touch(path: Path) -> None:
    try:
        os.utime(path)
    except FileNotFoundError:
        return
