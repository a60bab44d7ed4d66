"""The rules of the house that a reader would otherwise have to remember: names, sizes, and what tests do without."""

import ast
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import ROOT

SOURCE = ROOT / "src" / "brimgate"
ALL = sorted(SOURCE.rglob("*.py"))
PRODUCT = [path for path in ALL if path.relative_to(SOURCE).parts[0] not in ("sandboxes", "testing")]

GERUNDS = {"framing", "paging", "routing", "masking"}
SHARED = {"request", "response", "headers", "client", "errors", "stdio", "legacy_sse", "server", "api"}
"""Names of modules that parallel rooms have in common."""
MOST_FILES = 349
MOST_LINES = 25
"""Of all functions but the longest twentieth."""
BROAD = {"Exception", "BaseException"}
MOST_BROAD = 1.0
"""Broad excepts in a thousand lines."""
MOCKS = {"Mock", "MagicMock", "AsyncMock", "patch", "create_autospec"}
OLD_NAME = "head" + "gate"


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def nodes(paths: list[Path]) -> Iterator[tuple[Path, ast.AST]]:
    for path in paths:
        for node in ast.walk(tree(path)):
            yield path, node


def place(path: Path, node: ast.AST | None = None) -> str:
    line = getattr(node, "lineno", 0)
    return f"{path.relative_to(ROOT)}:{line}" if line else str(path.relative_to(ROOT))


def tracked() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], capture_output=True, text=True, cwd=ROOT, timeout=60, check=False
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [name for name in listed.stdout.split("\0") if name]


def test_there_is_something_to_check() -> None:
    assert len(PRODUCT) > 100 and len(ALL) > len(PRODUCT)


def test_modules_are_nouns() -> None:
    assert [place(path) for path in ALL if path.stem.endswith("ing") and path.stem not in GERUNDS] == []


def test_a_module_name_stands_once() -> None:
    """But for parallel rooms, and for a command, whose module bears its name."""
    named: dict[str, list[str]] = defaultdict(list)
    for path in PRODUCT:
        is_command = path.parent == SOURCE / "cli" and defines(path, "add_parser")
        if path.stem not in SHARED | {"__init__", "__main__"} and not is_command:
            named[path.stem].append(place(path))
    assert {name: places for name, places in named.items() if len(places) > 1} == {}


def defines(path: Path, function: str) -> bool:
    return any(isinstance(node, ast.FunctionDef) and node.name == function for node in tree(path).body)


def test_a_public_class_name_stands_once() -> None:
    named: dict[str, list[str]] = defaultdict(list)
    for path in PRODUCT:
        for node in tree(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                named[node.name].append(place(path, node))
    assert {name: places for name, places in named.items() if len(places) > 1} == {}


def test_the_product_has_few_files() -> None:
    counted = [path for path in PRODUCT if path.name != "__init__.py" or lines(path) > 1]
    assert len(counted) <= MOST_FILES


def lines(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())


def test_the_old_name_of_the_project_is_history() -> None:
    history = ("CHANGELOG.md", "docs/adr/", "tests/test_house.py")
    found = [
        name
        for name in tracked()
        if not name.startswith(history)
        and (ROOT / name).is_file()
        and OLD_NAME in name.lower() + (ROOT / name).read_text("utf-8", "replace").lower()
    ]
    assert found == []


def test_functions_are_short() -> None:
    lengths = sorted(
        (node.end_lineno or node.lineno) - node.lineno + 1
        for _, node in nodes(ALL)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    assert lengths[len(lengths) * 95 // 100] <= MOST_LINES


def test_broad_excepts_are_rare() -> None:
    found = [
        place(path, node)
        for path, node in nodes(ALL)
        if isinstance(node, ast.ExceptHandler) and is_broad(node)
    ]
    assert 1_000 * len(found) / sum(map(lines, ALL)) <= MOST_BROAD, found


def is_broad(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(one, ast.Name) and one.id in BROAD for one in caught)


def test_no_pattern_repeats_a_group_possessively() -> None:
    """Python 3.11.0 to 3.11.4 match too much there (gh-100061, gh-106052): write (?>(?:…)*) for (?:…)*+."""
    assert is_possessive_group(r"(?:a|b)*+c") and is_possessive_group(r"(a){2,}+")
    assert not is_possessive_group(r"\)++[)*+]a++(?>(?:b)*)")
    found = [
        place(path, node)
        for path, node in nodes(ALL)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile"
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and is_possessive_group(part.value)
    ]
    assert found == []


def is_possessive_group(pattern: object) -> bool:
    text = pattern.decode("latin-1") if isinstance(pattern, bytes) else str(pattern)
    bare = re.sub(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", "x", text, flags=re.DOTALL)
    return re.search(r"\)(?:[*+?]|\{[\d,]+\})\+", bare) is not None


def test_nothing_is_mocked() -> None:
    tests = [ROOT / name for name in tracked() if name.startswith("tests/") and name.endswith(".py")]
    assert tests
    found = [
        place(path, node)
        for path, node in nodes([path for path in tests if path.is_file()])
        if isinstance(node, ast.Call) and called(node.func) & MOCKS
    ]
    assert found == []


def called(function: ast.expr) -> set[str]:
    """Return the names in `mock.patch.object(…)`: any of them may be the one."""
    names: set[str] = set()
    while isinstance(function, ast.Attribute):
        names.add(function.attr)
        function = function.value
    return names | ({function.id} if isinstance(function, ast.Name) else set())
