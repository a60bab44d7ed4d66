"""What workers have counted, in files beside their sockets: what Prometheus was told once must never get less.

A worker keeps what it tells. Of one that does not answer in time, what it told before is told again. What workers have
counted that have ended is added up by whoever started them. Otherwise a sum would fall with every worker that is
replaced, and Prometheus would take all that is left for new.
"""

from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from brimgate.watch.metrics import Metrics, lasting, merged

_ENDING: Final = ".metrics"
_ENDED: Final = "ended.json"
_MAX_NAMES: Final = 1_000
"""So many may end while one scrape is answered."""
Document = Mapping[str, Any]


def keep(folder: Path, name: str, document: Document) -> None:
    """Keep what a worker tells. It never fails: where there is no room, the next scrape tries again."""
    with suppress(OSError):
        _replace(folder / f"{name}{_ENDING}", document)


def of_others(folder: Path, own: str, answers: Mapping[str, bytes]) -> list[Document]:
    """Return what all workers but ourselves have counted, by their answers and by what they have kept.

    The files of workers are read before the file of those that have ended: a file that is gone by then is in there.
    """
    silent = {one.stem for one in folder.glob(f"*{_ENDING}")} - {own}
    found = {name: document for name, answer in answers.items() if (document := read(answer))}
    for name in silent - found.keys():
        with suppress(OSError):
            found[name] = read((folder / f"{name}{_ENDING}").read_bytes())
    ended: Document = {}
    with suppress(OSError):
        ended = read((folder / _ENDED).read_bytes())
    for name in ended.get("workers", ()):
        found.pop(name, None)
    return [*found.values(), ended.get("metrics", {})]


def read(document: bytes) -> Document:
    """Read what a worker tells; nothing if it is about to end."""
    try:
        return msgspec.json.decode(document, type=dict[str, Any])
    except msgspec.DecodeError:
        return {}


def _replace(path: Path, document: Document) -> None:
    """Write a file that others may be reading."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_bytes(msgspec.json.encode(document))
    fresh.replace(path)


class EndedWorkers:
    """What is known of workers that have ended. Only whoever starts workers has one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._counted: Document = {}
        self._names: deque[str] = deque(maxlen=_MAX_NAMES)
        self._reloads = Metrics()

    def add(self, name: str) -> None:
        """Take over what a worker has counted."""
        path = self._folder / f"{name}{_ENDING}"
        with suppress(OSError):
            self._counted = lasting(merged([self._counted, read(path.read_bytes())]))
            self._names.append(name)
            self._write()
            path.unlink()

    def note_reload(self, result: Literal["applied", "rejected"], seconds: float) -> None:
        """Count a reload: by SIGHUP the workers are replaced, and none of them would tell."""
        self._reloads.observe("brimgate_reload_seconds", (result,), seconds)
        with suppress(OSError):
            self._write()

    def _write(self) -> None:
        counted = lasting(merged([self._counted, self._reloads.document()]))
        _replace(self._folder / _ENDED, {"workers": list(self._names), "metrics": counted})

    def remove(self) -> None:
        for path in (*self._folder.glob(f"*{_ENDING}*"), *self._folder.glob(f"{_ENDED}*")):
            path.unlink(missing_ok=True)
