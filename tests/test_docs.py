"""Docs that cannot drift: generated pages are fresh, every link leads somewhere."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from brimgate.config.declarations import Override
from brimgate.engine.policy import Policy
from brimgate.watch.metrics import FAMILIES
from tests.conftest import ROOT

MADE = {"Policy": Policy, "Override": Override}
README = (ROOT / "README.md").read_text("utf-8")
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]


def test_the_readme_is_short_and_about_no_single_system_above_the_fold() -> None:
    lines = README.splitlines()
    assert len(lines) < 120
    assert not re.search("graphiti|hostaway|vikunja", "\n".join(lines[:60]), re.IGNORECASE)


def test_every_make_target_that_is_named_exists() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    named = set(re.findall(r"`make ([a-z]+)", "\n".join(page.read_text("utf-8") for page in PAGES)))
    assert {"run", "test"} <= set(re.findall(r"^make ([a-z]+)", README, re.MULTILINE))
    assert [target for target in named if not re.search(rf"^{target}:", makefile, re.MULTILINE)] == []


def test_generated_pages_are_fresh() -> None:
    done = subprocess.run(
        [sys.executable, "tools/generate_docs.py", "--check"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}: run `make docs`"


def test_every_metric_that_is_named_exists() -> None:
    """Also in the dashboard, the alerts and the questions of the docs; and none is missing from the reference."""
    told = (ROOT / "docs/reference/metrics.md").read_text("utf-8")
    assert [name for name in FAMILIES if f"| `{name}` |" not in told] == []
    files = [ROOT / "deploy/grafana/brimgate.json", *(ROOT / "deploy/prometheus").iterdir()]
    ours = "(?:brimgate|mcp_server|process)(?:_[a-z]+)+"
    known = {name + ending for name in FAMILIES for ending in ("", "_bucket", "_count", "_sum")}
    for page in (*files, ROOT / "docs/how-to/prometheus.md"):
        named = set(re.findall(rf"\b{ours}(?=[{{\[)` ])", page.read_text("utf-8")))
        assert named - known <= {"brimgate_read"}, page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
        assert "://" in target or (page.parent / target).exists(), target


def test_no_committed_file_names_a_package_host_or_a_path_of_this_machine() -> None:
    listed = subprocess.run(
        ["git", "ls-files"], capture_output=True, text=True, cwd=ROOT, timeout=60, check=False
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    forbidden = re.compile("pypi" + r"\.org|python" + r"hosted|registry\.npm" + "js|/wo" + "rk/main")
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path.suffix in {".py", ".md", ".toml", ".txt", ".in", ".yaml", ".yml", ""} and path.is_file():
            assert not forbidden.search(path.read_text("utf-8", "ignore")), name


def test_every_module_that_the_map_names_exists() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    named = set(re.findall(r"`([a-z_]+(?:/[a-z_]+)+)`", text))
    house = ROOT / "src" / "brimgate"
    known = {name for name in named if (house / f"{name}.py").exists() or (house / name).is_dir()}
    assert len(known) > 20 and {name for name in named - known if not (ROOT / name).exists()} == set()


def test_policies_and_overrides_in_python_blocks_can_be_made() -> None:
    """Their arguments are those of the configuration, and change with it."""
    made = 0
    for page in PAGES:
        for block in re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
            for call in ast.walk(ast.parse(block)):
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in MADE:
                    code = compile(ast.Expression(call), str(page), "eval")
                    assert eval(code, dict(MADE)), ast.unparse(call)  # noqa: S307  # our own pages
                    made += 1
    assert made >= 5
