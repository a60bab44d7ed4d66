"""Find rows that break a rule which the others keep: an id that is there twice, a gap, a jump in time, a sum that is wrong.

The rules are learned from the table itself: what holds for nearly all rows is a rule, and the few others are told.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice, pairwise, permutations, product
from typing import TYPE_CHECKING, Any, Final

from brimgate.engine.guess import guess
from brimgate.engine.highlights.column_bounds import check_bounds
from brimgate.engine.highlights.grouped_numbers import check_groups
from brimgate.engine.highlights.number_series import series_breaks, version_breaks
from brimgate.engine.highlights.row_source import Rows
from brimgate.engine.highlights.table_columns import (
    PLAIN,
    Notes,
    TableColumn,
    as_number,
    looks_numeric,
    short,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

_MOSTLY: Final = 0.97
_NEARLY_ALL: Final = 0.98
_MIN_KNOWN: Final = 20
"""Of so many rows at least a rule is learned."""
_MAX_TOLD: Final = 4
_ADDRESS: Final = re.compile(r"\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?::\d+)?\Z")
_FEW_SHARED: Final = 2
"""Hosts that have an address of their own, but for so many, are not callers that may come again."""
_MAX_NAMING: Final = 3
_MIN_SIZES: Final = 3
_MAX_GRID: Final = 8
_MAX_AMOUNTS: Final = 12
_MISSING: Final = 0.1
_MAX_KINDS: Final = 8
_MAX_PAIRED: Final = 14
_MAX_SAMPLED: Final = 20_000
_FAR: Final = 12.0
"""How many times longer than nearly all other steps a step in time must be to be told."""
_MIN_STARTS: Final = 4
_REGULAR_GAP: Final = 1.7
"""How many of its steps a clock that ticks evenly leaves out at least, and the one it takes."""
_LEAST_STEP_SECONDS: Final = 5.0
"""Lines that come every second are no samples, and may well be away for two."""
_UNEVEN: Final = 0.12
_MOSTLY_EVEN: Final = 0.95
_SERIAL: Final = re.compile(r"\A(.*?)(\d{1,15})\Z", re.DOTALL)
_RELEASE: Final = re.compile(r"v?\d{1,4}\.\d{1,4}\.\d{1,4}")
_INNER_SERIAL: Final = re.compile(r"\A(\D{1,20})(\d{2,15})(?= )")
"""A number that words follow: Ref 1204 with thanks."""


_COUNT_OF: Final = " count"
"""How the column ends that holds the sizes of the lists in a column."""
_MIN_COUNTED: Final = 8
_MAX_COUNTED: Final = 12
_MAX_DIFFERENT: Final = 3


def check_relations(columns: Sequence[TableColumn], table: Rows, notes: Notes) -> None:
    """Note rows that break a rule of the table."""
    total = len(table.rows)
    whole = [column for column in columns if len(column.values) == total]
    for number, column in enumerate(() if table.is_sample else _nearly_whole(columns, total)):
        with guess:
            if not _check_times(column, notes):
                _check_duplicates(column, table, notes, is_first=number == 0)
                _check_gaps(column, notes)
                _check_series(column, table, notes)
    with guess:
        _check_counts(columns, notes)
    if not table.is_sample:
        with guess:
            _check_total_row(whole, notes)
        with guess:
            _check_pairs(whole, table, notes)
    if total <= _MAX_SAMPLED:
        with guess:
            check_bounds(columns, total, notes)
        for check in (_check_sums, _check_grid, check_groups):
            with guess:
                check(whole, notes)
        with guess:
            _check_dependence(columns, total, notes)


def _nearly_whole(columns: Sequence[TableColumn], total: int) -> Iterator[TableColumn]:
    """Return the columns that nearly all rows have, without what is empty: one row that lacks an id hides no double."""
    for column in columns:
        kept = [
            (at, value) for at, value in zip(column.at, column.values, strict=True) if value not in (None, "")
        ]
        if len(kept) == len(column.values) == total:
            yield column
        elif len(kept) >= _NEARLY_ALL * total - 1:
            yield TableColumn(column.name, [at for at, _ in kept], [value for _, value in kept])


# Ids


def _check_duplicates(column: TableColumn, table: Rows, notes: Notes, *, is_first: bool) -> None:
    """Note a value that is there twice, in a column where every other is there once."""
    total = len(column.values)
    if not column.kinds.keys() <= {str, int} or not total - _MAX_TOLD <= column.distinct < total:
        return
    is_own = column.distinct >= total - _FEW_SHARED and _OWN_NAME.search(column.name) is not None
    if not (is_own or _is_identity(column) or (is_first and _has_names(column))):
        return
    if not (is_own or ID_NAME.search(column.name)) and _meet_by_chance(column.values):
        return
    counts = Counter(column.values)
    first: dict[Any, int] = {}
    twice = {value for value, count in counts.items() if count > 1 and value not in ("", None)}
    for at, value in zip(column.at, column.values, strict=True):
        if value not in twice:
            continue
        if value in first:
            if not (is_own or _is_identity(column)) and not table.are_siblings(first[value], at):
                continue  # each list may have its own item of that name
            differs = _difference(table.rows[first[value]], table.rows[at])
            text = f"{column.name}={short(value)} is a duplicate of {table.name(first[value])}{differs}"
            notes.add([at], 1.25, column.name, [text])
        else:
            first[value] = at


def _difference(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Say whether two rows of one id are the same: sent twice, or two things."""
    names = [name for name in {**one, **other} if one.get(name) != other.get(name)]
    if not names:
        return ", the same in all fields"
    return f", differs in {', '.join(names)}" if len(names) <= _MAX_DIFFERENT else ""


def _check_pairs(columns: Sequence[TableColumn], table: Rows, notes: Notes) -> None:
    """Note two rows with the same name and time, where no other two have: a measurement that was sent twice."""
    times = next((column for column in columns if column.times is not None), None)
    names = [
        column
        for column in columns[:_MAX_NAMING]
        if column is not times and column.kinds.keys() <= {str, int} and column.distinct >= 2
    ]
    if times is None or not times.kinds.keys() <= PLAIN:
        return
    for column in names:
        first: dict[tuple[Any, Any], int] = {}
        twice: list[tuple[int, int]] = []
        for at, pair in enumerate(zip(column.values, times.values, strict=True)):
            if pair in first:
                twice.append((at, first[pair]))
            first.setdefault(pair, at)
        if not 0 < len(twice) <= _MAX_TOLD or times.distinct >= _MOSTLY * len(times.values):
            continue
        for at, before in twice:
            values = f"{column.name}={short(column.values[at])}, {times.name}={short(times.values[at])}"
            notes.add([column.at[at]], 1.2, column.name, [f"{values} is a duplicate of {table.name(before)}"])
        return


def _check_counts(columns: Sequence[TableColumn], notes: Notes) -> None:
    """Note a row that tells another number of items than its list has, where the others tell the right one."""
    lists = [column for column in columns if column.name.endswith(_COUNT_OF)]
    told = [column for column in columns if column.kinds.keys() == {int} and column not in lists]
    pairs = ((items, column) for items, column in product(lists, told) if _may_count(column.name, items.name))
    for items, column in islice(pairs, _MAX_COUNTED):
        size = dict(zip(items.at, items.values, strict=True))
        known = [
            (at, value, size[at]) for at, value in zip(column.at, column.values, strict=True) if at in size
        ]
        odd = [one for one in known if one[1] != one[2]]
        is_rule = len(known) >= _MIN_COUNTED and len({one[2] for one in known}) > 2
        if is_rule and 0 < len(odd) <= max(1, len(known) // 8):
            name = items.name.removesuffix(_COUNT_OF)
            texts = [f"{column.name} is {value:,}, but {name} has {count:,}" for _, value, count in odd]
            notes.add([at for at, _, _ in odd], 1.4, column.name, texts)


def _may_count(name: str, items: str) -> bool:
    """Return whether a column may tell the sizes of lists: it has their name in its own."""
    stem = items.removesuffix(_COUNT_OF).rpartition(".")[2].lower().rstrip("s")
    return len(stem) > 1 and stem in name.rpartition(".")[2].lower()


def _check_grid(columns: Sequence[TableColumn], notes: Notes) -> None:
    """Note what is missing where each value of one column stands with each of another: a sensor that skipped one hour."""
    names = [c for c in columns if c.kinds.keys() <= {str, int} and 2 <= c.distinct <= len(c.values) // 2]
    for one, other in combinations(names[:_MAX_GRID], 2):
        whole = one.distinct * other.distinct
        if not -_MAX_TOLD <= whole - len(one.values) <= _MAX_TOLD:
            continue
        last = {value: at for at, value in enumerate(one.values)}
        met = set(zip(one.values, other.values, strict=True))
        if not 0 < whole - len(met) <= _MAX_TOLD:
            continue
        for value, beside in product(dict.fromkeys(one.values), dict.fromkeys(other.values)):
            if (value, beside) not in met:
                text = f"{one.name}={short(value)} has no row with {other.name}={short(beside)}, as every other {one.name} has"
                notes.add([one.at[last[value]]], 1.2, one.name, [text])
        return


def _meet_by_chance(values: Sequence[Any]) -> bool:
    """Return whether two of so many values may well be the same: numbers of three digits are, and addresses of hosts."""
    sample = [str(value) for value in values[:: max(1, len(values) // 40)]]
    if sum(map(bool, map(_ADDRESS.match, sample))) > len(sample) / 2:
        return len(values) - len(set(values)) > _FEW_SHARED
    digits = min((sum(map(str.isdigit, text)) for text in sample), default=0)
    return 10**digits < len(values) ** 2 and all(any(map(str.isdigit, text)) for text in sample)


def _has_names(column: TableColumn) -> bool:
    """Return whether a column has names of one word each, by which its rows go."""
    sample = column.values[:: max(1, len(column.values) // 40)]
    return all(type(value) is str and len(value) > 4 and " " not in value for value in sample)


def _check_total_row(columns: Sequence[TableColumn], notes: Notes) -> None:
    """Note a last row that calls itself the total and is not the sum of the others."""
    if not any(type(c.values[-1]) is str and _TOTAL.match(c.values[-1]) for c in columns if c.values):
        return
    for column in columns:
        numbers = [as_number(str(value)) if value not in (None, "") else 0.0 for value in column.values]
        if (
            any(map(math.isnan, numbers[:-1]))
            or math.isnan(numbers[-1])
            or len(numbers) < _MIN_KNOWN
            or not numbers[-1]
        ):
            continue
        whole = math.fsum(numbers[:-1])
        if abs(whole - numbers[-1]) > 0.01 + 1e-6 * abs(whole):
            text = f"the total {column.name}={short(column.values[-1])}, but the rows add up to {whole:,.2f}"
            notes.add([column.at[-1]], 1.3, column.name, [text])


_TOTAL: Final = re.compile(r"\W*(?:grand |sub)?(?:total|sum|summe|gesamt)\b", re.IGNORECASE)


def _is_identity(column: TableColumn) -> bool:
    """Return whether a column is meant to differ in every row: by its name, or because all values have one shape.

    Amounts and names of people differ mostly as well, and may well meet.
    """
    if ID_NAME.search(column.name):
        return True
    numbers = serial_numbers(column)
    if numbers is not None and _usual_step(numbers)[0]:
        return True
    if column.kinds.keys() != {str}:
        return False
    sample = column.values[:: max(1, len(column.values) // 40)]
    shapes = {_SHAPE.sub("0", value[:80]) for value in sample}
    return (
        len(shapes) == 1 and "0" in shapes.copy().pop() and column.times is None and not looks_numeric(sample)
    )


ID_NAME: Final = re.compile(
    r"(?:^|[_\-. ]|(?<=[a-z]))(?:id|uuid|guid|identifier|key|number|no|nr|ref|reference|sku|hash|sha|slug)$",
    re.IGNORECASE,
)
_OWN_NAME: Final = re.compile(
    r"(?:^|[_\-. ]|(?<=[a-z]))(?:e-?mail|mail|login|user_?name|ip|ip_?address|address|host|host_?name|fqdn|mac|serial|phone|url"
    r"|arn|name|title|label)$",
    re.IGNORECASE,
)
"""What everybody has one of, if nearly all rows have another one."""
_SHAPE: Final = re.compile(r"[0-9a-fA-F]*[0-9][0-9a-fA-F]*")


def _check_gaps(column: TableColumn, notes: Notes) -> None:
    """Note where consecutive numbers leave some out, or one is out of order."""
    if column.distinct < _MOSTLY * len(column.values):
        _check_restarts(column, notes)
        return
    numbers = serial_numbers(column)
    if numbers is None:
        return
    step, steps = _usual_step(numbers)
    if not step:
        return
    odd = [at for at, taken in enumerate(steps) if taken != step]
    if not 0 < len(odd) <= 2 * _MAX_TOLD:
        return
    stray = -1
    for at in odd:
        if at == stray:  # back from one that was out of order
            continue
        before, after = short(column.values[at]), short(column.values[at + 1])
        returns = (
            at + 2 < len(numbers)
            and numbers[at + 2] - numbers[at] in (step, 2 * step)
            and steps[at + 1] != step
        )
        if steps[at] * step <= 0 or returns:
            stray, what = at + 1, "out of order"
        else:
            what = f"gap, {steps[at] // step - 1:,} missing"
        notes.add([column.at[at + 1]], 1.15, column.name, [f"{column.name} {what}: {before} then {after}"])


def _check_restarts(column: TableColumn, notes: Notes) -> None:
    """Note a gap in numbers that count up by one and begin anew again and again: the partitions of each topic."""
    values = _as_numbers(column)
    if values is None or len(values) < 2 * _MIN_KNOWN or any(map(math.isnan, values)):
        return
    first = min(values)
    odd = [at for at, (before, after) in enumerate(pairwise(values), 1) if after not in (before + 1, first)]
    begins = sum(value == first for value in values)
    if not 0 < len(odd) <= _MAX_TOLD or not _MIN_STARTS <= begins <= len(values) // 3:
        return
    for at in odd:
        what = "gap" if values[at] > values[at - 1] + 1 else "out of order"
        text = f"{column.name} {what}: {short(column.values[at - 1])} then {short(column.values[at])}"
        notes.add([column.at[at]], 1.1, column.name, [text])


def _check_series(column: TableColumn, table: Rows, notes: Notes) -> None:
    """Note a number that is missing or double among names that begin in several ways: web-01, web-02, db-01."""
    if column.kinds.keys() != {str} or column.distinct < _MIN_KNOWN or serial_numbers(column) is not None:
        return
    if all(map(_RELEASE.fullmatch, column.values[:_MIN_KNOWN])):
        for one in version_breaks(list(zip(column.at, column.values, strict=True))):
            notes.add([one.place], 1.15, column.name, [f"{column.name} {one.text}"])
        return
    matches = ((at, _SERIAL.match(value[-60:])) for at, value in zip(column.at, column.values, strict=True))
    for one in series_breaks((at, found[1], found[2]) for at, found in matches if found):
        also = f" ({table.name(one.others[-1])})" if one.others else ""
        notes.add([one.place], 1.15, column.name, [f"{column.name} {one.text}{also}"])


def serial_numbers(column: TableColumn) -> list[int] | None:
    """Return the numbers of a column that counts up, such as 17, 18 or INV-0017, INV-0018; None if it does not."""
    values = column.values
    if column.kinds.keys() == {int}:
        return values
    if column.kinds.keys() != {str} or len(values) < _MIN_KNOWN or len(values[0]) > 60:
        return None
    sample = values[:: max(1, len(values) // 40)]
    for pattern in (_SERIAL, _INNER_SERIAL):
        lead = _common_lead(sample, pattern)
        if lead is not None:
            found = [pattern.match(value) for value in values]
            numbers = [int(one[2]) for one in found if one and one[1] == lead]
            return numbers if len(numbers) == len(values) else None
    return None


def _common_lead(values: Sequence[str], pattern: re.Pattern[str]) -> str | None:
    """Return what stands before the number of every value; None if that differs."""
    leads = {found[1] if (found := pattern.match(value)) else None for value in values}
    return leads.pop() if len(leads) == 1 else None


def _usual_step(numbers: Sequence[int]) -> tuple[int, list[int]]:
    """Return the step that nearly all numbers are apart, or 0, and every step."""
    steps = [after - before for before, after in pairwise(numbers)]
    if len(steps) < _MIN_KNOWN:
        return 0, steps
    step, count = Counter(steps).most_common(1)[0]
    return (step if step and count >= _MOSTLY * len(steps) else 0), steps


# Times


def _check_times(column: TableColumn, notes: Notes) -> bool:
    """Note where time goes back, or jumps, in a column of times that otherwise goes on. Return whether it has times."""
    seconds = column.times
    if seconds is None:
        return False
    for at, what in time_breaks(seconds):
        before, after = short(column.values[at - 1]), short(column.values[at])
        notes.add([column.at[at]], 1.1, column.name, [f"{column.name} {what}: {before} then {after}"])
    return True


def time_breaks(seconds: Sequence[float]) -> list[tuple[int, str]]:
    """Return where times that otherwise go on go back, or jump: the index of what comes after, and which of the two."""
    steps = [0.0 if math.isnan(after - before) else after - before for before, after in pairwise(seconds)]
    forward, back = sum(step > 0 for step in steps), sum(step < 0 for step in steps)
    if forward + back < _MIN_KNOWN or min(forward, back) > min(_MAX_TOLD, 0.05 * len(steps)):
        return []
    sign = 1 if forward >= back else -1
    ordered = sorted(step * sign for step in steps)
    usual = ordered[int(0.98 * len(ordered))]
    least = max(_REGULAR_GAP * step if (step := _regular_step(steps)) else _FAR * usual, 1e-3)
    found: list[tuple[int, str]] = []
    for at, step in enumerate(steps, 1):
        is_return = (
            bool(found) and found[-1][0] == at - 1 and 0 <= sign * (seconds[at] - seconds[at - 2]) <= least
        )
        if is_return:
            continue  # back from one time that was wrong
        if step * sign < 0:
            found.append((at, "time goes back"))
        elif step * sign > least and usual > 0:
            found.append((at, f"jump in time, gap of {_duration(abs(step))}"))
    return found if len(found) <= 2 * _MAX_TOLD else []


def _regular_step(steps: Sequence[float]) -> float:
    """Return the step of a clock that ticks evenly, as of samples every ten minutes or entries of every month; or 0."""
    taken = sorted(step for step in map(abs, steps) if step)
    middle = taken[len(taken) // 2] if len(taken) >= _MIN_KNOWN else 0.0
    near = sum(abs(step - middle) <= _UNEVEN * middle for step in taken)
    return middle if middle >= _LEAST_STEP_SECONDS and near >= _MOSTLY_EVEN * len(taken) else 0.0


def _duration(seconds: float) -> str:
    """Write how long something takes in the unit that people use for it."""
    for unit, size in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"


# Sums


def _check_sums(columns: Sequence[TableColumn], notes: Notes) -> None:
    """Note a row in which two numbers do not give a third, where they do in all others."""
    import numpy as np

    amounts = [
        amount
        for column in columns
        if column.distinct > _MIN_KNOWN and (amount := _amounts(column)) is not None
    ]
    amounts += [
        TableColumn(f"{column.name} has", column.at, [len(value) for value in column.values])
        for column in columns
        if column.kinds.keys() == {list}
    ]
    amounts += [column for column in columns if column.name.endswith(" count") and column not in amounts]
    if not 2 <= len(amounts) <= _MAX_AMOUNTS or len(amounts[0].values) < _MIN_KNOWN:
        return
    arrays = {id(column): np.asarray(column.values, dtype=np.float64) for column in amounts}
    told: set[int] = set()
    for total, *parts in _candidates(amounts):
        of_parts = [arrays[id(part)] for part in parts]
        made, sign = of_parts[0], "="
        if len(parts) == 2:
            for made, sign in ((of_parts[0] + of_parts[1], "+"), (of_parts[0] * of_parts[1], "×")):
                if _tell_sum(total, parts, sign, arrays[id(total)], made, told, notes):
                    break
        else:
            _tell_sum(total, parts, sign, arrays[id(total)], made, told, notes)


def _amounts(column: TableColumn) -> TableColumn | None:
    """Return a column as numbers, also where a text has them, with NaN for the few that are missing; None if it has none."""
    if column.kinds.keys() <= {int, float}:
        return column
    numbers = _as_numbers(column) if column.times is None else None
    if numbers is None:
        return None
    missing = sum(map(math.isnan, numbers))
    return TableColumn(column.name, column.at, numbers) if missing <= _MISSING * len(numbers) else None


def _as_numbers(column: TableColumn) -> list[float] | None:
    """Return the values of a column of numbers, also of those in texts; None if it has others."""
    if column.kinds.keys() <= {int, float}:
        return column.values
    return column.numbers if column.kinds.keys() == {str} and looks_numeric(column.values) else None


def _candidates(amounts: Sequence[TableColumn]) -> Iterator[tuple[TableColumn, ...]]:
    yield from combinations(amounts, 2)
    for one, other in combinations(amounts, 2):
        for total in amounts:
            if total is not one and total is not other:
                yield total, one, other


def _tell_sum(
    total: TableColumn,
    parts: Sequence[TableColumn],
    sign: str,
    found: "Numbers",
    made: "Numbers",
    told: set[int],
    notes: Notes,
) -> bool:
    """Tell the rows that break `total = parts`, if nearly all keep it. Return whether it is a rule."""
    import numpy as np

    is_wrong = np.abs(found - made) > 0.02 + 1e-6 * np.abs(found)
    count = int(is_wrong.sum())
    if count > max(2, (1 - _NEARLY_ALL) * len(found)) or len(np.unique(made)) < _MIN_SIZES:
        return False
    if all(column.name.endswith((" has", " count")) for column in (total, *parts)):
        return False  # sizes of two lists may agree by chance
    for at in map(int, np.flatnonzero(is_wrong)[:_MAX_TOLD]):
        if total.at[at] not in told:
            told.add(total.at[at])
            names = f" {sign} ".join(f"{part.name} {part.values[at]:g}" for part in parts)
            text = f"{total.name}={short(total.values[at])}, but {names} gives {made[at]:g}"
            notes.add([total.at[at]], 1.25, total.name, [text])
    return True


# Dependence


def _check_dependence(columns: Sequence[TableColumn], total: int, notes: Notes) -> None:
    """Note a value that goes with another one than in all other rows: a currency that is not that of its country."""
    kinds = [_kinds_of(column, total) for column in columns]
    few = [found for found in kinds if found is not None][:_MAX_PAIRED]
    for (by, causes), (of, effects) in permutations(few, 2):
        if Counter(effects).most_common(1)[0][1] >= _DULL * total:
            continue
        pairs = Counter(zip(causes, effects, strict=True))
        of_cause = Counter(causes)
        rules: dict[Any, Any] = {}
        for (cause, effect), count in pairs.items():
            if cause != _ABSENT and count >= _MIN_KNOWN and count >= _NEARLY_ALL * of_cause[cause]:
                rules[cause] = effect
        _tell_dependence(by, of, causes, effects, rules, notes)


_DULL: Final = 0.92
"""What nearly all rows have goes with everything, and depends on nothing."""
_ABSENT: Final = "absent"
_FILLED: Final = "filled"


def _kinds_of(column: TableColumn, total: int) -> tuple[TableColumn, list[Any]] | None:
    """Return the column with one of a few words for each row: its value, or whether it has one."""
    values: list[Any] = [_ABSENT] * total
    if column.kinds.keys() <= PLAIN and 2 <= column.distinct <= _MAX_KINDS and float not in column.kinds:
        for at, value in zip(column.at, column.values, strict=True):
            values[at] = _ABSENT if value in (None, "") else value
    else:
        empty = len(column.values) < total or any(value in (None, "", []) for value in column.values)
        if not empty:
            return None
        for at, value in zip(column.at, column.values, strict=True):
            values[at] = _ABSENT if value in (None, "", []) else _FILLED
    return column, values


def _tell_dependence(
    by: TableColumn,
    of: TableColumn,
    causes: list[Any],
    effects: list[Any],
    rules: dict[Any, Any],
    notes: Notes,
) -> None:
    odd = [
        at
        for at, (cause, effect) in enumerate(zip(causes, effects, strict=True))
        if cause in rules and rules[cause] != effect
    ]
    if not 0 < len(odd) <= 2:
        return
    texts: list[str] = []
    for at in odd:
        cause = f"{by.name}={short(causes[at])}" if causes[at] != _FILLED else f"{by.name} filled"
        usual = rules[causes[at]]
        texts.append(f"{of.name} is {short(effects[at])} with {cause}, usually {short(usual)}")
    notes.add(odd, 1.1, of.name, texts)
