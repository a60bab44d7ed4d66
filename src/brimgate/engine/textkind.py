"""Guess the kind of a text. The kind decides where the text is cut, never whether anything is lost."""

import re
from collections.abc import Iterable
from enum import StrEnum
from itertools import islice, takewhile
from typing import Final

_SAMPLE_BYTES: Final = 6_000
_MAX_LINES: Final = 400


class TextKind(StrEnum):
    LOG = "log"
    JSON_LINES = "json lines"
    TRACE = "stack trace"
    MARKDOWN = "markdown"
    HTML = "html"
    CSV = "csv"
    LISTING = "listing"
    CODE = "code"
    REPR = "python repr"
    BASE64 = "base64"
    PROSE = "prose"


_STAMP: Final = (
    rb"[\[(<]?\d{4}[-/.]\d\d[-/.]\d\d[T ,_:]|[\[(]?\d\d?[:/]\d\d[:/]\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:|[IWEF]\d{4} \d\d:"
    rb"|\d{6} \d{6} |\d{10,13}[ .,|]|<\d{1,3}>|(?:time|ts|t|level|lvl)=|\S+ \S+ \S+ \[\d\d/[A-Z]"
    rb"|\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b"
)
ENTRY: Final = re.compile(rb"^(?:" + _STAMP + rb")", re.MULTILINE)

# Each pattern is matched at the beginning of a line. Where another repetition could continue one, the first
# is possessive: a line of white space must not be retried from every position in it.
_JSON_LINE: Final = re.compile(rb'\{".*\}\r?\Z')
_TRACE: Final = re.compile(
    rb"Traceback \(most recent call last\)|[ \t]++(?:at [\w.$<>]+\(|File \"[^\"]*\", line \d)"
)
_LISTING: Final = re.compile(rb"[^\s:]+:\d+[:-]")
_MARKDOWN: Final = re.compile(rb"#{1,6} |```|~~~|[-*+] |\d+\. |\|.*\||> ")
_CODE: Final = re.compile(
    rb"[ \t]*+(?:def |class |import |from \w+ import|function |const |let |var |return\b|if\b.*[:{]\Z|for\b.*[:{]\Z|"
    rb"#include|package |public |private |fn |func |[\w-]+:(?: |\Z)|.*[;{}]\Z)"
)
_LEVELS: Final = (b"trace", b"debug", b"info", b"notice", b"warn", b"error", b"fatal", b"critical")
_LEVELED: Final = re.compile(
    rb".{0,60}?\b(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|debug|info|notice|warn|warning|error|critical)\b"
)

_HTML: Final = re.compile(
    rb"<(?:!doctype|html|head|body|div|p|span|table|ul|script|svg|\?xml)\b", re.IGNORECASE
)
_REPR: Final = re.compile(
    rb"\s*+[\[({]\s*+(?:[\[({]\s*+)?(?:'[^'\n]{0,200}'\s*+[,:\])}]|(?:None|True|False|-?\d[\d.]*+)\s*+,|Decimal\(|datetime\.)"
)
_QUOTED: Final = re.compile(rb'"[^"]*"')
_NAME: Final = re.compile(rb"\W{0,3}[^\W\d].{0,59}", re.DOTALL)
_DELIMITERS: Final = (b",", b"\t", b";", b"|")
_SURE_DELIMITERS: Final = 3
_OF_LINES: Final = 2
"""Delimiters at least where cells go on over lines: quotes of prose would make one, too."""
_LOOKED_AT: Final = 40
_MAX_HEAD: Final = 20
_BASE64: Final = re.compile(rb"(?:data:[\w/+.-]+;base64,)?[A-Za-z0-9+/_=\r\n-]+\Z")


def text_kind(data: bytes) -> TextKind:
    """Guess the kind of a text from its beginning and middle, so that the cost does not grow with the text."""
    sample = data[:_SAMPLE_BYTES]
    if len(data) > 2 * _SAMPLE_BYTES:
        middle = data.find(b"\n", len(data) // 2, len(data) // 2 + _SAMPLE_BYTES) + 1
        if middle:
            sample += b"\n" + data[middle : middle + _SAMPLE_BYTES // 2]
    lines = sample.count(b"\n") + 1
    if lines <= 2 + len(sample) // 70 and b" " not in sample and _BASE64.match(sample):
        return TextKind.BASE64
    if _REPR.match(sample) and sample.count(b"'") + sample.count(b"(") > 4:
        return TextKind.REPR
    if _HTML.search(sample, 0, 2_000):
        return TextKind.HTML
    return _by_lines(sample.split(b"\n"))


def _by_lines(lines: list[bytes]) -> TextKind:
    if len(lines) > _MAX_LINES:
        lines = lines[: _MAX_LINES * 2 // 3] + lines[-_MAX_LINES // 3 :]
    if _share(_JSON_LINE, lines) > 0.6:
        return TextKind.JSON_LINES
    if _share(_TRACE, lines) > 0.15:
        return TextKind.TRACE
    if _is_csv(lines, _SURE_DELIMITERS):  # before logs and listings, which a time in every row looks like
        return TextKind.CSV
    if _share(ENTRY, lines) > 0.3 or _is_leveled(lines):
        return TextKind.LOG
    if _is_csv(lines):
        return TextKind.CSV
    if _share(_LISTING, lines) > 0.5:
        return TextKind.LISTING
    if _share(_MARKDOWN, lines) > 0.12:
        return TextKind.MARKDOWN
    return TextKind.CODE if _share(_CODE, lines) > 0.3 else TextKind.PROSE


def _share(pattern: re.Pattern[bytes], lines: list[bytes]) -> float:
    """Return the share of lines that begin with `pattern`."""
    return sum(map(bool, map(pattern.match, lines))) / len(lines)


def _is_leveled(lines: list[bytes]) -> bool:
    """Return whether many lines name a log level near their beginning."""
    lowered = b"\n".join(lines).lower()
    least = 0.4 * len(lines)
    return sum(map(lowered.count, _LEVELS)) > least and _share(_LEVELED, lines) * len(lines) > least


def head_lines(lines: Iterable[bytes]) -> int:
    """Return how many lines stand above the names of the columns: comments and empty ones. Names may have such a mark."""
    first = list(islice(lines, _MAX_HEAD + 1))
    count = sum(
        1 for _ in takewhile(lambda line: not line.strip() or line.startswith(b"#"), first[:_MAX_HEAD])
    )
    if count and count < len(first):
        above, below = (_QUOTED.sub(b"", line) for line in first[count - 1 : count + 1])
        if any(below.count(mark) == above.count(mark) > 0 for mark in _DELIMITERS):
            return count - 1
    return count


def _is_csv(lines: list[bytes], least: int = 1) -> bool:
    """Return whether most lines have as many delimiters as the line of names, and at least so many; in quotes are none.

    Where only delimiters tell it, the first line must be names: words, each another one. A cell in quotes may have lines.
    """
    below = lines[head_lines(lines) :]
    if _are_cells([line for line in below[:_LOOKED_AT] if line.strip()][:-1], least):
        return True
    if not any(line.count(b'"') % 2 for line in below):
        return False
    joined = _QUOTED.sub(lambda cell: cell[0].replace(b"\n", b" "), b"\n".join(below)).split(b"\n")
    return _are_cells([line for line in joined[:_LOOKED_AT] if line.strip()][:-1], max(least, _OF_LINES))


def _are_cells(rows: list[bytes], least: int) -> bool:
    if len(rows) < 3:
        return False
    lines = [_QUOTED.sub(b"", row) for row in rows]
    for delimiter in _DELIMITERS:
        count = lines[0].count(delimiter)
        if count < least or sum(line.count(delimiter) == count for line in lines) < 0.8 * len(lines):
            continue
        first = rows[0] if rows[0].count(delimiter) == count else lines[0]
        names = [name.strip(b' "\r') for name in first.split(delimiter)]
        if sum(b"=" in name for name in names) > len(names) // 2:
            continue  # `name=value,name=value` has no line of names
        if least == 1 or (len(set(names)) == len(names) and all(map(_NAME.fullmatch, names))):
            return True
    return False


_WORD_BEFORE: Final = re.compile(r"[\w.&'’-]+\Z")
_LETTERS: Final = re.compile(r"(?:[^\W\d_]{1,3}\.)+[^\W\d_]{1,3}\Z|[^\W\d_]\Z")
"""Initials and letters with stops: J, e.g, p.m, U.S, z.B, Ph.D."""
_ABBREVIATION: Final = re.compile(
    r"(?:dr|mr|mrs|ms|mx|prof|st|vs|etc|inc|ltd|co|corp|jr|sr|dept|est|approx|ca|cf|al|viz|resp|rev|gen|sen|"
    r"rep|gov|capt|lt|col|sgt|hon|pres|univ|assn|bros|mt|ave|blvd|rd|tel|ext|incl|excl|esp|orig|ed|eds|bzw|"
    r"usw|ggf|evtl|vgl|inkl|zzgl|str|hr|fr|mme|mlle|mm|env|sog|bspw|dipl|ing|geb|mag)\Z",
    re.IGNORECASE,
)
_BEFORE_NUMBER: Final = re.compile(
    r"(?:no|nos|nr|fig|figs|p|pp|vol|vols|art|sec|eq|ch|chap|abb|bd|tab|ref|refs|jan|feb|mar|apr|jun|jul|aug|"
    r"sep|sept|oct|nov|dec|op|ser|cap|§|anm)\Z",
    re.IGNORECASE,
)
_NUMBER_AFTER: Final = re.compile(r"[#(]?(?:\d|[IVXLC]+\b)")
_ORDINAL: Final = re.compile(
    r"(?:Jan|Feb|März|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)\w*|(?:Jahrhundert|Mal|Platz|Stock|Auflage)\b"
)
_SEEN: Final = 24
"""Characters on both sides of a mark that decide whether a sentence ends there."""


def ends_sentence(before: str, mark: str, gap: str, after: str) -> bool:
    """Return whether a sentence ends with `mark`, given what stands around it. In doubt it does not.

    Abbreviations, initials, numbers of lists and German dates have a stop as well, and a sentence does not go on in lower
    case.
    """
    if gap.count("\n") > 1 or not after:
        return True
    if after.lstrip("\"'“‘«([")[:1].islower():
        return False
    if mark != ".":
        return True
    found = _WORD_BEFORE.search(before[-_SEEN:])
    if found is None:
        return True
    word = found[0]
    if word.endswith("."):
        return False  # an ellipsis
    if word.isdigit() and len(word) <= 2:
        is_list = before[-_SEEN:][: found.start()].rstrip(" \t*>-")[-1:] in ("", "\n")
        return not is_list and _ORDINAL.match(after) is None
    last = word.rpartition("-")[2]
    if _BEFORE_NUMBER.match(last) and _NUMBER_AFTER.match(after):
        return False
    return not _ABBREVIATION.match(last) and not _LETTERS.match(last)
