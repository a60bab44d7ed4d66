"""Recording never fails, delays or grows a request, whatever becomes of the file: what is lost is counted and told."""

import itertools
import os
import sqlite3
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from brimgate.engine.decision import AnswerSizes, Decision
from brimgate.watch import record_store, recorder
from brimgate.watch.recorder import Recorder, Surroundings, record_now, recording
from tests.conftest import ROOT
from tests.http.serving import wait_until
from tests.watch.made_records import (
    NOON,
    Told,
    add,
    answers_in,
    decision,
    figures,
    locked,
    record,
    store_at,
    telemetry,
)

QUICK_SECONDS = 2.0
"""A take needs a few microseconds. This is what a shared machine may add to a thousand of them."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "records.db"


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for a locked file, and until the next look, no longer than a test has to."""
    monkeypatch.setattr(record_store, "_BUSY_SECONDS", 0.2)
    monkeypatch.setattr(recorder, "_INTERVAL_SECONDS", 0.05)


@contextmanager
def recorded(path: Path, told: Told | None = None, **changes: Any) -> Iterator[Recorder]:
    one = Recorder(telemetry(path, **changes), told or Told())
    try:
        yield one
    finally:
        one.close(60)


def take_quickly(one: Recorder, many: int = 1_000, **changes: Any) -> None:
    """Take decisions, and check that nobody would have waited."""
    made = [decision(**changes) for _ in range(many)]
    began = time.monotonic()
    for each in made:
        one.take(each)
    assert time.monotonic() - began < QUICK_SECONDS


def dropped_in(path: Path) -> int:
    return sum(figures(path).lost.values())


def is_kept(path: Path, many: int) -> Callable[[], bool]:
    def look() -> bool:
        return path.exists() and rows_in(path) == many

    return look


def rows_in(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        try:
            return connection.execute("SELECT coalesce(sum(records), 0) FROM blocks").fetchone()[0]
        except sqlite3.Error:
            return -1


# When all is well


def test_what_is_taken_is_found_in_the_file_soon(path: Path) -> None:
    told = Told()
    with recorded(path, told) as one:
        take_quickly(one, 1_000)
        wait_until(is_kept(path, 1_000), "records")
        take_quickly(one, 10, tool="get")
        wait_until(is_kept(path, 1_010), "more records")
        assert one.counters.answers == 1_010
    assert not told.lines
    assert {row.name: row.calls for row in figures(path).rows} == {"crm/list": 1_000, "crm/get": 10}


def test_close_keeps_what_is_left(path: Path) -> None:
    one = Recorder(telemetry(path), Told())
    take_quickly(one, 50)
    one.close(60)
    assert answers_in(path) == 50
    one.close()


def test_what_is_taken_after_close_fails_nobody(path: Path) -> None:
    one = Recorder(telemetry(path), Told())
    take_quickly(one, 5)
    one.close(60)
    take_quickly(one, 20_000)
    one.close()
    assert answers_in(path) == 5


def test_a_recorder_that_took_nothing_makes_no_file_and_no_thread(path: Path) -> None:
    before = threading.active_count()
    Recorder(telemetry(path), Told()).close()
    assert threading.active_count() == before and not path.exists()


def test_a_recorder_that_is_switched_off_counts_and_keeps_nothing(path: Path) -> None:
    with recorded(path, enabled=False) as one:
        take_quickly(one, 10)
        one.flush()
        assert one.counters.answers == 10
    assert not path.exists()


def test_applications_record_beside_what_they_report(path: Path) -> None:
    seen: list[Decision] = []
    report = recording(seen.append, telemetry(path))
    for _ in range(3):
        report(decision())
    assert len(seen) == 3
    wait_until(is_kept(path, 3), "records")
    assert recording(seen.append, None) == seen.append


def test_a_list_of_tools_is_kept_with_all_of_its_pages(path: Path) -> None:
    with recorded(path) as one:
        one.take_catalog("crm", lambda: {"list": 30, "get": 20}, is_first=True)
        one.take_catalog("crm", lambda: {"put": 10}, is_first=False)
        one.flush()
        assert figures(path).catalogs == {"crm": {"list": 30, "get": 20, "put": 10}}
        one.take_catalog("crm", lambda: {"list": 30}, is_first=True)
        one.flush()
        assert figures(path).catalogs == {"crm": {"list": 30}}


def test_hostile_lists_of_tools_harm_nothing(path: Path) -> None:
    told = Told()
    with recorded(path, told) as one:
        one.take_catalog("crm", lambda: {"\ud800": 1, "x" * 1_000_000: 2, "": 3, "a\0b": 4}, is_first=True)
        one.take_catalog("wiki", lambda: {"fails": 1 // 0}, is_first=True)
        for page in range(30):
            one.take_catalog(
                "vast", lambda page=page: {f"{page} {n}": 1 for n in range(1_000)}, is_first=False
            )
        one.take(decision())
        one.flush()
        found = figures(path)
    assert found.total.calls == 1 and sum(found.catalogs["crm"].values()) == 10
    assert sum(found.catalogs["vast"].values()) == 10_000
    assert found.lost == {}, "a list of tools is no record"
    assert told.events == ["record_failed"]


# Counting


def test_every_decision_is_counted_once_whoever_counts(path: Path) -> None:
    stop = threading.Event()

    def repeat(work: Callable[[], None]) -> Callable[[], None]:
        def run() -> None:
            while not stop.is_set():
                work()

        return run

    told = Told()
    with recorded(path, told) as one:
        helpers = [
            threading.Thread(target=repeat(work)) for work in (one.flush, one.count, one.flush, one.count)
        ]
        for each in helpers:
            each.start()
        for _ in range(40):
            take_quickly(one, 500)
            one.count()
        stop.set()
        for each in helpers:
            each.join(60)
        one.flush()
        assert one.counters.answers + dropped_in(path) == 20_000
    found = figures(path)
    assert found.total.calls + sum(found.lost.values()) == 20_000
    assert found.total.calls == one.counters.answers


def test_several_threads_take_and_nothing_is_lost_unseen(path: Path) -> None:
    before = threading.active_count()
    with recorded(path) as one:
        helpers = [threading.Thread(target=take_quickly, args=(one, 2_000)) for _ in range(8)]
        for each in helpers:
            each.start()
        for each in helpers:
            each.join(60)
    assert threading.active_count() == before, "two threads were started, and one was forgotten"
    assert answers_in(path) + dropped_in(path) == 16_000


def test_counting_ends_though_decisions_come_without_end(path: Path) -> None:
    def one_more() -> AnswerSizes:
        one.take(decision(sizes=one_more))
        return AnswerSizes(1, 1)

    with recorded(path) as one:
        one.take(decision(sizes=one_more))
        for _ in range(5):
            one.flush()
        assert one.counters.answers >= 5
        assert answers_in(path) >= 5


def test_a_size_that_cannot_be_measured_costs_one_record_only(path: Path) -> None:
    def fail() -> AnswerSizes:
        raise RuntimeError("no such document")

    told = Told()
    with recorded(path, told) as one:
        for sizes in (AnswerSizes(1, 1), fail, lambda: AnswerSizes(2, 2)):
            one.take(decision(sizes=sizes))
        one.flush()
        assert figures(path).total.tokens_before == 3
        assert figures(path).lost == {"cannot be measured": 1}
        assert one.counters.answers == 2
    assert told.events[0] == "record_failed" and "alert" in told.events


def test_a_failure_with_every_answer_does_not_flood_the_log(path: Path) -> None:
    told = Told()
    with recorded(path, told) as one:
        take_quickly(one, 1_000, sizes=lambda: 1 // 0)
        one.flush()
        assert figures(path).lost == {"cannot be measured": 1_000}
    assert told.events.count("record_failed") == 1


def test_a_sample_that_cannot_be_shown_costs_the_sample_only(path: Path) -> None:
    def fail() -> bytes:
        raise RuntimeError("gone")

    told = Told()
    with recorded(path, told, sample_share=1.0) as one:
        for shown in (lambda: b"some text", fail, lambda: b"\xff\xfe", lambda: b""):
            one.take(decision(shown=shown, estimate_method="o200k"))
        one.flush()
        assert (figures(path).total.calls, figures(path).lost) == (4, {})
        assert one.counters.answers == 4
    assert "sample_failed" in told.events


@pytest.mark.parametrize(
    ("odd", "kept"),
    [
        ({"time": float("nan")}, 2),
        ({"time": float("inf")}, 2),
        ({"time": -1.0}, 3),
        ({"time": 4_102_444_800.0}, 3),
        ({"upstream_seconds": float("nan")}, 2),
        ({"engine_seconds": float("inf")}, 2),
        ({"upstream_seconds": -5.0}, 3),
        ({"sizes": AnswerSizes(1 << 40, -3)}, 3),
        ({"tool": "\ud800\0\n", "client": "\udfff", "principal_id": "key:\ud800"}, 3),
        ({"tool": "x" * 1_000_000}, 3),
        ({"outcome": "made up"}, 2),
        ({"answer": 1 << 70, "highlights": -1}, 3),
    ],
)
def test_an_odd_decision_harms_no_other(path: Path, odd: dict[str, Any], kept: int) -> None:
    with recorded(path) as one:
        for changes in ({}, odd, {}):
            one.take(decision(**changes))
        one.flush()
        one.flush()
        found = figures(path)
    assert (found.total.calls, sum(found.lost.values())) == (kept, 3 - kept)


def test_a_log_that_fails_ends_nothing(path: Path) -> None:
    def fail(event: str, fields: dict[str, Any], level: str) -> None:
        raise ValueError("I/O operation on closed file")

    one = Recorder(telemetry(path), fail)
    take_quickly(one, 10, sizes=lambda: 1 // 0)
    take_quickly(one, 10)
    wait_until(is_kept(path, 10), "records")
    one.close(60)


def test_what_surrounds_us_may_fail(path: Path) -> None:
    told = Told()
    one = Recorder(telemetry(path), told, Surroundings(failing=lambda: {"a": str(1 // 0)}))
    take_quickly(one, 10)
    wait_until(is_kept(path, 10), "records")
    take_quickly(one, 10)
    wait_until(is_kept(path, 20), "more records")
    one.close(60)
    assert "records_failed" in told.events


def test_a_system_without_threads_to_give_fails_no_request(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with recorded(path) as one:
        with monkeypatch.context() as changed:
            changed.setattr(threading.Thread, "start", refuse)
            take_quickly(one, 100)
        take_quickly(one, 1)
        wait_until(is_kept(path, 101), "records")


# The queue


def test_the_queue_is_bounded_and_drops_are_counted_exactly(path: Path) -> None:
    add(store_at(path), record())
    held = threading.Event()
    go_on = threading.Event()

    def measure() -> AnswerSizes:
        held.set()
        assert go_on.wait(60)
        return AnswerSizes(1, 1)

    told = Told()
    with recorded(path, told) as one:
        one.take(decision(sizes=measure))
        assert held.wait(60)
        tracemalloc.start()
        try:
            for made in itertools.repeat(decision(), 100_000):
                one.take(replace(made))
            grown, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert grown < 8 << 20
        assert one.dropped == 90_000
        go_on.set()
        wait_until(is_kept(path, 10_002), "records")
        one.flush()
        assert figures(path).lost == {"more came than could be measured": 90_000}
    assert told.fields("alert")["alert"] == "records_dropped"


def test_large_answers_in_the_queue_are_bounded_by_their_bytes(path: Path) -> None:
    held, go_on = threading.Event(), threading.Event()

    def measure() -> AnswerSizes:
        held.set()
        assert go_on.wait(60)
        return AnswerSizes(1, 1)

    with recorded(path) as one:
        one.take(decision(sizes=measure, original_bytes=1 << 20))
        assert held.wait(60)
        for _ in range(100):
            one.take(decision(original_bytes=1 << 20))
        assert one.dropped == 100 - 32
        go_on.set()
        wait_until(is_kept(path, 33), "records")
        take_quickly(one, 20, original_bytes=1 << 20)
        wait_until(is_kept(path, 53), "later records")


def test_a_queue_that_fills_is_counted_before_the_second_is_over(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "_INTERVAL_SECONDS", 600.0)
    with recorded(path) as one:
        for expected in range(20, 200, 20):
            take_quickly(one, 20, original_bytes=1 << 20)
            wait_until(lambda expected=expected: one.counters.answers >= expected, "answers are counted")
        assert one.dropped == 0


def test_records_that_wait_for_a_locked_file_are_bounded_though_others_count(path: Path) -> None:
    add(store_at(path), record())
    told = Told()
    with recorded(path, told) as one:
        with locked(path):
            for _ in range(10):
                take_quickly(one, 5_000)
                one.count()
            assert one.counters.answers == 50_000
            assert one._desk is not None
            assert one._desk.waiting <= 40_000
        wait_until(lambda: answers_in(path) + dropped_in(path) == 50_001, "all are kept or counted")
    assert "records_unusable" in told.events and "records_kept_again" in told.events


# Trouble with the file


def test_a_folder_that_cannot_be_made_is_told_and_its_records_are_counted(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "records.db"
    told = Told()
    with recorded(path, told) as one:
        take_quickly(one, 1_000)
        wait_until(lambda: "records_unusable" in told.events, "the loss is told")
        for _ in range(4):
            take_quickly(one, 4_000)
            one.flush()
        assert one.counters.answers == 17_000
        (tmp_path / "file").unlink()
        wait_until(lambda: "records_kept_again" in told.events, "records are kept again")
        one.flush()
        assert answers_in(path) + dropped_in(path) == 17_000
        assert answers_in(path) >= 10_000
    assert told.events.count("records_unusable") == 1


def test_a_file_where_no_folder_can_ever_be_fails_nobody() -> None:
    told = Told()
    one = Recorder(telemetry(Path("/dev/null/x/records.db")), told)
    take_quickly(one, 1_000)
    one.flush()
    one.close(60)
    assert one.counters.answers == 1_000
    assert "records_unusable" in told.events
    assert told.fields("records_lost")["records"] == 1_000


def test_a_locked_file_delays_nobody_and_costs_nothing(path: Path) -> None:
    add(store_at(path), record())
    told = Told()
    with recorded(path, told) as one:
        with locked(path):
            take_quickly(one, 1_000)
            wait_until(lambda: "records_unusable" in told.events, "it is told")
            take_quickly(one, 1_000)
        wait_until(is_kept(path, 2_001), "records")
    assert "locked" in told.fields("records_unusable")["error"]
    assert figures(path).lost == {}


def test_a_new_file_that_is_locked_at_first_is_used_later(path: Path) -> None:
    told = Told()
    with recorded(path, told) as one:
        with locked(path):
            take_quickly(one, 100)
            wait_until(lambda: "records_unusable" in told.events, "it is told")
        wait_until(is_kept(path, 100), "records")


def test_close_returns_in_time_while_the_file_is_locked(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_store, "_BUSY_SECONDS", 30.0)
    add(store_at(path), record())
    told = Told()
    one = Recorder(telemetry(path), told)
    with locked(path):
        take_quickly(one, 100)
        began = time.monotonic()
        one.close(0.5)
        assert time.monotonic() - began < 5
        assert told.fields("records_unfinished")["records"] == 100
    wait_until(is_kept(path, 101), "they were kept after all")


def test_a_file_of_noise_is_moved_aside_and_told(path: Path) -> None:
    noise = os.urandom(20_000)
    path.write_bytes(noise)
    told = Told()
    with recorded(path, told) as one:
        take_quickly(one, 100)
        wait_until(lambda: "records_kept_again" in told.events, "records are kept again")
        assert answers_in(path) == 100
    moved = Path(told.fields("records_damaged")["moved"])
    assert moved.read_bytes() == noise


@pytest.mark.parametrize("left", [0, 100, 5_000, 9_000])
def test_a_file_that_is_cut_in_use_is_replaced(path: Path, left: int) -> None:
    told = Told()
    with recorded(path, told) as one:
        take_quickly(one, 3_000)
        one.flush()
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        os.truncate(path, left)
        for _ in range(5):
            take_quickly(one, 100)
            one.flush()
        wait_until(lambda: rows_in(path) >= 100, "records are kept again")
    assert answers_in(path) + dropped_in(path) >= 100


def test_a_file_that_is_overwritten_in_use_is_replaced(path: Path) -> None:
    told = Told()
    with recorded(path, told) as one:
        take_quickly(one, 3_000)
        one.flush()
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        with path.open("r+b") as file:
            file.write(os.urandom(path.stat().st_size))

        def is_kept_again() -> bool:
            take_quickly(one, 10, tool=f"tool {time.monotonic()}")
            one.flush()
            return rows_in(path) >= 10

        wait_until(is_kept_again, "records are kept again")
    assert answers_in(path) >= 10


@pytest.mark.parametrize("version", [0, 1, 9])
def test_a_file_of_another_application_is_left_alone(path: Path, version: int) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE notes (text TEXT)")
        connection.execute(f"PRAGMA user_version = {version}")
        connection.commit()
    before = path.read_bytes()
    told = Told()
    with recorded(path, told) as one:
        for _ in range(3):
            take_quickly(one, 100)
            one.flush()
        assert path.read_bytes() == before
        assert "something else" in told.fields("records_unusable")["error"]
        path.unlink()
        wait_until(is_kept(path, 300), "records are kept in a file of our own")


def test_a_newer_file_is_left_alone(path: Path) -> None:
    with closing(store_at(path)) as store:
        add(store, record())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 2")
        connection.commit()
    told = Told()
    with recorded(path, told) as one:
        for _ in range(3):
            take_quickly(one, 100)
            one.flush()
    assert rows_in(path) == 1
    assert "newer" in told.fields("records_unusable")["error"]
    assert told.fields("records_lost")["records"] == 300


@pytest.mark.parametrize("suffixes", [("",), ("-wal",), ("", "-wal", "-shm"), ("-shm",)], ids=" ".join)
def test_files_that_are_deleted_in_use_are_made_anew(path: Path, suffixes: tuple[str, ...]) -> None:
    told = Told()
    with recorded(path, told) as one:
        take_quickly(one, 100)
        one.flush()
        for suffix in suffixes:
            Path(f"{path}{suffix}").unlink()
        take_quickly(one, 100)
        one.flush()
        assert answers_in(path) >= 100
        take_quickly(one, 100)
        one.flush()
        assert answers_in(path) >= 200
    assert answers_in(path) >= 200


def test_a_file_that_is_replaced_in_use_is_used(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    with closing(store_at(other)) as store:
        add(store, record(tool="theirs"))
    with recorded(path) as one:
        take_quickly(one, 100)
        one.flush()
        other.replace(path)
        take_quickly(one, 100)
        one.flush()
        found = {row.name: row.calls for row in figures(path).rows}
    assert found["crm/theirs"] == 1 and found["crm/list"] >= 100


def test_a_small_file_goes_on_taking_records(path: Path) -> None:
    told = Told()
    with recorded(path, told, max_bytes=1 << 20) as one:
        for at in range(20):
            take_quickly(one, 5_000, time=NOON + at)
            one.flush()
        assert dropped_in(path) == 0
        assert figures(path).last == NOON + 19
        assert path.stat().st_size <= 1 << 20
    assert not told.lines


def test_a_disk_that_fills_up_is_told_and_used_again_when_there_is_room(path: Path) -> None:
    add(store_at(path), record())
    command = [sys.executable, "-m", "tests.watch.writing_process", str(path), "4", "4000", "limit=200000"]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=240, check=False)
    limited, closed = ran.stdout.splitlines()
    assert "records_unusable" in limited and "records_damaged" not in closed, ran.stderr
    assert "records_kept_again" in closed
    assert answers_in(path) + dropped_in(path) == 16_001
    assert answers_in(path) > 10_000


# A command with one answer


def test_a_command_records_its_one_answer(path: Path) -> None:
    told = Told()
    record_now(decision(), telemetry(path), told)
    record_now(decision(), telemetry(path, enabled=False), told)
    assert answers_in(path) == 1 and not told.lines


@pytest.mark.parametrize("odd", [{"time": float("nan")}, {"sizes": lambda: 1 // 0}, {"outcome": ""}])
def test_a_command_never_fails_by_its_record(path: Path, odd: dict[str, Any]) -> None:
    told = Told()
    record_now(decision(**odd), telemetry(path), told)
    record_now(decision(), telemetry(path), told)
    assert answers_in(path) == 1
    assert len(told.lines) + dropped_in(path) == 1


def test_a_command_does_not_wait_long_for_a_locked_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_store, "_BUSY_SECONDS", 60.0)
    add(store_at(path), record())
    told = Told()
    with locked(path):
        began = time.monotonic()
        record_now(decision(), telemetry(path), told)
        assert time.monotonic() - began < 10
    assert told.events == ["records_unusable"]
    record_now(decision(), telemetry(Path("/dev/null/x")), told)
    assert told.events == ["records_unusable"] * 2


def test_commands_that_end_at_once_share_a_new_file(path: Path) -> None:
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from brimgate.watch.recorder import record_now\n"
        "from tests.watch.made_records import Told, decision, telemetry\n"
        "told = Told()\n"
        "record_now(decision(), telemetry(Path(sys.argv[1])), told)\n"
        "sys.stdout.write(repr(told.lines))\n"
    )
    command = [sys.executable, "-c", script, str(path)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) for _ in range(12)]
    told = [one.communicate(timeout=120)[0] for one in running]
    assert set(told) == {"[]"}
    assert answers_in(path) == 12
