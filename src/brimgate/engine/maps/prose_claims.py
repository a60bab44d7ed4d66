"""Find statements of a text that cannot both be true: one quantity with two values, dates that break their order."""

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from brimgate.engine.highlights.findings import Finding
from brimgate.engine.maps.line_search import LineSearch
from brimgate.engine.maps.phrases import brief
from brimgate.engine.maps.survey import SLIGHTLY_ODD, WORTH_A_LOOK

_QUANTITIES: Final = (
    "timeout|limit|port|retries|size|interval|ttl|quota|maximum|minimum|count|age|length|threshold|price|fee|period|notice"
    "|deadline|capacity|budget|rate|retention|replicas|workers|connections|attempts|delay|window|expiry|lifetime|duration"
    "|deposit|salary|rent|amount|total|cost|value|term|penalty|discount|temperature|pressure|dose|weight|height|depth|speed"
)
_UNIT_WORDS: Final = (
    "ns|us|µs|ms|milliseconds?|s|secs?|seconds?|min|mins|minutes?|h|hrs?|hours?|days?|weeks?|months?|years?|%|percent"
    "|[kKMGT]i?B|bytes|kb|mb|gb|EUR|USD|€|\\$|GBP|requests?|items?|rows?|connections?|retries|attempts|times"
    "|characters|octets|bits|users?|°C|mg|kg|m|km|bar"
)
_CLAIM: Final = re.compile(
    rf"\b(?P<what>{_QUANTITIES})\b(?: \([^)]{{0,30}}\))?(?P<of> (?:of|for|on) (?:the |an? )?[\w-]{{2,30}}(?: [\w-]{{2,30}})?)?"
    rf"(?: is| are| was|:| =| of| to| at| defaults to| must be| shall be| remains| stays)"
    rf"(?: set to| set at| limited to| at most| now| currently| by default| exactly| always| fixed at| only| still)?[ ]{{1,3}}"
    rf"(?P<number>[$€£]?\d[\d,]{{0,15}}(?:\.\d{{1,6}})?)[ -]?(?P<unit>(?:{_UNIT_WORDS})(?![\w]))?",
    re.IGNORECASE,
)
_PORT: Final = re.compile(
    (
        r"(?P<name>[\w-]{2,30}) (?:listens|runs|is served|is available|is exposed|is reachable|serves|binds) (?:on"
        r"|to|at) (?:the )?(?:TCP )?port (?P<number>\d{2,5})\b"
    ),
    re.IGNORECASE,
)
_DEFAULT: Final = re.compile(
    (
        r"`(?P<name>[A-Za-z][\w.-]{2,60})`[^`|.]{0,40}?\bdefault(?:s to| is|:| value is"
        r"| of)?\s{1,2}`?(?P<number>\d[\d,]*(?:\.\d+)?)[ ]?(?P<unit>ms|s|sec|seconds|min|minutes|h|hours|days|%"
        r"|[KMG]i?B|bytes)?(?!\w)"
    ),
    re.IGNORECASE,
)
_HAS_CLAIM: Final = rf"(?i)\b(?:{_QUANTITIES})\b[^\n0-9]{{0,80}}[0-9]|`[^`\n]{{0,40}}default[^\n0-9]{{0,20}}[0-9]|\bport [0-9]"
_NAME_BEFORE: Final = re.compile(r"(?:[A-Za-z][\w'-]{0,30} ){1,4}\Z")
_IDENTIFIER: Final = re.compile(r"`?([A-Za-z][\w.-]{2,60})`?\Z")
_TABLE_NUMBER: Final = re.compile(r"`?(\d[\d,]*(?:\.\d+)?)\s?([a-zA-Z%]{0,7})`?\Z")
_DROPPED: Final = frozenset(
    [
        "the",
        "a",
        "an",
        "this",
        "that",
        "its",
        "our",
        "your",
        "their",
        "of",
        "for",
        "on",
        "is",
        "and",
        "or",
        "if",
        "with",
        "when",
        "then",
        "by",
        "to",
        "in",
        "as",
        "at",
        "any",
        "each",
        "all",
        "per",
    ]
)
_VAGUE: Final = frozenset(
    [
        "default",
        "maximum",
        "minimum",
        "max",
        "min",
        "total",
        "new",
        "current",
        "average",
        "old",
        "initial",
        "first",
        "second",
        "same",
        "other",
    ]
)
_SCALE: Final = {
    "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0,
}  # fmt: skip
_UNIT_NAMES: Final = {
    "millisecond": "ms", "sec": "s", "second": "s", "minute": "min", "hr": "h", "hour": "h",
    "day": "d", "week": "w", "percent": "%",
}  # fmt: skip
_MAX_TOLD: Final = 6
_DATE: Final = re.compile(r"\b((?:19|20)\d\d)[-./](\d{1,2})[-./](\d{1,2})\b")


class _Claim(NamedTuple):
    line: int
    name: str
    value: tuple[float, str]
    """The amount in the base of its dimension, and the dimension."""
    shown: str


def contradictions(lines: Sequence[str], text: LineSearch, in_code: set[int]) -> Iterator[Finding]:
    """Tell quantities that have two values. Names of one vague word count only if they are claimed exactly twice."""
    claims: defaultdict[str, list[_Claim]] = defaultdict(list)
    for number, _ in text.hits(_HAS_CLAIM):
        if number not in in_code:
            for name, claim in _claims_in(lines[number - 1], number):
                claims[name].append(claim)
    for name, claim in _table_defaults(lines):
        claims[f"`{name}`"].append(claim)
    found = [finding for name, same in claims.items() if (finding := _contradiction(name, same))]
    yield from sorted(found, key=lambda one: -one.score)[:_MAX_TOLD]


def _claims_in(line: str, number: int) -> Iterator[tuple[str, _Claim]]:
    for found in _CLAIM.finditer(line):
        before = _NAME_BEFORE.search(line[max(found.start() - 80, 0) : found.start()])
        name = f"{before[0] if before else ''} {found['what']} {found['of'] or ''}".lower()
        words = [word for word in name.split() if word not in _DROPPED]
        if len(words) > 1:
            yield (
                " ".join(sorted(set(words[-4:]))),
                _claim(number, " ".join(words[-4:]), found["number"], found["unit"] or ""),
            )
    for found in _PORT.finditer(line) if " port " in line else ():
        yield f"port {found['name'].lower()}", _claim(number, found["name"] + " port", found["number"], "")
    for found in _DEFAULT.finditer(line) if "`" in line else ():
        yield f"`{found['name']}`", _claim(number, found["name"], found["number"], found["unit"] or "")


def _claim(line: int, name: str, number: str, unit: str) -> _Claim:
    plain = unit.lower().removesuffix("s") if len(unit) > 2 else unit
    plain = _UNIT_NAMES.get(plain, plain)
    amount = float(number.strip("$€£").replace(",", "").rstrip(".") or 0)
    scale = _SCALE.get(plain)
    value = (amount * scale, "time") if scale else (amount, plain.lower())
    return _Claim(line, name, value, f"{number} {unit}".strip())


def _table_defaults(lines: Sequence[str]) -> Iterator[tuple[str, _Claim]]:
    """Read the first column and the one named default of each table."""
    column, is_row = -1, False
    for number, line in enumerate(lines, 1):
        if not line.lstrip().startswith("|"):
            column, is_row = -1, False
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not is_row:
            is_row = True
            column = next((at for at, cell in enumerate(cells) if cell.lower().startswith("default")), -1)
        elif (
            0 < column < len(cells)
            and (name := _IDENTIFIER.match(cells[0]))
            and (value := _TABLE_NUMBER.match(cells[column]))
        ):
            yield name[1], _claim(number, name[1], value[1], value[2])


def _contradiction(name: str, claims: list[_Claim]) -> Finding | None:
    dimension = claims[0].value[1]
    same = [claim for claim in claims if claim.value[1] == dimension]
    values = {claim.value[0] for claim in same}
    words = set(name.split())
    specific = len(words - _VAGUE) > 1 or name.startswith("`")
    if len(values) < 2 or len(values) > 2 or (not specific and len(same) > 2):
        return None
    by_value: defaultdict[float, list[_Claim]] = defaultdict(list)
    for claim in same:
        by_value[claim.value[0]].append(claim)
    odd, usual = sorted(by_value.values(), key=lambda one: (len(one), -one[0].line))
    times = f" and {len(usual) - 1} more" if len(usual) > 1 else ""
    text = f"two values of one quantity ({odd[0].name}): {odd[0].shown} here, {usual[0].shown} at {usual[0].line}{times}"
    return Finding(odd[0].line, WORTH_A_LOOK + 1 if specific else SLIGHTLY_ODD + 2, text)


def dates_out_of_order(titles: Iterable[tuple[int, int, str]]) -> Iterator[Finding]:
    """Tell headings whose date breaks the order that those of their level have."""
    levels: defaultdict[int, list[tuple[int, tuple[int, int, int], str]]] = defaultdict(list)
    for line, level, title in titles:
        found = _DATE.search(title)
        if found:
            levels[level].append((line, (int(found[1]), int(found[2]), int(found[3])), title))
    for dated in levels.values():
        yield from _disorder(dated)


def _disorder(dated: list[tuple[int, tuple[int, int, int], str]]) -> Iterator[Finding]:
    steps = [(before[1] > after[1]) - (before[1] < after[1]) for before, after in itertools.pairwise(dated)]
    usual = 1 if steps.count(1) > steps.count(-1) else -1
    wrong = [at for at, step in enumerate(steps) if step == -usual]
    if len(steps) < 4 or len(wrong) * 5 > len(steps) + 3:
        return
    for at in wrong[:3]:
        after_next = dated[at + 2][1] if at + 2 < len(dated) else None
        # If what comes next does not follow from the first either, the first is the one that is wrong.
        is_first = (
            after_next is not None and (dated[at][1] > after_next) - (dated[at][1] < after_next) == -usual
        )
        odd = at if is_first else at + 1
        around = f" (before it {brief(dated[odd - 1][2], 40)})" if odd else ""
        yield Finding(
            dated[odd][0], WORTH_A_LOOK - 1, f"date out of order: {brief(dated[odd][2], 60)}{around}"
        )
