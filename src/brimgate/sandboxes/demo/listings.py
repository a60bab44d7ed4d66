"""Generate a property manager's listings: few, but each with 144 fields, every description four times and 30 images."""

import random
from datetime import datetime, timedelta
from typing import Any, Final

from brimgate.sandboxes.demo.prose import paragraph, text, title

_CITIES: Final = (
    ("Lisbon", "Lisboa", "PT", "Portugal", "Europe/Lisbon", 38.71, -9.14),
    ("Porto", "Norte", "PT", "Portugal", "Europe/Lisbon", 41.15, -8.61),
    ("Valencia", "Valencia", "ES", "Spain", "Europe/Madrid", 39.47, -0.38),
    ("Bremerhaven", "Bremen", "DE", "Germany", "Europe/Berlin", 53.54, 8.59),
    ("Ghent", "Flanders", "BE", "Belgium", "Europe/Brussels", 51.05, 3.72),
)
_AMENITIES: Final = (
    "Wireless internet", "Kitchen", "Washing machine", "Heating", "Air conditioning", "Hair dryer", "Iron",
    "Smoke detector", "First aid kit", "Fire extinguisher", "Coffee maker", "Dishwasher", "Elevator",
    "Free parking", "Crib", "High chair", "Desk", "TV", "Balcony", "Garden", "BBQ grill", "Hangers",
    "Shampoo", "Hot water", "Bed linens", "Extra pillows", "Microwave", "Oven", "Stove", "Refrigerator",
)  # fmt: skip
_UNSET: Final = (
    "keyPickup", "specialInstruction", "starRating", "maxChildrenAllowed", "maxInfantsAllowed",
    "maxPetsAllowed", "guestBathroomsNumber", "instantBookableLeadTime", "airbnbTransit",
    "marriotExportStatus", "expediaExportStatus", "contactSurName", "contactPhone2", "contactLanguage",
    "contactEmail", "contactAddress", "cleaningInstruction", "cleannessStatusUpdatedOn",
    "invoicingContactName", "invoicingContactSurName", "invoicingContactPhone1", "invoicingContactPhone2",
    "invoicingContactLanguage", "invoicingContactEmail", "invoicingContactAddress", "invoicingContactCity",
    "invoicingContactZipcode", "invoicingContactCountry", "attachment", "propertyLicenseNumber",
    "propertyLicenseType", "propertyLicenseIssueDate", "propertyLicenseExpirationDate",
    "applyPropertyRentTaxToFees", "bookingEngineLeadTime", "isRentalAgreementActive", "averageNightlyPrice",
    "bookingcomPropertyRegisteredInVcs", "bookingcomPropertyHasVat", "bookingcomPropertyDeclaresRevenue",
    "marriottListingName", "airbnbPetFeeAmount", "insuranceEligibilityStatus", "listingSettings",
)  # fmt: skip
"""Fields that such an API sends as null for nearly everyone: a fifth of an answer's keys, none of its meaning."""


def listings(count: int = 12, seed: int = 11) -> dict[str, Any]:
    """Return an envelope with `count` listings of 20 to 40 KB; the eighth one cannot be booked on Airbnb."""
    chance = random.Random(seed)  # noqa: S311  # made-up data, not secrets
    rows = [_listing(chance, number) for number in range(count)]
    for row in rows[7:8]:
        row |= {"airbnbExportStatus": "failed", "cleannessStatus": "4", "price": 9_450}
    return {"status": "success", "result": rows, "count": count, "limit": 100, "offset": 0}


def _listing(chance: random.Random, number: int) -> dict[str, Any]:
    name = title(chance)
    description = text(chance, chance.randint(6, 9))
    listing = (
        {"id": 206_016 + number, "propertyTypeId": chance.randint(1, 12), "name": name}
        | {"externalListingName": name, "internalListingName": f"HG-{number + 1:03d}"}
        | {"description": description, "thumbnailUrl": _url(chance, "thumb")}
        | {"houseRules": text(chance, 2), "doorSecurityCode": f"{chance.randint(0, 9_999):04d}"}
        | _address(chance)
        | _terms(chance)
        | _airbnb(chance, name)
        | _channels(chance, name, description)
        | _contact(chance)
        | _collections(chance)
        | _history(chance)
    )
    return listing | dict.fromkeys(_UNSET)


def _address(chance: random.Random) -> dict[str, Any]:
    city, state, code, country, zone, north, east = chance.choice(_CITIES)
    street, zipcode = (
        f"Rua {chance.randint(1, 99)} de Maio {chance.randint(1, 180)}",
        str(chance.randint(10_000, 99_999)),
    )
    return {
        "country": country,
        "countryCode": code,
        "state": state,
        "city": city,
        "street": street,
        "address": f"{street}, {city}, {state} {zipcode}, {country}",
        "publicAddress": f"{city}, {state} {zipcode}, {country}",
        "zipcode": zipcode,
        "lat": round(north + chance.uniform(-0.05, 0.05), 5),
        "lng": round(east + chance.uniform(-0.05, 0.05), 5),
        "timeZoneName": zone,
    }


def _terms(chance: random.Random) -> dict[str, Any]:
    bedrooms = chance.randint(1, 5)
    taxes = ("propertyRentTax", "guestPerPersonPerNightTax", "guestStayTax", "guestNightlyTax")
    zero = (*taxes, "refundableDamageDeposit", "isDepositStayCollected", "checkinFee", "priceForExtraPerson")
    return dict.fromkeys(zero, 0) | {
        "price": chance.randint(70, 380),
        "weeklyDiscount": round(chance.uniform(0.8, 1), 2),
        "monthlyDiscount": round(chance.uniform(0.6, 0.9), 2),
        "personCapacity": 2 * bedrooms + chance.randint(0, 2),
        "checkInTimeStart": 15,
        "checkInTimeEnd": 22,
        "checkOutTime": 11,
        "cancellationPolicy": chance.choice(("flexible", "moderate", "strict")),
        "squareMeters": 25 * bedrooms + chance.randint(10, 60),
        "roomType": "entire_home",
        "bathroomType": "private",
        "bedroomsNumber": bedrooms,
        "bedsNumber": bedrooms + chance.randint(0, 3),
        "bathroomsNumber": max(1, bedrooms // 2),
        "minNights": chance.randint(1, 4),
        "maxNights": 365,
        "guestsIncluded": 2,
        "cleaningFee": 45.0,
        "instantBookable": chance.randint(0, 1),
        "allowSameDayBooking": 0,
        "sameDayBookingLeadTime": 12,
        "airbnbBookingLeadTime": 24,
        "airbnbBookingLeadTimeAllowRequestToBook": 0,
    }


def _airbnb(chance: random.Random, name: str) -> dict[str, Any]:
    return {
        "airbnbName": name,
        "airbnbSummary": paragraph(chance, 5),
        "airbnbSpace": text(chance, 5),
        "airbnbAccess": paragraph(chance, 2),
        "airbnbInteraction": "",
        "airbnbNeighborhoodOverview": paragraph(chance, 8),
        "airbnbNotes": text(chance, 2),
        "airbnbExportStatus": "exported",
        "airbnbListingUrl": f"https://example.com/rooms/{chance.randint(10**7, 10**8)}",
        "airbnbCancellationPolicyId": chance.randint(10_000, 99_999),
        "airbnbOfficialListingMarkup": 1.15,
    }


def _channels(chance: random.Random, name: str, description: str) -> dict[str, Any]:
    policies = ("cancellationPolicyId", "vrboCancellationPolicyId", "marriottCancellationPolicyId")
    return {
        policy: chance.randint(10_000, 99_999) for policy in (*policies, "bookingCancellationPolicyId")
    } | {
        "vrboExportStatus": "exported",
        "bookingcomExportStatus": "exported",
        "googleExportStatus": "exported",
        "homeawayPropertyName": name,
        "homeawayPropertyHeadline": name,
        "homeawayPropertyDescription": description,
        "homeawayApiMarkup": 1.1,
        "bookingcomPropertyName": name,
        "bookingcomPropertyRoomName": "Apartment",
        "bookingcomPropertyDescription": description[:2_000],
        "vrboListingUrl": f"https://example.com/vrbo/{chance.randint(10**6, 10**7)}",
        "googleVrListingUrl": f"https://example.com/travel/{chance.randbytes(16).hex()}",
        "expediaListingUrl": f"https://example.com/expedia/{chance.randbytes(16).hex()}",
        "partnersListingMarkup": 1,
        "bookingEngineMarkup": 1,
        "marriottListingMarkup": 1,
    }


def _contact(chance: random.Random) -> dict[str, Any]:
    return {
        "contactName": "Brimgate Stays",
        "contactPhone1": f"+351 {chance.randint(10**8, 10**9 - 1)}",
        "language": "en",
        "currencyCode": "EUR",
        "wifiUsername": f"stay-{chance.randint(100, 999)}",
        "wifiPassword": chance.randbytes(6).hex(),
        "cleannessStatus": "1",
    }


def _collections(chance: random.Random) -> dict[str, Any]:
    first = chance.randint(10**8, 10**9)
    empty = ("listingTags", "listingUnits", "customFieldValues", "listingFeeSetting", "bookingEngineUrls")
    unused: dict[str, Any] = {key: [] for key in empty}
    return unused | {
        "listingAmenities": [
            {"id": first + at, "amenityId": at, "amenityName": name}
            for at, name in enumerate(_AMENITIES, 1)
            if chance.random() < 0.8
        ],
        "listingBedTypes": [
            {"id": first + at, "bedTypeId": chance.randint(1, 60), "quantity": 1, "bedroomNumber": at}
            for at in range(1, chance.randint(2, 6))
        ],
        "listingImages": [_image(chance, at) for at in range(1, chance.randint(14, 32))],
    }


def _image(chance: random.Random, at: int) -> dict[str, Any]:
    return {
        "id": chance.randint(10**8, 10**9),
        "caption": title(chance),
        "bookingEngineCaption": None,
        "airbnbCaption": paragraph(chance, 1),
        "vrboCaption": paragraph(chance, 1),
        "url": _url(chance, "listing"),
        "sortOrder": at,
    }


def _history(chance: random.Random) -> dict[str, Any]:
    inserted = datetime(2024, 3, 1, 9) + timedelta(minutes=chance.randint(0, 500_000))
    return {
        "averageReviewRating": chance.randint(82, 100) / 10,
        "insertedOn": str(inserted),
        "latestActivityOn": str(inserted + timedelta(days=chance.randint(30, 300))),
    }


def _url(chance: random.Random, kind: str) -> str:
    return f"https://example.com/{kind}/{chance.randint(10_000, 99_999)}-{chance.randbytes(40).hex()}"
