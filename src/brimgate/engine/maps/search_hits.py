"""Survey the hits of grep and ripgrep: where they are, what they match, and which differ from the rest."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from brimgate.engine.highlights.findings import Finding, clip
from brimgate.engine.maps.credentials_scan import SECRET_WORDS, secret_in
from brimgate.engine.maps.diff_judgement import is_test
from brimgate.engine.maps.line_filter import LineFilter
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

_FLAT: Final = re.compile(r"(?P<path>[^\s:][^:\n]{0,300}+):(?P<at>\d{1,7}):(?:\d{1,5}:)?(?P<text>.*)$")
_NEAR: Final = re.compile(r"[^\s:]\S*?-\d{1,7}-")
_HEADED: Final = re.compile(r"(?P<at>\d{1,7}):(?:\d{1,5}:)?(?P<text>.*)$")
_PATH: Final = re.compile(r"(?:[\w.@~+ -]*/)*[\w.@~+-]*\.?[\w@~+-]+$")
_REPORT: Final = re.compile(r"\s*+(?:fatal error|error|warning|note|[A-Z]{1,5}\d{2,5})\b[: \[]")
_WORD: Final = re.compile(r"[^\W\d]\w{2,40}")
_DEADLINE: Final = re.compile(
    r"\b(?:TODO|FIXME|XXX|HACK)\b.{0,60}(?:\d{4}-\d\d-\d\d|\d{4}/\d\d/\d\d|\b20\d\d\b|[Qq][1-4] 20)"
)
_ALARMING: Final = LineFilter(
    *SECRET_WORDS,
    "TODO",
    "FIXME",
    "HACK",
    "XXX",
    "verify ?= ?False",
    "backdoor",
    "bypass",
    "insecure",
    "vulnerab",
    "disable.{0,12}(?:auth|check|ssl|tls|secur)",
    "hard.?coded",
)
_RISK: Final = re.compile(
    r"\b(?:FIXME|HACK|XXX)\b|verify ?= ?False|backdoor|insecure|vulnerab|bypass"
    r"|disabled? .{0,12}(?:auth|check|ssl|tls|secur)|hard.?coded",
    re.IGNORECASE,
)
_DEFINES: Final = re.compile(
    r"\s*+(?:export |public |private |async |static |pub |default ){0,4}"
    r"(?:def|class|function|func|fn|interface|struct|enum|type|trait|const|let|var) "
)
_IMPORTS: Final = re.compile(r"\s*+(?:import |from \S+ import|#include|use |require\(|.{0,60}= require\()")
_COMMENTS: Final = re.compile(r"\s*+(?:#|//|/?\*|--|<!--|\"\"\")")
_SAMPLE: Final = 3_000
_MIN: Final = 20


@dataclass(slots=True)
class _Hit:
    line: int
    path: str
    at: int
    text: str

    @property
    def told(self) -> str:
        return f"{self.path}:{self.at}: {brief(self.text, 150)}"


def recognise(text: TextLines) -> float:
    sample = [line for line in bare(text.sample) if line.strip() and line != "--"]
    if len(sample) < 3:
        return 0.0
    hits = list(_read(sample))
    near = sum(1 for line in sample if _NEAR.match(line))
    reports = sum(1 for hit in hits if _REPORT.match(hit.text))
    if reports > 0.3 * len(hits) or len(hits) < 3:
        return 0.0
    headings = sum(1 for line in sample if _is_heading(line))
    is_grouped = bool(headings) and all(not _FLAT.match(line) for line in sample[:20])
    share = (len(hits) + near + (headings if is_grouped else 0)) / len(sample)
    return 0.85 if share > 0.85 else 0.0


def _is_heading(line: str) -> bool:
    return len(line) < 300 and ("/" in line or "." in line) and bool(_PATH.match(line))


def _is_path(path: str) -> bool:
    return (
        ("/" in path or "." in path)
        and not path[0].isdigit()
        and "  " not in path
        and "://" not in path
        and ", " not in path
        and path[0] not in "{[(<\"'#"
    )


def _read(lines: Sequence[str]) -> Iterator[_Hit]:
    heading = ""
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        if line[0].isdigit():
            if heading and (found := _HEADED.match(line)):
                yield _Hit(number, heading, int(found["at"]), found["text"])
        elif (found := _FLAT.match(line)) and _is_path(found["path"]):
            yield _Hit(number, found["path"], int(found["at"]), found["text"])
        elif ":" not in line and _is_heading(line):
            heading = line


def survey(text: TextLines) -> Survey:
    lines = bare(text.lines)
    hits = list(_read(lines))
    term = _term(hits)
    findings = {
        one.place: one for one in [*_shapes(hits, term), *_values(hits, term), *_sides(hits), *_alarms(hits)]
    }
    binary = [number for number, line in enumerate(lines, 1) if line.startswith("Binary file ")]
    return Survey(_title(hits, binary), list(_map(hits, term)), list(findings.values()))


def _term(hits: Sequence[_Hit]) -> str:
    """Guess what was searched: the longest word that nearly all hits contain."""
    some = [hit.text.lower() for hit in hits[:: max(len(hits) // _SAMPLE, 1)]]
    words: Counter[str] = Counter()
    for text in some:
        words.update(set(_WORD.findall(text)))
    for word, _ in sorted(words.most_common(12), key=lambda item: (-len(item[0]), item[0])):
        if sum(1 for text in some if word in text) >= 0.9 * len(some):
            return word
    return ""


def _shape(text: str) -> str:
    if _IMPORTS.match(text):
        return "import"
    if _COMMENTS.match(text):
        return "comment"
    return "definition" if _DEFINES.match(text) else "use"


def _shapes(hits: Sequence[_Hit], term: str) -> Iterator[Finding]:
    """Tell where the searched word is defined, if it is in few places."""
    if not term or len(hits) < _MIN:
        return
    named = re.compile(
        r"\b(?:def|class|function|func|fn|interface|struct|enum|type|trait) " + re.escape(term) + r"\b",
        re.IGNORECASE,
    )
    defined = [hit for hit in hits if named.search(hit.text[:300])]
    if len(defined) <= 3:
        for hit in defined:
            yield Finding(hit.line, WORTH_A_LOOK, clip(f"definition: {hit.told}"))


def _values(hits: Sequence[_Hit], term: str) -> Iterator[Finding]:
    """Tell of hits where another value follows the searched word than in nearly all others."""
    if not term or len(hits) < _MIN:
        return
    after = re.compile(
        re.escape(term) + r"\w{0,20}[\"']?\s{0,3}[=:(]\s{0,3}[\"']?([\w.-]{1,40})", re.IGNORECASE
    )
    values: dict[str, list[_Hit]] = defaultdict(list)
    for hit in hits:
        if found := after.search(hit.text[:500]):
            values[found[1]].append(hit)
    total = sum(len(group) for group in values.values())
    usual = max(values, key=lambda value: len(values[value]), default="")
    if total < _MIN or len(values[usual]) < 0.8 * total:
        return
    for value, group in values.items():
        if len(group) <= 2 and value != usual:
            for hit in group:
                yield Finding(
                    hit.line, WORTH_A_LOOK + 1, clip(f"{value} (nearly all others: {usual}): {hit.told}")
                )


def _sides(hits: Sequence[_Hit]) -> Iterator[Finding]:
    """Tell of the few hits outside of tests, or of the only kind of file that differs."""
    tests = [hit for hit in hits if is_test(hit.path)]
    product = [hit for hit in hits if not is_test(hit.path)]
    if len(hits) >= _MIN and 0 < len(product) <= 3:
        for hit in product:
            yield Finding(
                hit.line, WORTH_A_LOOK, clip(f"not in a test, unlike {len(tests):,} others: {hit.told}")
            )
    endings = Counter(_ending(hit.path) for hit in hits)
    usual, number = endings.most_common(1)[0] if endings else ("", 0)
    if len(hits) >= _MIN and number >= 0.9 * len(hits):
        rare = [hit for hit in hits if endings[_ending(hit.path)] <= 2 and _ending(hit.path) != usual]
        for hit in rare[:3] if len(rare) <= 6 else ():
            yield Finding(
                hit.line,
                SLIGHTLY_ODD + 1,
                clip(
                    f"in a {_ending(hit.path) or 'file without ending'} ({number:,} in {usual}): {hit.told}"
                ),
            )


def _ending(path: str) -> str:
    name = path.rsplit("/", 1)[-1]
    return "." + name.rsplit(".", 1)[-1] if "." in name[1:] else ""


def _alarms(hits: Sequence[_Hit]) -> Iterator[Finding]:
    found: dict[str, list[tuple[_Hit, str]]] = defaultdict(list)
    for hit in hits:
        if not _ALARMING(hit.text):
            continue
        if secret := secret_in(hit.text):
            found["secret"].append((hit, f"secret {secret}: {hit.path}:{hit.at}"))
        elif _DEADLINE.search(hit.text):
            found["deadline"].append((hit, f"deadline: {hit.told}"))
        elif risk := _RISK.search(hit.text):
            found[risk[0].lower()].append((hit, hit.told))
    for kind, group in found.items():
        # A word that many hits have is what was searched for.
        if len(group) > max(3, len(hits) // 20):
            continue
        score = MUST_SEE if kind == "secret" else WORTH_A_LOOK
        for hit, told in group[:5]:
            yield Finding(hit.line, score - (4 if is_test(hit.path) else 0), clip(told))


def _title(hits: Sequence[_Hit], binary: Sequence[int]) -> str:
    files = len({hit.path for hit in hits})
    more = (
        f" · {count(len(binary), 'binary file matches', 'binary files match')} (lines {places(binary)})"
        if binary
        else ""
    )
    return f"search hits: {count(len(hits), 'hit')} in {count(files, 'file')}{more}"


def _map(hits: Sequence[_Hit], term: str) -> Iterator[MapLine]:
    files = Counter(hit.path for hit in hits)
    spans: dict[str, list[int]] = {}
    for hit in hits:
        spans.setdefault(hit.path, [hit.line, hit.line])[1] = hit.line
    folders = by_folder(files)
    yield MapLine(f"by folder: {tally(folders, 10)}", 8)
    top = ", ".join(
        f"{path} {number:,} (lines {spans[path][0]}-{spans[path][1]})"
        for path, number in files.most_common(8)
    )
    more = (
        f", … {len(files) - 8:,} more files with {sum(files.values()) - sum(number for _, number in files.most_common(8)):,}"
        if len(files) > 8
        else ""
    )
    yield MapLine(f"by file: {top}{more}", 6)
    tests = sum(1 for hit in hits if is_test(hit.path))
    if 0 < tests < len(hits):
        yield MapLine(f"in tests {tests:,}, elsewhere {len(hits) - tests:,}", 5)
    shapes = Counter(_shape(hit.text) for hit in hits)
    yield MapLine(f"kinds of lines: {tally(shapes)}", 4)
    if term:
        around = re.compile(r"\w{0,30}" + re.escape(term) + r"\w{0,30}", re.IGNORECASE)
        variants = Counter(found[0] for hit in hits if (found := around.search(hit.text)))
        if len(variants) > 1:
            yield MapLine(f"first match on the line: {tally(variants, 6)}", 4)


DETECTOR: Final = Detector("search hits", recognise, survey)
