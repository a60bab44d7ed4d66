"""Turn rows into columns: which rows share a header, and which columns it has."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any, Final, cast

from brimgate.errors import InputError

_PLAIN: Final = re.compile(r"[^\s\d\x00-\x1f.\[\]\"=:|+?{}<>,-][^.\[\]\"=:|+?{}\x00-\x1f]*")
_PART: Final = re.compile(
    r"\[(\d+)\](\??)|\.?(\"[^\"\\]*(?:\\.[^\"\\]*)*\"|[^.\[\]\"=:|+?{}\x00-\x1f]+)(\??)"
)
_MAX_GROUPS: Final = 26
_MAX_KEY_SETS: Final = 100
"""More key sets than this are not compared with each other; the rarest rows are then written as JSON."""
_MIN_SHARED: Final = 0.6
_MAX_FLAT_LIST: Final = 6
_MAX_DEPTH: Final = 12
Keys = tuple[str, ...]
Row = dict[str, Any]
Cells = list[Any]


@dataclass(frozen=True, slots=True)
class ColumnStep:
    """One step down: a key or a list position. If `nullable`, it is null in rows whose cells below it are all empty."""

    key: str | int
    nullable: bool = False


Path = tuple[ColumnStep, ...]


def path_text(path: Path) -> str:
    parts: list[str] = []
    for step in path:
        if isinstance(step.key, int):
            parts.append(f"[{step.key}]")
        else:
            parts.append(("." if parts else "") + _name(step.key))
        if step.nullable:
            parts.append("?")
    return "".join(parts)


@lru_cache(2_000)
def _name(key: str) -> str:
    plain = _PLAIN.fullmatch(key) is not None and not key.endswith(" ")
    return key if plain else json.dumps(key, ensure_ascii=False)


def read_path(text: str, at: int) -> tuple[Path, int]:
    """Return the path that starts at `at`, and where it ends."""
    steps: list[ColumnStep] = []
    while found := _PART.match(text, at):
        if steps and found[3] is not None and text[at] != ".":
            break
        nullable = bool(found[2] or found[4])
        key = int(found[1]) if found[1] is not None else _key(found[3])
        steps.append(ColumnStep(key, nullable))
        at = found.end()
    if not steps:
        raise InputError(f"expected a column name at {text[at : at + 20]!r}")
    return tuple(steps), at


def _key(text: str) -> str:
    return str(json.loads(text)) if text.startswith('"') else text


class Gap(Enum):
    """Why a cell has no value of its own."""

    ABSENT = "the row does not have it"
    HIDDEN = "an object above it is null"


@dataclass(slots=True)
class Column:
    path: Path
    cells: Cells
    """One JSON value or Gap per row."""
    witness: bool = False
    """Never empty unless an object above it is null. It stays in the rows, to tell those from the others."""


@dataclass(slots=True)
class Group:
    """Rows that share a header."""

    columns: list[Column]


def group_rows(rows: Sequence[Any]) -> tuple[list[Group], list[int | None]]:
    """Return the groups, and for each row the number of its group (None: it fits none)."""
    order = _shared_order(rows)
    if order is not None:
        return [Group(_columns(order, cast("Sequence[Row]", rows), ()))], [0] * len(rows)
    keys_of = [tuple(cast("Row", row)) if isinstance(row, dict) else () for row in rows]
    number_of, orders = _cluster(Counter(keys for keys in keys_of if keys))
    group_of = [number_of.get(keys) for keys in keys_of]
    groups: list[Group] = []
    for number, order in enumerate(orders):
        members = [row for row, of in zip(rows, group_of, strict=True) if of == number]
        groups.append(Group(_columns(order, members, ())))
    return groups, group_of


def _shared_order(rows: Sequence[Any]) -> Keys | None:
    """Return the keys of all rows if they have the same keys in the same order, as in most tables."""
    if set(map(type, rows)) != {dict}:
        return None
    keys_of: list[Keys] = list(map(tuple, rows))
    order = keys_of[0]
    return order if order and keys_of.count(order) == len(keys_of) else None


def _cluster(key_sets: Counter[Keys]) -> tuple[dict[Keys, int], list[Keys]]:
    """Put similar key sets under one column order that all of them follow."""
    orders: list[Keys] = []
    sizes: list[int] = []
    of: dict[Keys, int] = {}
    for keys, count in key_sets.most_common(_MAX_KEY_SETS):
        for number, order in enumerate(orders):
            merged = _merge(order, keys)
            if merged is not None:
                orders[number] = merged
                sizes[number] += count
                of[keys] = number
                break
        else:
            of[keys] = len(orders)
            orders.append(keys)
            sizes.append(count)
    kept = [number for number, size in enumerate(sizes) if size >= 2 or len(sizes) == 1][:_MAX_GROUPS]
    renumber = {old: new for new, old in enumerate(kept)}
    return {keys: renumber[n] for keys, n in of.items() if n in renumber}, [orders[n] for n in kept]


def _merge(order: Keys, keys: Keys) -> Keys | None:
    """Return one order that both follow, if they share enough. New keys go after their predecessor."""
    if keys == order:
        return order
    common = set(order).intersection(keys)
    if len(common) < _MIN_SHARED * len(set(order).union(keys)):
        return None
    if [key for key in order if key in common] != [key for key in keys if key in common]:
        return None
    merged: list[str] = []
    pending = iter(order)
    for key in keys:
        if key in common:
            for known in pending:
                merged.append(known)
                if known == key:
                    break
        else:
            merged.append(key)
    return (*merged, *pending)


def _columns(order: Keys, rows: Sequence[Row], path: Path) -> list[Column]:
    columns: list[Column] = []
    for key in order:
        try:
            cells = [row[key] for row in rows]
        except KeyError:
            cells = [row.get(key, Gap.ABSENT) for row in rows]
        columns.extend(_flatten(cells, path, key))
    return columns


def _flatten(cells: Cells, path: Path, key: str | int) -> Iterator[Column]:
    """Yield the columns below one key: itself, or those of the uniform objects or lists it holds."""
    kinds = set(map(type, cells))
    nested = kinds - {Gap, type(None)}
    inner: list[Column] | None = None
    nullable = type(None) in kinds
    if len(path) < _MAX_DEPTH:
        present = (
            [cell for cell in cells if cell is not None and cell is not Gap.ABSENT]
            if len(kinds) > 1
            else cells
        )
        if nested == {dict}:
            inner = _inner_objects(present, (*path, ColumnStep(key, nullable)))
        elif nested == {list} and not nullable:
            inner = _inner_lists(present, (*path, ColumnStep(key)))
    if inner is None or (nullable and not _has_witness(inner)):
        yield Column((*path, ColumnStep(key)), cells)
        return
    for column in inner:
        if len(kinds) > 1:
            column.cells = _spread(column.cells, cells)
        yield column


def _inner_objects(objects: list[Row], path: Path) -> list[Column] | None:
    order = _shared_order(objects) or (_common_order(Counter(map(tuple, objects))) if all(objects) else None)
    return None if order is None else _columns(order, objects, path)


def _common_order(key_sets: Counter[Keys]) -> Keys | None:
    if len(key_sets) > _MAX_KEY_SETS:
        return None
    order: Keys | None = None
    for keys, _ in key_sets.most_common():
        order = keys if order is None else _merge(order, keys)
        if order is None:
            return None
    return order


def _inner_lists(lists: list[list[Any]], path: Path) -> list[Column] | None:
    """Turn lists of one fixed length into columns when that can save: when they contain objects or texts."""
    lengths = set(map(len, lists))
    if len(lengths) != 1 or not 1 <= (length := lengths.pop()) <= _MAX_FLAT_LIST:
        return None
    if not any(isinstance(item, (dict, str)) for item in lists[0]):
        return None
    return [column for at in range(length) for column in _flatten([items[at] for items in lists], path, at)]


def _has_witness(columns: Iterable[Column]) -> bool:
    """Find a column whose empty cells can only mean that the object itself is null."""
    for column in columns:
        if not any(cell is None or isinstance(cell, Gap) for cell in column.cells):
            column.witness = True
            return True
    return False


def _spread(inner: Cells, outer: Cells) -> Cells:
    """Put the cells of the rows that have the object back among those that lack it or have null."""
    pending = iter(inner)
    return [Gap.HIDDEN if cell is None else cell if cell is Gap.ABSENT else next(pending) for cell in outer]
