"""Columns: write every table in a value once, as a header and rows.

    {"total":3,"bookings":<table 1>}
    table 1: 3 rows, 5 columns; "=" holds for these 3 rows and is left out of them; empty = null
    id|guest.name|guest.email|price.currency="EUR"|url="https://x.example/b/"+id
    BK-1|Ann|ann@x.example
    BK-2|Bo|
    BK-3|Cy|cy@x.example

- Uniform sub-objects (and lists of one fixed length) are flattened into columns named by their path. An object that is
  not like the others stands as JSON in a column of its own.
- An object of like objects is a table, too: `{key}` is the column of its keys.
- A short list of objects stays in its cell, and the header names the members: `env(name,value)[]`. A long one gets a
  table of its own, in which `<row 3>` stands above the rows that belong to row 3: `spans:<table 2>`.
- A column that is the same in every row, or follows from other columns, is written into the header. The words
  say of how many rows that is true: a page never speaks of the rows that it does not show.
- A column whose cells begin or end alike has that part in the header: `path:"https://x.example/"+cell`.
- Rows with a different key set get a header of their own, and a letter before each row names it. A row that
  fits no header is written as JSON after `= `.
- Ids, numbers and dates stay literal in their row. A string is bare unless it could be read as anything else;
  then it is quoted as in JSON.

`encode` works on canonical JSON text (see jsontext); `decode` returns that text.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, cast

import msgspec

from brimgate.engine import jsontext
from brimgate.engine.forms import notes as legend
from brimgate.engine.forms.cells import DELIMITER, write_column
from brimgate.engine.forms.column_paths import path_text
from brimgate.engine.forms.formula import find_formulas
from brimgate.engine.forms.rows import Group, group_rows
from brimgate.engine.forms.table_set import LETTERS, ODD_ROW, TableSet, is_table

_MARKER: Final = re.compile(r"… [\d,]+ more items at /")

TableWriter = Callable[[Sequence[Any], str], str | None]


def encode(raw: bytes) -> str | None:
    """Return the columns form of a canonical JSON text, or None when it contains no table."""
    value = jsontext.faithful_value(raw)
    return TableSet().write(value) if isinstance(value, (dict, list)) else None


def encode_summary(raw: bytes) -> str | None:
    """Write a summary, which nobody reads back.

    Nothing is derived from our own stubs, and whatever is missing from a row was left out by us.
    """
    return with_tables(raw, lambda rows, label: write_table(rows, label, summary=True))


def with_tables(raw: bytes, write: TableWriter) -> str | None:
    """Write the value with every table in it written by `write` below it. Return None when there is no table."""
    value = jsontext.faithful_value(raw)
    if not isinstance(value, (dict, list)):
        return None
    tables: list[str] = []
    skeleton = _skeleton(cast("Any", value), tables, write)
    if not tables:
        return None
    if skeleton == "<table 1>":
        return tables[0]
    return "\n".join([skeleton, *tables])


def _skeleton(value: Any, tables: list[str], write: TableWriter) -> str:
    """Return the value with each table replaced by its number, and append the tables to `tables`."""
    kind = cast("type[Any]", type(value))
    if kind is list and is_table(value):
        table = write(value, f"table {len(tables) + 1}: ")
        if table is not None:
            tables.append(table)
            return f"<table {len(tables)}>"
    if kind is dict:
        inner = [f"{jsontext.quote(key)}:{_skeleton(inner, tables, write)}" for key, inner in value.items()]
        return "{" + ",".join(inner) + "}"
    return msgspec.json.encode(value).decode()


def write_table(rows: Sequence[Any], label: str, *, summary: bool = False) -> str | None:
    marker = is_marker(rows[-1]) if summary else None
    rows = rows[:-1] if marker else rows
    groups, group_of = group_rows(rows)
    if not groups:
        return None
    lettered = len(groups) > 1
    bodies = [_body(group, summary=summary) for group in groups]
    lines = [heading(label, group_of, groups, {note for _, _, notes in bodies for note in notes})]
    for letter, (header, _, _) in zip(LETTERS, bodies, strict=False):
        lines.append(f"{letter}: {header}" if lettered else header)
    pending = [iter(body) for _, body, _ in bodies]
    for row, group in zip(rows, group_of, strict=True):
        if group is None:
            lines.append(odd_row(row))
        elif lettered:
            lines.append(LETTERS[group] + DELIMITER + next(pending[group]))
        else:
            lines.append(next(pending[group]))
    return "\n".join([*lines, marker] if marker else lines)


def is_marker(row: Any) -> str | None:
    """Return the row if it is not a row: our own words at the end of a cut list, which no count includes."""
    return row if type(row) is str and _MARKER.match(row) else None


def odd_row(row: Any) -> str:
    return ODD_ROW + msgspec.json.encode(row).decode()


def heading(label: str, group_of: Sequence[int | None], groups: list[Group], notes: set[str]) -> str:
    """Write `table 1: 41 rows, 14 columns; …`: the counts, and only the remarks that this table needs."""
    return legend.counts(label, group_of, groups) + legend.remarks(notes, group_of)


def _body(group: Group, *, summary: bool) -> tuple[str, Iterable[str], set[str]]:
    """Return the header, the row lines and the remarks that a reader needs for one group of rows."""
    notes = legend.column_notes(group.columns)
    header: list[str] = []
    written: list[list[str]] = []
    for column, formula in zip(group.columns, find_formulas(group.columns, derive=not summary), strict=True):
        header.append(path_text(column.path) + (formula.text if formula else ""))
        if formula:
            notes.add(legend.AROUND_NOTE if formula.has_cell else legend.SAME_NOTE)
        if formula is None or formula.has_cell:
            cells = write_column(formula.cells if formula else column.cells)
            notes |= legend.cell_notes(cells)
            written.append(cells)
    if summary and legend.ABSENT_NOTE in notes:
        notes = notes - {legend.ABSENT_NOTE} | {legend.LEFT_OUT_NOTE}
    return DELIMITER.join(header), map(DELIMITER.join, zip(*written, strict=True)), notes
