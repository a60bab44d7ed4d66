"""What a detector tells of an answer: a map of the whole, and what stands out in it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from brimgate.engine.highlights.findings import Finding
from brimgate.engine.lazy import lazy
from brimgate.engine.maps.line_times import LineTimes

MUST_SEE: Final = 12.0
"""The score of a finding that nobody should miss: a failing test, a destroyed resource, a secret."""
WORTH_A_LOOK: Final = 8.0
SLIGHTLY_ODD: Final = 4.0
_MAX_LINE_CHARS: Final = 2_000
_HEAD, _MIDDLE, _TAIL = 100, 60, 60
_MIN_TIMES: Final = 24


@dataclass(frozen=True, slots=True)
class MapLine:
    text: str
    """One line."""
    weight: float = 1.0
    """From 0 to 10: heavier lines stay when room is short. They are shown in the order in which they were made."""
    under: str = ""
    """The heading that it stands under, which is written once above its lines."""
    is_whole: bool = False
    """Whether it tells nothing when it is cut."""


@dataclass(frozen=True, slots=True)
class Survey:
    title: str
    """What it is, with the totals of the whole: `600 tests: 571 passed, 26 skipped, 3 failed`."""
    lines: Sequence[MapLine] = ()
    findings: Sequence[Finding] = ()
    """What stands out: the place is the number of its line, from 1."""
    is_thorough: bool = True
    """Whether all of it was looked at for what stands out, so that an empty list means that nothing does."""


@dataclass(frozen=True)
class TextLines:
    """A text as detectors read it."""

    lines: list[str]
    """All of its lines, without those of a last line break; a very long one is cut."""
    sample: list[str] = field(default_factory=list[str])
    """Some lines of the beginning, the middle and the end, in order: enough to recognise a kind."""

    @classmethod
    def of(cls, text: str) -> "TextLines":
        lines = [line[:_MAX_LINE_CHARS].rstrip("\r") for line in text.removesuffix("\n").split("\n")]
        if len(lines) <= _HEAD + _MIDDLE + _TAIL:
            return cls(lines, lines)
        middle = (len(lines) - _MIDDLE) // 2
        return cls(lines, [*lines[:_HEAD], *lines[middle : middle + _MIDDLE], *lines[-_TAIL:]])

    @lazy
    def times(self) -> LineTimes | None:
        """The times of a log, most of whose lines have one."""
        return LineTimes.of(self.lines)

    @lazy
    def some_times(self) -> LineTimes | None:
        """The times that some lines have, of any text with enough of them."""
        return LineTimes.of(self.lines, least=_MIN_TIMES)


@dataclass(frozen=True, slots=True)
class Detector:
    """One kind of text: how it is recognised by its content, and what is told of it."""

    kind: str
    recognise: Callable[[TextLines], float]
    """Returns from 0 (it is not) to 1 (it is, without doubt). It looks at `sample`, and is quick."""
    survey: Callable[[TextLines], Survey]
    has_end: bool = True
    """Whether its last lines are worth showing: programs say last what they found, documents just end."""
    has_prose: bool = False
    """Whether it is made of sentences, which are compared with each other."""
