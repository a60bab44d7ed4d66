"""Read the tables inside a Markdown document. Those with the same heading are one table: each chapter has its settings."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from brimgate.engine.highlights.row_source import Rows

SECTION: Final = "section"
"""The column that has the headings above a row, but for the title of all: `3. Archive / Settings`."""
_RULE: Final = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*\Z")
_BAR: Final = re.compile(r"(?<!\\)\|")
_HEADING: Final = re.compile(r"\s{0,3}(#{1,6})\s+(.*?)\s*#*\Z")
_FENCE: Final = re.compile(r"\s{0,3}(?:```|~~~)")
_MARKED: Final = re.compile(r"(?P<mark>`{1,2}|\*{1,2}|__?)(?P<text>.+)(?P=mark)\Z")
_MIN_ROWS: Final = 3
_MAX_TABLES: Final = 12


@dataclass(slots=True)
class DocumentTable:
    """All tables of a document with one heading."""

    names: tuple[str, ...]
    rows: Rows
    count: int = 1
    """How many tables of the document it is."""
    title: str = ""
    """What its rows are, if the names of its columns do not say it."""


def document_tables(lines: Sequence[str]) -> list[DocumentTable]:
    """Return the tables of a document, the largest first; none of what stands in code."""
    found: dict[tuple[str, ...], DocumentTable] = {}
    section: dict[int, str] = {}
    at, in_code = 0, False
    while at < len(lines):
        line = lines[at]
        if _FENCE.match(line):
            in_code = not in_code
        elif not in_code and (heading := _HEADING.match(line)):
            level = len(heading[1])
            section = {above: title for above, title in section.items() if above < level} | {
                level: _plain(heading[2])
            }
        elif not in_code and "|" in line and at + 1 < len(lines) and _is_rule(lines[at + 1]):
            at = _read(lines, at, _path(section), found)
            continue
        at += 1
    large = [one for one in found.values() if len(one.rows.rows) >= _MIN_ROWS]
    return sorted(large, key=lambda one: -len(one.rows.rows))[:_MAX_TABLES]


def _is_rule(line: str) -> bool:
    return "-" in line and "|" in line and _RULE.match(line) is not None


def _path(section: dict[int, str]) -> str:
    titles = [title for level, title in sorted(section.items()) if level > 1]
    return " / ".join(titles or section.values())


def _read(lines: Sequence[str], at: int, section: str, found: dict[tuple[str, ...], DocumentTable]) -> int:
    """Read the table whose heading is at a line. Return where it ends."""
    names = _named(_cells(lines[at]))
    known = found.get(names)
    if known is None:
        known = found[names] = DocumentTable(names, Rows([], [], "line"))
    else:
        known.count += 1
    at += 2
    while at < len(lines) and "|" in lines[at]:
        cells = _cells(lines[at])[: len(names)]
        row: dict[str, Any] = {SECTION: section} | dict(zip(names, cells, strict=False))
        known.rows.rows.append(row)
        known.rows.places.append(at + 1)
        at += 1
    return at


def _cells(line: str) -> list[str]:
    line = line.strip().removeprefix("|")
    parts = _BAR.split(line.removesuffix("|") if not line.endswith("\\|") else line)
    return [_plain(part.strip().replace("\\|", "|")) for part in parts]


def _named(cells: Sequence[str]) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for at, cell in enumerate(cells, 1):
        name = cell or f"column{at}"
        while name.lower() in (SECTION, *map(str.lower, names)):
            name += "_2"
        names[name] = None
    return tuple(names)


def _plain(text: str) -> str:
    """Return a cell without the marks around all of it: `name` and **name** are name."""
    found = _MARKED.match(text)
    return found["text"] if found and found["mark"] not in found["text"] else text
