"""Read query parameters strictly: a bad value gets 422 and a sentence. Unknown names are ignored."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Final, NamedTuple

from brimgate.sandboxes.hostaway.wire import Refusal

_TRUE: Final = ("1", "true")
_FALSE: Final = ("0", "false")
_MOST_DIGITS: Final = 18
_YEARS: Final = (1900, 2199)
"""Limits the years, so that a month more or less is a valid date too."""
_DEFAULT_LIMIT: Final = 100
_MOST: Final = 500


class Paging(NamedTuple):
    limit: int
    offset: int


class Parameters:
    def __init__(self, given: dict[str, list[str]]) -> None:
        self._given = given

    def text(self, name: str) -> str | None:
        """Return a text. Empty counts as absent: the documentation's own examples send `limit=&offset=`."""
        values = self._given.get(name)
        return values[-1].strip() or None if values else None

    def integer(self, name: str) -> int | None:
        told = self.text(name)
        if told is None:
            return None
        if not told.removeprefix("-").isdecimal() or len(told) > _MOST_DIGITS:
            raise Refusal(422, f"{name} must be an integer")
        return int(told)

    def flag(self, name: str) -> bool | None:
        told = (self.text(name) or "").lower()
        if told and told not in _TRUE + _FALSE:
            raise Refusal(422, f"{name} must be 0 or 1")
        return told in _TRUE if told else None

    def day(self, name: str) -> date | None:
        told = self.text(name)
        return None if told is None else _day(name, told)

    def choice(self, name: str, options: Sequence[str]) -> str | None:
        told = self.text(name)
        if told is not None and told not in options:
            raise Refusal(422, f"{name} must be one of: {', '.join(options)}")
        return told

    def texts(self, name: str) -> list[str]:
        return [part for value in self._given.get(name, []) for part in value.split(",") if part]

    def integers(self, name: str) -> list[int]:
        told = self.texts(name)
        if not all(part.isdecimal() and len(part) <= _MOST_DIGITS for part in told):
            raise Refusal(422, f"{name} must be integers")
        return [int(part) for part in told]

    def paging(self) -> Paging:
        limit, offset = self.integer("limit"), self.integer("offset")
        if limit is not None and limit < 1:
            raise Refusal(422, "limit must be at least 1")
        if offset is not None and offset < 0:
            raise Refusal(422, "offset must be at least 0")
        return Paging(min(limit or _DEFAULT_LIMIT, _MOST), offset or 0)

    def resources(self) -> bool:
        return self.flag("includeResources") is not False


def _day(name: str, told: str) -> date:
    try:
        day = datetime.strptime(told, "%Y-%m-%d").date()
    except ValueError:
        day = date.min
    if not _YEARS[0] <= day.year <= _YEARS[1]:
        raise Refusal(422, f"{name} must be a date: YYYY-MM-DD")
    return day
