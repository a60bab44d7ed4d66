"""Arguments of a call, checked against the schema of its tool. They are taken as they are, or refused."""

import re
from collections.abc import Mapping
from typing import Any, Final, cast

from brimgate.back.rest.errors import one_line
from brimgate.back.rest.model import Tool
from brimgate.back.rest.tool_declaration import refuse_to_fetch
from brimgate.errors import BadRequest

_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,18}")
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,18}(?:\.[0-9]{1,18})?(?:[eE][+-]?[0-9]{1,2})?")
_FLAGS: Final = {"true": True, "1": True, "false": False, "0": False}
_MOST_TOLD: Final = 3
_MOST_CHARS: Final = 500


def coerced(tool: Tool, texts: Mapping[str, str]) -> dict[str, Any]:
    """Arguments that came as text (of a URL), as the types that the tool declares; what is none of them stays text."""
    properties: Mapping[str, Any] = tool.input_schema["properties"]
    return {key: _coerce(text, properties.get(key, {})) for key, text in texts.items()}


def _coerce(text: str, schema: Mapping[str, Any]) -> Any:
    match schema.get("type"):
        case "integer" if _WHOLE.fullmatch(text):
            return int(text)
        case "number" if _NUMBER.fullmatch(text):
            return int(text) if _WHOLE.fullmatch(text) else float(text)
        case "boolean":
            return _FLAGS.get(text.lower(), text)
        case "array":
            items = schema.get("items")
            inner: Mapping[str, Any] = cast("Any", items) if isinstance(items, dict) else {}
            return [_coerce(part.strip(), inner) for part in text.split(",")] if text else []
        case _:
            return text


class Checker:
    """The arguments of one tool."""

    def __init__(self, tool: Tool) -> None:
        import jsonschema_rs  # 30 ms, and only for those who have an API

        self._tool = tool
        self._validator: Any = jsonschema_rs.validator_for(
            tool.input_schema, validate_formats=True, retriever=refuse_to_fetch
        )

    def check(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """BadRequest names each parameter that is wrong, and what is right."""
        given = dict(arguments)
        try:
            found = [self._told(error) for error in self._validator.iter_errors(given)]
        except (ValueError, TypeError, OverflowError, RecursionError):
            raise BadRequest(f"{self._tool.name}: the arguments are no JSON") from None
        if not found:
            return given
        more = f"; and {len(found) - _MOST_TOLD} more" if len(found) > _MOST_TOLD else ""
        raise BadRequest(one_line(f"{self._tool.name}: {'; '.join(found[:_MOST_TOLD])}{more}", _MOST_CHARS))

    def _told(self, error: Any) -> str:
        path = ".".join(str(step) for step in error.instance_path)
        text = one_line(str(error.message), 150)
        if not path and "additional properties" in text.lower():
            names = ", ".join(self._tool.input_schema["properties"]) or "none"
            return f"{text}; its parameters: {one_line(names, 200)}"
        return f"{one_line(path, 60)}: {text}" if path else text
