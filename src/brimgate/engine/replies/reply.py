"""The bounded reply: a notice, highlights, the position, the content, and a record for programs."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from brimgate.engine.cursor import answer_number
from brimgate.engine.decision import AnswerKind, AnswerSizes, Outcome, reduced_kind
from brimgate.engine.document import Position
from brimgate.engine.highlights.findings import MAP_OF, STANDS_OUT
from brimgate.engine.policy import Policy
from brimgate.engine.query import View

MARK: Final = "[brimgate]"
TEXT_WAYS: Final = ("lines", "search", "pages", "query")
LIST_WAYS: Final = ("query", "search", "fields", "limit")
OBJECT_WAYS: Final = ("query",)
_SQL: Final = '"SELECT … FROM t"'

_MAX_EXAMPLE_CHARS: Final = 40
_PLAIN_PATH: Final = re.compile(r"(?:/[\w.-]+)+\Z", re.ASCII)

Issue = Callable[[View, Position], str]
"""Makes the cursor at which reading of a view continues."""


@dataclass(frozen=True, slots=True)
class Reply:
    notice: str
    """Comes first, so that nothing from upstream precedes it. Contains only constants, numbers, cursors and
    plain paths."""
    content: str
    record: dict[str, Any]
    highlights: str = ""
    where: str = ""
    """The place of the content in the answer, if it is not all of it."""
    envelope: str = ""
    """What surrounds a text that is shown below it."""
    outcome: Outcome = "read"
    """What was decided about the answer; a reply to a query only reads it."""
    item_count: int = 0
    """The items of the list that the answer is about."""
    original_tokens: int = 0
    """The tokens of the answer by the estimate that every path tells, whether or not it is reduced."""
    original_bytes: int = 0
    """The size of the answer, or of as much of it as has come."""

    @classmethod
    def from_wire(cls, notice: str, payload: str, record: dict[str, Any]) -> "Reply":
        """Rebuild the reply from two texts and a record, as a program gets them."""
        start: int = record["contentFrom"]
        is_text = record.get("envelope") and record.get("part") in ("text", "literal")
        around = payload[:start].rstrip("\n").rpartition("\n")[2] if is_text else ""
        return cls(notice, payload[start:], record, envelope=around)

    @property
    def text(self) -> str:
        return "\n".join(part for part in (self.notice, self.payload) if part)

    @property
    def sizes(self) -> AnswerSizes:
        shown: int = self.record.get("shown", {}).get("items", 0)
        if self.record["kind"] == "complete":
            shown = self.item_count
        kind = reduced_kind(self.outcome, self.item_count) or self._read_kind
        return AnswerSizes(self.original_tokens, self.record["estimatedTokens"], self.item_count, shown, kind)

    @property
    def _read_kind(self) -> AnswerKind:
        """What was read of: a list or a text is told with its total."""
        if self.outcome != "read":
            return ""
        total = self.record.get("total", {})
        if "items" in total or "rows" in total:
            return "list"
        return "text" if "lines" in total or "textBytes" in total else "object"

    @property
    def answer(self) -> int:
        """The number of the answer that its cursor leads to; 0 without one."""
        details = self.record.get("detailsAvailable", {})
        return answer_number(self.record.get("nextCursor") or details.get("cursor", ""))

    @property
    def highlight_count(self) -> int:
        """How many lines of highlights there are below their heading, without those of the map."""
        if not self.highlights.startswith(STANDS_OUT):
            return 0
        return self.highlights.partition(f"\n{MAP_OF}")[0].count("\n")

    @property
    def has_cursor(self) -> bool:
        return "nextCursor" in self.record or "detailsAvailable" in self.record

    @property
    def payload(self) -> str:
        """Everything after the notice."""
        return "\n".join(part for part in (self.highlights, self.where, self.envelope, self.content) if part)


@dataclass(slots=True)
class Notice:
    """The one line that tells the model what it sees and how to see more."""

    shown: str
    tokens: int
    """The tokens of the content below, without the text around it."""
    total_tokens: int
    more: str = ""
    """The cursor to what follows."""
    section: str = ""
    """The cursor for reading a section by its path."""
    example: str = ""
    """A path of this answer, if it is plain enough to stand among words of ours; see `plain_path`."""
    named: str = ""
    """The name of a section, which leads there better than a path."""
    tool: str = "brimgate_read"
    ways: tuple[str, ...] = ()
    """The parameters that lead to what is wanted in fewer steps than reading on."""
    is_estimate: bool = False
    """Whether the total is estimated."""

    def line(self) -> str:
        return " · ".join([f"{MARK} {self.shown}", self._size(), self._onward()])

    def _size(self) -> str:
        """Tell how much of the answer this is. Another form of it can cost more than the original."""
        total = f"{'about ' if self.is_estimate else ''}{self.total_tokens:,} tokens"
        return total if self.tokens >= self.total_tokens else f"{self.tokens:,} of {total}"

    def _onward(self) -> str:
        """Say how to see more. One cursor is enough: with a path, any cursor of the answer leads to any section."""
        if not self.more:
            return f"one section: {self._call(self.section, path=True)}" if self.section else "end"
        label = "everything" if self.more == self.section else "more"
        name, shown = ("fields", self.named) if self.named else ("path", self.example or "/…")
        path = f"--{name} {shown}" if self._is_command else f'{name}="{shown}"'
        section = f", one section: add {path}" if self.section else ""
        ways = f" (or add {', '.join(map(self._parameter, self.ways))})" if self.ways else ""
        return f"{label}: {self._call(self.more)}{section}{ways}"

    def _parameter(self, name: str) -> str:
        if name == "query":
            return f"--query {_SQL}" if self._is_command else f"query={_SQL}"
        return f"--{name}" if self._is_command else name

    @property
    def _is_command(self) -> bool:
        """Whether the next step is a shell command. Its name has a space, which the name of a tool cannot have."""
        return " " in self.tool

    def _call(self, cursor: str, *, path: bool = False) -> str:
        shown = self.example or "/…"
        if self._is_command:
            return f"{self.tool} {cursor}{f' --path {shown}' if path else ''}"
        section = f', path="{shown}"' if path else ""
        return f'{self.tool}(cursor="{cursor}"{section})'


def plain_path(pointers: Iterable[str]) -> str:
    """Return the first pointer whose keys are short and plain: the notice has no words of others. Empty if none is."""
    return next((p for p in pointers if len(p) <= _MAX_EXAMPLE_CHARS and _PLAIN_PATH.match(p)), "")


def allowance(policy: Policy, *, section: bool = False) -> int:
    """Return the tokens to reserve for a notice, measured on the longest possible one."""
    cursor = "Zq3_" * 14
    notice = Notice(
        "items 100,000-100,050 of 100,000 · chunk 10,000 of 10,000",
        10_000,
        10_000_000,
        more=cursor,
        section=cursor if section else "",
        example="/Zq3" * (_MAX_EXAMPLE_CHARS // 4),
        tool=policy.read_tool,
        ways=TEXT_WAYS,
        is_estimate=True,
    )
    return policy.estimator.ceiling(notice.line()) + 4


def budget_fields(tokens: int, budget: int) -> dict[str, Any]:
    """Return how much of the budget is used and how much is left (FR-012)."""
    return {
        "estimatedTokens": tokens,
        "budgetUsed": round(tokens / budget, 2),
        "budgetRemaining": max(budget - tokens, 0),
    }
