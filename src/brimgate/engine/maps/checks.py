"""Survey test reports: pytest, unittest, jest, vitest, go, cargo, Maven, Gradle, TAP, mocha and RSpec."""

import re
from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from brimgate.engine.highlights.findings import Finding, clip
from brimgate.engine.maps.check_failures import FailureSection, sections
from brimgate.engine.maps.check_totals import Totals, stated_totals
from brimgate.engine.maps.phrases import bare, brief, by_folder, count, places, seconds, tally, template
from brimgate.engine.maps.survey import (
    MUST_SEE,
    SLIGHTLY_ODD,
    WORTH_A_LOOK,
    Detector,
    MapLine,
    Survey,
    TextLines,
)

_RESULT: Final = re.compile(
    r"(?:\[gw\d++\] \[ *+\d++%\] (?P<x_result>[A-Z]{4,7}) (?P<x_name>\S.*))$"
    r"|(?P<p_name>[^\s:]++::.*?) (?P<p_result>PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS|RERUN)\b(?P<p_more>.*)$"
    r"|(?P<u_name>test\w*+ \([\w.<>]++\))(?P<u_doc>.*?) \.\.\. (?P<u_result>ok|FAIL|ERROR|skipped|expected failure"
    r"|unexpected success)\b(?P<u_more>.*)$"
    r"|test (?P<c_name>\S.*?) \.\.\. (?:bench: .*|(?P<c_result>ok|FAILED|ignored)(?P<c_more>.*))$"
    r"|\s*+--- (?P<g_result>PASS|FAIL|SKIP): (?P<g_name>\S++) \((?P<g_seconds>[\d.]++)s\)"
    r"|\s*+(?P<t_result>ok|not ok) \d++(?: -)?(?P<t_name>[^#]*+)(?P<t_more>#.*)?$"
    r"|\s*+(?P<j_result>[✓✔√✕✗×↓○]) (?P<j_name>\S.*?)(?: \(?(?P<j_seconds>[\d.]++) ?(?P<j_unit>ms|s)\)?)?$"
    r"|\s*+(?P<n_result>PASS|FAIL|SIGABRT|TIMEOUT|LEAK) \[ *+(?P<n_seconds>[\d.]++)s\] (?P<n_name>\S.*)$"
    r"|(?P<r_name>[\w.$]++ > \S.*?) (?P<r_result>PASSED|FAILED|SKIPPED)$"
    # Output of the test itself may stand between its name and its result.
    r"|(?P<o_result>PASSED|FAILED|SKIPPED|ERROR|XFAIL|XPASS)(?:\s++\[ *+\d++%\])?$"
)
_MEANING: Final = {
    "passed": ("PASSED", "PASS", "ok", "✓", "✔", "√", "LEAK"),
    "failed": ("FAILED", "FAIL", "not ok", "✕", "✗", "×", "SIGABRT", "TIMEOUT"),
    "error": ("ERROR",),
    "skipped": ("SKIPPED", "SKIP", "skipped", "ignored", "↓", "○"),
    "xfailed": ("XFAIL", "expected failure"),
    "xpassed": ("XPASS", "unexpected success"),
    "rerun": ("RERUN",),
}
_RESULTS: Final = {word: meaning for meaning, words in _MEANING.items() for word in words}
_SUMMARY: Final = re.compile(
    r"(?P<result>FAILED|ERROR|XPASS) (?P<name>[^\s\[]++(?>(?:\[[^\]]*+\]|[^\s\[]++)*))(?: - (?P<message>.*))?$"
)
_SKIP: Final = re.compile(r"SKIPPED \[(?P<number>\d++)\] (?P<where>\S++) (?P<reason>.*)$")
_ALARM: Final = re.compile(
    r"WARNING: DATA RACE|INTERNALERROR> \S|!{3,}+ .*(?:Interrupted|stopping after|KeyboardInterrupt)"
    r"|FAIL\s.*\[(?:build|setup) failed\]"
    r"|(?:FAIL|ERROR|Coverage failure|Jest)\b.{0,30}coverage.{0,60}(?:not (?:reached|met)|less than)"
    r"|Coverage failure:|panic: |=+ no tests ran"
    r"|npm ERR! Test failed|.*\bdoes not meet .{0,20}threshold|Segmentation fault|Fatal Python error"
    r"|.*worker '?gw\d+'? crashed"
    r"|\s*A worker process has failed to exit|Jest did not exit|Bail out!"
)
_SLOW: Final = re.compile(r"\s*+(?P<seconds>\d++\.\d++)s (?:call|setup|teardown)\s++(?P<name>\S.*)$")
_WARNING: Final = re.compile(r"\s++[^\s:]++:\d++: (?P<kind>\w*+(?<=Warning)): (?P<text>.*)$")
_SUITE: Final = re.compile(r"\s?FAIL\s++(?P<file>\S++)(?: \(.*\))?$")
_DOTS: Final = re.compile(r"(?:\S++ )?[.FEsxXR]{1,200}+\s*+\[ *+\d++%\]$")
_STARTS: Final = re.compile(
    r"=+ (?:test session starts|FAILURES|ERRORS|short test summary)|=== RUN |TAP version \d|running \d++ tests?$"
    r"|(?:Test Suites|Test Files|Tests): |\s+Test Files  |Failures:$|\s+\d++ passing \(|Ran \d++ tests? in"
    r"|(?:PASS|FAIL) [^\s.]++\.(?:spec|test)\.[cm]?[jt]sx?|(?:ok  |FAIL|---)\t\S|(?:\[\w++\] )?Tests run: "
)
_COLLECTED: Final = re.compile(r"\s*+[\w./-]+?\.py(?>(?:::[\w.-]++)+)(?:\[.*\])?\s*+$")
_SHARE_LOST: Final = 0.1
_MAX_LOST: Final = 8
_LOST_CHARS: Final = 900
_MAX_COMPARED: Final = 300
_SAME: Final = 3
"""From this many on, failures with one message are told together."""


@dataclass(slots=True)
class _Failure:
    name: str
    result: str
    line: int
    message: str = ""
    where: str = ""
    section: int = 0


@dataclass(slots=True)
class _Report:
    lines: Sequence[str]
    counted: Counter[str] = field(default_factory=Counter[str])
    collected: dict[str, int] = field(default_factory=dict[str, int])
    """Tests that are listed without a result, with their lines."""
    named: set[str] = field(default_factory=set[str])
    """Tests that have a result."""
    failures: dict[tuple[str, str], _Failure] = field(default_factory=dict[tuple[str, str], _Failure])
    reasons: Counter[str] = field(default_factory=Counter[str])
    listed_reasons: Counter[str] = field(default_factory=Counter[str])
    timed: list[tuple[float, int, str]] = field(default_factory=list[tuple[float, int, str]])
    slow: list[tuple[float, int, str]] = field(default_factory=list[tuple[float, int, str]])
    warnings: Counter[str] = field(default_factory=Counter[str])
    warned: list[int] = field(default_factory=list[int])
    alarms: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    files: Counter[str] = field(default_factory=Counter[str])
    suites: dict[int, str] = field(default_factory=dict[int, str])
    expected: Counter[str] = field(default_factory=Counter[str])


def recognise(text: TextLines) -> float:
    sample = [line for line in bare(text.sample) if line.strip()]
    results = sum(1 for line in sample if _RESULT.match(line) or _DOTS.match(line))
    starts = sum(1 for line in sample if _STARTS.match(line))
    totals = stated_totals(sample)
    if not sample or not (results or totals.lines):
        return 0.0
    share = results / len(sample)
    if totals.lines and (results >= 3 or starts or share > 0.2):
        return min(0.85 + share / 10, 0.95)
    if starts and (results >= 3 or totals.lines):
        return 0.8
    return 0.75 if results >= 8 and share > 0.5 else 0.0


def survey(text: TextLines) -> Survey:
    report = _read(bare(text.lines))
    totals = stated_totals(report.lines)
    explained = _explain(report, list(sections(report.lines)))
    findings = [
        *_failures(explained),
        *_alarms(report),
        *_contradictions(report, totals),
        *_without_result(report),
        *_slowness(report),
    ]
    return Survey(_title(report, totals), list(_map(report, totals, explained)), findings)


def _read(lines: Sequence[str]) -> _Report:
    report = _Report(lines)
    for number, line in enumerate(lines, 1):
        if len(line) < 4:
            continue
        if found := _RESULT.match(line):
            _result(report, number, found)
        elif "::" in line and _COLLECTED.match(line):
            report.collected.setdefault(line.strip(), number)
        elif line[0] in "FEX" and "." in line and (found := _SUMMARY.match(line)):
            _fail(report, found["result"], found["name"], number).message = (found["message"] or "").strip()
        elif line[0] == "S" and (found := _SKIP.match(line)):
            report.listed_reasons[brief(found["reason"], 60)] += int(found["number"])
        elif _ALARM.match(line):
            report.alarms.append((number, line))
        elif line[0] in " F\t0123456789":
            _note(report, number, line)
    return report


def _note(report: _Report, number: int, line: str) -> None:
    if found := _SUITE.match(line):
        report.suites[number] = found["file"]
    elif found := _SLOW.match(line):
        report.slow.append((float(found["seconds"]), number, found["name"]))
    elif "Warning: " in line and (found := _WARNING.match(line)):
        report.warnings[found["kind"]] += 1
        report.warned.append(number)


def _result(report: _Report, number: int, found: re.Match[str]) -> None:
    parts = {key[2:]: value for key, value in found.groupdict().items() if value is not None}
    name, result = parts.get("name", "").strip(), _RESULTS.get(parts.get("result", ""), "passed")
    more = parts.get("more", "").strip()
    if "#" in more[:2]:
        result = _tap(result, more)
    report.counted[result] += 1
    report.named.add(name)
    if "::" in name:
        report.files[name.split("::", 1)[0]] += 1
    if name and result in ("failed", "error", "xpassed"):
        _fail(report, result, name, number)
    elif result == "skipped" and (reason := _reason(more)):
        report.reasons[reason] += 1
    if took := parts.get("seconds"):
        factor = 0.001 if parts.get("unit") == "ms" else 1.0
        report.timed.append((_float(took) * factor, number, name))


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _tap(result: str, more: str) -> str:
    directive = more.lstrip("# ").upper()
    if directive.startswith("SKIP"):
        return "skipped"
    if directive.startswith("TODO"):
        return "xpassed" if result == "passed" else "xfailed"
    return result


def _reason(more: str) -> str:
    text = more.split("[", 1)[0] if more.startswith("(") else more
    text = text.strip(" ()#,'\"")
    return brief(text[4:].lstrip(": ") if text[:4].upper() == "SKIP" else text, 60)


_WORDS: Final = {"failed": "FAILED", "error": "ERROR", "xpassed": "XPASS"}


def _fail(report: _Report, result: str, name: str, number: int) -> _Failure:
    word = _WORDS.get(result, result)
    return report.failures.setdefault((word, name), _Failure(name, word, number))


def _tail(name: str) -> str:
    """Return by which a section and a result line name the same test."""
    if "::" in name and ".py" in name:
        return name.split("::", 1)[1].replace("::", ".")
    for mark in (" > ", " › "):
        name = name.rsplit(mark, 1)[-1]
    return name.removeprefix("setup of ").removeprefix("teardown of ").strip()


def _explain(report: _Report, found: Sequence[FailureSection]) -> list[_Failure]:
    """Join failures with the sections that explain them; a section without a result line is a failure too."""
    waiting: dict[str, deque[_Failure]] = defaultdict(deque)
    for failure in report.failures.values():
        waiting[_tail(failure.name)].append(failure)
    failures = list(report.failures.values())
    for section in found:
        queue = waiting.get(_tail(section.name)) or waiting.get(section.name)
        failure = queue.popleft() if queue else _unlisted(report, section, failures)
        if failure is None:
            continue
        failure.section, failure.where = section.line, section.where
        if len(section.message) > len(failure.message.rstrip(".")) or not failure.message:
            failure.message = section.message
    return failures


def _unlisted(report: _Report, section: FailureSection, failures: list[_Failure]) -> _Failure | None:
    """Return a new failure for a section, unless it explains one of those that are known by another name."""
    tail = _tail(section.name)
    for failure in failures[:_MAX_COMPARED]:
        is_same = failure.name.endswith(tail) or section.name.endswith(failure.name)
        if is_same:
            return None if failure.section else failure
    before = bisect_left(list(report.suites), section.line)
    name = section.name
    if before and " > " not in name:
        name = f"{list(report.suites.values())[before - 1]} › {name}"
    failures.append(_Failure(name, "ERROR" if section.is_error else "FAILED", section.line))
    return failures[-1]


def _failures(failures: Sequence[_Failure]) -> Iterator[Finding]:
    alike: dict[tuple[str, str], list[_Failure]] = defaultdict(list)
    for failure in failures:
        key = template(failure.message) if failure.message else f"\0{failure.name}"
        alike[failure.result, key].append(failure)
    for (result, _), group in alike.items():
        score = MUST_SEE if result != "XPASS" else WORTH_A_LOOK + 2
        if len(group) < _SAME:
            for one in group:
                yield Finding(one.section or one.line, score + bool(len(failures) > 8), _told(one))
        else:
            first, others = group[0], group[1:]
            names = ", ".join(brief(_tail(other.name), 50) for other in others[:3])
            where = places(other.section or other.line for other in others)
            more = (
                f" · {len(others)} more fail alike: {names}{', …' if len(others) > 3 else ''} (lines {where})"
            )
            yield Finding(first.section or first.line, score, clip(_told(first) + more))


def _told(failure: _Failure) -> str:
    where = f" ({failure.where})" if failure.where else ""
    message = f": {failure.message}" if failure.message else ""
    return clip(f"{failure.result} {failure.name}{where}{message}")


def _alarms(report: _Report) -> Iterator[Finding]:
    seen: Counter[str] = Counter()
    for number, line in report.alarms:
        form = template(line)[:60]
        seen[form] += 1
        if seen[form] <= 2 and len(seen) <= 8:
            yield Finding(number, MUST_SEE, clip(line.strip("= !")))


def _contradictions(report: _Report, totals: Totals) -> Iterator[Finding]:
    """Compare what the report states with its own result lines, where it lists every test."""
    listed = report.counted
    for result in ("passed", "failed"):
        stated = totals.results[result]
        if result in totals.listed and listed["passed"] and listed[result] != stated:
            text = f"states {stated:,} {result}, but {listed[result]:,} result lines say so"
            yield Finding(totals.lines[-1], WORTH_A_LOOK + 2, text)
    planned = totals.planned
    outcomes = sum(totals.results.values()) - totals.results["error"] or sum(listed.values())
    if planned and outcomes and planned != outcomes and not totals.results["error"] and not totals.is_partial:
        text = f"announces {count(planned, 'test')}, but {outcomes:,} have an outcome"
        yield Finding(totals.planned_line, WORTH_A_LOOK, text)


def _without_result(report: _Report) -> Iterator[Finding]:
    """Tell the tests that were collected and have no result, if nearly all others have one."""
    lost = [(number, name) for name, number in report.collected.items() if name not in report.named]
    if not 0 < len(lost) <= _SHARE_LOST * len(report.collected):
        return
    names = ", ".join(name for _, name in lost[:_MAX_LOST]) + (", …" if len(lost) > _MAX_LOST else "")
    text = f"{count(len(lost), 'test')} collected without a result: {names}"
    yield Finding(lost[0][0], WORTH_A_LOOK + 2, clip(text, _LOST_CHARS), brief=clip(text))


def _slowness(report: _Report) -> Iterator[Finding]:
    timed = sorted(report.timed or report.slow)
    if len(timed) < 5:
        return
    took, number, name = timed[-1]
    usual = timed[max(len(timed) * 95 // 100 - 1, 0)][0]
    if took >= 2 and took >= 10 * usual:
        yield Finding(
            number,
            SLIGHTLY_ODD,
            clip(f"slow: {name} {seconds(took)}, nearly all others up to {seconds(usual)}"),
        )


def _title(report: _Report, totals: Totals) -> str:
    results = totals.results or report.counted
    number = sum(results.values()) - results["rerun"]
    order = ("passed", "failed", "error", "xpassed", "xfailed", "skipped", "rerun", "deselected")
    told = ", ".join(f"{results[word]:,} {word}" for word in order if results[word])
    took = f" · {seconds(totals.seconds)}" if totals.seconds else ""
    source = "" if totals.results else " (counted: the report states no total)"
    return f"test report: {count(number, 'test')}: {told}{took}{source}" if told else "test report"


def _map(report: _Report, totals: Totals, failures: Sequence[_Failure]) -> Iterator[MapLine]:
    if totals.lines:
        yield MapLine(
            f"summary at {places(totals.lines)}: {brief(report.lines[totals.lines[-1] - 1].strip('= '))}", 7
        )
    if sectioned := [one.section for one in failures if one.section]:
        yield MapLine(f"failures explained from line {min(sectioned)} to {max(sectioned)}", 6)
    if len(failures) > 8:
        files = Counter(one.name.split("::", 1)[0] for one in failures if "::" in one.name)
        if files:
            yield MapLine(f"failing by file: {tally(files)}", 6)
    if reasons := report.listed_reasons or report.reasons:
        yield MapLine(f"skipped because: {tally(reasons, 5)}", 5)
    if report.warnings:
        kinds = tally(report.warnings, 5)
        yield MapLine(f"warnings listed: {kinds} (lines {report.warned[0]}-{report.warned[-1]})", 4)
    if slowest := sorted(report.slow or report.timed, reverse=True)[:3]:
        told = ", ".join(
            f"{brief(name, 70)} {seconds(took)} (line {number})" for took, number, name in slowest
        )
        yield MapLine(f"slowest: {told}", 3)
    if len(report.files) > 1:
        yield MapLine(f"tests by folder: {tally(by_folder(report.files))}", 3)


DETECTOR: Final = Detector("test report", recognise, survey)
