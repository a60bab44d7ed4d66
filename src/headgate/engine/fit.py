"""As much as fits: the largest count of parts whose rendering stays within a budget."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from headgate.engine.render import Rendered
from headgate.engine.tokens import Estimator

_FULL: Final = 0.93
"""A page this full is not tried again with more: that would cost another rendering for little."""
_AIM: Final = 0.96
_PROBE: Final = 6
_MAX_TRIES: Final = 24


@dataclass(frozen=True, slots=True)
class Fitted:
    count: int
    rendered: Rendered
    tokens: int


def fit(render: Callable[[int], Rendered], most: int, size: float, budget: int, estimator: Estimator) -> Fitted | None:
    """The most parts that fit, or nearly; None when not even one does. `size` is the bytes of a part, about."""
    best: Fitted | None = None
    too_many = most + 1
    count = _probe(render, most, size, budget, estimator)
    for _ in range(_MAX_TRIES):
        rendered = render(count)
        tokens = estimator.ceiling(rendered.text)
        if tokens <= budget:
            best = Fitted(count, rendered, tokens)
            if tokens >= _FULL * budget or count + 1 >= too_many:
                break
            following = max(count + 1, int(count * budget * _AIM / max(tokens, 1)))
        else:
            too_many = count
            following = min(count - 1, int(count * budget * _AIM / tokens))
        low = best.count if best else 0
        if too_many - low <= 1:
            break
        count = min(max(following, low + 1), too_many - 1)
    return best


def _probe(render: Callable[[int], Rendered], most: int, size: float, budget: int, estimator: Estimator) -> int:
    """A first guess from what a few parts cost: a table's header is paid once, its rows each time."""
    if most <= _PROBE or size * _PROBE > budget:
        return max(1, min(most, int(budget * 4 / max(size, 1))))
    text = render(_PROBE).text
    tail = text.rsplit("\n", _PROBE // 2)
    rows_stand_alone = len(tail) > _PROBE // 2
    each = sum(map(len, tail[1:])) / (len(tail) - 1) + 1 if rows_stand_alone else len(text) / _PROBE
    fixed = max(len(text) - each * _PROBE, 0)
    characters = budget * len(text) / max(estimator.ceiling(text), 1)
    return max(1, min(most, int((characters * _AIM - fixed) / each)))
