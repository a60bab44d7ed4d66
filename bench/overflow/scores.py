"""What the outcomes of an arm come to: rightness, tokens, calls; and the bars that ours has to meet."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Final

from bench.overflow.arms import OURS
from bench.overflow.question import AGGREGATES
from bench.overflow.reader import CAPS, Arm, Outcome
from bench.report import Row

FEW_TOKENS: Final = 400
ENOUGH: Final = 0.98


@dataclass
class Score:
    """All outcomes of one arm."""

    name: str
    version: str
    is_bounded: bool
    needs_shell: bool
    outcomes: list[Outcome] = field(default_factory=list[Outcome])

    @property
    def right(self) -> float:
        return right(self.outcomes)

    @property
    def token_calls(self) -> float:
        return fmean(one.token_calls for one in self.outcomes)

    def mean(self, what: Callable[[Outcome], float]) -> float:
        return fmean(map(what, self.outcomes))

    def median(self, what: Callable[[Outcome], float]) -> float:
        return median(map(what, self.outcomes))

    def total(self, what: Callable[[Outcome], int]) -> int:
        return sum(map(what, self.outcomes))

    def over(self, cap: str) -> int:
        """How many of its replies a client would not give to the model as they are."""
        return sum(one.over[cap] for one in self.outcomes)

    def of(self, *, shape: str = "", kind: str = "") -> list[Outcome]:
        return [one for one in self.outcomes if shape in ("", one.shape) and kind in ("", one.question.kind)]


def score_of(arm: Arm) -> Score:
    return Score(arm.name, arm.version, arm.is_bounded, arm.needs_shell)


def right(outcomes: Iterable[Outcome]) -> float:
    return fmean([one.is_right for one in outcomes] or [False])


def is_at_once(outcome: Outcome) -> bool:
    """Whether a figure was right by at most one `brimgate_read` after the call of the tool, for few tokens both ways."""
    return outcome.is_right and outcome.calls <= 1 and outcome.read_tokens < FEW_TOKENS


def aggregates(outcomes: Iterable[Outcome]) -> list[Outcome]:
    return [one for one in outcomes if one.question.kind in AGGREGATES]


def bars(scores: list[Score], seeds: list[Outcome]) -> list[Row]:
    """Compare ours with its bars; `seeds` are its outcomes over all seeds that were measured."""
    ours = next((score for score in scores if score.name == OURS), None)
    if ours is None:
        return []
    figures = aggregates(seeds)
    share = fmean([is_at_once(one) for one in figures] or [False])
    others = [score for score in scores if score is not ours]
    peers = [score for score in others if score.is_bounded and not score.needs_shell]
    better = [score.name for score in peers if score.right > ours.right]
    cheaper = [score.name for score in others if score.token_calls < ours.token_calls]
    return [
        Row(
            f"figures right by at most one `brimgate_read` of under {FEW_TOKENS} tokens, of {len(figures)}",
            f"≥ {ENOUGH:.0%}",
            f"{share:.1%}",
            share >= ENOUGH,
        ),
        Row("bounded arms without a shell that are right more often", "none", _named(better), not better),
        Row("arms that take fewer tokens times calls", "none", _named(cheaper), not cheaper),
    ]


def _named(names: list[str]) -> str:
    return ", ".join(names) or "none"


def losses(scores: list[Score], groups: Iterable[tuple[str, str]]) -> Iterable[str]:
    """Tell for each shape or kind which arms are right more often than ours, or as often for fewer tokens."""
    ours = next((score for score in scores if score.name == OURS), None)
    for shape, kind in groups if ours else ():
        assert ours is not None
        mine = ours.of(shape=shape, kind=kind)
        for other in scores:
            theirs = other.of(shape=shape, kind=kind)
            if other is ours or not theirs or not mine:
                continue
            if right(theirs) > right(mine):
                yield f"{shape or kind}: {other.name} is right in {right(theirs):.0%}, ours in {right(mine):.0%}"
            elif right(theirs) == right(mine) and _tokens(theirs) < _tokens(mine):
                yield f"{shape or kind}: {other.name} takes {_tokens(theirs):,.0f} tokens, ours {_tokens(mine):,.0f}"


def _tokens(outcomes: list[Outcome]) -> float:
    return fmean(one.tokens for one in outcomes)


def line_of(score: Score) -> str:
    over = ", ".join(f"{cap} {score.over(cap)}" for cap in CAPS if score.over(cap))
    return (
        f"{score.name:20} right {score.right:6.1%}  tokens {score.mean(lambda one: one.tokens):9,.0f}  "
        f"calls {score.mean(lambda one: one.calls + 1):5.1f}  tokens x calls {score.token_calls:11,.0f}  "
        f"re-runs {score.total(lambda one: one.reruns):3}  replies over the cap of: {over or 'none'}"
    )
