"""Say of a line what it stands in: the line that it is indented under, and the first line of its block."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from brimgate.engine.highlights.findings import Finding, clip
from brimgate.engine.maps.credentials_scan import masked_random
from brimgate.engine.maps.phrases import brief

_MAX_UP: Final = 400
_CHARS: Final = 90
_BRIEF_CHARS: Final = 50
_MIN_LETTERS: Final = 3


def in_context(finding: Finding, lines: Sequence[str]) -> Finding:
    """Add to a finding the lines that its own line stands in, unless it tells them."""
    around = [at for at in _around(lines, finding.place - 1) if lines[at].strip() not in finding.text]
    if not around:
        return finding
    within = "".join(_told(lines, at, _CHARS) for at in around)
    short = (finding.brief or clip(finding.text, _CHARS)) + _told(lines, around[0], _BRIEF_CHARS)
    return replace(finding, text=finding.text + within, brief=short)


def _told(lines: Sequence[str], at: int, most: int) -> str:
    return f" · in line {at + 1}: {brief(masked_random(lines[at]), most)}"


def _around(lines: Sequence[str], at: int) -> Iterator[int]:
    """Return the nearest line that is indented less, and the first line of the outermost block."""
    indent, parent, top = _indent(lines[at]), -1, at
    for number in range(at - 1, max(at - _MAX_UP, -1), -1):
        if not indent:
            break
        line = lines[number]
        if line.strip() and _indent(line) < indent:
            indent, top = _indent(line), number
            parent = parent if parent >= 0 else number
    if parent >= 0 and _is_telling(lines[parent]):
        yield parent
    head = top
    while (
        head > 0 and lines[head - 1].strip() and _indent(lines[head - 1]) == indent and top - head < _MAX_UP
    ):
        head -= 1
    # A text without blank lines is one block, whose first line says nothing of the others.
    if head > 1 and head not in (at, parent) and not lines[head - 1].strip() and _is_telling(lines[head]):
        yield head
    elif top not in (at, parent) and _is_telling(lines[top]):
        yield top


def _is_telling(line: str) -> bool:
    return not line.lstrip().startswith(("</", "}", "]")) and sum(map(str.isalpha, line)) >= _MIN_LETTERS


def _indent(line: str) -> int:
    return len(line.expandtabs()) - len(line.lstrip().expandtabs()) if line[:1] in (" ", "\t") else 0
