"""Generate a service's log: thousands of lines without problems, and a few with errors."""

import random
from datetime import datetime, timedelta
from typing import Final

_USUAL: Final = (
    ("INFO", "http", 'GET /v1/reservations/{id} 200 {ms}ms ip=10.0.{a}.{b} agent="channel-sync/4.2"'),
    ("INFO", "http", "GET /v1/listings?limit=100&offset={a}00 200 {ms}ms ip=10.0.{a}.{b}"),
    ("INFO", "calendar", "availability pushed listing={listing} channel={channel} days={b} took={ms}ms"),
    ("INFO", "messages", "guest message stored conversation={id} listing={listing} length={ms}"),
    ("DEBUG", "cache", "hit key=listing:{listing}:rates age={b}s"),
    ("DEBUG", "queue", "job finished name=sync_rates id={id} attempt=1 took={ms}ms"),
    ("INFO", "payments", "authorised reservation={id} amount={ms}.00 EUR provider=stripe"),
    ("WARN", "channel", "slow answer from {channel}: {ms}ms, listing={listing}"),
)
_WEIGHTS: Final = (28, 14, 20, 9, 14, 10, 4, 1)
_WRONG: Final = (
    "ERROR payments charge failed reservation=5398050 code=card_declined amount=2282.00 EUR provider=stripe",
    "ERROR calendar double booking listing=206023 reservations=5398050,5397998 night=2026-12-24",
    "FATAL queue worker 3 died: MemoryError while rendering the owner statement of 2026-10",
    "ERROR channel airbnb refused the calendar of listing=206023: 401 token revoked",
)
_CHANNELS: Final = ("airbnb", "booking.com", "expedia", "vrbo")


def log(lines: int = 10_000, seed: int = 17) -> str:
    """Return `lines` lines, each ended by a newline.

    The errors are in the last two thirds, where no head-cut shows them.
    """
    chance = random.Random(seed)  # noqa: S311  # made-up data, not secrets
    at = datetime(2026, 11, 2, 3)
    wrong = {lines * (3 + 2 * number) // 10: line for number, line in enumerate(_WRONG)}
    out: list[str] = []
    for number in range(lines):
        at += timedelta(milliseconds=chance.randint(20, 900))
        out.append(f"{at.isoformat(timespec='milliseconds')}Z {wrong.get(number) or _usual(chance)}\n")
    return "".join(out)


def _usual(chance: random.Random) -> str:
    level, source, message = chance.choices(_USUAL, _WEIGHTS)[0]
    filled = message.format(
        id=chance.randint(5_390_000, 5_400_000),
        listing=206_016 + chance.randint(0, 40),
        channel=chance.choice(_CHANNELS),
        ms=chance.randint(2, 380),
        a=chance.randint(0, 9),
        b=chance.randint(1, 250),
    )
    return f"{level} {source} {filled}"
