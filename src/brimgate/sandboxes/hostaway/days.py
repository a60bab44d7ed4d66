"""The days of a listing's calendar."""

from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from typing import Any

from brimgate.sandboxes.chance import chance_of
from brimgate.sandboxes.hostaway.fields import DAY, DAY_RESERVATION, complete
from brimgate.sandboxes.hostaway.homes import Home
from brimgate.sandboxes.hostaway.reservations import reservation
from brimgate.sandboxes.hostaway.settings import Settings
from brimgate.sandboxes.hostaway.stays import Stay

Json = dict[str, Any]


def nights(stays: Iterable[Stay]) -> dict[date, Stay]:
    """Return who stays there in which night."""
    taken = (stay for stay in stays if stay.takes_nights)
    return {stay.arrival + timedelta(days=at): stay for stay in taken for at in range(stay.nights)}


def calendar(
    settings: Settings, home: Home, stays: Iterable[Stay], first: date, last: date, *, resources: bool
) -> Iterator[Json]:
    taken = nights(stays)
    whole: dict[int, Json] = {}
    for at in range((last - first).days + 1):
        day = first + timedelta(days=at)
        stay = taken.get(day)
        if stay and resources and stay.id not in whole:
            whole[stay.id] = complete(DAY_RESERVATION, reservation(settings, stay))
        guests = [whole[stay.id]] if stay and resources else []
        yield _day(settings, home, day, stay) | {"reservations": guests}


def _day(settings: Settings, home: Home, day: date, stay: Stay | None) -> Json:
    chance = chance_of(settings.seed, f"day/{home.position}", day.toordinal())
    blocked = not stay and chance.random() < 0.04
    weekend = 1.2 if day.weekday() in (4, 5) else 1
    known: Json = {
        "id": home.position * 100_000 + day.toordinal() - date(2020, 1, 1).toordinal(),
        "date": str(day),
        "isAvailable": int(not stay and not blocked),
        "isProcessed": 1,
        "status": "reserved" if stay else "blocked" if blocked else "available",
        "price": round(home.price * weekend * chance.uniform(0.9, 1.3)),
        "minimumStay": 2 if weekend > 1 else 1,
        "maximumStay": 365,
        "note": "Boiler is serviced" if blocked else None,
    }
    return complete(DAY, known)
