"""Graphiti's tools, in the order its server lists them: names, parameters, answers and functions."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from brimgate.sandboxes.graphiti import changes, queries, shapes
from brimgate.sandboxes.graphiti.parameters import (
    GROUP_IDS,
    Parameter,
    flag,
    input_schema,
    optional_text,
    optional_texts,
    text,
    text_or,
    texts,
    whole,
)
from brimgate.sandboxes.graphiti.shapes import Json
from brimgate.sandboxes.graphiti.store import Store


class Tool(NamedTuple):
    name: str
    description: str
    parameters: tuple[Parameter, ...]
    answer: Json
    """The schema of its answer on success."""
    run: Callable[[Store, Json], Any]

    def definition(self) -> Json:
        schema = input_schema(self.name, self.parameters)
        return {"name": self.name, "description": self.description, "inputSchema": schema}

    @property
    def may_fail(self) -> bool:
        """Whether it may answer with an error instead; the status tool always answers with a status."""
        return self.answer is not shapes.STATUS

    @property
    def output_schema(self) -> Json:
        return shapes.or_error(self.name, self.answer) if self.may_fail else self.answer


def get_status(_store: Store, _given: Json) -> Json:
    message = "Graphiti MCP server is running and connected to sqlite database"
    return {"status": "ok", "message": message}


TOOLS: Final = (
    Tool(
        "add_memory",
        "Add an episode to memory: the main way of adding information to the graph. Returns at once; the episode is "
        "processed in the background, those of one group in order.\n\nArgs:\n    name: Name of the episode\n"
        "    episode_body: What to keep. With source='json' it must be a JSON text\n"
        "    group_id: The graph to add to (default: the server's)\n    source: 'text', 'json' or 'message'\n"
        "    reference_time: ISO 8601, when what is told happened (default: now)\n"
        "    saga: Name of the saga the episode belongs to",
        (
            text("name"),
            text("episode_body"),
            optional_text("group_id"),
            text_or("source", "text"),
            text_or("source_description", ""),
            optional_text("uuid"),
            optional_text("reference_time"),
            optional_texts("excluded_entity_types"),
            optional_text("custom_extraction_instructions"),
            optional_texts("previous_episode_uuids"),
            flag("update_communities"),
            optional_text("saga"),
            optional_text("saga_previous_episode_uuid"),
        ),
        shapes.SUCCESS,
        changes.add_memory,
    ),
    Tool(
        "search_nodes",
        "Search the graph memory for nodes (entities).\n\nArgs:\n    query: What to look for\n"
        "    group_ids: A group or groups to look in\n    max_nodes: Nodes at most (default: 10)\n"
        "    entity_types: Only nodes with one of these labels\n"
        "    center_node_uuid: Nodes close to this one come first",
        (
            text("query"),
            GROUP_IDS,
            whole("max_nodes", 10),
            optional_texts("entity_types"),
            optional_text("center_node_uuid"),
        ),
        shapes.NODES,
        queries.search_nodes,
    ),
    Tool(
        "search_memory_facts",
        "Search the graph memory for facts (edges between entities).\n\nArgs:\n    query: What to look for\n"
        "    group_ids: A group or groups to look in\n    max_facts: Facts at most (default: 10)\n"
        "    center_node_uuid: Facts about this node come first\n    edge_types: Only facts of these names\n"
        "    valid_at_after, valid_at_before, invalid_at_after, invalid_at_before: ISO 8601 bounds",
        (
            text("query"),
            GROUP_IDS,
            whole("max_facts", 10),
            optional_text("center_node_uuid"),
            optional_texts("edge_types"),
            optional_text("valid_at_after"),
            optional_text("valid_at_before"),
            optional_text("invalid_at_after"),
            optional_text("invalid_at_before"),
        ),
        shapes.FACTS,
        queries.search_facts,
    ),
    Tool(
        "delete_entity_edge",
        "Delete a fact from the graph memory.\n\nArgs:\n    uuid: The fact's UUID",
        (text("uuid"),),
        shapes.SUCCESS,
        changes.delete_entity_edge,
    ),
    Tool(
        "delete_episode",
        "Delete an episode, and the entities and facts that only it told of.\n\nArgs:\n    uuid: The episode's UUID",
        (text("uuid"),),
        shapes.SUCCESS,
        changes.delete_episode,
    ),
    Tool(
        "get_entity_edge",
        "Get a fact by its UUID.\n\nArgs:\n    uuid: The fact's UUID",
        (text("uuid"),),
        shapes.FACT,
        queries.get_entity_edge,
    ),
    Tool(
        "get_episodes",
        "Get episodes from the graph memory.\n\nArgs:\n    group_ids: A group or groups to look in\n"
        "    max_episodes: Episodes at most (default: 10)",
        (GROUP_IDS, whole("max_episodes", 10)),
        shapes.EPISODES,
        queries.get_episodes,
    ),
    Tool(
        "summarize_saga",
        "Summarize a saga: episodes that belong together, in order.\n\nArgs:\n    saga_name: As given to add_memory\n"
        "    group_id: The group the saga belongs to",
        (text("saga_name"), optional_text("group_id")),
        shapes.SAGA,
        queries.summarize_saga,
    ),
    Tool(
        "build_communities",
        "Find communities of entities and summarize each.\n\nArgs:\n    group_ids: A group or groups to look in",
        (GROUP_IDS,),
        shapes.COMMUNITIES,
        queries.build_communities,
    ),
    Tool(
        "add_triplet",
        "Add one fact: source entity, relation, target entity. Entities of the same name are reused.\n\nArgs:\n"
        "    source_node_name: Name of the source entity\n    edge_name: The relation, such as WORKS_FOR\n"
        "    fact: The relation in words\n    target_node_name: Name of the target entity",
        (
            text("source_node_name"),
            text("edge_name"),
            text("fact"),
            text("target_node_name"),
            optional_text("group_id"),
            optional_text("source_node_uuid"),
            optional_text("target_node_uuid"),
        ),
        shapes.PROVENANCE,
        changes.add_triplet,
    ),
    Tool(
        "get_episode_entities",
        "Get the entities and facts that episodes told of.\n\nArgs:\n    episode_uuids: UUIDs of the episodes",
        (texts("episode_uuids"),),
        shapes.PROVENANCE,
        queries.get_episode_entities,
    ),
    Tool(
        "clear_graph",
        "Delete all data of groups.\n\nArgs:\n    group_ids: A group or groups (default: the server's)",
        (GROUP_IDS,),
        shapes.SUCCESS,
        changes.clear_graph,
    ),
    Tool("get_status", "Get the status of the server and its database.", (), shapes.STATUS, get_status),
)
