"""Remember whose tokens are, for a while: one check at a time for each token, however many requests show it."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Protocol

from brimgate.errors import Unauthenticated, VerifierDown
from brimgate.guard.principal import Principal

_MAX_KNOWN: Final = 10_000
_MAX_REFUSED: Final = 10_000
"""Kept apart: whoever makes up tokens must not make us forget good ones."""
_DOUBT_SECONDS: Final = 10.0
Verdict = tuple[Principal, float] | Unauthenticated
"""Whose a token is, and for how many seconds that holds at most; or why it was refused."""
Check = Callable[[], Awaitable[tuple[Principal, float]]]
"""Asks whose a token is, and for how many seconds that holds at most. Raises AccessRefused."""


@dataclass(slots=True)
class _Known:
    principal: Principal
    until: float
    doubted_at: float = float("-inf")


class VerdictCache(Protocol):
    """What other replicas have found out."""

    async def find(self, fingerprint: str) -> tuple[Verdict, float] | None:
        """Return what is known of a token, and its age in seconds."""
        ...

    async def keep(self, fingerprint: str, verdict: Verdict, seconds: float) -> None: ...


class Verdicts:
    def __init__(
        self,
        seconds: float,
        refusal_seconds: float,
        clock: Callable[[], float] = time.monotonic,
        others: VerdictCache | None = None,
    ) -> None:
        self._seconds, self._refusal_seconds, self._clock = seconds, refusal_seconds, clock
        self._others = others
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._refused: OrderedDict[str, tuple[Unauthenticated, float]] = OrderedDict()
        self._checking: dict[str, asyncio.Task[Principal]] = {}

    def known(self, fingerprint: str) -> Principal | None:
        """Return whose a token is, if that was found out recently. Raise Unauthenticated if it was refused recently."""
        found = self._known.get(fingerprint)
        if found is not None:
            if self._clock() < found.until:
                # Whoever shows a token that is in doubt waits for the check.
                return None if self.is_being_checked(fingerprint) else found.principal
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
        running = self._checking.get(fingerprint)
        if running is None and (found := self.known(fingerprint)):
            return found  # it was found out between the caller's look and now
        try:
            return await asyncio.shield(running or self._begin(fingerprint, check))
        except Unauthenticated as refusal:
            raise refusal.again() from None
        except VerifierDown:
            before = self._known.get(fingerprint)
            if before is None or self._clock() >= before.until:
                raise
            return before.principal  # it was in doubt, and nobody could tell: it stays what it was

    def _begin(
        self, fingerprint: str, check: Check, *, is_doubted: bool = False
    ) -> "asyncio.Task[Principal]":
        finding = self._find_anew if is_doubted else self._find
        task = asyncio.get_running_loop().create_task(self._check(fingerprint, finding(fingerprint, check)))
        self._checking[fingerprint] = task
        task.add_done_callback(lambda done: self._end(fingerprint, done))
        return task

    def _end(self, fingerprint: str, done: "asyncio.Task[Principal]") -> None:
        self._checking.pop(fingerprint, None)
        if not done.cancelled():
            done.exception()  # whoever asked may have gone

    async def _find(self, fingerprint: str, check: Check) -> tuple[Verdict, float]:
        """Return the verdict on a token, and its age: what another replica has found out, or what the check says."""
        found = await self._others.find(fingerprint) if self._others is not None else None
        return found or await self._find_anew(fingerprint, check)

    async def _find_anew(self, fingerprint: str, check: Check) -> tuple[Verdict, float]:
        try:
            verdict: Verdict = await check()
            seconds = min(self._seconds, verdict[1])
        except Unauthenticated as refusal:
            verdict, seconds = refusal, self._refusal_seconds
        if self._others is not None:
            await self._others.keep(fingerprint, verdict, seconds)
        return verdict, 0.0

    async def _check(self, fingerprint: str, finding: Awaitable[tuple[Verdict, float]]) -> Principal:
        verdict, age = await finding
        now = self._clock()
        if isinstance(verdict, Unauthenticated):
            self._known.pop(fingerprint, None)
            self._refused[fingerprint] = verdict, now + self._refusal_seconds - age
            if len(self._refused) > _MAX_REFUSED:
                self._refused.popitem(last=False)
            raise verdict
        principal, lasts = verdict
        before = self._known.get(fingerprint)
        self._known[fingerprint] = _Known(principal, now + min(self._seconds - age, lasts))
        if before is not None:
            self._known[fingerprint].doubted_at = before.doubted_at
        if len(self._known) > _MAX_KNOWN:
            self._known.popitem(last=False)
        return principal

    def doubt(self, fingerprint: str, check: Check) -> None:
        """Check a token again, though not too often. Only a check that refuses it drops it."""
        found = self._known.get(fingerprint)
        now = self._clock()
        if found is None or now - found.doubted_at < _DOUBT_SECONDS or self.is_being_checked(fingerprint):
            return
        found.doubted_at = now
        self._begin(fingerprint, check, is_doubted=True)

    async def close(self) -> None:
        for task in list(self._checking.values()):
            task.cancel()
