"""The columns form of nested answers: tables in tables, maps of like objects, shapes, shared beginnings of names."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brimgate.engine import jsontext
from brimgate.engine.forms import FORMS, choose
from brimgate.engine.tokens.estimator import Estimator
from tests.engine.strategies import awkward_texts, keys, scalars

O200K = Estimator("o200k")
COLUMNS = FORMS["columns"]

names = st.sampled_from(
    ["a", "b", "name", "k.x", "x(y)", "a,b", "{key}", "{value}", "#", "<row 1>", "true", "5", "a|b", ""]
)
texts = awkward_texts | st.sampled_from(
    ["<row 0>", "<row 1> x", "<table 2>", "{key}", "legend: x", "https://x.org/1"]
)
cells = scalars | texts | st.sampled_from([{}, [], None, 0, 7])


def _objects(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    """Objects that are mostly alike: members may be absent, null, or something else."""
    full = st.lists(names, min_size=1, max_size=4, unique=True).flatmap(
        lambda chosen: st.fixed_dictionaries(dict.fromkeys(chosen, inner))
    )
    return full | st.fixed_dictionaries(
        {"id": st.integers(0, 9)}, optional={"a": inner, "b": inner, "name": inner}
    )


def _many(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    like = _objects(inner)
    return (
        st.lists(like, max_size=9)
        | st.dictionaries(keys | names, like, max_size=9)
        | st.lists(like | cells, min_size=3, max_size=7)
        | like
    )


nested = st.recursive(cells, lambda inner: _many(inner) | st.lists(inner, max_size=3), max_leaves=40)


def _repeated(chosen: list[object], order: list[int]) -> list[object]:
    return [chosen[at % len(chosen)] for at in order]


lists = st.builds(
    _repeated,
    st.lists(_objects(nested), min_size=1, max_size=5),
    st.lists(st.integers(0, 9), min_size=2, max_size=14),
)
answers = (
    lists
    | st.dictionaries(keys, nested, max_size=6)
    | st.fixed_dictionaries({"n": cells, "rows": lists, "map": _many(nested)})
)


def canonical(value: object) -> bytes:
    return jsontext.canonical(json.dumps(value).encode())


@pytest.mark.property
@given(value=answers)
def test_nested_answers_read_back_exactly(value: object) -> None:
    raw = canonical(value)
    text = COLUMNS.encode(raw)
    assert text is None or COLUMNS.decode(text) == raw


@pytest.mark.property
@given(value=answers)
def test_the_chosen_form_of_a_nested_answer_reads_back_and_is_never_worse_than_json(value: object) -> None:
    raw = canonical(value)
    made = choose(raw, O200K)
    assert FORMS[made.form].decode(made.text) == raw
    assert O200K.ceiling(made.text) <= O200K.ceiling(raw)


def columns(value: object) -> str:
    raw = canonical(value)
    text = COLUMNS.encode(raw)
    assert text is not None and COLUMNS.decode(text) == raw
    return text


def lines(value: object) -> list[str]:
    return columns(value).split("\n")


def test_an_object_of_like_objects_is_a_table_with_a_column_of_keys() -> None:
    hosts = {
        f"svc-{n}": {"host": f"db{n}", "portNumber": n, "description": "the same in all"} for n in range(9)
    }
    text = lines({"services": hosts})
    assert text[0] == '{"services":<table 1>}'
    assert text[1].endswith("{key} = the rows are members of an object")
    assert text[2:4] == ['{key}|host|portNumber|description="the same in all"', "svc-0|db0|0"]


def test_short_lists_of_objects_stay_in_their_cell_and_are_named_in_the_header() -> None:
    rows = [{"pod": f"p{n}", "env": [{"name": "A", "value": f"v{at}"} for at in range(n)]} for n in range(4)]
    assert lines(rows)[1:] == [
        "pod|env(name,value)[]",
        "p0|[]",
        'p1|[["A","v0"]]',
        'p2|[["A","v0"],["A","v1"]]',
        'p3|[["A","v0"],["A","v1"],["A","v2"]]',
    ]


def test_long_lists_of_objects_share_one_table_below_the_rows_they_belong_to() -> None:
    groups = [
        {"service": f"s{n}", "spans": [{"id": f"{n}{at}", "ms": at} for at in range(6)]} for n in range(2)
    ]
    text = lines({"groups": groups})
    assert text[0] == '{"groups":<table 1>}' and text[1].startswith("legend: ")
    assert text[2:6] == ["table 1: 2 rows, 2 columns", "service|spans:<table 2>", "s0|6", "s1|6"]
    assert text[6:9] == ["table 2: 12 rows, 2 columns", "id|ms", "<row s0>"]
    assert text.count("<row s1>") == 1


def test_what_names_share_is_written_once_and_explained() -> None:
    rows = [{"metadata": {"name": f"n{n}", "labels": {"app": f"a{n}", "tier": f"t{n}"}}} for n in range(3)]
    text = lines(rows)
    assert text[0].endswith("; a{b|c} = a.b|a.c")
    assert text[1] == "metadata{name|labels{app|tier}}"


def test_an_object_that_is_not_like_the_others_stands_as_json_beside_their_columns() -> None:
    rows: list[dict[str, object]] = [
        {"id": n, "state": {"running": {"startedAt": f"2024-09-{n + 10}T00:00:00Z"}}} for n in range(20)
    ]
    rows[7]["state"] = {"waiting": "CrashLoopBackOff"}
    text = lines(rows)
    assert text[1] == "id|state|state?.running.startedAt"
    assert text[2] == "0|-|2024-09-10T00:00:00Z" and text[9] == '7|{"waiting":"CrashLoopBackOff"}'


def test_absent_null_and_empty_are_told_apart() -> None:
    rows: list[dict[str, object]] = [{"id": n, "a": {"x": n, "y": "same"}, "z": 1} for n in range(5)]
    rows[1]["a"] = None
    del rows[2]["a"]
    rows[3]["a"] = {}
    text = columns(rows)
    assert (
        'y="same"' in text
        and "x? is null where its cells are empty, absent or in column x where they are -" in text
    )


def test_a_formula_is_not_written_for_what_names_a_row_or_where_it_saves_little() -> None:
    rows = [
        {
            "number": 100 + n,
            "title": f"Test issue/{100 + n}",
            "text": f"{n} words that differ {n * n} " * 9,
            "at": f"/i/{100 + n}",
        }
        for n in range(9)
    ]
    header = lines(rows)[1]
    assert header == "number|title|text|at"


def test_objects_of_two_kinds_inside_a_member_get_two_headers() -> None:
    kinds = [{"ami": "a", "cpu": 1, "disk": 2}, {"bucket": "b", "acl": "private"}]
    rows = [{"address": f"r{n}", "values": kinds[n % 2]} for n in range(8)]
    text = lines(rows)
    assert text[1:3] == [
        'A: address|values{ami="a"|cpu=1|disk=2}',
        'B: address|values{bucket="b"|acl="private"}',
    ]


@pytest.mark.parametrize("text", ["<row 0>", "<table 1>", "legend: x", "= 1", "-", "{key}", "|-", "x|-"])
def test_texts_that_look_like_our_signs_are_texts(text: str) -> None:
    columns([{"only": text}, {"only": text + "x"}, {"only": None}])
    row = {"long member name": 1, "other member name": text}
    columns({text: row, **{f"{text}{n}": {**row, "a third member": [text] * n} for n in range(9)}})


def test_deep_nesting_stays_readable_for_the_reader() -> None:
    value: object = {"a": 1, "b": "leaf"}
    for n in range(80):
        value = {"a": n, "b": [{"a": 1, "b": "x"}] * 5 + [value]}
    columns(value)


def test_a_negative_zero_is_not_taken_for_a_zero() -> None:
    raw = b'[{"a":0.0,"b":1},{"a":-0.0,"b":2},{"a":0.0,"b":3}]'
    text = COLUMNS.encode(raw)
    assert text is not None and COLUMNS.decode(text) == raw
