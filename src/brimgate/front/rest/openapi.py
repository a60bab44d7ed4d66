"""OpenAPI documents pass whole, and tell of our query parameters where an operation has none of the name."""

import json
import re
from collections.abc import Callable
from typing import Any, Final, cast

from brimgate.engine.document import Source
from brimgate.front.rest.body import encoded
from brimgate.front.rest.parameters import ParameterNames

_VERSION: Final = re.compile(rb'"3\.\d{1,3}(?:\.\d{1,3})?"\Z')


def is_openapi(source: Source) -> bool:
    children = source.open(source.root) if source.is_json else None
    keys = children.keys if children else None
    if children is None or not keys or not {"openapi", "paths", "info"} <= set(keys):
        return False
    version = source.raw(source.child(children, keys.index("openapi")))
    paths = source.child(children, keys.index("paths"))
    return bool(_VERSION.match(version)) and source.head(paths) == b"{"


def with_parameters(
    data: bytes, names: ParameterNames, max_limit: Callable[[str], int | None]
) -> bytes | None:
    """The document with our parameters; None where nothing is to be added. `max_limit`: None where a path has none."""
    document = _mapping(json.loads(data))
    changed = False
    for path, item in _mapping(document["paths"]).items():
        most = max_limit(path)
        operation = _mapping(_mapping(item).get("get"))
        if most is None or not operation:
            continue
        known = _known(document, _mapping(item)) | _known(document, operation)
        added = [entry for entry in _parameters(names, most) if entry["name"] not in known]
        if added:
            operation["parameters"] = [*_listed(operation), *added]
            changed = True
    return encoded(document) if changed else None


def _mapping(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _listed(holder: dict[str, Any]) -> list[Any]:
    found = holder.get("parameters")
    return cast("list[Any]", found) if isinstance(found, list) else []


def _known(document: dict[str, Any], holder: dict[str, Any]) -> set[str]:
    """Names of query parameters that are there already, also those that stand elsewhere in the document."""
    parameters = [_resolved(document, _mapping(entry)) for entry in _listed(holder)]
    return {str(found.get("name")) for found in parameters if found.get("in") == "query"}


def _resolved(document: dict[str, Any], entry: dict[str, Any]) -> dict[str, Any]:
    reference = entry.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return entry
    value = document
    for step in reference[2:].split("/"):
        value = _mapping(value.get(step.replace("~1", "/").replace("~0", "~")))
    return value


def _parameters(names: ParameterNames, max_limit: int) -> list[dict[str, Any]]:
    line = {"type": "integer", "minimum": 1}
    return [
        _parameter(names.limit, "Items on a page.", {"type": "integer", "minimum": 1, "maximum": max_limit}),
        _parameter(names.cursor, "Reads on from `nextCursor` of an earlier answer.", {"type": "string"}),
        _parameter(
            names.fields,
            "Fields to return, such as `id,guest.name`; `all` for everything.",
            {"type": "string"},
        ),
        _parameter(names.start_line, "First line of a text to return.", line),
        _parameter(names.end_line, "Last line of a text to return.", line),
    ]


def _parameter(name: str, description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "description": description, "schema": schema}
