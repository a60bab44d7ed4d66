"""All tables of one answer: those in it, and those of the long lists in their cells, with one legend."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

import msgspec

from brimgate.engine import jsontext
from brimgate.engine.forms import notes
from brimgate.engine.forms.cell_shapes import shape_text, write_shaped
from brimgate.engine.forms.cells import ABSENT, DELIMITER, Gap, write_cell, write_column
from brimgate.engine.forms.column_header import KEY, write_header
from brimgate.engine.forms.column_tree import Column, is_map
from brimgate.engine.forms.formula import Formula, find_formulas
from brimgate.engine.forms.key_orders import are_alike, objects_in
from brimgate.engine.forms.rows import Group, group_rows, whole_rows

LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ODD_ROW: Final = "= "
_MIN_ROWS: Final = 2
_MIN_MEMBERS: Final = 3
_MIN_BYTES: Final = 300
"""A smaller object is no table: its heading would cost as much as it saves."""
_MAX_DEPTH: Final = 60
_MAX_TABLE_DEPTH: Final = 16
_MAX_LABEL: Final = 40
INDEX: Final = "#"
"""The member that tells the number of an item of a page."""
_GAP_AT_END: Final = DELIMITER + ABSENT
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Items:
    """What one table holds: the items of a list, or the members of an object; or those of many, one after the other."""

    rows: Sequence[Any]
    keys: Sequence[str] | None = None
    runs: Sequence[tuple[str, int]] = ()
    """Of many: to which row above each run belongs, and its length."""


@dataclass(slots=True)
class _Body:
    """What is written of one group of rows."""

    header: str
    lines: Iterator[str]


@dataclass(slots=True)
class TableSet:
    tables: list[str] = field(default_factory=lambda: [])
    used: set[str] = field(default_factory=lambda: set())
    """The remarks that a reader needs for these tables."""
    group_of: Sequence[int | None] = ()
    """Of the first table."""
    depth: int = 0
    """How many tables the one that is being written stands in."""

    def write(self, value: Any) -> str | None:
        """Return the value with every table below it. Return None when there is no table."""
        skeleton = self._skeleton(value, 0)
        if not self.tables:
            return None
        if len(self.tables) == 1:
            heading, newline, rest = self.tables[0].partition("\n")
            self.tables[0] = heading + notes.remarks(self.used, self.group_of) + newline + rest
            return self.tables[0] if skeleton == "<table 1>" else f"{skeleton}\n{self.tables[0]}"
        legend = notes.LEGEND + notes.remarks(self.used).removeprefix("; ")
        above = [] if skeleton == "<table 1>" else [skeleton]
        return "\n".join([*above, legend, *self.tables] if self.used else [*above, *self.tables])

    def _skeleton(self, value: Any, depth: int) -> str:
        """Return the value with each table replaced by its number."""
        kind = cast("type[Any]", type(value))
        if kind is list and is_table(value):
            number = self._add(Items(value))
            if number:
                return f"<table {number}>"
        if kind is dict and _is_table_of_members(value):
            number = self._add(Items(list(value.values()), list(value)))
            if number:
                return f"<table {number}>"
        if depth < _MAX_DEPTH and kind is dict:
            inner = [f"{jsontext.quote(key)}:{self._skeleton(one, depth + 1)}" for key, one in value.items()]
            return "{" + ",".join(inner) + "}"
        if depth < _MAX_DEPTH and kind is list and any(isinstance(one, dict | list) for one in value):
            return "[" + ",".join(self._skeleton(one, depth + 1) for one in value) + "]"
        return msgspec.json.encode(value).decode()

    def _add(self, items: Items) -> int:
        """Write a table and return its number; 0 if its rows have no columns."""
        groups, group_of = _grouped(items)
        if not groups:
            return 0
        number = len(self.tables) + 1
        self.tables.append("")
        if number == 1:
            self.group_of = group_of
        has_child = any(column.is_child for group in groups for column in group.columns)
        labels = _labels(items) if has_child else ()
        bodies: list[_Body] = []
        for at, group in enumerate(groups):
            of = [place for place, one in enumerate(group_of) if one == at]
            bodies.append(self._body(group, items, of, labels))
        self.tables[number - 1] = "\n".join(self._lines(items, number, groups, group_of, bodies))
        return number

    def _lines(
        self,
        items: Items,
        number: int,
        groups: list[Group],
        group_of: Sequence[int | None],
        bodies: list[_Body],
    ) -> Iterable[str]:
        lettered = len(groups) > 1
        yield notes.counts(f"table {number}: ", group_of, groups)
        for letter, body in zip(LETTERS, bodies, strict=False):
            yield f"{letter}: {body.header}" if lettered else body.header
        starts = _run_starts(items)
        for at, group in enumerate(group_of):
            if at in starts:
                yield f"<row {starts[at]}>"
            if group is None:
                yield _odd_row(items, at)
            elif lettered:
                yield LETTERS[group] + DELIMITER + next(bodies[group].lines)
            else:
                yield next(bodies[group].lines)

    def _body(self, group: Group, items: Items, of: Sequence[int], labels: Sequence[str]) -> _Body:
        header: list[tuple[Any, str]] = []
        written: list[list[str]] = []
        self.used |= notes.column_notes(group.columns)
        for column, formula in zip(group.columns, find_formulas(group.columns), strict=True):
            if column.is_child:
                suffix, cells = self._child(column, [labels[at] for at in of])
            else:
                suffix, cells = self._column(column, formula)
            header.append((column.path, suffix))
            if cells is not None:
                self.used |= notes.cell_notes(cells, notes.MISSING_NOTE)
                written.append(cells)
        text, is_factored = write_header(header)
        if is_factored:
            self.used.add(notes.FACTOR_NOTE)
        if items.keys is not None:
            self.used.add(notes.KEY_NOTE)
            text = KEY + DELIMITER + text
            written.insert(0, write_column([items.keys[at] for at in of]))
        lines = map(DELIMITER.join, zip(*written, strict=True))
        return _Body(text, map(_without_gaps, lines) if ABSENT in written[-1] else lines)

    def _column(self, column: Column, formula: Formula | None) -> tuple[str, list[str] | None]:
        """Return what follows the name in the header, and the cells, if there are any."""
        if formula is not None:
            self.used.add(notes.AROUND_NOTE if formula.has_cell else notes.SAME_NOTE)
            return formula.text, write_column(formula.cells) if formula.has_cell else None
        if column.shape is None:
            return "", write_column(column.cells)
        self.used |= {notes.SHAPE_NOTE, notes.MISSING_NOTE}
        shape = column.shape
        cells = [
            write_shaped(shape, cell) if isinstance(cell, dict | list) else write_cell(cell)
            for cell in column.cells
        ]
        return shape_text(shape), cells

    def _child(self, column: Column, labels: Sequence[str]) -> tuple[str, list[str] | None]:
        """Write the lists or maps of a column as one table, and how many rows of it each cell has."""
        pairs = zip(labels, cast("list[Row | list[Any]]", column.cells), strict=True)
        filled = [(label, cell) for label, cell in pairs if _is_filled(cell)]
        rows: list[Any] = []
        keys: list[str] = []
        for _, cell in filled:
            rows += cell.values() if isinstance(cell, dict) else cell
            keys += cell if isinstance(cell, dict) else ()
        self.depth += 1
        items = Items(rows, keys or None, [(label, len(cell)) for label, cell in filled])
        number = self._add(items) if self.depth <= _MAX_TABLE_DEPTH else 0
        self.depth -= 1
        if not number:
            return "", write_column(column.cells)
        self.used.add(notes.CHILD_NOTE)
        cells = [str(len(cell)) if _is_filled(cell) else write_cell(cell) for cell in column.cells]
        return f":<table {number}>", cells


def _without_gaps(line: str) -> str:
    """Leave out what is absent at the end of a row."""
    while line.endswith(_GAP_AT_END):
        line = line[: -len(_GAP_AT_END)]
    return line


def _is_filled(cell: Any) -> bool:
    return not isinstance(cell, Gap) and bool(cell)


def is_table(rows: list[Any]) -> bool:
    objects = len(objects_in(rows))
    return objects >= _MIN_ROWS and objects * 2 > len(rows)


def _is_table_of_members(value: Row) -> bool:
    """Return whether an object holds like objects by name, or objects of like objects, and enough of them."""
    if len(value) < _MIN_MEMBERS:
        return False
    inner = objects_in(value.values())
    if len(inner) < _MIN_MEMBERS or 4 * len(inner) < 3 * len(value):
        return False
    return (are_alike(inner) or is_map(inner)) and len(msgspec.json.encode(value)) >= _MIN_BYTES


def _grouped(items: Items) -> tuple[list[Group], list[int | None]]:
    if items.keys is not None and set(map(type, items.rows)) == {dict} and is_map(items.rows):
        return whole_rows(items.rows)
    return group_rows(items.rows, nested=True)


def _labels(items: Items) -> Sequence[str]:
    """Return by what a reader knows the rows: their key, a member that differs in all of them, or their number.

    What stands twice has the label of the row above it in front.
    """
    labels = _own_labels(items)
    if not items.runs or len(set(labels)) == len(labels):
        return labels
    above = [label for label, length in items.runs for _ in range(length)]
    return [f"{one}/{label}" for one, label in zip(above, labels, strict=True)]


def _own_labels(items: Items) -> Sequence[str]:
    if items.keys is not None:
        return items.keys
    rows = items.rows
    if set(map(type, rows)) == {dict}:
        for name in (INDEX, *cast("Row", rows[0])):
            cells = [row.get(name) for row in cast("Sequence[Row]", rows)]
            if set(map(type, cells)) <= {str, int} and len(set(cells)) == len(cells):
                labels = [str(cell) for cell in cells]
                if max(map(len, labels)) <= _MAX_LABEL:
                    return labels
    lengths = [length for _, length in items.runs] or [len(rows)]
    return [str(at) for length in lengths for at in range(length)]


def _run_starts(items: Items) -> dict[int, str]:
    starts: dict[int, str] = {}
    at = 0
    for label, length in items.runs:
        starts[at] = jsontext.quote(label)[1:-1]
        at += length
    return starts


def _odd_row(items: Items, at: int) -> str:
    row = items.rows[at] if items.keys is None else {items.keys[at]: items.rows[at]}
    return ODD_ROW + msgspec.json.encode(row).decode()
