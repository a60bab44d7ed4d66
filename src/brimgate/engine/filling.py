"""Lists that go on upstream: only their beginning is here, and a reading says how much of them it needs."""

from bisect import bisect_right
from typing import Final, NamedTuple, Protocol

from brimgate.engine.document import Position, Source, pointer_steps
from brimgate.engine.query import Request
from brimgate.engine.view import View

EVERYTHING: Final = 1 << 53
"""More items than there are: a total may not be known."""


class Look(NamedTuple):
    """What a list is at one moment."""

    data: bytes
    total: int
    is_total_known: bool
    """Else the total only says that there are more than are here."""
    is_complete: bool


class Filling(Protocol):
    """What has come of a list so far, and more of it on demand."""

    @property
    def data(self) -> bytes:
        """The JSON document. Its list stands last in it and grows at its end: all before stays where it is."""
        ...

    @property
    def total(self) -> int:
        """Items in all."""
        ...

    @property
    def pointer(self) -> str:
        """Where the list is in the document."""
        ...

    def look(self) -> "Look":
        """All of it at one moment: more may come from another thread between two questions."""
        ...

    @property
    def held(self) -> int: ...

    @property
    def is_complete(self) -> bool: ...

    async def reach(self, count: int) -> None:
        """Until so many items are here, or all. UpstreamError if they cannot be had."""
        ...


def items_needed(source: Source, view: View, position: Position, request: Request, limit: int) -> int:
    """How many items must be here for a reply, and one more: then its cursor leads to something that is here."""
    if request.search or view.search:
        return EVERYTHING  # whoever searches wants to know that there is no other
    pages = request.pages[1] if request.pages else 1
    if request.path is not None:
        return _index_in(source, request.path) + 1
    if view.scope == "path" or (view.scope == "walk" and view.path):
        return _index_in(source, view.path) + 1
    if request.fields or request.pages:
        return pages * limit + 1
    at = position.node if view.is_selection else _index_at(source, view, position)
    return at + limit + 1


def _index_at(source: Source, view: View, position: Position) -> int:
    """Which item of the list a walk goes on at."""
    focus = source.focus.node
    children = source.open(focus)
    begin = 0 if view.scope == "whole" or focus == source.root else focus.start
    return max(bisect_right(children.starts, begin + position.node) - 1, 0) if children else 0


def _index_in(source: Source, path: str) -> int:
    """Which item of the list a path leads into; 0 if into none."""
    steps, before = pointer_steps(path), pointer_steps(source.focus.pointer)
    inside = steps[len(before) :] if steps[: len(before)] == before else []
    return int(inside[0]) if inside and inside[0].isdecimal() and len(inside[0]) < 10 else 0
