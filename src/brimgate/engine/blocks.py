"""The children of a large array or object, known a block at a time.

An offset for every child would take many times the memory of `[0,0,0,…]`. So only blocks of about 32 KB are known by
their place, and a block is opened again when one of its children is needed.
"""

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from brimgate.engine import jsontext
from brimgate.engine.jsontext import Children
from brimgate.engine.lazy import LazySequence
from brimgate.errors import JsonRefused

_LARGE_BYTES: Final = 1 << 18
"""Smaller arrays and objects have the offsets of all their children."""
BLOCK_BYTES: Final = 1 << 15
_GROWTH: Final = 4
_KEPT: Final = 4
"""Opened blocks that are kept: readers go on to the next, and come back."""
_TRIES: Final = 3
_SPARSE: Final = 32
"""Bytes for each comma, from which on a block may be as large as it likes: it has few children."""
_BLANKS: Final = b" \t\n\r"
_MAX_INDENT: Final = 100
_KEY: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"[ \t\n\r]*:[ \t\n\r]*', re.DOTALL)
_CLOSING: Final = {b"{": b"}", b"[": b"]", b'"': b'"'}
_T = TypeVar("_T", int, str)


def children_of(data: bytes, start: int, end: int) -> Children:
    """Open the array or object that lies at [start, end) of `data`, one level deep."""
    if end - start <= _LARGE_BYTES:
        return jsontext.children(data, start, end)
    return Blocks(data, start, end).children()


class Block(NamedTuple):
    first: int
    """The number of its first child."""
    start: int
    end: int
    """Its place in the document, without the comma that ends it."""


class Blocks:
    """Where the blocks of one array or object lie, and the blocks that were opened last."""

    def __init__(self, data: bytes, start: int, end: int) -> None:
        """Find the blocks of the array or object at [start, end). Raise JsonRefused if it is not strict JSON."""
        self._data = data
        self._brackets = data[start : start + 1], data[end - 1 : end]
        self._firsts, self._starts, self._ends = array("Q"), array("Q"), array("Q")
        self._opened: dict[int, Children] = {}
        self._shift = 0
        self.count = 0
        self.longest_key = 0
        self.largest = (0, -1)
        """The number and the size of the largest child."""
        self._find(start + 1, end - 1)

    @classmethod
    def known(
        cls,
        data: Any,
        opening: bytes,
        places: "tuple[array[int], array[int], array[int]]",
        count: int,
        longest_key: int,
        largest: tuple[int, int],
    ) -> "Blocks":
        """Return blocks that were found before: the numbers of their first children, their starts and their ends.

        Of `data` only slices are taken from now on, so that it may be what fetches them.
        """
        made = object.__new__(cls)
        made._data, made._brackets = data, (opening, _CLOSING[opening])
        made._firsts, made._starts, made._ends = places
        made._opened, made._shift = {}, 0
        made.count, made.longest_key, made.largest = count, longest_key, largest
        return made

    @property
    def is_object(self) -> bool:
        return self._brackets[0] == b"{"

    def children(self) -> Children:
        keys = _Column(self, lambda block: block.keys or ()) if self.is_object else None
        starts: Sequence[int] = _Column(self, lambda block: block.starts)
        return Children(starts, _Column(self, lambda block: block.ends), keys, self)

    def shifted(self, by: int) -> "Blocks":
        """Return the same blocks of a document that begins `-by` bytes later."""
        made = object.__new__(Blocks)
        made.__dict__.update(self.__dict__)
        made._shift, made._opened = self._shift + by, {}
        return made

    def __len__(self) -> int:
        return len(self._firsts)

    def __getitem__(self, number: int) -> Block:
        if not 0 <= number < len(self._firsts):
            raise IndexError(number)
        return Block(
            self._firsts[number], self._starts[number] + self._shift, self._ends[number] + self._shift
        )

    def of_child(self, at: int) -> int:
        """Return the number of the block that has child number `at`."""
        return bisect_right(self._firsts, at) - 1

    def index_at(self, place: int) -> int:
        """Return the number of the last child that starts at `place` or before; -1 if there is none."""
        number = bisect_right(self._starts, place - self._shift) - 1
        if number < 0:
            return -1
        return self._firsts[number] + self.opened(number).index_at(place)

    def opened(self, number: int) -> Children:
        """Return the children of one block."""
        known = self._opened.get(number)
        if known is None:
            known = self._open(number)
            self._opened[number] = known
            for oldest in list(self._opened)[:-_KEPT]:  # another thread may do the same
                self._opened.pop(oldest, None)
        return known

    def raw(self, number: int) -> bytes:
        """Return a block as an array or object of its own."""
        return self._wrapped(self._starts[number], self._ends[number])

    def _open(self, number: int) -> Children:
        raw, by = self.raw(number), self._starts[number] - 1 + self._shift
        found = jsontext.children(raw, 0, len(raw))
        # Arrays, because lists of numbers take five times the memory.
        starts = array("Q", [at + by for at in found.starts])
        return Children(starts, array("Q", [at + by for at in found.ends]), found.keys)

    def _wrapped(self, start: int, end: int) -> bytes:
        opening, closing = self._brackets
        return opening + self._data[start:end] + closing

    # Finding them

    def _find(self, at: int, end: int) -> None:
        hashes = _Hashes()
        while True:
            cut, found = self._next(at, end)
            if not found:
                raise JsonRefused("trailing comma")
            self._add(at, cut, found, hashes)
            if cut >= end:
                break
            at = cut + 1
        if hashes.has_twins():
            raise JsonRefused("duplicate key in a JSON object")

    def _add(self, start: int, end: int, found: Children, hashes: "_Hashes") -> None:
        self._firsts.append(self.count)
        self._starts.append(start)
        self._ends.append(end)
        at, size = found.largest()
        if size > self.largest[1]:
            self.largest = (self.count + at, size)
        if found.keys is not None:
            hashes.add(found.keys)
            self.longest_key = max(self.longest_key, found.longest_key)
        self.count += len(found)

    def _next(self, at: int, end: int) -> tuple[int, Children]:
        """Return the end of the block that begins at `at`, and its children."""
        width = BLOCK_BYTES
        while end - at > width + width // 4:
            if (found := self._tried(at, at + width)) is not None:
                return found
            if (
                not self._is_sparse(at, at + width)
                and (comma := _last_comma(self._data[at : at + width])) >= 0
            ):
                return at + comma, self._between(at, at + comma)
            width *= _GROWTH
        return end, self._between(at, end)

    def _tried(self, at: int, limit: int) -> tuple[int, Children] | None:
        """Try the last places before `limit` that look like an end of a child.

        What is strict JSON up to a comma is what a reader of the whole would have read up to there.
        """
        close, indent = self._hint(at)
        for _ in range(_TRIES):
            found = self._data.rfind(close + b"," + indent, at, limit)
            if found <= at:
                return None
            limit = found + len(close)
            try:
                return limit, self._between(at, limit)
            except JsonRefused:
                continue
        return None

    def _hint(self, at: int) -> tuple[bytes, bytes]:
        """Return how children end, and what stands between them, if all are like the first of this block."""
        head = self._data[at : at + _MAX_INDENT]
        indent = head[: len(head) - len(head.lstrip(_BLANKS))]
        first = at + len(indent)
        key = _KEY.match(self._data, first) if self.is_object else None
        value = key.end() if key else first
        return _CLOSING.get(self._data[value : value + 1], b""), indent

    def _is_sparse(self, start: int, end: int) -> bool:
        return self._data.count(b",", start, end) * _SPARSE <= end - start

    def _between(self, start: int, end: int) -> Children:
        raw = self._wrapped(start, end)
        return jsontext.children(raw, 0, len(raw))


class _Column(LazySequence[_T]):
    """The starts, ends or keys of all children, as if they were a list."""

    def __init__(self, blocks: Blocks, of: Callable[[Children], Sequence[_T]]) -> None:
        self._blocks = blocks
        self._of = of

    def __len__(self) -> int:
        return self._blocks.count

    def part(self, at: int) -> _T:
        number = self._blocks.of_child(at)
        return self._of(self._blocks.opened(number))[at - self._blocks[number].first]

    def __iter__(self) -> Iterator[_T]:
        for number in range(len(self._blocks)):
            yield from self._of(self._blocks.opened(number))

    def __contains__(self, value: object) -> bool:
        return any(value in self._of(self._blocks.opened(number)) for number in self._likely(value))

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        for number in self._likely(value):
            found = self._of(self._blocks.opened(number))
            if value in found:
                return self._blocks[number].first + found.index(value)
        raise ValueError(value)

    def _likely(self, value: object) -> Iterator[int]:
        """Yield the numbers of the blocks that may have a key: those with its text, or with escapes."""
        quoted = jsontext.quote(value).encode("utf-8", "replace") if isinstance(value, str) else b""
        for number in range(len(self._blocks)):
            raw = self._blocks.raw(number)
            if quoted in raw or b"\\" in raw:
                yield number


class _Hashes:
    """Finds keys that occur twice by their hashes: the keys themselves would take ten times the memory."""

    def __init__(self) -> None:
        self._found: array[int] = array("q")

    def add(self, keys: Sequence[str]) -> None:
        self._found.extend(map(hash, keys))

    def has_twins(self) -> bool:
        import numpy as np

        hashes: Any = np.array(self._found, copy=True)
        hashes.sort()
        return bool((hashes[1:] == hashes[:-1]).any())


def _last_comma(text: bytes) -> int:
    """Return the last comma that separates children in the beginning of what is inside brackets; -1 if there is none."""
    import numpy as np  # loaded by the first large answer only

    plain = text.replace(rb"\\", b"  ").replace(rb"\"", b"  ") if b"\\" in text else text
    data: Any = np.frombuffer(plain, np.uint8)
    # Sums of bytes may overflow: odd stays odd.
    is_outside: Any = (np.cumsum(data == 0x22, dtype=np.uint8) & 1) == 0
    depth: Any = np.cumsum(np.where(is_outside, _steps()[data], 0), dtype=np.int32)
    commas: Any = np.flatnonzero((data == 0x2C) & is_outside & (depth == 0))
    return int(commas[-1]) if len(commas) else -1


def _steps() -> Any:
    """Return for each byte how it changes the depth."""
    import numpy as np

    steps = np.zeros(256, np.int8)
    steps[list(b"[{")], steps[list(b"]}")] = 1, -1
    return steps
