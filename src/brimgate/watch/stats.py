"""Statistics over the records: what each tool costs, before and after (FR-031)."""

import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from time import gmtime, strftime, time
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from brimgate.errors import BadRequest
from brimgate.watch.record_store import LAYOUT, OTHER, OUTCOMES, losses_in, opened_records

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Records = NDArray[np.void]

Grouping = Literal["tool", "hour", "client", "upstream"]
GROUPINGS: Final[tuple[str, ...]] = get_args(Grouping)
OUTCOME_WORDS: Final = {
    **{one: one for one in OUTCOMES},
    "paginated": "page",
    "summarized": "preview",
    "chunked": "chunk",
}
"""Words for an outcome: our own, and those of the brief."""
MANY_PAGES: Final = 5
"""A tool whose answers are read on more often than this, in the median, pages too much (RISK-2)."""
FOREVER: Final = 1e11


@dataclass(frozen=True, slots=True)
class Question:
    """Which records are asked about, and how they are put together."""

    tool: str = ""
    upstream: str = ""
    client: str = ""
    principal: str = ""
    """The fingerprint of whose they must be."""
    outcome: str = ""
    since: float = 0.0
    until: float = FOREVER
    by: str = "tool"

    def __post_init__(self) -> None:
        if self.by not in GROUPINGS:
            raise BadRequest(f"by must be one of {', '.join(GROUPINGS)}, not {self.by[:40]!r}")
        if self.outcome and self.outcome not in OUTCOME_WORDS:
            raise BadRequest(f"outcome must be one of {', '.join(OUTCOME_WORDS)}, not {self.outcome[:40]!r}")
        if self.since >= self.until:
            raise BadRequest("since must be before until")


@dataclass(slots=True)
class Row:
    """The figures of one group, or of all."""

    name: str
    calls: int = 0
    """Answers, without those that only read on."""
    reads: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    """What reached a model: first answers and reads."""
    bytes_before: int = 0
    bytes_after: int = 0
    latency_us: int = 0
    oversized: int = 0
    expired: int = 0
    repeated: int = 0
    repeated_after_page: int = 0
    issued: int = 0
    followed: int = 0
    """Answers that were read on, of those for which a cursor was issued."""
    highlights: int = 0
    largest: int = 0
    median: int = 0
    p95: int = 0
    pages_read: int = 0
    """How often an answer with a cursor is read on, in the median."""
    latency_median_us: int = 0
    latency_p95_us: int = 0
    share: float = 0.0
    outcomes: dict[str, int] = field(default_factory=lambda: {})

    @property
    def saved(self) -> float:
        """Which share of the tokens did not reach a model; below 0 if reading on cost more than the whole."""
        return 1 - self.tokens_after / self.tokens_before if self.tokens_before else 0.0

    @property
    def pages_too_much(self) -> bool:
        return self.pages_read > MANY_PAGES

    def document(self) -> dict[str, Any]:
        answers = self.calls + self.reads
        return {
            "name": self.name,
            "calls": self.calls,
            "reads": self.reads,
            "tokensBefore": self.tokens_before,
            "tokensAfter": self.tokens_after,
            "savedPercent": round(100 * self.saved, 1),
            "median": self.median,
            "p95": self.p95,
            "largest": self.largest,
            "share": round(self.share, 4),
            "bytesBefore": self.bytes_before,
            "bytesAfter": self.bytes_after,
            "avgResponseBytes": round(self.bytes_after / answers) if answers else 0,
            "avgLatencyMs": round(self.latency_us / answers / 1_000, 1) if answers else 0.0,
            "medianLatencyMs": round(self.latency_median_us / 1_000, 1),
            "p95LatencyMs": round(self.latency_p95_us / 1_000, 1),
            "oversized": self.oversized,
            "outcomes": self.outcomes,
            "cursorsIssued": self.issued,
            "cursorsFollowed": self.followed,
            "cursorsNeverFollowed": self.issued - self.followed,
            "cursorsExpired": self.expired,
            "pagesReadMedian": self.pages_read,
            "pagesTooMuch": self.pages_too_much,
            "repeated": self.repeated,
            "repeatedAfterPage": self.repeated_after_page,
            "highlights": self.highlights,
        }


@dataclass(frozen=True, slots=True)
class Statistics:
    total: Row
    rows: list[Row]
    catalogs: dict[str, dict[str, int]]
    """The tokens of each tool in the list of tools, by upstream."""
    lost: dict[str, int]
    """How many records are missing, by reason."""
    first: float = 0.0
    last: float = 0.0

    def document(self) -> dict[str, Any]:
        catalogs = [
            {"upstream": name, "tokens": sum(tools.values()), "tools": tools}
            for name, tools in self.catalogs.items()
        ]
        return {
            "total": {name: value for name, value in self.total.document().items() if name not in _OF_ONE},
            "rows": [row.document() for row in self.rows],
            "catalogs": catalogs,
            "recordsLost": self.lost,
        }


NOTHING: Final = Statistics(Row("total"), [], {}, {})
"""What is known where there are no records yet."""


def statistics(connection: sqlite3.Connection, question: Question) -> Statistics:
    """Answer a question. All figures are of one moment, whoever writes meanwhile."""
    connection.execute("BEGIN")
    try:
        inquiry = Inquiry(connection, question)
        catalogs = catalogs_in(connection, question)
        lost = dict(losses_in(connection, question.since, question.until))
    finally:
        connection.execute("ROLLBACK")
    total, rows = inquiry.answer(question.by)
    return Statistics(total, rows, catalogs, lost, *inquiry.span)


def load_records(connection: sqlite3.Connection, since: float = 0.0, until: float = FOREVER) -> "Records":
    """Read all records of a time as one array, with the columns of LAYOUT."""
    import numpy as np

    layout = np.dtype([(name, f"<{kind}") for name, kind in LAYOUT])
    found = connection.execute(
        "SELECT data FROM blocks WHERE last >= ? AND first < ? ORDER BY id", (since, until)
    )
    blocks = [data for (data,) in found]
    if any(not isinstance(one, bytes) or len(one) % layout.itemsize for one in blocks):
        raise sqlite3.DatabaseError("a block is damaged")
    records = np.frombuffer(b"".join(blocks), layout)
    if since <= 0 and until >= FOREVER:
        return records  # to choose all would copy them
    return records[(records["time"] >= since) & (records["time"] < until)]


def chosen_records(connection: sqlite3.Connection, question: Question) -> "tuple[Records, Any]":
    """Return the records that are asked about, and how often the answer of each was read on."""
    import numpy as np

    every = load_records(connection, question.since, question.until)
    chosen = every["time"] >= 0
    names: dict[str, int] = dict(connection.execute("SELECT text, id FROM names"))
    for column in ("tool", "upstream", "client", "principal"):
        if text := getattr(question, column):
            # A client is told with its version, and may be asked for without.
            beginning = f"{text} " if column == "client" else text
            numbers = [number for name, number in names.items() if name == text or name.startswith(beginning)]
            chosen &= (
                np.isin(every[column], numbers)
                if column == "client"
                else every[column] == names.get(text, -1)
            )
    if question.outcome:
        chosen &= every["outcome"] == OUTCOMES.index(OUTCOME_WORDS[question.outcome])
    # Counted before: an outcome leaves out the records of what was read on.
    reads = reads_of(every)
    return (every, reads) if chosen.all() else (every[chosen], reads[chosen])


class Inquiry:
    """The records that are asked about, and the figures of them."""

    def __init__(self, connection: sqlite3.Connection, question: Question) -> None:
        self.names: dict[int, str] = dict(connection.execute("SELECT id, text FROM names"))
        self.records, self.reads = chosen_records(connection, question)
        """The second says how often the answer of each was read on."""

    @property
    def span(self) -> tuple[float, float]:
        times = self.records["time"]
        return (float(times.min()), float(times.max())) if len(times) else (0.0, 0.0)

    def answer(self, by: str) -> tuple[Row, list[Row]]:
        """Return the figures of all, and of each group: hours in their order, others by what they cost."""
        rows = self._rows(by)
        total = _total(rows)
        rows.sort(key=(lambda row: row.name) if by == "hour" else lambda row: -row.tokens_after)
        return total, rows

    def _rows(self, by: str) -> list[Row]:
        import numpy as np

        records = self.records
        keys, groups = np.unique(_key(records, by), return_inverse=True)
        if not len(keys):
            return []
        is_first = records["cursor_followed"] == 0
        figures = _figures(records, self.reads, is_first)
        sums = {name: _sums(groups, values, len(keys)) for name, values in figures.items()}
        outcomes = [_sums(groups, records["outcome"] == at, len(keys)) for at in range(len(OUTCOMES))]
        sized = is_first & (records["original_tokens"] > 0)
        median, p95, largest = _quantiles(
            groups[sized], records["original_tokens"][sized], len(keys), 0.5, 0.95, 1
        )
        issued = is_first & (records["cursor_issued"] == 1)
        (pages,) = _quantiles(groups[issued], self.reads[issued], len(keys), 0.5)
        usual, slow = _quantiles(groups, records["latency_us"], len(keys), 0.5, 0.95)
        return [
            Row(
                self._label(int(key), by),
                **{name: values[at] for name, values in sums.items()},
                median=median[at],
                p95=p95[at],
                largest=largest[at],
                pages_read=pages[at],
                latency_median_us=usual[at],
                latency_p95_us=slow[at],
                outcomes={word: outcomes[n][at] for n, word in enumerate(OUTCOMES) if outcomes[n][at]},
            )
            for at, key in enumerate(keys)
        ]

    def _label(self, key: int, by: str) -> str:
        if by == "hour":
            return strftime("%Y-%m-%d %H:00Z", gmtime(key * 3_600))
        if by == "tool":
            return f"{self.names.get(key >> 16, OTHER)}/{self.names.get(key & 0xFFFF, OTHER)}"
        return self.names.get(key, "") or "unknown"


def _key(records: "Records", by: str) -> Any:
    match by:
        case "tool":
            return (records["upstream"].astype("u4") << 16) | records["tool"]
        case "hour":
            return (records["time"] // 3_600).astype("u4")
        case _:
            return records[by]


def _figures(records: "Records", reads: Any, is_first: Any) -> dict[str, Any]:
    """Return what is added up, by the name that a row has for it."""
    return {
        "calls": is_first,
        "reads": ~is_first,
        "tokens_before": records["original_tokens"] * is_first,
        "tokens_after": records["estimated_tokens"],
        "bytes_before": records["original_bytes"] * is_first,
        "bytes_after": records["response_bytes"],
        "latency_us": records["latency_us"],
        "oversized": records["oversized"],
        "expired": records["cursor_expired"],
        "repeated": records["repeated"] > 0,
        "repeated_after_page": records["repeated"] == 2,  # see Record.repeated
        "issued": is_first & (records["cursor_issued"] == 1),
        "followed": is_first & (records["cursor_issued"] == 1) & (reads > 0),
        "highlights": records["highlights"],
    }


def _sums(groups: Any, values: Any, count: int) -> list[int]:
    import numpy as np

    return np.bincount(groups, weights=values, minlength=count).astype(np.int64).tolist()


def _quantiles(groups: Any, values: Any, count: int, *shares: float) -> list[list[int]]:
    """Return quantiles of each group by nearest rank, exactly; 0 for a group without values."""
    import numpy as np

    # Sorted as one number each: that takes a third of the time.
    ordered = np.sort(groups.astype(np.uint64) << 32 | values.astype(np.uint64)) & 0xFFFFFFFF
    sizes = np.bincount(groups, minlength=count)
    starts = np.cumsum(sizes) - sizes
    found: list[list[int]] = []
    for share in shares:
        ranks = np.maximum(np.ceil(sizes * share).astype(np.int64), 1) - 1
        places = np.where(sizes > 0, starts + ranks, 0)
        taken = ordered[places] if len(ordered) else np.zeros(count, np.int64)
        found.append(np.where(sizes > 0, taken, 0).tolist())
    return found


def reads_of(records: "Records") -> Any:
    """Return for each record how often the answer was read on that it was the last to issue a cursor for."""
    import numpy as np

    counts = np.zeros(len(records), np.int64)
    followed = records["answer"][(records["cursor_followed"] == 1) & (records["answer"] > 0)]
    answers, times = np.unique(followed, return_counts=True)
    issued = np.flatnonzero((records["cursor_issued"] == 1) & (records["cursor_followed"] == 0))
    if not len(answers) or not len(issued):
        return counts
    # From behind: the same answer may have been sent several times.
    last, places = np.unique(records["answer"][issued][::-1], return_index=True)
    at = np.minimum(np.searchsorted(answers, last), len(answers) - 1)
    is_read = answers[at] == last
    counts[issued[::-1][places[is_read]]] = times[at[is_read]]
    return counts


def _total(rows: Sequence[Row]) -> Row:
    """Add all rows up, and note the share of each. A median over all tools would say nothing."""
    total = Row("total", share=1.0 if rows else 0.0)
    for row in rows:
        for name in _ADDED:
            setattr(total, name, getattr(total, name) + getattr(row, name))
        total.largest = max(total.largest, row.largest)
        for outcome, count in row.outcomes.items():
            total.outcomes[outcome] = total.outcomes.get(outcome, 0) + count
    for row in rows:
        row.share = row.tokens_after / total.tokens_after if total.tokens_after else 0.0
    return total


_OF_ONE: Final = ("median", "p95", "pagesReadMedian", "pagesTooMuch", "medianLatencyMs", "p95LatencyMs")
_ADDED: Final = (
    "calls", "reads", "tokens_before", "tokens_after", "bytes_before", "bytes_after", "latency_us", "oversized",
    "expired", "repeated", "repeated_after_page", "issued", "followed", "highlights",
)  # fmt: skip


def catalogs_in(connection: sqlite3.Connection, question: Question) -> dict[str, dict[str, int]]:
    """Return what the lists of tools cost; the tools that cost most come first."""
    found: dict[str, dict[str, int]] = {}
    query = "SELECT upstream, tool, tokens FROM catalogs ORDER BY upstream, tokens DESC, tool"
    for upstream, tool, tokens in connection.execute(query):
        if question.upstream in ("", upstream):
            found.setdefault(upstream, {})[tool] = tokens
    return found


def stats_document(path: Path, question: Question) -> dict[str, Any]:
    """Answer a question from a file, as JSON. A file that is not there yet has no records."""
    if not path.exists():
        return NOTHING.document() | {"accuracy": []}
    with opened_records(path) as connection:
        return statistics(connection, question).document() | {"accuracy": accuracy_in(connection, question)}


def accuracy_in(connection: sqlite3.Connection, question: Question) -> list[dict[str, Any]]:
    """Return how good estimates were in a time, by family and source of the count."""
    from brimgate.watch.accuracy import Accuracy, Count

    found = Accuracy()
    query = "SELECT family, estimated, counted, source FROM samples WHERE time >= ? AND time < ?"
    for family, estimated, counted, source in connection.execute(query, (question.since, question.until)):
        found.add(family, estimated, Count(counted, source))
    return found.document()


_UNITS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_AGO: Final = re.compile(r"(\d{1,9})([smhdw])\Z")


def question_of(given: Mapping[str, str], principal: str = "", now: float | None = None) -> Question:
    """Read a question as a command line or a URL has it. Raise BadRequest if it cannot be understood."""
    now = time() if now is None else now
    unknown = sorted(set(given) - {"tool", "upstream", "client", "outcome", "since", "until", "today", "by"})
    if unknown:
        raise BadRequest(f"unknown parameter {unknown[0][:40]!r}")
    words = {name: given[name] for name in ("tool", "upstream", "client", "outcome", "by") if given.get(name)}
    upstream, slash, tool = words.get("tool", "").partition("/")
    if slash and upstream and "upstream" not in words:  # as a row is called
        words |= {"upstream": upstream, "tool": tool}
    since = moment(given["since"], now) if given.get("since") else 0.0
    until = moment(given["until"], now) if given.get("until") else FOREVER
    if given.get("today", "") not in ("", "false", "0"):
        today = datetime.fromtimestamp(now).replace(hour=0, minute=0, second=0, microsecond=0)
        since = max(since, today.timestamp())
    return Question(**words, principal=principal, since=since, until=until)


def moment(text: str, now: float) -> float:
    """Return a time: `2h` ago, a date, or a date and time; without an offset it is the local one."""
    if found := _AGO.match(text.strip()):
        return now - int(found[1]) * _UNITS[found[2]]
    try:
        return datetime.fromisoformat(text.strip()).timestamp()
    except (ValueError, OverflowError, OSError):
        raise BadRequest(
            f"{text[:40]!r} is no time: write 30m, 2h or 7d for so long ago, or 2026-11-18T08:00"
        ) from None
