"""Read rows from a text: columns aligned by blanks, records of `name: value` lines, `key=value` lines, drawn tables."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from brimgate.engine.highlights.row_source import Rows
from brimgate.engine.maps.commit_log import BLAME
from brimgate.engine.maps.record_rows import record_rows
from brimgate.engine.maps.survey import TextLines

_MIN_ROWS: Final = 8
_HEADING_WORDS: Final = re.compile(r"\S+(?: \S+)*")
_WORD: Final = re.compile(r"\S+")
_SAMPLED: Final = 200
_NUMERIC: Final = re.compile(r"[-+]?[\d.,:]*\d[A-Za-z%]{0,3}\Z|[-–—]?\Z|<[\w ]+>\Z|(?i:none|null|n/a)\Z")
_MOSTLY: Final = 0.9
_STRAY_CELLS: Final = 2
_FEW_FOOT: Final = 12
_UNNAMED: Final = re.compile(r"\[\d+\]\Z")
"""A column with no name above it, which is a part of the one before it."""
_PSQL_RULE: Final = re.compile(r"-{2,}(?:\+-{2,})+\Z")
_RULE: Final = re.compile(r"[\s|+:=-]+\Z")
_BOXED_NAMES: Final = re.compile(r"[┌┏][─━ ]*[^\s─━┬┳┐┓].*[┐┓]")
_MIN_TABBED: Final = 4
_LONG_LISTING: Final = re.compile(r"[-dlbcps][-rwxsStT]{9}[.+@]?\s++\d++\s")
_LISTING_NAMES: Final = ("mode", "links", "owner", "group", "size", "modified", "name")
_RECORD_RULE: Final = re.compile(r"\*{3,} *\d+\. row *\*{3,}\Z|-\[ RECORD \d+ \][-+]*\Z|[-=*]{5,}\Z")
_NAMED: Final = re.compile(r"\s{0,30}([A-Za-z_][\w .()/-]{0,40}?)\s*(?::|\|)(?: (.*)|)\Z")
_PAIR: Final = re.compile(r"""([A-Za-z_][\w.-]*)=("[^"]*"|\S*)""")


def text_rows(text: TextLines) -> Rows | None:
    """Return the rows of a text that is a table, with the numbers of their lines; None if it is none."""
    for read in (
        _drawn_rows,
        _boxed_rows,
        _tabbed_rows,
        _blame_rows,
        _listing_rows,
        _access_rows,
        _aligned_rows,
        record_rows,
        _vertical_rows,
        _pair_rows,
    ):
        rows = read(text)
        if rows is not None:
            return rows
    return None


def listed_rows(text: TextLines) -> Rows | None:
    """Return the rows of a listing of files or of an access log, which other detectors know as well."""
    return _listing_rows(text) or _access_rows(text)


# Columns that blanks keep apart


def _drawn_rows(text: TextLines) -> Rows | None:
    """Read a table that is drawn with bars: Markdown, psql, MySQL."""
    least = 1 if any(_PSQL_RULE.match(line) for line in text.lines[:6]) else 2
    places = [
        at for at, line in enumerate(text.lines, 1) if line.count("|") >= least and not _RULE.match(line)
    ]
    filled = sum(1 for line in text.lines if line.strip() and not _RULE.match(line))
    if len(places) < _MIN_ROWS or len(places) < 0.6 * filled:
        return None
    names = _barred(text.lines[places[0] - 1])
    if len(set(names)) != len(names) or len(names) < 2:
        return None
    rows = [(at, _barred(text.lines[at - 1])) for at in places[1:]]
    fit = [(at, cells) for at, cells in rows if len(cells) == len(names) and cells != names]
    made = [dict(zip(names, cells, strict=True)) for _, cells in fit]
    return Rows(made, [at for at, _ in fit], "line") if len(fit) >= 0.8 * len(rows) else None


def _boxed_rows(text: TextLines) -> Rows | None:
    """Read a table that is drawn with the lines of boxes, whose names may stand in the line above it: ClickHouse, DuckDB."""
    if sum("│" in line or "┃" in line for line in text.sample) < 0.6 * len(text.sample):
        return None
    names: list[str] = []
    made: list[dict[str, Any]] = []
    places: list[int] = []
    for at, line in enumerate(text.lines, 1):
        if (heading := _BOXED_NAMES.search(line)) and not names:
            names = [name for part in re.split("[┬┳]", heading[0]) if (name := part.strip("┌┏─━┓┐ "))]
        elif "│" in line or "┃" in line:
            cells = [cell.strip() for cell in re.split("[│┃]", line)[1:-1]]
            if not names:
                names = cells
            elif len(cells) == len(names) and cells != names:
                made.append(dict(zip(names, cells, strict=True)))
                places.append(at)
    return (
        Rows(made, places, "line") if len(made) >= _MIN_ROWS and len(set(names)) == len(names) > 1 else None
    )


def _tabbed_rows(text: TextLines) -> Rows | None:
    """Read lines that are kept apart by tabs and stand under comments, of which one may name the columns: Zeek, BED, VCF."""
    body = [(at, line) for at, line in enumerate(text.lines, 1) if line.strip() and line[0] != "#"]
    if len(body) < _MIN_ROWS:
        return None
    width = Counter(line.count("\t") for _, line in body).most_common(1)[0][0] + 1
    fit = [(at, line.split("\t")) for at, line in body if line.count("\t") + 1 == width]
    comments = [line for line in text.lines[: body[0][0] - 1] if line.startswith("#") and "\t" in line]
    if width < _MIN_TABBED or len(fit) < 0.9 * len(body) or not comments:
        return None
    named = [line.lstrip("#").split("\t")[-width:] for line in comments if line.count("\t") >= width - 1]
    names = next((one for one in named if len(set(one)) == width), [f"column{at + 1}" for at in range(width)])
    return Rows([dict(zip(names, cells, strict=True)) for _, cells in fit], [at for at, _ in fit], "line")


def _barred(line: str) -> list[str]:
    line = line.strip()
    if line.startswith("|"):
        line = line[1:].removesuffix("|")
    return [cell.strip() for cell in line.split("|")]


def _aligned_rows(text: TextLines) -> Rows | None:
    """Read columns under a heading that are kept apart by blanks."""
    found = _header(text.lines)
    if found is None:
        return None
    at, header = found
    names = header.split()  # which may stand anew over every block, in other widths
    below = [
        (number, line)
        for number, line in enumerate(text.lines[at + 1 :], at + 2)
        if line.strip() and (line[:1] != header[:1] or line.split() != names)
    ]
    below = _without_foot(below)
    if len(below) < _MIN_ROWS:
        return None
    best: tuple[list[str], _Cells] = ([], [])
    for read in (_by_starts, _by_words, _by_spans):
        names, rows = read(header, below)
        is_better = not best[0] or (len(names) > len(best[0]) and not any(map(_UNNAMED.match, names)))
        if len(rows) >= _MIN_ROWS and len(rows) > 0.9 * len(below) and is_better:
            best = names, rows
    names, rows = best
    rows = _of_their_kinds(rows)
    made = [dict(zip(names, cells, strict=True)) for _, cells in rows]
    return Rows(made, [number for number, _ in rows], "line") if rows else None


def _of_their_kinds(rows: "_Cells") -> "_Cells":
    """Leave out lines that have words where nearly all others have numbers: what a program said between its rows."""
    if not rows:
        return rows
    sample = [cells for _, cells in rows[:: max(1, len(rows) // _SAMPLED)]]
    width = min(map(len, sample))
    numeric = [
        at
        for at in range(width)
        if sum(_NUMERIC.match(cells[at]) is not None for cells in sample) > _MOSTLY * len(sample)
    ]
    return [
        (number, cells)
        for number, cells in rows
        if sum(_NUMERIC.match(cells[at]) is None for at in numeric) < _STRAY_CELLS
    ]


def _without_foot(below: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Leave out the few lines that stand after a blank line at the end: a legend, or how many there are."""
    for at in range(len(below) - 1, max(len(below) - _FEW_FOOT, 0), -1):
        if below[at][0] > below[at - 1][0] + 1:
            return below[:at] if at > 0.9 * len(below) else below
    return below


def _header(lines: Sequence[str]) -> tuple[int, str] | None:
    for at, line in enumerate(lines[:12]):
        words = line.split()
        if len(words) < 3 or any(word.isdigit() for word in words):
            continue
        if (
            sum(word[:1].isupper() or word[0] in "%#" for word in words) >= 0.8 * len(words)
            and line[0] != "#"
        ):
            return at, line
    return None


_Cells = list[tuple[int, list[str]]]


def _by_starts(header: str, below: Sequence[tuple[int, str]]) -> tuple[list[str], _Cells]:
    """Read columns that begin below their names, which two blanks or more keep apart."""
    names = [match[0] for match in _HEADING_WORDS.finditer(header)]
    starts = [match.start() for match in _HEADING_WORDS.finditer(header)]
    if len(names) < 3 or len(set(names)) != len(names):
        return names, []
    ends = [*starts[1:], None]
    rows: _Cells = []
    for number, line in below:
        cells = [line[start:end] for start, end in zip(starts, ends, strict=True)]
        is_apart = all(line[start - 1 : start] in (" ", "") for start in starts[1:])
        if is_apart and all(cell[:1] != " " or not cell.strip() for cell in cells):
            rows.append((number, [cell.strip() for cell in cells]))
    return names, rows


def _by_words(header: str, below: Sequence[tuple[int, str]]) -> tuple[list[str], _Cells]:
    """Read columns of one word each below names of one word each; the last one has the rest of the line."""
    names = header.split()
    if len(names) < 3 or len(set(names)) != len(names):
        return names, []
    split = [(number, line.split(None, len(names) - 1)) for number, line in below]
    above = [match.span() for match in _WORD.finditer(header)]
    under = _extents([line for _, line in below], len(names))
    if not all(
        start < high and low < end for (start, end), (low, high) in zip(above[:-1], under, strict=False)
    ):
        return names, []  # what stands below a name is not its column
    return names, [(number, cells) for number, cells in split if len(cells) == len(names)]


def _extents(lines: Sequence[str], width: int) -> list[tuple[int, int]]:
    """Return from where to where the words of each column reach."""
    found = [(1 << 20, 0)] * width
    for line in lines[:_SAMPLED]:
        spans = [match.span() for match in _WORD.finditer(line)][:width]
        if len(spans) == width:
            found = [(min(a, c), max(b, d)) for (a, b), (c, d) in zip(found, spans, strict=True)]
    return found


def _by_spans(header: str, below: Sequence[tuple[int, str]]) -> tuple[list[str], _Cells]:
    """Read columns of one word each, named by what stands above them: a name may have several words."""
    widths = sorted(len(line.split()) for _, line in below)
    width = widths[len(widths) // 20]
    if width < 3 or not _is_in_columns([line for _, line in below], width):
        return [], []
    rows = [(number, line.split(None, width - 1)) for number, line in below if len(line.split()) >= width]
    spans = _extents([line for _, line in below], width)
    names = [""] * width
    for word in _WORD.finditer(header):
        middle = (word.start() + word.end()) / 2
        nearest = min(range(width), key=lambda at: max(spans[at][0] - middle, middle - spans[at][1], 0))
        names[nearest] = f"{names[nearest]} {word[0]}".strip()
    named = [name or f"[{at}]" for at, name in enumerate(names)]
    return (named, rows) if len(set(named)) == width else ([], [])


def _is_in_columns(lines: Sequence[str], width: int) -> bool:
    """Return whether the words of nearly all lines stand below each other, with room between them."""
    spans = [[match.span() for match in _WORD.finditer(line)][:width] for line in lines[:_SAMPLED]]
    whole = [one for one in spans if len(one) == width]
    if not whole:
        return False
    few = len(whole) // 20
    firsts = [sorted(one[at][0] for one in whole)[few] for at in range(width)]
    lasts = [sorted(one[at][1] for one in whole)[-1 - few] for at in range(width)]
    return all(end <= start for end, start in zip(lasts[:-1], firsts[1:], strict=True))


def _listing_rows(text: TextLines) -> Rows | None:
    """Read `ls -l`, which has no heading."""
    if sum(map(bool, map(_LONG_LISTING.match, text.sample))) < 0.7 * len(text.sample):
        return None
    rows: list[dict[str, Any]] = []
    places: list[int] = []
    for number, line in enumerate(text.lines, 1):
        if _LONG_LISTING.match(line) is None:
            continue
        parts = line.split(None, 8)
        if len(parts) == 9:
            cells = [*parts[:5], " ".join(parts[5:8]), parts[8]]
        elif len(parts) == 8:
            cells = [*parts[:5], " ".join(parts[5:7]), parts[7]]
        else:
            continue
        rows.append(dict(zip(_LISTING_NAMES, cells, strict=True)))
        places.append(number)
    return Rows(rows, places, "line") if len(rows) >= _MIN_ROWS else None


def _blame_rows(text: TextLines) -> Rows | None:
    """Read `git blame`: whose line it is, and since when."""
    found = [(number, BLAME.match(line)) for number, line in enumerate(text.lines, 1)]
    rows = [(number, match.groupdict("")) for number, match in found if match]
    if len(rows) < max(_MIN_ROWS, 0.9 * len(text.lines)):
        return None
    return Rows([dict(row) for _, row in rows], [number for number, _ in rows], "line")


_ACCESS: Final = re.compile(
    r'(?P<client>\S+) \S+ (?P<user>\S+) \[(?P<time>[^\]]{10,40})\] "(?P<method>[A-Z]{3,10}) (?P<path>\S+)[^"]*"'
    r' (?P<status>\d{3}) (?P<bytes>\d+|-)(?: "(?P<referrer>[^"]*)" "(?P<agent>[^"]*)")?'
)


def _access_rows(text: TextLines) -> Rows | None:
    """Read the access log of a web server, in its common or combined form."""
    if sum(map(bool, map(_ACCESS.match, text.sample))) < 0.8 * len(text.sample):
        return None
    found = [(number, _ACCESS.match(line)) for number, line in enumerate(text.lines, 1)]
    rows = [(number, match.groupdict("")) for number, match in found if match]
    for _, row in rows:
        row["bytes"] = row["bytes"].replace("-", "0")
        row["path"] = row["path"].partition("?")[0]
    return (
        Rows([dict(row) for _, row in rows], [number for number, _ in rows], "line")
        if len(rows) >= _MIN_ROWS
        else None
    )


# One value a line


def _vertical_rows(text: TextLines) -> Rows | None:
    """Read records of `name: value` lines, with a blank line or a ruled line between them."""
    named = [_NAMED.match(line) for line in text.sample if line.strip()]
    if len(named) < _MIN_ROWS or sum(map(bool, named)) < 0.75 * len(named):
        return None
    rows: list[dict[str, Any]] = []
    places: list[int] = []
    row: dict[str, Any] = {}
    first = 0
    for number, line in enumerate([*text.lines, ""], 1):
        stripped = line.strip()
        if not stripped or _RECORD_RULE.match(stripped):
            if row:
                rows.append(row)
                places.append(first)
            row = {}
        elif (match := _NAMED.match(line)) is not None:
            first = first if row else number
            row.setdefault(match[1].strip(), (match[2] or "").strip())
    common = Counter(name for one in rows for name in one)
    is_table = len(rows) >= _MIN_ROWS and sum(2 * count > len(rows) for count in common.values()) >= 2
    return Rows(rows, places, "line") if is_table else None


def _pair_rows(text: TextLines) -> Rows | None:
    """Read lines of `key=value`."""
    pairs = [len(_PAIR.findall(line)) for line in text.sample if line.strip()]
    if len(pairs) < _MIN_ROWS or sum(count >= 3 for count in pairs) < 0.8 * len(pairs):
        return None
    if sum(_is_all_pairs(line) for line in text.sample) < 0.7 * len(pairs):
        return None
    rows: list[dict[str, Any]] = []
    places: list[int] = []
    for number, line in enumerate(text.lines, 1):
        found = _PAIR.findall(line)
        if len(found) >= 2:
            rows.append({name: value.strip('"') for name, value in found})
            places.append(number)
    return Rows(rows, places, "line")


def _is_all_pairs(line: str) -> bool:
    """Return whether a line is nothing but pairs: a message before them makes it a line of another log."""
    return len(_PAIR.sub("", line).strip()) <= 0.15 * len(line)
