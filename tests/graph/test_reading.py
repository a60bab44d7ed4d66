"""The tools that read, in the shapes of Graphiti's own server, and what no tool takes."""

import json
from pathlib import Path

import pytest

from brimgate.sandboxes.graphiti import BadArguments, Graph
from brimgate.sandboxes.graphiti.generation import DEFAULT_NOW, Size
from brimgate.sandboxes.graphiti.graph import DEFAULT_SEED
from brimgate.sandboxes.graphiti.search import Scan
from brimgate.sandboxes.graphiti.store import Condition, Store
from tests.conftest import SHARED
from tests.graph.asking import Json, all_episodes, find_facts, find_nodes

NODE = ["uuid", "name", "labels", "created_at", "summary", "group_id", "attributes"]
FACT = [
    "uuid", "group_id", "source_node_uuid", "target_node_uuid", "created_at", "name", "fact", "episodes",
    "expired_at", "valid_at", "invalid_at", "reference_time", "attributes",
]  # fmt: skip
EDGE = [
    "uuid", "name", "fact", "source_node_uuid", "target_node_uuid", "group_id", "created_at", "valid_at", "invalid_at",
]  # fmt: skip
EPISODE = ["uuid", "name", "content", "created_at", "source", "source_description", "group_id"]
EVERYWHERE = ["main", "work", "travel"]


def keys_of(sample: str, *path: str) -> list[str]:
    """The keys of a row in an answer of the real server."""
    file = SHARED / "samples" / "graphiti" / sample
    if not file.exists():
        pytest.skip("../shared/samples/graphiti is not here")
    told = json.loads(file.read_text())["body"]
    for key in path:
        told = told[key]
    return list(told[0] if path else told)


def test_rows_have_the_keys_of_the_real_server() -> None:
    assert keys_of("search_nodes.10.json", "nodes") == NODE
    assert keys_of("search_memory_facts.10.json", "facts") == FACT
    assert keys_of("get_entity_edge.json") == FACT
    assert keys_of("get_episodes.10.json", "episodes") == EPISODE


def test_nodes_are_found_by_their_words(graph: Graph) -> None:
    answer = graph.call("search_nodes", {"query": "kettle", "max_nodes": 3})
    assert answer["message"] == "Nodes retrieved successfully"
    assert 1 <= len(answer["nodes"]) <= 3
    for node in answer["nodes"]:
        assert list(node) == NODE
        assert "kettle" in (node["name"] + node["summary"]).lower()
        assert node["labels"][0] == "Entity"
        assert node["group_id"] == "main"
        assert node["created_at"].endswith("+00:00")


@pytest.mark.parametrize("query", ["xyzzy", "", '"* ^ xyzzy -(', "'; xyzzy --"])
def test_a_query_that_matches_nothing_finds_nothing(graph: Graph, query: str) -> None:
    assert graph.call("search_nodes", {"query": query}) == {"message": "No relevant nodes found", "nodes": []}
    none = {"message": "No relevant facts found", "facts": []}
    assert graph.call("search_memory_facts", {"query": query}) == none


def test_nodes_are_kept_to_types_groups_and_a_number(graph: Graph) -> None:
    assert len(graph.call("search_nodes", {"query": "is it in was"})["nodes"]) == 10
    people = find_nodes(graph, entity_types=["Person", "Event"])
    assert people
    assert all({"Person", "Event"} & set(node["labels"]) for node in people)
    assert {node["group_id"] for node in find_nodes(graph, group_ids="work")} == {"work"}
    assert {node["group_id"] for node in find_nodes(graph, group_ids=["work", "travel"])} == {
        "work",
        "travel",
    }
    assert {node["group_id"] for node in find_nodes(graph, group_ids=[])} == set(EVERYWHERE)


def test_what_is_near_the_centre_comes_first(graph: Graph) -> None:
    fact = find_facts(graph)[-1]
    center = fact["source_node_uuid"]
    facts = find_facts(graph, center_node_uuid=center)
    touching = [center in (one["source_node_uuid"], one["target_node_uuid"]) for one in facts]
    assert touching[0]
    assert touching == sorted(touching, reverse=True)
    nodes = [node["uuid"] for node in find_nodes(graph, center_node_uuid=center)]
    assert nodes[0] == center


def test_facts_are_found_and_kept_to_types_and_dates(graph: Graph) -> None:
    answer = graph.call("search_memory_facts", {"query": "uses works knows"})
    assert answer["message"] == "Facts retrieved successfully"
    assert len(answer["facts"]) == 10
    assert all(list(fact) == FACT and fact["created_at"].endswith("Z") for fact in answer["facts"])
    assert {fact["name"] for fact in find_facts(graph, edge_types=["USES", "KNOWS"])} <= {"USES", "KNOWS"}
    after, before = "2026-01-01T00:00:00Z", "2026-03-01"
    between = find_facts(graph, valid_at_after=after, valid_at_before=before)
    assert between
    assert all(after <= fact["valid_at"] <= before for fact in between)
    ended = find_facts(graph, invalid_at_after="2020-01-01T00:00:00+02:00")
    assert ended
    assert all(fact["invalid_at"] for fact in ended)
    assert not find_facts(graph, invalid_at_before="2020-01-01")


def test_bad_bounds_are_an_error_in_words(graph: Graph) -> None:
    for number in (0, -1):
        answer = graph.call("search_memory_facts", {"query": "x", "max_facts": number})
        assert answer == {"error": "max_facts must be a positive integer"}
    (error,) = graph.call("search_memory_facts", {"query": "x", "valid_at_after": "soon"}).values()
    assert error.startswith("Invalid date filter: ")
    (error,) = graph.call("add_memory", {"name": "x", "episode_body": "y", "reference_time": "1"}).values()
    assert error.startswith("Invalid reference_time: ")
    assert "error" in graph.call("get_episode_entities", {"episode_uuids": []})
    assert graph.call("clear_graph", {"group_ids": []}) == {"error": "No group IDs specified for clearing"}


def test_episodes_come_by_id_not_by_time(graph: Graph) -> None:
    answer = graph.call("get_episodes", {"max_episodes": 50})
    assert answer["message"] == "Episodes retrieved successfully"
    assert len(answer["episodes"]) == 50
    assert all(list(episode) == EPISODE for episode in answer["episodes"])
    uuids = [episode["uuid"] for episode in answer["episodes"]]
    assert uuids == sorted(uuids, reverse=True)
    times = [episode["created_at"] for episode in answer["episodes"]]
    assert times not in (sorted(times), sorted(times, reverse=True))
    none = {"message": "No episodes found", "episodes": []}
    assert graph.call("get_episodes", {"group_ids": "nobody"}) == none


def test_one_fact_is_got_by_its_uuid(graph: Graph) -> None:
    fact = find_facts(graph)[0]
    assert graph.call("get_entity_edge", {"uuid": fact["uuid"]}) == fact
    (error,) = graph.call("get_entity_edge", {"uuid": "nope"}).values()
    assert error == "Error getting entity edge: edge nope not found"


def test_provenance_leads_from_episodes_to_what_they_told(graph: Graph) -> None:
    fact = find_facts(graph)[0]
    answer = graph.call("get_episode_entities", {"episode_uuids": fact["episodes"]})
    assert answer["message"] == f"Retrieved provenance for {len(fact['episodes'])} episode(s)"
    assert fact["fact"] in [edge["fact"] for edge in answer["edges"]]
    assert list(answer["edges"][0]) == EDGE
    ends = {edge[end] for edge in answer["edges"] for end in ("source_node_uuid", "target_node_uuid")}
    assert {node["uuid"] for node in answer["nodes"]} == ends
    assert list(answer["nodes"][0]) == NODE


def test_communities_are_built_from_the_types(graph: Graph) -> None:
    answer = graph.call("build_communities", {})
    assert list(answer) == ["message", "community_count", "edge_count", "communities"]
    assert answer["message"] == "Built 12 communities"
    assert answer["community_count"] == len(answer["communities"]) == 12
    assert answer["edge_count"] > 200
    assert all(list(one) == ["uuid", "name", "group_id", "summary"] for one in answer["communities"])
    assert graph.call("build_communities", {}) == answer


def test_the_status_names_the_database(graph: Graph) -> None:
    message = "Graphiti MCP server is running and connected to sqlite database"
    assert graph.call("get_status") == {"status": "ok", "message": message}


def test_a_service_without_a_database_says_so_to_every_call() -> None:
    graph = Graph(initialized=False)
    assert graph.call("search_nodes", {"query": "x"}) == {"error": "Graphiti service not initialized"}
    assert graph.call("get_status") == {"status": "error", "message": "Graphiti service not initialized"}


def test_a_database_that_cannot_be_opened_is_an_error_in_words() -> None:
    assert "unable to open" in Graph(database="/nowhere/graph.db").call("get_status")["error"]


def test_a_file_that_is_no_database_is_an_error_in_words_and_is_not_kept_open(tmp_path: Path) -> None:
    (tmp_path / "graph.db").write_bytes(b"no database" * 100)
    assert "not a database" in Graph(database=tmp_path / "graph.db").call("get_status")["error"]


def test_vectors_come_where_they_are_asked_for() -> None:
    with Graph(nodes=30, facts=60, episodes=10, embeddings=True) as graph:
        facts, nodes = find_facts(graph), find_nodes(graph)
        assert graph.call("get_entity_edge", {"uuid": facts[0]["uuid"]}) == facts[0]
    assert all(len(fact["attributes"]["fact_embedding"]) == 1_536 for fact in facts)
    assert all(len(node["attributes"]["name_embedding"]) == 1_536 for node in nodes)


def test_the_first_servers_of_1_0_have_fewer_tools_and_take_only_lists_of_groups(graph: Graph) -> None:
    with Graph(nodes=300, facts=600, episodes=150, generation="1.0") as first:
        assert {*graph.tools} - {*first.tools} == {
            "summarize_saga", "build_communities", "add_triplet", "get_episode_entities",
        }  # fmt: skip
        schema = first.tools["search_nodes"].definition()["inputSchema"]["properties"]["group_ids"]
        assert [one["type"] for one in schema["anyOf"]] == ["array", "null"]
        for tool, asked in (
            ("search_nodes", {"query": "kettle"}),
            ("search_memory_facts", {"query": "kettle", "max_facts": 3}),
            ("get_episodes", {"group_ids": ["work"]}),
        ):
            assert first.call(tool, asked) == graph.call(tool, asked)
        with pytest.raises(BadArguments, match="list of strings"):
            first.call("get_episodes", {"group_ids": "work"})


def test_servers_before_1_0_have_other_names_and_shapes(graph: Graph) -> None:
    with Graph(nodes=300, facts=600, episodes=150, generation="0.x") as old:
        assert [*old.tools] == [
            "add_memory", "search_memory_nodes", "search_memory_facts", "delete_entity_edge", "delete_episode",
            "get_entity_edge", "get_episodes", "clear_graph",
        ]  # fmt: skip
        assert old.call("search_memory_nodes", {"query": "kettle"}) == graph.call(
            "search_nodes", {"query": "kettle"}
        )
        people = old.call("search_memory_nodes", {"query": "is it in was", "entity": "Person"})["nodes"]
        assert people and all("Person" in node["labels"] for node in people)
        told = old.call("get_episodes", {"last_n": 5})
        assert [*told[0]] == [
            "uuid", "name", "group_id", "labels", "created_at", "source", "source_description", "content",
            "valid_at", "entity_edges",
        ]  # fmt: skip
        newest = [episode["uuid"] for episode in all_episodes(graph)[:5]]
        assert [episode["uuid"] for episode in told] == newest[::-1], "the oldest of the newest comes first"
        assert any(episode["entity_edges"] for episode in told)
        nothing = old.call("get_episodes", {"group_id": "5"})
        assert nothing == {"message": "No episodes found for group 5", "episodes": []}
        queued = old.call("add_memory", {"name": "A", "episode_body": "b"})
        assert queued == {"message": "Episode 'A' queued for processing (position: 1)"}
        assert old.call("clear_graph", {}) == {"message": "Graph cleared successfully and indices rebuilt"}
        assert old.call("get_episodes", {"group_id": "work"})["episodes"] == []


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("search_nodes", {}, "1 validation error for search_nodesArguments\nquery\n  Field required"),
        ("search_nodes", {"query": 7}, "query\n  Input should be a valid string"),
        ("search_nodes", {"query": "x", "max_nodes": "ten"}, "max_nodes\n  Input should be a valid integer"),
        ("search_nodes", {"query": "x", "max_nodes": True}, "a valid integer"),
        ("search_nodes", {"query": "x", "max_nodes": None}, "a valid integer"),
        ("search_nodes", {"query": "x", "entity_types": [1]}, "a valid list of strings or null"),
        ("add_memory", {}, "2 validation errors for add_memoryArguments"),
        ("get_episode_entities", {"episode_uuids": "u"}, "a valid list of strings"),
        ("drop_table", {}, "Unknown tool: drop_table"),
    ],
)
def test_arguments_a_tool_cannot_take_are_refused(
    graph: Graph, tool: str, arguments: Json, said: str
) -> None:
    with pytest.raises(BadArguments) as refused:
        graph.call(tool, arguments)
    assert said in str(refused.value)


def test_what_sqlite_cannot_hold_is_an_error_in_words(graph: Graph) -> None:
    assert "error" in graph.call("add_memory", {"name": "\ud800", "episode_body": "half a character"})
    assert "error" in graph.call("search_nodes", {"query": "in", "max_nodes": 10**30})
    assert "error" in graph.call("search_nodes", {"query": "in", "entity_types": ["x"] * 3_000})
    assert graph.call("get_status")["status"] == "ok"


def test_arguments_written_as_text_are_read_as_fastmcp_reads_them(graph: Graph) -> None:
    plain = graph.call("search_nodes", {"query": "in", "group_ids": ["work"], "max_nodes": 2})
    written = {"query": "in", "group_ids": '["work"]', "max_nodes": "2", "unknown": 1}
    assert graph.call("search_nodes", written) == plain


def test_without_the_full_text_index_words_are_still_found(graph: Graph) -> None:
    indexed = [node["uuid"] for node in find_nodes(graph, "kettle", group_ids=[])]
    store = Store(":memory:", Size(300, 600, 150), DEFAULT_SEED, DEFAULT_NOW, search=Scan())
    scanned = [node["uuid"] for node in store.search("nodes", "kettle", Condition(), 1_000)]
    assert sorted(scanned) == sorted(indexed)
    best = store.search("facts", "uses zürich", Condition(), 1)[0]
    assert "USES" in best["name"] or "uses" in best["fact"] or "Zürich" in best["fact"]
    assert not store.search("facts", "xyzzy %", Condition(), 1_000)
    store.close()
