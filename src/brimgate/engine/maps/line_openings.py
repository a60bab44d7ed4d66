"""Count what the lines of a text begin with: `interface 350, shutdown 41`, `CREATE TABLE 75, CREATE INDEX 90`.

What programs write and read has few kinds of lines, and the first words name them: a reader asks how many there are of each.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from brimgate.engine.maps.phrases import tally
from brimgate.engine.maps.survey import MapLine

_OPENING: Final = re.compile(
    r"[\s\d.,:;/|=\[\](){}*'\"\\-]*+([#@+<>!]{0,6} ?[A-Za-z_][A-Za-z_-]{1,30})(?![\w.@/])"
    r"(?: ([A-Za-z_][A-Za-z_-]{1,24})(?![\w.@/]))?"
)
"""The first one or two words of a line, after numbers, times and marks."""
_READ_CHARS: Final = 120
_LEAST: Final = 4
"""An opening that fewer lines have names no kind of line."""
_MIN_LINES: Final = 60
_COVERED: Final = 0.5
"""Share of the lines that openings must tell; of prose they tell less."""
_SHARED: Final = 0.6
"""What more lines than this begin with, and is no plain word, is a prefix."""
_MAX_KINDS: Final = 8
_OFTEN: Final = 3
_SHOWN: Final = 18
_WEIGHT: Final = 4.6
_OF_PROSE: Final = frozenset(("the", "a", "an", "each", "every", "this", "we", "you", "when", "it", "most"))
_PROSE: Final = 0.2
"""If more of the openings begin like sentences, the others tell nothing either."""
LEAD: Final = "lines begin with: "
_MARK: Final = re.compile(
    r"\s{0,8}(\\begin\{[a-zA-Z]{3,16}\*?\}|\\[a-zA-Z]{3,20}|\.\. [a-z][\w:-]{2,30}::|:[a-z][\w-]{2,20}:(?= |\Z)"
    r"|@[A-Za-z][\w.]{2,30})"
)
"""A directive or command of a document: `.. note::`, `\\begin{figure}`, `@param`."""
_MIN_MARKS: Final = 20


def line_openings(lines: Sequence[str]) -> list[MapLine]:
    """Return one line that tells the openings with their counts, most first; none if the lines are sentences."""
    filled = [line[:_READ_CHARS] for line in lines if line.strip()]
    if len(filled) < _MIN_LINES:
        return []
    counts = Counter(dict(_kinds(_without_prefix(filled))))
    total = counts.total()
    for one in [name for name in counts if name.partition(" ")[0].lower() in _OF_PROSE]:
        del counts[one]
    prose = total - counts.total()
    if len(counts) < 2 or total < _COVERED * len(filled) or prose > _PROSE * total:
        return []
    return [MapLine(LEAD + tally(counts, _SHOWN), _WEIGHT)]


def line_marks(lines: Sequence[str]) -> list[MapLine]:
    """Return one line that counts the directives of a document, whatever else it consists of."""
    signs = ("\\", ".", ":", "@")
    found = [_MARK.match(line) for line in lines if line.lstrip()[:1] in signs]
    counts = Counter(one[1] for one in found if one)
    frequent = Counter({mark: number for mark, number in counts.items() if number >= _LEAST})
    if len(frequent) < 2 or frequent.total() < _MIN_MARKS:
        return []
    return [MapLine(LEAD + tally(frequent, _SHOWN), _WEIGHT)]


def _without_prefix(lines: list[str]) -> list[str]:
    """Cut off what nearly all lines have before their first word: the number of a process, the name of a container."""
    parts = [line.partition(" ") for line in lines]
    word, times = Counter(first for first, _, _ in parts).most_common(1)[0]
    return [rest for _, _, rest in parts] if not word.isalpha() and times > _SHARED * len(lines) else lines


def _kinds(lines: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Return the first words of lines with how often they are there; two words where the second is one of few."""
    seconds: dict[str, Counter[str]] = defaultdict(Counter)
    for line in lines:
        if found := _OPENING.match(line):
            seconds[found[1].strip()][found[2] or ""] += 1
    for first, then in seconds.items():
        total = then.total()
        if total < _LEAST:
            continue
        if 2 <= len(then) <= min(_MAX_KINDS, total // _OFTEN):
            yield from ((f"{first} {second}".rstrip(), times) for second, times in then.items())
        else:
            yield f"{first} {next(iter(then)) if len(then) == 1 else ''}".rstrip(), total
