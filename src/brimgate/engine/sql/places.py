"""Find where the tables of a JSON answer are, and name them: `t` for the main one, `t1`, `t2` … for the others."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from brimgate.engine.maps.nested_tables import is_list, is_map, is_object
from brimgate.engine.pointer import pointer_steps

MAIN: Final = "t"
NUMBER: Final = "n"
TEXT: Final = "text"
VALUES: Final = "leaf"
"""The table of the plain values that are in no other table."""
QUERIED: Final = "tables for query: "
_SAMPLED: Final = 200
_MAX_TABLES: Final = 40
_MAX_TOLD: Final = 10
_MAX_DEPTH: Final = 8
_MAX_NUMBERS: Final = 32
_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,60}\Z")

Keys = tuple[str, ...]


@dataclass(slots=True)
class TablePlace:
    """A list, or a map of like objects, that is a table; or the same list inside every row of another table."""

    keys: Keys
    """The names that lead there: from the root, or from a row of `parent`."""
    size: int
    is_map: bool = False
    parent: "TablePlace | None" = None
    name: str = ""
    word: str = ""
    """What it is called in the answer, if no other table is called so and it is a plain word."""
    inner: "dict[Keys, TablePlace]" = field(default_factory=dict["Keys", "TablePlace"])

    @property
    def pattern(self) -> str:
        """Where it is, with `*` for whatever row: `/items/*/spec/containers`."""
        lead = f"{self.parent.pattern}/*" if self.parent else ""
        return lead + "".join(f"/{key}" for key in self.keys)


def table_places(value: Any, main: Keys | None = None) -> list[TablePlace]:
    """Return the places of all tables, the main one first. `main` leads to it, if it is known."""
    tops = list(_tops(value, (), 0))[:_MAX_TABLES]
    chosen = next((one for one in tops if one.keys == main), None) or max(
        tops, key=lambda one: one.size, default=None
    )
    if chosen is None:
        return []
    found = [chosen, *(one for one in tops if one is not chosen)]
    for place in found:  # it grows: tables inside tables
        if len(found) >= _MAX_TABLES:
            break
        found += list(_inner(place, _rows_at(value, place)))[: _MAX_TABLES - len(found)]
    for number, place in enumerate(found):
        place.name = f"{MAIN}{number}" if number else MAIN
    _name_by_words(found)
    return found


def tables_line(value: Any, pointer: str) -> str:
    """Return the tables of an answer in one line of its map; empty if there is only the main one.

    `pointer` leads to the list that it is about.
    """
    places = table_places(value, tuple(pointer_steps(pointer)) if pointer else ())
    if len(places) < 2:
        return ""
    told = [_told(place) for place in places[:_MAX_TOLD]]
    more = f", … {len(places) - _MAX_TOLD} more in the table tables" if len(places) > _MAX_TOLD else ""
    inner = next((place for place in places if place.parent), None)
    join = f"; join on {inner.name}.parent = {inner.parent.name}.n" if inner and inner.parent else ""
    return f"{QUERIED}{', '.join(told)}{more}{join}"


def _told(place: TablePlace) -> str:
    """Write where a table is: those inside of rows by the table of these."""
    if place.parent is None:
        return f"{place.name} = {place.pattern or '/'}"
    return f"{place.name} = {'.'.join(place.keys)} of {place.parent.name}"


def _tops(value: Any, keys: Keys, depth: int) -> Iterator[TablePlace]:
    """Return the tables that are in no other."""
    if is_list(value):
        if value:
            yield TablePlace(keys, len(value))
    elif is_object(value) and depth < _MAX_DEPTH:
        if is_map([value]):
            yield TablePlace(keys, len(value), is_map=True)
            return
        for name, inner in value.items():
            yield from _tops(inner, (*keys, name), depth + 1)


def _rows_at(value: Any, place: TablePlace) -> Sequence[Any]:
    """Return the first rows of a table."""
    if place.parent is None:
        held = value_at(value, place.keys)
        return list(held.values() if place.is_map else held)[:_SAMPLED]
    found: list[Any] = []
    for row in _rows_at(value, place.parent):
        held = value_at(row, place.keys)
        if is_list(held):
            found += held[: _SAMPLED - len(found)]
    return found


def _inner(place: TablePlace, rows: Sequence[Any]) -> Iterator[TablePlace]:
    """Return the tables inside the rows of a table: lists at the same place in each."""
    sizes: dict[Keys, int] = {}
    for row in rows:
        if is_object(row):
            for keys, items in lists_of(row):
                sizes[keys] = sizes.get(keys, 0) + len(items)
    for keys, size in sizes.items():
        place.inner[keys] = TablePlace(keys, size, parent=place)
        yield place.inner[keys]


def lists_of(row: dict[str, Any], lead: Keys = (), depth: int = 0) -> Iterator[tuple[Keys, list[Any]]]:
    """Return the lists in a row that are tables of their own: not those of embeddings."""
    for name, value in row.items():
        if is_list(value):
            if value and not _is_vector(value):
                yield (*lead, name), value
        elif is_object(value) and depth < _MAX_DEPTH:
            yield from lists_of(value, (*lead, name), depth + 1)


def _is_vector(items: list[Any]) -> bool:
    return len(items) >= _MAX_NUMBERS and type(items[0]) is float and type(items[-1]) is float


def value_at(value: Any, keys: Keys) -> Any:
    """Return what names lead to; None if they lead nowhere."""
    for key in keys:
        value = value.get(key) if is_object(value) else None
    return value


def _name_by_words(places: Sequence[TablePlace]) -> None:
    """Give a table the name that the answer has for it, if that is plain and no other table's."""
    words = [place.keys[-1] if place.keys else "" for place in places]
    folded = [word.lower() for word in words]
    names = {place.name for place in places} | {VALUES, "lines", "tables"}
    for place, word, low in zip(places, words, folded, strict=True):
        if _WORD.match(word) and folded.count(low) == 1 and low not in names:
            place.word = word
