"""Format episodes: what was told to the graph, newest first, day by day."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, cast

from brimgate.packs.members import (
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
from brimgate.packs.pack import Scene, parse_moment, short_moment

_RETRIEVED: Final = "Episodes retrieved successfully"
_NONE: Final = re.compile(r"No episodes found(?: for group (.*))?")
_KNOWN: Final = (
    "uuid", "name", "content", "created_at", "valid_at", "source", "source_description", "group_id", "labels",
    "entity_edges",
)  # fmt: skip
_USUAL_SOURCE: Final = "text"
_USUAL_LIMIT: Final = 10
_ANY_CHOICE: Final = "(picked by id, not by time)"
_LONG_BEFORE: Final = timedelta(hours=1)
"""An episode that is told when it happens is stored within minutes."""
_BEGINNING: Final = datetime.min.replace(tzinfo=UTC)


def recent(answer: Any, scene: Scene) -> str:
    members = _as_list(unwrapped(answer, "episodes"))
    episodes = items(members["episodes"])
    message = plain(members.get("message") or "")
    usual = (_RETRIEVED, message if _NONE.fullmatch(message) and not episodes else "")
    several = are_of_several_groups(episodes)
    days = [_of_day(day, some, scene, has_group=several) for day, some in _by_day(episodes).items()]
    # In the relay, an episode alone is one of several texts of a server before 1.0: it says nothing of the others.
    is_alone = scene.now is None and "episodes" not in unwrapped(answer, "episodes")
    head = "" if is_alone else _head(episodes, message, scene)
    said = note(members, usual, "episodes")
    return lines(head, said, _shared_source(episodes), *days, _choice(episodes, scene))


def _as_list(members: dict[str, Any]) -> dict[str, Any]:
    """Return a single episode as a list of one: servers before 1.0 send a text for each, and so no list around it."""
    is_episode = "episodes" not in members and {"uuid", "content"} <= members.keys()
    return {"episodes": [members]} if is_episode else members


def _head(episodes: Sequence[Mapping[str, Any]], message: str, scene: Scene) -> str:
    if scene.first:
        return ""
    if not episodes:
        none = _NONE.fullmatch(message)
        return "No episodes found" + (f' for group "{none[1]}"' if none and none[1] else "")
    if scene.total is not None and scene.total > len(episodes):
        return f"Episodes ({scene.total}), each page newest first:"
    return f"Recent episodes ({len(episodes)}):"


def _choice(episodes: Sequence[Mapping[str, Any]], scene: Scene) -> str:
    """Say that there may be newer ones: of more than asked for, servers since 1.0 send those with the highest ids."""
    limit = scene.arguments.get("max_episodes", _USUAL_LIMIT)
    is_full = len(episodes) == limit and scene.total is None
    return _ANY_CHOICE if is_full and not any("valid_at" in one for one in episodes) else ""


def _by_day(episodes: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Sort episodes by time, the newest first, and divide them into days: no server sends them in this order."""
    days: dict[str, list[Mapping[str, Any]]] = {}
    for episode in sorted(episodes, key=_moment, reverse=True):
        days.setdefault(short_moment(_created(episode))[:10], []).append(episode)
    return days


def _moment(episode: Mapping[str, Any]) -> datetime:
    return parse_moment(_created(episode)) or _BEGINNING


def _created(episode: Mapping[str, Any]) -> str:
    return text(episode.get("created_at") or episode.get("valid_at") or "")


def _of_day(day: str, some: Sequence[Mapping[str, Any]], scene: Scene, *, has_group: bool) -> str:
    """Give a day with several episodes a line of its own. A single episode states its time itself."""
    heading = day if len(some) > 1 else ""
    return lines(heading, *(_line(one, scene, heading, has_group=has_group) for one in some))


def _shared_source(episodes: Sequence[Mapping[str, Any]]) -> str:
    """Return where all of them come from. Sources that differ are metadata, which the brief leaves out of lines."""
    sources = {_source(episode) for episode in episodes}
    is_shared = len(sources) == 1 < len(episodes) and "" not in sources
    return f"source: {next(iter(sources))}" if is_shared else ""


def _source(episode: Mapping[str, Any]) -> str:
    kind = plain(episode.get("source") or "")
    told = (kind if kind != _USUAL_SOURCE else "", plain(episode.get("source_description") or ""))
    return ", ".join(part for part in told if part)


def _line(episode: Mapping[str, Any], scene: Scene, heading: str, *, has_group: bool) -> str:
    content = text(episode["content"] or "")
    return joined(
        "-",
        _when(episode, scene, heading),
        text(episode["name"]),
        f"- {content}" if content else "",
        _of_earlier(episode, scene),
        _fact_count(episode),
        attributes(episode, *_KNOWN),
        group_of(episode, if_several=has_group),
        reference(episode, scene),
    )


def _when(episode: Mapping[str, Any], scene: Scene, heading: str) -> str:
    """Return how long ago it was, or the moment; under a day's line only what that line does not say."""
    moment = _created(episode)
    said = scene.time(moment) if moment else ""
    if heading:
        said = said.removeprefix(heading).removeprefix("T")
        said = "" if said.endswith("d ago") else said
    return f"[{said}]" if said else ""


def _of_earlier(episode: Mapping[str, Any], scene: Scene) -> str:
    """Return when it happened, if that was long before it was stored."""
    happened = text(episode.get("valid_at") or "")
    at = parse_moment(happened)
    is_usual = at is None or abs(_moment(episode) - at) < _LONG_BEFORE
    return "" if is_usual else f"(of {scene.date(happened)})"


def _fact_count(episode: Mapping[str, Any]) -> str:
    """Return how many facts it led to: servers before 1.0 list the id of each."""
    edges: Any = episode.get("entity_edges") or []
    if not isinstance(edges, list):
        raise TypeError(f"expected a list, not {type(edges).__name__}")
    count = len(cast("list[object]", edges))
    return f"({count} fact{'s' if count > 1 else ''})" if count else ""
