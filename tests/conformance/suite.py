"""The official conformance suite, run against an address; what it found, check by check."""

import json
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.world import NODE_FOLDER, node

REVISIONS: Final = ("2025-11-25", "2026-07-28")
PASSED: Final = "SUCCESS"
FAILED: Final = "FAILURE"
_PACKAGE: Final = "@modelcontextprotocol/conformance"
_SCRIPT: Final = f"node_modules/{_PACKAGE}/dist/index.js"
_FOLDER: Final = re.compile(r"server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z")
_PATIENCE_SECONDS: Final = 600


class Check(NamedTuple):
    scenario: str
    id: str
    name: str
    number: int
    """A scenario may give the same check several times."""


class Outcome(NamedTuple):
    status: str
    complaint: str = ""


Found = dict[Check, Outcome]


def version() -> str:
    dependencies = json.loads((NODE_FOLDER / "package.json").read_text("utf-8"))["dependencies"]
    return f"{_PACKAGE}@{dependencies[_PACKAGE]}"


def is_installed() -> bool:
    return (NODE_FOLDER / _SCRIPT).exists()


def run_suite(url: str, revision: str, folder: Path) -> Found:
    command = node(_SCRIPT, "server", "--url", url, "--requirements", revision, "-o", str(folder))
    done = subprocess.run(command, capture_output=True, timeout=_PATIENCE_SECONDS, check=False)
    found = _read(folder)
    if not found:
        raise RuntimeError(f"the suite found nothing at {url}:\n{done.stderr.decode()[-2000:]}")
    return found


def _read(folder: Path) -> Found:
    found: Found = {}
    for place in sorted(folder.glob("server-*")):
        match = _FOLDER.fullmatch(place.name)
        if not match:
            raise RuntimeError(f"{place.name} is not how the suite names its results")
        found |= _checks(match[1], place / "checks.json")
    return found


def _checks(scenario: str, file: Path) -> Found:
    if not file.exists():
        return {Check(scenario, "scenario-ran", "ScenarioRan", 1): Outcome(FAILED, "it left no results")}
    seen: Counter[tuple[str, str]] = Counter()
    found: Found = {}
    entries: list[dict[str, Any]] = json.loads(file.read_text("utf-8"))
    for entry in entries:
        key = entry["id"], entry["name"]
        seen[key] += 1
        found[Check(scenario, *key, seen[key])] = Outcome(entry["status"], entry.get("errorMessage") or "")
    return found
