"""Moving windows: exact at the boundary, blocks, several claims at once, and calls at a time."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from brimgate.errors import RateLimited
from brimgate.guard.limits import Claim, Concurrency, Limiter, Rate


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


def refused(limiter: Limiter, rate: Rate, cost: int = 1) -> RateLimited:
    with pytest.raises(RateLimited) as found:
        limiter.take("ann", rate, cost)
    return found.value


def test_a_hundred_pass_and_the_next_is_told_when_it_would() -> None:
    clock, rate = Clock(), Rate(100, 900, 60)
    limiter = Limiter(clock)
    for number in range(100):
        clock.now = 1_000.0 + number
        assert limiter.take("ann", rate).remaining == 99 - number
    refusal = refused(limiter, rate)
    assert (refusal.retry_after, refusal.limit, refusal.window) == (801, 100, 900)  # the first was at 1,000
    clock.now += refusal.retry_after - 1
    assert refused(limiter, rate).retry_after == 60  # an attempt at 1,899 begins a block of its own
    clock.now += 60
    assert limiter.take("ann", rate).remaining >= 0


def test_a_block_is_not_prolonged_by_further_attempts() -> None:
    clock, rate = Clock(), Rate(1, 2, 60)
    limiter = Limiter(clock)
    limiter.take("ann", rate)
    assert [refused(limiter, rate).retry_after for _ in range(3)] == [60, 60, 60]
    clock.now += 59
    assert refused(limiter, rate).retry_after == 1
    clock.now += 1
    limiter.take("ann", rate)


def test_others_are_counted_apart() -> None:
    limiter, rate = Limiter(Clock()), Rate(1, 10)
    limiter.take("ann", rate)
    limiter.take("bob", rate)
    refused(limiter, rate)


def test_several_claims_are_counted_together_or_not_at_all() -> None:
    limiter, wide, narrow = Limiter(Clock()), Rate(10, 10), Rate(1, 10)
    limiter.take("narrow", narrow)
    with pytest.raises(RateLimited):
        limiter.take_all([Claim("wide", wide, 3), Claim("narrow", narrow)])
    assert limiter.take("wide", wide).remaining == 9


def test_more_at_once_than_the_limit_says_that_no_time_helps() -> None:
    assert "send fewer" in str(refused(Limiter(Clock()), Rate(2, 10), cost=3))


@given(
    st.lists(st.tuples(st.floats(0, 5), st.integers(1, 3)), max_size=60),
    st.integers(1, 5),
    st.floats(0.5, 10),
)
@example(
    steps=[(1.8707753299530658, 1), (1.7231004252661624, 1), (0.72, 2), (0.3565873880212201, 1), (0.0, 1)],
    most=1,
    seconds=8.0,
)
def test_no_window_ever_has_more_than_the_limit_and_whoever_waits_as_told_is_admitted(
    steps: list[tuple[float, int]], most: int, seconds: float
) -> None:
    clock, rate = Clock(), Rate(most, seconds)
    limiter = Limiter(clock)
    admitted: list[float] = []
    for pause, cost in steps:
        clock.now += pause
        try:
            limiter.take("ann", rate, cost)
        except RateLimited as refusal:
            if cost > most:
                continue
            clock.now += refusal.retry_after
            limiter.take("ann", rate, cost)
        admitted += [clock.now] * cost
    for moment in admitted:
        assert sum(moment <= other < moment + seconds for other in admitted) <= most


def test_windows_in_which_nothing_counts_are_forgotten() -> None:
    clock = Clock()
    limiter = Limiter(clock)
    for number in range(1_000):
        limiter.take(number, Rate(1, 10, 5))
    clock.now += 11
    limiter.sweep(10)
    assert not limiter.windows


def test_calls_at_a_time_are_counted_by_caller() -> None:
    running = Concurrency()
    running.take("ann", 2, 2)
    running.take("bob", 2, 1)
    with pytest.raises(RateLimited, match="more than 2 calls at a time"):
        running.take("ann", 2, 1)
    running.give_back("ann", 2)
    running.take("ann", 2, 2)
