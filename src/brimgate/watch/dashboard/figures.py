"""What the dashboard shows of the records, read from the file at one moment."""

import sqlite3
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from brimgate.watch.record_store import ARMS, KINDS, OUTCOMES, losses_in
from brimgate.watch.stats import FOREVER, Inquiry, Question, Row, catalogs_in

_WIDTHS: Final = (
    1, 5, 10, 30, 60, 300, 900, 3_600, 3 * 3_600, 6 * 3_600, 86_400, 7 * 86_400, 30 * 86_400, 365 * 86_400,
)  # fmt: skip
_MOST_POINTS: Final = 150
_LEAD_SECONDS: Final = 60
"""Before the first answer, so that one sees where it begins."""
_LISTED: Final = 12
_MAX_OFFERED: Final = 200


@dataclass(frozen=True, slots=True)
class AnswerLine:
    """One answer in a list of answers."""

    time: float
    upstream: str
    tool: str
    client: str
    principal: str
    outcome: str
    kind: str
    arm: str
    before: int
    after: int
    items: int
    items_shown: int
    latency_us: int
    engine_us: int
    highlights: int
    reads: int
    has_cursor: bool
    is_read: bool
    is_repeated: bool
    answer: int

    @property
    def name(self) -> str:
        return f"{self.upstream}/{self.tool}"


@dataclass(frozen=True, slots=True)
class Timeline:
    """Tokens over time: the beginning of each span, and what fell into it."""

    width_seconds: int = 60
    times: list[int] = field(default_factory=lambda: [])
    before: list[int] = field(default_factory=lambda: [])
    after: list[int] = field(default_factory=lambda: [])
    answers: list[int] = field(default_factory=lambda: [])


@dataclass(frozen=True, slots=True)
class Offered:
    """What a filter can be set to: all names in the time that is looked at."""

    tools: list[str] = field(default_factory=lambda: [])
    upstreams: list[str] = field(default_factory=lambda: [])
    clients: list[str] = field(default_factory=lambda: [])


@dataclass(frozen=True, slots=True)
class Figures:
    total: Row
    today: Row
    month: Row
    tools: list[Row] = field(default_factory=lambda: [])
    clients: list[Row] = field(default_factory=lambda: [])
    timeline: Timeline = field(default_factory=Timeline)
    largest: list[AnswerLine] = field(default_factory=lambda: [])
    slowest: list[AnswerLine] = field(default_factory=lambda: [])
    latest: list[AnswerLine] = field(default_factory=lambda: [])
    catalogs: dict[str, dict[str, int]] = field(default_factory=lambda: {})
    lost: dict[str, int] = field(default_factory=lambda: {})
    offered: Offered = field(default_factory=Offered)
    has_any: bool = False
    """Whether there is any record at all, whatever the filters."""


NO_FIGURES: Final = Figures(Row("total"), Row("today"), Row("month"))


def figures(connection: sqlite3.Connection, question: Question, now: float) -> Figures:
    """Read all figures. They are of one moment, whoever writes meanwhile."""
    connection.execute("BEGIN")
    try:
        inquiry = Inquiry(connection, question)
        in_time = Inquiry(connection, Question(principal=question.principal, since=question.since))
        (has_any,) = connection.execute("SELECT EXISTS (SELECT 1 FROM blocks)").fetchone()
        if has_any and question.principal:  # that others have some is nobody's business
            has_any = len(Inquiry(connection, Question(principal=question.principal)).records) > 0
        today, month = (
            Inquiry(connection, replace(question, since=since, until=FOREVER)).answer("upstream")[0]
            for since in beginnings(now)
        )
        catalogs = {} if question.principal else catalogs_in(connection, question)
        lost = dict(losses_in(connection, question.since, question.until))
    finally:
        connection.execute("ROLLBACK")
    total, tools = inquiry.answer("tool")
    return Figures(
        total,
        today,
        month,
        tools,
        inquiry.answer("client")[1],
        timeline(inquiry, question, now),
        _listed(inquiry, "original_tokens"),
        _listed(inquiry, "latency_us"),
        _listed(inquiry, "time"),
        catalogs,
        lost,
        _offered(in_time),
        bool(has_any),
    )


def beginnings(now: float) -> tuple[float, float]:
    """Return when this day began, and this month, on the clock of this machine."""
    day = datetime.fromtimestamp(now).replace(hour=0, minute=0, second=0, microsecond=0)
    return day.timestamp(), day.replace(day=1).timestamp()


def timeline(inquiry: Inquiry, question: Question, now: float) -> Timeline:
    import numpy as np

    records = inquiry.records
    if not len(records):
        return Timeline()
    first, last = inquiry.span
    start = max(question.since, first - _LEAD_SECONDS)
    end = min(max(now, last), question.until)
    width = next((one for one in _WIDTHS if (end - start) / one <= _MOST_POINTS), _WIDTHS[-1])
    begin = int(start // width)
    count = max(int(end // width) - begin + 1, 1)
    spans = np.clip((records["time"] // width).astype(np.int64) - begin, 0, count - 1)
    is_first = records["cursor_followed"] == 0

    def sums(values: Any) -> list[int]:
        return np.bincount(spans, weights=values, minlength=count).astype(np.int64).tolist()

    return Timeline(
        width,
        [(begin + at) * width for at in range(count)],
        sums(records["original_tokens"] * is_first),
        sums(records["estimated_tokens"]),
        sums(np.ones(len(records))),
    )


def _listed(inquiry: Inquiry, column: str) -> list[AnswerLine]:
    """Return the answers with the most of something. What was only read on is listed by its time alone."""
    import numpy as np

    records = inquiry.records
    wanted = np.arange(len(records)) if column == "time" else np.flatnonzero(records["cursor_followed"] == 0)
    values = records[column][wanted]
    if column == "original_tokens":
        wanted, values = wanted[values > 0], values[values > 0]
    most = np.argsort(values, kind="stable")[::-1][:_LISTED]
    return answer_lines(inquiry, wanted[most])


def answer_lines(inquiry: Inquiry, places: Any) -> list[AnswerLine]:
    return [_line(inquiry, int(place)) for place in places]


def _line(inquiry: Inquiry, place: int) -> AnswerLine:
    one: Any = inquiry.records[place]

    def name(column: str) -> str:
        return inquiry.names.get(int(one[column]), "")

    return AnswerLine(
        time=float(one["time"]),
        upstream=name("upstream"),
        tool=name("tool"),
        client=name("client"),
        principal=name("principal"),
        outcome=OUTCOMES[int(one["outcome"])],
        kind=KINDS[int(one["kind"])],
        arm=ARMS[int(one["arm"])],
        before=int(one["original_tokens"]),
        after=int(one["estimated_tokens"]),
        items=int(one["item_count"]),
        items_shown=int(one["items_shown"]),
        latency_us=int(one["latency_us"]),
        engine_us=int(one["engine_us"]),
        highlights=int(one["highlights"]),
        reads=int(inquiry.reads[place]),
        has_cursor=bool(one["cursor_issued"]),
        is_read=bool(one["cursor_followed"]),
        is_repeated=bool(one["repeated"]),
        answer=int(one["answer"]),
    )


def answer_at(
    connection: sqlite3.Connection, moment: float, tokens: int, principal: str
) -> AnswerLine | None:
    """Return the answer of a moment with so many tokens; None if there is none that a caller may see."""
    import numpy as np

    question = Question(principal=principal, since=max(moment - 1, 0.0), until=moment + 1)
    inquiry = Inquiry(connection, question)
    records = inquiry.records
    found = np.flatnonzero((records["time"] == moment) & (records["original_tokens"] == tokens))
    return answer_lines(inquiry, found[:1])[0] if len(found) else None


def _offered(inquiry: Inquiry) -> Offered:
    import numpy as np

    def names(column: str) -> list[str]:
        found = {inquiry.names.get(int(one), "") for one in np.unique(inquiry.records[column])}
        return sorted(found - {""})[:_MAX_OFFERED]

    return Offered(names("tool"), names("upstream"), names("client"))
