"""Lists that go on upstream, while their cursors are valid and on their way to whoever reads them."""

from bisect import bisect_right
from collections import Counter, OrderedDict
from dataclasses import dataclass
from secrets import token_hex
from threading import Lock
from typing import Final, NamedTuple, Protocol

from brimgate.engine.document import Document, Position
from brimgate.engine.pointer import pointer_steps
from brimgate.engine.query import Query, View
from brimgate.hold.stores.contract import Bounds

EVERYTHING: Final = 1 << 53
"""More items than there are: a total may not be known."""


class ListState(NamedTuple):
    """What a list is at one moment."""

    data: bytes
    total: int
    is_total_known: bool
    """Else the total only says that there are more than are here."""
    is_complete: bool


class LiveList(Protocol):
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

    def state(self) -> "ListState":
        """All of it at one moment: more may come from another thread between two questions."""
        ...

    @property
    def held(self) -> int: ...

    @property
    def is_complete(self) -> bool: ...

    async def reach(self, count: int) -> None:
        """Until so many items are here, or all. UpstreamError if they cannot be had."""
        ...


def items_needed(source: Document, view: View, position: Position, request: Query, limit: int) -> int:
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


def _index_at(source: Document, view: View, position: Position) -> int:
    """Which item of the list a walk goes on at."""
    focus = source.focus.node
    children = source.open(focus)
    begin = 0 if view.scope == "whole" or focus == source.root else focus.start
    return max(bisect_right(children.starts, begin + position.node) - 1, 0) if children else 0


def _index_in(source: Document, path: str) -> int:
    """Which item of the list a path leads into; 0 if into none."""
    steps, before = pointer_steps(path), pointer_steps(source.focus.pointer)
    inside = steps[len(before) :] if steps[: len(before)] == before else []
    return int(inside[0]) if inside and inside[0].isdecimal() and len(inside[0]) < 10 else 0


TICKET: Final = "brimgate/filling"
"""Member of a result's `_meta` under which its list can be taken over."""
_MAX_LEFT: Final = 1_000
_MAX_LEFT_BYTES: Final = 512 << 20
"""Answers are taken as soon as they are heard of. What nobody takes, because its call was cancelled, must not pile up."""
_OVERHEAD_BYTES: Final = 2_000
"""What one takes besides its text."""
_MARGIN_SECONDS: Final = 60
"""A cursor's end is rounded up to the minute."""


Key = tuple[str, bytes]


class _Known(NamedTuple):
    until: float
    live_list: LiveList
    size: int
    """When it was looked at last: it grows only for those who read it."""


class LiveLists:
    """By whom and what they were begun for, as long as their cursors are valid. The bounds are those of a store."""

    def __init__(self, bounds: Bounds | None = None) -> None:
        self._bounds = bounds or Bounds()
        self._known: OrderedDict[Key, _Known] = OrderedDict()
        """Most recently used last."""
        self._bytes_of: Counter[str] = Counter()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._known)

    def add(self, principal: str, snapshot: bytes, live_list: LiveList, now: float, until: float) -> None:
        with self._lock:
            self._sweep(now)
            self._put((principal, snapshot), until, live_list)

    def of(self, principal: str, snapshot: bytes, now: float) -> LiveList | None:
        with self._lock:
            self._sweep(now)
            found = self._known.get((principal, snapshot))
            if found is None:
                return None
            self._put((principal, snapshot), found.until, found.live_list)
            return found.live_list

    def _sweep(self, now: float) -> None:
        for key in [key for key, one in self._known.items() if one.until + _MARGIN_SECONDS < now]:
            self._drop(key)

    def _put(self, key: Key, until: float, live_list: LiveList) -> None:
        """Least recently used out first: of the one whose it is, then of everyone."""
        if key in self._known:
            self._drop(key)
        size, principal, bounds = len(live_list.data) + _OVERHEAD_BYTES, key[0], self._bounds
        while self._bytes_of[principal] and self._bytes_of[principal] + size > bounds.per_principal_bytes:
            self._drop(next(other for other in self._known if other[0] == principal))
        while self._known and self._bytes_of.total() + size > bounds.total_bytes:
            self._drop(next(iter(self._known)))
        self._known[key] = _Known(until, live_list, size)
        self._bytes_of[principal] += size

    def _drop(self, key: Key) -> None:
        self._bytes_of[key[0]] -= self._known.pop(key).size
        if not self._bytes_of[key[0]]:
            del self._bytes_of[key[0]]


@dataclass(frozen=True, slots=True)
class WholeList:
    """A whole answer that is handed over as lists are."""

    data: bytes
    total: int = 0
    held: int = 0
    is_complete: bool = True
    pointer: str = ""

    def state(self) -> ListState:
        return ListState(self.data, 0, is_total_known=True, is_complete=True)

    async def reach(self, count: int) -> None:
        """All of it is here."""


class ClaimTickets:
    """Where a server in our own process leaves its lists for those who read them, under a name that is used once."""

    def __init__(self) -> None:
        self._left: OrderedDict[str, LiveList] = OrderedDict()

    def give(self, live_list: LiveList) -> str:
        token = token_hex(8)
        self._left[token] = live_list
        while len(self._left) > 1 and (len(self._left) > _MAX_LEFT or self._bytes > _MAX_LEFT_BYTES):
            self._left.popitem(last=False)
        return token

    @property
    def _bytes(self) -> int:
        return sum(len(one.data) for one in self._left.values())

    def take(self, token: str) -> LiveList | None:
        return self._left.pop(token, None)
