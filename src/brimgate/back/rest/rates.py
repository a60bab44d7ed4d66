"""Rate limits of APIs: a number of requests in a sliding window. Without room, a request waits in line.

A request counts from when its answer came: the API counted it before that, however long it was on its way.
"""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final
from weakref import WeakValueDictionary

from brimgate.back.rest.model import RateLimit

Key = tuple[str, ...]

_LEAST_TIMER_SECONDS: Final = 0.002
_ON_ITS_WAY_SECONDS: Final = 10.0
_GRACE_SECONDS: Final = 1.0
_NO_LIMIT: Final = RateLimit(100_000, 0.001, "account")
"""The window for a 429 where no limit is declared."""


class Turn:
    """One request that takes its place in some windows."""

    __slots__ = ("answered", "started")

    def __init__(self, now: float) -> None:
        self.started = now
        self.answered: float | None = None

    def counts_from(self, now: float, seconds: float) -> float:
        # The API counted a hanging request long ago: it does not hold its place until it is given up.
        arrived = self.started + max(seconds, _ON_ITS_WAY_SECONDS)
        return self.answered if self.answered is not None else min(now, arrived)


class RateWindow:
    def __init__(self, limit: RateLimit) -> None:
        self.limit = limit
        self._tickets: list[Turn] = []
        self.not_before = 0.0
        """The API itself said that there is no room until then."""

    def free_at(self, now: float, place: int) -> float:
        """Return when the request at this place in line (0: the first) finds room here, as far as known."""
        seconds, most = self.limit.seconds, self.limit.requests
        self._tickets = [one for one in self._tickets if one.counts_from(now, seconds) + seconds > now]
        ends = sorted(one.counts_from(now, seconds) + seconds for one in self._tickets)
        rounds, at = divmod(place, most)
        at -= max(most - len(ends), 0)
        return max((now if at < 0 else ends[-most:][at]) + rounds * seconds, self.not_before)

    def add(self, ticket: Turn) -> None:
        self._tickets.append(ticket)


class _Waiter:
    __slots__ = ("future", "windows")

    def __init__(self, windows: tuple[RateWindow, ...]) -> None:
        self.windows = windows
        self.future: asyncio.Future[Turn] = asyncio.get_running_loop().create_future()


class Line:
    """All requests that wait for one address, in order. A full window delays only those who share it."""

    def __init__(self) -> None:
        self._waiting: list[_Waiter] = []
        self._timer: asyncio.TimerHandle | None = None

    def wait_for(self, windows: tuple[RateWindow, ...], now: float) -> float:
        """Return how many seconds the next request would wait."""
        ends = [now]
        for window in windows:
            ahead = sum(1 for one in self._waiting if window in one.windows)
            ends.append(window.free_at(now, ahead))
        return max(ends) - now

    async def enter(self, windows: tuple[RateWindow, ...]) -> Turn:
        waiter = _Waiter(windows)
        self._waiting.append(waiter)
        self._admit()
        try:
            return await waiter.future
        except BaseException:
            if waiter in self._waiting:
                self._waiting.remove(waiter)
            elif not waiter.future.cancelled():
                waiter.future.result().started = waiter.future.result().answered = float(
                    "-inf"
                )  # it was never sent
            self._admit()
            raise

    def left(self) -> None:
        self._admit()

    def _admit(self) -> None:
        now, full, next_at = time.monotonic(), set[int](), float("inf")
        for waiter in list(self._waiting):
            ends = [(window.free_at(now, 0), window) for window in waiter.windows]
            closed = {id(window) for end, window in ends if end > now}
            if closed:
                next_at = min(next_at, max(end for end, _ in ends))
            if closed or not full.isdisjoint(id(window) for window in waiter.windows):
                full |= closed
                continue
            self._waiting.remove(waiter)
            if not waiter.future.done():
                ticket = Turn(now)
                for window in waiter.windows:
                    window.add(ticket)
                waiter.future.set_result(ticket)
        self._set_timer(next_at - now)

    def _set_timer(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._waiting and seconds != float("inf"):
            loop = self._waiting[0].future.get_loop()
            self._timer = loop.call_later(max(seconds, _LEAST_TIMER_SECONDS), self._admit)


_lines: Final[WeakValueDictionary[Key, Line]] = WeakValueDictionary()
_windows: Final[WeakValueDictionary[Key, RateWindow]] = WeakValueDictionary()
"""Shared by all in this process who use the same address or account."""


class NoRoom(Exception):
    """Too many wait already, or the wait would be too long."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"{seconds:.1f} s")
        self.seconds = seconds


class Rates:
    """The rate limits of one API."""

    def __init__(
        self,
        limits: tuple[RateLimit, ...],
        *,
        address: str,
        account: str,
        max_waiting: int,
        max_wait_seconds: float,
    ) -> None:
        """Create the limits. `account` is any text that only those with the same credentials share."""
        self._line = _lines.setdefault((address,), Line())
        self._usual_hold = max((limit.seconds for limit in limits), default=1.0)
        self._windows = tuple(_shared(limit, address, account) for limit in (*limits, _NO_LIMIT))
        self._max_waiting, self._max_wait_seconds = max_waiting, max_wait_seconds
        self._waiting = 0

    @asynccontextmanager
    async def place(self) -> AsyncGenerator[None]:
        """Hold a place during one request and its answer. Raise NoRoom, at once if it is known in advance."""
        ticket = await self._enter()
        try:
            yield
        finally:
            ticket.answered = time.monotonic()
            self._line.left()

    async def _enter(self) -> Turn:
        seconds = self._line.wait_for(self._windows, time.monotonic())
        if seconds > self._max_wait_seconds or (seconds > 0 and self._waiting >= self._max_waiting):
            raise NoRoom(seconds)
        self._waiting += 1
        try:
            # Those before us may take longer than expected.
            async with asyncio.timeout(self._max_wait_seconds + _GRACE_SECONDS):
                return await self._line.enter(self._windows)
        except TimeoutError:
            raise NoRoom(self._line.wait_for(self._windows, time.monotonic())) from None
        finally:
            self._waiting -= 1

    def has_spare(self) -> bool:
        """Return whether half of every window is free: room for a request that nobody has asked for yet."""
        now = time.monotonic()
        return all(window.free_at(now, window.limit.requests // 2) <= now for window in self._windows)

    def hold(self, seconds: float | None) -> float:
        """Let nobody in after a 429, for `seconds` or, if unknown, for the longest window.

        Return how long that is. If it is longer than the maximum wait, the caller must decide.
        """
        wait = self._usual_hold if seconds is None else seconds
        if wait <= self._max_wait_seconds:
            for window in self._windows:
                window.not_before = max(window.not_before, time.monotonic() + wait)
        return wait

    def may_wait(self, seconds: float) -> bool:
        return seconds <= self._max_wait_seconds


def _shared(limit: RateLimit, address: str, account: str) -> RateWindow:
    who = (address,) if limit.per == "address" else (address, account)
    return _windows.setdefault((limit.per, str(limit.requests), str(limit.seconds), *who), RateWindow(limit))
