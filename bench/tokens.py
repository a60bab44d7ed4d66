"""The bars of the token estimator, measured against the true counts in ../shared/tokens.

    .venv/bin/python -m bench.tokens

What is fitted is fitted anew for each family of documents without the documents of that family.
"""

import random
import statistics
import time
from collections.abc import Callable, Iterable, Sequence

from brimgate.engine.tokens.estimator import WHOLE_BYTES, Estimator
from brimgate.engine.tokens.vocabularies import MAPPED_FAMILIES, count_sampled, load_mapping, load_vocabulary
from tools.fit_tokens import (
    SHARED,
    Document,
    count_left_out,
    count_pairs,
    fit_costs,
    fit_table,
    leave_one_family_out,
    o200k_ids,
    read_documents,
)

Row = tuple[str, str, str, bool]
Pairs = Sequence[tuple[float, int]]  # estimate and truth

MIXTURES = 100


def within(pairs: Pairs, error: float) -> float:
    return sum(abs(estimate / truth - 1) <= error for estimate, truth in pairs) / len(pairs)


def accuracy(bar: str, pairs: Pairs, targets: Iterable[tuple[float, float]]) -> list[Row]:
    return [
        (
            f"{bar}, within {error:.0%} ({len(pairs)} documents)",
            f"≥ {target:.1%}",
            f"{within(pairs, error):.1%}",
            within(pairs, error) >= target,
        )
        for error, target in targets
    ]


def count_exactly(documents: Sequence[Document], family: str) -> Pairs:
    estimator = Estimator(family)
    return [(estimator.count(document.text), document.true_counts[family]) for document in documents]


def count_by_sample(documents: Sequence[Document], family: str) -> Pairs:
    """Every document and corpus file too large to be counted whole, and random mixtures of documents."""
    chance = random.Random(0)
    texts = [document.text for document in documents]
    texts += ["\n".join(chance.sample(texts, chance.randint(8, 40))) for _ in range(MIXTURES)]
    texts += [path.read_text("utf-8") for path in sorted((SHARED / "corpus").iterdir())]
    large = [text for text in texts if len(text.encode()) > WHOLE_BYTES]
    return [(count_sampled(text.encode(), family), Estimator(family).ceiling(text)) for text in large]


def count_by_table(documents: Sequence[Document], family: str) -> Pairs:
    """The pair table alone, fitted on slices of the other families. The shipped one had 583 documents."""
    pairs: list[tuple[float, int]] = []
    for rest, left_out in leave_one_family_out(documents):
        weights = fit_table(rest, family, slice_counter(rest, family))
        pairs += [
            (float(count_pairs(document.text) @ weights), document.true_counts[family])
            for document in left_out
        ]
    return pairs


def slice_counter(documents: Sequence[Document], family: str) -> Callable[[str], float]:
    if family not in MAPPED_FAMILIES:
        return lambda text: float(len(load_vocabulary(family).encode(text)))
    costs = fit_costs(documents, family)
    return lambda text: float(costs[o200k_ids(text)].sum())


def milliseconds(
    function: Callable[[], object], repeat: int = 15, before: Callable[[], None] = lambda: None
) -> float:
    taken: list[float] = []
    for _ in range(repeat):
        before()
        start = time.process_time()
        function()
        taken.append(time.process_time() - start)
    return statistics.median(taken) * 1000


def forget() -> None:
    load_vocabulary("o200k").tokenizer.clear_cache()


def speed(documents: Sequence[Document]) -> list[Row]:
    text = "".join(document.text for document in documents).encode()
    estimator = Estimator()
    estimator.count(text)
    table = milliseconds(lambda: estimator.table(text[:100_000]))
    # A tokenizer is faster on words it has seen before: it starts with none.
    slowest = max(
        milliseconds(lambda data=data: estimator.count(data), repeat=3, before=forget)
        for data in [text[:1_000_000], *whole_texts(text)]
    )
    return [
        ("tokens: table, 100 KB", "≤ 1 ms", f"{table:.2f} ms", table <= 1),
        (
            "tokens: exact path, slowest of 1 MB and of 32 KB parts",
            "≤ 10 ms",
            f"{slowest:.1f} ms",
            slowest <= 10,
        ),
    ]


def whole_texts(text: bytes) -> list[bytes]:
    return [text[at : at + WHOLE_BYTES] for at in range(0, len(text) - WHOLE_BYTES, WHOLE_BYTES)]


def safety(documents: Sequence[Document], family: str) -> Row:
    factor = load_mapping(family).safety
    pairs = count_left_out(documents, family)
    covered = sum(estimate * factor >= truth for estimate, truth in pairs) / len(pairs)
    return (f"tokens: {family} × {factor} not under the truth", "≥ 99 %", f"{covered:.1%}", covered >= 0.99)


def rows() -> list[Row]:
    documents = read_documents()
    # No vocabulary is fitted, so that exact counts need no family left out.
    o200k = count_exactly(documents, "o200k")
    sampled = count_by_sample(documents, "o200k")
    return [
        *accuracy("tokens: o200k", o200k, [(0.1, 0.98), (0.2, 0.995)]),
        *accuracy("tokens: o200k, sampled", sampled, [(0.1, 0.98), (0.2, 0.995)]),
        *accuracy("tokens: claude", count_left_out(documents, "claude"), [(0.1, 0.90), (0.2, 0.98)]),
        # No bar is set for these; SC-008 asks for 90 % within 20 %.
        *accuracy("tokens: claude-3", count_left_out(documents, "claude-3"), [(0.2, 0.90)]),
        *accuracy("tokens: o200k, table alone", count_by_table(documents, "o200k"), [(0.2, 0.90)]),
        *accuracy("tokens: claude, table alone", count_by_table(documents, "claude"), [(0.2, 0.90)]),
        *(safety(documents, family) for family in MAPPED_FAMILIES),
        *speed(documents),
    ]


def main() -> None:
    for bar, target, measured, met in rows():
        print(f"{'ok ' if met else 'NOT'} {bar}: {measured} ({target})")


if __name__ == "__main__":
    main()
