"""What a reply shows of an answer: which rows of it, and whether a figure stands there or only happens to.

The rule is the same for every arm. Letters are compared without case; a number is never part of a longer one; `1,213` is
1213, `12.0` is 12, and 441.6915 is 441.69.

A **row of items** (kinds lookup, needle, list) is shown by a reply to a query if its words stand within three lines, and by a
search for what the question is about if they stand as near as in the answer itself, within a third of that distance and 100
characters. In what nobody asked for (first replies, parts that were read) what the question is about has to stand as near
too: something that one of its searches finds.

A **figure** (kinds count, sum, top, compare) is shown

- by a reply to a query, if key and figure stand in one row of it;
- by a search that is about the key, or `grep -c`, if the reply says that it found so many;
- by items that a search shows, for the largest items (top), if the answer has such items at all;
- elsewhere, such as by a map of the whole, if the figure follows or precedes its key, in a line with a word of the question.

So a `12` that stands anywhere is not the number 12 that was asked for.
"""

import re
from collections.abc import Iterator
from functools import cache, cached_property, lru_cache
from typing import Final, Literal

from bench.overflow.question import AGGREGATES, Question

Means = Literal["tool", "query", "search", "read"]
"""By what a reader came by a reply: the tool itself, a query, a search, reading on."""
Row = tuple[str, ...]

_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_WHOLE: Final = re.compile(r"(?<![\w.])(-?\d+)\.0+(?![\w.])")
_LONG: Final = re.compile(r"(?<![\w.])-?\d+\.\d{3,}(?![\w.])")
_GROUPED: Final = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})*,$")
_ROWS: Final = re.compile(r"\n|(?<=\}),\s*(?=\{)|(?<=\]),\s*(?=\[)")
_ESCAPE: Final = re.compile(r"\\[bBdDsSwW][+*?]?|\\(?=[^\w\s])|\(\?i\)")
_WORD: Final = re.compile(r"[a-z0-9]+")
_ESCAPED: Final = re.compile(r"\\+[nrt\"/\\]")
_SMALL_TALK: Final = re.compile(
    "both|does|each|ever|every|from|give|have|into|list|many|more|most|much|names?|only|over|than|that|their|them|there|these|"
    "they|this|three|were|what|which|whose|with|your"
)
_QUERY_CHARACTERS: Final = 2_000
_LONGEST_WORD: Final = 100
_MOST_CHARACTERS: Final = 8_000
"""Two words that are farther apart in the answer are not one item."""


@lru_cache(maxsize=512)
def variants(text: str) -> tuple[str, ...]:
    """Give a text in small letters: as it is, with its numbers in one spelling, and with long decimals rounded to two."""
    low = text.lower()
    normal = _WHOLE.sub(r"\1", _THOUSANDS.sub("", low))
    rounded = _LONG.sub(lambda found: f"{round(float(found[0]), 2):.15g}", normal)
    return tuple(dict.fromkeys((low, normal, rounded)))


@lru_cache(maxsize=512)
def words_of(text: str) -> frozenset[str]:
    """Give all words and numbers of a text, whatever stands between them."""
    return frozenset(_WORD.findall(_ESCAPED.sub(" ", text.lower())))


@cache
def _pattern(word: str) -> re.Pattern[str]:
    before, after = r"(?<!\w)", r"(?!\w)"
    if word[0].isdigit():
        before += r"(?<!\d\.)"
    if word[-1].isdigit():
        after += r"(?!\.\d)"
    if word.isdigit():
        before, after = before + r"(?<!\d-)", after + r"(?!-\d)"
        if len(word) <= 3:
            after += r"(?!,\d{3}(?!\d))"
        if len(word) < 3:
            before, after = before + r"(?<!\d:)", after + r"(?!:\d)"
    return re.compile(f"{before}{re.escape(word)}{after}")


def places(word: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield where a word stands as a whole in one variant of a text."""
    is_tail = re.fullmatch(r"\d{3}(\.\d+)?", word) is not None
    for found in _pattern(word).finditer(text):
        if not (is_tail and _GROUPED.search(text, max(0, found.start() - 16), found.start())):
            yield found.span()


def spoken(word: str) -> tuple[str, ...]:
    """Give the spellings of one word of a row."""
    return variants(word)


def has(word: str, text: str) -> bool:
    return any(next(places(one, text), None) for one in spoken(word))


def stands_in_a_row(row: Row, text: str) -> bool:
    """Whether one row of a reply to a query has all words of a row: a line, or an object of a list of them."""
    return any(all(has(word, part) for word in row) for one in variants(text) for part in _ROWS.split(one))


def stands_within_lines(row: Row, text: str) -> bool:
    """Whether the words of a row stand within three lines, and near each other if these are long."""
    return any(
        all(has(word, window) for word in row)
        for one in variants(text)
        for first in spoken(row[0])
        for start, end in places(first, one)
        for window in _windows(one, start, end)
    )


def _windows(text: str, start: int, end: int) -> Iterator[str]:
    """Yield the three runs of three lines around a place."""
    befores = [start, *(_back(text, start, count) for count in (1, 2, 3))]
    ends = [_forth(text, end, count) for count in (3, 2, 1)]
    for begin, finish in zip(befores[1:], ends, strict=True):
        yield text[max(begin, start - _QUERY_CHARACTERS) : min(finish, end + _QUERY_CHARACTERS)]


def _back(text: str, at: int, lines: int) -> int:
    for _ in range(lines):
        at = text.rfind("\n", 0, at)
        if at < 0:
            return 0
    return at + 1


def _forth(text: str, at: int, lines: int) -> int:
    at -= 1
    for _ in range(lines):
        at = text.find("\n", at + 1)
        if at < 0:
            return len(text)
    return at


def subject_of(search: str) -> re.Pattern[str]:
    """Compile what a search finds: words, or a /pattern/."""
    if len(search) > 2 and search[0] == search[-1] == "/":
        return re.compile(search[1:-1], re.IGNORECASE)
    return re.compile(re.escape(search), re.IGNORECASE)


def spans(row: Row, subjects: tuple[re.Pattern[str], ...], text: str) -> Iterator[int]:
    """Yield how many characters all words of a row and one of the subjects take, around each place of its first word."""
    marks = [found.span() for subject in subjects for found in subject.finditer(text)]
    others = [[at for one in spoken(word) for at in places(one, text)] for word in row[1:]]
    others += [marks] if subjects else []
    for first in spoken(row[0]):
        for start, end in places(first, text):
            low, high = start, end
            for spots in others:
                if not spots:
                    return
                near = min(spots, key=lambda spot: max(high, spot[1]) - min(low, spot[0]))
                low, high = min(low, near[0]), max(high, near[1])
            yield high - low


class Evidence:
    """What the replies that a reader has got by now show of the answer to one question."""

    def __init__(self, question: Question, answer: str) -> None:
        self.question = question
        self.answer = answer
        self.is_at_end = False
        """Whether nothing is left to read."""
        self._tail = ""
        """The end of the last part, which may have cut a word in two."""
        self.missing = set(question.answer)
        self.unread = set(words_of(answer))
        self._is_figure = question.kind in AGGREGATES

    @property
    def is_right(self) -> bool:
        """Whether every row was shown, or everything was read: then any figure is computed without a mistake.

        Everything was read when no part is left, and every word of the answer stood in one: who leaves out or shortens
        has not sent it all.
        """
        return not self.missing or (self.is_at_end and not self.unread)

    def take(self, means: Means, asked: str, reply: str, *, is_last: bool = False) -> None:
        self.is_at_end = self.is_at_end or is_last
        self.missing = {row for row in self.missing if not self._shows(row, means, asked, reply)}
        if means in ("tool", "read"):
            self.unread -= words_of(self._tail + reply)
            self._tail = reply[-_LONGEST_WORD:]

    def _shows(self, row: Row, means: Means, asked: str, reply: str) -> bool:
        if means == "query":
            return (stands_in_a_row if self._is_figure else stands_within_lines)(row, reply)
        if not self._is_figure:
            return self._is_near(row, reply, self._subjects, is_asked=means == "search")
        if means == "search" and self.question.kind == "count" and is_about(row, asked):
            return tells_count(row[-1], reply)
        if means == "search" and self.question.kind == "top":
            return self._is_near(row, reply, (), is_asked=True)
        return means != "search" and any(self._tells(row, line) for line in reply.split("\n"))

    @cached_property
    def _subjects(self) -> tuple[re.Pattern[str], ...]:
        return tuple(subject_of(search) for search in self.question.searches)

    @cached_property
    def _reach(self) -> dict[Row, int]:
        return {}

    def _is_near(
        self, row: Row, reply: str, subjects: tuple[re.Pattern[str], ...], *, is_asked: bool
    ) -> bool:
        if row not in self._reach:
            found = [span for one in variants(self.answer) for span in spans(row, subjects, one)]
            self._reach[row] = min(found, default=_MOST_CHARACTERS)
        room = self._reach[row] * 4 // 3 + 100
        needed = () if is_asked else subjects
        return self._reach[row] < _MOST_CHARACTERS and any(
            span <= room for one in variants(reply) for span in spans(row, needed, one)
        )

    @cached_property
    def _topics(self) -> tuple[str, ...]:
        """The words of the question but those of the answer, without the -s of a plural."""
        found = re.findall(r"[a-z]{4,}", self.question.text.lower())
        return tuple(word.rstrip("s") for word in found if not _SMALL_TALK.fullmatch(word))

    def _tells(self, row: Row, line: str) -> bool:
        """Whether a line that nobody asked for tells a figure: beside its key, and with a word of the question."""
        if len(line) > _QUERY_CHARACTERS or not any(topic in line.lower() for topic in self._topics):
            return False
        *keys, figure = row
        return any(
            any(not keys or _is_beside(one[at - 80 : at] if at > 80 else one[:at], one[end : end + 80], keys[0])
                for spelling in spoken(figure) for at, end in places(spelling, one))
            for one in variants(line)
        )  # fmt: skip


def _is_beside(before: str, after: str, key: str) -> bool:
    low = re.escape(key.lower())
    return bool(
        re.search(rf"(?<!\w){low}[^\w\n]{{1,4}}$", before) or re.match(rf"[^\w\n]{{1,4}}{low}(?!\w)", after)
    )


def is_about(row: Row, asked: str) -> bool:
    """Whether a search is for the key of a row; one whose row has no key is for its only figure."""
    if len(row) == 1:
        return True
    key, plain = row[0].lower(), _ESCAPE.sub(" ", asked).lower()
    core = plain.strip("/\"' ")
    return has(key, plain) or (len(core) > 3 and core in key)


def tells_count(figure: str, reply: str) -> bool:
    """Whether a reply to a search says that it found so many: `187 matches`, `of 187`, `"count": 187`, `187` alone."""
    for one in variants(reply):
        if one.strip() == figure:
            return True
        head = one.split("\n", 1)[0][:2_000]
        for start, end in places(figure, head):
            before, after = head[max(0, start - 12) : start], head[end : end + 12]
            if re.search(r"(\bof |count\W{1,4}|matche[ds]\W{1,4}|total\W{1,4})$", before) or re.match(
                r" (match|item|line|row|hit)", after
            ):
                return True
    return False
