"""Every parameter of every tool of the pack reaches the API under the API's own name, and does something there."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

import pytest

from brimgate.back.rest.declaration import read_api
from brimgate.packs.hostaway import PACK
from tests.hostaway.asking import ids
from tests.systems.hostaway import System, hostaway

if TYPE_CHECKING:
    from pathlib import Path

API: Final = read_api(PACK.file("api.yaml"), "api.yaml")
VALUES: Final[dict[tuple[str, str], Any]] = {
    ("*", "match"): "an",
    ("*", "city"): "Porto",
    ("*", "country"): "DE",
    ("*", "contact_name"): "Ines Haas",
    ("*", "property_type_id"): 2,
    ("*", "guests"): 12,
    ("*", "available_from"): "2027-02-01",
    ("*", "available_to"): "2027-02-08",
    ("*", "is_booking_engine_active"): False,
    ("list_listings", "sort"): "nameReversed",
    ("*", "start_date"): "2027-01-01",
    ("*", "end_date"): "2027-01-05",
    ("*", "include_reservations"): False,
    ("*", "channel_id"): 2018,
    ("*", "arrival_from"): "2027-02-01",
    ("*", "arrival_to"): "2027-02-01",
    ("*", "departure_from"): "2027-02-01",
    ("*", "departure_to"): "2027-02-01",
    ("*", "activity_from"): "2026-11-15",
    ("*", "activity_to"): "2026-10-01",
    ("*", "guest_email"): "guest00100@example.com",
    ("*", "customer_user_id"): "77",
    ("*", "assignee_user_id"): 5,
    ("*", "has_unread_messages"): True,
    ("*", "is_starred"): True,
    ("*", "is_archived"): True,
    ("*", "is_pinned"): True,
    ("*", "include_resources"): False,
    ("list_reservations", "sort"): "arrivalDateDesc",
    ("*", "statuses"): ["published"],
    ("list_reviews", "sort"): "asc",
    ("*", "from_date"): "2027-03-01",
    ("*", "to_date"): "2026-12-01",
    ("*", "date_type"): "reservationDate",
    ("*", "channel_ids"): [2018],
    ("get_financial_report", "statuses"): ["cancelled"],
    ("get_analytics", "statuses"): ["cancelled"],
    ("get_financial_report", "sort_by"): "ownerPayout",
    ("get_analytics", "sort_by"): "ownerPayout",
    ("*", "sort_order"): "desc",
    ("*", "delimiter"): "tab",
    ("*", "limit"): 2,
    ("*", "max_records"): 2,
}
CASES: Final = [
    (tool.name, name)
    for tool in API.tools.values()
    for name in tool.input_schema["properties"]
    if name not in tool.input_schema.get("required", ())
]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """Without protection, so that answers can be compared whole."""
    off = {"enabled": False}
    settings = {"reservations": 300, "listings": 25}
    home: Path = tmp_path_factory.mktemp("hostaway")
    with hostaway(home, settings=settings, context_protection=off) as system:
        yield system


@pytest.mark.parametrize(("tool", "name"), CASES)
def test_a_parameter_reaches_the_api_and_changes_the_answer(plain: System, tool: str, name: str) -> None:
    arguments = required(plain, tool)
    value = VALUES.get((tool, name), VALUES.get(("*", name)))
    if name in ("listing_id", "reservation_id"):
        value = {"listing_id": some_listing, "reservation_id": some_reservation}[name](plain)
    if name == "listing_ids":
        value = [some_listing(plain)]
    assert value is not None, f"no value for {tool}.{name}"
    if name in ("available_from", "available_to"):
        arguments |= {"available_from": "2027-02-01", "available_to": "2027-02-08"}
    if name == "date_type":
        arguments |= {"from_date": "2027-01-01"}
    without = plain.call(tool, **{key: one for key, one in arguments.items() if key != name})
    plain.control("/reset")
    told = plain.call(tool, **arguments | {name: value})
    assert not told.failed, told.text[:300]
    sent = API.tools[tool].parameters.get(name)
    if sent is not None and API.tools[tool].method == "GET":
        queries = [dict(parse_qsl(one["query"])) for one in plain.control("/requests")]
        assert any(sent.name in query for query in queries), queries
    assert told.text != without.text


def required(system: System, tool: str) -> dict[str, Any]:
    known = {"listing_id": some_listing, "reservation_id": some_reservation}
    given: dict[str, Any] = {
        name: known[name](system) for name in API.tools[tool].input_schema.get("required", ())
    }
    if tool == "get_listing_calendar":
        given |= {"start_date": "2027-01-01", "end_date": "2027-03-31"}
    if "sort_order" in API.tools[tool].parameters:
        given["sort_by"] = "accommodationFee"
    return given


def some_listing(system: System) -> int:
    return json.loads(system.call("list_reservations", max_records=1).text)["items"][0]["listingMapId"]


def some_reservation(system: System) -> int:
    return ids(json.loads(system.call("list_reservations", max_records=40).text)["items"])[30]


def test_every_value_is_used() -> None:
    names = {name for _, name in CASES}
    assert {name for _, name in VALUES} <= names
