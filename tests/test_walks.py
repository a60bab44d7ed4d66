"""The walks of an answer get no longer unnoticed. `python tools/walks.py` prints them beside the bars we aim at."""

import subprocess
import sys
from typing import NamedTuple

import pytest

from tests.conftest import ROOT
from tools.walks import WALKS, Counted, Function, count


class Ceiling(NamedTuple):
    functions: int
    files: int
    changes: int | None = None
    """None where it differs from run to run: two connections take turns, or the server ends while we print."""


CEILINGS = {
    "small": Ceiling(59, 14, 17),
    "large": Ceiling(540, 71, 66),
    "read": Ceiling(310, 48, 56),
    "mcp": Ceiling(610, 79),
    "rest": Ceiling(455, 63),
    "shell": Ceiling(550, 74),
    "command": Ceiling(710, 88),
}
"""As it is now, with some room where it differs from run to run: on a busy machine, an answer of the API comes in pieces, and
a timer may ring (shell took 486 functions alone and more than 500 beside other jobs). The map of the
whole made the first reply longer by a hundred. Lower a number when a walk gets shorter."""


@pytest.mark.slow_except("small")
@pytest.mark.parametrize("name", WALKS)
def test_a_walk_is_no_longer_than_it_was(name: str) -> None:
    counted, most = count(name), CEILINGS[name]
    assert len(counted.functions) <= most.functions, counted.functions
    assert len(counted.files) <= most.files, counted.files
    assert most.changes is None or len(counted.changes) <= most.changes, counted.changes


def test_the_walk_of_a_small_answer_meets_every_bar() -> None:
    counted = count("small")
    assert counted.misses(WALKS["small"]) == []
    assert counted.functions[0] == Function("wire/pipes", "PipeReader.data_received")
    assert counted.functions[-1].module.startswith(("wire/", "app/"))


def test_changes_of_room_are_counted() -> None:
    here, there, top = Function("app/link", "a"), Function("relay/session", "b"), Function("errors", "c")
    counted = Counted([here, here, there, here, there, top])
    assert [one.room for one in (here, there, top)] == ["app", "relay", "brimgate"]
    assert (len(counted.changes), len(set(counted.changes))) == (4, 3)


def test_the_list_is_in_the_order_of_the_first_call() -> None:
    done = subprocess.run(
        [sys.executable, "tools/walks.py", "--list", "small"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=120,
        check=True,
    )
    listed = done.stdout.split()
    asked, answered = "relay/session:Session.from_client", "relay/session:Session.from_upstream"
    assert listed.index(asked) < listed.index(answered)
