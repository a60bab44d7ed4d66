"""The tools that read: a store and arguments in, an answer out."""

import random
from collections import defaultdict
from typing import Final

from brimgate.sandboxes.graphiti.forms import draw_uuid
from brimgate.sandboxes.graphiti.shapes import Json, as_edge, as_episode, as_fact, as_node, seconds_of
from brimgate.sandboxes.graphiti.store import ANYWHERE, Condition, Near, Store

DEFAULT_GROUP: Final = "main"
_MOST_COMMUNITIES: Final = 12
_AMONG: Final = "instr(' ' || {} || ' ', ' ' || ? || ' ')"
"""Matches one of the words of a column."""
_NODES_NEAR: Final = """CASE WHEN uuid = ? THEN 0 WHEN uuid IN (SELECT source_node_uuid FROM facts WHERE
    target_node_uuid = ? UNION SELECT target_node_uuid FROM facts WHERE source_node_uuid = ?) THEN 1 ELSE 2 END"""
_FACTS_NEAR: Final = "? NOT IN (source_node_uuid, target_node_uuid)"


class Failed(Exception):
    """A call that is answered with an error message."""


def groups_of(given: Json) -> list[str]:
    groups = given["group_ids"]
    if groups is None:
        return [DEFAULT_GROUP]
    return [groups] if isinstance(groups, str) else groups


def in_groups(given: Json) -> Condition:
    condition = Condition()
    condition.add_in("group_id", groups_of(given))
    return condition


def told_by(episode_uuids: list[str]) -> Condition:
    condition = Condition()
    condition.add_any(_AMONG.format("episodes"), episode_uuids)
    return condition


def search_nodes(store: Store, given: Json) -> Json:
    condition = in_groups(given)
    condition.add_any(_AMONG.format("labels"), given["entity_types"] or [])
    center = given["center_node_uuid"]
    near: Near = (_NODES_NEAR, [center] * 3) if center else ANYWHERE
    found = store.search("nodes", given["query"], condition, given["max_nodes"], near)
    message = "Nodes retrieved successfully" if found else "No relevant nodes found"
    return {"message": message, "nodes": [as_node(row) for row in found]}


def search_facts(store: Store, given: Json) -> Json:
    if given["max_facts"] <= 0:
        raise Failed("max_facts must be a positive integer")
    condition = in_groups(given)
    condition.add_in("name", given["edge_types"] or [])
    for column in ("valid", "invalid"):
        for suffix, relation in (("after", ">="), ("before", "<=")):
            if moment := given[f"{column}_at_{suffix}"]:
                condition.add(f"{column} {relation} ?", _date(moment))
    center = given["center_node_uuid"]
    near: Near = (_FACTS_NEAR, [center]) if center else ANYWHERE
    found = store.search("facts", given["query"], condition, given["max_facts"], near)
    message = "Facts retrieved successfully" if found else "No relevant facts found"
    return {"message": message, "facts": [as_fact(row) for row in found]}


def _date(moment: str) -> int:
    try:
        return seconds_of(moment)
    except ValueError as error:
        raise Failed(f"Invalid date filter: {error}") from None


def get_entity_edge(store: Store, given: Json) -> Json:
    row = store.find("facts", given["uuid"])
    if not row:
        raise Failed(f"Error getting entity edge: edge {given['uuid']} not found")
    return as_fact(row)


def get_episodes(store: Store, given: Json) -> Json:
    most = max(0, given["max_episodes"]) if groups_of(given) else 0
    # By id, as the server does: its own comment says "most recent", its query does not.
    found = store.select("episodes", in_groups(given), "uuid DESC", most)
    message = "Episodes retrieved successfully" if found else "No episodes found"
    return {"message": message, "episodes": [as_episode(row) for row in found]}


def get_episode_entities(store: Store, given: Json) -> Json:
    uuids = given["episode_uuids"]
    if not uuids:
        raise Failed("episode_uuids must contain at least one UUID")
    facts = store.select("facts", told_by(uuids))
    ends = {fact[end] for fact in facts for end in ("source_node_uuid", "target_node_uuid")}
    named = Condition()
    named.add_in("uuid", sorted(ends))
    return {
        "message": f"Retrieved provenance for {len(uuids)} episode(s)",
        "nodes": [as_node(row) for row in store.select("nodes", named)] if ends else [],
        "edges": [as_edge(row) for row in facts],
    }


def summarize_saga(store: Store, given: Json) -> Json:
    name, group = given["saga_name"], given["group_id"] or DEFAULT_GROUP
    condition = Condition()
    condition.add("name = ? AND group_id = ?", name, group)
    sagas = store.select("sagas", condition)
    if not sagas:
        raise Failed(f"No saga named '{name}' found in group '{group}'")
    told = Condition()
    told.add("saga = ? AND group_id = ?", name, group)
    episodes = store.select("episodes", told, "created, row")
    return {
        "message": f"Saga '{name}' summarized successfully",
        "uuid": sagas[0]["uuid"],
        "name": name,
        "summary": _summary(episodes),
    }


def _summary(episodes: list[Json]) -> str:
    if not episodes:
        return "Nothing has happened yet."
    first, last = episodes[0], episodes[-1]
    between = ", ".join(f"“{episode['name']}”" for episode in episodes[1:-1][:2])
    middle = f" It went on with {between}." if between else ""
    count = f"{len(episodes)} episode{'s' if len(episodes) > 1 else ''}"
    return f"{count}. It began with “{first['name']}”.{middle} By now: {last['content'][:120]}"


def build_communities(store: Store, given: Json) -> Json:
    members: defaultdict[tuple[str, str], list[Json]] = defaultdict(list)
    for node in store.select("nodes", in_groups(given)):
        if len(labels := node["labels"].split()) > 1:
            members[node["group_id"], labels[1]].append(node)
    largest = sorted(members.items(), key=lambda item: (-len(item[1]), item[0]))[:_MOST_COMMUNITIES]
    return {
        "message": f"Built {len(largest)} communities",
        "community_count": len(largest),
        "edge_count": sum(len(nodes) for _, nodes in largest),
        "communities": [_community(group, label, nodes) for (group, label), nodes in largest],
    }


def _community(group: str, label: str, nodes: list[Json]) -> Json:
    chance = random.Random(f"{group}/{label}")  # noqa: S311  # made-up data, not secrets
    some = ", ".join(node["name"] for node in nodes[-2:])
    about = nodes[-1]["summary"].partition(". ")[0]
    return {
        "uuid": draw_uuid(chance),
        "name": f"{label}: {nodes[-1]['name']} and others",
        "group_id": group,
        "summary": f"{len(nodes)} entities of the type {label}, among them {some}. {about}",
    }
