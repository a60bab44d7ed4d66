"""Graphiti's tools before those of today: the first of 1.0, and those of 0.4, whose answers have other shapes.

Taken from the signatures and return statements in the history of github.com/getzep/graphiti, folder mcp_server.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import Any, Final

from brimgate.sandboxes.graphiti import changes, queries
from brimgate.sandboxes.graphiti.parameters import optional_text, optional_texts, text, text_or, whole
from brimgate.sandboxes.graphiti.queries import DEFAULT_GROUP
from brimgate.sandboxes.graphiti.shapes import Json, as_earlier_episode
from brimgate.sandboxes.graphiti.store import Condition, Store
from brimgate.sandboxes.graphiti.tools import TOOLS, Tool

_TODAY: Final = {tool.name: tool for tool in TOOLS}
_GROUPS: Final = optional_texts("group_ids")
_ADDED: Final = _TODAY["add_memory"].parameters[:6]
_UNKNOWN: Final[Json] = {
    "group_ids": None, "entity_types": None, "center_node_uuid": None, "edge_types": None, "valid_at_after": None,
    "valid_at_before": None, "invalid_at_after": None, "invalid_at_before": None, "reference_time": None, "saga": None,
}  # fmt: skip
"""Parameters that came later, as they are when they are not given."""


def _earlier(name: str, *parameters: Any, run: Callable[[Store, Json], Any] | None = None) -> Tool:
    tool = _TODAY[name]
    chosen = run or tool.run

    def call(store: Store, given: Json) -> Any:
        return chosen(store, _UNKNOWN | given)

    return tool._replace(parameters=parameters, run=call)


FIRST_OF_1: Final = (
    _earlier("add_memory", *_ADDED),
    _earlier("search_nodes", text("query"), _GROUPS, whole("max_nodes", 10), optional_texts("entity_types")),
    _earlier(
        "search_memory_facts",
        text("query"),
        _GROUPS,
        whole("max_facts", 10),
        optional_text("center_node_uuid"),
    ),
    _TODAY["delete_entity_edge"],
    _TODAY["delete_episode"],
    _TODAY["get_entity_edge"],
    _earlier("get_episodes", _GROUPS, whole("max_episodes", 10)),
    _earlier("clear_graph", _GROUPS),
    _TODAY["get_status"],
)


def _add_memory(store: Store, given: Json) -> Json:
    changes.add_memory(store, given)
    return {"message": f"Episode '{given['name']}' queued for processing (position: 1)"}


def _search_nodes(store: Store, given: Json) -> Json:
    return queries.search_nodes(
        store, given | {"entity_types": [given["entity"]] if given["entity"] else None}
    )


def _get_episodes(store: Store, given: Json) -> Any:
    """Return the newest as a bare list, the oldest of them first."""
    group = given["group_id"] or DEFAULT_GROUP
    condition = Condition()
    condition.add("group_id = ?", group)
    found = store.select("episodes", condition, "created DESC, row DESC", max(0, given["last_n"]))
    if not found:
        return {"message": f"No episodes found for group {group}", "episodes": []}
    edges: defaultdict[str, list[str]] = defaultdict(list)
    for fact in store.select("facts", queries.told_by([row["uuid"] for row in found])):
        for uuid in fact["episodes"].split():
            edges[uuid].append(fact["uuid"])
    return [as_earlier_episode(row, edges[row["uuid"]]) for row in reversed(found)]


def _clear_graph(store: Store, _: Json) -> Json:
    changes.clear_all(store)
    return {"message": "Graph cleared successfully and indices rebuilt"}


BEFORE_1: Final = (
    _earlier("add_memory", *_ADDED, run=_add_memory),
    _earlier(
        "search_nodes",
        text("query"),
        _GROUPS,
        whole("max_nodes", 10),
        optional_text("center_node_uuid"),
        text_or("entity", ""),
        run=_search_nodes,
    )._replace(name="search_memory_nodes"),
    *FIRST_OF_1[2:6],
    _earlier("get_episodes", optional_text("group_id"), whole("last_n", 10), run=_get_episodes),
    _earlier("clear_graph", run=_clear_graph),
)
"""Its status is a resource, not a tool."""
