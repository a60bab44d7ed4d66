"""Find the lines of a text, or the texts of a JSON answer, with words, signs or sizes of numbers that hardly any other has.

What no detector knows how to look for is often said in words of its own: a clause about another country, a statement that
drops a user, a cue that nobody could hear. It is no finding, since a rare word may mean nothing: such lines are told last,
in the room that is left.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

from brimgate.engine.highlights.odd_lines import mask_values
from brimgate.engine.maps.credentials_scan import masked_random
from brimgate.engine.maps.phrases import brief
from brimgate.engine.maps.survey import MapLine

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MIN_LINES: Final = 40
_READ_CHARS: Final = 400
_WINDOW_LINES: Final = 4_096
"""Lines are read this many at a time: the arrays take thirty times their bytes."""
_MAX_WORD: Final = 64
_LONG_NUMBER: Final = 6
_FEW_IDS: Final = 8
_IDS_SHARE: Final = 0.03
"""If more lines than this have a code of letters and digits of their own, such codes are ids, which tell nothing."""
_FEW: Final = 2
_MOST_LINES: Final = 0.25
"""If more of the lines have rare words, a rare word is nothing rare."""
_TEXTS_SHARE: Final = 0.1
_MIN_LIKE: Final = 8
_MANY_LIKE: Final = 8
_FEW_NAMED: Final = 4
_WORD: Final = re.compile(r"\w+")
_MAX_TEXTS: Final = 16
_MAX_TOLD: Final = 36
_TOLD_CHARS: Final = 3_000
_SHOWN_CHARS: Final = 150
_BEFORE_CHARS: Final = 60
_SHARES: Final = (1.0, 0.5, 0.25)
"""What the rarest word of a line, the second and the third add to its score."""
_SIGN_SHARE: Final = 0.6
_WEIGHT: Final = 3.0
_APART: Final = 1
_HEAD_LINES: Final = 20
_HEAD_SHARE: Final = 0.04
"""The first lines are always of their own kind, and are shown as they are."""
_CORE_CHARS: Final = 40
_ITEM: Final = re.compile(r"/\d+(?=/|\Z)")
_HEX: Final = re.compile(r"[a-f]{6,}(?![a-z])")
"""An id that happens to have no digit."""
_CODE: Final = re.compile(r"[A-Za-z]{0,32}\d|\d{6}")
"""What a code of letters and digits begins with."""
_UUID: Final = re.compile(rb"(?i:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})")
"""Parts of it look like words and years."""
HEADING: Final = "words that hardly any other line has:"

_SPACE, _LOWER, _UPPER, _DIGIT, _OTHER, _SIGN = range(6)
_KINDS: Final = bytes(
    _SPACE if byte <= 32 or byte == 95
    else _DIGIT if 48 <= byte <= 57
    else _UPPER if 65 <= byte <= 90
    else _LOWER if 97 <= byte <= 122
    else _OTHER if byte >= 128
    else _SIGN
    for byte in range(256)
)  # fmt: skip
"""Words of camelCase and snake_case are several words."""
_FOLDED: Final = bytes(
    48 if 48 <= byte <= 57 else byte + 32 if 65 <= byte <= 90 else byte for byte in range(256)
)
"""Of a number counts only how many digits it has."""


def rare_lines(lines: Sequence[str], known: Collection[int], rest: str = "") -> list[MapLine]:
    """Return lines by how rare their words are, in order, with their numbers from 1.

    None at or beside the lines in `known`, and none that the rest of the map has already.
    """
    if len(lines) < _MIN_LINES:
        return []
    found = _scores(lines)
    ids = _ids(lines, [at for at, (_, start) in found.items() if _CODE.match(lines[at], start)])
    ids |= _names({at: (lines[at], start) for at, (_, start) in found.items()})
    head = min(_HEAD_LINES, int(_HEAD_SHARE * len(lines)))
    near = {place + step for place in known for step in range(-_APART, _APART + 1)}
    new = {
        at: (score, start)
        for at, (score, start) in found.items()
        if at >= head
        and at not in ids
        and at + 1 not in near
        and _core(lines[at]) not in rest
        and not _HEX.match(lines[at], start)
    }
    best = sorted((-score, at, start) for at, (score, start) in new.items())[:_MAX_TOLD]
    told: list[tuple[int, MapLine]] = []
    room = _TOLD_CHARS
    for rank, (_, at, start) in enumerate(best):
        text = f"{at + 1}: {_around(lines[at], start)}"
        room -= len(text)
        if room < 0:
            break
        told.append((at, MapLine(text, _WEIGHT - 0.02 * rank, HEADING)))
    return [line for _, line in sorted(told, key=lambda one: one[0])]


def _ids(lines: Sequence[str], odd: Sequence[int]) -> set[int]:
    """Return those of the odd lines that many others are like but for their numbers and codes: an id is always rare."""
    if not odd:
        return set()
    masked, _ = mask_values(lines)
    counts = Counter(masked)
    return {at for at in odd if counts[masked[at]] >= _MANY_LIKE}


def _names(odd: Mapping[int, tuple[str, int]]) -> set[int]:
    """Return those of the odd lines that differ from others in their rarest word only: names are rare, and say nothing."""
    around: dict[int, tuple[str, str]] = {}
    for at, (line, start) in odd.items():
        end = _WORD.match(line, start)
        around[at] = line[:start], line[end.end() if end else start :]
    counts = Counter(around.values())
    return {at for at, one in around.items() if counts[one] >= _FEW_NAMED}


def rare_texts(texts: Sequence[tuple[str, str]], known: Collection[str], rest: str = "") -> list[MapLine]:
    """Return texts of a JSON answer, given with their pointers, by how rare their words are, in order.

    Of what stands at one place in many parents, the description of each item, either few have rare words or it is free text.
    """
    if len(texts) < _MIN_LINES:
        return []
    lines = [text.replace("\n", " ") for _, text in texts]
    kinds = [_ITEM.sub("/*", at) for at, _ in texts]
    found = _scores(lines, 1.0)
    total, odd = Counter(kinds), Counter(kinds[at] for at in found)
    new = {
        at: (score, start)
        for at, (score, start) in found.items()
        if odd[kinds[at]] <= max(1, _TEXTS_SHARE * total[kinds[at]])
        and total[kinds[at]] >= _MIN_LIKE
        and not any(texts[at][0] == place or texts[at][0].startswith(f"{place}/") for place in known)
        and _core(lines[at]) not in rest
        and not _HEX.match(lines[at], start)
    }
    best = sorted((-score, at, start) for at, (score, start) in new.items())[:_MAX_TEXTS]
    told = [
        (at, MapLine(f"{texts[at][0]}: {_around(lines[at], start)}", _WEIGHT - 0.02 * rank, HEADING))
        for rank, (_, at, start) in enumerate(best)
    ]
    return [line for _, line in sorted(told, key=lambda one: one[0])]


def _core(line: str) -> str:
    return line.strip(" #=*-")[:_CORE_CHARS] or line


def _scores(lines: Sequence[str], most: float = _MOST_LINES) -> dict[int, tuple[float, int]]:
    """Return the score of each line that has a rare word, and where its first one begins.

    Nothing if more than the share `most` of the lines have one.
    """
    import numpy as np

    read = [
        _read(lines[first : first + _WINDOW_LINES], first) for first in range(0, len(lines), _WINDOW_LINES)
    ]
    words, line_of, start_of, is_sign, is_code = (np.concatenate(parts) for parts in zip(*read, strict=True))
    if not len(words):
        return {}
    _, at, counts = np.unique(words, return_inverse=True, return_counts=True)
    count_of = counts[at]
    is_rare = count_of <= _FEW
    if len(np.unique(line_of[is_rare & is_code])) > max(_FEW_IDS, _IDS_SHARE * len(lines)):
        count_of = np.where(is_code, len(lines), count_of)
        is_rare = count_of <= _FEW
    odd = np.unique(line_of[is_rare])
    if len(odd) > most * len(lines):
        return {}
    worth = np.log(len(lines) / np.minimum(count_of, len(lines))) * np.where(is_sign, _SIGN_SHARE, 1.0)
    firsts, ends = np.searchsorted(line_of, odd), np.searchsorted(line_of, odd, side="right")
    found: dict[int, tuple[float, int]] = {}
    for line, first, end in zip(odd.tolist(), firsts.tolist(), ends.tolist(), strict=True):
        own = np.sort(worth[first:end])[::-1].tolist()
        rarest = first + int(np.argmax(worth[first:end]))
        score = sum(one * share for one, share in zip(own, _SHARES, strict=False))
        found[line] = (score, int(start_of[rarest]))
    return found


_Words = tuple[
    "NDArray[np.uint64]", "NDArray[np.int64]", "NDArray[np.int64]", "NDArray[np.bool_]", "NDArray[np.bool_]"
]
"""A number for each word, the same for the same word; its line; where it begins; whether it is a number or sign, or a part of
a code of letters and digits."""


def _read(lines: Sequence[str], first: int) -> _Words:
    import numpy as np

    cut = [line[:_READ_CHARS].encode("utf-8", "replace") for line in lines]
    data = _UUID.sub(b" " * 36, b"\n".join(cut)) + b"\n"
    kinds = np.frombuffer(data.translate(_KINDS), np.uint8)
    changes = (
        np.flatnonzero((kinds[1:] != kinds[:-1]) & ~((kinds[:-1] == _UPPER) & (kinds[1:] == _LOWER))) + 1
    )
    starts = np.concatenate(([0], changes))
    sizes = np.diff(np.concatenate((starts, [len(data)])))
    place = np.minimum(np.arange(len(data)) - np.repeat(starts, sizes), _MAX_WORD - 1)
    folded = np.frombuffer(data.translate(_FOLDED), np.uint8)
    words = np.add.reduceat(_marks()[place * 256 + folded], starts)
    kind = kinds[starts]
    is_word = (kind != _SPACE) & ((sizes > 1) | (kind == _DIGIT) | (kind == _SIGN))
    begins = np.concatenate(([0], np.cumsum([len(line) + 1 for line in cut])))
    line = np.searchsorted(begins, starts, side="right") - 1
    is_letter, is_digit = (kind == _LOWER) | (kind == _UPPER), kind == _DIGIT
    beside = np.zeros(len(kind), np.bool_)
    beside[1:] = (is_letter[1:] & is_digit[:-1]) | (is_digit[1:] & is_letter[:-1])
    is_code = beside.copy()
    is_code[:-1] |= beside[1:]
    is_code |= is_digit & (sizes >= _LONG_NUMBER)  # a hash may have digits only
    return (
        words[is_word],
        (line + first)[is_word],
        (starts - begins[line])[is_word],
        ((kind == _SIGN) | is_digit)[is_word],
        is_code[is_word],
    )


@cache
def _marks() -> "NDArray[np.uint64]":
    """Return a number for each byte at each place of a word: their sum stands for the word. The same in every process."""
    import numpy as np

    return np.frombuffer(hashlib.shake_128(b"words").digest(8 * 256 * _MAX_WORD), np.uint64)


def _around(line: str, start: int) -> str:
    """Return a line, or the part of a long one around its rarest word."""
    begin = max(start - _BEFORE_CHARS, 0) if len(line) > _SHOWN_CHARS else 0
    return ("…" if begin else "") + brief(masked_random(line)[begin:], _SHOWN_CHARS)
