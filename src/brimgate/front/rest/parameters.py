"""Read our parameters from the query string. Anything wrong is refused before the application runs."""

import json
import re
from collections.abc import Callable
from dataclasses import astuple, dataclass, field
from typing import Any, Final, cast
from urllib.parse import parse_qsl

from brimgate.engine.document import Document
from brimgate.engine.pointer import referred
from brimgate.engine.policy import ToolRule
from brimgate.engine.query import Query, parse_query
from brimgate.engine.replies.rest_frame import ParameterNames, RefusedQuery, encoded, invalid_cursor
from brimgate.errors import BadRequest

SHAPES: Final = ("Page", "Preview", "Chunk")
"""The envelopes of our answers, by their names in an OpenAPI document of ours."""
_LINE: Final = re.compile(r"[0-9]{1,9}\Z")
_OPENAPI_NAMES: Final = ("openapi.json", "swagger.json", "openapi")
_VERSION: Final = re.compile(rb'"3\.\d{1,3}(?:\.\d{1,3})?"\Z')


@dataclass(frozen=True, slots=True)
class RestQuery:
    query: Query = field(default_factory=Query)
    cursor: str = ""
    others: tuple[tuple[str, str], ...] = ()
    """Parameters that are not ours."""


NO_QUERY: Final = RestQuery(Query(), "", ())


@dataclass(frozen=True, slots=True)
class QueryString:
    """A parsed query string: our parameters, by name, and the others. Nothing is checked yet."""

    ours: dict[str, list[str]]
    others: tuple[tuple[str, str], ...]
    has_cursor: bool


def split_query(query: bytes, names: ParameterNames) -> QueryString:
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    given: dict[str, list[str]] = {
        name: [value for key, value in pairs if key == name] for name in astuple(names)
    }
    has_cursor = any(given[names.cursor])
    # Without a cursor, `path` is the application's own parameter.
    ours = set(given) if has_cursor else set(given) - {names.path}
    others = tuple((key, value) for key, value in pairs if key not in ours)
    return QueryString(given, others, has_cursor)


def read_query(query: QueryString, names: ParameterNames, max_limit: int) -> RestQuery:
    given = query.ours
    cursors, paths = given[names.cursor], given[names.path]
    if len(cursors) > 1:
        raise invalid_cursor()
    cursor = cursors[0] if cursors else ""
    for name, code in (
        (names.limit, "invalid_limit"),
        (names.fields, "invalid_fields"),
        (names.start_line, "invalid_lines"),
        (names.end_line, "invalid_lines"),
        (names.path, "invalid_path"),
    ):
        if len(given[name]) > 1 and (name != names.path or cursor):
            raise RefusedQuery(code, f"{name} is given more than once")
    lines = _lines(given, names)
    chosen = Query(
        limit=_parsed(
            "invalid_limit", names.limit, limit=_one(given[names.limit]), max_limit=max_limit
        ).limit,
        fields=_parsed("invalid_fields", names.fields, fields=_one(given[names.fields])).fields,
        path=_parsed("invalid_path", names.path, path=_one(paths)).path if cursor else None,
        lines=lines,
    )
    if lines and chosen.fields:
        raise RefusedQuery("invalid_lines", f"lines cannot be combined with {names.fields}")
    return RestQuery(chosen, cursor, query.others)


def _one(values: list[str]) -> str | None:
    return values[0] if values else None


def _parsed(code: str, name: str, **asked: Any) -> Query:
    try:
        return parse_query(**asked)
    except BadRequest as error:
        what = next(iter(asked))
        message = str(error)
        raise RefusedQuery(
            code, name + message[len(what) :] if message.startswith(what) else message
        ) from None


def _lines(given: dict[str, list[str]], names: ParameterNames) -> tuple[int, int] | None:
    start, end = _one(given[names.start_line]), _one(given[names.end_line])
    if start is None and end is None:
        return None
    first = _line(names.start_line, start) if start is not None else 1
    last = _line(names.end_line, end) if end is not None else 10**9
    if last < first:
        raise RefusedQuery("invalid_lines", f"{names.end_line} must not be less than {names.start_line}")
    return first, last


def _line(name: str, value: str) -> int:
    if not _LINE.match(value.strip()) or int(value) < 1:
        raise RefusedQuery("invalid_lines", f"{name} must be a whole number from 1 up")
    return int(value)


def with_parameters(
    document: Document, path: str, names: ParameterNames, rule_of: Callable[[str], ToolRule]
) -> bytes | None:
    """Add our parameters to an OpenAPI document, only at its usual paths: any answer could claim to be one.

    Leave out hidden paths. Return its own bytes if there is nothing to change, and None for any other answer.
    """
    if path.rpartition("/")[2] not in _OPENAPI_NAMES or not _is_openapi(document):
        return None
    described = _mapping(json.loads(document.data))
    routes = _mapping(described["paths"])
    rules = {route: rule_of(route) for route in routes}
    shown = {route: item for route, item in routes.items() if not rules[route].hidden}
    changed, described["paths"] = len(shown) < len(routes), shown
    for route, item in shown.items():
        operation = _mapping(_mapping(item).get("get"))
        if not rules[route].enabled or not operation:
            continue
        known = _known(described, _mapping(item)) | _known(described, operation)
        applicable = _parameters(names, rules[route].policy.max_page_size, _shapes(operation))
        added = [entry for entry in applicable if entry["name"] not in known]
        if added:
            operation["parameters"] = [*_listed(operation), *added]
            changed = True
    return encoded(described) if changed else document.data


def _is_openapi(document: Document) -> bool:
    children = document.open(document.root) if document.is_json else None
    keys = children.keys if children else None
    if children is None or not keys or not {"openapi", "paths", "info"} <= set(keys):
        return False
    version = document.raw(document.child(children, keys.index("openapi")))
    paths = document.child(children, keys.index("paths"))
    return bool(_VERSION.match(version)) and document.head(paths) == b"{"


def _mapping(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _listed(holder: dict[str, Any]) -> list[Any]:
    found = holder.get("parameters")
    return cast("list[Any]", found) if isinstance(found, list) else []


def _known(document: dict[str, Any], holder: dict[str, Any]) -> set[str]:
    """Return the names of existing query parameters, including referenced ones."""
    parameters = [_resolved(document, _mapping(entry)) for entry in _listed(holder)]
    return {str(found.get("name")) for found in parameters if found.get("in") == "query"}


def _resolved(document: dict[str, Any], entry: dict[str, Any]) -> dict[str, Any]:
    reference = entry.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return entry
    return _mapping(referred(document, reference))


def _shapes(operation: dict[str, Any]) -> set[str]:
    """Return which of our envelopes an operation answers with, by their names; all of them if it does not say."""
    answer = _mapping(_mapping(operation.get("responses")).get("200"))
    said = json.dumps(answer.get("content"))
    return {name for name in SHAPES if f'"#/components/schemas/{name}"' in said} or set(SHAPES)


def _parameters(names: ParameterNames, max_limit: int, shapes: set[str]) -> list[dict[str, Any]]:
    """Return our parameters that apply to answers of these shapes."""
    line = {"type": "integer", "minimum": 1}
    cursor = _parameter(names.cursor, "Reads on from `nextCursor` of an earlier answer.", {"type": "string"})
    limit = _parameter(
        names.limit, "Items on a page.", {"type": "integer", "minimum": 1, "maximum": max_limit}
    )
    fields = _parameter(
        names.fields, "Fields to return, such as `id,guest.name`; `all` for everything.", {"type": "string"}
    )
    lines = [
        _parameter(names.start_line, "First line of a text to return.", line),
        _parameter(names.end_line, "Last line of a text to return.", line),
    ]
    return [
        *([limit] if "Page" in shapes else []),
        cursor,
        *([fields] if shapes - {"Chunk"} else []),
        *(lines if "Chunk" in shapes else []),
    ]


def _parameter(name: str, description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "description": description, "schema": schema}
