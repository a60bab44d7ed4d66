"""A long text in few words: its first sentence, then sentences with a word that matters, and what was left out."""

import re
from dataclasses import dataclass
from typing import Final

# Ends at the first mark followed by white space; no backtracking over the text, whatever stands in it.
_SENTENCE: Final = re.compile(r"[^.!?\n]*(?:[.!?](?!\s)[^.!?\n]*)*[.!?\n]?\s*")
_MAX_SENTENCES: Final = 200
_WORD: Final = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Excerpt:
    text: str
    more_words: int
    more_characters: int


def excerpt(text: str, room: int, keywords: tuple[str, ...] = ()) -> Excerpt:
    if len(text) <= room:
        return Excerpt(text, 0, 0)
    kept = _sentences(text, room, tuple(word.lower() for word in keywords))
    if not kept:
        kept = _at_a_word(text, room)
    words = sum(1 for _ in _WORD.finditer(text)) - sum(1 for _ in _WORD.finditer(kept))
    return Excerpt(kept, max(words, 0), len(text) - len(kept))


def _sentences(text: str, room: int, keywords: tuple[str, ...]) -> str:
    """The first sentence if it fits, then in order those with a keyword; all that fit when there are no keywords."""
    kept: list[str] = []
    at = 0
    for number in range(_MAX_SENTENCES):
        found = _SENTENCE.match(text, at, at + room + 1)
        if found is None or found.end() == at:
            break
        sentence = found[0]
        at = found.end()
        wanted = number == 0 or not keywords or any(word in sentence.lower() for word in keywords)
        if not wanted:
            continue
        if len(sentence.strip()) > room:
            break
        kept.append(sentence)
        room -= len(sentence)
    return "".join(kept).rstrip()


def _at_a_word(text: str, room: int) -> str:
    if room <= 0:
        return ""
    cut = text.rfind(" ", room // 2, room)
    return text[: cut if cut > 0 else room].rstrip()
