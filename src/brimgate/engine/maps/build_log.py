"""Survey logs of compilers, linters, package managers and CI: the errors in full, the warnings by kind, how it ended."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from brimgate.engine.highlights.findings import Finding, clip
from brimgate.engine.maps.diagnostics import Diagnostic, diagnostics
from brimgate.engine.maps.phrases import bare, brief, by_folder, count, places, tally, template
from brimgate.engine.maps.survey import (
    MUST_SEE,
    SLIGHTLY_ODD,
    WORTH_A_LOOK,
    Detector,
    MapLine,
    Survey,
    TextLines,
)

_STEP: Final = re.compile(
    r"\[ *+\d++%\] (?:Building|Linking|Built|Generating)|\[\d++/\d++\] \S|\s{0,4}(?:CC|CXX|LD|AR|AS|LINK|HOSTCC)\s++\S"
    r"|(?:\S*/)?(?:gcc|g\+\+|clang|clang\+\+|cc|c\+\+|rustc|javac|ld) -\S|make(?:\[\d++\])?: |\s{0,4}(?:Compiling"
    r"|Checking|Downloading|Downloaded|Finished|Updating|Building|Fresh) \S++ v?\d"
    r"|\[INFO\] (?:---|Building |Scanning |Compiling |Download|Reactor |BUILD |Running |Nothing to|Changes det"
    r"|Copying |Total time)|> Task :|> Configure project|npm (?:WARN|warn|ERR!|error|notice) |#\d++ (?:\[|\d++\.\d"
    r"|DONE|CACHED|ERROR|sha256)"
    r"|Step \d++/\d++ : | ---> |##\[\w++\]|::(?:group|error|warning|endgroup)|yarn |ninja: |configure: "
    r"|checking (?:for|whether) |Requirement already|Collecting \S|-- (?:Found|Looking|Performing|Check)"
)
_END: Final = re.compile(
    r"make(?:\[\d++\])?: \*{3} |ninja: build stopped|FAILED: |(?:\[\w++\] )?BUILD (?:SUCCESS|FAILURE|FAILED"
    r"|SUCCESSFUL)|error: could not compile|error: aborting due to"
    r"|Found \d++ errors?|Success: no issues found|✖ \d++ problems?|> Task \S++ FAILED|Execution failed for task"
    r"|npm (?:ERR!|error) code |ERROR: failed to (?:solve|build)"
    r"|.{0,40}exit(?:ed with)?(?: code| status)[: ]|Process completed with exit code|ERROR: Job failed"
    r"|Job succeeded|\s*+Finished (?:`|dev|release|test)|Build succeeded|Build FAILED"
    r"|(?:\[\w++\] )?(?:Total time|Finished at):?|\[\w++\] \S.* \.{3,} ?(?:FAILURE|SKIPPED)|Command failed"
    r"|All checks passed|error Command failed|\d++ errors? generated"
    r"|\d++ warnings?(?: and \d++ errors?)? generated|Successfully (?:built|tagged)"
)
_BAD_END: Final = re.compile(
    r"\*{3} |build stopped|^FAILED: |BUILD FAIL|could not compile|aborting due|> Task \S++ FAILED|Execution failed"
    r"|failed to (?:solve|build)|Job failed|Build FAILED"
    r"|exit(?:ed with)?(?: code| status):? [1-9]|\.{3,} ?FAILURE|Command failed"
)
_STATED: Final = (
    ("errors", re.compile(r"Found (?P<number>\d++) errors?\b")),
    ("errors", re.compile(r"due to (?P<number>\d++) previous errors?\b")),
    ("warnings", re.compile(r"[;,] (?P<number>\d++) warnings? emitted")),
    ("errors", re.compile(r"✖ \d++ problems? \((?P<number>\d++) errors?")),
    ("warnings", re.compile(r"✖ \d++ problems? \(\d++ errors?, (?P<number>\d++) warnings?")),
)
_MAX_ERRORS: Final = 12
_RARE: Final = 2
_MANY: Final = 60
_MOSTLY: Final = 0.9
_OFTEN: Final = 50


def recognise(text: TextLines) -> float:
    sample = [line for line in bare(text.sample) if line.strip()]
    if not sample:
        return 0.0
    steps = sum(1 for line in sample if _STEP.match(line))
    ends = sum(1 for line in sample if _END.match(line))
    found = list(diagnostics(sample))
    located = sum(1 for one in found if one.file or one.code)
    # A compiler quotes the code below a message; a linter prints little else.
    share = (steps + ends + 3 * located) / len(sample)
    if located >= 3 and share > 0.5:
        return 0.85
    if (steps >= 5 or ends) and steps + located >= 3 and share > 0.3:
        return 0.8
    return 0.6 if ends and located and share > 0.2 else 0.0


def survey(text: TextLines) -> Survey:
    lines = bare(text.lines)
    found = list(diagnostics(lines))
    ends = [number for number, line in enumerate(lines, 1) if len(line) < 500 and _END.match(line)]
    errors = [one for one in found if one.level == "error" and one.line not in ends]
    warnings = [one for one in found if one.level == "warning" and one.line not in ends]
    findings = [
        *_errors(errors),
        *_ended(lines, ends, errors),
        *_rare(warnings),
        *_contradictions(lines, ends, errors, warnings),
    ]
    return Survey(_title(lines, ends, errors, warnings), list(_map(lines, ends, errors, warnings)), findings)


def _kind(one: Diagnostic) -> str:
    return one.code or brief(template(one.text), 50)


def _errors(errors: Sequence[Diagnostic]) -> Iterator[Finding]:
    """Tell each error; of many with one text, the first with the places of the others."""
    alike: dict[str, list[Diagnostic]] = defaultdict(list)
    for one in errors:
        alike[
            f"{one.code} {template(one.text)}"
            if len(errors) > _MAX_ERRORS
            else f"{one.code} {one.text}{one.where}"
        ].append(one)
    rare = max(_RARE, len(errors) // _OFTEN)
    for index, group in enumerate(alike.values()):
        first = group[0]
        if index and len(errors) > _MANY and len(group) > rare:
            continue  # what there is again and again is told by its kind in the map
        where = f"{first.where}: " if first.file else ""
        code = f" [{first.code}]" if first.code and first.code not in first.text else ""
        more = (
            f" · {len(group) - 1} more (lines {places(one.line for one in group[1:])})"
            if len(group) > 1
            else ""
        )
        lead = "first error" if index == 0 and len(alike) > 1 else "error"
        score = MUST_SEE + (3 if index == 0 else 0) + (1 if first.file else 0)
        yield Finding(first.line, score, clip(f"{lead}: {where}{first.text}{code}{more}"))


def _ended(lines: Sequence[str], ends: Sequence[int], errors: Sequence[Diagnostic]) -> Iterator[Finding]:
    bad = [number for number in ends if _BAD_END.search(lines[number - 1])]
    told: set[str] = set()
    for number in bad:
        form = template(lines[number - 1])
        if form not in told and len(told) < 4:
            told.add(form)
            yield Finding(number, WORTH_A_LOOK + 1 if errors else MUST_SEE, clip(lines[number - 1]))


def _rare(warnings: Sequence[Diagnostic]) -> Iterator[Finding]:
    """Tell of the kinds of warnings that hardly occur, when others are frequent."""
    kinds: dict[str, list[Diagnostic]] = defaultdict(list)
    for one in warnings:
        kinds[_kind(one)].append(one)
    rare = [group for group in kinds.values() if len(group) <= _RARE]
    frequent = sum(len(group) for group in kinds.values() if len(group) > _RARE)
    if len(warnings) < 10 or (len(rare) > max(4, len(kinds) // 2) and frequent < _MOSTLY * len(warnings)):
        rare = [group for group in rare if len(warnings) <= 4]
    for group in rare[:8]:
        first = group[0]
        where = f"{first.where}: " if first.file else ""
        code = f" [{first.code}]" if first.code and first.code not in first.text else ""
        score = SLIGHTLY_ODD + (2 if len(warnings) >= 10 else 0)
        yield Finding(first.line, score, clip(f"warning: {where}{first.text}{code}"))


def _contradictions(
    lines: Sequence[str], ends: Sequence[int], errors: Sequence[Diagnostic], warnings: Sequence[Diagnostic]
) -> Iterator[Finding]:
    counted = {
        "errors": sum(1 for one in errors if one.file),
        "warnings": sum(1 for one in warnings if one.file),
    }
    for what, pattern in _STATED:
        stated = [
            (number, int(found["number"])) for number in ends if (found := pattern.search(lines[number - 1]))
        ]
        total = sum(number for _, number in stated)
        if stated and counted[what] and total != counted[what]:
            text = f"states {total:,} {what}, but {counted[what]:,} with a file are listed"
            yield Finding(stated[-1][0], WORTH_A_LOOK, text)


def _title(
    lines: Sequence[str], ends: Sequence[int], errors: Sequence[Diagnostic], warnings: Sequence[Diagnostic]
) -> str:
    bad = any(_BAD_END.search(lines[number - 1]) for number in ends)
    state = "failed" if bad else "ended with errors" if errors else "no failure found"
    return f"build log: {state} · {count(len(errors), 'error')}, {count(len(warnings), 'warning')}"


def _map(
    lines: Sequence[str], ends: Sequence[int], errors: Sequence[Diagnostic], warnings: Sequence[Diagnostic]
) -> Iterator[MapLine]:
    if ends:
        shown = " · ".join(f"{brief(lines[number - 1], 90)} (line {number})" for number in ends[-3:])
        yield MapLine(f"end: {shown}", 7)
    for name, some, weight in (("errors", errors, 6), ("warnings", warnings, 5)):
        if len(some) > 1:
            kinds = Counter(_kind(one) for one in some)
            span = f"lines {some[0].line}-{some[-1].line}"
            yield MapLine(f"{name} by kind ({span}): {tally(kinds)}", weight)
            files = Counter(one.file for one in some if one.file)
            if files:
                folders = tally(by_folder(files) if len(files) > 12 else files)
                yield MapLine(f"{name} by {'folder' if len(files) > 12 else 'file'}: {folders}", weight - 2)


DETECTOR: Final = Detector("build log", recognise, survey)
