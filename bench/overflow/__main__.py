"""Ask large answers of tools questions with exact answers, through every arm: `python -m bench.overflow`.

`--shape`, `--arm` and `--seed` run a part; `-v` tells each question; `--write` makes docs/overflow.md and its plots;
`--model COMMAND` lets a model read (`bench/overflow/model.py` tells how). Peers need `make .venv-overflow-peers/.ready`.
"""

import argparse
import sys
from functools import partial

from bench.overflow import model, page, reader
from bench.overflow.arms import NAMES, OURS, arms
from bench.overflow.question import SHAPES, shapes
from bench.overflow.reader import Outcome
from bench.overflow.scores import Score, bars, line_of, score_of
from bench.overflow.shapes import KINDS
from bench.report import table

SEEDS = (1, 2, 3)
"""The page shows the first; the figures of ours are counted over all."""


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.overflow")
    parser.add_argument("--seed", type=int, default=SEEDS[0])
    parser.add_argument("--shape", action="append", choices=tuple(SHAPES))
    parser.add_argument("--arm", action="append", choices=NAMES)
    parser.add_argument("--model", metavar="COMMAND", help="reads in place of the scripted reader")
    parser.add_argument("--write", action="store_true", help="measure all and write docs/overflow.md")
    parser.add_argument("-v", "--verbose", action="store_true", help="tell each question")
    return parser.parse_args()


def measure(
    seed: int,
    names: list[str] | None,
    chosen: list[str] | None,
    command: str | None = None,
    *,
    verbose: bool = False,
) -> list[Score]:
    """Ask every arm all questions of every shape; one process for each arm and shape."""
    ask_all = partial(model.ask_all, command=command) if command else reader.ask_all
    scores: dict[str, Score] = {}
    for shape in shapes(seed, names):
        for arm in arms(shape.text, chosen or ()):
            outcomes = ask_all(arm, shape)
            scores.setdefault(arm.name, score_of(arm)).outcomes.extend(outcomes)
            if verbose:
                tell(arm.name, outcomes)
    return [scores[name] for name in NAMES if name in scores]


def tell(name: str, outcomes: list[Outcome]) -> None:
    for one in outcomes:
        mark = "right" if one.is_right else "WRONG"
        print(
            f"{name:20} {one.shape:12} {one.question.kind:8} {mark} {one.calls + 1:3} calls {one.tokens:8,} tokens, "
            f"{one.read_tokens:7,} after the first reply: {one.question.text}",
            flush=True,
        )
        if name == OURS and (not one.is_right or one.calls > 1):
            print("".join(f"    {step}\n" for step in one.trail[:6]), end="")


def main() -> int:
    given = parse()
    if given.write:
        scores = measure(SEEDS[0], None, None)
        others = [measure(seed, None, [OURS])[0] for seed in SEEDS[1:]]
        page.write(scores, others, SEEDS)
        return 0
    scores = measure(given.seed, given.shape, given.arm, given.model, verbose=given.verbose)
    for score in scores:
        print(line_of(score))
        kinds = ((kind, score.of(kind=kind)) for kind in KINDS)
        rights = (f"{kind} {sum(one.is_right for one in of)}/{len(of)}" for kind, of in kinds if of)
        print(f"{'':20} {', '.join(rights)}")
    ours = [one for score in scores if score.name == OURS for one in score.outcomes]
    print(table(bars(scores, ours)) if ours else "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
