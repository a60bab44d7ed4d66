"""What stands around the list of an answer: repeated on every page, with our cursor and budget added to it."""

from dataclasses import dataclass, field
from typing import Final

from brimgate.engine import jsontext
from brimgate.engine.document import Focus, Source
from brimgate.front.rest.body import written

_OUR_META: Final = frozenset(
    (
        "totalCount",
        "pageSize",
        "hasMore",
        "detailsAvailable",
        "missingFields",
        "estimatedTokens",
        "budgetUsed",
        "budgetRemaining",
        "original",
    )
)


@dataclass(frozen=True, slots=True)
class Envelope:
    """Members in their order; of the one that holds the list, what stands before and behind its items."""

    before: list[tuple[str, bytes]] = field(default_factory=lambda: [])
    key: str = "items"
    head: bytes = b""
    tail: bytes = b""
    after: list[tuple[str, bytes]] = field(default_factory=lambda: [])
    meta: list[tuple[str, bytes]] = field(default_factory=lambda: [])
    """Of the original."""

    def page(self, items: list[bytes], cursor: bytes | None, meta: list[tuple[str, bytes]]) -> bytes:
        inner = self.head + b"[" + b",".join(items) + b"]" + self.tail
        onward = [("nextCursor", cursor)] if cursor is not None else []
        ours = [("meta", written([*self.meta, *meta]))]
        return written([*self.before, (self.key, inner), *self.after, *onward, *ours])


def envelope_of(source: Source, focus: Focus) -> Envelope:
    if not focus.pointer:
        return Envelope()
    data, root, node = source.data, source.root, focus.node
    # The list as an empty one: what is left is small, and can be written anew.
    shell = Source(jsontext.canonical(data[root.start : node.start] + b"[]" + data[node.end : root.end]))
    place = shell.resolve(focus.pointer)
    children = shell.open(shell.root)
    if children is None or children.keys is None:
        raise AssertionError("an envelope is an object")
    before: list[tuple[str, bytes]] = []
    after: list[tuple[str, bytes]] = []
    key, head, tail = "", b"", b""
    own: dict[str, bytes] = {}
    for at, name in enumerate(children.keys):
        child = shell.child(children, at)
        if child.start <= place.start < child.end:
            key = name
            head, tail = shell.data[child.start : place.start], shell.data[place.end : child.end]
        elif name in ("meta", "nextCursor"):
            own[name] = shell.raw(child)
        else:
            (after if key else before).append((name, shell.raw(child)))
    return Envelope(before, key, head, tail, after, _kept_meta(own))


def _kept_meta(own: dict[str, bytes]) -> list[tuple[str, bytes]]:
    """The original's own `meta`, and under `original` what would stand where ours does."""
    kept: list[tuple[str, bytes]] = []
    original: list[tuple[str, bytes]] = []
    meta = own.get("meta", b"")
    if meta[:1] == b"{":
        for name, raw in jsontext.members(meta).items():
            (original if name in _OUR_META else kept).append((name, raw))
    elif meta:
        original.append(("meta", meta))
    if "nextCursor" in own:
        # Of the two, the one that is not in meta keeps its name: nothing may stand twice.
        name = "nextCursor" if all(key != "nextCursor" for key, _ in original) else "nextCursor (outer)"
        original.append((name, own["nextCursor"]))
    return [*kept, ("original", written(original))] if original else kept
