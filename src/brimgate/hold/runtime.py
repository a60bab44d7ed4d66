"""How held answers live in a running process: loaded when first needed, worked on in a thread when large."""

from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

if TYPE_CHECKING:
    from brimgate.hold.protection import Protection

_T = TypeVar("_T")
THREAD_BYTES: Final = 100_000
"""Above this the engine takes longer than the event loop should wait (about 5 ms)."""
UNKNOWN_BYTES: Final = 1 << 20
"""For work whose size is known only when it is done, such as a search in a held answer."""


class HoldOptions(Protocol):
    """What of the configuration decides where answers are held."""

    @property
    def max_result_bytes(self) -> int: ...


def process_protection(options: HoldOptions | None = None) -> "Callable[[], Protection]":
    """Return a function that creates the engine when the first answer needs it: most sessions never do."""
    lock = Lock()
    made: list[Protection] = []

    def make() -> "Protection":
        from brimgate.engine.policy import Policy
        from brimgate.hold.protection import Protection, process_ring
        from brimgate.hold.stores.contract import Bounds
        from brimgate.hold.stores.memory import MemoryStore

        usual = Bounds()
        # The largest possible answer must find room.
        most = max(usual.per_principal_bytes, options.max_result_bytes if options else 0)
        bounds = Bounds(most, max(usual.total_bytes, most))
        return Protection(Policy(), process_ring(), MemoryStore(bounds))

    def protection() -> "Protection":
        if not made:
            with lock:  # two threads that need it at the same time must get the same one
                if not made:
                    made.append(make())
        return made[0]

    return protection


async def run_work(work: Callable[[], _T], size: int, *, blocks: bool = False) -> _T:
    """Do the work on an answer of `size` bytes, in a thread if it is large or may wait for a store."""
    if size <= THREAD_BYTES and not blocks:
        return work()
    from asyncio import to_thread  # here, so that those who only compare sizes stay free of it

    return await to_thread(work)
