"""The legend of tables: how many rows and columns, and only the remarks that a reader needs for them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from brimgate.engine.forms.cells import Gap

if TYPE_CHECKING:
    from brimgate.engine.forms.column_tree import Column
    from brimgate.engine.forms.rows import Group

LEGEND: Final = "legend: "
EMPTY_NOTE: Final = "empty = null"
ABSENT_NOTE: Final = "- = absent"
MISSING_NOTE: Final = "- or missing at the end = absent"
LEFT_OUT_NOTE: Final = "- = not in this summary"
SAME_NOTE: Final = "="
"""Stands for the words of `_same_note`, which depend on the rows."""
AROUND_NOTE: Final = '":" shows what stands around each cell'
NULLABLE_NOTE: Final = "x? is null where its cells are empty"
GONE_NOTE: Final = "x? is null where its cells are empty, absent or in column x where they are -"
FACTOR_NOTE: Final = "a{b|c} = a.b|a.c"
SHAPE_NOTE: Final = "x(a,b) = an object written as [a,b], x(a,b)[] a list of such, x(a,b){} such by key"
KEY_NOTE: Final = "{key} = the rows are members of an object"
CHILD_NOTE: Final = "x:<table 2> = how many rows it has there, below <row …>"
_ORDER: Final = (
    SAME_NOTE, AROUND_NOTE, NULLABLE_NOTE, GONE_NOTE, FACTOR_NOTE, KEY_NOTE, SHAPE_NOTE, CHILD_NOTE,
    EMPTY_NOTE, ABSENT_NOTE, MISSING_NOTE, LEFT_OUT_NOTE,
)  # fmt: skip


def counts(label: str, group_of: Sequence[int | None], groups: "Sequence[Group]") -> str:
    """Write `table 1: 41 rows, 14 columns`."""
    *most, last = [str(len(group.columns)) for group in groups] or ["0"]
    widths = f"{', '.join(most)} and {last}" if most else last
    return f"{label}{len(group_of)} rows, {widths} columns"


def remarks(notes: set[str], group_of: Sequence[int | None] | None = None) -> str:
    """Write the remarks, for one table with these rows or for several."""
    if GONE_NOTE in notes:
        notes = notes - {NULLABLE_NOTE}
    return "".join(
        f"; {_same_note(group_of) if note is SAME_NOTE else note}" for note in _ORDER if note in notes
    )


def _same_note(group_of: Sequence[int | None] | None) -> str:
    """Say for which rows a header with `=` is true: those below it, never more of the list."""
    if group_of is None:
        return '"=" holds for the rows below its header and is left out of them'
    under = {group for group in group_of if group is not None}
    written = len(group_of) - group_of.count(None)
    if len(under) > 1:
        which = "the rows below with its letter"
    elif written < len(group_of):
        which = f"the {written} rows below that are not JSON"
    else:
        which = f"these {written} rows"
    return f'"=" holds for {which} and is left out of them'


def column_notes(columns: "Sequence[Column]") -> set[str]:
    optional = [column for column in columns if any(step.nullable for step in column.path)]
    if not optional:
        return set()
    return {GONE_NOTE if any(Gap.GONE in column.cells for column in optional) else NULLABLE_NOTE}


def cell_notes(cells: list[str], absent: str = ABSENT_NOTE) -> set[str]:
    notes = {EMPTY_NOTE} if "" in cells else set[str]()
    return notes | {absent} if "-" in cells else notes
