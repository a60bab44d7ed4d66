"""One finding that stands out, words that only sound like trouble, and the sample for large answers."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Final

from brimgate.engine.document import Document, PlainText
from brimgate.engine.jsontext import Children

STANDS_OUT: Final = "stands out"
MAP_OF: Final = "map of "
"""How the two parts of what is told of the whole begin."""
_MAX_CHARS: Final = 360
_MIN_CUT: Final = 20
"""Fewer characters are not worth saying that they were cut."""
_SPACE: Final = re.compile(r"\s+")
MAX_BYTES: Final = 12 << 20
"""Up to this size the whole answer is inspected: 10 MB take 0.1 to 0.5 s."""
_SAMPLE_BYTES: Final = 3 << 20
_OBJECT_ROOM: Final = 38 << 20
_UNIT_BYTES: Final = 400
_MARK_BYTES: Final = {b",": 120, b"{": 250, b"[": 150}
_WORD_BYTES: Final = 80
"""What rows, values and words take as Python objects."""
_SAMPLED: Final = 0.3
_WINDOWS: Final = 30
_MAX_ALARMS: Final = 2_000
"""If there are more, they are no longer exceptions, and the windows show them."""
_ALARM: Final = (
    rb"\b(?:FATAL|PANIC|EMERG|CRITICAL|CRIT|ERROR|SEVERE|fatal|panic|critical|Traceback|\w*Exception|\w*Error)\b"
    rb"|(?i:corrupt)"
)


@dataclass(frozen=True, slots=True)
class Finding:
    place: int
    """The line number from 1, or the index of the item from 0."""
    score: float
    text: str
    """One line; see `clip`."""
    label: str = ""
    """What names the place, if not its number: a JSON pointer."""
    brief: str = ""
    """The same in fewer words, for where there is little room."""


def clip(text: str, most: int = _MAX_CHARS) -> str:
    """Return one line, cut in the middle when long: what is odd is often at the end. Says how much was cut."""
    text = _SPACE.sub(" ", text).strip()
    if len(text) <= most + _MIN_CUT:
        return text
    head, tail = most * 2 // 3, most // 3
    return f"{text[:head]} … [{len(text) - head - tail:,} characters] … {text[-tail:]}"


_TROUBLE: Final = r"(?:errors?|failures?|failed|fail|exceptions?|alerts?|timeouts?|fatals?|panics?|crash(?:es|ed)?|violations?)"
_NOTHING: Final = (
    r"(?:0+(?:\.0+)?%?(?![\w.:/-])|(?:null|none|nil|false|no|\[\]|\"\"|'')(?=\s*(?:$|[,;}\])\"'|]|[\w.]+=)))"
)
_CALM: Final = re.compile(
    # Counts of nothing: "0 errors", "no failures", "errors: 0", "error=null", "failed: 0".
    r"(?<![\w.,])(?:(?:no|zero|0|without|free of)(?: any| an?)?[ -]"
    r"(?:(?:fatal|critical|new|open|further|known|more|other|test|such) )?|(?:not|never|nor) )"
    + _TROUBLE
    + r"\b|(?<![A-Za-z])"
    + _TROUBLE
    + r"(?:[_ -]?(?:count|total|code))?[\"']?(?: ?[:=] ?[\"']?"
    + _NOTHING
    + r"| 0+(?![\w.:/-]))"
    # Words of a trade, and plain English.
    r"|\berror[ _-](?:budget|rate|handling|handler|margin|bar|correct|free|page|log|boundar|report|track|prevent|detect|prone)\w*"
    r"|\b(?:margin of|trial and) error\b|\bfail[ -]?(?:safe|over|fast|back|soft)\w*|\bcrash course\b"
    r"|\b(?:mission|business|time|safety)[ -]critical\b|\bcritical (?:path|mass|thinking|section)s?\b"
    r"|\bwith the exception of\b|\bpanic button\b|\btimeout[\"']?(?:[ _]?(?:seconds|ms))?[\"']? ?[:=] ?\d"
    # Paths and file names.
    r"|(?:https?:/|(?<![\w/])\.{0,2})/[^\s\"']+|(?<![\w/.-])[\w.-]+(?:/[\w.-]+)*\.(?:md|html?|py|[jt]sx?|go|rs|java|log|txt|json|ya?ml|css)\b",
    re.IGNORECASE,
)
_SERVER_ERROR: Final = re.compile(
    r"\bHTTP(?:/\d(?:\.\d)?)?[\"']?[ :=]{1,3}5\d\d(?![\w.,:-]\d|\w)"
    r"|\b(?:http[ _-]?|response[ _-]?)?status(?:[ _-]?code)?[\"']?(?: ?[:=] ?| of | is | was | )[\"']?5\d\d(?![\w.,:-]\d|\w)"
    r"|(?<![\w.-])(?:http|response)[ _-]?code[\"']?[ :=]{1,3}[\"']?5\d\d(?!\w)"
    r"|(?<![\w.-])code=[\"']?5\d\d(?!\w)|[\"']code[\"'] ?: ?5\d\d(?!\w)|\" 5\d\d (?:\d|-)",
    re.IGNORECASE,
)
"""A status of 500 to 599 where the words around it say that it is one."""


def calm(text: str) -> str:
    """Return the text without words that sound like trouble and report none: `0 errors`, `error budget`, a path."""
    return _CALM.sub("~", text)


def is_server_error(text: str) -> bool:
    found = islice(_FIVE_HUNDRED.finditer(text), _MAX_NUMBERS)
    return any(_SERVER_ERROR.search(text[max(at.start() - 40, 0) : at.end() + 4]) for at in found)


_FIVE_HUNDRED: Final = re.compile(r"[ =:\"']5\d\d(?!\w)")
_MAX_NUMBERS: Final = 200


@dataclass(frozen=True, slots=True)
class Sample:
    document: Document
    places: Sequence[int] | None = None
    """Where each item or line of the sample is in the answer, from 0; None if it is the whole answer."""
    total: int = 0
    is_too_large: bool = False
    """Whether it is the whole of an object that is too large to be looked at at once."""

    @property
    def note(self) -> str:
        if self.places is None:
            return ""
        unit = "items" if self.document.is_json else "lines"
        return f"in a sample of {len(self.places):,} of {self.total:,} {unit}"


def sample(document: Document) -> Sample:
    children = document.open(document.root) if document.is_json else None
    if children is not None and children.keys is not None:
        return Sample(
            document, is_too_large=len(document.data) > MAX_BYTES or _share(document, len(children)) < 1
        )
    share = _share(document, len(children) if children is not None else document.long_text.line_count)
    if len(document.data) <= MAX_BYTES and share >= 1:
        return Sample(document)
    size = min(_SAMPLE_BYTES, int(len(document.data) * share * _SAMPLED))
    return _sample_items(document, children, size) if children is not None else _sample_lines(document, size)


def _share(document: Document, units: int) -> float:
    """Return which part of an answer may become Python objects at a time, by what they take."""
    data = document.data
    taken = _UNIT_BYTES * units + sum(size * data.count(mark) for mark, size in _MARK_BYTES.items())
    if not document.is_json:
        taken += _WORD_BYTES * data.count(b" ")
    return (_OBJECT_ROOM + 3 * len(data)) / (taken + 1)


def _sample_items(document: Document, children: Children, size: int) -> Sample:
    chosen: dict[int, bytes] = {}
    for at in chain.from_iterable(_choose(document.data, size, children.index_at)):
        chosen[at] = document.data[children.starts[at] : children.ends[at]]
    kept = _without_giants(chosen)
    return Sample(Document(b"[" + b",".join(kept.values()) + b"]"), list(kept), len(children))


def _sample_lines(document: Document, size: int) -> Sample:
    text = document.long_text
    chosen: dict[int, bytes] = {}
    for lines in _choose(document.data, size, text.line_of):
        run = document.data[text.line_start(lines.start) : text.line_start(lines.stop)]
        chosen.update(zip(lines, run.removesuffix(b"\n").split(b"\n"), strict=False))
    kept = _without_giants(chosen)
    return Sample(PlainText(b"\n".join(kept.values())), list(kept), text.line_count)


def _without_giants(chosen: dict[int, bytes]) -> dict[int, bytes]:
    """Leave out what alone is larger than the whole sample should be."""
    return {at: raw for at, raw in chosen.items() if len(raw) <= _SAMPLE_BYTES}


def _choose(data: bytes, size: int, index_at: Callable[[int], int]) -> list[range]:
    """Choose items or lines by number: the first (it may be a header), windows from everywhere, those with an alarm."""
    width, step = size // _WINDOWS, len(data) // _WINDOWS
    places = [(at, at + width) for at in range(0, step * _WINDOWS, step)]
    places += [(at, at) for at in _alarms(data)]
    chosen: list[range] = []
    for begin, end in sorted(places):
        first, last = max(index_at(begin), 0), max(index_at(end), 0)
        after = chosen[-1].stop if chosen else 0
        if last >= after:
            chosen.append(range(max(first, after), last + 1))
    return chosen


def _alarms(data: bytes) -> list[int]:
    # 64 MiB in 0.13 s; the standard `re` takes ten times that.
    import re2  # pyright: ignore[reportMissingTypeStubs]

    found: list[int] = []
    matches: Any = re2.finditer(_ALARM, data)  # pyright: ignore[reportUnknownMemberType]
    for match in matches:
        found.append(match.start())
        if len(found) > _MAX_ALARMS:
            return []
    return found
