"""What the Graphiti pack says, byte for byte. After a change on purpose: UPDATE_GOLDENS=1 pytest tests/packs/test_goldens.py"""

import json
import os
from typing import Any

import pytest

from brimgate.packs.graphiti import PACK
from tests.packs.formatted import HERE, SCENES, as_document, said

INPUTS = {path.stem: path for path in sorted((HERE / "inputs").glob("*.json"))}
GOLDENS = HERE / "goldens"


def load(name: str) -> dict[str, Any]:
    return json.loads(INPUTS[name].read_text("utf-8"))


def outcome(name: str, scene: str) -> str:
    given = load(name)
    document = as_document(given["answer"])
    text, troubles = said(given["tool"], document, SCENES[scene](document, given["arguments"]))
    if text is not None:
        assert not troubles
        return text + "\n"
    if troubles:
        return f"(not used: {', '.join(trouble.error for trouble in troubles)})\n"
    return f"(a failure: {PACK.failure(given['answer'])})\n"


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("name", INPUTS)
def test_every_answer_is_worded_as_written_down(name: str, scene: str) -> None:
    golden = GOLDENS / f"{name}.{scene}.txt"
    made = outcome(name, scene).encode()
    if os.environ.get("UPDATE_GOLDENS"):
        golden.write_bytes(made)
    assert golden.exists(), f"{golden.name} is new: UPDATE_GOLDENS=1 writes it, then read it"
    assert made == golden.read_bytes()


def test_there_is_a_golden_for_every_tool_and_none_too_many() -> None:
    assert {load(name)["tool"] for name in INPUTS} == set(PACK.tools)
    assert {path.name for path in GOLDENS.iterdir()} == {
        f"{name}.{scene}.txt" for name in INPUTS for scene in SCENES
    }


def test_the_order_of_members_and_the_writing_of_json_do_not_matter() -> None:
    given = load("sample_search_nodes")
    document = as_document(given["answer"])
    spread = json.dumps(given["answer"], indent=2, sort_keys=True).encode()
    for scene in SCENES.values():
        assert (
            said(given["tool"], spread, scene(document))[0]
            == said(given["tool"], document, scene(document))[0]
        )


NODES = (
    ("Graphiti", "Framework", "Knowledge graph framework with temporal context"),
    ("FalkorDB", "Database", "Graph database backend for Graphiti"),
    ("MCP Server", "Service", "Model Context Protocol server for Graphiti"),
)
EPISODES = (
    ("2026-11-12T08:00:00+00:00", "VS Code Preferences", "development environment setup"),
    ("2026-11-15T08:00:00+00:00", "Podman Volume Syntax", "volume mounting best practices"),
    ("2026-11-14T08:00:00+00:00", "Architecture Decision", "Graphiti selection rationale"),
)
FACTS = (("Graphiti", "uses", "FalkorDB", 0.95), ("FalkorDB", "stores", "Knowledge Graph", 0.88))
EXAMPLES: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "search_nodes": (
        {"query": "Graphiti"},
        {
            "nodes": [
                {"name": name, "labels": ["Entity", label], "summary": said} for name, label, said in NODES
            ]
        },
        (
            'Found 3 entities for "Graphiti":\n'
            "1. Graphiti [Framework] - Knowledge graph framework with temporal context\n"
            "2. FalkorDB [Database] - Graph database backend for Graphiti\n"
            "3. MCP Server [Service] - Model Context Protocol server for Graphiti"
        ),
    ),
    "search_facts": (
        {"query": "Graphiti FalkorDB"},
        {
            "facts": [
                {
                    "name": name,
                    "fact": "",
                    "source_node_name": source,
                    "target_node_name": target,
                    "confidence": sure,
                }
                for source, name, target, sure in FACTS
            ]
        },
        (
            'Found 2 relationships for "Graphiti FalkorDB":\n'
            "1. Graphiti --uses--> FalkorDB (confidence: 0.95)\n"
            "2. FalkorDB --stores--> Knowledge Graph (confidence: 0.88)"
        ),
    ),
    "get_episodes": (
        {},
        {"episodes": [{"name": name, "content": said, "created_at": at} for at, name, said in EPISODES]},
        (
            "Recent episodes (3):\n"
            "- [2h ago] Podman Volume Syntax - volume mounting best practices\n"
            "- [1d ago] Architecture Decision - Graphiti selection rationale\n"
            "- [3d ago] VS Code Preferences - development environment setup"
        ),
    ),
    "get_status": (
        {},
        {"status": "ok", "entity_count": 142, "episode_count": 47, "last_updated": "2026-11-15T09:55:00Z"},
        "Knowledge Graph Status: HEALTHY\nEntities: 142 | Episodes: 47 | Last update: 5m ago",
    ),
    "add_memory": (
        {},
        {
            "message": "Episode 'New Learning' added successfully",
            "uuid": "7b2e0d3f-2222-4c7c-8d4e-0000a1b2c3d4",
        },
        '✓ Episode added: "New Learning" (id: ...a1b2c3d4)',
    ),
}
"""The examples of the brief (004, R4), by tool: arguments, answer, text. No real server names the ends of a fact."""


@pytest.mark.parametrize("tool", EXAMPLES)
def test_the_examples_of_the_brief_are_worded_as_there(tool: str) -> None:
    arguments, answer, expected = EXAMPLES[tool]
    document = as_document(answer)
    assert said(tool, document, SCENES["command_line"](document, arguments)) == (expected, [])


REQUIRED = {
    "search_nodes": ("nodes_one", ("nodes", 0, "name")),
    "search_memory_facts": ("facts_times", ("facts", 0, "fact")),
    "get_episodes": ("episodes_by_id", ("episodes", 0, "content")),
    "get_entity_edge": ("sample_get_entity_edge", ("name",)),
    "get_episode_entities": ("provenance", ("edges",)),
    "add_triplet": ("triplet", ("nodes", 0, "name")),
    "summarize_saga": ("saga", ("summary",)),
    "build_communities": ("communities", ("communities",)),
    "add_memory": ("sample_add_memory", ("message",)),
    "delete_entity_edge": ("sample_delete_entity_edge", ("message",)),
    "delete_episode": ("sample_delete_episode", ("message",)),
    "clear_graph": ("sample_clear_graph", ("message",)),
    "get_status": ("sample_get_status", ("status",)),
}


@pytest.mark.parametrize("tool", REQUIRED)
def test_a_missing_required_field_is_a_failure_with_its_operation_size_error_and_time(tool: str) -> None:
    name, path = REQUIRED[tool]
    answer = load(name)["answer"]
    home = answer
    for step in path[:-1]:
        home = home[step]
    del home[path[-1]]
    document = as_document(answer)
    text, [trouble] = said(tool, document, SCENES["command_line"](document))
    assert text is None and trouble.is_fatal
    told = trouble.fields
    assert told["operation"] == tool and told["inputBytes"] == len(document)
    assert told["error"] == f"the answer lacks '{path[-1]}'" and told["elapsedMs"] >= 0
