"""A small answer is measured the same with and without a document."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brimgate.engine.decision import AnswerSizes, Trial, sizes_of, small_sizes
from brimgate.engine.document import Document
from brimgate.engine.policy import Policy, ToolRule
from brimgate.relay.results import sizes_of_answer, tried

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=8), inner, max_size=6),
    max_leaves=30,
)
POLICY = Policy()


@pytest.mark.property
@given(VALUES | st.lists(VALUES, max_size=20), st.sampled_from(["%s", " %s", "%s\n", "%s]", "[%s"]))
def test_json_is_measured_as_its_document_is(value: Any, around: str) -> None:
    data = (around % json.dumps(value)).encode()
    assert small_sizes(data, POLICY) == sizes_of(Document(data), POLICY)


@pytest.mark.property
@given(st.text(max_size=300))
def test_a_text_is_measured_as_its_document_is(text: str) -> None:
    data = text.encode("utf-8", "replace")
    assert small_sizes(data, POLICY) == sizes_of(Document(data), POLICY)


def test_bytes_that_are_no_text_are_measured() -> None:
    for data in (b"\xff\xfe", b"[\xff]", b"", b"[1,2", b"NaN", b"-1"):
        assert small_sizes(data, POLICY) == sizes_of(Document(data), POLICY)


@pytest.mark.parametrize(
    "result",
    [
        {"content": [{"type": "text", "text": "[1,2,3]"}]},
        {"content": [{"type": "text", "text": "[1,2,3]"}], "isError": True},
        {"content": [{"type": "text", "text": "[1,2,3]", "annotations": {"priority": 1}}]},
        {"content": [{"type": "text", "text": "[1,2,3]"}], "_meta": {"a": 1}},
    ],
)
def test_an_answer_of_one_text_is_that_text(result: dict[str, Any]) -> None:
    assert sizes_of_answer(json.dumps(result).encode(), POLICY) == sizes_of(Document(b"[1,2,3]"), POLICY)


def test_an_answer_without_text_has_no_size() -> None:
    for content in (
        [],
        [{"type": "text", "text": ""}],
        [{"type": "image", "data": "", "mimeType": "image/png"}],
    ):
        assert sizes_of_answer(json.dumps({"content": content}).encode(), POLICY).original_tokens == 0


def test_a_trial_tells_what_would_have_been_done_and_holds_nothing() -> None:
    rows = json.dumps([{"id": at, "name": f"room {at}"} for at in range(2_000)])
    raw = json.dumps({"content": [{"type": "text", "text": rows}]}).encode()
    found = tried(raw, ToolRule(), b"", modern=False)
    assert found.trial is not None and found.trial.outcome == "page" and found.trial.tokens < 4_200
    assert found._replace(trial=None) == sizes_of_answer(raw, POLICY)
    small = tried(b'{"content":[{"type":"text","text":"[1]"}]}', ToolRule(), b"", modern=False)
    assert isinstance(small, AnswerSizes) and small.trial == Trial("passed", small.original_tokens)
