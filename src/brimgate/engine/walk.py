"""The walk: everything that is held, part by part, in document order.

Each part is a run of whole children of one array or object, or a piece of one text that is too long to send whole.
The parts cover the document exactly once, so whoever follows the cursors to the end gets every value (see
rebuild.py).
"""

from dataclasses import dataclass, replace

from brimgate.engine import jsontext
from brimgate.engine.chunks import Cutter, Piece
from brimgate.engine.document import (
    MAX_DEPTH,
    MAX_POINTER_CHARS,
    Document,
    Node,
    Place,
    Position,
    Step,
    step_into,
)
from brimgate.engine.fit import fit, numbered
from brimgate.engine.forms import Rendered, render
from brimgate.engine.jsontext import Children
from brimgate.engine.pointer import pointer_step
from brimgate.engine.policy import Policy


@dataclass(frozen=True, slots=True)
class Part:
    kind: str
    """items (of a list), members (of an object), text (of a string or document), literal (JSON text in pieces)."""
    pointer: str
    """The pointer of the list, object or text."""
    first: int
    """The number of the first child, or the first byte of the text."""
    count: int
    total: int
    content: str
    form: str
    tokens: int
    following: Position | None
    lines: "Lines | None" = None
    steps: tuple[Step, ...] = ()
    """The steps from the root of what is walked to `pointer`."""
    is_numbered: bool = False
    """Each item begins with its number."""
    is_open_ended: bool = False
    """There are more than `total`, but the number is unknown."""


@dataclass(frozen=True, slots=True)
class Lines:
    """The position of a piece of text among the lines and chunks of the whole; lines count from 1."""

    first: int
    last: int
    total: int
    chunk_index: int
    total_chunks: int
    is_exact: bool = True
    """Whether the chunks were counted, and not estimated."""


@dataclass(frozen=True, slots=True)
class Walker:
    document: Document
    policy: Policy
    budget: int
    """Applies to the content alone."""
    limit: int
    base: str = ""
    """The pointer of the document's root in the whole answer."""
    chunk_budget: int = 0
    """The budget for planning chunks, the same for every reply about one text.

    `budget` may be less, or more for several.
    """
    chunk_count: int = 1
    asked: int = 0
    """The number of items that the caller asks for."""
    numbers: bool = False
    """Show the number of each item with it, so that it can be read by its path."""

    def part(self, position: Position | None) -> Part:
        """Return the part that begins at `position` (None: the beginning)."""
        if not self.document.is_json:
            index, offset = position or Position(0)
            return self._text(self.document, offset, self.base, None, "text", index)
        if position is None:
            children = self.document.open(self.document.root)
            if not children:
                return self._empty()
            position = Position(children.starts[0])
        place = self.document.locate(position.node)
        if position.text:
            return self._piece(place, position.text)
        return self._children(place)

    def _empty(self) -> Part:
        text = jsontext.canonical(self.document.raw(self.document.root)).decode()
        kind = "items" if text[0] == "[" else "members"
        return Part(kind, self.base, 0, 0, 0, text, "json", self.policy.estimator.ceiling(text), None)

    def _children(self, place: Place) -> Part:
        """Return as many children from `place` on as fit. If not even one does, go down into it."""
        children = self.document.open(place.parent) or Children([], [], None)
        is_list = children.keys is None
        most = len(children) - place.index
        if is_list and not self.asked:
            most = min(most, self.limit)
        window = self._window(children, place.index, most)
        found = fit(
            lambda count: self._render(children, place.index, count),
            window,
            lambda count: children.ends[place.index + count - 1] - children.starts[place.index],
            self.budget,
            self.policy.estimator,
            self.asked if is_list else 0,
        )
        if found is None:
            return self._descend(place, children)
        following = self._after(place, place.index + found.count)
        kind = "items" if children.keys is None else "members"
        return Part(
            kind, self.base + place.pointer, place.index, found.count, self.document.count(place.parent, children),
            found.rendered.text, found.rendered.form, found.tokens, following, steps=place.steps,
            is_open_ended=self.document.is_open_ended(place.parent),
            is_numbered=self._is_numbered(children, place.index, found.count),
        )  # fmt: skip

    def _is_numbered(self, children: Children, index: int, count: int) -> bool:
        if not self.numbers or children.keys is not None:
            return False
        values = self._values(children, index, count)
        return numbered(values, index, self.policy.format) is not None

    def _window(self, children: Children, index: int, most: int) -> int:
        """Return how many children can fit at most: no form saves more than nine tenths of JSON's bytes."""
        if not most:
            return 0
        reach = children.starts[index] + self.budget * 60
        last = min(children.index_at(reach), index + most - 1)
        return max(1, last - index + (children.ends[last] <= reach))

    def _render(self, children: Children, index: int, count: int) -> Rendered:
        raw = self.joined(children, index, count)
        return render(raw, self.policy.format, self.policy.estimator)

    def _values(self, children: Children, index: int, count: int) -> list[bytes]:
        part = self.document.part
        return [part(children.starts[at], children.ends[at]) for at in range(index, index + count)]

    def joined(self, children: Children, index: int, count: int) -> bytes:
        """Return a run of children as a list or object of its own."""
        values = self._values(children, index, count)
        if children.keys is None:
            if self.numbers:
                values = numbered(values, index, self.policy.format) or values
            return jsontext.canonical(b"[" + b",".join(values) + b"]")
        keys = children.keys[index : index + count]
        named = [jsontext.quote(key).encode() + b":" + value for key, value in zip(keys, values, strict=True)]
        return jsontext.canonical(b"{" + b",".join(named) + b"}")

    def _descend(self, place: Place, children: Children) -> Part:
        node = self.document.child(children, place.index)
        pointer = place.pointer + pointer_step(children, place.index)
        inner = self.document.open(node)
        if inner and len(place.steps) + 1 < MAX_DEPTH and len(self.base + pointer) <= MAX_POINTER_CHARS:
            return self._children(Place(pointer, node, 0, (*place.steps, step_into(children, place.index))))
        return self._piece(place, 0)

    def _piece(self, place: Place, offset: int) -> Part:
        children = self.document.open(place.parent)
        if children is None:
            raise AssertionError("a place always has an opened parent")
        node = self.document.child(children, place.index)
        pointer = self.base + place.pointer + pointer_step(children, place.index)
        kind = "text" if self.document.head(node) == b'"' else "literal"
        part = self._text(self.document.text_of(node), offset, pointer, node, kind)
        following = part.following or self._after(place, place.index + 1)
        return replace(part, following=following, steps=(*place.steps, step_into(children, place.index)))

    def _after(self, place: Place, index: int) -> Position | None:
        """Return where the walk continues after child number `index - 1`: its next sibling, or its parent's."""
        children = self.document.open(place.parent)
        if children and index < len(children):
            return Position(children.starts[index])
        if place.parent == self.document.root:
            return None
        above = self.document.locate(place.parent.start)
        return self._after(above, above.index + 1)

    def _text(
        self,
        document: Document,
        offset: int,
        pointer: str,
        node: Node | None,
        kind: str,
        index: int | None = None,
    ) -> Part:
        """Return the chunk at `offset`. `index` is its number, if the cursor has it."""
        text, cutter = document.long_text, self.cutter(document)
        if index is None:
            index = cutter.count(0, offset)
        piece, count = self._pieces(cutter, offset)
        end = piece.end
        lines = Lines(
            text.line_of(offset) + 1,
            text.line_of(max(end - 1, 0)) + 1,
            text.line_count,
            index,
            cutter.total(index + count, end),
            is_exact=cutter.is_exact,
        )
        following = Position(node.start if node else index + count, end) if end < text.size else None
        content = text.between(offset, end)
        return Part(
            kind, pointer, offset, end - offset, text.size, content, "text",
            piece.tokens, following, lines,
        )  # fmt: skip

    def cutter(self, document: Document) -> Cutter:
        planned = self.chunk_budget or self.budget
        return Cutter(document.long_text, planned, self.policy.chunk_lines, self.policy.estimator)

    def _pieces(self, cutter: Cutter, offset: int) -> tuple[Piece, int]:
        """Return as many chunks as were asked for and fit together, and their number; at least one."""
        first = cutter.piece(offset, max(min(self.budget, cutter.budget), 1))
        made, count = first, 1
        while count < self.chunk_count and made.end < cutter.text.size:
            end = cutter.piece(made.end).end
            tokens = self.policy.estimator.ceiling(cutter.text.between(offset, end))
            if tokens > self.budget:
                break
            made, count = Piece(end, tokens), count + 1
        return made, count
