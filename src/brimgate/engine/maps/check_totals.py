"""Read the totals that a test report states about itself."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

_WORD: Final = {
    "passed": "passed",
    "passing": "passed",
    "pass": "passed",
    "succeeded": "passed",
    "failed": "failed",
    "failing": "failed",
    "fail": "failed",
    "failure": "failed",
    "failures": "failed",
    "error": "error",
    "errors": "error",
    "skipped": "skipped",
    "skip": "skipped",
    "skips": "skipped",
    "pending": "skipped",
    "ignored": "skipped",
    "todo": "skipped",
    "xfailed": "xfailed",
    "expected failures": "xfailed",
    "xpassed": "xpassed",
    "unexpected successes": "xpassed",
    "rerun": "rerun",
}
_COUNT: Final = re.compile(r"(?P<number>\d++) (?P<word>[a-z]++)")
_NAMED: Final = re.compile(r"(?P<word>[a-z]++(?: [a-z]++)?)=(?P<number>\d++)")
_PYTEST: Final = re.compile(
    r"(?:=+ )?(?P<counts>\d++ (?:passed|failed|error|errors|skipped|xfailed|xpassed|deselected|warnings?"
    r"|rerun)\b.*) in (?P<seconds>[\d.]++)s"
)
_UNITTEST: Final = re.compile(r"Ran (?P<ran>\d++) tests? in (?P<seconds>[\d.]++)s$")
_UNITTEST_END: Final = re.compile(r"(?:FAILED|OK)(?: \((?P<counts>[a-z0-9=, ]*)\))?$")
_JEST: Final = re.compile(r"Tests: {2,}(?P<counts>\d.*), (?P<total>\d++) total")
_VITEST: Final = re.compile(r"\s{2,}Tests  (?P<counts>\d.*?) \((?P<total>\d++)\)")
_CARGO: Final = re.compile(
    r"test result: \w++\. (?P<counts>\d.*?)(?:; \d++ measured.*?)?(?:; finished in (?P<seconds>[\d.]++)s)?$"
)
_MOCHA: Final = re.compile(
    r"\s*+(?P<counts>\d++ (?:passing|failing|pending))(?: \((?P<seconds>[\d.]++)(?P<unit>ms|s|m)\))?$"
)
_RSPEC: Final = re.compile(r"(?P<total>\d++) examples?, (?P<counts>\d++ failures?.*)$")
_SUREFIRE: Final = re.compile(
    r"(?:\[\w++\] )?Tests run: (?P<total>\d++), Failures: (?P<failed>\d++), Errors: (?P<error>\d++)"
    r"(?:, Skipped: (?P<skipped>\d++))?$"
)
_GRADLE: Final = re.compile(r"(?P<total>\d++) tests? completed(?:, (?P<counts>\d.*))?$")
_TAP: Final = re.compile(r"# (?P<word>pass|fail|skip|skipped|todo)\s++(?P<number>\d++)$")
_NEXTEST: Final = re.compile(
    r"\s*+Summary \[ *+(?P<seconds>[\d.]++)s\] (?P<total>\d++) tests? run: (?P<counts>.*)$"
)
_PLAN: Final = re.compile(
    r"1\.\.(?P<tap>\d++)$|(?:collecting \.\.\. )?collected (?P<pytest>\d++) items?$|running (?P<cargo>\d++) tests?$"
)


@dataclass(slots=True)
class Totals:
    results: Counter[str] = field(default_factory=Counter[str])
    lines: list[int] = field(default_factory=list[int])
    seconds: float = 0.0
    planned: int = 0
    planned_line: int = 0
    listed: frozenset[str] = frozenset()
    """The results of which the runner prints a line for each test that it counts, when it lists tests."""
    is_partial: bool = False
    """Whether the run ended early or left tests out, so that fewer outcomes than planned are right."""


def stated_totals(lines: Sequence[str]) -> Totals:
    """Add up what all summaries of the text state: a workspace has one for each package."""
    totals = Totals()
    ran = 0
    for number, line in enumerate(lines, 1):
        if not line or line[0] not in "= 0123456789RFOTt#[c!":
            continue
        if (
            line[0] == "!"
            or "deselected" in line
            or ("filtered out" in line and "0 filtered out" not in line)
        ):
            totals.is_partial = True
        if found := _PLAN.match(line):
            totals.planned += int(found[found.lastgroup or 0])
            totals.planned_line = totals.planned_line or number
        elif found := _UNITTEST.match(line):
            ran, totals.seconds = int(found["ran"]), totals.seconds + _float(found["seconds"])
        elif ran and (found := _UNITTEST_END.match(line)):
            _add_unittest(totals, number, ran, found["counts"] or "")
            ran = 0
        else:
            _add_summary(totals, number, line)
    return totals


def _add_unittest(totals: Totals, number: int, ran: int, text: str) -> None:
    counts: Counter[str] = Counter()
    for found in _NAMED.finditer(text):
        if word := _WORD.get(found["word"]):
            counts[word] += int(found["number"])
    counts["passed"] = ran - sum(counts.values())
    totals.results.update(counts)
    totals.lines.append(number)


def _add_summary(totals: Totals, number: int, line: str) -> None:
    for pattern in (_PYTEST, _JEST, _VITEST, _CARGO, _MOCHA, _RSPEC, _GRADLE, _NEXTEST):
        if found := pattern.match(line):
            _add_counts(totals, found, pattern)
            totals.lines.append(number)
            return
    if found := _SUREFIRE.match(line):
        _add_surefire(totals, found)
        totals.lines.append(number)
    elif found := _TAP.match(line):
        totals.results[_WORD[found["word"]]] += int(found["number"])
        totals.lines.append(number)


def _add_counts(totals: Totals, found: re.Match[str], pattern: re.Pattern[str]) -> None:
    parts = found.groupdict()
    counts: Counter[str] = Counter()
    for one in _COUNT.finditer(parts.get("counts") or ""):
        if word := _WORD.get(one["word"]):
            counts[word] += int(one["number"])
    if pattern in (_RSPEC, _GRADLE):
        counts["passed"] = max(int(parts["total"]) - sum(counts.values()), 0)
    totals.results.update(counts)
    factor = {"ms": 0.001, "m": 60.0}.get(parts.get("unit") or "", 1.0)
    totals.seconds += _float(parts.get("seconds") or "0") * factor
    if pattern in (_PYTEST, _CARGO):
        totals.listed = frozenset(("passed", "failed"))
    elif pattern is _MOCHA:
        totals.listed = frozenset(("passed",))


def _add_surefire(totals: Totals, found: re.Match[str]) -> None:
    counts = {word: int(found[word] or 0) for word in ("failed", "error", "skipped")}
    counts["passed"] = max(int(found["total"]) - sum(counts.values()), 0)
    totals.results.update(counts)


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
