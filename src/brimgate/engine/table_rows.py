"""The rows of CSV and of JSON lines, each read again when it is needed.

Of a row only the number of its last line is kept: all rows at once would take many times the memory of the text.
"""

import csv
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final

import msgspec

from brimgate.engine import jsontext
from brimgate.engine.chunks import LongText
from brimgate.engine.lazy import LazySequence
from brimgate.engine.textkind import TextKind, head_lines

_strict: Final = msgspec.json.Decoder(msgspec.Raw)
_DELIMITERS: Final = ",\t;|"


class TableRows(LazySequence[bytes]):
    """Rows as JSON: objects or lists as they are in JSON lines, lists of texts from CSV."""

    def __init__(
        self,
        lines: "array[int]",
        read: Callable[[int], bytes],
        columns: tuple[str, ...] = (),
        chosen: range | None = None,
    ) -> None:
        self._lines = lines
        self._read = read
        self.columns = columns
        self._chosen = range(len(lines)) if chosen is None else chosen

    def within(self, first: int, last: int) -> "TableRows":
        """Return the rows that end in a range of lines, which count from 1."""
        chosen = range(bisect_left(self._lines, first), bisect_right(self._lines, last))
        return TableRows(self._lines, self._read, self.columns, chosen)

    def line(self, at: int) -> int:
        """Return the number of the line in which a row ends."""
        return self._lines[self._chosen[at]]

    def __len__(self) -> int:
        return len(self._chosen)

    def part(self, at: int) -> bytes:
        return self._read(self._chosen[at])


def table_rows(text: LongText) -> TableRows | None:
    """Return the rows of a text, or None if it is no table."""
    match text.kind:
        case TextKind.JSON_LINES:
            return _json_lines(text)
        case TextKind.CSV:
            try:
                return _csv(text)
            except csv.Error:  # such as a cell over 128 KB: it is read as the text it is
                return None
        case _:
            return None


def _json_lines(text: LongText) -> TableRows:
    numbers = array("Q", (at for at, line in enumerate(_lines(text), 1) if _is_row(line)))
    return TableRows(numbers, lambda at: _between(text, numbers[at] - 1, numbers[at]).strip())


def _is_row(line: bytes) -> bool:
    if line.lstrip()[:1] not in (b"{", b"["):
        return False
    try:
        _strict.decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return False
    return True


def _csv(text: LongText) -> TableRows:
    head = head_lines(_lines(text))
    first = _decoded(_between(text, head, head + 1))
    delimiter = max(_DELIMITERS, key=first.count)
    rows = csv.reader(map(_decoded, islice(_lines(text), head, None)), delimiter=delimiter)
    header = tuple(next(rows))
    ends = array("Q", [head + rows.line_num])
    ends.extend(head + rows.line_num for _ in rows)

    def read(at: int) -> bytes:
        lines = _decoded(_between(text, ends[at], ends[at + 1])).removesuffix("\n").split("\n")
        cells = next(csv.reader(lines, delimiter=delimiter))
        return b"[" + b",".join(jsontext.quote(cell).encode("utf-8", "replace") for cell in cells) + b"]"

    return TableRows(ends[1:], read, header)


def _lines(text: LongText) -> Iterator[bytes]:
    """Yield the lines one by one: all at once would take many times the memory of short ones."""
    data, at = text.data, 0
    while (end := data.find(b"\n", at)) >= 0:
        yield data[at:end]
        at = end + 1
    if at < len(data):
        yield data[at:]


def _between(text: LongText, first: int, last: int) -> bytes:
    return text.data[text.line_start(first) : text.line_start(last)]


def _decoded(line: bytes) -> str:
    return line.decode("utf-8", "replace")
