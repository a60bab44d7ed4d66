"""Write the samples that `brimgate measure` measures the Graphiti pack on: ten varied answers per operation."""

import json
from pathlib import Path
from typing import Any, Final

from brimgate.sandboxes.graphiti import Graph

TARGET: Final = Path(__file__).parents[1] / "src/brimgate/packs/graphiti/samples.jsonl"
_SIZE: Final[Any] = {"nodes": 1_500, "facts": 2_000, "episodes": 1_500, "seed": 41}
QUERIES: Final = (
    "team", "archive", "contract", "harbour", "kitchen", "night", "design", "office", "network", "minutes",
)  # fmt: skip


def main() -> None:
    with Graph(**_SIZE) as graph, Graph(**_SIZE, generation="0.x") as earlier:
        lines = [_line(earlier, *call) for call in _earlier_calls()]
        told = [_line(graph, *call) for call in _calls(graph)]
    # One of each in turn: ten runs take some of either generation.
    mixed = [line for pair in zip(told, lines, strict=False) for line in pair] + told[len(lines) :]
    TARGET.write_text("".join(f"{line}\n" for line in mixed), encoding="utf-8")


def _line(graph: Graph, tool: str, arguments: dict[str, Any]) -> str:
    recorded = {"tool": tool, "arguments": arguments, "answer": graph.call(tool, arguments)}
    return json.dumps(recorded, ensure_ascii=False)


def _earlier_calls() -> list[tuple[str, dict[str, Any]]]:
    """Calls that only servers before 1.0 know."""
    told: list[tuple[str, dict[str, Any]]] = []
    for run, query in enumerate(QUERIES):
        told += [
            ("search_memory_nodes", {"query": query, "max_nodes": 4 + run % 5}),
            ("get_episodes", {"last_n": 2 + run}),
        ]
    return told


def _calls(graph: Graph) -> list[tuple[str, dict[str, Any]]]:
    episodes = graph.call("get_episodes", {"max_episodes": 40})["episodes"]
    facts = graph.call("search_memory_facts", {"query": " ".join(QUERIES), "max_facts": 40})["facts"]
    told: list[tuple[str, dict[str, Any]]] = []
    for run, query in enumerate(QUERIES):
        told += [
            ("search_nodes", {"query": query, "max_nodes": 4 + run % 5}),
            ("search_memory_facts", {"query": query, "max_facts": 4 + run % 5}),
            ("get_episodes", {"max_episodes": 2 + run}),
            ("get_entity_edge", {"uuid": facts[run]["uuid"]}),
            ("get_episode_entities", {"episode_uuids": [episodes[run]["uuid"]]}),
            ("get_status", {}),
        ]
    for run, query in enumerate(QUERIES):
        told += [
            ("add_memory", {"name": f"Notes on {query}", "episode_body": f"What was said about {query}."}),
            (
                "add_triplet",
                {
                    "source_node_name": f"Plan {run}",
                    "edge_name": "COVERS",
                    "fact": f"The plan number {run} covers {query}",
                    "target_node_name": query.title(),
                },
            ),
        ]
    told += [("build_communities", {}), ("build_communities", {"group_ids": ["work"]})]
    told += [("summarize_saga", {"saga_name": name}) for name in ("Kitchen rebuild", "Search migration")]
    told += [("summarize_saga", {"saga_name": "Fjord journey", "group_id": "travel"})]
    told += [("delete_entity_edge", {"uuid": fact["uuid"]}) for fact in facts[20:30]]
    told += [("delete_episode", {"uuid": episode["uuid"]}) for episode in episodes[20:30]]
    told += [("clear_graph", {"group_ids": [group]}) for group in ("travel", "work", "main")]
    return told


if __name__ == "__main__":
    main()
