"""One order of keys that several objects follow, so that they share a header."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final, cast

MAX_KEY_SETS: Final = 100
"""More key sets than this are not compared with each other; the rarest rows are then written as JSON."""
_MIN_SHARED: Final = 0.6
_MIN_SUBSET: Final = 0.15
"""An object with at least this share of the keys of another, and no others, fits: what it lacks is marked as absent."""
_COMMON: Final = 0.8
Keys = tuple[str, ...]
Row = dict[str, Any]


def shared_order(rows: Sequence[Any]) -> Keys | None:
    """Return the keys of all rows if they have the same keys in the same order, as in most tables."""
    if set(map(type, rows)) != {dict}:
        return None
    keys_of: list[Keys] = list(map(tuple, rows))
    order = keys_of[0]
    return order if order and keys_of.count(order) == len(keys_of) else None


def common_order(key_sets: Counter[Keys]) -> Keys | None:
    if len(key_sets) > MAX_KEY_SETS:
        return None
    order: Keys | None = None
    for keys, _ in key_sets.most_common():
        order = keys if order is None else merge(order, keys)
        if order is None:
            return None
    return order


def main_order(key_sets: Counter[Keys], least: float = _MIN_SHARED) -> tuple[Keys, set[Keys]]:
    """Return an order that most objects follow, and the key sets that do. An empty object follows none."""
    order: Keys = ()
    accepted: set[Keys] = set()
    for keys, _ in key_sets.most_common(MAX_KEY_SETS):
        merged = merge(order, keys, least, subsets=True) if order else keys
        if merged and keys:
            order = merged
            accepted.add(keys)
    return order, accepted


def merge(order: Keys, keys: Keys, least: float = _MIN_SHARED, *, subsets: bool = False) -> Keys | None:
    """Return one order that both follow, if they share enough. New keys go after their predecessor."""
    if keys == order:
        return order
    common = set(order).intersection(keys)
    fewer, more = sorted((len(order), len(keys)))
    is_part = subsets and len(common) == fewer >= _MIN_SUBSET * more
    if not is_part and len(common) < least * (fewer + more - len(common)):
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


def objects_in(values: Iterable[Any]) -> list[Row]:
    """Return the values that are objects and not empty."""
    return cast("list[Row]", [value for value in values if type(value) is dict and value])


def are_alike(objects: Sequence[Row]) -> bool:
    """Return whether objects share most of their keys, or nearly all of them one: they are things of one kind."""
    if not objects:
        return False
    counts = Counter(key for one in objects for key in one)
    most = max(counts.values(), default=0)
    return 2 * counts.total() >= len(counts) * len(objects) or most >= _COMMON * len(objects)


def follows(keys: Iterable[str], order: Iterable[str]) -> bool:
    """Return whether `order` has all the keys, in the same order."""
    pending = iter(order)
    return all(key in pending for key in keys)
