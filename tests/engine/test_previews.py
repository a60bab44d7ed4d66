"""Objects too big to send: requirements US2, FR-015 to FR-018 and EC-3, on the engine."""

import json

from brimgate.engine.preview import excerpt
from tests.engine.holding import Held, policy, rebuilt

BOOKING = {
    "id": "BK12345",
    "description": "A quiet flat by the river. " * 300,
    "status": "confirmed",
    "guest": {
        "name": "John Doe",
        "email": "john@example.org",
        "history": [{"stay": n, "note": "x" * 60} for n in range(99)],
    },
    "amenities": [f"amenity {n}" for n in range(900)],
    "checkInDate": "2025-11-01",
    "totalPrice": 1200.00,
    "price": {"breakdown": [{"night": n, "amount": n * 1.5} for n in range(700)]},
}
DATA = json.dumps(BOOKING).encode()


def test_an_object_over_the_threshold_shows_its_essentials_and_names_its_sections() -> None:
    reply = Held(DATA, policy(2_000)).opening()
    assert reply.record["kind"] == "preview"
    for essential in (
        '"id":"BK12345"',
        '"status":"confirmed"',
        '"checkInDate":"2025-11-01"',
        '"totalPrice":1200.0',
        "John Doe",
    ):
        assert essential in reply.content, essential
    assert {"/amenities", "/price/breakdown"} <= set(reply.record["detailsAvailable"]["sections"])
    assert reply.record["totalFields"] == 8


def test_every_section_named_leads_to_that_section_in_full() -> None:
    held = Held(DATA, policy(2_000))
    opening = held.opening()
    sections = opening.record["detailsAvailable"]["sections"]
    assert sections
    for pointer in sections:
        replies = held.follow(held.read(opening.record["nextCursor"], path=pointer))
        assert all(held.tokens(reply) <= 2_000 for reply in replies)
        assert replies[0].record["path"].startswith(pointer)
        assert len(replies) > 1 or replies[0].record["kind"] in ("section", "complete")


def test_the_walk_from_a_preview_gives_back_the_whole_object() -> None:
    held = Held(DATA, policy(2_000))
    assert json.loads(rebuilt(held.walk())) == BOOKING


def test_long_texts_are_cut_with_counts_and_where_to_go_on() -> None:
    content = Held(DATA, policy(2_000)).opening().content
    assert "A quiet flat by the river." in content
    assert "more words" in content and "characters at /description]" in content


def test_an_object_with_thousands_of_keys_says_how_many_are_missing() -> None:
    data = json.dumps({f"key{n}": n for n in range(20_000)}).encode()
    held = Held(data)
    reply = held.opening()
    assert "more keys at /" in reply.content
    assert held.tokens(reply) <= 4_000


def test_a_map_of_many_like_members_shows_some_of_them_whole() -> None:
    services = {
        f"svc-{at:03d}": {
            "image": f"shop/{at}",
            "env": {"POOL": str(at), "TIER": "front"},
            "ports": [8000 + at] * 12,
        }
        for at in range(400)
    }
    content = (
        Held(json.dumps({"name": "shop", "services": services}).encode(), policy(2_000)).opening().content
    )
    assert "shop/0" in content and "POOL" in content
    assert "more keys at /services" in content
    assert content.count("tokens at /services/") <= 2


def test_under_the_threshold_nothing_changes() -> None:
    assert Held(json.dumps({"id": 1, "text": "x " * 200}).encode(), policy(2_000)).first() is None


def test_without_summaries_an_object_goes_whole_up_to_the_hard_cap_and_in_parts_beyond() -> None:
    off = policy(2_000, enable_summarization=False)
    middle = json.dumps({f"k{n}": "some words here" for n in range(900)}).encode()
    assert Held(middle, off).first() is None
    held = Held(DATA * 1, policy(2_000, enable_summarization=False, hard_output_token_cap=4_000))
    reply = held.opening()
    assert reply.record["kind"] == "page"
    assert reply.record["part"] == "members"
    assert json.loads(rebuilt(held.walk())) == BOOKING


def test_an_excerpt_begins_with_the_first_sentence_and_prefers_sentences_that_matter() -> None:
    text = (
        "First things first. Nothing here. The price is high. Nothing there. Check-in at three. "
        + "More and more. " * 50
    )
    kept = excerpt(text, 70, ("price", "check-in"))
    assert kept.text == "First things first. The price is high. Check-in at three."
    assert kept.more_words > 90
    assert kept.more_characters == len(text) - len(kept.text)


def test_an_excerpt_of_one_endless_sentence_ends_at_a_word() -> None:
    kept = excerpt("word " * 500, 62)
    assert kept.text.endswith("word") and len(kept.text) <= 62


def test_a_field_map_says_what_a_preview_of_an_object_shows_and_names_the_rest() -> None:
    """Over MCP as over REST, also for the object inside of an envelope that has a heavy list."""
    fields = ("id", "guest.name", "totalPrice")
    for value in (BOOKING, {"result": BOOKING, "status": "success"}):
        held = Held(json.dumps(value).encode(), policy(2_000, fields=fields))
        opening = held.opening()
        assert opening.record["kind"] == "preview" and opening.outcome == "preview"
        assert opening.record["projectedFields"] == list(fields)
        shown = opening.content
        assert "BK12345" in shown and "John Doe" in shown and "1200" in shown
        assert "amenity 1" not in shown and "john@example.org" not in shown
        assert ("success" in shown) == ("result" in value), "what surrounds it stays"
        sections = opening.record["detailsAvailable"]["sections"]
        base = "/result" if "result" in value else ""
        assert {f"{base}/amenities", f"{base}/price", f"{base}/description"} <= set(sections)
        for pointer in sections:
            assert held.read(opening.record["nextCursor"], path=pointer).record["path"].startswith(pointer)
        assert json.loads(rebuilt(held.walk())) == value


def test_a_list_of_items_too_large_for_a_page_is_previewed_unless_that_is_switched_off() -> None:
    data = json.dumps([{"id": n, "text": "word " * 4_000} for n in range(9)]).encode()
    assert Held(data, policy(1_000)).opening().outcome == "preview"
    off = policy(1_000, enable_summarization=False, enable_pagination=False, hard_output_token_cap=1_000)
    assert Held(data, off).opening().record["kind"] != "preview"
