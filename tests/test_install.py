"""A plain `pip install .` in a clean environment: what it brings, what it says of what it lacks, and whether every
command of the README and the docs runs there."""

import json
import os
import re
import subprocess
import sys
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.timeout(900)  # the first of them installs from a registry
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
SCRIPTS = "Scripts" if sys.platform == "win32" else "bin"
MAX_PACKAGES = 13


def commands() -> Iterator[tuple[str, str]]:
    """Every line behind `$ ` in a block that is marked as run at a console, with its page."""
    for page in PAGES:
        for block in re.findall(r"^```console\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL):
            for line in re.findall(r"^\$ (.+)$", block, re.MULTILINE):
                yield page.relative_to(ROOT).as_posix(), line


COMMANDS = {command: page for page, command in reversed(list(commands()))}
"""Each once, whatever the number of pages that show it, with the first of them."""


@dataclass(frozen=True)
class Installed:
    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / SCRIPTS / "python"

    def run(self, *command: str | Path, cwd: Path, check: bool = True) -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(
            list(map(str, command)),
            capture_output=True,
            text=True,
            cwd=cwd,
            env=self.environment(cwd),
            timeout=800,
            check=False,
        )
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    def pip(self, command: str, *words: str | Path) -> str:
        """What a pip from outside says that it has done here."""
        pip = (sys.executable, "-m", "pip", "--python", self.python, "--disable-pip-version-check")
        return self.run(*pip, command, *words, cwd=self.folder).stdout

    def environment(self, state: Path) -> dict[str, str]:
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("BRIMGATE_", "PYTHON"))
        }
        path = os.pathsep.join([str(self.folder / SCRIPTS), kept.get("PATH", "")])
        return kept | {"PATH": path, "BRIMGATE_STATE_DIR": str(state / "state")}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """What `pip install .` makes of a checkout; its dependencies at the versions we pin.

    Our own pip and hatchling do it: to install these anew, and to compile what is never imported, takes longer than
    all the rest. `tools/fresh.sh` does it in a bare Debian root with nothing of ours.
    """
    home = tmp_path_factory.mktemp("installed")
    venv.create(home / "env", with_pip=False)
    made = Installed(home / "env")
    made.pip("install", "--no-compile", "--require-hashes", "-r", ROOT / "requirements" / "runtime.txt")
    wheel = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation")
    made.run(*wheel, "--wheel-dir", home, ROOT, cwd=home)
    made.pip("install", *home.glob("*.whl"))
    return made


@pytest.mark.parametrize(
    ("command", "page"), COMMANDS.items(), ids=[f"{page}: {line}" for line, page in COMMANDS.items()]
)
def test_a_command_of_the_docs_runs(installed: Installed, command: str, page: str, tmp_path: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        cwd=ROOT,
        env=installed.environment(tmp_path),
        stdin=subprocess.DEVNULL,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, (page, done.stderr.decode())


def test_there_are_commands_to_run() -> None:
    assert len(COMMANDS) >= 10 and "README.md" in COMMANDS.values()


def test_running_needs_few_packages(installed: Installed) -> None:
    listed = json.loads(installed.pip("list", "--format=json"))
    assert len(listed) <= MAX_PACKAGES, [one["name"] for one in listed]


@pytest.mark.slow
def test_the_demo_walks_back_exactly(installed: Installed, tmp_path: Path) -> None:
    out = installed.run("brimgate", "demo", cwd=tmp_path).stdout
    assert "exact" in out and "NOT" not in out


def test_packs_are_found_by_their_entry_points(installed: Installed, tmp_path: Path) -> None:
    """Their rules, samples and declarations are in the wheel."""
    installed.run("brimgate", "measure", cwd=tmp_path)
    (tmp_path / "brimgate.yaml").write_text("upstreams: {hostaway: {pack: hostaway}}")
    installed.run("brimgate", "check", "brimgate.yaml", cwd=tmp_path)


def test_a_form_that_is_an_extra_names_it(installed: Installed, tmp_path: Path) -> None:
    (tmp_path / "list.json").write_text(json.dumps([{"id": number} for number in range(5_000)]))
    (tmp_path / "brimgate.yaml").write_text("context_protection: {format: toon}")
    asked = installed.run("brimgate", "reduce", "list.json", "--format", "toon", cwd=tmp_path, check=False)
    checked = installed.run("brimgate", "check", "brimgate.yaml", cwd=tmp_path, check=False)
    for done in (asked, checked):
        assert done.returncode == 2 and "pip install '.[toon]'" in done.stderr
    assert "context_protection.format" in checked.stderr


def test_the_middlewares_import_or_name_their_extra(installed: Installed, tmp_path: Path) -> None:
    installed.run(installed.python, "-c", "from brimgate.rest import BrimgateMiddleware", cwd=tmp_path)
    code = "import brimgate.fastmcp"
    done = installed.run(installed.python, "-c", code, cwd=tmp_path, check=False)
    assert done.returncode == 1 and "pip install '.[fastmcp]'" in done.stderr


def test_the_vocabularies_are_in_the_wheel(installed: Installed, tmp_path: Path) -> None:
    code = "import brimgate.engine.tokens.estimator as t; assert t.Estimator().count('water ' * 9000) > 5000"
    installed.run(installed.python, "-c", code, cwd=tmp_path)
