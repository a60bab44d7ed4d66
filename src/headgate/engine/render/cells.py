"""How one value is written in a row: bare where nothing else could be meant, else as JSON."""

import json
import re
from collections.abc import Sequence
from typing import Final

from headgate.engine import jsontext
from headgate.errors import InputError

ABSENT: Final = "-"
DELIMITER: Final = "|"

_NUMBER: Final = r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?"
_LITERAL: Final = re.compile(rf"(?:{_NUMBER}|true|false)\Z")
_WORD: Final = rf"(?:{_NUMBER}|true|false|null|-)?"
_MISREAD: Final = re.compile(rf'{_WORD}\Z|[\s"\[{{]|= ')
"""A text that begins so, or ends in white space, would be read as something else if it stood bare."""
_ANY_MISREAD: Final = re.compile(rf'^"(?:{_WORD}"$|[\s\[{{]|= |[^"\n]*\s"$)', re.MULTILINE)
_NULL_LINE: Final = re.compile(r"^null$", re.MULTILINE)
_CONTROL: Final = re.compile(r"[\x00-\x1f]")


def write_column(cells: Sequence[bytes | None]) -> list[str]:
    """All cells of a column; None is absent. A column of plain values goes in one sweep instead of cell by cell."""
    if None not in cells:
        text = b"\n".join(cells).decode()  # type: ignore[arg-type]
        if "|" not in text and "\\" not in text and "{" not in text and "[" not in text:
            if _ANY_MISREAD.search(text) is None:
                if "null" in text:
                    text = _NULL_LINE.sub("", text)
                return text.replace('"', "").split("\n")
    memo: dict[bytes | None, str] = {None: ABSENT, b"null": "", b"": ""}
    out: list[str] = []
    for raw in cells:
        known = memo.get(raw)
        if known is None:
            assert raw is not None
            known = memo[raw] = write_cell(raw)
        out.append(known)
    return out


def write_cell(raw: bytes) -> str:
    """One value between delimiters."""
    text = write_bare(raw)
    return raw.decode() if DELIMITER in text and raw[:1] == b'"' else text


def write_bare(raw: bytes) -> str:
    """One value on a line of its own."""
    text = raw.decode()
    if text[0] != '"':
        return text
    value = jsontext.string_value(raw)
    bare = _MISREAD.match(value) is None and not value[-1].isspace() and _CONTROL.search(value) is None
    return value if bare else text


def read_literal(text: str) -> str:
    """The canonical JSON text of a value written by `write_bare`."""
    if text[:1] in ('"', "[", "{") or text == "null" or _LITERAL.match(text):
        return text
    return jsontext.quote(text)


_decoder: Final = json.JSONDecoder(strict=False)


def read_cell(line: str, at: int) -> tuple[str | None, int]:
    """The canonical JSON text of the cell that starts at `at` (None: absent), and where it ends."""
    if line[at : at + 1] in ('"', "[", "{"):
        end = json_end(line, at)
        return line[at:end], end
    end = line.find("|", at)
    end = len(line) if end < 0 else end
    text = line[at:end]
    if text == "":
        return "null", end
    if text == ABSENT:
        return None, end
    return read_literal(text), end


def json_end(text: str, at: int) -> int:
    try:
        _, end = _decoder.raw_decode(text, at)
    except (ValueError, RecursionError) as error:
        raise InputError(f"expected JSON at {text[at : at + 20]!r}") from error
    return end
