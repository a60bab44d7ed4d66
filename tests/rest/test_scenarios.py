"""The scenarios of the brief over a real socket: pages and previews."""

import json
from typing import Any

from brimgate.rest import Override
from tests.rest.answers import COUNT, check_budget
from tests.rest.apps import BOOKINGS, FIELDS, fastapi_app, listing, mapped_app, starlette_app
from tests.rest.holding import rebuilt
from tests.rest.serving import Served, serve


class TestPages:
    def test_500_bookings_come_in_pages_that_fit_and_miss_nothing(self, plain: Served) -> None:  # US1.1, E1
        first = plain.ask("/api/v1/bookings")
        assert list(first.json) == ["items", "nextCursor", "meta"]
        assert first.json["meta"]["totalCount"] == 500
        found: list[Any] = []
        for answer in plain.follow("/api/v1/bookings", first):
            check_budget(answer, 4_000)
            assert answer.json["meta"]["pageSize"] == len(answer.json["items"])
            assert answer.json["meta"]["hasMore"] == ("nextCursor" in answer.json)
            found += answer.json["items"]
        assert found == BOOKINGS

    def test_with_a_field_map_a_page_has_50_items_in_short(self, mapped: Served) -> None:  # US1.2
        first = mapped.ask("/api/v1/bookings")
        pages = list(mapped.follow("/api/v1/bookings", first))
        assert [len(page.json["items"]) for page in pages] == [50] * 10
        assert "nextCursor" not in pages[-1].json
        assert pages[-1].json["meta"]["hasMore"] is False
        for page in pages:
            check_budget(page, 4_000)
        items = [item for page in pages for item in page.json["items"]]
        assert [item["id"] for item in items] == [row["id"] for row in BOOKINGS]
        assert list(items[0]) == ["id", "status", "arrivalDate", "guest", "price"]
        assert items[0]["price"] == {"total": BOOKINGS[0]["price"]["total"]}

    def test_10_items_are_left_alone(self, plain: Served) -> None:  # US1.3
        answer = plain.ask("/small")
        assert answer.json == [{"id": number} for number in range(10)]
        assert answer.headers["x-brimgate-budget-used"] == f"{COUNT(answer.body) / 4_000:.2f}"
        assert int(answer.headers["x-brimgate-budget-remaining"]) == 4_000 - COUNT(answer.body)

    def test_a_short_list_is_paged_all_the_same(self, plain: Served) -> None:
        pages = list(plain.follow("/short", plain.ask("/short")))
        assert [len(page.json["items"]) for page in pages] == [50, 10]
        whole = plain.ask("/short", limit=200)
        assert len(whole.json) == 60

    def test_limit_is_kept_by_cursors_and_may_change(self, plain: Served) -> None:
        first = plain.ask("/short", limit=7)
        assert first.json["meta"]["pageSize"] == 7
        second = plain.ask("/short", cursor=first.json["nextCursor"])
        assert [item["id"] for item in second.json["items"]] == list(range(7, 14))
        third = plain.ask("/short", cursor=second.json["nextCursor"], limit=20)
        assert [item["id"] for item in third.json["items"]] == list(range(14, 34))

    def test_data_that_changes_underneath_shifts_no_page_and_the_application_runs_once(
        self,
    ) -> None:  # US1.4, EC-2
        app = fastapi_app()
        with serve(app) as served:
            answer = served.ask("/api/v1/bookings")
            found = answer.json["items"]
            while cursor := answer.json.get("nextCursor"):
                app.state.bookings.insert(0, {"id": -1})
                app.state.bookings.pop()
                answer = served.ask("/api/v1/bookings", cursor=cursor)
                found += answer.json["items"]
            assert found == BOOKINGS
            assert app.state.calls == ["/api/v1/bookings"]

    def test_an_envelope_keeps_its_keys_on_every_page(self) -> None:
        rows = [{"id": number, "text": "x " * 40} for number in range(120)]
        answer = {"status": "success", "result": rows, "limit": None, "meta": {"took": 3, "pageSize": 120}}
        answer |= {"nextCursor": "theirs"}
        with serve(starlette_app({"/rows": answer})) as served:
            pages = [page.json for page in served.follow("/rows", served.ask("/rows"))]
        assert [row for page in pages for row in page["result"]] == rows
        for page in pages:
            assert [key for key in page if key != "nextCursor"] == ["status", "result", "limit", "meta"]
            assert page["meta"]["took"] == 3
            assert page["meta"]["original"] == {"pageSize": 120, "nextCursor": "theirs"}
            assert page["meta"]["pageSize"] == len(page["result"])

    def test_seven_large_listings_do_not_slip_through(self, plain: Served) -> None:  # E1
        pages = list(plain.follow("/api/v1/listings", plain.ask("/api/v1/listings")))
        items = [item for page in pages for item in page.json["result"]]
        assert [item["id"] for item in items] == list(range(7))
        for page in pages:
            check_budget(page, 4_000)
            assert page.json["status"] == "success"
            assert page.json["count"] == 7
        for item in items:
            assert item["name"] == f"House {item['id']}"
            details = item["detailsAvailable"]
            assert whole_of(plain, details) == listing(item["id"])

    def test_what_a_page_left_out_is_there_by_its_index(self, mapped: Served) -> None:
        page = mapped.ask("/api/v1/bookings", cursor=mapped.ask("/api/v1/bookings").json["nextCursor"]).json
        details = page["meta"]["detailsAvailable"]
        for place in (0, 49):
            index = details["firstIndex"] + place
            parameters = {
                key: value.replace("{index}", str(index)) for key, value in details["parameters"].items()
            }
            answer = mapped.ask(details["endpoint"], **parameters)
            assert answer.json == BOOKINGS[index]

    def test_items_with_an_endpoint_of_their_own_are_found_there(self) -> None:
        app = mapped_app(details={"/api/v1/listings": "/api/v1/listings/{id}"})
        with serve(app) as served:
            page = served.ask("/api/v1/listings").json
            details = page["meta"]["detailsAvailable"]
            assert details == {"endpoint": "/api/v1/listings/{id}", "parameters": {"fields": "all"}}
            endpoint = details["endpoint"].replace("{id}", str(page["result"][3]["id"]))
            parts = list(served.follow(endpoint, served.ask(endpoint, **details["parameters"])))
            assert len(parts) > 1  # E3: it does not lead back to the preview
            whole = json.loads(rebuilt([part.json for part in parts]))
            assert whole == {"status": "success", "result": listing(3)}


def whole_of(served: Served, details: dict[str, Any]) -> Any:
    """All of something, by what its preview says."""
    path = details["parameters"].get("path", "")
    bodies = [
        part.json
        for part in served.follow(
            details["endpoint"], served.ask(details["endpoint"], **details["parameters"])
        )
    ]
    if "content" not in bodies[0]:
        return bodies[0]
    for body in bodies:
        body["meta"]["path"] = body["meta"]["path"].removeprefix(path)
    return json.loads(rebuilt(bodies))


class TestPreviews:
    def test_a_large_object_is_shown_by_its_essentials(self, mapped: Served) -> None:  # US2.1, US2.4, E2
        number = BOOKINGS[0]["id"]
        answer = mapped.ask(f"/api/v1/bookings/{number}")
        assert answer.json["summary"] == {
            "id": number,
            "status": BOOKINGS[0]["status"],
            "arrivalDate": BOOKINGS[0]["arrivalDate"],
            "guest": {"name": BOOKINGS[0]["guest"]["name"]},
            "price": {"total": BOOKINGS[0]["price"]["total"]},
        }
        meta = answer.json["meta"]
        assert meta["kind"] == "preview"
        assert meta["totalFields"] == 11
        assert meta["projectedFields"] == list(FIELDS)
        assert meta["detailsAvailable"]["endpoint"] == f"/api/v1/bookings/{number}"
        assert meta["detailsAvailable"]["parameters"] == {"fields": "all"}
        assert meta["detailsAvailable"]["sections"][:3] == ["guest", "money", "notes"]
        check_budget(answer, 600)
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["cache-control"] == "private, no-store"

    def test_a_section_comes_alone(self, mapped: Served) -> None:  # US2.2
        row = BOOKINGS[0]
        assert mapped.ask(f"/api/v1/bookings/{row['id']}", fields="guest").json == {"guest": row["guest"]}
        assert mapped.ask(f"/api/v1/bookings/{row['id']}", fields="money").json == {"price": row["price"]}
        nested = mapped.ask(f"/api/v1/bookings/{row['id']}", fields="id,price.total,price.base").json
        assert nested == {
            "id": row["id"],
            "price": {"base": row["price"]["base"], "total": row["price"]["total"]},
        }

    def test_a_small_object_is_left_alone(self) -> None:  # US2.3
        value = {"id": 1, "notes": "word " * 300}
        with serve(starlette_app({"/one": value}, endpoints={"*": Override(fields=("id",))})) as served:
            assert 300 < COUNT(served.ask("/one").body) < 500
            assert served.ask("/one").json == value

    def test_without_a_map_what_stands_out_is_kept_and_everything_is_one_request_away(
        self, plain: Served
    ) -> None:
        answer = plain.ask("/api/v1/listings/4")
        check_budget(answer, 4_000)
        summary, meta = answer.json["summary"], answer.json["meta"]
        assert (summary["id"], summary["name"], summary["status"]) == (4, "House 4", "active")
        assert "more words" in summary["description"]
        assert {"description", "listingImages", "houseRules"} <= set(meta["detailsAvailable"]["sections"])
        assert whole_of(plain, meta["detailsAvailable"]) == {"status": "success", "result": listing(4)}
        for section in meta["detailsAvailable"]["sections"]:
            only = whole_of(plain, meta["detailsAvailable"] | {"parameters": {"fields": section}})
            assert only == {section: listing(4)[section]}

    def test_all_of_what_fits_the_cap_comes_as_it_is(self, mapped: Served) -> None:
        number = BOOKINGS[3]["id"]
        answer = mapped.ask(f"/api/v1/bookings/{number}", fields="all")
        assert answer.json == BOOKINGS[3]

    def test_unknown_fields(self, mapped: Served) -> None:
        path = f"/api/v1/bookings/{BOOKINGS[0]['id']}"
        refused = mapped.ask(path, fields="nope")
        assert refused.status == 400
        assert refused.json["error"]["code"] == "invalid_fields"
        assert "listingId, status, channel" in refused.json["error"]["message"]
        some = mapped.ask(path, fields="id,nope")
        assert some.json == {"id": BOOKINGS[0]["id"]}
        assert some.headers["x-brimgate-missing-fields"] == "nope"
        page = mapped.ask("/api/v1/bookings", fields="id,nope")
        assert page.json["meta"]["missingFields"] == ["nope"]
        assert page.json["items"][:2] == [{"id": BOOKINGS[0]["id"]}, {"id": BOOKINGS[1]["id"]}]
        assert mapped.ask("/api/v1/bookings", fields="nope").status == 400
