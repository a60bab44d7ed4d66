"""Find unusual rows, column by column, because a column tells what is usual."""

import math
import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, cast

from brimgate.engine.guess import guess
from brimgate.engine.highlights.findings import Finding, calm, clip, is_server_error
from brimgate.engine.highlights.odd_lines import odd_texts, outliers
from brimgate.engine.highlights.row_relations import check_relations
from brimgate.engine.highlights.row_source import Rows
from brimgate.engine.highlights.table_columns import (
    CUT,
    MIN_ROWS,
    PLAIN,
    Notes,
    Row,
    TableColumn,
    as_number,
    check_types,
    columns_of,
    is_hash,
    looks_numeric,
    rare_count,
    short,
)
from brimgate.engine.highlights.value_parts import has_few_words, odd_parts

_MAX_REASONS: Final = 4
_FEW_REASONS: Final = 2
_BRIEF_CHARS: Final = 120
_MIN_VALUES: Final = 8
_MIN_SAME: Final = 6
_MAX_VALUE_CHARS: Final = 120
_MAX_WHOLE_CHARS: Final = 180
_MAX_WHOLE_FIELDS: Final = 14
_MAX_OWN_CHARS: Final = 16

_DATE: Final = re.compile(r"\d{4}-\d\d|\d\d?[/.]\d\d?[/.]\d{2,4}|\d\d:\d\d")
_ALARM: Final = re.compile(
    r"\b(?:error|fatal|critical|crit|panic|emerg|alert|severe|exception|fail(?:ed|ure)?|denied|refused|corrupt\w*|"
    r"crash\w*|oom\w*|timeout|unhealthy|breach|violation)\b",
    re.IGNORECASE,
)
_ALARM_WORDS: Final = (
    "error", "fatal", "crit", "panic", "emerg", "alert", "severe", "exception", "fail", "denied", "refused", "corrupt",
    "crash", "oom", "timeout", "unhealthy", "breach", "violation",
    "http", "status", "code", '" 5',
)  # fmt: skip
"""Every text that reports trouble contains one of these."""
_STATUS: Final = re.compile(
    r"(?:^|[_\-. ]|(?<=[a-z]))(?:status|status_?code|http_?code|response_?code)$", re.IGNORECASE
)
_MAX_WORDS_READ: Final = 20
_AROUND: Final = 80
_SERVER_ERRORS: Final = range(500, 600)
_HEX: Final = re.compile(r"[0-9a-f-]{7,}\Z", re.IGNORECASE)
_IDENTITY: Final = re.compile(
    r"(?:^|[_\-. ]|(?<=[a-z]))(?:id|uuid|identifier|key|name|title|number|ref|reference|code|sku|login|email|path|url)$",
    re.IGNORECASE,
)

_LARGEST: Final = 10**300
_FAR_FROM_ZERO: Final = 10.0
_FEW_FLOATS: Final = 12
"""Among so few different values each is a choice, such as the size of a font: no measurement."""
_FAR_BELOW: Final = 50.0
_FEW_MEMBERS: Final = 16
_JOINED_SHARE: Final = 0.5
_JOINED_CHARS: Final = 24
"""A longer part between two commas is one of a sentence."""
_MAX_RARE: Final = 8
_DUMPED: Final = re.compile(r"[0-9A-F]+#[0-9A-F]*\Z|(?:[0-9A-Fa-f]{2}[ :]){7,}[0-9A-Fa-f]{2}\Z")
_DUMPED_SHARE: Final = 0.8
_USUAL_NAMES: Final = 12
_MIN_CODE_CHARS: Final = 10
_CODE: Final = re.compile(r"(?=.*[A-Z])(?=.*[A-Za-z].*[A-Za-z])[A-Za-z0-9_]+")
_OFTEN: Final = 4
_PERCENT: Final = re.compile(r"%|(?:^|[_\-. ])(?:pct|percent|percentage)(?:$|[_\-. ])|Percent", re.IGNORECASE)
_NUMBERED: Final = re.compile(r"(.*[^\W\d_].*?)([0-9]{1,6})")
_MIN_NUMBERED: Final = 8
"""So many values of a name and a number are numbered; fewer may be versions, of which a rare one tells something."""


@dataclass(frozen=True, slots=True)
class Inspection:
    """A table by its columns, and the rows that differ from the rest."""

    columns: list[TableColumn]
    findings: list[Finding]


def odd_rows(table: Rows) -> list[Finding]:
    return inspect_rows(table).findings if len(table.rows) >= MIN_ROWS else []


def inspect_rows(table: Rows) -> Inspection:
    """Read a table by its columns. With few rows nothing is odd: there is no rest to differ from."""
    rows = table.rows
    notes = Notes(len(rows))
    columns = list(columns_of(rows, range(len(rows)), "", notes, 0, table.inner))
    for column in columns:
        with guess:
            _check_column(column, notes) if len(column.values) >= MIN_ROWS else _check_single(column, notes)
    if len(rows) >= MIN_ROWS:
        check_relations(columns, table, notes)
    return Inspection(columns, _findings(table, columns, notes))


def _check_single(column: TableColumn, notes: Notes) -> None:
    """Note the one value among a few rows that differs, where all others are the same."""
    total = len(column.values)
    if total < _MIN_SAME or not column.kinds.keys() <= PLAIN or column.distinct != 2:
        return
    (usual, _), (odd, count) = Counter(column.values).most_common(2)
    if count == 1:
        at = column.values.index(odd)
        text = f"{column.name}={short(odd)}, all others {short(usual)}"
        notes.add([column.at[at]], 1.0, column.name, [text])


def odd_values_of(column: TableColumn) -> list[tuple[int, float, str]]:
    """Return the values of a column alone that differ from the rest: where, how much, and how."""
    notes = Notes(len(column.values))
    _check_column(column, notes, least=_MIN_VALUES)
    return [(at, *_best(reasons)) for at, reasons in notes.by_row.items()]


def _best(reasons: list[tuple[float, str, str]]) -> tuple[float, str]:
    worth, _, text = max(reasons)
    return worth, text


def _findings(table: Rows, columns: list[TableColumn], notes: Notes) -> list[Finding]:
    rows = table.rows
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
        brief = "; ".join(text.partition(", usually")[0] for _, _, text in reasons[:_FEW_REASONS])
        whole = clip(f"{text} · {label}" if label else text)
        # `interface 1` stands in every section: without it a place says little.
        section = rows[row].get("section")
        where = f" · section={short(section)}" if type(section) is str and "section=" not in brief else ""
        findings.append(Finding(table.places[row], score, whole, brief=clip(brief, _BRIEF_CHARS) + where))
    return findings


def _label(row: Row, names: list[tuple[str, Any]], told: set[str]) -> str:
    """Describe the row by what was not told of it: all of it when it is small, else what identifies it.

    Of hashes and UUIDs only the row's own id is worth its tokens: that of its top level, the only one, or its first field.
    """
    tops = {name.partition(".")[0].partition("[")[0] or name for name in told}
    plain = [name for name, value in names if not is_hash(value)]
    first = next(iter(row), "")
    ids = [name for name, _ in names if _ID.search(name) and not (plain and "." in name)]
    ids += [first] if len(str(row.get(first))) <= _MAX_OWN_CHARS else []
    own = ids[0] if ids else ""
    untold = {key: value for key, value in row.items() if key not in tops}
    kept = {key: value for key, value in untold.items() if key == own or not is_hash(value)}
    is_small = len(row) <= _MAX_WHOLE_FIELDS and not any(CUT in short(value) for value in kept.values())
    whole = ", ".join(f"{key}={short(value)}" for key, value in kept.items()) if is_small else ""
    named = [(name, value) for name, value in names if name not in told and (name == own or name in plain)]
    has_lost_objects = any(isinstance(untold[key], (dict, list)) for key in untold.keys() - kept.keys())
    if whole and len(whole) <= _MAX_WHOLE_CHARS and not (named and has_lost_objects):
        return whole
    return ", ".join(f"{name}={short(value)}" for name, value in named)


def _check_column(column: TableColumn, notes: Notes, least: int = MIN_ROWS) -> None:
    if len(column.values) < least:
        return
    kinds = column.kinds
    if len(kinds) > 1:
        check_types(column, notes)
    kind = max(kinds, key=lambda kind: (kind is not type(None), kinds[kind]))
    if kind in (int, float):
        _check_numbers(column, _numbers(column), notes)
        if float not in kinds or column.distinct <= _FEW_FLOATS:
            _check_rare_values(column, notes)
    elif kind is str:
        _check_strings(column, notes)
    elif kind is bool:
        _check_rare_values(column, notes)
    elif kind is list:
        _check_lists(column, notes)


def _numbers(column: TableColumn) -> list[float]:
    values = column.values
    if len(column.kinds) > 1:
        values = [value if type(value) in (int, float) else math.nan for value in values]
    try:
        return list(map(float, values))
    except OverflowError:  # JSON has integers of any length
        return [
            float(max(-_LARGEST, min(_LARGEST, value))) if type(value) is int else value for value in values
        ]


def _check_numbers(column: TableColumn, numbers: list[float], notes: Notes) -> None:
    negative = [at for at, number in enumerate(numbers) if number < 0]
    if 0 < len(negative) <= rare_count(len(numbers)):
        texts = [f"{column.name}={short(column.values[at])} is negative" for at in negative]
        notes.add([column.at[at] for at in negative], 1.1, column.name, texts)
    _check_zeros(column, numbers, notes)
    if _PERCENT.search(column.name):
        over = [at for at, number in enumerate(numbers) if number > 100]
        if 0 < len(over) <= rare_count(len(numbers)):
            texts = [f"{column.name}={short(column.values[at])} is over 100" for at in over]
            notes.add([column.at[at] for at in over], 1.1, column.name, texts)
    found = outliers(numbers) or _far_below(numbers)
    if not found:
        return
    places = [column.at[at] for at, _ in found]
    odd = {at for at, _ in found}
    rest = sorted(number for at, number in enumerate(numbers) if math.isfinite(number) and at not in odd)
    low, high = rest[len(rest) // 20], rest[-len(rest) // 20]
    reach = min(max(reach for _, reach in found), 64)
    weight = 1.1 + math.log2(1 + reach) / 12
    reasons = [
        f"{column.name}={short(column.values[at])}, usually {_plain(low)} to {_plain(high)}"
        for at, _ in found
    ]
    notes.add(places, weight, column.name, reasons)


def _check_zeros(column: TableColumn, numbers: list[float], notes: Notes) -> None:
    """Note a rare zero where everything else is far from it: an empty file, a replica that is scaled away."""
    zeros = [at for at, number in enumerate(numbers) if number == 0]
    if not 0 < len(zeros) <= rare_count(len(numbers)):
        return
    others = [number for number in numbers if number == number and number != 0]
    if others and min(others) >= _FAR_FROM_ZERO:
        texts = [f"{column.name}={short(column.values[at])}" for at in zeros]
        notes.add([column.at[at] for at in zeros], 1.1, column.name, texts)


def _far_below(numbers: list[float]) -> list[tuple[int, float]]:
    """Return which of positive numbers are smaller than all others by orders of magnitude."""
    if not all(number > 0 for number in numbers if number == number):
        return []
    found = outliers([math.log10(number) if number == number else math.nan for number in numbers])
    known = sorted(number for number in numbers if number == number)
    middle = known[len(known) // 2] if known else 0.0
    return [(at, reach) for at, reach in found if numbers[at] < middle / _FAR_BELOW]


def _check_rare_values(column: TableColumn, notes: Notes) -> None:
    """Note a value that hardly any other row has, where the others repeat a few."""
    total = len(column.values)
    few = rare_count(total)
    if not 2 <= column.distinct <= max(12, total // 15):
        return
    plain = column.kinds.keys() <= PLAIN
    counts = Counter(column.values if plain else [v for v in column.values if type(v) in PLAIN])
    rare = {value for value, count in counts.items() if count <= few}
    if not rare or not _are_few(counts, few):
        return
    rare -= _counted_on(counts, rare)
    odd = [(at, v) for at, v in zip(column.at, column.values, strict=True) if type(v) in PLAIN and v in rare]
    alarm = any(_is_alarm(str(value), column.name) for _, value in odd)
    for at, value in odd:  # each value is odd by itself, whatever others there are
        reason = f"{column.name}={short(value)} ({counts[value]} of {total:,})"
        notes.add([at], 1.25 if alarm else 1.0, column.name, [reason], among=counts[value])


def _counted_on(counts: Counter[Any], rare: Collection[Any]) -> set[Any]:
    """Return which rare values only count on from others, as a thread or a node does: `worker-26` beside `worker-25`."""
    parts = {value: found for value in counts if type(value) is str and (found := _NUMBERED.fullmatch(value))}
    held = {(found[1], int(found[2])) for found in parts.values()}
    sizes = Counter(stem for stem, _ in held)
    return {
        value
        for value, found in parts.items()
        if value in rare
        and sizes[found[1]] >= _MIN_NUMBERED
        and {(found[1], int(found[2]) - 1), (found[1], int(found[2]) + 1)} & held
    }


def _check_lists(column: TableColumn, notes: Notes) -> None:
    """Note what hardly any other list has, where most have the same few: a role, a tag, a mount."""
    held = [
        (at, text)
        for at, one in zip(column.at, column.values, strict=True)
        if type(one) is list
        for text in cast("list[Any]", one)
        if type(text) is str
    ]
    if len(held) < MIN_ROWS:
        return
    members = TableColumn(column.name, [at for at, _ in held], [text for _, text in held])
    if members.distinct <= max(_FEW_MEMBERS, len(held) // 8):
        _check_rare_values(members, notes)
    else:
        _check_strings(members, notes)


def _check_joined(column: TableColumn, texts: list[str], notes: Notes) -> bool:
    """Check texts that are lists of short names, such as tags. Return whether they are."""
    if sum(", " in text for text in texts) < _JOINED_SHARE * len(texts):
        return False
    split = [text.split(", ") if text else [] for text in texts]
    if any(len(name) > _JOINED_CHARS for names in split for name in names):
        return False
    _check_lists(TableColumn(column.name, column.at, split), notes)
    return True


def _are_few(counts: Counter[Any], few: int) -> bool:
    """Return whether what is rare is little, or a little more among values of which each is there again and again."""
    rare = sum(count for count in counts.values() if count <= few)
    if rare <= max(3, counts.total() // 50):
        return True
    usual = [count for count in counts.values() if count > few]
    return rare <= min(_MAX_RARE, counts.total() // 10) and min(usual, default=0) >= _OFTEN


def _check_strings(column: TableColumn, notes: Notes) -> None:
    texts = (
        [value if type(value) is str else "" for value in column.values]
        if len(column.kinds) > 1
        else column.values
    )
    sample = texts[:: max(1, len(texts) // 40)]
    if looks_numeric(texts):
        _check_numeric_texts(column, texts, notes)
        return
    if column.distinct <= max(12, len(texts) // 15):
        _check_rare_values(column, notes)
        return
    _check_empty(column, texts, notes)
    if _check_joined(column, texts, notes):
        return
    if sum(map(bool, map(_HEX.match, sample))) > 0.8 * len(sample):
        _check_hashes(column, texts, notes)
    elif _are_codes(sample):
        _check_codes(column, texts, notes)
    elif sum(map(bool, map(_DATE.match, sample))) <= 0.8 * len(sample):
        _check_texts(column, texts, notes)
    else:
        _check_dates(column, texts, notes)


def _check_dates(column: TableColumn, texts: list[str], notes: Notes) -> None:
    """Check a column of dates: one that lies apart, and one that is written in another way."""
    seconds = column.times
    if seconds is None:
        return
    found = {at for at, _ in outliers(seconds)}
    rest = sorted(text for at, text in enumerate(texts) if at not in found and text)
    if found and rest:
        reasons = [f"{column.name}={texts[at]}, usually {rest[0]} to {rest[-1]}" for at in found]
        notes.add([column.at[at] for at in found], 1.1, column.name, reasons)
    odd = [at for at, second in enumerate(seconds) if math.isnan(second) and texts[at].strip()]
    if 0 < len(odd) <= rare_count(len(texts)):
        notes.add(
            [column.at[at] for at in odd], 1.2, column.name, [f"{column.name}={texts[at]}" for at in odd]
        )


def _check_numeric_texts(column: TableColumn, texts: list[str], notes: Notes) -> None:
    """Check numbers written as text (CSV, prices): a text that is no number, an outlier, a rare value among few."""
    numbers = column.numbers if texts is column.values else [as_number(text) for text in texts]
    odd = [
        at
        for at, number in enumerate(numbers)
        if not math.isfinite(number) and type(column.values[at]) is str
    ]
    if 0 < len(odd) <= rare_count(len(texts)):
        reasons = [
            f"{column.name}={short(texts[at])} is {'empty' if not texts[at].strip() else 'not a number'}"
            for at in odd
        ]
        notes.add([column.at[at] for at in odd], 1.2, column.name, reasons)
    _check_numbers(column, numbers, notes)
    if column.distinct <= 12:
        _check_rare_values(column, notes)


def _check_empty(column: TableColumn, texts: list[str], notes: Notes) -> None:
    empty = [at for at, text in enumerate(texts) if not text.strip() and type(column.values[at]) is str]
    if 0 < len(empty) <= rare_count(len(texts)):
        notes.add([column.at[at] for at in empty], 1.0, column.name, [f"{column.name} is empty"] * len(empty))


def _check_texts(column: TableColumn, texts: list[str], notes: Notes) -> None:
    """Check free text: a unique shape, a much longer text, an alarm word that few have."""
    most = max(8, len(texts) // 100)
    parts = odd_parts(texts)
    if sum(map(bool, map(_DUMPED.match, texts[:: max(1, len(texts) // 40)]))) > _DUMPED_SHARE * min(
        len(texts), 40
    ):
        return  # bytes as they were sent: one is as odd as the other
    odd, unusual = odd_texts(texts)
    odd = [] if has_few_words(texts) or _are_names(column, texts) else odd
    for weight, found in ((1.1, _alarms(texts)), (0.9, odd), (1.0, unusual), (1.05, parts)):
        if 0 < len(found) <= most:
            reasons = [f"{column.name}={short(texts[at])}" for at in found]
            notes.add([column.at[at] for at in found], weight, column.name, reasons)
    longer = [at for at, _ in outliers([float(len(text)) for text in texts]) if len(texts[at]) > 40]
    if longer:
        reasons = [
            f"{column.name} has {len(texts[at]):,} characters: {texts[at][:_MAX_VALUE_CHARS]}"
            f"{'…' if len(texts[at]) > _MAX_VALUE_CHARS else ''}"
            for at in longer
        ]
        notes.add([column.at[at] for at in longer], 0.7, column.name, reasons)


def _are_names(column: TableColumn, texts: list[str]) -> bool:
    """Return whether texts are one word each and of many kinds: some names are rarer than others by chance."""
    return len(texts) < _USUAL_NAMES * column.distinct and not any(" " in text for text in texts[::7])


def _check_hashes(column: TableColumn, texts: list[str], notes: Notes) -> None:
    """Check a column of hashes: one is as odd as the other, but a word among them is odd."""
    odd = [at for at, text in enumerate(texts) if text and not _HEX.match(text)]
    if 0 < len(odd) <= rare_count(len(texts)):
        reasons = [f"{column.name}={short(texts[at])}" for at in odd]
        notes.add([column.at[at] for at in odd], 1.0, column.name, reasons)


def _are_codes(texts: list[str]) -> bool:
    """Return whether texts are ids that a machine made up: all of one length, of letters and digits in any order."""
    sizes = Counter(map(len, texts))
    size, count = sizes.most_common(1)[0]
    if size < _MIN_CODE_CHARS or count < 0.9 * len(texts):
        return False
    mixed = [text for text in texts if _CODE.fullmatch(text)]
    return len(mixed) > 0.9 * len(texts) and len({text[-4:] for text in texts}) > 0.9 * len(texts)


def _check_codes(column: TableColumn, texts: list[str], notes: Notes) -> None:
    """Check a column of such ids: one of another length, or with other signs."""
    usual = Counter(map(len, texts)).most_common(1)[0][0]
    odd = [at for at, text in enumerate(texts) if text and (len(text) != usual or not _CODE.fullmatch(text))]
    if 0 < len(odd) <= rare_count(len(texts)):
        reasons = [f"{column.name}={short(texts[at])}" for at in odd]
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


def _identity(columns: list[TableColumn], total: int) -> list[TableColumn]:
    """Choose a few columns that identify a row: named like an id or a name, and different in every row."""
    named = [
        column for column in columns if len(column.values) >= 0.9 * total and _IDENTITY.search(column.name)
    ]
    chosen = [column for column in named if _distinct_share(column) > 0.9]
    chosen = chosen or [
        column for column in columns if len(column.values) == total and _distinct_share(column) > 0.99
    ]
    chosen.sort(key=lambda column: (column.name.count("."), not _ID.search(column.name)))
    # Blocks of a configuration have the same names in every section: `interface 1` of which host?
    around = [column for column in columns[:1] if column.name == "section" and column not in chosen]
    return [*around, *chosen][:3]


_ID: Final = re.compile(
    r"(?:^|[_\-. ]|(?<=[a-z]))(?:id|uuid|identifier|key|number|ref|reference|sku)$", re.IGNORECASE
)


def _distinct_share(column: TableColumn) -> float:
    if column.kinds.keys() <= {str, int}:
        return column.distinct / max(len(column.values), 1)
    return len({value for value in column.values if type(value) in (str, int)}) / max(len(column.values), 1)


def _plain(number: float) -> str:
    return f"{number:,.0f}" if number.is_integer() else f"{number:,.4g}"
