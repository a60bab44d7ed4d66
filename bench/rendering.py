"""`python -m bench.rendering [--terse VENV] [--set NAME]`: the tokens of our best lossless form of JSON, kind by kind.

Beside it stand minified JSON and what terse-mcp makes of the same value, without the primer that it sends once a session.
terse-mcp is looked for in VENV (`.venv-peers` unless told): `python -m venv VENV && VENV/bin/pip install terse-mcp==0.45.*`.
It chooses its aliases by counting tokens of cl100k, which it downloads; here it gets our o200k to count with, and a second
time, in the last column, its own guess of four characters a token, which it falls back to without a network.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.fidelity import planted
from brimgate.engine import jsontext
from brimgate.engine.forms import AUTO, FORMS, render
from brimgate.engine.tokens.estimator import Estimator
from brimgate.engine.tokens.vocabularies import load_vocabulary

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT.parent / "shared" / "corpus"
LEAST_SAVED = 0.10
MOST_WORSE = 0.05
ROUNDS = 5
Compress = Callable[[Any], str]


@dataclass
class Figures:
    """Tokens of one value, and the CPU time of rendering it."""

    kind: str
    form: str
    minified: int
    ours: int
    cpu_ms: float
    terse: int = 0
    terse_guessing: int = 0


def values(seed: int, name: str) -> Iterator[tuple[str, bytes]]:
    """Yield the JSON kinds of a set of generators, and the corpus."""
    import_module(f"bench.fidelity.{name}")
    for case in planted.cases(seed):
        if case.is_json:
            yield case.kind, jsontext.canonical(case.text.encode())
    for path in sorted(CORPUS.glob("*.json")):
        yield path.name, jsontext.canonical(path.read_bytes())


def terse_in(venv: Path) -> Callable[[Callable[[str], int] | None], Compress] | None:
    """Return what makes the compressor of terse-mcp with a counter of tokens, or None if it is not installed there."""
    sites = [site for site in venv.glob("lib/python*/site-packages") if (site / "terse").is_dir()]
    if not sites:
        return None
    sys.path.append(str(sites[0]))
    transforms: Any = import_module("terse.transforms")

    def made(count: Callable[[str], int] | None) -> Compress:
        def compress(value: Any) -> str:
            transforms.count_cl100k = count or (lambda _: None)
            text = transforms.compress(value)
            assert transforms.decompress(text) == value
            return text

        return compress

    return made


@lru_cache(100_000)
def o200k(text: str) -> int:
    return len(load_vocabulary("o200k").encode(text))


def measure(kind: str, raw: bytes, estimator: Estimator) -> Figures:
    made = render(raw, AUTO, estimator)
    assert FORMS[made.form].decode(made.text) == raw, f"{kind} does not read back"
    taken: list[float] = []
    for _ in range(ROUNDS):
        began = time.process_time()
        render(raw, AUTO, estimator)
        taken.append(1_000 * (time.process_time() - began))
    return Figures(kind, made.form, estimator.count(raw), estimator.count(made.text), min(taken))


def share(part: float, whole: float) -> str:
    return f"{part / whole:.2f}" if whole else "-"


def show(one: Figures) -> None:
    print(
        f"| {one.kind} | {one.form} | {one.minified:,} | {one.ours:,} | {one.terse:,} | {share(one.ours, one.minified)} "
        f"| {share(one.ours, one.terse)} | {one.cpu_ms:.1f} | {one.terse_guessing:,} |",
        flush=True,
    )


def summed(figures: list[Figures]) -> Figures:
    return Figures(
        "total",
        "",
        sum(one.minified for one in figures),
        sum(one.ours for one in figures),
        sum(one.cpu_ms for one in figures),
        sum(one.terse for one in figures),
        sum(one.terse_guessing for one in figures),
    )


def judge(figures: list[Figures], total: Figures, counter: str, of: Callable[[Figures], int]) -> None:
    saved = 1 - total.ours / of(total)
    worse = [
        f"{one.kind} ({one.ours / of(one) - 1:+.1%})"
        for one in figures
        if one.ours > (1 + MOST_WORSE) * of(one)
    ]
    print(
        f"{'ok ' if saved >= LEAST_SAVED else 'NOT'} {saved:.1%} fewer tokens than terse-mcp {counter} (≥ {LEAST_SAVED:.0%})\n"
        f"{'NOT' if worse else 'ok '} more than {MOST_WORSE:.0%} worse on: {', '.join(worse) or 'no kind'}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.rendering")
    parser.add_argument(
        "--terse", type=Path, default=ROOT / ".venv-peers", help="the environment of terse-mcp"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--set", default="set_one", help="a set of generators of bench/fidelity")
    given = parser.parse_args()
    terse = terse_in(given.terse)
    estimator = Estimator("claude")
    figures: list[Figures] = []
    print(
        "| kind | form | minified | ours | terse-mcp | ours / minified | ours / terse-mcp | CPU ms | terse-mcp, guessing |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for kind, raw in values(given.seed, given.set):
        one = measure(kind, raw, estimator)
        if terse:
            one.terse = estimator.count(terse(o200k)(json.loads(raw)))
            one.terse_guessing = estimator.count(terse(None)(json.loads(raw)))
        figures.append(one)
        show(one)
    total = summed(figures)
    show(total)
    if not terse:
        print(f"terse-mcp is not installed in {given.terse}: compared with minified JSON only")
        return 0
    judge(figures, total, "counting with o200k", lambda one: one.terse)
    judge(figures, total, "guessing", lambda one: one.terse_guessing)
    return 0


if __name__ == "__main__":
    sys.exit(main())
