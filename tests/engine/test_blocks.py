"""Large lists, objects and texts are known by blocks: everything is where it is in small ones."""

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.generators.hostile import SHAPES
from brimgate.engine import jsontext
from brimgate.engine.blocks import children_of
from brimgate.engine.chunks import LongText
from brimgate.engine.document import Document
from brimgate.engine.jsontext import Children
from brimgate.errors import JsonRefused
from tests.engine.holding import Held

LARGE = 500_000
ODD = st.sampled_from(
    ["", "a,b", "}],{", 'q"\\', "\\\\\\", "é\n", "漢", "x" * 90_000, ",[{" * 30_000, '","' * 9_000]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | ODD,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=8,
)
STYLES = st.sampled_from([{}, {"indent": 2}, {"separators": (",", ":")}, {"ensure_ascii": False}])


def opened(read: Any, raw: bytes) -> Children | None:
    try:
        return read(raw, 0, len(raw))
    except JsonRefused:
        return None


def same(raw: bytes) -> None:
    small, large = opened(jsontext.children, raw), opened(children_of, raw)
    assert (small is None) == (large is None)
    if small is None or large is None:
        return
    assert large.blocks is not None and list(large.starts) == list(small.starts)
    assert list(large.ends) == list(small.ends) and large.largest() == small.largest()
    assert large.longest_key == small.longest_key and list(large.shifted(3).starts) == [
        at + 3 for at in small.starts
    ]
    places = random.Random(1).choices(range(len(raw)), k=20)
    assert [large.index_at(at) for at in places] == [small.index_at(at) for at in places]
    keys = small.keys and large.keys
    if keys:
        assert list(keys) == list(small.keys or ()) and keys.index(keys[-1]) == len(keys) - 1
        assert "nowhere" not in keys


@settings(max_examples=25)
@given(st.lists(VALUES, min_size=1, max_size=6), STYLES, st.booleans())
def test_children_of_large_values_are_those_that_a_whole_reading_finds(
    values: list[Any], style: dict[str, Any], is_object: bool
) -> None:
    few = len(json.dumps(values))
    many = values * (LARGE // few + 1)
    value = {f"k{at}é": one for at, one in enumerate(many)} if is_object else many
    same(json.dumps(value, **style).encode())


@settings(max_examples=25)
@given(st.integers(0, LARGE), st.sampled_from([b",", b"]", b"}", b'"', b"1", b"[", b" "]), st.booleans())
def test_damaged_json_is_refused_where_a_whole_reading_refuses_it(
    at: int, byte: bytes, is_object: bool
) -> None:
    rows = [{"id": n, "text": "a, b", "inner": [n, {"x": None}]} for n in range(6_000)]
    raw = json.dumps({str(n): row for n, row in enumerate(rows)} if is_object else rows).encode()
    at %= len(raw)  # a space behind it would be no damage, and no part of what a document opens
    same(raw[:at] + byte + raw[at + 1 :] if at else raw)
    same(raw[:-1] + b"," + raw[-1:])


def test_a_key_that_occurs_twice_far_apart_is_seen() -> None:
    members = [f'"{n:06d}":{n}' for n in range(40_000)]
    assert Document(("{" + ",".join(members) + "}").encode()).is_json
    assert not Document(("{" + ",".join([*members, '"0\\u00300007":1']) + "}").encode()).is_json


@given(st.lists(st.sampled_from(["", "a", "bc" * 9, "x" * 40_000]), max_size=60), st.booleans())
def test_lines_are_where_they_are(lines: list[str], ends: bool) -> None:
    text = "\n".join(lines) + ("\n" if ends else "")
    found = LongText(text.encode())
    split = text.split("\n")[:-1] if text.endswith("\n") else text.split("\n") if text else []
    assert found.line_count == len(split)
    starts = [0]
    for line in split:
        starts.append(starts[-1] + len(line) + 1)
    for at in range(len(split)):
        assert found.line_start(at) == starts[at] and found.line_of(starts[at]) == at
    assert found.line_start(len(split)) == len(text)


# A hundred thousand are a dozen blocks; a million take ten times as long.
@pytest.mark.slow_except("100000")
@pytest.mark.parametrize("items", [100_000, 1_000_000])
def test_a_search_in_many_items_counts_and_leads_to_them(items: int) -> None:
    held = Held(b"[" + b",".join(b"%d" % (n % 1_000) for n in range(items)) + b"]")
    reply = held.ask(search="/^77$/", form="count")
    assert f"{items // 1_000:,} matches in {items // 1_000:,} of {items:,} items" in reply.notice
    assert held.ask(search="/^999$/", limit=1).content == '[{"#":999,value:999}]'
    assert f"no match in {items:,} items" in held.ask(search="1000").notice


def test_a_giant_line_of_matches_is_counted_as_far_as_it_helps() -> None:
    assert (
        "at least 100,000 matches in 1 of 1 items"
        in Held(b"[" + b"7" * 300_000 + b"]").ask(search="/7/", form="count").notice
    )


HEAVY = ("one-giant-integer", "one-item-holds-all")
"""One value is all of the answer: besides it, its text is held, and what a reader made of it."""


@pytest.mark.slow
@pytest.mark.parametrize("shape", [name for name in SHAPES if name != "broken-utf8"])
def test_an_answer_of_any_shape_takes_little_memory(shape: str) -> None:
    from bench.memory import MOST_HELD, MOST_PEAK, ROOM, memory_of

    found = memory_of(shape, 8 << 20)
    # What a process has differs from run to run by what its allocators keep: 26 to 42 MB after the same log of 8 MB.
    # `python -m bench memory` has the bars.
    noise = 32 << 20
    if shape in HEAVY:
        assert found.peak <= ROOM + 2 * MOST_PEAK * found.sent
    else:
        assert found.peak <= ROOM + MOST_PEAK * found.sent + noise
        assert found.held - found.idle <= MOST_HELD * found.sent + noise
