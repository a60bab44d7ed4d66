"""Read the times in a column of a table, however they are written: dates, clocks, seconds since 1970."""

import math
import re
from collections.abc import Sequence
from datetime import datetime, timezone
from itertools import pairwise
from typing import Any, Final

_STAMP: Final = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d(?::?\d\d)?)?\Z|\d{4}-\d\d-\d\d\Z"
    r"|\d\d?[./]\d\d?[./]\d{4}(?:,? \d\d?:\d\d(?::\d\d)?(?: ?[AaPp][Mm])?)?\Z|\d{8}T\d{6}Z?\Z"
)
_MONTHS: Final[list[str]] = [
    "jan",
    "feb",
    "mar",
    "apr",
    "may",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
]
_MONTH: Final = rf"(?:{'|'.join(_MONTHS)})"
_WORDED: Final = re.compile(
    rf"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? +)?"
    rf"(?:(?P<day>\d\d?)[ -](?P<month>{_MONTH})[a-z]*[ -]|(?P<first>{_MONTH})[a-z]*\.? +(?P<second>\d\d?),? )?"
    r"(?:(?P<year>\d{4}),? ?)?(?P<clock>\d\d?:\d\d(?::\d\d)?)?(?P<half> ?[ap]m)?(?: ?(?P<last>\d{4}))?"
    r"(?: ?(?:gmt|utc|z|[+-]\d{4}))?\Z",
    re.IGNORECASE,
)
"""`Wed Mar 11 15:30:23 2026`, `11 Mar 2026 15:30`, `Mar 11, 2026`."""
_TIME_NAME: Final = re.compile(
    r"(?:^|[_\-. ]|(?<=[a-z]))(?:at|on|time|date|ts|timestamp|when|created|updated|start|end|begin|since|until|expires|deadline"
    r"|due|nanos?|unix_?nano|millis|ms)$",
    re.IGNORECASE,
)
_CLOCK: Final = re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:[.,]\d{1,9})?\Z")
_EPOCHS: Final = (1e9, 1e12, 1e15, 1e18)
_EPOCH_DIGITS: Final = (10, 13, 16, 19)
_PARTS: Final = re.compile(r"(\d\d?)([./])(\d\d?)[./](\d{4})(?:,? (\d\d?:\d\d(?::\d\d)?)( ?[AaPp][Mm])?)?")


def read_times(name: str, values: Sequence[Any]) -> list[float] | None:
    """Return the values of a column of times in seconds, NaN where one cannot be read; None if it has no times."""
    sample = [value for value in values[:: max(1, len(values) // 30)] if value not in (None, "")]
    if not sample:
        return None
    if all(type(value) is str for value in sample):
        if all(_is_epoch(value) for value in sample):
            seconds = [_epoch(value) for value in values]
            return seconds if _TIME_NAME.search(name) or ("." in sample[0] and _go_on(seconds)) else None
        if all(map(_CLOCK.match, sample)):
            seconds = [_seconds(f"1970-01-01T{value}") for value in values]
            return seconds if _go_on(seconds) else None
        if sum(map(_is_worded, sample)) >= 0.9 * len(sample):
            return [_seconds(_of_words(value)) for value in values]
        if sum(_STAMP.match(value) is not None for value in sample) < 0.9 * len(sample):
            return None
        if sample[0][4:5] == "-" or sample[0][8:9] == "T":
            return [_seconds(value) for value in values]
        is_day_first = any(int(found[1]) > 12 for value in sample if (found := _PARTS.match(value)))
        return [_seconds(_iso(value, is_day_first=is_day_first)) for value in values]
    if not all(type(value) in (int, float) for value in sample) or not _TIME_NAME.search(name):
        return None
    if not all(any(low <= value < 2.5 * low for low in _EPOCHS) for value in sample):
        return None
    return [_epoch(value) if type(value) in (int, float) else math.nan for value in values]


def _is_epoch(value: str) -> bool:
    whole, _, part = value.partition(".")
    return whole.isdigit() and len(whole) in _EPOCH_DIGITS and (not part or part.isdigit())


def _go_on(seconds: Sequence[float]) -> bool:
    """Return whether times of day follow each other; how long something took looks the same."""
    steps = [after >= before for before, after in pairwise(seconds)]
    return sum(steps) >= 0.95 * len(steps)


def _epoch(value: Any) -> float:
    """Read seconds, milliseconds, microseconds or nanoseconds since 1970."""
    try:
        number = float(value)
    except (ValueError, TypeError):
        return math.nan
    for low in reversed(_EPOCHS):
        if number >= low / 10:
            return number / (low / 1e9)
    return number


def _iso(value: Any, *, is_day_first: bool) -> str:
    """Write a date such as 18.11.2026 or 11/18/2026 the other way round."""
    found = _PARTS.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return ""
    first, mark, second, year, clock, half = found.groups()
    day, month = (first, second) if mark == "." or is_day_first else (second, first)
    return f"{year}-{int(month):02}-{int(day):02}T{_of_day(clock, half)}"


def _of_day(clock: str | None, half: str | None) -> str:
    """Write a time of day with 24 hours."""
    hour, _, rest = (clock or "00:00").partition(":")
    if half:
        hour = str(int(hour) % 12 + (12 if half.strip().lower() == "pm" else 0))
    return f"{int(hour):02}:{rest}"


def _is_worded(value: str) -> bool:
    found = _WORDED.match(value)
    return (
        found is not None and bool(found["month"] or found["first"]) and bool(found["clock"] or found["year"])
    )


def _of_words(value: Any) -> str:
    """Write a time with the name of a month as numbers. Without a year it is one of 2000: only what follows what matters."""
    found = _WORDED.match(value) if isinstance(value, str) else None
    if found is None or not _is_worded(value):
        return ""
    month = _MONTHS.index((found["month"] or found["first"]).lower()[:3]) + 1
    year = found["year"] or found["last"] or "2000"
    return f"{year}-{month:02}-{int(found['day'] or found['second']):02}T{_of_day(found['clock'], found['half'])}"


def _seconds(value: Any) -> float:
    try:
        moment = datetime.fromisoformat(value.replace(",", "."))
    except (ValueError, TypeError, AttributeError):
        return math.nan
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()  # noqa: UP017
