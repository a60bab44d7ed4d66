"""The text of a query: names with dots are quoted, names that do not exist are refused, errors say what there is."""

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from itertools import pairwise
from typing import Final

from brimgate.engine.document import one_line
from brimgate.engine.sql.places import MAIN
from brimgate.engine.sql.tables import LINES, SqlTable
from brimgate.errors import BadRequest

_TOKEN: Final = re.compile(
    r"""(?P<text>'(?>(?:[^']|'')*)'?)|(?P<quoted>"(?>(?:[^"]|"")*)"?|`(?>(?:[^`]|``)*)`?|\[[^\]]*+\]?)"""
    r"""|(?P<comment>--[^\n]*|/\*(?:[\s\S]*?\*/|[\s\S]*))|(?P<name>[^\W\d][\w$]*+(?:\.[^\W\d][\w$]*+)*)"""
    r"""|(?P<number>\d[\w.]*+)|(?P<other>\s++|[\s\S])"""
)
"""What is not closed goes on to the end, so that reading it takes a time in proportion to it."""
_SCHEMA_CHARS: Final = 1_200
_ALL_TABLES: Final = "… (all: SELECT * FROM tables)"
_MAX_COLUMNS: Final = 60
_WORDS: Final = """
    select distinct all from join on where and or not in like glob regexp between is having by then else when case with
    recursive union intersect except values limit offset over filter partition rows range cast exists using order group
"""
_KEYWORDS: Final = frozenset(_WORDS.split())
"""Words behind which a name is used, not given."""
_NO_COLUMN: Final = re.compile(r"no such (column|table|function): (.+)")
_REFUSED_FUNCTION: Final = re.compile(r"not authorized to use function: (\w+)")
_MAX_JOINS: Final = 6
_FEW_TABLES: Final = 4
_TABLES: Final = "tables"
"""The table of tables."""
_PLAIN_NAME: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_ONLY_SELECT: Final = "only SELECT (and WITH … SELECT) can be run, on the tables below"


def prepared(sql: str, tables: Sequence[SqlTable]) -> str:
    """Return a query as SQLite reads it. Raise BadRequest if it names what does not exist.

    `price.total` is the column "price.total", unless `price` is a table of the query. SQLite takes a name in double
    quotes that it does not know for a text, and finds nothing; in back quotes it is a name whatever there is.
    """
    if "\0" in sql:
        raise BadRequest("query has a zero character")
    columns = {column.name.lower(): column.name for table in tables for column in table.columns}
    known = {table.name.lower() for table in tables} | {table.word.lower() for table in tables if table.word}
    tokens = list(_tokens(sql))
    aliases = set(_aliases(tokens))
    parts: list[str] = []
    for kind, text in tokens:
        if kind == "name" and "." in text:
            text = _dotted(text, columns, known | aliases)
        elif kind == "quoted":
            _check_quoted(text, columns.keys() | known | aliases, tables)
            text = _quote(_bare(text))
        parts.append(text)
    return "".join(parts)


def _tokens(sql: str) -> Iterator[tuple[str, str]]:
    for match in _TOKEN.finditer(sql):
        yield str(match.lastgroup), match[0]


def _aliases(tokens: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Return the names that a query gives to something: behind AS, before AS in WITH, or behind another name."""
    words = [(kind, text) for kind, text in tokens if kind != "comment" and not text.isspace()]
    for (kind, text), (following, after) in pairwise(words):
        low = text.lower()
        is_named = kind in ("name", "quoted") and low not in _KEYWORDS
        if following in ("name", "quoted") and (is_named or text == ")"):
            yield _bare(after).lower()
        if after.lower() == "as" or (after == "(" and kind in ("name", "quoted")):
            yield _bare(text).lower()
    yield from _listed(words)


def _listed(words: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Return the names of columns in `WITH name(a, b) AS`."""
    for at, (kind, _) in enumerate(words[:-1]):
        if kind in ("name", "quoted") and words[at + 1][1] == "(":
            inside = at + 2
            while (
                inside + 1 < len(words)
                and words[inside][0] in ("name", "quoted")
                and words[inside + 1][1] in ",)"
            ):
                yield _bare(words[inside][1]).lower()
                if words[inside + 1][1] == ")":
                    break
                inside += 2


def _bare(name: str) -> str:
    if name[:1] in ('"', "`"):
        return name[1:].removesuffix(name[0]).replace(2 * name[0], name[0])
    return name[1:].removesuffix("]") if name[:1] == "[" else name


def _dotted(name: str, columns: dict[str, str], tables: set[str]) -> str:
    low = name.lower()
    first, _, rest = name.partition(".")
    if first.lower() in tables and low not in columns:
        return f"{first}.{_quote(columns[rest.lower()])}" if "." in rest and rest.lower() in columns else name
    if low in columns:
        return _quote(columns[low])
    return _quote(name) if "." in rest else name  # SQLite would only say that there is a syntax error


def _quote(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _check_quoted(token: str, known: set[str], tables: Sequence[SqlTable]) -> None:
    name = _bare(token)
    if token[0] == '"' and name.lower() not in known:
        raise BadRequest(
            one_line(
                f'query: there is no column "{name[:80]}" (a text stands in single quotes){_nearest(name, tables)}'
            )
            + f"; {schema(tables)}"
        )


def explained(reason: str, tables: Sequence[SqlTable], sql: str = "") -> BadRequest:
    """Return what SQLite said of a query, with what may have been meant, and the tables that there are."""
    if refused := _REFUSED_FUNCTION.search(reason):
        reason = (
            f"the function {refused[1]}() cannot be used: texts are joined by ||, numbers written by round()"
        )
    elif "prohibited" in reason:
        reason = "SQLite's own tables cannot be read: SELECT * FROM tables tells what there is"
    elif "not authorized" in reason:
        reason = _ONLY_SELECT
    found = _NO_COLUMN.search(reason)
    nearest = ""
    if found and found[1] == "table":  # all of them are told below
        nearest = " (only texts have lines)" if found[2].lower() == LINES else ""
    elif found:
        nearest = _elsewhere(found[2], tables) or _nearest(found[2], tables)
    return BadRequest(f"query: {one_line(reason[:300])}{nearest}; {schema(tables, sql=sql)}")


def _elsewhere(name: str, tables: Sequence[SqlTable]) -> str:
    """Tell which tables have a column that the one that was asked has not, and how they are joined."""
    owners = _owners(name.lower(), tables) or _owners(name.lower().partition(".")[2], tables)
    if not owners:
        return ""
    joins = [
        f"{one.name}.{one.parent_column} = {one.parent}.{one.parent_number}" for one in tables if one.parent
    ]
    join = f" (join on {', '.join(joins[:_MAX_JOINS])})" if joins else ""
    shown = ", ".join(f"{one.name}{_place(one)}" for one in owners[:_MAX_JOINS])
    return f": it is a column of {shown}{join}"


def _owners(column: str, tables: Sequence[SqlTable]) -> list[SqlTable]:
    """Return the tables that have a column, or one that ends with that name; not those that tell what there is."""
    told = [one for one in tables if one.name != _TABLES]
    own = [one for one in told if any(known.name.lower() == column for known in one.columns)]
    return own or [
        one
        for one in told
        if column and any(known.name.lower().endswith(f".{column}") for known in one.columns)
    ]


def _place(table: SqlTable) -> str:
    return f" = {table.of}" if table.of.startswith("/") and table.of != "/" else ""


def _nearest(name: str, tables: Sequence[SqlTable]) -> str:
    """Return the columns whose names are most like one that does not exist."""
    names = {
        column.name.lower(): column.name
        for table in tables
        if table.name != _TABLES
        for column in table.columns
    }
    low = name.lower()
    bare = low.rpartition(".")[2]
    ends = [known for known in names if known.rpartition(".")[2] == bare]
    close = dict.fromkeys(
        [*ends, *get_close_matches(low, names, 3, 0.6), *get_close_matches(bare, names, 3, 0.7)]
    )
    if not close:
        return ""
    return ", perhaps " + " or ".join(one_line(f'"{names[one]}"') for one in list(close)[:3])


def schema(tables: Sequence[SqlTable], most: int = _SCHEMA_CHARS, sql: str = "") -> str:
    """Return the tables with their columns, in about `most` characters; all tables, and first what a query names."""
    words = {text.lower() for kind, text in _tokens(sql) if kind in ("name", "quoted")} if sql else set[str]()
    asked = [one for one in tables if {one.name.lower(), one.word.lower()} & words] or list(tables[:1])
    parts: list[str] = []
    for table in tables:
        place = f" = {table.word}" if table.word == MAIN else _place(table)
        names = f": {_listed_columns(table)}" if table in asked or len(tables) <= _FEW_TABLES else ""
        parts.append(f"{table.name}{place} ({len(table.rows):,} rows){names}")
    text = one_line("tables: " + "; ".join(parts))
    if len(text) <= most:
        return text
    # Where each table is costs little, and is what nobody can guess; its columns may be cut.
    return one_line("tables: " + "; ".join(sorted(parts, key=lambda part: ": " in part)))[:most] + _ALL_TABLES


def _listed_columns(table: SqlTable) -> str:
    names = [column.name for column in table.columns]
    return ", ".join(map(_shown, names[:_MAX_COLUMNS])) + (", …" if len(names) > _MAX_COLUMNS else "")


def _shown(name: str) -> str:
    return name if _PLAIN_NAME.fullmatch(name) else f'"{name}"'
