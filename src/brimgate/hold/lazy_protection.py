"""Create the one protection of a process on first use."""

from functools import cache
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from brimgate.hold.protection import Protection


def process_protection(max_result_bytes: int = 0) -> "Callable[[], Protection]":
    """Return a function that creates the engine when the first answer needs it: most sessions never do."""
    lock = Lock()

    @cache
    def make() -> "Protection":
        from brimgate.engine.policy import Policy
        from brimgate.hold.protection import Protection, process_ring
        from brimgate.hold.stores.contract import Bounds
        from brimgate.hold.stores.memory import MemoryStore

        usual = Bounds()
        # The largest possible answer must find room.
        most = max(usual.per_principal_bytes, max_result_bytes)
        bounds = Bounds(most, max(usual.total_bytes, most))
        return Protection(Policy(), process_ring(), MemoryStore(bounds))

    def protection() -> "Protection":
        with lock:  # two threads that need it at the same time must get the same one
            return make()

    return protection
