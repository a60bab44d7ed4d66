"""The command line as a user has it: real files, real pipes, and real processes where that makes a difference."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from brimgate.testing import bookings
from tests.in_process import Here

Result = subprocess.CompletedProcess[bytes]
Run = Callable[..., Result]
BOOKINGS = json.dumps(bookings(500)).encode()


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """`brimgate` with a state folder of its own."""
    environment = os.environ | {"BRIMGATE_STATE_DIR": str(tmp_path / "state")}
    environment.pop("BRIMGATE_CURSOR_KEY", None)

    def brimgate(*arguments: str, stdin: bytes = b"", **more: str) -> Result:
        command = [sys.executable, "-m", "brimgate", *arguments]
        return subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            env=environment | more,
            cwd=tmp_path,
            timeout=120,
            check=False,
        )

    return brimgate


@pytest.fixture
def booked(tmp_path: Path) -> Path:
    path = tmp_path / "bookings.json"
    path.write_bytes(BOOKINGS)
    return path


def test_reduce_prints_a_bounded_reply_and_read_goes_on_in_another_process(run: Run, booked: Path) -> None:
    first = run("reduce", str(booked), "--json", "--family", "o200k")
    assert first.returncode == 0, first.stderr
    reply = json.loads(first.stdout)
    assert set(reply) == {"reply", "result", "payload"}
    assert reply["reply"].startswith("[brimgate] items #0-")
    second = run("read", reply["result"]["nextCursor"], "--json", "--family", "o200k")
    assert second.returncode == 0, second.stderr
    assert json.loads(second.stdout)["result"]["shown"]["from"] == reply["result"]["shown"]["items"]


def test_reduce_reads_standard_input(run: Run) -> None:
    assert run("reduce", "-", stdin=BOOKINGS).stdout.startswith(b"[brimgate] items #0-")


def test_what_fits_is_printed_byte_for_byte(here: Here) -> None:
    small = b'{ "id" : 1,\r\n "caf\\u00e9": 1.0 }\n'
    assert here("reduce", "-", stdin=small).stdout == small
    broken = b"caf\xe9\n"
    assert here("reduce", "-", stdin=broken).stdout == broken


def test_with_a_format_what_fits_is_written_in_it(here: Here) -> None:
    rows = b'[{"a": 1, "b": "x"}, {"a": 2, "b": "x"}]'
    assert (
        here("reduce", "-", "--format", "json", stdin=rows).stdout == b'[{"a":1,"b":"x"},{"a":2,"b":"x"}]\n'
    )
    assert b'a|b="x"\n1\n2\n' in here("reduce", "-", "--format", "columns", stdin=rows).stdout
    assert b"| a | b |\n|---|---|\n| 1 | x |" in here("reduce", "-", "--format", "table", stdin=rows).stdout
    assert here("reduce", "-", "--format", "lines", stdin=b"[1,2]").stdout == b"2 items, one a line\n1\n2\n"
    assert here("reduce", "-", "--format", "toon", stdin=rows).stdout == b"[2]{a,b}:\n  1,x\n  2,x\n"


@pytest.mark.parametrize("budget", ["300", "1000", "4000"])
def test_walk_follows_every_cursor_and_proves_that_nothing_is_lost(
    here: Here, booked: Path, budget: str
) -> None:
    walked = here("reduce", str(booked), "--walk", "--json", "--budget", budget)
    assert walked.returncode == 0, walked.stderr
    replies = [json.loads(line) for line in walked.stdout.splitlines()]
    if budget != "300":  # there not even one booking fits, and they come field by field
        assert sum(reply["result"]["shown"]["items"] for reply in replies) == 500
    assert max(reply["result"]["estimatedTokens"] for reply in replies) <= int(budget)
    assert b"equal to the original" in walked.stderr


def test_a_view_of_a_file_is_one_command(here: Here, booked: Path) -> None:
    assert (
        json.loads(
            here("reduce", str(booked), "--path", "/result/3/price", "--format", "json").stdout.split(b"\n")[
                2
            ]
        )
        == (bookings(500)["result"][3]["price"])
    )
    assert b"Chargeback CB-00150" in here("reduce", str(booked), "--search", "chargeback").stdout
    assert b"guest.name" in here("reduce", str(booked), "--fields", "id,guest.name", "--limit", "3").stdout
    assert here("reduce", "-", "--lines", "2-3", stdin=b"a\nb\nc\nd\n").stdout.endswith(b"b\nc\n\n")


@pytest.mark.parametrize(
    ("arguments", "stdin", "message"),
    [
        (["reduce", "missing.json"], b"", b"missing.json: no such file"),
        (["reduce", "."], b"", b".: is a directory"),
        (["reduce", "-"], b"\x00\x01\x02", b"-: binary, not text or JSON"),
        (["reduce", "-"], bytes(range(128, 256)) * 40, b"-: binary, not text or JSON"),
        (["reduce", "-", "--format", "json"], b"plain text", b"--format json needs JSON, and this is not"),
        (["reduce", "-", "--format", "columns"], b'{"a":1,"a":2}', b'duplicate key "a"'),
        (["reduce", "-", "--format", "json"], b"[NaN]", b"NaN is not JSON"),
        (["reduce", "-", "--budget", "200"], b"x", b"--budget must be at least 300"),
        (["reduce", "-", "--limit", "201"], b"x", b"limit exceeds maximum of 200"),
        (["reduce", "-", "--walk", "--search", "x"], b"x", b"--walk follows the whole answer"),
        (["reduce", "-", "--path", "/x"], b'{"a":1}', b"leads nowhere"),
        (
            ["reduce", "-", "--fields", "x"],
            b"text",
            b"fields can be chosen from JSON, CSV and JSON lines only",
        ),
        (["reduce", "-", "--multiplier", "0"], b"x", b"multiplier must be a positive number"),
        (["read", "nonsense"], b"", b"invalid or expired cursor: run the tool again"),
        (["cursor", "nonsense"], b"", b"invalid or expired cursor"),
    ],
)
def test_bad_input_gets_one_clear_line_and_exit_2(
    here: Here, arguments: list[str], stdin: bytes, message: bytes
) -> None:
    result = here(*arguments, stdin=stdin)
    assert result.returncode == 2
    assert message in result.stderr
    assert result.stderr.count(b"\n") == 1
    assert result.stdout == b""


def test_bad_input_ends_a_process_with_2(run: Run) -> None:
    result = run("reduce", "missing.json")
    assert (result.returncode, result.stdout) == (2, b"")
    assert result.stderr == b"brimgate: missing.json: no such file\n"


def test_a_file_with_duplicate_keys_is_walked_as_it_stands(here: Here, tmp_path: Path) -> None:
    rows = ",".join(f'{{"id":{n},"id":{n},"text":"row {n * 7919} of many"}}' for n in range(3_000))
    (tmp_path / "dup.json").write_text(f"[{rows}]")
    walked = here("reduce", "dup.json", "--walk")
    assert walked.returncode == 0, walked.stderr


def test_cursor_decodes_one(here: Here, booked: Path) -> None:
    record = json.loads(here("reduce", str(booked), "--json").stdout)["result"]
    told = json.loads(here("cursor", record["nextCursor"]).stdout)
    assert told["state"] == "valid here"
    assert told["expires"].endswith("Z")
    elsewhere = json.loads(
        here("cursor", record["nextCursor"], BRIMGATE_STATE_DIR=str(booked.parent / "other")).stdout
    )
    assert elsewhere["state"] == "sealed by another key, or for another caller"


def test_the_key_is_kept_private_and_a_readable_one_is_not_used(
    run: Run, booked: Path, tmp_path: Path
) -> None:
    run("reduce", str(booked))
    key = tmp_path / "state" / "keys" / "cursor.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "state" / "snapshots").stat().st_mode) == 0o700
    key.chmod(0o644)
    warned = run("reduce", str(booked))
    assert warned.returncode == 0 and warned.stdout.startswith(b"[brimgate] items #0-")
    assert b"can be read by others: chmod 600" in warned.stderr
    assert b"held in memory, and their cursors end with this process" in warned.stderr


def test_keys_from_the_environment_are_used_and_checked(run: Run, booked: Path) -> None:
    bad = run("reduce", str(booked), BRIMGATE_CURSOR_KEY="not base64!")
    assert bad.returncode == 2 and b"BRIMGATE_CURSOR_KEY must be base64" in bad.stderr
    short = run("reduce", str(booked), BRIMGATE_CURSOR_KEY="c2hvcnQ=")
    assert short.returncode == 2 and b"at least 16 random bytes" in short.stderr
    key = "q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA="
    cursor = json.loads(run("reduce", str(booked), "--json", BRIMGATE_CURSOR_KEY=key).stdout)["result"][
        "nextCursor"
    ]
    assert run("read", cursor, BRIMGATE_CURSOR_KEY=key).returncode == 0
    assert run("read", cursor).returncode == 2


def test_a_reader_that_stops_early_is_no_error(booked: Path, tmp_path: Path) -> None:
    command = f'"{sys.executable}" -m brimgate reduce "{booked}" --walk --budget 300 | head -n 1'
    environment = os.environ | {"BRIMGATE_STATE_DIR": str(tmp_path / "state")}
    result = subprocess.run(
        ["bash", "-c", command], capture_output=True, env=environment, timeout=120, check=False
    )
    assert result.stdout.startswith(b"[brimgate]")
    assert b"Traceback" not in result.stderr


@pytest.mark.parametrize("command", ["reduce", "read", "cursor", "demo"])
def test_every_command_has_help_with_an_example(here: Here, command: str) -> None:
    assert b"example:\n  " in here(command, "--help").stdout
