"""Write a call as a request that stays under the base path, with each value in its own place."""

import re
from base64 import b64decode
from collections.abc import Mapping
from mimetypes import guess_type
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import quote, unquote, urlencode

import msgspec

from brimgate.back.rest.errors import one_line
from brimgate.back.rest.html_text import as_html
from brimgate.back.rest.model import ApiTool, Parameter, Partial, Where
from brimgate.back.rest.parameter_declaration import names_in, refuse_to_fetch
from brimgate.back.rest.sender import ApiRequest
from brimgate.back.rest.tool_declaration import FILE_BASE64, FILE_NAME, FILE_TEXT
from brimgate.engine import jsontext
from brimgate.errors import BadRequest

if TYPE_CHECKING:
    from brimgate.http.client import Headers

_MOST_SEGMENT_CHARS: Final = 500
_MOST_HEADER_CHARS: Final = 4_000
_MOST_TARGET_BYTES: Final = 8_000
"""What most servers accept in the first line of a request."""
_MOST_DECODED: Final = 5
_MOST_WHOLE: Final = 1e15
_JSON: Final = b"application/json"
ACCEPT_JSON: Final = (b"accept", b"application/json")
_ACCEPT_TEXT: Final = (b"accept", b"text/csv, text/plain;q=0.9, */*;q=0.1")

Fixed = Mapping[Where, Mapping[str, str | int | float | bool]]
Pairs = list[tuple[str, str]]
_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,18}")
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,18}(?:\.[0-9]{1,18})?(?:[eE][+-]?[0-9]{1,2})?")
_FLAGS: Final = {"true": True, "1": True, "false": False, "0": False}
_MOST_TOLD: Final = 3
_MOST_CHARS: Final = 500


def compose(
    tool: ApiTool,
    base_path: str,
    fixed: Fixed,
    arguments: Mapping[str, Any],
    paging: Mapping[str, str | int],
    current: Mapping[str, bytes] | None = None,
) -> ApiRequest:
    """Compose a request.

    `fixed` includes values from the environment. `current` are the members of the object that a partial update
    changes. Raise BadRequest for a value that cannot be sent.
    """
    for key, value in arguments.items():
        if not _is_text(value):
            raise BadRequest(f"{key}: holds half a character (a lone surrogate): send it as UTF-8")
    given = [(tool.parameters[key], value) for key, value in arguments.items() if key in tool.parameters]
    query = [(name, _scalar(value)) for name, value in fixed.get("query", {}).items()]
    query += [pair for one, value in given if one.where == "query" for pair in _pairs(one, value)]
    query += [(name, str(value)) for name, value in paging.items()]
    target = target_of(base_path, tool.path_for(arguments), arguments) + (
        f"?{urlencode(query)}" if query else ""
    )
    if len(target) > _MOST_TARGET_BYTES:
        raise BadRequest(f"{tool.name}: the arguments are too long for a request: give shorter or fewer ones")
    headers: Headers = [_accept(tool)]
    headers += [
        (key.encode(), _header(key, _scalar(value))) for key, value in fixed.get("header", {}).items()
    ]
    for one, value in given:
        if one.where == "header":
            headers.append((one.name.encode(), _header(one.key, _pairs(one, value)[0][1])))
    body = None
    if tool.upload:
        body, kind = _upload(tool, arguments)
        headers.append((b"content-type", kind))
    elif tool.method not in ("GET", "DELETE") or any(one.where == "body" for one, _ in given):
        body, kind = _body(tool, fixed, given, current)
        headers.append((b"content-type", kind))
    may_run = tool.method != "GET" and not tool.only_reads
    return ApiRequest(tool.method.encode(), target.encode("ascii"), headers, body, may_run=may_run)


def _accept(tool: ApiTool) -> tuple[bytes, bytes]:
    if tool.answer.is_file:
        return b"accept", b"*/*"
    return _ACCEPT_TEXT if tool.answer.is_text else ACCEPT_JSON


def target_of(base_path: str, path: str, arguments: Mapping[str, Any]) -> str:
    """Return a path with every parameter in it as one segment."""
    target = base_path + path
    steps = target.count("/")
    for key in names_in(path):
        if key not in arguments:
            raise BadRequest(f"{key}: is missing")
        target = target.replace(f"{{{key}}}", segment(key, _scalar(arguments[key])))
    # Each value is already harmless by itself; this check does not rely on that.
    if not target.startswith(f"{base_path}/") or target.count("/") != steps:
        raise BadRequest("the arguments lead out of the API's address")
    return target


def segment(key: str, text: str) -> str:
    """Return one percent-encoded segment of a path.

    Raise BadRequest if a server could read it as a way to another place.
    """
    if not text:
        raise BadRequest(f"{key}: must not be empty: it is part of an address")
    if len(text) > _MOST_SEGMENT_CHARS:
        raise BadRequest(f"{key}: must have at most {_MOST_SEGMENT_CHARS} characters")
    plain = text
    for _ in range(_MOST_DECODED):
        # Servers and proxies decode more than once, read \ as /, and drop what follows a semicolon.
        parts = plain.replace("\\", "/").split("/")
        if any(part.partition(";")[0].strip() in (".", "..") for part in parts):
            raise BadRequest(f"{key}: must not be . or .. or hold them as parts of a path")
        if any(char < " " or char == "\x7f" for char in plain):
            raise BadRequest(f"{key}: must not hold control characters")
        decoded = unquote(plain, errors="replace")
        if decoded == plain:
            return quote(text, safe="")
        plain = decoded
    raise BadRequest(f"{key}: is percent-encoded again and again: give it as it is")


def _scalar(value: object) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float) and value.is_integer() and abs(value) < _MOST_WHOLE:
        return str(int(value))  # 7.0 is an integer too, says JSON Schema
    return str(value)


def _pairs(parameter: Parameter, value: object) -> Pairs:
    """Join a list with commas, or repeat the parameter."""
    if not isinstance(value, list):
        return [(parameter.name, _scalar(value))]
    texts = [_scalar(one) for one in cast("list[object]", value)]
    if parameter.explode and parameter.where != "header":
        return [(parameter.name, text) for text in texts]
    if any("," in text for text in texts):
        raise BadRequest(f"{parameter.key}: its values are sent as a list with commas: none may hold one")
    return [(parameter.name, ",".join(texts))]


def _header(key: str, text: str) -> bytes:
    if len(text) > _MOST_HEADER_CHARS or not all(" " <= char <= "ÿ" and char != "\x7f" for char in text):
        raise BadRequest(f"{key}: must be printable Latin-1 of at most {_MOST_HEADER_CHARS} characters")
    return text.strip().encode("latin-1")


def _body(
    tool: ApiTool, fixed: Fixed, given: list[tuple[Parameter, Any]], current: Mapping[str, bytes] | None
) -> tuple[bytes, bytes]:
    mine = [(one, value) for one, value in given if one.where == "body"]
    constants = fixed.get("body", {})
    if tool.body == "json":
        values = dict(constants) | {one.name: _sent(one, value) for one, value in mine if not one.beside}
        beside = {one.name: _sent(one, value) for one, value in mine if one.beside}
        if tool.partial is not None:
            return _changes(tool.partial, values, beside, current or {}), _JSON
        return msgspec.json.encode(values | beside), _JSON
    pairs = [(name, _scalar(value)) for name, value in constants.items()]
    pairs += [pair for one, value in mine for pair in _pairs(one, value)]
    return urlencode(pairs).encode("ascii"), b"application/x-www-form-urlencoded"


def _sent(parameter: Parameter, value: Any) -> Any:
    """Return a value as the API wants it."""
    if parameter.is_html and isinstance(value, str):
        value = as_html(value)
    if parameter.as_objects:
        return [{parameter.as_objects: one} for one in value]
    return [value] if parameter.in_list else value


def _changes(
    partial: Partial, values: Mapping[str, Any], beside: Mapping[str, Any], current: Mapping[str, bytes]
) -> bytes:
    """Write the body of a partial update. What is not changed is sent back in the API's own spelling."""
    if not values:
        raise BadRequest(
            "nothing to change: give at least one parameter besides those that say what is changed"
        )
    encoded = {name: msgspec.json.encode(value) for name, value in values.items()}
    told = {name: msgspec.json.encode(value) for name, value in beside.items()}
    if not partial.names:
        return jsontext.object_of({**current, **told, **encoded})
    kept = {name: current[name] for name in partial.carry if name in current}
    names = [name for name in values if name not in partial.carry]
    if not names and partial.at_least in current:
        names, kept[partial.at_least] = [partial.at_least], current[partial.at_least]
    told[partial.names] = msgspec.json.encode(names)
    told[partial.values] = jsontext.object_of(kept | encoded)
    return jsontext.object_of(told)


def _upload(tool: ApiTool, arguments: Mapping[str, Any]) -> tuple[bytes, bytes]:
    """Write a multipart body with one file (RFC 7578)."""
    name: str = arguments[FILE_NAME]
    if not all(char.isprintable() for char in name) or "/" in name or "\\" in name:
        raise BadRequest(f"{FILE_NAME}: must be a name without a path")
    content = _content(arguments)
    kind = guess_type(name)[0] or "application/octet-stream"
    quoted = name.replace("%", "%25").replace('"', "%22").encode()
    boundary = token_hex(16).encode()
    head = b'--%b\r\ncontent-disposition: form-data; name="%b"; filename="%b"\r\ncontent-type: %b\r\n\r\n' % (
        boundary,
        tool.upload.encode(),
        quoted,
        kind.encode(),
    )
    body = b"%b%b\r\n--%b--\r\n" % (head, content, boundary)
    return body, b"multipart/form-data; boundary=" + boundary


def _content(arguments: Mapping[str, Any]) -> bytes:
    given = [key for key in (FILE_TEXT, FILE_BASE64) if key in arguments]
    if len(given) != 1:
        raise BadRequest(f"give the content of the file as {FILE_TEXT} or as {FILE_BASE64}")
    text: str = arguments[given[0]]
    if given[0] == FILE_TEXT:
        return text.encode()
    try:
        return b64decode("".join(text.split()), validate=True)
    except ValueError:
        raise BadRequest(f"{FILE_BASE64}: is not Base64") from None


def _is_text(value: object) -> bool:
    """Return whether it can be written as UTF-8, whatever it contains."""
    if isinstance(value, str):
        return value.isascii() or not any("\ud800" <= char <= "\udfff" for char in value)
    if isinstance(value, dict):
        told = cast("dict[object, object]", value)
        return all(map(_is_text, told)) and all(map(_is_text, told.values()))
    return all(map(_is_text, cast("list[object]", value))) if isinstance(value, list) else True


def coerced(tool: ApiTool, texts: Mapping[str, str]) -> dict[str, Any]:
    """Convert arguments that came as text (from a URL) to the types that the tool declares. Others stay text."""
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
    """Checks the arguments of one tool."""

    def __init__(self, tool: ApiTool) -> None:
        import jsonschema_rs  # 30 ms, and only needed with an API

        self._tool = tool
        self._validator: Any = jsonschema_rs.validator_for(
            tool.input_schema, validate_formats=True, retriever=refuse_to_fetch
        )

    def check(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Check arguments. BadRequest names each wrong parameter, and what is right."""
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
