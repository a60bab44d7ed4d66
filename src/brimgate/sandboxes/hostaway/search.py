"""Find listings and reservations, in the requested order. Filters and orders are the documented ones."""

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, timedelta
from typing import Any, Final

from brimgate.sandboxes.hostaway.account import Account
from brimgate.sandboxes.hostaway.days import nights
from brimgate.sandboxes.hostaway.homes import Home
from brimgate.sandboxes.hostaway.parameters import Parameters
from brimgate.sandboxes.hostaway.stays import Stay
from brimgate.sandboxes.hostaway.wire import Refusal

Test = Callable[[Stay], bool]

_HOME_ORDERS: Final[dict[str, tuple[Callable[[Home], Any], bool]]] = {
    "name": (lambda home: home.name, False),
    "nameReversed": (lambda home: home.name, True),
    "order": (lambda home: home.position, False),
    "orderReversed": (lambda home: home.position, True),
    "contactName": (lambda home: home.contact, False),
    "contactNameReversed": (lambda home: home.contact, True),
}
_STAY_KEYS: Final[dict[str, Callable[[Stay], Any]]] = {
    "arrivalDate": lambda stay: stay.arrival,
    "lastConversationMessageSent": lambda stay: stay.sent or datetime.min,
    "lastConversationMessageReceived": lambda stay: stay.received,
    "latestActivity": lambda stay: stay.activity,
}
_STAY_ORDERS: Final = tuple(name + end for name in _STAY_KEYS for end in ("", "Desc"))


def find_homes(account: Account, asked: Parameters) -> list[Home]:
    city, country, contact = asked.text("city"), asked.text("country"), asked.text("contactName")
    match, kind = (asked.text("match") or "").casefold(), asked.integer("propertyTypeId")
    guests, engine = asked.integer("availabilityGuestNumber"), asked.flag("isBookingEngineActive")
    found = [
        home
        for home in account.homes
        if _same(city, home.city.name)
        and _same(country, home.city.country, home.city.country_code)
        and _same(contact, home.contact)
        and (match in home.name.casefold() or match in home.internal_name.casefold())
        and kind in (None, home.property_type)
        and (guests is None or guests <= home.capacity)
        and engine in (None, home.in_booking_engine)
    ]
    found = _available(account, found, asked.day("availabilityDateStart"), asked.day("availabilityDateEnd"))
    key, descending = _HOME_ORDERS[asked.choice("sortOrder", tuple(_HOME_ORDERS)) or "order"]
    return sorted(found, key=key, reverse=descending)


def _available(account: Account, homes: list[Home], first: date | None, end: date | None) -> list[Home]:
    if first is None or end is None:
        return homes
    wanted = {first + timedelta(days=at) for at in range(min((end - first).days, 1_000))}
    return [home for home in homes if wanted.isdisjoint(nights(account.stays_at(home)))]


def find_stays(account: Account, asked: Parameters) -> list[Stay]:
    """Find stays, the newest first unless another order is requested."""
    tests = [*_equals(asked), *_ranges(asked), *_texts(asked)]
    found = [stay for stay in reversed(account.stays) if all(test(stay) for test in tests)]
    order = asked.choice("sortOrder", _STAY_ORDERS)
    if order:
        found.sort(key=_STAY_KEYS[order.removesuffix("Desc")], reverse=order.endswith("Desc"))
    return found


def offset_after(found: Sequence[Stay], last_id: int) -> int:
    """Return where to continue after that reservation, wherever it has moved since."""
    for at, stay in enumerate(found):
        if stay.id == last_id:
            return at + 1
    raise Refusal(422, "afterId must be the id of a reservation of the page before")


def _equals(asked: Parameters) -> Iterable[Test]:
    getters: dict[str, Callable[[Stay], int]] = {
        "listingId": lambda stay: stay.home.id,
        "channelId": lambda stay: stay.channel.id,
        "assigneeUserId": lambda stay: 0,  # nobody is assigned
    }
    for name, get in getters.items():
        wanted = asked.integer(name)
        if wanted is not None:
            yield lambda stay, get=get, wanted=wanted: get(stay) == wanted
    flags: dict[str, Callable[[Stay], bool]] = {
        "hasUnreadConversationMessages": lambda stay: stay.unread,
        "isStarred": lambda stay: stay.starred,
        "isArchived": lambda stay: stay.archived,
        "isPinned": lambda stay: stay.pinned,
    }
    for name, holds in flags.items():
        wanted = asked.flag(name)
        if wanted is not None:
            yield lambda stay, holds=holds, wanted=wanted: holds(stay) == wanted


def _ranges(asked: Parameters) -> Iterable[Test]:
    """Yield tests for ranges, both ends included."""
    ranges: dict[tuple[str, str], Callable[[Stay], date]] = {
        ("arrivalStartDate", "arrivalEndDate"): lambda stay: stay.arrival,
        ("departureStartDate", "departureEndDate"): lambda stay: stay.departure,
        ("latestActivityStart", "latestActivityEnd"): lambda stay: stay.activity.date(),
    }
    for (first_name, last_name), get in ranges.items():
        first, last = asked.day(first_name), asked.day(last_name)
        if first:
            yield lambda stay, get=get, first=first: get(stay) >= first
        if last:
            yield lambda stay, get=get, last=last: get(stay) <= last


def _texts(asked: Parameters) -> Iterable[Test]:
    match, email = (asked.text("match") or "").casefold(), asked.text("guestEmail")
    if match:
        yield lambda stay: match in stay.guest.casefold()
    if email:
        yield lambda stay: stay.email == email.lower()
    if asked.text("customerUserId"):
        yield lambda _: False  # no reservation has one


def find_reported(account: Account, asked: Parameters) -> Sequence[Stay]:
    """Find the stays that a financial report is about."""
    kind = asked.choice("dateType", ("arrivalDate", "departureDate", "reservationDate")) or "arrivalDate"
    homes, channels, statuses = (
        asked.integers("listingMapIds"),
        asked.integers("channelIds"),
        asked.texts("statuses"),
    )
    first, last = asked.day("fromDate") or date.min, asked.day("toDate") or date.max
    days: dict[str, Callable[[Stay], date]] = {
        "arrivalDate": lambda stay: stay.arrival,
        "departureDate": lambda stay: stay.departure,
        "reservationDate": lambda stay: stay.inserted.date(),
    }
    found = [
        stay
        for stay in account.stays
        if first <= days[kind](stay) <= last
        and (not homes or stay.home.id in homes)
        and (not channels or stay.channel.id in channels)
        and (not statuses or stay.status in statuses)
    ]
    return sorted(found, key=lambda stay: (days[kind](stay), stay.number))


def _same(wanted: str | None, *names: str) -> bool:
    return wanted is None or wanted.casefold() in {name.casefold() for name in names}
