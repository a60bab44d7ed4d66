"""One contract, one suite, every store."""

import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from brimgate.hold.stores.contract import Bounds, SnapshotStore
from brimgate.hold.stores.file import FileStore
from brimgate.hold.stores.memory import MemoryStore
from tests.store.redis_server import STORES, redis_server
from tests.store.sharing import shared_answers

MakeStore = Callable[[Bounds], SnapshotStore]
ROOMY = Bounds(10_000, 20_000)
A, B, C = b"aaaaaaaa", b"bbbbbbbb", b"cccccccc"


@pytest.fixture(params=["memory", "file", *STORES])
def make_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakeStore]:
    if request.param == "memory":
        yield MemoryStore
    elif request.param == "file":
        yield lambda bounds: FileStore(tmp_path / "snapshots", bounds)
    else:
        with redis_server(request.param) as server, shared_answers(server) as make:
            yield make


def answer(size: int, letter: str = "x") -> bytes:
    return letter.encode() * size


def test_what_is_put_is_held_until_it_expires(make_store: MakeStore) -> None:
    store = make_store(ROOMY)
    assert store.put("ann", A, answer(10), expires_minute=110, now_minute=100)
    held = store.get("ann", A, now_minute=109)
    assert held == b"x" * 10
    assert store.get("ann", A, now_minute=110) is None
    assert store.get("ann", A, now_minute=100) is None, "once expired it is gone"


def test_nobody_sees_what_another_holds(make_store: MakeStore) -> None:
    store = make_store(ROOMY)
    store.put("ann", A, answer(10), 110, 100)
    store.put_view("ann", A, b"view", b"definition")
    assert store.get("bob", A, 100) is None
    assert store.get_view("bob", A, b"view") is None


def test_putting_again_prolongs_and_does_not_count_twice(make_store: MakeStore) -> None:
    store = make_store(Bounds(100, 100))
    for expires in (105, 120, 110):
        assert store.put("ann", A, answer(60), expires, 100)
    assert store.get("ann", A, 119) is not None


def test_a_view_lives_and_dies_with_its_snapshot(make_store: MakeStore) -> None:
    store = make_store(ROOMY)
    store.put_view("ann", A, b"view", b"lost")
    assert store.get_view("ann", A, b"view") is None, "there is no snapshot to keep it beside"
    store.put("ann", A, answer(10), 110, 100)
    store.put_view("ann", A, b"view", b"definition")
    assert store.get_view("ann", A, b"view") == b"definition"
    if store.is_distant:  # it sweeps by itself
        assert store.get("ann", A, now_minute=110) is None
    else:
        assert store.sweep(now_minute=109) == 110, "when it expires"
        assert store.sweep(now_minute=110) == 0
    assert store.get_view("ann", A, b"view") is None


def test_the_least_recently_used_goes_first_when_a_principal_holds_too_much(
    make_store: MakeStore, tmp_path: Path
) -> None:
    store = make_store(Bounds(100, 1_000))
    store.put("ann", A, answer(40, "a"), 110, 100)
    _age(tmp_path)
    store.put("ann", B, answer(40, "b"), 110, 100)
    _age(tmp_path)
    assert store.get("ann", A, 100) is not None
    store.put("ann", C, answer(40, "c"), 110, 100)
    assert store.get("ann", B, 100) is None
    assert store.get("ann", A, 100) is not None
    assert store.get("ann", C, 100) is not None


def test_the_total_is_bounded_over_all_principals(make_store: MakeStore, tmp_path: Path) -> None:
    store = make_store(Bounds(100, 100))
    for name, snapshot in (("ann", A), ("bob", B), ("cy", C)):
        store.put(name, snapshot, answer(45, name[0]), 110, 100)
        _age(tmp_path)
    assert store.get("ann", A, 100) is None
    assert store.get("bob", B, 100) is not None
    assert store.get("cy", C, 100) is not None


def test_what_is_larger_than_a_principal_may_hold_is_not_held(make_store: MakeStore) -> None:
    store = make_store(Bounds(100, 1_000))
    assert not store.put("ann", A, answer(101), 110, 100)
    assert store.get("ann", A, 100) is None


def _age(folder: Path) -> None:
    """Make every file a little older, so that the next use is later without waiting for the clock."""
    import os

    for path in folder.rglob("*.data"):
        status = path.stat()
        os.utime(path, (status.st_atime - 10, status.st_mtime - 10))


def test_a_file_store_goes_on_where_another_stopped(tmp_path: Path) -> None:
    first = FileStore(tmp_path / "s", ROOMY)
    first.put("ann", A, answer(10), 110, 100)
    first.put_view("ann", A, b"view", b"definition")
    second = FileStore(tmp_path / "s", ROOMY)
    held = second.get("ann", A, 100)
    assert held == b"x" * 10
    assert second.get_view("ann", A, b"view") == b"definition"


@pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX")
def test_files_are_for_their_owner_only(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir(mode=0o755)
    FileStore(tmp_path / "s", ROOMY).put("ann@example.org", A, answer(10), 110, 100)
    for path in [tmp_path / "s", *(tmp_path / "s").rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
        assert "ann" not in path.name, "no principal in a file name"


def test_bounds_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="at most the total"):
        Bounds(2, 1)


def test_what_is_renewed_lives_longer_and_counts_as_used(make_store: MakeStore, tmp_path: Path) -> None:
    store = make_store(Bounds(100, 100))
    assert not store.renew("ann", A, 120, 100), "there is nothing to renew"
    store.put("ann", A, answer(40), 105, 100)
    _age(tmp_path)
    store.put("ann", B, answer(40), 105, 100)
    _age(tmp_path)
    assert store.renew("ann", A, 120, 100) and not store.renew("bob", A, 120, 100)
    _age(tmp_path)
    store.put("ann", C, answer(40), 105, 100)
    assert store.get("ann", B, 100) is None, "the one that was not used goes first"
    assert store.get("ann", A, 119) == answer(40)
    assert not store.renew("ann", C, 130, 121), "once expired it is gone"


def test_a_store_says_whether_it_may_wait(tmp_path: Path) -> None:
    assert not MemoryStore().blocks
    assert FileStore(tmp_path / "s").blocks
