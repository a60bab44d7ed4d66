"""Write the samples that `brimgate measure` measures the Graphiti pack on: ten varied answers per operation."""

import json
from pathlib import Path
from typing import Any, Final

from brimgate.sandboxes.graphiti import Graph

TARGET: Final = Path(__file__).parents[1] / "src/brimgate/packs/graphiti/samples.jsonl"
RUNS: Final = 10
QUERIES: Final = (
    "team", "archive", "contract", "harbour", "kitchen", "night", "design", "office", "network", "minutes",
)  # fmt: skip


def main() -> None:
    graph = Graph(nodes=1_500, facts=2_000, episodes=1_500, seed=41)
    calls = list(_calls(graph))
    lines = [json.dumps({"tool": tool, "arguments": arguments, "answer": graph.call(tool, arguments)}, ensure_ascii=False)
             for tool, arguments in calls]  # fmt: skip
    TARGET.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    graph.close()


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
