"""Dates as texts in UTC, which sort as they are; the clock of the server; date math of filters."""

import calendar
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

ZERO: Final = "0001-01-01T00:00:00Z"
"""A date that is not set."""
_RFC3339: Final = re.compile(r"(\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d)(?:\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_MATH: Final = re.compile(r"now((?:[+-]\d*(?:fy|fQ|[yQMwdbhHms])|/(?:fy|fQ|[yQMwdhHms]))*)", re.ASCII)
_STEP: Final = re.compile(r"([+-]\d*|/)(fy|fQ|[yQMwdbhHms])", re.ASCII)
_LOOSE: Final = re.compile(r"(\d{1,4})-(\d{1,2})-(\d{1,2})", re.ASCII)
_MOST_DIGITS: Final = 6


class Clock:
    """Starts at the time of the settings and goes on from there."""

    def __init__(self, start: datetime) -> None:
        self._start = start.astimezone(UTC) if start.tzinfo else start.replace(tzinfo=UTC)
        self._began = time.monotonic()

    def now(self) -> datetime:
        return self._start + timedelta(seconds=int(time.monotonic() - self._began))

    def text(self) -> str:
        return write(self.now())


def write(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")


def read(text: str) -> datetime:
    """Read what `write` wrote."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)


def parse_rfc3339(text: str) -> str | None:
    """Return a date of a body in UTC, or None: Go takes nothing but RFC 3339 there."""
    found = _RFC3339.fullmatch(text)
    if not found:
        return None
    try:
        zone = found[2].upper().replace("Z", "+00:00")
        return write(datetime.fromisoformat(found[1].upper() + zone))
    except (ValueError, OverflowError):
        return None


def zone_of(name: str) -> tzinfo | None:
    try:
        return ZoneInfo(name) if name else UTC
    except (KeyError, ValueError, OSError):
        return None


def parse_filter_date(text: str, now: datetime, zone: tzinfo) -> str | None:
    """Return a date of a filter: date math, RFC 3339, or a date without a zone."""
    try:
        if found := _MATH.fullmatch(text):
            return write(_reckon(found[1], now.astimezone(zone)))
        if found := parse_rfc3339(text):
            return found
        for form in ("%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d"):
            if moment := _strptime(text, form):
                return write(moment.replace(tzinfo=zone))
        if found := _LOOSE.fullmatch(text):
            return write(datetime(int(found[1]), int(found[2]), int(found[3]), tzinfo=zone))
    except (ValueError, OverflowError):
        pass
    return None


def _strptime(text: str, form: str) -> datetime | None:
    try:
        return datetime.strptime(text, form)
    except ValueError:
        return None


def _reckon(steps: str, moment: datetime) -> datetime:
    for sign, unit in _STEP.findall(steps):
        if sign == "/":
            moment = _floor(moment, unit)
        else:
            count = sign[1:] or "1"
            if len(count) > _MOST_DIGITS:
                raise OverflowError
            moment = _add(moment, int(sign[0] + count), unit)
    return moment


def add_months(moment: datetime, count: int) -> datetime:
    """Add months as Go does: the 31st of January and a month is the 3rd of March."""
    months = moment.year * 12 + moment.month - 1 + count
    year, month = divmod(months, 12)
    return moment.replace(year=year, month=month + 1, day=1) + timedelta(days=moment.day - 1)


def _add(moment: datetime, count: int, unit: str) -> datetime:
    months = {"y": 12, "fy": 12, "Q": 3, "fQ": 3, "M": 1}
    if unit in months:
        return add_months(moment, months[unit] * count)
    if unit == "b":
        return _add_business_days(moment, count)
    days = {"w": 7, "d": 1}
    if unit in days:
        return moment + timedelta(days=days[unit] * count)
    seconds = {"h": 3_600, "H": 3_600, "m": 60, "s": 1}[unit]
    return (moment.astimezone(UTC) + timedelta(seconds=seconds * count)).astimezone(moment.tzinfo)


def _add_business_days(moment: datetime, count: int) -> datetime:
    step = timedelta(days=1 if count > 0 else -1)
    for _ in range(abs(count)):
        moment += step
        while moment.weekday() >= calendar.SATURDAY:
            moment += step
    return moment


def _midnight(at: datetime) -> datetime:
    return at.replace(hour=0, minute=0, second=0, microsecond=0)


_FLOORS: Final[dict[str, Callable[[datetime], datetime]]] = {
    "y": lambda at: _midnight(at.replace(month=1, day=1)),
    "fy": lambda at: _midnight(at.replace(month=1, day=1)),
    "Q": lambda at: _midnight(at.replace(month=(at.month - 1) // 3 * 3 + 1, day=1)),
    "fQ": lambda at: _midnight(at.replace(month=(at.month - 1) // 3 * 3 + 1, day=1)),
    "M": lambda at: _midnight(at.replace(day=1)),
    "d": _midnight,
    "h": lambda at: at.replace(minute=0, second=0, microsecond=0),
    "H": lambda at: at.replace(minute=0, second=0, microsecond=0),
    "m": lambda at: at.replace(second=0, microsecond=0),
    "s": lambda at: at.replace(microsecond=0),
}


def _floor(moment: datetime, unit: str) -> datetime:
    if unit != "w":
        return _FLOORS[unit](moment)
    # On a Sunday the real library goes back two days, to Friday: it subtracts one too many.
    back = 2 if moment.weekday() == calendar.SUNDAY else moment.weekday()
    return _midnight(moment - timedelta(days=back))
