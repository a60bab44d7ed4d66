"""Find a pattern in all lines of a text at once, with their numbers, in a time that grows with the text alone."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from brimgate.engine.highlights.findings import Finding, clip


class LineSearch:
    """Holds a text as bytes, so that several patterns can be looked for."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._data = "\n".join(lines).encode("utf-8", "replace")

    def hits(self, pattern: str) -> Iterator[tuple[int, str]]:
        """Yield the number of the line, from 1, and what was found: at most once per line.

        The pattern is one of RE2 (no look-around) and must not match a line break.
        """
        # On a megabyte RE2 takes milliseconds where the standard `re`, asked line by line, takes tenths of a second.
        import re2  # pyright: ignore[reportMissingTypeStubs]

        data, number, counted, last = self._data, 1, 0, 0
        compiled: Any = re2.compile(pattern.encode())  # pyright: ignore[reportUnknownMemberType]
        for match in compiled.finditer(data):
            start: int = match.start()
            number, counted = number + data.count(b"\n", counted, start), start
            if number != last:
                last = number
                yield number, match.group().decode("utf-8", "replace")


def per_line(found: Iterable[Finding]) -> list[Finding]:
    """Make one finding of those of one line, with the two that count most, in the order of lines."""
    best: defaultdict[int, list[Finding]] = defaultdict(list)
    for one in sorted(found, key=lambda one: -one.score):
        if len(best[one.place]) < 2 and one.text not in (other.text for other in best[one.place]):
            best[one.place].append(one)
    return [
        Finding(line, same[0].score, clip("; ".join(one.text for one in same)))
        for line, same in sorted(best.items())
    ]


def shortened(names: Sequence[str], most: int, mark: str = ", ") -> str:
    """Write the first names, and how many more there are: `a, b, … 3 more`."""
    more = [f"… {len(names) - most:,} more"] if len(names) > most else []
    return mark.join([*names[:most], *more])
