"""Read and check one tool of a declaration."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, cast

from brimgate.back.rest.answer_declaration import read_answer, read_order, read_paging
from brimgate.back.rest.model import ApiTool, Parameter, Partial, Shape
from brimgate.back.rest.parameter_declaration import (
    PATH,
    Lookups,
    names_in,
    read_fixed,
    read_parameters,
    read_path,
    read_within,
)
from brimgate.back.rest.section import Section
from brimgate.config.tree import shown
from brimgate.engine.policy import MAX_PAGE, USUAL_PAGE

LIMIT: Final = "limit"
MAX_RECORDS: Final = "max_records"
"""Our own parameters of a tool with paging: the records of a page, and those to fetch in all."""
HTML: Final = "html"
"""Our own parameter of a tool whose answer has HTML."""
FILE_NAME: Final = "file_name"
FILE_TEXT: Final = "text"
FILE_BASE64: Final = "base64"
"""Our own parameters of a tool that takes a file."""
_MOST_ASKED: Final = 1_000_000
_MOST_EACH: Final = 50
_METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")
_HINTS: Final = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_OF_STEPS: Final = ("method", "path", "within", "fixed", "body", "paging", "order", "partial", "upload")


@dataclass(frozen=True, slots=True)
class ApiTerms:
    """What all tools of an API have in common."""

    list_key: str = ""
    lookups: Lookups = field(default_factory=lambda: {})
    has_html: bool = False


def read_tool(name: str, section: Section, terms: ApiTerms) -> ApiTool:
    """Read a tool."""
    read = _read_steps if section.has("steps") else _read_request
    tool = read(name, section, terms)
    tool = replace(
        tool,
        title=section.text("title", ""),
        description=section.text("description", ""),
        routes=tuple(read_path(section, "routes", route) for route in section.texts("routes")),
        annotations=_annotations(section.section("annotations"), tool.method),
    )
    tool = _repeated(tool, section.text("each", ""), section.text("item", ""), section)
    section.finish()
    _check_routes(tool, section)
    for name in _our_parameters(tool):
        if name in tool.parameters:
            section.fail("parameters", f"must not hold {name}: this tool has one of our own")
    return replace(tool, input_schema=_input_schema(tool))


def _read_request(
    name: str, section: Section, terms: ApiTerms, known: Mapping[str, Parameter] | None = None
) -> ApiTool:
    """Read what makes up one request. `known` are the parameters of earlier steps."""
    method = section.choice("method", _METHODS, "GET")
    path = read_path(section, "path", section.text("path", pattern=PATH))
    within = read_within(section.section("within"))
    answer = read_answer(section.section("answer"), terms.list_key)
    paging = read_paging(section.section("paging"), answer)
    tool = ApiTool(
        name=name,
        title="",
        description="",
        method=method,
        path=path,
        routes=(),
        annotations={},
        input_schema={},
        parameters=read_parameters(section, method, (path, *within.values()), terms.lookups, known or {}),
        fixed=read_fixed(section.section("fixed")),
        body=cast("Literal['form', 'json']", section.choice("body", ("form", "json"), "json")),
        answer=answer,
        paging=paging,
        order=read_order(section.section("order"), answer, paging),
        partial=_partial(section.section("partial"), path),
        upload=section.text("upload", ""),
        within=within,
        takes_html=_takes_html(section, terms),
    )
    _check(tool, section, known or {})
    return tool


def _read_steps(name: str, section: Section, terms: ApiTerms) -> ApiTool:
    """Read a tool that makes several requests."""
    for key in _OF_STEPS:
        if section.has(key):
            section.fail(key, "belongs to a step: this tool has `steps`")
    steps: list[ApiTool] = []
    known: dict[str, Parameter] = {}
    taken: set[str] = set()
    for one in section.sections("steps"):
        step = _read_request(name, one, terms, known)
        step = replace(step, title=one.text("does", ""), when=one.text("when", ""), take=_take(one))
        one.finish()
        if step.paging is not None:
            one.fail("paging", "is for a tool with one request")
        known |= {key: one for key, one in step.parameters.items() if key not in known}
        taken |= set(step.take)
        steps.append(step)
    if not steps:
        section.fail("steps", "must hold at least one request")
    parameters = {key: one for key, one in known.items() if key not in taken}
    for step in steps:
        if step.when and step.when not in parameters:
            section.fail("steps", f"when: {shown(step.when)} is no parameter of a step")
        parameters |= {
            key: replace(one, is_required=False) for key, one in parameters.items() if key == step.when
        }
    last = steps[-1]
    return replace(
        last, method="POST", path="", parameters=parameters, steps=tuple(steps), partial=None, upload=""
    )


def _takes_html(section: Section, terms: ApiTerms) -> bool:
    takes_html = section.flag(HTML, False)
    if takes_html and not terms.has_html:
        section.fail(HTML, "needs the key `html` of the API, which names the members with HTML")
    return takes_html


def _take(section: Section) -> dict[str, str]:
    inner = section.section("take")
    return {} if inner is None else {name: inner.pointer(name) for name in inner.names()}


def _partial(section: Section | None, path: str) -> Partial | None:
    if section is None:
        return None
    names = section.text("names", "")
    partial = Partial(
        read=read_path(section, "read", section.text("read", path, PATH)),
        names=names,
        values=section.text("values") if names else "",
        carry=section.texts("carry"),
        at_least=section.text("at_least", ""),
    )
    section.finish()
    if partial.carry and not names:
        section.fail("carry", "needs `names`: without them the whole object is sent back")
    return partial


def _repeated(tool: ApiTool, each: str, item: str, section: Section) -> ApiTool:
    """Return a tool that is run once for every item of a list."""
    if not each and not item:
        return tool
    one = tool.parameters.get(item)
    if not each or one is None or each in tool.parameters or tool.paging is not None:
        section.fail(
            "each", "names a new list parameter, and `item` the parameter that gets its items one by one"
        )
    schema = {"type": "array", "items": dict(one.schema), "minItems": 1, "maxItems": _MOST_EACH}
    many = replace(one, key=each, name=each, schema=schema, is_required=True)
    others = {key: parameter for key, parameter in tool.parameters.items() if key != item}
    # The answers become one list.
    answer = Shape(is_list=True, name=tool.answer.name or "items")
    return replace(tool, parameters={each: many, **others}, each=each, item=item, answer=answer, single=tool)


def _annotations(section: Section | None, method: str) -> dict[str, Any]:
    told: dict[str, Any] = {}
    if section is not None:
        for hint in _HINTS:
            is_given, value = section.has(hint), section.flag(hint, False)
            told |= {hint: value} if is_given else {}
        section.finish()
    return told if told or method != "GET" else {"readOnlyHint": True}


def _our_parameters(tool: ApiTool) -> dict[str, dict[str, Any]]:
    """Return the parameters that a tool has of our own."""
    ours: dict[str, dict[str, Any]] = {}
    if tool.takes_html:
        about = "The HTML as it is stored; plain text by default."
        ours[HTML] = {"type": "boolean", "description": about}
    if any(one.upload for one in (tool, *tool.steps)):
        ours[FILE_NAME] = {
            "type": "string",
            "minLength": 1,
            "maxLength": 250,
            "description": "With its extension.",
        }
        ours[FILE_TEXT] = {"type": "string", "description": "The content of a text file."}
        ours[FILE_BASE64] = {
            "type": "string",
            "contentEncoding": "base64",
            "description": f"The content of any other file, instead of {FILE_TEXT}.",
        }
    if tool.paging is not None:
        ours[LIMIT] = _whole_number(MAX_PAGE, f"Records on a page ({USUAL_PAGE}).")
        about = "Most records to fetch; all by default."
        ours[MAX_RECORDS] = _whole_number(_MOST_ASKED, about)
    return ours


def _input_schema(tool: ApiTool) -> dict[str, Any]:
    properties = {key: one.shown_schema for key, one in tool.parameters.items()} | _our_parameters(tool)
    required = [key for key, parameter in tool.parameters.items() if parameter.is_required]
    required += [FILE_NAME] if FILE_NAME in properties else []
    schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    return schema | {"required": required} if required else schema


def _whole_number(most: int, description: str) -> dict[str, Any]:
    return {"type": "integer", "minimum": 1, "maximum": most, "description": description}


def _check_routes(tool: ApiTool, section: Section) -> None:
    for route in tool.routes:
        if unknown := [name for name in names_in(route) if name not in tool.parameters]:
            section.fail(
                "routes", f"{shown(route)} has {{{shown(unknown[0])}}}, which is no parameter of the tool"
            )


def _check(tool: ApiTool, section: Section, known: Mapping[str, Parameter]) -> None:
    """Check what no key can check alone."""
    for name in [one for path in (tool.path, *tool.within.values()) for one in names_in(path)]:
        if name not in tool.parameters:
            section.fail("parameters", f"lacks {shown(name)}, which the path has in {{ }}")
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
    if tool.partial is not None:
        _check_partial(tool, tool.partial, section, known)
    if tool.upload and (tool.method == "GET" or any(one.where == "body" for one in tool.parameters.values())):
        section.fail("upload", "is the whole body: no parameter can be in it, and a GET has none")
    _refuse_same_names(tool, section)


def _check_partial(tool: ApiTool, partial: Partial, section: Section, known: Mapping[str, Parameter]) -> None:
    if tool.method == "GET" or tool.body != "json":
        section.fail("partial", "is for a request with a JSON body")
    if unknown := [name for name in names_in(partial.read) if name not in {**tool.parameters, **known}]:
        section.fail("partial", f"read: {shown(unknown[0])} is no parameter of the tool")


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
