"""Find a number that is usual in its column, but not among the rows of its kind: a backup of 12 KB among those of 300 MB."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from brimgate.engine.highlights.odd_lines import outliers
from brimgate.engine.highlights.table_columns import (
    PLAIN,
    Notes,
    TableColumn,
    as_number,
    looks_numeric,
    short,
)
from brimgate.engine.highlights.value_parts import ending_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MIN_ROWS: Final = 20
_MAX_KINDS: Final = 8
_MAX_COLUMNS: Final = 6
_MAX_TOLD: Final = 3
_NEARLY_ALL: Final = 0.98
_MIN_DISTINCT: Final = 6
_EXPLAINED: Final = 0.3
"""How much narrower than all numbers those of one kind must be for the kind to say anything about them."""


def check_groups(columns: Sequence[TableColumn], notes: Notes) -> None:
    """Note numbers that lie apart from those of the rows of the same kind. All columns have a value in every row."""
    import numpy as np

    kinds = [found for column in columns if (found := _kinds_of(column)) is not None][:_MAX_COLUMNS]
    amounts = [column for column in columns if column.distinct >= _MIN_DISTINCT and _is_number(column)]
    for column in amounts[:_MAX_COLUMNS] if kinds else ():
        numbers = np.array([_number(value) for value in column.values], dtype=np.float64)
        told: set[int] = set()
        for name, kind_of in kinds:
            if name != column.name:
                _tell(column, numbers, name, kind_of, told, notes)


def _kinds_of(column: TableColumn) -> tuple[str, list[Any]] | None:
    """Return one of a few words for each row: its value, or what its text ends with."""
    values = column.values
    if column.kinds.keys() <= PLAIN and float not in column.kinds and 2 <= column.distinct <= _MAX_KINDS:
        return column.name, values
    if column.kinds.keys() != {str} or column.distinct <= _MAX_KINDS:
        return None
    endings = [ending_of(value) for value in values]
    return (column.name, endings) if 2 <= len(set(endings)) <= _MAX_KINDS else None


def _is_number(column: TableColumn) -> bool:
    if column.kinds.keys() <= {int, float}:
        return True
    return column.kinds.keys() == {str} and looks_numeric(column.values)


def _number(value: Any) -> float:
    try:
        return float(value) if type(value) is not str else as_number(value)
    except OverflowError:
        return float("nan")


def _tell(
    column: TableColumn,
    numbers: "NDArray[np.float64]",
    name: str,
    kind_of: Sequence[Any],
    told: set[int],
    notes: Notes,
) -> None:
    members: dict[Any, list[int]] = defaultdict(list)
    for at, kind in enumerate(kind_of):
        members[kind].append(at)
    whole = _span(numbers)
    found = [
        (at, kind, usual)
        for kind, ats in members.items()
        if _MIN_ROWS <= len(ats) < _NEARLY_ALL * len(numbers)
        for at, usual in _apart(numbers, ats, whole)
    ]
    if len(found) > _MAX_TOLD:
        return
    for at, kind, usual in found:
        if at not in told:
            told.add(at)
            text = f"{column.name}={short(column.values[at])}, with {name} {short(kind)} usually {usual}"
            notes.add([column.at[at]], 1.1, column.name, [text])


def _apart(numbers: "NDArray[np.float64]", ats: Sequence[int], whole: float) -> Iterator[tuple[int, str]]:
    own = numbers[list(ats)]
    alike: Counter[float] = Counter(own.tolist())
    usual, count = alike.most_common(1)[0]
    if count >= _NEARLY_ALL * len(own):
        yield from ((ats[at], f"{usual:.12g}") for at in range(len(ats)) if own[at] != usual)
        return
    if not whole or _span(own) > _EXPLAINED * whole:
        return
    odd = {at for at, _ in outliers(own.tolist())}
    rest = sorted(own[at] for at in range(len(ats)) if at not in odd)
    yield from ((ats[at], f"{rest[len(rest) // 20]:g} to {rest[-1 - len(rest) // 20]:g}") for at in odd)


def _span(numbers: "NDArray[np.float64]") -> float:
    """Return how far apart nearly all of the numbers are."""
    import numpy as np

    known = numbers[np.isfinite(numbers)]
    if not len(known):
        return 0.0
    low, high = np.quantile(known, (0.05, 0.95))
    return float(high - low)
