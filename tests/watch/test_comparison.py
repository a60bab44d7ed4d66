"""Two arms are compared with intervals that mean what they say: against textbooks, and against simulated experiments."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brimgate.watch.comparison import ArmFigures, Difference, compare, suffices, t_quantile

EXPERIMENTS = 1_000
MEASURES = ["tokens per call", "reads per call", "re-runs", "errors"]


def arm(arm: str = "direct", calls: int = 100, **figures: Any) -> ArmFigures:
    return ArmFigures(arm, calls, 0.0, 0.0, 0, 0, 0)._replace(**figures)


def arm_of(tokens: Sequence[float]) -> ArmFigures:
    return arm(calls=len(tokens), tokens=sum(tokens), tokens_squared=sum(one * one for one in tokens))


def by(measure: str, a: ArmFigures, b: ArmFigures) -> Difference:
    return {difference.measure: difference for difference in compare(a, b)}[measure]


def test_every_measure_is_compared() -> None:
    assert [difference.measure for difference in compare(arm(), arm())] == MEASURES


@pytest.mark.parametrize(
    "a, b, low, high",
    [
        ((48, 80), (56, 70), 0.0524, 0.3339),
        ((3, 10), (9, 10), 0.1705, 0.8090),
        ((2, 7), (6, 7), 0.0582, 0.8062),
        ((0, 29), (5, 56), -0.0381, 0.1926),
        ((0, 20), (0, 10), -0.1611, 0.2775),
        ((0, 10), (0, 10), -0.2775, 0.2775),
        ((0, 20), (10, 10), 0.6791, 1.0),
        ((0, 10), (10, 10), 0.6075, 1.0),
    ],
)
@pytest.mark.parametrize("measure, name", [("errors", "errors"), ("re-runs", "reruns")])
def test_shares_agree_with_newcombe_1998_table_ii(
    measure: str, name: str, a: tuple[int, int], b: tuple[int, int], low: float, high: float
) -> None:
    found = by(measure, arm(calls=a[1])._replace(**{name: a[0]}), arm(calls=b[1])._replace(**{name: b[0]}))
    assert (found.a, found.b) == (a[0] / a[1], b[0] / b[1])
    assert found.difference == found.b - found.a
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)
    assert found.is_clear == (low > 0)


def test_means_agree_with_welch_on_students_sleep_data() -> None:
    """As R's `t.test(extra ~ group, sleep)` prints them, with the sign of b - a."""
    a = arm_of([0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0])
    b = arm_of([1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4])
    found = by("tokens per call", a, b)
    assert (found.a, found.b) == pytest.approx((0.75, 2.33))
    assert (found.low, found.high) == pytest.approx((-0.2054832, 3.3654832), abs=1e-5)
    assert not found.is_clear


def test_reads_agree_with_the_normal_approximation_by_hand() -> None:
    found = by("reads per call", arm(calls=100, reads=20), arm(calls=400, reads=160))
    margin = 1.96 * math.sqrt(20 / 100**2 + 160 / 400**2)
    assert (found.a, found.b) == (0.2, 0.4)
    assert (found.low, found.high) == pytest.approx((0.2 - margin, 0.2 + margin), abs=1e-5)
    assert found.is_clear


@pytest.mark.parametrize(
    "degrees, quantile", [(5, 2.5706), (6, 2.4469), (8, 2.3060), (10, 2.2281), (30, 2.0423), (120, 1.9799)]
)
def test_the_quantile_of_t_agrees_with_the_tables(degrees: float, quantile: float) -> None:
    assert t_quantile(degrees) == pytest.approx(quantile, abs=0.0005)


def test_the_quantile_of_t_becomes_that_of_the_normal_distribution() -> None:
    assert t_quantile(1e300) == t_quantile(math.inf) == pytest.approx(1.959964)


def coverage(measure: str, truth: float, draw: Callable[[], tuple[ArmFigures, ArmFigures]]) -> float:
    found = [by(measure, *draw()) for _ in range(EXPERIMENTS)]
    return sum(one.low <= truth <= one.high for one in found) / EXPERIMENTS


def test_the_interval_of_means_covers_the_truth_with_unequal_arms() -> None:
    random = np.random.default_rng(14)

    def draw() -> tuple[ArmFigures, ArmFigures]:
        return arm_of(random.normal(900, 300, 12).tolist()), arm_of(random.normal(500, 50, 60).tolist())

    assert 0.92 <= coverage("tokens per call", -400, draw) <= 0.98


def test_the_interval_of_means_covers_the_truth_with_skewed_tokens() -> None:
    random = np.random.default_rng(36)

    def draw() -> tuple[ArmFigures, ArmFigures]:
        a, b = random.lognormal(6, 0.8, 150), random.lognormal(5, 0.8, 150)
        return arm_of(a.tolist()), arm_of(b.tolist())

    truth = math.exp(5 + 0.32) - math.exp(6 + 0.32)
    assert 0.92 <= coverage("tokens per call", truth, draw) <= 0.98


@pytest.mark.parametrize("share_a, share_b", [(0.05, 0.12), (0.2, 0.2), (0.5, 0.9)])
def test_the_interval_of_shares_covers_the_truth(share_a: float, share_b: float) -> None:
    random = np.random.default_rng(56)

    def draw() -> tuple[ArmFigures, ArmFigures]:
        a, b = int(random.binomial(80, share_a)), int(random.binomial(200, share_b))
        return arm(calls=80, errors=a), arm(calls=200, errors=b)

    assert 0.92 <= coverage("errors", share_b - share_a, draw) <= 0.98


def test_the_interval_of_shares_is_on_the_safe_side_for_rare_events() -> None:
    random = np.random.default_rng(99)

    def draw() -> tuple[ArmFigures, ArmFigures]:
        a, b = random.binomial(80, 0.01, 2).tolist()
        return arm(calls=80, errors=a), arm(calls=80, errors=b)

    assert coverage("errors", 0, draw) >= 0.99


def test_the_interval_of_reads_covers_the_truth() -> None:
    random = np.random.default_rng(70)

    def draw() -> tuple[ArmFigures, ArmFigures]:
        a, b = int(random.poisson(100 * 0.3)), int(random.poisson(250 * 0.5))
        return arm(calls=100, reads=a), arm(calls=250, reads=b)

    assert 0.92 <= coverage("reads per call", 0.2, draw) <= 0.98


def test_arms_that_do_not_differ_are_seldom_told_apart() -> None:
    random = np.random.default_rng(7)
    clear = 0
    for _ in range(EXPERIMENTS):
        a, b = random.lognormal(6, 0.8, (2, 100)).tolist()
        clear += by("tokens per call", arm_of(a), arm_of(b)).is_clear
    assert 0.02 <= clear / EXPERIMENTS <= 0.08


def test_without_calls_nothing_is_known() -> None:
    tokens, reads, reruns, errors = compare(arm(calls=0), arm(calls=100, reads=50, errors=100))
    assert (tokens.low, tokens.high) == (reads.low, reads.high) == (-math.inf, math.inf)
    assert (errors.low, errors.high) == pytest.approx((0, 1), abs=0.05)
    assert not any(one.is_clear for one in (tokens, reads, reruns, errors))


def test_one_call_has_no_variance() -> None:
    found = by("tokens per call", arm_of([500.0]), arm_of([100.0, 120.0, 110.0]))
    assert found.difference == pytest.approx(-390)
    assert (found.low, found.high) == (-math.inf, math.inf)


def test_calls_that_all_cost_the_same_differ_clearly_or_not_at_all() -> None:
    same = by("tokens per call", arm_of([100.0] * 40), arm_of([100.0] * 40))
    assert (same.low, same.high, same.is_clear) == (0, 0, False)
    other = by("tokens per call", arm_of([100.0] * 40), arm_of([90.0] * 40))
    assert (other.low, other.high, other.is_clear) == (-10, -10, True)


def test_an_arm_of_errors_alone_keeps_its_interval_inside_of_what_is_possible() -> None:
    found = by("errors", arm(calls=40), arm(calls=40, errors=40))
    assert found.difference == found.high == 1
    assert 0.8 < found.low < 1 and found.is_clear


def test_more_errors_than_calls_count_as_all_calls() -> None:
    assert by("errors", arm(calls=40), arm(calls=40, errors=90)).b == 1


def test_numbers_too_large_for_a_variance_give_an_infinite_interval() -> None:
    huge = arm(calls=10**15, tokens=1e300, tokens_squared=1e308, reads=10**18, reruns=1, errors=1)
    found = by("tokens per call", huge, arm_of([1.0, 2.0]))
    assert (found.low, found.high, found.is_clear) == (-math.inf, math.inf, False)


COUNTS = st.integers(0, 2**64)
SUMS = st.floats(0, allow_nan=False, allow_infinity=False)
ARMS = st.builds(
    ArmFigures,
    st.sampled_from(["protected", "direct", "shadow"]),
    calls=st.one_of(st.integers(0, 40), COUNTS),
    tokens=SUMS,
    tokens_squared=SUMS,
    reads=COUNTS,
    reruns=COUNTS,
    errors=COUNTS,
)


@pytest.mark.property
@given(ARMS, ARMS)
def test_whatever_the_figures_the_interval_holds_the_difference(a: ArmFigures, b: ArmFigures) -> None:
    for found in compare(a, b):
        assert found.low <= found.difference <= found.high
        assert math.isfinite(found.difference)
        assert found.is_clear == (not found.low <= 0 <= found.high)
    for found in compare(a, b)[2:]:
        assert found.low >= -1 - 1e-9 and found.high <= 1 + 1e-9


@pytest.mark.property
@given(ARMS, ARMS)
def test_the_other_way_round_every_sign_is_turned(a: ArmFigures, b: ArmFigures) -> None:
    for one, other in zip(compare(a, b), compare(b, a), strict=True):
        turned = (-other.high, -other.low)
        assert (one.low, one.high) == pytest.approx(turned, rel=1e-9, abs=1e-9)
        assert one.difference == -other.difference


@pytest.mark.parametrize("calls, told", [(0, "0 calls"), (1, "1 call"), (12, "12 calls"), (29, "29 calls")])
def test_the_arm_with_too_few_calls_is_named(calls: int, told: str) -> None:
    sentence = f"the arm direct has {told}: at least 30 in each arm are needed to compare them"
    few, many = arm("direct", calls), arm("protected", 500)
    assert suffices(few, many) == suffices(many, few) == sentence


def test_30_calls_in_each_arm_suffice() -> None:
    assert suffices(arm("protected", 30), arm("direct", 30)) == ""
