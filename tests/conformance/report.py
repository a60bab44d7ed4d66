"""What the suite found, columns side by side."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tests.conformance.suite import FAILED, PASSED, Check, Found, Outcome

_ABSENT: Final = Outcome("absent")
_UNTOLD: Final = {"INFO", _ABSENT.status}
"""The suite notes every request and event of some scenarios as a check of this kind."""
_EXTENSION: Final = "tasks-"
"""Scenarios of the tasks extension: not scored, and the fixture does not have it."""

Reasons = Mapping[tuple[str, str], str]
"""Why a check does not pass, by the title of the column and the id of the check."""


@dataclass(frozen=True, slots=True)
class Difference:
    check: Check
    statuses: tuple[str, ...]
    """One per column, the direct one first."""
    reason: str
    complaints: tuple[str, ...]
    """What the suite said of it where it differs from the direct column."""
    lost: bool
    """It passes directly, does not through Brimgate, and nothing explains it."""


def differences(columns: Mapping[str, Found], reasons: Reasons) -> list[Difference]:
    checks = dict.fromkeys(check for found in columns.values() for check in found)
    compared = (_compare(check, columns, reasons) for check in checks)
    return [difference for difference in compared if difference]


def _compare(check: Check, columns: Mapping[str, Found], reasons: Reasons) -> Difference | None:
    outcomes = {title: found.get(check, _ABSENT) for title, found in columns.items()}
    statuses = tuple(outcome.status for outcome in outcomes.values())
    if len(set(statuses)) == 1 or set(statuses) <= _UNTOLD:
        return None
    other = {title: outcome for title, outcome in outcomes.items() if outcome.status != statuses[0]}
    told = [reasons.get((title, check.id), "") for title in other]
    return Difference(
        check,
        statuses,
        reason="; ".join(dict.fromkeys(filter(None, told))),
        complaints=tuple(f"{title}: {outcome.complaint}" for title, outcome in other.items()),
        lost=statuses[0] == PASSED and not all(told),
    )


def broken(direct: Found) -> list[Check]:
    """Checks that the fixture itself fails and should not."""
    return [
        check
        for check, outcome in direct.items()
        if outcome.status == FAILED and not check.scenario.startswith(_EXTENSION)
    ]


def page(columns: Mapping[str, Found], found: list[Difference]) -> str:
    lines = ["| | passed | failed | warnings |", "|---|---|---|---|"]
    for title, checks in columns.items():
        count = Counter(outcome.status for outcome in checks.values())
        lines.append(f"| {title} | {count[PASSED]} | {count[FAILED]} | {count['WARNING']} |")
    lines += ["", *_differences_table(list(columns), found)]
    return "\n".join(lines) + "\n"


def _differences_table(titles: list[str], found: list[Difference]) -> list[str]:
    if not found:
        return ["No check differs."]
    head = ["scenario", "check that differs", *titles, "reason"]
    lines = [_line(head), "|---" * len(head) + "|"]
    for difference in found:
        check = difference.check
        name = f"`{check.id}` ({check.name})"
        reason = "**unexplained**" if difference.lost else difference.reason
        lines.append(_line([check.scenario, name, *(_shown(s) for s in difference.statuses), reason]))
    return lines


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _shown(status: str) -> str:
    return {PASSED: "passed", FAILED: "**failed**"}.get(status, status.lower())
