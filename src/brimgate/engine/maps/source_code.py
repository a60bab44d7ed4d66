"""Survey source code: what is defined where, what is longest, and what a reviewer would stop at."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from brimgate.engine.maps.code_smells import (
    empty_catches,
    lone_siblings,
    python_smells,
    repeated_definitions,
    repeated_lines,
    risky_lines,
)
from brimgate.engine.maps.credentials_scan import find_secrets
from brimgate.engine.maps.definitions import (
    Definition,
    definitions_by_lines,
    parse_python,
    python_definitions,
)
from brimgate.engine.maps.line_context import in_context
from brimgate.engine.maps.line_search import LineSearch, per_line, shortened
from brimgate.engine.maps.phrases import brief, count
from brimgate.engine.maps.survey import Detector, MapLine, Survey, TextLines
from brimgate.engine.textkind import ENTRY

_SIGNS: Final = {
    language: re.compile(pattern)
    for language, pattern in {
        "Python": (
            r"\s*+(?:(?:async )?def \w+\(|class \w+.{0,100}:\Z|import \w|from [\w.]+ import|elif .*:\Z|except\b.*:\Z"
            r"|self\.|@\w[\w.]*(?:\(.*)?\Z|if __name__|(?:if|for|while|with) .*:\Z|return\b(?!.*;\Z)|try:\Z|raise \w)"
        ),
        "TypeScript or JavaScript": (
            r"\s*+(?:import .*from ['\"]|import \{|export (?:default|const|class|function|async|interface|type|enum|\{"
            r"|\*)|(?:const|let|var) [\w{\[].*=|(?:async )?function\b|.*=> ?\{\Z|.*require\(['\"]|\}\);?\Z"
            r"|interface \w+|return .*;\Z|module\.exports|type \w+ =|await |describe\(|it\(['\"])"
        ),
        "Go": (
            r"\s*+(?:package \w+\Z|func [\w(]|import \(|.*:= |type \w+ (?:struct|interface)\b|if err != nil|defer "
            r"|go func|return .*err\b|case .*:\Z)"
        ),
        "Rust": (
            r"\s*+(?:(?:pub(?:\(\w+\))? )?(?:fn|struct|enum|mod|trait|use|const|static|type) |impl\b|let (?:mut )?\w+"
            r"|#\[|match .*\{\Z|use \w+::|.*=> .*,\Z|Ok\(|Err\(|Some\()"
        ),
        "Java, C# or Kotlin": (
            r"\s*+(?:package [\w.]+;?\Z|import (?:static )?[\w.*]+;?\Z|using [\w.]+;\Z|(?:public|private|protected"
            r"|internal) |@[A-Z]\w+|namespace [\w.]+|(?:override |suspend )?fun |val |return .*;\Z|throw new "
            r"|\} catch \()"
        ),
        "C or C++": (
            r"\s*+(?:#\s*(?:include|define|ifdef|ifndef|endif|pragma)|(?:static |const |unsigned )*(?:int|void|char"
            r"|bool|float|double|size_t|uint\d+_t|auto|struct) \**\w+.*|std::|template ?<|.*->\w+.*;\Z|typedef "
            r"|return .*;\Z|using namespace|public:|private:)"
        ),
        "Ruby": (
            r"\s*+(?:require(?:_relative)? ['\"]|def \w+|end\Z|class \w+(?: < [\w:]+)?\Z|module \w+\Z|attr_\w+ "
            r"|.* do(?: \|.*\|)?\Z|unless |elsif |puts |@\w+ =)"
        ),
        "PHP": (
            r"\s*+(?:<\?php|\$\w+(?:->\w+)* ?=|(?:public |private |protected |static )*function |namespace [\w\\]+;"
            r"|use [\w\\]+;|echo |.*\$this->|return .*;\Z)"
        ),
        "shell": (
            r"\s*+(?:#!.*sh\b|fi\Z|done\Z|esac\Z|then\Z|do\Z|echo |export \w+=|if \[|if !|for \w+ in |while "
            r"|case .* in\Z|local \w+|\w+\(\) ?\{|set -[eux]|source |exit \d|\w+=\"?\$)"
        ),
        "SQL": (
            r"(?i)\s*+(?:create |insert into |alter |drop |select |update \w+ set|delete from|grant |primary key"
            r"|foreign key|constraint |references |from \w+|where |values ?\(|\w+ (?:varchar|integer|int|bigint|text"
            r"|timestamp\w*|boolean|numeric|serial|uuid|jsonb?|date)\b|begin;?\Z|commit;|\);?\Z)"
        ),
    }.items()
}
_STAMP: Final = re.compile(ENTRY.pattern.decode()[1:])
_FOREIGN: Final = re.compile(
    r"diff --git|@@ -|\+\+\+ |--- a/|\S{1,200}:\d{1,7}[:-]|Traceback \(|\s*+File \"[^\"]*\", line \d"
    r"|\s*+at [\w.$<>]+\(|#{1,6} \w.*\w\Z|\s*+<\w|\s*+\[ERROR\]|\s*+uid=|\{\""
)
_CODE_END: Final = (";", "{", "}", ")", ":", ",", "(", "[", "]", "end", "do", "then", "\\", "*/")
_COMMENT: Final = ("//", "#", "/*", "*", "--", '"""')
_IMPORT: Final = re.compile(
    r"\s{0,8}(?:from\s+([\w.]+)\s+import\b|import\s+(?:static\s+)?([\w.]+)|(?:import"
    r"|export)\b[^'\"]{0,200}from\s+['\"]([^'\"]+)|import\s+['\"]([^'\"]+)"
    r"|using\s+([\w.]+);|use\s+([\w:\\]+)|#\s*include\s*[<\"]([^>\"]+)"
    r"|require(?:_relative)?[\s(]+['\"]([^'\"]+)|(?:const|let|var)\s[^=]{1,80}=\s*require\(['\"]([^'\"]+))"
)
_LONG: Final = 40
_MAX_METHODS: Final = 16
_OVERLOADED: Final = frozenset(("Java, C# or Kotlin", "C or C++", "Rust"))


def recognise(text: TextLines) -> float:
    lines = [line for line in text.sample if line.strip()]
    if (
        len(lines) < 5
        or lines[0].lstrip()[:1] in ("{", "[")
        or (lines[0].lstrip()[:1] == "<" and not lines[0].startswith("<?php"))
    ):
        return 0.0
    foreign = sum(1 for line in lines if _FOREIGN.match(line) or _STAMP.match(line))
    language, signs = _language(lines)
    fences = sum(1 for line in lines if line.lstrip().startswith("```"))
    if foreign * 8 > len(lines) or signs < 3 or fences > 1:
        return 0.0
    ends = sum(
        1
        for line in lines
        if line.rstrip().endswith(_CODE_END) or line.lstrip().startswith(_COMMENT) or line[0] in " \t"
    )
    share, code = signs / len(lines), ends / len(lines)
    least = 0.5 if language == "SQL" else 0.1
    return min(0.92, 0.45 + share) if share >= least and code >= 0.5 else 0.0


def _language(lines: Sequence[str]) -> tuple[str, int]:
    counts = Counter(
        {language: sum(1 for line in lines if sign.match(line)) for language, sign in _SIGNS.items()}
    )
    if lines and lines[0].startswith("<?php"):
        return "PHP", max(counts["PHP"], 3)
    if lines and lines[0].startswith("#!") and "sh" in lines[0].rpartition("/")[2]:
        return "shell", max(counts["shell"], 3)
    return counts.most_common(1)[0]


def survey(text: TextLines) -> Survey:
    lines = text.lines
    language, _ = _language([line for line in text.sample if line.strip()])
    tree = parse_python(lines) if language == "Python" else None
    found = python_definitions(tree) if tree else definitions_by_lines(lines, language)
    search = LineSearch(lines)
    findings = [
        *find_secrets(lines),
        *risky_lines(lines, search),
        *repeated_lines(lines),
        *lone_siblings(found),
    ]
    findings += python_smells(tree) if tree else empty_catches(lines)
    if language not in _OVERLOADED:
        # Functions of SQL may be overloaded, tables and views may not.
        findings += repeated_definitions(
            [one for one in found if language != "SQL" or one.kind != "function"]
        )
    told = [in_context(one, lines) for one in per_line(findings)]
    return Survey(_title(language, lines, found), _map(lines, found, search), told)


def _title(language: str, lines: Sequence[str], found: Sequence[Definition]) -> str:
    counts = Counter(one.kind for one in found)
    parts = [
        count(number, kind, "classes" if kind == "class" else "indexes" if kind == "index" else "")
        for kind, number in counts.most_common(8)
    ]
    return f"{language} source: {count(len(lines), 'line')}" + (f", {', '.join(parts)}" if parts else "")


def _map(lines: Sequence[str], found: list[Definition], search: LineSearch) -> list[MapLine]:
    made: list[MapLine] = []
    imports = _imports(lines, search)
    if imports:
        made.append(MapLine(f"imports {shortened(imports, 24)}", 3.0))
    made += _owners(found)
    made += _listed("functions", [one for one in found if one.kind == "function" and not one.owner], 6.0)
    constants = [
        f"{one.name} {one.line}" for one in found if one.kind in ("constant", "define") and not one.owner
    ]
    if constants:
        made.append(MapLine(f"constants {shortened(constants, 30)}", 2.5))
    bodies = [one for one in found if one.kind in ("function", "method") and one.size > _LONG]
    longest = [
        f"{one.owner + '.' if one.owner else ''}{one.name} {one.line}-{one.end} ({one.size} lines)"
        for one in sorted(bodies, key=lambda one: -one.size)[:3]
    ]
    if longest:
        made.append(MapLine(f"longest {', '.join(longest)}", 5.0))
    return made


def _imports(lines: Sequence[str], search: LineSearch) -> list[str]:
    names: dict[str, None] = {}
    for number, _ in search.hits(
        r"(?m)^[ \t]{0,8}(?:from|import|using|use|export|#\s?include|require|(?:const|let|var)\s[^=\n]{1,80}=\s?require)\b"
    ):
        match = _IMPORT.match(lines[number - 1])
        if match:
            names[next(filter(None, match.groups()))] = None
    return list(names)


def _owners(found: list[Definition]) -> Iterator[MapLine]:
    members: defaultdict[str, list[Definition]] = defaultdict(list)
    for one in found:
        if one.kind == "method":
            members[one.owner].append(one)
    types = [one for one in found if one.kind not in ("function", "method", "constant", "define")]
    detailed = sorted(types, key=lambda one: -one.size)[:30]
    for one in types:
        if one not in detailed:
            continue
        own = [method for method in members.get(one.name, []) if one.line <= method.line <= one.end]
        names = [f"{method.name} {method.line}" for method in own[:_MAX_METHODS]]
        more = f", … {len(own) - _MAX_METHODS} more" if len(own) > _MAX_METHODS else ""
        inside = f": {', '.join(names)}{more}" if names else ""
        yield MapLine(
            f"{one.line}-{one.end} {one.kind} {brief(one.name, 60)}{inside}", 5.0 + min(4.0, one.size / 100)
        )
    rest = [one for one in types if one not in detailed]
    yield from _listed("others", rest, 3.0)


def _listed(name: str, found: list[Definition], weight: float) -> Iterator[MapLine]:
    step = 20
    for at in range(0, min(len(found), 100), step):
        shown = [
            f"{one.name} {one.line}-{one.end}" if one.end > one.line else f"{one.name} {one.line}"
            for one in found[at : at + step]
        ]
        yield MapLine(f"{name} {', '.join(shown)}", weight - at / 50)
    if len(found) > 100:
        yield MapLine(f"… {len(found) - 100:,} more {name} to line {found[-1].end}", weight - 2)


DETECTOR = Detector("source code", recognise, survey, has_end=False)
