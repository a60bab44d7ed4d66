"""Format episodes: what was told to the graph, newest first, day by day."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

from brimgate.packs.graphiti.members import (
    are_of_several_groups,
    attributes,
    group_of,
    items,
    joined,
    lines,
    note,
    plain,
    reference,
    text,
    unwrapped,
)
from brimgate.packs.pack import Scene, short_moment

_USUAL: Final = ("Episodes retrieved successfully", "No episodes found")
_KNOWN: Final = (
    "uuid", "name", "content", "created_at", "source", "source_description", "group_id", "labels",
)  # fmt: skip
_USUAL_SOURCE: Final = "text"


def recent(answer: Any, scene: Scene) -> str:
    members = unwrapped(answer, "episodes")
    episodes = items(members["episodes"])
    count = scene.total or len(episodes)
    head = f"Recent episodes ({count}):" if count else "No episodes found"
    sources = {_source(episode) for episode in episodes}
    shared = f"source: {next(iter(sources))}" if len(sources) == 1 and "" not in sources else ""
    show = _Shown(source=not shared, group=are_of_several_groups(episodes))
    days = [_of_day(day, list(group), scene, show) for day, group in groupby(episodes, key=_day)]
    return lines("" if scene.first else head, note(members, _USUAL, "episodes"), shared, *days)


class _Shown(NamedTuple):
    """Which details differ, so that each episode shows its own."""

    source: bool
    group: bool


def _day(episode: Mapping[str, Any]) -> str:
    return short_moment(text(episode.get("created_at") or ""))[:10]


def _of_day(day: str, group: Sequence[Mapping[str, Any]], scene: Scene, show: _Shown) -> str:
    """Give a day with several episodes a line of its own. A single episode states its time itself."""
    heading = day if len(group) > 1 else ""
    return lines(heading, *(_line(one, scene, heading, show) for one in group))


def _source(episode: Mapping[str, Any]) -> str:
    kind = plain(episode.get("source") or "")
    told = (kind if kind != _USUAL_SOURCE else "", plain(episode.get("source_description") or ""))
    return ", ".join(part for part in told if part)


def _line(episode: Mapping[str, Any], scene: Scene, heading: str, show: _Shown) -> str:
    content, source = text(episode["content"] or ""), _source(episode)
    return joined(
        "-",
        _when(episode, scene, heading),
        text(episode["name"]),
        f"- {content}" if content else "",
        f"({source})" if source and show.source else "",
        attributes(episode, *_KNOWN),
        group_of(episode, if_several=show.group),
        reference(episode, scene),
    )


def _when(episode: Mapping[str, Any], scene: Scene, heading: str) -> str:
    """Return how long ago it was, or the moment; under a day's line only what that line does not say."""
    moment = text(episode.get("created_at") or "")
    said = scene.time(moment) if moment else ""
    if heading:
        said = said.removeprefix(heading).removeprefix("T")
        said = "" if said.endswith("d ago") else said
    return f"[{said}]" if said else ""
