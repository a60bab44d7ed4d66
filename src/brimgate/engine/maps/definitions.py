"""Find the definitions of a program: by Python's own parser, or by how their first line looks in other languages."""

import ast
import re
import warnings
from dataclasses import dataclass, field
from typing import Final

_MAX_PARSED: Final = 400_000
"""Characters up to which Python is parsed: the parser takes about a second for 10 MB, and much memory."""


@dataclass(slots=True)
class Definition:
    kind: str
    """`class`, `function`, `method`, `constant`, `table`, and what else a language has."""
    name: str
    line: int
    end: int
    indent: int = 0
    owner: str = ""
    """The class or other block that it belongs to."""
    traits: set[str] = field(default_factory=set[str])
    """What siblings may have in common: a docstring, a return type, a decorator, calls at its beginning."""

    @property
    def size(self) -> int:
        return self.end - self.line + 1


_NAME: Final = r"[A-Za-z_$][\w$]*"
_MODIFIERS: Final = (
    r"(?>(?:(?:public|private|protected|internal|static|final|abstract|async|override|virtual|sealed|partial"
    r"|readonly|export|default|declare|open|suspend|inline|pub(?:\([a-z]+\))?|unsafe|extern|const|synchronized"
    r"|native|data)\s+)*)"
)
_TYPES: Final = (
    rf"(?P<kind>class|interface|enum|struct|trait|record|object|namespace|module|impl(?:<[^>]{{0,80}}>)?"
    rf"|protocol)\s+(?P<name>{_NAME}(?:::{_NAME})*)"
)
_LANGUAGES: Final[dict[str, tuple[str, ...]]] = {
    "Python": (
        rf"(?P<kind>class|def|async def)\s+(?P<name>{_NAME})",
        r"(?P<name>[A-Z][A-Z0-9_]{2,})\s*(?::[^=]{1,60})?=[^=]",
    ),
    "TypeScript or JavaScript": (
        rf"{_MODIFIERS}{_TYPES}",
        rf"{_MODIFIERS}(?P<kind>function)\s*\*?\s*(?P<name>{_NAME})",
        rf"(?:export\s+)?(?P<kind>type)\s+(?P<name>{_NAME})\s*[=<]",
        (
            rf"(?:export\s+)?(?:const|let|var)\s+(?P<name>{_NAME})\s*(?::[^=]{{1,80}})?=\s*(?P<kind>(?:async"
            rf"\s*)?(?:function\b|\([^()]{{0,200}}\)\s*(?::[^=]{{1,60}})?=>|{_NAME}\s*=>))"
        ),
        r"(?:export\s+)?const\s+(?P<name>[A-Z][A-Z0-9_]{2,})\b",
        (
            rf"{_MODIFIERS}(?:get\s+|set\s+|\*\s*)?(?P<name>#?{_NAME})\s*\([^;'\"`]{{0,300}}\)\s*(?::\s*[\w<>\[\]., "
            rf"|]{{1,80}})?\{{\s*\Z"
        ),
    ),
    "Go": (
        rf"(?P<kind>func)\s+(?:\([^)]{{0,80}}\)\s*)?(?P<name>{_NAME})",
        rf"type\s+(?P<name>{_NAME})\s+(?P<kind>struct|interface|func|map|\w+)",
        r"(?:const|var)\s+(?P<name>[A-Z]\w+)\b",
    ),
    "Rust": (
        rf"{_MODIFIERS}(?P<kind>fn)\s+(?P<name>{_NAME})",
        r"(?P<kind>impl)(?:<[^>]{0,80}>)?\s+(?P<name>[\w:<>, &']{1,100}?)\s*(?:where\b.*)?\{?\s*\Z",
        rf"{_MODIFIERS}{_TYPES}",
        rf"{_MODIFIERS}(?P<kind>type|macro_rules!)\s+(?P<name>{_NAME})",
        r"(?:pub\s+)?(?:const|static)\s+(?P<name>[A-Z][A-Z0-9_]{2,})\b",
    ),
    "Java, C# or Kotlin": (
        rf"{_MODIFIERS}(?:@interface\s+|enum\s+)?{_TYPES}",
        rf"{_MODIFIERS}(?P<kind>fun)\s+(?:<[^>]{{0,80}}>\s*)?(?:{_NAME}\.)?(?P<name>{_NAME})",
        rf"{_MODIFIERS}(?:<[^>]{{0,80}}>\s+)?[\w<>\[\],.?]{{1,80}}\s+(?P<name>{_NAME})\s*\([^;=]{{0,300}}\Z",
        rf"{_MODIFIERS}(?P<name>[A-Z]\w*)\s*\([^;=]{{0,300}}\)\s*\{{\s*\Z",
        r"(?:(?:public|private|protected|static|final|const)\s+){2,5}\w+\s+(?P<name>[A-Z][A-Z0-9_]{2,})\b",
    ),
    "C or C++": (
        rf"(?:typedef\s+)?(?P<kind>class|struct|enum|union|namespace)\s+(?:class\s+)?(?P<name>{_NAME})[^;()]{{0,120}}\Z",
        r"#\s*(?P<kind>define)\s+(?P<name>\w+)",
        rf"(?:[\w:<>,~]+[\s*&]+){{1,5}}(?P<name>(?:{_NAME}::)*~?{_NAME})\s*\([^;=]{{0,300}}\Z",
    ),
    "Ruby": (
        r"(?P<kind>class|module)\s+(?P<name>[A-Z][\w:]*)",
        r"(?P<kind>def)\s+(?P<name>(?:self\.)?[\w?!=]+)",
        r"(?P<name>[A-Z][A-Z0-9_]{2,})\s*=",
    ),
    "PHP": (
        rf"{_MODIFIERS}{_TYPES}",
        rf"{_MODIFIERS}(?P<kind>function)\s+&?(?P<name>{_NAME})",
        r"(?:public\s+|private\s+)?const\s+(?P<name>[A-Z][A-Z0-9_]{2,})",
    ),
    "shell": (r"(?:function\s+)?(?P<name>[\w:.-]+)\s*\(\s*\)", r"(?P<kind>function)\s+(?P<name>[\w:.-]+)"),
    "SQL": (
        (
            r"(?i)create\s+(?:or\s+replace\s+)?(?:global\s+|temp(?:orary)?\s+|unique\s+|materialized\s+"
            r"|unlogged\s+)*(?P<kind>table|view|function|procedure|trigger|index|type|sequence|schema|role|user"
            r"|extension|policy|database)\s+(?:concurrently\s+)?(?:if\s+not\s+exists\s+)?(?P<name>[\w.\"`\[\]]+)"
        ),
    ),
}
_PATTERNS: Final = {
    language: tuple(re.compile(one) for one in patterns) for language, patterns in _LANGUAGES.items()
}
_NO_NAMES: Final = frozenset(
    (
        "if",
        "for",
        "while",
        "switch",
        "catch",
        "return",
        "else",
        "new",
        "throw",
        "await",
        "do",
        "try",
        "using",
        "lock",
        "function",
        "super",
        "constructor_",
    )
)
_CALL: Final = re.compile(r"([A-Za-z_$][\w$]*+(?>(?:\.[A-Za-z_$][\w$]*+)*))\(")
_MAX_BODY: Final = 400
_FUNCTION: Final = frozenset(("def", "async def", "function", "func", "fn", "fun", ""))
_SKIPPED: Final = ("//", "#", "*", "/*", "--", "'", '"', "}", ")", "@")
_CONTAINERS: Final = frozenset(
    (
        "class",
        "interface",
        "trait",
        "struct",
        "impl",
        "module",
        "namespace",
        "object",
        "enum",
        "record",
        "protocol",
    )
)


def parse_python(lines: list[str]) -> ast.Module | None:
    """Return the tree of a Python program, or None if it is none or too long."""
    text = "\n".join(lines)
    if len(text) > _MAX_PARSED:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape in someone's program is no concern of ours
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def python_definitions(tree: ast.Module) -> list[Definition]:
    found: list[Definition] = []
    _collect(tree.body, "", 0, found)
    return found


def _collect(body: list[ast.stmt], owner: str, depth: int, found: list[Definition]) -> None:
    for node in body:
        if isinstance(node, ast.ClassDef):
            found.append(_definition_of(node, "class", depth, owner))
            _collect(node.body, node.name, depth + 1, found)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.append(_definition_of(node, "method" if owner else "function", depth, owner))
        elif isinstance(node, ast.If | ast.Try) and depth < 4:
            # Only one of the branches runs: what both define is not defined twice.
            _collect(node.body, owner, depth + 1, found)
            _collect(node.orelse, owner, depth + 2, found)
        elif not owner:
            found.extend(_constants(node))


def _definition_of(
    node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, kind: str, depth: int, owner: str
) -> Definition:
    end = node.end_lineno or node.lineno
    return Definition(kind, node.name, _first_line(node), end, depth, owner, _traits(node))


def _first_line(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return node.decorator_list[0].lineno if node.decorator_list else node.lineno


def _constants(node: ast.stmt) -> list[Definition]:
    targets = (
        node.targets
        if isinstance(node, ast.Assign)
        else [node.target]
        if isinstance(node, ast.AnnAssign)
        else []
    )
    return [
        Definition("constant", target.id, node.lineno, node.end_lineno or node.lineno)
        for target in targets
        if isinstance(target, ast.Name) and target.id.isupper()
    ]


def _traits(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    traits = {f"decorator @{name}" for one in node.decorator_list if (name := _called(one))}
    if ast.get_docstring(node, clean=False):
        traits.add("docstring")
    if isinstance(node, ast.ClassDef):
        return traits
    if node.returns is not None:
        traits.add("return type")
    if isinstance(node, ast.AsyncFunctionDef):
        traits.add("async")
    for one in ast.walk(node):
        if isinstance(one, ast.Call) and (name := _called(one)) and ("." in name or len(name) > 5):
            traits.add(f"call of {name}")
    return traits


def _called(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        return _called(node.func)
    if isinstance(node, ast.Attribute):
        inner = _called(node.value)
        return f"{inner}.{node.attr}" if inner else node.attr
    return node.id if isinstance(node, ast.Name) else ""


def definitions_by_lines(lines: list[str], language: str) -> list[Definition]:
    """Find definitions by their first lines; each ends before the next line that is not deeper, or with its bracket."""
    patterns = _PATTERNS[language]
    found: list[Definition] = []
    for number, line in enumerate(lines, 1):
        rest = line.lstrip()
        if (
            not rest
            or len(line) > 400
            or (
                rest.startswith(_SKIPPED)
                and not rest.startswith("#define")
                and not rest.startswith("# define")
            )
        ):
            continue
        indent = len(line) - len(rest)
        if indent > 12:
            continue
        definition = _definition(rest, patterns, number, indent)
        if definition:
            found.append(definition)
    _set_ends(found, lines, is_indented=language in ("Python", "Ruby"))
    _set_owners(found)
    for one in found:
        if one.kind in ("function", "method"):
            _add_calls(one, lines)
    return found


def _add_calls(one: Definition, lines: list[str]) -> None:
    """Note what a function calls, and whether a comment stands above it."""
    for line in lines[one.line : min(one.end, one.line + _MAX_BODY)]:
        if "(" in line:
            one.traits.update(
                f"call of {name}" for name in _CALL.findall(line) if len(name) > 5 and name not in _NO_NAMES
            )
    above = lines[one.line - 2].strip() if one.line > 1 else ""
    if above.startswith(("//", "*/", "#", "--", "///")):
        one.traits.add("comment")


def _definition(
    rest: str, patterns: tuple[re.Pattern[str], ...], number: int, indent: int
) -> Definition | None:
    for pattern in patterns:
        match = pattern.match(rest)
        if (
            match
            and match["name"] not in _NO_NAMES
            and not rest.startswith(("return ", "else ", "await ", "throw ", "new ", "delete "))
        ):
            groups = match.groupdict()
            is_value = match["name"].isupper() or rest.startswith(
                ("const ", "var ", "pub const", "pub static", "static ")
            )
            kind = groups.get("kind") or ("constant" if is_value and "(" not in match[0] else "")
            kind = (
                "function"
                if kind in _FUNCTION or "=>" in kind or kind.startswith(("function", "async"))
                else kind.split("<")[0]
            )
            if kind == "constant" and indent:
                return None
            return Definition(kind.lower(), match["name"], number, number, indent)
    return None


def _set_ends(found: list[Definition], lines: list[str], *, is_indented: bool) -> None:
    """Give each definition its last line: the last one that is deeper than it, with the bracket that closes it."""
    waiting: list[Definition] = []
    starts = {one.line: one for one in found}
    last_text = 0
    for number, line in enumerate(lines, 1):
        rest = line.lstrip()
        if not rest:
            continue
        indent = len(line) - len(rest)
        while waiting and indent <= waiting[-1].indent and number > waiting[-1].line:
            top = waiting[-1]
            if (
                rest[0] in "})"
                or (is_indented and rest.startswith("end"))
                or (rest[0] == "{" and top.end == top.line)
            ):
                top.end = number
                if rest[0] == "{":
                    break
            else:
                top.end = max(top.end, last_text) if top.end != number else top.end
            waiting.pop()
            if rest[0] in "})":
                break
        last_text = number
        if number in starts and starts[number].kind != "constant":
            waiting.append(starts[number])
    for top in waiting:
        top.end = max(top.end, last_text)


def _set_owners(found: list[Definition]) -> None:
    open_ones: list[Definition] = []
    for one in found:
        while open_ones and open_ones[-1].end < one.line:
            open_ones.pop()
        if open_ones:
            one.owner = open_ones[-1].name
            if one.kind == "function" and open_ones[-1].kind in _CONTAINERS:
                one.kind = "method"
        open_ones.append(one)
