"""Write and read one value in a row: bare where it is unambiguous, else as JSON."""

import json
import re
from collections.abc import Sequence
from enum import Enum
from typing import Any, Final

import msgspec

from brimgate.engine import jsontext
from brimgate.errors import InputError

ABSENT: Final = "-"
DELIMITER: Final = "|"

_NUMBER: Final = r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?"
_LITERAL: Final = re.compile(rf"(?:{_NUMBER}|true|false)\Z")
_WORD: Final = rf"(?:{_NUMBER}|true|false|null|-)?"
_MARK: Final = r"= |<(?:table|row) "
_MISREAD: Final = re.compile(rf'{_WORD}\Z|[\s"\[{{]|{_MARK}')
"""A text that begins like this, or ends in white space, would be misread if written bare."""
_ANY_MISREAD: Final = re.compile(rf'^(?:{_WORD}$|[\s"\[{{]|{_MARK})|[^\S\n]$', re.MULTILINE)
_CONTROL: Final = re.compile(r"[\x00-\x1f]")
_ANY_CONTROL: Final = re.compile(r"[|\x00-\x09\x0b-\x1f]")

_decoder: Final = json.JSONDecoder(strict=False)


class Gap(Enum):
    """Why a cell has no value of its own."""

    ABSENT = "the row does not have it"
    HIDDEN = "an object above it is null"
    GONE = "an object above it is absent, or stands as JSON in a column of its own"


OUTSIDE: Final = (Gap.HIDDEN, Gap.GONE)
"""Cells that what the header says is not about."""


def write_column(cells: Sequence[Any]) -> list[str]:
    """Write all cells of a column. A column of plain values takes one sweep instead of one step per cell."""
    kinds = set(map(type, cells))
    if kinds == {str}:
        text = "\n".join(cells)
        if text.count("\n") < len(cells) and not _ANY_CONTROL.search(text) and not _ANY_MISREAD.search(text):
            return list(cells)
    elif kinds <= {int, float}:
        return msgspec.json.encode(cells)[1:-1].decode().split(",")
    memo: dict[str, str] = {}
    written: list[str] = []
    for cell in cells:
        if type(cell) is str:
            if cell not in memo:
                memo[cell] = write_cell(cell)
            written.append(memo[cell])
        else:
            written.append(write_cell(cell))
    return written


def write_cell(value: Any) -> str:
    """Write one value between delimiters."""
    if value is None or value is Gap.HIDDEN:
        return ""
    if value is Gap.ABSENT or value is Gap.GONE:
        return ABSENT
    text = write_bare(value)
    return jsontext.quote(text) if type(value) is str and text is value and DELIMITER in text else text


def write_bare(value: Any) -> str:
    """Write one value on a line of its own."""
    if type(value) is not str:
        return msgspec.json.encode(value).decode()
    bare = _MISREAD.match(value) is None and not value[-1].isspace() and _CONTROL.search(value) is None
    return value if bare else jsontext.quote(value)


def read_literal(text: str) -> str:
    """Return the canonical JSON text of a value written by `write_bare`."""
    if text[:1] in ('"', "[", "{") or text == "null" or _LITERAL.match(text):
        return text
    return jsontext.quote(text)


def read_cell(line: str, at: int) -> tuple[str | None, int]:
    """Return the canonical JSON text of the cell that starts at `at` (None: absent), and where it ends."""
    if line[at : at + 1] in ('"', "[", "{"):
        end = json_end(line, at)
        return line[at:end], end
    end = line.find(DELIMITER, at)
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
