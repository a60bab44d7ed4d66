"""Every requirement has a test that exists, or a later capability that is named; and the other way round."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

from bench.__main__ import PARTS
from tests.conftest import ROOT, SHARED

TABLE = tomllib.loads((ROOT / "tests" / "requirements.toml").read_text("utf-8"))
CAPABILITIES = {
    "HTTP for many users",
    "Telemetry and the dashboard",
}


def functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def measured_bars(part: str) -> dict[str, str]:
    """Returns what `python -m bench` has measured in a part: each row that has a bar, and the bar."""
    page = (ROOT / "docs" / "benchmarks.md").read_text("utf-8")
    section = page.partition(f"\n## {part}\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines() if "|" in line]
    return {row[0]: row[1] for row in rows if row[1].strip("-: ")}


@pytest.mark.parametrize("requirement", TABLE)
def test_a_requirement_has_tests_that_exist_or_a_capability_that_will_bring_it(requirement: str) -> None:
    entry = TABLE[requirement]
    assert set(entry) <= {"title", "tests", "bench", "later"}
    assert entry.get("tests") or entry.get("bench") or entry.get("later"), "no test, benchmark or capability"
    assert "later" not in entry or entry["later"] in CAPABILITIES
    for test in entry.get("tests", []):
        file, _, name = test.partition("::")
        assert name in functions(ROOT / file), test
    if "bench" in entry:
        part, bar = entry["bench"]["part"], entry["bench"]["bar"]
        assert part in PARTS, "`python -m bench` has no such part"
        assert bar in measured_bars(part), f"the part {part} of docs/benchmarks.md holds no such row"


def test_every_id_of_the_requirements_is_in_the_table() -> None:
    source = SHARED / "requirements.md"
    if not source.exists():
        pytest.skip("../shared/requirements.md is not here")
    text = source.read_text("utf-8")
    ids = set(re.findall(r"\b(?:FR-\d{3}|EC-\d|NFR-\d|RISK-\d|SC-\d{3}|T-R\d|W-R\d)\b", text))
    for first, last in re.findall(r"\b(US\d\.\d)–US\d\.(\d)", text):
        ids |= {f"{first[:-1]}{number}" for number in range(1, int(last) + 1)}
    assert ids == set(TABLE)
