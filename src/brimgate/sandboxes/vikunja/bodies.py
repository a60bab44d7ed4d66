"""Read bodies as Go does: unknown fields are ignored, missing ones are empty, a wrong type is refused."""

from collections.abc import Callable
from typing import Any, Final, cast

import msgspec

from brimgate.sandboxes.vikunja.dates import ZERO, parse_rfc3339
from brimgate.sandboxes.vikunja.errors import BAD_MODEL, Failed, Invalid
from brimgate.sandboxes.wire import JSON, Request

Json = dict[str, Any]
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _whole(value: Any) -> int | None:
    fits = isinstance(value, int) and not isinstance(value, bool) and _LEAST <= value <= _MOST
    return value if fits else None


def _real(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _date(value: Any) -> str | None:
    return parse_rfc3339(value) if isinstance(value, str) else None


def _map(value: Any) -> Json | None:
    return cast("Json", value) if isinstance(value, dict) else None


def _list_of(read: Callable[[Any], Any]) -> Callable[[Any], list[Any] | None]:
    def read_list(value: Any) -> list[Any] | None:
        if not isinstance(value, list):
            return None
        items = [read(item) for item in cast("list[Any]", value)]
        return None if any(item is None for item in items) else items

    return read_list


Kind = tuple[Callable[[Any], Any], Any]
TEXT: Final[Kind] = (_text, "")
FLAG: Final[Kind] = (_flag, False)
WHOLE: Final[Kind] = (_whole, 0)
REAL: Final[Kind] = (_real, 0.0)
DATE: Final[Kind] = (_date, ZERO)
MAP: Final[Kind] = (_map, None)
MAPS: Final[Kind] = (_list_of(_map), None)
WHOLES: Final[Kind] = (_list_of(_whole), None)
TEXTS: Final[Kind] = (_list_of(_text), None)
Fields = dict[str, Kind]


def read_body(request: Request) -> Json:
    """Return the object that was sent, or an empty one. Only JSON that says it is JSON is read."""
    if not request.body:
        return {}
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
        raise Failed(BAD_MODEL, "Unsupported Media Type")
    try:
        told: Any = msgspec.json.decode(request.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Failed(BAD_MODEL, "Bad Request") from None
    if told is None:
        return {}
    if not isinstance(told, dict):
        raise Failed(BAD_MODEL, "Bad Request")
    return cast("Json", told)


def fill(told: Json, fields: Fields) -> Json:
    """Return every field with its value or, where none was sent, the empty one."""
    filled: Json = {}
    for name, (read, empty) in fields.items():
        value = told.get(name)
        filled[name] = empty if value is None else read(value)
        if filled[name] is None and value is not None:
            raise Failed(BAD_MODEL, "Bad Request")
    return filled


def require(told: Json, *names: str) -> None:
    missing = [name for name in names if told[name] in ("", None, {}, [], ZERO)]
    if missing:
        raise Invalid(*(f"{name}: non zero value required" for name in missing))


def limit_length(told: Json, name: str, least: int, most: int) -> None:
    text: str = told[name]
    if text and not least <= len(text) <= most:
        raise Invalid(f"{name}: {text} does not validate as runelength({least}|{most})")


def hex_color(text: str) -> str:
    return text.removeprefix("#")[:6]
