"""Compare lines of one form: forms that hardly any line has, numbers that lie apart, gaps in numbers that count up."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from brimgate.engine.highlights.findings import Finding, clip
from brimgate.engine.highlights.odd_lines import mask_values, outliers
from brimgate.engine.maps.credentials_scan import masked_random
from brimgate.engine.maps.phrases import brief
from brimgate.engine.maps.survey import SLIGHTLY_ODD, WORTH_A_LOOK, MapLine

_MIN_LINES: Final = 20
_MAX_LINE_CHARS: Final = 400
_MIN_SERIES: Final = 8
_SAMPLED: Final = 400
_VARIED: Final = 0.8
_MAX_POSITIONS: Final = 8
_AMOUNT: Final = re.compile(r"[^\w.-]?(-?\d++(?:\.\d++)?)[A-Za-zµ%]{0,6}+[.!?%]?\Z")
"""A number, alone or with a mark before it and a unit after it."""
_SERIAL: Final = re.compile(r"\D{0,12}?(?:0[xX]([0-9a-fA-F]{1,8})|(\d{1,9}))")
_STEADY: Final = 0.9
_MAX_ODD: Final = 6
_MAX_DOUBLES: Final = 1
_LEAST_DOUBLE: Final = 16
_MAX_RARE: Final = 14
_RARE_OF: Final = 1_000
_LONG_RUN: Final = 4
_EDGE: Final = 5
"""The first and last lines are shown as they are."""
_FORMS: Final = 8


def odd_frames(lines: Sequence[str]) -> list[Finding]:
    """Find in lines of which many have the same form those that have none, or a number unlike the others."""
    numbered = [(at, line[:_MAX_LINE_CHARS]) for at, line in enumerate(lines, 1) if line.strip()]
    filled = [line for _, line in numbered]
    if len(filled) < _MIN_LINES or not _is_repetitive(filled):
        return []
    frames = _frames(filled)
    return [
        *_odd_numbers(numbered, frames),
        *_broken_series(numbered, frames),
        *_doubles(numbered, frames),
        *_rare_frames(numbered, frames),
    ]


def common_frames(lines: Sequence[str]) -> list[MapLine]:
    """Return the forms that most lines have, with how often."""
    filled = [line[:_MAX_LINE_CHARS] for line in lines if line.strip()]
    ranked = sorted(_frames(filled).items(), key=lambda one: -len(one[1]))[:_FORMS]
    return [
        MapLine(f"{len(rows):,} × {brief(frame, 140)}", 3.0 - 0.1 * at, "most frequent lines:")
        for at, (frame, rows) in enumerate(ranked)
        if len(rows) > 1 and frame != "*"
    ]


def _rare_frames(numbered: Sequence[tuple[int, str]], frames: "Frames") -> list[Finding]:
    """Find lines of a form of their own, if there are few: in a text where all lines differ that means nothing."""
    few = max(1, len(numbered) // _RARE_OF)
    rare = [rows for rows in frames.values() if len(rows) <= few]
    if sum(map(len, rare)) > _MAX_RARE:
        return []
    inner = [rows for rows in rare if _EDGE <= rows[0][0] < len(numbered) - _EDGE]
    return [
        Finding(numbered[rows[0][0]][0], SLIGHTLY_ODD + 1, clip(masked_random(numbered[rows[0][0]][1])))
        for rows in inner
        if any(map(str.isalpha, numbered[rows[0][0]][1]))
    ]


def _doubles(numbered: Sequence[tuple[int, str]], frames: "Frames") -> list[Finding]:
    """Find a line that stands twice among many of its form that all differ."""
    found: list[Finding] = []
    for rows in frames.values():
        if len(rows) < 2 * _MIN_LINES:
            continue
        counts = Counter(numbered[at][1] for at, _ in rows)
        twice = {text for text, count in counts.items() if count > 1}
        if not 0 < len(twice) <= _MAX_DOUBLES or len(counts) < len(rows) - _MAX_DOUBLES:
            continue
        first: dict[str, int] = {}
        for at, _ in rows:
            number, text = numbered[at]
            if text not in twice or len(text.strip()) < _LEAST_DOUBLE:
                continue
            if text in first:
                told = clip(masked_random(text.strip()))
                found.append(Finding(number, WORTH_A_LOOK, f"duplicate of line {first[text]}: {told}"))
            first.setdefault(text, number)
    return found if len(found) <= _MAX_ODD else []


Frames = dict[str, list[tuple[int, list[str]]]]
"""Lines of one form: which they are, and the values in each."""


def _frames(lines: Sequence[str]) -> Frames:
    """Group lines by the words that many lines have; what is between them varies."""
    masked, values = mask_values(lines)
    split = {line: line.split() for line in set(masked)}
    counts: Counter[str] = Counter()
    for line, times in Counter(masked).items():
        for word in split[line]:
            counts[word] += times
    least = max(_MIN_SERIES, len(lines) // 100)
    frames = {line: _frame(words, counts, least) for line, words in split.items()}
    found: Frames = defaultdict(list)
    for at, (line, row) in enumerate(zip(masked, values, strict=True)):
        found[frames[line]].append((at, row.split()))
    return found


def _frame(words: Sequence[str], counts: Counter[str], least: int) -> str:
    """Return the common words of a line with a mark for the others between them: a sentence is more than a name."""
    kept: list[str] = []
    run = 0
    for word in words:
        run = 0 if counts[word] >= least else run + 1
        if not run:
            kept.append(word)
        elif run == 1:
            kept.append("*")
        elif run == _LONG_RUN:
            kept[-1] = "…"
    return " ".join(kept)


def _is_repetitive(lines: Sequence[str]) -> bool:
    """Return whether many lines have the same form, by a sample: only then a number can lie apart."""
    masked, _ = mask_values(lines[:: max(1, len(lines) // _SAMPLED)])
    return len(set(masked)) < _VARIED * len(masked)


def _columns(rows: Sequence[tuple[int, list[str]]]) -> Iterator[tuple[list[int], list[str]]]:
    """Return the values of lines of one form, position by position, with the lines that they are of."""
    if len(rows) < _MIN_SERIES:
        return
    width = Counter(len(row) for _, row in rows).most_common(1)[0][0]
    held = [(at, row) for at, row in rows if len(row) == width]
    for position in range(min(width, _MAX_POSITIONS)):
        yield [at for at, _ in held], [row[position] for _, row in held]


def _odd_numbers(numbered: Sequence[tuple[int, str]], frames: Frames) -> list[Finding]:
    """Find a number that lies apart from those in lines of the same form."""
    odd: dict[int, float] = {}
    for rows in frames.values():
        for ats, cells in _columns(rows):
            amounts = [float(match[1]) if (match := _AMOUNT.match(cell)) else math.nan for cell in cells]
            if len(cells) >= _MIN_LINES and sum(map(math.isnan, amounts)) <= len(cells) // 10:
                odd |= {ats[at]: max(reach, odd.get(ats[at], 0.0)) for at, reach in outliers(amounts)}
    if len(odd) > 2 * _MAX_ODD:
        return []  # what is found everywhere is no exception
    best = sorted(odd.items(), key=lambda one: -one[1])[:_MAX_ODD]
    return [Finding(numbered[at][0], SLIGHTLY_ODD + 2, clip(numbered[at][1])) for at, _ in best]


def _broken_series(numbered: Sequence[tuple[int, str]], frames: Frames) -> list[Finding]:
    """Find a gap or a double in numbers that count up by one from line to line."""
    found: list[Finding] = []
    for rows in frames.values():
        values = dict(rows)
        for run in _runs(list(values)):
            width = min(len(values[at]) for at in run)
            for position in range(min(width, 4)):
                found += _breaks(numbered, run, [values[at][position] for at in run])
    return found if len(found) <= _MAX_ODD else []


def _runs(ats: Sequence[int]) -> Iterator[list[int]]:
    """Return the lines of one form that follow each other, as they do in a folder; and all of them, if they are spread."""
    run: list[int] = []
    for at in ats:
        if run and at != run[-1] + 1:
            if len(run) >= _MIN_SERIES:
                yield run
            run = []
        run.append(at)
    if len(run) >= _MIN_SERIES:
        yield run


def _breaks(numbered: Sequence[tuple[int, str]], ats: list[int], cells: list[str]) -> list[Finding]:
    read = [_SERIAL.match(cell) for cell in cells]
    if not all(read) or len(set(cells)) < 0.8 * len(cells):
        return []
    numbers = [_number(one) for one in read if one]
    steps = [after - before for before, after in pairwise(numbers)]
    if Counter(steps)[1] < _STEADY * len(steps) or max(map(abs, steps)) > 1_000:
        return []
    found: list[Finding] = []
    for at, step in enumerate(steps):
        before, after = cells[at], cells[at + 1]
        if step > 1:
            text = f"gap: {_like(before, numbers[at] + 1)} missing, {clip(before, 60)} then {clip(after, 60)}"
        elif step == 0:
            text = f"duplicate number: {clip(before, 60)} and {clip(after, 60)}"
        else:
            continue
        found.append(Finding(numbered[ats[at + 1]][0], WORTH_A_LOOK, text))
    return found


def _number(found: re.Match[str]) -> int:
    return int(found[1], 16) if found[1] else int(found[2])


def _like(cell: str, number: int) -> str:
    """Write a number as the one in a cell is written: with as many digits, in hex if that is."""
    found = _SERIAL.match(cell)
    if found is None:
        return str(number)
    return f"0x{number:0{len(found[1])}x}" if found[1] else f"{number:0{len(found[2])}}"
