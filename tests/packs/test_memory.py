"""The memory pack: what npm's real server-memory answers, as lines of which nothing is missing.

After a change on purpose: UPDATE_GOLDENS=1 pytest tests/packs/test_memory.py
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brimgate.cli.savings import measure, samples_of
from brimgate.engine.tokens.estimator import Estimator
from brimgate.packs.discovery import pack_for
from brimgate.packs.formatter import TINY_BYTES, Trouble, format_document
from brimgate.packs.memory import PACK
from brimgate.packs.pack import Scene, fold
from tests.packs.formatted import HERE, PATIENT, as_document
from tests.packs.strategies import names, texts
from tests.world import memory_server, needs_npm

SAMPLES = samples_of(PACK)
"""Recorded from the real server by tools/make_memory_samples.py."""
GOLDEN = HERE / "memory.txt"


def said(tool: str, answer: Any, **arguments: Any) -> str:
    formatter = PACK.tool(tool).formatter
    assert formatter is not None
    return formatter(answer, Scene(arguments))


def test_real_answers_are_worded_as_written_down() -> None:
    shown: dict[str, str] = {}
    for call in SAMPLES:
        text = said(call.tool, json.loads(call.answer), **call.arguments)
        shown.setdefault(call.tool, f"== {call.tool}\n{text}\n")
    assert shown.keys() == PACK.tools.keys()
    made = "".join(shown.values())
    if os.environ.get("UPDATE_GOLDENS"):
        GOLDEN.write_text(made, "utf-8")
    assert made == GOLDEN.read_text("utf-8")


def test_a_graph_of_50_entities_and_80_relations_takes_a_third_less() -> None:
    [call] = [one for one in SAMPLES if one.tool == "read_graph"]
    graph = json.loads(call.answer)
    assert (len(graph["entities"]), len(graph["relations"])) == (50, 80)
    for family in ("claude", "o200k"):
        measured = measure("read_graph", call.answer, said("read_graph", graph), 0, Estimator(family))
        assert measured.saved_bytes >= 30 and measured.saved_tokens >= 30, measured.line()


entities = st.fixed_dictionaries(
    {"name": names, "entityType": texts, "observations": st.lists(texts, max_size=4)},
    optional={"type": st.just("entity"), "seen": st.integers(1, 9)},
)
some_entities = st.lists(entities, max_size=6)


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, Any]:
    known = draw(some_entities)
    ends = names | st.sampled_from([one["name"] for one in known] or ["Nobody"])
    relation = st.fixed_dictionaries({"from": ends, "to": ends, "relationType": texts})
    return {"entities": known, "relations": draw(st.lists(relation, max_size=8))}


def read_back(text: str) -> tuple[list[Any], list[Any]]:
    """The entities and relations that a reader takes from the lines."""
    kind, entity, found, relations = "", "", list[Any](), list[Any]()
    for line in text.split("\n"):
        match line[:2]:
            case "# ":
                entity = re.sub(r" \{seen: \d\}$", "", line[2:])
                found.append((entity, kind, []))
            case "- " if entity:
                found[-1][2].append(line[2:])
            case "- ":
                relations.append(("", line[2:]))
            case "> ":
                relations.append((entity, line))
            case _:
                kind, entity = line[1:-1], ""
    return found, relations


@pytest.mark.property
@given(graph=graphs())
def test_every_name_type_observation_and_relation_is_read_back(graph: dict[str, Any]) -> None:
    text = said("read_graph", graph, query="x")
    found, relations = read_back(text)
    expected = [
        (fold(one["name"]), fold(one["entityType"]), [*map(fold, one["observations"])])
        for one in graph["entities"]
    ]
    assert sorted(found) == sorted(expected)
    known = {fold(one["name"]) for one in graph["entities"]}
    for one in graph["relations"]:
        source, kind, target = (fold(one[key]) for key in ("from", "relationType", "to"))
        if source in known:
            ways = [way for at, way in relations if at == source and way.startswith(f"> {kind}: ")]
            ends = [end for way in ways for end in (way[len(kind) + 4 :], *way[len(kind) + 4 :].split(" | "))]
            assert target in ends
        else:
            assert ("", f"{source} --{kind}--> {target}") in relations
    assert all(f"{{seen: {one['seen']}}}" in text for one in graph["entities"] if "seen" in one)


@pytest.mark.property
@given(created=some_entities)
def test_created_entities_are_repeated_only_where_the_caller_did_not_send_them(created: list[Any]) -> None:
    whole = said("create_entities", created)
    assert whole == said("create_entities", {"entities": created}, entities=[])
    short = said("create_entities", created, entities=created)
    for one in created:
        assert fold(one["name"]) in short and fold(one["entityType"]) in short
        assert all(f"- {fold(told)}" in whole for told in one["observations"])


@pytest.mark.property
@given(tool=st.sampled_from(sorted(PACK.tools)), answer=graphs() | some_entities | texts)
def test_other_answers_cost_the_text_only(tool: str, answer: Any) -> None:
    troubles: list[Trouble] = []
    document = as_document(answer)
    text = format_document(PACK, tool, document, Scene(), troubles.append, PATIENT)
    assert text is not None or troubles or len(document) <= TINY_BYTES


@pytest.mark.parametrize("missing", ["name", "entityType", "observations"])
def test_a_missing_field_is_a_failure(missing: str) -> None:
    entity = {"name": "Ann", "entityType": "person", "observations": ["likes tea"]}
    del entity[missing]
    troubles: list[Trouble] = []
    document = as_document({"entities": [entity], "relations": []})
    assert format_document(PACK, "read_graph", document, Scene(), troubles.append, PATIENT) is None
    assert [trouble.error for trouble in troubles] == [f"the answer lacks '{missing}'"]


def test_a_deletion_that_failed_is_a_failure() -> None:
    assert PACK.failure({"success": False, "message": "no such file"}) == "no such file"
    assert PACK.failure({"success": True, "message": "Entities deleted successfully"}) == ""


def test_it_is_recognised_by_its_tools() -> None:
    found = pack_for(PACK.tools)
    assert found is not None and found.name == "memory"


@needs_npm
@pytest.mark.slow
def test_the_real_server_from_a_shell(tmp_path: Path) -> None:
    server = memory_server(tmp_path / "graph.jsonl")
    known = {name: value for name, value in os.environ.items() if not name.startswith("BRIMGATE_")}

    def call(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "brimgate", "call", *words, "--", *server],
            capture_output=True, text=True, encoding="utf-8", cwd=tmp_path, timeout=120, check=True,
            stdin=subprocess.DEVNULL, env=known | {"BRIMGATE_STATE_DIR": str(tmp_path / "state")},
        )  # fmt: skip
        return done.stdout

    people = [
        {"name": "Ann", "entityType": "person", "observations": ["likes tea", "one\n- two"]},
        {"name": "Bob", "entityType": "person", "observations": []},
    ]
    created = call("create_entities", f"entities:={json.dumps(people)}")
    assert created == "✓ 2 entities created:\n[person]\n# Ann (2 observations)\n# Bob (0 observations)\n"
    again = call("create_entities", f"entities:={json.dumps(people)}")
    assert again == "[]\n", "nothing is new"
    knows = {"from": "Ann", "to": "Bob", "relationType": "knows"}
    related = call("create_relations", f"relations:={json.dumps([knows])}")
    assert related == "✓ 1 relation created:\n- Ann --knows--> Bob\n"
    whole = "2 entities, 1 relation:\n[person]\n# Ann\n- likes tea\n- one\\n- two\n> knows: Bob\n# Bob\n"
    assert call("read_graph") == whole
    assert call("search_nodes", "tea") == (
        '1 entity, 1 relation for "tea":\n[person]\n# Ann\n- likes tea\n- one\\n- two\n> knows: Bob\n'
    )
    assert call("open_nodes", "Bob") == (
        "1 entity, 1 relation:\n[person]\n# Bob\nMore relations:\n- Ann --knows--> Bob\n"
    )
    assert call("delete_entities", "Ann,Bob", "--force") == "✓ Entities deleted\n"
    assert json.loads(call("read_graph", "--json")) == {"entities": [], "relations": []}
