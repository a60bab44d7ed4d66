"""Tell what each line of a text stands in, for queries: its section in a document, its file and hunk in a diff."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from brimgate.engine.maps import outline
from brimgate.engine.maps.document_tables import SECTION
from brimgate.engine.maps.survey import TextLines
from brimgate.engine.sql.places import NUMBER, QUERIED, TEXT

_MIN_HEADINGS: Final = 3
_SURE: Final = 0.5
_FILE: Final = re.compile(r"diff --git \"?a/.*? \"?b/(.*?)\"?$")
_NEW: Final = re.compile(r"\+\+\+ \"?(?:b/)?(.*?)\"?(?:\t.*)?$")
_OLD: Final = re.compile(r"--- \"?(?:a/)?(.*?)\"?(?:\t.*)?$")
_HUNK: Final = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$")


def queried_line(columns: Iterable[str]) -> str:
    """Return the line of the map that names the columns which a query of the lines has."""
    return f"{QUERIED}t = lines ({', '.join([NUMBER, *columns, TEXT])})"


def line_columns(lines: Sequence[str]) -> Mapping[str, Sequence[Any]]:
    """Return the columns that the lines of a text have besides their number and text; none if it is no such text."""
    return _of_diff(lines) or _of_document(lines)


def _of_document(lines: Sequence[str]) -> dict[str, list[Any]]:
    text = TextLines.of("\n".join(lines) + "\n")
    if outline.recognise(text) < _SURE:
        return {}
    paths = outline.section_paths(text.lines)
    return {SECTION: paths} if len(set(paths)) > _MIN_HEADINGS else {}


def _of_diff(lines: Sequence[str]) -> dict[str, list[Any]]:
    if not any(line.startswith("@@ -") for line in lines) or not any(
        line.startswith("+++ ") for line in lines
    ):
        return {}
    held: dict[str, list[Any]] = {"file": [], "hunk": [], "line": [], "sign": []}
    reader = _DiffReader()
    for line in lines:
        for name, value in zip(held, reader.read(line), strict=True):
            held[name].append(value)
    return held


class _DiffReader:
    """Reads a diff line by line; the counts of a hunk tell its lines from headers that look alike."""

    def __init__(self) -> None:
        self._file = self._hunk = ""
        self._old = self._new = self._old_left = self._new_left = 0

    def read(self, line: str) -> tuple[str, str, int | None, str]:
        """Return the file, what the hunk says it is in, the number in the new or else the old file, and the sign."""
        sign = line[:1]
        if self._old_left > 0 or self._new_left > 0:
            return self._body(sign if sign in ("+", "-", "\\") else "")
        if hunk := _HUNK.match(line):
            self._old, self._new, self._hunk = int(hunk[1]), int(hunk[3]), hunk[5]
            self._old_left, self._new_left = int(hunk[2] or 1), int(hunk[4] or 1)
        elif found := _FILE.match(line) or _NEW.match(line) or _OLD.match(line):
            self._hunk = ""
            if found[1] != "/dev/null":
                self._file = found[1]
        return self._file, self._hunk, None, ""

    def _body(self, sign: str) -> tuple[str, str, int | None, str]:
        number: int | None = self._old if sign == "-" else self._new
        if sign == "\\":
            return self._file, self._hunk, None, ""
        if sign != "+":
            self._old, self._old_left = self._old + 1, self._old_left - 1
        if sign != "-":
            self._new, self._new_left = self._new + 1, self._new_left - 1
        return self._file, self._hunk, number, sign
