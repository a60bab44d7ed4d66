"""Cut long text into chunks that end at a boundary: an entry, a paragraph, a sentence, a row.

A fence stays whole.
"""

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from brimgate.engine.lazy import lazy
from brimgate.engine.textkind import ENTRY, TextKind, ends_sentence, text_kind
from brimgate.engine.tokens.estimator import Estimator
from brimgate.engine.tokens.pairs import tokens_by_block

BLOCK: Final = 256
_SLICES: Final = 5
_SLICE_BLOCKS: Final = 8
_PARAGRAPH: Final = re.compile(rb"\n[ \t]*\r?\n(?:[ \t]*\r?\n)*")
_LINE: Final = re.compile(rb"\n")
_SENTENCE: Final = re.compile(
    # One class of first bytes, then the rest of each ending: the scan between two endings runs ten times
    # faster.
    rb"[.!?\xef\xe3](?:(?<=[.!?])(?:[\"')\]]|\xe2\x80[\x99\x9d]|\xc2\xbb)?[ \t\r\n]+|(?<=\xef)\xbc[\x81\x9f]|(?<=\xe3)\x80\x82)"
)
_ITEM: Final = re.compile(rb"[)}\]'\"], ")
_BLANK: Final = re.compile(rb"[ \t]+")
_ENTRY_END: Final = re.compile(rb"\n(?=" + ENTRY.pattern[1:] + rb")")
_TAG_END: Final = re.compile(rb">[ \t\r\n]*(?=<)")
_HEADING: Final = re.compile(rb"\n(?=#{1,6} )")
_BLOCK_START: Final = re.compile(rb"\n(?=\S)")
_FENCE: Final = re.compile(rb"\n(?:```|~~~)")
# Best cutting places first. A place of one rank wins over any of the next, however far back it lies, as long
# as `share` of the chunk remains. The last resort is between two characters.
_Rank = tuple[re.Pattern[bytes], float]
_RANKS: Final[dict[TextKind, tuple[_Rank, ...]]] = {
    TextKind.LOG: ((_ENTRY_END, 0.3), (_BLOCK_START, 0.3), (_LINE, 0.0)),
    TextKind.TRACE: ((_ENTRY_END, 0.3), (_PARAGRAPH, 0.3), (_BLOCK_START, 0.3), (_LINE, 0.0)),
    TextKind.JSON_LINES: ((_LINE, 0.0),),
    TextKind.CSV: ((_LINE, 0.0),),
    TextKind.LISTING: ((_LINE, 0.0),),
    TextKind.CODE: ((_PARAGRAPH, 0.6), (_BLOCK_START, 0.6), (_LINE, 0.0)),
    TextKind.HTML: ((_PARAGRAPH, 0.7), (_LINE, 0.3), (_TAG_END, 0.3), (_LINE, 0.0)),
    TextKind.MARKDOWN: ((_HEADING, 0.75), (_PARAGRAPH, 0.4), (_SENTENCE, 0.5), (_LINE, 0.0)),
    TextKind.REPR: ((_ITEM, 0.0), (_LINE, 0.0)),
    TextKind.BASE64: ((_LINE, 0.0),),
    TextKind.PROSE: ((_PARAGRAPH, 0.5), (_SENTENCE, 0.0), (_LINE, 0.0)),
}
_LAST_RANKS: Final[tuple[_Rank, ...]] = ((_SENTENCE, 0.0), (_BLANK, 0.5))
_AT_NEWLINES: Final = (_PARAGRAPH, _LINE, _ENTRY_END, _HEADING, _BLOCK_START)
"""Patterns that cannot match where there is no newline."""
_NEWLINE_WINDOW: Final = 1 << 20
_BEFORE: Final = 4
_AHEAD: Final = 80
"""Bytes around a cut that a pattern may look at."""
_SCRAP: Final = 0.1
"""Share of a chunk."""
_SEEN: Final = 48
"""Bytes on both sides of a mark that tell whether a sentence ends there."""


class CostCurve:
    """Tokens from the start of a text to every 256th byte, by the pair table.

    `scale` raises them to the ceiling.
    """

    def __init__(self, data: bytes, estimator: Estimator) -> None:
        self._sums = _block_sums(data, estimator)
        self._data = data
        self._estimator = estimator

    @property
    def total(self) -> float:
        return self._sums[-1]

    @lazy
    def scale(self) -> float:
        return _scale(self._data, self._sums, self._estimator)

    def reach(self, start: int, budget: float) -> int:
        """Return how far a text of about `budget` tokens reaches from `start`."""
        target = self.at(start) + budget / self.scale
        block = bisect_right(self._sums, target) - 1
        if block + 1 >= len(self._sums):
            return len(self._data)
        low, high = self._sums[block], self._sums[block + 1]
        inside = (target - low) / (high - low) if high > low else 0.0
        return max(start + 1, min(len(self._data), int((block + inside) * BLOCK)))

    def at(self, offset: int) -> float:
        block, rest = divmod(offset, BLOCK)
        if block + 1 >= len(self._sums):
            return self._sums[-1]
        return self._sums[block] + (self._sums[block + 1] - self._sums[block]) * rest / BLOCK


def _block_sums(data: bytes, estimator: Estimator) -> "array[float]":
    """Sum the tokens up to every block.

    A plain list would take a sixth of the memory of the text; an array does not.
    """
    sums = array("d", [0.0])
    if estimator.family == "chars4":
        blocks = (min(BLOCK, len(data) - at) * 0.3 for at in range(0, len(data), BLOCK))
    else:
        blocks = tokens_by_block(data, estimator.family, BLOCK)
    sums.extend(accumulate(blocks))
    return sums


def _scale(data: bytes, sums: "array[float]", estimator: Estimator) -> float:
    """Return the highest ratio of ceiling to table over a few slices. A cut based on it seldom has to be undone."""
    blocks = len(sums) - 1
    width = min(_SLICE_BLOCKS, blocks)
    starts = {(blocks - width) * number // (_SLICES - 1) for number in range(_SLICES)}
    ratios = [
        estimator.ceiling(data[at * BLOCK : (at + width) * BLOCK]) / max(sums[at + width] - sums[at], 1.0)
        for at in starts
    ]
    return max(ratios) or 1.0


class LongText:
    """A text with its lines and the places where it may be cut."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._curves: dict[Estimator, CostCurve] = {}

    def curve(self, estimator: Estimator) -> CostCurve:
        if estimator not in self._curves:
            self._curves[estimator] = CostCurve(self.data, estimator)
        return self._curves[estimator]

    @lazy
    def kind(self) -> TextKind:
        return text_kind(self.data)

    @lazy
    def newlines(self) -> Sequence[int]:
        import numpy as np  # loaded by the first long text only

        # In windows: comparing all bytes at once would need as much memory as the text.
        data = np.frombuffer(self.data, np.uint8)
        found = [
            np.flatnonzero(data[start : start + _NEWLINE_WINDOW] == 10) + start
            for start in range(0, len(data), _NEWLINE_WINDOW)
        ]
        return np.concatenate(found) if found else np.zeros(0, np.int64)  # type: ignore[return-value]

    @property
    def line_count(self) -> int:
        """Count lines as an editor does: a final newline ends a line and does not begin one."""
        return len(self.newlines) + (not self.data.endswith(b"\n") and bool(self.data))

    def line_of(self, offset: int) -> int:
        """Return the number, from 0, of the line that contains the byte at `offset`."""
        return int(bisect_left(self.newlines, offset))

    def line_start(self, line: int) -> int:
        if line <= 0:
            return 0
        return int(self.newlines[line - 1]) + 1 if line <= len(self.newlines) else len(self.data)

    @lazy
    def _fences(self) -> list[int]:
        if self.kind is not TextKind.MARKDOWN:
            return []
        first = [0] if self.data.startswith((b"```", b"~~~")) else []
        return first + [found.start() + 1 for found in _FENCE.finditer(self.data)]

    def cut(self, start: int, limit: int) -> int:
        """Return the best end, at most `limit`, for a chunk that begins at `start`. It is always beyond `start`."""
        if limit >= len(self.data):
            return len(self.data)
        last_line = self.data.rfind(b"\n", start, limit) + 1
        for pattern, share in self._ranks:
            low = start + max(1, int((limit - start) * share))
            if last_line < low and pattern in _AT_NEWLINES:
                continue
            end = self._last_line(low, limit) if pattern is _LINE else self._last(pattern, low, limit)
            if end is not None and not self._is_scrap(pattern, start, end, limit):
                return end
        if last_line > (start + limit) // 2:
            return last_line  # inside a fence longer than a chunk
        return _character_cut(self.data, start, limit)

    def _is_scrap(self, pattern: re.Pattern[bytes], start: int, end: int, limit: int) -> bool:
        """Return whether a chunk would be next to nothing because of a line that fits into none, and is cut anyway."""
        following = end + limit - start
        if end - start >= _SCRAP * (limit - start) or following >= len(self.data):
            return False
        if pattern is _SENTENCE and self._last(_SENTENCE, end + 1, following) is not None:
            return False
        return self.data.find(b"\n", end, following) < 0

    @lazy
    def _ranks(self) -> list[_Rank]:
        ranks = _RANKS[self.kind]
        return [*ranks, *(rank for rank in _LAST_RANKS if rank not in ranks)]

    def _last_line(self, low: int, limit: int) -> int | None:
        while (place := self.data.rfind(b"\n", low - 1, limit) + 1) > 0:
            if not self._in_fence(place):
                return place
            limit = place - 1
        return None

    def _last(self, pattern: re.Pattern[bytes], low: int, limit: int) -> int | None:
        """Return the last place where `pattern` ends.

        Searches growing windows from the end, so mostly only the first.
        """
        width = 512
        while True:
            begin = max(low, limit - width)
            found = pattern.finditer(self.data, max(begin - _BEFORE, low - 1), limit + _AHEAD)
            for match in reversed(list(found)):
                if low <= match.end() <= limit and self._may_end(pattern, match):
                    return match.end()
            if begin <= low:
                return None
            width *= 4

    def _may_end(self, pattern: re.Pattern[bytes], found: re.Match[bytes]) -> bool:
        """Return whether a match is a real end: outside a fence, and for a sentence more than a stop."""
        if self._in_fence(found.end()):
            return False
        if pattern is not _SENTENCE or found[0][0] > 0x7F:
            return True
        around = (self.data[max(found.start() - _SEEN, 0) : found.start()], found[0][:1], found[0][1:])
        before, mark, gap = (part.decode("utf-8", "ignore") for part in around)
        return ends_sentence(
            before, mark, gap, self.data[found.end() : found.end() + _SEEN].decode("utf-8", "ignore")
        )

    def _in_fence(self, offset: int) -> bool:
        return bisect_right(self._fences, offset - 1) % 2 == 1 if self._fences else False


def _character_cut(data: bytes, start: int, limit: int) -> int:
    """Cut between two characters, never inside a UTF-8 sequence."""
    end = limit
    while end > start + 1 and data[end] & 0xC0 == 0x80:
        end -= 1
    if end > start + 1:
        return end
    end = start + 1
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end += 1
    return end


@dataclass(frozen=True, slots=True)
class Plan:
    """The end of each chunk of a text."""

    ends: list[int]

    def index_at(self, offset: int) -> int:
        return min(bisect_right(self.ends, offset), len(self.ends) - 1)


def plan_chunks(text: LongText, budget: int, max_lines: int, estimator: Estimator) -> Plan:
    """Cut the whole text at once, so that the number of chunks is known before the first is sent."""
    curve = text.curve(estimator)
    ends: list[int] = []
    at = 0
    while at < len(text.data):
        limit = curve.reach(at, budget)
        by_lines = text.line_start(text.line_of(at) + max_lines)
        at = text.cut(at, by_lines) if by_lines <= limit else text.cut(at, limit)
        ends.append(at)
    return Plan(ends or [0])
