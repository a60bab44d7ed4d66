"""What the formatters share: the parts of an item, and how members without a place of their own are shown."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, cast

import msgspec

from brimgate.packs.pack import Scene, fold

_encode: Final = msgspec.json.Encoder(decimal_format="number").encode
_VECTOR_NUMBERS: Final = 16
"""A list of at least this many numbers under such a name is an embedding, which nobody can read."""
_LONG_QUERY: Final = 80
_SHORT_QUERY: Final = 16
"""Bytes of a query that an empty answer repeats: with more it would be longer than JSON."""


def unwrapped(answer: object, bare: str = "") -> dict[str, Any]:
    """Unwrap an answer.

    FastMCP servers put one of several possible types into `result`; old ones sent some lists bare.
    """
    if isinstance(answer, dict) and len(cast("dict[str, Any]", answer)) == 1:
        inner = cast("dict[str, Any]", answer).get("result")
        answer = cast("object", inner if isinstance(inner, dict | list) else answer)
    if bare and isinstance(answer, list):
        return {bare: answer}
    if not isinstance(answer, dict):
        raise TypeError(f"expected an object, not {type(answer).__name__}")
    return cast("dict[str, Any]", answer)


def text(value: object) -> str:
    """Return a text on one line."""
    if not isinstance(value, str):
        raise TypeError(f"expected a text, not {type(value).__name__}")
    return fold(value)


def items(value: object) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        raise TypeError(f"expected a list, not {type(value).__name__}")
    for item in cast("list[object]", value):
        if not isinstance(item, dict):
            raise TypeError(f"expected an object, not {type(item).__name__}")
    return cast("list[dict[str, Any]]", value)


def extras(item: Mapping[str, Any], *known: str) -> str:
    """Show every unknown member that is not empty: nothing is cut silently."""
    shown = [
        f"{fold(name)}: {plain(value)}"
        for name, value in item.items()
        if name not in known and not _carries_nothing(name, value)
    ]
    return "{" + ", ".join(shown) + "}" if shown else ""


def attributes(item: Mapping[str, Any], *known: str) -> str:
    """Show the attributes of an item, together with whatever else it has."""
    inner: Any = item.get("attributes")
    own = cast("dict[str, Any]", inner) if isinstance(inner, dict) else {"attributes": inner}
    rest = {name: value for name, value in item.items() if name not in (*known, "attributes")}
    if rest.keys() & own.keys():
        return joined(extras(rest), extras(own))  # neither hides the other
    return extras({**rest, **own})


def _carries_nothing(name: str, value: Any) -> bool:
    if value is None or value in ("", [], {}):
        return True
    if not isinstance(value, list) or not name.endswith(("embedding", "embeddings", "vector")):
        return False
    numbers = cast("list[object]", value)
    return len(numbers) >= _VECTOR_NUMBERS and all(isinstance(one, int | float | Decimal) for one in numbers)


def plain(value: Any) -> str:
    """Return any value on one line: a text as it is, others as JSON, which may hold breaks that only Unicode knows."""
    return fold(value) if isinstance(value, str) else _UNESCAPED.sub(_as_escape, _encode(value).decode())


_UNESCAPED: Final = re.compile("[\x85\u2028\u2029]")


def _as_escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def found(count: int, one: str, many: str, scene: Scene) -> str:
    """Return `Found 3 entities for "Graphiti":`, or that there are none."""
    query = scene.arguments.get("query")
    query = fold(query) if isinstance(query, str) else ""
    asked = f' for "{query}"' if query and len(query) <= _LONG_QUERY else ""
    if count:
        return f"Found {count} {one if count == 1 else many}{asked}:"
    return f"No {many} found" + (asked if len(query.encode("utf-8", "replace")) <= _SHORT_QUERY else "")


def note(answer: Mapping[str, Any], usual: Sequence[str], *known: str) -> str:
    """Return what a server says besides its usual messages."""
    said = plain(answer.get("message") or "")
    said = "" if said in usual else said
    return joined(said, extras(answer, "message", *known))


def are_of_several_groups(everyone: Sequence[Mapping[str, Any]]) -> bool:
    return len({one.get("group_id") for one in everyone}) > 1


def group_of(item: Mapping[str, Any], *, if_several: bool) -> str:
    return f"@{plain(item['group_id'])}" if if_several and item.get("group_id") else ""


def reference(item: Mapping[str, Any], scene: Scene) -> str:
    return f"#{fold(scene.id(item['uuid']))}" if item.get("uuid") else ""


def id_note(whole: object, scene: Scene) -> str:
    """Return `(id: ...a1b2c3d4)`: the dots stand for what was left out."""
    short = fold(scene.id(whole))
    return f"(id: {short if short == whole else '...' + short})"


def labels(item: Mapping[str, Any]) -> list[str]:
    given: Any = item.get("labels") or []
    if not isinstance(given, list):
        raise TypeError(f"expected a list, not {type(given).__name__}")
    return [text(label) for label in cast("list[object]", given)]


def numbered(lines: Sequence[str], scene: Scene) -> str:
    return "\n".join(f"{scene.first + index}. {line}" for index, line in enumerate(lines, 1))


def lines(*parts: str) -> str:
    return "\n".join(part for part in parts if part)
