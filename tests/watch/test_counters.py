"""What `/health` tells of a process: counters of all that it has answered (FR-032)."""

import time
from typing import Any

from brimgate.watch.counters import Counters
from brimgate.watch.record import Record, fingerprint, tool_name


def record(age_days: float = 0.0, **changes: Any) -> Record:
    """A record of a page, with changes."""
    usual = Record(
        time.time() - 86_400 * age_days, "up", "tool", "client", "local", "page", "protected", "list", "", 5_000, 1_000, 0,
        20_000, 4_000, 100, 20, 3_000, 1_000, cursor_issued=True, cursor_followed=False, cursor_expired=False,
        oversized=True, repeated=0, highlights=2, answer=7,
    )  # fmt: skip
    return usual._replace(**changes)


def test_adoption_is_the_share_of_its_kind() -> None:
    counters = Counters()
    for kind, outcome in (
        *(("list", "page"),) * 3,
        ("list", "passed"),
        *(("object", "preview"),) * 1,
        *(("object", "passed"),) * 4,
        ("text", "chunk"),
        ("", "read"),
    ):
        counters.count(record(kind=kind, outcome=outcome, oversized=outcome in ("page", "preview", "chunk")))
    document = counters.document(3_600.4)
    assert document["pagination_adoption"] == 0.75 and document["summarization_adoption"] == 0.2
    assert document["total_requests"] == 11 and document["oversized_events"] == 5
    assert document["avg_response_size_bytes"] == 4_000 and document["avg_latency_ms"] == 3.0
    assert document["uptime_seconds"] == 3_600


def test_nothing_is_divided_by_nothing() -> None:
    assert Counters().document(0.0) == {
        "total_requests": 0,
        "pagination_adoption": 0.0,
        "summarization_adoption": 0.0,
        "avg_response_size_bytes": 0,
        "avg_latency_ms": 0.0,
        "oversized_events": 0,
        "uptime_seconds": 0,
    }


def test_what_is_read_on_is_taken_off_what_was_saved() -> None:
    counters = Counters()
    counters.count(record())
    counters.count(record(outcome="read", cursor_followed=True, estimated_tokens=900))
    assert (counters.original_tokens, counters.estimated_tokens, counters.saved_tokens) == (
        5_000,
        1_900,
        3_100,
    )
    assert counters.reductions == 1


def test_a_path_is_told_without_what_names_one_thing() -> None:
    told = {
        "/api/v1/listings/40160": "/api/v1/listings/{id}",
        "/api/v1/listings/40160/prices/7": "/api/v1/listings/{id}/prices/{id}",
        "/things/0b0e8f9a-93a1-4a4b-9f50-0a8b1f5ab0cd": "/things/{id}",
        "/bookings/BK-100959": "/bookings/{id}",
        "/reservations/HM4K9ABCDE": "/reservations/{id}",
        "/guests/jane.doe@example.org": "/guests/{id}",
        "/listings/Villa Jane Doe": "/listings/{id}",
        "/api/v1/seasonal-rules/price_details": "/api/v1/seasonal-rules/price_details",
        "/api/v1/listings": "/api/v1/listings",
        "/": "/",
        "list_2024": "list_2024",
        "resources/read": "resources/read",
        "my password is secret": "_odd_name",
    }
    assert {path: tool_name(path) for path in told} == told


def test_a_principal_is_told_by_a_digest() -> None:
    found = fingerprint("static:alice")
    assert found.startswith("static:") and "alice" not in found
    assert found == fingerprint("static:alice") != fingerprint("static:alice2")
    assert fingerprint("local") == "local"
