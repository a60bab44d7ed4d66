"""Where formatters that failed are written down."""

import json
import os
from datetime import datetime
from pathlib import Path

import pytest

from brimgate.errors import OperatorError
from brimgate.packs.formatter import Trouble
from brimgate.watch.log import NAME, note_failure

FIELDS = {"pack": "toy"} | Trouble("look", 44, "the answer lacks 'é'\nand more", 1.26).fields
posix = pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX's")


def test_a_failure_is_one_line_with_its_operation_size_error_and_time(tmp_path: Path) -> None:
    path = tmp_path / "state" / NAME
    note_failure(path, FIELDS)
    note_failure(path, FIELDS | {"error": "lone \udc80 surrogate"})
    first, second = (json.loads(line) for line in path.read_text("utf-8").splitlines())
    assert {name: first[name] for name in FIELDS} == FIELDS
    assert first["elapsedMs"] == 1.3
    assert datetime.fromisoformat(first["time"]).tzinfo is not None
    assert second["error"] == "lone ? surrogate"


@posix
def test_only_its_owner_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "state" / NAME
    note_failure(path, FIELDS)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


@posix
def test_a_folder_that_is_there_is_left_as_it_is(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    note_failure(tmp_path / "my.log", FIELDS)
    assert tmp_path.stat().st_mode & 0o777 == 0o755


def test_a_full_log_makes_room_by_one_older_file(tmp_path: Path) -> None:
    path = tmp_path / NAME
    for filler in (b"old\n", b"newer\n"):
        path.write_bytes(filler * (1 << 19))
        note_failure(path, FIELDS)
        assert len(path.read_text("utf-8").splitlines()) == 1
        assert (tmp_path / f"{NAME}.1").read_bytes().startswith(filler)
    assert sorted(one.name for one in tmp_path.iterdir()) == [NAME, f"{NAME}.1"]


def test_a_place_that_cannot_be_written_is_told_to_the_operator(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "file" / NAME, tmp_path / "file" / "below" / NAME, tmp_path / "folder"):
        with pytest.raises(OperatorError, match="cannot"):
            note_failure(path, FIELDS)
