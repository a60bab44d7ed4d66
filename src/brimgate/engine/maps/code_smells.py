"""Find what a reviewer of a program would stop at: risky calls, leftovers, swallowed errors, siblings that differ."""

import ast
import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from brimgate.engine.highlights.findings import Finding
from brimgate.engine.maps.definitions import Definition
from brimgate.engine.maps.line_search import LineSearch
from brimgate.engine.maps.phrases import brief, count, places
from brimgate.engine.maps.survey import MUST_SEE, SLIGHTLY_ODD, WORTH_A_LOOK

_MAX_TOLD: Final = 4
_MIN_SIBLINGS: Final = 6
_RISKS: Final = (
    (
        (
            r"(?:^|[^.\w])(?:eval|exec)\(|\bos\.system\(|\bos\.popen\(|shell ?= ?True|child_process"
            r"|Runtime\.getRuntime\(\)\.exec|\bunserialize\(|\bshell_exec\("
        ),
        "runs text as code or in a shell",
        WORTH_A_LOOK + 2,
    ),
    (
        r"\bpickle\.loads?\(|\bmarshal\.loads?\(|\byaml\.(?:load|unsafe_load)\([^)\n]{0,60}$|ObjectInputStream\(",
        "loads objects from data",
        WORTH_A_LOOK + 1,
    ),
    (
        (
            r"verify ?= ?False|rejectUnauthorized: ?false|InsecureSkipVerify: ?true|CURLOPT_SSL_VERIFY\w+, ?(?:0"
            r"|false)|check_hostname ?= ?False|_create_unverified_context|NODE_TLS_REJECT_UNAUTHORIZED"
            r"|danger_accept_invalid_certs\(true"
        ),
        "certificates are not verified",
        MUST_SEE - 1,
    ),
    (
        (
            r"(?i)(?:f[\"']{1,3}|`)\s{0,3}(?:select\s|insert\s+into|update\s+\w+\s+set|delete\s+from)[^\"\n]{0,300}\{"
            r"|[\"']\s{0,3}(?:select\s|insert\s+into|update\s+\w+\s+set|delete\s+from)[^\"\n]{0,300}[\"']\s?(?:\+|%"
            r"|\.format\(|\|\||\. ?\$)|(?:Sprintf|format!|String\.format)\(\s{0,4}\"(?:select |insert |update "
            r"|delete )"
        ),
        "SQL made by joining texts",
        MUST_SEE - 1,
    ),
    (
        r"\bbreakpoint\(\)|\bpdb\.set_trace\(|^[ \t]{0,40}debugger;?$|binding\.pry|\bvar_dump\(|\bdbg!\(|\bconsole\.debug\(",
        "debugging left in",
        WORTH_A_LOOK + 1,
    ),
    (
        (
            r"@(?:pytest\.mark|unittest)\.skip\w*|@Disabled\b|@Ignore\b|\b(?:it|test|describe)\.(?:skip|only)\("
            r"|\bx(?:it|describe)\(|\bt\.Skip(?:f|Now)?\(|#\[ignore|pytest\.skip\(|skip\(\""
        ),
        "test switched off",
        WORTH_A_LOOK,
    ),
    (
        (
            r"^[ \t]{0,40}(?:(?:el)?if|while) \(?(?:False|false|0)\)?\s?[:{]|^[ \t]{0,20}#if 0\b|\bif \(true\)"
            r"|\bif True:|if 1 ?== ?0|\b(?:if|while) ?\(?(?:1|true|True) (?:\|\||or) |\|\| (?:1|true)\)|&& (?:0|false)\)"
            r"|\b(?:if|while) ?\(?(?:0|false|False) (?:&&|and) "
        ),
        "condition that never changes",
        WORTH_A_LOOK,
    ),
    (
        r"\b(?:strcpy|strcat|sprintf|vsprintf|gets)\(",
        "copies without a bound",
        WORTH_A_LOOK + 1,
    ),
    (
        r"\bsrand\([0-9]|\brandom\.seed\([0-9]|new Random\([0-9]|rand\.Seed\([0-9]",
        "random numbers that repeat",
        WORTH_A_LOOK,
    ),
    (r"@[Dd]eprecated\b|DeprecationWarning|#\[deprecated|\[Obsolete", "marked deprecated", SLIGHTLY_ODD),
    (
        r"\bcatch\s?(?:\([^)\n]{0,80}\)\s?)?\{\s{0,3}(?://[^\n]{0,60})?\}|\brescue(?: \w+)? ?(?:=> ?\w+)?; ?nil|\|\| true$",
        "error swallowed",
        WORTH_A_LOOK,
    ),
    (
        (
            r"(?i)\brm -rf? /(?:\s|$|\*)|curl[^|\n]{0,200}\| ?(?:sudo )?(?:ba)?sh\b|chmod (?:-R )?777|(?:^"
            r"|;)[ \t]{0,8}drop (?:table|database)\b|(?:^|;)[ \t]{0,8}delete from \w+\s?;|(?:^"
            r"|;)[ \t]{0,8}truncate (?:table )?\w+|grant all\b"
        ),
        "destroys or opens much",
        WORTH_A_LOOK + 2,
    ),
    (
        r"\.innerHTML ?= ?[^\"'`\s]|dangerouslySetInnerHTML|document\.write\(|v-html=|\|safe\b|mark_safe\(",
        "HTML from data",
        WORTH_A_LOOK,
    ),
    (
        (
            r"(?i)\bhashlib\.(?:md5|sha1)\(|MessageDigest\.getInstance\(\"(?:MD5|SHA-?1)\"|createHash\([\"'](?:md5"
            r"|sha1)|\bDES\b.{0,20}cipher"
        ),
        "weak hash",
        SLIGHTLY_ODD + 1,
    ),
)
_LEFT: Final = r"\b(?:TODO|FIXME|HACK|XXX|BUG)\b[^\n]{0,120}"
_ADDRESS: Final = r"[\"'/@](?:[0-9]{1,3}\.){3}[0-9]{1,3}[\"':/]"
_HARMLESS_ADDRESS: Final = re.compile(
    r".(?:127\.|0\.0\.0\.0|255\.|169\.254\.|1\.1\.1\.1|8\.8\.|192\.0\.2\.|198\.51\.100|203\.0\.113)"
)
_CALM: Final = re.compile(r"\s*+(?://|#|\*|--|/\*|r?\"|r?')")
_AMOUNT: Final = (
    r"(?i)\b\w{0,40}(?:timeout|retries|retry|ttl|interval|delay|backoff|limit|max_size|attempts|workers"
    r"|pool_size|batch_size)\w{0,20}[\"']?"
    r"(?:: ?(?:int|float|number|u?int(?:32|64)|Duration|u32|u64|usize))? ?[:=]{1,2} ?[0-9][0-9_]{0,11}(?:\.[0-9]+)?\b"
)
_KIND_OF_AMOUNT: Final = re.compile(
    r"(?i)(timeout|retr|ttl|interval|delay|backoff|limit|max_size|attempts|workers|pool_size|batch_size)"
)
_CAREFUL: Final = re.compile(
    r"(?i)perm|auth|check|requir|valid|verif|lock|transaction|commit|rollback|close|audit|sanit|escape|ensure"
    r"|assert|log|track|limit"
)


def risky_lines(lines: Sequence[str], search: LineSearch) -> Iterator[Finding]:
    """Tell lines that do something risky. What is frequent in a program becomes one finding with its places."""
    for pattern, reason, score in _RISKS:
        numbers = [
            number for number, _ in search.hits(f"(?m){pattern}") if not _is_comment(lines[number - 1])
        ]
        if not numbers:
            continue
        if len(numbers) <= _MAX_TOLD:
            yield from (
                Finding(number, score, f"{reason}: {brief(lines[number - 1], 120)}") for number in numbers
            )
        else:
            yield Finding(
                numbers[0], score - 2, f"{reason}, {count(len(numbers), 'line')}: {places(numbers, 8)}"
            )
    left = list(search.hits(_LEFT))
    if len(left) <= 5:
        yield from (Finding(number, WORTH_A_LOOK - 2, brief(text, 120)) for number, text in left)
    else:
        yield Finding(
            left[0][0],
            SLIGHTLY_ODD,
            f"TODO, FIXME or HACK in {count(len(left), 'line')}: {places([number for number, _ in left], 8)}",
        )
    yield from _addresses(lines, search)
    yield from _rare_prints(lines, search)
    yield from _far_amounts(search)


def _is_comment(line: str) -> bool:
    return _CALM.match(line) is not None and "#[" not in line and "#if" not in line


def _addresses(lines: Sequence[str], search: LineSearch) -> Iterator[Finding]:
    found = [
        number
        for number, text in search.hits(_ADDRESS)
        if not _HARMLESS_ADDRESS.match(text) and not _is_comment(lines[number - 1])
    ]
    if 0 < len(found) <= _MAX_TOLD:
        yield from (
            Finding(number, SLIGHTLY_ODD + 2, f"IP address in the code: {brief(lines[number - 1], 100)}")
            for number in found
        )


def _rare_prints(lines: Sequence[str], search: LineSearch) -> Iterator[Finding]:
    found = [
        number
        for number, _ in search.hits(
            r"(?m)^[ \t]{0,40}(?:print|console\.log|System\.out\.println|fmt\.Println|puts)[( ]"
        )
    ]
    if 0 < len(found) <= 2 and len(lines) > 150:
        yield from (
            Finding(number, SLIGHTLY_ODD, f"prints: {brief(lines[number - 1], 100)}") for number in found
        )


def _far_amounts(search: LineSearch) -> Iterator[Finding]:
    """Tell a timeout, limit or number of retries that is far from all others of its kind."""
    kinds: defaultdict[str, list[tuple[float, int, str]]] = defaultdict(list)
    for number, text in search.hits(_AMOUNT):
        name, _, value = re.sub(r"[:=]+", "=", text).rpartition("=")
        kind = _KIND_OF_AMOUNT.search(name)
        if kind:
            unit = "ms" if re.search(r"(?i)ms\b|millis", name) else ""
            kinds[kind[1].lower() + unit].append((float(value.replace("_", "")), number, text))
    for same in kinds.values():
        ordered = sorted(same)
        if len(ordered) < 4:
            continue
        shown = f"others {ordered[0][0]:g} to {ordered[-2][0]:g}"
        if ordered[-1][0] >= 10 * ordered[-2][0] > 0:
            yield Finding(ordered[-1][1], WORTH_A_LOOK, f"{brief(ordered[-1][2], 80)} ({shown})")
        elif 0 <= ordered[0][0] * 10 <= ordered[1][0] and ordered[1][0] > 0 and len(ordered) > 5:
            shown = f"others {ordered[1][0]:g} to {ordered[-1][0]:g}"
            yield Finding(ordered[0][1], SLIGHTLY_ODD + 2, f"{brief(ordered[0][2], 80)} ({shown})")


def repeated_lines(lines: Sequence[str]) -> Iterator[Finding]:
    """Tell a statement that stands twice in a row: the second of two `goto fail` is never guarded."""
    found = [
        number
        for number, (before, after) in enumerate(itertools.pairwise(lines), 2)
        if before == after and _STATEMENT.match(after) and (number < 3 or lines[number - 3] != after)
    ]
    if 0 < len(found) <= _MAX_TOLD:
        yield from (
            Finding(number, WORTH_A_LOOK + 2, f"stands twice in a row: {brief(lines[number - 1], 100)}")
            for number in found
        )


_STATEMENT: Final = re.compile(r"\s+[A-Za-z_][\w.]*(?: [\w.]+|\(.*\)|[ +*/-]?=.*)+;?\s*\Z")


def empty_catches(lines: Sequence[str]) -> Iterator[Finding]:
    """Tell handlers of errors that do nothing, where brackets are on lines of their own."""
    found = [
        number
        for number, line in enumerate(lines[:-1], 1)
        if "catch" in line and line.rstrip().endswith("{") and lines[number].strip() == "}"
    ]
    if 0 < len(found) <= _MAX_TOLD:
        yield from (
            Finding(number, WORTH_A_LOOK, f"error swallowed: {brief(lines[number - 1], 80)}")
            for number in found
        )


def python_smells(tree: ast.Module) -> list[Finding]:
    found: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    for node in ast.walk(tree):
        for reason, line, detail in _smells_of(node):
            found[reason].append((line, detail))
    told: list[Finding] = []
    for reason, same in found.items():
        if len(same) <= _MAX_TOLD:
            told += [Finding(line, WORTH_A_LOOK, f"{reason}{detail}") for line, detail in same]
        else:
            told.append(
                Finding(
                    same[0][0],
                    SLIGHTLY_ODD + 1,
                    f"{reason}, {len(same)} times: {places(sorted(line for line, _ in same), 8)}",
                )
            )
    return told


def _smells_of(node: ast.AST) -> Iterator[tuple[str, int, str]]:
    if isinstance(node, ast.ExceptHandler):
        if all(isinstance(one, ast.Pass) or _is_text(one) for one in node.body) and _is_broad(node.type):
            yield "error swallowed: except … pass", node.lineno, ""
        elif node.type is None and not any(isinstance(one, ast.Raise) for one in ast.walk(node)):
            yield "bare except", node.lineno, ""
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if isinstance(default, ast.List | ast.Dict | ast.Set) and not getattr(
                default, "elts", getattr(default, "keys", None)
            ):
                yield "mutable default argument", node.lineno, f" of {node.name}"
    elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq):
        other = node.comparators[0]
        if isinstance(other, ast.Constant) and other.value is None:
            yield "== None", node.lineno, ""
    for body in (getattr(node, "body", None), getattr(node, "orelse", None)):
        if isinstance(body, list):
            yield from _unreachable(body)  # pyright: ignore[reportUnknownArgumentType]


def _is_broad(kind: ast.expr | None) -> bool:
    return kind is None or (isinstance(kind, ast.Name) and kind.id in ("Exception", "BaseException"))


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _unreachable(body: list[ast.stmt]) -> Iterator[tuple[str, int, str]]:
    for before, after in itertools.pairwise(body):
        if isinstance(before, ast.Return | ast.Raise | ast.Continue | ast.Break) and not _is_text(after):
            # `return` before a `yield` makes a generator of a function that yields nothing.
            if not (isinstance(after, ast.Expr) and isinstance(after.value, ast.Yield)):
                yield (
                    "never reached",
                    after.lineno,
                    f": it follows the {type(before).__name__.lower()} at {before.lineno}",
                )
            return


def repeated_definitions(found: Sequence[Definition]) -> Iterator[Finding]:
    """Tell names that are defined twice in one scope, so that the first is lost."""
    seen: dict[tuple[str, str, int], Definition] = {}
    told = 0
    for one in found:
        if any(trait.startswith("decorator") for trait in one.traits) or one.kind in (
            "impl",
            "namespace",
            "module",
        ):
            continue
        first = seen.setdefault((one.owner, one.name, one.indent), one)
        if first is not one and told < _MAX_TOLD and first.kind == one.kind != "constant":
            told += 1
            place = f" of {one.owner}" if one.owner else ""
            yield Finding(
                one.line,
                WORTH_A_LOOK + 1,
                f"{one.kind} {one.name}{place} is defined again, first at {first.line}",
            )


def lone_siblings(found: Sequence[Definition]) -> Iterator[Finding]:
    """Tell the one function that lacks what all its siblings have: a check, a docstring, a return type."""
    groups: defaultdict[str, list[Definition]] = defaultdict(list)
    for one in found:
        if one.kind not in ("function", "method") or one.name.startswith("__") or one.size < 2:
            continue
        groups[f"methods of {one.owner}" if one.owner else "functions"].append(one)
        for trait in sorted(one.traits):
            if trait.startswith("decorator"):
                groups[f"functions with {trait[10:].rsplit('.', 1)[0]}"].append(one)
        prefix = re.match(r"_?[a-z]+(?=_)|[a-z]+(?=[A-Z])", one.name)
        if prefix:
            groups[f"{prefix[0]}… functions"].append(one)
    told: dict[int, Finding] = {}
    for group, siblings in groups.items():
        for finding in _lone(group, siblings):
            told.setdefault(finding.place, finding)
    yield from told.values()


def _lone(group: str, siblings: list[Definition]) -> Iterator[Finding]:
    total = len(siblings)
    if total < _MIN_SIBLINGS:
        return
    traits = Counter(trait for one in siblings for trait in sorted(one.traits))
    allowed = max(1, total // 40)
    for trait, having in traits.items():
        if not total - allowed <= having < total:
            continue
        is_grave = trait.startswith("call") and _CAREFUL.search(trait)
        for one in siblings:
            if trait not in one.traits:
                text = f"{one.name} has no {trait}; {having} of {total} {group} have"
                yield Finding(one.line, WORTH_A_LOOK + 1 if is_grave else SLIGHTLY_ODD + 1, text)
