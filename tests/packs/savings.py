"""What the Graphiti pack saves against minified JSON, on generated graphs: python -m tests.packs.savings"""

import sys
from collections import defaultdict
from collections.abc import Iterator
from statistics import mean, median
from typing import Any

from headgate.engine.tokens import Estimator
from headgate.testing.graph import Graph
from tests.packs.worded import SCENES, as_document, said

BARS = {"search_nodes": 45, "search_memory_facts": 75, "get_episodes": 30}
QUERIES = ("the", "works", "garden kitchen", "search engine", "Anna", "project plan")
FAMILIES = ("claude", "o200k")
Call = tuple[str, dict[str, Any], dict[str, Any]]


def calls(seed: int) -> Iterator[Call]:
    """Tool, arguments, answer."""
    graph = Graph(nodes=600, facts=900, episodes=300, seed=seed)
    asked: list[tuple[str, dict[str, Any]]] = []
    for query in QUERIES:
        asked += [("search_nodes", {"query": query, "max_nodes": most}) for most in (3, 10, 25)]
        asked += [("search_memory_facts", {"query": query, "max_facts": most}) for most in (3, 10, 25)]
    asked += [("get_episodes", {"max_episodes": most}) for most in (3, 10, 25)]
    facts = graph.call("search_memory_facts", {"query": "the", "max_facts": 5})["facts"]
    episodes = graph.call("get_episodes", {"max_episodes": 2})["episodes"]
    asked += [("get_entity_edge", {"uuid": fact["uuid"]}) for fact in facts]
    asked += [
        ("get_episode_entities", {"episode_uuids": fact["episodes"]}) for fact in facts if fact["episodes"]
    ]
    asked += [
        ("build_communities", {}),
        ("get_status", {}),
        ("summarize_saga", {"saga_name": "Kitchen rebuild"}),
    ]
    asked.append(("add_memory", {"name": "Docker Networking", "episode_body": "Bridges."}))
    triplet = {
        "source_node_name": "Ann",
        "edge_name": "KNOWS",
        "fact": "Ann knows Bob",
        "target_node_name": "Bob",
    }
    asked.append(("add_triplet", triplet))
    asked += [
        ("delete_entity_edge", {"uuid": facts[0]["uuid"]}),
        ("delete_episode", {"uuid": episodes[0]["uuid"]}),
    ]
    asked.append(("clear_graph", {}))
    for tool, arguments in asked:
        yield tool, arguments, graph.call(tool, arguments)


def percent(after: int, before: int) -> float:
    return 100 - 100 * after / before


def saved(call: Call, scene: str) -> dict[str, float] | None:
    """By bytes and by tokens of each family; None of an answer that is not worded."""
    tool, arguments, answer = call
    document = as_document(answer)
    text = said(tool, document, SCENES[scene](document, arguments))[0]
    if text is None:
        return None
    found = {"bytes": percent(len(text.encode()), len(document))}
    for family in FAMILIES:
        estimator = Estimator(family)
        found[family] = percent(estimator.ceiling(text), estimator.ceiling(document))
    return found


def is_judged(call: Call) -> bool:
    """Answers of up to 60 tokens are too small for a bar, and there is little to say of nothing found."""
    tool, _, answer = call
    items = next((value for value in answer.values() if isinstance(value, list)), [True])
    return (tool in BARS and bool(items)) or Estimator("claude").ceiling(as_document(answer)) > 60


def main() -> None:
    everything = [call for seed in (29, 30, 31) for call in calls(seed)]
    for scene in SCENES:
        found: defaultdict[str, list[dict[str, float]]] = defaultdict(list)
        for call in everything:
            figures = saved(call, scene) if is_judged(call) else None
            if figures:
                found[call[0]].append(figures)
        sys.stdout.write(f"\n{scene}: percent saved, mean / median / least\n")
        for tool, figures in found.items():
            cells = [
                f"{unit} {mean(values):5.1f} /{median(values):5.1f} /{min(values):5.1f}"
                for unit in ("bytes", *FAMILIES)
                for values in [[one[unit] for one in figures]]
            ]
            sys.stdout.write(f"{tool:22} bar {BARS.get(tool, 25)}  {len(figures):3} x  {'   '.join(cells)}\n")


if __name__ == "__main__":
    main()
