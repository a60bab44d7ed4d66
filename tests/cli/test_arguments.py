"""Words of a command line as the arguments of a tool."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brimgate.cli.calls.arguments import needs_input, parse, signature
from brimgate.cli.calls.values import encode
from brimgate.errors import BadRequest

SEARCH: dict[str, Any] = {
    "type": "object",
    "$defs": {"Order": {"enum": ["asc", "desc"]}, "Size": {"type": "integer", "minimum": 1}},
    "properties": {
        "query": {"type": "string"},
        "group_ids": {
            "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}],
            "default": None,
        },
        "max_nodes": {"allOf": [{"$ref": "#/$defs/Size"}], "default": 10},
        "order": {"$ref": "#/$defs/Order"},
        "exact": {"type": "boolean"},
        "weight": {"type": ["number", "null"]},
        "entity": {"anyOf": [{"type": "string"}, {"type": "array"}]},
        "groups": {
            "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}, {"type": "null"}]
        },
        "center": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
        "filter": {
            "type": "object",
            "properties": {"since": {"type": "integer"}, "inner": {"type": "object"}},
        },
        "numbers": {"type": "array", "items": {"type": "integer"}},
        "legacy": {"type": "string", "nullable": True},
        "anything": {},
    },
    "required": ["query"],
    "additionalProperties": False,
}
FILES = {
    "note.txt": b"a\nb\n",
    "one.json": b'{"since": 1, "ratio": 1.10}',
    "all.json": b'{"query": "q", "max_nodes": 3}',
    "list.json": b"[1]",
    "twice.json": b'{"query": "a", "query": "b"}',
    "bad.json": b'{"query": }',
    "latin.txt": b"caf\xe9",
    "deep.json": b'{"query":' + b"[" * 100_000,
    "-": b'{"query": "piped"}',
}


def parsed(*words: str, schema: Any = SEARCH) -> dict[str, Any]:
    return parse("search", words, schema, FILES.__getitem__)


def refused(*words: str, schema: Any = SEARCH) -> str:
    with pytest.raises(BadRequest) as caught:
        parsed(*words, schema=schema)
    assert str(caught.value).splitlines()[-1].startswith("  search("), "it ends with the signature"
    return str(caught.value)


@pytest.mark.parametrize(
    ("word", "name", "value"),
    [
        ("group_ids=a,b", "group_ids", ["a", "b"]),
        ("group_ids=a", "group_ids", ["a"]),
        ("group_ids=", "group_ids", []),
        ('group_ids=["a,b"]', "group_ids", ["a,b"]),
        ("group_ids=null", "group_ids", None),
        ("max_nodes=5", "max_nodes", 5),
        ("order=desc", "order", "desc"),
        ("exact=true", "exact", True),
        ("exact=False", "exact", False),
        ("weight=0.5", "weight", 0.5),
        ("weight=-1e3", "weight", -1000.0),
        ("weight=null", "weight", None),
        ("entity=a,b", "entity", "a,b"),
        ("groups=main", "groups", "main"),
        ("groups=main,other", "groups", ["main", "other"]),
        ("groups=Hello, world", "groups", "Hello, world"),
        ("groups=a,", "groups", "a,"),
        ('groups:="a,b"', "groups", "a,b"),
        ('entity=["a"]', "entity", ["a"]),
        ("center=5", "center", 5),
        ("center=05", "center", "05"),
        ("center=x", "center", "x"),
        ('filter={"since": 1}', "filter", {"since": 1}),
        ("filter.since=1", "filter", {"since": 1}),
        ("filter.inner.deep=x", "filter", {"inner": {"deep": "x"}}),
        ("filter.other=7", "filter", {"other": 7}),
        ("filter.since:=2", "filter", {"since": 2}),
        ("filter:=@one.json", "filter", {"since": 1, "ratio": 1.1}),
        ("filter=@one.json", "filter", {"since": 1, "ratio": 1.1}),
        ("numbers=1, 2,3", "numbers", [1, 2, 3]),
        ("legacy=null", "legacy", None),
        ("legacy=text", "legacy", "text"),
        ("anything=5", "anything", 5),
        ("anything=five", "anything", "five"),
        ('anything={"a":[1]}', "anything", {"a": [1]}),
        ("anything=@note.txt", "anything", "a\nb\n"),
        ("entity=@note.txt", "entity", "a\nb\n"),
        ('anything:="5"', "anything", "5"),
    ],
)
def test_a_value_becomes_what_the_schema_wants(word: str, name: str, value: Any) -> None:
    arguments = parsed("query=q", word)
    assert arguments[name] == value and isinstance(arguments[name], bool) == isinstance(value, bool)
    assert json.loads(encode(arguments)) == {"query": "q", name: value}


def test_words_without_a_name_are_taken_in_the_order_of_the_parameters() -> None:
    assert parsed("Graphiti") == {"query": "Graphiti"}
    assert parsed("Graphiti", "a,b", "10") == {"query": "Graphiti", "group_ids": ["a", "b"], "max_nodes": 10}
    assert parsed("group_ids=a", "Graphiti", "10") == {
        "group_ids": ["a"],
        "query": "Graphiti",
        "max_nodes": 10,
    }
    assert parsed("a", "10", "group_ids=x") == parsed("group_ids=x", "a", "10")


@pytest.mark.parametrize(
    "text", ["https://x.org/?q=1", "a == b", "1=1", "select a from b where c = 'd'", "é=è", "=x"]
)
def test_a_text_with_an_equals_sign_in_it_is_a_text(text: str) -> None:
    assert parsed(text) == {"query": text}
    assert parsed(f"query={text}") == {"query": text}


def test_several_arguments_come_from_a_file_or_standard_input() -> None:
    assert parsed("@all.json", "exact=true") == {"query": "q", "max_nodes": 3, "exact": True}
    assert parsed("-") == {"query": "piped"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "missing: query"),
        (["max_nodes=ten", "query=q"], "max_nodes must be a whole number, not 'ten'"),
        (["q", "max_nodes=1.5"], "max_nodes must be a whole number, not '1.5'"),
        (["q", "max_nodes=0"], "max_nodes: 0 is less than the minimum of 1"),
        (["q", "max_nodes:=true"], "max_nodes must be a whole number, not true"),
        (["q", "order=up"], "order must be one of asc, desc, not 'up'"),
        (["q", "exact=yes"], "exact must be true or false, not 'yes'"),
        (["q", "numbers=1,b"], "numbers must be a list (a,b,c or JSON), not '1,b'"),
        (["q", "numbers=[1"], "numbers must be a list"),
        (["q", "filter=x"], "filter must be a JSON object, not 'x'"),
        (["q", "filter.since=x"], "filter.since must be a whole number, not 'x'"),
        (["q", 'filter:={"since":"x"}'], 'filter.since: "x" is not of type "integer"'),
        (["q", "exact.a=1"], "exact must be true or false: it has no member a"),
        (["q", "weight=NaN"], "weight must be a number or null, not 'NaN'"),
        (["q", "weight:=NaN"], "weight: NaN is no number of JSON"),
        (["q", "weight:=-Infinity"], "weight: -Infinity is no number of JSON"),
        (["q", "weight:="], "weight: not JSON"),
        (["q", "anything:={'a':1}"], "anything: not JSON"),
        (["q", 'anything:={"a":1,"a":2}'], "anything: the key a stands twice in one object"),
        (["q", 'anything:="\\udc00"'], "anything: half of a character"),
        (["q", f"weight={'1' * 5_000}"], "weight: a number of 5,000 digits"),
        (["query=a", "query=b"], "query is given twice"),
        (["@all.json", "query=b"], "query is given twice"),
        (["@all.json", "@all.json"], "query is given twice"),
        (["q", "filter.since=1", "filter.since=2"], "filter.since is given twice"),
        (["q", "filter:={}", "filter.since=2"], "filter.since: filter is given as a whole already"),
        (["q", "filter.since=2", "filter:={}"], "filter is given twice"),
        (["q", "filter.inner=@one.json", "filter.inner.a=1"], "inner is given as a whole already"),
        (["foo=bar"], "there is no parameter foo. To pass the text itself: query=foo=bar"),
        (
            ["qurey=a b"],
            "there is no parameter qurey; did you mean query? To pass the text itself: 'query=qurey=a b'",
        ),
        (["a.b=1"], "there is no parameter a.b"),
        (["@list.json"], "list.json: must hold a JSON object"),
        (["@twice.json"], "twice.json: the key query stands twice"),
        (["@bad.json"], "bad.json: not JSON: Expecting value (line 1, column 11)"),
        (
            ["q", "anything:=[1,]"],
            "anything: not JSON: Illegal trailing comma before end of array (line 1, column 3)",
        ),
        (["@latin.txt"], "latin.txt: not UTF-8 (byte 3)"),
        (["query=@latin.txt"], "latin.txt: not UTF-8 (byte 3)"),
        (["@deep.json"], "deep.json: nested too deeply"),
        (["@"], "@ must be followed by the name of a file"),
        (["q", "caf\udce9"], "argument 2 is no UTF-8"),
        (["-", "query=x", "quary=1"], "query is given twice"),
    ],
)
def test_what_is_wrong_is_told_with_the_parameter_and_what_is_right(words: list[str], message: str) -> None:
    assert message in refused(*words)


def test_too_many_words_are_refused() -> None:
    one = {"type": "object", "properties": {"a": {"type": "string"}}}
    assert "'y' is too much: all 1 parameters are given" in refused("x", "y", schema=one)
    none = {"type": "object", "properties": {}}
    assert "'x' is too much: the tool names no parameters" in refused("x", schema=none)
    assert "there is no parameter x" in refused("x=1", schema=none)


def test_all_that_is_missing_is_named() -> None:
    schema = {"type": "object", "properties": {"a": {}, "b": {}, "c": {}}, "required": ["a", "b"]}
    assert "missing: a, b " in refused("c=1", schema=schema)


def test_other_parameters_pass_where_the_schema_says_so() -> None:
    schema = {"type": "object", "properties": {"a": {}}, "additionalProperties": {"type": "integer"}}
    assert parsed("b=5", schema=schema) == {"b": 5}
    assert "b must be a whole number" in refused("b=x", schema=schema)
    assert parsed("b=x", schema={"type": "object", "additionalProperties": True}) == {"b": "x"}
    strangers = {"type": "object", "properties": {"name": {}}, "additionalProperties": False}
    assert "there is no parameter query\n" in refused("-", schema=strangers)


@pytest.mark.parametrize(
    "schema",
    [
        None,
        True,
        [],
        {},
        {"type": "object"},
        {"properties": 5, "required": 7},
        {"$ref": "#/nowhere"},
        {"$ref": "#"},
        {"$ref": "https://example.invalid/schema"},
        {"$schema": "urn:nobody-knows", "type": "object"},
        {"allOf": [{"$ref": "#"}, {"$ref": "#"}]},
        {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]},
    ],
)
def test_a_schema_that_cannot_be_used_is_not_the_fault_of_the_caller(schema: Any) -> None:
    assert parsed("a=5", 'b:={"c": [1]}', schema=schema) == {"a": 5, "b": {"c": [1]}}
    assert signature("t", schema) == "t()"


def test_parameters_are_found_through_references_and_parts() -> None:
    schema = {
        "$ref": "#/$defs/All",
        "$defs": {
            "All": {
                "allOf": [
                    {"$ref": "#/$defs/A"},
                    {"properties": {"b": {"type": "integer"}}, "required": ["b"]},
                ]
            },
            "A": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
        },
    }
    assert signature("t", schema) == "t(a, b)"
    assert parsed("x", "5", schema=schema) == {"a": "x", "b": 5}


def test_input_is_wanted_where_nothing_is_given_and_something_is_needed() -> None:
    assert needs_input([], SEARCH)
    assert not needs_input(["query=x"], SEARCH)
    assert not needs_input([], {"type": "object"})


def test_arguments_that_were_read_elsewhere_are_encoded_as_well() -> None:
    assert encode({"a": [10**30, 0.5, "é"]}) == f'{{"a":[{10**30},0.5,"é"]}}'.encode()


def test_a_signature_is_short_and_fit_for_a_terminal() -> None:
    assert signature("search", SEARCH).startswith("search(query, group_ids?, max_nodes=10, order?, ")
    many = {"properties": {f"parameter_{n}": {"default": "x" * 100} for n in range(100)}}
    assert len(signature("t", many)) < 200 and signature("t", many).endswith("…)")
    assert "\x1b" not in signature("t\x1b[31m", {"properties": {"a\x07": {}}})


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner)
    ),
    max_leaves=20,
)
NUMBERS = st.from_regex(r"-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)


@pytest.mark.property
@given(JSON)
def test_what_goes_in_as_json_comes_out_exactly(value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    arguments = parsed(f"a:={text}", schema={})
    assert arguments == {"a": value}
    assert json.loads(encode(arguments)) == {"a": value}


@pytest.mark.property
@given(NUMBERS)
def test_a_number_is_sent_as_it_was_spelled(number: str) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "number"}}}
    for word in (f"n:={number}", f"n={number}", number):
        assert encode(parsed(word, schema=schema)) == f'{{"n":{number}}}'.encode()
    assert encode(parsed(f"n:=[{number}]", schema={})) == f'{{"n":[{number}]}}'.encode()


@pytest.mark.property
@given(st.text(st.characters(exclude_categories=["Cs"])).filter(lambda text: not text.startswith("@")))
def test_a_text_given_by_name_is_that_text(text: str) -> None:
    assert parsed(f"query={text}") == {"query": text}


@pytest.mark.property
@given(st.lists(st.text(max_size=20), max_size=5), JSON)
def test_whatever_the_words_and_the_schema_they_are_read_or_refused(words: list[str], schema: Any) -> None:
    """With one kind of error, and nothing else."""
    try:
        arguments = parse(
            "t", words, {"type": "object", "properties": {"a": schema, "b": {}}}, lambda _: b"{}"
        )
    except BadRequest:
        return
    assert not any(isinstance(one, float) and math.isnan(one) for one in arguments.values())
    json.loads(encode(arguments))
