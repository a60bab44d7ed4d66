"""Lines unlike the rest: lines are reduced to templates, and what few lines share, or what bodes ill, is shown."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Final

from headgate.engine.highlights.finding import Finding
from headgate.engine.highlights.numbers import outliers
from headgate.engine.textkind import ENTRY

_MIN_LINES: Final = 20
_MAX_LINE_CHARS: Final = 2_000
_MAX_WORDS: Final = 60

# A word with a digit in it is a value: an id, a number, an address, a time.
_VALUE: Final = re.compile(r"[^\s=:,;()\[\]{}\"'|/<>]*\d[^\s=:,;()\[\]{}\"'|/<>]*")
_NUMBERS: Final = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w-]*[-_][\w])")
_LEVEL: Final = re.compile(
    r"\b(?P<fatal>FATAL|PANIC|EMERG(?:ENCY)?|ALERT|CRITICAL|CRIT|fatal|panic|critical|emerg|crit)\b|\b(?P<error>ERROR|SEVERE|ERR|error|Error|err)\b|"
    r"\b(?P<warn>WARN(?:ING)?|warn(?:ing)?)\b|\b(?P<info>INFO|NOTICE|DEBUG|TRACE|LOG|info|notice|debug|trace)\b"
)
_GLOG: Final = re.compile(r"([IWEF])\d{4} \d\d:")
_GLOG_LEVELS: Final = {"I": "info", "W": "warn", "E": "error", "F": "fatal"}
_SEVERITY: Final = {"fatal": 1.6, "error": 1.3, "warn": 1.0, "info": 0.95, "": 0.95}
_REPORT: Final = re.compile(r"(?:^|[\s:\[])(?:error|fatal|panic|failed|failure|FAILED|ERROR|FATAL|FAIL|Error|Exception)(?:[:\]!]|\[| -)")
_ENTRY_TEXT: Final = re.compile(ENTRY.pattern.decode()[1:])
_EXCEPTION: Final = re.compile(r"[\w.$]*(?:Error|Exception|Fault|Panic)\b")


def odd_lines(lines: Sequence[str], *, entries_only: bool = False) -> list[Finding]:
    """Findings by line number from 1 (in a log), or by index from 0 (in a list of texts)."""
    if len(lines) < _MIN_LINES:
        return []
    base = 1 if entries_only else 0
    chosen = _entries(lines) if entries_only else [at for at, line in enumerate(lines) if line.strip()]
    texts = [lines[at][:_MAX_LINE_CHARS] for at in chosen]
    if len(texts) < _MIN_LINES:
        return []
    templates = line_templates(texts)
    scores = _score(texts, templates)
    for at, bonus in _odd_values(texts, templates).items():
        scores[at] = max(scores.get(at, 0.0), bonus)
    return _one_each(chosen, texts, templates, scores, base)


def alarm_lines(lines: Sequence[str]) -> list[Finding]:
    """Lines that report an error in the output of a program whose lines are otherwise all different."""
    found = [at for at, line in enumerate(lines) if _REPORT.search(line, 0, _MAX_LINE_CHARS)]
    if not found or len(lines) < _MIN_LINES or len(found) > max(3, len(lines) // 50):
        return []
    worth = math.log2(len(lines) / len(found))
    return [Finding(at + 1, worth, lines[at]) for at in found]


def _one_each(
    chosen: list[int], texts: list[str], templates: list[str], scores: dict[int, float], base: int
) -> list[Finding]:
    """Of lines of one template and score only the first is shown, with the number of its like."""
    counts = Counter(templates)
    seen: set[tuple[str, float]] = set()
    findings: list[Finding] = []
    for at in sorted(scores):
        key = (templates[at], round(scores[at], 3))
        if key in seen:
            continue
        seen.add(key)
        count = counts[templates[at]]
        more = f" ({count:,} lines like this)" if count > 1 else ""
        findings.append(Finding(chosen[at] + base, scores[at], texts[at].strip() + more))
    return findings


def _entries(lines: Sequence[str]) -> list[int]:
    """The lines that begin an entry, and those that name an exception; frames and wrapped lines are left out."""
    heads = [at for at, line in enumerate(lines) if _ENTRY_TEXT.match(line)]
    if len(heads) < 0.2 * len(lines):
        return [at for at, line in enumerate(lines) if line.strip() and not line[0].isspace()]
    named = [at for at, line in enumerate(lines) if line[:1].isalpha() and _EXCEPTION.match(line)]
    return sorted({*heads, *named})


def line_templates(texts: Sequence[str]) -> list[str]:
    """The template of each line: its words, with those that vary among lines of its kind left open."""
    masked = _VALUE.sub("#", "\n".join(text.replace("\n", " ") for text in texts)).split("\n")
    counts = Counter(masked)
    template_of = _merge(counts)
    return [template_of[line] for line in masked]


def _merge(counts: Counter[str]) -> dict[str, str]:
    """Masked lines with as many words and the same beginning are of one kind; words that vary there are values."""
    kinds: dict[tuple[int, str, str], list[tuple[str, list[str]]]] = defaultdict(list)
    for line in counts:
        words = line.split()[:_MAX_WORDS]
        lead = [word for word in words if "#" not in word][:2]
        kinds[len(words), lead[0] if lead else "", lead[1] if len(lead) > 1 else ""].append((line, words))
    template_of: dict[str, str] = {}
    for members in kinds.values():
        if len(members) < 8:
            template_of.update((line, " ".join(words)) for line, words in members)
            continue
        open_at = _varying(members)
        for line, words in members:
            template_of[line] = " ".join("*" if at in open_at else word for at, word in enumerate(words))
    return template_of


def _varying(members: list[tuple[str, list[str]]]) -> set[int]:
    positions = zip(*(words for _, words in members), strict=True)
    return {at for at, words in enumerate(positions) if len(set(words)) > max(4, len(members) // 5)}


def _score(texts: Sequence[str], templates: Sequence[str]) -> dict[int, float]:
    """Rare templates and rare, severe levels; a log that is all rare templates is judged by its levels alone."""
    total = len(texts)
    counts = Counter(templates)
    levels = _levels(texts)
    level_counts = Counter(levels)
    few = max(2, total // 1_000)
    rare_lines = sum(count for count in counts.values() if count <= few)
    diverse = rare_lines > max(6, total // 20)
    scores: dict[int, float] = {}
    for at, template in enumerate(templates):
        count, level = counts[template], levels[at]
        rarity = math.log2(total / count) if count <= few and not diverse else 0.0
        share = level_counts[level] / total
        alarm = math.log2(1 / share) if level in ("fatal", "error") and share < 0.1 else 0.0
        if rarity or alarm:
            own = math.log2(total / count) / 3 if alarm else 0.0
            scores[at] = _SEVERITY[level] * max(rarity, alarm) + 0.2 * min(rarity, alarm) + own
    return scores


def _levels(texts: Sequence[str]) -> list[str]:
    return [_level(text) for text in texts]


def _level(text: str) -> str:
    glog = _GLOG.match(text)
    if glog:
        return _GLOG_LEVELS[glog[1]]
    found = _LEVEL.search(text, 0, 200)
    return found.lastgroup or "" if found else ""


def _odd_values(texts: Sequence[str], templates: Sequence[str]) -> dict[int, float]:
    """Among lines of one frequent template: a number that lies apart, or one that hardly occurs among few."""
    members: dict[str, list[int]] = defaultdict(list)
    for at, template in enumerate(templates):
        members[template].append(at)
    found: dict[int, float] = {}
    for ats in members.values():
        if len(ats) < _MIN_LINES:
            continue
        rows = [_NUMBERS.findall(texts[at], _after_stamp(texts[at])) for at in ats]
        width = Counter(map(len, rows)).most_common(1)[0][0]
        held = [(at, row) for at, row in zip(ats, rows, strict=True) if len(row) == width]
        worth = math.log2(len(texts))
        for position in range(min(width, 12)):
            for at, weight in _odd_column([at for at, _ in held], [row[position] for _, row in held]):
                found[at] = max(found.get(at, 0.0), worth * weight)
    return found


def _after_stamp(text: str) -> int:
    """Where the time at the head of a line ends: its numbers are not measurements."""
    stamp = re.match(r"\W*\d{4}[-/.]\d\d[-/.]\d\d[T ,_:]?\W*(?:\d\d:\d\d:\d\d)?[.,]?\d*|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d", text)
    return stamp.end() if stamp else 0


def _odd_column(ats: list[int], cells: list[str]) -> list[tuple[int, float]]:
    apart = [(ats[at], 1.0 + math.log2(1 + min(reach, 64)) / 12) for at, reach in outliers([float(c) for c in cells])]
    counts = Counter(cells)
    if 2 <= len(counts) <= max(8, len(cells) // 60):
        few = max(2, len(cells) // 1_000)
        rare = {value for value, count in counts.items() if count <= few}
        if 0 < len(rare) <= 2:
            apart += [(at, 0.95) for at, cell in zip(ats, cells, strict=True) if cell in rare]
    return apart


def odd_texts(texts: Sequence[str]) -> dict[int, float]:
    """Texts of a usual template with an unusual number in them."""
    cut = [text[:_MAX_LINE_CHARS] for text in texts]
    return _odd_values(cut, line_templates(cut))


def rare_texts(texts: Sequence[str]) -> list[int]:
    """Which of many short texts have a template that hardly any other has, where most share a few."""
    templates = line_templates([text[:_MAX_LINE_CHARS] for text in texts])
    counts = Counter(templates)
    few = max(2, len(texts) // 400)
    rare = {template for template, count in counts.items() if count <= few}
    if sum(counts[template] for template in rare) > max(3, len(texts) // 50):
        return []
    return [at for at, template in enumerate(templates) if template in rare and texts[at]]
