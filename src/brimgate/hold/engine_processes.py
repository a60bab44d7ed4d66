"""Processes that run errands: work on large answers, beside an event loop that many clients share."""

import asyncio
import secrets
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Timer
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from brimgate.hold.errand import Errand

_T = TypeVar("_T")
_WORTH_STARTING: Final = 8
"""Errands that are asked for before: most users never have so many large answers, and a process takes 60 MB."""
_TRIES: Final = 2
"""Processes that an errand may lose before we work on it ourselves: another one may have been to blame."""
_PATIENCE_SECONDS: Final = 120.0
"""A process that is silent for so long is frozen: no errand takes a tenth of it."""


class EngineProcesses:
    """Processes that start once several errands were asked for. Nothing waits for their first start."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._asked = 0
        self._threads = ThreadPoolExecutor(count or 1, "brimgate-errands")
        """One for each process, to wait for it."""
        self._running: set[EngineProcess] = set()
        self._idle: deque[EngineProcess] = deque()
        self._start: asyncio.Future[None] | None = None
        self._is_over = False

    def are_ready(self) -> bool:
        """Return whether processes are there. If not, and it is worth it, start them."""
        self._asked += 1
        if not self._count or self._asked < _WORTH_STARTING:
            return False
        if self._start is None:
            self._start = asyncio.get_running_loop().run_in_executor(self._threads, self._start_first)
        return self._start.done()

    async def run(self, errand: "Errand[_T]") -> _T:
        """Run an errand. Raise OSError or EOFError if processes end over it, or the system starts none."""
        loop = asyncio.get_running_loop()
        for tries_left in reversed(range(_TRIES)):
            try:
                found = await loop.run_in_executor(self._threads, self._run, errand)
                return found if errand.blocks else errand.then(found)
            except (OSError, EOFError):
                if not tries_left:
                    raise
        raise AssertionError("the last try returns or raises")

    def _start_first(self) -> None:
        with suppress(OSError, EOFError):  # then errands try again
            self._idle.append(self._started())

    def _started(self) -> "EngineProcess":
        process = EngineProcess()
        self._running.add(process)
        try:
            process.run(_warm_up, None)
        except BaseException:
            self._end(process)
            raise
        return process

    def _run(self, errand: "Errand[Any]") -> Any:
        process = self._taken() or self._started()
        has_ended = True
        try:
            is_done, found = process.run(errand.run, errand.argument)
            has_ended = False
        finally:
            if has_ended or self._is_over:
                self._end(process)
            else:
                self._idle.append(process)
        if not is_done:
            raise found
        return errand.then(found) if errand.blocks else found

    def _taken(self) -> "EngineProcess | None":
        """Return a process that waits for work, if any does that was not killed meanwhile."""
        with suppress(IndexError):
            while not (process := self._idle.pop()).is_alive:
                self._end(process)
            return process
        return None

    def _end(self, process: "EngineProcess") -> None:
        self._running.discard(process)
        process.end()

    def stop(self) -> None:
        self._is_over = True
        for process in list(self._running):
            self._end(process)
        self._threads.shutdown(wait=False, cancel_futures=True)


class EngineProcess:
    """Another process, and a pipe to it whose far end nobody else has.

    If it is killed in the middle of a message, the pipe ends. In a `ProcessPoolExecutor`, whose processes share a pipe,
    all calls would wait for the rest of that message, for ever.
    """

    def __init__(self) -> None:
        """Start it. Raise OSError if the system starts no more processes."""
        from multiprocessing import get_context

        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs,), name="brimgate-engine", daemon=True)
        try:
            self._process.start()
        finally:
            theirs.close()

    @property
    def is_alive(self) -> bool:
        return self._process.is_alive()

    def run(
        self, run: Callable[[Any], Any], argument: Any, patience_seconds: float = _PATIENCE_SECONDS
    ) -> tuple[bool, Any]:
        """Run a function there. Return whether it was done, and its result or error. Raise OSError or EOFError."""
        # One that is frozen neither takes nor answers: killed, its pipe ends.
        patience = Timer(patience_seconds, self._process.kill)
        patience.start()
        try:
            self._pipe.send((run, argument))
            return self._pipe.recv()
        finally:
            patience.cancel()

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self._pipe.close()


def _work(pipe: "Connection[Any, Any]") -> None:
    """Run errands until whoever sends them is gone. Ctrl-C is meant for that process, not for us."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(EOFError, OSError):
        while True:
            run, argument = pipe.recv()
            try:
                done = True, run(argument)
            except Exception as error:  # noqa: BLE001  # whoever asked is told
                done = False, error
            pipe.send(done)


def _warm_up(_: None) -> None:
    """Load in a new process all that an answer needs, by working on one."""
    from brimgate.engine.cursor import Binding
    from brimgate.engine.policy import Policy
    from brimgate.hold.errand import Keeper

    rows = b",".join(b'{"id":%d,"name":"row %d","note":"a b c"}' % (n, n) for n in range(1_000))
    holder = Keeper((secrets.token_bytes(32),), 60, Binding("", "", "", ""), time.time()).holder()[0]
    holder(b"[" + rows + b"]", Policy())
