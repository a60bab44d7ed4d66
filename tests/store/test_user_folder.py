"""One folder for the commands of one user: each reads on from the cursors of all. Real processes, real files."""

import json
import os
import re
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from brimgate.hold.stores.contract import Bounds
from brimgate.hold.stores.file import FileStore
from tests.config.running import BRIMGATE, environment, gateway
from tests.http.serving import DEMO, PATIENCE, serve, wait_until
from tests.relay.conversation import record_of
from tests.relay.rawclient import RawClient

CURSOR = re.compile(r"brimgate read ([\w-]{40,64})")
posix = pytest.mark.skipif(sys.platform == "win32", reason="modes, owners and locks are POSIX")
Done = subprocess.CompletedProcess[str]


class Shell:
    """The commands of one user, in a state folder of their own."""

    def __init__(self, state: Path) -> None:
        self.state = state
        self.held = state / "snapshots"
        self.env = {"BRIMGATE_STATE_DIR": str(state)}

    def __call__(self, *arguments: str, stdin: str | None = None, **more: str) -> Done:
        return subprocess.run(
            [*BRIMGATE, *arguments],
            input=stdin or "",
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            env=environment(**self.env | more),
        )

    def cursor_of(self, done: Done) -> str:
        found = CURSOR.search(done.stdout)
        assert found is not None, done
        return found[1]

    def run(self, *options: str, command: list[str] | None = None, **more: str) -> RawClient:
        return gateway(*options, command=DEMO if command is None else command, env=self.env | more)

    def first(self, tool: str = "list_bookings", **more: str) -> dict[str, Any]:
        """Call a tool as a client does that starts its server for each call."""
        with gateway(command=DEMO, env=self.env | more) as client:
            client.greet()
            return client.call(tool)["result"]

    def read(
        self, cursor: str, *options: str, command: list[str] | None = None, **more: Any
    ) -> dict[str, Any]:
        """Read on in a process of its own."""
        with self.run(*options, command=command) as client:
            client.greet()
            return client.call("brimgate_read", cursor=cursor, **more)["result"]

    def data(self) -> list[Path]:
        return sorted(self.held.rglob("*.data"))


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path / "state")


def said(result: dict[str, Any]) -> str:
    return result["content"][0]["text"]


# Reading on in another process


def test_a_client_that_starts_the_server_for_each_call_reads_to_the_end(shell: Shell) -> None:
    shell.env |= {"BRIMGATE_OUTPUT_TOKEN_THRESHOLD": "11000"}  # a few long pages: each takes two processes
    result, shown, pages = shell.first("list_tasks"), 0, 0
    while True:
        pages += 1
        shown += record_of(result)["shown"]["items"]
        cursor = record_of(result).get("nextCursor")
        if cursor is None:
            break
        result = shell.read(cursor)
        assert not result.get("isError"), result
    assert shown == record_of(result)["total"]["items"] and pages >= 4


@pytest.mark.slow
def test_every_command_reads_the_cursors_of_every_other(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([{"id": number, "name": f"row {number}"} for number in range(2_000)]))
    cursors = {
        "run": record_of(shell.first())["nextCursor"],
        "call": shell.cursor_of(shell("call", "list_bookings", "--", *DEMO)),
        "reduce": shell.cursor_of(shell("reduce", str(path), "--budget", "1000")),
        "read": "",
    }
    cursors["read"] = shell.cursor_of(shell("read", cursors["reduce"]))
    for came_from, cursor in cursors.items():
        result = shell.read(cursor)
        assert not result.get("isError"), (came_from, result)
        read = shell("read", cursor)
        assert read.returncode == 0 and read.stdout.startswith("[brimgate] "), (came_from, read)
        assert json.loads(shell("cursor", cursor).stdout)["state"] == "valid here"
    assert shell("read", cursors["call"], "--path", "/result/7/id").returncode == 0


def test_a_cursor_is_read_behind_any_server(shell: Shell, tmp_path: Path) -> None:
    """What is held belongs to the user, whichever server it came from."""
    faulty = [sys.executable, str(Path(__file__).parents[1] / "relay" / "faulty_server.py")]
    cursor = record_of(shell.first())["nextCursor"]
    behind_another, behind_its_own = shell.read(cursor, command=faulty), shell.read(cursor)
    # Not the notice: its cursor has the minute in which it expires.
    assert behind_another["content"][1] == behind_its_own["content"][1]


def test_a_changed_cursor_or_one_of_another_folder_is_refused(shell: Shell, tmp_path: Path) -> None:
    cursor = record_of(shell.first())["nextCursor"]
    changed = cursor[:-2] + ("AA" if cursor[-2:] != "AA" else "BA")
    refused = shell.read(changed)
    assert refused["isError"] and "invalid or expired cursor" in said(refused)
    elsewhere = Shell(tmp_path / "other")
    assert elsewhere.read(cursor)["isError"] and elsewhere("read", cursor).returncode == 2


def test_a_batch_reads_on_too(shell: Shell) -> None:
    cursor = record_of(shell.first())["nextCursor"]
    with shell.run() as client:
        client.greet()
        params = {"name": "brimgate_read", "arguments": {"cursor": cursor}}
        client.send([{"jsonrpc": "2.0", "id": "r", "method": "tools/call", "params": params}])
        (answer,) = client.receive()
        assert answer["id"] == "r" and not answer["result"].get("isError")


def test_what_is_small_leaves_no_trace(shell: Shell) -> None:
    with shell.run() as client:
        client.greet()
        assert client.call("get_booking", id=1)["result"]
    assert {one.name.partition("-")[0] for one in shell.state.iterdir()} == {"records.db"}, "nothing is held"


def test_with_store_memory_nothing_is_written(shell: Shell, tmp_path: Path) -> None:
    off = {"BRIMGATE_STORE": "memory"}
    with gateway(command=DEMO, env=shell.env | off) as client:
        client.greet()
        cursor = record_of(client.call("list_bookings")["result"])["nextCursor"]
        assert not client.call("brimgate_read", cursor=cursor)["result"].get("isError")
    called = shell("call", "list_bookings", "--", *DEMO, **off)
    assert called.returncode == 0 and "leads nowhere" in called.stderr
    assert not shell.held.exists()
    assert shell.read(cursor)["isError"]


# serve


def test_serve_reads_neither_the_folder_nor_what_it_holds_for_another(shell: Shell) -> None:
    """Not even with the same key: there the principal and the server must match, and they do not."""
    key = {"BRIMGATE_CURSOR_KEY": "q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA="}
    of_the_folder = record_of(shell.first(**key))["nextCursor"]
    assert not json.loads(shell("read", of_the_folder, "--json", **key).stdout)["result"].get("isError")
    with serve(command=DEMO, env=shell.env | key) as serving:
        ann, bob = serving.client(authorization="Bearer ann"), serving.client(authorization="Bearer bob")
        for one in (ann, bob):
            one.initialize()
            assert one.call("brimgate_read", cursor=of_the_folder)["result"]["isError"]
        cursor = record_of(ann.call("list_bookings")["result"])["nextCursor"]
        assert not ann.call("brimgate_read", cursor=cursor)["result"].get("isError")
        assert "invalid or expired" in said(bob.call("brimgate_read", cursor=cursor)["result"])
        assert shell("read", cursor, **key).returncode == 2


# A folder that cannot be used


def check_memory_is_used(shell: Shell, why: str) -> None:
    """Nothing fails, one line says why, and within the process one can still read on."""
    cursor = ""
    with shell.run() as client:
        client.greet()
        for _ in range(2):
            cursor = record_of(client.call("list_bookings")["result"])["nextCursor"]
            assert not client.call("brimgate_read", cursor=cursor)["result"].get("isError")
        assert client.close() == 0
        warned = [line for line in client.rest_of_log() if "store_unusable" in line]
    assert len(warned) == 1 and why in warned[0] and "end with this process" in warned[0], warned
    called = shell("call", "list_bookings", "--", *DEMO)
    assert called.returncode == 0 and called.stdout.startswith("[brimgate] items #0-"), called
    assert called.stderr.count("end with this process") == 1, called.stderr
    assert shell("read", cursor).returncode == 2


@posix
def test_a_folder_that_others_can_read_is_not_used(shell: Shell) -> None:
    shell.held.mkdir(parents=True, mode=0o700)
    shell.held.chmod(0o755)
    check_memory_is_used(shell, "chmod 700")
    assert list(shell.held.iterdir()) == [] and stat.S_IMODE(shell.held.stat().st_mode) == 0o755


@posix
def test_a_symbolic_link_is_not_followed(shell: Shell, tmp_path: Path) -> None:
    shell.state.mkdir(mode=0o700)
    (tmp_path / "target").mkdir(mode=0o700)
    shell.held.symlink_to(tmp_path / "target")
    check_memory_is_used(shell, "no symbolic link")
    assert list((tmp_path / "target").iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("whose", ["snapshots", "keys", "."])
def test_a_folder_of_another_user_is_not_used(shell: Shell, whose: str) -> None:
    folder = shell.state / whose
    folder.mkdir(parents=True, mode=0o700)
    os.chown(folder, 4_242, 4_242)
    check_memory_is_used(shell, "nother user")


def test_a_file_in_the_place_of_the_folder_is_not_used(shell: Shell) -> None:
    shell.state.mkdir(mode=0o700)
    shell.held.write_text("")
    check_memory_is_used(shell, "must be a folder")


@posix
def test_a_disk_that_takes_no_large_file_costs_nothing_but_the_folder(shell: Shell) -> None:
    limited = ["bash", "-c", 'ulimit -f 8; exec "$@"', "-", *BRIMGATE, "run", "--", *DEMO]
    with RawClient(limited, env=environment(**shell.env)) as client:
        client.greet()
        cursor = record_of(client.call("list_bookings")["result"])["nextCursor"]
        assert not client.call("brimgate_read", cursor=cursor)["result"].get("isError")
        assert "File too large" in client.wait_for_log("store_unusable")
    assert shell.data() == [] and not list(shell.held.rglob("*.tmp"))


@contextmanager
def tiny_disk(folder: Path, options: str) -> Iterator[None]:
    folder.mkdir(mode=0o700)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"mode=700,{options}", "tmpfs", folder], check=False
    )
    if mounted.returncode:
        pytest.skip("only root can mount a small disk")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=False)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs tmpfs")
def test_at_whatever_step_the_disk_is_full_the_answer_is_held(shell: Shell) -> None:
    """So many files fit: the folders, the key, the answer or one of its views is the first that does not."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    outcomes: list[bool] = []
    for files in range(2, 13):
        with tiny_disk(shell.state, f"nr_inodes={files}"), shell.run() as client:
            client.greet()
            first = record_of(client.call("list_bookings")["result"])["nextCursor"]
            chosen = client.call("brimgate_read", cursor=first, fields="id", limit=3)["result"]
            following_page = client.call("brimgate_read", cursor=record_of(chosen)["nextCursor"])["result"]
            assert "items #3-5" in said(following_page), (files, following_page)
            client.close()
            warned = [line for line in client.rest_of_log() if "store_unusable" in line]
            assert len(warned) <= 1 and not any("internal_error" in line for line in client.log), client.log
            outcomes.append(bool(warned))
        shell.state.rmdir()
    assert outcomes[0] and not outcomes[-1], "it was full at first, and in the end it was not"


@pytest.mark.slow
def test_a_disk_that_fills_up_keeps_what_it_has(shell: Shell) -> None:
    """What was put before is still read; what comes later is held in memory."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    with tiny_disk(shell.state, "size=1m"), shell.run() as client:
        client.greet()
        before = record_of(client.call("list_tasks")["result"])["nextCursor"]
        with suppress_full(), (shell.state / "filler").open("wb", buffering=0) as filler:
            while True:
                filler.write(bytes(4_096))
        after = record_of(client.call("list_bookings")["result"])["nextCursor"]
        for cursor in (before, after):
            assert not client.call("brimgate_read", cursor=cursor)["result"].get("isError")
        assert "No space left" in client.wait_for_log("store_unusable")


@contextmanager
def suppress_full() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        assert error.errno == 28


# Several processes at once


@pytest.mark.slow
def test_processes_that_start_at_once_agree_on_one_key(shell: Shell) -> None:
    """Each creates the folder and the key, and each cursor is read by another."""
    with ThreadPoolExecutor(6) as pool:
        firsts = list(pool.map(lambda _: shell.first("list_tasks"), range(6)))
    cursors = {record_of(first)["nextCursor"] for first in firsts}
    with shell.run() as client:
        client.greet()
        for cursor in cursors:
            assert not client.call("brimgate_read", cursor=cursor)["result"].get("isError")
    assert not list((shell.state / "keys").glob(".*")), "no draft is left"


_HAMMER = """
import random, sys
from pathlib import Path
from brimgate.hold.stores.contract import Bounds
from brimgate.hold.stores.file import FileStore
store, chance = FileStore(Path(sys.argv[1]), Bounds(200_000, 300_000)), random.Random(int(sys.argv[2]))
minute = 100
for _ in range(250):
    minute += chance.random() < 0.04
    who, snapshot = chance.choice(("ann", "bob")), b"%08d" % chance.randrange(40)
    data = snapshot * 1_250
    store.put(who, snapshot, data, minute + chance.randrange(1, 5), minute)
    store.put_view(who, snapshot, b"view", snapshot)
    found, view = store.get(who, snapshot, minute), store.get_view(who, snapshot, b"view")
    assert found in (None, data) and view in (None, snapshot), (found and len(found), view)
    if chance.random() < 0.05:
        store.drop(who, snapshot)
    if chance.random() < 0.05:
        store.sweep(minute)
print(minute)
"""


def test_processes_that_put_renew_and_drop_at_once_do_not_get_in_each_others_way(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    hammers = [
        subprocess.Popen(
            [sys.executable, "-c", _HAMMER, str(folder), str(seed)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for seed in range(4)
    ]
    for hammer in hammers:
        _, trouble = hammer.communicate(timeout=PATIENCE)
        assert (hammer.returncode, trouble) == (0, "")
    assert sum(path.stat().st_size for path in folder.rglob("*.data")) <= 300_000 + 4 * 10_000
    store = FileStore(folder, Bounds(200_000, 300_000))
    store.put("ann", b"the last", b"x" * 10, 1 << 20, 0)
    assert sum(path.stat().st_size for path in folder.rglob("*.*")) <= 300_000
    assert store.sweep(1 << 21) == 0 and not list(folder.rglob("*.*"))


def test_a_process_that_is_killed_leaves_nothing_that_harms(shell: Shell) -> None:
    """What is half written is no snapshot, and is tidied up when no living process can still need it."""
    for sign in ("keys", "snapshots", "snapshots/*", "snapshots/*/*", "snapshots/*/*/*"):
        with shell.run() as client:
            client.greet()
            client.begin("tools/call", {"name": "list_bookings", "arguments": {}})
            wait_until(lambda sign=sign: [*shell.state.glob(sign)], sign)
            client.process.kill()
            client.process.wait(PATIENCE)
    result = shell.first()
    assert not shell.read(record_of(result)["nextCursor"]).get("isError")
    (home,) = [path for path in shell.held.iterdir() if path.name[0] != "."]
    half = home / "00112233"
    half.mkdir()
    (half / ".123.data.1-1.tmp").write_bytes(b"half of it")
    long_ago = time.time() - 3_600
    os.utime(half, (long_ago, long_ago))
    FileStore(shell.held).sweep(int(time.time() // 60))
    assert not half.exists() and shell.data()


# A list that is still being fetched


@pytest.fixture
def hostaway(shell: Shell) -> Iterator[RawClient]:
    with shell.run("--pack", "hostaway", "--sandbox", command=[]) as client:
        client.greet()
        yield client


@pytest.mark.slow
@posix
def test_a_list_that_another_process_fetches_is_named(shell: Shell, hostaway: RawClient) -> None:
    first = hostaway.call("list_reservations")["result"]
    cursor = record_of(first)["nextCursor"]
    there = shell.read(cursor)
    assert there["isError"] and "still being fetched by another running brimgate process" in said(there)
    assert "run the tool again" not in said(there)
    read = shell("read", cursor)
    assert read.returncode == 2 and "still being fetched by another running" in read.stderr
    assert "still being fetched" in json.loads(shell("cursor", cursor).stdout)["state"]
    changed = cursor[:-2] + ("AA" if cursor[-2:] != "AA" else "BA")
    assert "invalid or expired cursor" in said(shell.read(changed)), (
        "only whoever has the cursor learns of it"
    )
    more = hostaway.call("brimgate_read", cursor=cursor)["result"]
    assert "items #50-99 of 2,000" in said(more), "it goes on where it was begun"


@pytest.mark.slow
@posix
def test_a_list_that_is_complete_is_read_from_anywhere(shell: Shell, hostaway: RawClient) -> None:
    cursor = record_of(hostaway.call("list_reservations")["result"])["nextCursor"]
    found = hostaway.call("brimgate_read", cursor=cursor, search="nobody has this name")["result"]
    assert not found.get("isError"), "a search has all of it fetched"
    assert "items #50-" in said(shell.read(cursor))
    assert shell("read", cursor).stdout.startswith("[brimgate] items #50-")


@pytest.mark.slow
@posix
def test_a_list_dies_with_the_process_that_fetched_it(shell: Shell) -> None:
    with shell.run("--pack", "hostaway", "--sandbox", command=[]) as client:
        client.greet()
        cursor = record_of(client.call("list_reservations")["result"])["nextCursor"]
        client.process.kill()
        client.process.wait(PATIENCE)
    lost = shell.read(cursor)
    assert lost["isError"] and "has ended: run the tool again" in said(lost)


@pytest.mark.slow
@posix
def test_behind_another_brimgate_a_list_is_read_where_it_is_fetched(shell: Shell) -> None:
    """Both share the folder: the outer one passes on what only the inner one has."""
    inner = [*BRIMGATE, "run", "--pack", "hostaway", "--sandbox"]
    with shell.run("--chained", command=inner) as client:
        client.greet()
        client.request("tools/list")
        cursor = record_of(client.call("list_reservations")["result"])["nextCursor"]
        assert "items #50-99 of 2,000" in said(client.call("brimgate_read", cursor=cursor)["result"])


# What has expired


@pytest.mark.slow
def test_what_earlier_processes_left_is_swept_after_the_start(shell: Shell) -> None:
    store = FileStore(shell.held)
    minute = int(time.time() // 60)
    store.put("user", b"12345678", b"[1]", minute - 1, minute - 10)
    store.put("user", b"22345678", b"[2]", minute + 60, minute - 10)
    assert len(shell.data()) == 2
    with shell.run() as client:
        client.greet()
        wait_until(lambda: len(shell.data()) == 1, "the sweep")
    assert shell.data()[0].read_bytes() == b"[2]"


@pytest.mark.slow
def test_a_process_that_runs_sweeps_what_expires(shell: Shell) -> None:
    """Its own answers and those of a command that has ended; nobody asks for anything meanwhile."""
    with shell.run(BRIMGATE_CURSOR_TTL_SECONDS="60") as client:
        client.greet()
        cursor = record_of(client.call("list_bookings")["result"])["nextCursor"]
        shell("call", "list_tasks", "--", *DEMO, BRIMGATE_CURSOR_TTL_SECONDS="60")
        assert len(shell.data()) == 2
        wait_until(lambda: not shell.data(), "the sweep", 4 * PATIENCE)
        assert "invalid or expired" in said(client.call("brimgate_read", cursor=cursor)["result"])
