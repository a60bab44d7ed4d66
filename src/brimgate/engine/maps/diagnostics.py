"""Read what compilers, linters and build tools report: an error or warning with its file, line and code."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

_LOCATED: Final = re.compile(
    r"(?:\[(?:ERROR|WARNING)\] |[ew]: (?:file://)?)?(?P<file>[^\s:()\[\]]++)"
    r"(?::(?P<l1>\d++)(?::(?P<c1>\d++))?(?::\d++)?|\((?P<l2>\d++)(?:,\d++){0,3}\)|:\[(?P<l3>\d++),\d++\])"
    r":?(?: -)? (?:(?P<level>fatal error|error|warning|note|Error|Warning|ERROR|WARNING)\b:?[ ]?)?(?P<text>\S.*)$"
)
_CODED: Final = re.compile(r"(?P<level>error|warning)(?:\[(?P<code>\w++)\])?: (?P<text>\S.*)$")
_ARROW: Final = re.compile(r"\s*+--> (?P<file>[^\s:]++):(?P<line>\d++)")
_ESLINT: Final = re.compile(
    r"\s++(?P<line>\d++):\d++\s++(?P<level>error|warning)\s++(?P<text>\S.*?)(?:\s{2,}(?P<code>[\w@/-]++))?$"
)
_RULE: Final = re.compile(r"(?P<code>[A-Z]{1,5}\d{2,5}) (?P<text>\S.*)$")
_TRAILER: Final = re.compile(r"\[(?P<code>-W[\w=+-]++|[a-z][\w-]++)\]$")
_TS: Final = re.compile(r"(?P<code>TS\d++|CS\d++|C\d{4}|MSB\d++): ")
_MARKED: Final = re.compile(
    r"(?:##\[(?P<gh>error|warning)\]|::(?P<gh2>error|warning)[^:]{0,300}::|npm (?P<npm>ERR!|error|WARN|warn) "
    r"|\[(?P<mvn>ERROR|WARNING)\] +"
    r"|(?P<plain>ERROR|WARN|WARNING|FATAL|Error|fatal)(?: in \S++)?: |CMake (?P<cmake>Error|Warning)\b"
    r"|#\d++ (?P<docker>ERROR)[: ]|collect2: (?P<ld>error): )"
    r"(?P<text>.*)$"
)
_LINKER: Final = re.compile(
    r".{0,200}?(?:undefined reference to|multiple definition of|cannot find -l|undefined symbol)"
)


@dataclass(slots=True)
class Diagnostic:
    line: int
    level: str
    text: str
    file: str = ""
    at: int = 0
    code: str = ""

    @property
    def where(self) -> str:
        return f"{self.file}:{self.at}" if self.at else self.file


def diagnostics(lines: Sequence[str]) -> Iterator[Diagnostic]:
    """Read all of them in order; notes are left out, as they belong to what stands before."""
    heading = ""
    for number, line in enumerate(lines, 1):
        if len(line) < 8:
            continue
        if line[0] in "/.\\" and " " not in line.strip() and ":" not in line:
            heading = line.strip()
            continue
        found = _read(line, heading)
        if found is None:
            continue
        found.line = number
        if not found.file and number < len(lines) and (arrow := _ARROW.match(lines[number])):
            found.file, found.at = arrow["file"], int(arrow["line"])
        yield found


def _read(line: str, heading: str) -> Diagnostic | None:
    if line[0] in " \t" and (found := _ESLINT.match(line)):
        return Diagnostic(0, found["level"], found["text"], heading, int(found["line"]), found["code"] or "")
    if line[0] in "ew" and (found := _CODED.match(line)):
        return Diagnostic(0, found["level"], found["text"], code=found["code"] or "")
    if (":" in line or "(" in line) and (found := _LOCATED.match(line)):
        return _located(line, found)
    if found := _MARKED.match(line):
        words = [word for key, word in found.groupdict().items() if word and key != "text"]
        level = "warning" if words and words[0].lower().startswith("warn") else "error"
        return Diagnostic(0, level, found["text"].strip()) if found["text"].strip() else None
    if ("undefined " in line or "cannot find -l" in line or "multiple def" in line) and _LINKER.match(line):
        return Diagnostic(0, "error", line.strip(), code="link")
    return None


def _located(line: str, found: re.Match[str]) -> Diagnostic | None:
    level, text, code = (found["level"] or "").lower().replace("fatal error", "error"), found["text"], ""
    at = int(found["l1"] or found["l2"] or found["l3"])
    if found["file"][0].isdigit():
        return None  # The time stamp of an ordinary log.
    if line.startswith(("[ERROR]", "e: ")):
        level = level or "error"
    elif line.startswith(("[WARNING]", "w: ")):
        level = level or "warning"
    if level == "note":
        return None
    if rule := _TS.match(text):
        code, text = rule["code"], text[rule.end() :]
    elif not level and found["c1"] and (rule := _RULE.match(text)):
        # Linters of Python name no level: what they print fails the build.
        return Diagnostic(0, "error", rule["text"], found["file"], at, rule["code"])
    elif "undefined reference" in text:
        return Diagnostic(0, "error", text, found["file"], at, "link")
    if not level:
        return None
    if trailer := _TRAILER.search(text[-60:]):
        code = code or trailer["code"]
    return Diagnostic(0, level, text, found["file"], at, code)
