"""Count the tags that lines end with: `(errcheck)`, `[deprecation]`, `UP-TO-DATE`. A tag that is rare among few stands out."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Final

from brimgate.engine.highlights.findings import Finding, clip
from brimgate.engine.maps.phrases import tally
from brimgate.engine.maps.survey import WORTH_A_LOOK, MapLine

_TAGS: Final[tuple[tuple[str, re.Pattern[str], Callable[[str], bool]], ...]] = (
    (
        "ends with (…): ",
        re.compile(r"[^\s(].*\(([A-Za-z][\w./-]{1,30})\)\s*\Z"),
        lambda line: line.endswith(")"),
    ),
    (
        "has […]: ",
        re.compile(r"[^\s\[].{0,300}?[\s:]\[([A-Za-z][\w./-]{1,30})\](?:\s|\Z)"),
        lambda line: "[" in line,
    ),
    ("ends with: ", re.compile(r".*[\s:]([A-Z][A-Z_-]{2,20})\s*\Z"), lambda line: line[-1:].isupper()),
)
"""How it is told, what it is, and what is quick to see of a line that may have it."""
_READ_CHARS: Final = 1_000
_LEAST: Final = 20
"""So many lines at least have such a tag, and each tag is there so often on average."""
_OFTEN: Final = 4
_MAX_TAGS: Final = 30
_SHOWN: Final = 16
_RARE: Final = 2
_MAX_RARE: Final = 4
_WEIGHT: Final = 5.0


def line_tags(lines: Sequence[str]) -> tuple[list[MapLine], list[Finding]]:
    """Return the tags with how many lines have them, and the lines that have one of their own."""
    told: list[MapLine] = []
    found: list[Finding] = []
    bare = [line.rstrip() for line in lines]
    for lead, pattern, may_have in _TAGS:
        places: dict[str, list[int]] = defaultdict(list)
        for at, line in enumerate(bare, 1):
            if may_have(line) and len(line) <= _READ_CHARS and (tag := pattern.match(line)):
                places[tag[1]].append(at)
        counts = Counter({tag: len(ats) for tag, ats in places.items()})
        total = counts.total()
        if total < _LEAST or not 2 <= len(counts) <= min(_MAX_TAGS, total // _OFTEN):
            continue
        told.append(MapLine(f"{lead}{tally(counts, _SHOWN)}", _WEIGHT))
        rare = [tag for tag, count in counts.items() if count <= _RARE]
        for tag in rare if len(rare) <= _MAX_RARE else ():
            text = f"{tag} ({counts[tag]} of {total:,} such lines): "
            found += [Finding(at, WORTH_A_LOOK, text + clip(lines[at - 1])) for at in places[tag]]
    return told, found
