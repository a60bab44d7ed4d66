"""Lists that go on upstream, while their cursors are valid and on their way to whoever reads them."""

from collections import Counter, OrderedDict
from dataclasses import dataclass
from secrets import token_hex
from threading import Lock
from typing import Final, NamedTuple

from brimgate.engine.filling import Filling, Look
from brimgate.hold.stores.contract import Bounds

HANDED_OVER: Final = "brimgate/filling"
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
    filling: Filling
    size: int
    """When it was looked at last: it grows only for those who read it."""


class Fillings:
    """By whom and what they were begun for, as long as their cursors are valid. The bounds are those of a store."""

    def __init__(self, bounds: Bounds | None = None) -> None:
        self._bounds = bounds or Bounds()
        self._known: OrderedDict[Key, _Known] = OrderedDict()
        """Most recently used last."""
        self._bytes_of: Counter[str] = Counter()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._known)

    def add(self, principal: str, snapshot: bytes, filling: Filling, now: float, until: float) -> None:
        with self._lock:
            self._sweep(now)
            self._put((principal, snapshot), until, filling)

    def of(self, principal: str, snapshot: bytes, now: float) -> Filling | None:
        with self._lock:
            self._sweep(now)
            found = self._known.get((principal, snapshot))
            if found is None:
                return None
            self._put((principal, snapshot), found.until, found.filling)
            return found.filling

    def _sweep(self, now: float) -> None:
        for key in [key for key, one in self._known.items() if one.until + _MARGIN_SECONDS < now]:
            self._drop(key)

    def _put(self, key: Key, until: float, filling: Filling) -> None:
        """Least recently used out first: of the one whose it is, then of everyone."""
        if key in self._known:
            self._drop(key)
        size, principal, bounds = len(filling.data) + _OVERHEAD_BYTES, key[0], self._bounds
        while self._bytes_of[principal] and self._bytes_of[principal] + size > bounds.per_principal_bytes:
            self._drop(next(other for other in self._known if other[0] == principal))
        while self._known and self._bytes_of.total() + size > bounds.total_bytes:
            self._drop(next(iter(self._known)))
        self._known[key] = _Known(until, filling, size)
        self._bytes_of[principal] += size

    def _drop(self, key: Key) -> None:
        self._bytes_of[key[0]] -= self._known.pop(key).size
        if not self._bytes_of[key[0]]:
            del self._bytes_of[key[0]]


@dataclass(frozen=True, slots=True)
class Filled:
    """A whole answer that is handed over as lists are."""

    data: bytes
    total: int = 0
    held: int = 0
    is_complete: bool = True
    pointer: str = ""

    def look(self) -> Look:
        return Look(self.data, 0, is_total_known=True, is_complete=True)

    async def reach(self, count: int) -> None:
        """All of it is here."""


class Handover:
    """Where a server in our own process leaves its lists for those who read them, under a name that is used once."""

    def __init__(self) -> None:
        self._left: OrderedDict[str, Filling] = OrderedDict()

    def give(self, filling: Filling) -> str:
        token = token_hex(8)
        self._left[token] = filling
        while len(self._left) > 1 and (len(self._left) > _MAX_LEFT or self._bytes > _MAX_LEFT_BYTES):
            self._left.popitem(last=False)
        return token

    @property
    def _bytes(self) -> int:
        return sum(len(one.data) for one in self._left.values())

    def take(self, token: str) -> Filling | None:
        return self._left.pop(token, None)
