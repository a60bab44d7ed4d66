"""Records and decisions that were never made by an answer, files that are locked, and what a recorder tells."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from brimgate.config.declarations import Telemetry
from brimgate.engine.decision import AnswerSizes, Decision
from brimgate.watch.record import Record
from brimgate.watch.record_store import RecordBatch, RecordStore, read_records
from brimgate.watch.stats import Question, Statistics, statistics

NOON = 1_800_000_000.0
"""A whole hour, in January 2027."""
LARGE = 256 << 20
_HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)
connection.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.read()
"""


def record(**changes: Any) -> Record:
    made = Record(
        time=NOON,
        upstream="crm",
        tool="list",
        client="claude",
        principal="local",
        outcome="passed",
        arm="protected",
        kind="list",
        trial_outcome="",
        original_tokens=100,
        estimated_tokens=100,
        trial_tokens=0,
        original_bytes=400,
        response_bytes=400,
        item_count=5,
        items_shown=5,
        latency_us=1_000,
        engine_us=100,
        cursor_issued=False,
        cursor_followed=False,
        cursor_expired=False,
        oversized=False,
        repeated=0,
        highlights=0,
        answer=0,
    )
    return made._replace(**changes)


def decision(**changes: Any) -> Decision:
    given: dict[str, Any] = {
        "time": NOON,
        "principal": "local",
        "upstream": "crm",
        "tool": "list",
        "outcome": "passed",
        "original_bytes": 400,
        "response_bytes": 400,
        "sizes": AnswerSizes(100, 100),
    }
    return Decision(**given | changes)


def store_at(path: Path, max_bytes: int = LARGE, max_days: float = 36_500) -> RecordStore:
    return RecordStore(path, max_bytes, max_days)


def add(store: RecordStore, *records: Record, **beside: Any) -> None:
    store.add(RecordBatch(list(records), **beside))


def figures(path: Path, **question: Any) -> Statistics:
    with closing(read_records(path)) as connection:
        return statistics(connection, Question(**question))


def answers_in(path: Path) -> int:
    total = figures(path).total
    return total.calls + total.reads


def telemetry(path: Path, **changes: Any) -> Telemetry:
    return Telemetry(**{"file": str(path), "sample_share": 0.0, "max_days": 36_500} | changes)


class Told:
    """What was told, by whichever thread."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, dict[str, Any], str]] = []
        self._lock = threading.Lock()

    def __call__(self, event: str, fields: dict[str, Any], level: str) -> None:
        with self._lock:
            self.lines.append((event, fields, level))

    @property
    def events(self) -> list[str]:
        return [event for event, _, _ in self.lines]

    def fields(self, event: str) -> dict[str, Any]:
        return next(fields for name, fields, _ in self.lines if name == event)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Have another process hold the file for writing while the block runs."""
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdin and holder.stdout
    with holder:
        assert holder.stdout.readline() == b"locked\n"
        try:
            yield
        finally:
            holder.stdin.close()
            holder.wait(60)
