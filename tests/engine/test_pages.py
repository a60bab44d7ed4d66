"""Lists: requirements US1 and FR-001 to FR-008, on the engine."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brimgate.errors import BadRequest, CursorError
from brimgate.testing import bookings
from tests.engine.holding import BINDING, NOW, Held, original, policy, rebuilt


def listing(count: int, size: int = 8) -> bytes:
    return json.dumps(
        [{"id": n, "name": f"name {n}", "text": f"lorem {n * 7919} ipsum " * size} for n in range(count)]
    ).encode()


def test_500_bookings_give_a_first_page_the_total_and_a_cursor() -> None:
    held = Held(json.dumps(bookings(500)).encode())
    reply = held.opening()
    assert reply.record["kind"] == "page"
    assert reply.record["total"]["items"] == 500
    assert reply.record["shown"]["items"] == 50 or held.tokens(reply) > 3_600, "full, or as many as fit"
    assert reply.record["nextCursor"] in reply.notice
    assert reply.text.startswith("[brimgate] items #0-")
    assert '"nextPageToken":"p-0007"' in reply.content, "what stands around the list stays"


def test_pages_follow_each_other_without_gap_or_overlap_and_the_last_has_no_cursor() -> None:
    held = Held(listing(500))
    replies = held.walk()
    seen = 0
    for reply in replies:
        assert reply.record["shown"]["from"] == seen
        seen += reply.record["shown"]["items"]
    assert seen == 500
    assert "nextCursor" not in replies[-1].record
    assert replies[-1].notice.endswith("· end")


def test_a_list_of_ten_goes_out_untouched() -> None:
    assert Held(listing(10)).first() is None


def test_a_list_that_fits_in_a_cheaper_form_is_sent_whole() -> None:
    data = json.dumps([{"identifier": n, "description": "the same text"} for n in range(400)]).encode()
    reply = Held(data, policy(4_000)).opening()
    assert reply.record["kind"] == "complete"
    assert "nextCursor" not in reply.record


def test_a_page_holds_as_many_items_as_fit_up_to_200() -> None:
    held = Held(json.dumps([{"n": n, "s": str(n * 7919)} for n in range(5_000)]).encode())
    assert held.opening().record["shown"]["items"] == 200


@settings(max_examples=20)
@given(st.lists(st.text(max_size=400), min_size=60, max_size=300), st.integers(300, 3_000))
def test_a_larger_limit_never_gives_fewer_items(texts: list[str], budget: int) -> None:
    held = Held(json.dumps([{"n": n, "text": text} for n, text in enumerate(texts)]).encode(), policy(budget))
    if (first := held.first()) is None or "nextCursor" not in first.record or first.record["kind"] != "page":
        return
    counts = [
        held.read(first.record["nextCursor"], limit=limit).record["shown"].get("items", 0)
        for limit in (1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 200)
    ]
    assert counts == sorted(counts)


def test_a_configured_page_size_is_a_cap() -> None:
    data = json.dumps([{"n": n, "s": str(n * 7919)} for n in range(5_000)]).encode()
    held = Held(data, policy(default_page_size=50))
    assert held.opening().record["shown"]["items"] == 50
    assert held.ask(limit=200).record["shown"]["items"] == 200
    assert held.ask(limit=7).record["shown"]["items"] == 7


@pytest.mark.parametrize("limit", [201, 10**9, "5000"])
def test_a_limit_over_200_is_refused_in_the_words_of_the_brief(limit: object) -> None:
    with pytest.raises(BadRequest, match="limit exceeds maximum of 200"):
        Held(listing(500)).ask(limit=limit)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"limit": 0}, "limit must be a whole number from 1 to 200"),
        ({"limit": "x"}, "limit must be a whole number from 1 to 200"),
        ({"limit": True}, "limit must be a whole number from 1 to 200"),
        ({"lines": "9-3"}, 'lines must be a range from 1 up, such as "100-200"; 9-3 is not'),
        ({"pages": "0-2"}, 'pages must be a range from 1 up, such as "100-200"; 0-2 is not'),
        ({"pages": "1-99"}, "pages spans more than"),
        ({"form": "xml"}, "format must be one of auto, "),
        ({"fields": " , "}, 'fields must name at least one field, such as "id,guest.name"'),
        ({"path": 7}, "path must be a text"),
        ({"search": "/(/"}, "search is not a valid pattern: missing )"),
        ({"search": "x" * 501}, "search is longer than 500 characters"),
    ],
)
def test_wrong_parameters_are_refused_with_what_is_right(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(BadRequest) as refused:
        Held(listing(500)).ask(**arguments)
    assert said in str(refused.value)


def test_a_cursor_dies_after_ten_minutes_and_says_to_run_again() -> None:
    """It lives its time and less than a minute more, whatever part of a minute it began in."""
    from brimgate.engine.query import Query

    for began in (NOW, NOW + 0.001, NOW + 31, NOW + 59.999):
        protection = Held(listing(500)).protection
        first = protection.protect(listing(500), BINDING, began)
        assert first is not None
        cursor = first.record["nextCursor"]
        assert protection.read(cursor, BINDING, Query(), began + 600)
        with pytest.raises(CursorError, match="run the tool again from the start"):
            protection.read(cursor, BINDING, Query(), began + 660)


def test_several_pages_come_in_one_bounded_reply() -> None:
    held = Held(json.dumps([{"n": n, "s": str(n * 7919)} for n in range(5_000)]).encode())
    reply = held.ask(pages="2-4")
    assert (reply.record["shown"]["from"], reply.record["shown"]["items"]) == (50, 150)
    assert held.tokens(reply) <= 12_000
    assert held.read(reply.record["nextCursor"]).record["shown"]["from"] == 200


def test_an_item_too_big_for_a_page_is_summarised_and_still_walked() -> None:
    data = json.dumps([{"id": n, "name": f"n{n}", "amenities": ["pool"] * 3_000} for n in range(4)]).encode()
    held = Held(data)
    reply = held.opening()
    assert reply.record["kind"] == "preview"
    assert reply.record["derived"] is True
    assert "/0/amenities" in reply.record["detailsAvailable"]["sections"]


def test_with_a_field_map_a_page_holds_condensed_items_that_lead_to_their_details() -> None:
    data = json.dumps(
        {"result": [b | {"description": "very long " * 900} for b in bookings(120)["result"]]}
    ).encode()
    held = Held(data, policy(4_000, fields=("id", "status", "guest.name", "price.total")))
    reply = held.opening()
    assert reply.record["shown"]["items"] == 50
    assert "very long" not in reply.content
    assert "guest.name" in reply.content and "#" in reply.content
    details = held.read(reply.record["detailsAvailable"]["cursor"], path="/result/3")
    assert '"id":5399961' in details.content


def test_the_budget_is_in_the_record_and_true() -> None:
    held = Held(listing(500))
    record = held.opening().record
    assert abs(record["estimatedTokens"] - held.tokens(held.opening())) <= 3
    assert record["budgetRemaining"] == 4_000 - record["estimatedTokens"]
    assert record["budgetUsed"] == round(record["estimatedTokens"] / 4_000, 2)


def test_embedding_vectors_are_left_out_of_pages_and_returned_by_the_walk() -> None:
    facts = [
        {"id": n, "fact": f"fact {n} of many", "embedding": [n / 7 + k / 1_000 for k in range(400)]}
        for n in range(80)
    ]
    data = json.dumps({"message": "ok", "facts": facts}).encode()
    held = Held(data)
    opening = held.opening()
    assert opening.record["shown"]["items"] >= 40
    assert "… 400 numbers" in opening.content
    assert opening.envelope == '{"message":"ok","facts":"<items below>"}'
    section = held.ask(path="/facts/3/embedding", form="json")
    assert json.loads(section.content) == facts[3]["embedding"]
    assert rebuilt(held.walk()) == original(data)


def test_configured_noise_and_empties_are_left_out_of_pages_and_returned_by_the_walk() -> None:
    rows = [
        {
            "id": n,
            "title": f"task {n}",
            "done": None,
            "labels": [],
            "_debug": {"trace": "x" * 300},
            "raw_html": "<p>" * 90,
        }
        for n in range(300)
    ]
    data = json.dumps(rows).encode()
    held = Held(data, policy(2_000, strip_empty=True, strip_fields=("_debug", "raw_*")))
    opening = held.opening()
    assert opening.record["shown"]["items"] == 200
    assert "bytes" in opening.content and "done" not in opening.content and "labels" not in opening.content
    assert "noise left out" in opening.notice
    assert json.loads(held.ask(path="/3/_debug", form="json").content) == rows[3]["_debug"]
    assert rebuilt(held.walk()) == original(data)
