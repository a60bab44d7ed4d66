"""Read and check one tool of a declaration."""

import re
from collections.abc import Mapping
from typing import Any, Final, Literal, cast

from brimgate.back.rest.model import ApiTool, Constant, Order, Paging, Parameter, Shape, Style, Table, Where
from brimgate.back.rest.section import Section
from brimgate.config.tree import shown
from brimgate.engine.policy import MAX_PAGE, USUAL_PAGE

TOOL_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
PATH: Final = re.compile(r"(?:/(?:\{[A-Za-z0-9_.-]{1,64}\}|[A-Za-z0-9_~!$&'()*+,;=:@.-]{1,200}))+")
LIMIT: Final = "limit"
MAX_RECORDS: Final = "max_records"
"""Our own parameters of a tool with paging: the records of a page, and those to fetch in all."""
_MOST_ASKED: Final = 1_000_000
_MOST_SORTED: Final = 10_000
_WHERES: Final = ("path", "query", "header", "body")
_TYPES: Final = ("string", "integer", "number", "boolean", "array", "object")
_METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")
_HINTS: Final = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
OUR_HEADERS: Final = frozenset(
    (
        "host",
        "content-length",
        "content-type",
        "transfer-encoding",
        "connection",
        "accept",
        "accept-encoding",
        "authorization",
        "expect",
        "te",
        "upgrade",
    )
)


def read_tool(name: str, section: Section, list_key: str = "") -> ApiTool:
    """Read a tool. `list_key` names the lists of the API that have no name of their own."""
    method = section.choice("method", _METHODS, "GET")
    path = _path(section, "path", section.text("path", pattern=PATH))
    parameters = {
        key: _parameter(key, inner, method, path) for key, inner in section.named("parameters", TOOL_NAME)
    }
    answer = _answer(section.section("answer"), list_key)
    paging = _paging(section.section("paging"), answer)
    tool = ApiTool(
        name=name,
        title=section.text("title", ""),
        description=section.text("description", ""),
        method=method,
        path=path,
        routes=tuple(_path(section, "routes", route) for route in section.texts("routes")),
        annotations=_annotations(section.section("annotations"), method),
        input_schema=_input_schema(parameters, paging),
        parameters=parameters,
        fixed=_fixed(section.section("fixed")),
        body=cast("Literal['form', 'json']", section.choice("body", ("form", "json"), "json")),
        answer=answer,
        paging=paging,
        order=_order(section.section("order"), answer, paging),
    )
    section.finish()
    _check(tool, section)
    return tool


def names_in(path: str) -> list[str]:
    """Return the names of the parameters in a path."""
    return re.findall(r"\{([^}]*)\}", path)


def _path(section: Section, key: str, path: str) -> str:
    if not PATH.fullmatch(path):
        section.fail(key, f"must be a path such as /listings/{{id}}, not {shown(path)}")
    if any(segment in (".", "..") for segment in path.split("/")):
        section.fail(key, f"must not have . or .. in it: {shown(path)}")
    names = names_in(path)
    if len(set(names)) < len(names):
        section.fail(key, f"names a parameter twice: {shown(path)}")
    return path


def _parameter(key: str, section: Section, method: str, path: str) -> Parameter:
    in_path = key in names_in(path)
    usual = "path" if in_path else "query" if method in ("GET", "DELETE") else "body"
    where = section.choice("in", _WHERES, usual)
    if in_path != (where == "path"):
        section.fail("in", "must be path for what the path has in { }, and for nothing else")
    told = section.value("schema", {"type": "string"})
    schema = dict(cast("Mapping[str, Any]", told)) if isinstance(told, dict) else {}
    if schema.get("type") not in _TYPES:
        section.fail("schema", f"must have one `type`: {', '.join(_TYPES)}")
    if description := section.text("description", ""):
        schema["description"] = description
    parameter = Parameter(
        key=key,
        name=section.text("name", key, HEADER if where == "header" else None),
        where=cast("Where", where),
        schema=schema,
        is_required=section.flag("required", in_path),
        explode=section.flag("explode", False),
    )
    section.finish()
    _check_parameter(parameter, section)
    return parameter


def _check_parameter(parameter: Parameter, section: Section) -> None:
    import jsonschema_rs

    if parameter.where == "path" and (parameter.type in ("array", "object") or not parameter.is_required):
        section.fail("", "a parameter of the path is required, and no list or object")
    if parameter.where in ("query", "header") and parameter.type == "object":
        section.fail("schema", "an object can only be sent in a body that is json")
    if parameter.where == "header" and parameter.name.lower() in OUR_HEADERS:
        section.fail("name", "is a header that Brimgate sets itself")
    try:
        jsonschema_rs.validator_for(dict(parameter.schema), retriever=refuse_to_fetch)
    except (ValueError, TypeError) as error:
        section.fail("schema", f"is no JSON Schema: {shown(error)}")


def refuse_to_fetch(address: str) -> Any:
    raise ValueError(f"a schema holds all it needs: {shown(address)} is not fetched")


def _fixed(section: Section | None) -> dict[Where, dict[str, Constant]]:
    if section is None:
        return {}
    fixed: dict[Where, dict[str, Constant]] = {}
    for where in ("query", "header", "body"):
        inner = section.section(where)
        if inner is not None:
            fixed[where] = {key: inner.constant(key) for key in inner.names()}
            for key in fixed[where]:
                if where == "header" and (key.lower() in OUR_HEADERS or not HEADER.fullmatch(key)):
                    inner.fail(key, "is no header that can be set here")
    section.finish()
    return fixed


def _annotations(section: Section | None, method: str) -> dict[str, Any]:
    told: dict[str, Any] = {}
    if section is not None:
        for hint in _HINTS:
            is_given, value = section.has(hint), section.flag(hint, False)
            told |= {hint: value} if is_given else {}
        section.finish()
    return told if told or method != "GET" else {"readOnlyHint": True}


def _answer(section: Section | None, list_key: str) -> Shape:
    if section is None:
        return Shape()
    table = _table(section.section("table"))
    kinds = [key for key in ("items", "item", "text") if section.has(key)] + (["table"] if table else [])
    if len(kinds) > 1:
        section.fail("", f"{' and '.join(kinds)} exclude each other")
    is_list = bool(table) or "items" in kinds
    items, item = section.pointer("items", ""), section.pointer("item", "")
    shape = Shape(
        pointer=items or item,
        is_list=is_list,
        is_object="item" in kinds,
        keep=_keep(section.section("keep")),
        name=section.text("as", list_key if is_list else ""),
        fields=section.texts("fields"),
        table=table,
        each=section.text("each", ""),
        is_text=section.flag("text", False),
    )
    section.finish()
    if shape.is_text and (shape.keep or shape.name or shape.fields or shape.each):
        section.fail("text", "is given out as it came: keep, as, fields and each have nothing to do")
    if shape.keep and not shape.name:
        section.fail("as", "is missing: what is kept needs a name beside it")
    if shape.name in shape.keep:
        section.fail("keep", f"must not hold {shown(shape.name)}, which is the name of the answer itself")
    if shape.each and not is_list:
        section.fail("each", "needs items")
    if shape.fields and not (is_list or shape.is_object):
        section.fail("fields", "needs items or an item to take them from")
    return shape


def _keep(section: Section | None) -> dict[str, str]:
    return {} if section is None else {name: section.pointer(name) for name in section.names()}


def _table(section: Section | None) -> Table | None:
    if section is None:
        return None
    table = Table(section.pointer("columns"), section.pointer("rows"), section.text("name", ""))
    section.finish()
    return table


def _paging(section: Section | None, answer: Shape) -> Paging | None:
    if section is None:
        return None
    if not answer.is_list or answer.each or answer.table:
        section.fail("", "needs an answer with items, and without each")
    style = section.choice("style", ("offset", "page", "cursor"))
    paging = Paging(
        style=cast("Style", style),
        size=section.whole("size", 100, 2, 10_000),
        limit=section.text("limit", "") if style == "cursor" else section.text("limit"),
        at=section.text("parameter" if style == "cursor" else style),
        first=section.whole("first", 1, 0, 1) if style == "page" else 1,
        next=section.pointer("next") if style == "cursor" else "",
        total=section.pointer("total", ""),
        key=section.text("key", ""),
    )
    section.finish()
    if paging.key and answer.fields and paging.key not in answer.fields:
        section.fail("key", "must be one of answer.fields")
    return paging


def _order(section: Section | None, answer: Shape, paging: Paging | None) -> Order | None:
    if section is None:
        return None
    order = Order(section.text("by"), section.whole("most", 500, 1, _MOST_SORTED), section.text("unless", ""))
    section.finish()
    if paging is None or not answer.name or answer.keep:
        section.fail("", "needs paging, and a list with a name (as, or list_key) and nothing beside it")
    if answer.fields and order.by not in answer.fields:
        section.fail("by", "must be one of answer.fields")
    return order


def _input_schema(parameters: Mapping[str, Parameter], paging: Paging | None) -> dict[str, Any]:
    properties = {key: dict(parameter.schema) for key, parameter in parameters.items()}
    if paging is not None:
        properties[LIMIT] = _whole_number(MAX_PAGE, f"Records on a page; {USUAL_PAGE} by default.")
        properties[MAX_RECORDS] = _whole_number(
            _MOST_ASKED, "Fetch at most so many records; all that match by default."
        )
    required = [key for key, parameter in parameters.items() if parameter.is_required]
    schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    return schema | {"required": required} if required else schema


def _whole_number(most: int, description: str) -> dict[str, Any]:
    return {"type": "integer", "minimum": 1, "maximum": most, "description": description}


def _check(tool: ApiTool, section: Section) -> None:
    """Check what no key can check alone."""
    for name in names_in(tool.path):
        if name not in tool.parameters:
            section.fail("parameters", f"lacks {shown(name)}, which the path has in {{ }}")
    for route in tool.routes:
        if unknown := [name for name in names_in(route) if name not in tool.parameters]:
            section.fail(
                "routes", f"{shown(route)} has {{{shown(unknown[0])}}}, which is no parameter of the tool"
            )
    for name in (LIMIT, MAX_RECORDS):
        if tool.paging is not None and name in tool.parameters:
            section.fail("parameters", f"must not hold {name}: a tool with pages has one of our own")
    if tool.order is not None and tool.order.unless not in ("", *tool.parameters):
        section.fail("order", f"unless: {shown(tool.order.unless)} is no parameter of the tool")
    if tool.method == "GET" and (
        any(one.where == "body" for one in tool.parameters.values()) or tool.fixed.get("body")
    ):
        section.fail("parameters", "a GET has no body")
    if tool.body == "form" and any(
        one.where == "body" and one.type == "object" for one in tool.parameters.values()
    ):
        section.fail("body", "must be json: an object cannot be written into a form")
    _refuse_same_names(tool, section)


def _refuse_same_names(tool: ApiTool, section: Section) -> None:
    taken = [
        (one.where, one.name.lower() if one.where == "header" else one.name)
        for one in tool.parameters.values()
    ]
    taken += [
        (where, name.lower() if where == "header" else name)
        for where, names in tool.fixed.items()
        for name in names
    ]
    if tool.paging is not None:
        taken += [("query", name) for name in (tool.paging.limit, tool.paging.at) if name]
    for where, name in taken:
        if taken.count((where, name)) > 1:
            section.fail(
                "parameters",
                f"the API's {shown(name)} (in its {where}) is set by more than one of parameters, fixed and paging",
            )
