"""The parts of a pack. One folder per system; its other files are found by their names."""

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from brimgate.engine.maps.survey import Detector

_MINUTE: Final = 60
_HOUR: Final = 3_600
_DAY: Final = 86_400
_RELATIVE_DAYS: Final = 30
"""For anything older a date says more."""
RULES_FILE: Final = "rules.yaml"
API_FILE: Final = "api.yaml"
SAMPLES_FILE: Final = "samples.jsonl"
USUAL_TARGET: Final = 25
SEARCH_TARGET: Final = 30
"""Percent that a formatter should save against minified JSON (W-R3)."""


_BREAK: Final = re.compile(
    r"\\(?=[\\nru\n\r\v\f\x1c-\x1e\x85\u2028\u2029])|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]"
)
"""All that ends a line somewhere, and every backslash that would read as one of our own."""
_SHORT_BREAKS: Final = {"\\": r"\\", "\n": r"\n", "\r": r"\r"}


def fold(text: str) -> str:
    r"""Write a text on one line, with `\n` for a line break, as in JSON.

    A formatter gives each item a line; unfolded, a stored text could look like a line of ours.
    """
    return _BREAK.sub(lambda found: _SHORT_BREAKS.get(found[0]) or f"\\u{ord(found[0]):04x}", text)


def _as_it_is(whole: str) -> str:
    return whole


@dataclass(frozen=True, slots=True)
class Scene:
    arguments: Mapping[str, Any] = field(default_factory=lambda: {})
    """The arguments of the call; empty when reading continues."""
    now: datetime | None = None
    """Times are written relative to this. If None, they are absolute, so that the same answer gives the same bytes."""
    shorten: Callable[[str], str] = _as_it_is
    first: int = 0
    """The number of the first item, counted from 0: a page need not be the first."""
    total: int | None = None
    """The number of all items, where not all are given."""

    def id(self, whole: object) -> str:
        if not isinstance(whole, str):
            raise TypeError(f"an id is a text, not {type(whole).__name__}")
        return self.shorten(whole)

    def time(self, moment: str) -> str:
        """Return `2h ago`, or the moment itself."""
        at = parse_moment(moment)
        if self.now is None or at is None:
            return short_moment(moment)
        seconds = (self.now - at).total_seconds()
        if seconds < 0 or seconds >= _RELATIVE_DAYS * _DAY:
            return self.date(moment)
        if seconds < _HOUR:
            return f"{int(seconds // _MINUTE)}m ago"
        return f"{int(seconds // _HOUR)}h ago" if seconds < _DAY else f"{int(seconds // _DAY)}d ago"

    def date(self, moment: str) -> str:
        """Return only the day, which is enough for a person; a model gets the moment itself."""
        at = parse_moment(moment)
        return short_moment(moment) if self.now is None or at is None else at.date().isoformat()


def short_moment(moment: str) -> str:
    """Shorten a moment to its seconds: drop trailing zeros and UTC, but keep another time zone."""
    at = parse_moment(moment)
    if at is None:
        return moment
    zone = "" if at.utcoffset() == timedelta(0) else at.strftime("%z")
    # Servers stamp microseconds, which tell a reader nothing.
    plain = at.replace(tzinfo=None, microsecond=0)
    if not (plain.hour or plain.minute or plain.second):
        return plain.date().isoformat() + zone
    detail = "seconds" if plain.second else "minutes"
    return plain.isoformat(timespec=detail) + zone


def parse_moment(moment: str) -> datetime | None:
    """Parse a moment. Without a time zone it is UTC, as in Graphiti."""
    try:
        at = datetime.fromisoformat(moment)
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


Formatter = Callable[[Any, Scene], str]
"""Writes a parsed answer as short text. If it raises (for a missing field, say), only its own text is lost."""


@dataclass(frozen=True, slots=True)
class Tool:
    """What is known about one tool of a system."""

    formatter: Formatter | None = None
    is_search: bool = False
    reads_only: bool = False
    """It can be called to measure it."""
    is_destructive: bool = False
    """A call from the command line needs `--force`."""
    references: tuple[str, ...] = ()
    """Parameters that take ids, and so also printed short ids."""
    order: tuple[str, ...] = ()
    """Parameters that words without a name fill first; then the others, in the order of the schema."""

    @property
    def target_percent(self) -> int:
        return SEARCH_TARGET if self.is_search else USUAL_TARGET


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A running stand-in, and how to reach it."""

    base_url: str
    env: Mapping[str, str]
    """Address and credentials, by the names that its `api.yaml` reads them from."""
    notes: tuple[str, ...] = ()
    """What whoever tries it needs to know, such as tokens of its users. One line each."""


@dataclass(frozen=True, slots=True)
class Pack:
    name: str
    description: str
    tools: Mapping[str, Tool]
    marks: tuple[frozenset[str], ...] = ()
    """Sets of tools. A server that has all of one set is taken for this system."""
    failure: Callable[[Any], str] = field(default=lambda _: "")
    """Returns what went wrong, for an answer that the server sends as a success; empty if nothing did."""
    detectors: "tuple[Detector, ...]" = ()
    """Kinds of text that only this system sends: how each is recognised, and what the first reply tells of it."""
    folder: Path | None = None
    """Where its other files are.

    `rules.yaml` (rules by tool and endpoint, as in a configuration: field maps, sections, budgets), `api.yaml` (tools
    on a REST API, where the system has no MCP server) and `samples.jsonl` (answers to measure it on).
    """
    sandbox: Callable[[], AbstractContextManager["Sandbox"]] | None = None
    """A stand-in for its system that needs no account: `brimgate serve --sandbox`."""
    serving: Callable[[Mapping[str, str], str], Mapping[str, str]] = field(default=lambda _, __: {})
    """Returns defaults for `brimgate serve`, as keys and values, by the environment and a configured `base_url`.

    They apply where the pack's API is all that is served; the file, BRIMGATE_* and flags win.
    """

    def recognises(self, tools: Iterable[str]) -> bool:
        names = frozenset(tools)
        return any(mark <= names for mark in self.marks)

    def tool(self, name: str) -> Tool:
        return self.tools.get(name, _NOTHING_KNOWN)

    def file(self, name: str) -> bytes:
        """Return the content of one of its files; empty if it has none of that name."""
        path = self.folder / name if self.folder is not None else None
        return path.read_bytes() if path is not None and path.is_file() else b""


_NOTHING_KNOWN: Final = Tool()
