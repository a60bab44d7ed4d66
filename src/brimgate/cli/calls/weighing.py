"""Whether a schema can be followed: a hostile one may lead in circles, or to so many places that nobody gets through.

Neither the clock nor Ctrl-C interrupts who follows one; so it is weighed before.
"""

from collections.abc import Iterator
from typing import Any, Final, cast

_MOST: Final = 200_000
"""Schemas in it, each counted as often as something refers to it; a validator takes some 10 ms for as many."""
_IN_PLACE: Final = (
    "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies",
)  # fmt: skip
"""What speaks of the same value. Whatever else holds schemas speaks of parts of it, and so comes to an end with it."""
_ELSEWHERE: Final = ("$dynamicRef", "$recursiveRef")


def usable(schema: Any) -> Any:
    """The schema, or in place of one too large to be followed one that says nothing: that is not the fault of whoever calls."""
    return schema if _weighs_little(_Scale(schema)) else {}


def is_checkable(schema: Any) -> bool:
    """Whether a validator comes to an end with it, which follows every reference, and circles for long."""
    return _weighs_little(_Strict(schema))


def _weighs_little(scale: "_Scale") -> bool:
    try:
        return scale.weigh(scale.root) <= _MOST
    except (_Lost, RecursionError):
        return False


class _Lost(Exception):
    """It refers to itself about the same value, or to where only a validator would find."""


class _Scale:
    def __init__(self, root: Any) -> None:
        self.root = root
        self._weights: dict[int, int] = {}

    def weigh(self, node: Any) -> int:
        if not isinstance(node, dict | list):
            return 0
        key = id(cast("Any", node))
        if key not in self._weights:
            self._weights[key] = 1  # one that leads back here is counted once
            self._weights[key] = 1 + sum(map(self.weigh, (*_inside(node), *self.referred(node))))
        return self._weights[key]

    def referred(self, node: Any) -> list[Any]:
        """What it refers to within the whole."""
        reference = cast("dict[str, Any]", node).get("$ref") if isinstance(node, dict) else None
        if not isinstance(reference, str) or not reference.startswith("#"):
            return []
        found = self.root
        for name in reference[1:].split("/")[1:]:
            members = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
            found = members.get(name.replace("~1", "/").replace("~0", "~"))
        return [found]


class _Strict(_Scale):
    def __init__(self, root: Any) -> None:
        super().__init__(root)
        self._is_open: dict[int, bool] = {}

    def referred(self, node: Any) -> list[Any]:
        if not isinstance(node, dict):
            return []
        schema = cast("dict[str, Any]", node)
        reference, name = schema.get("$ref"), schema.get("$id")
        if isinstance(reference, str) and reference != "#" and not reference.startswith("#/"):
            raise _Lost
        if any(isinstance(schema.get(one), str) for one in _ELSEWHERE):
            raise _Lost
        if isinstance(name, str) and schema is not self.root:
            raise _Lost  # references below it begin there
        found = super().referred(schema)
        if found and not isinstance(found[0], dict):
            raise _Lost
        self._follow(schema, found)
        return found

    def _follow(self, schema: dict[str, Any], referred: list[Any]) -> None:
        """Through all that speaks of the same value: it must not come back."""
        if self._is_open.get(id(schema)):
            raise _Lost
        if id(schema) not in self._is_open:
            self._is_open[id(schema)] = True
            for one in _in_place(schema):
                self.referred(one)
            for one in referred:
                self.referred(one)
            self._is_open[id(schema)] = False


def _inside(node: Any) -> Iterator[Any]:
    yield from cast("dict[str, Any]", node).values() if isinstance(node, dict) else cast("list[Any]", node)


def _in_place(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for name in _IN_PLACE:
        value = schema.get(name)
        several: list[Any] = [value, *_inside(value)] if isinstance(value, dict | list) else []
        yield from (one for one in several if isinstance(one, dict))
