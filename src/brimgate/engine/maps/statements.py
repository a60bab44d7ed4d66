"""Find the sentences of a prose text that say most: figures, duties, names and words that the rest of it does not have.

What is rare in this text counts, whatever it is: in a text full of numbers a number says nothing.
"""

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from brimgate.engine.highlights.findings import Finding
from brimgate.engine.maps.line_search import LineSearch
from brimgate.engine.maps.phrases import brief
from brimgate.engine.maps.survey import SLIGHTLY_ODD, MapLine

_SENTENCE_END: Final = re.compile(r"(?<=[.!?\]]) +(?=[A-Z\[`\"'(*À-Þ0-9])")
_FIELD: Final = re.compile(r"[\w-]{2,30}: ?\S")
"""A line of a head, as mails have it."""
_WORD: Final = re.compile(r"[A-Za-zÀ-ÿ][\w'’-]*")
_UNITS: Final = (
    r"(?:%|percent|[kKMGT]i?B\b|[nmµ]?s\b|(?:milli|micro)?sec|min|hours?|h\b|days?|weeks?|months?|years?|bits?\b|bytes|octets"
    r"|euros?|dollars?|pounds?|EUR|USD|GBP|CHF|rows|users|requests|times|people|km|kg|m\b|°)"
)
_MONTH: Final = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)"
)
_FEATURES: Final = (
    r"\d",
    rf"\d[\d.,]{{0,15}}[ -]?{_UNITS}",
    r"[$€£¥] ?\d|\b(?:USD|EUR|GBP|CHF) \d",
    rf"\b\d{{1,2}}\.? {_MONTH}\b|\b{_MONTH} \d{{1,2}}\b|\b\d{{4}}-\d\d-\d\d\b",
    r"\b(?:0x[0-9A-Fa-f]+|v?\d+\.\d+(?:\.\d+)?|port \d+|\d{4,})\b",
    r"\b(?:MUST|SHALL|REQUIRED|SHOULD|MAY|must|shall|required|mandatory|obliged|has to|have to)\b",
    (
        r"\b(?:MUST NOT|SHALL NOT|NOT|(?:must|shall|may|can|should|do|does|is|are|was) not|cannot|never|no longer|without|unless"
        r"|except|prohibited|forbidden|not \w+able)\b"
    ),
    r"\b(?i:note|warning|caution|danger|important|attention|todo|fixme|tbd|decision|decided|agreed|approved|rejected|action)\b",
    (
        r"\b(?i:disregard|mistake|wrong|correction|instead|contradict\w*|supersed\w*|replac(?:es|ed) by|withdrawn|cancel+ed"
        r"|postponed|removed|deprecated|obsolete|disabled|temporar\w+|exception|moved? from|until|before the|deadline)\b"
    ),
    (
        r"\b(?i:passwords?|secret|token|credentials?|key|confidential|private|salar(?:y|ies)|legal|lawyer|counsel|contract|penalt\w+"
        r"|attack\w*|vulnerab\w*|unencrypted|plain ?text|security|irreversib\w*|lost|loss|delet\w+|destroy\w*|breach"
        r"|liab\w+|termin\w+)\b"
    ),
    r"`[^`]{1,60}`|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|\b[a-z]+_[a-z_]+\b|\b[A-Z]{3,}\b",
    r"\A\W*\[",
)
"""Patterns of RE2, which reads a text in a time that grows with it alone."""
_MIN_SENTENCES: Final = 12
_MIN_CHARS: Final = 12
_MAX_SENTENCES: Final = 20_000
_RARE_WORDS: Final = 4
_MAX_IDF: Final = 7.0
_MOST: Final = 24
_LISTED: Final = 14
_CHARS: Final = 150
_ENDS: Final = (".", "!", "?", "]", ")", ";", "`")
"""A title ends with none of them."""
_SKIPPED: Final = ("#", ">", "|", "```", "~~~", "<")
_APART: Final = 3.0
"""How far over the middle of all sentences one that stands out is, in distances of the upper tenth from the middle."""


class Statement(NamedTuple):
    line: int
    text: str
    score: float = 0.0


def statement_findings(lines: Sequence[str]) -> tuple[list[Finding], list[MapLine]]:
    """Return sentences that stand out from all others; where none does, those that say most, for the map."""
    ranked = sorted(_scored(_unrepeated(lines)), key=lambda one: -one.score)
    if len(ranked) < _MIN_SENTENCES:
        return [], []
    middle, upper = ranked[len(ranked) // 2].score, ranked[len(ranked) // 10].score
    border = middle + _APART * max(upper - middle, 1.0)
    apart = [one for one in ranked if one.score > border and one.text.endswith(_ENDS)]
    if len(apart) > max(_MOST, len(ranked) // 50):
        apart = []
    found = [
        Finding(
            one.line,
            SLIGHTLY_ODD + min(one.score / 10, 3.0),
            brief(one.text, 260),
            brief=brief(one.text, _CHARS),
        )
        for one in apart
    ]
    rest = sorted([one for one in ranked[: _MOST + _LISTED] if one not in apart][:_LISTED])
    return found, [MapLine(f"{one.line} {brief(one.text, _CHARS)}", 3.6, "says most:") for one in rest]


def _unrepeated(lines: Sequence[str]) -> list[Statement]:
    """Return the sentences that stand there once: what is on every page says nothing."""
    found = list(islice(_sentences(lines), _MAX_SENTENCES))
    times = Counter(one.text for one in found)
    return [one for one in found if times[one.text] == 1]


def _sentences(lines: Sequence[str]) -> Iterator[Statement]:
    """Return the sentences of each paragraph with the line that each begins in."""
    for first, paragraph in _paragraphs(lines):
        starts: list[int] = []
        length = 0
        for line in paragraph:
            starts.append(length)
            length += len(line) + 1
        text, at = " ".join(paragraph), 0
        for end in [match.start() for match in _SENTENCE_END.finditer(text)] + [length]:
            sentence = text[at:end]
            lead = len(sentence) - len(sentence.lstrip())
            if len(sentence) - lead >= _MIN_CHARS:
                yield Statement(first + bisect_right(starts, at + lead) - 1, sentence.strip())
            at = end


def _paragraphs(lines: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Return what stands between blank lines, with the number of its first line; no code, table, quote or head of a mail."""
    block: list[str] = []
    fence = ""
    for number, line in enumerate([*lines, ""], 1):
        stripped = line.strip()
        start = stripped[:3]
        if start in ("```", "~~~") and start == (fence or start):
            fence = "" if fence else start
        if stripped and not fence and not stripped.startswith(_SKIPPED):
            block.append(stripped)
        elif block:
            if 2 * sum(map(bool, map(_FIELD.match, block))) <= len(block):
                yield number - len(block), block
            block = []


def _scored(sentences: Sequence[Statement]) -> Iterator[Statement]:
    """Score each sentence by what it has that few others have: features, and its rarest words."""
    words = [set(_WORD.findall(one.text.lower())) for one in sentences]
    marks: list[list[int]] = [[] for _ in sentences]
    search = LineSearch([one.text for one in sentences])
    for at, feature in enumerate(_FEATURES):
        for number, _ in search.hits(feature):
            marks[number - 1].append(at)
    spread = Counter(word for one in words for word in one)
    having = Counter(mark for one in marks for mark in one)
    total = len(sentences)
    rarity = {word: min(math.log2(total / count), _MAX_IDF) for word, count in spread.items()}
    weight = {mark: min(math.log2(total / count), _MAX_IDF) for mark, count in having.items()}
    for one, own, marked in zip(sentences, words, marks, strict=True):
        rarest = sorted((rarity[word] for word in own), reverse=True)[:_RARE_WORDS]
        worth = sum(rarest) / _RARE_WORDS + 0.5 * sum(weight[mark] for mark in marked)
        yield Statement(one.line, one.text, worth)
