"""The graph in SQLite: generated once, then read and changed."""

import random
import sqlite3
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final

from brimgate.sandboxes.graphiti.forms import draw_uuid
from brimgate.sandboxes.graphiti.generation import Row, Size, generate
from brimgate.sandboxes.graphiti.search import FullText, Scan, has_full_text, words_of

_PATIENCE_SECONDS: Final = 30.0
_SCHEMA: Final = """
    CREATE TABLE nodes (row INTEGER PRIMARY KEY, uuid TEXT UNIQUE, name TEXT, labels TEXT, created INTEGER,
        summary TEXT, group_id TEXT, attributes TEXT);
    CREATE TABLE facts (row INTEGER PRIMARY KEY, uuid TEXT UNIQUE, group_id TEXT, source_node_uuid TEXT,
        target_node_uuid TEXT, created INTEGER, name TEXT, fact TEXT, episodes TEXT, expired INTEGER, valid INTEGER,
        invalid INTEGER, reference INTEGER, attributes TEXT);
    CREATE TABLE episodes (row INTEGER PRIMARY KEY, uuid TEXT UNIQUE, name TEXT, content TEXT, created INTEGER,
        source TEXT, source_description TEXT, group_id TEXT, saga TEXT);
    CREATE TABLE sagas (row INTEGER PRIMARY KEY, uuid TEXT UNIQUE, name TEXT, group_id TEXT);
    CREATE TABLE origin (seed INTEGER, now INTEGER, added INTEGER);
"""
Near = tuple[str, Sequence[Any]]
"""An expression that is low for rows that come first, and its values."""
ANYWHERE: Final[Near] = ("NULL", ())
_TABLES: Final = ("nodes", "facts", "episodes", "sagas")


class Condition:
    """What rows must match: pieces of SQL and their values."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self.values: list[Any] = []

    def add(self, text: str, *values: Any) -> None:
        self._texts.append(text)
        self.values += values

    def add_any(self, text: str, values: Sequence[Any]) -> None:
        """Require one of the values, each in a copy of the text; no values, no condition."""
        if values:
            self.add(f"({' OR '.join([text] * len(values))})", *values)

    def add_in(self, column: str, values: Sequence[Any]) -> None:
        """Require the column to be one of the values; no values, no condition."""
        if values:
            self.add(f"{column} IN ({', '.join('?' * len(values))})", *values)

    @property
    def where(self) -> str:
        return " AND ".join(self._texts) or "1"


class Store:
    def __init__(
        self, path: str, size: Size, seed: int, now: datetime, search: FullText | Scan | None = None
    ) -> None:
        """Open the store. The kind of search is detected, unless given."""
        # Calls may come from any thread, one at a time: the graph ensures that.
        self._database = sqlite3.connect(
            path, timeout=_PATIENCE_SECONDS, isolation_level=None, check_same_thread=False
        )
        self._database.row_factory = sqlite3.Row
        self._search = search
        try:
            self._prepare(size, seed, now)
        except BaseException:
            self.close()
            raise

    def _prepare(self, size: Size, seed: int, now: datetime) -> None:
        # The data is made up: what a power cut loses is generated again.
        self._database.execute("PRAGMA synchronous = OFF")
        with self.changing():
            if not self._one("SELECT 1 FROM sqlite_master WHERE name = 'origin'"):
                self._fill(size, seed, now)

    def _fill(self, size: Size, seed: int, now: datetime) -> None:
        for statement in _SCHEMA.split(";"):
            self._database.execute(statement)
        rows = generate(size, seed, now)
        for table in _TABLES:
            self._insert(table, getattr(rows, table))
        self._database.execute("INSERT INTO origin VALUES (?, ?, 0)", (seed, int(now.timestamp())))

    def close(self) -> None:
        self._database.close()

    @contextmanager
    def changing(self) -> Generator[None]:
        """Change everything within, or nothing; other processes wait."""
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")

    def _one(self, text: str, values: Sequence[Any] = ()) -> Row | None:
        row: sqlite3.Row | None = self._database.execute(text, values).fetchone()
        return dict(row) if row else None

    def _all(self, text: str, values: Sequence[Any]) -> list[Row]:
        return [dict(row) for row in self._database.execute(text, values)]

    def _insert(self, table: str, rows: Sequence[Row]) -> None:
        if rows:
            columns = list(rows[0])
            slots = ", ".join(f":{column}" for column in columns)
            text = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({slots})"  # noqa: S608  # our names
            self._database.executemany(text, rows)

    def select(self, table: str, condition: Condition, order: str = "row", limit: int = -1) -> list[Row]:
        text = f"SELECT * FROM {table} WHERE {condition.where} ORDER BY {order} LIMIT ?"  # noqa: S608  # our names
        return self._all(text, [*condition.values, limit])

    def find(self, table: str, uuid: str) -> Row | None:
        return self._one(f"SELECT * FROM {table} WHERE uuid = ?", [uuid])  # noqa: S608  # our names

    def search(
        self,
        table: str,
        query: str,
        condition: Condition,
        limit: int,
        near: Near = ANYWHERE,
    ) -> list[Row]:
        """Return the rows that match best, near ones first."""
        words = words_of(query)
        if not words or limit <= 0:
            return []
        if self._search is None:
            self._search = FullText(self._database) if has_full_text(self._database) else Scan()
        ranked, values = self._search.select(table, words)
        text = f"""SELECT {table}.* FROM {table} JOIN ({ranked}) AS found ON found.row = {table}.row
            WHERE {condition.where} ORDER BY {near[0]}, found.rank, {table}.row LIMIT ?"""  # noqa: S608  # our names
        return self._all(text, [*values, *condition.values, *near[1], limit])

    def add(self, table: str, row: Row) -> None:
        """Add a row. It replaces a row with the same uuid."""
        self._database.execute(f"DELETE FROM {table} WHERE uuid = ?", [row["uuid"]])  # noqa: S608  # our names
        self._insert(table, [row])

    def change(self, table: str, uuid: str, column: str, value: Any) -> None:
        self._database.execute(f"UPDATE {table} SET {column} = ? WHERE uuid = ?", [value, uuid])  # noqa: S608

    def remove(self, table: str, condition: Condition) -> None:
        self._database.execute(f"DELETE FROM {table} WHERE {condition.where}", condition.values)  # noqa: S608

    def next_addition(self) -> tuple[str, int]:
        """Return a uuid and a moment for an addition: deterministic, and later than everything before."""
        origin = self._one("UPDATE origin SET added = added + 1 RETURNING seed, now, added")
        assert origin  # noqa: S101  # written when the tables were
        chance = random.Random(f"{origin['seed']}/{origin['added']}")  # noqa: S311  # made-up data, not secrets
        return draw_uuid(chance), origin["now"] + origin["added"]
