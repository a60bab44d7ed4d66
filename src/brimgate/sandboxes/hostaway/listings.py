"""Generate a whole listing: 144 fields and about 46 KB, mostly descriptions (once per channel) and images."""

import random
from datetime import timedelta
from typing import Any, Final

from brimgate.sandboxes.chance import chance_of, digits, later, maybe, pick, url
from brimgate.sandboxes.demo.prose import paragraph, text, title
from brimgate.sandboxes.hostaway.fields import LISTING, complete
from brimgate.sandboxes.hostaway.homes import Home
from brimgate.sandboxes.hostaway.settings import Settings
from brimgate.sandboxes.hostaway.words import AMENITIES

Json = dict[str, Any]

RESOURCES: Final = (
    "listingAmenities",
    "listingBedTypes",
    "listingImages",
    "listingTags",
    "listingUnits",
    "customFieldValues",
    "listingFeeSetting",
)
"""What `includeResources=0` leaves empty."""
_ZERO: Final = (
    "propertyRentTax",
    "guestPerPersonPerNightTax",
    "guestStayTax",
    "guestNightlyTax",
    "refundableDamageDeposit",
    "isDepositStayCollected",
    "checkinFee",
    "priceForExtraPerson",
    "allowSameDayBooking",
)


def listing(settings: Settings, home: Home) -> Json:
    chance = chance_of(settings.seed, "listing", home.position)
    description = text(chance, chance.randint(9, 15), 5)
    known: Json = (
        dict.fromkeys(_ZERO, 0)
        | {"id": home.id, "propertyTypeId": home.property_type, "description": description}
        | _names(chance, home)
        | _address(chance, home)
        | _terms(chance, home)
        | _airbnb(chance)
        | _channels(chance, description)
        | _contact(chance, home)
        | _collections(chance, settings, home)
        | _history(chance, settings)
    )
    return complete(LISTING, known)


def _names(chance: random.Random, home: Home) -> Json:
    names = ("name", "externalListingName", "airbnbName", "homeawayPropertyName", "homeawayPropertyHeadline")
    return dict.fromkeys((*names, "bookingcomPropertyName"), home.name) | {
        "internalListingName": home.internal_name,
        "bookingcomPropertyRoomName": pick(chance, ("Apartment", "Two-Bedroom Flat", "Holiday Home")),
        "houseRules": paragraph(chance, chance.randint(17, 26)),
        "doorSecurityCode": maybe(chance, 0.3, digits(chance, 4)),
        "thumbnailUrl": maybe(chance, 0.7, url(chance, "thumb", 110)),
    }


def _address(chance: random.Random, home: Home) -> Json:
    city, zipcode = home.city, digits(chance, 5)
    street = (
        f"{pick(chance, ('Rua', 'Calle', 'Via', 'Straat'))} {chance.randint(1, 31)} {chance.randint(1, 180)}"
    )
    return {
        "country": city.country,
        "countryCode": city.country_code,
        "state": city.state,
        "city": city.name,
        "street": street,
        "address": f"{street}, {city.name}, {city.state} {zipcode}, {city.country}",
        "publicAddress": f"{city.name}, {city.state} {zipcode}, {city.country}",
        "zipcode": zipcode,
        "lat": round(city.north + chance.uniform(-0.05, 0.05), 5),
        "lng": round(city.east + chance.uniform(-0.05, 0.05), 5),
        "timeZoneName": city.zone,
    }


def _terms(chance: random.Random, home: Home) -> Json:
    return {
        "price": home.price,
        "currencyCode": home.city.currency,
        "weeklyDiscount": round(chance.uniform(0.8, 1), 2),
        "monthlyDiscount": round(chance.uniform(0.6, 0.9), 2),
        "personCapacity": home.capacity,
        "checkInTimeStart": home.check_in,
        "checkInTimeEnd": maybe(chance, 0.85, 22),
        "checkOutTime": 11,
        "cancellationPolicy": pick(chance, ("flexible", "moderate", "strict")),
        "squareMeters": 25 * home.bedrooms + chance.randint(10, 60),
        "roomType": "entire_home",
        "bathroomType": "private",
        "bedroomsNumber": home.bedrooms,
        "bedsNumber": home.bedrooms + chance.randint(0, 3),
        "bathroomsNumber": max(1, home.bedrooms // 2),
        "minNights": 1,
        "maxNights": pick(chance, (30, 90, 365)),
        "guestsIncluded": 1,
        "cleaningFee": home.cleaning_fee,
        "instantBookable": chance.randint(0, 1),
        "sameDayBookingLeadTime": chance.randint(8, 24),
        "airbnbBookingLeadTime": chance.randint(2, 48),
        "airbnbBookingLeadTimeAllowRequestToBook": maybe(chance, 0.6, 0),
        "airbnbPetFeeAmount": maybe(chance, 0.7, 5 * chance.randint(4, 20)),
    }


def _airbnb(chance: random.Random) -> Json:
    return {
        "airbnbSummary": paragraph(chance, 5)[:499],
        "airbnbSpace": text(chance, chance.randint(7, 10)),
        "airbnbAccess": paragraph(chance, chance.randint(1, 4)),
        "airbnbInteraction": maybe(chance, 0.8, paragraph(chance, 5)) or "",
        "airbnbNeighborhoodOverview": paragraph(chance, 9),
        "airbnbNotes": text(chance, 3, 4),
        "airbnbExportStatus": pick(chance, ("exported",) * 19 + ("failed",)),
        "airbnbListingUrl": f"https://example.com/rooms/{chance.randint(10**17, 10**18)}",
        "airbnbCancellationPolicyId": chance.randint(10_000, 99_999),
        "airbnbOfficialListingMarkup": round(chance.uniform(1, 1.3), 2),
    }


def _channels(chance: random.Random, description: str) -> Json:
    policies = ("cancellationPolicyId", "vrboCancellationPolicyId", "marriottCancellationPolicyId")
    ids = {policy: chance.randint(10_000, 99_999) for policy in (*policies, "bookingCancellationPolicyId")}
    return ids | {
        "vrboExportStatus": "exported",
        "googleExportStatus": "exported",
        "homeawayPropertyDescription": description,
        "homeawayApiMarkup": round(chance.uniform(1, 1.3), 2),
        "bookingcomPropertyDescription": maybe(chance, 0.6, description),
        "vrboListingUrl": url(chance, "vrbo", 16),
        "googleVrListingUrl": url(chance, "travel", 60),
        "expediaListingUrl": url(chance, "expedia", 70),
        "partnersListingMarkup": 1,
        "bookingEngineMarkup": 1,
        "marriottListingMarkup": 1,
    }


def _contact(chance: random.Random, home: Home) -> Json:
    return {
        "contactName": home.contact,
        "contactPhone1": f"+351 {digits(chance, 3)} {digits(chance, 3)} {digits(chance, 3)}",
        "language": "en",
        "wifiUsername": f"stay-{digits(chance, 3)}",
        "wifiPassword": f"{chance.getrandbits(52):013x}",
        "cleannessStatus": maybe(chance, 0.4, pick(chance, "12")),
    }


def _collections(chance: random.Random, settings: Settings, home: Home) -> Json:
    amenities = sorted(chance.sample(range(len(AMENITIES)), chance.randint(62, 97)))
    empty: dict[str, list[Json]] = {"listingTags": [], "listingUnits": [], "customFieldValues": []}
    return empty | {
        "listingAmenities": [
            {"id": chance.randint(10**8, 10**9), "amenityId": at + 1, "amenityName": AMENITIES[at]}
            for at in amenities
        ],
        "listingBedTypes": [
            {
                "id": chance.randint(10**7, 10**8),
                "bedTypeId": chance.randint(1, 60),
                "quantity": 1,
                "bedroomNumber": at,
            }
            for at in range(1, home.bedrooms + 1)
        ],
        "listingImages": [_image(chance, at) for at in range(1, chance.randint(26, 42))],
        "listingFeeSetting": [_fee(chance, settings, home)] if chance.random() < 0.15 else [],
        "bookingEngineUrls": [f"https://example.com/stays/{home.id}"] if home.in_booking_engine else [],
    }


def _image(chance: random.Random, at: int) -> Json:
    return {
        "id": chance.randint(10**8, 10**9),
        "caption": title(chance),
        "bookingEngineCaption": None,
        "airbnbCaption": maybe(chance, 0.55, paragraph(chance, 2)[:255]),
        "vrboCaption": maybe(chance, 0.2, paragraph(chance, 2)[:255]),
        "url": url(chance, "listing", 106),
        "sortOrder": at,
    }


def _fee(chance: random.Random, settings: Settings, home: Home) -> Json:
    day = str(settings.now - timedelta(days=chance.randint(300, 600)))
    return {
        "id": chance.randint(10**5, 10**6),
        "accountId": settings.account_id,
        "listingMapId": home.id,
        "feeType": "petFee",
        "feeTitle": "Pet fee",
        "feeDescription": None,
        "feeAppliedPer": "reservation",
        "amount": 5 * chance.randint(4, 20),
        "amountType": "flat",
        "isMandatory": 0,
        "isQuantitySelectable": 0,
        "appearsIn": ["airbnbOfficial", "bookingcom", "homeaway", "bookingengine", "direct"],
        "channelId": 0,
        "displayInRent": 0,
        "parentId": None,
        "insertedOn": day,
        "updatedOn": day,
        "attachments": [],
    }


def _history(chance: random.Random, settings: Settings) -> Json:
    inserted = later(chance, settings.now - timedelta(days=1_400), timedelta(days=900))
    return {
        "averageReviewRating": chance.randint(82, 100) / 10,
        "insertedOn": str(inserted),
        "latestActivityOn": str(later(chance, inserted, settings.now - inserted)),
    }
