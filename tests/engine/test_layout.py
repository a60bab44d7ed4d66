"""With its layout, a large answer is shown as without, and little of it is fetched."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brimgate.engine.document import Document
from brimgate.engine.layout import layout_of, restored
from brimgate.engine.policy import Policy
from brimgate.engine.query import Query, View, parse_query
from brimgate.engine.replies.reply import Reply
from brimgate.engine.replies.text import Gate
from brimgate.errors import BadRequest
from brimgate.testing.bookings import bookings

ROWS = bookings(3_000)["result"]
SHAPES: dict[str, Any] = {
    "list": ROWS,
    "envelope": {"status": "success", "result": ROWS, "count": len(ROWS)},
    "deep envelope": {"data": {"page": {"items": ROWS}}, "ok": True},
    "object": {f"key {number}": row for number, row in enumerate(ROWS)},
    "numbers": list(range(200_000)),
    "rows with names": {"columns": ["id", "name"], "rows": [[n, f"name {n}" * 3] for n in range(30_000)]},
    "one large item": [1, ROWS, 2],
}


PROSE = "A sentence of some words, told again. And one more! Is this one? Dr. Who says no.\n\n"
TEXTS: dict[str, str] = {
    "log": "".join(f"2026-11-18T01:{n // 60 % 60:02}:{n % 60:02} INFO request {n}\n" for n in range(30_000)),
    "traces": "".join(
        f"2026-11-18 ERROR failed {n}\nTraceback (most recent call last):\n  File 'a.py', line {n}\nValueError: {n}\n"
        for n in range(9_000)
    ),
    "prose": PROSE * 9_000,
    "one line": "word " * 200_000,
    "no blank": "x" * 900_000,
    "markdown": "".join(f"# Part {n}\n\n{PROSE}```\ncode {n}\n\nmore\n```\n\n" for n in range(5_000)),
    "an open fence": "# Begin\n\n```\n" + "code without end\n\n" * 50_000,
    "csv": "id,name,price\n" + "".join(f"{n},name {n},{n * 3}\n" for n in range(50_000)),
    "json lines": "".join(json.dumps({"id": n, "name": f"n{n}"}) + "\n" for n in range(30_000)),
    "unicode": "Füße über Straßen — 漢字かな交じり文。ねこ\n" * 20_000,
    "windows": "a line\r\nanother line\r\n\r\n" * 30_000,
    "html": "<div><p>words</p></div>\n" * 40_000,
}


class Distant:
    """Bytes that count how many of them were asked for."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.fetched = 0

    def __len__(self) -> int:
        return len(self._data)

    def part(self, start: int, end: int) -> bytes:
        self.fetched += end - start
        return self._data[start:end]


class Reader:
    """Reads on, and knows where every cursor leads."""

    def __init__(self, document: Document) -> None:
        self.places: list[tuple[View, Any]] = []
        self._gate = Gate(document, Policy(), self._issue)

    def _issue(self, view: View, position: Any) -> str:
        self.places.append((view, position))
        return f"{len(self.places):048}"

    def read(self, view: View, position: Any, query: Query) -> Reply:
        self.places.clear()
        return self._gate.read(view, position, query)

    def first(self) -> Reply | None:
        return self._gate.first()


def both(shape: Any, data: bytes = b"") -> tuple[Reader, Reader, Distant]:
    data = data or json.dumps(shape).encode()
    document = Document.read(data)
    whole = Reader(document)
    assert whole.first() is not None
    source = Distant(data)
    found = restored(source, layout_of(document))
    assert found is not None
    return whole, Reader(found), source


@pytest.mark.parametrize("name", SHAPES)
def test_a_walk_is_the_same_and_fetches_a_part(name: str) -> None:
    whole, distant, source = both(SHAPES[name])
    view, position = whole.places[-1]
    for _ in range(12):
        expected = whole.read(view, position, Query())
        places = list(whole.places)
        assert distant.read(view, position, Query()) == expected
        assert distant.places == places
        if not places:
            break
        view, position = places[-1]
    assert source.fetched < 12 * 2_000_000
    if name in ("list", "envelope", "deep envelope"):
        assert source.fetched < len(source) * 12, "never all of it for a page"


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_is_cut_the_same_and_a_part_of_it_fetched(name: str) -> None:
    whole, distant, source = both(None, TEXTS[name].encode())
    view, position = whole.places[-1]
    for turn in range(40):
        expected = whole.read(view, position, Query())
        places = list(whole.places)
        assert distant.read(view, position, Query()) == expected
        assert distant.places == places
        if not places:
            break
        view, position = places[-1]
        if turn == 5 and name not in ("csv", "json lines"):
            assert source.fetched < len(source), "less than all of it for some pages"


@pytest.mark.parametrize(
    "asked", [{"search": "1234"}, {"lines": "500-520"}, {"pages": "2-3"}, {"fields": "id"}]
)
@pytest.mark.parametrize("name", TEXTS)
def test_every_query_about_a_text_is_answered_the_same(name: str, asked: dict[str, Any]) -> None:
    whole, distant, _ = both(None, TEXTS[name].encode())
    view, place = whole.places[-1]
    told = [_told(reader, view, place, parse_query(**asked)) for reader in (whole, distant)]
    assert told[0] == told[1]


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize(
    "asked",
    [{"search": "payment_failed"}, {"path": "/1"}, {"fields": "id,status"}, {"limit": 3}, {"pages": "2-3"}],
)
def test_every_query_is_answered_the_same(name: str, asked: dict[str, Any]) -> None:
    whole, distant, _ = both(SHAPES[name])
    query = parse_query(**asked)
    view, place = whole.places[-1]
    told = [_told(reader, view, place, query) for reader in (whole, distant)]
    assert told[0] == told[1]


def _told(reader: Reader, view: View, place: Any, query: Query) -> Any:
    try:
        return reader.read(view, place, query)
    except BadRequest as refusal:
        return str(refusal)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.property
@settings(max_examples=25)
@given(st.lists(VALUES, min_size=1, max_size=40), st.integers(0, 2), st.integers(0, 10))
def test_any_list_is_read_the_same(values: list[Any], depth: int, skipped: int) -> None:
    unit = len(json.dumps(values))
    shape: Any = values * max(1, 700_000 // unit)
    for level in range(depth):
        shape = {"note": level, "items": shape}
    data = json.dumps(shape).encode()
    document = Document.read(data)
    layout = layout_of(document)
    if not layout:
        return
    found = restored(Distant(data), layout)
    assert found is not None
    whole, distant = Reader(document), Reader(found)
    if whole.first() is None or not whole.places:
        return
    view, position = whole.places[-1]
    for _ in range(skipped):
        whole.read(view, position, Query())
        if not whole.places:
            return
        view, position = whole.places[-1]
    assert distant.read(view, position, Query()) == whole.read(view, position, Query())
    assert distant.places == whole.places


@pytest.mark.property
@settings(max_examples=25)
@given(
    st.lists(st.text(max_size=60), min_size=1, max_size=30), st.sampled_from(["\n", " ", "\n\n", ". ", ""])
)
def test_any_text_is_read_the_same(words: list[str], between: str) -> None:
    unit = between.join(words) + between
    data = (unit * max(1, 560_000 // max(len(unit.encode("utf-8", "replace")), 1))).encode("utf-8", "replace")
    document = Document.read(data)
    found = restored(Distant(data), layout_of(document)) if not document.is_reading else None
    whole = Reader(document)
    if found is None or whole.first() is None or not whole.places:
        return
    distant = Reader(found)
    view, position = whole.places[-1]
    for _ in range(4):
        expected = whole.read(view, position, Query())
        places = list(whole.places)
        assert distant.read(view, position, Query()) == expected and distant.places == places
        if not places:
            return
        view, position = places[-1]


def test_what_is_small_or_odd_has_no_layout() -> None:
    odd = ("[" + "{'a': 1}, " * 90_000 + "]").encode()
    assert Document.read(odd).is_reading
    for data in (b"[1,2]", b"text", odd):
        assert layout_of(Document.read(data)) == b""


@pytest.mark.parametrize("layout", [b"", b"\x00", b"not a layout", b"\x93\x01\x02\x03"])
def test_what_is_no_layout_is_not_believed(layout: bytes) -> None:
    assert restored(Distant(b"[]"), layout) is None


def test_a_policy_may_differ() -> None:
    data = json.dumps(ROWS).encode()
    document = Document.read(data)
    reader = Reader(document)
    reader.first()
    found = restored(Distant(data), layout_of(document))
    assert found is not None
    policy = replace(Policy(), output_token_threshold=1_000)
    view, position = reader.places[-1]
    replies = [
        Gate(one, policy, lambda *_: "0" * 48).read(view, position, Query()) for one in (document, found)
    ]
    assert replies[0] == replies[1]
