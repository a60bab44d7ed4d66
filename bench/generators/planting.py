"""Hides anomalies in rows: each in a row of its own, anywhere but near the start."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

from bench.generators.sample import Draft, Kind, Mark, Recipe

# A row is a dict, or a list of cells.
Row = Any
Encode = Callable[[Any], bytes]
Plant = Callable[["Plot"], None]

# Anomalies stay out of the first twentieth of a document, with a margin for rows of uneven length.
QUIET_SHARE = 0.07
# An outlier lies at least this many times beyond all but a hundredth of its column.
OUTLIER_FACTOR = 30


@dataclass(slots=True)
class Plot:
    rng: Random
    rows: list[Row]
    ids: tuple[str, ...]
    marks: list[Mark] = field(default_factory=list)

    def spot(self, path: str | None = None) -> int:
        """A row nothing has been planted in; with a path, one that has a value there."""
        taken = {mark.where for mark in self.marks}
        first = math.ceil(len(self.rows) * QUIET_SHARE)
        while True:
            where = self.rng.randrange(first, len(self.rows))
            if where not in taken and (path is None or has(self.rows[where], path)):
                return where

    def mark(self, kind: Kind, where: int, *shown: object) -> None:
        names = [pick(self.rows[where], path) for path in self.ids]
        hints = [str(hint) for hint in (*names, *shown) if isinstance(hint, str | int | float)]
        self.marks.append(Mark(kind, where, tuple(hint for hint in hints if _plain(hint))))

    def column(self, path: str) -> Iterator[float]:
        for row in self.rows:
            if has(row, path) and isinstance(value := pick(row, path), int | float):
                yield value


def outlier(path: str) -> Plant:
    def plant(plot: Plot) -> None:
        usual = sorted(abs(value) for value in plot.column(path))
        top = usual[int(len(usual) * 0.99)] or 1
        value = top * plot.rng.uniform(OUTLIER_FACTOR, 3 * OUTLIER_FACTOR)
        where = plot.spot(path)
        whole = isinstance(pick(plot.rows[where], path), int)
        put(plot.rows[where], path, round(value) if whole else round(value, 2))
        plot.mark("outlier value", where, pick(plot.rows[where], path))

    return plant


def rare_value(path: str, value: object, times: int = 1, kind: Kind = "rare value") -> Plant:
    def plant(plot: Plot) -> None:
        for _ in range(times):
            where = plot.spot(path)
            put(plot.rows[where], path, value)
            plot.mark(kind, where, value)

    return plant


def rare_key(path: str, *values: object) -> Plant:
    """One row per value gets a key no other row has."""

    def plant(plot: Plot) -> None:
        for value in values:
            where = plot.spot()
            parent, key = _parent(plot.rows[where], path)
            _insert(parent, key, value, plot.rng.randrange(1, len(parent) + 1))
            plot.mark("rare key", where, value, key)

    return plant


def changed_type(path: str, form: str = "{}") -> Plant:
    """A value becomes a string, written as a sloppy upstream would: `"{} EUR"`, `"n/a"`."""

    def plant(plot: Plot) -> None:
        where = plot.spot(path)
        text = form.format(pick(plot.rows[where], path))
        put(plot.rows[where], path, text)
        plot.mark("changed type", where, text)

    return plant


def missing(path: str) -> Plant:
    def plant(plot: Plot) -> None:
        where = plot.spot(path)
        plot.mark("missing field", where)
        parent, key = _parent(plot.rows[where], path)
        del parent[key]

    return plant


def blank(path: str) -> Plant:
    """The missing field of a form without keys, such as CSV."""

    def plant(plot: Plot) -> None:
        where = plot.spot(path)
        put(plot.rows[where], path, "")
        plot.mark("missing field", where)

    return plant


def listing(
    row: Callable[[Random, int], Row],
    count: int,
    *plants: Plant,
    ids: Iterable[str] = ("id",),
    wrap: Callable[[list[Row]], Any] = lambda rows: rows,
    encode: Encode,
    first_line: int = 0,
) -> Recipe:
    """A document made of rows; `first_line` turns row numbers into line numbers for line-shaped forms."""

    def build(rng: Random) -> Draft:
        plot = Plot(rng, [row(rng, index) for index in range(count)], tuple(ids))
        for plant in plants:
            plant(plot)
        marks = [Mark(mark.kind, mark.where + first_line, mark.hints) for mark in plot.marks]
        return encode(wrap(plot.rows)), marks

    return build


def pick(row: Row, path: str) -> Any:
    parent, key = _parent(row, path)
    return parent[key]


def put(row: Row, path: str, value: object) -> None:
    parent, key = _parent(row, path)
    parent[key] = value


def has(row: Row, path: str) -> bool:
    try:
        return pick(row, path) is not None
    except (KeyError, IndexError):
        return False


def _parent(row: Row, path: str) -> tuple[Any, Any]:
    *steps, last = path.split(".")
    for step in steps:
        row = row[int(step) if isinstance(row, list) else step]
    return row, int(last) if isinstance(row, list) else last


def _insert(parent: dict[str, object], key: str, value: object, position: int) -> None:
    items = list(parent.items())
    items.insert(position, (key, value))
    parent.clear()
    parent.update(items)


def _plain(hint: str) -> bool:
    """Written the same in every form: no escapes, no quotes."""
    return hint.isascii() and hint.isprintable() and not set(hint) & set("\"'\\|<>&,")
