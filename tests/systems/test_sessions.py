"""Whole sessions of an assistant, with and without protection. Their latency is measured by `python -m bench hostaway`."""

from collections import Counter
from collections.abc import Iterator
from random import Random
from statistics import fmean

import pytest

from bench.hostaway import WINDOW_TOKENS, Client, account_of, random_session, system, turn_cost
from bench.hostaway_mix import documented_session

SESSIONS = 8


@pytest.fixture(scope="module")
def clients() -> Iterator[tuple[Client, Client]]:
    with system(0) as both:
        yield both


def test_the_documented_session_takes_80_percent_fewer_tokens_per_answer(
    clients: tuple[Client, Client],
) -> None:
    gated, plain = clients
    steps = documented_session(account_of(plain))
    kinds = {"list": 40, "get": 50, "search": 30, "report": 20, "calendar": 20, "follow-up": 40}
    assert Counter(step.kind for step in steps) == kinds
    with_it = [cost.tokens for step in steps if (cost := gated.take(step)) is not None]
    # A sixth of it is enough for a mean that is forty times the other.
    without = [cost.tokens for step in steps[::6] if not step.follows and (cost := plain.take(step))]
    assert max(with_it) <= 12_000
    assert fmean(with_it) <= 0.2 * fmean(without)


def test_no_session_overflows_the_window_of_a_model(clients: tuple[Client, Client]) -> None:
    """A thousand of them in the benchmark."""
    gated, plain = clients
    account = account_of(plain)
    for number in range(SESSIONS):
        steps = random_session(account, Random(number))
        used = gated.definitions + sum(turn_cost(gated, step) for step in steps)
        assert used <= WINDOW_TOKENS, (number, steps)
