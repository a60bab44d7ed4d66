"""How the cost of a long text grows along it, so that a cut can be placed without counting anything twice."""

from array import array
from bisect import bisect_right
from itertools import accumulate
from typing import Final

from brimgate.engine.lazy import lazy
from brimgate.engine.tokens.estimator import Estimator
from brimgate.engine.tokens.pairs import tokens_by_block

BLOCK: Final = 256
_SLICES: Final = 5
_SLICE_BLOCKS: Final = 8


class CostCurve:
    """Tokens from the start of a text to every 256th byte, by the pair table; `scale` lifts them to the ceiling."""

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
        """How far from `start` a text of about `budget` tokens goes."""
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
    """An array: as a list of numbers it would take a sixth of the memory of the text."""
    sums = array("d", [0.0])
    if estimator.family == "chars4":
        blocks = (min(BLOCK, len(data) - at) * 0.3 for at in range(0, len(data), BLOCK))
    else:
        blocks = tokens_by_block(data, estimator.family, BLOCK)
    sums.extend(accumulate(blocks))
    return sums


def _scale(data: bytes, sums: "array[float]", estimator: Estimator) -> float:
    """The highest ratio of ceiling to table over a few slices: a cut by it seldom has to be taken back."""
    blocks = len(sums) - 1
    width = min(_SLICE_BLOCKS, blocks)
    starts = {(blocks - width) * number // (_SLICES - 1) for number in range(_SLICES)}
    ratios = [
        estimator.ceiling(data[at * BLOCK : (at + width) * BLOCK]) / max(sums[at + width] - sums[at], 1.0)
        for at in starts
    ]
    return max(ratios) or 1.0
