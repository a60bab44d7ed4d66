"""The official suite finds the same through Brimgate as directly: every SDK, era, transport and path once.

`make conformance` runs all of them with all.
"""

from pathlib import Path

import pytest

from tests.conformance.exceptions import Exceptions, Known, read_exceptions
from tests.conformance.report import Column, compare
from tests.conformance.routes import DIRECT, Route
from tests.conformance.run import run_route, unexplained
from tests.conformance.suite import FAILED, PASSED, Check, Outcome
from tests.world import needs_npm

_THROUGH = Route("stdio", 1)
_CHECK = Check("ping", "ping-answered", "PingAnswered", 1)


@needs_npm
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("fixture", "era", "route"),
    [
        # Tasks, skills and multi-round requests. By stdio it would start a process that needs 2 s of CPU, against a clock
        # of the suite.
        ("fastmcp", "2026-07-28", Route("http", 2)),
        # Skills with folders, and multi-round requests that another SDK seals.
        ("npm", "2026-07-28", Route("http", 2)),
        ("npm", "2025-11-25", Route("http", 1)),
        ("mcp", "2025-06-18", Route("stdio", 1)),
    ],
)
def test_the_suite_finds_the_same_as_directly(fixture: str, era: str, route: Route, tmp_path: Path) -> None:
    direct = run_route(fixture, DIRECT, [era], tmp_path / "direct")
    through = run_route(fixture, route, [era], tmp_path / "through")
    assert through.rewrites
    compared = compare([*direct.columns, *through.columns], *read_exceptions())
    assert unexplained(compared) == []


def _columns(directly: str, here: str) -> list[Column]:
    return [
        Column("mcp", "2025-11-25", DIRECT, {_CHECK: Outcome(directly)}),
        Column("mcp", "2025-11-25", _THROUGH, {_CHECK: Outcome(here, "it hung")}),
    ]


@pytest.mark.parametrize(("directly", "here"), [(PASSED, FAILED), (PASSED, "WARNING"), ("SKIPPED", PASSED)])
def test_a_difference_without_a_reason_is_told(directly: str, here: str) -> None:
    (told,) = unexplained(compare(_columns(directly, here), Exceptions([]), Exceptions([])))
    assert "mcp, 2025-11-25, stdio, one Brimgate: ping, ping-answered" in told
    assert "it hung" in told


def test_a_check_that_a_fixture_fails_by_itself_needs_a_reason_as_well() -> None:
    told = unexplained(compare(_columns(FAILED, FAILED), Exceptions([]), Exceptions([])))
    assert len(told) == 1
    known = Exceptions([Known("no ping", fixture="mcp", scenario="pin*")])
    assert unexplained(compare(_columns(FAILED, FAILED), known, Exceptions([]))) == []


def test_an_exception_is_for_its_upstream_only_and_told_when_nothing_needs_it() -> None:
    known = Exceptions([Known("cut", upstream="stdio", check="ping-*"), Known("old", upstream="http")])
    assert unexplained(compare(_columns(PASSED, FAILED), Exceptions([]), known)) == []
    assert [entry.reason for entry in known.unneeded()] == ["old"]
