"""Wording through the whole engine: pages of a long answer, the way to all of it, and what a failing pack leaves."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from brimgate.engine import jsontext
from brimgate.engine.cursor import Binding, KeyRing
from brimgate.engine.policy import Policy
from brimgate.engine.query import Query, parse_query
from brimgate.engine.replies.formatted import VIEW, AnswerFormat
from brimgate.engine.replies.reply import Reply
from brimgate.hold.protection import Protection
from brimgate.hold.stores.memory import MemoryStore
from brimgate.packs.formatter import Trouble, format_document
from brimgate.packs.graphiti import PACK
from brimgate.packs.pack import Scene
from brimgate.sandboxes.graphiti import Graph
from tests.engine.holding import KEY, NOW, policy, rebuilt
from tests.packs.formatted import PATIENT, as_document

QUESTION = {"query": "the"}
_NUMBERED = re.compile(r"^(\d+)\. .*#([0-9a-f-]{36})$", re.MULTILINE)
_ID = re.compile(r"#([0-9a-f-]{36})$", re.MULTILINE)


@pytest.fixture(scope="module")
def graph() -> Iterator[Graph]:
    with Graph(nodes=700, facts=900, episodes=400) as made:
        yield made


def nodes(count: int) -> dict[str, Any]:
    items = [
        {
            "uuid": f"550e8400-e29b-41d4-a716-{number:012x}",
            "name": f"Entity {number}",
            "labels": ["Entity", "Topic"],
            "created_at": "2026-11-14T09:01:00+00:00",
            "summary": f"Number {number} is about something else. " * (1 + number % 7),
            "group_id": "main",
            "attributes": {},
        }
        for number in range(count)
    ]
    return {"message": "Nodes retrieved successfully", "nodes": items}


@dataclass
class Spoken:
    """An answer behind the gate, in the words of the pack."""

    tool: str
    answer: Any
    policy: Policy = field(default_factory=lambda: policy(2_000, compact="always"))
    answer_format: AnswerFormat | None = None
    troubles: list[Trouble] = field(default_factory=lambda: [])

    def __post_init__(self) -> None:
        self.protection = Protection(self.policy, KeyRing(KEY), MemoryStore())
        self.binding = Binding("ann", "kb", self.tool)
        self.document = as_document(self.answer)
        self.words = self.answer_format or self.say

    def say(self, document: bytes, first: int, total: int | None, size: int) -> str | None:
        scene = Scene({"query": "x"}, first=first, total=total)
        return format_document(PACK, self.tool, document, scene, self.troubles.append, PATIENT, size)

    def opening(self) -> Reply:
        reply = self.protection.protect(self.document, self.binding, NOW, self.words)
        assert reply is not None
        return reply

    def read(self, cursor: str, words: AnswerFormat | None, **arguments: object) -> Reply:
        request = parse_query(**arguments)  # type: ignore[arg-type]
        return self.protection.read(cursor, self.binding, request, NOW, words)

    def pages(self) -> list[Reply]:
        replies = [self.opening()]
        while cursor := replies[-1].record.get("nextCursor"):
            replies.append(self.protection.read(cursor, self.binding, Query(), NOW, self.words))
            assert len(replies) < 200
        return replies

    def walk(self, cursor: str) -> list[Reply]:
        """All that the cursor of the details leads to."""
        replies: list[Reply] = []
        following: str | None = cursor
        while following:
            replies.append(self.protection.read(following, self.binding, Query(), NOW))
            following = replies[-1].record.get("nextCursor")
            assert len(replies) < 500
        return replies


def shown_ids(replies: list[Reply]) -> list[str]:
    return [one for reply in replies for one in _ID.findall(reply.content)]


def test_500_entities_come_page_by_page_each_once_and_in_order() -> None:
    spoken = Spoken("search_nodes", nodes(500))
    replies = spoken.pages()
    assert len(replies) > 5
    found = [pair for reply in replies for pair in _NUMBERED.findall(reply.content)]
    assert found == [(str(at + 1), item["uuid"]) for at, item in enumerate(spoken.answer["nodes"])]
    assert spoken.troubles == []


def test_the_header_tells_the_true_total_and_stands_on_the_first_page_only() -> None:
    replies = Spoken("search_nodes", nodes(500)).pages()
    assert replies[0].content.startswith('Found 500 entities for "x":\n1. Entity 0 ')
    assert not any("Found" in reply.content for reply in replies[1:])
    assert {reply.record["total"]["items"] for reply in replies} == {500}
    assert sum(reply.record["shown"]["items"] for reply in replies) == 500
    assert all(reply.record["derived"] and reply.record["format"] == VIEW for reply in replies)


@pytest.mark.parametrize("budget", [700, 1_500, 4_000])
@pytest.mark.parametrize("family", ["o200k", "claude"])
@pytest.mark.parametrize(
    ("tool", "key", "arguments"),
    [
        ("search_nodes", "nodes", QUESTION | {"max_nodes": 150}),
        ("search_memory_facts", "facts", QUESTION | {"max_facts": 200}),
        ("get_episodes", "episodes", {"max_episodes": 150}),
    ],
)
def test_pages_of_a_graph_are_complete_disjoint_and_within_the_budget(
    graph: Graph, tool: str, key: str, arguments: dict[str, Any], family: str, budget: int
) -> None:
    answer = graph.call(tool, arguments)
    spoken = Spoken(tool, answer, policy(budget, family))
    replies = spoken.pages()
    estimator = spoken.policy.estimator
    assert max(estimator.ceiling(reply.text) for reply in replies) <= budget
    formatted = [reply for reply in replies if reply.record["format"] == VIEW]
    assert formatted
    starts = [reply.record["shown"]["from"] for reply in replies]
    counts = [reply.record["shown"]["items"] for reply in replies]
    assert starts == [sum(counts[:at]) for at in range(len(counts))]
    assert sum(counts) == len(answer[key])
    ids = [item["uuid"] for item in answer[key]]
    for reply in formatted:
        at, count = reply.record["shown"]["from"], reply.record["shown"]["items"]
        found = shown_ids([reply])
        # A page of episodes is by time, whatever their order in the answer.
        found = sorted(found, reverse=True) if tool == "get_episodes" else found
        assert found == ids[at : at + count]


@pytest.mark.property
@given(sizes=st.lists(st.integers(0, 900), min_size=1, max_size=60), budget=st.integers(400, 3_000))
def test_items_of_any_size_are_all_shown_once_within_the_budget(sizes: list[int], budget: int) -> None:
    answer = nodes(len(sizes))
    for item, size in zip(answer["nodes"], sizes, strict=True):
        item["summary"] = "word " * size
    spoken = Spoken("search_nodes", answer, policy(budget))
    first = spoken.protection.protect(spoken.document, spoken.binding, NOW, spoken.words)
    assume(first is not None and "shown" in first.record)
    replies = spoken.pages()
    assert all(spoken.policy.estimator.ceiling(reply.text) <= budget for reply in replies)
    if all(reply.record["format"] == VIEW for reply in replies):
        assert shown_ids(replies) == [item["uuid"] for item in answer["nodes"]]


@pytest.mark.parametrize("count", [3, 40, 500])
def test_the_cursor_of_the_details_leads_to_all_of_it_exactly(count: int) -> None:
    spoken = Spoken("search_nodes", nodes(count))
    for reply in spoken.pages()[:2]:
        walked = spoken.walk(reply.record["detailsAvailable"]["cursor"])
        assert rebuilt(walked) == jsontext.canonical(spoken.document)


def test_a_small_answer_is_one_view_of_all() -> None:
    spoken = Spoken("search_nodes", nodes(10))
    reply = spoken.opening()
    assert "nextCursor" not in reply.record
    assert "view, items #0-9 of 10" in reply.notice
    assert reply.content.startswith("Found 10 entities")


def test_words_that_fail_on_the_second_page_give_way_to_items_in_short_from_the_same_one_on() -> None:
    spoken = Spoken("search_nodes", nodes(300), policy(2_000, format="json", compact="always"))
    spoken.words = _failing_from(spoken.say, 1)
    first, *others = spoken.pages()
    assert first.record["format"] == VIEW
    shown = first.record["shown"]["items"]
    assert [reply.record["format"] == VIEW for reply in others] == [False] * len(others)
    assert others[0].record["shown"]["from"] == shown
    assert sum(reply.record["shown"]["items"] for reply in (first, *others)) == 300
    rows = [row for reply in others for row in json.loads(reply.content)]
    assert [row["name"] for row in rows] == [f"Entity {number}" for number in range(shown, 300)]
    estimator = spoken.policy.estimator
    assert all(estimator.ceiling(reply.text) <= 2_000 for reply in others)


def _failing_from(say: AnswerFormat, page: int) -> AnswerFormat:
    def answer_format(document: bytes, first: int, total: int | None, size: int) -> str | None:
        return None if first >= page else say(document, first, total, size)

    return answer_format


def test_words_that_are_gone_when_reading_goes_on_lose_no_item() -> None:
    """The gateway was restarted without the pack, say."""
    spoken = Spoken("search_nodes", nodes(300), policy(2_000, format="json", compact="always"))
    first = spoken.opening()
    second = spoken.read(first.record["nextCursor"], None)
    assert second.record["format"] == "json"
    assert json.loads(second.content)[0]["name"] == f"Entity {first.record['shown']['items']}"


def test_words_that_fail_at_once_leave_the_answer_to_the_engine() -> None:
    for answer in (nodes(300), nodes(20)):
        spoken = Spoken("search_nodes", answer, answer_format=lambda *_: None)
        plain = spoken.protection.protect(spoken.document, spoken.binding, NOW)
        assert spoken.protection.protect(spoken.document, spoken.binding, NOW, spoken.words) == plain


def test_a_failure_on_a_page_tells_the_size_of_the_whole_answer() -> None:
    answer = nodes(2_000)
    del answer["nodes"][3]["name"]
    spoken = Spoken("search_nodes", answer)
    spoken.opening()
    assert {trouble.input_bytes for trouble in spoken.troubles} == {len(spoken.document)}


def test_several_pages_at_once_and_a_form_of_ones_own() -> None:
    spoken = Spoken("search_nodes", nodes(500))
    cursor = spoken.opening().record["nextCursor"]
    wide = spoken.read(cursor, spoken.words, pages="2-3", limit=20)
    assert shown_ids([wide]) == [item["uuid"] for item in spoken.answer["nodes"][20:60]]
    table = spoken.read(cursor, spoken.words, form="json", limit=3)
    start = spoken.opening().record["shown"]["items"]
    assert [row["name"] for row in json.loads(table.content)] == [
        f"Entity {number}" for number in range(start, start + 3)
    ]


def test_one_fact_with_an_embedding_is_one_fact_and_not_a_list_of_numbers(graph: Graph) -> None:
    fact = graph.call("search_memory_facts", QUESTION)["facts"][0]
    fact["attributes"] = {"fact_embedding": [0.0125 * number for number in range(1_536)]}
    reply = Spoken("get_entity_edge", fact, policy(4_000)).opening()
    assert reply.record["format"] == VIEW
    assert "items" not in reply.notice
    assert "items" not in reply.record["total"]
    assert fact["fact"] in reply.content


def test_facts_with_embeddings_that_are_far_over_the_budget_fit_in_words(graph: Graph) -> None:
    facts = graph.call("search_memory_facts", QUESTION | {"max_facts": 12})
    for fact in facts["facts"]:
        fact["attributes"] = {"fact_embedding": [0.01234567 * number for number in range(1_536)]}
    spoken = Spoken("search_memory_facts", facts, policy(4_000))
    (reply,) = spoken.pages()
    assert shown_ids([reply]) == [fact["uuid"] for fact in facts["facts"]]


def test_two_lists_of_which_one_is_paged_are_neither_counted_nor_numbered_wrongly() -> None:
    found = nodes(20)["nodes"]
    facts = [
        {
            "uuid": f"6a1f0c2e-1111-4b6b-9c3d-{number:012x}",
            "group_id": "main",
            "source_node_uuid": found[number % 20]["uuid"],
            "target_node_uuid": found[(number + 1) % 20]["uuid"],
            "created_at": "2026-11-15T09:00:10Z",
            "name": "LEADS_TO",
            "fact": f"Fact {number} is told here in a few more words than needed",
            "episodes": [],
            "expired_at": None,
            "valid_at": "2026-11-15T09:00:00Z",
            "invalid_at": None,
            "attributes": {},
        }
        for number in range(400)
    ]
    answer = {"message": "Retrieved provenance for 3 episode(s)", "nodes": found, "edges": facts}
    spoken = Spoken("get_episode_entities", answer, policy(4_000))
    replies = spoken.pages()
    assert len(replies) > 2
    assert [one for one in shown_ids(replies) if one.startswith("6a1f0c2e")] == [
        fact["uuid"] for fact in facts
    ]
    for reply in replies:
        assert reply.content.startswith("Entities:\n- Entity 0 ")
        assert "\nRelationships:\n- Entity " in reply.content
