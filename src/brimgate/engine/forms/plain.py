"""Forms without tables: bare JSON, one item a line, TOON."""

import json
import re
from importlib.util import find_spec
from typing import Any, Final, cast

from brimgate.engine import jsontext
from brimgate.engine.forms.cells import json_end, read_literal, write_bare
from brimgate.errors import InputError

_PLAIN: Final = re.compile(r'(?<!\\)"(?!(?:true|false|null)")([A-Za-z_$](?:[\w$./ -]*[\w$./-])?)"', re.ASCII)
_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[^{}\[\],:"]+')
_LITERAL: Final = re.compile(r"true\Z|false\Z|null\Z|-?\d")
_HEAD: Final = re.compile(r"(\d+) (items|members), one a line\Z")


def encode_bare(raw: bytes) -> str:
    return _PLAIN.sub(r"\1", raw.decode())


def decode_bare(text: str) -> bytes:
    return _TOKEN.sub(_quoted, text).encode()


def _quoted(token: re.Match[str]) -> str:
    text = token[0]
    return text if text[0] == '"' or _LITERAL.match(text) else jsontext.quote(text)


def encode_lines(raw: bytes) -> str | None:
    value = jsontext.faithful_value(raw)
    if isinstance(value, list):
        items = [write_bare(element) for element in cast("list[Any]", value)]
        return "\n".join([f"{len(items)} items, one a line", *items])
    if not isinstance(value, dict):
        return None
    members = cast("dict[str, Any]", value)
    lines = [f"{jsontext.quote(key)}: {write_bare(inner)}" for key, inner in members.items()]
    return "\n".join([f"{len(lines)} members, one a line", *lines])


def decode_lines(text: str) -> bytes:
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


def missing_package(form: str) -> str:
    """Return what to install for a form that a plain installation lacks; empty if nothing is missing."""
    if form != "toon" or find_spec("toon_format") is not None:
        return ""
    return "the form toon needs the extra `toon`: pip install '.[toon]' in a checkout of Brimgate"


def encode_toon(raw: bytes) -> str | None:
    try:
        import toon_format  # 60 ms to import, and few ask for it

        text = toon_format.encode(json.loads(raw))
        return text if decode_toon(text) == raw else None
    except (ImportError, ValueError, RecursionError):
        return None


def decode_toon(text: str) -> bytes:
    import toon_format

    return jsontext.canonical(json.dumps(toon_format.decode(text), ensure_ascii=False).encode())
