"""Every sample by name."""

from collections.abc import Iterator
from random import Random

from bench.generators import commerce, documents, knowledge, logs, operations, tables
from bench.generators.sample import Recipe, Sample, seal

RECIPES: dict[str, Recipe] = {
    **commerce.RECIPES,
    **operations.RECIPES,
    **knowledge.RECIPES,
    **tables.RECIPES,
    **logs.RECIPES,
    **documents.RECIPES,
}


def samples(seed: int = 0) -> Iterator[Sample]:
    """Each sample has its own generator seeded by its name, so that adding one changes no other."""
    for name, recipe in RECIPES.items():
        yield seal(name, recipe(Random(f"{seed}/{name}")))
