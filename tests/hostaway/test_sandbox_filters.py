"""What can be asked of the sandbox: filters, orders, calendars, messages and reports."""

import csv
import io
import json
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.hostaway.asking import Caller, Json, ids


def report(caller: Caller, kind: str, **asked: str) -> Any:
    told = caller.ask(f"/finance/report/{kind}", "POST", urlencode(asked))
    assert told.status == 200, told.body
    return told.json["result"] if asked.get("format") == "json" else told.body.decode()


@pytest.mark.parametrize(
    ("query", "holds"),
    [
        ({"channelId": 2018}, lambda one, _: one["channelId"] == 2018),
        ({"isStarred": "true"}, lambda one, _: one["isStarred"] == 1),
        ({"isArchived": 0}, lambda one, _: one["isArchived"] == 0),
        ({"isPinned": 1}, lambda one, _: one["isPinned"] == 1),
        ({"match": "an"}, lambda one, _: "an" in one["guestName"].casefold()),
        ({"hasUnreadConversationMessages": 1}, lambda one, unread: one["id"] in unread),
        ({"arrivalStartDate": "2026-12-01"}, lambda one, _: one["arrivalDate"] >= "2026-12-01"),
        ({"arrivalEndDate": "2026-12-01"}, lambda one, _: one["arrivalDate"] <= "2026-12-01"),
        ({"departureStartDate": "2026-12-20"}, lambda one, _: one["departureDate"] >= "2026-12-20"),
        ({"departureEndDate": "2026-12-20"}, lambda one, _: one["departureDate"] <= "2026-12-20"),
        ({"latestActivityStart": "2026-10-01"}, lambda one, _: one["latestActivityOn"] >= "2026-10-01"),
        ({"latestActivityEnd": "2026-10-01"}, lambda one, _: one["latestActivityOn"] < "2026-10-02"),
        ({"assigneeUserId": 7}, lambda one, _: False),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_filter_of_reservations_gives_all_that_fit_and_no_other(
    caller: Caller, query: Json, holds: Any
) -> None:
    talks = caller.result("/conversations", limit=500)
    unread = {talk["reservationId"] for talk in talks if talk["hasUnreadMessages"]}
    all_of_them = caller.result("/reservations", limit=500)
    fitting = [one for one in all_of_them if holds(one, unread)]
    told = caller.ask("/reservations", limit=500, **query).json
    assert ids(told["result"]) == ids(fitting)
    assert told["count"] == len(fitting) < len(all_of_them)


def test_filters_of_reservations_add_up(caller: Caller) -> None:
    home = caller.result("/listings", limit=1)[0]["id"]
    found = caller.result("/reservations", listingId=home, channelId=2018)
    assert found
    assert {(one["listingMapId"], one["channelId"]) for one in found} == {(home, 2018)}
    guest = found[0]
    assert ids(caller.result("/reservations", guestEmail=guest["guestEmail"])) == [guest["id"]]


@pytest.mark.parametrize(
    ("order", "field"), [("arrivalDate", "arrivalDate"), ("latestActivity", "latestActivityOn")]
)
def test_reservations_come_in_the_order_that_is_asked_for(caller: Caller, order: str, field: str) -> None:
    rising = [one[field] for one in caller.result("/reservations", limit=500, sortOrder=order)]
    falling = [one[field] for one in caller.result("/reservations", limit=500, sortOrder=f"{order}Desc")]
    assert rising == sorted(rising)
    assert falling == rising[::-1]
    for name in ("lastConversationMessageSent", "lastConversationMessageReceivedDesc"):
        assert caller.ask("/reservations", sortOrder=name).json["count"] == 130


def test_filters_of_listings(caller: Caller) -> None:
    homes = caller.result("/listings")
    first = homes[0]
    for name, field in (("city", "city"), ("country", "country"), ("country", "countryCode")):
        same = [home for home in homes if home[field] == first[field]]
        assert ids(caller.result("/listings", **{name: first[field].lower()})) == ids(same)
    for name in ("contactName", "propertyTypeId"):
        same = [home for home in homes if home[name] == first[name]]
        assert ids(caller.result("/listings", **{name: first[name]})) == ids(same)
    assert first["id"] in ids(caller.result("/listings", match=first["name"][3:9].upper()))
    large = caller.result("/listings", availabilityGuestNumber=8)
    assert ids(large) == [home["id"] for home in homes if home["personCapacity"] >= 8]
    names = [home["name"] for home in caller.result("/listings", sortOrder="nameReversed")]
    assert names == sorted(names, reverse=True)


def test_a_calendar_shows_who_is_there_and_what_is_free(caller: Caller) -> None:
    stay = next(one for one in caller.result("/reservations") if one["status"] == "modified")
    path = f"/listings/{stay['listingMapId']}/calendar"
    days = caller.result(path, startDate=stay["arrivalDate"], endDate=stay["departureDate"])
    assert [day["date"] for day in days][:: stay["nights"]] == [stay["arrivalDate"], stay["departureDate"]]
    for day in days[:-1]:
        assert (day["isAvailable"], day["status"]) == (0, "reserved")
        assert [guest["id"] for guest in day["reservations"]] == [stay["id"]]
    bare = caller.result(
        path, startDate=stay["arrivalDate"], endDate=stay["departureDate"], includeResources=0
    )
    assert bare == [day | {"reservations": []} for day in days]
    assert len(caller.result(path)) == 31
    taken = caller.result(
        "/listings", availabilityDateStart=stay["arrivalDate"], availabilityDateEnd=stay["departureDate"]
    )
    assert stay["listingMapId"] not in ids(taken)


def test_messages_are_of_their_conversation_newest_first(caller: Caller) -> None:
    talk = next(
        talk
        for talk in caller.result("/conversations", limit=130)
        if talk["messageSentOn"] and talk["messageSentOn"] > talk["messageReceivedOn"]
    )
    told = caller.ask(f"/conversations/{talk['id']}/messages").json
    assert told["count"] == len(told["result"]) > 1
    assert {message["reservationId"] for message in told["result"]} == {talk["reservationId"]}
    times = [message["date"] for message in told["result"]]
    assert times == sorted(times, reverse=True)
    assert times[:2] == [talk["messageSentOn"], talk["messageReceivedOn"]]
    assert told["result"][0] == talk["conversationMessages"][0]
    (found,) = caller.result("/conversations", reservationId=talk["reservationId"])
    assert found["id"] == talk["id"]


def test_reports_are_about_the_reservations_and_their_sums_agree(caller: Caller) -> None:
    stays = {str(one["id"]): one for one in caller.result("/reservations", limit=500)}
    told = report(caller, "consolidated", format="json")
    names = [column["name"] for column in told["columns"]]
    assert len(names) == 36
    rows = [dict(zip(names, row, strict=True)) for row in told["rows"]]
    assert {row["id"]: row["subTotalPrice"] for row in rows} == {
        number: one["totalPrice"] for number, one in stays.items()
    }
    total = told["totals"][names.index("subTotalPrice")]
    assert total == pytest.approx(sum(one["totalPrice"] for one in stays.values()))
    homes = report(caller, "listingFinancials", format="json")
    assert homes["totals"][-1] == pytest.approx(total)
    assert {int(row[0][1:].partition(")")[0]) for row in homes["rows"]} == set(
        ids(caller.result("/listings"))
    )


def test_reports_are_filtered_sorted_and_told_as_csv(caller: Caller) -> None:
    asked = {"fromDate": "2026-12-01", "toDate": "2026-12-31", "channelIds[0]": "2018", "statuses[]": "new"}
    told = report(caller, "consolidated", format="json", sortBy="id", sortOrder="desc", **asked)
    numbers = [row[0] for row in told["rows"]]
    assert numbers == sorted(numbers, reverse=True)
    assert {(row[1], row[2], row[3][:7]) for row in told["rows"]} == {("airbnbOfficial", "new", "2026-12")}
    text = report(caller, "consolidated", format="csv", delimiter="tab", **asked)
    table = list(csv.reader(io.StringIO(text), delimiter="\t"))
    assert table[0][0] == "Reservation ID"
    assert {row[0] for row in table[1:-1]} == set(numbers)
    assert table[-1][0] == "Totals"
    assert report(caller, "standard", **asked).count("Base rate") == len(numbers)


def test_a_report_is_asked_for_in_json_and_in_parts_too(caller: Caller) -> None:
    home = caller.result("/listings", limit=1)[0]["id"]
    expected = report(caller, "consolidated", format="json", **{"listingMapIds[0]": str(home)})
    assert expected["rows"]
    path = "/finance/report/consolidated"
    as_json = caller.ask(
        path, "POST", json.dumps({"format": "json", "listingMapIds": [home]}), "application/json"
    )
    fields = {"format": "json", "listingMapIds[0]": home}
    parts = "".join(
        f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    )
    in_parts = caller.ask(path, "POST", parts + "--x--\r\n", "multipart/form-data; boundary=x")
    assert as_json.json["result"] == in_parts.json["result"] == expected


def test_the_smaller_endpoints_answer(caller: Caller) -> None:
    stay = caller.result("/reservations", limit=1)[0]
    fields = caller.result(f"/financeStandardField/reservation/{stay['id']}")
    assert (len(fields), fields["reservationId"], fields["cleaningFeeValue"]) == (
        67,
        stay["id"],
        stay["cleaningFee"],
    )
    amenities = {one["id"]: one["name"] for one in caller.result("/amenities")}
    for one in caller.result("/listings", limit=1)[0]["listingAmenities"]:
        assert amenities[one["amenityId"]] == one["amenityName"]
    assert len(caller.result("/users")) == 3
    reviews = caller.ask("/reviews", limit=500).json
    assert reviews["count"] == len(reviews["result"]) > 0
    home = reviews["result"][0]["listingMapId"]
    some = caller.result("/reviews", **{"listingMapIds[]": home}, statuses="published")
    assert {(one["listingMapId"], one["status"]) for one in some} == {(home, "published")}
