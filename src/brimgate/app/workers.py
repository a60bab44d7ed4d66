"""`brimgate serve --workers N`: several processes that serve one port, and the one that starts them.

Each worker inherits a socket of the same port, so that the system spreads connections over them, and none is lost when
a worker ends: they wait for the next one there. On SIGHUP the workers are replaced one by one: each new one serves
before the old one may finish its calls.
"""

import asyncio
import os
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from brimgate.app.worker_metrics import EndedWorkers
from brimgate.config.declarations import Config
from brimgate.config.sources import WORKER_VARIABLE, store_url
from brimgate.errors import OperatorError
from brimgate.front.mcp.listener import METRICS_CHOICE, UnixPath, cannot_listen
from brimgate.front.mcp.session_ids import new_name
from brimgate.watch.log import Log

if TYPE_CHECKING:
    from brimgate.app.service_manager import ServiceManager

_START_SECONDS: Final = 120.0
_LOOK_SECONDS: Final = 0.05
_AGAIN_SECONDS: Final = 1.0
_SPARE_SECONDS: Final = 5.0
"""What a worker may take beyond its grace period."""


@dataclass(frozen=True, slots=True)
class WorkerPlace:
    """What a worker is told by whoever starts it."""

    name: str
    folder: Path
    """Where the sockets are by which workers reach each other."""
    descriptor: int
    """The socket to listen on."""
    parent: int
    """Whoever has started us."""

    @classmethod
    def of(cls, text: str) -> "WorkerPlace":
        name, descriptor, parent, folder = text.split(":", 3)
        return cls(name, Path(folder), int(descriptor), int(parent))

    def __str__(self) -> str:
        return f"{self.name}:{self.descriptor}:{self.parent}:{self.folder}"

    def listening(self) -> socket.socket:
        return socket.socket(fileno=self.descriptor)

    @property
    def is_orphaned(self) -> bool:
        """Whether whoever has started us is gone: then nobody would replace us, or tell us to end."""
        return os.getppid() != self.parent


class WorkerGroup:
    def __init__(
        self, config: Config, log: Log, command: Sequence[str], manager: "ServiceManager | None" = None
    ) -> None:
        """Create it. `command` is what starts a worker; `manager` hears from us alone, not from the workers."""
        check_workers(config)
        _check_metrics_port(config)
        self._manager = manager
        self._config, self._log, self._command = config, log, command
        self._unix = UnixPath(config.server.socket) if config.server.socket else None
        # One Unix socket is for all: the system spreads only what comes by TCP.
        self._sockets = [self._unix.bind()] if self._unix is not None else _bound(config)
        for one in self._sockets:
            one.listen(socket.SOMAXCONN)
        self._folder = Path(tempfile.mkdtemp(prefix="brimgate-workers-"))
        self._workers: dict[str, tuple[asyncio.subprocess.Process, int]] = {}
        """By name, each with the number of its socket."""
        self._ended = EndedWorkers(self._folder)
        self._leaving: set[str] = set()
        self._stopping = asyncio.Event()
        self._turning = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def address(self) -> str:
        server = self._config.server
        scheme = "https" if server.tls_cert else "http"
        if server.socket:
            return f"{scheme}://unix:{server.socket}:"
        host = f"[{server.host}]" if ":" in server.host else server.host
        return f"{scheme}://{host}:{self._sockets[0].getsockname()[1]}"

    async def run(self, on_open: Callable[[str], object]) -> None:
        """Serve until a signal. Raise OperatorError if the workers do not start."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stopping.set)
        loop.add_signal_handler(signal.SIGHUP, lambda: self._start(self._reload()))
        try:
            for number in range(self._config.server.workers):
                await self._add(number)
            on_open(self.address)
            if self._manager is not None:
                self._manager.ready(f"serving {self.address} by {self._config.server.workers} workers")
            await self._stopping.wait()
        except OperatorError:
            if not self._stopping.is_set():  # whoever is told to stop while it starts has no problem
                raise
        finally:
            if self._manager is not None:
                self._manager.stopping()
            await self._end_all()
            if self._unix is not None:
                self._unix.remove()
            for one in self._sockets:
                one.close()
            with suppress(OSError):
                self._ended.remove()
                self._folder.rmdir()

    async def _add(self, number: int) -> None:
        """Start a worker, and wait until it serves."""
        descriptor = self._sockets[number % len(self._sockets)].fileno()
        place = WorkerPlace(new_name(self._config.server.replica), self._folder, descriptor, os.getpid())
        worker = await asyncio.create_subprocess_exec(
            *self._command,
            pass_fds=(place.descriptor,),
            env={**os.environ, WORKER_VARIABLE: str(place)},
            stdin=asyncio.subprocess.DEVNULL,
        )
        self._workers[place.name] = worker, number
        own = self._folder / f"{place.name}.sock"
        until = time.monotonic() + _START_SECONDS
        while not own.exists():
            if worker.returncode is not None or time.monotonic() > until or self._stopping.is_set():
                await self._end(place.name)
                raise OperatorError("a worker did not start: its own messages say why")
            await asyncio.sleep(_LOOK_SECONDS)
        self._start(self._watch(place.name, worker))

    def _start(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _watch(self, name: str, worker: "asyncio.subprocess.Process") -> None:
        """Start another worker for one that ends without being told to."""
        code = await worker.wait()
        number = self._forget(name)
        if name in self._leaving or self._stopping.is_set():
            return
        self._log.write("worker_ended", {"worker": name, "exit": code}, "error")
        while not self._stopping.is_set():
            with suppress(OperatorError):
                await self._add(number)
                return
            await asyncio.sleep(_AGAIN_SECONDS)

    async def _reload(self) -> None:
        if self._manager is None:
            await self._replace_all()
            return
        self._manager.reload_begins()
        try:
            await self._replace_all()
        finally:
            self._manager.reload_ends()

    async def _replace_all(self) -> None:
        """Replace the workers one by one. If a new one does not start, the others stay."""
        async with self._turning:
            began = time.monotonic()
            for name in list(self._workers):
                if name not in self._workers:
                    continue  # it has ended by itself meanwhile, and another took its place
                try:
                    await self._add(self._workers[name][1])
                except OperatorError as error:
                    self._ended.note_reload("rejected", time.monotonic() - began)
                    self._log.write(
                        "reload_rejected", {"reason": str(error), "kept": "the workers before"}, "error"
                    )
                    return
                await self._end(name)
            self._ended.note_reload("applied", time.monotonic() - began)
            self._log.write("workers_replaced", {"workers": len(self._workers)})

    async def _end(self, name: str) -> None:
        if name not in self._workers:
            return
        worker, _ = self._workers[name]
        self._leaving.add(name)
        with suppress(ProcessLookupError):
            worker.terminate()
        try:
            async with asyncio.timeout(self._config.server.grace_seconds + _SPARE_SECONDS):
                await worker.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                worker.kill()
            await worker.wait()
        self._forget(name)

    async def _end_all(self) -> None:
        self._stopping.set()
        await asyncio.gather(*(self._end(name) for name in list(self._workers)))
        for task in list(self._tasks):
            task.cancel()

    def _forget(self, name: str) -> int:
        _, number = self._workers.pop(name, (None, 0))
        self._ended.add(name)
        (self._folder / f"{name}.sock").unlink(missing_ok=True)
        return number


def check_workers(config: Config) -> None:
    """Raise OperatorError if workers cannot be, or could not share what they hold."""
    if sys.platform == "win32":
        raise OperatorError("--workers cannot be used on Windows: run replicas behind a load balancer")
    if not store_url(config):
        raise OperatorError(
            f"--workers {config.server.workers} needs a store that they share: set `store` to a Redis or Valkey, such as "
            "redis://127.0.0.1:6379 or unix:///run/valkey/valkey.sock, or REDIS_URL"
        )


def _check_metrics_port(config: Config) -> None:
    """Raise OperatorError if another gateway has the port for metrics: its workers would share it with ours."""
    server = config.server
    if not server.metrics_port:
        return
    family = socket.AF_INET6 if ":" in server.metrics_host else socket.AF_INET
    try:
        socket.create_server((server.metrics_host, server.metrics_port), family=family).close()
    except (OSError, OverflowError) as error:
        raise cannot_listen(server.metrics_host, server.metrics_port, error, METRICS_CHOICE) from None


def _bound(config: Config) -> list[socket.socket]:
    """Return a socket for each worker, all of the same port."""
    server, found = config.server, list[socket.socket]()
    family = socket.AF_INET6 if ":" in server.host else socket.AF_INET
    try:
        # First alone: another gateway there would share the port with us.
        with socket.create_server((server.host, server.port), family=family) as alone:
            port = alone.getsockname()[1]
        for _ in range(server.workers):
            found.append(socket.create_server((server.host, port), family=family, reuse_port=True))
        return found
    except (OSError, OverflowError) as error:
        for one in found:
            one.close()
        raise cannot_listen(server.host, server.port, error) from None
