"""Fit the token estimator: ../shared/tokens and ../shared/data in, src/brimgate/engine/data out.

    .venv/bin/python -m tools.fit_tokens

Run it when the documents, the prior or a vocabulary change. bench/tokens.py takes its parts to measure the
fit on families of documents that were left out of it.
"""

import json
import math
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from splintr import AnyTokenizer, Tokenizer

from brimgate.engine.tokens import pairs, vocabularies
from brimgate.engine.tokens.pairs import CLASSES, DATA, FITTED_FAMILIES
from brimgate.engine.tokens.vocabularies import MAPPED_FAMILIES, VOCABULARIES

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SHARED: Final = Path(__file__).resolve().parents[2] / "shared"
PRIORS: Final = {"claude": "P4", "claude-3": "P3"}
TARGETS: Final = {"claude": "claude47", "claude-3": "claude3"}  # the others are called as we call them

# Pulls the factor of each kind toward a common one. From 0.003 to 0.1, 95 to 98 % are within 10 %.
KIND_RIDGE: Final = 0.03
TABLE_RIDGE: Final = 3e-4
SLICE_CHARACTERS: Final = 2000


@dataclass(frozen=True, slots=True)
class Document:
    family: str  # of documents: logs, csv, code and so on
    text: str
    true_counts: dict[str, int]  # by family of tokens


def read_documents() -> list[Document]:
    lines = (SHARED / "tokens" / "truth.jsonl").read_text("utf-8").splitlines()
    return [
        Document(
            family=row["family"],
            text=(SHARED / "tokens" / "docs" / row["file"]).read_bytes().decode("utf-8"),
            true_counts={family: row[family] for family in FITTED_FAMILIES},
        )
        for row in map(json.loads, lines)
    ]


def leave_one_family_out(documents: Sequence[Document]) -> Iterator[tuple[list[Document], list[Document]]]:
    """What to fit on and what to test on, for each family of documents."""
    for family in sorted({document.family for document in documents}):
        yield (
            [document for document in documents if document.family != family],
            [document for document in documents if document.family == family],
        )


SCRIPTS: Final = (
    (0xC7, "latin"),
    (0xD3, "greek or cyrillic"),
    (0xDF, "hebrew or arabic"),
    (0xE1, "indic"),
    (0xE2, "symbols"),
    (0xE3, "kana"),
    (0xE9, "han"),
    (0xED, "hangul"),
    (0xFF, "emoji"),
)


def kind_of(token: bytes) -> str:
    """The kinds of o200k token that differ in what Claude makes of them."""
    if not token.isascii():
        lead = next((byte for byte in token if byte >= 0xC0), None)
        return next(name for last, name in SCRIPTS if lead <= last) if lead else "part of a character"
    text = token.decode()
    word = text.strip()
    if not word:
        return "line break" if "\n" in text or "\r" in text else "space" if len(text) == 1 else "spaces"
    if word.isdigit():
        return f"{len(word)} digits"
    if word.isalpha():
        return _kind_of_word(word, spaced=text[0] == " ")
    if "\n" in text:
        return "punctuation and line break"
    return "punctuation after space" if text[0] == " " else "sign" if len(word) == 1 else "punctuation"


def _kind_of_word(word: str, *, spaced: bool) -> str:
    if word.isupper():
        return "capital" if len(word) == 1 else "capitals"
    if word[0].isupper():
        return "capitalised after space" if spaced else "capitalised"
    if len(word) == 1 and not spaced:
        return "letter"
    return "word after space" if spaced else "word"


@cache
def o200k() -> AnyTokenizer:
    return Tokenizer.from_pretrained(VOCABULARIES["o200k"])


@cache
def kinds_of_tokens() -> Ints:
    """The number of the kind of every o200k id."""

    def text_of(token: int) -> bytes:
        try:
            return o200k().decode_token_bytes(token) or b"."
        except ValueError:  # an id that is not in use
            return b"."

    kinds = [kind_of(text_of(token)) for token in range(len(prior("claude")))]
    return np.unique(kinds, return_inverse=True)[1]


@cache
def prior(family: str) -> Floats:
    """What the text of each o200k token costs by itself."""
    return np.load(SHARED / "data" / "o200k_to_claude_prior.npz")[PRIORS[family]].astype(float)


@cache
def o200k_ids(text: str) -> Ints:
    return np.array(o200k().encode_ordinary(text), dtype=np.int64)


def fit_costs(documents: Sequence[Document], family: str) -> Floats:
    """The cost of every o200k id in tokens of the family: its prior times the factor of its kind."""
    kinds = kinds_of_tokens()
    sums = [
        np.bincount(kinds[ids], prior(family)[ids], kinds.max() + 1)
        for ids in (o200k_ids(document.text) for document in documents)
    ]
    truth = [document.true_counts[family] for document in documents]
    weights = _weights(documents, truth)
    features, target = np.array(sums) * weights[:, None], np.array(truth) * weights
    together = features.sum(1)
    common = np.full(features.shape[1], together @ target / (together @ together))
    factors = common + _solve_ridge(features, target - features @ common, KIND_RIDGE)
    return prior(family) * factors[kinds]


def fit_table(documents: Sequence[Document], family: str, count_slice: Callable[[str], float]) -> Floats:
    """A byte-pair table from these documents alone; the shipped one is from a larger set we do not have."""
    texts, truth, owners = [], [], []
    for document in documents:
        slices = [
            document.text[at : at + SLICE_CHARACTERS] for at in range(0, len(document.text), SLICE_CHARACTERS)
        ]
        counts = [count_slice(text) for text in slices]
        # Where a slice is only estimated, the slices of a document still make up its true count.
        scale = document.true_counts[family] / sum(counts)
        for text, count in [*zip(slices, counts, strict=True), (document.text, sum(counts))]:
            texts.append(text)
            truth.append(max(count * scale, 1.0))
            owners.append(document)
    weights = _weights(owners, truth)
    features = np.array([count_pairs(text) for text in texts]) * weights[:, None]
    return _solve_ridge(features, np.array(truth) * weights, TABLE_RIDGE)


@cache
def byte_classes() -> NDArray[np.uint8]:
    return np.load(SHARED / "data" / "token_bigram_weights.npz")["LUT"]


@cache
def count_pairs(text: str) -> Ints:
    codes = byte_classes()[np.frombuffer(text.encode(), np.uint8)].astype(np.int64)
    return np.bincount(codes[:-1] * CLASSES + codes[1:], minlength=CLASSES * CLASSES)


def _weights(documents: Sequence[Document], truth: Sequence[float]) -> Floats:
    """Relative errors count, and a family of thirty documents less than thirty times one of one."""
    families = [document.family for document in documents]
    sizes = {family: families.count(family) for family in set(families)}
    return np.array([sizes[family] ** -0.25 for family in families]) / np.array(truth)


def _solve_ridge(features: Floats, target: Floats, ridge: float) -> Floats:
    solved = np.linalg.solve(features.T @ features + ridge * np.eye(features.shape[1]), features.T @ target)
    return solved.astype(np.float64)


def count_left_out(documents: Sequence[Document], family: str) -> list[tuple[float, int]]:
    """Estimate and truth of each document, the costs fitted without its family."""
    pairs: list[tuple[float, int]] = []
    for rest, left_out in leave_one_family_out(documents):
        costs = fit_costs(rest, family)
        pairs += [
            (float(costs[o200k_ids(document.text)].sum()), document.true_counts[family])
            for document in left_out
        ]
    return pairs


def safety_factor(pairs: Sequence[tuple[float, int]], share: float = 0.99) -> float:
    """What to multiply by so that this share of the documents is not under-counted, rounded up."""
    ratios = np.array([truth / estimate for estimate, truth in pairs])
    return math.ceil(float(np.quantile(ratios, share, method="higher")) * 100) / 100


def run_rates(count: Callable[[str], float]) -> Floats:
    """Tokens per repetition in a long run of each ASCII byte; no other byte stands beside itself for long."""
    length = 4096
    return np.array([count(chr(byte) * length) / length for byte in range(128)] + [1.0] * 128)


def write_tables(costs: dict[str, Floats]) -> None:
    given = np.load(SHARED / "data" / "token_bigram_weights.npz")
    targets = given["targets"].tolist()
    data = byte_classes().astype(np.uint8).tobytes()
    for family in FITTED_FAMILIES:
        weights = given["W"][:, targets.index(TARGETS.get(family, family))]
        if family in MAPPED_FAMILIES:
            rates = run_rates(lambda text, cost=costs[family]: float(cost[o200k_ids(text)].sum()))
        else:
            vocabulary = Tokenizer.from_pretrained(VOCABULARIES[family])
            rates = run_rates(lambda text, encode=vocabulary.encode_ordinary: len(encode(text)))
        units = np.rint(np.concatenate([weights, rates]) * pairs.UNITS_PER_TOKEN)
        assert np.abs(units).max() < 2**15
        data += units.astype("<i2").tobytes()
    (DATA / "byte_pairs.bin").write_bytes(data)


def write_costs(costs: dict[str, Floats], safety: dict[str, float]) -> None:
    for family in MAPPED_FAMILIES:
        units = np.rint(costs[family] * vocabularies.UNITS_PER_TOKEN)
        assert units.min() > 0
        assert units.max() < 2**16
        (DATA / f"{family}.costs").write_bytes(zlib.compress(units.astype("<u2").tobytes(), 9))
    (DATA / "safety.json").write_text(json.dumps(safety) + "\n", "utf-8")


def main() -> None:
    documents = read_documents()
    costs = {family: fit_costs(documents, family) for family in MAPPED_FAMILIES}
    safety = {family: safety_factor(count_left_out(documents, family)) for family in MAPPED_FAMILIES}
    write_tables(costs)
    write_costs(costs, safety)
    print(f"{len(documents)} documents, safety factors {safety}")


if __name__ == "__main__":
    main()
