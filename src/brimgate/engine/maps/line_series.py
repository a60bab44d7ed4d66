"""Find in a text the numbered names of which one is missing, or is there too often: steps, hosts, rules, pages, cues."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

from brimgate.engine.highlights.findings import Finding
from brimgate.engine.highlights.number_series import series_breaks, version_breaks
from brimgate.engine.maps.phrases import places
from brimgate.engine.maps.survey import SLIGHTLY_ODD, WORTH_A_LOOK

_READ_CHARS: Final = 300
_MAX_NAMES: Final = 200_000
_VERSION: Final = re.compile(
    r"[#*=\s\[-]{0,8}(?:[Vv]ersion |[Rr]elease )?(v?\d{1,4}\.\d{1,4}\.\d{1,4})(?![\w.-])(?!\]:)"
)
_NAME: Final = re.compile(
    r"(?:(?<![\w#./:@+-])([A-Za-z#](?:[\w#/.-]{0,50}[A-Za-z_#/-])?|[A-Za-z]{2,12} )|^[ \t]{0,8})"
    r"(\d{1,7})(?![\w:/%]|[.,-]\d)",
    re.MULTILINE,
)
"""A name that ends with a number, a word before a number, or a number that a line begins with."""


def line_series(lines: Sequence[str]) -> list[Finding]:
    """Find breaks in numbered names, at the line after a gap or of the last one of its name."""
    found: list[Finding] = []
    for one in [*series_breaks(_names(lines)), *version_breaks(_releases(lines))]:
        also = f" · also line {places(one.others)}" if 0 < len(one.others) <= 3 else ""
        score = WORTH_A_LOOK if also or "gap" in one.text else SLIGHTLY_ODD
        found.append(Finding(one.place, score, one.text + also))
    return found


def _releases(lines: Sequence[str]) -> list[tuple[int, str]]:
    """Return the versions that lines begin with, as headings of a list of changes do."""
    return [(at, found[1]) for at, line in enumerate(lines, 1) if (found := _VERSION.match(line))]


def _names(lines: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    cut = [line[:_READ_CHARS] for line in lines]
    starts = list(accumulate((len(line) + 1 for line in cut), initial=0))
    for at, match in enumerate(_NAME.finditer("\n".join(cut))):
        if at >= _MAX_NAMES:
            return
        yield bisect_right(starts, match.start(2)), match[1] or "", match[2]
