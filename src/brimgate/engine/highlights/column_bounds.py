"""Find rows in which one column is not below another, as it is in all other rows: an end before its start, a high under the low.

Such a rule is learned from the rows alone. It needs values of which many would break it if they stood in other rows: two
columns that are far apart are no bounds of each other.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import TYPE_CHECKING, Final

from brimgate.engine.highlights.odd_lines import outliers
from brimgate.engine.highlights.table_columns import (
    Notes,
    TableColumn,
    as_number,
    looks_numeric,
    rare_count,
    short,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Held = tuple[TableColumn, Numbers]

_MIN_KNOWN: Final = 20
_MAX_TIMES: Final = 6
_MAX_AMOUNTS: Final = 14
_MIN_DISTINCT: Final = 12
_MAX_TOLD: Final = 4
_MOST_ODD: Final = 2
_FAR: Final = 4.0
_CHANCE: Final = 16.0
"""So many rows must break a rule by chance, and this half as many again for each one that does, before it counts as one."""
_START: Final = re.compile(
    r"start|begin|from|since|open|arriv|check_?in|depart|valid_?from|not_?before", re.IGNORECASE
)
_END: Final = re.compile(
    r"end|finish|until|to$|close|stop|complete|check_?out|expir|not_?after", re.IGNORECASE
)
_UNITS: Final = ((86_400.0, "days"), (3_600.0, "h"), (60.0, "min"), (1.0, "s"))


def check_bounds(columns: Sequence[TableColumn], total: int, notes: Notes) -> None:
    """Note rows whose end is before their start, and those in which an amount is over one that is its bound elsewhere."""
    times = list(_times(columns, total))
    for early, late in permutations(times, 2):
        _check_times(early, late, notes)
    amounts = list(_amounts(columns, total, {id(column) for column, _ in times}))
    for low, high in permutations(amounts, 2):
        _check_amounts(low, high, notes)


def _times(columns: Sequence[TableColumn], total: int) -> Iterator["Held"]:
    held = ((column, column.times) for column in columns)
    read = [
        (column, seconds) for column, seconds in held if seconds is not None and len(seconds) >= _MIN_KNOWN
    ]
    return ((column, _placed(column, seconds, total)) for column, seconds in read[:_MAX_TIMES])


def _amounts(columns: Sequence[TableColumn], total: int, times: set[int]) -> Iterator["Held"]:
    """Return the columns of numbers, also of those in texts, with NaN for what a row does not have."""
    count = 0
    for column in columns:
        kinds = column.kinds.keys() - {type(None)}
        if count == _MAX_AMOUNTS or id(column) in times or column.distinct < _MIN_DISTINCT:
            continue
        if kinds <= {int, float}:
            numbers = [float("nan") if value is None else _finite(value) for value in column.values]
        elif kinds == {str} and looks_numeric([value for value in column.values if value]):
            numbers = [as_number(value) if value else float("nan") for value in column.values]
        else:
            continue
        count += 1
        yield column, _placed(column, numbers, total)


def _finite(value: float) -> float:
    try:
        return float(value)
    except OverflowError:  # JSON has integers of any length
        return float("nan")


def _placed(column: TableColumn, numbers: Sequence[float], total: int) -> "Numbers":
    """Return one number for each row of the table."""
    import numpy as np

    if len(numbers) == total:
        return np.asarray(numbers, dtype=np.float64)
    found = np.full(total, np.nan)
    found[np.asarray(column.at, dtype=np.int64)] = numbers
    return found


def _check_times(early: "Held", late: "Held", notes: Notes) -> None:
    import numpy as np

    (first, starts), (second, ends) = early, late
    known = int(np.count_nonzero(~np.isnan(starts) & ~np.isnan(ends)))
    odd = np.flatnonzero(starts > ends).tolist()
    if known < _MIN_KNOWN or len(odd) > min(_MAX_TOLD, rare_count(known)):
        return
    texts = [f"{second.name}={_cell(second, at)} is before {first.name}={_cell(first, at)}" for at in odd]
    notes.add(odd, 1.2, second.name, texts)
    if _START.search(first.name) and _END.search(second.name):
        _check_lengths(early, late, notes)


def _check_lengths(early: "Held", late: "Held", notes: Notes) -> None:
    """Note a row that lasts much longer than all others."""
    import numpy as np

    (first, starts), (second, ends) = early, late
    lengths = np.where(ends >= starts, ends - starts, np.nan)
    usual = float(np.nanmedian(lengths))
    for at in [at for at, _ in outliers(lengths.tolist())] or _longest(lengths):
        text = f"{second.name} is {_length(float(lengths[at]))} after {first.name}, half of the others up to {_length(usual)}"
        notes.add([at], 1.15, second.name, [text])


def _longest(lengths: "Numbers") -> list[int]:
    """Return the one length that is far over all others, also where those are few: 15, 30 or 60 minutes."""
    import numpy as np

    at = int(np.nanargmax(lengths))
    others = np.delete(lengths, at)
    return [at] if lengths[at] > _FAR * np.nanmax(others) else []


def _check_amounts(low: "Held", high: "Held", notes: Notes) -> None:
    import numpy as np

    (lower, lows), (upper, highs) = low, high
    odd = np.flatnonzero(lows > highs).tolist()
    if not 0 < len(odd) <= _MOST_ODD:
        return
    both = ~np.isnan(lows) & ~np.isnan(highs)
    known = int(np.count_nonzero(both))
    over = np.searchsorted(np.sort(highs[both]), lows[both], side="left").sum() / max(known, 1)
    if known < _MIN_KNOWN or over < _CHANCE * (0.5 + 0.5 * len(odd)):
        return
    texts = [f"{upper.name}={_cell(upper, at)} is below {lower.name}={_cell(lower, at)}" for at in odd]
    notes.add(odd, 1.15, upper.name, texts)


def _cell(column: TableColumn, row: int) -> str:
    """Write what a column has in a row of the table."""
    at = row if row < len(column.at) and column.at[row] == row else list(column.at).index(row)
    return short(column.values[at])


def _length(seconds: float) -> str:
    size, unit = next(((size, unit) for size, unit in _UNITS if seconds >= 2 * size), _UNITS[-1])
    return f"{seconds / size:.3g} {unit}"
