"""Find rows by words: with SQLite's full-text index, or a scan where SQLite was built without it.

Either gives a subselect of `row` and `rank`, the best rank lowest.
"""

import re
import sqlite3
from typing import Final

INDEXED: Final = {"nodes": ("name", "summary"), "facts": ("name", "fact")}
"""The searched columns, by table."""
_WORD: Final = re.compile(r"\w+")
_MOST_WORDS: Final = 64
_SHORTEST_PREFIX: Final = 4
_INDEX: Final = """
    CREATE VIRTUAL TABLE IF NOT EXISTS {table}_text
        USING fts5({names}, content={table}, content_rowid=row, tokenize='porter unicode61 remove_diacritics 2');
    INSERT INTO {table}_text({table}_text) VALUES ('rebuild');
    CREATE TRIGGER IF NOT EXISTS {table}_added AFTER INSERT ON {table} BEGIN
        INSERT INTO {table}_text(rowid, {names}) VALUES (new.row, {new});
    END;
    CREATE TRIGGER IF NOT EXISTS {table}_removed AFTER DELETE ON {table} BEGIN
        INSERT INTO {table}_text({table}_text, rowid, {names}) VALUES ('delete', old.row, {old});
    END;
    CREATE TRIGGER IF NOT EXISTS {table}_changed AFTER UPDATE ON {table} BEGIN
        INSERT INTO {table}_text({table}_text, rowid, {names}) VALUES ('delete', old.row, {old});
        INSERT INTO {table}_text(rowid, {names}) VALUES (new.row, {new});
    END;
"""
Selected = tuple[str, list[str]]


def words_of(query: str) -> list[str]:
    return _WORD.findall(query.lower())[:_MOST_WORDS]


def has_full_text(database: sqlite3.Connection) -> bool:
    return bool(database.execute("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'").fetchone())


class FullText:
    """Builds the index at the first search, so that startup does not wait for it; triggers keep it up to date."""

    def __init__(self, database: sqlite3.Connection) -> None:
        known = database.execute("SELECT 1 FROM sqlite_master WHERE name = 'nodes_text'").fetchone()
        if not known:
            script = "".join(_index_script(table, columns) for table, columns in INDEXED.items())
            database.executescript(f"BEGIN IMMEDIATE; {script} COMMIT;")

    def select(self, table: str, words: list[str]) -> Selected:
        terms = [f'"{word}"*' if len(word) >= _SHORTEST_PREFIX else f'"{word}"' for word in words]
        text = f"SELECT rowid AS row, rank FROM {table}_text WHERE {table}_text MATCH ?"  # noqa: S608  # our names
        return text, [" OR ".join(terms)]


def _index_script(table: str, columns: tuple[str, ...]) -> str:
    return _INDEX.format(
        table=table, names=", ".join(columns), old=_of("old", columns), new=_of("new", columns)
    )


def _of(whose: str, columns: tuple[str, ...]) -> str:
    return ", ".join(f"{whose}.{column}" for column in columns)


class Scan:
    """Ranks by how many of the words occur."""

    def select(self, table: str, words: list[str]) -> Selected:
        text = " || ' ' || ".join(INDEXED[table])
        hits = " + ".join(f"({text} LIKE ?)" for _ in words)
        patterns = [f"%{word.replace('_', '')}%" for word in words]
        return f"SELECT row, -({hits}) AS rank FROM {table} WHERE rank < 0", patterns  # noqa: S608  # our names
