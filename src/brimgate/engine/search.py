"""Search a held answer: everything in it, unless a path says otherwise.

What is searched are units: the items of lists, the lines of texts, the single values elsewhere. A unit is matched as
it is printed: an item as JSON on one line, a value as `path: value`, a line as it is. So that nobody has to guess
which, JSON is tried with and without spaces, and `^` and `$` also stand for the ends of a single value.

Units are read a block at a time. Of a hit only its number or place is kept, and its text is read again when it is
shown: a search may find a million.
"""

import json
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, NamedTuple, cast

from brimgate.engine import jsontext
from brimgate.engine.document import MAX_DEPTH, Document, Node
from brimgate.engine.jsontext import Children
from brimgate.engine.lazy import LazySequence
from brimgate.engine.matcher import MAX_SPANS, Batch, Matcher, Spans, matcher
from brimgate.engine.pointer import escaped, pointer_step, unescaped
from brimgate.engine.query import View

_MAX_KEPT: Final = 4
"""Number of searches whose hits are kept with the answer, so that the next page does not search again."""
_LARGE_ITEM: Final = 16_384
"""An item with more bytes is searched value by value: as one hit it would hide the others."""
LONG_LINE: Final = 400
"""Of a longer line only pieces around the matches are shown."""
AROUND: Final = 80
_BATCH_BYTES: Final = 1 << 17
_BATCH_VALUES: Final = 2_000
_MAX_SHOWN: Final = 1_000
_MAX_TOPS: Final = 1_000


_DIFF: Final = (b"diff --git", b"+++ ")
_FILE: Final = re.compile(rb"^(?:diff --git a/.* b/|\+\+\+ (?:b/)?|Index: )(\S.*)", re.MULTILINE)


class Hit(NamedTuple):
    unit: int
    """The number of the item or line; of a value elsewhere, its number among those that match."""
    spans: Spans
    """Where in the unit its matches are."""
    place: str = ""
    """The pointer of a value elsewhere."""


class Units(LazySequence[str]):
    """The texts that were searched, each read when it is needed."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count


class _Items(Units):
    def __init__(self, document: Document, children: Children) -> None:
        super().__init__(len(children))
        self._document, self._children = document, children

    def part(self, at: int) -> str:
        return _readable(self.raw(at))

    def raw(self, at: int) -> bytes:
        return self._document.raw(self._document.child(self._children, at))


class LineUnits(Units):
    def __init__(self, document: Document) -> None:
        self.long_text = document.long_text
        super().__init__(self.long_text.line_count)
        self._shown: dict[int, str] = {}
        """The lines around the hits that are shown: they are read again for each number of hits that is tried."""

    def part(self, at: int) -> str:
        known = self._shown.get(at)
        if known is None:
            if len(self._shown) >= _MAX_SHOWN:
                self._shown.clear()
            known = self._shown[at] = self._line(at)
        return known

    def _line(self, at: int) -> str:
        line = self.long_text.between(self.long_text.line_start(at), self.long_text.line_start(at + 1))
        return line.removesuffix("\n").removesuffix("\r")  # the carriage return is part of the line end

    def files(self) -> dict[int, str]:
        """Return the files of a diff, by the number of the line where each begins."""
        data = self.long_text.data
        if not data.startswith(_DIFF) and not any(b"\n" + mark in data for mark in _DIFF):
            return {}
        named = ((found.start(), found[1].decode("utf-8", "replace")) for found in _FILE.finditer(data))
        return {self.long_text.line_of(at): name.removesuffix("\r") for at, name in named}


class _Values(Units):
    """Values outside the list or text in question that match, by where they start."""

    def __init__(self, document: Document) -> None:
        super().__init__(0)
        self._document = document
        self._starts: array[int] = array("Q")

    def __len__(self) -> int:
        return len(self._starts)

    def add(self, start: int) -> None:
        self._starts.append(start)
        self._count += 1

    def part(self, at: int) -> str:
        pointer, _, raw = self.value(at)
        return f"{pointer}: {_readable(raw)}"

    def value(self, at: int) -> tuple[str, str, bytes]:
        """Return the pointer, the name and the text of a value."""
        document, start = self._document, self._starts[at]
        if start == document.root.start:
            return "", "", document.raw(document.root)
        place = document.locate(start)
        children = document.open(place.parent)
        if children is None:
            raise AssertionError("a value always has an opened parent")
        pointer = place.pointer + pointer_step(children, place.index)
        name = _name_in(pointer, document) if children.keys is None else children.keys[place.index]
        return pointer, name, document.raw(document.child(children, place.index))


def _name_in(pointer: str, document: Document) -> str:
    """Return the name of the list that an item belongs to."""
    steps = pointer.split("/")
    while len(steps) > 1:
        steps.pop()
        if document.head(document.resolve("/".join(steps[:-1]))) == b"{":
            return unescaped(steps[-1])
    return ""


class Found(LazySequence[Hit]):
    """The hits of a search, in the order in which they are shown."""

    def __init__(self, units: Units, wanted: Matcher) -> None:
        self._units, self._wanted = units, wanted
        self._numbers: array[int] = array("Q")
        self._pieces: array[int] = array("I")
        self._last: tuple[int, list[Spans]] = (-1, [])
        self.unit_count = 0
        """The number of units that match. Of a long line several pieces are hits."""

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, number: int, pieces: int = 1) -> None:
        self.unit_count += 1
        for piece in range(pieces):
            self._numbers.append(number)
            self._pieces.append(piece)

    def extend(self, others: "Found") -> None:
        self._numbers.extend(others._numbers)
        self._pieces.extend(others._pieces)
        self.unit_count += others.unit_count

    def unit(self, at: int) -> int:
        return self._numbers[at]

    def part(self, at: int) -> Hit:
        number = self._numbers[at]
        if isinstance(self._units, _Values):
            pointer, name, raw = self._units.value(number)
            return Hit(number, _spans_of_value(pointer, name, raw, self._wanted), pointer)
        known, pieces = self._last
        if known != number:
            text = self._units[number]
            pieces = pieces_of(self._wanted.find(text), text)
            self._last = (number, pieces)
        return Hit(number, pieces[min(self._pieces[at], len(pieces) - 1)])


@dataclass(slots=True)
class Hits:
    """What a search found: in the list or text that the answer is about, and elsewhere."""

    what: str
    """What the units are called: items, lines, values."""
    units: Units
    found: Found
    elsewhere: Found
    values: Units
    """The texts of the hits elsewhere."""
    lines: range | None = None
    """The range of lines that was searched, if not all were."""
    occurrences: int = 0
    is_capped: bool = False
    """Whether there are more occurrences than were counted."""
    occurrences_elsewhere: int = 0
    tops: Counter[str] = field(default_factory=lambda: Counter[str]())
    """How many of the hits elsewhere are in each member of the answer."""
    searched: int = 0
    """The number of values elsewhere that were searched."""
    beside: str = ""
    """What was searched in vain besides."""

    @property
    def unit_count(self) -> int:
        return len(self.units) if self.lines is None else len(self.lines)


def search(document: Document, view: View) -> Hits:
    """Return what a view's search finds in a document. The last few searches are kept with it."""
    key = f"{view.search} {view.lines}"
    known = document.searches.get(key)
    if isinstance(known, Hits):
        return known
    hits = _search(document, matcher(view.search), view.lines)
    while len(document.searches) >= _MAX_KEPT:
        document.searches.pop(next(iter(document.searches)))
    document.searches[key] = hits
    return hits


def _search(document: Document, wanted: Matcher, lines: tuple[int, int] | None) -> Hits:
    if lines is not None:
        return _search_lines(_text_of(document), wanted, lines)
    if not document.is_json:
        return _search_lines(document, wanted)
    focus = document.focus.node
    head, children = document.head(focus), document.open(focus)
    if head == b"[" and children is not None:
        hits = _search_items(document, children, wanted)
    elif head == b'"':
        hits = _search_lines(document.text_of(focus), wanted)
    else:
        hits, focus = _nothing("values", Units(0), wanted), Node(-1, -1)
    _search_values(document, focus, wanted, hits)
    return hits


def _nothing(what: str, units: Units, wanted: Matcher) -> Hits:
    return Hits(what, units, Found(units, wanted), Found(Units(0), wanted), Units(0))


def _text_of(document: Document) -> Document:
    """Return the text whose lines a range of lines means: the one that most of an answer is, or all of it."""
    if not document.is_json:
        return document
    focus = document.focus.node
    return document.text_of(focus) if document.head(focus) == b'"' else document.as_text


class _Sorter:
    """Puts units with the words as such before those that have them inside longer words."""

    def __init__(self, units: Units, wanted: Matcher) -> None:
        self._wanted = wanted
        self._whole, self._other = Found(units, wanted), Found(units, wanted)
        self.occurrences = 0
        self.is_capped = False

    def add(self, first: int, batch: Batch, counts: Counter[int], *, in_pieces: bool = False) -> None:
        """Add the hits of a batch whose first unit has the number `first`."""
        wanted = self._wanted
        if wanted.is_inverse:
            chosen: Iterable[int] = (at for at in range(len(batch)) if at not in counts)
        else:
            chosen = sorted(counts)
        whole = wanted.whole(batch) if wanted.whole and counts and not wanted.is_inverse else None
        for at in chosen:
            target = self._whole if whole is None or at in whole else self._other
            target.add(first + at, self._piece_count(batch[at]) if in_pieces else 1)
            self.occurrences += max(counts[at], 1)
            self.is_capped |= counts[at] >= MAX_SPANS

    def _piece_count(self, text: str) -> int:
        return len(pieces_of(self._wanted.find(text), text)) if len(text) > LONG_LINE else 1

    def finish(self, hits: Hits) -> None:
        self._whole.extend(self._other)
        hits.found, hits.occurrences, hits.is_capped = self._whole, self.occurrences, self.is_capped


# Items


def _search_items(document: Document, children: Children, wanted: Matcher) -> Hits:
    units = _Items(document, children)
    hits, sorter, first = _nothing("items", units, wanted), _Sorter(units, wanted), 0
    for raw in _item_blocks(document, children):
        batch, raws = _item_batch(raw)
        counts = wanted.count(batch)
        if wanted.spellings:
            _count_spellings(raws or jsontext.elements(raw), counts, wanted)
        sorter.add(first, batch, counts)
        first += len(batch)
    sorter.finish(hits)
    return hits


def _item_blocks(document: Document, children: Children) -> Iterator[bytes]:
    """Yield the items of a list in lists of their own, each of about a block."""
    if children.blocks is not None:
        yield from map(children.blocks.raw, range(len(children.blocks)))
    elif len(children):
        yield b"[" + document.data[children.starts[0] : children.ends[-1]] + b"]"


def _item_batch(raw: bytes) -> tuple[Batch, list[bytes]]:
    """Return the items of a list as texts; also as raw text if they had to be taken apart."""
    small = jsontext.minify(raw)
    if not small.isascii() or b"\\" in small:
        raws = jsontext.elements(raw)
        return Batch.of(list(map(_readable, raws))), raws
    found = jsontext.children(small, 0, len(small))
    text = bytearray(small)
    for end in found.ends:
        text[end] = 0x0A
    return Batch(text[1:-1].decode(), [start - 1 for start in found.starts]), []


def _count_spellings(raws: Sequence[bytes], counts: Counter[int], wanted: Matcher) -> None:
    """Try the other spellings of the items that did not match."""
    left = [at for at in range(len(raws)) if at not in counts]
    values = [_loaded(raws[at]) for at in left]
    if "spaced" in wanted.spellings:
        spaced = wanted.count(Batch.of(list(map(_spaced, values))))
        counts.update({left[at]: count for at, count in spaced.items()})
    if "values" in wanted.spellings:
        counts.update(
            _count_values(
                [(at, value) for at, value in zip(left, values, strict=True) if at not in counts], wanted
            )
        )


def _loaded(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except ValueError:  # more digits than Python reads
        return raw.decode("utf-8", "replace")


def _count_values(items: list[tuple[int, Any]], wanted: Matcher) -> Counter[int]:
    """Count the values that match, inside each item: as `name: value`, or alone."""
    owners: list[int] = []
    texts: list[str] = []
    for at, value in items:
        for pair in _values(value):
            owners.append(at)
            texts.extend(pair)
    matching = {at // 2 for at in wanted.count(Batch.of(texts))}
    return Counter(owners[at] for at in matching)


def _spaced(value: Any) -> str:
    """Write JSON with a space after every colon and comma."""
    return json.dumps(value, ensure_ascii=False)


def _values(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield every value inside a value: as `name: value`, and alone."""
    if isinstance(value, dict):
        for key, inner in cast("dict[str, Any]", value).items():
            yield from _values(inner, key)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            yield from _values(inner, name)
    else:
        spelled = json.dumps(value, ensure_ascii=False)
        yield f"{name}: {spelled}", value if isinstance(value, str) else spelled


# Lines


def _search_lines(document: Document, wanted: Matcher, lines: tuple[int, int] | None = None) -> Hits:
    units = LineUnits(document)
    hits, sorter = _nothing("lines", units, wanted), _Sorter(units, wanted)
    first, last = (lines[0] - 1, min(lines[1], len(units))) if lines else (0, len(units))
    hits.lines = range(min(first, last), last) if lines else None
    for number, batch in _line_batches(units, first, last):
        sorter.add(number, batch, wanted.count(batch), in_pieces=True)
    sorter.finish(hits)
    return hits


def _line_batches(units: LineUnits, first: int, last: int) -> Iterator[tuple[int, Batch]]:
    text = units.long_text
    at, end = text.line_start(first), text.line_start(last)
    while at < end:
        stop = text.data.find(b"\n", min(at + _BATCH_BYTES, end) - 1) + 1
        stop = min(stop or end, end)
        lines = text.between(at, stop).removesuffix("\n")
        if "\r" in lines:
            lines = lines.replace("\r\n", "\n").removesuffix("\r")
        batch = Batch(lines)
        yield first, batch
        first, at = first + len(batch), stop


def pieces_of(spans: Spans, text: str) -> list[Spans]:
    """Group the matches in a long text: those close together are shown in one piece."""
    if not spans or len(text) <= LONG_LINE:
        return [spans]
    pieces: list[Spans] = []
    for span in spans:
        is_near = bool(pieces) and span[0] - pieces[-1][-1][1] <= AROUND
        if is_near and span[1] - pieces[-1][0][0] <= LONG_LINE:
            pieces[-1].append(span)
        else:
            pieces.append([span])
    return pieces


# Values elsewhere


class _Leaf(NamedTuple):
    pointer: str
    name: str
    node: Node


def _search_values(document: Document, apart: Node, wanted: Matcher, hits: Hits) -> None:
    """Search what is not in the list or text that the answer is about, value by value."""
    values = _Values(document)
    hits.values, hits.elsewhere = values, Found(values, wanted)
    leaves = _leaves(document, apart, _Leaf("", "", document.root), 0)
    while batch := list(islice(leaves, _BATCH_VALUES)):
        for at, count in _matching_leaves(document, batch, wanted):
            hits.elsewhere.add(len(values))
            values.add(batch[at].node.start)
            hits.occurrences_elsewhere += max(count, 1)
            top = batch[at].pointer[1:].partition("/")[0]
            if top in hits.tops or len(hits.tops) < _MAX_TOPS:
                hits.tops[top] += 1
        hits.searched += len(batch)


def _matching_leaves(document: Document, leaves: list[_Leaf], wanted: Matcher) -> Iterator[tuple[int, int]]:
    """Yield the numbers of the values that are wanted, and how often each matches."""
    raws = [document.raw(leaf.node) for leaf in leaves]
    texts = [f"{leaf.pointer}: {_readable(raw)}" for leaf, raw in zip(leaves, raws, strict=True)]
    counts = wanted.count(Batch.of(texts))
    left = [at for at in range(len(leaves)) if at not in counts]
    others = [_spellings_of(leaves[at].pointer, leaves[at].name, raws[at]) for at in left]
    owners = [at for at, spelled in zip(left, others, strict=True) for _ in spelled]
    spelled = wanted.count(Batch.of([one for each in others for one in each]))
    counts.update(dict.fromkeys((owners[at] for at in spelled), 1))
    for at in range(len(leaves)):
        if (at in counts) != wanted.is_inverse:
            yield at, counts[at]


def _spans_of_value(pointer: str, name: str, raw: bytes, wanted: Matcher) -> Spans:
    value = _readable(raw)
    text = f"{pointer}: {value}"
    if found := wanted.find(text):
        return found
    is_spelled = any(map(wanted.find, _spellings_of(pointer, name, raw)))
    return [(len(text) - len(value), len(text))] if is_spelled else []


def _spellings_of(pointer: str, name: str, raw: bytes) -> list[str]:
    """Return how else a value may be written: alone, and as JSON with its name."""
    value = _readable(raw)
    bare = value[1:-1] if raw[:1] == b'"' else value
    spelled = [bare, f'"{name}":{value}', f'"{name}": {value}']
    return [*spelled, unescaped(f"{pointer}: {value}")] if "~" in pointer else spelled


def _leaves(
    document: Document, apart: Node, leaf: _Leaf, depth: int, *, is_item: bool = False
) -> Iterator[_Leaf]:
    """Yield every value with its pointer and name, in document order. A small item of a list counts as one value."""
    node = leaf.node
    if node == apart:
        return
    is_small = is_item and node.end - node.start <= _LARGE_ITEM
    children = document.open(node) if depth < MAX_DEPTH and not is_small else None
    if not children:
        yield leaf
        return
    names = iter(children.keys) if children.keys is not None else None
    for at, (start, end) in enumerate(zip(children.starts, children.ends, strict=True)):
        step = pointer_step(children, at) if names is None else ""
        name = leaf.name if names is None else next(names)
        below = _Leaf(leaf.pointer + (step or f"/{escaped(name)}"), name, Node(start, end))
        if document.data[start] in b"[{":
            yield from _leaves(document, apart, below, depth + 1, is_item=names is None)
        elif below.node != apart:
            yield below


# What a unit is matched as


def _readable(raw: bytes) -> str:
    """Write a value as a reader would: minified, with escapes undone, including those of quotation marks."""
    small = jsontext.minify(raw)
    if b"\\" in small:
        small = jsontext.unescape(small).replace(b'\\"', b'"').replace(b"\\\\", b"\\")
    return small.decode("utf-8", "replace")
