"""Generated answers of a Graphiti server: awkward texts, ids that end alike, times of every kind."""

from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from tests.engine.strategies import awkward_texts, small_values

Json = dict[str, Any]

# A lone surrogate is no JSON text: such an answer never gets here.
_any_text = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)
texts = (
    _any_text
    | awkward_texts
    | st.sampled_from(
        [
            "知識グラフ",
            "👩‍👩‍👧‍👦 Family",
            "e\u0301\u0323",
            "שלום \u202eRTL",
            "Long " * 400,
            "a\n2. b\n- c",
            '{"a": 1}',
        ]
    )
)
names = texts.filter(bool)
_ends = st.sampled_from(["446655440000", "446655440001", "0000aaaabbbb", "1111aaaabbbb"])
_starts = st.sampled_from(["550e8400-e29b-41d4-a716", "6a1f0c2e-1111-4b6b-9c3d", "7b2e0d3f-2222-4c7c-8d4e"])
uuids = st.uuids().map(str) | st.builds("{}-{}".format, _starts, _ends)
moments = st.datetimes(
    datetime(1990, 1, 1),
    datetime(2060, 1, 1),
    timezones=st.just(UTC),  # hypothesis wants them bare
).map(lambda at: at.isoformat()) | st.sampled_from(
    [
        "2026-11-15T09:00:00Z",
        "2026-11-14T00:00:00Z",
        "2026-11-15T09:00:00.5+05:30",
        "2026-11-15",
        "2026-11-15T07:00:00",
    ]
)
_labels = st.lists(st.sampled_from(["Entity", "Person", "Ort", "知識"]) | names, max_size=3)
_vector = st.just([0.125 * number for number in range(24)])
attributes = st.dictionaries(
    texts.filter(lambda key: key != "attributes"), small_values, max_size=3
) | st.fixed_dictionaries({"fact_embedding": _vector})
_group = st.sampled_from(["main", "work"])


def nodes() -> st.SearchStrategy[Json]:
    known = {
        "uuid": uuids,
        "name": names,
        "labels": _labels,
        "created_at": moments,
        "summary": st.none() | texts,
        "group_id": _group,
        "attributes": attributes,
    }
    return st.fixed_dictionaries(known, optional={"name_embedding": _vector, "degree": st.integers()})


def facts() -> st.SearchStrategy[Json]:
    known = {
        "uuid": uuids,
        "group_id": _group,
        "source_node_uuid": uuids,
        "target_node_uuid": uuids,
        "created_at": moments,
        "name": names,
        "fact": texts,
        "episodes": st.lists(uuids, max_size=2),
        "expired_at": st.none() | moments,
        "valid_at": st.none() | moments,
        "invalid_at": st.none() | moments,
        "reference_time": st.none() | moments,
        "attributes": attributes,
    }
    ends = {
        "source_node_name": names,
        "target_node_name": names,
        "confidence": st.floats(0, 1),
        "score": st.integers(0, 9),
    }
    return st.fixed_dictionaries(known, optional=ends)


def episodes() -> st.SearchStrategy[Json]:
    known = {
        "uuid": uuids,
        "name": names,
        "content": texts,
        "created_at": moments,
        "source": st.sampled_from(["text", "json", "message"]),
        "source_description": st.sampled_from(["", "import"]) | texts,
        "group_id": _group,
    }
    return st.fixed_dictionaries(known)


def unlike(items: st.SearchStrategy[Json]) -> st.SearchStrategy[list[Json]]:
    """Several, each with an id of its own, as in any graph."""
    return st.lists(items, max_size=6, unique_by=lambda item: item["uuid"])


_tools = {
    "search_nodes": ("nodes", nodes()),
    "search_memory_facts": ("facts", facts()),
    "get_episodes": ("episodes", episodes()),
}
Answered = tuple[str, str, list[Json], Json]


@st.composite
def answers(draw: st.DrawFn) -> Answered:
    """A tool, the member its list is in, the list, and the answer around it."""
    tool = draw(st.sampled_from(sorted(_tools)))
    key, items = _tools[tool]
    found = draw(unlike(items))
    message = draw(st.just(f"{key.capitalize()} retrieved successfully") | texts)
    answer: Json = {"message": message, key: found}
    return tool, key, found, draw(st.sampled_from([answer, {"result": answer}]))


@st.composite
def provenances(draw: st.DrawFn) -> Json:
    return {
        "message": "Retrieved provenance for 2 episode(s)",
        "nodes": draw(unlike(nodes())),
        "edges": draw(unlike(facts())),
    }


_members = st.sampled_from(
    ["nodes", "facts", "edges", "episodes", "message", "error", "status", "result", "uuid", "name", "summary", "labels",
     "fact", "content", "created_at", "valid_at", "attributes", "group_id", "communities", "community_count", "edge_count"]
)  # fmt: skip
arbitrary = st.recursive(
    small_values | texts | uuids | moments,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_members, inner, max_size=6),
    max_leaves=20,
)
