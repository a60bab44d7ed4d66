"""Searches that find nearly everything in a graph: most texts have one of these words."""

from typing import Any

from brimgate.sandboxes.graphiti import Graph

Json = dict[str, Any]


def find_facts(graph: Graph, query: str = "uses in on because", **given: Any) -> list[Json]:
    return graph.call("search_memory_facts", {"query": query, "max_facts": 1_000} | given)["facts"]


def find_nodes(graph: Graph, query: str = "is it in was", **given: Any) -> list[Json]:
    return graph.call("search_nodes", {"query": query, "max_nodes": 1_000} | given)["nodes"]
