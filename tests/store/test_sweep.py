"""What has expired leaves memory and disk by itself, when its minute is over. Nobody has to ask for anything."""

import gc
import threading
import weakref
from pathlib import Path

import pytest

from brimgate.engine.cursor import Binding, KeyRing
from brimgate.engine.policy import Policy
from brimgate.hold.protection import Protection, user_protection
from brimgate.hold.runtime import SweepTimer
from brimgate.hold.stores.contract import SnapshotStore
from brimgate.hold.stores.file import FileStore, UserStore
from brimgate.hold.stores.memory import MemoryStore
from tests.http.serving import wait_until
from tests.relay.conversation import KEY
from tests.relay.test_lists_that_go_on import Growing

ROWS = b"[" + b",".join(b'{"id":%d,"name":"row %d"}' % (at, at) for at in range(3_000)) + b"]"
ANN = Binding("ann", "there", "list_rows")
LATE = 60.0 * 30_000_000 - 0.3
"""A moment before a minute is over. What lives for no time at all expires with it."""


def held(store: SnapshotStore, now: float = LATE, ttl_seconds: int = 0) -> Protection:
    protection = Protection(Policy(), KeyRing(KEY), store, ttl_seconds)
    assert protection.protect(ROWS, ANN, now)
    return protection


def is_empty(protection: Protection, minute: int = 0) -> bool:
    """Whether nothing is held, by what each part says of when something expires next."""
    return protection.sweep(minute) == 0


def test_memory_is_swept_when_the_time_of_a_cursor_is_over() -> None:
    protection = held(MemoryStore())
    wait_until(lambda: is_empty(protection), "the sweep")


def test_files_are_swept_with_their_views(tmp_path: Path) -> None:
    protection = held(FileStore(tmp_path / "s"))
    wait_until(lambda: not [*tmp_path.rglob("*.*")], "the sweep")
    assert is_empty(protection)


def test_lists_that_are_being_fetched_are_swept_too() -> None:
    protection = Protection(Policy(default_page_size=10), KeyRing(KEY), MemoryStore(), 0)
    live_list = Growing(500)
    assert protection.protect(live_list.data, ANN, LATE, live_list=live_list)
    wait_until(lambda: is_empty(protection), "the sweep")
    assert len(protection.live_lists) == 0


def test_what_is_renewed_stays_and_goes_later() -> None:
    protection = held(MemoryStore())
    later = Protection(Policy(), protection.ring, protection.store, 60, sweep_timer=protection.sweep_timer)
    other = Binding("bob", "there", "list_rows")
    assert later.protect(ROWS, other, LATE)
    snapshot = protection.ring.snapshot_id(ROWS, ANN)
    minute = int(LATE // 60)
    wait_until(lambda: not protection.store.renew("ann", snapshot, 0, minute), "the sweep of the first")
    assert protection.store.sweep(minute) == minute + 2, "the other goes a minute later"


def test_a_timer_is_set_only_while_something_is_held() -> None:
    """One thread for all, and none when there is nothing to wait for."""
    protections = [held(MemoryStore()) for _ in range(20)]
    assert sum(thread.name == "brimgate-sweep" for thread in threading.enumerate()) == 1
    wait_until(lambda: all(map(is_empty, protections)), "the sweep")
    rung: list[int] = []

    def sweep(minute: int) -> int:
        rung.append(minute)
        return minute + 1 if len(rung) < 3 else 0

    timer = SweepTimer()
    timer.start(sweep, 60.0 * 7 - 0.05)
    wait_until(lambda: len(rung) == 2, "the next expiry")
    assert rung == [6, 7]


def test_what_is_no_longer_used_is_not_kept_for_its_sweep() -> None:
    protection = held(MemoryStore(), now=1_000.0, ttl_seconds=3_600)
    gone = weakref.ref(protection.store)
    del protection
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("seconds", [0.0, 29.5, 59.999])
def test_a_cursor_and_its_answer_go_in_the_same_minute(seconds: float) -> None:
    began = 60.0 * 30_000_000 + seconds
    protection = held(MemoryStore(), now=began, ttl_seconds=600)
    expires = protection.expires_minute(began)
    assert began + 600 < 60 * expires <= began + 660
    assert protection.sweep(expires - 1) == expires
    assert protection.sweep(expires) == 0


def test_the_folder_of_a_user_is_not_created_by_a_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIMGATE_STATE_DIR", str(tmp_path / "state"))
    told: list[str] = []
    store = UserStore(None, told.append)
    assert store.sweep(100) == 0 and not (tmp_path / "state").exists()
    protection = user_protection(Policy(), store, 0)
    assert not (tmp_path / "state").exists(), "nor before the first answer"
    assert protection.protect(ROWS, ANN, LATE)
    assert (tmp_path / "state" / "keys" / "cursor.key").exists()
    wait_until(lambda: not [*(tmp_path / "state").rglob("*.data")], "the sweep")
    assert told == []
