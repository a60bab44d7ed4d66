"""An upstream behind three pipes: stdin, stdout and stderr."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from subprocess import TimeoutExpired
from typing import Final

from brimgate.back.channel import Line, Listener
from brimgate.back.process import Command, Process, end_group, spawn, when_ended
from brimgate.errors import UpstreamError, UpstreamLost
from brimgate.wire.framing import LineBuffer, TooLong
from brimgate.wire.pipes import LinePort, read_pipe

_STDERR_BURST_BYTES: Final = 256 << 10
_STDERR_BYTES_PER_SECOND: Final = 32 << 10
_MAX_STDERR_LINE: Final = 2_000
_KILL_AFTER_SECONDS: Final = 0.7
_SETTLING_SECONDS: Final = 0.3


class Allowance:
    """A token bucket: `burst` units at once, refilled at `per_second`."""

    def __init__(self, burst: float, per_second: float, now: float) -> None:
        self._burst, self._per_second = burst, per_second
        self._left, self._at = burst, now

    def take(self, amount: float, now: float) -> bool:
        self._left = min(self._burst, self._left + (now - self._at) * self._per_second)
        self._at = now
        if amount > self._left:
            return False
        self._left -= amount
        return True


class StdioUpstream:
    """Passes on whole lines. Reports once when the process can no longer be used, and why."""

    def __init__(self, name: str, process: Process, listener: Listener, *, max_line_bytes: int) -> None:
        self._name = name
        self._process = process
        self._listener = listener
        self._port = LinePort(
            max_line_bytes=max_line_bytes,
            on_line=listener.on_line,
            on_too_long=listener.on_too_long,
            on_silent=self._stdout_closed,
            on_gone=self._stdin_closed,
            on_unstuck=listener.on_unstuck,
        )
        self._exited: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._is_heard_out = False
        self._is_lost = False
        self._ending = False
        self._grumbling = Grumbling(listener.on_chatter)

    async def connect(self) -> None:
        """Connect the pipes. If nobody waits any more, end the process: nobody else knows of it."""
        connecting = asyncio.get_running_loop().create_task(self._connect_pipes())
        try:
            await asyncio.shield(connecting)
        except asyncio.CancelledError:
            await connecting
            when_ended(self._process, self._process_ended)
            await self.end(0)
            raise
        # Last, with no turn of the loop behind it: whoever connects must know us before we are lost.
        when_ended(self._process, self._process_ended)

    async def _connect_pipes(self) -> None:
        process = self._process
        await self._port.connect(process.stdout, process.stdin)
        self._port.writer.on_pressure = self._listener.on_pressure
        await read_pipe(process.stderr, self._grumbling.feed, self._grumbling.end)

    @property
    def is_stuck(self) -> bool:
        return self._port.is_stuck

    def send(self, line: Line) -> None:
        self._port.send(line)

    def pause(self) -> None:
        self._port.pause()

    def resume(self) -> None:
        self._port.resume()

    def _stdout_closed(self) -> None:
        self._is_heard_out = True
        if self._exited.done():
            self._lost()
        else:
            self._stdin_closed()

    def _stdin_closed(self) -> None:
        """Handle a closed pipe. It may just be ending; if it lives on without input or output, it is useless."""
        if not self._ending and not self._exited.done():
            asyncio.get_running_loop().call_later(_SETTLING_SECONDS, self._give_up_living)

    def _give_up_living(self) -> None:
        if not self._exited.done():
            self._lost()

    def _process_ended(self) -> None:
        self._exited.set_result(None)
        self._hear_out(-1)

    def _hear_out(self, heard: int) -> None:
        """Read the last output still in the pipe.

        A child of the process may keep the pipe open, and silent, forever.
        """
        if self._is_heard_out:
            self._lost()
        elif self._port.received_bytes != heard or self._port.is_paused:
            now = self._port.received_bytes
            asyncio.get_running_loop().call_later(_SETTLING_SECONDS, self._hear_out, now)
        else:
            self._lost()

    def _lost(self) -> None:
        if not self._is_lost:
            self._is_lost = True
            self._listener.on_lost(self, UpstreamLost(self._reason()))

    def _reason(self) -> str:
        code = self._process.poll()
        self._grumbling.end()
        said = f"; it said last: {self._grumbling.last}" if self._grumbling.last else ""
        if code is None:
            return f"the upstream {self._name} closed its output or input{said}"
        how = f"was ended by signal {-code}" if code < 0 else f"exited with code {code}"
        return f"the upstream {self._name} {how}{said}"

    async def end(self, grace_seconds: float) -> None:
        """Close its input. If it does not end by itself, ask it to, then kill it."""
        self._ending = True
        self._port.writer.close()
        if not await self._ends_within(grace_seconds):
            end_group(self._process, forcibly=False)
            await self._ends_within(_KILL_AFTER_SECONDS)
        # Also when the process itself is gone: what it started may not be.
        end_group(self._process, forcibly=True)
        await self._ends_within(_KILL_AFTER_SECONDS)
        self._is_lost = True
        self._port.close()
        self._grumbling.end()

    async def _ends_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await asyncio.shield(self._exited)
        except TimeoutError:
            return False
        return True


class StdioServer:
    """Starts a command, as often as it is asked to."""

    def __init__(
        self,
        name: str,
        command: Command,
        *,
        max_line_bytes: int,
        started: Process | UpstreamError | None = None,
    ) -> None:
        """Create it. `started` is the result of a first start that was already made."""
        self._name, self._command, self._max_line_bytes = name, command, max_line_bytes
        self._started = started

    async def connect(self, listener: Listener) -> StdioUpstream:
        process, self._started = self._started, None
        if process is None:
            process = await self._spawn()
        if isinstance(process, UpstreamError):
            raise process
        upstream = StdioUpstream(self._name, process, listener, max_line_bytes=self._max_line_bytes)
        await upstream.connect()
        return upstream

    async def _spawn(self) -> Process:
        """Start the process. If nobody waits any more, end it: else no one would."""
        spawning = asyncio.get_running_loop().run_in_executor(None, spawn, self._command)
        try:
            return await asyncio.shield(spawning)
        except asyncio.CancelledError:
            with suppress(UpstreamError):
                await _abandon(await spawning)
            raise


async def _abandon(process: Process) -> None:
    """Kill a process that nobody uses, and wait for its end: whoever adopts it may never do so."""
    end_group(process, forcibly=True)
    with suppress(TimeoutExpired):
        await asyncio.get_running_loop().run_in_executor(None, process.wait, _KILL_AFTER_SECONDS)


class Grumbling:
    """Passes on what a server writes to stderr, line by line, but not faster than anyone can read."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._pass_on = say
        self._lines = LineBuffer(1 << 20)
        self._allowance = Allowance(_STDERR_BURST_BYTES, _STDERR_BYTES_PER_SECOND, time.monotonic())
        self._left_out = 0
        self.last = ""

    def feed(self, data: bytes) -> None:
        for line in self._lines.feed(data):
            self._say(line.beginning if isinstance(line, TooLong) else line)

    def end(self) -> None:
        if rest := self._lines.flush():
            self._say(rest)
        self._confess()

    def _say(self, line: bytes | bytearray) -> None:
        text = line[:_MAX_STDERR_LINE].decode("utf-8", "replace").rstrip("\r")
        if text.strip():
            self.last = "".join(one if one.isprintable() else " " for one in text.strip()[:200])
        if not self._allowance.take(len(text) + 1, time.monotonic()):
            self._left_out += 1
            return
        self._confess()
        self._pass_on(text)

    def _confess(self) -> None:
        if self._left_out:
            left, self._left_out = self._left_out, 0
            self._pass_on(f"… {left:,} lines left out: more than the log takes")
