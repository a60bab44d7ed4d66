"""Read rows from a JSON list, JSON lines, CSV, a text table or the repr of a Python list."""

import ast
import csv
import re
from dataclasses import dataclass
from typing import Any, Final, cast

import msgspec

from brimgate.engine import jsontext
from brimgate.engine.document import Document
from brimgate.engine.textkind import TextKind

_MAX_REPR_BYTES: Final = 200_000
"""Python's own reader takes a second for a megabyte."""
_STRING: Final = re.compile(r"""('[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*")""", re.DOTALL)
_TOKEN: Final = re.compile(_STRING.pattern + r"|[\[\](){},\n]|[^\s\[\](){},'\"]+", re.DOTALL)
_OPENING, _CLOSING = ("[", "(", "{"), ("]", ")", "}")
_MAX_SCANNED: Final = 1 << 20
_LAST_COMMA: Final = re.compile(r",(\s*[\]}])")
_MARK: Final = "\0"
_MAX_CELL_CHARS: Final = 100_000
_RULE: Final = re.compile(r"[\s|+:=-]+\Z")

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Rows:
    rows: list[Row]
    places: list[int]
    unit: str


def read_rows(document: Document) -> Rows | list[str] | None:
    """Return rows, or the strings of a list of strings, or None when there are neither."""
    if document.is_json:
        return _of_values(_decode(document.data), "item") if document.head(document.root) == b"[" else None
    match document.long_text.kind:
        case TextKind.JSON_LINES:
            return _of_json_lines(document.data)
        case TextKind.CSV | TextKind.MARKDOWN:
            return _of_delimited(document.data.decode("utf-8", "replace"))
        case TextKind.REPR:
            return _of_repr(document.data)
        case _:
            return None


def _decode(data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, ValueError):
        return None


def _literal(data: bytes) -> Any:
    """Return the value of a Python repr. Reads it as JSON where possible, which is ten times faster."""
    text = data.decode("utf-8", "replace").strip()
    try:
        return msgspec.json.decode(_as_json(text))
    except (msgspec.DecodeError, RecursionError, ValueError, SyntaxError):
        pass
    try:
        return ast.literal_eval(text) if len(data) <= _MAX_REPR_BYTES else None
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None


def _of_repr(data: bytes) -> Rows | None:
    """Return the items of a Python list by the lines on which they begin: it is a text, and has no paths."""
    values = _literal(data)
    found = _of_values(values, "line")
    if isinstance(found, list):
        found = Rows([{"value": value} for value in found], list(range(len(found))), "line")
    lines = _item_lines(data.decode("utf-8", "replace"), len(values)) if found else None
    return Rows(found.rows, [lines[at] for at in found.places], "line") if found and lines else None


def _item_lines(text: str, count: int) -> list[int] | None:
    """Return the line, from 1, on which each of `count` items of a list begins; None if that is not clear."""
    if "\n" not in text.strip():
        return [text[: len(text) - len(text.lstrip())].count("\n") + 1] * count
    if len(text) > _MAX_SCANNED:
        return None
    lines: list[int] = []
    line, depth, awaited = 1, 0, False
    for mark in _TOKEN.finditer(text):
        if mark[0] == "\n":
            line += 1
            continue
        if awaited and mark[0] not in _CLOSING:
            lines.append(line)
        awaited = depth == 1 and mark[0] == ","
        if mark[0] in _OPENING:
            depth += 1
            awaited = depth == 1
        elif mark[0] in _CLOSING:
            depth -= 1
    return lines if len(lines) == count else None


def _as_json(text: str) -> str:
    """Rewrite a Python repr as JSON. Sets strings aside, so that everything between them can be replaced at once."""
    parts = _STRING.split(text)
    between = _MARK.join(parts[::2]).replace("(", "[").replace(")", "]")
    for python, name in (("None", "null"), ("True", "true"), ("False", "false")):
        between = between.replace(python, name)
    outside = _LAST_COMMA.sub(r"\1", between).split(_MARK)
    if len(outside) != len(parts[::2]):
        raise ValueError("a mark in the text")
    parts[::2] = outside
    parts[1::2] = [_as_json_string(part) for part in parts[1::2]]
    return "".join(parts)


def _as_json_string(string: str) -> str:
    inner = string[1:-1]
    if "\\" in inner:
        return jsontext.quote(ast.literal_eval(string))
    return f'"{inner}"' if '"' not in inner else jsontext.quote(inner)


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


def _of_delimited(text: str) -> Rows | None:
    """Read CSV, or a table drawn with bars; the first row names the columns."""
    lines = text.split("\n")
    bars = sum("|" in line for line in lines[:60])
    if bars > 0.6 * min(len(lines), 60):
        places = [at for at, line in enumerate(lines, 1) if "|" in line and not _RULE.match(line)]
        return _with_header(places, [_barred(lines[at - 1]) for at in places])
    delimiter = max(",\t;", key=lambda mark: lines[0].count(mark))
    if not lines[0].count(delimiter):
        return None
    csv.field_size_limit(_MAX_CELL_CHARS)
    reader = csv.reader(lines, delimiter=delimiter)
    places = [1]
    table: list[list[str]] = []
    try:
        for cells in reader:
            table.append(cells)
            places.append(reader.line_num + 1)
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
