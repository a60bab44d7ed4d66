"""What the generated graph is like: varied, consistent, and the same every time."""

import json
import random
import statistics
import uuid
from datetime import UTC, datetime

import pytest

from brimgate.sandboxes.graphiti import Graph
from brimgate.sandboxes.graphiti.forms import draw_uuid
from brimgate.sandboxes.graphiti.generation import DEFAULT_NOW, Rows, Size, generate
from tests.graph.asking import all_episodes


@pytest.fixture(scope="module")
def rows() -> Rows:
    return generate(Size(), seed=29, now=DEFAULT_NOW)


def test_there_are_as_many_rows_as_asked_for(rows: Rows) -> None:
    assert (len(rows.nodes), len(rows.facts), len(rows.episodes)) == (3_000, 6_000, 1_500)


@pytest.mark.parametrize(
    ("table", "column", "shortest", "longest", "median"),
    [
        ("nodes", "name", 2, 60, (15, 30)),
        ("nodes", "summary", 40, 404, (120, 180)),
        ("facts", "fact", 35, 140, (60, 80)),
        ("episodes", "content", 60, 900, (120, 200)),
        ("episodes", "name", 5, 80, (15, 40)),
    ],
)
def test_no_two_texts_are_alike_and_their_lengths_vary(
    rows: Rows, table: str, column: str, shortest: int, longest: int, median: tuple[int, int]
) -> None:
    texts = [row[column] for row in getattr(rows, table)]
    lengths = [len(text) for text in texts]
    assert len(set(texts)) == len(texts)
    assert shortest <= min(lengths) <= max(lengths) <= longest
    assert median[0] <= statistics.median(lengths) <= median[1]


@pytest.mark.parametrize(
    "size", [Size(1, 300, 200), Size(0, 5, 5), Size(5, 0, 40), Size(4, 9, 0), Size(20, 2_000, 3)]
)
def test_no_two_texts_are_alike_in_graphs_of_odd_sizes(size: Size) -> None:
    rows = generate(size, seed=3, now=DEFAULT_NOW)
    assert len(rows.nodes) == size.nodes
    assert len(rows.episodes) == size.episodes
    assert len({fact["fact"] for fact in rows.facts}) == (size.facts if size.nodes else 0)
    assert len({episode["content"] for episode in rows.episodes}) == size.episodes


def test_types_groups_and_sources_are_mixed(rows: Rows) -> None:
    labels = [node["labels"].split() for node in rows.nodes]
    assert {len(some) for some in labels} == {1, 2, 3}
    assert len({label for some in labels for label in some}) == 13
    for table in (rows.nodes, rows.facts, rows.episodes):
        groups = [row["group_id"] for row in table]
        assert set(groups) == {"main", "work", "travel"}
        assert groups.count("main") > len(groups) * 0.8
    assert {episode["source"] for episode in rows.episodes} == {"text", "json", "message"}
    assert all(json.loads(one["content"])["statements"] for one in rows.episodes if one["source"] == "json")
    assert 300 < sum(fact["invalid"] is not None for fact in rows.facts) < 1_500
    assert any(fact["expired"] is not None for fact in rows.facts)
    assert any(node["attributes"] != "{}" for node in rows.nodes)


@pytest.mark.parametrize("character", ["ü", "ø", "東", "🎉", '"', "“"])
def test_the_texts_are_not_all_ascii(rows: Rows, character: str) -> None:
    told = "".join(node["name"] + node["summary"] for node in rows.nodes)
    assert character in told
    assert any("\n" in episode["content"] for episode in rows.episodes)


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("nodes", "name"),
        ("nodes", "summary"),
        ("facts", "fact"),
        ("episodes", "name"),
        ("episodes", "content"),
    ],
)
def test_some_texts_have_several_lines(rows: Rows, table: str, column: str) -> None:
    texts = [row[column] for row in getattr(rows, table)]
    assert 5 <= sum(len(text.splitlines()) > 1 for text in texts) <= len(texts) / 2


def test_facts_hold_together(rows: Rows) -> None:
    nodes = {node["uuid"]: node for node in rows.nodes}
    episodes = {episode["uuid"]: episode for episode in rows.episodes}
    for fact in rows.facts:
        ends = nodes[fact["source_node_uuid"]], nodes[fact["target_node_uuid"]]
        tellers = [episodes[uuid] for uuid in fact["episodes"].split()]
        assert tellers
        assert {row["group_id"] for row in (*ends, *tellers)} == {fact["group_id"]}
        assert all(end["name"] in fact["fact"] for end in ends)


@pytest.mark.parametrize("table", ["nodes", "facts"])
def test_uuids_are_unlike_but_two_end_alike(rows: Rows, table: str) -> None:
    uuids = [row["uuid"] for row in getattr(rows, table)]
    assert len(set(uuids)) == len(uuids)
    assert len({one[-8:] for one in uuids}) == len(uuids) - 1
    assert all(uuid.UUID(one).version == 4 for one in uuids)


def test_uuids_are_those_of_the_standard_library() -> None:
    ours, theirs = random.Random(1), random.Random(1)
    for _ in range(100):
        assert draw_uuid(ours) == str(uuid.UUID(int=theirs.getrandbits(128), version=4))


def test_the_data_ends_at_the_moment_asked_for_and_another_seed_is_another_graph() -> None:
    now = datetime(2025, 2, 3, 4, 5, 6, tzinfo=UTC)
    everyone = ["main", "work", "travel"]
    with Graph(nodes=9, facts=9, episodes=9, now=now) as graph:
        newest = graph.call("get_episodes", {"max_episodes": 1, "group_ids": []})
        episode, *_ = all_episodes(graph, group_ids=everyone)
    assert newest == {"message": "No episodes found", "episodes": []}
    assert episode["created_at"].startswith("2025-02-03T04:05:06.")
    with Graph(nodes=9, facts=9, episodes=9, now=now, seed=30) as other:
        assert all_episodes(other, group_ids=everyone)[0] != episode
