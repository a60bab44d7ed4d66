"""Searches that find nearly everything in a graph: most texts have one of these words."""

from typing import Any

from brimgate.sandboxes.graphiti import Graph

Json = dict[str, Any]


def find_facts(graph: Graph, query: str = "uses in on because", **given: Any) -> list[Json]:
    return graph.call("search_memory_facts", {"query": query, "max_facts": 1_000} | given)["facts"]


def all_episodes(graph: Graph, **given: Any) -> list[Json]:
    """All of a group, the newest first; the server has them by id."""
    found = graph.call("get_episodes", {"max_episodes": 10_000} | given)["episodes"]
    return sorted(found, key=lambda one: one["created_at"], reverse=True)


def find_nodes(graph: Graph, query: str = "is it in was", **given: Any) -> list[Json]:
    return graph.call("search_nodes", {"query": query, "max_nodes": 1_000} | given)["nodes"]
