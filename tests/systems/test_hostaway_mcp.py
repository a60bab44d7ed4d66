"""Hostaway through MCP, by the stories of the brief (003): over real sockets, 500 reservations of true size."""

import json
from pathlib import Path

import pytest

from brimgate.config.pack_rules import rules_of
from brimgate.packs.hostaway import PACK
from brimgate.sandboxes.hostaway.faults import LEAK
from tests.hostaway.asking import ids
from tests.systems.hostaway import ESTIMATOR, RESERVATIONS, System, Told, hostaway

RULES = rules_of(PACK)
BUDGET = 4_000
HARD_CAP = 12_000


def rows(told: Told) -> list[str]:
    """The rows of a page, each led by its number in the list."""
    lines = told.result["content"][1]["text"].splitlines()
    return [line for line in lines if line.partition("|")[0].isdecimal()]


def walk(system: System, first: Told) -> list[Told]:
    """Every page, by the notices alone."""
    pages = [first]
    while cursor := pages[-1].following:
        pages.append(system.read(cursor))
        assert not pages[-1].failed and len(pages) < 100
    return pages


# US1: paginated lists


def test_us1_1_the_first_50_of_500_bookings_with_the_total_and_a_cursor(system: System) -> None:
    first = system.call("list_reservations")
    assert len(rows(first)) == 50 and first.record["total"]["items"] == RESERVATIONS
    assert "items #0-49 of 500" in first.text and first.following
    assert first.tokens <= BUDGET


def test_us1_2_and_4_the_cursors_lead_to_every_booking_once_and_end(system: System) -> None:
    pages = walk(system, system.call("list_reservations"))
    assert all(page.tokens <= BUDGET for page in pages)
    assert "nextCursor" not in pages[-1].record
    shown = [int(row.split("|")[1]) for page in pages for row in rows(page)]
    there = [one for offset in range(0, RESERVATIONS, 100) for one in ids(page_of(system, offset))]
    assert shown == there, "every one once, in the order of the API"


def page_of(system: System, offset: int) -> list[dict[str, int]]:
    return system.upstream.result("/reservations", offset=offset)


def test_us1_3_a_list_of_ten_comes_as_it_is(system: System) -> None:
    number = ids(system.upstream.result("/listings"))[0]
    days = {"startDate": "2030-01-01", "endDate": "2030-01-10"}
    told = system.call(
        "get_listing_calendar", listing_id=number, start_date="2030-01-01", end_date="2030-01-10"
    )
    wanted = system.upstream.result(f"/listings/{number}/calendar", **days)
    assert len(wanted) == 10
    assert told.record == {} and json.loads(told.text) == {"items": wanted}


def test_pages_stay_as_they_are_while_the_data_changes(system: System) -> None:
    before = [one for offset in range(0, RESERVATIONS, 100) for one in ids(page_of(system, offset))]
    pages = [system.call("list_reservations")]
    while cursor := pages[-1].following:
        system.control("/add_reservations", count=7)
        pages.append(system.read(cursor))
    shown = [int(row.split("|")[1]) for page in pages for row in rows(page)]
    assert shown == before, "none twice, none missed, none of the new ones in between"


def test_only_what_is_read_is_fetched_and_one_page_ahead(system: System) -> None:
    first = system.call("list_reservations")
    wait_for_pages(system, 2)
    system.read(first.following)
    assert len(asked(system)) <= 3, "no more than what was shown and one page ahead"
    system.control("/reset")
    system.call("list_reservations", limit=5)
    assert asked(system) == ["limit=50&offset=0"], "enough for ten pages"
    system.control("/reset")
    system.call("list_reservations", max_records=30)
    assert asked(system) == ["limit=30&offset=0"]


def asked(system: System) -> list[str]:
    return [one["query"] for one in system.control("/requests") if one["path"] == "/v1/reservations"]


def wait_for_pages(system: System, count: int) -> None:
    from tests.http.serving import wait_until

    wait_until(lambda: len(asked(system)) >= count, f"{count} pages asked for")


def test_filters_reach_the_api(system: System) -> None:
    query = {"channelId": 2018, "arrivalStartDate": "2026-12-01", "limit": 500}
    wanted = ids(system.upstream.result("/reservations", **query))
    told = system.call("list_reservations", channel_id=2018, arrival_from="2026-12-01")
    assert [int(row.split("|")[1]) for row in rows(told)] == wanted[:50]
    assert told.record["total"]["items"] == len(wanted) < RESERVATIONS


def test_limit_is_a_page_and_max_records_is_what_is_fetched(system: System) -> None:
    told = system.call("list_reservations", limit=7)
    assert len(rows(told)) == 7 and told.record["total"]["items"] == RESERVATIONS
    assert [row.partition("|")[0] for row in rows(system.read(told.following))] == [
        str(n) for n in range(7, 14)
    ]
    some = system.call("list_reservations", limit=7, max_records=10)
    assert len(rows(some)) == 7 and some.record["total"]["items"] == 10
    assert len(rows(system.read(some.following))) == 3
    assert "limit exceeds maximum of 200" in system.call("list_reservations", limit=201).text


def test_listings_come_newest_first_unless_another_order_is_asked_for(system: System) -> None:
    there = system.upstream.result("/listings")
    newest = ids(sorted(there, key=lambda one: one["insertedOn"], reverse=True))
    pages = walk(system, system.call("list_listings"))
    assert [int(row.split("|")[1]) for told in pages for row in rows(told)] == newest
    by_name = system.call("list_listings", sort="name")
    assert [int(row.split("|")[1]) for row in rows(by_name)] == ids(
        system.upstream.result("/listings", sortOrder="name")
    )[:50]


# US2: summaries


def test_us2_1_a_large_record_comes_as_its_essentials_with_its_sections(system: System) -> None:
    number = ids(system.upstream.result("/listings"))[0]
    told = system.call("get_listing", listing_id=number)
    assert told.record["kind"] == "preview" and told.tokens <= 2_000
    assert {"images", "amenities", "descriptions"} <= set(told.record["detailsAvailable"]["sections"])
    assert str(number) in told.text and "bedroomsNumber" in told.text and "brimgate_read" in told.text
    assert "sections: fields=descriptions,amenities,images" in told.text


@pytest.mark.parametrize("tool", ["get_listing", "get_reservation"])
def test_one_record_shows_every_field_of_its_map_in_600_tokens(system: System, tool: str) -> None:
    what = tool.removeprefix("get_")
    for record in system.upstream.result(f"/{what}s", limit=8, includeResources=1):
        told = system.call(tool, **{f"{what}_id": record["id"]})
        shown = told.result["content"][1]["text"].rpartition("\n{")[2]
        fields = [name for name in RULES[tool].fields or () if name in record]
        assert told.tokens <= 600 and told.record["projectedFields"] == fields
        assert all(f"{name}:" in shown for name in fields), shown
        assert "wifiPassword" not in told.text and "guestAuthHash" not in told.text
        assert told.record["totalFields"] == len(record)


def test_mcp_and_rest_decide_alike_about_one_record(system: System) -> None:
    for path, tool, name in (
        ("/listings", "get_listing", "listing_id"),
        ("/reservations", "get_reservation", "reservation_id"),
    ):
        for number in ids(system.upstream.result(path, limit=5)):
            told, answer = system.call(tool, **{name: number}), system.get(f"/api/v1{path}/{number}")
            assert told.record["kind"] == answer.json["meta"]["kind"] == "preview"
            mapped = set(answer.json["meta"]["projectedFields"])
            assert mapped == set(answer.json["summary"]) <= set(told.record["projectedFields"])


def test_the_map_of_a_record_is_not_applied_to_a_list_inside_it(system: System) -> None:
    listing = max(system.upstream.result("/listings"), key=lambda one: len(one["listingImages"]))
    first = system.call("get_listing", listing_id=listing["id"])
    told = system.read(first.following, path="/listingImages")
    assert str(listing["listingImages"][0]["id"]) in told.text
    assert listing["listingImages"][0]["url"].rpartition("/")[2] in told.text, (
        "all of an image, not what a listing has"
    )


def test_a_section_leaves_out_what_is_empty(system: System) -> None:
    number = ids(page_of(system, 0))[0]
    told = system.read(system.call("get_reservation", reservation_id=number).following, fields="financial")
    assert "totalPrice" in told.text and "null" not in told.text


def test_us2_2_a_section_request_returns_that_section_only(system: System) -> None:
    listing = system.upstream.result("/listings")[0]
    told = system.call("get_listing", listing_id=listing["id"])
    section = system.read(told.following, fields="amenities", format="json")
    shown = json.loads(
        section.result["content"][1]["text"].partition("\n")[2] or section.text.splitlines()[-1]
    )
    assert shown == {name: listing[name] for name in ("listingAmenities", "listingBedTypes")}


def test_us2_3_a_small_record_comes_whole(system: System) -> None:
    number = ids(page_of(system, 0))[0]
    guest = system.call("get_reservation_guest", reservation_id=number)
    assert guest.record == {} and json.loads(guest.text)["id"] == number


def test_us2_4_the_metadata_tells_the_budget(system: System) -> None:
    record = system.call("list_reservations").record
    assert record["estimatedTokens"] + record["budgetRemaining"] == BUDGET
    assert record["budgetUsed"] == round(record["estimatedTokens"] / BUDGET, 2)


def test_each_condensed_record_leads_to_the_whole_of_it_without_another_call(system: System) -> None:
    first = system.call("list_listings")
    assert len(rows(first)) == 50 and first.tokens <= BUDGET
    number = rows(first)[17].split("|")[1]
    before = len(system.control("/requests"))
    parts = walk(system, system.read(first.following, path="/items/17", format="json"))
    assert all(part.tokens <= HARD_CAP for part in parts)
    text = "\n".join(part.text for part in parts)
    listing = next(one for one in system.upstream.result("/listings") if str(one["id"]) == number)
    assert all(json.dumps(image["url"]) in text for image in listing["listingImages"])
    later = [one for one in system.control("/requests")[before:] if one["path"].startswith("/v1/listings")]
    assert len(later) <= 1, "ours to check it, and none for the details"


# US3: configuration


def test_us3_another_budget_and_a_flag_for_one_tool_hold_from_the_next_answer_on(tmp_path: Path) -> None:
    with hostaway(tmp_path, settings={"reservations": 120}) as system:
        wide = system.call("list_reservations")
        config = json.loads((tmp_path / "brimgate.yaml").read_text())
        config["context_protection"] = {"output_token_threshold": 1_500}
        config["tools"] = {"list_listings": {"enabled": False}}
        (tmp_path / "brimgate.yaml").write_text(json.dumps(config))
        system.serving.wait_for_line("config_reloaded")
        narrow = system.call("list_reservations")
        assert narrow.tokens <= 1_500 < wide.tokens
        assert len(rows(narrow)) < 50 and narrow.record["total"]["items"] == 120
        assert len(json.loads(system.call("list_listings").text)["items"]) == 60


# US4: long texts


def test_us4_4_a_short_report_comes_whole(system: System) -> None:
    told = system.call("export_financial_report", from_date="2031-01-01", to_date="2031-01-02")
    assert told.record == {} and len(told.text.splitlines()) == 1


# Reports, messages, calendar


def test_reports_are_rows_that_can_be_paged_and_asked_for_by_field(system: System) -> None:
    told = system.call("get_financial_report")
    assert told.record["kind"] == "page" and told.record["total"]["items"] > 100 and told.tokens <= BUDGET
    by_listing = system.call("get_analytics", from_date="2026-01-01", to_date="2026-12-31")
    assert by_listing.tokens <= BUDGET and "ownerPayout" in by_listing.text


def test_messages_of_a_reservation_are_one_list(system: System) -> None:
    number = ids(page_of(system, 0))[3]
    told = system.call("get_reservation_messages", reservation_id=number)
    (conversation,) = system.upstream.result("/conversations", reservationId=number, includeResources=1)
    assert conversation["conversationMessages"]
    for message in conversation["conversationMessages"]:
        assert message["body"][:40] in told.text


def test_a_calendar_tells_every_day(system: System) -> None:
    number = ids(system.upstream.result("/listings"))[0]
    told = system.call(
        "get_listing_calendar", listing_id=number, start_date="2027-01-01", end_date="2027-01-31"
    )
    assert told.record["kind"] == "complete" and told.tokens <= BUDGET
    assert all(f"2027-01-{day:02}" in told.text for day in range(1, 32))


# What goes wrong


FAULTS = ("html500", "stack_trace", "redirect", "wrong_type", "truncated", "cut", "drop")


@pytest.mark.parametrize("kind", FAULTS)
def test_an_api_that_fails_is_told_in_a_sentence_and_nothing_leaks(system: System, kind: str) -> None:
    system.control("/fault", path="/v1/reservations", kind=kind, times=3)
    told = system.call("list_reservations")
    assert told.failed and len(told.text) < 600
    for secret in (
        LEAK,
        "hunter2",
        "<html",
        "nginx",
        "Traceback",
        "10.0.3.7",
        "sandbox-secret",
        "127.0.0.1:9",
    ):
        assert secret not in told.text
    system.control("/reset")
    assert not system.call("list_reservations").failed


def test_a_failure_in_the_middle_leaves_the_cursor_good(system: System) -> None:
    first = system.call("list_reservations")
    second = system.read(first.following)
    wait_for_pages(system, 2)
    system.control("/fault", path="/v1/reservations", kind="html500", times=100)
    cursor = second.following
    told = system.read(cursor)
    for _ in range(3):
        if not told.failed:
            cursor = told.following
            told = system.read(cursor)
    assert told.failed and "Hostaway" in told.text
    system.control("/reset")
    assert not system.read(cursor).failed


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("get_listing", {"listing_id": "../reservations"}, "listing_id"),
        ("get_listing", {}, "listing_id"),
        ("get_listing", {"listing_id": 0}, "listing_id"),
        ("list_reservations", {"arrival_from": "a\r\nX: y", "sort": "up"}, "sort"),
        ("list_reservations", {"nights": 3}, "nights"),
        ("list_reservations", {"limit": 0}, "limit"),
        ("get_reservation", {"reservation_id": 999_999_999}, "not find"),
    ],
)
def test_wrong_arguments_get_a_sentence_that_says_what_is_right(
    system: System, tool: str, arguments: dict[str, object], says: str
) -> None:
    told = system.call(tool, **arguments)
    assert told.failed and says in told.text and len(told.text) < 600


def test_tokens_that_expire_are_renewed_unnoticed(system: System) -> None:
    system.control("/expire_tokens")
    assert not system.call("list_reservations", limit=3).failed


def test_tools_say_what_they_do(system: System) -> None:
    system.call("list_listings", limit=1)
    assert system._mcp is not None
    tools = {tool["name"]: tool for tool in system._mcp.request("tools/list")["result"]["tools"]}
    assert len(tools) == 13 and all(tool["description"] for tool in tools.values())
    assert all(tool["annotations"]["readOnlyHint"] for tool in tools.values())
    filters = tools["list_reservations"]["inputSchema"]["properties"]
    assert len(filters) == 20 and filters["arrival_from"]["type"] == "string"
    cost = ESTIMATOR.ceiling(json.dumps(list(tools.values())))
    assert cost < 4_500, "every session pays for them"
