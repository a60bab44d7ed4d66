"""Names that differ by a number: what is missing, what is there too often, and where nothing can be said."""

import random

import pytest

from brimgate.engine.highlights.number_series import series_breaks, version_breaks
from brimgate.engine.maps.line_series import line_series
from brimgate.engine.maps.survey import MUST_SEE


def hosts(*, without: int = 0, twice: int = 0) -> list[str]:
    names = [f"{role}-{number:03}" for role in ("web", "db", "cache") for number in range(1, 31)]
    lines = [f"{name}  10.0.0.{at}  RUNNING" for at, name in enumerate(names)]
    if twice:
        lines.insert(twice, lines[twice - 1].replace("RUNNING", "STOPPED"))
    return [line for line in lines if not line.startswith(f"db-{without:03}")]


def test_a_number_that_is_missing_is_told_where_the_next_one_stands() -> None:
    lines = hosts(without=17)
    (found,) = line_series(lines)
    assert found.text == "gap: db-017 missing, db-016 then db-018"
    assert lines[found.place - 1].startswith("db-018")


def test_a_name_that_stands_twice_is_told_with_both_places() -> None:
    (found,) = line_series(hosts(twice=40))
    assert found.text == "duplicate: db-010 stands 2 times, the others of its kind once · also line 40"
    assert found.place == 41


def test_neighbours_that_are_missing_are_one_gap() -> None:
    lines = [f"Page {number}" for number in range(1, 80) if number not in (30, 31, 32)]
    assert [one.text for one in line_series(lines)] == [
        "gap: Page 30 to Page 32 missing, Page 29 then Page 33"
    ]


@pytest.mark.parametrize(
    "lines",
    [
        hosts(),
        [f"took {random.Random(at).randrange(400)} ms" for at in range(300)],
        [f"order-{random.Random(at).randrange(10**6)} placed" for at in range(300)],
        [f"utf8 line of sha256 in x86, round {at % 5}" for at in range(100)],
        [],
    ],
)
def test_a_whole_series_and_numbers_that_are_none_tell_nothing(lines: list[str]) -> None:
    assert line_series(lines) == []


def test_a_number_that_came_twice_in_place_of_the_next_is_one_finding() -> None:
    names = [(at, "INV-", str(n)) for at, n in enumerate([*range(100, 140), 139, *range(141, 180)])]
    assert [one.name for one in series_breaks(names)] == ["INV-139"]


def test_a_release_that_is_missing_or_double_is_told() -> None:
    versions = [f"2.{minor}.{patch}" for minor in range(6) for patch in range(3)]
    told = [*versions[:4], *versions[5:9], versions[8], *versions[9:]]
    found = version_breaks(list(enumerate(told)))
    assert [one.text for one in found] == [
        "gap: 2.1.0 then 2.1.2, a release is missing",
        "duplicate: 2.2.2 stands 2 times",
    ]
    assert version_breaks(list(enumerate(versions))) == []


def test_findings_of_a_series_do_not_outweigh_a_secret() -> None:
    assert all(one.score < MUST_SEE for one in line_series(hosts(without=17, twice=40)))
