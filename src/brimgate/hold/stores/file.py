"""Snapshots in files, so that another process can continue where one stopped.

One folder per principal (named by a hash), in it one per snapshot: its bytes, and its views beside them. The expiry is
in the name of the file and the last use is its modification time, so a sweep reads no file. Nothing is locked: a file
is put in place by a rename, renewed by a rename, and dropped by whoever unlinks it under the name that was found. So of
several processes at once, one is the first, and the others see it.
"""

import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from threading import Lock, get_ident
from typing import Final

from brimgate.errors import OperatorError
from brimgate.hold.stores.contract import MAX_VIEWS, Bounds
from brimgate.hold.stores.memory import MemoryStore
from brimgate.platform import (
    claim_private_dir,
    create_private,
    is_locked,
    is_private,
    lock_file,
    make_private_dir,
    state_dir,
    write_private,
)

_STRAY_SECONDS: Final = 600
"""After this, what is incomplete was left by a process that was killed: a live one needs far less."""
_TRIES: Final = 5
"""How often a step is taken again that another process got in the way of."""
_DATA: Final = ".data"
_RUNNING: Final = ".running"
"""The folder with the locks of the processes that run."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """A snapshot as it was found."""

    path: Path
    expires_minute: int
    used: float = 0.0
    size: int = 0
    """With its views. This and the last use are known where something may have to be evicted."""


class FileStore:
    blocks = True
    is_distant = False
    is_reachable = True

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
        place = self._place(principal, snapshot)
        for left in reversed(range(_TRIES)):
            try:
                for folder in (place.parent, place):
                    folder.mkdir(mode=0o700, exist_ok=True)
                write_private(place / f"{expires_minute}{_DATA}", data)
                break
            except (OperatorError, FileExistsError) as error:
                if not left or not _was_dropped(error):
                    raise
        self._evict(place.parent)
        return True

    def renew(self, principal: str, snapshot: bytes, expires_minute: int, now_minute: int) -> bool:
        if self._swept != now_minute:
            self.sweep(now_minute)
        place = self._place(principal, snapshot)
        for _ in range(_TRIES):
            entry = _find(place)
            if entry is None or entry.expires_minute <= now_minute:
                return False
            path = entry.path
            if entry.expires_minute < expires_minute:
                try:
                    path = path.replace(place / f"{expires_minute}{_DATA}")
                except FileNotFoundError:
                    continue  # renewed or dropped by another process
            _touch(path)
            return True
        return False

    def get(self, principal: str, snapshot: bytes, now_minute: int) -> bytes | None:
        for _ in range(_TRIES):
            entry = _find(self._place(principal, snapshot))
            if entry is None:
                return None
            if entry.expires_minute <= now_minute:
                _drop(entry)
                return None
            with suppress(FileNotFoundError):  # renewed by another process: then it has another name
                data = entry.path.read_bytes()
                _touch(entry.path)
                return data
        return None

    def put_view(self, principal: str, snapshot: bytes, key: bytes, view: bytes) -> bool:
        place = self._place(principal, snapshot)
        path = place / f"{key.hex()}.view"
        if _find(place) is None:
            return False
        if _read(path) == view:
            _touch(path)
            return True
        try:
            write_private(path, view)
        except OperatorError as error:
            if not _was_dropped(error):
                raise
        views = sorted(_statuses(place, ".view"), key=lambda found: found[1].st_mtime)
        for oldest, _ in views[:-MAX_VIEWS]:
            oldest.unlink(missing_ok=True)
        return True

    def get_view(self, principal: str, snapshot: bytes, key: bytes) -> bytes | None:
        place = self._place(principal, snapshot)
        return _read(place / f"{key.hex()}.view") if _find(place) is not None else None

    def copy_into(self, other: MemoryStore, principal: str, snapshot: bytes) -> None:
        """Put a snapshot and its views into another store."""
        place = self._place(principal, snapshot)
        entry, data = _find(place), self.get(principal, snapshot, 0)
        if entry is None or data is None:
            return
        other.put(principal, snapshot, data, entry.expires_minute, 0)
        for path, _ in _statuses(place, ".view"):
            if (view := _read(path)) is not None:
                other.put_view(principal, snapshot, bytes.fromhex(path.stem), view)

    def drop(self, principal: str, snapshot: bytes) -> None:
        entry = _find(self._place(principal, snapshot))
        if entry is not None:
            _drop(entry)

    def sweep(self, now_minute: int) -> int:
        self._swept = now_minute
        following = 0
        for entry in (_find(place) for home in self._homes() for place in _places(home)):
            if entry is None:
                continue
            if entry.expires_minute <= now_minute:
                _drop(entry)
            elif not following or entry.expires_minute < following:
                following = entry.expires_minute
        self._tidy()
        return following

    def _tidy(self) -> None:
        """Remove what is no snapshot, or will never be one."""
        least = time.time() - _STRAY_SECONDS
        for home in self._homes():
            for item in _listed(home):
                with suppress(OSError):
                    if item.stat(follow_symlinks=False).st_mtime >= least:
                        continue
                    path = Path(item.path)
                    if not item.is_dir(follow_symlinks=False):
                        path.unlink()
                    elif item.name.startswith(".") or _find(path) is None:
                        shutil.rmtree(path, ignore_errors=True)

    def _place(self, principal: str, snapshot: bytes) -> Path:
        return self._folder / sha256(principal.encode()).hexdigest()[:32] / snapshot.hex()

    def _homes(self) -> list[Path]:
        return [Path(item.path) for item in _listed(self._folder) if item.name[0] != "."]

    def _evict(self, home: Path) -> None:
        """Evict the least recently used: first of the principal who put, then of everyone."""
        held = [entry for one in self._homes() for place in _places(one) if (entry := _measured(place))]
        held.sort(key=lambda entry: entry.used)
        own = [entry for entry in held if entry.path.parent.parent == home]
        dropped = _drop_oldest(own, self._bounds.per_principal_bytes)
        _drop_oldest([entry for entry in held if entry not in dropped], self._bounds.total_bytes)


def _was_dropped(error: Exception) -> bool:
    """Return whether a write failed because another process has just dropped what was there before."""
    return isinstance(error, FileExistsError) or isinstance(error.__cause__, FileNotFoundError)


def _drop_oldest(entries: list[_Entry], bound: int) -> set[_Entry]:
    """Drop so many of the oldest that the rest is within the bound. The newest stays."""
    total, dropped = sum(entry.size for entry in entries), set[_Entry]()
    for entry in entries[:-1]:
        if total <= bound:
            break
        _drop(entry)
        dropped.add(entry)
        total -= entry.size
    return dropped


def _places(home: Path) -> list[Path]:
    return [Path(item.path) for item in _listed(home) if item.name[0] != "."]


def _listed(folder: Path) -> "list[os.DirEntry[str]]":
    try:
        with os.scandir(folder) as found:
            return list(found)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _statuses(place: Path, ending: str = "") -> Iterator[tuple[Path, os.stat_result]]:
    for item in _listed(place):
        if item.name.endswith(ending):
            with suppress(FileNotFoundError):
                yield Path(item.path), item.stat(follow_symlinks=False)


def _find(place: Path) -> _Entry | None:
    """Return the snapshot in a folder.

    Two processes may have put it at once. Then the file counts that lives longest.
    """
    names = (item.name[: -len(_DATA)] for item in _listed(place) if item.name.endswith(_DATA))
    expires = max((int(name) for name in names if name.isdecimal()), default=None)
    return None if expires is None else _Entry(place / f"{expires}{_DATA}", expires)


def _measured(place: Path) -> _Entry | None:
    entry, used, size = _find(place), 0.0, 0
    for path, status in _statuses(place) if entry is not None else ():
        size += status.st_size
        used = max(used, status.st_mtime) if path.suffix == _DATA else used
    return entry and replace(entry, used=used, size=size)


def _drop(entry: _Entry) -> None:
    """Drop a snapshot, unless another process has renewed it since it was found."""
    place = entry.path.parent
    try:
        entry.path.unlink()
        # Aside first: another process may be about to put the same answer, and must not lose half of it.
        aside = place.with_name(f".{place.name}.{os.getpid()}-{get_ident()}")
        place.rename(aside)
    except OSError:
        return
    if (again := _find(aside)) is not None and again.expires_minute >= entry.expires_minute:
        with suppress(OSError):
            aside.rename(place)
            return
    shutil.rmtree(aside, ignore_errors=True)


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _touch(path: Path) -> None:
    with suppress(OSError):  # it is gone, or the disk can only be read
        os.utime(path)


class UserStore:
    """Snapshots in the folder of an operating system's user, which all commands of that user share (ADR 16).

    Where the folder cannot be used, memory is: from then on, and for the answer at hand. What is in the folder already
    can still be read. Nothing is opened or created before it is needed.
    """

    blocks = True
    is_distant = False
    is_reachable = True

    def __init__(self, bounds: Bounds | None, on_trouble: Callable[[str], None]) -> None:
        """Create it. `on_trouble` is told once why the folder is not used, in any thread."""
        self._bounds, self._on_trouble = bounds, on_trouble
        self._memory = MemoryStore(bounds)
        self._files: FileStore | None = None
        self._is_broken = False
        self._token = b""
        self._lock = Lock()

    # The folder

    def key(self) -> bytes:
        """Return the key for cursors that is kept beside the folder. Raise OperatorError if it cannot be used."""
        try:
            return _key_of_user()
        except OSError as error:
            raise OperatorError(f"{error}") from None

    def _folder(self) -> FileStore | None:
        """Return what the folder is read with."""
        with self._lock:
            if self._files is None and not self._is_broken:
                try:
                    folder = _folder_of_user()
                    claim_private_dir(folder)
                    self._files = FileStore(folder, self._bounds)
                except (OperatorError, OSError) as error:
                    self._warn(error)
            return self._files

    def _writable(self) -> FileStore | None:
        files = self._folder()
        return None if self._is_broken else files

    def give_up(self, error: Exception) -> None:
        """Use memory from now on, and say why if nobody has."""
        with self._lock:
            self._warn(error)

    def _warn(self, error: Exception) -> None:
        if not self._is_broken:
            self._is_broken = True
            self._on_trouble(f"{error}; answers are held in memory, and their cursors end with this process")

    # The contract

    def put(self, principal: str, snapshot: bytes, data: bytes, expires_minute: int, now_minute: int) -> bool:
        if (files := self._writable()) is not None:
            try:
                return files.put(principal, snapshot, data, expires_minute, now_minute)
            except (OperatorError, OSError) as error:
                self.give_up(error)
        return self._memory.put(principal, snapshot, data, expires_minute, now_minute)

    def renew(self, principal: str, snapshot: bytes, expires_minute: int, now_minute: int) -> bool:
        if self._memory.renew(principal, snapshot, expires_minute, now_minute):
            return True
        try:
            files = self._folder()
            return files is not None and files.renew(principal, snapshot, expires_minute, now_minute)
        except (OperatorError, OSError) as error:
            self.give_up(error)
            return False  # and so it is put again, into memory

    def get(self, principal: str, snapshot: bytes, now_minute: int) -> bytes | None:
        found = self._memory.get(principal, snapshot, now_minute)
        if found is None and (files := self._folder()) is not None:
            with suppress(OSError):
                found = files.get(principal, snapshot, now_minute)
        return found

    def put_view(self, principal: str, snapshot: bytes, key: bytes, view: bytes) -> bool:
        if (principal, snapshot) not in self._memory and (files := self._folder()) is not None:
            try:
                return files.put_view(principal, snapshot, key, view)
            except (OperatorError, OSError) as error:
                self.give_up(error)
                with suppress(OSError):  # to where its views find room
                    files.copy_into(self._memory, principal, snapshot)
        return self._memory.put_view(principal, snapshot, key, view)

    def get_view(self, principal: str, snapshot: bytes, key: bytes) -> bytes | None:
        found = self._memory.get_view(principal, snapshot, key)
        if found is None and (files := self._folder()) is not None:
            with suppress(OSError):
                found = files.get_view(principal, snapshot, key)
        return found

    def drop(self, principal: str, snapshot: bytes) -> None:
        self._memory.drop(principal, snapshot)
        if (files := self._folder()) is not None:
            with suppress(OSError):
                files.drop(principal, snapshot)

    def sweep(self, now_minute: int) -> int:
        following = [self._memory.sweep(now_minute)]
        with suppress(OSError, OperatorError):
            # What no process has created has nothing to sweep.
            if _folder_of_user().exists() and (files := self._folder()) is not None:
                following.append(files.sweep(now_minute))
                _forget_ended()
        return min((minute for minute in following if minute), default=0)

    # The other processes

    are_one_user = True

    @property
    def token(self) -> bytes:
        files = self._writable()
        with self._lock:
            if not self._token and files is not None:
                name = secrets.token_hex(8)
                with suppress(OperatorError):
                    make_private_dir(_locks())
                    if lock_file(_locks() / name) is not None:
                        self._token = name.encode()
            return self._token

    def elsewhere(self, token: bytes) -> str:
        runs = token != self._token and token.isalnum() and is_locked(_locks() / token.decode())
        return "another running brimgate process" if runs else ""


def _folder_of_user() -> Path:
    return state_dir() / "snapshots"


def _locks() -> Path:
    return _folder_of_user() / _RUNNING


def _forget_ended() -> None:
    """Remove the locks of processes that have ended."""
    for item in _listed(_locks()):
        if not is_locked(Path(item.path)):
            Path(item.path).unlink(missing_ok=True)


def _key_of_user() -> bytes:
    """Return the key for cursors. Of two processes that create it at once, one wins, and both get that one."""
    from brimgate.engine.cursor import check_key  # half the engine: whoever sweeps does without

    path = state_dir() / "keys" / "cursor.key"
    claim_private_dir(path.parent)
    if not path.exists():
        create_private(path, secrets.token_bytes(32))
    if path.is_symlink() or not path.is_file():
        raise OperatorError(f"{path}: should be the file with the cursor key, and is not a file")
    if not is_private(path):
        raise OperatorError(f"{path} can be read by others: chmod 600 {path}")
    key = path.read_bytes()
    check_key(key)
    return key
