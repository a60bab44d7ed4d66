"""The official conformance suite, run against an address; what it found, check by check."""

import json
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.conformance.fixtures import npm_version
from tests.world import NODE_FOLDER, node

MODERN: Final = "2026-07-28"
ERAS: Final = ("2025-06-18", "2025-11-25", MODERN)
"""Revisions of the protocol. Those before 2026-07-28 begin with `initialize`."""
PASSED: Final = "SUCCESS"
FAILED: Final = "FAILURE"
_PACKAGE: Final = "@modelcontextprotocol/conformance"
_SCRIPT: Final = f"node_modules/{_PACKAGE}/dist/index.js"
_FOLDER: Final = re.compile(r"server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z")
_PATIENCE_SECONDS: Final = 600
_CLOCK: Final = re.compile("timed? ?out", re.IGNORECASE)
_SKILLS: Final = ("sep-2640-skills-directory", "sep-2640-skills-enumeration", "sep-2640-skills-manifest")
"""Scenarios of an extension that no set of requirements has; they are run one by one."""


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
    return f"{_PACKAGE}@{npm_version(_PACKAGE)}"


def is_installed() -> bool:
    return (NODE_FOLDER / _SCRIPT).exists()


def run_suite(url: str, era: str, folder: Path) -> Found:
    """Runs all that the suite has for an era. A scenario whose own clock ran out gets a second chance."""
    found = _run(url, _selections(era), folder)
    for scenario in {check.scenario for check, outcome in found.items() if _ran_out(outcome)}:
        again = _run(url, [_selection(scenario, era)], folder / scenario)
        found = {check: outcome for check, outcome in found.items() if check.scenario != scenario} | again
    return found


def _ran_out(outcome: Outcome) -> bool:
    """Tells a machine that is busy (the suite waits 5 seconds for a process to start) from a server that is wrong."""
    return outcome.status == FAILED and bool(_CLOCK.search(outcome.complaint))


def _run(url: str, selections: list[list[str]], folder: Path) -> Found:
    errors = b""
    for selection in selections:
        command = node(_SCRIPT, "server", "--url", url, *selection, "-o", str(folder))
        errors += subprocess.run(command, capture_output=True, timeout=_PATIENCE_SECONDS, check=False).stderr
    found = _read(folder)
    if not found:
        raise RuntimeError(f"the suite found nothing at {url}:\n{errors.decode()[-2000:]}")
    return found


def _selection(scenario: str, era: str) -> list[str]:
    return ["--scenario", scenario, "--spec-version", era, "--force"]


def _selections(era: str) -> list[list[str]]:
    """Selects all that the suite has for an era. Only the two last have a set of their own."""
    if era == "2025-06-18":
        return [["--suite", "all", "--spec-version", era]]
    required = ["--requirements", era]
    if era != MODERN:
        return [required]
    return [required, *(_selection(scenario, era) for scenario in _SKILLS)]


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
