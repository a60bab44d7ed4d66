"""Which calls of jmunch-mcp come nearest to a query in SQL, and which read on; its tools take a handle for the answer."""

import re
from collections.abc import Iterator
from typing import Any, Final

_PAGE_LINES: Final = 50
_PAGE_ROWS: Final = 25
_FIGURE: Final = re.compile(r"\b(count|sum|avg|min|max)\s*\(\s*(\*|[\w.]+)\s*\)", re.IGNORECASE)
_QUERY: Final = re.compile(
    r"\s*select\s+(?P<what>.+?)\s+from\s+t(?:\s+where\s+(?P<where>.+?))?(?:\s+group\s+by\s+(?P<group>[\w., ]+?))?"
    r"(?:\s+order\s+by\s+(?P<order>.+?))?(?:\s+limit\s+(?P<limit>\d+))?[\s;]*",
    re.IGNORECASE | re.DOTALL,
)
_COLUMN: Final = re.compile(r"(?P<value>.+?)(?:\s+as\s+(?P<alias>\w+))?", re.IGNORECASE | re.DOTALL)
_EQUALITY: Final = re.compile(r"(\w+)\s*=\s*(?:'[^']*'|[\d.]+|true|false)", re.IGNORECASE)
_STRING_OR_PATH: Final = re.compile(r"'[^']*'|\b([A-Za-z_]\w*)\.([A-Za-z_][\w.]*)")

Call = tuple[str, dict[str, Any]]


def calls(sql: str) -> list[Call]:
    """Write a query over one table as calls, without the handle; none if it cannot be asked.

    A call gives one figure, grouped by one column, or the rows of which something is true. A figure over some of the
    rows cannot be asked, but it is one of the groups if a column has to have a value. What selects rows is put after
    WHERE as it is, so that it takes ORDER BY and functions of SQLite, although the definition does not say so.
    """
    asked = _QUERY.fullmatch(sql)
    if asked is None:
        return []
    names = _names(asked["what"])
    figures: list[tuple[str, str]] = _FIGURE.findall(asked["what"])
    if not figures:
        selector = _in_json(asked["where"] or "1=1")
        selector += f" ORDER BY {_in_json(_named(asked['order'], names))}" if asked["order"] else ""
        most = {"max_rows": int(asked["limit"])} if asked["limit"] else {}
        return [("jmunch_slice", {"selector": selector} | most)]
    group = asked["group"]
    if asked["where"]:
        equality = None if group else _EQUALITY.fullmatch(asked["where"].strip())
        if equality is None:
            return []
        group = equality[1]
    if group and "," in group:
        return []
    grouped = {"group_by": _named(group, names)} if group else {}
    return [
        ("jmunch_aggregate", {"op": name.lower()} | ({} if field == "*" else {"field": field}) | grouped)
        for name, field in figures
    ]


def selectors(kind: str, summary: dict[str, Any]) -> Iterator[str]:
    """Yield what selects one part after another: lines, rows, and of a tree the members of its root that are shown."""
    if kind == "text":
        for line in range(1, summary["line_count"] + 1, _PAGE_LINES):
            yield f"{line}-{line + _PAGE_LINES - 1}"
    elif kind == "tabular":
        for row in range(1, summary["row_count"] + 1, _PAGE_ROWS):
            yield f"rowid BETWEEN {row} AND {row + _PAGE_ROWS - 1}"
    else:
        yield from (f"$['{key}']" for key in summary.get("top_level_keys", ()))
        yield from (f"$[{number}]" for number in range(summary.get("length", 0)))


def _names(what: str) -> dict[str, str]:
    """Give what the numbers and the names after AS stand for."""
    names: dict[str, str] = {}
    for number, text in enumerate(re.split(r",(?![^(]*\))", what), 1):
        column = _COLUMN.fullmatch(text.strip())
        if column:
            names[str(number)] = column["value"]
            names[column["alias"] or column["value"]] = column["value"]
    return names


def _named(text: str, names: dict[str, str]) -> str:
    """Write the column for the number or the name that a text such as `2 DESC` begins with."""
    first, *rest = text.split(maxsplit=1)
    return " ".join([names.get(first, first), *rest])


def _in_json(text: str) -> str:
    """Write `price.total` as the place in the JSON text that jmunch-mcp has in the column `price`; strings stay."""

    def written(found: re.Match[str]) -> str:
        return f"json_extract({found[1]}, '$.{found[2]}')" if found[1] else found[0]

    return _STRING_OR_PATH.sub(written, text)
