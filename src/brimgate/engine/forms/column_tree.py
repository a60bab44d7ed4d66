"""Turn the cells of one key into columns: those of the objects and short lists in them, or one of its own."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import msgspec

from brimgate.engine.forms.cell_shapes import CellShape, shape_of
from brimgate.engine.forms.cells import Gap
from brimgate.engine.forms.column_paths import ColumnStep, Path
from brimgate.engine.forms.key_orders import (
    Keys,
    Row,
    are_alike,
    common_order,
    main_order,
    objects_in,
    shared_order,
)

_MAX_FLAT_LIST: Final = 6
_MAX_DEPTH: Final = 12
_MIN_CHILDREN: Final = 5
"""Lists with so many objects on average get a table of their own; shorter ones stay in their cell."""
_MOST_ODD: Final = 0.33
"""Share of the bytes of a column that may stand as JSON beside the columns of the rest."""
Cells = list[Any]


@dataclass(slots=True)
class Column:
    path: Path
    cells: Cells
    """One JSON value or Gap per row."""
    witness: bool = False
    """Never empty unless an object above it is not there. It stays in the rows, to tell those from the others."""
    shape: CellShape | None = None
    is_child: bool = False
    """The lists or maps in its cells stand in a table of their own."""


def columns_of(order: Keys, rows: Sequence[Row], path: Path = (), *, nested: bool = False) -> list[Column]:
    """Return the columns of rows that follow one order of keys.

    If `nested`, objects that differ stand beside the others, and lists and maps of objects get a shape or a table.
    """
    columns: list[Column] = []
    for key in order:
        try:
            cells = [row[key] for row in rows]
        except KeyError:
            cells = [row.get(key, Gap.ABSENT) for row in rows]
        columns.extend(flattened(cells, path, key, nested))
    return columns


def flattened(cells: Cells, path: Path, key: str | int, nested: bool) -> Iterator[Column]:
    """Yield the columns below one key: itself, or those of the uniform objects or lists it holds."""
    kinds = set(map(type, cells))
    if not kinds & {dict, list} or len(path) >= _MAX_DEPTH:
        yield Column((*path, ColumnStep(key)), cells)
    elif nested:
        order = shared_order(cells) if len(cells) > 1 else None
        if order is None:
            yield from _Mixed(cells, path, key).columns()
        else:
            yield from columns_of(order, cells, (*path, ColumnStep(key)), nested=True)
    else:
        yield from _uniform(cells, path, key, kinds)


def _uniform(cells: Cells, path: Path, key: str | int, kinds: set[type[Any]]) -> Iterator[Column]:
    kind = kinds - {Gap, type(None)}
    inner: list[Column] | None = None
    nullable = type(None) in kinds
    present = [cell for cell in cells if cell is not None and cell is not Gap.ABSENT]
    if kind == {dict}:
        inner = _inner_objects(present, (*path, ColumnStep(key, nullable)))
    elif kind == {list} and not nullable:
        inner = _inner_lists(present, (*path, ColumnStep(key)), nested=False)
    if inner is None or (nullable and not _mark_witness(inner)):
        yield Column((*path, ColumnStep(key)), cells)
        return
    for column in inner:
        if len(kinds) > 1:
            column.cells = _spread(column.cells, [_why(cell, Gap.ABSENT) for cell in cells])
        yield column


def _inner_objects(objects: list[Row], path: Path) -> list[Column] | None:
    order = shared_order(objects) or (common_order(Counter(map(tuple, objects))) if all(objects) else None)
    return None if order is None else columns_of(order, objects, path)


def _inner_lists(lists: list[list[Any]], path: Path, *, nested: bool) -> list[Column] | None:
    """Turn lists of one fixed length into columns when that can save: when they contain objects or texts."""
    lengths = set(map(len, lists))
    if len(lengths) != 1 or not 1 <= (length := lengths.pop()) <= _MAX_FLAT_LIST:
        return None
    if not any(isinstance(item, (dict, str)) for item in lists[0]):
        return None
    return [
        column
        for at in range(length)
        for column in flattened([items[at] for items in lists], path, at, nested)
    ]


def _mark_witness(columns: Sequence[Column]) -> bool:
    """Find a column whose gaps can only mean that the object itself is not there; best one that varies."""
    certain = [
        column
        for column in columns
        if not column.is_child and not {Gap, type(None)} & set(map(type, column.cells))
    ]
    if not certain:
        return False
    best = next((column for column in certain if column.cells[0] != column.cells[-1]), certain[0])
    best.witness = True
    return True


def _why(cell: Any, gap: Gap) -> Gap | None:
    return Gap.HIDDEN if cell is None else gap if cell is Gap.ABSENT else None


def _spread(inner: Cells, gaps: Sequence[Gap | None]) -> Cells:
    """Put the cells of the rows that have the object back among those that lack it or have null."""
    pending = iter(inner)
    return [next(pending) if gap is None else gap for gap in gaps]


class _Mixed:
    """The cells of one key, some of which may not be like the others."""

    def __init__(self, cells: Cells, path: Path, key: str | int) -> None:
        self._cells = cells
        self._above = path
        self._key = key
        self._path = (*path, ColumnStep(key))
        self._order: Keys = ()

    def columns(self) -> Iterator[Column]:
        if is_child(self._cells):
            yield Column(self._path, self._cells, is_child=True)
            return
        found = self._flat()
        if found is None:
            shape = shape_of([cell for cell in self._cells if not isinstance(cell, Gap)])
            yield Column(self._path, self._cells, shape=shape)
            return
        yield from found

    def _flat(self) -> list[Column] | None:
        """Return the columns of what most cells hold, behind one with the JSON of the others, if there are any."""
        fits = self._fitting()
        like = [cell for cell, fit in zip(self._cells, fits, strict=True) if fit]
        if not like:
            return None
        rest = [cell for cell, fit in zip(self._cells, fits, strict=True) if not fit]
        odd = [cell for cell in rest if cell is not None and cell is not Gap.ABSENT]
        inner = self._inner(like, optional=bool(rest), strict=bool(odd))
        if inner is None:
            return None
        is_marked = bool(rest) and _mark_witness(inner)
        if rest and not is_marked:
            if odd or any(cell is None for cell in rest):
                return None
            for column in inner:
                column.path = (*self._path, *column.path[len(self._path) :])
        if odd and not _is_worth(odd, like, len(inner)):
            return None
        gap = Gap.GONE if is_marked else Gap.ABSENT
        gaps = [None if fit else _gap(cell, gap) for cell, fit in zip(self._cells, fits, strict=True)]
        for column in inner:
            column.cells = _spread(column.cells, gaps) if rest else column.cells
        return [self._beside(fits), *inner] if odd else inner

    def _fitting(self) -> list[bool]:
        """Tell for each cell whether it is like most others: objects that follow one order, lists of one length."""
        cells = self._cells
        kinds = Counter(map(type, cells))
        if kinds[dict] >= kinds[list]:
            objects = cast("list[Row]", [cell for cell in cells if type(cell) is dict])
            key_sets = Counter(map(tuple, objects))
            if (len(key_sets) > 1 or len(objects) == 1) and is_map(objects):
                return [False] * len(cells)
            self._order, accepted = main_order(key_sets)
            return [type(cell) is dict and tuple(cast("Row", cell)) in accepted for cell in cells]
        lengths = Counter(len(cast("Cells", cell)) for cell in cells if type(cell) is list and cell)
        length = lengths.most_common(1)[0][0] if lengths else -1
        return [type(cell) is list and len(cast("Cells", cell)) == length for cell in cells]

    def _inner(self, like: list[Any], *, optional: bool, strict: bool) -> list[Column] | None:
        path = (*self._above, ColumnStep(self._key, optional))
        if type(like[0]) is dict:
            return columns_of(self._order, like, path, nested=True)
        if strict and not any(isinstance(item, dict) for item in like[0]):
            return None
        return _inner_lists(like, path, nested=True)

    def _beside(self, fits: Sequence[bool]) -> Column:
        beside = [
            Gap.ABSENT if fit or cell is None else cell for cell, fit in zip(self._cells, fits, strict=True)
        ]
        return Column(self._path, beside)


def _gap(cell: Any, gap: Gap) -> Gap:
    return Gap.HIDDEN if cell is None else gap


def _is_worth(odd: Cells, like: Cells, width: int) -> bool:
    """Return whether columns save more than the marks for the rows that do not have them cost."""
    size = len(msgspec.json.encode(like))
    return (
        len(like) > 1
        and len(msgspec.json.encode(odd)) <= _MOST_ODD * size
        and len(odd) * 2 * width <= _MOST_ODD * size
    )


def is_child(cells: Sequence[Any]) -> bool:
    """Return whether the cells hold lists of objects, or objects of like objects, that are long enough for a table."""
    kinds = set(map(type, cells)) - {Gap, type(None)}
    if kinds != {dict} and kinds != {list}:
        return False
    filled = [cell for cell in cells if type(cell) in kinds and cell]
    if not filled or sum(map(len, filled)) < _MIN_CHILDREN * len(filled):
        return False
    if kinds == {dict}:
        return is_map(filled)
    items = [item for cell in filled for item in cell]
    return 2 * len(objects_in(items)) > len(items)


def is_map(objects: Sequence[Row]) -> bool:
    """Return whether the keys of these objects are names of things, not of members: like objects, by changing keys."""
    total = sum(map(len, objects))
    inner = objects_in(value for one in objects for value in one.values())
    if total < 3 or 2 * len(inner) <= total:
        return False
    names = {key for one in objects for key in one}
    if len(objects) > 1 and 2 * total >= len(names) * len(objects):
        return False
    return are_alike(inner)
