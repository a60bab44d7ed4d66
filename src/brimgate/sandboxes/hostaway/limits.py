"""A rate limit with a sliding window. A refused request does not count: whoever waits gets through."""

import time
from collections import defaultdict, deque

from brimgate.sandboxes.hostaway.wire import Refusal


class Limit:
    def __init__(self, most: int, window_seconds: float) -> None:
        self._most, self._window_seconds = most, window_seconds
        self._times: defaultdict[str, deque[float]] = defaultdict(deque)

    def count(self, caller: str) -> None:
        if not self._most:
            return
        now, times = time.monotonic(), self._times[caller]
        while times and times[0] <= now - self._window_seconds:
            times.popleft()
        if len(times) >= self._most:
            raise Refusal(429, "Too many requests")  # and no Retry-After: the real API sends none
        times.append(now)

    def reset(self) -> None:
        self._times.clear()
