"""What a formatter may know besides the answer: what was asked, and how ids and times are to be written."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

_MINUTE: Final = 60
_HOUR: Final = 3_600
_DAY: Final = 86_400
_RELATIVE_DAYS: Final = 30
"""Older than this, a date says more."""


def _as_it_is(whole: str) -> str:
    return whole


@dataclass(frozen=True, slots=True)
class Scene:
    arguments: Mapping[str, Any] = field(default_factory=lambda: {})
    """Of the call; none where a reading goes on."""
    now: datetime | None = None
    """Times are written relative to this; absolute where it is None, so that the same answer gives the same bytes."""
    shorten: Callable[[str], str] = _as_it_is
    first: int = 0
    """Number of the first item given, counted from 0: a page need not be the first."""
    total: int | None = None
    """Items there are, where not all are given."""

    def id(self, whole: object) -> str:
        if not isinstance(whole, str):
            raise TypeError(f"an id is a text, not {type(whole).__name__}")
        return self.shorten(whole)

    def time(self, moment: str) -> str:
        """`2h ago`, or the moment itself."""
        at = _parse(moment)
        if self.now is None or at is None:
            return short_moment(moment)
        seconds = (self.now - at).total_seconds()
        if seconds < 0 or seconds >= _RELATIVE_DAYS * _DAY:
            return self.date(moment)
        if seconds < _HOUR:
            return f"{int(seconds // _MINUTE)}m ago"
        return f"{int(seconds // _HOUR)}h ago" if seconds < _DAY else f"{int(seconds // _DAY)}d ago"

    def date(self, moment: str) -> str:
        """The day is enough for a reader in a hurry; a model gets the moment itself."""
        at = _parse(moment)
        return short_moment(moment) if self.now is None or at is None else at.date().isoformat()


def short_moment(moment: str) -> str:
    """Without what is zero at its end; UTC goes without saying, another zone stays."""
    at = _parse(moment)
    if at is None:
        return moment
    zone = "" if at.utcoffset() == timedelta(0) else at.strftime("%z")
    plain = at.replace(tzinfo=None)
    if not (plain.hour or plain.minute or plain.second or plain.microsecond):
        return plain.date().isoformat() + zone
    detail = "microseconds" if plain.microsecond else "seconds" if plain.second else "minutes"
    return plain.isoformat(timespec=detail) + zone


def _parse(moment: str) -> datetime | None:
    """A moment without a zone is taken for UTC, as Graphiti does."""
    try:
        at = datetime.fromisoformat(moment)
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
