"""Format facts: relations between two entities, each with the time it holds for."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from brimgate.packs.graphiti import nodes as entities
from brimgate.packs.members import (
    are_of_several_groups,
    attributes,
    found,
    group_of,
    items,
    joined,
    lines,
    note,
    numbered,
    plain,
    reference,
    text,
    unwrapped,
)
from brimgate.packs.pack import Scene, fold, short_moment

_USUAL: Final = ("Facts retrieved successfully", "No relevant facts found")
_PROVENANCE: Final = re.compile(r"Retrieved provenance for \d+ episode(?:s|\(s\))?")
_ADDED: Final = re.compile(r"Triplet '.*' added", re.DOTALL)
_ENDS: Final = (("source_node_uuid", "source_node_name"), ("target_node_uuid", "target_node_name"))
_SCORES: Final = ("confidence", "score")
_KNOWN: Final = (
    "uuid", "group_id", "source_node_uuid", "target_node_uuid", "source_node_name", "target_node_name",
    "created_at", "name", "fact", "episodes", "expired_at", "valid_at", "invalid_at", "reference_time",
)  # fmt: skip

Names = Mapping[str, str]
"""The names of entities, by id."""


def search(answer: Any, scene: Scene) -> str:
    members = unwrapped(answer, "facts")
    facts = items(members["facts"])
    head = "" if scene.first else found(scene.total or len(facts), "relationship", "relationships", scene)
    return lines(head, note(members, _USUAL, "facts"), numbered(_each(facts, scene, {}), scene))


def _each(facts: Sequence[Mapping[str, Any]], scene: Scene, names: Names) -> list[str]:
    several = are_of_several_groups(facts)
    return [_line(fact, scene, names, has_group=several) for fact in facts]


def _line(fact: Mapping[str, Any], scene: Scene, names: Names, *, has_group: bool) -> str:
    return joined(
        _statement(fact, names),
        _validity(fact, scene.date),
        _confidence(fact),
        attributes(fact, *_KNOWN, _score(fact)),
        group_of(fact, if_several=has_group),
        reference(fact, scene),
    )


def _statement(fact: Mapping[str, Any], names: Names) -> str:
    """Return `Graphiti --USES--> FalkorDB: …` where the ends have names; an id says nothing to a reader."""
    relation, said = text(fact["name"]), text(fact["fact"] or "")
    source, target = (
        plain(fact.get(name) or "") or names.get(plain(fact.get(key) or ""), "") for key, name in _ENDS
    )
    if not source and not target:
        return joined(f"[{relation}]", said)
    return f"{source or '?'} --{relation}--> {target or '?'}" + (f": {said}" if said else "")


def _validity(fact: Mapping[str, Any], date: Callable[[str], str]) -> str:
    """Return `(2026-11-15..)`: since when, until when, and when a newer fact replaced it."""
    since, until, expired = (text(fact.get(key) or "") for key in ("valid_at", "invalid_at", "expired_at"))
    span = f"{date(since) if since else ''}..{date(until) if until else ''}" if since or until else ""
    ended = f"expired {date(expired)}" if expired else ""
    both = ", ".join(part for part in (span, ended) if part)
    return f"({both})" if both else ""


def _confidence(fact: Mapping[str, Any]) -> str:
    score = fact.get(_score(fact))
    return "" if score is None else f"(confidence: {plain(score)})"


def _score(fact: Mapping[str, Any]) -> str:
    return next((key for key in _SCORES if fact.get(key) is not None), _SCORES[0])


def single(answer: Any, scene: Scene) -> str:
    """Format all of one fact as keys and values: this is where readers look up the details of a search."""
    fact = unwrapped(answer)
    pairs = {
        "source": _ids(fact.get("source_node_uuid"), scene),
        "target": _ids(fact.get("target_node_uuid"), scene),
        "episodes": _ids(fact.get("episodes"), scene),
        "created": scene.time(text(fact["created_at"])) if fact.get("created_at") else "",
        "reference time": scene.time(text(fact["reference_time"])) if fact.get("reference_time") else "",
        "group": plain(fact.get("group_id") or ""),
        "id": _ids(fact.get("uuid"), scene),
    }
    return lines(
        joined(_statement(fact, {}), _validity(fact, short_moment), _confidence(fact)),
        " | ".join(f"{name}: {value}" for name, value in pairs.items() if value),
        attributes(fact, *_KNOWN, _score(fact)),
    )


def _ids(value: object, scene: Scene) -> str:
    several = cast("list[object]", value) if isinstance(value, list) else [value] if value else []
    return ", ".join(fold(scene.id(one)) for one in several)


def provenance(answer: Any, scene: Scene) -> str:
    """Format entities and facts together: here the names of both ends are known."""
    return lines(*_both(unwrapped(answer), scene, _PROVENANCE))


def triplet(answer: Any, scene: Scene) -> str:
    members = unwrapped(answer)
    added = _ADDED.fullmatch(plain(members.get("message") or ""))
    return lines("✓ Triplet added:" if added else "", *_both(members, scene, _ADDED))


def _both(members: Mapping[str, Any], scene: Scene, usual: re.Pattern[str]) -> tuple[str, ...]:
    nodes, facts = items(members["nodes"]), items(members["edges"])
    names = {plain(node.get("uuid") or ""): text(node["name"]) for node in nodes}
    message = plain(members.get("message") or "")
    return (
        note(members, (message,) if usual.fullmatch(message) else (), "nodes", "edges"),
        *_counted("entity", "entities", entities.each(nodes, scene), scene),
        *_counted("relationship", "relationships", _each(facts, scene, names), scene),
    )


def _counted(one: str, many: str, each: Sequence[str], scene: Scene) -> tuple[str, str]:
    """Add counts. On a page only one of the two lists continues, and it is unknown which: then neither is counted."""
    if not each:
        return f"No {many}", ""
    if scene.total is not None:
        return f"{many.capitalize()}:", "\n".join(f"- {line}" for line in each)
    return f"{len(each)} {one if len(each) == 1 else many}:", numbered(each, scene)
