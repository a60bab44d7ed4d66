"""Find the sections of a log that several programs wrote one after the other, by the form of what their lines begin with."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Final, NamedTuple

from brimgate.engine.maps.line_times import DATED, SEEN_CHARS
from brimgate.engine.maps.survey import MapLine

_LOOKS: Final = 400
_MIN_LOOKS: Final = 5
"""A section that so few of the lines looked at stand in may be chance."""
_MAX_SECTIONS: Final = 10
_WEIGHT: Final = 7.0
_EXAMPLE_CHARS: Final = 40
_NAME: Final = re.compile(r"[A-Za-z]*")
_AFTER: Final = re.compile(r"[^A-Za-z]{0,8}")
_FRACTION: Final = re.compile(r"[.,]\d+\Z")
_DIGITS: Final = re.compile(r"\d+")
HEADING: Final = "sections, each with lines of its own form:"


class _Look(NamedTuple):
    """How a line begins, and what it tells."""

    at: int
    form: tuple[int, str, str]
    time: str
    rest: str


def log_sections(lines: Sequence[str]) -> list[MapLine]:
    """Return one line for each section, with its first and its last time; nothing if the forms are mixed, or one."""
    step = max(1, len(lines) // _LOOKS)
    looks = [found for at in range(0, len(lines), step) if (found := _look(at, lines[at]))]
    if len({one.form for one in looks}) < 2:
        return []
    runs = [list(run) for _, run in groupby(_without_strays(looks), key=lambda one: one.form)]
    if not 2 <= len(runs) <= _MAX_SECTIONS or any(len(run) < _MIN_LOOKS for run in runs):
        return []
    begins = [0, *(_begin(lines, before[-1], after[0]) for before, after in pairwise(runs))]
    ends = [*begins[1:], len(lines)]
    return [
        MapLine(_told(lines, run[0].form, begin, end), _WEIGHT, HEADING)
        for run, begin, end in zip(runs, begins, ends, strict=True)
    ]


def _look(at: int, line: str) -> _Look | None:
    for number, pattern in enumerate(DATED):
        times = list(pattern.finditer(line, 0, SEEN_CHARS))
        if not times:
            continue
        found = times[-1]  # the name of a file before it may have one, too
        name, after = _NAME.match(line), _AFTER.match(line, found.end())
        form = (
            number,
            name[0] if name and found.start() else "",
            _DIGITS.sub("#", after[0] if after else ""),
        )
        return _Look(at, form, found[0], line[found.end() :])
    return None


def _without_strays(looks: Sequence[_Look]) -> Iterator[_Look]:
    """Leave out a line that both its neighbours differ from while they are of one form."""
    last = len(looks) - 1
    for at, one in enumerate(looks):
        before, after = looks[max(at - 1, 0)], looks[min(at + 1, last)]
        if one.form in (before.form, after.form) or before.form != after.form:
            yield one


def _begin(lines: Sequence[str], before: _Look, after: _Look) -> int:
    """Return where the next section begins: its first line after the last one that was seen of the section before it."""
    for at in range(before.at + 1, after.at):
        found = _look(at, lines[at])
        if found is not None and found.form == after.form:
            return at
    return after.at


def _told(lines: Sequence[str], form: tuple[int, str, str], begin: int, end: int) -> str:
    first = _first(lines, form, range(begin, end))
    last = _first(lines, form, range(end - 1, begin - 1, -1))
    if first is None or last is None:
        return f"{begin + 1}-{end}"
    times = " … ".join(_FRACTION.sub("", one.time) for one in (first, last))
    return f"{begin + 1}-{end}: {times}: {first.rest.strip(' -')[:_EXAMPLE_CHARS]}…"


def _first(lines: Sequence[str], form: tuple[int, str, str], places: range) -> _Look | None:
    found = (_look(at, lines[at]) for at in places)
    return next((one for one in found if one is not None and one.form == form), None)
