"""As much as fits: the largest count of parts whose rendering stays within a budget."""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from brimgate.engine.tokens.estimator import Estimator

if TYPE_CHECKING:
    from brimgate.engine.forms import Rendered

_FULL: Final = 0.89
"""A page this full is not tried again with more: that would cost another rendering for little."""
_AIM: Final = 0.965
_FIRST_AIM: Final = 0.925
"""From a few parts only: a row less than might fit is cheaper than another rendering."""
_NEARLY: Final = 1.08
_PROBE: Final = 6
_MAX_TRIES: Final = 24
_TOKENS_PER_BYTE: Final = 0.15
"""Of JSON whose parts are too big to try a few first."""

Size = Callable[[int], float]
"""Bytes of the first so many parts, about."""


@dataclass(frozen=True, slots=True)
class Fitted:
    count: int
    rendered: "Rendered"
    tokens: int


def fit(
    render: "Callable[[int], Rendered]", most: int, size: Size, budget: int, estimator: Estimator
) -> Fitted | None:
    """The most parts that fit, or nearly; None when not even one does."""
    best: Fitted | None = None
    too_many = most + 1
    line = _probe(render, most, size, budget, estimator)
    count = _count_at(size, most, line.bytes_for(budget * _FIRST_AIM))
    for _ in range(_MAX_TRIES):
        rendered = render(count)
        tokens = estimator.ceiling(rendered.text)
        line = line.through(size(count), tokens)
        following = _count_at(size, most, line.bytes_for(budget * _AIM))
        if tokens <= budget:
            best = Fitted(count, rendered, tokens)
            if tokens >= _FULL * budget or count + 1 >= too_many:
                break
        else:
            too_many = count
            following = min(following, int(count * budget * _AIM / tokens))
        low = best.count if best else 0
        if too_many - low <= 1:
            break
        count = min(max(following, low + 1), too_many - 1)
    return _rounded(best, render, min(most, too_many - 1), budget, estimator)


def _rounded(
    best: Fitted | None,
    render: "Callable[[int], Rendered]",
    most: int,
    budget: int,
    estimator: Estimator,
) -> Fitted | None:
    """All that were asked for, where nearly all fit: a page of 50 is worth another rendering, one of 48 is not."""
    if best is None or not best.count < most <= best.count * _NEARLY:
        return best
    rendered = render(most)
    tokens = estimator.ceiling(rendered.text)
    return Fitted(most, rendered, tokens) if tokens <= budget else best


@dataclass(frozen=True, slots=True)
class _Line:
    """Tokens by bytes as a straight line: a table's header is paid once, its rows each time."""

    size: float
    tokens: float
    rate: float

    def bytes_for(self, tokens: float) -> float:
        return self.size + (tokens - self.tokens) / self.rate

    def through(self, size: float, tokens: int) -> "_Line":
        if size == self.size or not self.size:
            return _Line(size, tokens, max(tokens / max(size, 1), 1e-4))
        rate = (tokens - self.tokens) / (size - self.size)
        return _Line(size, tokens, rate if rate > self.rate / 4 else self.rate)


def _count_at(size: Size, most: int, wanted: float) -> int:
    """How many parts have so many bytes; at least one."""
    return max(1, bisect_right(range(1, most + 1), wanted, key=size))


def _probe(
    render: "Callable[[int], Rendered]", most: int, size: Size, budget: int, estimator: Estimator
) -> _Line:
    """What a few parts cost."""
    few = min(_PROBE, most)
    if most <= _PROBE or size(few) > budget:
        return _Line(0, 0, _TOKENS_PER_BYTE)
    text = render(few).text
    rows = text.rsplit("\n", few)
    rows_stand_alone = len(rows) > few
    alone = estimator.ceiling("\n".join(rows[1:])) if rows_stand_alone else estimator.ceiling(text)
    tokens = estimator.ceiling(text) if rows_stand_alone else alone
    return _Line(size(few), tokens, max(alone / max(size(few), 1), 1e-4))
