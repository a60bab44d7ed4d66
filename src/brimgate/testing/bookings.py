"""Generate a property manager's bookings, as such an API returns them. A few have details that must not be missed."""

import random
from datetime import date, datetime, timedelta
from typing import Any, Final

_FIRST: Final = (
    "Ana",
    "Bashir",
    "Chloe",
    "Dmitri",
    "Esi",
    "Farah",
    "Goran",
    "Hana",
    "Ivo",
    "Jun",
    "Kemi",
    "Liam",
)
_LAST: Final = (
    "Almeida",
    "Brandt",
    "Costa",
    "Diallo",
    "Eklund",
    "Ferrari",
    "Garcia",
    "Haas",
    "Ito",
    "Jansen",
    "Kaya",
)
_CHANNELS: Final = ("airbnb", "booking.com", "direct", "expedia", "vrbo")
_COUNTRIES: Final = ("BR", "DE", "ES", "FR", "IT", "JP", "NL", "PT", "SE", "US")
_NOTES: Final = (
    None,
    None,
    None,
    None,
    None,
    None,
    None,
    "Late arrival",
    "Needs a baby bed",
    "Quiet room, please",
)


def bookings(count: int = 500, seed: int = 7) -> dict[str, Any]:
    """Return an envelope with `count` bookings, newest first; one in 250 has failed."""
    chance = random.Random(seed)  # noqa: S311  # made-up data, not secrets
    rows = [_booking(chance, number) for number in range(count)]
    for number in range(count * 3 // 10, count, 250):
        rows[number] |= {
            "status": "payment_failed",
            "notes": f"Chargeback CB-{number:05d} opened by the bank",
        }
        rows[number]["price"]["total"] = 98_500.0 + number
    return {"status": "success", "count": count, "result": rows, "nextPageToken": f"p-{seed:04d}"}


def _booking(chance: random.Random, number: int) -> dict[str, Any]:
    first, last = chance.choice(_FIRST), chance.choice(_LAST)
    nights = chance.randint(1, 14)
    base = round(chance.lognormvariate(4.8, 0.4), 2)
    arrival = date(2026, 11, 1) + timedelta(days=chance.randint(0, 90))
    created = datetime(2026, 10, 28, 9) - timedelta(minutes=37 * number)
    return {
        "id": 5_400_000 - 13 * number,
        "listingId": 206_016 + chance.randint(0, 40),
        "status": chance.choices(("confirmed", "pending", "cancelled"), (80, 12, 8))[0],
        "channel": chance.choice(_CHANNELS),
        "createdAt": created.isoformat() + "Z",
        "arrivalDate": arrival.isoformat(),
        "departureDate": (arrival + timedelta(days=nights)).isoformat(),
        "nights": nights,
        "guest": {
            "id": chance.randint(10_000_000, 99_999_999),
            "name": f"{first} {last}",
            "email": f"{first}.{last}{chance.randint(1, 999)}@example.org".lower(),
            "country": chance.choice(_COUNTRIES),
        },
        "price": {"currency": "EUR", "base": base, "cleaning": 45.0, "total": round(base * nights + 45, 2)},
        "notes": chance.choice(_NOTES),
    }
