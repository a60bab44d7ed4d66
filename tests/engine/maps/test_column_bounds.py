"""A column that is never below another one: the row that breaks it is told, and chance makes no rule."""

import json
import random
from typing import Any

from brimgate.engine.highlights.odd_rows import odd_rows
from brimgate.engine.highlights.row_source import Rows

Row = dict[str, Any]


def told(rows: list[Row]) -> dict[int, str]:
    return {one.place: one.text for one in odd_rows(Rows(rows, list(range(len(rows))), "item"))}


def meetings(count: int = 80) -> list[Row]:
    rng = random.Random(3)
    found: list[Row] = []
    for at in range(count):
        hour, minutes = rng.randint(8, 16), rng.choice((15, 30, 45))
        day = f"2026-03-{1 + at % 28:02}T{hour:02}:"
        found.append({"id": f"m{at * 7919}", "start": f"{day}00:00", "end": f"{day}{minutes}:00"})
    return found


def prices(count: int = 90) -> list[Row]:
    rng = random.Random(4)
    paid = [rng.randint(2_000, 9_000) / 100 for _ in range(count)]
    return [
        {"sku": f"S{at * 31:05}", "price": f"{one:.2f}", "listed": f"{one * 1.2:.2f}" if at % 3 else None}
        for at, one in enumerate(paid)
    ]


def test_an_end_before_its_start_is_told_also_where_some_rows_have_no_end() -> None:
    rows = meetings()
    for row in rows[::9]:
        del row["end"]
    rows[41]["end"] = rows[41]["start"].replace("2026", "2025")
    assert f"end={rows[41]['end']} is before start={rows[41]['start']}" in told(rows)[41]


def test_a_meeting_that_lasts_for_days_is_told() -> None:
    rows = meetings()
    rows[33] |= {"start": "2026-03-06T09:00:00", "end": "2026-03-08T13:00:00"}
    assert "end is 2.17 days after start" in told(rows)[33]


def test_an_amount_below_the_one_that_it_never_falls_below_is_told_as_it_is_written() -> None:
    rows = prices()
    rows[40] |= {"price": "55.50", "listed": "53.10"}
    assert "listed=53.10 is below price=55.50" in told(rows)[40]


def test_columns_that_are_far_apart_are_no_bounds_of_each_other() -> None:
    rng = random.Random(5)
    rows = [
        {"id": f"x{at * 31}", "a": rng.uniform(1, 20), "b": rng.uniform(1_000, 2_000)} for at in range(90)
    ]
    rows[50]["a"] = 3_000.0
    assert "below" not in told(rows)[50]


def test_numbers_that_have_nothing_to_do_with_each_other_make_no_rule() -> None:
    rng = random.Random(6)
    rows = [{name: rng.gauss(50, 10) for name in "abcdefgh"} | {"id": f"x{at * 31}"} for at in range(200)]
    assert "below" not in json.dumps(told(rows))
