"""Exact figures for the answers: a figure that could be printed in two ways is refused, and the data is drawn again."""

import functools
import random
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Final

from bench.overflow.question import Maker, Question

DRAWS: Final = 2000


class Unclear(Exception):
    """The data that was drawn leaves a question with more than one right answer."""


def settled(make: Maker) -> Maker:
    """Draw the data again, from the same stream of random numbers, until every question has one right answer."""

    @functools.wraps(make)
    def until_clear(rng: random.Random) -> tuple[str, list[Question]]:
        for _ in range(DRAWS):
            try:
                return make(rng)
            except Unclear:
                continue
        raise AssertionError(f"{make.__name__}: no clear data in {DRAWS} draws")

    return until_clear


def total(values: Iterable[float]) -> str:
    """The sum of whole numbers, or of numbers in steps of a quarter, which floats add up exactly."""
    summed = sum(values)
    if isinstance(summed, float) and summed.is_integer():
        raise Unclear("printed as 12 or as 12.0")
    return str(summed)


def money(cents: int) -> str:
    """An amount of cents as a number with two decimals."""
    if cents % 10 == 0:
        raise Unclear("printed as 1.5 or as 1.50")
    return str(round(cents / 100, 2))


def mean(values: Iterable[float | Fraction]) -> str:
    """The average, rounded to two decimals, that no way of rounding or printing makes different."""
    exact = [Fraction(value) for value in values]
    hundredths = sum(exact) * 100 / len(exact)
    if abs(hundredths % 1 - Fraction(1, 2)) < Fraction(1, 1000) or round(hundredths) % 10 == 0:
        raise Unclear("rounded up or down, or printed as 1.5 or 1.50")
    return str(round(float(hundredths) / 100, 2))


def leaders(scores: Mapping[str, float], places: int) -> list[tuple[str, float]]:
    """The largest, where no two of them are alike and the next one is smaller."""
    ranked = sorted(scores.items(), key=lambda item: item[1], reverse=True)
    marks = [score for _, score in ranked[: places + 1]]
    if len(set(marks)) < len(marks):
        raise Unclear("a tie")
    return ranked[:places]


def rows(pairs: Iterable[Iterable[object]]) -> tuple[tuple[str, ...], ...]:
    """The rows of an answer, each value as a program prints it."""
    return tuple(tuple(str(value) for value in pair) for pair in pairs)


def differ(*values: str) -> None:
    """Refuse two groups that are equal: neither is then the higher one."""
    if len(set(values)) < len(values):
        raise Unclear("no difference")


def middle(rng: random.Random, count: int) -> int:
    """A place in the middle third: not where a reader looks first or last."""
    return rng.randrange(count * 3 // 10, count * 7 // 10)
