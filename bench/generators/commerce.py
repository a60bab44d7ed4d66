"""Results of shops, banks and rental systems."""

from random import Random
from typing import Any

from bench.generators.encodings import compact, escaped, pretty, spaced, wide_pretty
from bench.generators.planting import changed_type, listing, missing, outlier, rare_key, rare_value
from bench.generators.sample import Recipe
from bench.generators.vocabulary import (
    CITIES,
    COMPANIES,
    COUNTRIES,
    day,
    first_name,
    last_name,
    mailbox,
    number,
    paragraph,
    phone,
    sentence,
    skewed,
    slug,
    some,
    stamp,
    title,
    token,
    uuid_text,
    weighted,
)


def _transaction(rng: Random, index: int) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": f"txn_{token(rng, 14)}",
        "created": stamp(rng, index, 90),
        "amount": skewed(rng, 34, 0.7),
        "currency": weighted(rng, ("EUR", 60), ("USD", 25), ("GBP", 10), ("CHF", 5)),
        "status": weighted(rng, ("settled", 88), ("pending", 8), ("refunded", 4)),
        "merchant": rng.choice(COMPANIES),
        "card_last4": f"{rng.randrange(10000):04d}",
        "fee": skewed(rng, 0.6, 0.4),
        "risk": round(rng.betavariate(2, 9), 3),
    }
    if rng.random() < 0.2:
        row["memo"] = sentence(rng)
    return row


def _order_line(rng: Random) -> dict[str, Any]:
    return {"sku": f"SKU-{number(rng, 5)}", "qty": rng.randint(1, 5), "unit_price": skewed(rng, 18, 0.6)}


def _order(rng: Random, index: int) -> dict[str, Any]:
    lines = [_order_line(rng) for _ in range(rng.randint(1, 4))]
    street = f"{slug(rng).title()} {rng.randint(1, 140)}"
    return {
        "order_id": f"ORD-{token(rng, 8).upper()}",
        "placed_at": stamp(rng, index, 700),
        "customer": {"id": number(rng), "name": f"{first_name(rng)} {last_name(rng)}", "email": mailbox(rng)},
        "lines": lines,
        "total": round(sum(line["qty"] * line["unit_price"] for line in lines), 2),
        "shipping": {"method": weighted(rng, ("post", 70), ("courier", 25), ("pickup", 5)), "street": street},
        "state": weighted(rng, ("delivered", 75), ("shipped", 15), ("open", 7), ("returned", 3)),
        "coupon": f"SPRING{rng.randint(1, 4) * 5}" if rng.random() < 0.15 else None,
        "weight_g": int(skewed(rng, 900, 0.5, 0)),
    }


def _product(rng: Random, index: int) -> dict[str, Any]:
    row: dict[str, Any] = {
        "sku": f"P{index:04d}-{token(rng, 6)}",
        "name": title(rng),
        "description": paragraph(rng, 1, 3),
        "price": skewed(rng, 45, 0.8),
        "stock": int(skewed(rng, 60, 0.6, 0)),
        "rating": round(min(5, max(1, rng.gauss(4.1, 0.5))), 1),
        "tags": some(rng, ("outdoor", "sale", "kids", "wood", "metal", "gift", "eco"), 3),
        "dimensions": {"w": rng.randint(5, 90), "h": rng.randint(5, 90), "d": rng.randint(2, 60)},
        "active": rng.random() < 0.93,
    }
    if rng.random() < 0.3:
        row["sale_price"] = round(row["price"] * 0.8, 2)
    return row


def _reservation(rng: Random, index: int) -> dict[str, Any]:
    nights, price = rng.randint(1, 14), skewed(rng, 640, 0.5)
    cancelled = rng.random() < 0.12
    return {
        "id": number(rng),
        **_booking_channel(rng),
        "reservationDate": stamp(rng, index, 5000),
        **_guest(rng),
        "numberOfGuests": rng.randint(1, 6),
        "adults": rng.randint(1, 4),
        "children": rng.choice((None, None, 0, 1, 2)),
        "infants": None,
        "pets": None,
        "arrivalDate": day(rng),
        "departureDate": day(rng),
        "nights": nights,
        **_reservation_money(rng, price),
        **_access(rng),
        "status": "cancelled" if cancelled else weighted(rng, ("new", 60), ("modified", 35), ("inquiry", 5)),
        "cancellationDate": stamp(rng, index, 5100) if cancelled else None,
        "cancelledBy": rng.choice(("guest", "host")) if cancelled else None,
        "paymentStatus": weighted(rng, ("Paid", 70), ("Unpaid", 22), ("Partially paid", 8)),
        "guestNote": sentence(rng) if rng.random() < 0.3 else None,
        "hostNote": paragraph(rng, 1, 2) if rng.random() < 0.2 else None,
        "customFieldValues": [],
        "reservationFees": [{"name": "Cleaning", "amount": skewed(rng, 70, 0.2), "isTaxable": 1}],
        "latestActivityOn": stamp(rng, index, 5200),
    }


def _booking_channel(rng: Random) -> dict[str, Any]:
    channel = weighted(rng, ("airbnbOfficial", 50), ("bookingcom", 30), ("homeaway", 12), ("direct", 8))
    return {
        "listingMapId": rng.randrange(40110, 40160),
        "listingName": f"{rng.choice(CITIES)} {slug(rng)}",
        "channelId": {"airbnbOfficial": 2018, "bookingcom": 2005, "homeaway": 2002, "direct": 2000}[channel],
        "channelName": channel,
        "channelReservationId": token(rng, 12).upper(),
        "source": None,
        "externalPropertyId": None,
        "externalUnitId": None,
        "isManuallyChecked": 0,
        "isProcessed": 1,
        "isInitial": 0,
        "isInstantBooked": rng.randint(0, 1),
        "isStarred": int(rng.random() < 0.08),
        "isArchived": 0,
        "isPinned": 0,
        "assigneeUserId": rng.choice((None, None, 771, 772)),
    }


def _guest(rng: Random) -> dict[str, Any]:
    first, last = first_name(rng), last_name(rng)
    return {
        "guestName": f"{first} {last}",
        "guestFirstName": first,
        "guestLastName": last,
        "guestExternalAccountId": str(number(rng, 9)),
        "guestZipCode": str(number(rng, 5)),
        "guestCity": rng.choice(CITIES),
        "guestCountry": rng.choice(COUNTRIES),
        "guestEmail": mailbox(rng),
        "guestPicture": None,
        "guestRecommendations": rng.randint(0, 9),
        "guestTrips": rng.randint(0, 12),
        "guestWork": None,
        "isGuestIdentityVerified": rng.randint(0, 1),
        "guestLocale": rng.choice(("en", "de", "fr", "pt")),
        "phone": phone(rng),
    }


def _reservation_money(rng: Random, price: float) -> dict[str, Any]:
    return {
        "totalPrice": price,
        "taxAmount": round(price * 0.06, 2),
        "channelCommissionAmount": round(price * rng.uniform(0.12, 0.18), 2),
        "hostawayCommissionAmount": 0,
        "cleaningFee": skewed(rng, 70, 0.25),
        "securityDepositFee": rng.choice((0, 150, 200, 300)),
        "currency": "EUR",
        "remainingBalance": rng.choice((0, 0, 0, round(price / 2, 2))),
        "refundableDamageDeposit": None,
        "isPaid": rng.choice((0, 1, 1)),
        "couponName": None,
        "airbnbExpectedPayoutAmount": round(price * 0.85, 2),
        "airbnbListingCancellationPolicy": rng.choice(("flexible", "moderate", "strict")),
    }


def _access(rng: Random) -> dict[str, Any]:
    return {
        "checkInTime": rng.choice((15, 16)),
        "checkOutTime": rng.choice((10, 11)),
        "doorCode": f"{rng.randrange(10000):04d}",
        "doorCodeVendor": rng.choice((None, "nuki", "ttlock")),
        "comment": None,
        "confirmationCode": token(rng, 10).upper(),
    }


def _invoice(rng: Random, index: int) -> dict[str, Any]:
    net = skewed(rng, 1200, 0.6)
    return {
        "uuid": uuid_text(rng),
        "number": f"2026-{index + 1:05d}",
        "customer": rng.choice(COMPANIES),
        "net": net,
        "vat": round(net * 0.2, 2),
        "due": day(rng, 90),
        "days_overdue": max(0, int(rng.gauss(4, 6))),
        "state": weighted(rng, ("paid", 80), ("sent", 15), ("draft", 5)),
        "lines": [[title(rng), rng.randint(1, 9), skewed(rng, 80)] for _ in range(rng.randint(1, 3))],
    }


def _hostaway(rows: list[Any]) -> dict[str, Any]:
    return {"status": "success", "result": rows, "count": len(rows), "limit": None, "offset": None}


_CHARGEBACK = {"opened": "2026-05-04", "case": "CBK-77120931", "reason": "fraud reported by issuer"}

RECIPES: dict[str, Recipe] = {
    "transactions": listing(
        _transaction,
        900,
        outlier("amount"),
        rare_value("status", "payment_failed"),
        missing("currency"),
        encode=compact,
    ),
    "transactions-pretty": listing(
        _transaction,
        1400,
        changed_type("amount", "{} EUR"),
        rare_key("dispute", _CHARGEBACK),
        wrap=lambda rows: {"data": rows, "next_page_token": "eyJvZmZzZXQiOjE0MDB9"},
        encode=pretty,
    ),
    "transactions-large": listing(
        _transaction, 8000, rare_value("status", "blocked_by_issuer", times=2), outlier("fee"), encode=spaced
    ),
    "orders-nested": listing(
        _order,
        500,
        outlier("weight_g"),
        missing("shipping.method"),
        rare_value("state", "lost_in_transit"),
        ids=("order_id", "customer.id"),
        wrap=lambda rows: {"result": {"records": rows, "total": len(rows)}, "status": "success"},
        encode=compact,
    ),
    "orders-escaped": listing(
        _order,
        420,
        changed_type("total"),
        rare_key("customer.blocked_since", "2026-02-27"),
        ids=("order_id", "customer.id"),
        encode=escaped,
    ),
    "products-wide-indent": listing(
        _product,
        500,
        outlier("price"),
        changed_type("stock", "see supplier"),
        ids=("sku",),
        wrap=lambda rows: {"products": rows, "page": 1, "pages": 1},
        encode=wide_pretty,
    ),
    "products-compact": listing(
        _product,
        900,
        rare_key("recall_notice", "battery may overheat"),
        missing("price"),
        ids=("sku",),
        encode=compact,
    ),
    "reservations": listing(
        _reservation,
        160,
        rare_value("paymentStatus", "Chargeback"),
        outlier("totalPrice"),
        ids=("id", "channelReservationId", "confirmationCode"),
        wrap=_hostaway,
        encode=compact,
    ),
    "reservations-long": listing(
        _reservation,
        450,
        missing("arrivalDate"),
        changed_type("nights", "{} nights"),
        rare_key("damageClaim", {"amount": 410, "note": "broken window"}),
        ids=("id", "channelReservationId", "confirmationCode"),
        wrap=_hostaway,
        encode=spaced,
    ),
    "invoices-escaped": listing(
        _invoice,
        600,
        outlier("days_overdue"),
        rare_value("state", "written_off"),
        ids=("uuid",),
        wrap=lambda rows: {"invoices": rows, "meta": {"total": len(rows), "per_page": 1000}},
        encode=escaped,
    ),
}
