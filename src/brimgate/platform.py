"""All that differs between operating systems: where state lives, private files, signals, changes in folders."""

import os
import signal
import stat
import struct
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import get_ident
from typing import Any, Final

from brimgate.errors import OperatorError

DRAFT: Final = ".tmp"
_POSIX: Final = os.name == "posix"
STOP_SIGNALS: Final = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name)
)


def state_dir() -> Path:
    """Return the directory for state that must outlive a process. BRIMGATE_STATE_DIR overrides it."""
    chosen = os.environ.get("BRIMGATE_STATE_DIR")
    if chosen:
        return Path(chosen)
    try:
        home = Path.home()
    except RuntimeError:
        raise OperatorError("there is no home folder to keep state in: set BRIMGATE_STATE_DIR") from None
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", str(home / "AppData" / "Local"))) / "brimgate"
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "brimgate"
    return Path(os.environ.get("XDG_STATE_HOME", str(home / ".local" / "state"))) / "brimgate"


def make_private_dir(path: Path) -> None:
    """Create a directory that only its owner can read. Leave the permissions of its parents as they are."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if _POSIX:
            path.chmod(0o700)
    except OSError as error:
        raise OperatorError(
            f"{path}: cannot keep state there: {error.strerror} (BRIMGATE_STATE_DIR moves it)"
        ) from None


def claim_private_dir(path: Path) -> None:
    """Create a directory for its owner only, or check that it is one. Raise OperatorError if it cannot be trusted.

    Unlike `make_private_dir` it changes nothing that is there: whoever made it so may have put something into it.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _check_parent(path.parent)
        with suppress(FileExistsError):
            path.mkdir(mode=0o700)
        found = path.lstat()
    except OSError as error:
        raise OperatorError(
            f"{path}: cannot keep state there: {error.strerror} (BRIMGATE_STATE_DIR moves it)"
        ) from None
    if not stat.S_ISDIR(found.st_mode):
        raise OperatorError(f"{path}: must be a folder, and no symbolic link")
    if _POSIX and found.st_uid != os.geteuid():
        raise OperatorError(f"{path}: belongs to another user")
    if _POSIX and found.st_mode & 0o077:
        raise OperatorError(f"{path}: is open to others: chmod 700 {path}")


def _check_parent(path: Path) -> None:
    """Refuse a parent in which another user could put something else in the place of our folder."""
    found = path.stat()
    is_open = found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX
    if _POSIX and (found.st_uid not in (0, os.geteuid()) or is_open):
        raise OperatorError(f"{path}: another user can change it")


def lock_file(path: Path) -> int | None:
    """Create a private file and lock it as long as this process runs. Return None if that cannot be."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        return None
    with suppress(OSError):
        # Whoever tidies up may have removed it before it was locked.
        if _lock(descriptor) and os.path.samestat(os.fstat(descriptor), path.stat()):
            return descriptor
    os.close(descriptor)
    return None


def is_locked(path: Path) -> bool:
    """Return whether a process that runs has locked the file."""
    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        return not _lock(descriptor, is_shared=True)  # two that look at once do not mislead each other
    finally:
        os.close(descriptor)


def _lock(descriptor: int, *, is_shared: bool = False) -> bool:
    """Lock a file without waiting. The lock ends with the process, however that ends."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            kind = fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def write_private(path: Path, data: bytes) -> None:
    """Write a file that only its owner can read. It appears complete or not at all."""
    draft = path.with_name(f".{path.name}.{os.getpid()}-{get_ident()}{DRAFT}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        draft.replace(path)
    except OSError as error:
        raise OperatorError(f"{path.parent}: cannot be written: {error.strerror}") from error
    finally:
        # Also when interrupted: nobody would use the draft, and it would stay forever.
        draft.unlink(missing_ok=True)


def create_private(path: Path, data: bytes) -> None:
    """Write a file like `write_private`, but keep one that already exists. Of two processes at once, one wins."""
    draft = path.with_name(f".{path.name}.{os.getpid()}-{get_ident()}.new")
    write_private(draft, data)
    try:
        if _POSIX:
            os.link(draft, path)
        else:
            draft.rename(path)
    except FileExistsError:
        pass
    except OSError as error:
        raise OperatorError(f"{path.parent}: cannot be written: {error.strerror}") from None
    finally:
        draft.unlink(missing_ok=True)


def append_private(path: Path, data: bytes) -> None:
    """Append to a private file in one write, so that several processes can.

    Create it readable by its owner only.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)
        with os.fdopen(descriptor, "ab", buffering=0) as file:
            file.write(data)
    except OSError as error:
        raise OperatorError(f"{path}: cannot be written: {error.strerror}") from None


def is_private(path: Path) -> bool:
    """Return whether only the owner may read the file."""
    return not _POSIX or path.stat().st_mode & 0o077 == 0


class EarlySignals:
    """Records stop signals from its creation on, so that an upstream that was already started is not left behind."""

    def __init__(self) -> None:
        self.came = False
        for number in STOP_SIGNALS:
            signal.signal(number, self._note)

    def _note(self, *_: object) -> None:
        self.came = True


class FolderWatch:
    """Tells of changes in folders, by Linux's inotify. `open` gives None where the system has none to offer.

    By hand, in two calls of libc: `watchfiles` drags in anyio and a thread, `inotify_simple` runs ldconfig as it is
    loaded, `asyncinotify` takes 26 ms to import (ADR 5).
    """

    _CHANGED: Final = 0x2 | 0x4 | 0x8 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800
    """Modified, attributes, closed after writing, moved from and to, created, deleted, deleted or moved itself."""
    WRITTEN: Final = 0x2
    CLOSED: Final = 0x8
    _EVENT: Final = struct.Struct("iIII")

    def __init__(self, libc: Any, descriptor: int) -> None:
        self._libc, self.descriptor = libc, descriptor

    @classmethod
    def open(cls) -> "FolderWatch | None":
        if sys.platform != "linux":
            return None
        import ctypes

        libc = ctypes.CDLL(None, use_errno=True)
        descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        return None if descriptor < 0 else cls(libc, descriptor)

    def add(self, folder: str) -> bool:
        """Watch a folder, once however often it is added; False if it cannot be."""
        return self._libc.inotify_add_watch(self.descriptor, os.fsencode(folder), self._CHANGED) >= 0

    def events(self) -> Iterator[tuple[int, str]]:
        """Return what has happened since the last call: the kind, and the name of the file (empty for a folder)."""
        try:
            data = os.read(self.descriptor, 1 << 16)
        except OSError:
            return
        at = 0
        while at + self._EVENT.size <= len(data):
            _, kind, _, length = self._EVENT.unpack_from(data, at)
            at += self._EVENT.size
            yield kind, os.fsdecode(data[at : at + length].rstrip(b"\0"))
            at += length

    def close(self) -> None:
        os.close(self.descriptor)


_MMAP_THRESHOLD: Final = -3
_LARGE_BLOCK: Final = 1 << 20


def give_back_large_blocks() -> None:
    """Have memory in blocks of 1 MB and more given back to the system when it is freed.

    The C library of Linux stops doing so after the first large block: later ones come from a heap that hardly shrinks,
    and one large answer would be paid for as long as the process lives.
    """
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):  # another C library, which has no such switch
            ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE_BLOCK)


def limit_memory(most_bytes: int) -> None:
    """Let this process have at most so much memory, where the system has such a limit."""
    if sys.platform == "linux":
        import resource

        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (most_bytes, hard))


def resident_bytes() -> int:
    """Return the memory that this process has now; where the system does not tell, the most that it ever had; else 0."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    if sys.platform == "win32":
        return 0
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most << 10
