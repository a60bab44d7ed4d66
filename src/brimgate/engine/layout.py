"""The layout of a large answer: where its parts lie, in few bytes.

A store keeps it beside the answer. With it another process shows a page without the rest of the answer: it neither
fetches nor reads what it does not show.
"""

import sys
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from brimgate.engine.blocks import Blocks, children_of
from brimgate.engine.chunks import CostCurve, LongText
from brimgate.engine.document import MAX_KEY_CHARS, Document, Focus, Node, PlainText
from brimgate.engine.jsontext import Children
from brimgate.engine.lazy import lazy
from brimgate.engine.textkind import TextKind
from brimgate.engine.tokens.estimator import Estimator
from brimgate.errors import JsonRefused

if TYPE_CHECKING:
    from collections.abc import Iterator

_WORTH_BYTES: Final = 1 << 19
"""What is smaller is read as a whole: that costs less than to remember its layout."""
_MAX_CHILDREN: Final = 5_000


class ByteSource(Protocol):
    """Bytes that may be far away."""

    def __len__(self) -> int: ...

    def part(self, start: int, end: int) -> bytes: ...


class _Level(msgspec.Struct, array_like=True):
    """The children of one array or object."""

    start: int
    opening: str
    """The bracket that begins it."""
    starts: bytes
    ends: bytes
    keys: list[str] | None = None
    firsts: bytes = b""
    """Only of blocks: the number of the first child of each."""
    count: int = 0
    longest_key: int = 0
    largest: tuple[int, int] = (0, -1)


class _Layout(msgspec.Struct, array_like=True, tag="json"):
    root: Node
    focus: Node
    pointer: str
    levels: list[_Level]
    tokens: list[tuple[str, float, int]]
    columns: tuple[str, ...] = ()
    byte_order: str = sys.byteorder


class _Curve(msgspec.Struct, array_like=True):
    family: str
    multiplier: float
    sums: bytes
    scale: float


class _TextLayout(msgspec.Struct, array_like=True, tag="text"):
    kind: TextKind
    newlines: bytes
    fences: bytes
    curves: list[_Curve]
    tokens: list[tuple[str, float, int]]
    byte_order: str = sys.byteorder


def layout_of(document: Document) -> bytes:
    """Return the layout of a document; empty where it is of no use."""
    if document.is_reading or document.expected or document.size < _WORTH_BYTES:
        return b""
    return _json_layout(document) if document.is_json else _text_layout(document)


def _text_layout(document: Document) -> bytes:
    text = document.long_text
    curves = [
        _Curve(one.family, one.multiplier, curve.sums.tobytes(), curve.scale)
        for one, curve in text.curves.items()
    ]
    tokens = _tokens_of(document)
    made = _TextLayout(text.kind, text.newlines.tobytes(), text.fences.tobytes(), curves, tokens)
    return msgspec.msgpack.encode(made)


def _tokens_of(document: Document) -> list[tuple[str, float, int]]:
    return [(one.family, one.multiplier, tokens) for one, tokens in document.known_tokens.items()]


def _json_layout(document: Document) -> bytes:
    levels = list(_levels_to(document, document.focus.node))
    if any(level is None for level in levels):
        return b""
    inner = document.inside(document.focus.node)
    layout = _Layout(
        document.root,
        document.focus.node,
        document.focus.pointer,
        [level for level in levels if level is not None],
        _tokens_of(document),
        inner.columns,
    )
    return msgspec.msgpack.encode(layout)


def _levels_to(document: Document, focus: Node) -> "Iterator[_Level | None]":
    node = document.root
    while (children := document.open(node)) is not None:
        yield _level(node, children)
        if node == focus:
            return
        node = document.child(children, children.index_at(focus.start))


def _level(node: Node, children: Children) -> _Level | None:
    if (blocks := children.blocks) is not None:
        return _Level(
            node.start,
            "{" if blocks.is_object else "[",
            _packed([one.start for one in blocks]),
            _packed([one.end for one in blocks]),
            None,
            _packed([one.first for one in blocks]),
            blocks.count,
            blocks.longest_key,
            blocks.largest,
        )
    if len(children) > _MAX_CHILDREN:
        return None
    keys = None if children.keys is None else list(children.keys)
    return _Level(
        node.start, "[" if keys is None else "{", _packed(children.starts), _packed(children.ends), keys
    )


def _packed(places: Sequence[int]) -> bytes:
    return array("Q", places).tobytes()


def _unpacked(packed: bytes) -> "array[int]":
    places = array("Q")
    places.frombytes(packed)
    return places


def restored(source: ByteSource, layout: bytes) -> Document | None:
    """Return the document of a layout; None if it is none of ours, or of another kind of machine."""
    try:
        known = msgspec.msgpack.decode(layout, type=_Layout | _TextLayout)
        if known.byte_order != sys.byteorder:
            return None
        made = _distant_text(source, known) if isinstance(known, _TextLayout) else _distant(source, known)
    except (msgspec.MsgspecError, ValueError):
        return None
    made.known_tokens.update({Estimator(family, factor): tokens for family, factor, tokens in known.tokens})
    return made


def _distant(source: ByteSource, known: _Layout) -> Document:
    opened = {level.start: _children(level, source) for level in known.levels}
    made = DistantDocument(source, known.root, opened)
    made.__dict__["focus"] = Focus(known.focus, known.pointer)
    made.focus_columns = known.columns
    return made


def _distant_text(source: ByteSource, known: _TextLayout) -> Document:
    text = DistantText(source)
    fences = array("I")
    fences.frombytes(known.fences)
    text.__dict__.update(kind=known.kind, newlines=_unpacked(known.newlines), fences=fences)
    for one in known.curves:
        sums = array("d")
        sums.frombytes(one.sums)
        curve = CostCurve(len(source), sums, lambda scale=one.scale: scale)
        text.curves[Estimator(one.family, one.multiplier)] = curve
    return DistantPlainText(source, text)


def _children(level: _Level, source: ByteSource) -> Children:
    starts, ends = _unpacked(level.starts), _unpacked(level.ends)
    if not level.firsts:
        return Children(starts, ends, level.keys)
    places = _unpacked(level.firsts), starts, ends
    return Blocks.known(
        _Sliced(source), level.opening.encode(), places, level.count, level.longest_key, level.largest
    ).children()


class _Sliced:
    """Bytes that may be far away, with the slices of bytes."""

    def __init__(self, source: ByteSource) -> None:
        self._source = source

    def __getitem__(self, part: slice) -> bytes:
        return self._source.part(part.start, part.stop)


class _Window:
    """A part of a source, as a source."""

    def __init__(self, source: ByteSource, node: Node) -> None:
        self._source, self._node = source, node

    def __len__(self) -> int:
        return self._node.end - self._node.start

    def part(self, start: int, end: int) -> bytes:
        by = self._node.start
        return self._source.part(by + start, min(by + end, self._node.end))


class DistantDocument(Document):
    """A document of which only the layout is here. Its bytes are fetched where something is shown."""

    def __init__(self, source: ByteSource, root: Node, opened: dict[int, Children]) -> None:
        super().__init__(b"", opened[root.start])
        self._source, self.root = source, root
        self._opened.clear()
        self._opened.update(opened)
        self.focus_columns: tuple[str, ...] = ()
        del self.data, self.original  # these are fetched when they are needed

    @lazy
    def data(self) -> bytes:  # pyright: ignore[reportIncompatibleVariableOverride]
        """All of it."""
        return self.part(0, self.size)

    @lazy
    def original(self) -> bytes:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.data

    @property
    def is_reading(self) -> bool:
        return False

    @property
    def size(self) -> int:
        return len(self._source)

    def part(self, start: int, end: int) -> bytes:
        return self._source.part(start, end)

    def inside(self, node: Node) -> Document:
        is_focus = node == self.focus.node and node != self.root
        children = self.open(node) if is_focus else None
        if children is None:
            return super().inside(node)
        if node.start not in self._inner:
            window = _Window(self._source, node)
            known = {0: children.shifted(-node.start)}
            inner = DistantDocument(window, Node(0, len(window)), known)
            inner.columns = self.focus_columns
            self._inner[node.start] = inner
        return self._inner[node.start]

    def head(self, node: Node) -> bytes:
        known = self._opened.get(node.start)
        if known is None:
            return self.part(node.start, node.start + 1)
        return b"[" if known.keys is None else b"{"

    def raw(self, node: Node) -> bytes:
        return self.part(node.start, node.end)

    def _open(self, node: Node) -> Children | None:
        raw = self.raw(node)
        try:
            found = children_of(raw, 0, len(raw))
        except JsonRefused:
            return None
        return None if found.longest_key > MAX_KEY_CHARS else found.shifted(node.start)


_BEFORE: Final = 64
"""Bytes before a chunk that tell where it may be cut."""
_BEHIND: Final = 256


class DistantText(LongText):
    """A text whose lines and costs are known. Its bytes are fetched where something is shown."""

    def __init__(self, source: ByteSource) -> None:
        super().__init__(b"")
        self._source = source
        del self.data  # it is fetched when it is needed

    @lazy
    def data(self) -> bytes:  # pyright: ignore[reportIncompatibleVariableOverride]
        """All of it."""
        return self.part(0, self.size)

    @property
    def size(self) -> int:
        return len(self._source)

    def part(self, start: int, end: int) -> bytes:
        return self._source.part(max(start, 0), min(end, self.size))

    def cut(self, start: int, limit: int) -> int:
        """Cut as the whole text would be cut there, by what stands around."""
        if limit >= self.size:
            return self.size
        # What a cut is decided by lies within another chunk of the same width.
        by, end = max(0, start - _BEFORE), min(self.size, 2 * limit - start + _BEHIND)
        around = LongText(self.part(by, end))
        fences = array("I", [place - by for place in self.fences if by <= place < end])
        is_inside = bisect_left(self.fences, by) % 2 == 1
        around.__dict__.update(kind=self.kind, fences=array("I", [0]) + fences if is_inside else fences)
        return by + around.cut(start - by, limit - by)


class DistantPlainText(PlainText):
    """A document that is a distant text."""

    def __init__(self, source: ByteSource, text: DistantText) -> None:
        super().__init__(b"")
        self._source, self.root = source, Node(0, len(source))
        self.__dict__["long_text"] = text
        del self.data, self.original

    @lazy
    def data(self) -> bytes:  # pyright: ignore[reportIncompatibleVariableOverride]
        """All of it."""
        return self.long_text.data

    @lazy
    def original(self) -> bytes:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.data

    @property
    def is_reading(self) -> bool:
        return False

    @property
    def size(self) -> int:
        return len(self._source)

    def part(self, start: int, end: int) -> bytes:
        return self._source.part(start, end)
