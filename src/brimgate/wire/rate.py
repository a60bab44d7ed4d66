"""How much of something may pass in a time."""


class Allowance:
    """So many units at once, refilled so many a second."""

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
