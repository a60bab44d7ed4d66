"""Survey texts that consist of stack traces (Python, Java, Go, Node, .NET), and thread dumps."""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from brimgate.engine.highlights.findings import Finding, clip
from brimgate.engine.maps.phrases import bare, brief, count, places, tally, template
from brimgate.engine.maps.survey import (
    MUST_SEE,
    SLIGHTLY_ODD,
    WORTH_A_LOOK,
    Detector,
    MapLine,
    Survey,
    TextLines,
)

_PYTHON: Final = "Traceback (most recent call last):"
_PY_FRAME: Final = re.compile(
    r"\s*+(?:\| *+)?File \"(?P<file>[^\"]++)\", line (?P<line>\d++)(?:, in (?P<name>\S.*))?"
)
_AT_FRAME: Final = re.compile(r"\s++at (?P<what>\S.*)$")
_GO_FRAME: Final = re.compile(r"\t(?P<file>\S++\.go):(?P<line>\d++)(?: \+0x[0-9a-f]++)?$")
_ERROR: Final = re.compile(r"(?P<type>[A-Za-z_][\w.$]*+)(?:: (?P<text>.*))?$")
_TYPED: Final = re.compile(
    r"(?:^|[\s:\]\"])(?P<type>(?:[A-Za-z_$][\w$]*\.){0,12}[A-Z][\w$]*(?:Exception|Error|Throwable|Fault"
    r"|Failure)(?:\$\w+)?)(?: \[[\w-]+\])?(?:: (?P<text>.*)|$)"
)
_CAUSED: Final = re.compile(r"\s*+(?:Caused by: |---> )(?P<type>[\w.$]++)(?:: (?P<text>.*))?$")
_CHAINED: Final = ("The above exception was the direct cause", "During handling of the above exception")
_PANIC: Final = re.compile(r"(?:panic: |fatal error: )(?P<text>.*)$")
_GOROUTINE: Final = re.compile(
    r"goroutine (?P<id>\d++)(?: gp=\S++)?.{0,60}? \[(?P<state>[^\],]++)(?:, (?P<more>[^\]]++))?\]:$"
)
_THREAD: Final = re.compile(r"\"(?P<name>[^\"]++)\" .*(?:nid=|tid=|Id=|prio=)")
_STATE: Final = re.compile(r"\s++java\.lang\.Thread\.State: (?P<state>\w++)")
_DEADLOCK: Final = re.compile(
    r"Found (?:one|\d++) Java-level deadlock|fatal error: all goroutines are asleep|.*\bdeadlock detected",
    re.IGNORECASE,
)
_FOREIGN: Final = (
    "/lib/python", "site-packages", "<frozen", "node_modules", "node:", "java.", "javax.", "jdk.", "sun.",
    "org.springframework", "org.apache",
    "org.hibernate", "io.netty", "System.", "Microsoft.", "/usr/local/go/", "runtime.", "internal/", "reactor.",
    "com.fasterxml",
)  # fmt: skip
_RARE_SHARE: Final = 0.1


@dataclass(slots=True)
class _Trace:
    line: int
    type: str = ""
    text: str = ""
    cause: str = ""
    cause_text: str = ""
    where: str = ""
    end: int = 0
    _first_where: str = ""

    def stands(self, where: str) -> None:
        """Remember the innermost frame of the program's own code, or any frame if there is none."""
        self._first_where = self._first_where or where
        self.where = where

    @property
    def told_where(self) -> str:
        return self.where or self._first_where

    @property
    def form(self) -> tuple[str, str, str]:
        return self.type, template(self.text)[:120], self.cause


def recognise(text: TextLines) -> float:
    sample = [line for line in bare(text.sample) if line.strip()]
    if len(sample) < 3:
        return 0.0
    frames = sum(1 for line in sample if _is_frame(line))
    heads = sum(
        1
        for line in sample
        if line.strip() == _PYTHON
        or _GOROUTINE.match(line)
        or _THREAD.match(line)
        or line.startswith("panic: ")
    )
    quoted = sum(
        1 for before, line in itertools.pairwise(sample) if _PY_FRAME.match(before) and line[:4] == "    "
    )
    share = (frames + heads + 2 * quoted) / len(sample)
    if frames < 2 or frames + heads < 3:
        return 0.0
    return 0.9 if share > 0.5 else 0.7 if share > 0.35 else 0.0


def _is_frame(line: str) -> bool:
    if not line or line[0] not in " \t|":
        return False
    text = line.lstrip(" \t|")
    if text.startswith("at "):
        return "(" in text or ":" in text or " in " in text
    return (text.startswith('File "') and '", line ' in text) or (line[0] == "\t" and ".go:" in line)


class _Reader:
    """Reads traces one after the other; a chain of exceptions is one trace, named by its last and its first."""

    def __init__(self) -> None:
        self.traces: list[_Trace] = []
        self._open: _Trace | None = None
        self._language = ""
        self._is_chained = False
        self._heads: list[str] = []

    def add(self, number: int, line: str) -> None:
        text = line.strip()
        if text.endswith(_PYTHON):
            self._python(number)
        elif text.startswith(_CHAINED):
            self._is_chained = True
            return
        elif _is_frame(line):
            self._frame(number, line)
        elif found := _PANIC.match(line):
            self._begin(number, "panic" if line.startswith("panic") else "fatal error", found["text"], "go")
        elif self._open is not None and self._language == "python" and line[:1] not in (" ", "\t", ""):
            self._finish_python(number, text)
        elif self._open is not None and (found := _CAUSED.match(line)):
            self._open.cause, self._open.cause_text = found["type"], found["text"] or ""
            self._open.end = number
        elif text:
            self._between(line, text)

    def _between(self, line: str, text: str) -> None:
        """Keep what stands before frames; it ends a trace of Java, Node or .NET, unless it belongs to it."""
        if self._language == "at" and not text.startswith(
            ("... ", "Suppressed: ", "--- End", "- locked", "- waiting", "- parking")
        ):
            self._open = None
        self._heads = [*self._heads[-4:], line[:1_000]]

    def _begin(self, number: int, kind: str, text: str, language: str) -> _Trace:
        self._open = _Trace(number, kind, text.strip(), end=number)
        self._language = language
        self.traces.append(self._open)
        return self._open

    def _python(self, number: int) -> None:
        if self._is_chained and self.traces:
            trace = self.traces[-1]
            if not trace.cause:
                trace.cause, trace.cause_text = trace.type, trace.text
            self._open, self._language = trace, "python"
        else:
            self._begin(number, "", "", "python")
        self._is_chained = False

    def _finish_python(self, number: int, text: str) -> None:
        trace = self._open
        if trace is not None and (found := _ERROR.match(text)):
            trace.type, trace.text, trace.end = found["type"], found["text"] or "", number
        self._open = None

    def _frame(self, number: int, line: str) -> None:
        found = _PY_FRAME.match(line)
        if found and self._open is not None:
            self._stand(
                f"{found['file']}:{found['line']} in {found['name'] or '?'}", number, is_innermost_last=True
            )
        elif not found:
            if (
                self._open is None
                or self._language == "python"
                or (number - self._open.end > 3 and self._language != "go")
            ):
                self._begin_at(number)
            self._stand(line.strip().removeprefix("at "), number, is_innermost_last=False)

    def _begin_at(self, number: int) -> None:
        """Open a trace of Java, Node or .NET: its head stands in one of the lines before the first frame."""
        cause = None
        for back, line in enumerate(reversed(self._heads), 1):
            if found := _CAUSED.match(line):
                cause = cause or found
            elif found := _TYPED.search(line):
                trace = self._begin(number - back, found["type"], found["text"] or "", "at")
                if cause:
                    trace.cause, trace.cause_text = cause["type"], cause["text"] or ""
                return
        self._begin(number - 1, "?", self._heads[-1] if self._heads else "", "at")

    def _stand(self, where: str, number: int, *, is_innermost_last: bool) -> None:
        trace = self._open
        if trace is None:
            return
        trace.end = number
        self._heads = []
        is_own = not any(mark in where for mark in _FOREIGN)
        if is_own and (is_innermost_last or not trace.where):
            trace.stands(where)


def survey(text: TextLines) -> Survey:
    lines = bare(text.lines)
    threads = _threads(lines)
    reader = _Reader()
    for number, line in enumerate(lines, 1):
        reader.add(number, line)
    traces = [trace for trace in reader.traces if trace.type]
    if sum(threads.values()) > 2:
        return _thread_dump(lines, threads, traces)
    return Survey(_title(traces), list(_map(traces)), [*_rare(traces), *_deadlocks(lines)])


def _threads(lines: Sequence[str]) -> Counter[str]:
    states: Counter[str] = Counter()
    for line in lines:
        if (line.startswith("goroutine ") and (found := _GOROUTINE.match(line))) or (
            "Thread.State" in line and (found := _STATE.match(line))
        ):
            states[found["state"]] += 1
    return states


def _thread_dump(lines: Sequence[str], states: Counter[str], traces: Sequence[_Trace]) -> Survey:
    title = f"thread dump: {count(sum(states.values()), 'thread')}: {tally(states)}"
    findings = [*_deadlocks(lines)]
    rare = {state for state, number in states.items() if number == 1 and sum(states.values()) >= 10}
    for number, line in enumerate(lines, 1):
        if found := _STATE.match(line) if "Thread.State" in line else _GOROUTINE.match(line):
            name = (
                brief(lines[number - 2], 60)
                if "Thread.State" in line and number > 1
                else f"goroutine {found['id']}"
            )
            if found["state"] in rare or (found["state"] == "BLOCKED" and states["BLOCKED"] <= 5):
                below = " · ".join(one.strip() for one in lines[number : number + 3])
                findings.append(Finding(number, WORTH_A_LOOK, clip(f"{name} {found['state']}: {below}")))
        elif line.startswith(("panic: ", "fatal error: ")):
            findings.append(Finding(number, MUST_SEE, clip(line)))
    tops: Counter[str] = Counter(brief(trace.told_where, 70) for trace in traces if trace.told_where)
    return Survey(title, [MapLine(f"own code on top: {tally(tops, 6)}", 4)] if tops else [], findings)


def _deadlocks(lines: Sequence[str]) -> Iterator[Finding]:
    for number, line in enumerate(lines, 1):
        if ("eadlock" in line or "asleep" in line) and _DEADLOCK.match(line):
            below = " · ".join(one.strip() for one in lines[number : number + 6] if one.strip(" ="))
            yield Finding(number, MUST_SEE + 1, clip(f"{line.strip()} {below}"))


def _groups(traces: Sequence[_Trace]) -> dict[tuple[str, str, str], list[_Trace]]:
    groups: dict[tuple[str, str, str], list[_Trace]] = defaultdict(list)
    for trace in traces:
        groups[trace.form].append(trace)
    return groups


def _rare(traces: Sequence[_Trace]) -> Iterator[Finding]:
    """Tell each trace whose form hardly occurs; if all forms are rare, only those whose type is."""
    groups = _groups(traces)
    types = Counter(trace.type for trace in traces)
    limit = max(1, int(len(traces) * _RARE_SHARE / 3))
    rare = [group for group in groups.values() if len(group) <= limit]
    if len(rare) > 8:
        rare = [group for group in rare if types[group[0].type] <= limit]
    few = len(traces) <= 4
    for group in sorted(rare, key=len)[:10]:
        first = group[0]
        more = f" · again at {places(one.line for one in group[1:])}" if len(group) > 1 else ""
        score = WORTH_A_LOOK + (2 if len(group) == 1 and not few else 0) if not few else WORTH_A_LOOK
        yield Finding(
            first.line, score, clip(f"{_named(first)}{_caused(first)} at {first.told_where or '?'}{more}")
        )
    if len(groups) > 3 * len(types) and len(rare) > 20:
        yield Finding(
            traces[0].line,
            SLIGHTLY_ODD,
            f"{len(groups):,} different messages in {len(types):,} types of exceptions",
        )


def _named(trace: _Trace) -> str:
    return f"{trace.type}: {brief(trace.text, 130)}" if trace.text else trace.type


def _caused(trace: _Trace) -> str:
    return (
        f" (caused by {trace.cause}{': ' + brief(trace.cause_text, 90) if trace.cause_text else ''})"
        if trace.cause
        else ""
    )


def _title(traces: Sequence[_Trace]) -> str:
    return f"{count(len(traces), 'stack trace')}: {tally(Counter(trace.type for trace in traces))}"


def _map(traces: Sequence[_Trace]) -> Iterator[MapLine]:
    ranked = sorted(_groups(traces).values(), key=lambda group: (-len(group), group[0].line))
    for group in ranked[:8]:
        first, last = group[0], group[-1]
        where = f"lines {first.line}-{first.end}" + (f", last at {last.line}" if len(group) > 1 else "")
        raised = f", raised at {brief(first.told_where, 90)}" if first.told_where else ""
        yield MapLine(
            f"{len(group):,} × {_named(first)}{_caused(first)}{raised} ({where})", 6 if len(group) > 1 else 4
        )
    if len(ranked) > 8:
        yield MapLine(
            f"… {len(ranked) - 8:,} more forms with {sum(len(group) for group in ranked[8:]):,} traces", 3
        )


DETECTOR: Final = Detector("stack traces", recognise, survey)
