"""Run queries over the tables of one answer: SQLite in memory, SELECT only, bounded in time, memory and size."""

import math
import sqlite3
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final

import msgspec

from brimgate.engine.sql import functions
from brimgate.engine.sql.dialect import explained, prepared
from brimgate.engine.sql.places import NUMBER
from brimgate.engine.sql.tables import SqlColumn, SqlTable
from brimgate.errors import BadRequest

SECONDS: Final = 1.0
"""How long a query may take."""
HEAP_BYTES: Final = 80 << 20
"""What SQLite may take in this process, for all tables and queries together."""
MAX_TABLE_BYTES: Final = 56 << 20
_MAX_RESULT_BYTES: Final = 8 << 20
_MIN_LENGTH: Final = 1_000_000
_MANY_STEPS, _FEW_STEPS = 400, 20
"""Steps of SQLite between two looks at the clock; few where a step may have a long text to work on."""
_LONG_TEXT: Final = 50_000
_FETCHED: Final = 200
_MAX_NAMED: Final = 3
_BOOLEAN, _JSON = "BRIM_BOOLEAN", "BRIM_JSON_TEXT"
_TYPES: Final = {"text": "TEXT", "boolean": _BOOLEAN, "json": _JSON}
_LIMITS: Final = {
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_000,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 300,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 60,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 200_000,
}
_READS: Final = frozenset((sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE))
_HIDDEN: Final = ("sqlite_", "pragma_", "dbstat", "bytecode", "tables_used")

sqlite3.register_converter(_BOOLEAN, lambda data: data == b"1")
sqlite3.register_converter(_JSON, msgspec.Raw)


@dataclass(frozen=True, slots=True)
class QueryResult:
    data: bytes
    """The rows, as a JSON list of objects."""
    count: int
    of: str
    """What was asked: `t (500 rows)`."""


class TableDatabase:
    """The tables of one answer, loaded. Safe to use from several threads, one after the other."""

    def __init__(self, tables: Sequence[SqlTable]) -> None:
        self._tables = [*tables, _list_of(tables)]
        self._lock = Lock()
        self._clock = _Clock()
        self._reads = _Reads()
        self._told: list[str] = []
        """Why one of our functions failed."""
        self._connection = sqlite3.connect(
            ":memory:", detect_types=sqlite3.PARSE_DECLTYPES, isolation_level=None, check_same_thread=False,
            cached_statements=0,  # each query is looked at anew, else we would not know which tables it reads
        )  # fmt: skip
        self._connection.execute(f"PRAGMA hard_heap_limit={HEAP_BYTES}")
        self._connection.execute("PRAGMA temp_store=MEMORY")
        self._connection.execute("PRAGMA journal_mode=OFF")
        try:
            for table in self._tables:
                self._load(table)
        except (sqlite3.Error, MemoryError, OverflowError) as error:
            self.close()
            raise BadRequest(
                f"query: this answer is too large to be queried ({error or 'out of memory'}): use search"
            ) from None
        longest = max((_longest(table) for table in self._tables), default=0)
        self.size = self._page_bytes()
        self._absent = {
            table.name: table.present
            for table in self._tables
            if any(one is not None for one in table.present)
        }
        self._main = tables[0].name
        self._keys = {
            column.name: column.key
            for table in self._tables
            for column in table.columns
            if column.name != column.key
        }
        self._names = {column.key for table in self._tables for column in table.columns}
        self._sources = {table.name: len(table.rows) for table in self._tables}
        for table in self._tables:
            table.rows = _Counted(len(table.rows))  # pyright: ignore[reportAttributeAccessIssue]  # SQLite has them now
        self._bound(longest)

    def _load(self, table: SqlTable) -> None:
        names = ", ".join(_declared(column, table.rows, at) for at, column in enumerate(table.columns))
        self._connection.execute(f"CREATE TABLE {_quoted(table.name)} ({names})")
        marks = ",".join("?" * len(table.columns))
        rows = iter(table.rows)
        self._connection.execute("BEGIN")
        while True:
            part = [row for _, row in zip(range(2_000), rows, strict=False)]
            if not part:
                break
            self._connection.executemany(f"INSERT INTO {_quoted(table.name)} VALUES ({marks})", part)  # noqa: S608
            if self._page_bytes() > MAX_TABLE_BYTES:
                raise MemoryError("its tables take too much memory")
        self._connection.execute("COMMIT")
        if table.word:
            named = f"CREATE VIEW {_quoted(table.word)} AS SELECT * FROM {_quoted(table.name)}"  # noqa: S608
            self._connection.execute(named)

    def _page_bytes(self) -> int:
        count = self._connection.execute("PRAGMA page_count").fetchone()[0]
        return count * self._connection.execute("PRAGMA page_size").fetchone()[0]

    def _bound(self, longest: int) -> None:
        """From here on the connection only reads, within its limits."""
        functions.register(self._connection, self._told.append)
        # They are declared at their first use, by what the authorizer would take for a change of the schema.
        self._connection.execute("SELECT count(*) FROM json_each('[]'), json_tree('[]')").fetchall()
        for limit, most in _LIMITS.items():
            self._connection.setlimit(limit, most)
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(_MIN_LENGTH, 2 * longest))
        self._connection.execute("PRAGMA query_only=ON")
        steps = _FEW_STEPS if longest > _LONG_TEXT else _MANY_STEPS
        # Not a method of ours: with a reference back to us, nothing would be freed before the next garbage collection.
        self._connection.set_progress_handler(self._clock.is_over, steps)
        self._connection.set_authorizer(self._reads.authorize)

    def close(self) -> None:
        self._connection.close()

    def __del__(self) -> None:
        """Free the tables when nobody uses them any more: whoever asks now may still do after they are dropped."""
        self.close()

    def run(self, sql: str) -> QueryResult:
        """Run a query. Raise BadRequest with what is wrong and what there is."""
        text = prepared(sql, self._tables)
        with self._lock:
            self._clock.start()
            self._reads.tables.clear()
            try:
                return self._result(text)
            except MemoryError:
                raise BadRequest(
                    "query: it takes too much memory: select fewer rows or columns, or join on n"
                ) from None
            except (sqlite3.Error, sqlite3.Warning, UnicodeEncodeError, ValueError) as error:
                if self._clock.is_over() or "interrupted" in str(error):
                    raise BadRequest(
                        f"query: stopped after {SECONDS:g} s: add a WHERE or a LIMIT, and join tables on n and parent"
                    ) from None
                told = self._told[-1] if self._told else str(error)
                raise explained(told, self._tables, text) from None
            finally:
                self._told.clear()

    def _result(self, text: str) -> QueryResult:
        cursor = self._connection.execute(text)
        try:
            if cursor.description is None:
                raise ValueError("it is empty")
            columns = _unique([self._keys.get(one[0], one[0]) for one in cursor.description])
            count, parts, size = 0, list[bytes](), 0
            for rows in _batches(cursor, self._clock):
                made = [self._row(columns, row) for row in rows]
                parts.append(msgspec.json.encode(made)[1:-1])
                count, size = count + len(rows), size + len(parts[-1])
                if size > max(_MAX_RESULT_BYTES, 3 * self.size):
                    raise ValueError(f"the result is over {size >> 20} MB: select fewer rows or columns")
        finally:
            cursor.close()
        return QueryResult(b"[" + b",".join(parts) + b"]", count, self._read_tables())

    def _read_tables(self) -> str:
        """Name the tables that the query read, with how many rows they have."""
        read = [name for name in self._reads.tables if name in self._sources] or [self._main]
        more = ", …" if len(read) > _MAX_NAMED else ""
        return ", ".join(f"{name} ({self._sources[name]:,} rows)" for name in read[:_MAX_NAMED]) + more

    def _row(self, columns: Sequence[str], row: tuple[Any, ...]) -> dict[str, Any]:
        made = {name: self._shown(name, value) for name, value in zip(columns, row, strict=True)}
        if None in row and (present := self._present(made)) is not None:
            return {
                name: value
                for name, value in made.items()
                if value is not None or name not in self._names or name in present
            }
        return made

    def _present(self, row: dict[str, Any]) -> frozenset[str] | None:
        """Return which fields the row of the answer has that a row of the result shows: others are absent, not null."""
        known = self._absent.get(self._main)
        number = row.get(NUMBER)
        if known is None or type(number) is not int or not 0 <= number < len(known):
            return None
        return known[number]

    def _shown(self, name: str, value: Any) -> Any:
        if type(value) is float:
            if not math.isfinite(value):
                return str(value)
            # A sum of prices ends in 0.0600000001: fifteen digits are what a number is good for.
            return value if name in self._names else float(f"{value:.15g}")
        return f"x'{value.hex()}'" if type(value) is bytes else value


class _Clock:
    """Tells when the time of a query is over."""

    def __init__(self) -> None:
        self._deadline = math.inf

    def start(self) -> None:
        self._deadline = time.monotonic() + SECONDS

    def is_over(self) -> bool:
        return time.monotonic() > self._deadline


class _Counted(Sequence[Any]):
    """The number of rows that were here."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, at: Any) -> Any:
        raise IndexError(at)


def _batches(cursor: sqlite3.Cursor, clock: "_Clock") -> Iterator[list[tuple[Any, ...]]]:
    while rows := cursor.fetchmany(_FETCHED):
        yield rows
        if clock.is_over():
            raise sqlite3.OperationalError("interrupted")


class _Reads:
    """Lets through what reads only, and notes which tables a query reads."""

    def __init__(self) -> None:
        self.tables: dict[str, None] = {}

    def authorize(self, action: int, first: str | None, second: str | None, *_: str | None) -> int:
        if action == sqlite3.SQLITE_FUNCTION:
            return sqlite3.SQLITE_OK if (second or "").lower() in functions.ALLOWED else sqlite3.SQLITE_DENY
        if action not in _READS or (first or "").lower().startswith(_HIDDEN):
            return sqlite3.SQLITE_DENY
        if action == sqlite3.SQLITE_READ and first:
            self.tables[first] = None
        return sqlite3.SQLITE_OK


def _list_of(tables: Sequence[SqlTable]) -> SqlTable:
    """Return the table of tables: what there is to be asked."""
    rows = [
        (table.name, table.of, len(table.rows), column.name, column.kind)
        for table in tables
        for column in table.columns
    ]
    names = ("table", "of", "rows", "column", "kind")
    kinds = ("text", "text", "number", "text", "text")
    return SqlTable(
        "tables",
        "",
        [SqlColumn(name, name, kind) for name, kind in zip(names, kinds, strict=True)],
        list(rows),
    )


def _declared(column: SqlColumn, rows: Sequence[tuple[Any, ...]], at: int) -> str:
    """Return a column with its type: numbers are compared with numbers in quotes, and texts with numbers."""
    kind = _TYPES.get(column.kind, "")
    if column.kind == "number":
        kinds: set[type] = {type(row[at]) for row in rows}
        wide = float in kinds and any(type(row[at]) is int and abs(row[at]) >= 1 << 53 for row in rows)
        kind = "" if wide else "REAL" if float in kinds else "INTEGER"
    return f"{_quoted(column.name)} {kind}"


def _quoted(name: str) -> str:
    text = name.encode("utf-8", "backslashreplace").decode()
    return '"' + text.replace('"', '""') + '"'


def _longest(table: SqlTable) -> int:
    return max((len(value) for row in table.rows for value in row if type(value) is str), default=0)


def _unique(names: Sequence[str]) -> list[str]:
    found: dict[str, None] = {}
    for name in names:
        while name in found:
            name += "_2"
        found[name] = None
    return list(found)
