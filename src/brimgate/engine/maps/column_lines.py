"""Describe a table column by column: what a reader would otherwise count row by row."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

from brimgate.engine.guess import guess
from brimgate.engine.highlights.column_times import read_times
from brimgate.engine.highlights.odd_lines import outliers
from brimgate.engine.highlights.row_relations import ID_NAME, serial_numbers
from brimgate.engine.highlights.table_columns import PLAIN, TableColumn, as_number, is_hash, looks_numeric
from brimgate.engine.highlights.value_parts import tallied_folders, tallied_parts
from brimgate.engine.maps.phrases import brief
from brimgate.engine.maps.survey import MapLine

_MAX_COLUMNS: Final = 60
_FEW: Final = 12
_SHOWN: Final = 6
_FEW_IDS: Final = 40
_OFTEN: Final = 8
"""Ids of which each is there so often on average are kinds, such as those of events."""
_NAME_CHARS: Final = 60
_VALUE_CHARS: Final = 48
_MAX_CONSTANTS: Final = 14
_MAX_UNIQUE: Final = 8
_FADING: Final = 0.985
"""What comes later in a row weighs a little less."""
_COMPARED: Final = 200
_REPEATED: Final = 0.3
_NEARLY_ALL: Final = 0.97
"""Where nearly all are the same, the few others stand out by themselves."""
_EMPTY: Final[tuple[Any, ...]] = (None, "", [], {})


def column_lines(columns: Sequence[TableColumn], total: int) -> list[MapLine]:
    """Return a line for each column that tells something, and one each for constants and for what differs in every row."""
    lines: list[MapLine] = []
    constant: list[str] = []
    unique: list[str] = []
    known: set[tuple[int, ...]] = set()
    for column in columns[:_MAX_COLUMNS]:
        name = brief(column.name, _NAME_CHARS)
        if not column.values:
            continue
        if len(column.values) == total and _is_constant(column):
            constant.append(f"{name} {_value(column.values[0])}")
        elif (text := _unique(column, total)) is not None:
            unique.append(f"{name} ({text})" if text else name)
        elif (line := _described(column, total)) is not None:
            weight = line.weight * _share(len(column.values) / total) * _FADING ** len(lines)
            lines.append(
                MapLine(f"{name} {line.text}", weight * (_REPEATED if _is_repeated(column, known) else 1.0))
            )
    if unique:
        lines.append(MapLine("unique: " + _listed(unique, _MAX_UNIQUE), 3.5))
    if constant and total > 1:
        lines.append(MapLine("always: " + _listed(constant, _MAX_CONSTANTS), 3.0))
    return lines


def _is_repeated(column: TableColumn, known: set[tuple[int, ...]]) -> bool:
    """Return whether a column says the same as one before it in other words: both differ in the same rows."""
    if not column.kinds.keys() <= PLAIN or column.distinct < 2:
        return False
    numbers: dict[Any, int] = {}
    pattern = tuple(numbers.setdefault(value, len(numbers)) for value in column.values[:_COMPARED])
    if pattern in known and len(numbers) > 1:
        return True
    known.add(pattern)
    return False


def _share(filled: float) -> float:
    """Return how much a column weighs that only a part of the rows has."""
    return 1.0 if filled > 0.5 else max(filled, 0.05)


def _listed(texts: list[str], most: int) -> str:
    more = f", … {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


def _is_constant(column: TableColumn) -> bool:
    first = column.values[0]
    if not column.kinds.keys() <= PLAIN and first not in ([], {}):
        return False
    return len(column.kinds) == 1 and all(value == first for value in column.values)


def _described(column: TableColumn, total: int) -> MapLine | None:
    with guess:
        return _describe(column, total)
    return None


def _describe(column: TableColumn, total: int) -> MapLine | None:
    filled = [value for value in column.values if value not in _EMPTY]
    absent = total - len(filled)
    tail = f", none {absent:,}" if absent else ""
    if not filled:
        return MapLine(f"empty in {len(column.values):,}, absent in {total - len(column.values):,}", 1.0)
    if all(type(value) is list for value in filled):
        return _of_lists(filled, tail)
    if (found := _of_kinds(column, filled, absent)) is not None:
        return found
    if (seconds := _times(column, filled)) is not None:
        return _of_times(filled, seconds, tail)
    if (numbers := _numbers(filled)) is not None:
        if ID_NAME.search(column.name):  # nobody adds up ids
            counts = Counter(filled)
            if len(counts) <= _FEW_IDS and _OFTEN * len(counts) <= len(filled):
                return MapLine(_tallied(counts, _FEW) + tail, 6.0)
            text = f"{min(numbers):.0f} to {max(numbers):.0f}, {len(set(numbers)):,} different"
            return MapLine(text + tail, 2.5)
        return _of_numbers(numbers, tail)
    return _of_texts(filled, tail)


def _of_kinds(column: TableColumn, filled: list[Any], absent: int) -> MapLine | None:
    """Describe a column with few different values by how often each is there."""
    if not column.kinds.keys() <= PLAIN or column.distinct > _FEW + 2:
        return None
    counts = Counter(filled)
    if len(counts) > _FEW or (len(counts) > 3 and 2 * len(counts) > len(filled)):
        return None
    if absent:
        counts["none"] += absent
    top = counts.most_common(1)[0][1] / counts.total()
    weight = 2.0 if len(counts) == 1 else 3.2 if top > _NEARLY_ALL else 7.0
    return MapLine(_tallied(counts, _FEW), weight)


def _tallied(counts: Counter[Any], most: int) -> str:
    """Write the most frequent values with their counts, and how many more there are."""
    top = sorted(counts.most_common(most), key=lambda one: (-one[1], str(one[0])))
    has_both = any(type(value) is str for value in counts) and any(
        type(value) in (int, float) for value in counts
    )
    shown = [
        f'"{value}" {count:,}'
        if has_both and type(value) is str and value[:1].isdigit()
        else f"{_value(value)} {count:,}"
        for value, count in top
    ]
    rest = len(counts) - len(top)
    if rest:
        shown.append(f"… {rest:,} more with {counts.total() - sum(count for _, count in top):,}")
    return ", ".join(shown)


def _times(column: TableColumn, filled: Sequence[Any]) -> list[float] | None:
    return column.times if len(filled) == len(column.values) else read_times(column.name, filled)


def _of_times(filled: list[Any], seconds: list[float], tail: str) -> MapLine:
    known = [(second, value) for second, value in zip(seconds, filled, strict=True) if second == second]
    if not known:
        return MapLine("times" + tail, 0.5)
    apart = {at for at, _ in outliers([second for second, _ in known])}
    kept = [one for at, one in enumerate(known) if at not in apart]
    odd = ", ".join(_moment(known[at][1]) for at in sorted(apart))
    return MapLine(
        f"{_moment(min(kept)[1])} … {_moment(max(kept)[1])}{', apart ' + odd if odd else ''}{tail}", 6.5
    )


def _moment(value: Any) -> str:
    """Write a time without its fraction of a second, which no reader of a range needs."""
    text = str(value)
    return text[:19] if len(text) > 19 and text[4:5] == "-" else text


def _of_numbers(numbers: list[float], tail: str) -> MapLine:
    ordered = sorted(numbers)
    whole = math.fsum(ordered)
    middle = ordered[len(ordered) // 2]
    text = f"{plain(ordered[0])} to {plain(ordered[-1])}, median {plain(middle)}, sum {plain(whole)}{tail}"
    return MapLine(text, 4.0)


def _of_texts(filled: list[Any], tail: str) -> MapLine:
    if is_hash(filled[0]) and is_hash(filled[-1]):
        return MapLine(f"{len(set(map(str, filled))):,} different ids{tail}", 1.0)
    counts = (
        Counter(filled) if all(type(value) in PLAIN for value in filled) else Counter(map(_value, filled))
    )
    top = counts.most_common(1)[0][1]
    is_repeating = top >= 3 and len(counts) <= 0.2 * len(filled)
    parts = "" if is_repeating else _parts([value for value in filled if type(value) is str])
    if parts and len(counts) > _FEW:
        return MapLine(f"{len(counts):,} different, {parts}{tail}", 5.0)
    if top >= 3 and len(counts) <= 0.7 * len(filled):
        weight = 5.0 if is_repeating else 3.0
        return MapLine(f"{len(counts):,} different: {_tallied(counts, _SHOWN)}{tail}", weight)
    return MapLine(f"{len(counts):,} different, such as {_value(next(iter(counts)))}{tail}", 0.6)


def _of_lists(filled: list[list[Any]], tail: str) -> MapLine:
    sizes = sorted(map(len, filled))
    text = f"lists of {sizes[0]} to {sizes[-1]}" if sizes[0] != sizes[-1] else f"lists of {sizes[0]}"
    parts = [one for value in filled for one in value if type(one) in (str, int, bool)]
    counts = Counter(parts)
    if counts and len(counts) <= 0.5 * len(parts):
        return MapLine(f"{text}: {_tallied(counts, _SHOWN)}{tail}", 4.0)
    return MapLine(text + tail, 1.0)


def _unique(column: TableColumn, total: int) -> str | None:
    """Describe a column that differs in every row by its ends; None if it does not."""
    if (
        not column.kinds.keys() <= {str, int}
        or column.distinct != total
        or len(column.values) != total
        or total < 3
    ):
        return None
    if column.times is not None:
        return None
    first, last = column.values[0], column.values[-1]
    if is_hash(first) and is_hash(last):
        return ""  # a hash tells a reader nothing
    numbers = serial_numbers(column)
    if numbers is not None:
        step = numbers[1] - numbers[0]
        even = all(after - before == step for before, after in pairwise(numbers))
        low, high = (
            min(zip(numbers, column.values, strict=True))[1],
            max(zip(numbers, column.values, strict=True))[1],
        )
        return (
            f"{_value(first)} … {_value(last)}, consecutive"
            if even and abs(step) == 1
            else f"{_value(low)} … {_value(high)}"
        )
    if column.kinds.keys() == {int}:
        return None
    ends = f"{_value(first)} … {_value(last)}" if len(str(first)) <= _VALUE_CHARS else ""
    parts = _parts(column.values) if column.kinds.keys() == {str} else ""
    return f"{ends}; {parts}".lstrip("; ") if parts else ends


def _parts(texts: list[str]) -> str:
    """Describe names that all differ by what they share: their endings or first words, and the folders they are in."""
    parts, folders = tallied_parts(texts), tallied_folders(texts)
    told = [f"by part: {_tallied(parts, _FEW)}"] if parts else []
    return "; ".join([*told, *([f"by folder: {_tallied(folders, 2 * _FEW)}"] if folders else [])])


def _numbers(filled: list[Any]) -> list[float] | None:
    if all(type(value) in (int, float) for value in filled):
        try:
            found = [float(value) for value in filled]
        except OverflowError:
            return None
        return found if all(map(math.isfinite, found)) else None
    if not all(type(value) is str for value in filled) or not looks_numeric(filled):
        return None
    read = [number for value in filled if not math.isnan(number := as_number(value))]
    return read if len(read) > 0.95 * len(filled) else None


def _value(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return brief(str(value), _VALUE_CHARS) if value != "" else '""'


def plain(number: float) -> str:
    """Write a number with thousands, and as many decimals as tell something."""
    if number.is_integer() and abs(number) < 1e15:
        return f"{number:,.0f}"
    return f"{number:,.2f}" if 1 <= abs(number) < 1e12 else f"{number:.4g}"
