"""Graphiti, a knowledge graph for agents: its MCP server, new and old. Here are also the answers of one sentence."""

import re
from pathlib import Path
from typing import Any, Final, cast

from brimgate.packs.graphiti import episodes, facts, nodes
from brimgate.packs.members import extras, id_note, joined, lines, plain, text, unwrapped
from brimgate.packs.pack import Formatter, Pack, Scene, Tool

_REFERENCE: Final = ("uuid",)
_CENTRE: Final = ("center_node_uuid",)
_LIMITS: Final = ("max_episodes", "last_n", "limit")
"""How many episodes: of the newer servers, of those before 1.0, and of forks."""
_EPISODE: Final = "Episode '"
_QUEUED: Final = "' queued for processing "
_ADDED: Final = "' added successfully"
_IN_GROUP: Final = "in group '"
_CLEARED: Final = re.compile(r"Graph data cleared successfully for group IDs: (.*)", re.DOTALL)
_CLEARED_ALL: Final = "Graph cleared successfully and indices rebuilt"
_CONNECTED: Final = re.compile(r"Graphiti MCP server is running and connected to (\S+)(?: database)?")
_COUNTED: Final = {"Entities": ("entity", "entities", "node", "nodes"),
    "Facts": ("fact", "facts", "edge", "edges", "relationships"), "Episodes": ("episode", "episodes")}  # fmt: skip
_COUNTS: Final = {
    name: word
    for word, names in _COUNTED.items()
    for one in names
    for name in (one, f"{one}_count", f"total_{one}", f"num_{one}")
}
"""What servers call their counts, and the word for each."""
_COUNT_HOLDERS: Final = ("counts", "stats", "statistics", "graph_stats")
_UPDATES: Final = ("last_update", "last_updated", "last_updated_at")


def addition(answer: Any, scene: Scene) -> str:
    members = unwrapped(answer)
    said = _addition(text(members["message"]))
    known = next((key for key in ("uuid", "episode_uuid") if members.get(key)), "message")
    if known != "message":
        said += f" {id_note(members[known], scene)}"
    return joined(said, extras(members, "message", known))


def _addition(message: str) -> str:
    """Return `✓ Episode queued: "Notes" (main)`, whichever generation of the server says so."""
    if not message.startswith(_EPISODE):
        return message
    # No regular expression: on repetitive input one would take seconds, and nobody can stop it.
    name, queued, where = message.removeprefix(_EPISODE).rpartition(_QUEUED)
    if queued and where.startswith(_IN_GROUP) and where.endswith("'"):
        return f'✓ Episode queued: "{name}" ({where[len(_IN_GROUP) : -1]})'
    if queued and where.startswith("(position: ") and where.endswith(")"):
        return f'✓ Episode queued: "{name}" {where}'
    if message.endswith(_ADDED):
        return f'✓ Episode added: "{message[len(_EPISODE) : -len(_ADDED)]}"'
    return message


def deletion(what: str) -> Formatter:
    pattern = re.compile(rf"{what} with UUID (\S+) deleted successfully")

    def formatter(answer: Any, scene: Scene) -> str:
        members = unwrapped(answer)
        message = text(members["message"])
        found = pattern.fullmatch(message)
        said = f"✓ {what} deleted {id_note(found[1], scene)}" if found else message
        return joined(said, extras(members, "message"))

    return formatter


def clearing(answer: Any, _: Scene) -> str:
    members = unwrapped(answer)
    message = text(members["message"])
    found = _CLEARED.fullmatch(message)
    said = f"✓ Graph cleared: {found[1]}" if found else message
    said = "✓ Graph cleared, indices rebuilt" if message == _CLEARED_ALL else said
    return joined(said, extras(members, "message"))


def status(answer: Any, scene: Scene) -> str:
    members = _with_counts_at_top(unwrapped(answer))
    state, message = text(members["status"]), text(members.get("message") or "")
    healthy = state.lower() in ("ok", "healthy")
    found = _CONNECTED.fullmatch(message)
    if message and not found:
        # Its message is worth more than a title; both would be longer than the answer.
        said = f"{'HEALTHY' if healthy else state.upper()}: {message}"
    else:
        said = f"Knowledge Graph Status: {'HEALTHY' if healthy else state.upper()}"
        said += f" ({found[1]})" if found else ""
    told = {key: f"{_COUNTS[key]}: {members[key]}" for key in _COUNTS if isinstance(members.get(key), int)}
    for key in _UPDATES:
        if isinstance(members.get(key), str):
            told[key] = f"Last update: {scene.time(text(members[key]))}"
    return lines(said, " | ".join(told.values()), extras(members, "status", "message", *told))


def _with_counts_at_top(members: dict[str, Any]) -> dict[str, Any]:
    """Move counts that stand in an object of their own beside the status, unless that would hide a member."""
    for holder in _COUNT_HOLDERS:
        inner: Any = members.get(holder)
        if isinstance(inner, dict) and not members.keys() & cast("dict[str, Any]", inner).keys():
            members = {name: one for name, one in members.items() if name != holder} | inner
    return members


def _search(formatter: Formatter, limit: str) -> Tool:
    order = ("query", limit, "limit")  # as in the brief: search_nodes "Graphiti" 10
    return Tool(formatter, is_search=True, reads_only=True, references=_CENTRE, order=order)


def _deletion(what: str) -> Tool:
    return Tool(deletion(what), is_destructive=True, references=_REFERENCE)


_ADDITION: Final = Tool(addition, references=("previous_episode_uuids", "saga_previous_episode_uuid"))


def failure(answer: Any) -> str:
    """Return the failure in an answer.

    Graphiti sends `{"error": …}` as a success, and reports a lost database in its status.
    """
    if not isinstance(answer, dict):
        return ""
    members = unwrapped(cast("object", answer), "items")
    if "error" in members and len(members) == 1:
        return _said(members["error"])
    return _said(members.get("message")) if members.get("status") == "error" else ""


def _said(value: Any) -> str:
    return value if isinstance(value, str) and value else plain(value or "error")


PACK: Final = Pack(
    name="graphiti",
    description="the knowledge graph of Graphiti's MCP server: nodes, facts and episodes as lines",
    tools={
        "search_nodes": _search(nodes.search, "max_nodes"),
        "search_memory_nodes": _search(nodes.search, "max_nodes"),
        "search_memory_facts": _search(facts.search, "max_facts"),
        "search_facts": _search(facts.search, "max_facts"),
        "get_entity_edge": Tool(facts.single, reads_only=True, references=_REFERENCE),
        "get_episodes": Tool(episodes.recent, reads_only=True, order=_LIMITS),
        "get_episode_entities": Tool(facts.provenance, reads_only=True, references=("episode_uuids",)),
        "add_triplet": Tool(facts.triplet, references=("source_node_uuid", "target_node_uuid")),
        "summarize_saga": Tool(nodes.saga),
        "build_communities": Tool(nodes.communities),
        "add_memory": _ADDITION,
        "add_episode": _ADDITION,
        "delete_entity_edge": _deletion("Entity edge"),
        "delete_episode": _deletion("Episode"),
        "clear_graph": Tool(clearing, is_destructive=True),
        "get_status": Tool(status, reads_only=True),
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
