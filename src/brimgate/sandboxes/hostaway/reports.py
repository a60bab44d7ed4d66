"""Financial reports: of reservations, of listings, and the long form with a row for each field."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from brimgate.sandboxes.hostaway.fields import FINANCE, complete
from brimgate.sandboxes.hostaway.money import Money, money_of
from brimgate.sandboxes.hostaway.settings import Settings
from brimgate.sandboxes.hostaway.stays import Stay

Json = dict[str, Any]

_MONEY: Final = {
    "totalGuestFees": "Total guest fees",
    "totalTax": "Total tax",
    "accommodationFee": "Accommodation fee",
    "pmCommission": "PM Commission",
    "ownerPayout": "Owner payout",
    "pmCommissionAbc": "pmCommissionAbc",
    "baseRate": "Base rate",
    "priceForExtraPerson": "Price for extra person",
    "cleaningFeeValue": "Cleaning fee value",
    "cityTax": "City / Tourism tax",
    "hotelTax": "Hotel tax",
    "lodgingTax": "Lodging tax",
    "roomTax": "Room tax",
    "salesTax": "Sales tax",
    "transientOccupancyTax": "Transient occupancy tax",
    "vat": "VAT / GST",
    "otherTaxes": "Other taxes",
    "propertyRentTax": "Property rent tax",
    "guestPerPersonPerNightTax": "Guest per person per night tax",
    "guestStayTax": "Guest stay tax",
    "guestNightlyTax": "Guest nightly tax",
    "guestChannelFee": "Guest channel fee",
    "hostChannelFee": "Host channel fee",
    "monthlyDiscount": "Monthly discount",
    "weeklyDiscount": "Weekly discount",
    "damageDeposit": "Damage deposit",
    "cancellationFee": "Cancellation fee",
    "cancellationPayout": "Cancellation payout",
    "cancellationHostFee": "Cancellation host fee",
    "subTotalPrice": "Sub total price",
}
_STAY: Final = {
    "id": "Reservation ID",
    "channelName": "Channel name",
    "status": "Reservation status",
    "arrivalDate": "Arrival date",
    "departureDate": "Departure date",
    "listingName": "Listing name",
}
_LONG: Final = {
    "id": "Reservation ID",
    "channelName": "Channel",
    "status": "Status",
    "arrivalDate": "Arrival",
    "departureDate": "Departure",
    "listingName": "Listing",
    "owner": "Owner",
    "description": "Description",
    "amount": "Amount",
}
_LONG_FIELDS: Final = (
    "damageDeposit",
    "guestChannelFee",
    "hostChannelFee",
    "baseRate",
    "cleaningFeeValue",
    "cityTax",
)


class Report(NamedTuple):
    columns: dict[str, str]
    rows: list[list[Any]]
    totals: list[Any]
    currency: str

    def told(self) -> Json:
        columns = [
            {"name": name, "title": title, "valueType": _kind(name)} for name, title in self.columns.items()
        ]
        return {"columns": columns, "rows": self.rows, "totals": self.totals, "currency": self.currency}

    def as_csv(self, delimiter: str) -> str:
        out = io.StringIO()
        writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
        writer.writerows([list(self.columns.values()), *self.rows])
        if self.totals:
            writer.writerow(self.totals)
        return out.getvalue()


def consolidated(settings: Settings, stays: Sequence[Stay]) -> Report:
    """Return a row for each reservation."""
    rows = [_head(stay) + list(_amounts(money_of(settings.seed, stay), stay).values()) for stay in stays]
    columns = _STAY | _MONEY
    return Report(columns, rows, _totals(columns, rows), _currency(stays))


def listing_financials(settings: Settings, stays: Sequence[Stay]) -> Report:
    """Return a row for each listing that had reservations."""
    sums: dict[str, list[float]] = {}
    for stay in stays:
        amounts = _amounts(money_of(settings.seed, stay), stay).values()
        row = sums.setdefault(_listing_name(stay), [0] * len(_MONEY))
        sums[_listing_name(stay)] = [round(one + other, 2) for one, other in zip(row, amounts, strict=True)]
    columns = {"listingName": "Listing name"} | _MONEY
    rows: list[list[Any]] = [[name, *row] for name, row in sums.items()]
    return Report(columns, rows, _totals(columns, rows), _currency(stays))


def standard(settings: Settings, stays: Iterable[Stay]) -> Report:
    """Return a row for each reservation and field, without totals."""
    rows: list[list[Any]] = []
    for stay in stays:
        amounts = _amounts(money_of(settings.seed, stay), stay)
        head = [*_head(stay), stay.home.contact]
        rows += [[*head, _MONEY[field], amounts[field]] for field in _LONG_FIELDS]
    return Report(_LONG, rows, [], "EUR")


def standard_fields(settings: Settings, stay: Stay) -> Json:
    """Return the financial fields of one reservation."""
    money = money_of(settings.seed, stay)
    known: Json = {
        "id": 3_000_000 + stay.number,
        "accountId": settings.account_id,
        "listingMapId": stay.home.id,
        "channelId": stay.channel.id,
        "reservationId": stay.id,
        "damageDeposit": 0,
        "guestChannelFee": money.guest_channel_fee or None,
        "hostChannelFee": money.host_channel_fee or None,
        "baseRate": money.base,
        "cityTax": money.tax or None,
        "cleaningFeeValue": money.cleaning,
        "petFee": money.pet_fee or None,
        "weeklyDiscount": 0,
        "priceForExtraPerson": 0,
        "monthlyDiscount": 0,
        "couponDiscount": 0,
        "paymentServiceProcessingFees": 0,
        "manuallySetFields": "[]",
        "customFeeValuesJson": "[]",
        "insertedOn": str(stay.inserted),
        "updatedOn": str(stay.activity),
    }
    return complete(FINANCE, known)


def _amounts(money: Money, stay: Stay) -> dict[str, float]:
    known = {
        "totalGuestFees": round(money.cleaning + money.pet_fee, 2),
        "totalTax": money.tax,
        "accommodationFee": round(money.base + money.cleaning + money.pet_fee, 2),
        "pmCommission": money.commission,
        "ownerPayout": money.owner_payout,
        "baseRate": money.base,
        "cleaningFeeValue": money.cleaning,
        "cityTax": money.tax,
        "guestChannelFee": money.guest_channel_fee,
        "hostChannelFee": money.host_channel_fee,
        "cancellationPayout": money.base if stay.status == "cancelled" else 0,
        "subTotalPrice": money.total,
    }
    return {name: known.get(name, 0) for name in _MONEY}


def _head(stay: Stay) -> list[Any]:
    return [
        str(stay.id),
        stay.channel.name,
        stay.status,
        str(stay.arrival),
        str(stay.departure),
        _listing_name(stay),
    ]


def _listing_name(stay: Stay) -> str:
    return f"({stay.home.id}) {stay.home.name}"


def _totals(columns: dict[str, str], rows: list[list[Any]]) -> list[Any]:
    """Return the totals, with zero for columns that cannot be summed, as in the real reports."""
    sums = [
        round(sum(row[at] for row in rows), 2) if name in _MONEY else 0 for at, name in enumerate(columns)
    ]
    return ["Totals", *sums[1:]]


def _currency(stays: Sequence[Stay]) -> str:
    return stays[0].home.city.currency if stays else "EUR"


def _kind(name: str) -> str:
    return "number" if name == "id" else "money" if name in _MONEY or name == "amount" else "string"
