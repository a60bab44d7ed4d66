"""What the benchmark asks: large answers of tools, and questions about them with exact answers."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

KINDS: Final = ("lookup", "needle", "count", "sum", "top", "compare", "list")
"""One field of one item; a rare thing that nobody named; how many; totals and averages; the k largest; two groups
against each other; every item of which something is true."""
AGGREGATES: Final = frozenset(("count", "sum", "top", "compare"))


@dataclass(frozen=True)
class Question:
    kind: str
    text: str
    answer: tuple[tuple[str, ...], ...]
    """What a right answer says: each tuple is one row of it, whose words stand near each other in what was read."""
    sql: tuple[str, ...]
    """How a reader would ask it as SQL who has read docs/how-to/ask-questions.md; the second if the first fails."""
    searches: tuple[str, ...]
    """What a reader would search for, in order: words, or /RE2/."""
    greps: tuple[str, ...]
    """The arguments of grep with which a reader would look through the answer in a file, such as `-c '"paid": true'`."""


@dataclass(frozen=True)
class Shape:
    """One answer of a tool, with questions about it."""

    name: str
    text: str
    questions: tuple[Question, ...]


Maker = Callable[[random.Random], tuple[str, list[Question]]]
SHAPES: Final[dict[str, Maker]] = {}


def shape(name: str) -> Callable[[Maker], Maker]:
    """Register a generator; it returns the text of the answer and the questions about it."""
    assert name not in SHAPES, name

    def register(make: Maker) -> Maker:
        SHAPES[name] = make
        return make

    return register


def shapes(seed: int, names: list[str] | None = None) -> Iterator[Shape]:
    for name, make in SHAPES.items():
        if not names or name in names:
            text, questions = make(random.Random(f"{seed}:{name}"))
            yield Shape(name, text, tuple(questions))
