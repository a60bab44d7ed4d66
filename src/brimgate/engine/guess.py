"""Let a guess about foreign data fail without costing anything but itself.

What stands out and what the whole consists of are found by hundreds of checks. One that trips over a value that nobody
thought of must not take the others with it, and never the answer.
"""

from types import TracebackType
from typing import Final

SWALLOWED: tuple[type[Exception], ...] = (Exception,)
"""Tests that look for what fails leave this empty."""


class _Guess:
    def __init__(self) -> None:
        self.failures = 0
        """Counted, so that nobody says after one that nothing was found."""

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        is_swallowed = kind is not None and issubclass(kind, SWALLOWED)
        self.failures += is_swallowed
        return is_swallowed


guess: Final = _Guess()
"""`with guess:` stands around one check, or around as much as may fail at once."""
