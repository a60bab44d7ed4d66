"""Survey diffs of git, svn and helm: the files with their counts, and the changes that alter the meaning."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from brimgate.engine.highlights.findings import Finding, clip
from brimgate.engine.maps.diff_judgement import Change, ChangeBlock, Remark, is_test, judge
from brimgate.engine.maps.phrases import bare, brief, by_folder, count, places, tally
from brimgate.engine.maps.survey import (
    MUST_SEE,
    SLIGHTLY_ODD,
    WORTH_A_LOOK,
    Detector,
    MapLine,
    Survey,
    TextLines,
)

_GIT: Final = re.compile(
    r"diff --(?:git (?:\"?a/)?(?P<old>.*?)\"? (?:\"?b/)(?P<new>.*?)\"?|(?:cc|combined) (?P<both>.*))$"
)
_HUNK: Final = re.compile(
    r"@@+ -(?P<old>\d++)(?:,(?P<old_count>\d++))? .*?\+(?P<new>\d++)(?:,(?P<new_count>\d++))? @@+"
)
_HELM: Final = re.compile(r"(?P<path>[\w.-]++, \S.*?) has (?P<what>changed|been added|been removed):$")
_SECRET_FILE: Final = re.compile(
    r"(?:^|/)(?:\.env(?:\.\w+)?|id_(?:rsa|ed25519|ecdsa)|.*\.(?:pem|key|p12|pfx|keystore|jks)"
    r"|credentials(?:\.(?:json|ya?ml|csv|txt|ini))?)$"
)
_MAX_ALIKE: Final = 6
"""From this many on, remarks of one kind are no exceptions, and are told in one line."""
_FACTOR: Final = 5.0
_MAX_NUMBERS: Final = 4


@dataclass(slots=True)
class _File:
    path: str
    line: int
    old_path: str = ""
    status: str = "changed"
    added: int = 0
    removed: int = 0
    is_binary: bool = False
    mode: str = ""
    blocks: list[ChangeBlock] = field(default_factory=list[ChangeBlock])


def recognise(text: TextLines) -> float:
    sample = bare(text.sample)
    headers = sum(
        1
        for line in sample
        if line.startswith(("diff --git ", "--- ", "+++ ", "Index: ")) or _HELM.match(line)
    )
    hunks = sum(1 for line in sample if line.startswith("@@ -"))
    helm = sum(1 for line in sample if " has " in line and _HELM.match(line))
    signed = sum(1 for line in sample if line[:1] in ("+", "-", " ", "@") or line[:5] in ("diff ", "index"))
    if not hunks and not helm and not any(line.startswith("diff --git ") for line in sample):
        return 0.0
    if headers < 1 and hunks < 2:
        return 0.0
    share = signed / len(sample)
    return 0.95 if share > 0.6 else 0.6 if share > 0.35 and headers >= 2 else 0.0


class _Reader:
    """Reads files and blocks; the counts of a hunk tell its lines from headers that look alike."""

    def __init__(self) -> None:
        self.files: list[_File] = []
        self.preamble: list[int] = []
        self._old = self._new = 0
        self._old_left = self._new_left = 0
        self._block: ChangeBlock | None = None
        self._is_free = False

    def add(self, number: int, line: str) -> None:
        if self._old_left > 0 or self._new_left > 0 or (self._is_free and not _HELM.match(line)):
            self._body(number, line)
            return
        self._block = None
        if line.startswith("@@"):
            self._hunk(line)
        else:
            self._header(number, line)

    def _hunk(self, line: str) -> None:
        if (found := _HUNK.match(line)) and self.files:
            self._old, self._new = int(found["old"]), int(found["new"])
            self._old_left = int(found["old_count"] or 1)
            self._new_left = int(found["new_count"] or 1)

    def _body(self, number: int, line: str) -> None:
        sign, file = line[:1], self.files[-1]
        if sign not in ("+", "-", " ", "\\", "") or (not self._is_free and line.startswith("diff --git ")):
            self._old_left = self._new_left = 0
            if not self._is_free:
                self.add(number, line)
            return
        if sign in ("+", "-"):
            self._change(file, number, sign, line[1:])
        else:
            self._block = None
            if sign != "\\":
                self._step(1, 1)

    def _change(self, file: _File, number: int, sign: str, text: str) -> None:
        if self._block is None or (sign == "-" and self._block.added):
            self._block = ChangeBlock(file.path, is_whole_file=file.status in ("new", "deleted"))
            file.blocks.append(self._block)
        if sign == "-":
            file.removed += 1
            self._block.removed.append(Change(text, self._old, number))
            self._step(1, 0)
        else:
            file.added += 1
            self._block.added.append(Change(text, self._new, number))
            self._step(0, 1)

    def _step(self, old: int, new: int) -> None:
        self._old += old
        self._new += new
        self._old_left -= old
        self._new_left -= new

    def _header(self, number: int, line: str) -> None:
        if found := _GIT.match(line):
            path = found["both"] or found["new"]
            self.files.append(_File(path, number))
        elif line.startswith("Index: "):
            self.files.append(_File(line[7:].strip(), number))
        elif line.startswith("--- "):
            self._old_name(number, line)
        elif " has " in line and (found := _HELM.match(line)):
            status = {"been added": "new", "been removed": "deleted"}.get(found["what"], "changed")
            self.files.append(_File(found["path"], number, status=status))
            self._is_free, self._old, self._new = True, 1, 1
        elif self.files:
            self._note(self.files[-1], line)
        else:
            self.preamble.append(number)

    def _old_name(self, number: int, line: str) -> None:
        name = _name(line[4:])
        if not self.files or self.files[-1].added + self.files[-1].removed:
            self.files.append(_File(name, number))
        elif name == "/dev/null":
            self.files[-1].status = "new"
        if not self.files[-1].old_path and name != "/dev/null":
            self.files[-1].old_path = name

    def _note(self, file: _File, line: str) -> None:
        if line.startswith("+++ "):
            name = _name(line[4:])
            if name == "/dev/null":
                file.status = "deleted"
            elif not file.blocks and file.path in ("/dev/null", file.old_path):
                file.path = name
        elif line.startswith(("rename from ", "copy from ")):
            file.status, file.old_path = (
                line.split(" ", 1)[0].replace("rename", "renamed").replace("copy", "copied"),
                line.split(" ", 2)[2],
            )
        elif line.startswith("new file mode"):
            file.status = "new"
        elif line.startswith("deleted file mode"):
            file.status = "deleted"
        elif line.startswith("old mode "):
            file.mode = line[9:].strip()
        elif line.startswith("new mode "):
            file.mode = f"{file.mode} → {line[9:].strip()}"
        elif line.startswith(
            ("Binary files ", "GIT binary patch", "Cannot display: file marked as a binary")
        ):
            file.is_binary = True


def _name(text: str) -> str:
    name = text.split("\t", 1)[0].strip().strip('"')
    return name[2:] if name[:2] in ("a/", "b/") else name


def survey(text: TextLines) -> Survey:
    reader = _Reader()
    lines = bare(text.lines)
    for number, line in enumerate(lines, 1):
        reader.add(number, line)
    files = reader.files
    remarks = list(_remarks(files))
    findings = [*_told(remarks, files), *_odd_files(files)]
    return Survey(_title(files), list(_map(files, reader.preamble, lines)), findings)


def _remarks(files: Sequence[_File]) -> Iterator[Remark]:
    blocks = [block for file in files for block in file.blocks]
    added = frozenset(one.text.strip() for block in blocks for one in block.added)
    removed = frozenset(one.text.strip() for block in blocks for one in block.removed)
    for block in blocks:
        yield from judge(block, added, removed)


def _told(remarks: Sequence[Remark], files: Sequence[_File]) -> Iterator[Finding]:
    kinds: dict[str, list[Remark]] = defaultdict(list)
    for remark in remarks:
        kinds[remark.kind].append(remark)
    yield from _numbers(kinds.pop("number", []))
    for kind, group in kinds.items():
        if len(group) < _MAX_ALIKE or kind in ("secret added", "conflict marker"):
            yield from (Finding(one.line, one.score, clip(one.text)) for one in group)
            continue
        best = sorted(group, key=lambda one: (-one.score, one.line))
        where = places(one.line for one in group[:12])
        text = f"{kind}: {len(group)} times (lines {where}{', …' if len(group) > 12 else ''}), such as {best[0].text}"
        yield Finding(best[0].line, best[0].score - 2, clip(text))


def _numbers(remarks: Sequence[Remark]) -> Iterator[Finding]:
    """Tell of numbers that change by a far larger factor than the others do."""
    large = [one for one in remarks if one.factor >= _FACTOR]
    usual = max((one.factor for one in remarks if one.factor < _FACTOR), default=0.0)
    if len(large) > max(3, len(remarks) // 4):
        return
    note = f" (other numbers change by a factor of at most {usual:.1f})" if len(remarks) > len(large) else ""
    large.sort(key=lambda one: (-one.score, -one.factor))
    for one in large[:_MAX_NUMBERS]:
        score = one.score + (2 if len(large) <= _MAX_NUMBERS and len(remarks) >= 4 * len(large) else 0)
        yield Finding(one.line, score, clip(one.text + note))
        note = ""
    if rest := sorted(one.line for one in large[_MAX_NUMBERS:]):
        text = f"{count(len(rest), 'more number')} that change by a factor of {_FACTOR:g} or more: lines {places(rest, 6)}"
        yield Finding(rest[0], SLIGHTLY_ODD, text)


def _odd_files(files: Sequence[_File]) -> Iterator[Finding]:
    for file in files:
        if _SECRET_FILE.search(file.path) and file.status in ("new", "changed"):
            yield Finding(file.line, MUST_SEE, clip(f"{file.path} {file.status}: a file for secrets"))
        elif file.status == "deleted" and is_test(file.path):
            yield Finding(
                file.line, WORTH_A_LOOK + 1, clip(f"{file.path} test file deleted (−{file.removed:,})")
            )
    executable = [file for file in files if "→" in file.mode]
    for file in executable if len(executable) <= 3 else ():
        yield Finding(file.line, SLIGHTLY_ODD, clip(f"{file.path} mode {file.mode}"))


def _title(files: Sequence[_File]) -> str:
    states = Counter(file.status for file in files if file.status != "changed")
    states["binary"] = sum(1 for file in files if file.is_binary)
    states["mode changed"] = sum(1 for file in files if "→" in file.mode)
    told = ", ".join(f"{number:,} {name}" for name, number in states.items() if number)
    added, removed = sum(file.added for file in files), sum(file.removed for file in files)
    return f"diff: {count(len(files), 'file')}, +{added:,} −{removed:,}{' · ' + told if told else ''}"


def _map(files: Sequence[_File], preamble: Sequence[int], lines: Sequence[str]) -> Iterator[MapLine]:
    head = [lines[number - 1].strip() for number in preamble if lines[number - 1].strip()]
    if head:
        yield MapLine(
            f"before the diff (lines {preamble[0]}-{preamble[-1]}): {brief(' · '.join(head[:6]), 240)}", 5
        )
    if len(files) > 1:
        yield MapLine(f"files by folder: {tally(by_folder(Counter(file.path for file in files)))}", 6)
    largest = sorted(files, key=lambda file: file.added + file.removed, reverse=True)[:10]
    told = ", ".join(f"{file.path} +{file.added:,} −{file.removed:,} (line {file.line})" for file in largest)
    yield MapLine(f"{'most changed' if len(files) > 10 else 'files'}: {told}", 6)
    for status in ("new", "deleted"):
        if some := [file for file in files if file.status == status]:
            yield MapLine(f"{status}: {_listed(some)}", 5)
    if renamed := [file for file in files if file.status in ("renamed", "copied")]:
        told = ", ".join(f"{file.old_path} → {file.path} (line {file.line})" for file in renamed[:5])
        yield MapLine(f"renamed: {told}{f', … {len(renamed) - 5} more' if len(renamed) > 5 else ''}", 4)
    if binary := [file for file in files if file.is_binary]:
        yield MapLine(f"binary: {_listed(binary)}", 3)


def _listed(files: Sequence[_File]) -> str:
    told = ", ".join(f"{file.path} (line {file.line})" for file in files[:8])
    return f"{told}{f', … {len(files) - 8} more' if len(files) > 8 else ''}"


DETECTOR: Final = Detector("diff", recognise, survey, has_end=False)
