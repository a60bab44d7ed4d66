"""Sentences with slots: compiled once, written thousands of times."""

import random
import re
from collections.abc import Sequence
from typing import Final, TypeVar

from brimgate.sandboxes.graphiti.vocabulary import WORDS

_SLOT: Final = re.compile(r"\{(\w+)\}")
Item = TypeVar("Item")


def pick(chance: random.Random, items: Sequence[Item]) -> Item:
    """Choose like `Random.choice`, three times as fast: startup waits for tens of thousands of these."""
    return items[int(chance.random() * len(items))]


def draw_uuid(chance: random.Random) -> str:
    """Make a uuid like `uuid.UUID(int=chance.getrandbits(128), version=4)`, without the import and the object."""
    digits = f"{chance.getrandbits(128):032x}"
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


class Form:
    """A sentence. A slot is filled with a given value, or with a word from the vocabulary."""

    def __init__(self, text: str) -> None:
        slots = _SLOT.findall(text)
        self._text = _SLOT.sub("%s", text.replace("%", "%%"))
        self._slots = [(slot, WORDS.get(slot, ()), len(WORDS.get(slot, ()))) for slot in slots]

    def write(self, chance: random.Random, **given: str) -> str:
        draw = chance.random
        return self._text % tuple(
            [given[slot] if slot in given else words[int(draw() * many)] for slot, words, many in self._slots]
        )


def forms(*texts: str) -> tuple[Form, ...]:
    return tuple(Form(text) for text in texts)
