"""Lines: one element of a list, or one member of an object, a line; the count stands first."""

import re
from typing import Final

from headgate.engine import jsontext
from headgate.engine.render.cells import json_end, read_literal, write_bare
from headgate.errors import InputError, JsonRefused

_HEAD: Final = re.compile(r"(\d+) (items|members), one a line\Z")


def encode(raw: bytes) -> str | None:
    if raw[:1] == b"[":
        items = [write_bare(element) for element in jsontext.elements(raw)]
        return "\n".join([f"{len(items)} items, one a line", *items])
    try:
        found = jsontext.members(raw)
    except JsonRefused:
        return None
    lines = [f"{jsontext.quote(key)}: {write_bare(value)}" for key, value in found.items()]
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
