"""Read what a JSON Schema says about the arguments of a tool, however it says it."""

import json
from collections.abc import Iterator
from typing import Any, Final, cast

from brimgate.cli.output import short
from brimgate.engine.pointer import referred

Schema = dict[str, Any]
_MAX_HOPS: Final = 20
"""Steps from a schema to another that it refers to or consists of: a foreign one may lead in circles."""
_MAX_LOOKS: Final = 100
_MAX_PARTS: Final = 1_000
_MADE_OF: Final = ("$ref", "allOf")
_NAMES: Final = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list (a,b,c or JSON)",
    "object": "a JSON object",
    "null": "null",
    "string": "a text",
}
_MOST: Final = 200_000
"""The number of schemas in it, counted once per reference; a validator takes about 10 ms for this many."""
_IN_PLACE: Final = (
    "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies",
)  # fmt: skip
"""Keywords about the same value. Other keywords are about parts of the value, and so end with it."""
_ELSEWHERE: Final = ("$dynamicRef", "$recursiveRef")


def parameters(schema: Any) -> dict[str, Any]:
    """Return the parameters by name, in order, with the schema of each."""
    root = as_mapping(schema)
    found: dict[str, Any] = {}
    for one in alternatives(root, root):
        for name, about in as_mapping(one.get("properties")).items():
            found.setdefault(name, about)
    return found


def required(schema: Any) -> list[str]:
    root = as_mapping(schema)
    return [name for name in items_of(_merged(root, root).get("required")) if isinstance(name, str)]


def alternatives(schema: Any, root: Schema) -> list[Schema]:
    """Return what a value may be, one type each; a schema that says nothing stands for anything."""
    found: list[Schema] = []
    pending: list[Any] = [schema]
    for _ in range(_MAX_LOOKS):
        if not pending:
            break
        whole = _merged(as_mapping(pending.pop(0)), root)
        rest = {name: one for name, one in whole.items() if name not in ("anyOf", "oneOf")}
        if branches := [*items_of(whole.get("anyOf")), *items_of(whole.get("oneOf"))]:
            pending = [rest | _merged(as_mapping(branch), root) for branch in branches[:_MAX_LOOKS]] + pending
        else:
            kinds = rest.get("type")
            found += [rest | {"type": kind} for kind in (items_of(kinds) or [kinds])]
            found += [{"type": "null"}] if whole.get("nullable") is True else []
    return found or [{}]


def _merged(schema: Schema, root: Schema) -> Schema:
    """Merge a schema with what it refers to and with its parts."""
    for _ in range(_MAX_HOPS):
        parts = _parts(schema, root)
        if not parts:
            break
        own = {name: one for name, one in schema.items() if name not in _MADE_OF}
        schema = _joined([*parts, own], root)
    return schema


def _parts(schema: Schema, root: Schema) -> list[Schema]:
    parts, reference = list(map(as_mapping, items_of(schema.get("allOf")))), schema.get("$ref")
    return [*parts, _referred(reference, root)] if isinstance(reference, str) else parts


def _joined(parts: list[Schema], root: Schema) -> Schema:
    """Merge parts: later ones override earlier ones; parameters, and the parts of parts, add up."""
    whole, named, deeper = Schema(), Schema(), list[Schema]()
    needed: dict[str, None] = {}
    for part in parts:
        deeper += _parts(part, root)
        whole.update((name, one) for name, one in part.items() if name not in _MADE_OF)
        named.update(as_mapping(part.get("properties")))
        needed.update((name, None) for name in items_of(part.get("required")) if isinstance(name, str))
    more = {"properties": named, "required": list(needed), "allOf": deeper[:_MAX_PARTS]}
    return whole | {name: one for name, one in more.items() if one}


def _referred(reference: str, root: Schema) -> Schema:
    """Resolve a reference, only within the schema itself: nothing is fetched."""
    return as_mapping(referred(root, reference))


def is_open(schema: Schema) -> bool:
    """Return whether it allows other parameters, or names none at all."""
    whole = _merged(schema, schema)
    others = whole.get("additionalProperties")
    if others is True or isinstance(others, dict) or "patternProperties" in whole:
        return True
    return others is not False and not isinstance(whole.get("properties"), dict) and not parameters(schema)


def kind_of(schema: Schema) -> str:
    """Return its type, stated or inferred; empty if it may be any."""
    kind = schema.get("type")
    if isinstance(kind, str):
        return kind
    return "object" if "properties" in schema else "array" if "items" in schema else ""


def choices_of(schema: Schema) -> list[Any]:
    return [schema["const"]] if "const" in schema else items_of(schema.get("enum"))


def takes_text_itself(schema: Any, root: Schema) -> bool:
    return any(kind_of(one) in ("string", "") and not choices_of(one) for one in alternatives(schema, root))


def as_mapping(value: Any) -> Schema:
    return cast("Schema", value) if isinstance(value, dict) else {}


def items_of(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def wanted(schema: Any, root: Schema) -> str:
    found: list[str] = []
    for one in alternatives(schema, root):
        if choices := choices_of(one):
            spelled = [one if isinstance(one, str) else json.dumps(one) for one in choices]
            found.append(spelled[0] if len(spelled) == 1 else f"one of {', '.join(spelled)}")
        else:
            found.append(_NAMES.get(kind_of(one), "any value"))
    return short(" or ".join(dict.fromkeys(found)), 300)


def usable(schema: Any) -> Any:
    """Return the schema, or an empty one if it is too large to follow: that is not the caller's fault."""
    return schema if _weighs_little(_Scale(schema)) else {}


def is_checkable(schema: Any) -> bool:
    """Return whether a validator terminates on it. A validator follows every reference, and can circle for long."""
    return _weighs_little(_Strict(schema))


def _weighs_little(scale: "_Scale") -> bool:
    try:
        return scale.weigh(scale.root) <= _MOST
    except (_Lost, RecursionError):
        return False


class _Lost(Exception):
    """It refers to itself for the same value, or to a place that only a validator would find."""


class _Scale:
    def __init__(self, root: Any) -> None:
        self.root = root
        self._weights: dict[int, int] = {}

    def weigh(self, node: Any) -> int:
        if not isinstance(node, dict | list):
            return 0
        key = id(cast("Any", node))
        if key not in self._weights:
            self._weights[key] = 1  # a schema that leads back here is counted once
            self._weights[key] = 1 + sum(map(self.weigh, (*_inside(node), *self.referred(node))))
        return self._weights[key]

    def referred(self, node: Any) -> list[Any]:
        """Return what it refers to within the whole."""
        reference = cast("dict[str, Any]", node).get("$ref") if isinstance(node, dict) else None
        if not isinstance(reference, str) or not reference.startswith("#"):
            return []
        return [referred(self.root, reference)]


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
            raise _Lost  # references below it are relative to it
        found = super().referred(schema)
        if found and not isinstance(found[0], dict):
            raise _Lost
        self._follow(schema, found)
        return found

    def _follow(self, schema: dict[str, Any], referred: list[Any]) -> None:
        """Follow everything about the same value: it must not lead back."""
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
