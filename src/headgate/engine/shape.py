"""What is this result? Decides how it is shown, never whether anything is lost."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from headgate.engine.source import Node, Source, pointer_step

_DOMINANT: Final = 0.6
"""Share of its parent's bytes that makes a list or text the thing the answer is about."""
_MAX_ENVELOPES: Final = 6


class ListKind(StrEnum):
    TABLE = "table"
    MIXED = "list"


@dataclass(frozen=True, slots=True)
class Focus:
    """What a JSON answer is about: the list, text or object that holds most of it, and the path to it."""

    node: Node
    pointer: str


def find_focus(source: Source) -> Focus:
    """Go down from the root as long as one child holds most of what is there."""
    node, pointer = source.root, ""
    for _ in range(_MAX_ENVELOPES):
        children = source.open(node)
        if not children or children.keys is None:
            break
        sizes = [end - start for start, end in zip(children.starts, children.ends, strict=True)]
        heaviest = max(range(len(sizes)), key=sizes.__getitem__)
        child = source.child(children, heaviest)
        if sizes[heaviest] < _DOMINANT * (node.end - node.start) or source.head(child) not in (b"[", b"{", b'"'):
            break
        node, pointer = child, pointer + pointer_step(children, heaviest)
    return Focus(node, pointer)


def list_kind(source: Source, node: Node) -> ListKind:
    """A table when most of a few items taken across the list are objects."""
    children = source.open(node)
    if not children:
        return ListKind.MIXED
    step = max(1, len(children) // 16)
    heads = [source.head(source.child(children, at)) for at in range(0, len(children), step)]
    return ListKind.TABLE if heads.count(b"{") * 2 > len(heads) else ListKind.MIXED
