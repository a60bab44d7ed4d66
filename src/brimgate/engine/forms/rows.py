"""Turn rows into columns: which rows share a header, and which columns it has."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from brimgate.engine.forms.column_tree import Column, columns_of
from brimgate.engine.forms.key_orders import MAX_KEY_SETS, Keys, Row, merge, shared_order

_MAX_GROUPS: Final = 26
_MIN_VARIANT: Final = 3
"""Rows that differ inside a member get headers of their own if there are so many of each kind."""
_MAX_VARIANTS: Final = 8


@dataclass(slots=True)
class Group:
    """Rows that share a header."""

    columns: list[Column]


def group_rows(rows: Sequence[Any], *, nested: bool = False) -> tuple[list[Group], list[int | None]]:
    """Return the groups, and for each row the number of its group (None: it fits none)."""
    order = shared_order(rows)
    if order is not None:
        orders, group_of = [order], cast("list[int | None]", [0] * len(rows))
    else:
        keys_of = [tuple(cast("Row", row)) if isinstance(row, dict) else () for row in rows]
        number_of, orders = _cluster(Counter(keys for keys in keys_of if keys), subsets=nested)
        group_of = [number_of.get(keys) for keys in keys_of]
    if nested:
        orders, group_of = _split(rows, orders, group_of)
    groups: list[Group] = []
    for number, order in enumerate(orders):
        members = [row for row, of in zip(rows, group_of, strict=True) if of == number]
        groups.append(Group(columns_of(order, members, nested=nested)))
    return groups, group_of


def whole_rows(rows: Sequence[Any]) -> tuple[list[Group], list[int | None]]:
    """Return one column with the rows as they are, for a table of what they hold."""
    return [Group([Column((), list(rows), is_child=True)])], [0] * len(rows)


def _split(
    rows: Sequence[Any], orders: list[Keys], group_of: list[int | None]
) -> tuple[list[Keys], list[int | None]]:
    """Part each group of rows by the kinds of objects that they have in the member that differs most."""
    made: list[Keys] = []
    split_of: list[int | None] = list(group_of)
    for number, order in enumerate(orders):
        at = [place for place, of in enumerate(group_of) if of == number]
        kinds, count = _variants([rows[place] for place in at], order)
        if len(made) + count + len(orders) - number > _MAX_GROUPS:
            kinds, count = [0] * len(at), 1
        for place, kind in zip(at, kinds, strict=True):
            split_of[place] = len(made) + kind
        made += [order] * count
    return made, split_of


def _variants(rows: Sequence[Row], order: Keys) -> tuple[list[int], int]:
    """Return for each row which kind of object it has in one member, and how many kinds there are."""
    best: tuple[int, list[int], int] = (0, [0] * len(rows), 1)
    for key in order:
        if len(rows) < 2 * _MIN_VARIANT or type(rows[0].get(key)) is not dict:
            continue
        cells = [row.get(key) for row in rows]
        keys_of = [tuple(cast("Row", cell)) if type(cell) is dict else () for cell in cells]
        key_sets = Counter(keys for keys in keys_of if keys)
        if not 1 < len(key_sets) <= MAX_KEY_SETS:
            continue
        number_of, orders = _cluster(key_sets, subsets=True)
        kinds, count = _frequent([number_of.get(keys, 0) for keys in keys_of])
        width = max(map(len, orders), default=0)
        if 1 < count <= _MAX_VARIANTS and width > best[0]:
            best = (width, kinds, count)
    return best[1], best[2]


def _frequent(kinds: list[int]) -> tuple[list[int], int]:
    """Number the kinds that are frequent anew; the others count as the first."""
    frequent = [kind for kind, count in sorted(Counter(kinds).items()) if count >= _MIN_VARIANT]
    renumber = {kind: number for number, kind in enumerate(frequent)}
    return [renumber.get(kind, 0) for kind in kinds], len(frequent)


def _cluster(key_sets: Counter[Keys], *, subsets: bool = False) -> tuple[dict[Keys, int], list[Keys]]:
    """Put similar key sets under one column order that all of them follow."""
    orders: list[Keys] = []
    sizes: list[int] = []
    of: dict[Keys, int] = {}
    for keys, count in key_sets.most_common(MAX_KEY_SETS):
        for number, order in enumerate(orders):
            merged = merge(order, keys, subsets=subsets)
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
