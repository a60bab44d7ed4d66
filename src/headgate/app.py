"""Builds the running thing out of its parts: the only place, beside the commands, that wires rooms together."""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from headgate.back.process import Command, Process, spawn
from headgate.back.revival import Revival
from headgate.back.stdio import StdioUpstream
from headgate.config import Config, load
from headgate.config.policies import make_rules
from headgate.config.showing import difference, needs_restart
from headgate.config.watching import ConfigWatch
from headgate.errors import ConfigError, UpstreamError
from headgate.front.stdio import StdioClient
from headgate.relay.message import PARSE_ERROR, failure, guess_id
from headgate.relay.rules import Rules
from headgate.relay.session import Action, Line, Note, Session, ToClient, ToUpstream
from headgate.stopping import STOP_SIGNALS, EarlySignals
from headgate.watch.log import LEVELS, Log

if TYPE_CHECKING:
    from headgate.protection import Protection

_IDLE_GRACE_SECONDS: Final = 1.0
"""For a server to end by itself. Clients give us about two seconds before they get rough."""
_ENDING_SECONDS: Final = 10.0
_BUSY_GRACE_SECONDS: Final = 30.0
"""For answers under way when a client has closed its side but still reads."""
_GREETING_SECONDS: Final = 60.0
_LOOK_SECONDS: Final = 0.02
_MAX_LOOKS: Final = 100
_MAX_BACKLOG_BYTES: Final = 64 << 20
"""What may wait for a client that does not read, before we stop listening to it too."""


def process_protection(max_result_bytes: int = 0) -> "Callable[[], Protection]":
    """The engine for one process, loaded when the first answer needs it: most sessions never do."""

    @cache
    def protection() -> "Protection":
        from headgate.engine.policy import Policy
        from headgate.protection import Protection, process_ring
        from headgate.store import Bounds, MemoryStore

        usual = Bounds()
        # Whatever may come in one answer must find room.
        most = max(usual.per_principal_bytes, max_result_bytes)
        bounds = Bounds(most, max(usual.total_bytes, most))
        return Protection(Policy(), process_ring(), MemoryStore(bounds))

    return protection


class StdioGateway:
    """One client on our pipes, one server on its own, a session between them."""

    def __init__(
        self,
        name: str,
        command: Command,
        config: Config,
        log: Log,
        *,
        budget: int | None = None,
    ) -> None:
        self._name, self._command, self._log = name, command, log
        self._budget = budget
        self.config = config
        self._read_tool = config.read_tool
        self._max_bytes = config.max_result_bytes
        self.session = Session(
            self._rules(config), process_protection(self._max_bytes), time.time, upstream=name
        )
        self._client = StdioClient(
            max_line_bytes=self._max_bytes, on_line=self._from_client, on_too_long=self._refuse_client
        )
        self._upstream: StdioUpstream | None = None
        self._starting: list[ToUpstream] | None = None
        """What waits for a server that is being started; None when none is."""
        self._revival = Revival()
        self._trouble = ""
        self._stopping = asyncio.Event()
        self._answered = asyncio.Event()
        """Set when no call waits for its answer."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._was_up = False
        self._upstream_is_full = False

    def _rules(self, config: Config) -> Rules:
        # The client knows our tool by the name it had when it asked: a new one needs a restart.
        return make_rules(replace(config, read_tool=self._read_tool), self._name, self._budget)

    def apply(self, config: Config) -> None:
        """A new configuration for all calls from now on; those under way keep the old one."""
        self.config = config
        self.session.rules = self._rules(config)
        self._log.level = LEVELS[config.effective_log_level]

    async def run(self, process: Process | UpstreamError, early: EarlySignals) -> int:
        """Relay until either side has gone. `process` was started before us, so that both start at once."""
        for number in STOP_SIGNALS:
            with suppress(NotImplementedError, RuntimeError):
                asyncio.get_running_loop().add_signal_handler(number, self._stopping.set)
        if early.came:
            self._stopping.set()
        if isinstance(process, UpstreamError):
            self._note_death(str(process))
        else:
            await self._adopt(process)
        try:
            await self._client.connect()
            self._client.port.writer.on_pressure = self._client_pressure
            await self._until_over()
        finally:
            await self._end()
        return 0 if self._was_up else 1

    async def _until_over(self) -> None:
        stopping = asyncio.create_task(self._stopping.wait())
        gone = asyncio.create_task(self._client.gone.wait())
        silent = asyncio.create_task(self._client.silent.wait())
        await asyncio.wait({stopping, gone, silent}, return_when=asyncio.FIRST_COMPLETED)
        if not stopping.done() and not gone.done() and self.session.pending_calls:
            # The client has said all it has to say, and may still be listening for answers.
            self._answered.clear()
            answered = asyncio.create_task(self._answered.wait())
            await asyncio.wait(
                {stopping, gone, answered}, return_when=asyncio.FIRST_COMPLETED, timeout=_BUSY_GRACE_SECONDS
            )
            answered.cancel()
        for task in (stopping, gone, silent):
            task.cancel()

    async def _end(self) -> None:
        if self._stopping.is_set():
            self._do(self.session.fail_pending("Headgate was told to stop"))
        if self._starting is not None and self._tasks:
            # A server that is just being started would outlive us.
            await asyncio.wait(set(self._tasks), timeout=_BUSY_GRACE_SECONDS)
        if self._upstream is not None:
            upstream, self._upstream = self._upstream, None
            self._spawn_task(upstream.end(0.0 if self._stopping.is_set() else _IDLE_GRACE_SECONDS))
        if self._tasks:
            # Also those that were lost before and are still being ended.
            await asyncio.wait(set(self._tasks), timeout=_ENDING_SECONDS)
        await self._client.close(1.0)

    # Messages

    def _from_client(self, line: Line) -> None:
        try:
            self._do(self.session.from_client(line))
        except Exception as error:  # noqa: BLE001  # one message must not cost the session its life
            self._log.write("internal_error", {"side": "client", "error": repr(error)[:200]}, "error")
            self._do(self.session.fail(line, "Headgate failed on this message; its log says why"))
        if self._client.port.writer.pending_bytes > _MAX_BACKLOG_BYTES:
            self._client.port.reader.pause()

    def _from_upstream(self, line: Line) -> None:
        try:
            self._do(self.session.from_upstream(line))
        except Exception as error:  # noqa: BLE001  # one message must not cost the session its life
            self._log.write("internal_error", {"side": "upstream", "error": repr(error)[:200]}, "error")
            self._do(self.session.give_up_on(line, "Headgate failed on this answer; its log says why"))

    def _do(self, actions: list[Action]) -> None:
        for action in actions:
            if isinstance(action, ToClient):
                self._client.port.send(action.data)
            elif isinstance(action, ToUpstream):
                self._send_upstream(action)
            else:
                self._note(action)
        if not self.session.pending_calls:
            self._answered.set()

    def _note(self, note: Note) -> None:
        self._log.write(note.event, {"upstream": self._name} | note.fields, note.level)

    def _send_upstream(self, action: ToUpstream) -> None:
        if self._starting is not None:
            self._starting.append(action)
        elif self._upstream is None:
            self._revive_for(action)
        elif action.expects_answer and self._upstream.port.is_stuck:
            self._starting = [action]
            self._spawn_task(self._unstick(self._upstream))
        else:
            self._upstream.port.send(action.data)

    def _refuse_client(self, beginning: bytes) -> None:
        text = f"the message is larger than {self._max_bytes:,} bytes"
        self._client.port.send(failure(guess_id(beginning), PARSE_ERROR, text))

    def _refuse_upstream(self, beginning: bytes) -> None:
        self._do(self.session.refuse_answer(beginning, self._max_bytes))

    # The server's life

    async def _adopt(self, process: Process) -> None:
        upstream = StdioUpstream(
            self._name,
            process,
            max_line_bytes=self._max_bytes,
            on_line=self._from_upstream,
            on_too_long=self._refuse_upstream,
            on_lost=self._lost,
            on_stderr=lambda text: self._log.pass_on(self._name, text),
        )
        await upstream.connect()
        upstream.port.writer.on_pressure = self._upstream_pressure
        self._revival.started(time.monotonic())
        self._upstream_is_full = False
        self._upstream = upstream
        self._was_up = True

    def _lost(self, upstream: StdioUpstream, reason: str) -> None:
        if self._upstream is not upstream:
            return  # we have parted already
        self._upstream = None
        self._note_death(reason)
        if self._starting is not None:
            self._starting.clear()  # these calls are answered below, and must not be run afterwards
        self._do(self.session.fail_pending(f"{reason}. The next call starts it again."))
        self._spawn_task(upstream.end(0.0))

    def _note_death(self, reason: str) -> None:
        self._trouble = reason
        self._revival.died(time.monotonic())
        self._log.write("upstream_lost", {"upstream": self._name, "reason": reason}, "error")

    def _revive_for(self, action: ToUpstream) -> None:
        """Start the server again for a call; what asks for no answer is not worth it."""
        if not action.expects_answer:
            return
        wait = self._revival.wait_seconds(time.monotonic())
        if wait > 0:
            text = f"{self._trouble}. It has died {self._revival.deaths} times in a row; next try in {wait:.1f} s."
            self._do(self.session.fail(action.data, text))
            return
        self._starting = [action]
        self._spawn_task(self._restart())

    async def _unstick(self, upstream: StdioUpstream) -> None:
        """It is in the middle of an answer that was refused: let it come to an end, or end it."""
        for _ in range(_MAX_LOOKS):
            await asyncio.sleep(_LOOK_SECONDS)
            if self._upstream is not upstream or not upstream.port.is_stuck:
                break
        else:
            self._upstream = None
            self._note_death(f"the upstream {self._name} was in an answer without end and had to be stopped")
            waiting = [action.data for action in self._starting or []]
            self._do(self.session.fail_pending(self._trouble, but=waiting))
            self._spawn_task(upstream.end(0.0))
        if self._upstream is None:
            await self._restart()
            return
        waiting, self._starting = self._starting or [], None
        for action in waiting:
            self._upstream.port.send(action.data)

    async def _restart(self) -> None:
        try:
            await self._adopt(await asyncio.get_running_loop().run_in_executor(None, spawn, self._command))
            self._log.write("upstream_restarted", {"upstream": self._name})
        except UpstreamError as error:
            self._note_death(str(error))
        waiting, self._starting = self._starting or [], None
        if self._upstream is None:
            for action in waiting:
                self._do(self.session.fail(action.data, self._trouble))
            return
        if not any(self.session.is_greeting_of_client(action.data) for action in waiting):
            self._do(self.session.revive())
        self._do(self.session.hold_back(list(waiting)))
        asyncio.get_running_loop().call_later(_GREETING_SECONDS, self._check_greeting, self._upstream)

    def _check_greeting(self, upstream: StdioUpstream) -> None:
        if self._upstream is upstream and self.session.is_greeting:
            self._lost(upstream, f"the upstream {self._name} was restarted and does not answer the handshake")

    def _spawn_task(self, work: "asyncio._CoroutineLike[None]") -> None:  # pyright: ignore[reportPrivateUsage]
        task = asyncio.get_running_loop().create_task(work)  # type: ignore[arg-type]
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _client_pressure(self, pressed: bool) -> None:
        """A client that does not keep up is not sent more: its server waits as it would without us."""
        if self._upstream is not None:
            (self._upstream.port.reader.pause if pressed else self._upstream.port.reader.resume)()
        if not pressed:
            self._listen_again()

    def _upstream_pressure(self, pressed: bool) -> None:
        self._upstream_is_full = pressed
        if pressed:
            self._client.port.reader.pause()
        else:
            self._listen_again()

    def _listen_again(self) -> None:
        """To the client, if there is room for what it sends and for what it is answered."""
        if not self._upstream_is_full and self._client.port.writer.pending_bytes <= _MAX_BACKLOG_BYTES:
            self._client.port.reader.resume()


class Reloading:
    """Keeps a running gateway to its configuration file; a file that is wrong changes nothing."""

    def __init__(self, gateway: StdioGateway, path: Path, overrides: Mapping[str, str], log: Log) -> None:
        self._gateway, self._path, self._overrides, self._log = gateway, path, overrides, log
        self._watch = ConfigWatch(path, self._changed)

    def start(self) -> None:
        self._watch.start()

    def _changed(self, written_at: float) -> None:
        try:
            config = load(self._path, overrides=self._overrides)
        except ConfigError as error:
            self._log.write("config_rejected", {"reason": str(error), "kept": "the one before"}, "error")
            return
        old = self._gateway.config
        changes = difference(old, config)
        if not changes:
            return
        level = self._log.level
        self._gateway.apply(config)
        latency = round(max(time.time() - written_at, 0.0) * 1_000, 1)
        # Told by the more talkative of both levels: a change to a quiet log is the last thing it says.
        self._log.level, quiet = min(level, self._log.level), self._log.level
        self._log.write("config_reloaded", {"changes": changes, "latency_ms": latency})
        self._log.level = quiet
        if late := needs_restart(old, config):
            self._log.write("config_needs_restart", {"keys": late}, "warning")
