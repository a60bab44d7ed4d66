"""Format entities and similar things: communities and sagas."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from brimgate.packs.members import (
    are_of_several_groups,
    attributes,
    found,
    group_of,
    items,
    joined,
    labels,
    lines,
    note,
    numbered,
    reference,
    text,
    unwrapped,
)
from brimgate.packs.pack import Scene

_USUAL: Final = ("Nodes retrieved successfully", "No relevant nodes found")
_KNOWN: Final = ("uuid", "name", "labels", "created_at", "summary", "group_id")
_EVERY_NODE: Final = "Entity"


def search(answer: Any, scene: Scene) -> str:
    members = unwrapped(answer, "nodes")
    nodes = items(members["nodes"])
    head = "" if scene.first else found(scene.total or len(nodes), "entity", "entities", scene)
    return lines(head, note(members, _USUAL, "nodes"), numbered(each(nodes, scene), scene))


def each(nodes: Sequence[Mapping[str, Any]], scene: Scene) -> list[str]:
    several = are_of_several_groups(nodes)
    return [joined(_line(node, has_group=several), reference(node, scene)) for node in nodes]


def _line(node: Mapping[str, Any], *, has_group: bool) -> str:
    summary = text(node["summary"] or "")
    kinds = [label for label in labels(node) if label != _EVERY_NODE]
    return joined(
        text(node["name"]),
        f"[{', '.join(kinds)}]" if kinds else "",
        f"- {summary}" if summary else "",
        attributes(node, *_KNOWN),
        group_of(node, if_several=has_group),
    )


def communities(answer: Any, scene: Scene) -> str:
    members = unwrapped(answer)
    count, edges = members["community_count"], members["edge_count"]
    built = items(members["communities"])
    head = f"Built {count} communities ({edges} edges)" + (":" if built else "")
    known = ("communities", "community_count", "edge_count")
    said = note(members, (f"Built {count} communities",), *known)
    several = are_of_several_groups(built)
    # Without ids: no tool takes one.
    told = [_line(community, has_group=several) for community in built]
    return lines("" if scene.first else head, said, numbered(told, scene))


def saga(answer: Any, _: Scene) -> str:
    """Format a saga without its id: it is requested by its name."""
    members = unwrapped(answer)
    name, summary = text(members["name"]), text(members["summary"] or "")
    usual = (f"Saga '{name}' summarized successfully",)
    return lines(joined(f"{name}:", summary), note(members, usual, "uuid", "name", "summary"))
