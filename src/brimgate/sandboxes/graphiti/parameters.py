"""Parameters of tools: schemas as FastMCP writes them, and how arguments are read."""

import json
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

Json = dict[str, Any]

_TEXT: Final[Json] = {"type": "string"}
_TEXTS: Final[Json] = {"items": {"type": "string"}, "type": "array"}
_NULL: Final[Json] = {"type": "null"}
_REQUIRED: Final = object()


class BadArguments(ValueError):
    """Arguments that a tool cannot take."""


class Parameter(NamedTuple):
    name: str
    schemas: tuple[Json, ...]
    default: Any = _REQUIRED

    @property
    def is_required(self) -> bool:
        return self.default is _REQUIRED

    def schema(self) -> Json:
        schema: Json = {} if self.is_required else {"default": self.default}
        one = len(self.schemas) == 1
        schema |= self.schemas[0] if one else {"anyOf": list(self.schemas)}
        return schema | {"title": self.name.replace("_", " ").title()}

    def read(self, value: Any) -> Any:
        """Return the value, or what FastMCP reads from a text: a list as JSON, a number in digits."""
        if any(_fits(value, schema) for schema in self.schemas):
            return _as_list(value) if _TEXTS in self.schemas else value
        if isinstance(value, str):
            told = _parsed(value)
            if any(_fits(told, schema) for schema in self.schemas):
                return told
        wanted = " or ".join(_WANTED[schema["type"]] for schema in self.schemas)
        raise BadArguments(f"{self.name}\n  Input should be {wanted} [input_value={value!r:.60}]")


def text(name: str) -> Parameter:
    return Parameter(name, (_TEXT,))


def text_or(name: str, default: str) -> Parameter:
    return Parameter(name, (_TEXT,), default)


def optional_text(name: str) -> Parameter:
    return Parameter(name, (_TEXT, _NULL), None)


def texts(name: str) -> Parameter:
    return Parameter(name, (_TEXTS,))


def optional_texts(name: str) -> Parameter:
    return Parameter(name, (_TEXTS, _NULL), None)


def whole(name: str, default: int) -> Parameter:
    return Parameter(name, ({"type": "integer"},), default)


def flag(name: str) -> Parameter:
    return Parameter(name, ({"type": "boolean"},), False)


GROUP_IDS: Final = Parameter("group_ids", (_TEXT, _TEXTS, _NULL), None)


def input_schema(tool: str, parameters: Sequence[Parameter]) -> Json:
    schema: Json = {"properties": {parameter.name: parameter.schema() for parameter in parameters}}
    if required := [parameter.name for parameter in parameters if parameter.is_required]:
        schema["required"] = required
    return schema | {"title": f"{tool}Arguments", "type": "object"}


def read_arguments(tool: str, parameters: Sequence[Parameter], arguments: Json) -> Json:
    """Return one value for each parameter. Unknown arguments are ignored, as in FastMCP."""
    given: Json = {}
    faults: list[str] = []
    for parameter in parameters:
        try:
            if parameter.name in arguments:
                given[parameter.name] = parameter.read(arguments[parameter.name])
            elif parameter.is_required:
                raise BadArguments(f"{parameter.name}\n  Field required")
            else:
                given[parameter.name] = parameter.default
        except BadArguments as fault:
            faults.append(str(fault))
    if faults:
        count = f"{len(faults)} validation error{'s' if len(faults) > 1 else ''}"
        raise BadArguments("\n".join([f"{count} for {tool}Arguments", *faults]))
    return given


_WANTED: Final = {
    "string": "a valid string",
    "array": "a valid list of strings",
    "integer": "a valid integer",
    "boolean": "a valid boolean",
    "null": "null",
}


def _fits(value: Any, schema: Json) -> bool:
    match schema["type"]:
        case "string":
            return isinstance(value, str)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "null":
            return value is None
        case _:
            return isinstance(value, list) and all(isinstance(item, str) for item in value)  # pyright: ignore[reportUnknownVariableType]


def _parsed(value: str) -> Any:
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _as_list(value: Any) -> Any:
    """Read a list written as a text, as some clients do: `group_ids` that looks like one is one."""
    told = _parsed(value) if isinstance(value, str) else value
    return told if _fits(told, _TEXTS) else value
