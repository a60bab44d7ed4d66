"""Health checks of upstreams: made in the background and remembered, so that whoever asks never waits for one."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Literal

from brimgate.app.client import McpClient
from brimgate.back.channel import Connect
from brimgate.config.masking import masked
from brimgate.errors import UpstreamError, UpstreamRefused, UpstreamTimeout
from brimgate.relay.protocol.message import METHOD_NOT_FOUND
from brimgate.watch.log import Log

Status = Literal["healthy", "degraded", "unhealthy", "not_started"]

_INTEREST_SECONDS: Final = 300.0
"""How long after a question checks go on: a monitor comes back, and nobody else needs them."""
_INTERVALS_PROVED: Final = 20
"""For so many intervals a command that worked is not started again for a check: starting one costs."""
_PARTING_SECONDS: Final = 1.0
_AUTHENTICATION: Final = (401, 403)


def _nothing() -> None:
    pass


@dataclass(frozen=True, slots=True)
class Probe:
    """How one upstream is checked. Its functions raise UpstreamError, with the reason, if it is not well."""

    check: Callable[[], Awaitable[None]]
    seconds: float
    look_up: Callable[[], None] = _nothing
    """A look that costs nothing, made before every check and at the start."""
    is_costly: bool = False
    """Whether `check` starts a process. Then it is not made before somebody asks."""
    is_in_use: Callable[[], bool] = lambda: False
    """Whether clients talk to the upstream just now."""
    needs_caller: bool = False
    """Whether only a caller's token can start it. Then callers show how it is, and nobody else."""


class UpstreamHealth:
    def __init__(self, name: str, probe: Probe, log: Log, interval_seconds: Callable[[], float]) -> None:
        self._name, self._probe, self._log = name, probe, log
        self._interval_seconds = interval_seconds
        self._state: dict[str, Any] = {"status": "not_started"}
        self._proved_at = 0.0
        self._asked_at = 0.0
        self._is_asked = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None

    def ask(self) -> dict[str, Any]:
        """Return what is known now."""
        self._asked_at = time.monotonic()
        self._is_asked.set()
        return self._state

    @property
    def state(self) -> dict[str, Any]:
        """What is known now, for whoever is no reason to look."""
        return self._state

    def start(self) -> None:
        self._is_there()
        self._watching = asyncio.get_running_loop().create_task(self._watch())

    async def end(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait([self._watching])

    def note(self, failure: UpstreamError | None, latency: float | None = None) -> None:
        """Take over what a check, or the handshake of a client, has shown."""
        before = self._state["status"]
        if failure is not None:
            # A server's last words may hold anything.
            self._state = {"status": "unhealthy", "error": masked(str(failure))}
            if before != "unhealthy":
                self._log.write(
                    "unhealthy", {"upstream": self._name, "error": self._state["error"]}, "warning"
                )
            return
        self._proved_at = time.monotonic()
        self._state = {"status": "healthy"} | ({} if latency is None else {"latency": round(latency, 1)})
        if before == "unhealthy":
            self._log.write("healthy", {"upstream": self._name})

    async def _watch(self) -> None:
        if self._probe.is_costly:  # nobody may want to know, and a client may be the first to start it
            await self._is_asked.wait()
        while True:
            if self._is_there() and not self._is_proved and not self._probe.needs_caller:
                await self._check()
            await asyncio.sleep(self._interval_seconds())
            if time.monotonic() - self._asked_at > _INTEREST_SECONDS:
                self._is_asked.clear()
                await self._is_asked.wait()

    def _is_there(self) -> bool:
        try:
            self._probe.look_up()
        except UpstreamError as error:
            self.note(error)
            return False
        return True

    @property
    def _is_proved(self) -> bool:
        if not self._probe.is_costly or self._state["status"] != "healthy":
            return False
        age = time.monotonic() - self._proved_at
        return self._probe.is_in_use() or age < _INTERVALS_PROVED * self._interval_seconds()

    async def _check(self) -> None:
        began = time.perf_counter()
        try:
            async with asyncio.timeout(self._probe.seconds):
                await self._probe.check()
        except TimeoutError:
            text = f"the upstream {self._name} did not answer the check within {self._probe.seconds:g} s"
            self.note(UpstreamTimeout(text))
        except UpstreamError as error:
            if error.retry_after is None:  # a full queue says nothing about health
                self.note(error)
        else:
            self.note(None, (time.perf_counter() - began) * 1_000)


def overall(checks: Iterable[dict[str, Any]]) -> Status:
    """Return the status of all: unhealthy only if all are down."""
    found = [check["status"] for check in checks]
    down = found.count("unhealthy")
    if down:
        return "unhealthy" if down == len(found) else "degraded"
    return "not_started" if "not_started" in found else "healthy"


async def check_mcp(name: str, connect: Connect, max_bytes: int, *, forwards_credentials: bool) -> None:
    """Do the handshake and list the tools, in a conversation of its own."""
    client = McpClient(name, connect, max_bytes=max_bytes, on_chatter=lambda _: None)
    try:
        await client.open()
        await client.tools()
    except UpstreamRefused as refusal:
        # Servers may have no tools. Where callers bring their own credentials, ours prove nothing.
        is_theirs = forwards_credentials and refusal.answered in _AUTHENTICATION
        if refusal.code != METHOD_NOT_FOUND and not is_theirs:
            raise
    finally:
        with suppress(UpstreamError):
            await client.end(_PARTING_SECONDS)
