"""What holds of every answer the Graphiti pack words, whatever is in it."""

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from brimgate.engine import jsontext
from brimgate.engine.decision import Format, decide
from brimgate.engine.document import Document
from brimgate.packs.formatter import TINY_BYTES, Trouble, format_document
from brimgate.packs.graphiti import PACK
from brimgate.packs.members import unwrapped
from brimgate.packs.pack import Scene, fold
from brimgate.packs.short_ids import ReferenceBook, ids_in, shortener
from tests.engine.holding import policy
from tests.packs.formatted import NOW, PATIENT, SCENES, as_document, command_line, relay, said
from tests.packs.strategies import Answered, Json, answers, arbitrary, provenances, texts, uuids

TOOLS = sorted(PACK.tools)


def formatted(tool: str, answer: Any, scene: Scene) -> str:
    """What the formatter says, also where JSON would have been shorter."""
    formatter = PACK.tool(tool).formatter
    assert formatter is not None
    return formatter(answer, scene)


def what_matters(item: Json) -> list[str]:
    shown = [item[key] for key in ("name", "summary", "fact", "content") if item.get(key)]
    shown += [item[key] for key in ("source_node_name", "target_node_name") if item.get(key)]
    return shown + [item[key][:10] for key in ("valid_at", "invalid_at", "expired_at") if item.get(key)]


@pytest.mark.property
@given(answered=answers(), scene=st.sampled_from(sorted(SCENES)))
def test_names_summaries_relations_facts_contents_and_dates_survive_whole(
    answered: Answered, scene: str
) -> None:
    tool, _, items, answer = answered
    text = formatted(tool, answer, SCENES[scene](as_document(answer)))
    for item in items:
        for part in what_matters(item):
            assert fold(part) in text


@pytest.mark.property
@given(answered=answers(), scene=st.sampled_from(sorted(SCENES)))
def test_every_item_is_one_line_whatever_is_stored(answered: Answered, scene: str) -> None:
    tool, _, items, answer = answered
    text = formatted(tool, answer, SCENES[scene](as_document(answer), {"query": "a\n1. b"}))
    entries = [line for line in text.splitlines() if re.match(r"- |\d+\. ", line)]
    said = unwrapped(answer)["message"]
    assert len(entries) - bool(re.match(r"- |\d+\. ", said)) == len(items)
    assert text.split("\n") == text.splitlines(), "nothing else that ends a line is in it"


@given(text=texts)
def test_a_folded_text_reads_back(text: str) -> None:
    breaks = {r"\n": "\n", r"\r": "\r", r"\\": "\\"}

    def unfolded(found: re.Match[str]) -> str:
        return breaks.get(found[0]) or chr(int(found[0][2:], 16))

    folded = fold(text)
    assert re.sub(r"\\[nr\\]|\\u[0-9a-f]{4}", unfolded, folded) == text
    assert len(folded.splitlines()) <= 1


@pytest.mark.property
@given(answer=provenances(), scene=st.sampled_from(sorted(SCENES)))
def test_they_survive_where_entities_and_facts_come_together(answer: Json, scene: str) -> None:
    for tool in ("get_episode_entities", "add_triplet"):
        text = formatted(tool, answer, SCENES[scene](as_document(answer)))
        assert all(
            fold(part) in text for item in (*answer["nodes"], *answer["edges"]) for part in what_matters(item)
        )


@pytest.mark.property
@given(answered=answers(), scene=st.sampled_from(sorted(SCENES)))
def test_a_text_that_is_used_is_never_longer_than_minified_json(answered: Answered, scene: str) -> None:
    tool, _, _, answer = answered
    document = as_document(answer)
    text, troubles = said(tool, document, SCENES[scene](document, {"query": "why?"}))
    if text is None:
        told = [] if len(document) <= TINY_BYTES else ["longer than minified JSON"]
        assert [trouble.error for trouble in troubles] == told
    else:
        assert not troubles
        assert len(text.encode()) <= len(jsontext.canonical(document))


@pytest.mark.property
@given(answered=answers(), family=st.sampled_from(["o200k", "claude", "chars4"]))
def test_a_text_that_is_used_never_costs_more_tokens(answered: Answered, family: str) -> None:
    tool, _, _, answer = answered
    document = as_document(answer)
    chosen = policy(4_000, family, compact="always", has_notices=False)

    def answer_format(page: bytes, first: int, total: int | None, _: int) -> str | None:
        return said(tool, page, Scene(first=first, total=total))[0]

    plan = decide(Document(document), chosen, answer_format)
    if isinstance(plan, Format):
        assert chosen.estimator.ceiling(plan.text) <= min(4_000, chosen.estimator.ceiling(document))


@pytest.mark.property
@given(answered=answers(), earlier=st.lists(uuids, max_size=5))
def test_every_short_id_leads_back_to_exactly_its_own(
    tmp_path_factory: pytest.TempPathFactory, answered: Answered, earlier: list[str]
) -> None:
    tool, _, items, answer = answered
    book = ReferenceBook(tmp_path_factory.mktemp("book") / "ids.txt")
    book.remember(earlier)
    document = as_document(answer)
    written: dict[str, str] = {}
    shorten = shortener((*ids_in(document), *book.ids))

    def note(whole: str) -> str:
        written[whole] = shorten(whole)
        return written[whole]

    text = formatted(tool, answer, Scene(now=NOW, shorten=note))
    book.remember(whole for whole, short in written.items() if short != whole)
    assert {item["uuid"] for item in items} <= set(written)
    for whole, short in written.items():
        assert f"#{short}" in text
        assert all(book.resolve(prefix + short) == whole for prefix in ("", "#", "...", "…"))


_RELATIVE = re.compile(r"\d+[mhd] ago")


@pytest.mark.property
@given(answered=answers())
def test_for_a_model_times_are_absolute_ids_whole_and_the_bytes_the_same(answered: Answered) -> None:
    tool, _, items, answer = answered
    document = as_document(answer)
    assume(not _RELATIVE.search(document.decode()))
    text = formatted(tool, answer, relay(document))
    assert not _RELATIVE.search(text)
    assert all(f"#{item['uuid']}" in text for item in items)
    assert formatted(tool, msgspec.json.decode(document), relay(document)) == text


@pytest.mark.property
@given(tool=st.sampled_from(TOOLS), answer=arbitrary, scene=st.sampled_from(sorted(SCENES)))
def test_whatever_a_server_answers_there_is_a_text_a_failure_or_one_trouble(
    tool: str, answer: Any, scene: str
) -> None:
    document = as_document(answer)
    text, troubles = said(tool, document, SCENES[scene](document, {"query": "x"}))
    if text is not None:
        assert not troubles
    elif not PACK.failure(answer) and (troubles or len(document) > TINY_BYTES):
        assert [trouble.is_fatal for trouble in troubles] == [True]
        assert troubles[0].input_bytes == len(document)


@pytest.mark.property
@given(tool=st.sampled_from(TOOLS), document=st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_whatever_bytes_come_nothing_is_raised(tool: str, document: bytes) -> None:
    troubles: list[Trouble] = []
    text = format_document(PACK, tool, document, command_line(document), troubles.append, PATIENT)
    assert (text is None) == (len(troubles) == 1)


@pytest.mark.property
@given(answer=arbitrary)
def test_whether_an_answer_tells_of_a_failure_can_be_asked_of_anything(answer: Any) -> None:
    assert isinstance(PACK.failure(answer), str)


def test_deep_nesting_costs_the_text_only(tmp_path: Path) -> None:
    document = b'{"message":"x","nodes":' + b"[" * 5_000 + b"]" * 5_000 + b"}"
    text, troubles = said("search_nodes", document, relay(document))
    assert text is None
    assert len(troubles) == 1


def test_a_message_made_to_keep_a_pattern_busy_is_just_a_message() -> None:
    """It held the interpreter for seconds once, and with it the guard's own clock."""
    trap = "Episode '" + "' queued for processing in group '" * 40_000 + "x"
    document = as_document({"message": trap})
    assert said("add_memory", document, relay(document)) == (trap, [])
    whole = trap + "'"
    document = as_document({"message": whole})
    text, _ = said("add_memory", document, relay(document))
    assert text is not None
    assert text.endswith('" (x)')
