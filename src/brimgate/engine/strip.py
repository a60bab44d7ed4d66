"""What carries nothing for a reader is left out of pages: vectors, configured noise, empties. The walk returns it."""

import re
from fnmatch import fnmatchcase
from typing import Any, Final, cast

import msgspec

from brimgate.engine import jsontext
from brimgate.engine.policy import Policy

MIN_NUMBERS: Final = 32
_STUB_BYTES: Final = 20
"""What is no longer than its stub stays."""

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


def is_noisy(raw: bytes, policy: Policy) -> bool:
    """Whether an item has something that the policy leaves out."""
    if raw[:1] != b"{":
        return False
    if policy.strip_vectors and has_vector(raw):
        return True
    if policy.strip_empty and _EMPTY.search(raw):
        return True
    return bool(policy.strip_fields) and any(_matches(policy.strip_fields, name) for name in _names(raw))


def strip(raw: bytes, policy: Policy) -> bytes:
    """The value without its noise. Of vectors and configured fields a stub with their size stays, of what is empty
    nothing; numbers stay as they are written."""
    value = jsontext.faithful_value(jsontext.canonical(raw))
    return raw if value is None else msgspec.json.encode(_stripped(value, policy))


_EMPTY: Final = re.compile(rb':\s*(?:null|""|\[\s*\]|\{\s*\})')
_NAME: Final = re.compile(rb'"([^"\\]*)"\s*:')


def _names(raw: bytes) -> set[str]:
    return {name.decode("utf-8", "replace") for name in _NAME.findall(raw)}


def _matches(patterns: tuple[str, ...], name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _stripped(value: Any, policy: Policy) -> Any:
    if isinstance(value, dict):
        return {
            key: _stub(inner) if _matches(policy.strip_fields, key) else _stripped(inner, policy)
            for key, inner in cast("dict[str, Any]", value).items()
            if not (policy.strip_empty and inner in (None, "", [], {}))
        }
    if not isinstance(value, list):
        return value
    items = cast("list[Any]", value)
    is_vector = len(items) >= MIN_NUMBERS and all(type(item) in (int, float, msgspec.Raw) for item in items)
    if policy.strip_vectors and is_vector:
        return f"… {len(items):,} numbers"
    return [_stripped(item, policy) for item in items]


def _stub(value: Any) -> Any:
    size = len(msgspec.json.encode(value))
    return f"… {size:,} bytes" if size > _STUB_BYTES else value
