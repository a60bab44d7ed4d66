"""The contract of every store.

- Everything is keyed by the principal: nobody can name another's snapshot.
- A snapshot lives until it expires or is evicted; then looking it up returns None.
- The bounds hold after every call: the least recently used goes first.
- The clock is an argument.
"""

from dataclasses import dataclass
from typing import Final, Protocol

from brimgate.engine.document import Document

MIB: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Bounds:
    per_principal_bytes: int = 256 * MIB
    total_bytes: int = 1024 * MIB

    def __post_init__(self) -> None:
        if not 0 < self.per_principal_bytes <= self.total_bytes:
            raise ValueError("the bound per principal must be positive and at most the total")


class SnapshotStore(Protocol):
    def put(
        self, principal: str, snapshot: bytes, source: Document, expires_minute: int, now_minute: int
    ) -> bool:
        """Hold an answer. Return False if it is larger than a principal may hold."""
        ...

    def grow(self, principal: str, snapshot: bytes, source: Document) -> None:
        """Replace a held answer with one that has more at its end. What was there before stays in place."""
        ...

    def get(self, principal: str, snapshot: bytes, now_minute: int) -> Document | None: ...

    def put_view(self, principal: str, snapshot: bytes, key: bytes, view: bytes) -> None:
        """Keep the definition of a derived view beside its snapshot. It is removed with the snapshot."""
        ...

    def get_view(self, principal: str, snapshot: bytes, key: bytes) -> bytes | None: ...

    def sweep(self, now_minute: int) -> int:
        """Drop expired snapshots and return how many there were."""
        ...
