"""Live lists: keep them while their cursors are valid, and hand them over to their reader."""

from collections import Counter, OrderedDict
from dataclasses import dataclass
from secrets import token_hex
from threading import Lock
from typing import Final, NamedTuple, Protocol, assert_never

from brimgate.engine.document import Document, Position
from brimgate.engine.jsontext import Children
from brimgate.engine.pointer import pointer_steps
from brimgate.engine.query import Query, View
from brimgate.hold.stores.contract import MAX_VIEWS, Bounds, account_of

EVERYTHING: Final = 1 << 53
"""More items than any list has: a total may be unknown."""
TICKET: Final = "brimgate/ticket"
"""The member of a result's `_meta` with the ticket for its live list."""
_MAX_LEFT: Final = 1_000
_MAX_LEFT_BYTES: Final = 512 << 20
"""Lists are taken as soon as their ticket arrives. Those of cancelled calls are never taken and must not pile up."""
_OVERHEAD_BYTES: Final = 2_000
"""The overhead of one list besides its text."""
Key = tuple[str, bytes]


class ListState(NamedTuple):
    """The state of a live list at one moment."""

    data: bytes
    total: int
    is_total_known: bool
    """If False, the total only says that there are more items than are here."""
    is_complete: bool
    root: Children | None = None
    """Where the members of the document lie, if whoever wrote it knows: then nobody need read it to find out."""


class LiveList(Protocol):
    """The items of a list that have arrived so far, with more on demand."""

    @property
    def data(self) -> bytes:
        """The JSON document. Its list comes last and grows at its end: everything before it stays in place."""
        ...

    @property
    def total(self) -> int:
        """The number of items in all."""
        ...

    @property
    def pointer(self) -> str:
        """Where the list is in the document."""
        ...

    def state(self) -> "ListState":
        """Return everything at one moment: another thread may add items between two accesses."""
        ...

    @property
    def page(self) -> int:
        """The items of a page that the caller asked for; 0 leaves it to the configuration."""
        ...

    @property
    def held(self) -> int: ...

    @property
    def is_complete(self) -> bool: ...

    async def reach(self, count: int) -> None:
        """Fetch until `count` items are here, or all. Raise UpstreamError if they cannot be fetched."""
        ...


def items_needed(document: Document, view: View, position: Position, query: Query, limit: int) -> int:
    """Return how many items a reply needs, plus one: then its cursor leads to an item that is here."""
    if query.search or view.search or query.sql:
        return EVERYTHING  # whoever searches or counts wants to know that there is nothing else
    pages = query.pages[1] if query.pages else 1
    if query.path is not None:
        return _index_in(document, query.path) + 1
    if _leads_inside(view):
        return _index_in(document, view.path) + 1
    if query.fields or query.pages:
        return pages * limit + 1
    at = position.node if view.is_selection or view.formatted else _index_at(document, view, position)
    return at + limit + 1


def first_items(live_list: LiveList, count: int) -> bytes:
    """Return the document with the first items of its list only, for a caller that gets no further pages."""
    document = Document(live_list.data)
    node = document.resolve(live_list.pointer)
    children = document.open(node)
    if not children or len(children) <= count:
        return document.data
    return document.data[: children.ends[count - 1]] + document.data[node.end - 1 :]


def count_items(live_list: LiveList) -> int:
    """Return how many items of a list are here."""
    document = Document(live_list.data)
    return len(document.open(document.resolve(live_list.pointer)) or ())


def _leads_inside(view: View) -> bool:
    match view.scope:
        case "path":
            return True
        case "walk":
            return bool(view.path)
        case "whole" | "focus" | "chosen" | "text" | "block":
            return False
        case _:
            assert_never(view.scope)


def _index_at(document: Document, view: View, position: Position) -> int:
    """Return the number of the item at which a walk continues."""
    focus = document.focus.node
    children = document.open(focus)
    begin = 0 if view.scope == "whole" or focus == document.root else focus.start
    return max(children.index_at(begin + position.node), 0) if children else 0


def _index_in(document: Document, path: str) -> int:
    """Return the number of the item that a path leads into; 0 if it leads into none."""
    steps, before = pointer_steps(path), pointer_steps(document.focus.pointer)
    inside = steps[len(before) :] if steps[: len(before)] == before else []
    return int(inside[0]) if inside and inside[0].isdecimal() and len(inside[0]) < 10 else 0


class _Known(NamedTuple):
    until: float
    live_list: LiveList
    size: int
    """Its size when it was last accessed: it grows only for those who read it."""
    views: dict[bytes, bytes]
    """The definitions of derived views, as a store keeps them beside a snapshot."""


class LiveLists:
    """Live lists by principal and snapshot, kept while their cursors are valid. The bounds are those of a store."""

    def __init__(self, bounds: Bounds | None = None) -> None:
        self._bounds = bounds or Bounds()
        self._known: OrderedDict[Key, _Known] = OrderedDict()
        """Most recently used last."""
        self._bytes_of: Counter[str] = Counter()
        """By account."""
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._known)

    def add(self, principal: str, snapshot: bytes, live_list: LiveList, now: float, until: float) -> None:
        with self._lock:
            self._sweep(now)
            self._put((principal, snapshot), until, live_list, {})

    def __contains__(self, key: Key) -> bool:
        with self._lock:
            return key in self._known

    def put_view(self, principal: str, snapshot: bytes, key: bytes, view: bytes, until: float) -> bool:
        """Keep a view beside a list, and the list as long as the cursor. Return False if it is here no more."""
        with self._lock:
            found = self._known.get((principal, snapshot))
            if found is None:
                return False
            found.views.pop(
                key, None
            )  # so that it is the newest: whose the list is, is put with every cursor
            found.views[key] = view
            if len(found.views) > MAX_VIEWS:
                del found.views[next(iter(found.views))]
            self._known[principal, snapshot] = found._replace(until=max(found.until, until))
        return True

    def get_view(self, principal: str, snapshot: bytes, key: bytes) -> bytes | None:
        with self._lock:
            found = self._known.get((principal, snapshot))
            return found.views.get(key) if found is not None else None

    def take(self, principal: str, snapshot: bytes) -> dict[bytes, bytes]:
        """Forget a list that is complete, and return its views: it becomes a snapshot."""
        with self._lock:
            found = self._known.get((principal, snapshot))
            if found is None:
                return {}
            self._drop((principal, snapshot))
            return found.views

    def of(self, principal: str, snapshot: bytes, now: float) -> LiveList | None:
        with self._lock:
            self._sweep(now)
            found = self._known.get((principal, snapshot))
            if found is None:
                return None
            self._put((principal, snapshot), found.until, found.live_list, found.views)
            return found.live_list

    def sweep(self, now: float) -> int:
        """Drop what has expired. Return the minute in which a list expires next; 0 if there is none."""
        with self._lock:
            self._sweep(now)
            return min((int(-(-one.until // 60)) for one in self._known.values()), default=0)

    def _sweep(self, now: float) -> None:
        for key in [key for key, one in self._known.items() if one.until <= now]:
            self._drop(key)

    def _put(self, key: Key, until: float, live_list: LiveList, views: dict[bytes, bytes]) -> None:
        """Store a list. Evict the least recently used: of the same account, and then of whoever holds the most."""
        if key in self._known:
            self._drop(key)
        size, account, bounds = len(live_list.data) + _OVERHEAD_BYTES, account_of(key[0]), self._bounds
        while self._bytes_of[account] and self._bytes_of[account] + size > bounds.per_principal_bytes:
            self._drop(self._oldest_of(account))
        while self._known and self._bytes_of.total() + size > bounds.total_bytes:
            self._drop(self._oldest_of(self._bytes_of.most_common(1)[0][0]))
        self._known[key] = _Known(until, live_list, size, views)
        self._bytes_of[account] += size

    def _oldest_of(self, account: str) -> Key:
        return next(key for key in self._known if account_of(key[0]) == account)

    def _drop(self, key: Key) -> None:
        account = account_of(key[0])
        self._bytes_of[account] -= self._known.pop(key).size
        if not self._bytes_of[account]:
            del self._bytes_of[account]


@dataclass(frozen=True, slots=True)
class WholeList:
    """A whole answer that is passed by ticket like a live list."""

    data: bytes
    total: int = 0
    held: int = 0
    is_complete: bool = True
    pointer: str = ""
    page: int = 0
    root: Children | None = None

    def state(self) -> ListState:
        return ListState(self.data, 0, is_total_known=True, is_complete=True, root=self.root)

    async def reach(self, count: int) -> None:
        """Do nothing: all of it is here."""


class ClaimTickets:
    """Hands live lists from a server in our own process to their readers. Each ticket is used once.

    The bounds are for all together: a ticket is taken at once, so that what makes room was never going to be taken.
    """

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
