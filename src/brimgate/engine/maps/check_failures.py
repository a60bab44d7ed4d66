"""Read the sections in which a test report explains failures: the message, expected and actual, and where."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from brimgate.engine.maps.phrases import brief

_MAX_SECTION: Final = 120
_MAX_MESSAGE: Final = 200
_HEADER: Final = re.compile(
    r"_{3,}+ (?P<pytest>\S.*?\S) _{3,}$"
    r"|(?P<state>FAIL|ERROR|UNEXPECTED SUCCESS): (?P<unittest>test\w*+ \(.++)$"
    r"|---- (?P<cargo>\S.*?) stdout ----$"
    r"|\s{1,4}● (?P<jest>\S.*)$"
    r"|\s?(?:FAIL|❯)\s{1,3}(?P<vitest>\S++ > \S.*)$"
    r"|\s{0,8}(?P<nth>\d{1,4})\) (?P<numbered>\S.*)$"
    r"|\s*+--- FAIL: (?P<go>\S++) \("
    r"|\s*+not ok \d++(?: -)? ?(?P<tap>.*)$"
    r"|(?:\[ERROR\] )?(?P<surefire>[\w.$]++(?:\([\w.$]++\))?(?:\[[^\]]*+\])?)"
    r"\s++(?:--\s++)?Time elapsed: .*<<< (?:FAILURE|ERROR)!"
    r"|(?P<gradle>[\w.$]++ > \S.*?) FAILED$"
)
_END: Final = re.compile(
    r"={3,}+ |failures:$|test result: |Ran \d++ tests? in|Failed examples:|Test Suites: |Tests: |FAIL\t|ok  \t"
)
_ERROR: Final = re.compile(
    r"(?:Uncaught |Failure/Error: |\[ERROR\] +)?(?:[\w.$]+(?:Error|Exception|Failure|Exit|Interrupt|Warning)\b"
    r"|AssertionFailedError|panic:"
    r"|assertion |Assertion|expect\(|Failed:|fatal error|error:|message:|Timeout|TypeError)"
)
_PANICKED: Final = re.compile(r"thread '.*' .{0,20}panicked at (?:'(?P<old>.*)', )?(?P<where>\S+?):?$")
_COMPARED: Final = re.compile(
    r"(?P<side>expected|received|actual|got|left|right|want|wanted|have|found)\b[\w ]{0,20}(?:[:=]|\s)\s*+(?P<value>\S.*)$",
    re.IGNORECASE,
)
_LOGGED: Final = re.compile(r"(?:ERROR|CRITICAL|FATAL)\s+(?:\S+:\S+\.\w+:\d+ )?(?P<what>\S.*\s\S.*)")
_WHERE: Final = re.compile(
    r"File \"(?P<py>[^\"]++)\", line (?P<py_line>\d++)|(?<![\w@~./\\-])(?P<path>[\w@~./\\-]++):(?P<line>\d++)"
)
_NOT_OWN: Final = (
    "site-packages",
    "node_modules",
    "node:",
    "/usr/lib",
    "/rustc/",
    "unittest/",
    "gems/",
    "java.base",
)


@dataclass(slots=True)
class FailureSection:
    """What a report explains of one failure."""

    name: str
    line: int
    message: str
    where: str
    is_error: bool = False


def sections(lines: Sequence[str]) -> Iterator[FailureSection]:
    """Read every section; a test that is listed by number before its section exists is not one."""
    heads = [(at, found) for at, line in enumerate(lines) if (found := _header(line))]
    for index, (at, found) in enumerate(heads):
        end = min(heads[index + 1][0] if index + 1 < len(heads) else len(lines), at + _MAX_SECTION)
        name, is_error = _name(found)
        body = lines[at + 1 : end]
        if found.lastgroup == "numbered":
            name, body = _numbered(name, body)
        elif found.lastgroup == "go":
            body = [*_run_before(lines, at, name), *body]
        clues = _explanation(body)
        if found.lastgroup not in ("numbered", "jest") or clues.error or clues.compared:
            yield FailureSection(name, at + 1, clues.message(), clues.where, is_error)


def _header(line: str) -> re.Match[str] | None:
    if len(line) < 6 or not (line[0] in " _FEU-[n\t" or " FAILED" in line or "<<<" in line):
        return None
    return _HEADER.match(line)


def _name(found: re.Match[str]) -> tuple[str, bool]:
    kind = found.lastgroup or ""
    name = (found[kind] or "").strip()
    if kind == "pytest" and name.startswith("ERROR "):
        return name.removeprefix("ERROR at ").removeprefix("ERROR "), True
    return name, found["state"] == "ERROR"


def _numbered(name: str, body: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Join the names of mocha, which stand in several lines up to a colon."""
    for index, line in enumerate(body[:5]):
        text = line.strip()
        if not text or name.endswith(":"):
            return name.rstrip(":"), body[index:]
        if _ERROR.match(text):
            return name, body[index:]
        name = f"{name} {text}"
    return name.rstrip(":"), body[5:]


def _run_before(lines: Sequence[str], at: int, name: str) -> Sequence[str]:
    """Return what `go test -v` printed of a test before its result."""
    for index in range(at - 1, max(at - 60, -1), -1):
        if lines[index].startswith("=== RUN") and lines[index].endswith(name):
            return lines[index + 1 : at]
    return ()


class _Clues:
    """What the lines of one section tell."""

    def __init__(self) -> None:
        self.marked: list[str] = []
        self.error = ""
        self.first = ""
        self.logged = ""
        """What the program logged as an error: the cause, where the test saw only that something is wrong."""
        self.compared: dict[str, str] = {}
        self.where = ""
        self.is_python = False
        self._awaits_panic = False

    def add(self, line: str) -> None:
        text = line.strip()
        if line.startswith("E  "):
            if len(self.marked) < 3 and text[1:].strip():
                self.marked.append(text[1:].strip())
            return
        self._place(text)
        if not self.logged and (found := _LOGGED.match(text)):
            self.logged = found["what"]
        if found := _PANICKED.match(text):
            self.where, self.error = found["where"], self.error or found["old"] or ""
            self._awaits_panic = not self.error
        elif self._awaits_panic and text:
            self.error, self._awaits_panic = text, False
        elif (found := _COMPARED.match(text.lstrip("-+# "))) and len(self.compared) < 2:
            self.compared.setdefault(found["side"].lower(), brief(found["value"], 70))
        elif not self.error and _ERROR.match(text):
            self.error = text.removeprefix("message:").strip()
        elif not self.first and text and text.strip("-=_ .#"):
            self.first = text

    def _place(self, text: str) -> None:
        found = _WHERE.search(text)
        if not found or any(part in text for part in _NOT_OWN):
            return
        if found["py"]:
            self.where, self.is_python = f"{found['py']}:{found['py_line']}", True
        elif "." not in found["path"]:
            return
        elif not self.where or (text.startswith(found[0]) and text[found.end() :].startswith(": ")):
            self.where = f"{found['path']}:{found['line']}"

    def message(self) -> str:
        text = " | ".join(self.marked) or self.error
        pair = ", ".join(f"{side} {value}" for side, value in self.compared.items())
        if pair and not self.marked and len(self.compared) > 1:
            text = f"{text} ({pair})" if text else pair
        text = (text or pair or self.first).removeprefix(f"{self.where}: ")
        if self.logged and self.logged not in text:
            text = f"{brief(text, _MAX_MESSAGE // 2)} | logged: {self.logged}" if text else self.logged
        return brief(text, _MAX_MESSAGE)


def _explanation(body: Sequence[str]) -> _Clues:
    clues = _Clues()
    for line in body:
        if _END.match(line):
            break
        clues.add(line)
    return clues
