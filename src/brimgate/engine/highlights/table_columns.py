"""Read a table by its columns: nested objects are flattened into the columns inside them."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import msgspec

from brimgate.engine.highlights.column_times import read_times
from brimgate.engine.lazy import lazy

_MAX_RARE_KEYS: Final = 6
MIN_ROWS: Final = 12
_MAX_COLUMNS: Final = 400
_MAX_DEPTH: Final = 5
_MAX_PAIR: Final = 3
_MAX_LACKING: Final = 4
_SPARSE_NAMES: Final = 20
_SPARSE_SHARE: Final = 0.05
_MAX_HAD_CHARS: Final = 300
_MAX_VALUE_CHARS: Final = 120
_MIN_CUT: Final = 24
"""Fewer characters than this are not cut: saying so would take as many."""
CUT: Final = " more characters)"
_DECIMAL_COMMA: Final = re.compile(
    r"\s*[-+]?(?:\d{1,3}(?:\.\d{3})+|\d+),\d{1,2}\s*%?\Z|\s*[-+]?\d{1,3}(?:\.\d{3})+,\d+\s*\Z"
)
"""A number as most of Europe writes it: 1.234,56."""
_IN_PARENTHESES: Final = re.compile(r"\s*\(\s*([$€£]?\d[\d,]*(?:\.\d+)?)\s*\)\s*\Z")
"""A negative amount, as accountants write it: (1,234.56)."""
_NUMBER: Final = re.compile(
    rf"\s*[-+]?[$€£]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?\s*%?\Z|{_DECIMAL_COMMA.pattern}|\s*\([\d,.]+\)\s*\Z"
)
_HASH: Final = re.compile(
    r"(?:sha\d+[:-])?(?:(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,}|[0-9a-f]{16,})\Z|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z"
    r"|(?=\S*\d)(?=\S*[a-z])(?=\S*[A-Z])[A-Za-z0-9+/_=-]{24,}\Z",
)
_HASHED: Final = re.compile(r"[0-9a-f]{16}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-")
PLAIN: Final = frozenset((str, int, float, bool, type(None)))

Row = dict[str, Any]


@dataclass
class TableColumn:
    name: str
    at: Sequence[int]
    """The numbers of the rows that have this column."""
    values: list[Any]

    @lazy
    def kinds(self) -> dict[type, int]:
        """The number of values of each type."""
        distinct = set(map(type, self.values))
        return {distinct.pop(): len(self.values)} if len(distinct) == 1 else Counter(map(type, self.values))

    @lazy
    def distinct(self) -> int:
        """The number of different values. Values that are not plain count as one each."""
        if self.kinds.keys() <= PLAIN:
            return len(set(self.values))
        plain = {value for value in self.values if type(value) in PLAIN}
        return len(plain) + sum(count for kind, count in self.kinds.items() if kind not in PLAIN)

    @lazy
    def times(self) -> list[float] | None:
        """The values in seconds, NaN where one cannot be read; None if they are no times."""
        return read_times(self.name, self.values)

    @lazy
    def numbers(self) -> list[float]:
        """Texts as numbers, NaN where one is none."""
        return [as_number(value) for value in self.values]


class Notes:
    """Reasons to show a row, each with its score."""

    def __init__(self, count: int) -> None:
        self._count = count
        self.by_row: dict[int, list[tuple[float, str, str]]] = defaultdict(list)

    def add(
        self, rows: Sequence[int], weight: float, name: str, reasons: Sequence[str], among: int = 0
    ) -> None:
        """Add one kind of oddness that these rows share in column `name`: the fewer the rows, the higher the score."""
        worth = weight * math.log2(max(self._count / (among or len(rows)), 1)) if rows else 0
        for row, reason in zip(rows, reasons, strict=True):
            self.by_row[row].append((worth, name, reason))


def rare_count(count: int) -> int:
    """Return up to how many rows count as rare among `count`."""
    return max(2, count // 400)


def columns_of(
    rows: list[Row],
    at: Sequence[int],
    prefix: str,
    notes: Notes,
    depth: int,
    inner: frozenset[str] = frozenset(),
) -> Iterator[TableColumn]:
    """Return the columns of rows. Of what is a table of its own, named in `inner`, only the size is a column."""
    counts = _count_keys(rows)
    total = len(rows)
    _check_keys(rows, at, prefix, counts, notes)
    for key, count in counts.most_common(_MAX_COLUMNS):
        name = f"{prefix}{key}"
        if count <= rare_count(total) and total >= MIN_ROWS:
            break
        if count == total:
            values, places = [row[key] for row in rows], at
        else:
            held = [(place, row[key]) for place, row in zip(at, rows, strict=True) if key in row]
            values, places = [value for _, value in held], [place for place, _ in held]
        yield from _flatten(TableColumn(name, places, values), notes, depth, inner)


def _count_keys(rows: list[Row]) -> Counter[str]:
    """Count the keys of all rows. Counts key sets first, of which there are usually few."""
    counts: Counter[str] = Counter()
    for keys, count in Counter(map(tuple, rows)).items():
        for key in keys:
            counts[key] += count
    return counts


def _flatten(column: TableColumn, notes: Notes, depth: int, inner: frozenset[str]) -> Iterator[TableColumn]:
    """Flatten a column of objects into the columns inside it; a column of lists of one length into each position."""
    kinds = column.kinds
    kind = max(kinds, key=lambda kind: (kind is not type(None), kinds[kind]))
    count = kinds[kind]
    filled = len(column.values) - kinds.get(type(None), 0)
    if column.name in inner:
        sizes = [len(value) if type(value) in (dict, list) else 0 for value in column.values]
        yield TableColumn(f"{column.name} count", column.at, sizes)
    elif depth < _MAX_DEPTH and kind is list and (objects := pairs_of(column.values)) is not None:
        yield from columns_of(objects, column.at, column.name + ".", notes, depth + 1, inner)
    elif (
        depth < _MAX_DEPTH and kind is dict and count * 2 > filled and count > rare_count(len(column.values))
    ):
        values, places = column.values, column.at
        if len(kinds) > 1:
            check_types(column, notes)
            kept = [number for number, value in enumerate(values) if type(value) is dict]
            values, places = [values[number] for number in kept], [places[number] for number in kept]
        if _is_sparse(values):
            yield TableColumn(f"{column.name} count", places, [len(value) for value in values])
            return
        yield from columns_of(values, places, column.name + ".", notes, depth + 1, inner)
    elif depth < _MAX_DEPTH and kind is list and count == len(column.values) and _one_length(column.values):
        for position in range(len(column.values[0])):
            cells = TableColumn(
                f"{column.name}[{position}]", column.at, [value[position] for value in column.values]
            )
            yield from _flatten(cells, notes, depth + 1, inner)
    else:
        yield column


def _is_sparse(objects: Sequence[Row]) -> bool:
    """Return whether objects have names that hardly recur, so that these are keys: what a package depends on."""
    counts = Counter(name for one in objects for name in one)
    usual = sorted(counts.values())[len(counts) // 2] if counts else 0
    return len(counts) > _SPARSE_NAMES and usual <= max(2, _SPARSE_SHARE * len(objects))


def pairs_of(lists: Sequence[Any]) -> list[Row] | None:
    """Read lists of `{"key": …, "value": …}` as objects; None if they are something else."""
    if not any(lists):
        return None
    found: list[Row] = []
    for one in lists:
        items = cast("list[Any]", one) if type(one) is list else []
        pairs = [_pair(item) for item in items]
        if None in pairs:
            return None
        found.append(dict(pair for pair in pairs if pair is not None))
    return found


def _pair(item: Any) -> tuple[str, Any] | None:
    """Return the name and the value of a pair; None if it is none."""
    if type(item) is not dict:
        return None
    members = {name.lower(): value for name, value in cast("Row", item).items()}
    if len(members) > _MAX_PAIR:
        return None
    name = members.get("key", members.get("name"))
    if not isinstance(name, str) or not members.keys() & {"value", "valuefrom"}:
        return None
    return name, _unwrapped(members.get("value", members.get("valuefrom")))


def _unwrapped(value: Any) -> Any:
    """Return what a value is, where its type is written around it: `{"stringValue": "a"}`."""
    if type(value) is not dict:
        return value
    wrapper = cast("Row", value)
    name, only = next(iter(wrapper.items()), ("", None))
    return only if len(wrapper) == 1 and name.endswith("Value") else wrapper


def _one_length(lists: list[list[Any]]) -> bool:
    is_plain = not any(type(item) in (dict, list) for item in lists[0])
    return is_plain and 0 < len(lists[0]) <= 8 and len(set(map(len, lists))) == 1


def _check_keys(rows: list[Row], at: Sequence[int], prefix: str, counts: Counter[str], notes: Notes) -> None:
    total = len(rows)
    if total < MIN_ROWS:
        return
    few = rare_count(total)
    rare = {key for key, count in counts.items() if count <= few}
    if rare and len(rare) <= max(_MAX_RARE_KEYS, total // 50):
        held = [
            (place, key, row[key])
            for place, row in zip(at, rows, strict=True)
            for key in row  # in the order of the row: the order of a set differs in every process
            if key in rare
        ]
        for key in dict.fromkeys(key for _, key, _ in held):
            has = [
                (place, f"has {prefix}{key}={short(value, _MAX_HAD_CHARS)}")
                for place, of, value in held
                if of == key
            ]
            notes.add([p for p, _ in has], 1.2, prefix + key, [text for _, text in has], among=len(held))
    for key, count in counts.items():
        if 0 < total - count <= max(few, min(_MAX_LACKING, total // 100)):
            without = [place for place, row in zip(at, rows, strict=True) if key not in row]
            notes.add(without, 1.2, prefix + key, [f"lacks {prefix}{key}"] * len(without))


def check_types(column: TableColumn, notes: Notes) -> None:
    """Note a type, or null, that hardly any other row has here."""
    named: dict[str, int] = Counter()
    for kind, count in column.kinds.items():
        named[_NAMES.get(kind, "an object")] += count
    usual = max(named, key=lambda name: named[name])
    for name, count in named.items():
        if count > rare_count(len(column.values)) or name == usual:
            continue
        if name != "null" and usual == "null" and count > 2:
            continue  # a field that is seldom filled is judged by its values
        odd = [(at, v) for at, v in zip(column.at, column.values, strict=True) if _kind_name(v) == name]
        weight = 1.0 if name == "null" else 1.3
        notes.add(
            [at for at, _ in odd],
            weight,
            column.name,
            [
                f"{column.name}{'' if v is None else '=' + short(v)} is {name}, usually {usual}"
                for _, v in odd
            ],
        )


def _kind_name(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list() | tuple():
            return "a list"
        case _:
            return "an object"


_NAMES: Final = {
    type(None): "null",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a text",
    list: "a list",
    tuple: "a list",
}


def short(value: Any, most: int = _MAX_VALUE_CHARS) -> str:
    """Write a value on one line, cut if it is long."""
    text = value if isinstance(value, str) else spelled(value)
    if len(text) <= most + _MIN_CUT:
        return text
    return f"{text[:most]}… ({len(text) - most:,}{CUT}"


def spelled(value: Any) -> str:
    """Write the value as JSON where possible."""
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, OverflowError):
        return repr(value)


def looks_numeric(texts: Sequence[str]) -> bool:
    """Return whether nearly all texts are numbers, by a sample of them."""
    sample = texts[:: max(1, len(texts) // 40)]
    return sum(_NUMBER.match(text) is not None for text in sample) > 0.85 * len(sample)


def as_number(text: str) -> float:
    """Read a number with its currency, thousands or percent sign; NaN if it is none."""
    try:
        return float(text)
    except ValueError:
        pass
    if negative := _IN_PARENTHESES.match(text):
        return -as_number(negative[1])
    if _DECIMAL_COMMA.match(text):
        return float(text.strip().rstrip("%").replace(".", "").replace(",", "."))
    if _NUMBER.match(text) is None:
        return math.nan
    try:
        return float(
            text.strip().rstrip("%").replace(",", "").lstrip("$€£+").replace("-$", "-").replace("-€", "-")
        )
    except ValueError:
        return math.nan


def is_hash(value: Any) -> bool:
    """Return whether a value is a hash or a UUID, which tells a reader nothing."""
    if isinstance(value, str):
        return _HASH.match(value) is not None
    return isinstance(value, (dict, list, tuple)) and _HASHED.search(spelled(value)) is not None
