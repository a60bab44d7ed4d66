"""The map and what stands out, written in as much room as there is before the first part of an answer."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from brimgate.engine.document import one_line
from brimgate.engine.highlights.findings import MAP_OF, STANDS_OUT, Finding, clip
from brimgate.engine.maps.credentials_scan import masked_secrets
from brimgate.engine.maps.survey import MapLine, Survey
from brimgate.engine.tokens.estimator import Estimator

_MAX_FINDINGS: Final = 28
"""In a wide answer something is always a little odd: more than this is noise, and the page needs the room."""
_IN_FULL: Final = 2
_FULL_CHARS: Final = 240
_LARGE_ROOM: Final = 1_500
"""In so many tokens the best findings are told in full before others are told at all, unless they are long."""
_MANY_ALIKE: Final = 3
_ALSO: Final = 3
_TRIES: Final = 6
_HEADINGS: Final = 10
"""Tokens for the lines above the findings and the map."""
_BRIEF_CHARS: Final = 100
_CUT_CHARS: Final = 100
_HEAVY: Final = 3.5
NOTHING: Final = "nothing stands out"


@dataclass(frozen=True, slots=True)
class Foreword:
    """What the first reply tells of the whole."""

    survey: Survey = field(default_factory=lambda: Survey(""))
    of: str = ""
    """What the map is of: `all 500 at /result`, `10,000 lines`."""
    lead: str = ""
    """With its number, it names a place of the answer."""
    note: str = ""
    """What was looked at, if not all of it."""
    secrets: Sequence[str] = ()
    """Values that are not to be repeated, whatever line they stand in."""

    def within(self, room: int, estimator: Estimator, map_share: float = 0.5) -> str:
        """Write what fits: the best findings and the heaviest lines of the map, each in its order.

        `map_share` is the share of the room that the map may take from findings; what one does not need the other gets.
        """
        has_map = map_share > 0
        lines = sorted(self.survey.lines, key=lambda one: -one.weight) if has_map else []
        findings = sorted(self.survey.findings, key=_rank) if map_share < 1 else []
        entries = [self._entry(group) for group in _alike(findings)[:_MAX_FINDINGS]]
        target = float(room)
        for _ in range(_TRIES):
            spent = estimator.table(self._title) + _HEADINGS if has_map else 0
            shown, mapped = _choose(entries, lines, target - spent, map_share, estimator)
            text = masked_secrets(self._write(shown, mapped, has_map=has_map), self.secrets)
            tokens = estimator.ceiling(text) if text else 0
            if tokens <= room:
                return text
            target *= 0.97 * room / tokens
        return ""

    def _entry(self, group: Sequence[Finding]) -> "_Entry":
        """Write findings that say the same as one, with the places of all or of the first."""
        finding, *others = group
        place = finding.label or f"{self.lead}{finding.place}"
        brief = finding.brief or clip(finding.text, _BRIEF_CHARS)
        also = ""
        if others:
            shown = ", ".join(one.label or str(one.place) for one in others[:_ALSO])
            more = f" and {len(others) - _ALSO:,} more" if len(others) > _ALSO else ""
            also = f" · also {shown}{more}"
        return _Entry(finding.place, f"{place}: {finding.text}{also}", f"{place}: {brief}{also}")

    @property
    def _title(self) -> str:
        return f"{MAP_OF}{self.of}: {self.survey.title}".removesuffix(": ")

    def _write(self, findings: Sequence[tuple[int, str]], lines: Mapping[int, str], *, has_map: bool) -> str:
        parts: list[str] = []
        if findings:
            parts.append(self._heading(len(findings)))
            parts += [text for _, text in sorted(findings, key=lambda one: one[0])]
        if has_map and (self.survey.title or lines):
            parts += [self._title, *self._map_lines(lines)]
            if not self.survey.findings and self.survey.is_thorough and not self.note:
                parts.append(NOTHING)
        return "\n".join(map(_safe, parts))

    def _heading(self, shown: int) -> str:
        """Say of how many findings these are, and that a reader must not take them for all there is."""
        found = len(_alike(self.survey.findings))
        part = f"{shown:,} of {found:,} findings; " if shown < found else ""
        return f"{STANDS_OUT}{' ' + self.note if self.note else ''} ({part}there may be others):"

    def _map_lines(self, chosen: Mapping[int, str]) -> Iterator[str]:
        """Return the chosen lines of the map in their order, each group under its heading."""
        under = ""
        for line in self.survey.lines:
            if id(line) in chosen:
                if line.under != under:
                    under = line.under
                    yield under
                yield chosen[id(line)]


def _safe(text: str) -> str:
    """Return one line that cannot be taken for a notice of ours, whatever a foreign key or value says."""
    text = one_line(text)
    return f"› {text}" if text.startswith("[brimgate") else text


class _Entry(NamedTuple):
    """A finding as it is written, in many words and in few."""

    place: int
    text: str
    brief: str


def _alike(findings: Sequence[Finding]) -> list[list[Finding]]:
    """Group findings that say the same of several places, if there are many of them; the best first."""
    groups: dict[str, list[Finding]] = {}
    for one in findings:
        groups.setdefault(one.text, []).append(one)
    found: list[list[Finding]] = []
    for group in groups.values():
        found += [group] if len(group) >= _MANY_ALIKE else [[one] for one in group]
    return sorted(found, key=lambda group: _rank(group[0]))


def _rank(finding: Finding) -> tuple[float, int]:
    return -finding.score, finding.place


def _choose(
    entries: Sequence[_Entry], lines: Sequence[MapLine], room: float, map_share: float, estimator: Estimator
) -> tuple[list[tuple[int, str]], dict[int, str]]:
    """Choose findings and lines of the map: as many as fit in few words, the best of them in full."""
    cost = estimator.table
    in_full = _IN_FULL if room >= _LARGE_ROOM else 0
    entries = [
        one._replace(brief=one.text) if at < in_full and len(one.text) < _FULL_CHARS else one
        for at, one in enumerate(entries)
    ]
    brief = [cost(one.brief) + 1 for one in entries]
    shown = _fitting(brief, room * ((1 - map_share) if lines else 1.0))
    spent = sum(brief[:shown])
    cut = [one.text if one.is_whole else _cut(one.text) for one in lines]
    map_costs = [cost(text) + 1 for text in cut]
    heavy = sum(one.weight >= _HEAVY for one in lines)
    mapped = _fitting(map_costs[:heavy], room - spent)
    spent += sum(map_costs[:mapped])
    more = _fitting(brief[shown:], room - spent)
    shown, spent = shown + more, spent + sum(brief[shown : shown + more])
    if mapped == heavy:  # what weighs little comes after all that stands out
        light = _fitting(map_costs[heavy:], room - spent)
        mapped, spent = mapped + light, spent + sum(map_costs[heavy : heavy + light])
    found: list[tuple[int, str]] = []
    for entry, least in zip(entries[:shown], brief, strict=False):
        added = cost(entry.text) + 1 - least
        is_full = spent + added <= room
        spent += added if is_full else 0
        found.append((entry.place, entry.text if is_full else entry.brief))
    told: dict[int, str] = {}
    for line, text, least in zip(lines[:mapped], cut, map_costs, strict=False):
        added = cost(line.text) + 1 - least if text != line.text else 0
        is_full = spent + added <= room
        spent += added if is_full else 0
        told[id(line)] = line.text if is_full else text
    return found, told


def _cut(text: str) -> str:
    """Return the beginning of a long line of the map, up to the end of what it lists."""
    if len(text) <= _CUT_CHARS:
        return text
    end = text.rfind(", ", _CUT_CHARS // 2, _CUT_CHARS)
    return f"{text[:end]}, …" if end > 0 else f"{text[:_CUT_CHARS]}…"


def _fitting(costs: Sequence[int], room: float) -> int:
    """Return how many of the first fit."""
    spent = 0
    for count, cost in enumerate(costs):
        spent += cost
        if spent > room:
            return count
    return len(costs)
