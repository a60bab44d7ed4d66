"""Tool arguments that the caller repeats in HTTP headers, so that intermediaries can route by them."""

import re
from collections.abc import Mapping
from typing import Any, Final, cast

import msgspec

from brimgate.relay.protocol import message as rpc
from brimgate.relay.protocol.versions import (
    HEADER_MISMATCH,
    Headers,
    ProtocolRefusal,
    encode_text,
    header_text,
)

_DECIMAL: Final = re.compile(r"-?[0-9]{1,400}(?:\.0{1,100})?")
_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
PARAM_PREFIX: Final = "mcp-param-"

ParamHeaders = tuple[tuple[tuple[str, ...], str, str], ...]
"""For one tool: the path of the argument, the name of the header without its prefix, the type."""


def param_headers_of(schema: bytes) -> ParamHeaders:
    """Return which arguments a tool wants repeated, by its input schema; none if the schema misuses the mark."""
    if b"x-mcp-header" not in schema:
        return ()
    try:
        found = list(_marked(msgspec.json.decode(schema), ()))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError):
        return ()
    names = [name.lower() for _, name, _ in found]
    return tuple(found) if len(set(names)) == len(names) else ()


def _marked(schema: object, path: tuple[str, ...]) -> "list[tuple[tuple[str, ...], str, str]]":
    """Collect the marks in `properties`. A mark anywhere else, or one that is not a name, voids the whole schema."""
    found: list[tuple[tuple[str, ...], str, str]] = []
    if not isinstance(schema, dict):
        return found
    members = cast("dict[str, Any]", schema)
    for key, value in members.items():
        if key == "x-mcp-header":
            kind = members.get("type")
            if not path or not isinstance(value, str) or not _TOKEN.fullmatch(value):
                raise ValueError(key)
            if kind not in ("string", "integer", "boolean"):
                raise ValueError(key)
            found.append((path, value, kind))
        elif key == "properties" and isinstance(value, dict):
            for name, inner in cast("dict[str, Any]", value).items():
                found += _marked(inner, (*path, name))
        elif key not in ("default", "examples", "const", "enum") and b"x-mcp-header" in rpc.encode(value):
            raise ValueError(key)
    return found


def check_params(wanted: ParamHeaders, arguments: Mapping[str, Any], headers: Headers) -> None:
    """Check that every marked argument is repeated in its header, and that no header lacks its argument."""
    for path, name, kind in wanted:
        header = PARAM_PREFIX + name.lower()
        count = sum(1 for given, _ in headers if given == header.encode())
        value, said = _at(arguments, path), header_text(headers, header)
        where = f"the argument {'.'.join(path)}"
        if count > 1:
            raise ProtocolRefusal(HEADER_MISMATCH, f"the header {header} appears more than once")
        rendered = _rendered(value)
        if rendered is None:
            if count:
                raise ProtocolRefusal(HEADER_MISMATCH, f"the header {header} is given, but {where} is not")
        elif not count:
            raise ProtocolRefusal(HEADER_MISMATCH, f"the header {header} is missing, but {where} is given")
        elif said is None or not _is_same(kind, value, rendered, said):
            raise ProtocolRefusal(HEADER_MISMATCH, f"the header {header} does not match {where}")


def make_params(wanted: ParamHeaders, arguments: Mapping[str, Any]) -> list[tuple[bytes, bytes]]:
    """Return the headers that repeat the arguments."""
    return [
        ((PARAM_PREFIX + name).encode(), encode_text(text))
        for path, name, _ in wanted
        if (text := _rendered(_at(arguments, path))) is not None
    ]


def _at(arguments: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        arguments = cast("dict[str, Any]", arguments).get(key) if isinstance(arguments, dict) else None
    return arguments


def _rendered(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    try:
        return str(value) if isinstance(value, str | int | float) else None
    except ValueError:  # a number with more digits than Python writes
        return None


def _is_same(kind: str, value: Any, rendered: str, said: str) -> bool:
    if kind == "integer" and not isinstance(value, bool) and _DECIMAL.fullmatch(said):
        is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        return is_whole and int(said.partition(".")[0]) == int(value)
    return said == rendered
