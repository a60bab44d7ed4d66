"""The rules the Graphiti pack brings: read as a configuration is, and true of what its server sends."""

import json
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from brimgate.config.pack_rules import answer_formats_of, endpoints_of, rules_of
from brimgate.config.rule_reader import make_rules
from brimgate.config.sources import parse
from brimgate.engine.cursor import Binding, KeyRing
from brimgate.engine.policy import AnswerOptions
from brimgate.engine.query import parse_query
from brimgate.errors import ConfigError
from brimgate.hold.protection import Protection
from brimgate.hold.stores.memory import MemoryStore
from brimgate.packs.graphiti import PACK
from brimgate.packs.hostaway import PACK as HOSTAWAY
from brimgate.packs.pack import Pack
from brimgate.sandboxes.graphiti import Graph
from tests.engine.holding import KEY, NOW
from tests.packs.formatted import as_document

RULES = rules_of(PACK)
LISTS = {"search_nodes": "nodes", "search_memory_facts": "facts", "get_episodes": "episodes"}
CONFIG = parse(b"upstreams:\n  kb: {command: 'x', pack: graphiti}\n", "test")
ASKED = {
    "search_nodes": {"query": "garden kitchen project", "max_nodes": 300},
    "search_memory_facts": {"query": "works project", "max_facts": 300},
    "get_episodes": {"max_episodes": 200},
}


@pytest.fixture(scope="module")
def graph() -> Iterator[Graph]:
    with Graph(nodes=600, facts=900, episodes=300) as made:
        yield made


def named(pattern: str) -> set[str]:
    override = RULES[pattern]
    return {*(override.fields or ()), *(name for names in override.sections.values() for name in names)}


@pytest.mark.parametrize("pattern", RULES)
def test_every_rule_is_for_a_tool_there_is(pattern: str) -> None:
    assert any(fnmatchcase(tool, pattern) for tool in PACK.tools)


@pytest.mark.parametrize("tool", LISTS)
def test_every_field_a_rule_names_is_sent_by_the_server(graph: Graph, tool: str) -> None:
    items = json.loads((Path(__file__).parent / "inputs" / f"sample_{tool}.json").read_text("utf-8"))
    sent = {name for item in items["answer"][LISTS[tool]] for name in item}
    sent_by_graph = {name for item in graph.call(tool, ASKED[tool])[LISTS[tool]] for name in item}
    patterns = [pattern for pattern in RULES if pattern != "*" and fnmatchcase(tool, pattern)]
    assert patterns
    for pattern in patterns:
        assert named(pattern) <= sent
        assert named(pattern) <= sent_by_graph


def test_old_names_of_tools_have_the_same_rules() -> None:
    rules = make_rules(CONFIG, "kb")
    for old, new in (("search_memory_nodes", "search_nodes"), ("search_facts", "search_memory_facts")):
        assert rules.of(old).policy == rules.of(new).policy


def test_what_a_configuration_says_goes_before_what_the_pack_says() -> None:
    config = parse(
        b"upstreams:\n  kb: {command: 'x', pack: graphiti, tools: {search_nodes: {fields: [name], compact: never}}}\n",
        "test",
    )
    policy = make_rules(config, "kb").of("search_nodes").policy
    assert (policy.fields, policy.compact) == (("name",), "never")
    assert dict(policy.sections) == RULES["search_*nodes"].sections


def test_a_rule_that_cannot_be_read_is_refused_by_its_place(tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text("tools:\n  look: {feilds: [a]}\n")
    with pytest.raises(ConfigError, match=r"toy/rules\.yaml"):
        rules_of(Pack("toy", "", {}, folder=tmp_path))


def test_a_pack_without_rules_brings_none() -> None:
    assert rules_of(Pack("toy", "", {})) == {}
    assert answer_formats_of(PACK, "no_such_tool") is None


@pytest.mark.parametrize(
    ("tool", "section"),
    [(tool, section) for tool in LISTS for pattern in RULES if pattern != "*" and fnmatchcase(tool, pattern)
     for section in RULES[pattern].sections],
)  # fmt: skip
def test_a_section_gives_just_its_fields(graph: Graph, tool: str, section: str) -> None:
    answer = graph.call(tool, ASKED[tool])
    policy = make_rules(CONFIG, "kb").of(tool).policy
    protection = Protection(policy, KeyRing(KEY), MemoryStore())
    binding = Binding("ann", "kb", tool)
    first = protection.protect(as_document(answer), binding, NOW)
    assert first is not None
    reply = protection.read(
        first.record["nextCursor"], binding, parse_query(fields=section, form="json", limit=5), NOW
    )
    wanted = {*policy.fields[:1], *dict(policy.sections)[section]}
    shown = json.loads(reply.content)
    assert len(shown) == 5
    assert shown == [
        {name: value for name, value in item.items() if name in wanted}
        for item in answer[LISTS[tool]][first.record["shown"]["items"] :][:5]
    ], "with the id of each, from the cursor on"
    if policy.fields:  # else each item is shown whole, and there are no details
        assert section in first.record["detailsAvailable"]["sections"]


@pytest.mark.parametrize("arguments", [b'{"query": "x"}', b"", b"[1]", b"\xff", b"[" * 9_000])
def test_trouble_in_the_relay_comes_with_the_name_of_the_pack_whatever_was_asked(arguments: bytes) -> None:
    troubles: list[dict[str, object]] = []
    words = answer_formats_of(PACK, "search_nodes")
    assert words is not None
    assert words(arguments, troubles.append)(b'{"message":"no list"}', 0, None, 21) is None
    assert [(trouble["pack"], trouble["operation"], trouble["inputBytes"]) for trouble in troubles] == [
        ("graphiti", "search_nodes", 21)
    ]


def test_budgets_of_a_pack_give_way_to_those_of_the_configuration() -> None:
    assert rules_of(HOSTAWAY)["get_listing"].object_threshold == 600
    for own in (AnswerOptions(object_threshold=900), AnswerOptions(hard_output_token_cap=4_500)):
        rule = rules_of(HOSTAWAY, own.hard_output_token_cap, own)["get_listing"]
        assert rule.object_threshold is None and rule.fields == rules_of(HOSTAWAY)["get_listing"].fields
    lists = endpoints_of(HOSTAWAY, 12_000, AnswerOptions(output_token_threshold=2_000))
    assert lists["*/bookings"].threshold is None and lists["*/bookings"].fields
