"""Hostaway as protected REST, by the stories of the brief (003): over real sockets, 500 reservations of true size."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from brimgate.sandboxes.hostaway.faults import LEAK
from tests.hostaway.asking import ids
from tests.http.serving import Answer, exchange, wait_until
from tests.systems.hostaway import ESTIMATOR, RESERVATIONS, System, hostaway

API = "/api/v1"
BUDGET, OBJECT_BUDGET, TEXT_BUDGET, HARD_CAP = 5_000, 600, 2_000, 12_000
Json = dict[str, Any]


def tokens(answer: Answer) -> int:
    return ESTIMATOR.ceiling(answer.body)


def page(system: System, path: str, **query: Any) -> Json:
    answer = system.get(API + path, **query)
    assert answer.status == 200, answer.body
    assert int(answer.headers["content-length"]) == len(answer.body)
    assert tokens(answer) <= BUDGET
    return answer.json


def walk(system: System, path: str, **query: Any) -> list[Json]:
    """As the example of 001 does it: until there is no more."""
    pages = [page(system, path, **query)]
    while pages[-1]["meta"]["hasMore"]:
        pages.append(page(system, path, cursor=pages[-1]["nextCursor"], **query))
        assert len(pages) < 100
    return pages


def everything(system: System) -> list[int]:
    return [
        one
        for offset in range(0, RESERVATIONS, 100)
        for one in ids(system.upstream.result("/reservations", offset=offset))
    ]


# US1


@pytest.mark.parametrize("path", ["/bookings", "/reservations"])
def test_us1_1_the_first_50_of_500_bookings_with_the_total_and_a_cursor(system: System, path: str) -> None:
    first = page(system, path)
    assert list(first) == ["items", "nextCursor", "meta"]
    assert len(first["items"]) == 50 == first["meta"]["pageSize"]
    assert first["meta"]["totalCount"] == RESERVATIONS and first["meta"]["hasMore"]
    assert len(first["nextCursor"]) <= 64


def test_us1_2_and_4_the_cursors_lead_to_every_booking_once_and_end(system: System) -> None:
    pages = walk(system, "/bookings", limit=100)
    assert [one for told in pages for one in ids(told["items"])] == everything(system)
    assert "nextCursor" not in pages[-1] and all(told["meta"]["totalCount"] == RESERVATIONS for told in pages)


def test_us1_3_a_short_list_comes_as_it_is(system: System) -> None:
    number = ids(system.upstream.result("/listings"))[0]
    days = {"start_date": "2030-01-01", "end_date": "2030-01-10"}
    answer = system.get(f"{API}/listings/{number}/calendar", **days)
    assert list(answer.json) == ["items"] and len(answer.json["items"]) == 10
    assert int(answer.headers["x-brimgate-estimated-tokens"]) == tokens(answer) <= BUDGET


def test_pages_stay_as_they_are_while_the_data_changes(system: System) -> None:
    before = everything(system)
    pages = [page(system, "/bookings")]
    while pages[-1]["meta"]["hasMore"]:
        system.control("/add_reservations", count=9)
        pages.append(page(system, "/bookings", cursor=pages[-1]["nextCursor"]))
    assert [one for told in pages for one in ids(told["items"])] == before


def test_only_what_is_read_is_fetched_and_one_page_ahead(system: System) -> None:
    def fetched() -> int:
        return sum(one["path"] == "/v1/reservations" for one in system.control("/requests"))

    first = page(system, "/bookings")
    wait_until(lambda: fetched() == 2, "a page ahead")
    page(system, "/bookings", cursor=first["nextCursor"])
    assert fetched() <= 3


def test_a_small_page_costs_one_small_request(system: System) -> None:
    page(system, "/bookings", limit=5)
    asked = [one["query"] for one in system.control("/requests") if one["path"] == "/v1/reservations"]
    assert asked == ["limit=50&offset=0"]


def test_rows_of_bookings_tell_property_price_and_stay(system: System) -> None:
    first = page(system, "/bookings")["items"][0]
    wanted = {"id", "status", "guestName", "listingMapId", "arrivalDate", "departureDate", "totalPrice"}
    assert set(first) == wanted


def test_listings_come_newest_first(system: System) -> None:
    there = system.upstream.result("/listings")
    newest = ids(sorted(there, key=lambda one: one["insertedOn"], reverse=True))
    assert [one for told in walk(system, "/listings") for one in ids(told["items"])] == newest
    assert "order" not in page(system, "/listings")["meta"]


def test_more_than_500_listings_keep_the_order_of_the_api_and_say_so(tmp_path: Path) -> None:
    with hostaway(tmp_path, settings={"listings": 501, "reservations": 10}) as system:
        told = page(system, "/listings", limit=5)
        assert ids(told["items"]) == ids(system.upstream.result("/listings", limit=5))
        assert "more than 500" in told["meta"]["order"] and told["meta"]["totalCount"] == 501
        assert "more than 500" in system.call("list_listings", limit=5).text


def test_all_of_a_list_comes_page_by_page(system: System) -> None:
    there = system.upstream.result("/reservations", limit=40)
    answer = system.get(f"{API}/bookings", fields="all")
    found = answer.json["items"]
    while len(found) < 12:
        assert tokens(answer) <= HARD_CAP
        answer = system.get(f"{API}/bookings", cursor=answer.json["nextCursor"])
        found += answer.json["items"]
    assert found == there[: len(found)]


# The client of the brief (001), as it stands there but for the loop around it


class BriefClient:
    def __init__(self, system: System) -> None:
        self._system = system

    async def get(self, path: str, params: Json | None = None) -> Json:
        answer = self._system.get(path, **(params or {}))
        assert answer.status == 200, answer.body
        return answer.json


async def fetch_all(client: BriefClient, path: str) -> list[Json]:
    found: list[Json] = []
    cursor = None
    while True:
        params: Json = {"limit": 100}
        if cursor:
            params["cursor"] = cursor
        response = await client.get(path, params=params)
        found.extend(response["items"])
        if not response["meta"]["hasMore"]:
            break
        cursor = response["nextCursor"]
    return found


async def booking_details(client: BriefClient, booking_id: int) -> Json:
    response = await client.get(f"{API}/bookings/{booking_id}")
    if response.get("meta", {}).get("kind") == "preview":
        endpoint = response["meta"]["detailsAvailable"]["endpoint"]
        params = response["meta"]["detailsAvailable"]["parameters"]
        response = await client.get(endpoint, params=params)
    return response


def test_the_client_of_the_brief_runs_unchanged(system: System) -> None:
    client = BriefClient(system)
    listings = asyncio.run(fetch_all(client, f"{API}/listings"))
    assert len(set(ids(listings))) == len(listings) == 60
    assert ids(asyncio.run(fetch_all(client, f"{API}/bookings"))) == everything(system)
    number = everything(system)[0]
    whole = system.upstream.result(f"/reservations/{number}", includeResources=1)
    assert asyncio.run(booking_details(client, number)) == whole


# What may stand beside a cursor


def test_beside_a_cursor_limit_is_honoured_and_so_are_the_parameters_of_the_first_call(
    system: System,
) -> None:
    first = page(system, "/bookings", limit=3, channel_id=2018)
    told = page(system, "/bookings", cursor=first["nextCursor"], limit=7, channel_id=2018)
    assert len(told["items"]) == 7
    again = page(system, "/bookings", cursor=told["nextCursor"], channel_id=2018)
    shown = [one for some in (first, told, again) for one in ids(some["items"])]
    assert shown == ids(system.upstream.result("/reservations", channelId=2018, limit=40))[: len(shown)]


@pytest.mark.parametrize(
    ("query", "named"), [({"channel_id": 2005}, "channel_id"), ({"sort": "arrivalDate"}, "sort")]
)
def test_beside_a_cursor_another_parameter_is_refused_by_its_name(
    system: System, query: Json, named: str
) -> None:
    cursor = page(system, "/bookings", limit=3, channel_id=2018)["nextCursor"]
    answer = system.get(f"{API}/bookings", cursor=cursor, **query)
    assert answer.status == 400 and answer.json["error"]["code"] == "invalid_parameter"
    assert f"'{named}'" in answer.json["error"]["message"] and "cursor" in answer.json["error"]["message"]


def test_a_path_without_a_cursor_is_refused(system: System) -> None:
    answer = system.serving.get(f"{API}/bookings?path=/items/0")
    assert answer.status == 400 and "path needs a cursor" in answer.json["error"]["message"]


def test_filters_by_our_names_and_by_those_of_the_api(system: System) -> None:
    query = {"channelId": 2018, "arrivalStartDate": "2026-12-01", "limit": 500}
    wanted = ids(system.upstream.result("/reservations", **query))
    ours = page(system, "/bookings", channel_id=2018, arrival_from="2026-12-01")
    theirs = page(system, "/bookings", channelId=2018, arrivalStartDate="2026-12-01")
    assert ids(ours["items"]) == ids(theirs["items"]) == wanted[:50]
    assert ours["meta"]["totalCount"] == len(wanted)


# US2


def test_us2_1_a_listing_comes_as_its_essentials_and_details_lead_to_all_of_it(system: System) -> None:
    listing = system.upstream.result("/listings")[0]
    answer = system.get(f"{API}/listings/{listing['id']}")
    assert tokens(answer) <= OBJECT_BUDGET and list(answer.json) == ["summary", "meta"]
    summary, meta = answer.json["summary"], answer.json["meta"]
    assert meta["kind"] == "preview" and meta["totalFields"] == 144
    assert {"id", "name", "city", "bedroomsNumber", "price"} <= set(meta["projectedFields"]) == set(summary)
    details = meta["detailsAvailable"]
    assert details["endpoint"] == f"{API}/listings/{listing['id']}"
    assert collected(system, details["endpoint"], **details["parameters"]) == listing


def collected(system: System, endpoint: str, **parameters: str) -> Json:
    """A large object out of its parts."""
    whole: Json = {}
    answer = system.get(endpoint, **parameters)
    while True:
        assert answer.status == 200 and tokens(answer) <= HARD_CAP
        told = answer.json
        if told.get("meta", {}).get("kind") != "part":
            return told
        if told["meta"]["path"]:
            name = told["meta"]["path"].strip("/")
            whole.setdefault(name, type(told["content"])())
            whole[name] = whole[name] + told["content"]
        else:
            whole |= told["content"]
        if "nextCursor" not in told:
            return whole
        answer = system.get(endpoint, cursor=told["nextCursor"])


@pytest.mark.parametrize(
    ("section", "fields"),
    [
        ("amenities", {"listingAmenities", "listingBedTypes"}),
        ("contact", {"contactName", "contactPhone1"}),
        ("id,listingBedTypes.quantity", {"id", "listingBedTypes"}),
    ],
)
def test_us2_2_a_section_request_returns_that_section_only(
    system: System, section: str, fields: set[str]
) -> None:
    listing = system.upstream.result("/listings")[0]
    answer = system.get(f"{API}/listings/{listing['id']}", fields=section)
    assert fields <= set(answer.json) and len(answer.json) < 10 and tokens(answer) <= HARD_CAP
    if "." not in section:
        assert answer.json == {name: listing[name] for name in answer.json}
        assert all(value not in (None, "", []) for value in answer.json.values()), "FR-019"


def test_us2_3_a_small_record_comes_whole(system: System) -> None:
    number = ids(system.upstream.result("/reservations"))[0]
    answer = system.get(f"{API}/bookings/{number}/guest")
    assert answer.json["id"] == number and answer.json["guestEmail"]
    assert "x-brimgate-budget-remaining" in answer.headers


def test_us2_4_the_metadata_tells_the_budget(system: System) -> None:
    meta = page(system, "/bookings")["meta"]
    assert meta["estimatedTokens"] + meta["budgetRemaining"] == BUDGET
    assert meta["budgetUsed"] == round(meta["estimatedTokens"] / BUDGET, 2)


def test_a_page_of_50_listings_fits_and_each_leads_to_its_details(system: System) -> None:
    told = page(system, "/listings")
    assert len(told["items"]) == 50
    details = told["meta"]["detailsAvailable"]
    there = {one["id"]: one for one in system.upstream.result("/listings")}
    for item in told["items"][::10]:
        endpoint = details["endpoint"].replace("{id}", str(item["id"]))
        assert collected(system, endpoint, **details["parameters"]) == there[item["id"]]


def test_all_of_a_booking_and_of_its_money(system: System) -> None:
    number = ids(system.upstream.result("/reservations"))[0]
    whole = system.get(f"{API}/bookings/{number}", fields="all")
    assert whole.json == system.upstream.result(f"/reservations/{number}", includeResources=1)
    money = system.get(f"{API}/bookings/{number}", fields="financial").json
    assert "totalPrice" in money and "guestName" not in money
    assert system.get(f"{API}/bookings/{number}/finance").status == 200


# US3


def test_us3_rules_for_one_path_and_changes_without_a_restart(tmp_path: Path) -> None:
    endpoints = {"/api/v1/listings": {"page_size": 20}, "/api/v1/analytics": {"summarization_enabled": False}}
    few = {"reservations": 120}
    with hostaway(tmp_path, settings=few, context_protection={"endpoints": endpoints}) as system:
        assert len(page(system, "/listings")["items"]) == 20
        assert len(page(system, "/bookings")["items"]) == 50
        rows = system.get(f"{API}/analytics").json["items"]
        assert len(rows) >= 5 and all(len(row) > 20 for row in rows), "always full data (001)"
        config = json.loads((tmp_path / "brimgate.yaml").read_text())
        config["context_protection"]["endpoints"]["/api/v1/bookings"] = {"threshold": 900}
        (tmp_path / "brimgate.yaml").write_text(json.dumps(config))
        system.serving.wait_for_line("config_reloaded")
        answer = system.get(f"{API}/bookings")
        assert tokens(answer) <= 900 and answer.json["meta"]["totalCount"] == 120
        config["context_protection"]["endpoints"] = {"*/bookings": {"enabled": False}}
        (tmp_path / "brimgate.yaml").write_text(json.dumps(config))
        system.serving.wait_for_line("*/bookings")
        assert len(system.get(f"{API}/bookings").json["items"]) == 120, "all of it, for one path only"
        assert len(page(system, "/listings")["items"]) == 50
        (tmp_path / "brimgate.yaml").write_text("context_protection: {default_page_size: none}")
        system.serving.wait_for_line("config_rejected")
        assert len(system.get(f"{API}/bookings").json["items"]) == 120


# US4


def test_us4_4_a_short_report_comes_as_the_text_it_is(system: System) -> None:
    answer = system.get(f"{API}/reports/standard.csv", from_date="2031-01-01", to_date="2031-01-02")
    assert answer.headers["content-type"].startswith("text/csv") and answer.body.count(b"\n") == 1


def test_reports_analytics_and_messages_are_lists_like_all_others(system: System) -> None:
    report = page(system, "/reports/financial")
    assert report["meta"]["totalCount"] > 100 and "ownerPayout" in report["items"][0]
    listings = page(system, "/analytics", from_date="2026-01-01", to_date="2026-12-31")
    assert listings["items"]
    number = ids(system.upstream.result("/reservations"))[3]
    assert page(system, f"/bookings/{number}/messages")["items"]


def test_every_list_that_is_served_comes_in_pages(system: System) -> None:
    some = ids(system.upstream.result("/reservations"))[3]
    home = ids(system.upstream.result("/listings"))[0]
    paths = system.get(f"{API}/openapi.json").json["paths"]
    lists = [
        path
        for path, methods in paths.items()
        if "Page" in json.dumps(methods["get"]["responses"]["200"]["content"])
    ]
    assert len(lists) == 10
    for path in lists:
        answer = system.get(path.format(reservation_id=some, listing_id=home), limit=1)
        assert answer.status == 200
        (items,) = [value for value in answer.json.values() if isinstance(value, list)]
        assert len(items) <= 1 and ("meta" in answer.json or path.endswith(("/messages", "/reviews"))), path


# What goes wrong


@pytest.mark.parametrize(
    ("kind", "status"),
    [("html500", 502), ("stack_trace", 502), ("redirect", 502), ("wrong_type", 502), ("truncated", 502)],
)
def test_an_api_that_fails_is_told_in_a_sentence_and_nothing_leaks(
    system: System, kind: str, status: int
) -> None:
    system.control("/fault", path="/v1/reservations", kind=kind, times=3)
    answer = system.get(f"{API}/bookings")
    assert answer.status == status and set(answer.json["error"]) == {"code", "message"}
    assert len(answer.body) < 800
    for secret in (LEAK, "hunter2", "<html", "nginx", "Traceback", "10.0.3.7", "sandbox-secret"):
        assert secret.encode() not in answer.body
    system.control("/reset")
    assert system.get(f"{API}/bookings").status == 200


@pytest.mark.parametrize(
    "path",
    [
        "/listings/..%2freservations",
        "/listings/%2e%2e",
        "/listings/../../control/reset",
        "/listings/1%3fx=1",
        "/listings/1%0d%0aX:y",
        "/listings/%00",
        "/listings/" + "9" * 5_000,
        "/listings/1/calendar/%2e%2e/%2e%2e",
    ],
)
def test_no_path_leads_out_of_the_api(system: System, path: str) -> None:
    answer = system.get(API + path)
    assert 400 <= answer.status < 500 and len(answer.body) < 1_000
    reached = {one["path"] for one in system.control("/requests")}
    assert reached <= {"/v1/accessTokens", "/v1/listings/1"}, reached


@pytest.mark.parametrize(
    ("query", "code", "says"),
    [
        ({"limit": 201}, "invalid_limit", "limit exceeds maximum of 200"),
        ({"limit": "x"}, "invalid_limit", "1 to 200"),
        ({"limit": 0}, "invalid_limit", "1 to 200"),
        ({"cursor": "nonsense"}, "invalid_cursor", "run the query again from the start"),
        ({"fields": ""}, "invalid_fields", "fields"),
        ({"arrival_from": "yesterday", "sort": "up"}, "invalid_parameter", "sort"),
        ({"listing_id": "many"}, "invalid_parameter", "listing_id"),
        ({"color": "red"}, "invalid_parameter", "there is no parameter"),
    ],
)
def test_wrong_parameters_get_a_sentence_and_the_api_is_not_asked(
    system: System, query: Json, code: str, says: str
) -> None:
    answer = system.get(f"{API}/bookings", **query)
    assert answer.status == 400 and answer.json["error"]["code"] == code
    assert says in answer.json["error"]["message"]
    assert not [one for one in system.control("/requests") if one["path"] != "/v1/accessTokens"]


def test_a_cursor_of_another_path_or_caller_is_no_cursor(system: System) -> None:
    cursor = page(system, "/bookings")["nextCursor"]
    for answer in (
        system.get(f"{API}/reservations", cursor=cursor),
        system.serving.get(f"{API}/bookings?cursor={cursor}", authorization="Bearer another"),
    ):
        assert answer.status == 400 and answer.json["error"]["code"] == "invalid_cursor"


def test_what_is_not_there_and_what_cannot_be_done(system: System) -> None:
    assert system.get(f"{API}/castles").status == 404
    assert system.get(f"{API}/bookings/999999999").status == 404
    answer = exchange(system.serving.connect(), "POST", f"{API}/bookings", {}, {})
    assert answer.status == 405 and answer.headers["allow"] == "GET"
    head = exchange(system.serving.connect(), "HEAD", f"{API}/bookings", None, {})
    assert head.status == 200 and head.body == b""


# The document and the page


def test_a_hidden_path_is_described_nowhere(tmp_path: Path) -> None:
    hidden = {"endpoints": {"*/reviews": {"hidden": True}, "*/listings/{listing_id}": {"hidden": True}}}
    few = {"reservations": 20, "listings": 5}
    with hostaway(tmp_path, settings=few, context_protection=hidden) as system:
        paths = system.get(f"{API}/openapi.json").json["paths"]
        page_text = system.get(f"{API}/docs").body.decode()
        assert system.get(f"{API}/reviews").status == 404
    assert len(paths) == 16 and f"{API}/reviews" not in paths
    assert f"{API}/listings/{{listing_id}}/calendar" in paths
    assert "/reviews<" not in page_text and "/bookings<" in page_text


@pytest.mark.parametrize(
    ("path", "ours"),
    [
        ("/bookings", {"limit", "cursor", "fields"}),
        ("/bookings/{reservation_id}", {"cursor", "fields"}),
        ("/reports/standard.csv", {"cursor", "startLine", "endLine"}),
    ],
)
def test_the_document_lists_the_parameters_that_apply_and_no_others(
    system: System, path: str, ours: set[str]
) -> None:
    listed = system.get(f"{API}/openapi.json").json["paths"][API + path]["get"]["parameters"]
    assert {one["name"] for one in listed} & {"limit", "cursor", "fields", "startLine", "endLine"} == ours


def test_the_document_describes_every_route_and_what_protection_adds(system: System) -> None:
    document = system.get(f"{API}/openapi.json").json
    assert document["openapi"].startswith("3.1") and len(document["paths"]) == 18
    listed = {one["name"] for one in document["paths"][f"{API}/bookings"]["get"]["parameters"]}
    assert {"arrival_from", "listing_id", "limit", "cursor", "fields"} <= listed
    one = document["paths"][f"{API}/listings/{{listing_id}}"]["get"]
    assert one["parameters"][0] == {
        "name": "listing_id",
        "in": "path",
        "required": True,
        "description": "",
        "schema": {"type": "integer", "minimum": 1},
    }
    operations = [entry["operationId"] for path in document["paths"].values() for entry in path.values()]
    assert len(set(operations)) == len(operations)


def test_the_page_shows_every_route_and_fetches_nothing(system: System) -> None:
    answer = system.get(f"{API}/docs")
    assert answer.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    text = answer.body.decode()
    assert f"{API}/bookings/{{reservation_id}}/messages" in text and "<script" not in text


def test_health_tells_whether_the_api_can_be_reached(system: System) -> None:
    wait_until(lambda: system.get("/health").json["checks"]["hostaway"]["status"] == "healthy", "a check")
