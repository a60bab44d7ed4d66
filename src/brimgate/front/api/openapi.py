"""The OpenAPI document of an API as we serve it, with its operations and envelopes, and a page that shows it."""

import re
from collections.abc import Coroutine, Iterator, Mapping
from html import escape
from typing import Any, Final, Protocol

from brimgate import __version__
from brimgate.hold.live_lists import LiveList

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
_FAILURES: Final = {
    "400": "a parameter is wrong; the message says what is right",
    "404": "there is no such thing",
    "422": "the API behind us refuses what it was asked",
    "502": "the API behind us failed",
    "503": "too much was asked of it; try again after Retry-After seconds",
    "504": "it did not answer in time",
}
_STYLE: Final = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1b2733; }
code { background: #eef2f5; padding: .1em .3em; border-radius: 3px; }
section { border-top: 1px solid #d5dde4; padding: .6rem 0; }
h2 { font-size: 1rem; margin: .4rem 0; } table { border-collapse: collapse; }
td, th { text-align: left; padding: .15rem .8rem .15rem 0; vertical-align: top; }
b { color: #0a5c8a; }
@media (prefers-color-scheme: dark) {
  body { background: #12181e; color: #d8e0e7; } code { background: #222c35; } b { color: #6bc1ee; }
}
"""
_SHARED: Final = """Every list takes <code>limit</code> and <code>cursor</code>, every object <code>fields</code>
(<code>fields=all</code> for all of it), every long text <code>startLine</code> and <code>endLine</code>."""


class OperationParameter(Protocol):
    @property
    def name(self) -> str:
        """The name as the API itself spells it."""
        ...


class Operation(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def method(self) -> str: ...
    @property
    def routes(self) -> tuple[str, ...]: ...
    @property
    def annotations(self) -> Mapping[str, Any]: ...
    @property
    def input_schema(self) -> dict[str, Any]: ...
    @property
    def parameters(self) -> Mapping[str, OperationParameter]: ...
    @property
    def is_list(self) -> bool: ...
    @property
    def is_text(self) -> bool:
        """Whether it answers with a text, such as CSV."""
        ...


class Described(Protocol):
    @property
    def title(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def tools(self) -> Mapping[str, Operation]: ...


class Answered(Protocol):
    @property
    def status(self) -> int: ...
    @property
    def body(self) -> bytes: ...
    @property
    def content_type(self) -> str: ...
    @property
    def live_list(self) -> LiveList | None: ...


class Operations(Protocol):
    @property
    def api(self) -> Described: ...

    def run(self, tool: str, arguments: Mapping[str, Any], page: int = 0) -> Coroutine[Any, Any, Answered]:
        """Run an operation. Raise BadRequest for a caller's mistake, UpstreamError for anything else.

        `page` is how many items of a list are wanted first; 0 if nobody says.
        """
        ...

    def read_texts(self, tool: str, texts: Mapping[str, str]) -> dict[str, Any]:
        """Read arguments from the texts of a URL, by the types that the operation declares."""
        ...


def rest_method(operation: Operation) -> str:
    """Return GET for an operation that only reads, whatever method the API itself uses."""
    return "GET" if operation.annotations.get("readOnlyHint") else operation.method


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


def page(document: dict[str, Any], address: str) -> str:
    """Write the HTML page. `address` is the URL of the document."""
    info = document["info"]
    sections = "\n".join(_sections(document["paths"]))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(info["title"])}</title>'
        f"<style>{_STYLE}</style></head><body><h1>{escape(info['title'])}</h1>"
        f"<p>{escape(info['description'])}</p><p>{_SHARED} "
        f'The same for programs: <a href="{escape(address)}">{escape(address)}</a>.</p>{sections}</body></html>'
    )


def _sections(paths: dict[str, Any]) -> Iterator[str]:
    for path, methods in paths.items():
        for method, operation in methods.items():
            rows = "".join(map(_row, operation["parameters"]))
            table = f"<table><tr><th>parameter<th>in<th>type<th>{rows}</table>" if rows else ""
            yield (
                f"<section><h2><b>{method.upper()}</b> <code>{escape(path)}</code></h2>"
                f"<p>{escape(operation['description'])}</p>{table}</section>"
            )


def _row(parameter: dict[str, Any]) -> str:
    schema = parameter["schema"]
    kind = (
        " | ".join(map(str, schema["enum"]))
        if "enum" in schema
        else schema.get("format") or schema.get("type", "")
    )
    told = parameter["description"] + (" (required)" if parameter["required"] else "")
    cells = (
        f"<code>{escape(parameter['name'])}</code>",
        parameter["in"],
        escape(str(kind)),
        escape(told.strip()),
    )
    return "<tr>" + "".join(f"<td>{cell}" for cell in cells)
