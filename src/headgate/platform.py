"""All that differs between operating systems: where state lives, and how a file is kept to its owner."""

import os
import sys
from pathlib import Path
from typing import Final

_POSIX: Final = os.name == "posix"


def state_dir() -> Path:
    """Where Headgate keeps what must outlive a process; HEADGATE_STATE_DIR overrides it."""
    chosen = os.environ.get("HEADGATE_STATE_DIR")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", str(Path.home() / "AppData" / "Local"))) / "headgate"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "headgate"
    return Path(os.environ.get("XDG_STATE_HOME", str(Path.home() / ".local" / "state"))) / "headgate"


def make_private_dir(path: Path) -> None:
    """A folder only its owner can look into, also when it was there before."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if _POSIX:
        path.chmod(0o700)


def write_private(path: Path, data: bytes) -> None:
    """Put a file in place whole or not at all, readable by its owner only."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def create_private(path: Path, data: bytes) -> None:
    """Like write_private, but what is already there stays: of two processes at once, one wins."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    write_private(draft, data)
    try:
        if _POSIX:
            os.link(draft, path)
        else:
            draft.rename(path)
    except FileExistsError:
        pass
    finally:
        draft.unlink(missing_ok=True)


def is_private(path: Path) -> bool:
    """Whether nobody but the owner may read the file."""
    return not _POSIX or path.stat().st_mode & 0o077 == 0
