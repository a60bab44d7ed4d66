"""Find lines that say something of weight in words: what is destroyed, left unprotected, broken or given up.

A word counts only where it is rare: in a text about passwords, a password is nothing to look at.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from brimgate.engine.highlights.findings import Finding, calm, clip
from brimgate.engine.maps.survey import SLIGHTLY_ODD, WORTH_A_LOOK

_STRONG: Final = (
    r"drop (?:table|database|schema)|truncate table|delet(?:e|es|ed|ing) (?:all|every)\w*|rm -rf|wip(?:e|es|ed) |irreversibl\w+"
    r"|data loss|unrecoverable|(?:no|without|skip\w*|bypass\w*|disabl\w+|ignor\w+) (?:\w+ )?(?:auth(?:entication|orization)?"
    r"|signatures?|verification|validation|encryption|certificates?|backups?|permission checks?)\b|unauthenticated"
    r"|auth\w* (?:is |was |are )?(?:disabled|off|skipped|bypassed|removed)"
    r"|not (?:checked|verified|validated|encrypted|authenticated|sanitized|escaped)|bypass(?:es|ed|ing)?\b|backdoors?"
    r"|vulnerabilit\w+"
    r"|CVE-\d{4}-\d{3,7}|sql injection|union(?: |%20|\+)+(?:all )?select|(?:in |as )plain ?-?text|clear-?text|unencrypted"
    r"|world-(?:readable|writable)|chmod (?:-R )?0?777|0\.0\.0\.0/0|/etc/(?:passwd|shadow)|eval\(|os\.system\(|shell=True"
    r"|pickle\.loads|verify ?[=:] ?false|--insecure\b|--no-verify|StrictHostKeyChecking[ =]no|-fno-stack-protector"
    r"|breaking change|end[- ]of[- ]life|do not use|data corruption|permission denied|access denied|no space left"
    r"|read-only file ?system|out of memory|oom-?killed|segmentation fault|core dumped|deadlock(?:ed)?\b|never awaited"
    r"|binary file \S+ matches|error opening dir|silently (?:drop|ignor|discard|fail|swallow)\w*"
    r"|double[- ](?:charge|booking|spend|free)\w*"
    r"|hot-?fix|release blocker|outage|root@localhost|letmein|not remade|security fix"
)
_WEAK: Final = (
    r"deprecated|obsolete|unsupported|unsafe|insecure|malware|breach\w*|leak(?:s|ed|age)\b|corrupt\w*|inconsisten\w+|mismatch\w*"
    r"|exhausted|revoked|overdue|disputed?|suspicious\w*|emergency|incident|blocker|urgent|escalat\w+|refused|aborted|rolled back"
    r"|lost|expired|denied|unreachable|timed out|unexpected\w*"
)
_FEW: Final = 3
_DIGITS: Final = re.compile(r"\d+")
_FEW_OF: Final = 500
_MAX_TOLD: Final = 10
_MAX_HITS: Final = 5_000
_BRIEF_CHARS: Final = 130
_AROUND: Final = 40


@cache
def _pattern(words: tuple[str, ...], *, has_weak: bool) -> Any:
    import re2  # pyright: ignore[reportMissingTypeStubs]

    strong = "|".join((_STRONG, *map(re.escape, words)))
    pattern = f"(?i)({strong})|\\b({_WEAK})\\b" if has_weak else f"(?i)({strong})"
    return re2.compile(pattern.encode())  # pyright: ignore[reportUnknownMemberType]


def has_risks(data: bytes, words: tuple[str, ...] = ()) -> bool:
    """Return whether there is any word of weight, which is quick to see."""
    return _pattern(words, has_weak=True).search(data) is not None


def find_risks(lines: Sequence[str], words: tuple[str, ...] = (), *, has_weak: bool = False) -> list[Finding]:
    """Return lines with a rare word of weight, or one of `words`.

    `has_weak` adds words that are common in prose, and telling in records.
    """
    pattern = _pattern(words, has_weak=has_weak)
    data = "\n".join(lines).encode("utf-8", "replace")
    places: dict[str, list[int]] = defaultdict(list)
    strong: set[str] = set()
    line = counted = 0
    for hits, match in enumerate(pattern.finditer(data)):
        if hits >= _MAX_HITS:
            break
        start: int = match.start()
        line, counted = line + data.count(b"\n", counted, start), start
        word = match[0].decode("utf-8", "replace").lower()
        if match[1] is not None:
            strong.add(word)
        elif not _is_meant(data, start, match.end(), word):
            continue
        places[word].append(line)
    return _tell(lines, places, strong)


def _is_meant(data: bytes, start: int, end: int, word: str) -> bool:
    """Return whether a word still stands where words that only sound like trouble are taken out."""
    around = data[max(start - _AROUND, 0) : end + _AROUND].decode("utf-8", "replace")
    return re.search(rf"\b{re.escape(word)}\b", calm(around), re.IGNORECASE) is not None


def _tell(lines: Sequence[str], places: dict[str, list[int]], strong: set[str]) -> list[Finding]:
    most = max(_FEW, len(lines) // _FEW_OF)
    found: dict[int, Finding] = {}
    forms = Counter(_DIGITS.sub("#", word) for word, ats in places.items() for _ in ats)
    for word, ats in places.items():
        if (
            forms[_DIGITS.sub("#", word)] > most
        ):  # in a list of vulnerabilities, one more is nothing to look at
            continue
        score = (WORTH_A_LOOK if word in strong else SLIGHTLY_ODD) + 1 / len(ats)
        for at in ats:
            if at not in found or found[at].score < score:
                text = lines[at]
                found[at] = Finding(at + 1, score, clip(text), brief=_around(text, word))
    return sorted(found.values(), key=lambda one: -one.score)[:_MAX_TOLD]


def _around(text: str, word: str) -> str:
    """Return the part of a line that has the word."""
    at = max(text.lower().find(word), 0)
    first = max(0, min(at - _BRIEF_CHARS // 2, len(text) - _BRIEF_CHARS))
    part = text[first : first + _BRIEF_CHARS].strip()
    return f"{'…' if first else ''}{part}{'…' if first + _BRIEF_CHARS < len(text) else ''}"
