"""Short ids: the last characters of a UUID, as many as distinguish it from the others, and back."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from brimgate.errors import BadRequest
from brimgate.platform import append_private, make_private_dir, write_private

LEAST_CHARS: Final = 8
_UUID: Final = re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b")
_REFERENCE: Final = re.compile(r"(?:#|\.\.\.|…)?([0-9a-fA-F-]{8,36})")
_SHAPE: Final = "00000000-0000-0000-0000-000000000000"
_MAX_REMEMBERED: Final = 5_000
"""The ids of about a hundred answers; finding one among them takes no time."""


def ids_in(document: bytes) -> list[str]:
    """Return every UUID in an answer once, in order."""
    return list(dict.fromkeys(_UUID.findall(document.decode("utf-8", "replace"))))


def shortener(ids: Iterable[str]) -> Callable[[str], str]:
    """Return a function that shortens an id to its end, longer where another id has the same end.

    It keeps what is not a UUID.
    """
    known = frozenset(ids)
    clashes: dict[int, Counter[str]] = {}

    def count(size: int) -> Counter[str]:
        if size not in clashes:
            clashes[size] = Counter(one[-size:].lower() for one in known)
        return clashes[size]

    def shorten(whole: str) -> str:
        if not _UUID.fullmatch(whole):
            return whole
        for size in range(LEAST_CHARS, len(whole)):
            short = whole[-size:]
            if count(size)[short.lower()] <= 1 and not short.startswith("-"):
                return short
        return whole

    return shorten


class ReferenceBook:
    """The ids that were printed short, so that the next command accepts them; the newest are kept."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines = 0
        self.ids = self._read()

    def _read(self) -> list[str]:
        """Read whole ids only, whatever else a damaged file contains.

        Of one that occurs twice, the later place counts.
        """
        try:
            found = _UUID.findall(self._path.read_text("ascii", "replace"))
        except OSError:
            return []
        self._lines = len(found)
        return _newest(found)

    def remember(self, ids: Iterable[str]) -> None:
        """Append ids to the file: what another process adds meanwhile is kept."""
        seen = list(dict.fromkeys(ids))
        if not seen or self.ids[-len(seen) :] == seen:
            return
        self.ids = _newest([*self.ids, *seen])
        self._lines += len(seen)
        make_private_dir(self._path.parent)
        if self._lines > 2 * _MAX_REMEMBERED:
            self.ids = _newest([*self._read(), *seen])
            write_private(self._path, _written(self.ids))
            self._lines = len(self.ids)
        else:
            append_private(self._path, _written(seen))

    def resolve(self, value: Any) -> Any:
        """Return the whole id for a short one, also in lists. Leave anything that does not look like one unchanged."""
        if isinstance(value, list):
            items: list[Any] = value  # pyright: ignore[reportUnknownVariableType]
            return [self.resolve(one) for one in items]
        reference = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
        if reference is None or not _is_end_of_uuid(reference[1]):
            return value
        if len(reference[1]) == len(_SHAPE):
            return reference[1]
        found = [one for one in self.ids if one.lower().endswith(reference[1].lower())]
        if len(found) == 1:
            return found[0]
        if found:
            raise BadRequest(
                f"{value} may be any of {', '.join(found[:5])}: give more of its characters from the end"
            )
        raise BadRequest(f"{value} is no id that was printed here lately: search again, or give the whole id")


def _is_end_of_uuid(text: str) -> bool:
    """Check the hyphens: a UUID written without any, for example, is an id of its own."""
    return all(
        (one == "-") == (usual == "-") for one, usual in zip(reversed(text), reversed(_SHAPE), strict=False)
    )


def _newest(ids: Iterable[str]) -> list[str]:
    return list(reversed(dict.fromkeys(reversed([*ids]))))[-_MAX_REMEMBERED:]


def _written(ids: Iterable[str]) -> bytes:
    """Begin a line with each: an id after a truncated line is still whole."""
    return "".join(f"\n{one}" for one in ids).encode()
