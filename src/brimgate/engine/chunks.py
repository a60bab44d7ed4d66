"""Cut long text into chunks that end at a boundary: an entry, a paragraph, a sentence, a row.

A fence stays whole.
"""

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, NamedTuple

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
_LINE_BLOCK: Final = 1 << 14
_FEW_BYTES: Final = 256
_BEFORE: Final = 4
_AHEAD: Final = 80
_FULL_SHARE: Final = 0.6
EXACT_BYTES: Final = 100_000
"""Up to here tokens and chunks are counted, beyond it they are estimated."""
_ROOMY: Final = 0.92
_AIM: Final = 0.97
"""Bytes around a cut that a pattern may look at."""
_SCRAP: Final = 0.1
"""Share of a chunk."""
_SEEN: Final = 48
"""Bytes on both sides of a mark that tell whether a sentence ends there."""


class CostCurve:
    """Tokens from the start of a text to every 256th byte, by the pair table.

    `scale` raises them to the ceiling.
    """

    def __init__(self, size: int, sums: "array[float]", scale: Callable[[], float]) -> None:
        self._size, self.sums = size, sums
        self._find_scale = scale

    @classmethod
    def of(cls, data: bytes, estimator: Estimator) -> "CostCurve":
        sums = _block_sums(data, estimator)
        return cls(len(data), sums, lambda: _scale(data, sums, estimator))

    @property
    def total(self) -> float:
        return self.sums[-1]

    @lazy
    def scale(self) -> float:
        return self._find_scale()

    def reach(self, start: int, budget: float) -> int:
        """Return how far a text of about `budget` tokens reaches from `start`."""
        target = self.at(start) + budget / self.scale
        block = bisect_right(self.sums, target) - 1
        if block + 1 >= len(self.sums):
            return self._size
        low, high = self.sums[block], self.sums[block + 1]
        inside = (target - low) / (high - low) if high > low else 0.0
        return max(start + 1, min(self._size, int((block + inside) * BLOCK)))

    def at(self, offset: int) -> float:
        block, rest = divmod(offset, BLOCK)
        if block + 1 >= len(self.sums):
            return self.sums[-1]
        return self.sums[block] + (self.sums[block + 1] - self.sums[block]) * rest / BLOCK


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
        self.curves: dict[Estimator, CostCurve] = {}
        """Those that were needed."""
        self.pieces: dict[tuple[int, int, int, Estimator], Piece] = {}
        """Chunks that were cut already; the cutter maintains them."""

    def curve(self, estimator: Estimator) -> CostCurve:
        if estimator not in self.curves:
            self.curves[estimator] = CostCurve.of(self.data, estimator)
        return self.curves[estimator]

    @property
    def size(self) -> int:
        return len(self.data)

    def part(self, start: int, end: int) -> bytes:
        """Return some bytes. Whoever shows a chunk asks for these, and not for all of `data`, which may be far away."""
        return self.data[start:end]

    def between(self, start: int, end: int) -> str:
        """Return a part of the text as it is sent."""
        return self.part(start, end).decode("utf-8", "surrogateescape")

    @lazy
    def kind(self) -> TextKind:
        return text_kind(self.data)

    @lazy
    def newlines(self) -> "array[int]":
        """Count the newlines up to every block: a place for each would take up to eight times the memory of a text."""
        blocks = range(0, len(self.data), _LINE_BLOCK)
        counts = (self.data.count(b"\n", at, at + _LINE_BLOCK) for at in blocks)
        return array("Q", accumulate(counts, initial=0))

    @property
    def line_count(self) -> int:
        """Count lines as an editor does: a final newline ends a line and does not begin one."""
        return self.newlines[-1] + (
            not self.part(self.size - 1, self.size).endswith(b"\n") and bool(self.size)
        )

    def line_of(self, offset: int) -> int:
        """Return the number, from 0, of the line that contains the byte at `offset`."""
        block = min(offset // _LINE_BLOCK, len(self.newlines) - 1)
        return self.newlines[block] + self.part(block * _LINE_BLOCK, offset).count(b"\n")

    def line_start(self, line: int) -> int:
        if line <= 0:
            return 0
        if line > self.newlines[-1]:
            return self.size
        block = bisect_left(self.newlines, line) - 1
        start = block * _LINE_BLOCK
        return start + _nth_newline(self.part(start, start + _LINE_BLOCK), line - self.newlines[block]) + 1

    @lazy
    def fences(self) -> "array[int]":
        places = array("I")
        if self.kind is TextKind.MARKDOWN:
            places.extend([0] if self.data.startswith((b"```", b"~~~")) else [])
            places.extend(found.start() + 1 for found in _FENCE.finditer(self.data))
        return places

    def cut(self, start: int, limit: int) -> int:
        """Return the best end, at most `limit`, for a chunk that begins at `start`. It is always beyond `start`."""
        if limit >= len(self.data):
            return len(self.data)
        last_line = self.data.rfind(b"\n", start, limit) + 1
        full = start + int((limit - start) * _FULL_SHARE)
        for pattern, share in self._ranks:
            low = start + max(1, int((limit - start) * share))
            if last_line < low and pattern in _AT_NEWLINES:
                continue
            end = self._last_line(low, limit) if pattern is _LINE else self._last(pattern, low, limit)
            if end is not None and (end >= full or self._fits_next(pattern, end, limit, limit - start)):
                return end
        if last_line > (start + limit) // 2:
            return last_line  # inside a fence longer than a chunk
        return _character_cut(self.data, start, limit)

    def _fits_next(self, pattern: re.Pattern[bytes], end: int, limit: int, width: int) -> bool:
        """Return whether what follows an early cut is whole in the next chunk.

        If not, it is cut anyway, and may as well fill this chunk: a short line before a long one is no chunk.
        """
        return end + width >= len(self.data) or pattern.search(self.data, limit, end + width + 1) is not None

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
        return bisect_right(self.fences, offset - 1) % 2 == 1 if self.fences else False


def _nth_newline(text: bytes, number: int) -> int:
    """Return where newline number `number` is, from 1. Halves the text until little is left."""
    low, high = 0, len(text)
    while high - low > _FEW_BYTES:
        middle = (low + high) // 2
        before = text.count(b"\n", low, middle)
        if before >= number:
            high = middle
        else:
            low, number = middle, number - before
    at = low - 1
    for _ in range(number):
        at = text.index(b"\n", at + 1)
    return at


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


def rounded(number: int) -> int:
    """Return an estimate as such: with two significant digits, or three that begin with 1."""
    unit = 10 ** max(len(str(number)) - (3 if str(number).startswith("1") else 2), 0)
    return round(number / unit) * unit


class Piece(NamedTuple):
    """A chunk: where it ends, and its tokens."""

    end: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Cutter:
    """Cuts a text into chunks, each as full as its boundaries allow. From one place on, they are always the same."""

    text: LongText
    budget: int
    max_lines: int
    estimator: Estimator

    def piece(self, start: int, budget: int = 0) -> Piece:
        """Return the chunk that begins at `start`."""
        budget = budget or self.budget
        key = (start, budget, self.max_lines, self.estimator)
        known = self.text.pieces.get(key)
        if known is None:
            known = self._piece(start, budget)
            if self.is_exact:
                self.text.pieces[key] = known
        return known

    def _piece(self, start: int, budget: int) -> Piece:
        text = self.text
        by_lines = text.line_start(text.line_of(start) + self.max_lines)
        limit = min(text.curve(self.estimator).reach(start, budget), by_lines)
        piece = self._fitting(start, text.cut(start, limit), budget)
        # The curve is careful. Where it was too careful, there is room for more.
        expected = piece.tokens * (limit - start) / max(piece.end - start, 1)
        if expected < _ROOMY * budget and piece.end < text.size and limit < by_lines:
            wider = min(start + int((limit - start) * _AIM * budget / max(expected, 1)), by_lines)
            more = self._fitting(start, text.cut(start, wider), budget)
            return max(piece, more)
        return piece

    def _fitting(self, start: int, end: int, budget: int) -> Piece:
        """Return the text up to `end`, or up to an earlier boundary if that is over the budget."""
        while True:
            tokens = self.estimator.ceiling(self.text.between(start, end))
            if tokens <= budget or end - start <= 1:
                return Piece(end, tokens)
            shorter = self.text.cut(start, start + max(1, int((end - start) * budget / tokens * 0.97)))
            if shorter >= end:
                return Piece(end, tokens)
            end = shorter

    @property
    def is_exact(self) -> bool:
        """Whether chunks are counted. In a long text their number is estimated: counting would read all of it."""
        return self.text.size <= EXACT_BYTES

    def total(self, before: int, end: int) -> int:
        """Return the number of all chunks, given how many there are up to `end`."""
        if self.is_exact or end >= self.text.size:
            return before + self.count(end, self.text.size)
        # Told alike in every reply, as long as it can be true.
        return max(rounded(self.count(0, self.text.size)), before + 1)

    def count(self, start: int, end: int) -> int:
        """Return how many chunks there are from `start` to `end`."""
        if not self.is_exact:
            curve = self.text.curve(self.estimator)
            tokens = (curve.at(end) - curve.at(start)) * curve.scale
            return max(round(tokens / (self.budget * _AIM)), int(start < end))
        found = 0
        while start < end:
            start = self.piece(start).end
            found += 1
        return found
