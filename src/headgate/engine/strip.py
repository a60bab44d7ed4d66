"""Embedding vectors carry nothing for a reader: a stub with their length stays, the walk returns them."""

import re
from typing import Any, Final, cast

import msgspec

from headgate.engine import jsontext

MIN_NUMBERS: Final = 32

_LOOKS_LIKE_VECTOR: Final = re.compile(
    rb"\[\s*-?\d+\.\d+(?:[eE][-+]?\d+)?(?:\s*,\s*-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?){31}"
)


def has_vector(raw: bytes) -> bool:
    """Whether a list of many fractions stands somewhere in it."""
    return _LOOKS_LIKE_VECTOR.search(raw) is not None


def is_vector(raw: bytes) -> bool:
    """Whether it is such a list, and nothing else."""
    return (
        _LOOKS_LIKE_VECTOR.match(raw) is not None
        and raw.count(b"[") == 1
        and b'"' not in raw
        and b"{" not in raw
    )


def strip_vectors(raw: bytes) -> bytes:
    """The value with every vector in it replaced by its stub; other numbers stay as they are written."""
    value = jsontext.faithful_value(jsontext.canonical(raw))
    return raw if value is None else msgspec.json.encode(_stripped(value))


def _stripped(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _stripped(inner) for key, inner in cast("dict[str, Any]", value).items()}
    if not isinstance(value, list):
        return value
    items = cast("list[Any]", value)
    if len(items) >= MIN_NUMBERS and all(type(item) in (int, float, msgspec.Raw) for item in items):
        return f"… {len(items):,} numbers"
    return [_stripped(item) for item in items]
