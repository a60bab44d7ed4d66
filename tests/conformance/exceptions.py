"""The checks that are not as one would wish, with their reasons: `exceptions.toml`."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from tests.conformance.suite import Check

_FILE: Final = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True, slots=True)
class Known:
    """An entry of the file: which checks it is about, by wildcards, and why."""

    reason: str
    fixture: str = "*"
    scenario: str = "*"
    check: str = "*"
    upstream: str = "*"

    def matches(self, fixture: str, upstream: str, check: Check) -> bool:
        given = (fixture, upstream, check.scenario, check.id)
        known = (self.fixture, self.upstream, self.scenario, self.check)
        return all(map(fnmatchcase, given, known))


class Exceptions:
    """Entries of one kind, and which of them were needed."""

    def __init__(self, entries: Iterable[Known]) -> None:
        self._entries = tuple(entries)
        self._needed: set[Known] = set()

    def reason(self, fixture: str, upstream: str, check: Check) -> str:
        """Says why a check is as it is; nothing if the file does not know it."""
        for entry in self._entries:
            if entry.matches(fixture, upstream, check):
                self._needed.add(entry)
                return entry.reason
        return ""

    def unneeded(self) -> list[Known]:
        return [entry for entry in self._entries if entry not in self._needed]


def read_exceptions() -> tuple[Exceptions, Exceptions]:
    """Reads what fixtures fail by themselves, and what is different through Brimgate."""
    file = tomllib.loads(_FILE.read_text("utf-8"))
    failures, differences = (
        Exceptions(Known(**entry) for entry in file[kind]) for kind in ("failure", "difference")
    )
    return failures, differences
