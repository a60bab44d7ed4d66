"""The tools that change the graph, in the words of Graphiti's own server, and what is left afterwards."""

from brimgate.sandboxes.graphiti import Graph
from tests.graph.asking import all_episodes, find_facts, find_nodes


def test_an_added_episode_is_the_newest(graph: Graph) -> None:
    given = {
        "name": "Lunch",
        "episode_body": "Dumplings 餃子",
        "source": "message",
        "source_description": "chat",
    }
    answer = graph.call("add_memory", given | {"reference_time": "2026-01-01"})
    assert answer == {"message": "Episode 'Lunch' queued for processing in group 'main'"}
    episode, *_ = all_episodes(graph)
    assert episode["content"] == "Dumplings 餃子"
    assert (episode["source"], episode["source_description"]) == ("message", "chat")
    graph.call("add_memory", {"name": "Next", "episode_body": "x", "uuid": "u-1", "group_id": "work"})
    episode, *_ = all_episodes(graph, group_ids="work")
    assert (episode["uuid"], episode["source"]) == ("u-1", "text")


def test_an_added_triplet_is_found_and_reuses_nodes_of_its_names(graph: Graph) -> None:
    known = next(node for node in find_nodes(graph) if node["name"].isascii())
    given = {"source_node_name": known["name"].upper(), "edge_name": "LIKES", "target_node_name": "Zeppelin"}
    answer = graph.call("add_triplet", given | {"fact": "It likes the zeppelin"})
    assert answer["message"] == f"Triplet '{known['name'].upper()} -[LIKES]-> Zeppelin' added"
    source, target = answer["nodes"]
    (edge,) = answer["edges"]
    assert source == known
    assert target["labels"] == ["Entity"]
    assert (edge["source_node_uuid"], edge["target_node_uuid"]) == (source["uuid"], target["uuid"])
    [fact] = find_facts(graph, "zeppelin")
    assert fact["fact"] == edge["fact"] and edge.keys() < fact.keys()
    again = graph.call("add_triplet", given | {"fact": "Still", "source_node_uuid": known["uuid"]})
    assert again["nodes"] == answer["nodes"]
    assert find_nodes(graph, "zeppelin") == [target]


def test_sagas_are_summarized(graph: Graph) -> None:
    answer = graph.call("summarize_saga", {"saga_name": "Kitchen rebuild"})
    assert list(answer) == ["message", "uuid", "name", "summary"]
    assert answer["message"] == "Saga 'Kitchen rebuild' summarized successfully"
    assert len(answer["summary"]) > 200
    unknown = graph.call("summarize_saga", {"saga_name": "Odyssey"})
    assert unknown == {"error": "No saga named 'Odyssey' found in group 'main'"}
    graph.call("add_memory", {"name": "Ithaca", "episode_body": "We left.", "saga": "Odyssey"})
    assert "Ithaca" in graph.call("summarize_saga", {"saga_name": "Odyssey"})["summary"]
    assert graph.call("summarize_saga", {"saga_name": "Fjord journey", "group_id": "travel"})["uuid"]


def test_a_deleted_fact_is_gone(graph: Graph) -> None:
    uuid = find_facts(graph)[0]["uuid"]
    answer = graph.call("delete_entity_edge", {"uuid": uuid})
    assert answer == {"message": f"Entity edge with UUID {uuid} deleted successfully"}
    assert uuid not in [fact["uuid"] for fact in find_facts(graph)]
    assert "error" in graph.call("delete_entity_edge", {"uuid": uuid})


def test_with_an_episode_go_the_facts_that_only_it_told(graph: Graph) -> None:
    told = next(fact for fact in find_facts(graph) if len(fact["episodes"]) > 1)
    uuid, other = told["episodes"]
    edges = graph.call("get_episode_entities", {"episode_uuids": [uuid]})["edges"]
    before = [graph.call("get_entity_edge", {"uuid": edge["uuid"]}) for edge in edges]
    answer = graph.call("delete_episode", {"uuid": uuid})
    assert answer == {"message": f"Episode with UUID {uuid} deleted successfully"}
    assert graph.call("get_entity_edge", {"uuid": told["uuid"]})["episodes"] == [other]
    for fact in before:
        kept = "error" not in graph.call("get_entity_edge", {"uuid": fact["uuid"]})
        assert kept == (len(fact["episodes"]) > 1)
    assert "error" in graph.call("delete_episode", {"uuid": uuid})


def test_a_cleared_group_is_empty_and_others_are_not(graph: Graph) -> None:
    find_facts(graph)  # the index is there, and must follow
    answer = graph.call("clear_graph", {"group_ids": ["main", "work"]})
    assert answer == {"message": "Graph data cleared successfully for group IDs: main, work"}
    assert not find_facts(graph, group_ids=["main", "work"])
    assert not find_nodes(graph)
    assert find_nodes(graph, group_ids="travel")
