"""Nested objects in a cell: the header names their members once, the cell has the values.

    limits(cpu,memory)              an object, written as ["1","512Mi"]
    env(name,value)[]               a list of objects: [["LOG_LEVEL","info"],["REGION","eu"]]
    columns(type,description){}     an object of like objects: {"id":["int","the number"]}

A value that is not of this shape stands as it is in JSON. `-` is a member that the object lacks; what is missing at
the end is absent, too.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, cast

import msgspec

from brimgate.engine import jsontext
from brimgate.engine.forms.cells import json_end
from brimgate.engine.forms.column_paths import name_text, read_name
from brimgate.engine.forms.key_orders import Row, are_alike, follows, main_order, objects_in
from brimgate.errors import InputError

_MAX_DEPTH: Final = 12
_GAP: Final = "-"


@dataclass(frozen=True, slots=True)
class CellShape:
    """What cells have in common: `[]` of, `{}` of, or the members of an object."""

    around: str
    """`[]` and `{}` for lists and maps around the object, outermost first."""
    members: "tuple[tuple[str, CellShape | None], ...]"


def shape_of(values: Sequence[Any], depth: int = 0) -> CellShape | None:
    """Return the shape that these values have in common, or None if JSON says it as well."""
    kinds = set(map(type, values))
    if depth > _MAX_DEPTH or {dict, list} <= kinds:
        return None
    if list in kinds:
        lists = cast("list[list[Any]]", [value for value in values if type(value) is list])
        return _around("[]", shape_of(list(chain.from_iterable(lists)), depth + 1))
    objects = objects_in(values)
    if len(objects) < 2:
        return None
    key_sets = Counter(map(tuple, objects))
    inner = list(chain.from_iterable(value.values() for value in objects))
    if are_alike(objects) and not (len(key_sets) > 1 and _are_like_objects(inner)):
        order, _ = main_order(key_sets, least=0.0)
        # What is written by a shape must be what the shape was made of.
        fitting = [value for value in objects if follows(value, order)]
        return CellShape("", tuple((key, _member(fitting, key, depth)) for key in order))
    return _around("{}", shape_of(inner, depth + 1))


def _are_like_objects(values: list[Any]) -> bool:
    return set(map(type, values)) == {dict} and are_alike(values)


def _around(mark: str, inner: CellShape | None) -> CellShape | None:
    return CellShape(mark + inner.around, inner.members) if inner else None


def _member(objects: list[Row], key: str, depth: int) -> CellShape | None:
    return shape_of([value[key] for value in objects if key in value], depth + 1)


def shape_text(shape: CellShape) -> str:
    members = [name_text(key) + (shape_text(inner) if inner else "") for key, inner in shape.members]
    marks = [shape.around[at : at + 2] for at in range(0, len(shape.around), 2)]
    return f"({','.join(members)})" + "".join(reversed(marks))


def write_shaped(shape: CellShape | None, value: Any, level: int = 0) -> str:
    """Write a value of this shape; whatever is not of it becomes JSON."""
    if shape is None:
        return msgspec.json.encode(value).decode()
    mark = shape.around[2 * level : 2 * level + 2]
    if mark == "[]" and type(value) is list:
        items = cast("list[Any]", value)
        return "[" + ",".join([write_shaped(shape, item, level + 1) for item in items]) + "]"
    if mark == "{}" and type(value) is dict:
        named = cast("Row", value).items()
        inner = [f"{jsontext.quote(key)}:{write_shaped(shape, item, level + 1)}" for key, item in named]
        return "{" + ",".join(inner) + "}"
    if mark or type(value) is not dict or not value:
        return msgspec.json.encode(value).decode()
    return _write_members(shape, cast("Row", value))


def _write_members(shape: CellShape, value: Row) -> str:
    if not follows(value, [key for key, _ in shape.members]):
        return msgspec.json.encode(value).decode()
    cells = [write_shaped(inner, value[key]) if key in value else _GAP for key, inner in shape.members]
    while cells[-1] == _GAP:
        cells.pop()
    return "[" + ",".join(cells) + "]"


def read_shape(text: str, at: int) -> tuple[CellShape | None, int]:
    """Return the shape that is written at `at` in a header (None: there is none), and where it ends."""
    if text[at : at + 1] != "(":
        return None, at
    start = at
    members: list[tuple[str, CellShape | None]] = []
    while text[at] != ")":
        key, at = read_name(text, at + 1)
        inner, at = read_shape(text, at)
        if text[at : at + 1] not in (",", ")"):
            raise InputError(f"expected the names of members at {text[start : start + 20]!r}")
        members.append((key, inner))
    around = ""
    at += 1
    while text[at : at + 2] in ("[]", "{}"):
        around = text[at : at + 2] + around
        at += 2
    return CellShape(around, tuple(members)), at


class ShapedText:
    """Reads the JSON text of cells that have a shape."""

    def __init__(self, text: str, at: int) -> None:
        self._text = text
        self.at = at

    def read(self, shape: CellShape | None, level: int = 0) -> str:
        """Return the JSON text of the value at the current place, and go behind it."""
        mark = shape.around[2 * level : 2 * level + 2] if shape else ""
        start = self._text[self.at]
        if shape is not None and start == "[" and mark in ("[]", ""):
            if mark:
                return "[" + ",".join(self._items(shape, level)) + "]"
            return self._members(shape)
        if shape is not None and start == "{" and mark == "{}":
            return "{" + ",".join(self._items(shape, level, keyed=True)) + "}"
        return self._json()

    def _json(self) -> str:
        start = self.at
        self.at = json_end(self._text, start)
        return self._text[start : self.at]

    def _items(self, shape: CellShape, level: int, *, keyed: bool = False) -> list[str]:
        items: list[str] = []
        while self._goes_on():
            name = ""
            if keyed:
                name = self._json() + ":"
                self.at += 1
            items.append(name + self.read(shape, level + 1))
        return items

    def _goes_on(self) -> bool:
        """Step over the bracket or comma; return whether another item follows, and step over the end if none does."""
        self.at += 1
        if self._text[self.at - 1] in "]}":
            return False
        if self._text[self.at] in "]}":
            self.at += 1
            return False
        return True

    def _members(self, shape: CellShape) -> str:
        members: list[str] = []
        pending = iter(shape.members)
        while self._goes_on():
            key, inner = next(pending)
            if self._text[self.at] == _GAP and self._text[self.at + 1] in ",]":
                self.at += 1
            else:
                members.append(f"{jsontext.quote(key)}:{self.read(inner)}")
        return "{" + ",".join(members) + "}"
