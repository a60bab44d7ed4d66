"""Work on one answer that another process can do.

Threads share one interpreter: while one of them works, the event loop waits for its turn at every step, and so do all
clients. An errand takes along what the work needs and brings back what it found, and what is to be held.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final, Generic, NamedTuple, TypeVar

from brimgate.engine.cursor import Binding, KeyRing
from brimgate.engine.policy import Policy
from brimgate.hold.protection import Holder, Protection
from brimgate.hold.runtime import SweepTimer
from brimgate.hold.stores.memory import MemoryStore, Snapshot

_T = TypeVar("_T")
_USUAL: Final = Policy()


class Errand(NamedTuple, Generic[_T]):
    run: Callable[[Any], Any]
    """Runs in the other process. It and its argument can be pickled."""
    argument: Any
    then: Callable[[Any], _T]
    """Takes what came back, in this process."""
    blocks: bool = False
    """Whether `then` may wait for a store."""


class Keeper(NamedTuple):
    """What is needed to hold parts of an answer where its store is not."""

    keys: tuple[bytes, ...]
    ttl_seconds: int
    binding: Binding
    now: float
    is_distant: bool = False
    """Whether its store is, so that layouts are worth to be kept."""

    def holder(self) -> tuple[Holder, MemoryStore]:
        """Return what holds the parts, and the store in which they are then."""
        store = MemoryStore(is_distant=self.is_distant)
        protection = Protection(
            _USUAL, KeyRing(*self.keys), store, self.ttl_seconds, sweep_timer=_StoppedTimer()
        )
        return protection.holding(self.binding, self.now), store


def hold_again(protection: Protection, kept: Iterable[Snapshot], now: float) -> None:
    """Hold here what was held in another process."""
    minute = int(now // 60)
    for one in kept:
        protection.store.put(one.principal, one.id, one.data, one.expires_minute, minute)
        for key, view in one.views.items():
            protection.store.put_view(one.principal, one.id, key, view)
        protection.sweep_at(one.expires_minute, now)


class _StoppedTimer(SweepTimer):
    """Sweeps nothing: what is held for the length of an errand does not expire."""

    def expect(self, expires_minute: int, sweep: Callable[[int], int], now: float) -> None:
        del expires_minute, sweep, now
