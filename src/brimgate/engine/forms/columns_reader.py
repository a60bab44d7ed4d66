"""Read columns: turn what `columns.encode` wrote back into canonical JSON text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from brimgate.engine import jsontext
from brimgate.engine.forms.cells import json_end, read_cell
from brimgate.engine.forms.rows import Path, path_text, read_path
from brimgate.errors import InputError

_TABLE: Final = re.compile(r"(?:table \d+: )?(\d+) rows, (\d[\d, and]*) columns(?:;.*)?\Z")
_WIDTH: Final = re.compile(r"\d+")
_PLACE: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|<table (\d+)>')


def decode(text: str) -> bytes:
    lines = iter(text.split("\n"))
    first = next(lines)
    if _TABLE.match(first):
        return _read_table(first, lines).encode()
    tables: dict[str, str] = {}
    for line in lines:
        tables[f"{len(tables) + 1}"] = _read_table(line, lines)
    return _PLACE.sub(lambda place: tables[place[1]] if place[1] else place[0], first).encode()


def _read_table(head: str, lines: Iterator[str]) -> str:
    found = _TABLE.match(head)
    if found is None:
        raise InputError(f"expected a table, found {head[:40]!r}")
    count = int(found[1])
    widths = [] if found[2] == "0" else _WIDTH.findall(found[2])
    lettered = len(widths) > 1
    headers = [_Header.read(next(lines)[3 if lettered else 0 :]) for _ in widths]
    rows = [_read_row(next(lines), headers, lettered) for _ in range(count)]
    return "[" + ",".join(rows) + "]"


def _read_row(line: str, headers: "list[_Header]", lettered: bool) -> str:
    if line.startswith("= "):
        return line[2:]
    if lettered:
        return headers[ord(line[0]) - ord("A")].row(line, 2)
    return headers[0].row(line, 0)


@dataclass(slots=True)
class _Column:
    name: str
    pieces: list[str] | None = None
    """The formula in the header: JSON strings, column names, `cell`; None when the cell has the whole value."""
    constant: str | None = None

    @property
    def has_cell(self) -> bool:
        return self.constant is None and (self.pieces is None or "cell" in self.pieces)


@dataclass(slots=True)
class _Node:
    """A place in a row: a leaf with its column, or an object or list of further places."""

    column: _Column | None = None
    below: "dict[str | int, _Node]" = field(default_factory=lambda: {})
    nullable: bool = False
    cells: list[str] = field(default_factory=lambda: [])
    """Names of the columns below that have cells."""
    certain: bool = False
    """Something below it holds for every row, so it exists even where all its cells are absent."""


class _Header:
    def __init__(self, columns: list[tuple[Path, _Column]]) -> None:
        self._columns = {column.name: column for _, column in columns}
        self._root = _Node()
        for path, column in columns:
            _place(self._root, path, column)

    @classmethod
    def read(cls, text: str) -> "_Header":
        columns: list[tuple[Path, _Column]] = []
        at = 0
        while True:
            path, at = read_path(text, at)
            column = _Column(path_text(path))
            if text[at : at + 1] in ("=", ":"):
                at = _read_formula(text, at, column)
            columns.append((path, column))
            if at >= len(text):
                return cls(columns)
            at += 1

    def row(self, line: str, at: int) -> str:
        cells: dict[str, str | None] = {}
        for column in self._columns.values():
            if column.has_cell:
                cells[column.name], at = read_cell(line, at)
                at += 1
        return self._write(self._root, cells) or "{}"

    def _write(self, node: _Node, cells: dict[str, str | None]) -> str | None:
        """Return the JSON text at one place of the row, or None when the row does not have it."""
        if node.column is not None:
            return self._resolve(node.column, cells)
        if node.cells and not node.certain and all(cells[name] is None for name in node.cells):
            return None
        if node.nullable and all(cells[name] == "null" for name in node.cells):
            return "null"
        inner = [(key, self._write(child, cells)) for key, child in node.below.items()]
        if isinstance(next(iter(node.below)), int):
            return "[" + ",".join(text or "null" for _, text in inner) + "]"
        return (
            "{"
            + ",".join(f"{jsontext.quote(str(key))}:{text}" for key, text in inner if text is not None)
            + "}"
        )

    def _resolve(self, column: _Column, cells: dict[str, str | None]) -> str | None:
        if column.constant is not None:
            return column.constant
        own = cells.get(column.name)
        if column.pieces is None or (column.has_cell and own in (None, "null")):
            return own
        return jsontext.quote("".join(self._piece(piece, own, cells) for piece in column.pieces))

    def _piece(self, piece: str, own: str | None, cells: dict[str, str | None]) -> str:
        if piece == "cell":
            return _plain(own or "")
        if piece.startswith('"'):
            return _plain(piece)
        return _plain(self._resolve(self._columns[piece], cells) or "")


def _plain(text: str) -> str:
    return jsontext.string_value(text.encode()) if text.startswith('"') else text


def _place(root: _Node, path: Path, column: _Column) -> None:
    node = root
    for step in path:
        if column.has_cell:
            node.cells.append(column.name)
        else:
            node.certain = True
        node = node.below.setdefault(step.key, _Node(nullable=step.nullable))
    node.column = column


def _read_formula(text: str, at: int, column: _Column) -> int:
    """Read what follows a column's name: a constant, or pieces joined by `+`."""
    start = at + 1
    pieces: list[str] = []
    at = start
    while True:
        piece, at = _read_piece(text, at)
        pieces.append(piece)
        if text[at : at + 1] != "+":
            break
        at += 1
    if len(pieces) == 1 and text[start - 1] == "=" and _is_json(pieces[0]):
        column.constant = pieces[0]
    else:
        column.pieces = pieces
    return at


def _read_piece(text: str, at: int) -> tuple[str, int]:
    literal = _JSON_START.match(text, at)
    if literal is None:
        path, end = read_path(text, at)
        return path_text(path), end
    end = literal.end() if literal[1] else json_end(text, at)
    return text[at:end], end


_JSON_START: Final = re.compile(r'((?:true|false|null|-?\d[\d.eE+-]*)(?=\||\Z))|["\[{]')


def _is_json(piece: str) -> bool:
    return _JSON_START.match(piece) is not None
