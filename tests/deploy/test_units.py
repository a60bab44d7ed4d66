"""The units, checked by systemd's own tools, and the log files by logrotate."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT

DEPLOY = ROOT / "deploy"
UNITS = DEPLOY / "systemd"
MOST_EXPOSURE = 2.0


def tool(name: str, package: str) -> str:
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")
    if found is None:
        pytest.skip(f"{name} is not here: apt-get install {package}")
    return found


def run(*command: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60, check=False)


def unit(name: str) -> dict[str, list[str]]:
    """The settings of a unit, by key."""
    found: dict[str, list[str]] = {}
    for line in (UNITS / name).read_text().splitlines():
        if line and line[0] not in "#[":
            key, _, text = line.partition("=")
            found.setdefault(key, []).append(text)
    return found


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A root with the units, systemd's own, and what they start."""
    places = [one for one in (Path("/usr/lib/systemd/system"), Path("/lib/systemd/system")) if one.is_dir()]
    if not places:
        pytest.skip("systemd is not here: apt-get install systemd")
    shutil.copytree(places[0], tmp_path / "usr/lib/systemd/system", symlinks=True)
    own = tmp_path / "etc/systemd/system"
    shutil.copytree(UNITS, own)
    for name in ("vikunja", "redis"):
        (own / f"{name}.service").write_text("[Service]\nExecStart=/bin/sh\n")
    for program in ("opt/vikunja-mcp/bin/brimgate", "bin/sh"):
        path = tmp_path / program
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
    return tmp_path


def test_systemd_finds_nothing_wrong(machine: Path) -> None:
    analyze = tool("systemd-analyze", "systemd")
    done = run(
        analyze, "verify", f"--root={machine}", "--man=no", "vikunja-mcp.service", "vikunja-mcp.socket"
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_systemd_finds_what_is_wrong(machine: Path) -> None:
    """Or the test above would say nothing."""
    path = machine / "etc/systemd/system/vikunja-mcp.service"
    path.write_text(path.read_text().replace("ProtectHome=true", "ProtectHome=perhaps\nNoSuchKey=1"))
    done = run(
        tool("systemd-analyze", "systemd"), "verify", f"--root={machine}", "--man=no", "vikunja-mcp.service"
    )
    assert "Unknown key 'NoSuchKey'" in done.stderr and "perhaps" in done.stderr


def test_the_service_is_exposed_little() -> None:
    done = run(
        tool("systemd-analyze", "systemd"),
        "security",
        "--offline=true",
        "--no-pager",
        UNITS / "vikunja-mcp.service",
    )
    found = re.search(r"Overall exposure level for \S+: (\d+\.\d+)", done.stdout)
    assert found is not None, done.stderr
    assert float(found[1]) <= MOST_EXPOSURE


def test_the_unit_is_what_the_requirement_says() -> None:
    service = unit("vikunja-mcp.service")
    assert service["User"] == ["vikunja"] and service["CapabilityBoundingSet"] == [""]
    assert service["Requires"] == ["vikunja.service"] and "redis.service" in service["Wants"][0]
    assert {"network.target", "redis.service", "vikunja.service"} <= set(service["After"][0].split())
    assert service["Restart"] == ["on-failure"] and service["Type"] == ["notify"] and service["ExecReload"]
    assert service["EnvironmentFile"] == ["-/etc/vikunja-mcp/environment"]
    assert not re.search("(?i)token|password|secret", " ".join(service["Environment"]))
    assert int(service["TimeoutStopSec"][0]) > 10, "more than grace_seconds by default"


def test_the_example_names_variables_that_there_are() -> None:
    """The three of Vikunja's own, and ours. None has a secret."""
    from brimgate.config.sources import OTHER_VARIABLES, variables

    text = (UNITS / "environment.example").read_text()
    named = dict(re.findall(r"^#?([A-Z_]+)=(.*)$", text, re.MULTILINE))
    assert {"VIKUNJA_API_URL", "MCP_HTTP_PORT", "REDIS_URL"} <= set(named)
    ours = {name for name in named if name.startswith("BRIMGATE_")}
    assert ours <= {key.variable for key in variables()} | OTHER_VARIABLES
    assert "@" not in named["REDIS_URL"]


@pytest.fixture
def rotated(tmp_path: Path) -> Path:
    """Our file, for logs in a folder of the test."""
    logs = tmp_path / "logs"
    logs.mkdir(mode=0o750)
    path = tmp_path / "vikunja-mcp"
    path.write_text(
        (DEPLOY / "logrotate" / "vikunja-mcp").read_text().replace("/var/log/vikunja-mcp", str(logs))
    )
    path.chmod(0o644)
    return path


def test_logrotate_understands_the_file(rotated: Path) -> None:
    (rotated.parent / "logs" / "out.log").write_text("a line\n")
    done = run(tool("logrotate", "logrotate"), "--debug", "--state", rotated.parent / "state", rotated)
    assert done.returncode == 0 and "error:" not in done.stderr and "out.log" in done.stderr


def test_a_rotation_goes_on_in_the_same_file(rotated: Path) -> None:
    """The writer has it open for appending, as systemd opens it, and is told nothing."""
    path = rotated.parent / "logs" / "error.log"
    with path.open("ab", buffering=0) as writing:
        writing.write(b"before\n")
        done = run(tool("logrotate", "logrotate"), "--force", "--state", rotated.parent / "state", rotated)
        assert done.returncode == 0, done.stderr
        writing.write(b"after\n")
    assert path.read_bytes() == b"after\n"
    kept = [one.read_bytes() for one in path.parent.iterdir() if one != path]
    assert kept == [b"before\n"]
