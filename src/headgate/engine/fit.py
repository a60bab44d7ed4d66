"""As much as fits: the largest count of parts whose rendering stays within a budget."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from headgate.engine.render import Rendered
from headgate.engine.tokens import Estimator

_FULL: Final = 0.93
"""A page this full is not tried again with one more item: it would cost another rendering for little."""
_AIM: Final = 0.975
_MAX_TRIES: Final = 24


@dataclass(frozen=True, slots=True)
class Fitted:
    count: int
    rendered: Rendered
    tokens: int


def fit(
    render: Callable[[int], Rendered], most: int, guess: int, budget: int, estimator: Estimator
) -> Fitted | None:
    """Try counts around the proportional guess, keeping what is known to fit and what is known not to."""
    best: Fitted | None = None
    too_many = most + 1
    count = max(1, min(guess, most))
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
