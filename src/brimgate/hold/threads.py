"""Where work is done: small answers on the event loop, large ones in a thread."""

from collections.abc import Callable
from typing import Final, TypeVar

_T = TypeVar("_T")

THREAD_BYTES: Final = 100_000
"""Above this the engine takes longer than the event loop should wait (about 5 ms)."""


async def run_work(work: Callable[[], _T], size: int) -> _T:
    """Do the work on an answer of `size` bytes, in a thread if it is large."""
    if size <= THREAD_BYTES:
        return work()
    from asyncio import to_thread  # here, so that those who only compare sizes stay free of it

    return await to_thread(work)
