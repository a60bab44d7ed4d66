"""The layout of a large JSON answer: where its parts lie, in few bytes.

A store keeps it beside the answer. With it another process shows a page without the rest of the answer: it neither
fetches nor reads what it does not show.
"""

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from brimgate.engine.blocks import Blocks, children_of
from brimgate.engine.document import MAX_KEY_CHARS, Document, Focus, Node
from brimgate.engine.jsontext import Children
from brimgate.engine.lazy import lazy
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


class _Layout(msgspec.Struct, array_like=True):
    root: Node
    focus: Node
    pointer: str
    levels: list[_Level]
    tokens: list[tuple[str, float, int]]
    columns: tuple[str, ...] = ()


def layout_of(document: Document) -> bytes:
    """Return the layout of a document; empty where it is of no use."""
    if not document.is_json or document.is_reading or document.expected or document.size < _WORTH_BYTES:
        return b""
    levels = list(_levels_to(document, document.focus.node))
    if any(level is None for level in levels):
        return b""
    inner = document.inside(document.focus.node)
    layout = _Layout(
        document.root,
        document.focus.node,
        document.focus.pointer,
        [level for level in levels if level is not None],
        [(one.family, one.multiplier, tokens) for one, tokens in document.known_tokens.items()],
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
            array("Q", [one.start for one in blocks]).tobytes(),
            array("Q", [one.end for one in blocks]).tobytes(),
            None,
            array("Q", [one.first for one in blocks]).tobytes(),
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
    """Return the document of a layout; None if it is none of ours."""
    try:
        known = msgspec.msgpack.decode(layout, type=_Layout)
        opened = {level.start: _children(level, source) for level in known.levels}
    except (msgspec.MsgspecError, ValueError):
        return None
    made = DistantDocument(source, known.root, opened)
    made.__dict__["focus"] = Focus(known.focus, known.pointer)
    made.focus_columns = known.columns
    made.known_tokens.update({Estimator(family, factor): tokens for family, factor, tokens in known.tokens})
    return made


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
        children = self.open(node) if node == self.focus.node != self.root else None
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
        return super().head(node) if known is None else b"[" if known.keys is None else b"{"

    def _open(self, node: Node) -> Children | None:
        raw = self.raw(node)
        try:
            found = children_of(raw, 0, len(raw))
        except JsonRefused:
            return None
        return None if found.longest_key > MAX_KEY_CHARS else found.shifted(node.start)
