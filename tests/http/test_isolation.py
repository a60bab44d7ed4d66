"""Nobody ever gets a word that was meant for another, whatever everybody calls their requests, cancels and loses."""

import asyncio
import json
import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.processes import free_port, listens, running
from tests.http.crowd import Passer, Shaker, Single, Tally, crowd
from tests.http.serving import Serving, modern, next_event, serve, text_of
from tests.relay.replies import following

CALLS = int(os.environ.get("HEADGATE_ISOLATION_CALLS", "6000"))
"""In all; `make isolation` makes more."""
PEOPLE = 32
SECRET = [sys.executable, str(Path(__file__).parent / "secret_server.py")]
BUDGET = ("--budget", "600")


def seeds(first: int) -> Iterator[random.Random]:
    for number in range(PEOPLE):
        yield random.Random(first + number)


def check_tally(tally: Tally, calls: int) -> None:
    """Every call came to one end, and all kinds of ends were among them."""
    assert tally.calls == calls // PEOPLE * PEOPLE
    assert tally.answered > tally.cut > 0
    assert tally.reduced
    assert tally.notifications


def test_sessions_on_stdio_servers_of_their_own() -> None:
    calls, tally = CALLS * 2 // 5, Tally()
    with serve(*BUDGET, "--log-level", "warning", command=[*SECRET, "stdio"]) as serving:
        people = [Shaker(serving.port, "/mcp", dice, tally) for dice in seeds(1_000)]
        asyncio.run(crowd(people, calls, listening=PEOPLE // 2))
    check_tally(tally, calls)
    assert tally.called_off
    assert tally.resumed


def test_single_exchanges_over_one_stdio_server() -> None:
    calls, tally = CALLS * 2 // 5, Tally()
    with serve(*BUDGET, "--log-level", "warning", command=[*SECRET, "stdio"]) as serving:
        people = [Single(serving.port, "/mcp", dice, tally) for dice in seeds(2_000)]
        asyncio.run(crowd(people, calls))
    check_tally(tally, calls)


def test_clients_of_both_eras_in_front_of_an_http_server(tmp_path: Path) -> None:
    calls, tally = CALLS // 5, Tally()
    port = free_port()
    with (
        running([*SECRET, "http", str(port)], tmp_path / "server.log", listens(port)),
        serve(
            *BUDGET, "--log-level", "warning", "--upstream", f"http://127.0.0.1:{port}/mcp", command=()
        ) as serving,
    ):
        people = [
            (Passer if number % 2 else Single)(serving.port, "/mcp", dice, tally)
            for number, dice in enumerate(seeds(3_000))
        ]
        asyncio.run(crowd(people, calls))
    check_tally(tally, calls)
    assert tally.called_off
