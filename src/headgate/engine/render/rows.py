"""Rows into columns: which rows share a header, and what its columns are."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from headgate.engine import jsontext
from headgate.engine.render.paths import Path, Step

_MAX_GROUPS: Final = 26
_MAX_KEY_SETS: Final = 100
"""More key sets than this are not compared with each other; the rarest rows then stand as JSON."""
_MIN_SHARED: Final = 0.6
_MAX_FLAT_LIST: Final = 6
_MAX_DEPTH: Final = 12

_dicts: Final = msgspec.json.Decoder(list[dict[str, msgspec.Raw]])
_lists: Final = msgspec.json.Decoder(list[list[msgspec.Raw]])

Keys = tuple[str, ...]
HIDDEN: Final = b""
Cells = list[bytes | None]


@dataclass(slots=True)
class Column:
    path: Path
    cells: Cells
    """Raw JSON text of each row's cell; None where the row does not have it, HIDDEN where an object above is null."""
    witness: bool = False
    """Never empty unless an object above it is null: it stays in the rows, to tell those from the others."""


@dataclass(slots=True)
class Group:
    """Rows that share a header."""

    keys: Keys
    columns: list[Column]


def group_rows(rows: Sequence[bytes]) -> tuple[list[Group], list[int | None]]:
    """The groups, and for each row the number of its group (None: it fits none)."""
    opened = _open_rows(rows)
    group_of_keys, orders = _cluster(Counter(tuple(row) for row in opened if row is not None))
    group_of = [None if row is None else group_of_keys.get(tuple(row)) for row in opened]
    groups: list[Group] = []
    for number, order in enumerate(orders):
        members = [row for row, of in zip(opened, group_of, strict=True) if of == number and row is not None]
        groups.append(Group(order, _columns(order, members, (), 0)))
    return groups, group_of


def _open_rows(rows: Sequence[bytes]) -> list[dict[str, bytes] | None]:
    """Each row as its members; None for what is not an object, is empty, or has duplicate keys."""
    if all(row[:1] == b"{" for row in rows):
        decoded = _dicts.decode(b"[" + b",".join(rows) + b"]")
    else:
        decoded = [
            msgspec.json.decode(row, type=dict[str, msgspec.Raw]) if row[:1] == b"{" else {} for row in rows
        ]
    overhead: dict[Keys, int] = {}
    opened: list[dict[str, bytes] | None] = []
    for raw, row in zip(rows, decoded, strict=True):
        members = {key: bytes(value) for key, value in row.items()}
        keys = tuple(members)
        if keys not in overhead:
            overhead[keys] = 1 + sum(len(jsontext.quote(key).encode()) + 2 for key in keys)
        # In canonical text the lengths must add up; they cannot when a duplicate key was dropped.
        sound = members and len(raw) == overhead[keys] + sum(map(len, members.values()))
        opened.append(members if sound else None)
    return opened


def _cluster(key_sets: Counter[Keys]) -> tuple[dict[Keys, int], list[Keys]]:
    """Put key sets that are alike under one column order that all of them follow."""
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
    """One order that both follow, if they share enough; new keys go behind their predecessor."""
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


def _columns(order: Keys, rows: Sequence[dict[str, bytes]], path: Path, depth: int) -> list[Column]:
    columns: list[Column] = []
    for key in order:
        cells: Cells = [row.get(key) for row in rows]
        columns.extend(_flatten(cells, path, key, depth))
    return columns


def _flatten(cells: Cells, path: Path, key: str | int, depth: int) -> list[Column]:
    """The columns below one key: itself, or those of the uniform objects or lists it holds."""
    leaf = [Column((*path, Step(key)), cells)]
    if depth >= _MAX_DEPTH:
        return leaf
    present = [cell for cell in cells if cell is not None]
    heads = {cell[:1] for cell in present}
    nullable = heads > {b"n"}
    if heads - {b"n"} == {b"{"}:
        inner = _inner_objects
    elif heads == {b"["}:
        inner = _inner_lists
    else:
        return leaf
    found = inner([cell for cell in present if cell != b"null"], (*path, Step(key, nullable)), depth)
    if found is None or (nullable and not _has_witness(found)):
        return leaf
    for column in found:
        column.cells = _spread(column.cells, cells)
    return found


def _inner_objects(cells: list[bytes], path: Path, depth: int) -> list[Column] | None:
    if b"{}" in cells:
        return None
    rows = _open_rows(cells)
    sound = [row for row in rows if row is not None]
    if len(sound) < len(rows):
        return None
    order = _common_order(Counter(tuple(row) for row in sound))
    return None if order is None else _columns(order, sound, path, depth + 1)


def _common_order(key_sets: Counter[Keys]) -> Keys | None:
    if len(key_sets) > _MAX_KEY_SETS:
        return None
    order: Keys | None = None
    for keys, _ in key_sets.most_common():
        order = keys if order is None else _merge(order, keys)
        if order is None:
            return None
    return order


def _inner_lists(cells: list[bytes], path: Path, depth: int) -> list[Column] | None:
    """Lists of one fixed length become columns when that can save: objects or long texts in them."""
    if b'"' not in cells[0]:
        return None
    lists = _lists.decode(b"[" + b",".join(cells) + b"]")
    lengths = {len(items) for items in lists}
    if len(lengths) != 1 or not 1 <= (length := lengths.pop()) <= _MAX_FLAT_LIST:
        return None
    columns: list[Column] = []
    for position in range(length):
        inner: Cells = [bytes(items[position]) for items in lists]
        columns.extend(_flatten(inner, path, position, depth + 1))
    return columns


def _has_witness(columns: Iterable[Column]) -> bool:
    """Find a column whose empty cells can only mean that the object itself is null."""
    for column in columns:
        if not any(cell in (None, b"null", HIDDEN) for cell in column.cells):
            column.witness = True
            return True
    return False


def _spread(inner: Cells, outer: Cells) -> Cells:
    """Put the cells of the rows that have the object back among those that lack it or have null."""
    if len(inner) == len(outer):
        return inner
    pending = iter(inner)
    return [None if cell is None else HIDDEN if cell == b"null" else next(pending) for cell in outer]
