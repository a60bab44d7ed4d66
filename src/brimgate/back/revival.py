"""When a server that died may be started again: at once, unless it keeps dying."""

from dataclasses import dataclass
from typing import Final

_STEADY_SECONDS: Final = 10.0
"""One that ran so long counts as healthy: its next death is the first again."""
_FIRST_WAIT_SECONDS: Final = 0.5
_LONGEST_WAIT_SECONDS: Final = 30.0


@dataclass(slots=True)
class Revival:
    deaths: int = 0
    """In a row, each soon after its start."""
    not_before: float = 0.0
    _started: float = 0.0

    def started(self, now: float) -> None:
        self._started = now

    def died(self, now: float) -> None:
        self.deaths = 1 if now - self._started >= _STEADY_SECONDS else self.deaths + 1
        wait = 0.0 if self.deaths == 1 else _FIRST_WAIT_SECONDS * 2 ** (self.deaths - 2)
        self.not_before = now + min(wait, _LONGEST_WAIT_SECONDS)

    def wait_seconds(self, now: float) -> float:
        return max(self.not_before - now, 0.0)
