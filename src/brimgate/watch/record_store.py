"""Records in an SQLite file: one for all processes of a user, bounded in size and age.

Records lie in blocks, each a row with many of them packed one behind the other. A block is written by one INSERT
whatever it holds, and a million records are read in a moment. Everything here may block and fail, and runs in a
thread of its own: see `recorder`.
"""

import math
import os
import sqlite3
import struct
import time
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple, get_args

from brimgate.engine.decision import AnswerKind, Arm, Outcome
from brimgate.errors import OperatorError
from brimgate.platform import make_private_dir, state_dir
from brimgate.watch.exhibit import EACH_HOUR, MAX_DAYS, MOST, Exhibit
from brimgate.watch.record import Record, kept_name

VERSION: Final = 1
OUTCOMES: Final[tuple[str, ...]] = get_args(Outcome)
ARMS: Final[tuple[str, ...]] = get_args(Arm)
KINDS: Final[tuple[str, ...]] = get_args(AnswerKind)
"""The place of a word in these is what a file has: a new one goes to the end."""
OTHER: Final = "_other"
LAYOUT: Final = (
    ("time", "f8"), ("answer", "u8"), ("original_tokens", "u4"), ("estimated_tokens", "u4"), ("trial_tokens", "u4"),
    ("original_bytes", "u4"), ("response_bytes", "u4"), ("item_count", "u4"), ("items_shown", "u4"),
    ("latency_us", "u4"), ("engine_us", "u4"), ("upstream", "u2"), ("tool", "u2"), ("client", "u2"),
    ("principal", "u2"), ("highlights", "u2"), ("outcome", "u1"), ("arm", "u1"), ("kind", "u1"), ("trial_outcome", "u1"),
    ("cursor_issued", "u1"), ("cursor_followed", "u1"), ("cursor_expired", "u1"), ("oversized", "u1"), ("repeated", "u1"),
)  # fmt: skip
"""The columns of a record and their types, little-endian and without gaps."""
NOT_TRIED: Final = 255
_PACKED: Final = struct.Struct(
    "<" + "".join({"f8": "d", "u8": "Q", "u4": "I", "u2": "H", "u1": "B"}[kind] for _, kind in LAYOUT)
)
_MOST: Final = {name: (1 << 8 * int(kind[1])) - 1 for name, kind in LAYOUT if kind[0] == "u"}
_FIELDS: Final = Record._fields
_NAMES: Final = slice(_FIELDS.index("upstream"), _FIELDS.index("principal") + 1)
_NUMBERS: Final = slice(_FIELDS.index("original_tokens"), _FIELDS.index("engine_us") + 1)
_FLAGS: Final = slice(_FIELDS.index("cursor_issued"), _FIELDS.index("repeated") + 1)
_BUSY_SECONDS: Final = 5.0
_HURRIED_SECONDS: Final = 2.0
_AGAIN_SECONDS: Final = 0.02
_MAX_NAMES: Final = 20_000
"""Names come from outside: those of one who makes them up are put together."""
_BYTES_A_NAME: Final = 4_096
"""A small file takes fewer names: one takes up to 900 bytes, and is never deleted, because processes remember it."""
_MAX_TOOLS: Final = 1_000
_BYTES_A_TOOL: Final = 16_384
"""The same for the tools that are kept of a list of tools."""
_MAX_TIME: Final = 9e10
_PAGE_BYTES: Final = 4_096
_MIN_PAGES: Final = 64
_MANY_BLOCKS: Final = 500
"""So many small blocks are joined to larger ones: a process that does little writes many."""
_BLOCK_RECORDS: Final = 2_000
_FULL_SHARE: Final = 0.9
_PRUNED_SHARE: Final = 0.1
_PRUNE_SECONDS: Final = 3_600.0
_CLOCK_SECONDS: Final = 3_600.0
_DOUBT_SECONDS: Final = 86_400.0
_WAL_BYTES: Final = 4 << 20
_NONE_YET: Final = "there are no records yet: use `brimgate run` or `serve` first"
_SCHEMA: Final = """
CREATE TABLE names (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE blocks (id INTEGER PRIMARY KEY, first REAL, last REAL, records INTEGER, data BLOB);
CREATE TABLE catalogs (upstream TEXT, tool TEXT, tokens INTEGER, time REAL, PRIMARY KEY (upstream, tool));
CREATE TABLE samples (time REAL, family TEXT, source TEXT, estimated INTEGER, counted INTEGER);
CREATE TABLE losses (time REAL, records INTEGER, reason TEXT);
"""
_TABLES: Final = frozenset(("names", "blocks", "catalogs", "samples", "losses"))
_EXHIBITS: Final = """
CREATE TABLE IF NOT EXISTS exhibits (time REAL, tokens INTEGER, hour INTEGER, principal TEXT, upstream TEXT, tool TEXT,
arguments TEXT, sent TEXT, PRIMARY KEY (time, tokens, upstream, tool))
"""
"""Came later: a file without it is as good, and whoever does not know it leaves it alone."""
_EXHIBIT_SHARE: Final = 16
"""Exhibits take at most this part of the file."""


def records_path(chosen: str = "") -> Path:
    return Path(chosen).expanduser() if chosen else state_dir() / "records.db"


def read_records(path: Path) -> sqlite3.Connection:
    """Open the records for reading. Raise OperatorError if there are none, or they cannot be read."""
    if not path.exists():
        raise OperatorError(f"{path}: {_NONE_YET}")
    with _readable(path):
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=_BUSY_SECONDS)
        try:
            _check_tables(connection)
        except BaseException:
            connection.close()
            raise
    return connection


@contextmanager
def opened_records(path: Path) -> Generator[sqlite3.Connection]:
    """Open the records for reading while a block runs. Raise OperatorError also for damage that is found in there."""
    connection = read_records(path)
    try:
        with _readable(path):
            yield connection
    finally:
        connection.close()


@contextmanager
def _readable(path: Path) -> Generator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise OperatorError(f"{path}: the records cannot be read: {error}") from None


def _check_tables(connection: sqlite3.Connection, *, may_be_new: bool = False) -> int:
    """Return the version of a file. Raise NotSupportedError if it is none of ours: it stays as it is."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if version > VERSION and tables >= _TABLES:
        raise sqlite3.NotSupportedError("they are of a newer Brimgate: upgrade this one")
    is_new = version == 0 and not tables
    if not (version == VERSION and tables >= _TABLES) and not (is_new and may_be_new):
        raise sqlite3.NotSupportedError(_NONE_YET if is_new else "this is a file of something else")
    return version


class CountedSample(NamedTuple):
    """A reply whose tokens were estimated, and counted."""

    time: float
    family: str
    source: str
    estimated: int
    counted: int


@dataclass(slots=True)
class RecordBatch:
    """What is added at once."""

    records: list[Record] = field(default_factory=lambda: [])
    catalogs: dict[str, dict[str, int]] = field(default_factory=lambda: {})
    """The tokens of each tool in the list of tools, by upstream."""
    samples: list[CountedSample] = field(default_factory=lambda: [])
    lost: Counter[str] = field(default_factory=lambda: Counter())
    """How many records were lost, by reason."""
    exhibits: list[Exhibit] = field(default_factory=lambda: [])

    def __bool__(self) -> bool:
        return bool(self.records or self.catalogs or self.samples or self.lost or self.exhibits)


_INSERT: Final = "INSERT INTO blocks (id, first, last, records, data) VALUES (?, ?, ?, ?, ?)"


class RecordStore:
    """Adds records. Raises sqlite3.Error or OSError if that fails; then nothing was added."""

    def __init__(self, path: Path, max_bytes: int, max_days: float, *, is_hurried: bool = False) -> None:
        """Create it. `is_hurried` is True where nothing but one record is added, and somebody waits for that."""
        self._path, self._max_bytes, self._max_days = path, max(max_bytes, _MIN_PAGES * _PAGE_BYTES), max_days
        self._max_names = min(_MAX_NAMES, self._max_bytes // _BYTES_A_NAME)
        self._max_tools = min(_MAX_TOOLS, self._max_bytes // _BYTES_A_TOOL)
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        self._wal: tuple[int, int] | None = None
        """Which files are open: somebody may have moved or deleted them."""
        self._names: dict[str, int] = {}
        self._busy_seconds = _HURRIED_SECONDS if is_hurried else _BUSY_SECONDS
        self._prune_at = math.inf if is_hurried else 0.0
        self._clock = time.time() - time.monotonic()

    def add(self, batch: RecordBatch) -> None:
        connection = self._open()
        if time.monotonic() >= self._prune_at:
            with suppress(sqlite3.Error):  # what is too old can wait
                self._prune_by_age(connection)
        try:
            self._write(connection, batch)
        except BaseException:
            self._names.clear()  # some of them may have been undone
            raise

    def __del__(self) -> None:
        self.close()  # since Python 3.13 a connection complains that nobody has closed it

    def close(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
        self._connection = None

    def start_anew(self) -> bool:
        """Move a file aside that is damaged, unless another process has done so. Return whether it was moved."""
        is_ours = self._file is not None and self._file == _identity(self._path)
        self.close()
        if is_ours:
            # The log first: whoever finds it beside a new file would read it into that.
            for suffix in ("-wal", "-shm", ""):
                with suppress(OSError):
                    Path(f"{self._path}{suffix}").replace(f"{self._path}.damaged{suffix}")
        return is_ours

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None:
            if self._file == _identity(self._path) and self._wal == _identity(self._wal_path):
                return self._connection
            self._leave(self._connection)
        self._names = {}
        if not self._path.parent.exists():
            make_private_dir(self._path.parent)
        with suppress(FileExistsError):
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        self._file = _identity(self._path)
        # Each statement stands alone, and transactions are ours to begin.
        connection = sqlite3.connect(
            self._path, timeout=self._busy_seconds, isolation_level=None, check_same_thread=False
        )
        try:
            _make_tables(connection)  # before anything is changed in a file that may not be ours
            self._use_log(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA journal_size_limit = {_WAL_BYTES}")
            connection.execute(f"PRAGMA max_page_count = {self._max_bytes // _PAGE_BYTES}")
            connection.execute("SELECT count(*) FROM names")  # this creates the log
        except BaseException:
            connection.close()
            raise
        self._connection, self._wal = connection, _identity(self._wal_path)
        return connection

    def _use_log(self, connection: sqlite3.Connection) -> None:
        """Switch a file to its log. SQLite asks nobody to wait for that, although others may do it at the same time."""
        deadline = time.monotonic() + self._busy_seconds
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(_AGAIN_SECONDS)
            else:
                return

    def _leave(self, connection: sqlite3.Connection) -> None:
        """Close a file that is not in its place any more. Take its log away: it would be read into the next one."""
        with suppress(sqlite3.Error):
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.close()
        if self._file != _identity(self._path) and self._wal == _identity(self._wal_path):
            for suffix in ("-wal", "-shm"):
                with suppress(OSError):
                    Path(f"{self._path}{suffix}").unlink()

    @property
    def _wal_path(self) -> Path:
        return Path(f"{self._path}-wal")

    def _write(self, connection: sqlite3.Connection, batch: RecordBatch) -> None:
        with _transaction(connection):
            self._make_room(connection, len(batch.records) * _PACKED.size)
            lost = batch.lost.copy()
            for at in range(0, len(batch.records), _BLOCK_RECORDS):
                part = batch.records[at : at + _BLOCK_RECORDS]
                if unkept := len(part) - self._add_block(connection, part):
                    lost["cannot be kept"] += unkept
            self._add_beside(connection, batch, lost)
            _join_blocks(connection)

    def _add_block(self, connection: sqlite3.Connection, records: list[Record]) -> int:
        """Add records as one block. Return how many: one that cannot be packed must not keep out the others."""
        packed: list[bytes] = []
        times: list[float] = []
        for one in records:
            with suppress(ValueError, TypeError, OverflowError, struct.error):
                moment = _sane_time(one.time)
                packed.append(self._pack(connection, one, moment))
                times.append(moment)
        if packed:
            connection.execute(_INSERT, (None, min(times), max(times), len(packed), b"".join(packed)))
        return len(packed)

    def _pack(self, connection: sqlite3.Connection, record: Record, moment: float) -> bytes:
        values = [
            moment,
            record.answer,
            *record[_NUMBERS],
            *(self._number(connection, str(one)) for one in record[_NAMES]),
            record.highlights,
            OUTCOMES.index(record.outcome),
            ARMS.index(record.arm),
            KINDS.index(record.kind),
            OUTCOMES.index(record.trial_outcome) if record.trial_outcome else NOT_TRIED,
            *record[_FLAGS],
        ]
        try:
            return _PACKED.pack(*values)
        except struct.error:  # four gigabytes, or more than an hour
            most = [_MOST.get(name, values[at]) for at, (name, _) in enumerate(LAYOUT)]
            return _PACKED.pack(*(min(max(one, 0), limit) for one, limit in zip(values, most, strict=True)))

    def _number(self, connection: sqlite3.Connection, text: str) -> int:
        """Return the number of a name. There are only so many: one more is counted among the others."""
        if (known := self._names.get(text)) is not None:
            return known
        found = connection.execute("SELECT id FROM names WHERE text = ?", (text,)).fetchone()
        if found is None:
            count: int = connection.execute("SELECT coalesce(max(id), 0) FROM names").fetchone()[0]
            if count >= self._max_names and text != OTHER:
                return self._number(connection, OTHER)
            connection.execute("INSERT INTO names (text) VALUES (?)", (text,))
            found = connection.execute("SELECT id FROM names WHERE text = ?", (text,)).fetchone()
        if len(self._names) < _MAX_NAMES:
            self._names[text] = found[0]
        return found[0]

    # Bounds

    def _make_room(self, connection: sqlite3.Connection, needed: int) -> None:
        """Delete the oldest records where the file is nearly full. What they took is used again, so it does not grow."""
        most = self._max_bytes * _FULL_SHARE - needed
        if _used_bytes(connection) < most:
            return
        most -= self._max_bytes * _PRUNED_SHARE  # so that not every batch has to make room
        for (number,) in connection.execute("SELECT id FROM blocks ORDER BY id").fetchall():
            if _used_bytes(connection) < most:
                break
            connection.execute("DELETE FROM blocks WHERE id = ?", (number,))
        for table in ("samples", "losses"):
            connection.execute(f"DELETE FROM {table} WHERE time < (SELECT min(first) FROM blocks)")  # noqa: S608

    def _prune_by_age(self, connection: sqlite3.Connection) -> None:
        """Delete what is too old. A clock that was set, or by which all records are old, is believed after a day."""
        now = time.time()
        clock, known = now - time.monotonic(), self._clock
        before = now - self._max_days * 86_400
        newest: float | None = connection.execute(
            "SELECT max(last) FROM blocks WHERE last <= ?", (now,)
        ).fetchone()[0]
        if abs(clock - known) > _CLOCK_SECONDS or (newest is not None and newest < before):
            self._clock, self._prune_at = clock, time.monotonic() + _DOUBT_SECONDS
            return
        self._prune_at = time.monotonic() + _PRUNE_SECONDS
        connection.execute("DELETE FROM blocks WHERE last < ?", (before,))
        for table in ("samples", "losses", "catalogs"):
            connection.execute(f"DELETE FROM {table} WHERE time < ?", (before,))  # noqa: S608

    def _add_beside(
        self, connection: sqlite3.Connection, batch: RecordBatch, lost: Mapping[str, int]
    ) -> None:
        """Add what is no record of an answer."""
        now = time.time()
        for upstream, tools in batch.catalogs.items():
            name = kept_name(upstream)
            connection.execute("DELETE FROM catalogs WHERE upstream = ?", (name,))
            rows = [(name, tool, tokens, now) for tool, tokens in _kept_tools(tools, self._max_tools)]
            connection.executemany("INSERT INTO catalogs VALUES (?, ?, ?, ?)", rows)
        connection.executemany("INSERT INTO samples VALUES (?, ?, ?, ?, ?)", batch.samples)
        losses = [(now, count, reason) for reason, count in lost.items()]
        connection.executemany("INSERT INTO losses VALUES (?, ?, ?)", losses)
        if batch.exhibits:
            _add_exhibits(connection, batch.exhibits, self._max_bytes // _EXHIBIT_SHARE, now)


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Generator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _make_tables(connection: sqlite3.Connection) -> None:
    with _transaction(connection):
        if _check_tables(connection, may_be_new=True) == 0:
            for statement in _SCHEMA.strip().split(";\n"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute(_EXHIBITS)


def _add_exhibits(
    connection: sqlite3.Connection, exhibits: list[Exhibit], most_bytes: int, now: float
) -> None:
    """Add exhibits, and delete those that are smaller than others of their hour, too many, or too old."""
    marks = ", ".join("?" * len(Exhibit._fields))
    connection.executemany(f"INSERT OR REPLACE INTO exhibits VALUES ({marks})", exhibits)  # noqa: S608
    for hour in {one.hour for one in exhibits}:
        connection.execute(
            "DELETE FROM exhibits WHERE hour = :hour AND rowid NOT IN "
            "(SELECT rowid FROM exhibits WHERE hour = :hour ORDER BY tokens DESC LIMIT :most)",
            {"hour": hour, "most": EACH_HOUR},
        )
    connection.execute("DELETE FROM exhibits WHERE time < ?", (now - MAX_DAYS * 86_400,))
    sizes = connection.execute(
        "SELECT rowid, length(arguments) + length(sent) FROM exhibits ORDER BY time DESC"
    ).fetchall()
    together = 0
    for at, (number, size) in enumerate(sizes):
        together += 4 * size  # so many bytes a character may take
        if at >= MOST or together > most_bytes:
            connection.execute("DELETE FROM exhibits WHERE rowid = ?", (number,))


def kept_exhibits(path: Path, time: float, tokens: int) -> list[Exhibit]:
    """Return what a file keeps of the answers of a moment with so many tokens: as a rule of one, or of none."""
    if not path.exists():
        return []
    with opened_records(path) as connection:
        try:
            query = "SELECT * FROM exhibits WHERE time = ? AND tokens = ?"
            return [Exhibit(*one) for one in connection.execute(query, (time, tokens))]
        except sqlite3.OperationalError:  # a file of before there were exhibits
            return []


def _join_blocks(connection: sqlite3.Connection) -> None:
    """Join small blocks to larger ones where there are many. Each keeps its place: the oldest records go first."""
    small = f"FROM blocks WHERE records < {_BLOCK_RECORDS}"
    if connection.execute(f"SELECT count(*) {small}").fetchone()[0] <= _MANY_BLOCKS:
        return
    for first, last in _runs(connection.execute(f"SELECT id, records {small} ORDER BY id").fetchall()):
        these = f"{small} AND id BETWEEN {first} AND {last}"
        found = connection.execute(f"SELECT min(first), max(last), sum(records) {these}").fetchone()
        joined = b"".join(data for (data,) in connection.execute(f"SELECT data {these} ORDER BY id"))
        connection.execute(f"DELETE {these}")
        connection.execute(_INSERT, (first, *found, joined))


def _runs(blocks: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the first and last of the blocks that make a large one together; the newest may make a small one."""
    first, together = blocks[0][0], 0
    for at, (number, records) in enumerate(blocks):
        together += records
        if together >= _BLOCK_RECORDS or at == len(blocks) - 1:
            yield first, number
            first, together = blocks[min(at + 1, len(blocks) - 1)][0], 0


def _sane_time(seconds: float) -> float:
    """Return a time that can be ordered. A clock may stand before 1970; what is no number is refused."""
    if math.isnan(seconds):
        raise ValueError("the time is not a number")
    return min(max(float(seconds), 0.0), _MAX_TIME)


def _kept_tools(tools: Mapping[str, int], most: int) -> list[tuple[str, int]]:
    """Return the tools that cost most, and the others together."""
    together: Counter[str] = Counter()
    for tool, tokens in tools.items():
        together[kept_name(tool)] += tokens
    kept = together.most_common(most)
    rest = together.total() - sum(tokens for _, tokens in kept)
    return [*kept, (OTHER, rest)] if rest else kept


def _used_bytes(connection: sqlite3.Connection) -> int:
    pages: int = connection.execute("PRAGMA page_count").fetchone()[0]
    free: int = connection.execute("PRAGMA freelist_count").fetchone()[0]
    return (pages - free) * _PAGE_BYTES


def is_damaged(error: Exception) -> bool:
    """Return whether an error means that the file is not what it should be, and not that it cannot be written now."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def losses_in(connection: sqlite3.Connection, since: float, until: float) -> Iterable[tuple[str, int]]:
    """Return how many records were lost in a time, by reason."""
    return connection.execute(
        "SELECT reason, sum(records) FROM losses WHERE time >= ? AND time < ? GROUP BY reason ORDER BY 2 DESC",
        (since, until),
    ).fetchall()
