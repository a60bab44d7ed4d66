"""Which of many numbers lie apart from all the others?"""

from collections.abc import Sequence
from typing import Final

_MIN_VALUES: Final = 12
_MIN_DISTINCT: Final = 5
_MAX_APART: Final = 3
_GAP: Final = 1.5
"""How far beyond the rest, in units of the rest's own distance from the median. Heavy but natural tails (log-normal
prices, say) stay below it; a slip by a factor of ten does not."""


def outliers(values: Sequence[float]) -> list[tuple[int, float]]:
    """Index and how far out (in gaps) of at most a few values that lie apart, above or below."""
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
    """The smallest of the values at the end of an ordered tail that lie apart, and how far; reach 0 if none does."""
    for at in range(len(tail) - 1, 0, -1):
        gap, spread = tail[at] - tail[at - 1], tail[at - 1] - middle
        if spread > 0 and gap > _GAP * spread:
            return tail[at], gap / spread
    return 0.0, 0.0
