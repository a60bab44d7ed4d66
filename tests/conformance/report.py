"""What the suite found, compared check by check with what it finds directly."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from tests.conformance.exceptions import Exceptions
from tests.conformance.routes import DIRECT, Route
from tests.conformance.suite import FAILED, PASSED, Check, Found, Outcome

_ABSENT: Final = Outcome("absent")
_UNTOLD: Final = {"INFO", _ABSENT.status}
"""The suite notes every request and event of some scenarios as a check of this kind."""


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One run of the suite: which fixture, in which era, by which route, with what result."""

    fixture: str
    era: str
    route: Route
    found: Found

    def count(self, status: str) -> int:
        return Counter(outcome.status for outcome in self.found.values())[status]

    @property
    def scenarios(self) -> int:
        return len({check.scenario for check in self.found})


@dataclass(frozen=True, slots=True)
class Remark:
    """A check that fails directly, or differs from what it is directly; without a reason it is a defect."""

    column: Column
    check: Check
    directly: Outcome
    here: Outcome
    reason: str

    @property
    def told(self) -> str:
        column, check = self.column, self.check
        place = f"{column.fixture}, {column.era}, {column.route.upstream}, {column.route.path}"
        statuses = f"{_shown(self.directly)} directly, {_shown(self.here)} here"
        return f"{place}: {check.scenario}, {check.id}: {statuses}: {self.here.complaint or 'no complaint'}"


def failures(column: Column, known: Exceptions) -> list[Remark]:
    """Lists what a fixture does not pass by itself."""
    return [
        Remark(column, check, outcome, outcome, known.reason(column.fixture, column.route.upstream, check))
        for check, outcome in column.found.items()
        if outcome.status == FAILED
    ]


def differences(direct: Column, column: Column, known: Exceptions) -> list[Remark]:
    """Lists what is not the same as directly, for better or worse."""
    checks = dict.fromkeys((*direct.found, *column.found))
    pairs = ((check, direct.found.get(check, _ABSENT), column.found.get(check, _ABSENT)) for check in checks)
    return [
        Remark(column, check, directly, here, known.reason(column.fixture, column.route.upstream, check))
        for check, directly, here in pairs
        if directly.status != here.status and not {directly.status, here.status} <= _UNTOLD
    ]


Compared = Mapping[Column, list[Remark]]
"""Every run with its remarks, in the order of the table."""


def compare(columns: Iterable[Column], known_failures: Exceptions, known: Exceptions) -> Compared:
    columns = list(columns)
    directly = {(column.fixture, column.era): column for column in columns if column.route == DIRECT}
    return {
        column: failures(column, known_failures)
        if column.route == DIRECT
        else differences(directly[column.fixture, column.era], column, known)
        for column in columns
    }


_FEW: Final = 3
_HEAD: Final = (
    "fixture",
    "era",
    "upstream",
    "path",
    "scenarios",
    "checks passed",
    "failed",
    "warnings",
    "checks that differ",
)


def table(compared: Compared) -> str:
    lines = [_line(_HEAD), "|---" * len(_HEAD) + "|"]
    lines += [_line(_row(column, remarks)) for column, remarks in compared.items()]
    return "\n".join(lines)


def _row(column: Column, remarks: list[Remark]) -> list[str]:
    return [
        column.fixture,
        column.era,
        column.route.upstream,
        column.route.path,
        *(str(number) for number in (column.scenarios, *map(column.count, (PASSED, FAILED, "WARNING")))),
        "" if column.route == DIRECT else str(len(remarks)),
    ]


def reasons(compared: Compared) -> str:
    """Lists every reason once, with the fixtures that have it and the checks that it explains."""
    checks: dict[tuple[str, str], dict[str, None]] = {}
    fixtures: dict[tuple[str, str], dict[str, None]] = {}
    for column, remarks in compared.items():
        what = "fails directly" if column.route == DIRECT else f"differs before {column.route.upstream}"
        for remark in remarks:
            key = (what, remark.reason or "**unexplained**")
            checks.setdefault(key, {})[remark.check.id] = None
            fixtures.setdefault(key, {})[column.fixture] = None
    head = ("fixture", "checks", "what", "reason")
    rows = [(", ".join(fixtures[key]), _listed(list(checks[key])), *key) for key in checks]
    return "\n".join([_line(head), "|---" * len(head) + "|", *map(_line, rows)])


def _listed(checks: list[str]) -> str:
    """Names a few checks, and counts many."""
    if len(checks) > _FEW:
        return f"{len(checks)} of them"
    return ", ".join(f"`{check}`" for check in checks)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _shown(outcome: Outcome) -> str:
    return {PASSED: "passed", FAILED: "failed"}.get(outcome.status, outcome.status.lower())
