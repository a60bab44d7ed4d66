"""Docs that cannot drift: generated pages are fresh, every command of the README runs, every link leads somewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

README = (ROOT / "README.md").read_text("utf-8")
COMMANDS = re.findall(r"^\$ (.+)$", README, re.MULTILINE)
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]


def test_the_readme_is_short() -> None:
    assert README.count("\n") <= 200


@pytest.mark.parametrize("command", [line for line in COMMANDS if not line.startswith("make ")])
def test_a_command_of_the_readme_runs(command: str, tmp_path: Path) -> None:
    brimgate = f'"{sys.executable}" -m brimgate'
    environment = os.environ | {"BRIMGATE_STATE_DIR": str(tmp_path)}
    done = subprocess.run(
        ["bash", "-c", command.replace(".venv/bin/brimgate", brimgate)],
        capture_output=True,
        cwd=ROOT,
        env=environment,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_two_commands_of_the_readme_are_targets_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = {line.split()[1] for line in COMMANDS if line.startswith("make ")}
    assert targets == {"run", "test"}
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)


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
