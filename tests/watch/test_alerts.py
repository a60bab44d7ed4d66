"""Alerts are raised and cleared late enough to mean something, and never flood whoever gets them."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brimgate.watch.alerts import Alert, AlertOptions, Alerts, Tick

WALL = 1_767_225_600.0  # 2026-01-01T00:00:00Z
WINDOW = AlertOptions().window_seconds
BUSY = Tick(answers=100)
OVERSIZED = Tick(answers=100, oversized=50)
DRIFTING = Tick(samples=100, samples_near=50)
NEAR = Tick(samples=100, samples_near=100)
FAILING = Tick(failing={"crm": "cannot be reached"})
DROPPED = Tick(dropped=3)
IDLE = Tick()


class Watch:
    """Looks at what happens at given seconds, and notes what changes."""

    def __init__(self, options: AlertOptions | None = None) -> None:
        self.alerts = Alerts(options or AlertOptions())
        self.seen: list[tuple[float, Alert]] = []

    def at(self, now: float, tick: Tick = IDLE) -> list[str]:
        """Look once, and return what changed, as `name state` or `name subject state`."""
        changes = self.alerts.look(tick, now, WALL + now)
        self.seen += [(now, alert) for alert in changes]
        return [" ".join(filter(None, (alert.name, alert.subject, alert.state))) for alert in changes]

    def during(self, moments: Iterable[int], tick: Tick) -> list[tuple[int, str]]:
        """Look at each moment, and return what changed when."""
        return [(now, change) for now in moments for change in self.at(now, tick)]

    def active(self) -> list[str]:
        return [alert.subject or alert.name for alert in self.alerts.active]


def test_a_quiet_gateway_raises_nothing() -> None:
    watch = Watch()
    assert watch.during(range(0, 7200, 10), BUSY._replace(oversized=5, samples=20, samples_near=17)) == []
    assert watch.active() == []


def test_too_many_oversized_answers_are_raised_once_with_their_numbers() -> None:
    watch = Watch()
    assert watch.at(0, Tick(answers=100, oversized=6)) == ["oversized_share raised"]
    assert watch.during(range(10, 100, 10), Tick(answers=100, oversized=6)) == []
    assert watch.seen[0][1].document() == {
        "alert": "oversized_share",
        "state": "raised",
        "subject": "",
        "since": "2026-01-01T00:00:00Z",
        "share": 0.06,
        "threshold": 0.05,
        "answers": 100,
        "window_seconds": 900.0,
    }
    assert json.loads(json.dumps(watch.seen[0][1].document())) == watch.seen[0][1].document()


def test_an_active_alert_shows_the_numbers_of_the_last_look_and_when_it_was_raised() -> None:
    watch = Watch()
    watch.at(0, OVERSIZED)
    watch.at(10, BUSY)
    (active,) = watch.alerts.active
    assert (active.since, active.fields["share"], active.fields["answers"]) == (WALL, 0.25, 200)


def test_few_answers_say_nothing_until_there_are_enough() -> None:
    watch = Watch()
    assert watch.at(0, Tick(answers=19, oversized=19)) == []
    assert watch.at(10, Tick(answers=1)) == ["oversized_share raised"]


def test_an_oversized_share_is_cleared_only_well_below_its_threshold() -> None:
    watch = Watch()
    watch.at(0, Tick(answers=1_000, oversized=60))
    assert watch.at(10, Tick(answers=300)) == []  # 4.6 %
    assert watch.at(20, Tick(answers=250)) == ["oversized_share cleared"]  # 3.9 %
    assert watch.seen[-1][1].since == WALL and watch.active() == []


def test_a_share_that_is_too_high_for_the_window_before_is_not_counted_in_the_next() -> None:
    watch = Watch()
    watch.at(0, OVERSIZED)
    assert watch.during(range(60, 901, 60), Tick(answers=40)) == [(900, "oversized_share cleared")]


def test_a_window_counts_all_of_its_answers_however_many_ticks_they_came_in() -> None:
    watch = Watch()
    watch.during(range(3_000), Tick(answers=1, oversized=1))
    assert 880 <= watch.alerts.active[0].fields["answers"] <= 900


def test_a_window_that_has_gone_quiet_clears_a_share_after_a_whole_window() -> None:
    watch = Watch()
    watch.at(0, OVERSIZED)
    # Until second 890 there are enough answers in the window.
    assert watch.during(range(10, 2_000, 10), IDLE) == [(1_790, "oversized_share cleared")]


def test_looks_that_are_hours_apart_are_enough() -> None:
    watch = Watch()
    assert watch.at(0, OVERSIZED) == ["oversized_share raised"]
    assert watch.at(5 * 3_600) == ["oversized_share cleared"]
    assert watch.at(10 * 3_600, OVERSIZED) == ["oversized_share raised"]


def test_a_few_answers_after_a_busy_time_neither_clear_nor_raise() -> None:
    watch = Watch()
    watch.at(0, OVERSIZED)
    assert watch.during(range(890, 1_780, 89), Tick(answers=1)) == []
    assert watch.active() == ["oversized_share"]


def test_an_estimator_that_drifts_is_raised_and_cleared_when_it_is_clearly_better() -> None:
    watch = Watch()
    assert watch.at(0, Tick(samples=1_000, samples_near=840)) == ["estimator_drift raised"]
    assert watch.at(10, Tick(samples=150, samples_near=150)) == []  # 86.1 %
    assert watch.at(20, Tick(samples=150, samples_near=150)) == ["estimator_drift cleared"]  # 87.7 %
    assert watch.seen[0][1].fields == {
        "share": 0.84,
        "threshold": 0.85,
        "samples": 1_000,
        "window_seconds": 900.0,
    }


def test_an_estimator_is_judged_by_enough_samples_and_cleared_without_any() -> None:
    watch = Watch()
    assert watch.at(0, Tick(samples=19)) == []
    assert watch.at(10, Tick(samples=1)) == ["estimator_drift raised"]
    assert watch.at(10 + 2 * WINDOW) == ["estimator_drift cleared"]


@pytest.mark.parametrize("least", [0, 1])
def test_no_samples_at_all_are_no_drift(least: int) -> None:
    assert Watch(AlertOptions(least_samples=least)).at(0) == []


def test_thresholds_at_their_ends_can_be_cleared() -> None:
    watch = Watch(AlertOptions(oversized_share=0.0, accuracy=1.0))
    bad = Tick(answers=100, oversized=1, samples=100, samples_near=99)
    assert watch.at(0, bad) == ["oversized_share raised", "estimator_drift raised"]
    good = Tick(answers=100, samples=100, samples_near=100)
    assert watch.at(2 * WINDOW, good) == ["oversized_share cleared", "estimator_drift cleared"]


def test_an_upstream_that_fails_is_raised_after_ten_seconds_and_cleared_ten_after_it_is_well() -> None:
    watch = Watch()
    assert watch.during(range(0, 30, 5), FAILING) == [(10, "upstream_failing crm raised")]
    assert watch.during(range(30, 60, 5), IDLE) == [(40, "upstream_failing crm cleared")]
    assert watch.seen[0][1].document()["subject"] == "crm"
    assert [alert.fields for _, alert in watch.seen] == [{"reason": "cannot be reached"}] * 2


def test_one_look_is_not_enough_to_raise_or_clear_however_late_it_comes() -> None:
    watch = Watch()
    watch.at(0)
    assert watch.at(3_600, FAILING) == []
    assert watch.at(7_200, FAILING) == ["upstream_failing crm raised"]
    assert watch.at(10_800) == []
    assert watch.at(14_400) == ["upstream_failing crm cleared"]


def test_a_hiccup_is_no_failure_and_no_recovery() -> None:
    watch = Watch()
    assert watch.at(0, FAILING) == watch.at(9, FAILING) == watch.at(10, IDLE) == watch.at(12, FAILING) == []
    assert watch.at(22, FAILING) == ["upstream_failing crm raised"]
    assert watch.at(30, IDLE) == watch.at(39, IDLE) == watch.at(41, FAILING) == watch.at(45, IDLE) == []
    assert watch.at(55, IDLE) == ["upstream_failing crm cleared"]


def test_an_upstream_may_fail_without_a_reason_and_with_a_very_long_one() -> None:
    watch = Watch()
    failing = Tick(failing={"mute": "", "chatty": "x" * 100_000})
    assert watch.during((0, 10), failing) == [
        (10, "upstream_failing mute raised"),
        (10, "upstream_failing chatty raised"),
    ]
    assert len(watch.alerts.active[1].fields["reason"]) == 300


def test_the_oldest_alert_is_first_also_when_the_wall_clock_goes_back() -> None:
    watch = Watch()
    watch.alerts.look(OVERSIZED, 0, WALL)
    watch.alerts.look(DROPPED, 10, WALL - 86_400)
    assert watch.active() == ["oversized_share", "records_dropped"]
    assert watch.alerts.active[1].document()["since"] == "2025-12-31T00:00:00Z"


def test_a_degraded_store_is_raised_and_cleared_as_an_upstream_is() -> None:
    watch = Watch()
    assert watch.during(range(0, 20, 5), Tick(store="timeout")) == [(10, "store_degraded raised")]
    assert watch.during(range(20, 40, 5), IDLE) == [(30, "store_degraded cleared")]
    assert watch.seen[0][1].fields == {"reason": "timeout"}


def test_a_dropped_record_is_raised_at_once_and_cleared_after_a_window_without_one() -> None:
    watch = Watch()
    assert watch.at(0, DROPPED) == ["records_dropped raised"]
    assert watch.at(800, DROPPED) == watch.at(1_699) == []
    assert watch.at(1_700) == ["records_dropped cleared"]
    assert [alert.fields["dropped"] for _, alert in watch.seen] == [3, 6]
    assert watch.at(5_000, DROPPED) == ["records_dropped raised"]
    assert watch.seen[-1][1].fields == {"dropped": 3, "window_seconds": 900.0}


def test_an_alert_that_flaps_is_raised_again_a_minute_after_it_was_cleared_at_the_earliest() -> None:
    watch = Watch()
    watch.during((0, 10), FAILING)
    watch.during((20, 30), IDLE)
    assert watch.during(range(31, 120), FAILING) == [(90, "upstream_failing crm raised")]


def test_another_subject_need_not_wait_for_the_one_that_flaps() -> None:
    watch = Watch()
    watch.during((0, 10), FAILING)
    watch.during((20, 30), IDLE)
    assert watch.during((31, 41), Tick(failing={"erp": ""})) == [(41, "upstream_failing erp raised")]


def test_only_the_first_hundred_upstreams_are_watched_and_others_when_there_is_room() -> None:
    watch = Watch()
    many = Tick(failing={f"u{n}": "" for n in range(150)})
    assert len(watch.during((0, 10), many)) == 100 and watch.active() == [f"u{n}" for n in range(100)]
    others = Tick(failing={f"v{n}": "" for n in range(150)})
    assert len(watch.during((20, 30), others)) == 100 and watch.active() == []  # all cleared, none raised
    assert len(watch.during((90, 100), others)) == 100 and watch.active()[0] == "v0"


def test_a_reload_holds_from_the_next_look_on() -> None:
    watch = Watch()
    tick = Tick(answers=100, oversized=10)
    assert watch.at(0, tick) == ["oversized_share raised"]
    watch.alerts.options = AlertOptions(oversized_share=0.5)
    assert watch.at(10, tick) == ["oversized_share cleared"]
    watch.alerts.options = AlertOptions(window_seconds=60)
    assert watch.at(100, tick) == ["oversized_share raised"]
    assert watch.alerts.active[0].fields["answers"] == 100  # those before are older than the new window
    watch.alerts.options = AlertOptions(window_seconds=86_400)
    watch.at(200, tick)
    assert watch.alerts.active[0].fields["answers"] == 200


def test_options_that_change_leave_those_of_a_raised_alert_as_they_were() -> None:
    watch = Watch()
    watch.at(0, OVERSIZED)
    raised = watch.seen[0][1]
    watch.alerts.options = replace(watch.alerts.options, oversized_share=0.1)
    watch.at(10, OVERSIZED)
    assert raised.fields["threshold"] == 0.05 and watch.alerts.active[0].fields["threshold"] == 0.1


def kept(alerts: Alerts) -> int:
    """Count the objects that alerts keep, all the way down."""
    return sum(1 for _ in reachable(alerts, set()))


def reachable(value: object, seen: set[int]) -> Iterator[object]:
    if id(value) in seen:
        return
    seen.add(id(value))
    yield value
    inner: list[object] = list(vars(value).values()) if hasattr(value, "__dict__") else []
    if isinstance(value, dict):
        inner = [*value.keys(), *value.values()]
    elif not isinstance(value, str) and isinstance(value, Iterable):
        inner = list(value)
    for one in inner:
        yield from reachable(one, seen)


def test_memory_is_bounded_whatever_the_number_of_ticks_and_names() -> None:
    watch = Watch()
    for n in range(3_000):
        failing = {f"u{n // 20 * 50 + k}": "" for k in range(50)}
        tick = Tick(answers=5, oversized=n % 3, samples=3, samples_near=n % 4, dropped=n % 2, failing=failing)
        watch.alerts.look(tick, n, WALL + n)
    assert watch.alerts.active
    assert kept(watch.alerts) < 2_000


TICKS = st.sampled_from(
    [
        IDLE,
        BUSY,
        OVERSIZED,
        DRIFTING,
        NEAR,
        FAILING,
        DROPPED,
        Tick(store="away"),
        FAILING._replace(store="away"),
    ]
)
STEPS = st.lists(st.tuples(TICKS, st.sampled_from([0.0, 0.1, 1.0, 5.0, 11.0, 61.0, 1_000.0])), max_size=60)


@pytest.mark.property
@given(STEPS)
def test_an_alert_is_raised_and_cleared_in_turn_and_rests_for_a_minute_between(
    steps: list[tuple[Tick, float]],
) -> None:
    watch, now = Watch(AlertOptions(window_seconds=30)), 0.0
    last: dict[tuple[str, str], tuple[float, str]] = {}
    for tick, seconds in steps:
        now += seconds
        for alert in watch.alerts.look(tick, now, WALL):
            at, state = last.get((alert.name, alert.subject), (-60.0, "cleared"))
            assert alert.state != state
            assert alert.state == "cleared" or now - at >= 60
            last[alert.name, alert.subject] = now, alert.state
        raised = {key for key, (_, state) in last.items() if state == "raised"}
        assert {(alert.name, alert.subject) for alert in watch.alerts.active} == raised


@pytest.mark.property
@given(STEPS)
def test_whatever_happened_every_alert_is_cleared_once_all_is_quiet(steps: list[tuple[Tick, float]]) -> None:
    watch, now = Watch(), 0.0
    for tick, seconds in steps:
        now += seconds
        watch.at(now, tick)
    watch.at(now + 1)
    watch.at(now + 2 * WINDOW)
    assert watch.active() == []
