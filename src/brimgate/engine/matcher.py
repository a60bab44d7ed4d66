"""What a search looks for: words that must all occur, or a regular expression.

Patterns run on RE2, whose time is linear in the text. Units are matched many at a time, joined by newlines, because a
call for each of a million small items would cost more than all the matching.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import Any, Final

from brimgate.errors import BadRequest

_ESCAPES: Final = re.compile(r"\\(?:p\{\w+\}|P\{\w+\}|x\{?[0-9A-Fa-f]+\}?|.)", re.DOTALL)
_DIALECT: Final = "RE2 syntax: no look-around, no back-references; to exclude, put ! in front of the search"
_ENDS: Final = ("\\A", "\\z", "(?")
"""What may mean another place in joined texts than in each alone."""

MAX_SPANS: Final = 100_000
"""The most matches in one text that are counted: a giant line of digits has millions."""
Spans = list[tuple[int, int]]
"""Where the matches in a text begin and end."""


class Batch:
    """Many texts as one, each on a line of its own."""

    def __init__(self, text: str, starts: Sequence[int] | None = None, *, is_plain: bool = True) -> None:
        """Take texts that are joined already. Where each starts is worked out if it is not given."""
        self.text = text
        self._starts = starts
        self._count = len(starts) if starts is not None else text.count("\n") + 1
        self.is_plain = is_plain
        """Whether no text has a line break of its own."""

    @classmethod
    def of(cls, texts: Sequence[str]) -> "Batch":
        joined = "\n".join(texts)
        return cls(joined, _starts(texts), is_plain=joined.count("\n") == max(len(texts) - 1, 0))

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, at: int) -> str:
        last = at + 1 >= self._count
        return self.text[self.starts[at] : len(self.text) if last else self.starts[at + 1] - 1]

    @property
    def starts(self) -> Sequence[int]:
        if self._starts is None:
            self._starts = _starts(self.text.split("\n"))
        return self._starts

    def counted(self, places: Iterable[int]) -> Counter[int]:
        """Count how many of the places are in each text."""
        starts = self.starts
        return Counter([bisect_right(starts, place) - 1 for place in places])


def _starts(texts: Sequence[str]) -> list[int]:
    return list(accumulate((len(text) + 1 for text in texts), initial=0))[:-1]


@dataclass(frozen=True, slots=True)
class Matcher:
    find: Callable[[str], Spans]
    """Returns the matches in a text, one after the other."""
    find_joined: Callable[[Batch], Counter[int] | None]
    """Returns how often each text of a batch matches; None if that can only be told one by one."""
    is_inverse: bool = False
    spellings: frozenset[str] = frozenset()
    """Which other spellings of JSON are tried: `spaced`, `values`."""
    whole: Callable[[Batch], set[int]] | None = None
    """Returns the texts in which the words occur as whole words, for searches by words."""

    def count(self, batch: Batch) -> Counter[int]:
        """Return how often each text matches, without those that do not."""
        found = self.find_joined(batch) if batch.is_plain else None
        if found is None:
            found = Counter({at: len(self.find(batch[at])) for at in range(len(batch))})
        return +found


def matcher(query: str) -> Matcher:
    """Compile a search: `/pattern/` is a regular expression, anything else words that must all occur.

    Capitals in a pattern make it exact, unless it ends in `/i`. Words are found in any case. With `!` in front, it finds
    everything else.
    """
    is_inverse = query.startswith("!") and bool(query[1:].strip())
    query = query[1:].strip() if is_inverse else query.strip()
    if (
        len(query) > 2
        and query.startswith("/")
        and query.rstrip("i").endswith("/")
        and query.rstrip("i") != "/"
    ):
        is_folded = query.endswith("i")
        return _of_pattern(query.rstrip("i")[1:-1], is_inverse=is_inverse, is_folded=is_folded)
    words = query.lower().split()
    if not words or query in ("!", "/", "//"):
        raise BadRequest("search must be words or a /pattern/, with ! in front for everything else")
    return Matcher(
        lambda text: _find_words(text, words),
        lambda batch: _count_words(batch, words),
        is_inverse,
        whole=_whole_words(words),
    )


def has_capitals(pattern: str) -> bool:
    """Return whether a pattern has capitals that mean themselves, and so is matched exactly."""
    return any(map(str.isupper, _ESCAPES.sub("", pattern)))


# Words


def _find_words(text: str, words: list[str]) -> Spans:
    lowered = text.lower()
    if not all(map(lowered.__contains__, words)):
        return []
    return sorted((at, at + len(word)) for word in words for at in _places(lowered, word))


def _places(text: str, word: str) -> list[int]:
    found: list[int] = []
    at = text.find(word)
    while at >= 0 and len(found) < MAX_SPANS:
        found.append(at)
        at = text.find(word, at + len(word))
    return found


def _count_words(batch: Batch, words: list[str]) -> Counter[int] | None:
    lowered = batch.text.lower()
    if len(lowered) != len(batch.text):
        return None  # a capital that two small letters stand for moves what follows
    if not all(map(lowered.__contains__, words)):
        return Counter()
    places = [_places(lowered, word) for word in words]
    if any(len(one) >= MAX_SPANS for one in places):
        return None
    found = list(map(batch.counted, places))
    have_all = set(found[0]).intersection(*found)
    return Counter({at: sum(one[at] for one in found) for at in have_all})


def _whole_words(words: list[str]) -> Callable[[Batch], set[int]]:
    patterns = [re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE) for word in words]

    def whole(batch: Batch) -> set[int]:
        found = [set(batch.counted(one.start() for one in each.finditer(batch.text))) for each in patterns]
        return found[0].intersection(*found)

    return whole


# Patterns


def _of_pattern(pattern: str, *, is_inverse: bool, is_folded: bool) -> Matcher:
    find = _pattern(pattern, is_exact=not is_folded and has_capitals(pattern))
    is_joinable = not any(mark in pattern for mark in _ENDS)

    def count(batch: Batch) -> Counter[int] | None:
        spans = find(batch.text) if is_joinable else None
        if spans is None or len(spans) >= MAX_SPANS or _is_across(batch, spans):
            return None
        return batch.counted([start for start, _ in spans]) if spans else Counter()

    return Matcher(find, count, is_inverse, _spellings_for(pattern))


def _is_across(batch: Batch, spans: Spans) -> bool:
    """Return whether a match goes from one text into the next: alone, they would match otherwise."""
    text = batch.text
    return any("\n" in text[start:end] for start, end in spans)


def _spellings_for(pattern: str) -> frozenset[str]:
    """Return the spellings that can make a difference to a pattern."""
    wanted: set[str] = set()
    if " " in pattern or "\\s" in pattern:
        wanted.add("spaced")
    if any(mark in pattern for mark in ("^", "$", ":", "\\A", "\\z", "\\n", "\\t")):
        wanted.add("values")
    return frozenset(wanted)


def compiled(pattern: str, *, is_exact: bool = True) -> Any:
    """Compile a pattern. Raise BadRequest if it is none."""
    import re2  # pyright: ignore[reportMissingTypeStubs]  # loaded here: 11 ms, and few search

    engine: Any = re2
    options = engine.Options()
    options.case_sensitive = is_exact
    options.log_errors = False
    options.max_mem = 8 << 20
    try:
        return engine.compile(f"(?m){pattern}", options)
    except UnicodeEncodeError:
        raise BadRequest("search is not a valid pattern: it is not Unicode text") from None
    except engine.error as error:
        reason = error.args[0] if error.args else "bad pattern"
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise BadRequest(f"search is not a valid pattern: {text} ({_DIALECT})") from None


def _pattern(pattern: str, *, is_exact: bool) -> Callable[[str], Spans]:
    found_by = compiled(pattern, is_exact=is_exact)

    def find(text: str) -> Spans:
        if not text.isascii():
            text = text.encode("utf-8", "replace").decode()  # RE2 takes no lone surrogates
        if found_by.search(text) is None:
            return []
        return [found.span() for found in islice(found_by.finditer(text), MAX_SPANS)]

    return find
