"""Records of Python's `logging` are lines of our log: one each, with its level, and nothing beside them."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.config.running import gateway
from tests.http.serving import DEMO, PATIENCE
from tests.http.test_request_log import TALKING
from tests.packs.test_discovery import ship

BEGINNING = """
import logging, os, sys
logging.basicConfig()  # as a careless library does
from brimgate.watch.log import Log
from brimgate.watch.library_log import take_records
log = Log("info", sys.argv[1])
take_records(log)
lib = logging.getLogger("some.library")
"""
STAMP = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4} ")


def said(code: str, form: str = "text") -> list[str]:
    """The lines on stderr, without their time."""
    done = subprocess.run(
        [sys.executable, "-c", BEGINNING + code, form],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert form == "json" or all(STAMP.match(line) for line in lines)
    return [STAMP.sub("", line) for line in lines]


@pytest.mark.parametrize("level", ["info", "warning", "error"])
def test_a_record_has_the_level_of_its_library(level: str) -> None:
    expected = f"brimgate: {level.upper()} library logger=some.library text=hello"
    assert said(f"lib.{level}('hello')") == [expected]


def test_what_is_worse_than_an_error_is_an_error_and_what_is_between_is_the_lower() -> None:
    assert [line.split()[1] for line in said("lib.critical('x'); lib.log(35, 'x')")] == ["ERROR", "WARNING"]


def test_the_level_is_that_of_the_log_also_after_a_change() -> None:
    code = "lib.debug('a')\nlog.level = 10\nlib.debug('b')\nlog.level = 40\nlib.warning('c')\nprint(end='')"
    assert said(code) == ["brimgate: DEBUG library logger=some.library text=b"]


def test_an_error_is_told_by_its_last_line() -> None:
    code = "try:\n    {}['key']\nexcept KeyError:\n    lib.exception('looked up\\n')"
    expected = """brimgate: ERROR library logger=some.library text="looked up" error="KeyError: 'key'\""""
    assert said(code) == [expected]


def test_no_record_forges_a_line_or_moves_a_cursor() -> None:
    (line,) = said("lib.warning('a\\nbrimgate: INFO all is well\\x1b[2J\\x85')")
    assert line.startswith("brimgate: WARNING library ") and line.isprintable()


def test_arguments_that_do_not_fit_cost_nobody_anything() -> None:
    code = (
        "class Bad:\n    def __str__(self): raise RuntimeError\n"
        "lib.warning('%d', 'x')\nlib.warning('%s', Bad())\nlib.warning(Bad())\nlib.warning('after')"
    )
    lines = said(code)
    assert len(lines) == 4 and lines[-1].endswith("text=after")
    assert sum("do not fit" in line for line in lines) == 3


def test_records_for_programs() -> None:
    (line,) = said("lib.warning('a\\nb')", "json")
    told = json.loads(line)
    assert told.pop("time").endswith("Z")
    assert told == {"level": "WARNING", "event": "library", "logger": "some.library", "text": "a\nb"}


def test_a_reader_that_does_not_read_is_not_waited_for() -> None:
    code = (
        "out, into = os.pipe()\n"
        "take_records(Log('info', 'text', into))\n"
        "for number in range(10_000): lib.warning('x' * 1_000)\n"
    )
    assert said(code) == []


def test_run_logs_what_a_pack_logs(tmp_path: Path) -> None:
    ship(tmp_path, "toy_logging", TALKING, "toy = toy_logging:PACK")
    with gateway("--pack", "toy", command=DEMO, env={"PYTHONPATH": str(tmp_path)}) as client:
        client.greet()
        client.call("list_bookings")
        line = client.wait_for_log("formatting")
        client.close()
        assert STAMP.match(line) and " brimgate: INFO library logger=toy.pack " in line
        assert not [line for line in client.log if line and not STAMP.match(line)]
