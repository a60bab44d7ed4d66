"""Exact vocabularies, and what a text made of their tokens costs in a vocabulary that is not public.

Claude's vocabulary is not published. Each o200k token has a cost in Claude tokens instead, fitted by
tools/fit_tokens.py: what its text costs alone, corrected by its kind (word, capitals, digits, white space...).
"""

import json
import sys
import zlib
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Final

from headgate.engine.bytepairs import DATA, estimate_tokens

if TYPE_CHECKING:
    from splintr import AnyTokenizer

VOCABULARIES: Final = {"o200k": "o200k_base", "cl100k": "cl100k_base", "llama3": "llama3"}
MAPPED_FAMILIES: Final = ("claude", "claude-3")

# splintr remembers the pieces it has seen and never forgets one; a hostile peer could send only new ones.
REMEMBERED_CHARACTERS: Final = 8_000_000


@dataclass(slots=True)
class Vocabulary:
    tokenizer: "AnyTokenizer"
    seen_characters: int = field(default=0, init=False)

    def encode(self, text: str) -> list[int]:
        self.seen_characters += len(text)
        if self.seen_characters > REMEMBERED_CHARACTERS:
            self.tokenizer.clear_cache()
            self.seen_characters = len(text)
        # encode_ordinary: text that spells a control token must count as the text it is.
        return self.tokenizer.encode_ordinary(text)


@dataclass(frozen=True, slots=True)
class Mapping:
    costs: "array[int]"  # per o200k id, in UNITS-ths of a token
    table_share: float  # how much of the byte-pair estimate is added
    safety: float  # 99 % of documents of unseen families cost no more than the estimate times this


UNITS: Final = 1000


@cache
def load_vocabulary(family: str) -> Vocabulary:
    from splintr import Tokenizer

    return Vocabulary(Tokenizer.from_pretrained(VOCABULARIES[family]))


@cache
def load_mapping(family: str) -> Mapping:
    costs = array("h", zlib.decompress((DATA / f"{family}.costs").read_bytes()))
    if sys.byteorder == "big":
        costs.byteswap()
    fitted = json.loads((DATA / "fitted.json").read_bytes())[family]
    return Mapping(costs, fitted["table_share"], fitted["safety"])


def exact_counter(family: str) -> Callable[[str], float]:
    """The function that counts a text in this family, with its vocabulary loaded."""
    if family in VOCABULARIES:
        vocabulary = load_vocabulary(family)
        return lambda text: float(len(vocabulary.encode(text)))
    vocabulary, mapping = load_vocabulary("o200k"), load_mapping(family)
    weigh = mapping.costs.__getitem__

    def count_mapped(text: str) -> float:
        mapped = sum(map(weigh, vocabulary.encode(text))) / UNITS
        table = estimate_tokens(text.encode(), family) if mapping.table_share else 0.0
        return max(mapped + mapping.table_share * table, 1.0 if text else 0.0)

    return count_mapped
