"""Find unusual lines: reduce lines to templates, and show those that few lines share or that report trouble."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from brimgate.engine.highlights.findings import Finding, calm, clip
from brimgate.engine.textkind import ENTRY

_MIN_VALUES: Final = 12
_MIN_DISTINCT: Final = 5
_MAX_APART: Final = 3
_GAP: Final = 1.5
"""How far beyond the rest, in units of the rest's own distance from the median.

Heavy but natural tails (log-normal prices, say) stay below it; a slip by a factor of ten does not.
"""
_WINDOW_BYTES: Final = 1 << 19
"""Lines are masked this many bytes at a time: the arrays take twenty times the bytes."""
_SEPARATOR, _OTHER, _DIGIT = 0, 1, 2
_SEPARATORS: Final = b" \t\n\r\x0b\x0c=:,;()[]{}\"'|/<>"
_KINDS: Final = bytes(
    _SEPARATOR if byte in _SEPARATORS else _DIGIT if byte in b"0123456789" else _OTHER for byte in range(256)
)
_MIN_LINES: Final = 20
_MAX_LINE_CHARS: Final = 2_000
_MAX_WORDS: Final = 60
_AMOUNT: Final = re.compile(r"[^\w.-]?(-?\d++(?:\.\d++)?)[A-Za-zµ%]{0,6}+[.!?%]?\Z")
"""A number, alone or with a mark before it and a unit after it."""
_STAMP: Final = re.compile(
    r"\W*\d{4}[-/.]\d\d[-/.]\d\d[T ,_:]?\W*(?:\d\d:\d\d:\d\d)?[.,]?\d*|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d"
)
_MAX_POSITIONS: Final = 12
_BRIEF_CHARS: Final = 110
_DATE: Final = re.compile(r"^\W?\d{4}[-/.]\d\d[-/.]\d\d[T ]")
"""What most lines of a log have in common, and costs as much as what they say."""
_LEVEL: Final = re.compile(
    r"\b(?P<fatal>FATAL|PANIC|EMERG(?:ENCY)?|ALERT|CRITICAL|CRIT|fatal|panic|critical|emerg|crit)\b|\b(?P<error>ERROR|SEVERE|ERR|error|Error|err)\b|"
    r"\b(?P<warn>WARN(?:ING)?|warn(?:ing)?)\b|\b(?P<info>INFO|NOTICE|DEBUG|TRACE|LOG|info|notice|debug|trace)\b"
)
_GLOG: Final = re.compile(r"([IWEF])\d{4} \d\d:")
_GLOG_LEVELS: Final = {"I": "info", "W": "warn", "E": "error", "F": "fatal"}
_SEVERITY: Final = {"fatal": 1.6, "error": 1.3, "warn": 1.0, "info": 0.95, "": 0.95}
_NAMED_LEVEL: Final = re.compile(
    r"(?:^|[\s{,])[\"']?(?:level|lvl|severity|log_?level)[\"']?\s?[=:]\s?[\"']?(\w+)", re.IGNORECASE
)
_REPORT: Final = re.compile(
    r"(?:^|[\s:\[])(?:error|fatal|panic|failed|failure|FAILED|ERROR|FATAL|FAIL|Error|Exception)(?:[:\]!]|\[| -)"
    r"|^(?:FAILED|ERROR|FAIL) \S|\s(?:FAILED|ERROR|FAIL)(?:\s*\[ ?\d+%\])?$"
)
_PAIR: Final = re.compile(r"([\w.-]+)=(.*)", re.DOTALL)
_TELLING: Final = frozenset(
    (
        "level",
        "lvl",
        "severity",
        "loglevel",
        "msg",
        "message",
        "event",
        "err",
        "error",
        "exception",
        "reason",
        "cause",
    )
)
"""Keys whose values say what happened. The values of others say where, to whom or in what: they vary."""
_BRACKETED: Final = re.compile(r"[\[(][^\[\]()]*[\])]:?\Z")
_LOGGER: Final = re.compile(r"[\w$*#/-]+(?:\.[\w$*#/-]+)+:?\Z|[\w$*#/-]+:\Z")
"""The name of a component right after the level: `cache:`, `org.example.Cache`."""
_HEX: Final = re.compile(r"(?<![\w-])(?:[a-z]{1,4}[-_])?(?:[0-9a-f]{7,64}|[0-9A-F]{7,64})(?![\w-])")
"""A hash that happens to have no digit, such as `r-bccdffcb`: `mask_values` takes it for a word."""
_MANY_ALIKE: Final = 8
_MAX_FAMILY: Final = 4
_LEVELED: Final = 0.2
_ALARMS: Final = ("fatal", "error", "warn")
_HEAD_LINES: Final = 12
_AT_HEAD: Final = 0.4
"""The first lines of a program are always of their own kind, and are shown anyway."""
_MAX_SORTS: Final = 12
_MAX_LEVEL_CHARS: Final = 12
_FEW_WARNINGS: Final = 0.05
_MAX_WARNINGS: Final = 6
_ENTRY_TEXT: Final = re.compile(ENTRY.pattern.decode()[1:])
_LOOKS: Final = 200
_MIN_RUN: Final = 5
_NEAR: Final = 3
_MIN_TOLD: Final = 30
_BREAK: Final = re.compile(r"\\n(?=\\[nt]|\s|at |Caused by|Traceback \(|\.\.\. \d)")
"""A break before what a stack trace goes on with: `C:\\nginx` has none."""
_CONTINUED: Final = re.compile(r"\s|Caused by|Traceback \(|\.\.\. \d|[\w.$]*(?:Error|Exception)\b")
_EXCEPTION: Final = re.compile(r"[\w.$]*(?:Error|Exception|Fault|Panic)\b")


def outliers(values: Sequence[float]) -> list[tuple[int, float]]:
    """Return the index and distance (in gaps) of at most a few values that lie apart, above or below."""
    if len(values) < _MIN_VALUES:
        return []
    import numpy as np  # loaded by the first long list only

    array = np.asarray(values, dtype=np.float64)
    array = np.where(np.isfinite(array), array, np.nan)
    edge = _MAX_APART + 1
    ordered = np.sort(array[~np.isnan(array)])
    if len(ordered) < _MIN_VALUES or len(np.unique(ordered[:: max(1, len(ordered) // 200)])) < _MIN_DISTINCT:
        return []
    middle = float(ordered[len(ordered) // 2])
    found: list[tuple[int, float]] = []
    for border, reach in (
        _apart(ordered[-edge:].tolist(), middle),
        _apart((-ordered[:edge][::-1]).tolist(), -middle),
    ):
        found.extend((int(at), reach) for at in np.flatnonzero(array >= border)) if reach > 0 else None
        array = -array
    return found


def _apart(tail: list[float], middle: float) -> tuple[float, float]:
    """Return the smallest of the values that lie apart at the end of an ordered tail, and how far.

    Reach is 0 if none does.
    """
    for at in range(1, len(tail)):
        gap, spread = tail[at] - tail[at - 1], tail[at - 1] - middle
        if spread > 0 and gap > _GAP * spread:
            return tail[at], gap / spread
    return 0.0, 0.0


def mask_values(texts: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return each line with `#` for its values, and its values alone, separated by blanks."""
    data = "\n".join(texts).replace("\r", " ").encode("utf-8", "replace")
    if data.count(b"\n") != len(texts) - 1:
        data = "\n".join(text.replace("\n", " ") for text in texts).encode("utf-8", "replace")
    masked: list[str] = []
    values: list[str] = []
    start = 0
    while start <= len(data):
        end = data.find(b"\n", start + _WINDOW_BYTES)
        end = len(data) if end < 0 else end
        for lines, made in zip((masked, values), _mask(data[start:end]), strict=True):
            lines += made.decode("utf-8", "replace").split("\n")
        start = end + 1
    return masked, values


def _mask(data: bytes) -> tuple[bytes, bytes]:
    import numpy as np  # loaded by the first long list or log only

    kinds = np.frombuffer(data.translate(_KINDS), np.uint8)
    inside = np.concatenate(([False], kinds != _SEPARATOR, [False]))
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    starts, ends = edges[::2], edges[1::2]
    if not len(starts):
        return data, data
    valued = np.maximum.reduceat(kinds, starts) == _DIGIT
    starts, ends = starts[valued], ends[valued]
    steps = np.zeros(len(data) + 1, np.int8)
    steps[starts] = 1
    steps[ends] = -1
    within = np.cumsum(steps[:-1], dtype=np.int8).astype(np.bool_)
    text = np.frombuffer(data, np.uint8)
    alone = np.where(within | (text == ord("\n")), text, ord(" "))
    masked = text.copy()
    masked[starts] = ord("#")
    within[starts] = False
    return masked[~within].tobytes(), alone.astype(np.uint8).tobytes()


def odd_lines(lines: Sequence[str], *, entries_only: bool = False) -> list[Finding]:
    """Return findings by line number from 1 (in a log), or by index from 0 (in a list of texts)."""
    if len(lines) < _MIN_LINES:
        return []
    base = 1 if entries_only else 0
    chosen = _entries(lines) if entries_only else [at for at, line in enumerate(lines) if line.strip()]
    texts = [_told(lines[at]) for at in chosen]
    if len(texts) < _MIN_LINES:
        return []
    kinds = Templates.of([text[:_MAX_LINE_CHARS] for text in texts])
    reasons = _score(texts, kinds)
    if not entries_only:
        reasons = _without_families(reasons)
    for at, bonus in odd_values(texts, kinds).items():
        if bonus > reasons.get(at, _NO_REASON)[0]:
            reasons[at] = (bonus, ("value", kinds.template_of[kinds.masked[at]], f"{bonus:.3f}"))
    return _one_each(texts, chosen, reasons, base)


def _told(line: str) -> str:
    """Return a line up to the break that a program wrote as `\\n`: what follows in JSON is mostly a stack trace."""
    found = _BREAK.search(line, _MIN_TOLD)
    return f"{line[: found.start()]} …" if found else line


def is_continued(line: str) -> bool:
    """Return whether a line of a log goes on with the entry above it: a frame, a cause, an exception of its own."""
    return _CONTINUED.match(line) is not None


def _without_families(reasons: "dict[int, _Reason]") -> "dict[int, _Reason]":
    """Leave out lines that begin alike and go on differently, if there are many: what follows is free text."""
    kinds = {kind for _, kind in reasons.values() if kind[0] == "kind" and kind[2] not in _ALARMS}
    leads = Counter(template.partition(" ")[0] for _, template, _ in kinds)
    return {
        at: reason
        for at, reason in reasons.items()
        if reason[1] not in kinds or leads[reason[1][1].partition(" ")[0]] <= _MAX_FAMILY
    }


_Reason = tuple[float, tuple[str, str, str]]
"""The score of a line, and what it shares with the lines that are shown with it as one."""
_NO_REASON: Final[_Reason] = (0.0, ("", "", ""))


@dataclass(frozen=True, slots=True)
class Templates:
    """Lines by their templates: their words, with the words that vary among similar lines left open."""

    masked: list[str]
    values: list[str]
    """The values that replace the `#` in the mask of each line."""
    template_of: dict[str, str]
    """The template of each mask; there are usually far fewer masks than lines."""
    counts: Counter[str]
    rare_names: frozenset[str]
    """Masks with a component that hardly any other line has, where the others repeat a few."""

    @classmethod
    def of(cls, texts: Sequence[str]) -> "Templates":
        masked, values = mask_values(texts)
        without_hashes = {line: _HEX.sub("#", line) for line in set(masked)}
        masked = [without_hashes[line] for line in masked]
        lines = Counter(masked)
        opened = {line: _opened(line) for line in lines}
        template_of = _merge({line: words for line, (words, _) in opened.items()})
        counts: Counter[str] = Counter()
        for line, count in lines.items():
            counts[template_of[line]] += count
        names = {line: names for line, (_, names) in opened.items() if names}
        return cls(masked, values, template_of, counts, _rare_names(names, lines))


def alarm_lines(lines: Sequence[str]) -> list[Finding]:
    """Find lines that report an error in the output of a program whose lines are otherwise all different."""
    found = [at for at, line in enumerate(lines) if _reports(line[:_MAX_LINE_CHARS])]
    if not found or len(lines) < _MIN_LINES or len(found) > max(3, len(lines) // 50):
        return []
    worth = math.log2(len(lines) / len(found))
    return [Finding(at + 1, worth, clip(lines[at])) for at in found]


def _reports(line: str) -> bool:
    return _REPORT.search(line) is not None and _REPORT.search(calm(line)) is not None


def _one_each(lines: list[str], places: list[int], reasons: dict[int, _Reason], base: int) -> list[Finding]:
    """Show the first line of each kind only, with the number of lines that are shown for the same reason."""
    counts = Counter(kind for _, kind in reasons.values())
    seen: set[tuple[str, str, str]] = set()
    findings: list[tuple[Finding, bool]] = []
    for at in sorted(reasons):
        score, kind = reasons[at]
        if kind in seen:
            continue
        seen.add(kind)
        more = f" ({counts[kind]:,} lines like this)" if counts[kind] > 1 else ""
        brief = clip(_DATE.sub("", lines[at], count=1), _BRIEF_CHARS)
        found = Finding(places[at] + base, score, clip(lines[at]) + more, brief=brief + more)
        findings.append((found, kind[2] in _ALARMS or counts[kind] > 1))
    return list(_without_runs(findings)) if base else [one for one, _ in findings]


def _without_runs(findings: Sequence[tuple[Finding, bool]]) -> Iterator[Finding]:
    """Tell of many rare lines one after the other, such as those of a start, the best only, and how far they go.

    Findings come with whether they stand for themselves: an alarm does, wherever it is.
    """
    run: list[Finding] = []
    for one, is_alone in findings:
        if run and (is_alone or one.place - run[-1].place > _NEAR):
            yield from _of_run(run)
            run = []
        if is_alone:
            yield one
        else:
            run.append(one)
    yield from _of_run(run)


def _of_run(run: list[Finding]) -> list[Finding]:
    if len(run) < _MIN_RUN:
        return run
    best = max(run, key=lambda one: one.score)
    more = f" (one of {len(run)} rare lines from {run[0].place} to {run[-1].place})"
    return [Finding(best.place, best.score, best.text + more, brief=best.brief + more)]


def _entries(lines: Sequence[str]) -> list[int]:
    """Return lines that begin an entry or name an exception; leave out frames and wrapped lines."""
    heads = [at for at, line in enumerate(lines) if _ENTRY_TEXT.match(line)]
    if len(heads) < 0.2 * len(lines):
        return [at for at, line in enumerate(lines) if line.strip() and not line[0].isspace()]
    named = [at for at, line in enumerate(lines) if line[:1].isalpha() and _EXCEPTION.match(line)]
    return sorted({*heads, *named})


def _opened(line: str) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the words of a masked line with its components left open, and those components by where they stand.

    A level in ten components would otherwise be ten kinds of lines, each of them rare.
    """
    words: list[str] = []
    names: list[tuple[str, str]] = []
    after_level = in_quotes = False
    for word in line.split()[:_MAX_WORDS]:
        if in_quotes:
            in_quotes = not word.endswith('"')
            continue
        pair = _PAIR.match(word)
        if pair and pair[1].lower() not in _TELLING:
            names.append((pair[1], pair[2]))
            words.append(pair[1] + "=*")
            in_quotes = pair[2].startswith('"') and not (pair[2].endswith('"') and len(pair[2]) > 1)
        elif _BRACKETED.match(word) and not _LEVEL.search(word):
            names.append(("[", word))
            words.append("[*]")
        elif after_level and _LOGGER.match(word):
            names.append((":", word))
            words.append("*:")
            after_level = False
        else:
            after_level = _LEVEL.search(word) is not None and len(word) <= _MAX_LEVEL_CHARS
            words.append(word)
    return words, names


def _rare_names(names: dict[str, list[tuple[str, str]]], lines: Counter[str]) -> frozenset[str]:
    """Return the lines with a component that is rare among few: `component=ledger` once, the others often."""
    counts: Counter[tuple[str, str]] = Counter()
    for line, named in names.items():
        for name in named:
            counts[name] += lines[line]
    sorts = Counter(key for key, _ in counts)
    few = max(2, lines.total() // 1_000)
    rare = {name for name, count in counts.items() if count <= few and 2 <= sorts[name[0]] <= _MAX_SORTS}
    if sum(counts[name] for name in rare) > max(3, lines.total() // 50):
        return frozenset()
    return frozenset(line for line, named in names.items() if not rare.isdisjoint(named))


def _merge(opened: dict[str, list[str]]) -> dict[str, str]:
    """Group masked lines with the same number of words and the same beginning. Words that vary there are values."""
    kinds: dict[tuple[int, str, str], list[tuple[str, list[str]]]] = defaultdict(list)
    for line, words in opened.items():
        lead = [word for word in words if "#" not in word and "*" not in word][:2]
        kinds[len(words), lead[0] if lead else "", lead[1] if len(lead) > 1 else ""].append((line, words))
    template_of: dict[str, str] = {}
    for members in kinds.values():
        if len(members) < _MANY_ALIKE:
            template_of.update((line, " ".join(words)) for line, words in members)
            continue
        open_at = _varying(members)
        for line, words in members:
            template_of[line] = " ".join("*" if at in open_at else word for at, word in enumerate(words))
    return template_of


def _varying(members: list[tuple[str, list[str]]]) -> set[int]:
    positions = zip(*(words for _, words in members), strict=True)
    return {at for at, words in enumerate(positions) if len(set(words)) > max(4, len(members) // 5)}


def _score(texts: Sequence[str], kinds: Templates) -> dict[int, _Reason]:
    """Score rare templates and rare, severe levels. A log that is all rare templates is judged by its levels alone."""
    total = len(texts)
    pairs = [
        (kinds.template_of[masked], "" if level == "info" else level)
        for masked, level in zip(kinds.masked, levels_of(texts, kinds), strict=True)
    ]
    counts = Counter(pairs)
    few = max(2, total // 1_000)
    rare_lines = sum(count for count in kinds.counts.values() if count <= few)
    diverse = rare_lines > max(6, total // 20)
    shares = _alarming(counts, total)
    worth = {
        pair: _worth(total / count, pair[1], shares.get(pair[1], 1.0), rare=count <= few and not diverse)
        for pair, count in counts.items()
    }
    reasons: dict[int, _Reason] = {
        at: (worth[pair] * (_AT_HEAD if at < _HEAD_LINES and pair[1] not in shares else 1.0), ("kind", *pair))
        for at, pair in enumerate(pairs)
        if worth[pair]
    }
    rarity = 0.9 * math.log2(total / few)
    for at, masked in enumerate(kinds.masked):
        if masked in kinds.rare_names and rarity > reasons.get(at, _NO_REASON)[0]:
            reasons[at] = (rarity, ("name", *pairs[at]))
    return reasons


def _alarming(counts: Counter[tuple[str, str]], total: int) -> dict[str, float]:
    """Return the levels whose lines are all worth a look, with the share of lines that have them."""
    lines: Counter[str] = Counter()
    sorts: Counter[str] = Counter()
    for (_, level), count in counts.items():
        lines[level] += count
        sorts[level] += 1
    shares = {level: lines[level] / total for level in ("fatal", "error") if 0 < lines[level] < 0.1 * total}
    if 0 < lines["warn"] < _FEW_WARNINGS * total and sorts["warn"] <= _MAX_WARNINGS:
        shares["warn"] = lines["warn"] / total
    return shares


def _worth(scarcity: float, level: str, share: float, *, rare: bool) -> float:
    rarity = math.log2(scarcity) if rare else 0.0
    alarm = math.log2(1 / share)
    if not rarity and not alarm:
        return 0.0
    own = math.log2(scarcity) / 3 if alarm else 0.0
    return _SEVERITY[level] * max(rarity, alarm) + 0.2 * min(rarity, alarm) + own


def levels_of(texts: Sequence[str], kinds: Templates) -> list[str]:
    """Return the level of each line. It is never masked, so only the masks are searched."""
    level_of = {masked: _level(masked) for masked in kinds.template_of}
    levels = [level_of[masked] for masked in kinds.masked]
    if not any(map(_GLOG.match, texts[:: max(1, len(texts) // _LOOKS)])):
        return levels
    found = map(_GLOG.match, texts)
    return [_GLOG_LEVELS[glog[1]] if glog else level for glog, level in zip(found, levels, strict=True)]


def have_levels(lines: Sequence[str]) -> bool:
    """Return whether a good part of lines name a level."""
    return sum(bool(_level(line)) for line in lines) >= _LEVELED * len(lines)


def level_words(texts: Sequence[str], kinds: Templates) -> list[str]:
    """Return the word that each entry has for its level, of those that have one."""
    words = {masked: _level_word(masked) for masked in kinds.template_of}
    told = zip(texts, kinds.masked, strict=True)
    found = [word for text, masked in told if (word := words[masked]) and not is_continued(text)]
    if any(map(_GLOG.match, texts[:: max(1, len(texts) // _LOOKS)])):
        letters = [letter[1] for letter in map(_GLOG.match, texts) if letter]
        found += [_GLOG_LEVELS[one].upper() for one in letters] if found else letters
    is_mixed = any(map(str.isupper, found)) and any(map(str.islower, found))
    return [one.upper() for one in found] if is_mixed else found


def _level_word(text: str) -> str:
    named = _NAMED_LEVEL.search(text, 0, _MAX_LINE_CHARS)
    if named and _LEVEL.fullmatch(named[1]):
        return named[1]
    found = _LEVEL.search(text, 0, 200)
    return found[0] if found is not None and found[0].isupper() else ""


def _level(text: str) -> str:
    named = _NAMED_LEVEL.search(text, 0, _MAX_LINE_CHARS)
    if named and (level := _LEVEL.fullmatch(named[1])):
        return level.lastgroup or ""
    found = _LEVEL.search(text, 0, 200)
    if found is not None and not found[0].isupper():
        found = _LEVEL.search(calm(text[:200]))  # "error" and "Error" are levels, and words of English
    return found.lastgroup or "" if found else ""


def odd_values(texts: Sequence[str], kinds: Templates) -> dict[int, float]:
    """Find, in lines of one frequent template, a number that lies apart, or one that is rare among few."""
    members: dict[str, list[int]] = defaultdict(list)
    for at, masked in enumerate(kinds.masked):
        members[kinds.template_of[masked]].append(at)
    found: dict[int, float] = {}
    worth = math.log2(len(texts))
    for template, ats in members.items():
        if len(ats) < _MIN_LINES or ("#" not in template and "*" not in template):
            continue
        rows = [kinds.values[at].split() for at in ats]
        width = Counter(map(len, rows)).most_common(1)[0][0]
        held = [(at, row) for at, row in zip(ats, rows, strict=True) if len(row) == width]
        first = _values_in_stamp(texts[held[0][0]])
        for position in range(first, min(width, first + _MAX_POSITIONS)):
            for at, weight in _odd_column([at for at, _ in held], [row[position] for _, row in held]):
                found[at] = max(found.get(at, 0.0), worth * weight)
    return found


def _values_in_stamp(text: str) -> int:
    """Count the values in the timestamp at the start of a line: they are not measurements."""
    stamp = _STAMP.match(text)
    return len(mask_values([stamp[0]])[1][0].split()) if stamp else 0


def _odd_column(ats: list[int], cells: list[str]) -> list[tuple[int, float]]:
    counts = Counter(cells)
    if len(counts) == 1:
        return []
    amount_of = {cell: float(amount[1]) if (amount := _AMOUNT.match(cell)) else math.nan for cell in counts}
    if sum(map(math.isnan, amount_of.values())) > len(amount_of) // 8:
        return []
    found = outliers([amount_of[cell] for cell in cells])
    apart = [(ats[at], 1.0 + math.log2(1 + min(reach, 64)) / 12) for at, reach in found]
    if len(counts) <= max(8, len(cells) // 60):
        few = max(2, len(cells) // 1_000)
        rare = {value for value, count in counts.items() if count <= few}
        if 0 < len(rare) <= 2:
            apart += [(at, 0.95) for at, cell in zip(ats, cells, strict=True) if cell in rare]
    return apart


def odd_texts(texts: Sequence[str]) -> tuple[list[int], list[int]]:
    """Find unusual texts among many short ones.

    Return those with a template that hardly any other has, where most share a few; and those with an unusual number in
    a usual template.
    """
    kinds = Templates.of([text[:_MAX_LINE_CHARS] for text in texts])
    few = max(2, len(texts) // 400)
    rare = {template for template, count in kinds.counts.items() if count <= few}
    unusual = list(odd_values(texts, kinds))
    if sum(kinds.counts[template] for template in rare) > max(3, len(texts) // 50):
        return [], unusual
    rare_masks = {masked for masked, template in kinds.template_of.items() if template in rare}
    return [at for at, masked in enumerate(kinds.masked) if masked in rare_masks and texts[at]], unusual
