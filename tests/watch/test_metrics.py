"""Metrics: whatever names come from outside, what is written can be read, is bounded, and adds up."""

import json
import random
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brimgate.app import worker_metrics
from brimgate.app.worker_metrics import EndedWorkers
from brimgate.watch.metrics import FAMILIES, OTHER, Metrics, exposition, lasting, merged
from brimgate.watch.record import Record
from brimgate.watch.record_store import OUTCOMES
from tests.watch.exposition import Exposition
from tests.watch.made_records import decision, record

HOSTILE: Final = (
    "new\nline",
    'a "quoted" one',
    "back\\slash\\",
    "\\n",
    'both \\" at once',
    "x" * 10_000,
    "half \ud800 a character",
    "the other \udfff half",
    "\x00\x01\x07\x1b[31m\x7f",
    "carriage\rreturn\r\n",
    "\u2028\u2029\u0085",
    'tool"} 1\nbrimgate_results_total{outcome="page',
    "# HELP brimgate_results_total no",
    "{}",
    "",
    " ",
    "🦊",
)
DURATION: Final = "mcp_server_operation_duration_seconds"


def told(*metrics: Metrics) -> Exposition:
    """What is scraped: over JSON, as from worker to worker, and read back."""
    documents = [json.loads(json.dumps(one.document())) for one in metrics]
    return Exposition(exposition(merged(documents)))


def count(metrics: Metrics, method: str = "tools/call", error: str = "", **changes: Any) -> Record:
    made = record(**changes)
    metrics.count(made, decision(method=method, error_type=error, tool=made.tool, outcome=made.outcome))
    return made


# Names from outside


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: ascii(name)[:20])
def test_a_hostile_name_harms_nobody(name: str) -> None:
    metrics = Metrics()
    count(metrics, tool="list")
    count(metrics, tool=name, error="-32000")
    count(metrics, method="", upstream=name, tool=name, error=name)
    metrics.note_catalog(name, {name: 10})
    metrics.set("brimgate_alert_active", ("upstream_failing", name))
    found = told(metrics)
    assert found.sum("brimgate_results_total") == 3
    assert found.sum("brimgate_results_total", tool="list") == 1
    labels = {text for one in found.families.values() for _, made in one.samples for _, text in made}
    assert max(map(len, labels)) <= 200
    assert not [text for text in labels if any(ord(one) < 32 or ord(one) == 127 for one in text)]


def test_plain_names_are_told_as_they_are() -> None:
    metrics = Metrics()
    for name in ("list_bookings", 'a "quoted" one', "back\\slash\\", "\\n", "Füchse 🦊"):
        count(metrics, tool=name)
    assert told(metrics).by("brimgate_results_total", "tool") == dict.fromkeys(
        ("list_bookings", 'a "quoted" one', "back\\slash\\", "\\n", "Füchse 🦊"), 1.0
    )


def test_names_that_are_told_alike_have_one_series() -> None:
    metrics = Metrics()
    for name in ("\ud800", "\ud801", "\udfff", "?"):
        count(metrics, tool=name)
    for ending in ("a", "b"):
        count(metrics, tool="x" * 9_000 + ending)
    assert sorted(told(metrics).by("brimgate_results_total", "tool").values()) == [2, 4]


@pytest.mark.property
@given(st.lists(st.text(st.characters(exclude_categories=()), max_size=30), max_size=20))
def test_any_names_can_be_scraped(names: list[str]) -> None:
    metrics = Metrics()
    for name in names:
        count(metrics, upstream=name[:5], tool=name, error=name)
    assert told(metrics).sum("brimgate_results_total") == len(names)


# How many series


def test_two_hundred_tools_have_series_of_their_own_and_the_rest_one() -> None:
    metrics = Metrics()
    for number in range(1_000):
        count(metrics, tool=f"tool_{number}")
        count(metrics, tool=f"tool_{number}", outcome="page")
    found = told(metrics).by("brimgate_results_total", "tool")
    assert len(found) == 201 and found[OTHER] == 2 * 800 and sum(found.values()) == 2_000
    assert found["tool_199"] == 2 and "tool_200" not in found


def test_tools_that_only_fail_take_no_place() -> None:
    metrics = Metrics()
    for number in range(1_000):
        count(metrics, tool=f"made_up_{number}", outcome=("error", "refused")[number % 2], error="-32602")
    count(metrics, tool="real")
    count(metrics, tool="real", outcome="error", error="tool_error")
    assert told(metrics).by("brimgate_results_total", "tool") == {OTHER: 1_000, "real": 2}
    assert set(told(metrics).by(f"{DURATION}_count", "gen_ai_tool_name")) == {OTHER, "real"}


def test_a_tool_that_is_listed_is_told_though_it_only_fails() -> None:
    metrics = Metrics()
    metrics.note_catalog("crm", {"broken": 50, "list": 70})
    count(metrics, tool="broken", outcome="error", error="tool_error")
    count(metrics, upstream="other", tool="broken", outcome="error", error="tool_error")
    found = told(metrics)
    assert found.by("brimgate_results_total", "tool", upstream="crm") == {"broken": 1, "list": 0}
    assert found.by("brimgate_results_total", "tool", upstream="other") == {OTHER: 1}
    assert found.by("brimgate_catalog_tokens", "upstream") == {"crm": 120}


def test_a_listed_tool_is_told_before_its_first_answer() -> None:
    """Else Prometheus would see its first answer as no increase."""
    metrics = Metrics()
    metrics.note_catalog("crm", {"list": 70})
    before = told(metrics)
    assert before.by("brimgate_results_total", "outcome", tool="list") == dict.fromkeys(OUTCOMES, 0)
    assert before.by("brimgate_result_tokens_count", "stage", tool="list") == {"before": 0, "after": 0}
    count(metrics, upstream="crm", tool="list", outcome="page")
    assert told(metrics).by("brimgate_results_total", "outcome", tool="list")["page"] == 1


def test_codes_of_errors_are_bounded() -> None:
    metrics = Metrics()
    for number in range(1_000):
        count(metrics, tool="list", outcome="error", error=str(number))
    errors = told(metrics).by(f"{DURATION}_count", "error_type")
    assert len(errors) == 31 and errors[OTHER] == 970


def test_a_family_that_is_full_keeps_the_words_that_are_ours() -> None:
    metrics = Metrics()
    for number in range(3_000):
        metrics.add("brimgate_results_total", ("page", f"up{number}", "tool"))
        metrics.add("brimgate_results_total", ("passed", f"up{number}", "tool"))
    found = told(metrics)
    assert found.by("brimgate_results_total", "outcome") == {"page": 3_000, "passed": 3_000}
    assert len(found.series("brimgate_results_total")) == 2_002


def test_no_label_names_a_caller() -> None:
    metrics = Metrics()
    made = record(principal="static:0123456789ab", client="secret-client")
    metrics.count(made, decision(principal="alice", principal_id="static:alice", method="tools/call"))
    text = exposition(merged([metrics.document()]))
    assert not [one for one in (b"alice", b"0123456789ab", b"secret-client") if one in text]
    labels = {one for family in FAMILIES.values() for one in family.labels}
    assert not labels & {"principal", "user", "client", "session", "request_id", "path", "cursor"}


# Numbers


def test_histograms_are_cumulative_and_exact() -> None:
    metrics, draw = Metrics(), random.Random(7)
    sizes = [0, 1, 249, 250, 251, 256_000, 256_001, 10**9, *(draw.randrange(500_000) for _ in range(500))]
    for size in sizes:
        count(metrics, original_tokens=size, estimated_tokens=size // 2, latency_us=size)
    found = told(metrics)
    before = found.by("brimgate_result_tokens_bucket", "le", stage="before")
    for bound, many in before.items():
        assert many == sum(size <= float(bound) for size in sizes), bound
    assert found.sum("brimgate_result_tokens_sum", stage="before") == sum(sizes)
    assert found.sum("brimgate_result_tokens_sum", stage="after") == sum(size // 2 for size in sizes)
    assert found.sum("brimgate_result_tokens_count", stage="after") == len(sizes)
    assert found.sum(f"{DURATION}_sum") == pytest.approx(sum(sizes) / 1e6)
    assert len(before) == 12 and before["+Inf"] == len(sizes)


def test_reads_are_counted_once_and_not_as_answers_that_came() -> None:
    metrics = Metrics()
    count(
        metrics,
        outcome="page",
        original_tokens=5_000,
        estimated_tokens=900,
        cursor_issued=True,
        oversized=True,
    )
    count(
        metrics,
        tool="brimgate_read",
        outcome="read",
        cursor_followed=True,
        cursor_issued=True,
        estimated_tokens=800,
    )
    count(metrics, tool="brimgate_read", outcome="refused", cursor_expired=True, kind="")
    found = told(metrics)
    assert found.sum("brimgate_cursors_issued_total") == found.sum("brimgate_cursors_expired_total") == 1
    assert found.by("brimgate_reads_total", "kind") == {"list": 1, "object": 0, "text": 0, "other": 0}
    assert found.sum("brimgate_result_tokens_sum", stage="before") == 5_000 + 100
    assert found.sum("brimgate_result_tokens_sum", stage="after") == 900 + 800 + 100
    assert found.sum("brimgate_oversized_total") == 1


def test_what_is_known_beforehand_is_told_as_nothing() -> None:
    found = told(Metrics())
    for name, family in FAMILIES.items():
        if family.kind == "counter" and (family.known or not family.labels):
            assert set(found.series(name).values()) == {0.0}, "the first one would be no increase"
            assert len(found.series(name)) == max(len(family.known), 1)
    assert found.by("brimgate_reload_seconds_count", "result") == {"applied": 0, "rejected": 0}


def test_an_answer_over_rest_has_its_duration_too() -> None:
    metrics = Metrics()
    count(metrics, method="", tool="/v1/bookings", latency_us=300_000)
    found = told(metrics)
    assert found.sum("brimgate_rest_duration_seconds_bucket", le="0.5", tool="/v1/bookings") == 1
    assert found.sum("brimgate_rest_duration_seconds_bucket", le="0.2") == 0
    assert not found.series(f"{DURATION}_count")


def test_names_and_units_are_those_that_prometheus_expects() -> None:
    for name, family in FAMILIES.items():
        assert (family.kind == "counter") is name.endswith("_total"), name
        assert name.startswith(("brimgate_", "mcp_server_", "process_")) and name == name.lower()
        assert family.doc.endswith(".") and "\n" not in family.doc
        assert not name.endswith(("_ms", "_kb", "_count", "_sum", "_bucket"))
        assert all(low < high for low, high in pairwise(family.buckets))
        assert bool(family.buckets) is (family.kind == "histogram")
        assert not family.known or len(family.labels) == 1


# Several processes


def test_the_processes_of_a_port_are_added_up() -> None:
    one, other = Metrics(), Metrics()
    for metrics, times in ((one, 3), (other, 4)):
        for _ in range(times):
            count(metrics, outcome="page", original_tokens=600)
        metrics.add("brimgate_telemetry_dropped_total", (), times)
        metrics.set("brimgate_sessions", ("crm",), times)
        metrics.set("brimgate_upstream_up", ("crm",), metrics is one)
        metrics.set("process_start_time_seconds", (), times)
        metrics.set("brimgate_catalog_tokens", ("crm",), 100 * times)
    count(other, tool="only_there")
    found = told(one, other)
    assert found.sum("brimgate_results_total") == 8
    assert found.sum("brimgate_results_total", tool="list") == 7
    assert found.sum("brimgate_result_tokens_bucket", stage="before", le="1000") == 8
    assert found.sum("brimgate_result_tokens_sum", stage="before", tool="list") == 7 * 600
    assert found.sum("brimgate_telemetry_dropped_total") == 7 and found.sum("brimgate_sessions") == 7
    assert found.sum("brimgate_upstream_up") == 0, "one of them does not reach it"
    assert found.sum("process_start_time_seconds") == 3 and found.sum("brimgate_catalog_tokens") == 400
    assert told(one, other).counting() == told(other, one).counting()


def test_a_process_of_another_version_does_not_spoil_the_scrape() -> None:
    metrics = Metrics()
    count(metrics)
    strange: dict[str, Any] = {
        "brimgate_results_total": [[["page", "crm"], [1.0]]],
        "brimgate_result_tokens": [[["before", "crm", "list"], [1.0, 2.0]]],
        "brimgate_of_the_future_total": [[[], [1.0]]],
    }
    assert (
        Exposition(exposition(merged([metrics.document(), strange]))).counting() == told(metrics).counting()
    )


def test_nothing_gets_less_when_a_worker_ends_or_is_silent(tmp_path: Path) -> None:
    """Otherwise Prometheus would take all that is left for new."""
    workers = {name: Metrics() for name in ("a", "b", "c")}
    ended = EndedWorkers(tmp_path)

    def scraped(*answering: str) -> Exposition:
        """As worker `a` answers, which hears from these."""
        answers: dict[str, bytes] = {}
        for name in ("a", *answering):
            document = workers[name].document()
            worker_metrics.keep(tmp_path, name, document)
            answers[name] = json.dumps(document).encode()
        own = answers.pop("a")
        return Exposition(
            exposition(merged([json.loads(own), *worker_metrics.of_others(tmp_path, "a", answers)]))
        )

    for metrics in workers.values():
        count(metrics)
        metrics.set("brimgate_sessions", ("crm",), 1)
    assert scraped("b", "c").sum("brimgate_results_total") == 3
    assert scraped("b").sum("brimgate_results_total") == 3, "it is slow, and nobody has forgotten it"
    count(workers["c"])
    worker_metrics.keep(tmp_path, "c", workers["c"].document())
    assert scraped("b").sum("brimgate_results_total") == 4, "and the last that it told before its end"
    ended.add("c")
    found = scraped("b")
    assert found.sum("brimgate_results_total") == 4 and found.sum("brimgate_sessions") == 2
    ended.note_reload("rejected", 0.1)
    ended.add("b")
    found = scraped()
    assert found.sum("brimgate_results_total") == 4 and found.sum("brimgate_sessions") == 1
    assert found.by("brimgate_reload_seconds_count", "result")["rejected"] == 1
    assert not list(tmp_path.glob("b.*")) and ended.add("never there") is None
    ended.remove()
    worker_metrics.keep(tmp_path / "gone", "a", {})


def test_what_has_ended_counts_and_no_longer_is() -> None:
    metrics = Metrics()
    metrics.set("brimgate_sessions", ("crm",), 3)
    count(metrics)
    kept = lasting(merged([metrics.document()]))
    assert "brimgate_sessions" not in kept and "process_resident_memory_bytes" not in kept
    assert Exposition(exposition(merged([kept]))).counting() == told(metrics).counting()
