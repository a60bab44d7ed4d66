"""A text as a value of the type that a schema wants."""

import json
from typing import Any, Final

from brimgate.cli.calls.schema import Schema, alternatives, choices_of, kind_of
from brimgate.cli.calls.values import NUMBER, number_of, read_json
from brimgate.errors import BadRequest

_GREED: Final = {"array": 1, "string": 2, "": 2}
"""What takes almost any text comes last."""
UNFIT: Final = object()


def convert(text: str, schema: Any, root: Schema) -> Any:
    """By the first alternative that it satisfies, a text last; UNFIT if there is none."""
    found = alternatives(schema, root)
    takes_text = any(kind_of(one) == "string" for one in found)
    for one in sorted(found, key=lambda one: _GREED.get(kind_of(one), 0)):
        value = _fit(text, one, root, takes_text=takes_text)
        if value is not UNFIT:
            return value
    return UNFIT


def _fit(text: str, schema: Schema, root: Schema, *, takes_text: bool) -> Any:
    if choices := choices_of(schema):
        return next((one for one in choices if _is_spelled(one, text)), UNFIT)
    match kind_of(schema):
        case "string":
            return text
        case "null":
            return None if text == "null" else UNFIT
        case "boolean":
            return {"true": True, "false": False}.get(text.lower(), UNFIT)
        case "integer":
            found = NUMBER.fullmatch(text)
            return number_of(text) if found and not found[1] and not found[2] else UNFIT
        case "number":
            return number_of(text) if NUMBER.fullmatch(text) else UNFIT
        case "array":
            return _list(text, schema, root, takes_text=takes_text)
        case "object":
            return _tried(text) if text.lstrip()[:1] == "{" else UNFIT
        case "":
            value = _tried(text)
            return text if value is UNFIT else value
        case _:
            return UNFIT


def _list(text: str, schema: Schema, root: Schema, *, takes_text: bool) -> Any:
    if text.lstrip()[:1] == "[":
        return _tried(text)
    if takes_text:
        return UNFIT
    parts = [part.strip() for part in text.split(",")] if text.strip() else []
    items = [convert(part, schema.get("items", {}), root) for part in parts]
    return UNFIT if any(item is UNFIT for item in items) else items


def _tried(text: str) -> Any:
    try:
        return read_json(text, "")
    except BadRequest:
        return UNFIT


def _is_spelled(value: Any, text: str) -> bool:
    return value == text if isinstance(value, str) else json.dumps(value, ensure_ascii=False) == text
