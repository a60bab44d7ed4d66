"""Write counts, folders and line numbers the way all maps do: `src/api 12, docs 3, … 4 more with 9`."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

_ANSI: Final = re.compile(r"\x1b(?:\[[0-9;:?]*+[A-Za-z]|[()][A-Z0-9]|\][^\x07]{0,200}+\x07)")
_CI_STAMP: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z ")
_VARIABLE: Final = re.compile(
    r"0x[0-9a-fA-F]++|\b[0-9a-fA-F]{8,}+(?>(?:-[0-9a-fA-F]{4,})*)\b|\d++(?>(?:[.,:]\d++)*)|'[^']{0,200}'"
    r"|\"[^\"]{0,200}\"|`[^`]{0,200}`"
)
_SPACE: Final = re.compile(r"\s++")
_UNITS: Final = ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "kB"))
_ENOUGH: Final = 0.6
"""A depth of folders is good if the folders shown hold this share of the whole."""


def count(number: int, noun: str, plural: str = "") -> str:
    """Write a number with its noun: `1 file`, `1,200 files`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def tally(counts: Mapping[str, int], most: int = 8) -> str:
    """Write names with their counts, the most frequent first: `a 12, b 3, … 4 more with 9`."""
    ranked = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    shown = [f"{name} {number:,}" for name, number in ranked[:most]]
    rest = ranked[most:]
    if rest:
        shown.append(f"… {len(rest):,} more with {sum(number for _, number in rest):,}")
    return ", ".join(shown)


def places(numbers: Iterable[int], most: int = 8) -> str:
    """Write line numbers, neighbours as a range: `3, 7-9, … 4 more`."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    shown = [str(first) if first == last else f"{first}-{last}" for first, last in ranges[:most]]
    if len(ranges) > most:
        shown.append(f"… {sum(last - first + 1 for first, last in ranges[most:]):,} more")
    return ", ".join(shown)


def brief(text: str, chars: int = 140) -> str:
    """Return one line of at most so many characters, cut in the middle."""
    text = _SPACE.sub(" ", text[: chars * 20]).strip()
    if len(text) <= chars:
        return text
    tail = chars // 3
    return f"{text[: chars - tail - 3].rstrip()} … {text[-tail:].lstrip()}"


def template(text: str) -> str:
    """Return the text with numbers, ids and quoted values masked: texts of one form become equal."""
    return _VARIABLE.sub("#", text)


def folder(path: str, depth: int = 0) -> str:
    """Return the folder of a path, or its first `depth` parts; `.` for a file without one."""
    parts = path.replace("\\", "/").split("/")[:-1]
    return "/".join(parts[:depth] if depth else parts) or ("/" if path.startswith("/") else ".")


def by_folder(counts: Mapping[str, int], most: int = 8) -> Counter[str]:
    """Add up the counts of paths by folder, as deep as a few folders still hold nearly everything."""
    groups: Counter[str] = Counter()
    for path, number in counts.items():
        groups[folder(path)] += number
    enough = _ENOUGH * sum(counts.values())
    for depth in (6, 5, 4, 3, 2, 1):
        if sum(number for _, number in groups.most_common(most)) >= enough:
            break
        shallow: Counter[str] = Counter()
        for path, number in groups.items():
            shallow["/".join(path.split("/")[:depth]) or "/"] += number
        groups = shallow
    return groups


def size(number: float) -> str:
    """Write a number of bytes: `1.5 MB`."""
    for unit, name in _UNITS:
        if number >= unit:
            return f"{number / unit:.1f} {name}"
    return f"{number:.0f} B"


def seconds(number: float) -> str:
    """Write a duration: `0.42 s`, `41 s`, `12 min 5 s`, `3 h 20 min`."""
    if number < 10:
        return f"{number:.2f} s"
    whole = round(number)
    if whole < 120:
        return f"{whole} s"
    if whole < 7_200:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3_600:,} h {whole % 3_600 // 60} min"


def bare(lines: Sequence[str]) -> list[str]:
    """Return the lines without colours, and without the time stamps that a CI service puts before each."""
    if any("\x1b" in line for line in lines):
        lines = [_ANSI.sub("", line) if "\x1b" in line else line for line in lines]
    stamped = sum(1 for line in lines[:20] if _CI_STAMP.match(line))
    if stamped and stamped * 2 > len(lines[:20]):
        return [_CI_STAMP.sub("", line, count=1) for line in lines]
    return list(lines)
