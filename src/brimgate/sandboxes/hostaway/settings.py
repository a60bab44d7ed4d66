"""The settings of a sandbox."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

DEFAULT_NOW: Final = datetime(2026, 11, 15, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    listings: int = 80
    reservations: int = 2_000
    seed: int = 11
    now: datetime = DEFAULT_NOW
    """When the newest reservation was made. Not the clock: the same seed gives the same data on any day."""
    delay_seconds: float = 0
    """The time from a request to its answer, whatever generating it takes."""
    account_id: int = 61_148
    secret: str = "sandbox-secret"  # noqa: S105  # there is nothing behind it
    token_seconds: float = 3_600
    rate_ip: int = 15
    """Requests of one address within the window; 0 for no limit."""
    rate_account: int = 20
    rate_window_seconds: float = 10
    control: bool = False
    """Whether /control is served: faults, new reservations and the journal of requests."""
