"""Lines: one element of a list, or one member of an object, a line; the count stands first."""

import re
from typing import Any, Final, cast

from brimgate.engine import jsontext
from brimgate.engine.forms.cells import json_end, read_literal, write_bare
from brimgate.errors import InputError

_HEAD: Final = re.compile(r"(\d+) (items|members), one a line\Z")


def encode(raw: bytes) -> str | None:
    value = jsontext.faithful_value(raw)
    if isinstance(value, list):
        items = [write_bare(element) for element in cast("list[Any]", value)]
        return "\n".join([f"{len(items)} items, one a line", *items])
    if not isinstance(value, dict):
        return None
    members = cast("dict[str, Any]", value)
    lines = [f"{jsontext.quote(key)}: {write_bare(inner)}" for key, inner in members.items()]
    return "\n".join([f"{len(lines)} members, one a line", *lines])


def decode(text: str) -> bytes:
    first, *lines = text.split("\n")
    head = _HEAD.match(first)
    if head is None or len(lines) != int(head[1]):
        raise InputError(f"expected a count of lines, found {first[:40]!r}")
    if head[2] == "items":
        return ("[" + ",".join(read_literal(line) for line in lines) + "]").encode()
    return ("{" + ",".join(_member(line) for line in lines) + "}").encode()


def _member(line: str) -> str:
    end = json_end(line, 0)
    return f"{line[:end]}:{read_literal(line[end + 2 :])}"
