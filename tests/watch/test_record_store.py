"""Records are kept in a file that stays small, whatever is written, by however many, at whatever time."""

import os
import sqlite3
import struct
import subprocess
import sys
import time
from collections import Counter, defaultdict
from contextlib import closing
from math import ceil, inf, nan
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brimgate.errors import BadRequest, OperatorError
from brimgate.watch import record_store
from brimgate.watch.arms import arms_of
from brimgate.watch.record import Record, fingerprint
from brimgate.watch.record_store import (
    LAYOUT,
    OTHER,
    OUTCOMES,
    CountedSample,
    RecordBatch,
    RecordStore,
    is_damaged,
    read_records,
)
from brimgate.watch.stats import GROUPINGS, OUTCOME_WORDS, Question, Row, moment, question_of
from tests.conftest import ROOT
from tests.in_process import Here
from tests.watch.made_records import (
    LARGE,
    NOON,
    add,
    answers_in,
    decision,
    figures,
    locked,
    record,
    store_at,
)

YEAR = 365 * 86_400.0
RECORD_BYTES = 71


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "records.db"


def rows_of(path: Path, query: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def files_beside(path: Path) -> int:
    """The bytes of all files that belong to it."""
    return sum(one.stat().st_size for one in path.parent.glob(f"{path.name}*"))


# Many processes


def written_by(path: Path, processes: int, batches: int, records: int) -> list[str]:
    command = [sys.executable, "-m", "tests.watch.writing_process", str(path), str(batches), str(records)]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) for _ in range(processes)
    ]
    return [one.communicate(timeout=240)[0] for one in running]


def test_twenty_processes_write_to_one_file_and_nothing_is_lost(path: Path) -> None:
    told = written_by(path, 20, 10, 50)
    assert all(one.startswith("closed") for one in told) and "lost" not in "".join(told)
    found = figures(path)
    assert (found.total.calls, found.total.tokens_before, found.lost) == (10_000, 1_000_000, {})


def test_processes_join_blocks_while_others_write_and_nothing_is_lost(path: Path) -> None:
    told = written_by(path, 6, 500, 1)
    assert "lost" not in "".join(told)
    assert (answers_in(path), figures(path).lost) == (3_000, {})
    ((blocks,),) = rows_of(path, "SELECT count(*) FROM blocks")
    assert blocks <= 510


def test_a_process_that_finds_the_disk_full_keeps_its_records_until_there_is_room(path: Path) -> None:
    add(store_at(path), record())
    command = [sys.executable, "-m", "tests.watch.writing_process", str(path), "6", "2000", "limit=300000"]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=240, check=False)
    assert "limited records_unusable" in ran.stdout, ran.stderr
    assert "records_kept_again" in ran.stdout.splitlines()[-1]
    found = figures(path)
    assert found.total.calls + sum(found.lost.values()) == 12_001
    assert found.total.calls >= 8_001


# Bounds


def test_the_file_stays_within_its_bound_and_the_oldest_records_go_first(path: Path) -> None:
    store = store_at(path, 2 << 20)
    for at in range(100):
        add(store, *(record(time=NOON + at * 2_000 + n, original_tokens=at + 1) for n in range(2_000)))
        assert path.stat().st_size <= 2 << 20
        assert files_beside(path) < (2 << 20) + (6 << 20)
    found = figures(path)
    assert found.last == NOON + 199_999
    assert found.first == NOON + 200_000 - found.total.calls, "there is a gap"
    assert 0.6 * (2 << 20) < found.total.calls * RECORD_BYTES < 2 << 20
    assert found.total.largest == 100


def test_small_batches_do_not_make_pruning_forget_everything_at_once(path: Path) -> None:
    store = store_at(path, 1 << 20)
    fewest = inf
    for at in range(2_400):
        add(store, *(record(time=NOON + at * 10 + n) for n in range(10)))
        if at > 1_200 and at % 20 == 0:
            fewest = min(fewest, answers_in(path))
    assert fewest * RECORD_BYTES > 0.6 * (1 << 20)
    found = figures(path)
    assert found.first == NOON + 24_000 - found.total.calls, "the oldest did not go first"


def test_a_batch_that_is_large_for_the_file_finds_room(path: Path) -> None:
    store = store_at(path, 1 << 20)
    for at in range(5):
        add(store, *(record(time=NOON + at) for _ in range(10_000)))
    found = figures(path)
    assert found.total.calls >= 10_000 and found.last == NOON + 4
    assert path.stat().st_size <= 1 << 20


def test_many_small_batches_are_joined_to_few_blocks(path: Path) -> None:
    store = store_at(path)
    for at in range(2_000):
        add(store, record(time=NOON + at, original_tokens=at + 1))
    ((blocks,),) = rows_of(path, "SELECT count(*) FROM blocks")
    assert blocks <= 501
    found = figures(path)
    assert found.total.calls == 2_000
    assert found.total.tokens_before == 2_000 * 2_001 // 2
    assert found.rows[0].median == 1_000


def test_joining_makes_no_block_so_large_that_to_delete_it_is_to_delete_most(path: Path) -> None:
    store = store_at(path)
    for at in range(600):
        add(store, *(record(time=NOON + at) for _ in range(30)))
    assert answers_in(path) == 18_000
    ((most,),) = rows_of(path, "SELECT max(records) FROM blocks")
    assert most < 4_000
    firsts = [first for (first,) in rows_of(path, "SELECT first FROM blocks ORDER BY id")]
    assert firsts == sorted(firsts)


def test_samples_and_losses_older_than_all_records_go_with_them(path: Path) -> None:
    store = store_at(path, 1 << 20)
    add(store, record(time=NOON - 9), samples=[CountedSample(NOON - 9, "o200k", "exact", 1, 1)])
    for at in range(20):
        add(store, *(record(time=NOON + at) for _ in range(2_000)))
    assert rows_of(path, "SELECT count(*) FROM samples") == [(0,)]


def test_only_the_owner_can_read_the_files(path: Path) -> None:
    store = store_at(path.parent / "new" / "records.db")
    add(store, record())
    assert {one.stat().st_mode & 0o077 for one in (path.parent / "new").iterdir()} == {0}


# Clocks


def set_clock(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + seconds)


def test_records_that_are_too_old_are_deleted(path: Path) -> None:
    now = time.time()
    add(store_at(path), record(time=now - 5 * 86_400), record(time=now - 4 * 86_400))
    add(store_at(path), record(time=now))
    add(store_at(path, max_days=2), record(time=now))
    assert answers_in(path) == 2


def test_a_clock_that_jumps_by_ten_years_deletes_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = store_at(path, max_days=90)
    add(store, record(time=time.time()))
    monkeypatch.setattr(store, "_prune_at", 0.0)
    set_clock(monkeypatch, 10 * YEAR)
    add(store, record(time=time.time()))
    assert answers_in(path) == 2


def test_a_process_that_starts_ten_years_ahead_deletes_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(store_at(path), record(time=time.time()))
    set_clock(monkeypatch, 10 * YEAR)
    add(store_at(path, max_days=90), record(time=time.time()))
    assert answers_in(path) == 2


def test_a_clock_that_was_set_is_believed_after_a_day(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A laptop that slept for a night looks like that, too: its clock went on while its processes stood still."""
    with closing(store_at(path)) as store:
        add(store, record(time=time.time() - 91 * 86_400))
        add(store, record(time=time.time()))
    store = store_at(path, max_days=90)
    set_clock(monkeypatch, 10_000)
    add(store, record(time=time.time()))
    assert answers_in(path) == 3
    real = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: real() + 90_000)
    set_clock(monkeypatch, 90_000)
    add(store, record(time=time.time()))
    assert answers_in(path) == 3, "one was added, and the oldest deleted"


def test_a_clock_that_goes_back_deletes_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(store_at(path), record(time=time.time()))
    set_clock(monkeypatch, -50 * YEAR)
    add(store_at(path, max_days=1), record(time=time.time()))
    assert answers_in(path) == 2


@pytest.mark.parametrize("odd", [0.0, -1.0, -1e300, 4_102_444_800.0, 1e30, inf, -inf])
def test_an_odd_time_harms_no_other_record(path: Path, odd: float) -> None:
    store = store_at(path)
    add(store, record(), record(time=odd), record())
    assert answers_in(path) == 3
    assert len(figures(path, by="hour").rows) == 2
    assert figures(path, since=NOON, until=NOON + 1).total.calls == 2


def test_a_time_that_is_no_number_costs_its_own_record_only(path: Path) -> None:
    store = store_at(path)
    add(store, record(), record(time=nan), record())
    found = figures(path)
    assert (found.total.calls, found.lost) == (2, {"cannot be kept": 1})


# Hostile names and numbers

NAMES = {
    "empty": "",
    "nul": "a\0b",
    "lines": "a\nb\r\n",
    "long": "x" * 1_000_000,
    "surrogate": "a\ud800b",
    "emoji": "🦩" * 300,
    "sql": "'; DROP TABLE blocks; --",
    "other": OTHER,
    "escape": "\x1b[31m",
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_any_name_is_kept_and_found(path: Path, name: str, here: Here) -> None:
    made = Record.of(decision(tool=name, upstream=name, client=name, principal_id=name))
    store = store_at(path)
    add(store, record(), made, catalogs={name: {name: 7}})
    assert figures(path, tool=made.tool).total.calls == 1
    for by in GROUPINGS:
        assert figures(path, by=by).total.calls == 2
    assert max(len(row.name) for row in figures(path).rows) <= 201
    for form in ("--json", "--csv", "--today"):
        ran = here("stats", "--file", str(path), form)
        assert ran.returncode == 0, ran.stderr
        assert b"\x1b" not in ran.stdout or form == "--csv"


def test_a_name_that_no_file_takes_does_not_keep_out_other_records(path: Path) -> None:
    store = store_at(path)
    add(store, record(tool="a"), record(tool="\ud800"), record(tool="b"))
    add(store, record(tool="b"))
    found = figures(path)
    assert {row.name: row.calls for row in found.rows} == {"crm/a": 1, "crm/b": 2}
    assert found.lost == {"cannot be kept": 1}


@pytest.mark.parametrize(
    "odd", [{"outcome": "made up"}, {"original_tokens": None}, {"item_count": 1.5}, {"arm": ""}]
)
def test_a_record_that_cannot_be_packed_costs_one_record(path: Path, odd: dict[str, Any]) -> None:
    store = store_at(path)
    add(store, record(tool="new"), record(tool="newer", **odd), record(tool="newest"))
    add(store, record(tool="new"), record(tool="newer"))
    found = figures(path)
    assert {row.name: row.calls for row in found.rows} == {"crm/new": 2, "crm/newer": 1, "crm/newest": 1}
    assert found.lost == {"cannot be kept": 1}


def test_a_batch_that_failed_leaves_no_name_behind_that_is_not_in_the_file(path: Path) -> None:
    store = store_at(path)
    add(store, record())
    with pytest.raises(OverflowError):
        add(store, record(tool="fresh"), samples=[CountedSample(NOON, "o200k", "exact", 1 << 70, 1)])
    add(store, record(tool="other"), record(tool="fresh"))
    assert {row.name for row in figures(path).rows} == {"crm/list", "crm/other", "crm/fresh"}


def test_names_without_end_are_put_together(path: Path) -> None:
    store = store_at(path)
    for at in range(0, 30_000, 5_000):
        add(store, *(record(tool=f"tool {n}") for n in range(at, at + 5_000)))
    found = figures(path)
    assert found.total.calls == 30_000
    rows = {row.name: row.calls for row in found.rows}
    assert rows[f"crm/{OTHER}"] > 9_900
    assert rows["crm/tool 1"] == 1
    assert sum(rows.values()) == 30_000


def test_names_without_end_do_not_fill_a_small_file(path: Path) -> None:
    store = store_at(path, 1 << 20)
    for at in range(0, 30_000, 5_000):
        add(store, *(record(tool=f"🦩{n:6}" + "🦩" * 93) for n in range(at, at + 5_000)))
    add(store, record(time=NOON + 9))
    found = figures(path)
    assert found.last == NOON + 9 and found.total.calls > 5_000
    assert path.stat().st_size <= 1 << 20


def test_a_list_of_tools_without_end_does_not_fill_a_small_file(path: Path) -> None:
    store = store_at(path, 1 << 20)
    for n in range(5):
        add(store, record(), catalogs={f"up{n}": {f"{at} " + "🦩" * 5_000: 10 for at in range(3_000)}})
    found = figures(path)
    assert found.total.calls == 5
    assert [sum(tools.values()) for tools in found.catalogs.values()] == [30_000] * 5
    assert OTHER in found.catalogs["up0"]


def test_numbers_out_of_range_are_bounded_and_poison_nothing(path: Path) -> None:
    odd = record(
        original_tokens=1 << 40, estimated_tokens=-5, latency_us=-1, answer=1 << 70, highlights=1 << 20
    )
    add(store_at(path), record(), odd, record())
    row = figures(path).rows[0]
    assert (row.calls, row.largest, row.tokens_after, row.latency_us) == (3, (1 << 32) - 1, 200, 2_000)
    assert row.tokens_before == (1 << 32) - 1 + 200
    assert row.highlights == (1 << 16) - 1


def test_sums_of_the_largest_numbers_are_exact(path: Path) -> None:
    most = (1 << 32) - 1
    add(store_at(path), *(record(original_tokens=most, original_bytes=most) for _ in range(3_000)))
    assert figures(path).total.tokens_before == 3_000 * most


def test_a_layout_has_no_gaps() -> None:
    sizes = {"f8": 8, "u8": 8, "u4": 4, "u2": 2, "u1": 1}
    assert sum(sizes[kind] for _, kind in LAYOUT) == RECORD_BYTES
    assert {name for name, _ in LAYOUT} == set(Record._fields)


def test_a_long_path_is_cut_after_its_ids_are_taken_out() -> None:
    tool = "/" + "z" * 30 + "/" + "12345678-1234-1234-1234-123456789012" + "/" + "7" * 40
    assert Record.of(decision(tool=tool)).tool == "/" + "z" * 30 + "/{id}/{id}"
    assert Record.of(decision(tool="list/12")).tool == "list/12"


def test_a_fingerprint_tells_nothing_but_the_kind() -> None:
    assert fingerprint("key:secret").startswith("key:") and "secret" not in fingerprint("key:secret")
    assert fingerprint("key:a\ud800") != fingerprint("key:a\ud801")
    assert len(fingerprint("x" * 1_000_000)) == 100


# Files that are not what they should be


def spoil_with_noise(path: Path) -> None:
    path.write_bytes(os.urandom(50_000))


def spoil_by_cutting(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2 + 100)


def spoil_the_middle(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4_096:] = os.urandom(len(data) - 4_096)
    path.write_bytes(data)


@pytest.mark.parametrize("spoil", [spoil_with_noise, spoil_by_cutting, spoil_the_middle])
def test_a_damaged_file_is_told_apart_and_moved_aside(path: Path, spoil: Any) -> None:
    with closing(store_at(path)) as store:
        add(store, *(record(tool=f"tool {n}") for n in range(3_000)))
    spoil(path)
    with closing(store_at(path)) as store:
        with pytest.raises(sqlite3.DatabaseError) as caught:
            add(store, *(record(tool=f"other {n}") for n in range(3_000)))
        assert is_damaged(caught.value)
        assert store.start_anew()
        add(store, record())
        assert answers_in(path) == 1
    assert path.with_name("records.db.damaged").exists()


def test_an_empty_file_is_taken_for_a_new_one(path: Path) -> None:
    path.touch()
    add(store_at(path), record())
    assert answers_in(path) == 1


def other_application(path: Path, version: int) -> bytes:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE notes (text TEXT)")
        connection.execute("INSERT INTO notes VALUES ('dear')")
        connection.execute(f"PRAGMA user_version = {version}")
        connection.commit()
    return path.read_bytes()


@pytest.mark.parametrize("version", [0, 1, 7])
def test_a_file_of_another_application_is_left_as_it_is(path: Path, version: int) -> None:
    before = other_application(path, version)
    store = store_at(path)
    for _ in range(3):
        with pytest.raises(sqlite3.Error, match="something else") as caught:
            add(store, record())
        assert not is_damaged(caught.value)
    assert path.read_bytes() == before
    with pytest.raises(OperatorError, match="something else"):
        read_records(path)
    path.unlink()
    add(store, record())
    assert answers_in(path) == 1


def test_a_file_of_a_newer_version_is_never_written(path: Path) -> None:
    with closing(store_at(path)) as store:
        add(store, record())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 2")
        connection.commit()
    store = store_at(path)
    for _ in range(3):
        with pytest.raises(sqlite3.Error, match="newer"):
            add(store, record())
    with pytest.raises(OperatorError, match="newer"):
        read_records(path)
    assert rows_of(path, "SELECT sum(records) FROM blocks") == [(1,)]


def test_what_means_no_damage_is_no_reason_to_move_a_file() -> None:
    for error in (sqlite3.IntegrityError("x"), sqlite3.ProgrammingError("closed"), OSError(), ValueError()):
        assert not is_damaged(error)


def test_a_file_that_another_process_has_replaced_is_not_moved_aside(path: Path) -> None:
    store = store_at(path)
    add(store, record())
    path.rename(path.with_name("elsewhere.db"))
    add(other := store_at(path), record(), record())
    assert not store.start_anew()
    assert answers_in(path) == 2
    other.close()


@pytest.mark.parametrize("beside", [(), ("-wal", "-shm")], ids=["alone", "with its log"])
def test_a_file_that_is_deleted_in_use_is_made_anew(path: Path, beside: tuple[str, ...]) -> None:
    store = store_at(path)
    add(store, record(), record())
    for suffix in ("", *beside):
        Path(f"{path}{suffix}").unlink()
    add(store, record())
    add(store, record(tool="other"))
    assert answers_in(path) == 2
    store.close()
    assert answers_in(path) == 2


def test_a_log_that_is_deleted_in_use_costs_nothing_that_comes_later(path: Path) -> None:
    store = store_at(path)
    add(store, record())
    Path(f"{path}-wal").unlink()
    for _ in range(3):
        add(store, record())
    assert answers_in(path) >= 3
    store.close()
    assert answers_in(path) >= 3
    assert rows_of(path, "PRAGMA integrity_check") == [("ok",)]


def test_a_log_of_a_deleted_file_is_not_read_into_a_new_one(path: Path) -> None:
    store = store_at(path)
    add(store, *(record(tool=f"tool {n}") for n in range(500)))
    path.unlink()
    with closing(store_at(path)) as newer:
        add(newer, record())
        assert answers_in(path) == 1
    store.close()
    assert answers_in(path) == 1


def test_a_file_that_was_locked_when_it_was_opened_is_set_up_later(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_store, "_BUSY_SECONDS", 0.1)
    store = store_at(path, 1 << 20)
    with locked(path):
        for _ in range(2):
            with pytest.raises(sqlite3.OperationalError, match="locked"):
                add(store, record())
    add(store, record())
    assert answers_in(path) == 1
    assert rows_of(path, "PRAGMA journal_mode") == [("wal",)]


def test_a_full_file_is_no_damage_and_leaves_no_half_made_tables(path: Path, tmp_path: Path) -> None:
    script = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "from tests.watch.made_records import add, record, store_at\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "for most in (0, 1, 5000, 9000, 13000, 20000, 30000, 40000, 60000):\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))\n"
        "    try: add(store_at(Path(sys.argv[1])), record())\n"
        "    except Exception as error: print(type(error).__name__)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))\n"
        "add(store_at(Path(sys.argv[1])), record())\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script, str(path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    failures = ran.stdout.split()
    assert set(failures) == {"OperationalError"}
    assert answers_in(path) == 10 - len(failures)


def test_pruning_that_fails_does_not_add_a_batch_twice(path: Path) -> None:
    now = time.time()
    with closing(store_at(path)) as store:
        add(store, record(time=now - 5 * 86_400))
        add(store, record(time=now))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TRIGGER no BEFORE DELETE ON blocks BEGIN SELECT raise(FAIL, 'no'); END")
        connection.commit()
    with closing(store_at(path, max_days=2)) as store:
        add(store, record(time=now))
    assert answers_in(path) == 3


# Statistics


def exact(values: list[int], share: float) -> int:
    """Return the quantile by nearest rank, as the book has it."""
    return sorted(values)[max(ceil(len(values) * share), 1) - 1] if values else 0


def reads_by_place(records: list[Record]) -> list[int]:
    read = Counter(one.answer for one in records if one.cursor_followed and one.answer)
    last = {one.answer: at for at, one in enumerate(records) if one.cursor_issued and not one.cursor_followed}
    return [read[one.answer] if last.get(one.answer) == at else 0 for at, one in enumerate(records)]


def name_in(one: Record, by: str) -> str:
    match by:
        case "tool":
            return f"{one.upstream}/{one.tool}"
        case "hour":
            return time.strftime("%Y-%m-%d %H:00Z", time.gmtime(one.time // 3_600 * 3_600))
        case _:
            return getattr(one, by) or "unknown"


def reference_row(name: str, records: list[Record], reads: list[int]) -> Row:
    first = [one for one in records if not one.cursor_followed]
    pages = [
        count
        for one, count in zip(records, reads, strict=True)
        if one.cursor_issued and not one.cursor_followed
    ]
    sizes = [one.original_tokens for one in first if one.original_tokens]
    return Row(
        name,
        calls=len(first),
        reads=len(records) - len(first),
        tokens_before=sum(one.original_tokens for one in first),
        tokens_after=sum(one.estimated_tokens for one in records),
        bytes_before=sum(one.original_bytes for one in first),
        bytes_after=sum(one.response_bytes for one in records),
        latency_us=sum(one.latency_us for one in records),
        oversized=sum(one.oversized for one in records),
        expired=sum(one.cursor_expired for one in records),
        repeated=sum(one.repeated > 0 for one in records),
        repeated_after_page=sum(one.repeated == 2 for one in records),
        issued=len(pages),
        followed=sum(count > 0 for count in pages),
        highlights=sum(one.highlights for one in records),
        largest=max(sizes, default=0),
        median=exact(sizes, 0.5),
        p95=exact(sizes, 0.95),
        pages_read=exact(pages, 0.5),
        latency_median_us=exact([one.latency_us for one in records], 0.5),
        latency_p95_us=exact([one.latency_us for one in records], 0.95),
        outcomes={word: n for word in OUTCOMES if (n := sum(one.outcome == word for one in records))},
    )


def reference(records: list[Record], question: Question) -> list[Row]:
    """Answer a question with nothing but loops."""
    inside = [one for one in records if question.since <= one.time < question.until]
    groups: dict[str, tuple[list[Record], list[int]]] = defaultdict(lambda: ([], []))
    for one, count in zip(inside, reads_by_place(inside), strict=True):
        if all(
            getattr(question, name) in ("", getattr(one, name))
            for name in ("tool", "upstream", "client", "principal")
        ) and (not question.outcome or one.outcome == OUTCOME_WORDS[question.outcome]):
            group = groups[name_in(one, question.by)]
            group[0].append(one)
            group[1].append(count)
    rows = [reference_row(name, *group) for name, group in groups.items()]
    every = sum(row.tokens_after for row in rows)
    for row in rows:
        row.share = row.tokens_after / every if every else 0.0
    return rows


MOMENTS = st.integers(0, 3 * 3_600_000).map(lambda ms: NOON + ms / 1_000)
SMALL = st.integers(0, 40)
MADE = st.builds(
    record,
    time=MOMENTS,
    upstream=st.sampled_from(["crm", "wiki"]),
    tool=st.sampled_from(["list", "get", ""]),
    client=st.sampled_from(["claude", ""]),
    principal=st.sampled_from(["local", "key:0123"]),
    outcome=st.sampled_from(OUTCOMES),
    original_tokens=SMALL,
    estimated_tokens=SMALL,
    original_bytes=SMALL,
    response_bytes=SMALL,
    latency_us=SMALL,
    cursor_issued=st.booleans(),
    cursor_followed=st.booleans(),
    cursor_expired=st.booleans(),
    oversized=st.booleans(),
    repeated=st.integers(0, 2),
    highlights=SMALL,
    answer=st.integers(0, 4),
)
QUESTIONS = st.builds(
    Question,
    tool=st.sampled_from(["", "list", "none such"]),
    upstream=st.sampled_from(["", "crm"]),
    client=st.sampled_from(["", "claude"]),
    principal=st.sampled_from(["", "key:0123"]),
    outcome=st.sampled_from(["", "page", "paginated", "read", "passed"]),
    since=st.one_of(st.just(0.0), MOMENTS),
    until=MOMENTS.map(lambda at: at + 4 * 3_600),
    by=st.sampled_from(GROUPINGS),
)


@pytest.mark.property
@given(
    batches=st.lists(st.lists(MADE, max_size=25), max_size=4),
    questions=st.lists(QUESTIONS, min_size=1, max_size=6),
)
def test_statistics_are_those_of_a_plain_count(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[Record]], questions: list[Question]
) -> None:
    path = tmp_path_factory.mktemp("records") / "records.db"
    with closing(store_at(path)) as store:
        for batch in [*batches, []]:
            add(store, *batch)
    records = [one for batch in batches for one in batch]
    with closing(read_records(path)) as connection:
        for question in questions:
            found = record_statistics(connection, question)
            expected = reference(records, question)
            assert {row.name: row for row in found.rows} == {row.name: row for row in expected}
            assert found.total.calls == sum(row.calls for row in expected)
            assert found.total.tokens_after == sum(row.tokens_after for row in expected)
            assert found.total.largest == max((row.largest for row in expected), default=0)


def record_statistics(connection: sqlite3.Connection, question: Question) -> Any:
    from brimgate.watch.stats import statistics

    return statistics(connection, question)


@pytest.mark.parametrize(
    ("many", "median", "p95"), [(1, 1, 1), (2, 1, 2), (19, 10, 19), (20, 10, 19), (100, 50, 95)]
)
def test_quantiles_are_those_of_the_nearest_rank(path: Path, many: int, median: int, p95: int) -> None:
    add(store_at(path), *(record(original_tokens=n) for n in range(many, 0, -1)))
    row = figures(path).rows[0]
    assert (row.median, row.p95, row.largest) == (median, p95, many)


def test_since_and_until_are_exact_to_the_millisecond(path: Path) -> None:
    add(store_at(path), *(record(time=NOON + ms / 1_000) for ms in range(10)))
    assert figures(path, since=NOON + 0.003).total.calls == 7
    assert figures(path, until=NOON + 0.003).total.calls == 3
    assert figures(path, since=NOON + 0.003, until=NOON + 0.004).total.calls == 1
    asked = question_of({"since": "2027-01-15T08:00:00.003+00:00", "until": "2027-01-15T08:00:00.005+00:00"})
    assert figures(path, since=asked.since, until=asked.until).total.calls == 2


def test_cursors_are_told_apart_by_whether_somebody_followed_them(path: Path) -> None:
    issued = record(outcome="page", cursor_issued=True, original_tokens=900, estimated_tokens=300)
    read = record(outcome="read", cursor_followed=True, original_tokens=900, estimated_tokens=250)
    pages = [issued._replace(answer=n) for n in (1, 2, 3)]
    add(store_at(path), *pages, *(read._replace(answer=1) for _ in range(7)), read._replace(answer=2), read)
    row = figures(path).rows[0]
    assert (row.issued, row.followed, row.reads, row.pages_read) == (3, 2, 9, 1)
    assert (row.tokens_before, row.tokens_after) == (2_700, 900 + 9 * 250)
    told = row.document()
    assert (told["cursorsNeverFollowed"], told["savedPercent"], told["pagesTooMuch"]) == (1, -16.7, False)
    alone = figures(path, outcome="paginated").rows[0]
    assert (alone.calls, alone.reads, alone.followed) == (3, 0, 2)


def test_shares_add_up_to_one(path: Path) -> None:
    add(store_at(path), record(tool="a", estimated_tokens=300), record(tool="b", estimated_tokens=100))
    found = figures(path)
    assert [(row.name, row.share) for row in found.rows] == [("crm/a", 0.75), ("crm/b", 0.25)]
    assert found.total.share == 1.0


def test_the_arms_of_a_rollout_are_added_up_apart(path: Path) -> None:
    store = store_at(path)
    add(store, record(arm="direct"), record(arm="direct", repeated=1), record(outcome="error"))
    add(store, record(arm="shadow", trial_outcome="page", trial_tokens=30))
    add(store, record(outcome="page", cursor_issued=True, answer=5, estimated_tokens=10))
    add(store, record(outcome="read", cursor_followed=True, answer=5, estimated_tokens=20))
    add(store, record(outcome="refused", estimated_tokens=1_000))
    with closing(read_records(path)) as connection:
        found = arms_of(connection, Question())
    assert (found.direct.calls, found.direct.reruns, found.direct.errors) == (2, 1, 0)
    assert (found.protected.calls, found.protected.reads, found.protected.errors) == (2, 1, 1)
    assert (found.protected.tokens, found.protected.tokens_squared) == (130.0, 100.0**2 + 30.0**2)
    assert (found.shadow.calls, found.shadow.tokens, found.shadow.trial_tokens) == (1, 100, 30)


def test_tools_that_are_in_one_arm_only_are_not_compared(path: Path) -> None:
    store = store_at(path)
    add(store, record(tool="both"), record(tool="both", arm="direct"))
    add(store, record(tool="cheap"), record(tool="dear", arm="direct"))
    with closing(read_records(path)) as connection:
        found = arms_of(connection, Question())
    assert (found.protected.calls, found.direct.calls) == (1, 1)


def test_a_reader_disturbs_no_writer(path: Path) -> None:
    store = store_at(path)
    add(store, record())
    with closing(read_records(path)) as connection:
        connection.execute("BEGIN")
        assert connection.execute("SELECT sum(records) FROM blocks").fetchone() == (1,)
        add(store, record())
        assert connection.execute("SELECT sum(records) FROM blocks").fetchone() == (1,)
        connection.execute("ROLLBACK")
    assert answers_in(path) == 2


def test_an_empty_batch_and_one_of_losses_only_are_kept(path: Path) -> None:
    store = store_at(path)
    add(store)
    store.add(RecordBatch(lost=Counter({"too many": 3})))
    store.add(RecordBatch(lost=Counter({"too many": 4})))
    found = figures(path)
    assert (found.total.calls, found.rows, found.lost) == (0, [], {"too many": 7})


@pytest.mark.parametrize(
    ("text", "seconds"), [("0s", 0), ("90s", 90), ("2h", 7_200), (" 7d ", 7 * 86_400), ("1w", 7 * 86_400)]
)
def test_a_time_may_be_told_as_so_long_ago(text: str, seconds: int) -> None:
    assert moment(text, NOON) == NOON - seconds


@pytest.mark.parametrize("text", ["yesterday", "-2h", "2 h", "1e3s", "nan", "0001-01-01", "2026-13-01", "\0"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(BadRequest, match="no time"):
        moment(text, NOON)


# The command


def kept(path: Path) -> None:
    add(
        store_at(path),
        record(time=time.time()),
        record(time=time.time() - 3 * 86_400, tool="=cmd()", upstream="@"),
    )


def test_stats_are_told_as_text_json_and_csv(path: Path, here: Here) -> None:
    import csv
    import json

    kept(path)
    text = here("stats", "--file", str(path))
    assert text.returncode == 0 and b"crm/list" in text.stdout and b"2 answers" in text.stdout
    told = json.loads(here("stats", "--file", str(path), "--json").stdout)
    assert told["total"]["calls"] == 2 and len(told["rows"]) == 2 and told["recordsLost"] == {}
    rows = list(csv.DictReader(here("stats", "--file", str(path), "--csv").stdout.decode().splitlines()))
    assert {row["name"] for row in rows} == {"crm/list", "'@/=cmd()"}
    assert [row["calls"] for row in rows] == ["1", "1"]


@pytest.mark.parametrize(
    ("asked", "calls"),
    [
        (("--today",), 1),
        (("--since", "1d"), 1),
        (("--since", "7d"), 2),
        (("--until", "1d"), 1),
        (("--tool", "list"), 1),
        (("--tool", "none"), 0),
        (("--client", "claude", "--upstream", "crm"), 1),
        (("--outcome", "passed"), 2),
        (("--outcome", "summarized"), 0),
    ],
)
def test_stats_answer_what_is_asked(path: Path, here: Here, asked: tuple[str, ...], calls: int) -> None:
    import json

    kept(path)
    told = json.loads(here("stats", "--file", str(path), "--json", *asked).stdout)
    assert told["total"]["calls"] == calls
    assert here("stats", "--file", str(path), *asked).returncode == 0
    assert here("stats", "--file", str(path), "--csv", *asked).stdout.startswith(b"name")


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        (("--by", "weather"), b"tool, hour, client, upstream"),
        (("--outcome", "great"), b"paginated"),
        (("--since", "yesterday"), b"30m, 2h or 7d"),
        (("--since", "1h", "--until", "2h"), b"before"),
        (("--json", "--csv"), b"not both"),
        (("--jsn",), b"--json"),
        (("extra",), b"extra"),
        (("--file", "/dev/null/x"), b"no records yet"),
        (("--file", "nowhere.db"), b"no records yet"),
        (("--file", "."), b"cannot be read"),
    ],
)
def test_wrong_arguments_are_told_in_one_line(
    path: Path, here: Here, asked: tuple[str, ...], hint: bytes
) -> None:
    kept(path)
    ran = here("stats", *([] if "--file" in asked else ["--file", str(path)]), *asked)
    assert ran.returncode == 2 and hint in ran.stderr, ran.stderr
    assert b"Traceback" not in ran.stderr and not ran.stdout


@pytest.mark.parametrize("command", ["stats", "ab"])
def test_a_file_of_garbage_is_told(path: Path, here: Here, command: str) -> None:
    spoil_with_noise(path)
    ran = here(command, "--file", str(path))
    assert ran.returncode == 2 and b"cannot be read" in ran.stderr
    assert path.stat().st_size == 50_000


@pytest.mark.parametrize("command", ["stats", "ab"])
def test_damage_inside_of_a_file_is_told(path: Path, here: Here, command: str) -> None:
    with closing(store_at(path)) as store:
        add(store, record())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE blocks SET data = CAST(data || x'00' AS BLOB)")
        connection.commit()
    ran = here(command, "--file", str(path))
    assert ran.returncode == 2 and b"damaged" in ran.stderr, ran.stderr


def test_stats_are_read_from_a_file_that_another_process_writes_to(path: Path, here: Here) -> None:
    kept(path)
    with locked(path):
        assert here("stats", "--file", str(path)).returncode == 0


def test_a_command_that_records_its_one_answer_leaves_old_records_alone(path: Path) -> None:
    add(store_at(path), record(time=1.0), record(time=time.time()))
    add(RecordStore(path, LARGE, 1, is_hurried=True), record(time=time.time()))
    assert answers_in(path) == 3


def test_a_record_is_packed_as_the_layout_says(path: Path) -> None:
    add(store_at(path), record(time=NOON, answer=7, original_tokens=11))
    ((data,),) = rows_of(path, "SELECT data FROM blocks")
    assert len(data) == RECORD_BYTES
    assert struct.unpack_from("<dQI", data) == (NOON, 7, 11)
