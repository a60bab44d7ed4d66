"""Whatever an application answers and whatever the budget: what goes out is bounded JSON, and its cursors lead to all."""

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from brimgate.engine.decision import subject
from brimgate.engine.document import Document
from brimgate.engine.pointer import pointer_steps
from brimgate.engine.policy import Policy
from brimgate.engine.tokens.estimator import Estimator
from brimgate.errors import BadRequest
from tests.engine.strategies import rows, spelled, texts, values, weight
from tests.rest.holding import Held, rebuilt

pytestmark = pytest.mark.property


documents = st.builds(
    spelled,
    values.filter(lambda value: weight(value, {}) < 50_000),
    st.booleans(),
    st.sampled_from([None, 1]),
) | texts.map(lambda text: text.encode("utf-8", "replace"))
budgets = st.integers(300, 3_000)
families = st.sampled_from(["claude", "o200k", "chars4"])


def policy_of(budget: int, family: str = "claude", **more: Any) -> Policy:
    return Policy(
        estimator=Estimator(family), output_token_threshold=budget, object_threshold=budget,
        chunk_threshold=budget, hard_output_token_cap=budget, **more,
    )  # fmt: skip


def same(rebuilt_bytes: bytes, data: bytes) -> bool:
    if rebuilt_bytes == data:
        return True
    return Document(data).is_json and json.loads(rebuilt_bytes) == json.loads(data)


@given(documents, budgets, families)
def test_everything_is_there_part_by_part(data: bytes, budget: int, family: str) -> None:
    held = Held(data, policy_of(budget, family))
    shaped = held.first(fields=("all",))
    assume(shaped is not None)
    assert shaped is not None
    bodies = held.all(shaped)
    parts = [body for body in bodies if shaped.kind != "page" or "content" in body]
    if parts:
        assert same(shaped.body if shaped.kind == "minified" else rebuilt(parts), data)
        return
    # A list comes page by page: each item whole, or with what leads to the whole of it.
    focus = subject(Document(data), held.policy).pointer
    items = [item for body in bodies for item in value_at(body, focus or "/items")]
    for item, one in zip(items, value_at(json.loads(data), focus), strict=True):
        assert item == one or "detailsAvailable" in item


def value_at(value: Any, pointer: str) -> Any:
    for step in pointer_steps(pointer):
        value = value[step]
    return value


@given(documents, budgets, families, st.booleans(), st.booleans())
def test_the_first_answer_and_all_that_follows_is_bounded(
    data: bytes, budget: int, family: str, pagination: bool, summarization: bool
) -> None:
    held = Held(
        data, policy_of(budget, family, enable_pagination=pagination, enable_summarization=summarization)
    )
    shaped = held.first()
    if shaped is None:
        assert Estimator(family).ceiling(data) <= budget
        return
    bodies = held.all(shaped)
    if shaped.kind == "preview":
        assert bodies[0]["meta"]["detailsAvailable"]["parameters"] == {"fields": "all"}


@given(texts, budgets)
def test_the_chunks_of_a_text_are_the_text(text: str, budget: int) -> None:
    data = text.encode("utf-8", "replace")
    held = Held(data, policy_of(budget))
    shaped = held.first()
    assume(shaped is not None and shaped.kind == "chunk")
    assert shaped is not None
    bodies = held.all(shaped)
    assert "".join(body["content"] for body in bodies).encode() == data
    assert bodies[0]["chunkIndex"] == 0
    assert len({body["totalChunks"] for body in bodies}) == 1
    assert bodies[-1]["chunkIndex"] == bodies[-1]["totalChunks"] - 1


@given(rows.map(lambda items: items * 9), budgets, st.integers(1, 60), st.booleans())
def test_pages_of_a_list_hold_every_item_once_and_in_order(
    items: list[Any], budget: int, limit: int, in_envelope: bool
) -> None:
    answer: Any = (
        {"ok": True, "data": {"rows": items, "n": 1}, "meta": {"totalCount": "x"}} if in_envelope else items
    )
    held = Held(json.dumps(answer).encode(), policy_of(budget))
    shaped = held.first(limit=limit)
    assume(shaped is not None and shaped.kind == "page")
    assert shaped is not None
    found: list[Any] = []
    bodies = held.all(shaped)
    # Too much around it, or a name too long: not in pages.
    assume(not any("chunkIndex" in body or body["meta"].get("kind") == "part" for body in bodies))
    for body in bodies:
        page = body["data"]["rows"] if in_envelope else body["items"]
        assert body["meta"]["totalCount"] == len(items)
        assert body["meta"]["pageSize"] == len(page) <= limit
        assert body["meta"]["hasMore"] == ("nextCursor" in body)
        if in_envelope:
            assert list(body)[:2] == ["ok", "data"]
            assert body["data"]["n"] == 1
            assert body["meta"]["original"] == {"totalCount": "x"}
        found += page
    assert len(found) == len(items)
    for shown, item in zip(found, items, strict=True):
        if isinstance(shown, dict) and "detailsAvailable" in shown and shown != item:
            parameters = shown["detailsAvailable"]["parameters"]
            whole = held.read(parameters["cursor"], path=parameters["path"], fields=("all",))
            is_part = whole.kind in ("part", "chunk")
            value = json.loads(rebuilt_at(held.all(whole), parameters["path"]) if is_part else whole.body)
            assert value == item
        else:
            assert shown == item


def rebuilt_at(bodies: list[dict[str, Any]], path: str) -> bytes:
    if any("chunkIndex" in body for body in bodies):
        whole = rebuilt(bodies)
        source = Document(whole)
        return source.raw(source.resolve(path))
    for body in bodies:
        body["meta"]["path"] = body["meta"]["path"].removeprefix(path)
    return rebuilt(bodies)


@given(documents, budgets, st.lists(st.sampled_from(["id", "name", "a.b", "items", "data", "k"]), min_size=1))
def test_chosen_fields_are_bounded_or_refused(data: bytes, budget: int, names: list[str]) -> None:
    held = Held(data, policy_of(budget))
    try:
        shaped = held.first(fields=tuple(dict.fromkeys(names)))
    except BadRequest:
        return
    if shaped is not None:
        held.all(shaped)
