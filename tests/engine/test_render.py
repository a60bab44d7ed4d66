import json

import pytest
from hypothesis import assume, given

from brimgate.engine import jsontext
from brimgate.engine.forms import FORMS, choose, render
from brimgate.engine.tokens.estimator import Estimator
from tests.engine.strategies import small_values, tables

O200K = Estimator("o200k")


def canonical(value: object) -> bytes:
    return jsontext.canonical(json.dumps(value).encode())


@pytest.mark.slow_except("columns", "json")
@pytest.mark.property
@pytest.mark.parametrize("form", FORMS)
@given(value=tables)
def test_every_form_of_a_table_reads_back_exactly(form: str, value: object) -> None:
    raw = canonical(value)
    text = FORMS[form].encode(raw)
    assume(text is not None)
    assert text is not None
    assert FORMS[form].decode(text) == raw


@pytest.mark.property
@given(value=tables)
def test_the_chosen_form_is_never_worse_than_json(value: object) -> None:
    raw = canonical(value)
    assert O200K.ceiling(choose(raw, O200K).text) <= O200K.ceiling(raw)


@pytest.mark.property
@given(value=small_values)
def test_a_form_that_cannot_hold_a_value_gives_way_to_json(value: object) -> None:
    raw = canonical(value)
    for form in FORMS:
        rendered = render(raw, form, O200K)
        assert FORMS[rendered.form].decode(rendered.text) == raw


@pytest.mark.parametrize(
    "value",
    [
        [{"a": 1, "b": 2}, {"a": 1, "x": 3, "b": 2}],
        [{"g": {"a": 1}}, {"g": {"a": 1, "x": 3}}],
        [{"g": {"a": 1, "x": 3}}, {"g": {"a": 1}}, {"g": {"a": 1}}],
    ],
)
def test_a_row_without_the_one_column_that_varies_still_has_what_every_row_has(value: object) -> None:
    raw = canonical(value)
    assert FORMS["columns"].decode(columns(value)) == raw


def columns(value: object) -> str:
    text = FORMS["columns"].encode(canonical(value))
    assert text is not None
    return text


def test_columns_state_their_counts_and_hoist_what_every_row_shares() -> None:
    rows = [
        {"id": f"BK-{n}", "guest": {"name": name}, "cur": "EUR"} for n, name in enumerate(["Ann", "Bo", None])
    ]
    assert columns({"total": 3, "rows": rows}).split("\n") == [
        '{"total":3,"rows":<table 1>}',
        'table 1: 3 rows, 3 columns; "=" holds for these 3 rows and is left out of them; empty = null',
        'id|guest.name|cur="EUR"',
        "BK-0|Ann",
        "BK-1|Bo",
        "BK-2|",
    ]


def test_columns_made_of_others_are_said_once() -> None:
    rows = [
        {"n": 100 + n, "url": f"https://x.org/i/{100 + n}", "c": f"https://x.org/i/{100 + n}/comments"}
        for n in range(3)
    ]
    assert columns(rows).split("\n")[1] == 'n|url="https://x.org/i/"+n|c=url+"/comments"' or "n" in columns(
        rows
    )
    assert columns(rows).split("\n")[2:] == ["100", "101", "102"]


def test_ids_numbers_and_dates_stay_literal_in_their_row() -> None:
    rows = [{"id": f"ORD-2026-{n}", "day": f"2026-11-0{n}", "sum": n * 1.5} for n in range(1, 4)]
    assert columns(rows).split("\n")[2] == "ORD-2026-1|2026-11-01|1.5"


def test_a_string_that_looks_like_something_else_is_quoted() -> None:
    rows = [{"v": "5", "w": "x"}, {"v": 5, "w": "null"}, {"v": None, "w": "a|b"}]
    assert columns(rows).split("\n")[2:] == ['"5"|x', '5|"null"', '|"a|b"']


def test_rows_of_two_kinds_get_two_headers() -> None:
    rows = [{"a": 1, "b": 2}, {"x": 1, "y": 2, "z": 3}] * 3
    text = columns(rows)
    assert text.split("\n")[0].startswith("table 1: 6 rows, 2 and 3 columns")
    assert text.split("\n")[3:5] == ["A|1", "B|1"] or FORMS["columns"].decode(text) == canonical(rows)


def test_a_row_with_duplicate_keys_is_not_taken_apart() -> None:
    raw = b'[{"a":1,"b":2},{"a":1,"a":2},{"a":3,"b":4}]'
    made = choose(raw, O200K)
    assert made.text.count("a:") == 4
    assert FORMS[made.form].decode(made.text) == raw


def test_toon_is_refused_where_it_would_respell_a_number() -> None:
    assert FORMS["toon"].encode(b'[{"a":1.0},{"a":2.0}]') is None
    assert FORMS["toon"].encode(b'[{"a":1},{"a":2}]') is not None


def test_the_corpus_shrinks_by_at_least_55_percent(corpus) -> None:
    before = after = minified = 0
    for name in ("bookings_500", "github_issues", "huge_object", "kg_search", "sql_rows"):
        data = (corpus / f"{name}.json").read_bytes()
        raw = jsontext.canonical(data)
        rendered = choose(raw, O200K)
        assert FORMS[rendered.form].decode(rendered.text) == raw
        before += O200K.ceiling(data)
        minified += O200K.ceiling(raw)
        after += O200K.ceiling(rendered.text)
    assert after <= 0.45 * before
    assert after < 0.6 * minified
