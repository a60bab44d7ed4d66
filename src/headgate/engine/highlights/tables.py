"""Rows out of whatever holds rows: a JSON list, JSON lines, CSV, a text table, the repr of a Python list."""

import ast
import csv
import re
from dataclasses import dataclass
from typing import Any, Final, cast

import msgspec

from headgate.engine.source import Source
from headgate.engine.textkind import TextKind

_MAX_REPR_BYTES: Final = 2_000_000
_MAX_CELL_CHARS: Final = 100_000
_RULE: Final = re.compile(r"[\s|+:=-]+\Z")

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Rows:
    rows: list[Row]
    places: list[int]
    unit: str


def read_rows(source: Source) -> Rows | list[str] | None:
    """Rows, or the strings of a list of strings, or None when it holds neither."""
    if source.is_json:
        return _of_values(_decode(source.data), "item") if source.head(source.root) == b"[" else None
    match source.long_text.kind:
        case TextKind.JSON_LINES:
            return _of_json_lines(source.data)
        case TextKind.CSV | TextKind.MARKDOWN:
            return _of_delimited(source.data.decode("utf-8", "replace"))
        case TextKind.REPR:
            return _of_values(_literal(source.data), "item")
        case _:
            return None


def _decode(data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, ValueError):
        return None


def _literal(data: bytes) -> Any:
    if len(data) > _MAX_REPR_BYTES:
        return None
    try:
        return ast.literal_eval(data.decode("utf-8", "replace").strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None


def _of_values(values: Any, unit: str) -> Rows | list[str] | None:
    if not isinstance(values, (list, tuple)):
        return None
    items = cast("list[Any]", list(cast("list[Any]", values)))
    kinds = [type(item) for item in items]
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


def _of_delimited(text: str) -> Rows | None:
    """CSV, or a table drawn with bars; the first row names the columns."""
    lines = text.split("\n")
    bars = sum("|" in line for line in lines[:60])
    if bars > 0.6 * min(len(lines), 60):
        return _with_header([(n, _barred(line)) for n, line in enumerate(lines, 1) if "|" in line and not _RULE.match(line)])
    delimiter = max(",\t;", key=lambda mark: lines[0].count(mark))
    if not lines[0].count(delimiter):
        return None
    csv.field_size_limit(_MAX_CELL_CHARS)
    reader = csv.reader(lines, delimiter=delimiter)
    numbered: list[tuple[int, list[str]]] = []
    try:
        at = 1
        for cells in reader:
            numbered.append((at, cells))
            at = reader.line_num + 1
    except csv.Error:
        pass
    return _with_header(numbered)


def _barred(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _with_header(numbered: list[tuple[int, list[str]]]) -> Rows | None:
    if len(numbered) < 4:
        return None
    (_, names), *body = numbered
    body = [(number, cells) for number, cells in body if cells and len(cells) >= len(names) / 2]
    rows = [dict(zip(names, cells, strict=False)) for _, cells in body]
    return Rows(cast("list[Row]", rows), [number for number, _ in body], "line")
