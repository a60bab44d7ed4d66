"""Rebuild a walked answer from the replies alone: the proof that nothing was lost."""

import re
from dataclasses import dataclass, field
from typing import Final

from brimgate.engine import jsontext
from brimgate.engine.document import Document
from brimgate.engine.forms import FORMS
from brimgate.engine.pointer import pointer_of, pointer_steps
from brimgate.engine.replies.reply import Reply
from brimgate.errors import InputError

_NUMBER: Final = re.compile(rb'\{\s*"#"\s*:\s*\d+\s*,?')


@dataclass(slots=True)
class _Pieces:
    """What has arrived of one list, object or text."""

    kind: str
    children: dict[int, bytes] = field(default_factory=lambda: {})
    keys: dict[int, str] = field(default_factory=lambda: {})
    inner: dict[int, str] = field(default_factory=lambda: {})
    """Children that came in parts of their own, by their pointer."""
    text: list[bytes] = field(default_factory=lambda: [])
    total: int = 0
    """The number of children in all, or the bytes of text that have arrived."""


class Rebuilder:
    """Rebuilds an answer: feed it every reply of a walk in order, then call `answer`."""

    def __init__(self) -> None:
        self._parts: dict[str, _Pieces] = {}
        self._around: tuple[str, bytes] | None = None
        self._complete: bytes | None = None
        self._is_json = False
        self.received_bytes = 0
        """About how much of the original has arrived; for a progress bar."""

    def feed(self, reply: Reply) -> None:
        record = reply.record
        if record.get("derived"):
            return
        self.received_bytes += len(reply.content) * (1 if record.get("format") == "text" else 2)
        if record["kind"] in ("complete", "section"):
            self._complete = FORMS[record["format"]].decode(reply.content)
            self._is_json = True
            return
        pointer, part = record["path"], record["part"]
        self._note_steps(pointer, record.get("steps", []))
        pieces = self._parts.setdefault(pointer, _Pieces(part))
        if part in ("text", "literal"):
            self._feed_text(reply, pieces)
        else:
            self._feed_children(reply, pieces)

    def _note_steps(self, pointer: str, steps: list[tuple[int, int, str]]) -> None:
        """Remember where a part belongs in its parents."""
        names = pointer_steps(pointer)
        base = len(names) - len(steps)
        for number, (index, total, kind) in enumerate(steps):
            above = pointer_of(names[: base + number])
            pieces = self._parts.setdefault(above, _Pieces(kind))
            pieces.total = total
            pieces.keys[index] = names[base + number]
            pieces.inner[index] = pointer_of(names[: base + number + 1])
            self._is_json = True

    def _feed_text(self, reply: Reply, pieces: _Pieces) -> None:
        if reply.envelope:
            self._around = (reply.record["path"], reply.envelope.encode())
        if pieces.total != reply.record["shown"]["from"]:
            raise InputError(f"a piece is missing before byte {reply.record['shown']['from']}")
        piece = reply.content.encode("utf-8", "surrogateescape")
        pieces.text.append(piece)
        pieces.total += len(piece)

    def _feed_children(self, reply: Reply, pieces: _Pieces) -> None:
        record = reply.record
        self._is_json = True
        raw = FORMS[record["format"]].decode(reply.content)
        if record.get("envelope"):
            self._around = (record["path"], raw)
            document = Document(raw)
            raw = document.raw(document.resolve(record["path"]))
        first, pieces.total = record["shown"]["from"], record["total"][record["part"]]
        if record["part"] == "items":
            items = jsontext.elements(raw)
            if record.get("numbered"):
                items = [_without_number(item) for item in items]
            pieces.children |= dict(enumerate(items, first))
            return
        for at, (key, value) in enumerate(jsontext.members(raw).items(), first):
            pieces.keys[at], pieces.children[at] = key, value

    def answer(self) -> bytes:
        """Return the original bytes of a text, or the canonical text of a JSON value."""
        if self._complete is not None:
            return self._complete
        if not self._parts:
            raise InputError("nothing was walked")
        if not self._is_json and self._around is None and set(self._parts) == {""}:
            return b"".join(self._parts[""].text)
        if self._around is None:
            return jsontext.canonical(self._build(""))
        pointer, around = self._around
        document = Document(around)
        node = document.resolve(pointer)
        return jsontext.canonical(around[: node.start] + self._build(pointer) + around[node.end :])

    def _build(self, pointer: str) -> bytes:
        pieces = self._parts.get(pointer)
        if pieces is None or pieces.kind in ("text", "literal"):
            return self._build_text(pointer, pieces)
        for index, inner in pieces.inner.items():
            pieces.children[index] = self._build(inner)
        missing = pieces.total - len(pieces.children)
        if missing:
            raise InputError(f"{missing} children of {pointer or 'the answer'} never came")
        values = [pieces.children[at] for at in range(pieces.total)]
        if pieces.kind == "items":
            return b"[" + b",".join(values) + b"]"
        named = [jsontext.quote(pieces.keys[at]).encode() + b":" + value for at, value in enumerate(values)]
        return b"{" + b",".join(named) + b"}"

    def _build_text(self, pointer: str, pieces: _Pieces | None) -> bytes:
        if pieces is None:
            raise InputError(f"nothing of {pointer or 'the answer'} came")
        text = b"".join(pieces.text)
        return text if pieces.kind == "literal" else jsontext.quote(text.decode()).encode()


def _without_number(item: bytes) -> bytes:
    return _NUMBER.sub(b"{", item, count=1)


def next_on_walk(reply: Reply) -> str | None:
    """Return the cursor to everything that is left; for a derived view, the cursor of the complete walk."""
    if reply.record.get("derived"):
        return reply.record["detailsAvailable"]["cursor"]
    return reply.record.get("nextCursor")
