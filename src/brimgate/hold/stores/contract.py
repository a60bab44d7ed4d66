"""The contract of every store of snapshots: bytes in, the same bytes out.

- Everything is keyed by the principal: nobody can name another's snapshot.
- A snapshot lives until the minute in which it expires begins, or it is evicted; then looking it up returns None.
- The bounds hold after every call: the least recently used goes first. They are those of the principal's account.
- The clock is an argument.
- A store that may wait, for a disk or a network, says so by `blocks`. It is then never called on the event loop.
- A list that is still being fetched is no snapshot: it lives in `LiveLists`, in the process that fetches it, and
  becomes a snapshot when it is complete.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from brimgate.engine.layout import ByteSource

MIB: Final = 1 << 20
MAX_VIEWS: Final = 256
"""The number of views kept beside one snapshot. Beyond that the oldest is dropped, and its cursors with it."""
SHOWN: Final = "\0"
"""Stands in the id of a principal before what a caller chooses to show the upstream."""


def account_of(principal: str) -> str:
    """Return who answers for what a principal uses.

    A caller that shows the upstream something else sees other data, and so is another principal. It has no more room
    for that: bounds are those of its account.
    """
    return principal.partition(SHOWN)[0]


@dataclass(frozen=True, slots=True)
class Bounds:
    per_principal_bytes: int = 256 * MIB
    total_bytes: int = 1024 * MIB

    def __post_init__(self) -> None:
        if not 0 < self.per_principal_bytes <= self.total_bytes:
            raise ValueError("the bound per principal must be positive and at most the total")


class SnapshotStore(Protocol):
    @property
    def blocks(self) -> bool:
        """Whether a call may wait for something outside of this process."""
        ...

    @property
    def is_distant(self) -> bool:
        """Whether large answers come in parts, so that it is worth to keep their layout beside them."""
        ...

    @property
    def is_reachable(self) -> bool:
        """Whether a snapshot that is not found is gone. If not, what was opened before is still good."""
        ...

    def put(self, principal: str, snapshot: bytes, data: bytes, expires_minute: int, now_minute: int) -> bool:
        """Hold an answer. Return False if it is larger than a principal may hold."""
        ...

    def renew(self, principal: str, snapshot: bytes, expires_minute: int, now_minute: int) -> bool:
        """Keep a snapshot at least so long, and count this as a use. Return False if it is not held."""
        ...

    def get(self, principal: str, snapshot: bytes, now_minute: int) -> "bytes | ByteSource | None":
        """Return an answer, or what fetches parts of it. Raise ClientError if it cannot be reached now."""
        ...

    def put_view(self, principal: str, snapshot: bytes, key: bytes, view: bytes) -> bool:
        """Keep the definition of a derived view beside its snapshot. It is removed with the snapshot.

        Return False if the snapshot is not held.
        """
        ...

    def get_view(self, principal: str, snapshot: bytes, key: bytes) -> bytes | None: ...

    def drop(self, principal: str, snapshot: bytes) -> None:
        """Forget a snapshot and its views, if it is held."""
        ...

    def sweep(self, now_minute: int) -> int:
        """Drop what has expired. Return the minute in which something expires next; 0 if nothing is held.

        A store that sweeps by itself returns 0 as well.
        """
        ...


class Siblings(Protocol):
    """The processes that share a store. Each is known by a token while it runs."""

    @property
    def are_one_user(self) -> bool:
        """Whether all belong to one user of the operating system, who may read whatever any of them holds (ADR 16)."""
        ...

    @property
    def token(self) -> bytes:
        """The token of this process; empty if it cannot have one."""
        ...

    def elsewhere(self, token: bytes) -> str:
        """Return what to call the process with this token, if it is another one and runs; else nothing."""
        ...
