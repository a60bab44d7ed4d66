"""Remember whose tokens are, for a while: one check at a time for each token, however many requests show it."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from brimgate.errors import Unauthenticated
from brimgate.guard.principal import Principal

_MAX_KNOWN: Final = 10_000
_MAX_REFUSED: Final = 10_000
"""Kept apart: whoever makes up tokens must not make us forget good ones."""
_DOUBT_SECONDS: Final = 10.0
Check = Callable[[], Awaitable[tuple[Principal, float]]]
"""Asks whose a token is, and for how many seconds that holds at most. Raises AccessRefused."""


@dataclass(slots=True)
class _Known:
    principal: Principal
    until: float
    checked_at: float


class Verdicts:
    def __init__(
        self, seconds: float, refusal_seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._seconds, self._refusal_seconds, self._clock = seconds, refusal_seconds, clock
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._refused: OrderedDict[str, tuple[Unauthenticated, float]] = OrderedDict()
        self._checking: dict[str, asyncio.Task[Principal]] = {}

    def known(self, fingerprint: str) -> Principal | None:
        """Return whose a token is, if that was found out recently. Raise Unauthenticated if it was refused recently."""
        found = self._known.get(fingerprint)
        if found is not None:
            if self._clock() < found.until:
                return found.principal
            del self._known[fingerprint]
        if fingerprint in self._refused:
            refusal, until = self._refused[fingerprint]
            if self._clock() < until:
                raise refusal.again()
            del self._refused[fingerprint]
        return None

    def is_being_checked(self, fingerprint: str) -> bool:
        return fingerprint in self._checking

    async def settle(self, fingerprint: str, check: Check) -> Principal:
        """Find out whose a token is. Whoever asks for the same token meanwhile waits for the same check."""
        try:
            return await asyncio.shield(self._checking.get(fingerprint) or self._begin(fingerprint, check))
        except Unauthenticated as refusal:
            raise refusal.again() from None

    def _begin(self, fingerprint: str, check: Check) -> "asyncio.Task[Principal]":
        task = asyncio.get_running_loop().create_task(self._check(fingerprint, check))
        self._checking[fingerprint] = task
        task.add_done_callback(lambda done: self._end(fingerprint, done))
        return task

    def _end(self, fingerprint: str, done: "asyncio.Task[Principal]") -> None:
        self._checking.pop(fingerprint, None)
        if not done.cancelled():
            done.exception()  # whoever asked may have gone

    async def _check(self, fingerprint: str, check: Check) -> Principal:
        try:
            principal, lasts = await check()
        except Unauthenticated as refusal:
            self._known.pop(fingerprint, None)
            self._refused[fingerprint] = refusal, self._clock() + self._refusal_seconds
            if len(self._refused) > _MAX_REFUSED:
                self._refused.popitem(last=False)
            raise
        now = self._clock()
        self._known[fingerprint] = _Known(principal, now + min(self._seconds, lasts), now)
        if len(self._known) > _MAX_KNOWN:
            self._known.popitem(last=False)
        return principal

    def doubt(self, fingerprint: str, check: Check) -> None:
        """Check a token again, though not too often. Only a check that refuses it drops it."""
        found = self._known.get(fingerprint)
        now = self._clock()
        if found is None or now - found.checked_at < _DOUBT_SECONDS or self.is_being_checked(fingerprint):
            return
        found.checked_at = now
        self._begin(fingerprint, check)

    async def close(self) -> None:
        for task in list(self._checking.values()):
            task.cancel()
