"""deploy/proxmox/deploy.sh: what it asks of `pct`, what it prints, and what it refuses. `test_container` runs it for real."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import ROOT

SCRIPT = ROOT / "deploy" / "proxmox" / "deploy.sh"
RECORDER = """#!/bin/sh
# Notes what it is asked for, one line each, and keeps what is pushed.
printf '%s\\n' "$*" >> "{folder}/asked"
case "$1 $4" in
  "status "*) echo "status: {state}" ;;
  "config "*) echo "features: {features}" ;;
  "push "*) cp "$3" "{folder}/pushed.tar.gz" ;;
  "exec mktemp") echo /var/tmp/vikunja-mcp.abc123 ;;
  "exec sh") exit {code} ;;
esac
"""


@dataclass
class Proxmox:
    folder: Path

    def have(self, *, state: str = "running", features: str = "nesting=1", code: int = 0) -> None:
        """Put a `pct` on PATH. `code` is what deploy.sh ends with in the container."""
        path = self.folder / "pct"
        path.write_text(
            RECORDER.replace("{folder}", str(self.folder))
            .replace("{state}", state)
            .replace("{features}", features)
            .replace("{code}", str(code))
        )
        path.chmod(0o755)

    def deploy(self, *words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [str(SCRIPT), *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
            env={"PATH": f"{self.folder}:/usr/bin:/bin", "HOME": str(self.folder)},
        )

    @property
    def asked(self) -> list[str]:
        path = self.folder / "asked"
        return path.read_text().splitlines() if path.exists() else []

    @property
    def pushed(self) -> set[str]:
        listed = subprocess.run(
            ["tar", "-tzf", str(self.folder / "pushed.tar.gz")],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        return {name.removeprefix("./") for name in listed.stdout.splitlines()}


@pytest.fixture
def proxmox(tmp_path: Path) -> Proxmox:
    made = Proxmox(tmp_path)
    made.have()
    return made


def test_the_script_has_no_flaw_that_shellcheck_knows() -> None:
    if (shellcheck := shutil.which("shellcheck")) is None:
        pytest.skip("shellcheck is not here: apt-get install shellcheck")
    done = subprocess.run([shellcheck, str(SCRIPT)], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_a_checkout_goes_over_and_the_script_runs_there(proxmox: Proxmox) -> None:
    done = proxmox.deploy("install", "--ctid", "104", "--log-files", "--health-seconds", "20")
    assert done.returncode == 0, done.stdout
    there = "/var/tmp/vikunja-mcp.abc123"  # noqa: S108
    told = f"install --here --health-seconds 20 --log-files --source {there}/source"
    assert proxmox.asked[:3] == [
        "status 104",
        "config 104",
        "exec 104 -- mktemp -d /var/tmp/vikunja-mcp.XXXXXX",
    ]
    assert proxmox.asked[3].startswith("push 104 ") and proxmox.asked[3].endswith(f" {there}/bundle.tar.gz")
    assert proxmox.asked[4:] == [
        f"exec 104 -- tar -xzf {there}/bundle.tar.gz -C {there}",
        f"exec 104 -- sh {there}/deploy/proxmox/deploy.sh {told}",
        f"exec 104 -- rm -rf {there}",
    ]
    assert {
        "source/pyproject.toml",
        "source/src/brimgate/__init__.py",
        "deploy/proxmox/deploy.sh",
    } <= proxmox.pushed
    assert not [name for name in proxmox.pushed if ".git/" in name or "tests/" in name or ".pyc" in name]


def test_a_wheel_goes_over(proxmox: Proxmox) -> None:
    wheel = proxmox.folder / "brimgate-9.9.9-py3-none-any.whl"
    wheel.write_bytes(b"")
    assert proxmox.deploy("upgrade", "--ctid", "104", "--wheel", str(wheel)).returncode == 0
    assert proxmox.asked[5].endswith(f"--wheel /var/tmp/vikunja-mcp.abc123/{wheel.name}")
    assert wheel.name in proxmox.pushed


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("upgrade", "--version", "1.2.3"), "upgrade --here --health-seconds 60 --version 1.2.3"),
        (("uninstall", "--purge"), "uninstall --here --health-seconds 60 --purge"),
        (("status",), "status --here --health-seconds 60"),
        (
            ("rollback", "--health-url", "http://h/"),
            "rollback --here --health-seconds 60 --health-url http://h/",
        ),
    ],
    ids=lambda one: one[0] if isinstance(one, tuple) else "",
)
def test_other_commands_take_only_the_script(words: tuple[str, ...], told: str, proxmox: Proxmox) -> None:
    assert proxmox.deploy(*words, "--ctid", "104").returncode == 0
    assert proxmox.asked[5].endswith(f"deploy.sh {told}")
    assert not [name for name in proxmox.pushed if name.startswith("source")]


def test_what_fails_there_fails_here_and_leaves_nothing(proxmox: Proxmox) -> None:
    proxmox.have(code=7)
    assert proxmox.deploy("upgrade", "--ctid", "104", "--version", "1").returncode == 7
    assert proxmox.asked[-1] == "exec 104 -- rm -rf /var/tmp/vikunja-mcp.abc123"


def test_a_container_that_does_not_run_is_told(proxmox: Proxmox) -> None:
    proxmox.have(state="stopped")
    done = proxmox.deploy("install", "--ctid", "104")
    assert done.returncode == 1 and "pct start 104" in done.stdout and proxmox.asked == ["status 104"]


def test_a_container_without_nesting_is_noted(proxmox: Proxmox) -> None:
    proxmox.have(features="keyctl=1")
    done = proxmox.deploy("status", "--ctid", "104")
    assert done.returncode == 0 and "pct set 104 --features nesting=1" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "install, upgrade, rollback, uninstall or status?"),
        (("install",), "--ctid N or --here"),
        (("install", "--here", "--ctid", "1"), "--ctid N or --here"),
        (("install", "--ctid", "1; reboot"), "must be a number"),
        (("install", "--ctid"), "needs a value"),
        (("install", "upgrade", "--here"), "one command at a time"),
        (("install", "--here", "--wheel", "/nowhere.whl"), "no such file"),
        (("install", "--here", "--wheel", "/etc/passwd"), "not a .whl"),
        (("install", "--here", "--source", "/etc"), "no pyproject.toml"),
        (("install", "--here", "--version", "1 --index-url x"), "not a version"),
        (
            ("install", "--here", "--version", "1", "--wheel", "x.whl"),
            "one of --source, --wheel and --version",
        ),
        (("install", "--here", "--health-seconds", "soon"), "must be a number"),
        (("install", "--here", "--force"), "unknown: --force"),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, tuple) else "",
)
def test_a_wrong_command_line_changes_nothing(words: tuple[str, ...], said: str, proxmox: Proxmox) -> None:
    done = proxmox.deploy(*words)
    assert done.returncode == 2 and said in done.stdout and not proxmox.asked


@pytest.mark.parametrize("command", ["install", "upgrade", "uninstall"])
def test_a_dry_run_prints_and_changes_nothing(command: str, proxmox: Proxmox) -> None:
    done = proxmox.deploy(command, "--here", "--dry-run")
    assert done.returncode == 0, done.stdout
    assert "dry run: nothing is changed" in done.stdout and "systemctl daemon-reload" in done.stdout
    assert not Path("/opt/vikunja-mcp").exists() and not Path("/etc/vikunja-mcp").exists()
    assert proxmox.deploy(command, "--ctid", "104", "--dry-run").returncode == 0
    assert {line.split()[0] for line in proxmox.asked} == {"status", "config"}
