import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brimgate.engine import jsontext
from brimgate.engine.document import Document
from brimgate.errors import JsonRefused
from tests.engine.strategies import small_values, spelled


@pytest.mark.parametrize(
    "number",
    ["1E5", "1.0", "-0", "-0.0", "1e400", "0.10", "123456789012345678901234567890", "1.00000000000000000001"],
)
def test_numbers_stay_as_they_are_written(number: str) -> None:
    assert jsontext.canonical(f'{{"n" : {number} }}'.encode()) == f'{{"n":{number}}}'.encode()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'{"a":1,"a":2}', 'duplicate key "a"'),
        (b'{"x":[{"a":1,"b":{"c":1,"c":2}}]}', 'duplicate key "c"'),
        (b"[NaN]", "NaN is not JSON"),
        (b"[-Infinity]", "-Infinity is not JSON"),
        (b"[1 ,\n]", "Illegal trailing comma before end of array at line 1 column 4"),
        (b'{"a":1, }', "Illegal trailing comma before end of object at line 1 column 7"),
        (b"[1,}", "Expecting value at line 1 column 4"),
        (b"[01]", "line 1"),
        (b'["\xff"]', "not UTF-8 at byte 2"),
        (b"[" * 5_000 + b"]" * 5_000, "nested too deeply"),
        (b'["\\ud800"]', "JSON"),
    ],
)
def test_what_is_not_strict_json_is_refused_with_what_and_where(data: bytes, reason: str) -> None:
    with pytest.raises(JsonRefused) as refused:
        jsontext.check_strict(data)
    assert reason in str(refused.value) or reason == "JSON"


@pytest.mark.parametrize(
    "data", [b"[NaN]", b"\xef\xbb\xbf[1]", b'["\xff"]', b"[1] x", b"[" * 10**5, b"12", b'"text"', b""]
)
def test_what_the_reader_refuses_is_text(data: bytes) -> None:
    assert not Document(data).is_json


def test_duplicate_keys_are_seen_when_an_object_is_opened() -> None:
    with pytest.raises(JsonRefused):
        jsontext.members(b'{"a":1,"b":2,"a":1}')
    with pytest.raises(JsonRefused):
        jsontext.children(b'{"a":1, "a":1}', 0, 14)


@pytest.mark.property
@given(small_values, st.booleans(), st.sampled_from([None, 0, 2]))
def test_two_spellings_of_a_value_have_one_canonical_text(
    value: object, ascii_only: bool, indent: int | None
) -> None:
    first = jsontext.canonical(spelled(value, ascii_only, indent))
    assert first == jsontext.canonical(spelled(value, not ascii_only, None))
    assert json.loads(first) == value


@pytest.mark.property
@given(
    st.lists(small_values) | st.dictionaries(st.text(), small_values),
    st.booleans(),
    st.sampled_from([None, 1]),
)
def test_children_lie_where_the_index_says(value: object, ascii_only: bool, indent: int | None) -> None:
    data = spelled(value, ascii_only, indent)
    found = jsontext.children(data, 0, len(data))
    parts = [json.loads(data[start:end]) for start, end in zip(found.starts, found.ends, strict=True)]
    if isinstance(value, list):
        assert parts == value
    else:
        assert isinstance(value, dict)
        assert dict(zip(found.keys or [], parts, strict=True)) == value


@pytest.mark.property
@given(st.binary(max_size=200))
def test_whatever_is_read_it_is_opened_or_refused(data: bytes) -> None:
    """Invariant: any bytes are JSON that opens, or text; never an exception of another kind."""
    assert Document(data).is_json in (True, False)
