"""The document that is held: its original bytes, and where its parts lie.

A JSON value is opened one level at a time and only where something is shown, so that page k costs a slice. A value
that cannot be opened safely (refused JSON, keys too long for a path, nesting beyond MAX_DEPTH) is text.
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from brimgate.engine import jsontext
from brimgate.engine.blocks import children_of
from brimgate.engine.chunks import EXACT_BYTES, LongText, rounded
from brimgate.engine.jsontext import Children
from brimgate.engine.lazy import lazy
from brimgate.engine.pointer import pointer_step, pointer_steps
from brimgate.engine.tokens.estimator import Estimator
from brimgate.errors import BadRequest, JsonRefused

if TYPE_CHECKING:
    from collections.abc import Callable

    from brimgate.engine.table_rows import TableRows

MAX_DEPTH: Final = 40
_CURVED_BYTES: Final = 16_384
_SAMPLED_BYTES: Final = 512 << 10
_SAMPLES: Final = 64
_SAMPLED_PART: Final = 8
MAX_KEY_CHARS: Final = 200
MAX_POINTER_CHARS: Final = 1_000

_MAX_OPENED: Final = 100_000
"""Children whose places are remembered besides those of the root: they take about 10 MB."""
_DOMINANT: Final = 0.6
"""Share of its parent's bytes that makes a list or text the focus of the answer."""
_MAX_ENVELOPES: Final = 6
_COLUMN_NAMES: Final = frozenset(("columns", "header", "headers", "fields", "column_names", "columnnames"))


class Node(NamedTuple):
    """A value by its place in the document."""

    start: int
    end: int


class Focus(NamedTuple):
    """What a JSON answer is about: the list, text or object that holds most of it, and the path to it."""

    node: Node
    pointer: str


class Position(NamedTuple):
    """Where a walk continues: at the value that starts at `node`, `text` bytes into its text."""

    node: int
    text: int = 0


@dataclass(frozen=True, slots=True)
class Place:
    """A child by its parent: what a walk needs to continue from it."""

    pointer: str
    """The pointer of the parent."""
    parent: Node
    index: int
    steps: "tuple[Step, ...]" = ()
    """The steps from the root to the parent."""


class Step(NamedTuple):
    """One step down: which child of how many, in a list (items) or an object (members)."""

    child: int
    total: int
    kind: str


def step_into(children: Children, index: int) -> Step:
    return Step(index, len(children), "items" if children.keys is None else "members")


class Document:
    def __init__(
        self,
        data: bytes,
        opened: Children | None = None,
        expected: int = 0,
        *,
        growing: str = "",
        has_end: bool = True,
    ) -> None:
        """Hold `data`. `opened` has the children of the root, if they are already known."""
        self.data = data
        self.original = data
        """What is held: other bytes than `data` if these are a reading of it."""
        self.expected = expected
        """The total number of items in the live list at `growing`, of which only the beginning is here."""
        self._growing = growing
        self._has_end = has_end
        """Whether that total is known. If not, it only means that there are more items than are here."""
        self.root = Node(0, len(data))
        self.columns: tuple[str, ...] = ()
        """The names of the columns, if this is a list of rows and another member of its answer has them."""
        self._opened: dict[int, Children | None] = {0: opened} if opened is not None else {}
        self._opened_count = 0
        """About how many children they have together."""
        self._texts: dict[int, Document] = {}
        self._inner: dict[int, Document] = {}
        self._chosen: dict[tuple[str, ...], Document] = {}
        self.known_tokens: dict[Estimator, int] = {}
        """What `tokens` has found out."""
        self._totals: dict[Estimator, int] = {}
        self.searches: dict[str, object] = {}
        """The hits of recent searches, by query; search.py maintains them."""
        self.is_json = opened is not None or self._is_json()

    @classmethod
    def read(cls, data: bytes) -> "Document":
        """Return the document of an answer, with a reading of what is nearly JSON."""
        document = cls(data)
        if document.is_json:
            return document._with_string_opened()
        from brimgate.engine.odd_json import reading

        read = reading(data)
        return document if read is None else document._as_reading(read)

    def _as_reading(self, read: bytes) -> "Document":
        """Return a reading of this document, or the document itself if the reading is the same, or not JSON either."""
        made = Document(read)
        if not made.is_json or read == self.data.strip():
            return self
        made.original = self.data
        return made

    def _with_string_opened(self) -> "Document":
        """Open the one text that is most of the answer, if that text is JSON: `{"body": "[…]"}`."""
        node = self.focus.node
        if self.head(node) != b'"' or node == self.root:
            return self
        text = self.text_of(node).data.strip()
        if text[:1] not in (b"[", b"{") or not Document(text).is_json:
            return self
        return self._as_reading(self.data[: node.start] + text + self.data[node.end :])

    @property
    def is_reading(self) -> bool:
        """Whether this is derived from bytes that are not strict JSON, or that have JSON in a string."""
        return self.original is not self.data

    def _is_json(self) -> bool:
        body = self.data.strip(b" \t\n\r")
        if body[:1] not in (b"[", b"{") or body[-1:] not in (b"]", b"}"):
            return False
        if not jsontext.is_utf8(self.data):
            return False
        if jsontext.is_too_deep(body):
            return False
        start = self.data.index(body[:1])
        self.root = Node(start, start + len(body))
        return self.open(self.root) is not None

    @lazy
    def long_text(self) -> LongText:
        return LongText(self.data)

    @lazy
    def table_rows(self) -> "TableRows | None":
        """The rows of CSV or JSON lines; None for any other text."""
        from brimgate.engine.table_rows import table_rows

        return table_rows(self.long_text)

    @lazy
    def as_text(self) -> "Document":
        return PlainText(self.original)

    def tokens(self, estimator: Estimator) -> int:
        """Estimate the tokens by the table: close enough to tell the size of the document."""
        if self.is_reading:
            return self.as_text.tokens(estimator)
        if estimator not in self.known_tokens:
            # A long text will be cut along its cost curve. The end of the curve is the same sum, and counted
            # only once.
            curved = not self.is_json and len(self.data) > _CURVED_BYTES and estimator.family != "chars4"
            if curved:
                self.known_tokens[estimator] = int(
                    self.long_text.curve(estimator).total * estimator.multiplier
                )
            elif self.is_json and len(self.data) > _SAMPLED_BYTES:
                self.known_tokens[estimator] = self._sampled_tokens(estimator)
            else:
                self.known_tokens[estimator] = estimator.table(self.data)
        return self.known_tokens[estimator]

    def total_tokens(self, estimator: Estimator) -> int:
        """Return the tokens of the whole as they are told: counted like every part of it, if it is not too long."""
        if estimator not in self._totals:
            exact = estimator.ceiling(self.original) if self.is_counted else 0
            self._totals[estimator] = exact or rounded(self.tokens(estimator))
        return self._totals[estimator]

    @property
    def size(self) -> int:
        """The number of bytes of what is held."""
        return len(self.original)

    @property
    def is_counted(self) -> bool:
        """Whether tokens are counted and not estimated."""
        return self.size <= EXACT_BYTES

    def _sampled_tokens(self, estimator: Estimator) -> int:
        """Estimate large JSON by an eighth of it, in pieces from everywhere.

        Rows are alike, and a total is an estimate.
        """
        step = len(self.data) // _SAMPLES
        width = step // _SAMPLED_PART
        pieces = b"".join(self.data[at : at + width] for at in range(0, len(self.data) - width, step))
        return int(estimator.table(pieces) * len(self.data) / len(pieces))

    @lazy
    def focus(self) -> "Focus":
        """Go down from the root as long as one child holds most of the bytes.

        A live list is always the focus, however little of it is here.
        """
        if self.expected:
            return Focus(self.resolve(self._growing), self._growing)
        node, pointer = self.root, ""
        for _ in range(_MAX_ENVELOPES):
            children = self.open(node)
            if not children or children.keys is None:
                break
            heaviest, largest = children.largest()
            child = self.child(children, heaviest)
            if largest < _DOMINANT * (node.end - node.start) or self.head(child) not in (b"[", b"{", b'"'):
                break
            node, pointer = child, pointer + pointer_step(children, heaviest)
        return Focus(node, pointer)

    @property
    def is_beginning(self) -> bool:
        """Whether more of the live list is still to come."""
        children = self.open(self.focus.node) if self.expected and self.is_json else None
        return children is not None and len(children) < self.expected

    def is_open_ended(self, node: Node) -> bool:
        """Return whether `node` is a live list of unknown length."""
        return not self._has_end and self.is_beginning and node == self.focus.node

    def count(self, node: Node, children: Children) -> int:
        """Count the children, including those still to come. Where the total is unknown, count those that are here."""
        if node != self.focus.node or self.is_open_ended(node):
            return len(children)
        return max(len(children), self.expected)

    def head(self, node: Node) -> bytes:
        """Return the first byte of a value, which tells its kind."""
        return self.data[node.start : node.start + 1]

    def raw(self, node: Node) -> bytes:
        return self.data[node.start : node.end]

    def part(self, start: int, end: int) -> bytes:
        """Return some bytes. Whoever shows a page asks for these, and not for all of `data`, which may be far away."""
        return self.data[start:end]

    def open(self, node: Node) -> Children | None:
        """Return the children of an array or object. None if it is neither or must be treated as text."""
        if self.head(node) not in (b"[", b"{"):
            return None
        if node.start in self._opened:
            return self._opened[node.start]
        found = self._open(node)
        self._keep(node, found)
        return found

    def _keep(self, node: Node, found: Children | None) -> None:
        """Remember what was opened, but not more than is worth its memory."""
        self._opened_count += 1 if found is None or found.blocks is not None else 1 + len(found)
        if self._opened_count > _MAX_OPENED:
            root = self._opened.get(self.root.start)
            self._opened = {} if root is None else {self.root.start: root}
            self._opened_count = 0
        self._opened[node.start] = found

    def _open(self, node: Node) -> Children | None:
        try:
            found = children_of(self.data, node.start, node.end)
        except JsonRefused:
            return None
        return None if found.longest_key > MAX_KEY_CHARS else found

    def child(self, children: Children, index: int) -> Node:
        return Node(children.starts[index], children.ends[index])

    def text_of(self, node: Node) -> "Document":
        """Return the text of a string as a document of its own; for any other value, its JSON text."""
        if node.start not in self._texts:
            raw = self.raw(node)
            text = jsontext.string_value(raw).encode() if raw[:1] == b'"' else raw
            self._texts[node.start] = PlainText(text)
        return self._texts[node.start]

    def inside(self, node: Node) -> "Document":
        """Return a value as a document of its own; a string as its text."""
        if node == self.root:
            return self
        if self.head(node) == b'"':
            return self.text_of(node)
        if node.start not in self._inner:
            children = self.open(node)
            known = None if children is None else children.shifted(-node.start)
            expected = self.expected if node == self.focus.node else 0
            inner = Document(self.raw(node), known, expected, has_end=self._has_end)
            inner.columns = self._columns_beside(node) if self.head(node) == b"[" else ()
            self._inner[node.start] = inner
        return self._inner[node.start]

    def _columns_beside(self, node: Node) -> tuple[str, ...]:
        """Return the names that a member such as `columns` beside a list gives to the columns of its rows."""
        place = self.locate(node.start)
        siblings = self.open(place.parent)
        keys = (siblings.keys if siblings else None) or []
        for at, key in enumerate(keys):
            if siblings and key.lower() in _COLUMN_NAMES and self.head(self.child(siblings, at)) == b"[":
                names = jsontext.elements(self.raw(self.child(siblings, at)))
                if names and all(name[:1] == b'"' for name in names):
                    return tuple(map(jsontext.string_value, names))
        return ()

    def chosen(
        self, fields: tuple[str, ...], choose: "Callable[[Document, tuple[str, ...]], Document]"
    ) -> "Document":
        """Return the document that `choose` makes of these fields, and keep it as long as this document lives."""
        if fields not in self._chosen:
            self._chosen[fields] = choose(self, fields)
        return self._chosen[fields]

    def resolve(self, pointer: str) -> Node:
        """Return the value that a JSON Pointer leads to."""
        node = self.root
        for step in pointer_steps(pointer):
            children = self.open(node) if self.is_json else None
            index = _child_index(children, step) if children else None
            if pointer == "/" and index is None:
                return node  # people write "/" for the whole; strictly it names the key ""
            if children is None or index is None:
                raise BadRequest(
                    one_line(
                        f"path {pointer[:200]!r} leads nowhere: there is no {step[:80]!r}{_offer(children)}"
                    )
                )
            node = self.child(children, index)
        return node

    def locate(self, start: int) -> Place:
        """Find the child that starts at byte `start`, by going down from the root."""
        pointer, parent, steps = "", self.root, ()
        while True:
            children = self.open(parent)
            if not children:
                raise BadRequest("no value starts there")
            index = children.index_at(start)
            if index < 0:
                raise BadRequest("no value starts there")
            if children.starts[index] == start:
                return Place(pointer, parent, index, steps)
            pointer += pointer_step(children, index)
            parent, steps = self.child(children, index), (*steps, step_into(children, index))


class PlainText(Document):
    """A document that is text whatever it looks like."""

    def _is_json(self) -> bool:
        return False


_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def one_line(text: str) -> str:
    """Escape control characters in foreign text, so that it cannot end our line and begin a new one."""
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _child_index(children: Children, step: str) -> int | None:
    if children.keys is None:
        index = int(step) if step.isascii() and step.isdigit() and len(step) < 12 else -1
        return index if 0 <= index < len(children) else None
    try:
        return children.keys.index(step)
    except ValueError:
        return None


def _offer(children: Children | None) -> str:
    """Say what could have been meant instead."""
    if children is None:
        return " (a value without parts)"
    if children.keys is None:
        return f" in a list of {len(children)} items (0 to {len(children) - 1})"
    names = ", ".join(key[:40] for key in children.keys[:12])
    return f"; there are: {names}" + (", …" if len(children) > 12 else "")
