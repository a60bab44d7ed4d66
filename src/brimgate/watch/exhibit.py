"""Exhibits: of the largest answers of every hour, what was asked for and what was sent, with secrets masked.

They show which call overflowed, also when its answer is held no more. Everything else of an answer is a record. They
are where held answers are: those of `serve` in memory, those of a user's own commands in the user's file.
"""

from collections import OrderedDict
from heapq import heappush, heapreplace
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from brimgate.watch.redaction import Redaction

if TYPE_CHECKING:
    from brimgate.engine.decision import Decision
    from brimgate.watch.record import Record

ExhibitContent = Literal["all", "arguments", "off"]
EACH_HOUR: Final = 10
MOST: Final = 300
MAX_DAYS: Final = 7
_MAX_SENT_BYTES: Final = 64 << 10
_MAX_SHELF_CHARS: Final = 8 << 20
_CUT: Final = "\n[…] the rest was sent, and is not kept here"


class Exhibit(NamedTuple):
    """What is kept of one answer beside its record. The names are those of the columns."""

    time: float
    tokens: int
    hour: int
    principal: str
    upstream: str
    tool: str
    arguments: str
    sent: str


class Exhibits:
    """Chooses the answers that are kept: the largest of each hour."""

    def __init__(self, content: ExhibitContent, redact: tuple[str, ...] = ()) -> None:
        self._content, self._redact = content, redact
        self._redaction: Redaction | None = None
        self._hour = -1
        self._largest: list[int] = []

    def of(self, record: "Record", decision: "Decision") -> Exhibit | None:
        """Return the exhibit of an answer; None if it is not among the largest, or nothing is to be kept."""
        if self._content == "off" or record.cursor_followed or not self._takes(record):
            return None
        if self._redaction is None:
            self._redaction = Redaction(self._redact)
        hide = self._redaction
        sent = decision.shown() if self._content != "arguments" and decision.shown is not None else b""
        text = sent[:_MAX_SENT_BYTES].decode("utf-8", "replace")
        return Exhibit(
            record.time,
            record.original_tokens,
            int(record.time // 3_600),
            record.principal,
            record.upstream,
            record.tool,
            hide.arguments(decision.arguments),
            hide.text(text) + (_CUT if len(sent) > _MAX_SENT_BYTES else ""),
        )

    def _takes(self, record: "Record") -> bool:
        hour, tokens = int(record.time // 3_600), record.original_tokens
        if hour != self._hour:
            self._hour, self._largest = hour, []
        if not tokens or (len(self._largest) == EACH_HOUR and tokens < self._largest[0]):
            return False
        if len(self._largest) == EACH_HOUR:
            heapreplace(self._largest, tokens)
        else:
            heappush(self._largest, tokens)
        return True


class ExhibitShelf:
    """Exhibits in memory. What several callers get must not be left on a disk."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[float, int], Exhibit] = OrderedDict()
        self._chars = 0

    def add(self, exhibit: Exhibit) -> None:
        """Keep one more. One that is smaller than others of its hour goes, or the oldest."""
        self._put(exhibit)
        of_hour = [key for key, one in self._kept.items() if one.hour == exhibit.hour]
        if len(of_hour) > EACH_HOUR:
            self._drop(min(of_hour, key=lambda key: key[1]))
        while len(self._kept) > MOST or self._chars > _MAX_SHELF_CHARS:
            self._drop(next(iter(self._kept)))

    def find(self, time: float, tokens: int) -> list[Exhibit]:
        found = self._kept.get((time, tokens))
        return [found] if found is not None else []

    def _put(self, exhibit: Exhibit) -> None:
        key = exhibit.time, exhibit.tokens
        if key in self._kept:
            self._drop(key)
        self._kept[key] = exhibit
        self._chars += _chars(exhibit)

    def _drop(self, key: tuple[float, int]) -> None:
        self._chars -= _chars(self._kept.pop(key))


def _chars(exhibit: Exhibit) -> int:
    return len(exhibit.arguments) + len(exhibit.sent)
