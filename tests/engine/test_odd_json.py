"""What is nearly JSON: its structure is read, its original bytes are what a walk returns."""

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brimgate.engine.document import Document
from brimgate.engine.odd_json import reading
from tests.engine.holding import Held, original, policy, rebuilt

ROWS: list[dict[str, Any]] = [
    {
        "id": n,
        "name": f"guest {n}",
        "status": "failed" if n == 333 else "confirmed",
        "note": f"{n * 7919} words {n * 104729} more",
    }
    for n in range(500)
]
STRICT = json.dumps(ROWS)
ODD = {
    "NaN": STRICT.replace('"id": 7,', '"id": NaN,'),
    "infinity": STRICT.replace('"id": 7,', '"id": -Infinity,'),
    "beyond any range": STRICT.replace('"id": 7,', '"id": 1e400,'),
    "byte order mark": "\ufeff" + STRICT,
    "half of a pair": STRICT.replace("guest 7", "guest \\ud83d 7"),
    "trailing commas": STRICT[:-2] + ",},]",
    "deep": STRICT.replace('"id": 7,', f'"id": {"[" * 300}{"]" * 300},'),
    "Python": str(ROWS),
    "Python with quotes": str([row | {"name": f'O\'Brien "{row["id"]}" \\ é\n'} for row in ROWS]),
    "Python tuples": str([tuple(row.values()) for row in ROWS]),
    "JSON in a string": json.dumps({"statusCode": 200, "body": STRICT}),
}


@pytest.mark.parametrize("data", ODD.values(), ids=ODD)
def test_it_has_pages_highlights_paths_fields_and_search(data: str) -> None:
    held = Held(data.encode())
    first = held.opening()
    assert first.record["kind"] == "page"
    assert first.record.get("derived", False) is ("1e400" not in data)
    assert "failed" in first.highlights
    base = first.record["path"]
    assert (
        "guest 333" in held.ask(path=f"{base}/333").content
        or "O'Brien" in held.ask(path=f"{base}/333").content
    )
    assert held.ask(search="failed").record["total"]["hits"] == 1
    chosen = json.loads(held.ask(fields="2" if "tuples" in data else "status", form="json", limit=3).content)
    assert len(chosen) == 3


@pytest.mark.parametrize("data", ODD.values(), ids=ODD)
def test_its_walk_is_exact(data: str) -> None:
    held = Held(data.encode())
    assert rebuilt(held.walk()) == (original(held.data) if "1e400" in data else held.data)
    numbers = [reply.record["shown"]["items"] for reply in held.follow(held.opening())]
    assert sum(numbers) == 500, "and its pages go on to the end"


@pytest.mark.parametrize("data", ODD.values(), ids=ODD)
def test_it_passes_unchanged_where_it_fits(data: str) -> None:
    assert Held(data.encode(), policy(200_000)).first() is None


@pytest.mark.parametrize(
    "text",
    [
        '["' + '\\"' * 200_000 + "]",
        "[a" + ".b" * 200_000 + "]",
        "[" + "f('x'" * 99_999 + "]",
        "['" + "\\'" * 99_999 + "]",
    ],
    ids=["open text", "dots", "calls", "open quote"],
)
def test_hostile_text_is_given_up_soon(text: str) -> None:
    """Each took minutes or hours where every place was tried again."""
    reading(text.encode())


def test_digits_in_a_text_are_no_number() -> None:
    data = json.dumps([{"id": n, "code": f"6b86e{n:03d}"} for n in range(100, 999)]).encode()
    assert not Document.read(data).is_reading


@pytest.mark.parametrize(
    "text",
    [
        "[link](https://example.com) and more words " * 800,
        "(a) first, (b) second " * 900,
        "{{ template }}\n" * 3_000,
    ],
)
def test_other_texts_stay_texts(text: str) -> None:
    assert Held(text.encode()).opening().record["kind"] == "chunk"


plain = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()
)
nested = st.recursive(
    plain, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=20), inner), max_leaves=20
)


@settings(max_examples=150)
@given(st.lists(nested, min_size=1) | st.dictionaries(st.text(max_size=20), nested, min_size=1))
def test_what_python_prints_is_read_as_what_it_is(value: Any) -> None:
    read = reading(repr(value).encode("utf-8", "replace"))
    assert read is not None
    clean = json.loads(json.dumps(value).encode("ascii").decode().replace("\\ud", "\\ud"))
    if Document(read).is_json:
        assert same(json.loads(read), clean)


def same(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other)
    # A number such as 1e+300 has an exponent of three digits: shown as a text, not lost.
    return one == other or str(other) == one


@settings(max_examples=150)
@given(st.text("[]{}(),:'\"\\ \nNaN01.eE-xu", max_size=60))
def test_nothing_breaks_it(text: str) -> None:
    held = Held((f"[{text}]" + " " * 9_000 + "]").encode(), policy(300))
    first = held.first()
    if first is not None:
        held.follow(first)
        assert rebuilt(held.walk()) in (held.data, Document(held.data).data) or Document(held.data).is_json
