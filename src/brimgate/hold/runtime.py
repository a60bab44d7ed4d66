"""How held answers live in a running process: loaded when first needed, worked on in a thread, swept when they expire."""

import time
from collections.abc import Callable
from threading import Condition, Lock, Thread
from typing import TYPE_CHECKING, Final, Protocol, TypeVar
from weakref import WeakKeyDictionary

from brimgate.platform import give_back_large_blocks

if TYPE_CHECKING:
    from brimgate.hold.errand import Errand
    from brimgate.hold.loaded_tables import QueryRunner
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


class HoldOptions(Protocol):
    """What of the configuration decides where answers are held."""

    @property
    def max_result_bytes(self) -> int: ...

    @property
    def store(self) -> str: ...


class ProtectionSource(Protocol):
    """Where the engine with its store comes from."""

    @property
    def blocks(self) -> bool:
        """Whether work with it must not be done on an event loop: its store may wait, or it is not loaded yet."""
        ...

    @property
    def is_loaded(self) -> bool: ...

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

    @property
    def is_loaded(self) -> bool:
        return self._made is not None

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

        return Protection(Policy(), process_ring(), MemoryStore(self.bounds()))

    def bounds(self) -> "Bounds":
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

            self._store = UserStore(self.bounds(), self._on_trouble)
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


_MOST_THREADS: Final = 2
"""Each thread that works makes the event loop wait for its turn at the interpreter."""


class Workplace:
    """Where work on answers is done beside an event loop that many clients share."""

    def __init__(self, engine_processes: int) -> None:
        from asyncio import Lock, Semaphore

        from brimgate.hold.engine_processes import EngineProcesses

        self._processes = EngineProcesses(engine_processes)
        self._queries: QueryRunner | None = None
        self._query_processes = engine_processes
        self._turn = Lock()
        self._threads = Semaphore(_MOST_THREADS)

    @property
    def queries(self) -> "QueryRunner":
        """What runs queries: other processes, unless there are to be none."""
        if self._queries is None:
            from brimgate.hold.loaded_tables import LoadedTables
            from brimgate.hold.query_processes import QueryProcesses

            self._queries = QueryProcesses() if self._query_processes else LoadedTables()
        return self._queries

    async def run(
        self, work: Callable[[], _T], errand: "Errand[_T] | None", *, is_long: bool, waits: bool = False
    ) -> _T:
        """Run an errand in another process if there is one, or do the same work in this one.

        Work that waits for another process takes no turn from other work.
        """
        if waits:
            from asyncio import to_thread

            return await to_thread(work)
        if errand is not None and self._processes.are_ready():
            try:
                return await self._processes.run(errand)
            except (OSError, EOFError):
                is_long = True
        return await self._run_here(work, is_long=is_long)

    async def _run_here(self, work: Callable[[], _T], *, is_long: bool) -> _T:
        """Do work in one of few threads if it is long, else on the loop, one piece in each turn of it."""
        from asyncio import sleep, to_thread

        if is_long:
            async with self._threads:
                return await to_thread(work)
        async with self._turn:
            await sleep(0)
            return work()

    def close(self) -> None:
        self._processes.stop()
        if self._queries is not None:
            self._queries.stop()


_WORKPLACES: list[Workplace] = []
_RUNNERS: "list[QueryRunner]" = []


def use_workplace(engine_processes: int) -> Workplace:
    """Let this process run errands in so many others."""
    _WORKPLACES[:] = [Workplace(engine_processes)]
    return _WORKPLACES[0]


def query_runner() -> "QueryRunner":
    """Return what runs queries in this process."""
    if _WORKPLACES:
        return _WORKPLACES[0].queries
    if not _RUNNERS:
        from brimgate.hold.loaded_tables import LoadedTables

        _RUNNERS.append(LoadedTables())
    return _RUNNERS[0]


def sweep_queries(minute: int) -> None:
    """Drop loaded tables of answers that have expired, if any were ever loaded."""
    if _RUNNERS or _WORKPLACES:
        query_runner().sweep(minute)


async def run_work(
    work: Callable[[], _T],
    size: int,
    *,
    blocks: bool = False,
    errand: "Errand[_T] | None" = None,
    waits: bool = False,
) -> _T:
    """Do the work on an answer of `size` bytes, in a thread if it is large or may wait for a store."""
    is_long = size > THREAD_BYTES or blocks
    if _WORKPLACES:
        return await _WORKPLACES[0].run(work, errand, is_long=is_long, waits=waits)
    if not is_long:
        return work()
    from asyncio import to_thread  # here, so that those who only compare sizes stay free of it

    return await to_thread(work)
