"""`brimgate run`: one client on our own pipes, one server, a session between them."""

import asyncio
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from brimgate.app.link import Link
from brimgate.back.channel import Connect
from brimgate.config.declarations import Config
from brimgate.config.rule_reader import make_rules
from brimgate.engine.policy import Rules
from brimgate.front.stdio import StdioClient
from brimgate.guard.principal import USER
from brimgate.hold.runtime import UserProtection
from brimgate.platform import STOP_SIGNALS, EarlySignals
from brimgate.relay.actions import Line, ToClient
from brimgate.relay.protocol.message import PARSE_ERROR, failure, guess_id
from brimgate.relay.session import Session
from brimgate.watch.log import LEVELS, Log

if TYPE_CHECKING:
    from brimgate.app.reload import ReloadNote
    from brimgate.hold.live_lists import ClaimTickets
    from brimgate.relay.trace_context import Tracer

_IDLE_GRACE_SECONDS: Final = 1.0
"""Time for a server to end by itself. Clients give us about two seconds before they kill us."""
_BUSY_GRACE_SECONDS: Final = 30.0
"""Time for answers under way when a client has closed its side but still reads."""
_SWEEP_SECONDS: Final = 5.0
"""When the answers that earlier processes left in the user's folder are swept: a client that starts us waits for none."""
_MAX_BACKLOG_BYTES: Final = 64 << 20
"""What may wait for a client that does not read, before we stop reading from it too."""


class StdioGateway:
    def __init__(
        self,
        name: str,
        connect: Connect,
        config: Config,
        log: Log,
        *,
        budget: int | None = None,
        tickets: "ClaimTickets | None" = None,
        tracer: "Tracer | None" = None,
    ) -> None:
        """Create the gateway. `tickets` is where a REST API behind us leaves its live lists. `tracer` is told of requests."""
        self._name, self._log = name, log
        self._budget = budget
        self.config = config
        self._read_tool = config.read_tool
        self._max_bytes = config.max_result_bytes
        self._protection = UserProtection(config, self._warn_of_store)
        session = Session(
            self._rules(config),
            self._protection,
            time.time,
            upstream=name,
            principal=USER.id,
            tickets=tickets,
        )
        session.silence.limit_seconds = config.call_timeout_seconds
        session.tracer = tracer
        self._link = Link(
            name,
            connect,
            session,
            log,
            max_bytes=self._max_bytes,
            on_answer=self._answer,
            on_pressure=self._upstream_pressure,
            on_idle=self._note_idle,
        )
        self._client = StdioClient(
            max_line_bytes=self._max_bytes, on_line=self._from_client, on_too_long=self._refuse_client
        )
        self._stopping = asyncio.Event()
        self._answered = asyncio.Event()
        """Set when no call waits for its answer, or nothing is worked on any more."""
        self._upstream_is_full = False

    def _rules(self, config: Config) -> Rules:
        # The client knows our tool by the name it had when it asked: a new name needs a restart.
        return make_rules(replace(config, read_tool=self._read_tool), self._name, self._budget)

    def apply(self, config: Config) -> None:
        """Use a new configuration for all calls from now on; those under way keep the old one."""
        self.config = config
        self._link.session.rules = self._rules(config)
        self._link.session.silence.limit_seconds = config.call_timeout_seconds
        self._log.level = LEVELS[config.effective_log_level]
        if self._log.recorder is not None:
            self._log.recorder.apply(config.telemetry)

    def note_reload(self, note: "ReloadNote") -> None:
        """Leave it to the log: nobody asks this gateway how it went."""

    def _warn_of_store(self, reason: str) -> None:
        self._log.write("store_unusable", {"reason": reason}, "warning")

    async def run(self, early: EarlySignals) -> int:
        """Relay until either side has gone."""
        for number in STOP_SIGNALS:
            with suppress(NotImplementedError, RuntimeError):
                asyncio.get_running_loop().add_signal_handler(number, self._stopping.set)
        if early.came:
            self._stopping.set()
        await self._link.start()
        sweeping = asyncio.get_running_loop().call_later(_SWEEP_SECONDS, self._sweep)
        try:
            await self._client.connect()
            self._client.port.writer.on_pressure = self._client_pressure
            await self._until_over()
        finally:
            sweeping.cancel()
            await self._end()
        return 0 if self._link.was_up else 1

    def _sweep(self) -> None:
        asyncio.get_running_loop().run_in_executor(None, self._protection.sweep)

    async def _until_over(self) -> None:
        stopping = asyncio.create_task(self._stopping.wait())
        gone = asyncio.create_task(self._client.gone.wait())
        silent = asyncio.create_task(self._client.silent.wait())
        await asyncio.wait({stopping, gone, silent}, return_when=asyncio.FIRST_COMPLETED)
        # The client may have sent everything and still be waiting for answers.
        until = time.monotonic() + _BUSY_GRACE_SECONDS
        while self._owes_answers and not stopping.done() and not gone.done() and time.monotonic() < until:
            self._answered.clear()
            answered = asyncio.create_task(self._answered.wait())
            await asyncio.wait(
                {stopping, gone, answered},
                return_when=asyncio.FIRST_COMPLETED,
                timeout=max(until - time.monotonic(), 0.0),
            )
            answered.cancel()
        for task in (stopping, gone, silent):
            task.cancel()

    @property
    def _owes_answers(self) -> bool:
        return self._link.session.pending_calls > 0 or self._link.is_busy

    async def _end(self) -> None:
        if self._stopping.is_set():
            self._link.do(self._link.session.fail_pending("Brimgate was told to stop"))
        await self._link.end(0.0 if self._stopping.is_set() else _IDLE_GRACE_SECONDS)
        await self._client.close(1.0)

    def _from_client(self, line: Line) -> None:
        self._link.from_client(line)
        if self._client.port.writer.pending_bytes > _MAX_BACKLOG_BYTES:
            self._client.port.pause()

    def _answer(self, answer: ToClient) -> None:
        self._client.send(answer.data)
        if not self._link.session.pending_calls:
            self._answered.set()

    def _note_idle(self) -> None:
        self._answered.set()

    def _refuse_client(self, beginning: bytes) -> None:
        text = f"the message is larger than {self._max_bytes:,} bytes"
        self._client.port.send(failure(guess_id(beginning), PARSE_ERROR, text))

    def _client_pressure(self, pressed: bool) -> None:
        """Pause the server while the client does not keep up, as it would without us."""
        if pressed:
            self._link.pause()
        else:
            self._link.resume()
            self._listen_again()

    def _upstream_pressure(self, pressed: bool) -> None:
        self._upstream_is_full = pressed
        if pressed:
            self._client.port.pause()
        elif self._client.is_connected:
            self._listen_again()

    def _listen_again(self) -> None:
        """Read from the client again, if there is room for its messages and for its answers."""
        if not self._upstream_is_full and self._client.port.writer.pending_bytes <= _MAX_BACKLOG_BYTES:
            self._client.port.resume()
