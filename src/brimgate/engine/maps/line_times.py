"""Read the times at which the lines of a log were written."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from itertools import pairwise
from typing import Final

from brimgate.engine.highlights.odd_lines import is_continued

LOG_SHARE: Final = 0.6
"""The share of the lines of a log that have a time at least, for queries by time and level."""
_MONTHS: Final = {
    name: at
    for at, name in enumerate(
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"], 1
    )
}
SEEN_CHARS: Final = 80
_FORMATS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?<![\w.])(?P<Y>\d{4})[-/.](?P<m>\d\d)[-/.](?P<d>\d\d)[T ,_:](?P<H>\d\d):(?P<M>\d\d):(?P<S>\d\d(?:[.,]\d{1,9})?)",
        r"(?P<d>\d\d)/(?P<b>[A-Z][a-z]{2})/(?P<Y>\d{4}):(?P<H>\d\d):(?P<M>\d\d):(?P<S>\d\d(?:[.,]\d{1,9})?)",
        r"(?P<y>\d\d)/(?P<m>\d\d)/(?P<d>\d\d) (?P<H>\d\d):(?P<M>\d\d):(?P<S>\d\d)",
        r"(?P<b>[A-Z][a-z]{2}) (?P<d>[ \d]\d) (?P<H>\d\d):(?P<M>\d\d):(?P<S>\d\d(?:\.\d{1,9})?)",
        r"[IWEF](?P<m>\d\d)(?P<d>\d\d) (?P<H>\d\d):(?P<M>\d\d):(?P<S>\d\d(?:\.\d{1,9})?)",
        r"(?P<y>\d\d)(?P<m>\d\d)(?P<d>\d\d) (?P<H>\d\d)(?P<M>\d\d)(?P<S>\d\d)\b",
        r"(?<![\d:])(?P<H>\d\d):(?P<M>\d\d):(?P<S>\d\d(?:[.,]\d{1,9})?)",
        r"^\[? *(?P<e>\d{1,10}\.\d{3,9})(?=[\]\s])",
    )
)
"""The last one counts seconds, from the start of a machine or from 1970; any measurement looks like it."""
_IN_ORDER: Final = 0.95
DATED: Final = tuple(
    pattern for pattern in _FORMATS if "Y" in pattern.groupindex or "y" in pattern.groupindex
)
_YEARLESS: Final = tuple(
    pattern
    for pattern in _FORMATS
    if pattern not in DATED and ("b" in pattern.groupindex or "m" in pattern.groupindex)
)
_EPOCH: Final = re.compile(
    r"""(?:^|["\s,{])(?:@?timestamp|time|ts|t)"?\s?[:=]\s?"?(1\d{9})\.?(\d{3})?\d{0,6}(?![\w.])"""
)
_EPOCH_CHARS: Final = 160
_MIN_ENTRIES: Final = 20
_OFFSET: Final = re.compile(r" ?([+-])([01]\d):?([0-5]\d)\b")


@dataclass(frozen=True, slots=True)
class LineTimes:
    """The times of those lines that have one."""

    numbers: list[int]
    """Which lines, from 1."""
    texts: list[str]
    seconds: list[float]

    @classmethod
    def of(cls, lines: Sequence[str], least: int = 0) -> "LineTimes | None":
        """Read the times of lines; None if less than a third have one, or less than `least` if that is given."""
        if least:
            found = [cls._by(pattern, lines) for pattern in _FORMATS[:2]]
            return next((one for one in found if one is not None and len(one.texts) >= least), None)
        sample = [line[:SEEN_CHARS] for line in lines[:: max(1, len(lines) // 100)] if line.strip()]
        for pattern in _FORMATS:
            if 3 * sum(pattern.search(line) is not None for line in sample) > len(sample) > 0:
                found = cls._by(pattern, lines)
                return found if found is None or pattern is not _FORMATS[-1] or found._is_in_order else None
        return None

    @property
    def _is_in_order(self) -> bool:
        steps = [after >= before for before, after in pairwise(self.seconds)]
        return sum(steps) >= _IN_ORDER * len(steps)

    @classmethod
    def _by(cls, pattern: re.Pattern[str], lines: Sequence[str]) -> "LineTimes | None":
        found = cls([], [], [])
        known: dict[tuple[str, ...], float] = {}
        for number, line in enumerate(lines, 1):
            match = pattern.search(line, 0, SEEN_CHARS)
            if match is None:
                continue
            second = _seconds(match.groupdict(), known)
            if second is not None:
                found.numbers.append(number)
                found.texts.append(match[0])
                found.seconds.append(second)
        return found if found.texts else None

    @property
    def has_years(self) -> bool:
        return any(pattern.match(self.texts[0]) for pattern in DATED)

    @property
    def first(self) -> str:
        return self.texts[self.seconds.index(min(self.seconds))]

    @property
    def last(self) -> str:
        return self.texts[self.seconds.index(max(self.seconds))]


def _seconds(parts: dict[str, str], days: dict[tuple[str, ...], float]) -> float | None:
    """Return the seconds of a time; the day is looked up, since most lines are of the same one."""
    if "e" in parts:
        return float(parts["e"])
    day = tuple(parts.get(name, "") for name in "Yymbd")
    try:
        if day not in days:
            year = int(parts.get("Y") or f"20{parts.get('y', '00')}")
            month = _MONTHS[parts["b"]] if "b" in parts else int(parts.get("m", "1"))
            moment = datetime(year, month, int(parts.get("d", "1")), tzinfo=timezone.utc)  # noqa: UP017
            days[day] = moment.timestamp()
        time = 3_600 * int(parts["H"]) + 60 * int(parts["M"]) + float(parts["S"].replace(",", "."))
    except (ValueError, KeyError):
        return None
    return days[day] + time


def log_times(lines: Sequence[str]) -> dict[int, str] | None:
    """Return the times of the lines of a log by their numbers from 1; None if too few entries have one.

    They are comparable if they have a year, else as they are written.
    """
    times = LineTimes.of(lines)
    is_one = times is not None and len(times.numbers) >= LOG_SHARE * len(lines)
    if times is not None and is_one and not times.has_years:
        return dict(zip(times.numbers, times.texts, strict=True))
    found = {at: time for at, time in enumerate(comparable_times(lines), 1) if time is not None}
    entries = sum(1 for line in lines if line.strip() and not is_continued(line))
    return found if is_one or len(found) >= max(LOG_SHARE * entries, _MIN_ENTRIES) else None


def comparable_times(lines: Sequence[str]) -> list[str | None]:
    """Return the time of each line as `2026-11-15T10:00:00.123`, in UTC where the line tells its distance from it.

    A log of several services has times in several forms: as they are written, none could be compared with another. A line
    without a year is of the year that the others have, if that is one.
    """
    days: dict[tuple[str, ...], float] = {}
    found = [_comparable(line, days) for line in lines]
    years = {time[:4] for time in found if time is not None}
    if len(years) != 1 or None not in found:
        return found
    year = years.pop()
    return [time or _in_year(line, year, days) for time, line in zip(found, lines, strict=True)]


def _in_year(line: str, year: str, days: dict[tuple[str, ...], float]) -> str | None:
    for pattern in _YEARLESS:
        match = pattern.search(line, 0, SEEN_CHARS)
        seconds = _seconds(match.groupdict() | {"Y": year}, days) if match else None
        if match is not None and seconds is not None:
            _, point, fraction = match["S"].replace(",", ".").partition(".")
            return _written(seconds, point + fraction)
    return None


def _written(seconds: float, fraction: str) -> str | None:
    try:
        moment = datetime.fromtimestamp(int(seconds // 1), timezone.utc)  # noqa: UP017
    except (ValueError, OverflowError):  # an hour 99 at the end of the year 9999
        return None
    return f"{moment:%Y-%m-%dT%H:%M:%S}{fraction}"


def _comparable(line: str, days: dict[tuple[str, ...], float]) -> str | None:
    epoch = _EPOCH.search(line, 0, _EPOCH_CHARS)
    if epoch is not None:
        return _written(float(epoch[1]), f".{epoch[2]}" if epoch[2] else "")
    for pattern in DATED:
        match = pattern.search(line, 0, SEEN_CHARS)
        if match is None or (seconds := _seconds(match.groupdict(), days)) is None:
            continue
        if offset := _OFFSET.match(line, match.end()):
            distance = 3_600 * int(offset[2]) + 60 * int(offset[3])
            seconds -= distance if offset[1] == "+" else -distance
        _, point, fraction = match["S"].replace(",", ".").partition(".")
        return _written(seconds, point + fraction)
    return None
