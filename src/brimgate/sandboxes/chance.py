"""Randomness for one record, derived from the seed, the kind and the number, so that nothing has to be kept."""

import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TypeVar

Item = TypeVar("Item")


def chance_of(seed: int, kind: str, number: int) -> random.Random:
    return random.Random(f"{seed}/{kind}/{number}")  # noqa: S311  # made-up data, not secrets


def maybe(chance: random.Random, share: float, value: Item) -> Item | None:
    return value if chance.random() < share else None


def pick(chance: random.Random, items: Sequence[Item]) -> Item:
    return items[int(chance.random() * len(items))]


def digits(chance: random.Random, count: int) -> str:
    return f"{chance.randrange(10**count):0{count}d}"


def url(chance: random.Random, kind: str, hex_digits: int) -> str:
    return f"https://example.com/{kind}/{chance.getrandbits(4 * hex_digits):0{hex_digits}x}"


def later(chance: random.Random, at: datetime, most: timedelta) -> datetime:
    return at + timedelta(seconds=int(chance.random() * most.total_seconds()))
