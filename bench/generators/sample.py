"""What a generator hands out: a document and the anomalies hidden in it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random
from typing import Literal, get_args

Kind = Literal[
    "error level",
    "rare template",
    "outlier value",
    "rare key",
    "changed type",
    "missing field",
    "rare value",
]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Planted:
    """Any one of `needles` in a reply proves that the reply shows item or line `where` (0-based)."""

    kind: Kind
    where: int
    needles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sample:
    name: str
    data: bytes
    planted: tuple[Planted, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """An anomaly before the document exists: `hints` become needles where the document holds them once."""

    kind: Kind
    where: int
    hints: tuple[str, ...]


Draft = tuple[bytes, list[Mark]]
Recipe = Callable[[Random], Draft]

# Shorter strings could turn up in a reply by chance, in a count or a line number.
SHORTEST_NEEDLE = 6


def seal(name: str, draft: Draft) -> Sample:
    data, marks = draft
    ordered = sorted(marks, key=lambda mark: mark.where)
    return Sample(name, data, tuple(Planted(m.kind, m.where, _needles(data, m)) for m in ordered))


def _needles(data: bytes, mark: Mark) -> tuple[str, ...]:
    found = tuple(_unique(data, mark.hints))
    if not found:
        raise ValueError(f"no unique needle for {mark}")
    return found


def _unique(data: bytes, hints: Iterable[str]) -> Iterable[str]:
    for hint in dict.fromkeys(hints):
        if len(hint) >= SHORTEST_NEEDLE and data.count(hint.encode()) == 1:
            yield hint
