"""The guard around a formatter: whatever that does, the caller has an answer, and what went wrong is told once."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from brimgate.packs import formatter
from brimgate.packs.formatter import Limits, Trouble, answer_format_of, format_document
from brimgate.packs.pack import Formatter, Pack, Scene, Tool
from tests.packs.formatted import PATIENT, pack_of

ANSWER = b'{"items": [1, 2, 3], "note": "kept private"}'
MINIFIED = '{"items":[1,2,3],"note":"kept private"}'
LONG_WAIT_SECONDS = 30


def guarded(
    formatter: Formatter, document: bytes = ANSWER, limits: Limits = PATIENT
) -> tuple[str | None, list[Trouble]]:
    troubles: list[Trouble] = []
    return format_document(pack_of(formatter), "look", document, Scene(), troubles.append, limits), troubles


@pytest.fixture
def end() -> Iterator[threading.Event]:
    """Set when the test is over: until then a formatter may hang."""
    event = threading.Event()
    yield event
    event.set()


def test_the_usual_limits_are_those_of_the_brief() -> None:
    assert Limits() == (0.1, 0.05)


def test_a_text_is_used_and_nothing_told() -> None:
    assert guarded(lambda answer, _: f"{len(answer['items'])} items") == ("3 items", [])


def test_a_tool_without_a_formatter_has_no_words_and_no_trouble() -> None:
    troubles: list[Trouble] = []
    for pack in (Pack("none", "", {}), Pack("none", "", {"look": Tool()})):
        assert format_document(pack, "look", ANSWER, Scene(), troubles.append) is None
    assert troubles == []


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError("seven"), "ValueError: seven"),
        (KeyError("summary"), "the answer lacks 'summary'"),
        (RecursionError("too deep"), "RecursionError: too deep"),
        (MemoryError(), "MemoryError: "),
        (SystemExit(3), "SystemExit: 3"),
        (KeyboardInterrupt(), "KeyboardInterrupt: "),
        (Unspeakable(), "Unspeakable: "),
        (ValueError("long " * 1_000), ("ValueError: " + "long " * 60)[:300]),
        (KeyError("k" * 1_000), ("the answer lacks '" + "k" * 300)[:300]),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_a_formatter_that_raises_costs_its_own_text_only(error: BaseException, told: str) -> None:
    def formatter(_: Any, __: Scene) -> str:
        raise error

    text, troubles = guarded(formatter)
    assert text is None
    assert [trouble.error for trouble in troubles] == [told]


def test_a_missing_field_is_named() -> None:
    text, troubles = guarded(lambda answer, _: str(answer["total"]))
    assert (text, [trouble.error for trouble in troubles]) == (None, ["the answer lacks 'total'"])


@pytest.mark.parametrize("made", [None, 17, b"bytes", ["a"]], ids=repr)
def test_what_is_no_text_is_not_used(made: Any) -> None:
    text, troubles = guarded(lambda _, __: made)
    assert text is None
    assert [trouble.is_fatal for trouble in troubles] == [True]


def test_a_text_as_long_as_minified_json_is_used_and_one_byte_more_is_not() -> None:
    assert guarded(lambda _, __: "x" * len(MINIFIED))[0] is not None
    text, troubles = guarded(lambda _, __: "x" * (len(MINIFIED) + 1))
    assert (text, [trouble.error for trouble in troubles]) == (None, ["longer than minified JSON"])


def test_length_is_in_bytes_not_characters() -> None:
    assert guarded(lambda _, __: "é" * (len(MINIFIED) // 2 + 1))[0] is None


def test_an_escaped_answer_is_measured_by_its_characters() -> None:
    """`\\u00e9` for é is the writer's choice; it must not make room for a longer text."""
    document = b'["' + b"\\u00e9" * 20 + b'"]'
    assert guarded(lambda _, __: "x" * 60, document)[0] is None


def test_a_formatter_that_hangs_is_left_behind(end: threading.Event) -> None:
    def formatter(_: Any, __: Scene) -> str:
        while not end.wait(0.001):
            pass
        return "late"

    text, troubles = guarded(formatter, limits=Limits(0.02, 0.01))
    assert text is None
    assert [trouble.error for trouble in troubles] == ["took longer than 20 ms"]


def test_a_formatter_over_the_usual_limit_is_not_waited_for(end: threading.Event) -> None:
    text, troubles = guarded(lambda _, __: str(end.wait(LONG_WAIT_SECONDS)), limits=Limits())
    assert text is None
    assert [(trouble.error, trouble.is_fatal) for trouble in troubles] == [("took longer than 100 ms", True)]


def test_what_comes_late_changes_nothing() -> None:
    """It ends after it was given up, as one would that takes 0.3 s."""
    given_up, ended = threading.Event(), threading.Event()

    def formatter(_: Any, __: Scene) -> str:
        given_up.wait(LONG_WAIT_SECONDS)
        ended.set()
        raise ValueError("too late to be heard")

    text, troubles = guarded(formatter, limits=Limits(0.02, 0.01))
    given_up.set()
    assert ended.wait(LONG_WAIT_SECONDS)
    assert text is None
    assert [trouble.error for trouble in troubles] == ["took longer than 20 ms"]


def test_a_formatter_that_hangs_is_not_begun_again_and_again_and_taken_back_when_it_ends() -> None:
    go_on, begins = threading.Event(), threading.Semaphore(0)
    begun: list[threading.Thread] = []

    def formatter(_: Any, __: Scene) -> str:
        begun.append(threading.current_thread())
        begins.release()
        return "fine" if go_on.wait(LONG_WAIT_SECONDS) else "never"

    errors = [guarded(formatter, limits=Limits(0.01, 0.01))[1][0].error for _ in range(8)]
    assert errors == ["took longer than 10 ms"] * 4 + ["still at work on 4 answers before this one"] * 4
    assert guarded(lambda _, __: "another is not affected")[0] is not None
    assert all(begins.acquire(timeout=LONG_WAIT_SECONDS) for _ in range(4))
    go_on.set()
    for thread in begun:
        thread.join(LONG_WAIT_SECONDS)
    assert len(begun) == 4
    assert guarded(formatter) == ("fine", [])


def test_a_slow_text_is_used_and_told() -> None:
    """The threshold is lowered instead of the formatter slowed: 60 to 90 ms cannot be hit on a busy machine."""
    text, troubles = guarded(lambda _, __: "fine", limits=Limits(LONG_WAIT_SECONDS, 0))
    assert text == "fine"
    assert [(trouble.error, trouble.is_fatal) for trouble in troubles] == [("slow: over 0 ms", False)]


@pytest.mark.parametrize(
    "document", [b"", b"plain text", b'{"a":', b"\xff\xfe", b'"\\ud800"', b"NaN"], ids=repr
)
def test_what_is_no_json_is_never_given_to_a_formatter(document: bytes) -> None:
    given: list[Any] = []
    text, troubles = guarded(lambda answer, _: str(given.append(answer)), document)
    assert (text, given, len(troubles)) == (None, [], 1)


def test_an_answer_that_tells_of_a_failure_is_not_worded_and_no_trouble() -> None:
    troubles: list[Trouble] = []
    tools = {"look": Tool(lambda _, __: "fine")}
    pack = Pack("toy", "", tools, failure=lambda answer: answer.get("error", ""))
    assert format_document(pack, "look", b'{"error": "no database"}', Scene(), troubles.append) is None
    assert troubles == []


def test_the_record_of_a_trouble_has_nothing_of_the_answer() -> None:
    trouble = guarded(lambda answer, _: answer["total"])[1][0]
    assert trouble.fields.keys() == {"operation", "inputBytes", "error", "elapsedMs"}
    assert (trouble.fields["operation"], trouble.fields["inputBytes"]) == ("look", len(ANSWER))
    assert "private" not in str(trouble.fields)


def test_a_page_is_worded_with_its_place() -> None:
    seen: list[bytes] = []

    def scene(document: bytes) -> Scene:
        seen.append(document)
        return Scene({"query": "x"})

    pack = pack_of(lambda _, at: f"{at.first} of {at.total} for {at.arguments['query']}")
    answer_format = answer_format_of(pack, "look", scene, lambda _: None)
    assert answer_format(ANSWER, 50, 500, 1_000) == "50 of 500 for x"
    assert seen == [ANSWER]


def test_whether_an_answer_tells_of_a_failure_is_not_waited_for_without_end(
    end: threading.Event, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failure(_: Any) -> str:
        print("none of the data")  # noqa: T201  # which is what it must not become
        end.wait()
        return "late"

    monkeypatch.setattr(formatter, "_FAILURE_SECONDS", 0.2)
    pack = Pack("toy", "", {}, failure=failure)
    assert formatter.failure_of(pack, b"{}") == ""
    assert capsys.readouterr().out == ""
