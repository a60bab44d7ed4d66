"""Find in the lines of any text what no kind of text should have: a secret, a word of weight, a number that lies apart."""

import math
import re
from collections.abc import Sequence
from typing import Final

from brimgate.engine.highlights.findings import Finding, clip
from brimgate.engine.highlights.row_relations import time_breaks
from brimgate.engine.maps.credentials_scan import find_secrets
from brimgate.engine.maps.line_context import in_context
from brimgate.engine.maps.line_dates import heading_dates, impossible_dates
from brimgate.engine.maps.line_frames import odd_frames
from brimgate.engine.maps.phrases import brief
from brimgate.engine.maps.risk_words import find_risks
from brimgate.engine.maps.statements import statement_findings
from brimgate.engine.maps.survey import WORTH_A_LOOK, MapLine, Survey, TextLines

_MIN_LINES: Final = 20
_MAX_LINE_CHARS: Final = 400
_MIN_SERIES: Final = 8
_SAMPLED: Final = 400
_VARIED: Final = 0.8
_END_LINES: Final = 14
_TELLING: Final = re.compile(r"[^\W_]{2}")
_OUTCOME: Final = re.compile(
    r"(?i)\b(?:total|finished|fail(?:ed|ures?)|success\w*|passed|errors?|aborted|elapsed|exit(?:ed)? (?:code|status)|done in)\b"
)
_MAX_OUTCOMES: Final = 8
_OF_OUTCOME: Final = 5.0
_END_CHARS: Final = 200
_CONTEXT_CHARS: Final = 90
_MAX_UP: Final = 400
_MIN_CHANGES: Final = 5
_FAR: Final = 50.0
_MAX_POSITIONS: Final = 8
_AMOUNT: Final = re.compile(r"[^\w.-]?(-?\d++(?:\.\d++)?)[A-Za-zµ%]{0,6}+[.!?%]?\Z")
"""A number, alone or with a mark before it and a unit after it."""
_CHANGE: Final = re.compile(r"""["']?([^\s"']{1,80})["']? -> ["']?([^\s"']{1,80})""")
_WIDE: Final = re.compile(r"\*|.*:\*|0\.0\.0\.0/0|::/0|public\S*|admin\S*|root")
_SERIAL: Final = re.compile(r"\D{0,12}?(\d{1,9})")
_STEADY: Final = 0.9
_MAX_ODD: Final = 6
_APART: Final = 2
"""A finding this many lines from another one says the same."""


def with_checks(
    survey: Survey, text: TextLines, words: tuple[str, ...] = (), *, has_numbers: bool = True
) -> Survey:
    """Add to a survey what the checks of all texts find, where its own detector found nothing, and from when to when it is.

    `has_numbers` tells whether numbers are to be looked at: those of a listing were, by its columns.
    """
    known = {place for one in survey.findings for place in range(one.place - _APART, one.place + _APART + 1)}
    found = [one for one in check_lines(text, words, has_numbers=has_numbers) if one.place not in known]
    lines = list(survey.lines)
    times = text.some_times
    if times is not None and times.first[:10] not in _told(survey):
        lines.append(MapLine(f"times {times.first} … {times.last}", 4.0))
    dates = list(heading_dates(text.lines)) if times is None else []
    if len(dates) >= _MIN_SERIES:
        days = sorted(day for _, day, _ in dates)
        lines.append(MapLine(f"{len(dates):,} lines end with a date: {days[0]} … {days[-1]}", 4.0))
    more = [in_context(one, text.lines) for one in found]
    return Survey(survey.title, lines, [*survey.findings, *more], survey.is_thorough)


def with_statements(survey: Survey, text: TextLines) -> Survey:
    """Add the sentences that stand out, where nothing was found yet, and those that say most."""
    known = {one.place for one in survey.findings}
    found, lines = statement_findings(text.lines)
    more = [one for one in found if one.place not in known]
    return Survey(survey.title, [*survey.lines, *lines], [*survey.findings, *more], survey.is_thorough)


def with_end(survey: Survey, text: TextLines) -> Survey:
    """Add the last lines that were not told yet: what a program says last is often what it found."""
    told = _told(survey)
    last = [line.strip() for line in text.lines[-_END_LINES:] if _TELLING.search(line)]
    has_outcome = sum(map(bool, map(_OUTCOME.search, last))) <= _MAX_OUTCOMES
    lines = [
        MapLine(
            brief(line, _END_CHARS),
            _OF_OUTCOME
            if has_outcome and _OUTCOME.search(line)
            else 3.6
            if at > len(last) - 4
            else 2.6 + 0.05 * at,
            "the end:",
        )
        for at, line in enumerate(last)
        if line not in told
    ]
    return Survey(survey.title, [*survey.lines, *lines], survey.findings, survey.is_thorough)


def _told(survey: Survey) -> str:
    return survey.title + "\n".join(line.text for line in survey.lines)


def check_lines(text: TextLines, words: tuple[str, ...] = (), *, has_numbers: bool = True) -> list[Finding]:
    """Find secrets, rare words of weight, numbers that lie apart, gaps in numbers that count up, jumps in time."""
    found = [
        *find_secrets(text.lines),
        *find_risks(text.lines),
        *time_findings(text),
        *_odd_changes(text.lines),
        *impossible_dates(text.lines),
    ]
    known = {one.place for one in found}
    for one in odd_frames(text.lines) if has_numbers else ():
        if one.place not in known:
            known.add(one.place)
            found.append(one)
    return found


def _odd_changes(lines: Sequence[str]) -> list[Finding]:
    """Find changes written as `old -> new` that widen a right, switch something off, or change a number by far."""
    changed = [
        (at, match) for at, line in enumerate(lines, 1) if "->" in line and (match := _CHANGE.search(line))
    ]
    if len(changed) < _MIN_CHANGES:
        return []
    ratios = [(at, _ratio(match[1], match[2])) for at, match in changed]
    large = [at for at, ratio in ratios if ratio >= _FAR]
    wide = [at for at, match in changed if _WIDE.fullmatch(match[2]) and not _WIDE.fullmatch(match[1])]
    off = [at for at, match in changed if (match[1].lower(), match[2].lower()) == ("true", "false")]
    found: list[Finding] = []
    for ats in (large, wide, off):
        if len(ats) <= max(2, len(changed) // 50):
            found += [Finding(at, WORTH_A_LOOK, clip(lines[at - 1])) for at in ats]
    return found


def _ratio(old: str, new: str) -> float:
    """Return how many times larger the larger of two numbers is; 0 if they are none."""
    try:
        first, second = abs(float(old)), abs(float(new))
    except ValueError:
        return 0.0
    low, high = min(first, second), max(first, second)
    return high / low if low else (high if high > 1 else 0.0)


def time_findings(text: TextLines) -> list[Finding]:
    """Find where the times of lines go back or jump."""
    times = text.times or text.some_times
    if times is None:
        dates = list(heading_dates(text.lines))
        return [
            Finding(dates[at][0], WORTH_A_LOOK, f"{what}: {dates[at - 1][1]} then {dates[at][1]}")
            for at, what in time_breaks([seconds for _, _, seconds in dates])
        ]
    return [
        Finding(times.numbers[at], WORTH_A_LOOK + 2, f"{what}: {times.texts[at - 1]} then {times.texts[at]}")
        for at, what in time_breaks(times.seconds)
        if not math.isnan(times.seconds[at])
    ]
