"""Graphiti, a knowledge graph for agents: its MCP server, new and old."""

from pathlib import Path
from typing import Any, Final, cast

from brimgate.packs.graphiti import episodes, facts, messages, nodes
from brimgate.packs.graphiti.members import plain, unwrapped
from brimgate.packs.pack import Formatter, Pack, Tool

_REFERENCE: Final = ("uuid",)
_CENTRE: Final = ("center_node_uuid",)


def _search(formatter: Formatter, limit: str) -> Tool:
    order = ("query", limit)  # as in the brief: search_nodes "Graphiti" 10
    return Tool(formatter, is_search=True, reads_only=True, references=_CENTRE, order=order)


def _deletion(what: str) -> Tool:
    return Tool(messages.deletion(what), is_destructive=True, references=_REFERENCE)


_ADDITION: Final = Tool(
    messages.addition, references=("previous_episode_uuids", "saga_previous_episode_uuid")
)


def failure(answer: Any) -> str:
    """Return the failure in an answer.

    Graphiti sends `{"error": …}` as a success, and reports a lost database in its status.
    """
    if not isinstance(answer, dict):
        return ""
    members = unwrapped(cast("object", answer), "items")
    if "error" in members and len(members) == 1:
        return plain(members["error"] or "error")
    return plain(members.get("message") or "error") if members.get("status") == "error" else ""


PACK: Final = Pack(
    name="graphiti",
    description="the knowledge graph of Graphiti's MCP server: nodes, facts and episodes as lines",
    tools={
        "search_nodes": _search(nodes.search, "max_nodes"),
        "search_memory_nodes": _search(nodes.search, "max_nodes"),
        "search_memory_facts": _search(facts.search, "max_facts"),
        "search_facts": _search(facts.search, "max_facts"),
        "get_entity_edge": Tool(facts.single, reads_only=True, references=_REFERENCE),
        "get_episodes": Tool(episodes.recent, reads_only=True, order=("max_episodes",)),
        "get_episode_entities": Tool(facts.provenance, reads_only=True, references=("episode_uuids",)),
        "add_triplet": Tool(facts.triplet, references=("source_node_uuid", "target_node_uuid")),
        "summarize_saga": Tool(nodes.saga),
        "build_communities": Tool(nodes.communities),
        "add_memory": _ADDITION,
        "add_episode": _ADDITION,
        "delete_entity_edge": _deletion("Entity edge"),
        "delete_episode": _deletion("Episode"),
        "clear_graph": Tool(messages.clearing, is_destructive=True),
        "get_status": Tool(messages.status, reads_only=True),
    },
    marks=(
        frozenset(("search_nodes", "search_memory_facts", "get_episodes")),
        frozenset(("search_memory_nodes", "search_memory_facts", "get_episodes")),
        frozenset(("search_nodes", "search_facts", "get_episodes")),
        frozenset(("search_memory_nodes", "search_facts", "get_episodes")),
    ),
    failure=failure,
    folder=Path(__file__).parent,
)
