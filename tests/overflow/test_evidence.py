"""The reader of the benchmark counts what a reply says, not what happens to stand in it."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))  # bench/ is not installed

from bench.overflow.evidence import (
    Evidence,
    Means,
    has,
    stands_in_a_row,
    stands_within_lines,
    tells_count,
    variants,
)
from bench.overflow.question import Question

ANSWER = "id,state\n" + "".join(
    f"BK-{number},{'paid' if number % 3 else 'open'}\n" for number in range(100, 400)
)


def question(kind: str, answer: tuple[tuple[str, ...], ...], *searches: str) -> Question:
    return Question(kind, "How many bookings are there in each state?", answer, (), searches, ())


def found(word: str, text: str) -> bool:
    return any(has(word, one) for one in variants(text))


def shows(asked: Question, means: Means, words: str, reply: str) -> bool:
    evidence = Evidence(asked, ANSWER)
    evidence.take(means, words, reply)
    return evidence.is_right


@pytest.mark.parametrize("text", ["12", "n=12,", "12 rows", "(12)", "12.0", "12.", "sum: 12"])
def test_a_number_is_found(text: str) -> None:
    assert found("12", text)


@pytest.mark.parametrize(
    "text", ["112", "120", "12.5", "3.12", "12,345", "2025-12-01", "r12", "12px", "10:12", "1,112"]
)
def test_a_number_inside_a_longer_one_is_not_found(text: str) -> None:
    assert not found("12", text)


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("1213", "200 1,213, 304"),
        ("1,213", "1213"),
        ("5221.0", "5,221"),
        ("441.69", "avg 441.69148936"),
        ("-887", "x=-887"),
    ],
)
def test_spellings_of_a_number_are_one_number(word: str, text: str) -> None:
    assert found(word, text)


def test_the_tail_of_a_grouped_number_is_not_the_number() -> None:
    assert not found("213", "status 200 1,213")
    assert found("378.18", "9,42.02,378.18")


def test_words_of_a_row_stand_together() -> None:
    assert stands_in_a_row(("open", "65"), "state|n\nopen|65\nclosed|66")
    assert not stands_in_a_row(("open", "66"), "state|n\nopen|65\nclosed|66")
    assert stands_in_a_row(("open", "65"), '[{"state":"open","n":65},{"state":"closed","n":66}]')
    assert not stands_in_a_row(("open", "66"), '[{"state":"open","n":65},{"state":"closed","n":66}]')
    assert stands_within_lines(("a", "b"), "a\nx\nb") and not stands_within_lines(("a", "b"), "a\nx\nx\nb")


def test_a_figure_counts_only_where_it_was_asked_for() -> None:
    asked = question("count", (("open", "100"), ("paid", "200")), "open", "paid")
    page = "BK-100,open\nBK-200,paid\n"
    assert not shows(asked, "tool", "", page)
    assert not shows(asked, "search", "open", page)
    assert not shows(asked, "tool", "", "open 100, paid 200")
    assert shows(asked, "tool", "", "state open 100, paid 200")
    assert shows(asked, "query", "SELECT", "state|n\nopen|100\npaid|200")
    assert not shows(asked, "query", "SELECT", "state|n\nopen|200\npaid|100")


def test_a_search_tells_the_figure_of_what_it_searched_for() -> None:
    asked = question("count", (("open", "100"),), "open")
    assert shows(asked, "search", "open", "count: 100 matches in 100 of 300 items")
    assert shows(asked, "search", "-c ',open'", "100\n")
    assert not shows(asked, "search", "paid", "count: 100 matches in 100 of 300 items")
    assert not tells_count("100", "matching lines 1-100 of 200, of 300 searched")


def test_a_single_number_needs_a_word_of_the_question() -> None:
    asked = question("sum", (("817",),))
    assert not shows(asked, "tool", "", "items 1-20 of 817")
    assert shows(asked, "tool", "", "bookings: sum 817")
    assert not shows(asked, "read", "", "bookings: sum 8170")


def test_an_item_counts_beside_what_the_question_is_about() -> None:
    asked = question("lookup", (("paid",),), "BK-205")
    assert not shows(asked, "tool", "", "BK-100,paid\nBK-101,paid")
    assert shows(asked, "tool", "", "BK-205,paid")
    assert not shows(asked, "tool", "", "BK-205," + "x" * 500 + ",paid")


def test_all_is_read_when_nothing_is_left_and_nothing_was_left_out() -> None:
    asked = question("sum", (("817",),))
    evidence = Evidence(asked, ANSWER)
    evidence.take("tool", "", ANSWER[:2_003])
    assert not evidence.is_right
    evidence.take("read", "", ANSWER[2_003:-20], is_last=True)
    assert not evidence.is_right
    evidence.take("read", "", ANSWER[-20:], is_last=True)
    assert evidence.is_right
