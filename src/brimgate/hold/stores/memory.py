"""Snapshots in the memory of this process."""

from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple

from brimgate.hold.stores.contract import MAX_VIEWS, Bounds, account_of


@dataclass(slots=True)
class _Held:
    data: bytes
    expires_minute: int
    views: OrderedDict[bytes, bytes] = field(default_factory=lambda: OrderedDict[bytes, bytes]())


class Snapshot(NamedTuple):
    """A snapshot with its views, as it is handed to another process."""

    principal: str
    id: bytes
    data: bytes
    expires_minute: int
    views: dict[bytes, bytes]


class MemoryStore:
    blocks = False
    is_reachable = True

    def __init__(self, bounds: Bounds | None = None, *, is_distant: bool = False) -> None:
        """Create it. `is_distant` says that what it holds will be handed to a store that is."""
        self.is_distant = is_distant
        self._bounds = bounds or Bounds()
        self._held: OrderedDict[tuple[str, bytes], _Held] = OrderedDict()
        self._bytes_of: dict[str, int] = {}
        """By account."""
        self._swept = -1
        self._lock = Lock()

    def snapshots(self) -> list[Snapshot]:
        with self._lock:
            return [
                Snapshot(*key, held.data, held.expires_minute, dict(held.views))
                for key, held in self._held.items()
            ]

    def take(self, principal: str, snapshot: bytes) -> dict[bytes, bytes]:
        """Give up a snapshot, and return its views."""
        with self._lock:
            held = self._held.get((principal, snapshot))
            if held is None:
                return {}
            self._drop((principal, snapshot))
            return dict(held.views)

    @property
    def is_empty(self) -> bool:
        return not self._held

    def __contains__(self, key: tuple[str, bytes]) -> bool:
        with self._lock:
            return key in self._held

    def put(self, principal: str, snapshot: bytes, data: bytes, expires_minute: int, now_minute: int) -> bool:
        if len(data) > self._bounds.per_principal_bytes:
            return False
        with self._lock:
            held = self._used((principal, snapshot), now_minute)
            if held is not None:
                held.expires_minute = max(held.expires_minute, expires_minute)
                return True
            self._held[principal, snapshot] = _Held(data, expires_minute)
            account = account_of(principal)
            self._bytes_of[account] = self._bytes_of.get(account, 0) + len(data)
            self._evict(account)
        return True

    def renew(self, principal: str, snapshot: bytes, expires_minute: int, now_minute: int) -> bool:
        with self._lock:
            held = self._used((principal, snapshot), now_minute)
            if held is not None:
                held.expires_minute = max(held.expires_minute, expires_minute)
        return held is not None

    def get(self, principal: str, snapshot: bytes, now_minute: int) -> bytes | None:
        with self._lock:
            held = self._used((principal, snapshot), now_minute)
        return held.data if held is not None else None

    def _used(self, key: tuple[str, bytes], now_minute: int) -> _Held | None:
        """Return what is held, as the most recently used."""
        self._sweep(now_minute)
        held = self._held.get(key)
        if held is not None and held.expires_minute <= now_minute:
            self._drop(key)
            return None
        if held is not None:
            self._held.move_to_end(key)
        return held

    def put_view(self, principal: str, snapshot: bytes, key: bytes, view: bytes) -> bool:
        with self._lock:
            held = self._held.get((principal, snapshot))
            if held is None:
                return False
            held.views[key] = view
            held.views.move_to_end(key)
            if len(held.views) > MAX_VIEWS:
                held.views.popitem(last=False)
            return True

    def get_view(self, principal: str, snapshot: bytes, key: bytes) -> bytes | None:
        with self._lock:
            held = self._held.get((principal, snapshot))
            return held.views.get(key) if held else None

    def drop(self, principal: str, snapshot: bytes) -> None:
        with self._lock:
            if (principal, snapshot) in self._held:
                self._drop((principal, snapshot))

    def sweep(self, now_minute: int) -> int:
        with self._lock:
            self._sweep(now_minute)
            return min((held.expires_minute for held in self._held.values()), default=0)

    def _sweep(self, now_minute: int) -> None:
        if now_minute == self._swept:
            return  # it expires by the minute
        self._swept = now_minute
        for key in [key for key, held in self._held.items() if held.expires_minute <= now_minute]:
            self._drop(key)

    def _evict(self, account: str) -> None:
        """Evict the least recently used: of the account that put, and then of whoever holds the most.

        So nobody loses an answer to somebody who holds more.
        """
        while self._bytes_of.get(account, 0) > self._bounds.per_principal_bytes:
            self._drop(self._oldest_of(account))
        while sum(self._bytes_of.values()) > self._bounds.total_bytes:
            self._drop(self._oldest_of(max(self._bytes_of, key=lambda one: self._bytes_of[one])))

    def _oldest_of(self, account: str) -> tuple[str, bytes]:
        return next(key for key in self._held if account_of(key[0]) == account)

    def _drop(self, key: tuple[str, bytes]) -> None:
        held = self._held.pop(key)
        account = account_of(key[0])
        left = self._bytes_of[account] - len(held.data)
        if left:
            self._bytes_of[account] = left
        else:
            del self._bytes_of[account]
