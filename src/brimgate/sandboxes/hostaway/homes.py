"""Summaries of listings: what filters, reservations and reports need to know of each."""

from typing import Final, NamedTuple

from brimgate.sandboxes.chance import chance_of, pick
from brimgate.sandboxes.hostaway.words import CITIES, LISTING_NAMES, MANAGERS, PROPERTY_TYPES, City

_FIRST_ID: Final = 206_016
_STEP: Final = 1_009


class Home(NamedTuple):
    position: int
    id: int
    name: str
    internal_name: str
    city: City
    contact: str
    property_type: int
    price: int
    cleaning_fee: float
    capacity: int
    bedrooms: int
    check_in: int
    in_booking_engine: bool


def home_of(seed: int, position: int) -> Home:
    chance = chance_of(seed, "home", position)
    name = " ".join(pick(chance, words) for words in LISTING_NAMES)
    bedrooms = chance.randint(1, 6)
    return Home(
        position=position,
        id=_FIRST_ID + _STEP * position,
        name=name.capitalize(),
        internal_name=f"HG-{position + 1:03d} {name.split()[0]}",
        city=pick(chance, CITIES),
        contact=pick(chance, MANAGERS),
        property_type=pick(chance, PROPERTY_TYPES),
        price=chance.randint(70, 140) + 45 * bedrooms,
        cleaning_fee=round(30 + 18 * bedrooms + chance.random() * 20, 2),
        capacity=2 * bedrooms + chance.randint(0, 2),
        bedrooms=bedrooms,
        check_in=pick(chance, (14, 15, 15, 16)),
        in_booking_engine=chance.random() < 0.4,
    )


def position_of(listing_id: int) -> int:
    """Return the position of the listing with that id, if it exists already; -1 if no listing can have it."""
    position, rest = divmod(listing_id - _FIRST_ID, _STEP)
    return -1 if rest else position
