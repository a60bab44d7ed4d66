"""The settings of a sandbox, and the secrets that follow from its seed."""

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

DEFAULT_NOW: Final = datetime(2026, 11, 15, 10, tzinfo=UTC)
MARKERS: Final = {"alice": "Heliotrope", "bob": "Quillwort"}
"""A word that stands in every private text of a user and in no text that anyone else has."""
PASSWORDS: Final = {"alice": "alice-in-the-sandbox", "bob": "bob-in-the-sandbox"}
"""For `POST /login`. There is nothing behind them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    tasks: int = 3_000
    seed: int = 1
    now: datetime = DEFAULT_NOW
    """The clock of the server when it starts. Not the real one: the same seed gives the same data on any day."""
    delay_seconds: float = 0
    """The time from a request to its answer, whatever generating it takes."""
    rate: int = 0
    """Requests of one user within the window; 0 for no limit, as by default in the real server."""
    rate_window_seconds: float = 60
    login_rate: int = 10
    """Logins of one address in a minute. The real server limits them always."""
    jwt_seconds: int = 600
    control: bool = False
    """Whether /control is served: faults, tokens, new tasks and the journal of requests."""

    @property
    def tokens(self) -> dict[str, str]:
        """API tokens with all permissions, by user."""
        return {name: token_of(self.seed, name) for name in MARKERS}

    @property
    def markers(self) -> dict[str, str]:
        return dict(MARKERS)

    @property
    def passwords(self) -> dict[str, str]:
        return dict(PASSWORDS)


def token_of(seed: int, name: str) -> str:
    """Return a token in the form of real ones: a prefix and forty hexadecimal digits."""
    return "tk_" + hashlib.sha256(f"{seed}/token/{name}".encode()).hexdigest()[:40]
