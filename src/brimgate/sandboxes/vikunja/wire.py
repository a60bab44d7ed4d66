"""JSON as Go writes it, and the answers that carry it."""

from typing import Any, Final

import msgspec

from brimgate.sandboxes.wire import JSON, Answer

Json = dict[str, Any]
_NO_STORE: Final = (("cache-control", "no-store"),)
_ESCAPES: Final = (
    (b"<", b"\\u003c"),
    (b">", b"\\u003e"),
    (b"&", b"\\u0026"),
    ("\u2028".encode(), b"\\u2028"),
    ("\u2029".encode(), b"\\u2029"),
)
"""Go's encoder escapes what could end a script: descriptions are HTML, so this is a sixth of an answer."""


def encode_go(value: Any) -> bytes:
    body = msgspec.json.encode(value)
    for raw, escaped in _ESCAPES:
        body = body.replace(raw, escaped)
    return body + b"\n"


def answer_json(status: int, value: Any, headers: tuple[tuple[str, str], ...] = ()) -> Answer:
    return Answer(status, encode_go(value), JSON, _NO_STORE + headers)


def answer_one(value: Any, permission: int) -> Answer:
    """Answer with one object, and with what the caller may do to it."""
    told = (("x-max-permission", str(permission)), ("access-control-expose-headers", "x-max-permission"))
    return answer_json(200, value, told)


def deleted() -> Answer:
    return answer_json(200, {"message": "Successfully deleted."})


def number(value: float) -> int | float:
    """Write a float as Go does: without a fraction if there is none."""
    return int(value) if value == int(value) else value
