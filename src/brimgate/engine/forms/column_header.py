"""Write and read a header: the names of the columns, with what they share written once.

metadata{name|labels{app|tier}}     metadata.name, metadata.labels.app and metadata.labels.tier
{key}|type                          rows that are members of an object, by their key
{value}                             rows as they are
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from brimgate.engine.forms.column_paths import Path, join_parts, part_text, read_path

KEY: Final = "{key}"
VALUE: Final = "{value}"
_MIN_SAVED: Final = 6
"""Characters that must be saved for what columns share to be written once."""
Entry = tuple[list[str], str]
"""The parts of a path, and what follows it."""


def write_header(columns: Sequence[tuple[Path, str]]) -> tuple[str, bool]:
    """Write the columns: the path of each, and what follows its name. Tell whether something is written once for many."""
    entries = [([part_text(step) for step in path], rest) for path, rest in columns]
    written = list(_factored(entries))
    return "|".join(written), len(written) < len(entries)


def _one(entry: Entry) -> str:
    return (join_parts(entry[0]) if entry[0] else VALUE) + entry[1]


def _factored(entries: Sequence[Entry]) -> Iterator[str]:
    for _, run in groupby(entries, key=_first_part):
        same = list(run)
        shared = _shared_parts([parts for parts, _ in same]) if len(same) > 1 else 0
        prefix = join_parts(same[0][0][:shared])
        if (len(same) - 1) * len(prefix) >= _MIN_SAVED:
            yield prefix + "{" + "|".join(_factored([(parts[shared:], rest) for parts, rest in same])) + "}"
        else:
            yield from map(_one, same)


def _first_part(entry: Entry) -> str:
    return entry[0][0] if len(entry[0]) > 1 else ""


def _shared_parts(paths: Sequence[list[str]]) -> int:
    """Return how many parts all paths begin with; the last part of each stays its own."""
    first, last = min(paths), max(paths)
    most = min(map(len, paths)) - 1
    return next((at for at in range(most) if first[at] != last[at]), max(most, 0))


def read_column_path(text: str, at: int) -> tuple[Path, int]:
    """Return the path at `at`, empty for the row itself, and where it ends."""
    if text.startswith(VALUE, at):
        return (), at + len(VALUE)
    return read_path(text, at)
