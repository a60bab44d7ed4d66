"""Survey a JSON answer: every table in it by its columns, what stands out, and where a told count is not the real one."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from brimgate.engine.guess import guess
from brimgate.engine.highlights.findings import Finding
from brimgate.engine.highlights.odd_rows import inspect_rows, odd_values_of
from brimgate.engine.highlights.row_source import Rows
from brimgate.engine.highlights.table_columns import TableColumn, short
from brimgate.engine.maps.column_lines import column_lines
from brimgate.engine.maps.credentials_scan import find_secrets, has_secrets
from brimgate.engine.maps.json_names import shared_ids, unused_names
from brimgate.engine.maps.nested_tables import (
    KEY,
    LooseValue,
    NestedTable,
    Structure,
    is_list,
    is_object,
    key_of,
    structure_of,
)
from brimgate.engine.maps.rare_words import rare_texts
from brimgate.engine.maps.risk_words import find_risks, has_risks
from brimgate.engine.maps.survey import MUST_SEE, SLIGHTLY_ODD, WORTH_A_LOOK, MapLine, Survey
from brimgate.engine.pointer import escaped, referred
from brimgate.engine.policy import Policy

_TITLED: Final = 4
_MIN_LEAVES: Final = 8
_MIN_TEXT: Final = 5
_MAX_REFERRED_DEPTH: Final = 4
_MAX_TOLD: Final = 40
_MAIN_LIST: Final = 8
"""How many times as long as any other list the one is that a count beside it speaks of."""
_COUNT: Final = re.compile(
    r"(?:^|_)(?:count|total|size|length|n|num|number|results|hits)(?:$|_)|(?:Count|Total|Results|Hits)$",
    re.IGNORECASE,
)
_PAGED: Final = re.compile(r"next|cursor|offset|page|has_?more|limit|remaining|token", re.IGNORECASE)
_BELOW: Final = 0.75
"""How much a table inside another table weighs against it, for each level."""


def survey_json(value: Any, data: bytes, policy: Policy, pointer: str = "") -> Survey:
    """Survey a decoded JSON value that stands at `pointer`; `data` is what it was decoded from."""
    words = policy.alarm_words
    structure = structure_of(value, pointer)
    lines: list[MapLine] = []
    findings: list[Finding] = []
    columns: list[tuple[NestedTable, TableColumn]] = []
    order = 0
    largest = max((len(table.rows) for table in structure.tables), default=1)
    for table in structure.tables:
        inspection = inspect_rows(
            Rows(table.rows, list(range(len(table.rows))), "item", frozenset(table.inner), table.pointers)
        )
        weight = _weight(table, largest)
        under = f"{table.pattern or '/'}: {len(table.rows):,}" if len(structure.tables) > 1 else ""
        lines += [
            MapLine(line.text, line.weight * weight, under)
            for line in column_lines(_wanted(inspection.columns, policy), len(table.rows))
        ]
        columns += [(table, column) for column in inspection.columns]
        findings += [
            replace(one, place=order + one.place, label=table.pointers[one.place])
            for one in inspection.findings
        ]
        order += len(table.rows)
    checks: Sequence[Callable[[], Iterable[Finding]]] = (
        lambda: _odd_leaves(structure, order),
        lambda: _missing_keys(structure, order),
        lambda: shared_ids(columns, order),
        lambda: unused_names(structure.tables, value, order),
        lambda: _wrong_counts(value, pointer, order),
    )
    for check in checks:
        with guess:
            findings += check()
    texts = _texts(value, pointer)
    if (
        b'"#/' in data or has_secrets(data) or has_risks(data, words)
    ):  # few answers have any, and looking for it takes time
        with guess:
            findings += _missing_references(texts, value, order)
        with guess:
            findings += _in_texts(texts, order, {one.label for one in findings}, words)
    told = "\n".join([*(line.text for line in lines), *(one.text for one in findings)])
    with guess:
        lines += rare_texts(texts, {one.label for one in findings}, told)
    return Survey(_title(structure), lines, findings)


def _wanted(columns: Sequence[TableColumn], policy: Policy) -> list[TableColumn]:
    """Return the columns that an operator wants to see: those of a field map, without what is stripped."""
    names = {name.partition(".")[0] for name in policy.fields}
    wanted = [
        column
        for column in columns
        if (not names or column.name.partition(".")[0] in names) and column.name not in policy.strip_fields
    ]
    if policy.strip_empty:
        wanted = [
            column for column in wanted if any(value not in (None, "", [], {}) for value in column.values)
        ]
    return wanted


def _title(structure: Structure) -> str:
    tables = sorted(structure.tables, key=lambda table: -len(table.rows))
    if not tables:
        return f"{len(structure.leaves):,} values"
    if len(tables) == 1:
        return f"{len(tables[0].rows):,} items{' at ' + tables[0].pattern if tables[0].pattern else ''}"
    told = " · ".join(f"{table.pattern or 'items'} {len(table.rows):,}" for table in tables[:_TITLED])
    return told + (f" · {len(tables) - _TITLED} more tables" if len(tables) > _TITLED else "")


def _weight(table: NestedTable, largest: int) -> float:
    depth = max(table.pattern.count("*") - table.pattern.endswith("*"), 0)
    return max(_BELOW**depth * (0.6 + 0.4 * len(table.rows) / largest), 0.2)


def _odd_leaves(structure: Structure, order: int) -> list[Finding]:
    """Compare plain values that go by the same name, wherever they are: one timeout among many."""
    by_name: dict[str, list[LooseValue]] = defaultdict(list)
    for leaf in structure.leaves:
        by_name[leaf.name].append(leaf)
    found: list[Finding] = []
    for name, leaves in by_name.items():
        if len(leaves) >= _MIN_LEAVES:
            column = TableColumn(name, range(len(leaves)), [leaf.value for leaf in leaves])
            found += [
                Finding(order + at, score, text, leaves[at].pointer)
                for at, score, text in odd_values_of(column)
            ]
    return found


def _missing_keys(structure: Structure, order: int) -> list[Finding]:
    """Find names that refer to nothing, in columns whose other names are all keys of a table."""
    known = {key for table in structure.tables for row in table.rows if type(key := key_of(row)) is str}
    found: list[Finding] = []
    for table in structure.tables if known else ():
        for at, name, missing in _unknown_names(table, known):
            text = f"{name} refers to {short(missing)}, which is not there"
            found.append(Finding(order, WORTH_A_LOOK, text, table.pointers[at]))
    return found[:_MAX_TOLD]


def _missing_references(texts: Sequence[tuple[str, str]], value: Any, order: int) -> list[Finding]:
    """Find a `$ref` that leads nowhere."""
    missing = [(at, text) for at, text in texts if text.startswith("#/") and referred(value, text) is None]
    return [
        Finding(order, WORTH_A_LOOK, f"refers to {short(text)}, which is not there", at)
        for at, text in missing[:_MAX_TOLD]
    ]


def _unknown_names(table: NestedTable, known: set[str]) -> Iterator[tuple[int, str, str]]:
    """Return references of a table to keys that are not there, if nearly all others are."""
    names: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for at, row in enumerate(table.rows):
        for name, text in _row_texts(row, ""):
            names[name].append((at, text))
    for name, texts in names.items():
        missing = [(at, text) for at, text in texts if text not in known]
        if len(texts) >= _MIN_LEAVES and 0 < len(missing) <= max(2, len(texts) // 50):
            yield from ((at, name, text) for at, text in missing)


def _row_texts(value: Any, name: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Return the texts of a row by the names that lead to them, those of lists without their numbers."""
    if type(value) is str:
        yield name, value
    elif is_object(value) and depth < _MAX_REFERRED_DEPTH:
        for key, inner in value.items():
            if key.lstrip("_") != KEY:
                yield from _row_texts(inner, f"{name}.{key}".lstrip("."), depth + 1)
    elif is_list(value) and depth < _MAX_REFERRED_DEPTH:
        for inner in value[:_MAX_TOLD]:
            yield from _row_texts(inner, name, depth + 1)


@dataclass(frozen=True, slots=True)
class _Told:
    name: str
    count: int


def _wrong_counts(value: Any, pointer: str, order: int) -> list[Finding]:
    """Find a count beside a list that is not the number of its items. More than there are may be on further pages."""
    found: list[Finding] = []
    stack: list[tuple[Any, str, int]] = [(value, pointer, 0)]
    while stack:
        one, at, depth = stack.pop()
        if not is_object(one) or depth > 3:
            continue
        lists = [(name, len(inner)) for name, inner in one.items() if is_list(inner) and inner]
        told = [
            _Told(n, c)
            for n, c in map(_claimed, one.items())
            if type(c) is int and c > 0 and _COUNT.search(n)
        ]
        is_paged = any(_PAGED.search(name) and one[name] not in (None, False, "") for name in one)
        lists.sort(key=lambda one: -one[1])
        if lists and (len(lists) == 1 or lists[0][1] >= _MAIN_LIST * lists[1][1]) and told:
            name, size = lists[0]
            found += [
                Finding(
                    order, SLIGHTLY_ODD if is_paged else MUST_SEE, _told_text(claim, name, size), at or "/"
                )
                for claim in told
                if claim.count != size and _is_about(claim, name, len(told))
            ]
        stack += [(inner, f"{at}/{name}", depth + 1) for name, inner in one.items() if is_object(inner)]
    return found


def _claimed(member: tuple[str, Any]) -> tuple[str, Any]:
    """Return a member with its number, also where that is written as `{"value": 500}`."""
    name, value = member
    return name, value.get("value") if is_object(value) else value


def _told_text(claim: _Told, name: str, size: int) -> str:
    """Say what is told and what is there. More than there are may be on further pages, fewer cannot be."""
    return f"{claim.name} is {claim.count:,}, but {name} has {size:,}{' (contradiction)' if claim.count < size else ''}"


def _is_about(claim: _Told, name: str, claims: int) -> bool:
    """Return whether a count is that of the list: it is the only one, or it has the name of the list in its own."""
    stem = name.lower().rstrip("s")
    return claims == 1 or stem in claim.name.lower() or claim.name.lower() in ("count", "total")


def _in_texts(
    texts: Sequence[tuple[str, str]], order: int, known: set[str], words: tuple[str, ...]
) -> list[Finding]:
    """Find secrets and rare words of weight in the texts of a value, wherever nothing was found yet."""
    lines = [f"{at.rpartition('/')[2]}: {text}".replace("\n", " ") for at, text in texts]
    found = [replace(one, label=texts[one.place - 1][0]) for one in find_secrets(lines)[:_MAX_TOLD]]
    for one in find_risks(lines, words, has_weak=True):
        at = texts[one.place - 1][0]
        if not any(at == place or at.startswith(f"{place}/") for place in known):
            found.append(replace(one, label=at))
    return [replace(one, place=order + one.place) for one in found]


def _texts(value: Any, pointer: str) -> list[tuple[str, str]]:
    """Return every text of a value with its place, in order."""
    found: list[tuple[str, str]] = []
    stack: list[tuple[str, Any]] = [(pointer, value)]
    while stack:
        at, one = stack.pop()
        if is_object(one):
            stack += [
                (f"{at}/{escaped(name)}", inner)
                for name, inner in reversed(one.items())
                if _may_have_text(inner)
            ]
        elif is_list(one):
            stack += [
                (f"{at}/{number}", inner)
                for number, inner in zip(range(len(one) - 1, -1, -1), reversed(one), strict=True)
                if _may_have_text(inner)
            ]
        elif type(one) is str:
            found.append((at, one))
    return found


def _may_have_text(value: Any) -> bool:
    return len(value) > _MIN_TEXT if type(value) is str else is_object(value) or is_list(value)


def rows_survey(table: Rows, names: Sequence[str] = ()) -> Survey:
    """Survey a table that stands in a text, line by line."""
    inspection = inspect_rows(table)
    total = len(table.rows)
    shown = ", ".join(names) if names else ", ".join(column.name for column in inspection.columns[:12])
    return Survey(f"{total:,} rows: {shown}", column_lines(inspection.columns, total), inspection.findings)
