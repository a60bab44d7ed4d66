"""Members that are left out of answers, and HTML in them: nothing else in the text changes."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from brimgate.back.rest.response import tidied

ZERO = "0001-01-01T00:00:00Z"
OMIT = frozenset(json.dumps(one).encode() for one in (None, "", [], {}, ZERO))
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(["", ZERO, 'a"b', "\\", '":null,', "{}", "\x00", "é"])
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=25,
)


def is_left_out(value: Any) -> bool:
    return value is None or (not isinstance(value, bool | int) and value in ("", [], {}, ZERO))


def expected(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: expected(one) for name, one in value.items() if not is_left_out(one)}
    return [expected(one) for one in value] if isinstance(value, list) else value


@given(VALUES)
def test_exactly_those_members_are_left_out(value: Any) -> None:
    raw = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    assert json.loads(tidied(raw, OMIT, ())) == expected(value)


def test_numbers_are_not_rewritten() -> None:
    raw = b'{"a":1.50,"b":1e400,"c":12345678901234567890123,"d":null}'
    assert tidied(raw, OMIT, ()) == b'{"a":1.50,"b":1e400,"c":12345678901234567890123}'


def test_html_members_become_text_wherever_they_are() -> None:
    raw = b'{"description":"<p>a &amp; b</p>","x":{"description":"<p></p>"},"title":"<p>kept</p>"}'
    assert json.loads(tidied(raw, OMIT, ("description",))) == {
        "description": "a & b",
        "x": {},
        "title": "<p>kept</p>",
    }


def test_half_a_character_stays_as_it_came() -> None:
    raw = rb'{"description":"<p>\ud83d</p>"}'
    assert tidied(raw, OMIT, ("description",)) == raw
