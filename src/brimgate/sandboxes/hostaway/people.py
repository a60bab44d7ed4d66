"""Reviews by guests who have left, and the users of the account."""

from collections.abc import Iterable
from typing import Any

from brimgate.sandboxes.chance import chance_of, digits, maybe
from brimgate.sandboxes.demo.prose import paragraph
from brimgate.sandboxes.hostaway.fields import REVIEW, USER, complete
from brimgate.sandboxes.hostaway.settings import Settings
from brimgate.sandboxes.hostaway.stays import Stay
from brimgate.sandboxes.hostaway.words import MANAGERS

Json = dict[str, Any]


def reviewed(settings: Settings, stays: Iterable[Stay]) -> list[Stay]:
    today = settings.now.date()
    return [stay for stay in stays if stay.takes_nights and stay.departure < today and stay.number % 5]


def review(settings: Settings, stay: Stay) -> Json:
    chance = chance_of(settings.seed, "review", stay.number)
    published = chance.random() < 0.8
    known: Json = {
        "id": 7_000_000 + stay.number,
        "accountId": settings.account_id,
        "listingMapId": stay.home.id,
        "reservationId": stay.id,
        "channelId": stay.channel.id,
        "type": "guest-to-host",
        "status": "published" if published else "awaiting",
        "rating": chance.randint(12, 20) / 2 if published else None,
        "externalReviewId": digits(chance, 18) if published else None,
        "publicReview": paragraph(chance, chance.randint(1, 5)) if published else None,
        "privateFeedback": maybe(chance, 0.2, paragraph(chance, 2)) if published else None,
        "revieweeResponse": maybe(chance, 0.3, paragraph(chance, 2)) if published else None,
        "isCancelled": 0,
        "reviewCategory": [{"category": "cleanliness", "rating": chance.randint(6, 10)}] if published else [],
        "departureDate": f"{stay.departure} 11:00:00",
        "arrivalDate": f"{stay.arrival} {stay.home.check_in}:00:00",
        "listingName": stay.home.name,
        "guestName": stay.guest,
    }
    return complete(REVIEW, known)


def users(settings: Settings) -> list[Json]:
    return [_user(settings, number, name) for number, name in enumerate(MANAGERS, 1)]


def _user(settings: Settings, number: int, name: str) -> Json:
    first, last = name.split()
    rights = ("create", "read", "update", "delete", "access", "is", "has", "receive")
    known: Json = {field: int(number == 1) for field in USER if field.startswith(rights)}
    known |= {"id": 5_000 + number, "accountId": settings.account_id, "userGroupId": 1}
    known |= {"email": f"user{number}@example.com", "firstName": first, "lastName": last, "timezone": "UTC"}
    return complete(USER, known | {"isDisabledByHostaway": 0, "isDisabledByAccount": 0})
