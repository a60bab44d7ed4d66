"""Find unusual rows, column by column, because a column tells what is usual."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import msgspec

from brimgate.engine.highlights.findings import Finding, calm, clip, is_server_error
from brimgate.engine.highlights.odd_lines import odd_texts, outliers
from brimgate.engine.highlights.row_source import Rows
from brimgate.engine.lazy import lazy

_MIN_ROWS: Final = 12
_MAX_COLUMNS: Final = 400
_MAX_DEPTH: Final = 4
_MAX_REASONS: Final = 4
_MAX_VALUE_CHARS: Final = 120
_MIN_CUT: Final = 24
"""Fewer characters than this are not cut: saying so would take as many."""
_CUT: Final = " more characters)"
_MAX_WHOLE_CHARS: Final = 180
_MAX_WHOLE_FIELDS: Final = 14
_MAX_OWN_CHARS: Final = 16

_NUMBER: Final = re.compile(r"\s*[-+]?[$€£]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?\s*%?\Z")
_DATE: Final = re.compile(r"\d{4}-\d\d|\d\d?[/.]\d\d?[/.]\d{2,4}|\d\d:\d\d")
_ALARM: Final = re.compile(
    r"\b(?:error|fatal|critical|crit|panic|emerg|alert|severe|exception|fail(?:ed|ure)?|denied|refused|corrupt\w*|"
    r"crash\w*|oom\w*|timeout|unhealthy|chargeback|fraud\w*|breach|violation)\b|payment_failed",
    re.IGNORECASE,
)
_ALARM_WORDS: Final = (
    "error", "fatal", "crit", "panic", "emerg", "alert", "severe", "exception", "fail", "denied", "refused", "corrupt",
    "crash", "oom", "timeout", "unhealthy", "chargeback", "fraud", "breach", "violation",
    "http", "status", "code", '" 5',
)  # fmt: skip
"""Every text that reports trouble contains one of these."""
_STATUS: Final = re.compile(
    r"(?:^|[_\-. ]|(?<=[a-z]))(?:status|status_?code|http_?code|response_?code)$", re.IGNORECASE
)
_MAX_WORDS_READ: Final = 20
_AROUND: Final = 80
_SERVER_ERRORS: Final = range(500, 600)
_HASH: Final = re.compile(
    r"(?:sha\d+[:-])?(?:(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,}|[0-9a-f]{16,})\Z|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z"
    r"|(?=\S*\d)(?=\S*[a-z])(?=\S*[A-Z])[A-Za-z0-9+/_=-]{24,}\Z",
)
_HASHED: Final = re.compile(r"[0-9a-f]{16}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-")
_HEX: Final = re.compile(r"[0-9a-f-]{7,}\Z", re.IGNORECASE)
_IDENTITY: Final = re.compile(
    r"(?:^|[_\-. ]|(?<=[a-z]))(?:id|uuid|identifier|key|name|title|number|ref|reference|code|sku|login|email|path|url)$",
    re.IGNORECASE,
)

Row = dict[str, Any]


_LARGEST: Final = 10**300
_PLAIN: Final = frozenset((str, int, float, bool, type(None)))


@dataclass
class _Column:
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
        if self.kinds.keys() <= _PLAIN:
            return len(set(self.values))
        plain = {value for value in self.values if type(value) in _PLAIN}
        return len(plain) + sum(count for kind, count in self.kinds.items() if kind not in _PLAIN)


class _Notes:
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


def odd_rows(table: Rows) -> list[Finding]:
    rows = table.rows
    if len(rows) < _MIN_ROWS:
        return []
    notes = _Notes(len(rows))
    columns = list(_columns(rows, range(len(rows)), "", notes, 0))
    for column in columns:
        _check_column(column, notes)
    identity = [
        (column.name, dict(zip(column.at, column.values, strict=True)))
        for column in _identity(columns, len(rows))
    ]
    findings: list[Finding] = []
    for row, reasons in notes.by_row.items():
        reasons.sort(key=lambda reason: -reason[0])
        score = reasons[0][0] + 0.3 * sum(worth for worth, _, _ in reasons[1:_MAX_REASONS])
        # Two checks may find the same field odd: it is told once, by the one that says most.
        told = {name: text for _, name, text in reversed(reasons[:_MAX_REASONS])}
        text = "; ".join(text for _, name, text in reasons[:_MAX_REASONS] if told.pop(name, None) == text)
        names = [(name, values.get(row)) for name, values in identity]
        label = _label(rows[row], names, {name for _, name, _ in reasons})
        findings.append(Finding(table.places[row], score, clip(f"{text} · {label}" if label else text)))
    return findings


def _label(row: Row, names: list[tuple[str, Any]], told: set[str]) -> str:
    """Describe the row by what was not told of it: all of it when it is small, else what identifies it.

    Of hashes and UUIDs only the row's own id is worth its tokens: that of its top level, the only one, or its first field.
    """
    tops = {name.partition(".")[0].partition("[")[0] or name for name in told}
    plain = [name for name, value in names if not _is_hash(value)]
    first = next(iter(row), "")
    ids = [name for name, _ in names if _ID.search(name) and not (plain and "." in name)]
    ids += [first] if len(str(row.get(first))) <= _MAX_OWN_CHARS else []
    own = ids[0] if ids else ""
    untold = {key: value for key, value in row.items() if key not in tops}
    kept = {key: value for key, value in untold.items() if key == own or not _is_hash(value)}
    is_small = len(row) <= _MAX_WHOLE_FIELDS and not any(_CUT in _short(value) for value in kept.values())
    whole = ", ".join(f"{key}={_short(value)}" for key, value in kept.items()) if is_small else ""
    named = [(name, value) for name, value in names if name not in told and (name == own or name in plain)]
    has_lost_objects = any(isinstance(untold[key], (dict, list)) for key in untold.keys() - kept.keys())
    if whole and len(whole) <= _MAX_WHOLE_CHARS and not (named and has_lost_objects):
        return whole
    return ", ".join(f"{name}={_short(value)}" for name, value in named)


def _is_hash(value: Any) -> bool:
    """Return whether a value is a hash or a UUID, which tells a reader nothing."""
    if isinstance(value, str):
        return _HASH.match(value) is not None
    return isinstance(value, (dict, list, tuple)) and _HASHED.search(_spelled(value)) is not None


def _rare(count: int) -> int:
    """Return up to how many rows count as rare among `count`."""
    return max(2, count // 400)


def _columns(rows: list[Row], at: Sequence[int], prefix: str, notes: _Notes, depth: int) -> Iterator[_Column]:
    counts = _count_keys(rows)
    total = len(rows)
    _check_keys(rows, at, prefix, counts, notes)
    for key, count in counts.most_common(_MAX_COLUMNS):
        name = f"{prefix}{key}"
        if count <= _rare(total) and total >= _MIN_ROWS:
            break
        if count == total:
            values, places = [row[key] for row in rows], at
        else:
            held = [(place, row[key]) for place, row in zip(at, rows, strict=True) if key in row]
            values, places = [value for _, value in held], [place for place, _ in held]
        yield from _flatten(_Column(name, places, values), notes, depth)


def _count_keys(rows: list[Row]) -> Counter[str]:
    """Count the keys of all rows. Counts key sets first, of which there are usually few."""
    counts: Counter[str] = Counter()
    for keys, count in Counter(map(tuple, rows)).items():
        for key in keys:
            counts[key] += count
    return counts


def _flatten(column: _Column, notes: _Notes, depth: int) -> Iterator[_Column]:
    """Flatten a column of objects into the columns inside it; a column of lists of one length into each position."""
    kinds = column.kinds
    kind = max(kinds, key=kinds.__getitem__)
    count = kinds[kind]
    if depth < _MAX_DEPTH and kind is dict and count * 2 > len(column.values):
        values, places = column.values, column.at
        if len(kinds) > 1:
            _check_types(column, notes)
            kept = [number for number, value in enumerate(values) if type(value) is dict]
            values, places = [values[number] for number in kept], [places[number] for number in kept]
        yield from _columns(values, places, column.name + ".", notes, depth + 1)
    elif depth < _MAX_DEPTH and kind is list and count == len(column.values) and _one_length(column.values):
        for position in range(len(column.values[0])):
            inner = _Column(
                f"{column.name}[{position}]", column.at, [value[position] for value in column.values]
            )
            yield from _flatten(inner, notes, depth + 1)
    else:
        yield column


def _one_length(lists: list[list[Any]]) -> bool:
    return 0 < len(lists[0]) <= 8 and len(set(map(len, lists))) == 1


def _check_keys(rows: list[Row], at: Sequence[int], prefix: str, counts: Counter[str], notes: _Notes) -> None:
    total = len(rows)
    if total < _MIN_ROWS:
        return
    few = _rare(total)
    rare = {key for key, count in counts.items() if count <= few}
    if rare and len(rare) <= max(3, total // 50):
        held = [
            (place, key, row[key])
            for place, row in zip(at, rows, strict=True)
            for key in row  # in the order of the row: the order of a set differs in every process
            if key in rare
        ]
        for key in dict.fromkeys(key for _, key, _ in held):
            has = [(place, f"has {prefix}{key}={_short(value)}") for place, of, value in held if of == key]
            notes.add([p for p, _ in has], 1.2, prefix + key, [text for _, text in has], among=len(held))
    for key, count in counts.items():
        if 0 < total - count <= few:
            without = [place for place, row in zip(at, rows, strict=True) if key not in row]
            notes.add(without, 1.2, prefix + key, [f"lacks {prefix}{key}"] * len(without))


def _check_column(column: _Column, notes: _Notes) -> None:
    if len(column.values) < _MIN_ROWS:
        return
    kinds = column.kinds
    if len(kinds) > 1:
        _check_types(column, notes)
    kind = max(kinds, key=lambda kind: (kind is not type(None), kinds[kind]))
    if kind in (int, float):
        _check_numbers(column, _numbers(column), notes)
        if float not in kinds:
            _check_rare_values(column, notes)
    elif kind is str:
        _check_strings(column, notes)
    elif kind is bool:
        _check_rare_values(column, notes)


def _numbers(column: _Column) -> list[float]:
    values = column.values
    if len(column.kinds) > 1:
        values = [value if type(value) in (int, float) else math.nan for value in values]
    try:
        return list(map(float, values))
    except OverflowError:  # JSON has integers of any length
        return [
            float(max(-_LARGEST, min(_LARGEST, value))) if type(value) is int else value for value in values
        ]


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


def _check_types(column: _Column, notes: _Notes) -> None:
    """Note a type, or null, that hardly any other row has here."""
    named: dict[str, int] = Counter()
    for kind, count in column.kinds.items():
        named[_NAMES.get(kind, "an object")] += count
    usual = max(named, key=lambda name: named[name])
    for name, count in named.items():
        if count > _rare(len(column.values)) or name == usual:
            continue
        if name != "null" and usual == "null":
            continue  # a field that is seldom filled is judged by its values
        odd = [(at, v) for at, v in zip(column.at, column.values, strict=True) if _kind_name(v) == name]
        weight = 1.0 if name == "null" else 1.3
        notes.add(
            [at for at, _ in odd],
            weight,
            column.name,
            [
                f"{column.name}{'' if v is None else '=' + _short(v)} is {name}, usually {usual}"
                for _, v in odd
            ],
        )


_NAMES: Final = {
    type(None): "null",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a text",
    list: "a list",
    tuple: "a list",
}


def _check_numbers(column: _Column, numbers: list[float], notes: _Notes) -> None:
    found = outliers(numbers)
    if not found:
        return
    places = [column.at[at] for at, _ in found]
    odd = {at for at, _ in found}
    rest = sorted(number for at, number in enumerate(numbers) if math.isfinite(number) and at not in odd)
    low, high = rest[len(rest) // 20], rest[-len(rest) // 20]
    reach = min(max(reach for _, reach in found), 64)
    weight = 1.1 + math.log2(1 + reach) / 12
    reasons = [
        f"{column.name}={_short(column.values[at])}, usually {_plain(low)} to {_plain(high)}"
        for at, _ in found
    ]
    notes.add(places, weight, column.name, reasons)


def _check_rare_values(column: _Column, notes: _Notes) -> None:
    """Note a value that hardly any other row has, where the others repeat a few."""
    total = len(column.values)
    few = _rare(total)
    if not 2 <= column.distinct <= max(12, total // 15):
        return
    plain = column.kinds.keys() <= _PLAIN
    counts = Counter(column.values if plain else [v for v in column.values if type(v) in _PLAIN])
    rare = {value for value, count in counts.items() if count <= few}
    if not rare or sum(counts[value] for value in rare) > max(3, total // 50):
        return
    odd = [(at, v) for at, v in zip(column.at, column.values, strict=True) if type(v) in _PLAIN and v in rare]
    alarm = any(_is_alarm(str(value), column.name) for _, value in odd)
    reasons = [f"{column.name}={_short(value)} ({counts[value]} of {total:,})" for _, value in odd]
    notes.add([at for at, _ in odd], 1.25 if alarm else 1.0, column.name, reasons)


def _check_strings(column: _Column, notes: _Notes) -> None:
    texts = (
        [value if type(value) is str else "" for value in column.values]
        if len(column.kinds) > 1
        else column.values
    )
    sample = texts[:: max(1, len(texts) // 40)]
    numeric = sum(_NUMBER.match(text) is not None for text in sample)
    if numeric > 0.85 * len(sample):
        _check_numeric_texts(column, texts, notes)
        return
    if column.distinct <= max(12, len(texts) // 15):
        _check_rare_values(column, notes)
        return
    _check_empty(column, texts, notes)
    if sum(map(bool, map(_HEX.match, sample))) > 0.8 * len(sample):
        _check_hashes(column, texts, notes)
    elif sum(map(bool, map(_DATE.match, sample))) <= 0.8 * len(sample):
        _check_texts(column, texts, notes)


def _check_numeric_texts(column: _Column, texts: list[str], notes: _Notes) -> None:
    """Check numbers written as text (CSV, prices): a text that is no number, an outlier, a rare value among few."""
    numbers = [_as_number(text) for text in texts]
    odd = [at for at, number in enumerate(numbers) if math.isnan(number) and type(column.values[at]) is str]
    if 0 < len(odd) <= _rare(len(texts)):
        reasons = [
            f"{column.name}={_short(texts[at])} is {'empty' if not texts[at].strip() else 'not a number'}"
            for at in odd
        ]
        notes.add([column.at[at] for at in odd], 1.2, column.name, reasons)
    _check_numbers(column, numbers, notes)
    if column.distinct <= 12:
        _check_rare_values(column, notes)


def _as_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        pass
    if _NUMBER.match(text) is None:
        return math.nan
    try:
        return float(
            text.strip().rstrip("%").replace(",", "").lstrip("$€£+").replace("-$", "-").replace("-€", "-")
        )
    except ValueError:
        return math.nan


def _check_empty(column: _Column, texts: list[str], notes: _Notes) -> None:
    empty = [at for at, text in enumerate(texts) if not text.strip() and type(column.values[at]) is str]
    if 0 < len(empty) <= _rare(len(texts)):
        notes.add([column.at[at] for at in empty], 1.0, column.name, [f"{column.name} is empty"] * len(empty))


def _check_texts(column: _Column, texts: list[str], notes: _Notes) -> None:
    """Check free text: a unique shape, a much longer text, an alarm word that few have."""
    most = max(3, len(texts) // 100)
    odd, unusual = odd_texts(texts)
    for weight, found in ((1.1, _alarms(texts)), (0.9, odd), (1.0, unusual)):
        if 0 < len(found) <= most:
            reasons = [f"{column.name}={_short(texts[at])}" for at in found]
            notes.add([column.at[at] for at in found], weight, column.name, reasons)
    longer = [at for at, _ in outliers([float(len(text)) for text in texts]) if len(texts[at]) > 40]
    if longer:
        reasons = [
            f"{column.name} has {len(texts[at]):,} characters: {texts[at][:_MAX_VALUE_CHARS]}"
            f"{'…' if len(texts[at]) > _MAX_VALUE_CHARS else ''}"
            for at in longer
        ]
        notes.add([column.at[at] for at in longer], 0.7, column.name, reasons)


def _check_hashes(column: _Column, texts: list[str], notes: _Notes) -> None:
    """Check a column of hashes: one is as odd as the other, but a word among them is odd."""
    odd = [at for at, text in enumerate(texts) if text and not _HEX.match(text)]
    if 0 < len(odd) <= _rare(len(texts)):
        reasons = [f"{column.name}={_short(texts[at])}" for at in odd]
        notes.add([column.at[at] for at in odd], 1.0, column.name, reasons)


def _alarms(texts: list[str]) -> list[int]:
    """Return which texts report trouble. Most texts contain none of the candidate words."""
    lowered = [text.lower() for text in texts]
    joined = "\n".join(lowered)
    words = [word for word in _ALARM_WORDS if word in joined]
    suspects = [at for at, text in enumerate(lowered) if any(word in text for word in words)] if words else []
    return [at for at in suspects if _is_alarm(texts[at])]


def _is_alarm(text: str, name: str = "") -> bool:
    """Return whether a text reports trouble; a number does if the column `name` holds HTTP statuses."""
    if _STATUS.search(name) and text.isascii() and text.isdigit():
        return int(text[:6]) in _SERVER_ERRORS
    for found in islice(_ALARM.finditer(text), _MAX_WORDS_READ):
        # What the word means depends on the words around it; a body may have thousands.
        if _ALARM.search(calm(text[max(found.start() - _AROUND, 0) : found.end() + _AROUND])):
            return True
    return is_server_error(text)


def _identity(columns: list[_Column], total: int) -> list[_Column]:
    """Choose a few columns that identify a row: named like an id or a name, and different in every row."""
    named = [
        column for column in columns if len(column.values) >= 0.9 * total and _IDENTITY.search(column.name)
    ]
    chosen = [column for column in named if _distinct_share(column) > 0.9]
    chosen = chosen or [
        column for column in columns if len(column.values) == total and _distinct_share(column) > 0.99
    ]
    chosen.sort(key=lambda column: (column.name.count("."), not _ID.search(column.name)))
    return chosen[:3]


_ID: Final = re.compile(
    r"(?:^|[_\-. ]|(?<=[a-z]))(?:id|uuid|identifier|key|number|ref|reference|sku)$", re.IGNORECASE
)


def _distinct_share(column: _Column) -> float:
    if column.kinds.keys() <= {str, int}:
        return column.distinct / max(len(column.values), 1)
    return len({value for value in column.values if type(value) in (str, int)}) / max(len(column.values), 1)


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else _spelled(value)
    if len(text) <= _MAX_VALUE_CHARS + _MIN_CUT:
        return text
    return f"{text[:_MAX_VALUE_CHARS]}… ({len(text) - _MAX_VALUE_CHARS:,}{_CUT}"


def _spelled(value: Any) -> str:
    """Write the value as JSON where possible."""
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, OverflowError):
        return repr(value)


def _plain(number: float) -> str:
    return f"{number:,.0f}" if number.is_integer() else f"{number:,.4g}"
