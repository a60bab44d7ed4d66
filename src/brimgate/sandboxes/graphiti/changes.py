"""The tools that change the graph: a store and arguments in, an answer out."""

from brimgate.sandboxes.graphiti.queries import DEFAULT_GROUP, Failed, groups_of, in_groups, told_by
from brimgate.sandboxes.graphiti.shapes import Json, as_edge, as_node, seconds_of
from brimgate.sandboxes.graphiti.store import Condition, Store

_SOURCES = ("text", "json", "message")
_TABLES = ("nodes", "facts", "episodes", "sagas")


def add_memory(store: Store, given: Json) -> Json:
    if given["reference_time"]:
        try:
            seconds_of(given["reference_time"])
        except ValueError as error:
            raise Failed(f"Invalid reference_time: {error}") from None
    name, group, saga = given["name"], given["group_id"] or DEFAULT_GROUP, given["saga"]
    source = given["source"].lower()
    with store.changing():
        uuid, created = store.next_addition()
        episode = {
            "uuid": given["uuid"] or uuid,
            "name": name,
            "content": given["episode_body"],
            "created": created,
            "source": source if source in _SOURCES else "text",
            "source_description": given["source_description"],
            "group_id": group,
            "saga": saga,
        }
        store.add("episodes", episode)
        if saga:
            _begin_saga(store, saga, group)
    return {"message": f"Episode '{name}' queued for processing in group '{group}'"}


def _begin_saga(store: Store, name: str, group: str) -> None:
    condition = Condition()
    condition.add("name = ? AND group_id = ?", name, group)
    if not store.select("sagas", condition):
        uuid, _ = store.next_addition()
        store.add("sagas", {"uuid": uuid, "name": name, "group_id": group})


def add_triplet(store: Store, given: Json) -> Json:
    group = given["group_id"] or DEFAULT_GROUP
    with store.changing():
        ends = [
            _resolved(store, given[f"{end}_node_name"], given[f"{end}_node_uuid"], group)
            for end in ("source", "target")
        ]
        uuid, created = store.next_addition()
        fact: Json = {
            "uuid": uuid,
            "group_id": group,
            "source_node_uuid": ends[0]["uuid"],
            "target_node_uuid": ends[1]["uuid"],
            "created": created,
            "name": given["edge_name"],
            "fact": given["fact"],
            "episodes": "",
            "expired": None,
            "valid": None,
            "invalid": None,
            "reference": None,
            "attributes": "{}",
        }
        store.add("facts", fact)
    arrow = f"{given['source_node_name']} -[{given['edge_name']}]-> {given['target_node_name']}"
    return {
        "message": f"Triplet '{arrow}' added",
        "nodes": [as_node(node) for node in ends],
        "edges": [as_edge(fact)],
    }


def _resolved(store: Store, name: str, uuid: str | None, group: str) -> Json:
    """Return the node with that uuid, or with that name in the group, or a new one."""
    if uuid and (known := store.find("nodes", uuid)):
        return known
    condition = Condition()
    condition.add("lower(name) = lower(?) AND group_id = ?", name, group)
    if not uuid and (named := store.select("nodes", condition, limit=1)):
        return named[0]
    fresh, created = store.next_addition()
    node: Json = {
        "uuid": uuid or fresh,
        "name": name,
        "labels": "Entity",
        "created": created,
        "summary": "",
        "group_id": group,
        "attributes": "{}",
    }
    store.add("nodes", node)
    return node


def delete_entity_edge(store: Store, given: Json) -> Json:
    uuid = given["uuid"]
    with store.changing():
        if not store.find("facts", uuid):
            raise Failed(f"Error deleting entity edge: edge {uuid} not found")
        store.remove("facts", _only(uuid))
    return {"message": f"Entity edge with UUID {uuid} deleted successfully"}


def delete_episode(store: Store, given: Json) -> Json:
    """Delete an episode, the facts that no other episode states, and the nodes that then have none."""
    uuid = given["uuid"]
    with store.changing():
        if not store.find("episodes", uuid):
            raise Failed(f"Error deleting episode: node {uuid} not found")
        store.remove("episodes", _only(uuid))
        for fact in store.select("facts", told_by([uuid])):
            if others := [episode for episode in fact["episodes"].split() if episode != uuid]:
                store.change("facts", fact["uuid"], "episodes", " ".join(others))
            else:
                store.remove("facts", _only(fact["uuid"]))
                _remove_lonely(store, fact["source_node_uuid"])
                _remove_lonely(store, fact["target_node_uuid"])
    return {"message": f"Episode with UUID {uuid} deleted successfully"}


def _remove_lonely(store: Store, node_uuid: str) -> None:
    condition = Condition()
    condition.add("? IN (source_node_uuid, target_node_uuid)", node_uuid)
    if not store.select("facts", condition, limit=1):
        store.remove("nodes", _only(node_uuid))


def clear_graph(store: Store, given: Json) -> Json:
    groups = groups_of(given)
    if not groups:
        raise Failed("No group IDs specified for clearing")
    with store.changing():
        for table in _TABLES:
            store.remove(table, in_groups(given))
    return {"message": f"Graph data cleared successfully for group IDs: {', '.join(groups)}"}


def clear_all(store: Store) -> None:
    with store.changing():
        for table in _TABLES:
            store.remove(table, Condition())


def _only(uuid: str) -> Condition:
    condition = Condition()
    condition.add("uuid = ?", uuid)
    return condition
