"""The OpenAPI document of an API as we serve it: its operations, and the envelopes they may come in."""

import re
from collections.abc import Iterator
from typing import Any, Final

from brimgate import __version__
from brimgate.front.api.operations import Described, Operation, rest_method

_WHOLE: Final = {"type": "integer"}
_TEXT: Final = {"type": "string"}
_BUDGET: Final = {
    "estimatedTokens": _WHOLE,
    "budgetUsed": {"type": "number"},
    "budgetRemaining": _WHOLE,
}
_DETAILS: Final = {
    "type": "object",
    "description": "how to get the whole: ask this endpoint with these parameters",
    "properties": {"endpoint": _TEXT, "parameters": {"type": "object"}},
}
_CURSOR: Final = {"type": "string", "description": "pass it as `cursor` to read on; absent at the end"}


def _object(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **more}


_SCHEMAS: Final = {
    "Page": _object(
        {
            "nextCursor": _CURSOR,
            "meta": _object(
                {
                    "totalCount": _WHOLE,
                    "pageSize": _WHOLE,
                    "hasMore": {"type": "boolean"},
                    "detailsAvailable": _DETAILS,
                    **_BUDGET,
                }
            ),
        },
        description="part of a list; its items stand under the list's own name",
    ),
    "Preview": _object(
        {
            "summary": {"type": "object"},
            "meta": _object(
                {
                    "kind": {"const": "preview"},
                    "totalFields": _WHOLE,
                    "projectedFields": {"type": "array", "items": _TEXT},
                    "detailsAvailable": _DETAILS,
                    **_BUDGET,
                }
            ),
        },
        description="the essentials of a large object",
    ),
    "Chunk": _object(
        {
            "content": _TEXT,
            "chunkIndex": _WHOLE,
            "totalChunks": _WHOLE,
            "nextCursor": _CURSOR,
            "metadata": _object({"startLine": _WHOLE, "endLine": _WHOLE, "totalLines": _WHOLE}),
        },
        description="part of a long text",
    ),
    "Part": _object(
        {"content": {}, "nextCursor": _CURSOR, "meta": {"type": "object"}},
        description="part of an object too large to come at once, in order",
    ),
    "Error": _object({"error": _object({"code": _TEXT, "message": _TEXT})}),
}


def openapi(api: Described, prefix: str) -> dict[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    for operation in api.tools.values():
        for at, route in enumerate(operation.routes):
            entry = _entry(operation, route, is_first=not at)
            paths.setdefault(prefix + route, {})[rest_method(operation).lower()] = entry
    return {
        "openapi": "3.1.0",
        "info": {
            "title": f"{api.title}, through Brimgate",
            "version": __version__,
            "description": api.description,
        },
        "paths": paths,
        "components": {"schemas": _SCHEMAS},
    }


def _entry(operation: Operation, route: str, *, is_first: bool) -> dict[str, Any]:
    suffix = "" if is_first else "_" + re.sub(r"\W+", "_", route).strip("_")
    entry: dict[str, Any] = {
        "operationId": operation.name + suffix,
        "summary": operation.title or operation.name,
        "description": operation.description,
        "parameters": list(_parameters(operation, route)),
        "responses": {
            "200": {"description": "the answer, or part of it", "content": _content(operation)},
            **{
                status: {"description": text, "content": {"application/json": {"schema": _ref("Error")}}}
                for status, text in _FAILURES.items()
            },
        },
    }
    if rest_method(operation) != "GET":
        entry["requestBody"] = {"content": {"application/json": {"schema": operation.input_schema}}}
    return entry


_FAILURES: Final = {
    "400": "a parameter is wrong; the message says what is right",
    "404": "there is no such thing",
    "422": "the API behind us refuses what it was asked",
    "502": "the API behind us failed",
    "503": "too much was asked of it; try again after Retry-After seconds",
    "504": "it did not answer in time",
}


def _parameters(operation: Operation, route: str) -> Iterator[dict[str, Any]]:
    in_path = re.findall(r"\{([^}]*)\}", route)
    schema = operation.input_schema
    for name in operation.parameters:
        described = dict(schema["properties"][name])
        if name not in in_path and rest_method(operation) != "GET":
            continue
        yield {
            "name": name,
            "in": "path" if name in in_path else "query",
            "required": name in in_path or name in schema.get("required", ()),
            "description": described.pop("description", ""),
            "schema": described,
        }


def _content(operation: Operation) -> dict[str, Any]:
    if operation.is_text:
        return {"text/csv": {"schema": _TEXT}, "application/json": {"schema": _ref("Chunk")}}
    kinds = ["Page"] if operation.is_list else ["Preview", "Part"]
    return {"application/json": {"schema": {"anyOf": [{"type": "object"}, *map(_ref, kinds)]}}}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}
