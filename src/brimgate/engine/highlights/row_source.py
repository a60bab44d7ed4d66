"""Read rows from a JSON list, JSON lines, CSV or a text table."""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, cast

import msgspec

from brimgate.engine.document import Document
from brimgate.engine.textkind import TextKind, head_lines

_MAX_CELL_CHARS: Final = 100_000
_RULE: Final = re.compile(r"[\s|+:=-]+\Z")

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Rows:
    rows: list[Row]
    places: list[int]
    unit: str
    inner: frozenset[str] = frozenset()
    """The columns that are tables of their own, and are looked at as such."""
    names: Sequence[str] = ()
    """What each row is called, if not by its line."""
    is_sample: bool = False
    """Whether rows are missing between these, so that nothing can be said of their order."""

    def are_siblings(self, one: int, other: int) -> bool:
        """Return whether two rows are items of the same list."""
        return not self.names or self.names[one].rpartition("/")[0] == self.names[other].rpartition("/")[0]

    def name(self, row: int) -> str:
        return self.names[row] if self.names else f"line {self.places[row]}"


def read_rows(document: Document) -> Rows | list[str] | None:
    """Return rows, or the strings of a list of strings, or None when there are neither."""
    if document.is_json:
        return (
            _of_values(decode_oddly(document.data), "item") if document.head(document.root) == b"[" else None
        )
    match document.long_text.kind:
        case TextKind.JSON_LINES:
            return _of_json_lines(document.data)
        case TextKind.CSV | TextKind.MARKDOWN as kind:
            text = document.data.decode("utf-8", "replace")
            return _of_bars(text) or (_of_delimited(text) if kind is TextKind.CSV else None)
        case _:
            return None


def _decode(data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, ValueError):
        return None


def decode_oddly(data: bytes) -> Any:
    """Decode a list with a number such as 1e400: JSON by its grammar, but no number of any program."""
    value = _decode(data)
    if value is not None:
        return value
    from brimgate.engine.odd_json import reading

    return _decode(reading(data) or b"")


def _of_values(values: Any, unit: str) -> Rows | list[str] | None:
    if not isinstance(values, (list, tuple)):
        return None
    items = list(cast("list[Any]", values))
    kinds: list[type] = [type(item) for item in items]
    half = len(items) / 2
    if kinds.count(dict) > half:
        at = [place for place, kind in enumerate(kinds) if kind is dict]
        return Rows([items[place] for place in at], at, unit)
    if kinds.count(str) > half and kinds.count(str) == len(items):
        return items
    if kinds.count(list) + kinds.count(tuple) > half:
        at = [place for place, kind in enumerate(kinds) if kind in (list, tuple)]
        return Rows([_cells(items[place]) for place in at], at, unit)
    return Rows([{"value": item} for item in items], list(range(len(items))), unit)


def _cells(values: list[Any]) -> Row:
    return {f"[{at}]": value for at, value in enumerate(values[:64])}


def _of_json_lines(data: bytes) -> Rows | None:
    rows: list[Row] = []
    places: list[int] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        row = _decode(line) if line.lstrip()[:1] == b"{" else None
        if isinstance(row, dict):
            rows.append(cast("Row", row))
            places.append(number)
    return Rows(rows, places, "line") if rows else None


def _of_bars(text: str) -> Rows | None:
    """Read a table drawn with bars; the first row names the columns."""
    lines = text.split("\n")
    if sum("|" in line for line in lines[:60]) <= 0.6 * min(len(lines), 60):
        return None
    places = [at for at, line in enumerate(lines, 1) if "|" in line and not _RULE.match(line)]
    return _with_header(places, [_barred(lines[at - 1]) for at in places])


def _of_delimited(text: str) -> Rows | None:
    """Read CSV; the first row below comments names the columns."""
    lines = text.split("\n")
    head = head_lines(line.encode() for line in lines)
    delimiter = max(",\t;", key=lines[head].count) if head < len(lines) else ""
    if not delimiter or delimiter not in lines[head]:
        return None
    csv.field_size_limit(_MAX_CELL_CHARS)
    reader = csv.reader(islice(lines, head, None), delimiter=delimiter)
    places = [head + 1]
    table: list[list[str]] = []
    try:
        for cells in reader:
            table.append(cells)
            places.append(head + reader.line_num + 1)
    except csv.Error:
        pass
    return _with_header(places[: len(table)], table)


def _barred(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _with_header(places: list[int], table: list[list[str]]) -> Rows | None:
    if len(table) < 4:
        return None
    names = table[0]
    full = [at for at in range(1, len(table)) if table[at] and len(table[at]) >= len(names) / 2]
    rows = [dict(zip(names, table[at], strict=False)) for at in full]
    return Rows(cast("list[Row]", rows), [places[at] for at in full], "line")
