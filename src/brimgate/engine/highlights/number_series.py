"""Find names that differ by a number only, and where their numbers leave one out or have one too often.

`forms-001` to `forms-038` without `forms-002`; `FW-2500` twice where every other rule has a number of its own.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

_MIN_NUMBERS: Final = 8
"""Fewer numbers in a row are no series."""
_MIN_ALIKE: Final = 12
"""Among fewer names one that is there more often is nothing odd."""
_MAX_TOLD: Final = 4
"""More breaks than this are how the numbers are: they break no rule."""
_FEW_BROKEN: Final = 0.34
_MISSING_SHARE: Final = 0.05
_ALIKE: Final = 0.95
_MAX_DIGITS: Final = 7
_RELEASE: Final = re.compile(r"v?(\d{1,4})\.(\d{1,4})\.(\d{1,4})")
_IN_ORDER: Final = 0.9
_JOINTS: Final = ("-", "_", "#", "/")
"""What joins a name and its number; a blank also stands before amounts."""


class SeriesBreak(NamedTuple):
    place: int
    """Where what follows the gap stands, or what is there too often."""
    name: str
    """What is missing, or there too often."""
    text: str
    others: tuple[int, ...] = ()
    """The other places of what is there too often."""


@dataclass(slots=True)
class _Series:
    """The names that begin alike, by their numbers."""

    lead: str
    width: int
    places: dict[int, list[int]]

    @property
    def missing(self) -> list[int]:
        first, last = min(self.places), max(self.places)
        return [number for number in range(first, last + 1) if number not in self.places]

    @property
    def is_one(self) -> bool:
        """Whether hardly a number is left out; amounts behind a word must also count up from line to line."""
        count = len(self.places)
        absent = max(self.places) - min(self.places) + 1 - count
        is_dense = count >= _MIN_NUMBERS and absent <= max(1, _MISSING_SHARE * count)
        return is_dense and (self.lead.endswith(_JOINTS) or self._counts_up)

    @property
    def usual_times(self) -> int:
        """How often most of the names are there."""
        return Counter(map(len, self.places.values())).most_common(1)[0][0]

    @property
    def _counts_up(self) -> bool:
        steps = [after - before for before, after in pairwise(self.places)]
        return sum(step == 1 for step in steps) >= _IN_ORDER * len(steps)

    def name(self, number: int) -> str:
        return f"{self.lead}{number:0{self.width}}"


def series_breaks(names: Iterable[tuple[int, str, str]]) -> list[SeriesBreak]:
    """Find breaks in names given as their place, what stands before the number, and the digits."""
    by_lead: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    widths: dict[str, set[int]] = defaultdict(set)
    for place, lead, digits in names:
        if len(digits) > _MAX_DIGITS:
            continue
        found = by_lead[lead][int(digits)]
        if not found or found[-1] != place:
            found.append(place)
        widths[lead].add(len(digits) if digits[0] == "0" or len(digits) > 1 else 0)
    dense = [
        series
        for lead, places in by_lead.items()
        if (series := _Series(lead, max(widths[lead]) if len(widths[lead]) == 1 else 0, dict(places))).is_one
    ]
    dense.sort(key=lambda series: -len(series.places))
    return [*_exceptions(dense, _gaps), *_exceptions(dense, _doubles)]


def _exceptions(
    dense: Sequence[_Series], breaks: Callable[[_Series], Iterable[SeriesBreak]]
) -> list[SeriesBreak]:
    """Return the breaks of the longest series; none if that many have one that it is no exception."""
    found = [one for series in dense if (one := list(breaks(series)))]
    told = [one for breaks in found for one in breaks]
    return told[:_MAX_TOLD] if len(told) <= _MAX_TOLD or len(found) <= _FEW_BROKEN * len(dense) else []


def version_breaks(versions: Sequence[tuple[int, str]]) -> list[SeriesBreak]:
    """Find a release that is missing or double in a list of releases, given as places and texts such as `v2.8.0`."""
    places: dict[tuple[int, int, int], list[int]] = defaultdict(list)
    texts: dict[tuple[int, int, int], str] = {}
    for place, text in versions:
        if found := _RELEASE.fullmatch(text):
            version = (int(found[1]), int(found[2]), int(found[3]))
            places[version].append(place)
            texts[version] = text
    ordered = sorted(places)
    if len(ordered) < _MIN_ALIKE:
        return []
    jumps = [pair for pair in pairwise(ordered) if not _follows(*pair)]
    doubles = [version for version in ordered if len(places[version]) > 1]
    gaps = jumps if len(jumps) <= min(_MAX_TOLD, max(1, _MISSING_SHARE * len(ordered))) else []
    return [
        *(
            SeriesBreak(
                places[after][0],
                texts[after],
                f"gap: {texts[before]} then {texts[after]}, a release is missing",
            )
            for before, after in gaps
        ),
        *(
            SeriesBreak(
                places[one][-1],
                texts[one],
                f"duplicate: {texts[one]} stands {len(places[one]):,} times",
                tuple(places[one][:-1]),
            )
            for one in (doubles if len(doubles) <= _MAX_TOLD else ())
        ),
    ]


def _follows(before: tuple[int, int, int], after: tuple[int, int, int]) -> bool:
    """Return whether one release is the next after another."""
    major, minor, patch = before
    return after in ((major, minor, patch + 1), (major, minor + 1, 0), (major + 1, 0, 0))


def _gaps(series: _Series) -> Iterable[SeriesBreak]:
    """Return the numbers that are left out, neighbours as one."""
    missing = series.missing
    for at, number in enumerate(missing):
        if at and missing[at - 1] == number - 1:
            continue
        if series.usual_times == 1 < len(series.places[number - 1]):
            continue  # what has the number before a second time should have this one
        last = number
        while last + 1 not in series.places:
            last += 1
        name = series.name(number) if last == number else f"{series.name(number)} to {series.name(last)}"
        text = f"gap: {name} missing, {series.name(number - 1)} then {series.name(last + 1)}"
        yield SeriesBreak(series.places[last + 1][0], name, text)


def _doubles(series: _Series) -> Iterable[SeriesBreak]:
    """Return the numbers that are there more or less often than nearly all others."""
    usual = series.usual_times
    alike = sum(len(places) == usual for places in series.places.values())
    if len(series.places) < _MIN_ALIKE or alike < _ALIKE * len(series.places):
        return
    for number, places in series.places.items():
        if len(places) != usual:
            often = "once" if len(places) == 1 else f"{len(places):,} times"
            rule = "once" if usual == 1 else f"{usual:,} times"
            what = "duplicate: " if len(places) > usual else ""
            text = f"{what}{series.name(number)} stands {often}, the others of its kind {rule}"
            yield SeriesBreak(places[-1], series.name(number), text, tuple(places[:-1]))
