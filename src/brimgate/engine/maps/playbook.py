"""Survey the output of ansible-playbook: the recap by host, and every task that failed, with its message."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
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

_HEAD: Final = re.compile(r"(?P<kind>PLAY RECAP|PLAY|TASK|RUNNING HANDLER) ?(?:\[(?P<name>.*?)\])? ?\*{3,}")
_RESULT: Final = re.compile(
    r"(?P<what>ok|changed|skipping|fatal|failed|included|rescued): \[(?P<host>[^\]]++)\](?::? (?P<more>.*))?$"
)
_RECAP: Final = re.compile(
    r"(?P<host>\S++)\s++: ok=(?P<ok>\d++)\s++changed=(?P<changed>\d++)\s++(?P<rest>.*)$"
)
_FIELD: Final = re.compile(r"(?P<word>\w++)=(?P<number>\d++)")
_MESSAGE: Final = re.compile(r"\"(?:msg|stderr|reason)\": \"(?P<text>(?:[^\"\\]|\\.){1,600})")
_NOTICE: Final = re.compile(
    r"\[(?P<what>WARNING|DEPRECATION WARNING|ERROR)\]:? (?P<text>.*)$|ERROR! (?P<error>.*)$"
)


@dataclass(slots=True)
class _Failure:
    line: int
    host: str
    task: str
    message: str
    is_unreachable: bool
    is_ignored: bool = False


@dataclass(slots=True)
class _Run:
    plays: list[str] = field(default_factory=list[str])
    tasks: int = 0
    task: str = ""
    results: Counter[str] = field(default_factory=Counter[str])
    changed: Counter[str] = field(default_factory=Counter[str])
    failures: list[_Failure] = field(default_factory=list[_Failure])
    recap: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    recap_lines: list[int] = field(default_factory=list[int])
    notices: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])


def recognise(text: TextLines) -> float:
    sample = bare(text.sample)
    heads = sum(
        1 for line in sample if line.startswith(("PLAY ", "TASK ", "RUNNING HANDLER")) and _HEAD.match(line)
    )
    results = sum(1 for line in sample if _RESULT.match(line) or _RECAP.match(line))
    return 0.95 if heads >= 2 and results >= 2 else 0.7 if heads and results else 0.0


def survey(text: TextLines) -> Survey:
    run = _read(bare(text.lines))
    findings = [*_failed(run), *_contradictions(run), *_noticed(run)]
    return Survey(_title(run), list(_map(run)), findings)


def _read(lines: Sequence[str]) -> _Run:
    run = _Run()
    for number, line in enumerate(lines, 1):
        if line[:1] in "PTR" and (found := _HEAD.match(line)):
            if found["kind"] == "PLAY":
                run.plays.append(found["name"] or "")
            elif found["kind"] != "PLAY RECAP":
                run.tasks, run.task = run.tasks + 1, found["name"] or ""
        elif found := _RESULT.match(line):
            _add_result(run, number, found)
        elif line == "...ignoring" and run.failures:
            run.failures[-1].is_ignored = True
        elif " ok=" in line or ": ok=" in line:
            _add_recap(run, number, line)
        elif line[:1] in "[E" and (found := _NOTICE.match(line)):
            run.notices.append((number, line))
    return run


def _add_result(run: _Run, number: int, found: re.Match[str]) -> None:
    what, more = found["what"], found["more"] or ""
    run.results["failed" if what == "fatal" else what] += 1
    if what == "changed":
        run.changed[run.task] += 1
    if what in ("fatal", "failed"):
        message = _MESSAGE.search(more)
        text = message["text"] if message else more.split("=>", 1)[-1].strip()
        run.failures.append(
            _Failure(number, found["host"], run.task, brief(text, 200), "UNREACHABLE" in more[:20])
        )


def _add_recap(run: _Run, number: int, line: str) -> None:
    if found := _RECAP.match(line):
        run.recap[found["host"]] = {
            one["word"]: int(one["number"]) for one in _FIELD.finditer(line[found.start("ok") - 3 :])
        }
        run.recap_lines.append(number)


def _failed(run: _Run) -> Iterator[Finding]:
    alike: dict[tuple[str, str], list[_Failure]] = defaultdict(list)
    for one in run.failures:
        alike[one.task, template(one.message)].append(one)
    for (task, _), group in alike.items():
        first = group[0]
        what = "UNREACHABLE" if first.is_unreachable else "FAILED (ignored)" if first.is_ignored else "FAILED"
        hosts = ", ".join(one.host for one in group[:6]) + (
            f", … {len(group) - 6} more" if len(group) > 6 else ""
        )
        more = f" (lines {places(one.line for one in group)})" if len(group) > 1 else ""
        score = SLIGHTLY_ODD + 1 if first.is_ignored else MUST_SEE
        yield Finding(first.line, score, clip(f"{what} {hosts}: task {task}: {first.message}{more}"))


def _contradictions(run: _Run) -> Iterator[Finding]:
    for number, (host, told) in zip(run.recap_lines, run.recap.items(), strict=False):
        failed = {
            one.task
            for one in run.failures
            if one.host == host and not one.is_ignored and not one.is_unreachable
        }
        if bool(told.get("failed", 0)) != bool(failed) and not told.get("rescued") and run.tasks:
            text = f"recap of {host} says failed={told.get('failed', 0)}, but {count(len(failed), 'failed task')} stand above"
            yield Finding(number, WORTH_A_LOOK, text)


def _noticed(run: _Run) -> Iterator[Finding]:
    seen: set[str] = set()
    for number, line in run.notices:
        if template(line) in seen or len(seen) > 6:
            continue
        seen.add(template(line))
        yield Finding(number, MUST_SEE if "ERROR" in line[:8] else SLIGHTLY_ODD, clip(line))


def _title(run: _Run) -> str:
    bad = Counter(
        {word: sum(1 for told in run.recap.values() if told.get(word)) for word in ("failed", "unreachable")}
    )
    trouble = "".join(f", {number:,} {word}" for word, number in bad.items() if number)
    hosts = f" · {count(len(run.recap), 'host')}{trouble}" if run.recap else ""
    results = tally(run.results, 6)
    return f"ansible-playbook: {count(len(run.plays), 'play')}, {count(run.tasks, 'task')}{hosts} · results {results}"


def _map(run: _Run) -> Iterator[MapLine]:
    if run.recap:
        bad = {
            host: told for host, told in run.recap.items() if told.get("failed") or told.get("unreachable")
        }
        shown = list((bad or run.recap).items())[:12]
        text = "; ".join(
            f"{host} {' '.join(f'{word}={number}' for word, number in told.items() if number)}"
            for host, told in shown
        )
        lines = f"lines {run.recap_lines[0]}-{run.recap_lines[-1]}"
        yield MapLine(f"recap ({lines}){' of hosts in trouble' if bad else ''}: {text}", 7)
    if run.changed:
        yield MapLine(f"changed by task: {tally(run.changed, 6)}", 4)
    if run.plays:
        yield MapLine(f"plays: {brief(', '.join(run.plays), 200)}", 3)


DETECTOR: Final = Detector("ansible-playbook", recognise, survey)
