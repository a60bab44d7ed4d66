"""Snapshots in memory, with the index of what was already opened, so that page k costs a slice."""

from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

from brimgate.engine.document import Document
from brimgate.hold.stores.contract import Bounds

MAX_VIEWS: Final = 256
"""The number of views kept beside one snapshot. Beyond that the oldest is dropped, and its cursors with it."""


@dataclass(slots=True)
class _Held:
    source: Document
    expires_minute: int
    views: OrderedDict[bytes, bytes] = field(default_factory=lambda: OrderedDict[bytes, bytes]())


class MemoryStore:
    def __init__(self, bounds: Bounds | None = None) -> None:
        self._bounds = bounds or Bounds()
        self._held: OrderedDict[tuple[str, bytes], _Held] = OrderedDict()
        self._bytes_of: dict[str, int] = {}
        self._lock = Lock()

    def put(
        self, principal: str, snapshot: bytes, source: Document, expires_minute: int, now_minute: int
    ) -> bool:
        size = len(source.data)
        if size > self._bounds.per_principal_bytes:
            return False
        with self._lock:
            self._sweep(now_minute)
            held = self._held.get((principal, snapshot))
            if held is not None:
                held.expires_minute = max(held.expires_minute, expires_minute)
                self._held.move_to_end((principal, snapshot))
                return True
            self._held[principal, snapshot] = _Held(source, expires_minute)
            self._bytes_of[principal] = self._bytes_of.get(principal, 0) + size
            self._evict(principal)
        return True

    def grow(self, principal: str, snapshot: bytes, source: Document) -> None:
        with self._lock:
            held = self._held.get((principal, snapshot))
            if held is None:
                return
            if len(source.data) > self._bounds.per_principal_bytes:
                self._drop((principal, snapshot))
                return
            self._bytes_of[principal] += len(source.data) - len(held.source.data)
            held.source = source
            self._held.move_to_end((principal, snapshot))
            self._evict(principal)

    def get(self, principal: str, snapshot: bytes, now_minute: int) -> Document | None:
        with self._lock:
            held = self._held.get((principal, snapshot))
            if held is None:
                return None
            if held.expires_minute < now_minute:
                self._drop((principal, snapshot))
                return None
            self._held.move_to_end((principal, snapshot))
            return held.source

    def put_view(self, principal: str, snapshot: bytes, key: bytes, view: bytes) -> None:
        with self._lock:
            held = self._held.get((principal, snapshot))
            if held is not None:
                held.views[key] = view
                held.views.move_to_end(key)
                if len(held.views) > MAX_VIEWS:
                    held.views.popitem(last=False)

    def get_view(self, principal: str, snapshot: bytes, key: bytes) -> bytes | None:
        with self._lock:
            held = self._held.get((principal, snapshot))
            return held.views.get(key) if held else None

    def sweep(self, now_minute: int) -> int:
        with self._lock:
            return self._sweep(now_minute)

    def _sweep(self, now_minute: int) -> int:
        expired = [key for key, held in self._held.items() if held.expires_minute < now_minute]
        for key in expired:
            self._drop(key)
        return len(expired)

    def _evict(self, principal: str) -> None:
        """Evict the least recently used: first of the principal who put, then of everyone."""
        while self._bytes_of.get(principal, 0) > self._bounds.per_principal_bytes:
            self._drop(next(key for key in self._held if key[0] == principal))
        while sum(self._bytes_of.values()) > self._bounds.total_bytes:
            self._drop(next(iter(self._held)))

    def _drop(self, key: tuple[str, bytes]) -> None:
        held = self._held.pop(key)
        left = self._bytes_of[key[0]] - len(held.source.data)
        if left:
            self._bytes_of[key[0]] = left
        else:
            del self._bytes_of[key[0]]
