"""Generate a whole reservation: 123 fields and about 3.7 KB, half of them null for nearly everyone."""

import random
from datetime import timedelta
from typing import Any, Final

from brimgate.sandboxes.chance import chance_of, digits, maybe, pick, url
from brimgate.sandboxes.demo.prose import paragraph, sentence
from brimgate.sandboxes.hostaway.fields import RESERVATION, complete
from brimgate.sandboxes.hostaway.money import Money, money_of
from brimgate.sandboxes.hostaway.settings import Settings
from brimgate.sandboxes.hostaway.stays import Stay
from brimgate.sandboxes.hostaway.words import AIRBNB, BOOKING, CITIES, COUNTRIES, DIRECT

Json = dict[str, Any]

RESOURCES: Final = ("customFieldValues", "reservationFees", "reservationUnit", "financeField")
"""What `includeResources=0` leaves empty."""
_ZERO: Final = (
    "isInitial",
    "isManuallyChecked",
    "guestRecommendations",
    "guestTrips",
    "isGuestIdentityVerified",
    "isGuestVerifiedByEmail",
    "isGuestVerifiedByWorkEmail",
    "isGuestVerifiedByFacebook",
    "isGuestVerifiedByGovernmentId",
    "isGuestVerifiedByPhone",
    "isGuestVerifiedByReviews",
    "isDatesUnspecified",
)
_POLICIES: Final = ("better_strict_with_grace_period", "tiered_pricing_non_refundable", "moderate")
_QUESTIONS: Final = ("Arrival time", "Reason for the visit", "Vehicle registration", "Bed preference")


def reservation(settings: Settings, stay: Stay) -> Json:
    chance = chance_of(settings.seed, "reservation", stay.number)
    money = money_of(settings.seed, stay)
    known: Json = (
        dict.fromkeys(_ZERO, 0)
        | _identity(chance, settings, stay)
        | _guest(chance, stay)
        | _visit(chance, stay)
        | _payment(chance, stay, money)
        | (_airbnb(chance, stay, money) if stay.channel is AIRBNB else {})
        | _state(chance, stay)
        | _collections(chance, settings, stay)
    )
    return complete(RESERVATION, known)


def _identity(chance: random.Random, settings: Settings, stay: Stay) -> Json:
    threaded = stay.channel is not DIRECT
    thread = f"thread{digits(chance, 10)}" if threaded else str(stay.channel.id)
    reference = f"{settings.account_id}-{stay.home.id}-{thread}-{digits(chance, 10)}"
    return {
        "id": stay.id,
        "listingMapId": stay.home.id,
        "listingName": stay.home.internal_name,
        "channelId": stay.channel.id,
        "channelName": stay.channel.name,
        "source": maybe(chance, 0.08, "ical"),
        "reservationId": reference,
        "hostawayReservationId": str(stay.id),
        "channelReservationId": reference,
        "externalPropertyId": digits(chance, 19) if threaded else None,
        "externalUnitId": maybe(chance, 0.05, digits(chance, 6)),
        "guestAuthHash": f"{chance.getrandbits(256):064x}",
        "guestPortalUrl": url(chance, "portal", 80),
        "confirmationCode": maybe(chance, 0.8, f"HM{chance.getrandbits(32):08X}") if threaded else None,
        "hostProxyEmail": f"host{stay.number:05d}@example.com",
    }


def _guest(chance: random.Random, stay: Stay) -> Json:
    told = chance.random() < 0.08
    return {
        "guestName": stay.guest,
        "guestFirstName": stay.first_name,
        "guestLastName": stay.last_name,
        "guestExternalAccountId": maybe(chance, 0.8, digits(chance, 9)),
        "guestZipCode": digits(chance, 5) if told else None,
        "guestAddress": f"{chance.randint(1, 99)} {pick(chance, CITIES).name} Street" if told else None,
        "guestCity": pick(chance, CITIES).name if told else None,
        "guestCountry": pick(chance, COUNTRIES) if told else None,
        "guestEmail": stay.email,
        "guestPicture": maybe(chance, 0.8, url(chance, "people", 110)),
        "guestLocale": maybe(chance, 0.7, pick(chance, ("en", "es", "de", "pt"))),
        "localeForMessaging": maybe(chance, 0.75, pick(chance, ("en", "es"))),
        "phone": maybe(chance, 0.75, f"+{digits(chance, 11)}"),
        "numberOfGuests": stay.adults + stay.children,
        "adults": stay.adults,
        "children": stay.children,
        "infants": stay.infants,
        "pets": stay.pets,
    }


def _visit(chance: random.Random, stay: Stay) -> Json:
    moved = stay.status == "modified" and chance.random() < 0.08
    return {
        "arrivalDate": str(stay.arrival),
        "departureDate": str(stay.departure),
        "nights": stay.nights,
        "previousArrivalDate": str(stay.arrival + timedelta(days=2)) if moved else None,
        "previousDepartureDate": str(stay.departure + timedelta(days=2)) if moved else None,
        "checkInTime": stay.home.check_in,
        "checkOutTime": 11,
        "doorCode": digits(chance, 4),
        "cancellationPolicyId": maybe(chance, 0.9, chance.randint(10_000, 99_999)),
        "reservationAgreement": pick(chance, ("signed", "not_signed")),
        "insuranceStatus": "not_eligible",
    }


def _payment(chance: random.Random, stay: Stay, money: Money) -> Json:
    return {
        "currency": stay.home.city.currency,
        "totalPrice": money.total,
        "taxAmount": money.tax or None,
        "cleaningFee": money.cleaning,
        "channelCommissionAmount": money.host_channel_fee if stay.channel is BOOKING else None,
        "securityDepositFee": maybe(chance, 0.15, 0),
        "stripeGuestId": maybe(chance, 0.12, f"cus_{chance.getrandbits(56):014x}"),
        "paymentStatus": chance.choices(("Paid", "Unknown", "Unpaid"), (72, 22, 6))[0],
    }


def _airbnb(chance: random.Random, stay: Stay, money: Money) -> Json:
    if stay.status.startswith("inquiry"):
        return {}
    return {
        "airbnbExpectedPayoutAmount": round(money.total - money.tax - money.host_channel_fee, 2),
        "airbnbListingBasePrice": money.base,
        "airbnbListingCancellationHostFee": 0,
        "airbnbListingCancellationPayout": money.base if stay.status == "cancelled" else 0,
        "airbnbListingCleaningFee": money.cleaning,
        "airbnbListingHostFee": money.host_channel_fee,
        "airbnbTotalPaidAmount": round(money.total + money.guest_channel_fee, 2),
        "airbnbTransientOccupancyTaxPaidAmount": money.tax,
        "airbnbCancellationPolicy": pick(chance, _POLICIES),
    }


def _state(chance: random.Random, stay: Stay) -> Json:
    cancelled = stay.status == "cancelled"
    return {
        "status": stay.status,
        "isProcessed": 1,
        "isInstantBooked": chance.randint(0, 1),
        "reservationDate": str(stay.inserted),
        "pendingExpireDate": maybe(chance, 0.8, str(stay.inserted + timedelta(days=1))),
        "cancellationDate": str(stay.activity) if cancelled else None,
        "cancelledBy": pick(chance, ("guest", "host")) if cancelled else None,
        "hostNote": maybe(chance, 0.06, paragraph(chance, 2)),
        "guestNote": maybe(chance, 0.04, sentence(chance)),
        "comment": pick(chance, ("", "", "", None, paragraph(chance, 2))),
        "isStarred": int(stay.starred),
        "isArchived": int(stay.archived),
        "isPinned": int(stay.pinned),
        "insertedOn": str(stay.inserted),
        "updatedOn": str(stay.activity),
        "latestActivityOn": str(stay.activity),
    }


def _collections(chance: random.Random, settings: Settings, stay: Stay) -> Json:
    answers = chance.choices((0, 1, 2), (60, 24, 16))[0]
    fees = chance.choices((0, 2, 4), (90, 5, 5))[0]
    empty: dict[str, list[Json]] = {"reservationUnit": [], "financeField": []}
    return empty | {
        "customFieldValues": [_custom_value(chance, stay) for _ in range(answers)],
        "reservationFees": [_fee(chance, settings, stay) for _ in range(fees)],
    }


def _custom_value(chance: random.Random, stay: Stay) -> Json:
    field_id, day = chance.randint(10_000, 99_999), str(stay.inserted)
    since = str(stay.inserted - timedelta(days=400))
    return {
        "id": chance.randint(10**7, 10**8),
        "customFieldId": field_id,
        "value": sentence(chance),
        "insertedOn": day,
        "updatedOn": day,
        "customField": {
            "id": field_id,
            "name": pick(chance, _QUESTIONS),
            "possibleValues": None,
            "type": "text",
            "isPublic": 1,
            "insertedOn": since,
            "updatedOn": since,
        },
    }


def _fee(chance: random.Random, settings: Settings, stay: Stay) -> Json:
    return {
        "id": chance.randint(10**7, 10**8),
        "accountId": settings.account_id,
        "listingMapId": stay.home.id,
        "reservationId": stay.id,
        "name": pick(chance, ("Linen", "Late check-out", "Parking", "Baby bed")),
        "feeType": "",
        "externalReservationUnitId": None,
        "amount": 5 * chance.randint(1, 20),
        "currency": stay.home.city.currency,
        "percentage": None,
        "isIncluded": 1,
        "isPerNight": None,
        "isPerPerson": None,
        "isImported": 1,
        "insertedOn": str(stay.inserted),
        "updatedOn": str(stay.activity),
    }
