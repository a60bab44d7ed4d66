"""Read columns: turn what `columns.encode` wrote back into canonical JSON text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from brimgate.engine import jsontext
from brimgate.engine.forms.cell_shapes import CellShape, ShapedText, read_shape
from brimgate.engine.forms.cells import json_end, read_cell
from brimgate.engine.forms.column_header import KEY, read_column_path
from brimgate.engine.forms.column_paths import Path, path_text, read_path
from brimgate.engine.forms.notes import LEGEND
from brimgate.errors import InputError

_TABLE: Final = re.compile(r"(?:table \d+: )?(\d+) rows, (\d[\d, and]*) columns(?:;.*)?\Z")
_WIDTH: Final = re.compile(r"\d+")
_PLACE: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|<table (\d+)>')
_CHILD: Final = re.compile(r":<table (\d+)>")
_RUN: Final = "<row "


def decode(text: str) -> bytes:
    lines = iter(text.split("\n"))
    first = next(lines)
    around = "<table 1>"
    if not first.startswith(LEGEND) and not _TABLE.match(first):
        around, first = first, next(lines)
    if first.startswith(LEGEND):
        first = next(lines)
    blocks = [_Block.read(first, lines)]
    blocks += [_Block.read(line, lines) for line in lines]
    tables: dict[str, _Table] = {}
    # The rows of a list in a cell stand in a later table.
    for number in range(len(blocks), 0, -1):
        tables[f"{number}"] = blocks[number - 1].table(tables)
    return _PLACE.sub(lambda place: tables[place[1]].whole() if place[1] else place[0], around).encode()


@dataclass(slots=True)
class _Table:
    """The JSON texts of the rows of a table: items, or members with their keys."""

    items: list[str]
    keyed: bool
    taken: int = 0

    def whole(self) -> str:
        return self.take(len(self.items))

    def take(self, count: int) -> str:
        """Return the next rows as a list or object."""
        if self.taken + count > len(self.items):
            raise InputError("a table has fewer rows than the cells above it say")
        inner = ",".join(self.items[self.taken : self.taken + count])
        self.taken += count
        return "{" + inner + "}" if self.keyed else "[" + inner + "]"


@dataclass(slots=True)
class _Block:
    """The lines of one table."""

    headers: list[str]
    rows: list[str]

    @classmethod
    def read(cls, head: str, lines: Iterator[str]) -> "_Block":
        found = _TABLE.match(head)
        if found is None:
            raise InputError(f"expected a table, found {head[:40]!r}")
        widths = [] if found[2] == "0" else _WIDTH.findall(found[2])
        headers = [next(lines)[3 if len(widths) > 1 else 0 :] for _ in widths]
        rows: list[str] = []
        while len(rows) < int(found[1]):
            line = next(lines)
            if not line.startswith(_RUN):
                rows.append(line)
        return cls(headers, rows)

    def table(self, tables: "dict[str, _Table]") -> _Table:
        keyed = bool(self.headers) and self.headers[0].startswith(KEY)
        headers = [_Header.read(text[len(KEY) + 1 :] if keyed else text, tables) for text in self.headers]
        return _Table([_read_row(line, headers, keyed) for line in self.rows], keyed)


def _read_row(line: str, headers: "list[_Header]", keyed: bool) -> str:
    if line.startswith("= "):
        return line[3:-1] if keyed else line[2:]
    header, at = (headers[ord(line[0]) - ord("A")], 2) if len(headers) > 1 else (headers[0], 0)
    if not keyed:
        return header.row(line, at)
    key, at = read_cell(line, at)
    return f"{key}:{header.row(line, at + 1)}"


@dataclass(slots=True)
class _Column:
    name: str
    pieces: list[str] | None = None
    """The formula in the header: JSON strings, column names, `cell`; None when the cell has the whole value."""
    constant: str | None = None
    shape: CellShape | None = None
    child: "_Table | None" = None
    """Where the rows stand that its cells count."""

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
    def read(cls, text: str, tables: dict[str, _Table]) -> "_Header":
        columns: list[tuple[Path, _Column]] = []
        _read_columns(text, 0, (), columns, tables)
        return cls(columns)

    def row(self, line: str, at: int) -> str:
        cells: dict[str, str | None] = {}
        for column in self._columns.values():
            if column.has_cell:
                # What is absent at the end of a row is not written.
                cells[column.name], at = _read_cell(line, at, column) if at <= len(line) else (None, at)
                at += 1
        return self._write(self._root, cells) or "{}"

    def _write(self, node: _Node, cells: dict[str, str | None]) -> str | None:
        """Return the JSON text at one place of the row, or None when the row does not have it."""
        if node.column is not None:
            own = self._resolve(node.column, cells)
            if own is not None or not node.below:
                return own
        is_sure = node.certain and not node.nullable
        if node.cells and not is_sure and all(cells[name] is None for name in node.cells):
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
        node = node.below.setdefault(step.key, _Node())
        node.nullable |= step.nullable
    node.column = column


def _read_columns(
    text: str, at: int, above: Path, columns: list[tuple[Path, _Column]], tables: dict[str, _Table]
) -> int:
    """Read columns to the end of the header, or of the braces around those that share a beginning."""
    while True:
        path, at = read_column_path(text, at)
        path = (*above, *path)
        if text[at : at + 1] == "{" and text[at + 1 : at + 2] != "}":
            at = _read_columns(text, at + 1, path, columns, tables) + 1
        else:
            column = _Column(path_text(path))
            at = _read_suffix(text, at, column, tables)
            columns.append((path, column))
        if at >= len(text) or text[at] == "}":
            return at
        at += 1


def _read_suffix(text: str, at: int, column: _Column, tables: dict[str, _Table]) -> int:
    """Read what follows a name: the shape of its cells, the table of its rows, or a formula."""
    column.shape, at = read_shape(text, at)
    child = _CHILD.match(text, at)
    if child:
        column.child = tables[child[1]]
        return child.end()
    if text[at : at + 1] in ("=", ":"):
        return _read_formula(text, at, column)
    return at


def _read_cell(line: str, at: int, column: _Column) -> tuple[str | None, int]:
    if column.shape is not None and line[at : at + 1] in ("[", "{"):
        shaped = ShapedText(line, at)
        return shaped.read(column.shape), shaped.at
    cell, end = read_cell(line, at)
    if column.child is not None and cell is not None and cell.isdigit():
        return column.child.take(int(cell)), end
    return cell, end


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


_JSON_START: Final = re.compile(r'((?:true|false|null|-?\d[\d.eE+-]*)(?=[|}]|\Z))|["\[{]')


def _is_json(piece: str) -> bool:
    return _JSON_START.match(piece) is not None
