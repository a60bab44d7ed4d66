"""How held answers live in a running process: loaded when first needed, worked on in a thread, swept when they expire."""

import secrets
import time
from collections.abc import Callable
from threading import Condition, Lock, Thread
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeVar
from weakref import WeakKeyDictionary

from brimgate.platform import give_back_large_blocks

if TYPE_CHECKING:
    from asyncio import Task
    from concurrent.futures import ProcessPoolExecutor

    from brimgate.hold.errand import Errand
    from brimgate.hold.protection import Protection
    from brimgate.hold.stores.contract import Bounds
    from brimgate.hold.stores.file import UserStore

_T = TypeVar("_T")
THREAD_BYTES: Final = 100_000
"""Above this the engine takes longer than the event loop should wait (about 5 ms)."""
ERRAND_BYTES: Final = (32_000, 8 << 20)
"""From here to there work is worth handing to another process: less is done sooner, more takes long to hand over."""
UNKNOWN_BYTES: Final = 1 << 20
"""For work whose size is known only when it is done, such as a search in a held answer."""
_ROUNDING_SECONDS: Final = 0.001
StoreName = Literal["folder", "memory"]


class HoldOptions(Protocol):
    """What of the configuration decides where answers are held."""

    @property
    def max_result_bytes(self) -> int: ...

    @property
    def store(self) -> StoreName: ...


class ProtectionSource(Protocol):
    """Where the engine with its store comes from."""

    @property
    def blocks(self) -> bool:
        """Whether work with it must not be done on an event loop: its store may wait, or it is not loaded yet."""
        ...

    def __call__(self) -> "Protection": ...


class ProcessProtection:
    """Creates the engine when the first answer needs it: most sessions never do. Answers are held in memory."""

    def __init__(self, options: HoldOptions | None = None) -> None:
        self._options = options
        self._lock = Lock()
        self._made: Protection | None = None

    @property
    def blocks(self) -> bool:
        return self._made is None or self._made.store.blocks

    def __call__(self) -> "Protection":
        if self._made is None:
            with self._lock:  # two threads that need it at the same time must get the same one
                if self._made is None:
                    give_back_large_blocks()
                    self._made = self._make()
        return self._made

    def _make(self) -> "Protection":
        from brimgate.engine.policy import Policy
        from brimgate.hold.protection import Protection, process_ring
        from brimgate.hold.stores.memory import MemoryStore

        return Protection(Policy(), process_ring(), MemoryStore(self._bounds()))

    def _bounds(self) -> "Bounds":
        from brimgate.hold.stores.contract import Bounds

        usual = Bounds()
        # The largest possible answer must find room.
        most = max(usual.per_principal_bytes, self._options.max_result_bytes if self._options else 0)
        return Bounds(most, max(usual.total_bytes, most))


class UserProtection(ProcessProtection):
    """Does the same with the folder that the commands of one user share (ADR 16), unless the options say memory."""

    def __init__(self, options: HoldOptions, on_trouble: Callable[[str], None]) -> None:
        """Create it. `on_trouble` is told once, in any thread, why the folder is not used."""
        super().__init__(options)
        self._is_off = options.store == "memory"
        self._on_trouble = on_trouble
        self._timer = SweepTimer()
        self._store: UserStore | None = None

    def _make(self) -> "Protection":
        if self._is_off:
            return super()._make()
        from brimgate.engine.policy import Policy
        from brimgate.hold.protection import user_protection

        return user_protection(Policy(), self._opened_store(), sweep_timer=self._timer)

    def _opened_store(self) -> "UserStore":
        if self._store is None:
            from brimgate.hold.stores.file import UserStore

            self._store = UserStore(self._bounds(), self._on_trouble)
        return self._store

    def sweep(self) -> None:
        """Drop what other processes have left in the folder, and go on with it as it expires. Needs no engine."""
        if not self._is_off:
            with self._lock:
                store = self._opened_store()
            self._timer.start(store.sweep, time.time())


class SweepTimer:
    """Sweeps when something expires. It waits in one thread for the whole process, only while something is held."""

    def __init__(self) -> None:
        self._sweep: Callable[[int], int] | None = None
        self._ahead = 0.0
        """What the clock of whoever holds answers is ahead of ours."""

    def start(self, sweep: Callable[[int], int], now: float) -> None:
        """Sweep now, and again whenever `sweep` says: it takes the minute, and returns that of the next expiry, or 0."""
        self._sweep, self._ahead = self._sweep or sweep, now - time.monotonic()
        self.ring()

    def expect(self, expires_minute: int, sweep: Callable[[int], int], now: float) -> None:
        """Sweep when this minute begins, or earlier."""
        self._sweep, self._ahead = sweep, now - time.monotonic()
        _SWEEPS.set(self, 60.0 * expires_minute - self._ahead)

    def ring(self) -> None:
        now = time.monotonic() + self._ahead + _ROUNDING_SECONDS
        if self._sweep is not None and (following := self._sweep(int(now // 60))):
            _SWEEPS.set(self, 60.0 * following - self._ahead)


class _Sweeps:
    """The thread in which all timers of this process wait. It ends when none is set."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._due: WeakKeyDictionary[SweepTimer, float] = WeakKeyDictionary()
        """A timer is gone with whoever holds answers."""
        self._is_running = False

    def set(self, timer: SweepTimer, due: float) -> None:
        """Let a timer ring when it is due, or earlier if it is set already."""
        with self._changed:
            if self._due.get(timer, due + 1) <= due:
                return
            self._due[timer] = due
            if self._is_running:
                self._changed.notify()
                return
            self._is_running = True
        Thread(target=self._run, name="brimgate-sweep", daemon=True).start()

    def _run(self) -> None:
        has_failed = True
        try:
            while (timer := self._next()) is not None:
                timer.ring()
                del timer  # it must not live on while we wait
            has_failed = False
        finally:
            if has_failed:  # by a store: the next one that is set starts another thread
                self._is_running = False

    def _next(self) -> SweepTimer | None:
        """Wait for the next timer that is due. Return None if none is set any more."""
        with self._changed:
            # Any of them may be gone at any moment, with whoever held answers.
            while timers := sorted(self._due.items(), key=lambda one: one[1]):
                timer, due = timers[0]
                wait = due - time.monotonic()
                if wait <= 0:
                    self._due.pop(timer, None)
                    return timer
                del timer, timers
                self._changed.wait(wait)
            self._is_running = False
            return None


_SWEEPS: Final = _Sweeps()


_WORTH_STARTING: Final = 8
_TRIES: Final = 2
"""Processes that an errand may lose before we work on it ourselves: another one may have been to blame."""

_MOST_THREADS: Final = 2
"""Each thread that works makes the event loop wait for its turn at the interpreter."""


class Workers:
    """Work on answers beside an event loop that many clients share.

    Processes run errands. They start when several were asked for, and nothing waits for the first start.
    """

    def __init__(self, count: int) -> None:
        from asyncio import Lock, Semaphore

        self._count = count
        self._asked = 0
        self._pool: Task[ProcessPoolExecutor] | None = None
        """One start for all who wait for it."""
        self._turn = Lock()
        self._threads = Semaphore(_MOST_THREADS)

    async def run(self, errand: "Errand[_T]", work: Callable[[], _T]) -> _T:
        """Run an errand. If its processes end, do the work here."""
        from asyncio import shield, wrap_future
        from concurrent.futures.process import BrokenProcessPool

        for _ in range(_TRIES):
            pool = self._started()
            try:
                done = await wrap_future((await shield(pool)).submit(errand.run, errand.argument))
            except (BrokenProcessPool, OSError):  # it ended, or the system starts no more processes
                self._leave(pool)
            else:
                return errand.then(done)
        return await self.run_here(work, is_long=True)

    async def run_here(self, work: Callable[[], _T], *, is_long: bool) -> _T:
        """Do work in this process: in one of few threads if it is long, else on the loop, one piece in each turn of it."""
        from asyncio import sleep, to_thread

        if is_long:
            async with self._threads:
                return await to_thread(work)
        async with self._turn:
            await sleep(0)
            return work()

    def is_ready(self) -> bool:
        """Return whether processes are there. If not, and it is worth it, start them."""
        self._asked += 1
        return bool(self._count) and self._asked >= _WORTH_STARTING and self._started().done()

    def _started(self) -> "Task[ProcessPoolExecutor]":
        if self._pool is None:
            from asyncio import create_task, to_thread

            # To load the modules and start a process takes longer than the event loop should wait.
            self._pool = create_task(to_thread(_start_pool, self._count))
        return self._pool

    def _leave(self, pool: "Task[ProcessPoolExecutor]") -> None:
        """Leave processes that ended, unless somebody else has: then others are there already."""
        if self._pool is pool:
            self._pool = None

    def stop(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.add_done_callback(_shut_down)


def _start_pool(count: int) -> "ProcessPoolExecutor":
    """Return processes that are ready to work."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    pool = ProcessPoolExecutor(count, get_context("spawn"), _begin_work)
    for warm in [pool.submit(_warm_up) for _ in range(count)]:
        warm.result()
    return pool


def _shut_down(pool: "Task[ProcessPoolExecutor]") -> None:
    if not pool.cancelled() and pool.exception() is None:
        pool.result().shutdown(wait=False, cancel_futures=True)


def _begin_work() -> None:
    """Begin as a process that works for another: end with it, however it ends, and not at Ctrl-C, which is for it."""
    import os
    import signal
    from multiprocessing import parent_process

    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        if (parent := parent_process()) is not None:
            parent.join()
        os._exit(0)

    Thread(target=watch, daemon=True).start()


def _warm_up() -> None:
    """Load in a new process all that an answer needs, by working on one."""
    from brimgate.engine.cursor import Binding
    from brimgate.engine.policy import Policy
    from brimgate.hold.errand import Keeper

    rows = b",".join(b'{"id":%d,"name":"row %d","note":"a b c"}' % (n, n) for n in range(1_000))
    holder, _ = Keeper((secrets.token_bytes(32),), 60, Binding("", "", "", ""), time.time()).holder()
    holder(b"[" + rows + b"]", Policy())


_WORKERS: list[Workers] = []


def use_workers(count: int) -> Workers:
    """Let this process run errands in others."""
    _WORKERS[:] = [Workers(count)]
    return _WORKERS[0]


async def run_work(
    work: Callable[[], _T], size: int, *, blocks: bool = False, errand: "Errand[_T] | None" = None
) -> _T:
    """Do the work on an answer of `size` bytes, in a thread if it is large or may wait for a store."""
    is_long = size > THREAD_BYTES or blocks
    if _WORKERS:
        workers = _WORKERS[0]
        if errand is not None and workers.is_ready():
            return await workers.run(errand, work)
        return await workers.run_here(work, is_long=is_long)
    if not is_long:
        return work()
    from asyncio import to_thread  # here, so that those who only compare sizes stay free of it

    return await to_thread(work)
