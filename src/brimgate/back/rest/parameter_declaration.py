"""Read and check the parameters of a tool, and the constants beside them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from brimgate.back.rest.model import Constant, Lookup, Parameter, Where
from brimgate.back.rest.section import Section
from brimgate.config.tree import shown

TOOL_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
PATH: Final = re.compile(r"(?:/(?:\{[A-Za-z0-9_.-]{1,64}\}|[A-Za-z0-9_~!$&'()*+,;=:@.-]{1,200}))+")
_WHERES: Final = ("path", "query", "header", "body")
_TYPES: Final = ("string", "integer", "number", "boolean", "array", "object")
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
Lookups = Mapping[str, Lookup]


def names_in(path: str) -> list[str]:
    """Return the names of the parameters in a path."""
    return re.findall(r"\{([^}]*)\}", path)


def read_path(section: Section, key: str, path: str) -> str:
    """Check a path."""
    if not PATH.fullmatch(path):
        section.fail(key, f"must be a path such as /listings/{{id}}, not {shown(path)}")
    if any(segment in (".", "..") for segment in path.split("/")):
        section.fail(key, f"must not have . or .. in it: {shown(path)}")
    names = names_in(path)
    if len(set(names)) < len(names):
        section.fail(key, f"names a parameter twice: {shown(path)}")
    return path


def read_lookups(top: Section) -> dict[str, Lookup]:
    """Read how names are turned into ids."""
    return {name: _lookup(name, section) for name, section in top.named("lookups", TOOL_NAME)}


def _lookup(name: str, section: Section) -> Lookup:
    lookup = Lookup(
        what=name,
        path=read_path(section, "path", section.text("path", pattern=PATH)),
        take=section.pointer("take", "/id"),
        pattern=section.text("pattern", ""),
        search=section.text("search", ""),
        match=section.texts("match"),
        example=section.text("example", ""),
    )
    section.finish()
    if bool(lookup.pattern) == bool(lookup.search):
        section.fail("", "needs a `pattern` that fills its path, or a `search` and what must `match`")
    if bool(lookup.search) != bool(lookup.match):
        section.fail("match", "and `search` need each other")
    try:
        groups = set(re.compile(lookup.pattern).groupindex)
    except re.error as error:
        section.fail("pattern", f"is no regular expression: {shown(error)}")
    if groups != set(names_in(lookup.path)):
        section.fail("path", "must have in { } what the pattern names in (?P<…>), and nothing else")
    return lookup


def read_within(section: Section | None) -> dict[str, str]:
    """Read the paths that are used if a parameter is given."""
    if section is None:
        return {}
    paths = {name: read_path(section, name, section.text(name, pattern=PATH)) for name in section.names()}
    for name, path in paths.items():
        if name not in names_in(path):
            section.fail(name, "must have that parameter in { }")
    return paths


def read_parameters(
    section: Section, method: str, paths: Sequence[str], lookups: Lookups, known: Mapping[str, Parameter]
) -> dict[str, Parameter]:
    """Read the parameters. The first of `paths` is the usual one.

    `known` are the parameters of earlier steps, whose schemas need not be repeated.
    """
    return {
        key: _parameter(key, inner, method, paths, lookups, known.get(key))
        for key, inner in section.named("parameters", TOOL_NAME)
    }


def _parameter(
    key: str,
    section: Section,
    method: str,
    paths: Sequence[str],
    lookups: Lookups,
    known: Parameter | None,
) -> Parameter:
    in_path = any(key in names_in(path) for path in paths)
    is_always_there = all(key in names_in(path) for path in paths)
    usual = "path" if in_path else "query" if method in ("GET", "DELETE") else "body"
    where = section.choice("in", _WHERES, usual)
    if in_path != (where == "path"):
        section.fail("in", "must be path for what the path has in { }, and for nothing else")
    parameter = Parameter(
        key=key,
        name=section.text("name", key, HEADER if where == "header" else None),
        where=cast("Where", where),
        schema=_schema(section, known),
        is_required=section.flag("required", is_always_there),
        explode=section.flag("explode", False),
        in_list=section.flag("in_list", False),
        as_objects=section.text("as_objects", ""),
        beside=section.flag("beside", False),
        is_nullable=section.flag("nullable", False),
        is_html=section.flag("html", False),
        lookup=_lookup_named(section, lookups) or (known.lookup if known is not None else None),
    )
    section.finish()
    if is_always_there and not parameter.is_required:
        section.fail("required", "must be true: it is part of the path")
    _check_parameter(parameter, section)
    return parameter


def _schema(section: Section, known: Parameter | None) -> dict[str, Any]:
    told = section.value("schema", dict(known.schema) if known is not None else {"type": "string"})
    schema = dict(cast("Mapping[str, Any]", told)) if isinstance(told, dict) else {}
    if schema.get("type") not in _TYPES:
        section.fail("schema", f"must have one `type`: {', '.join(_TYPES)}")
    if description := section.text("description", ""):
        schema["description"] = description
    return schema


def _lookup_named(section: Section, lookups: Lookups) -> Lookup | None:
    name = section.text("lookup", "")
    if name and name not in lookups:
        section.fail("lookup", f"must be one of `lookups`: {', '.join(lookups) or 'there are none'}")
    return lookups[name] if name else None


def _check_parameter(parameter: Parameter, section: Section) -> None:
    import jsonschema_rs

    if parameter.where == "path" and parameter.type in ("array", "object"):
        section.fail("", "a parameter of the path is required, and no list or object")
    if parameter.where in ("query", "header") and parameter.type == "object":
        section.fail("schema", "an object can only be sent in a body that is json")
    if parameter.where == "header" and parameter.name.lower() in OUR_HEADERS:
        section.fail("name", "is a header that Brimgate sets itself")
    if parameter.where != "body" and (parameter.in_list or parameter.is_nullable or parameter.is_html):
        section.fail("in", "must be body for in_list, nullable and html")
    if parameter.lookup is not None and parameter.type not in ("integer", "array"):
        section.fail("lookup", "gives an id: the schema must have the type integer, or array")
    try:
        jsonschema_rs.validator_for(dict(parameter.schema), retriever=refuse_to_fetch)
    except (ValueError, TypeError) as error:
        section.fail("schema", f"is no JSON Schema: {shown(error)}")


def refuse_to_fetch(address: str) -> Any:
    """Refuse a reference that leads out of a schema."""
    raise ValueError(f"a schema holds all it needs: {shown(address)} is not fetched")


def read_fixed(section: Section | None) -> dict[Where, dict[str, Constant]]:
    """Read what is sent with every call."""
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
