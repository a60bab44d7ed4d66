"""Lines with words of their own are told with their numbers, where such words are rare."""

import random
from hashlib import sha256

import pytest

from brimgate.engine.document import Document
from brimgate.engine.maps import foreword_of
from brimgate.engine.maps.rare_words import rare_lines, rare_texts
from tests.engine.holding import policy

POLICY = policy()
WORDS = [
    "archive",
    "batch",
    "channel",
    "deliver",
    "editor",
    "folder",
    "guide",
    "handle",
    "invoice",
    "journal",
]


def filler(count: int) -> list[str]:
    rng = random.Random(5)
    return [
        f"The {rng.choice(WORDS)} keeps {rng.randint(100, 999)} of the {rng.choice(WORDS)}."
        for _ in range(count)
    ]


@pytest.mark.parametrize(
    "odd",
    [
        "Disputes are heard in Reykjavik by three arbiters.",
        "The guide keeps 1234567 of the folder.",
        "The journal keeps [●] of the batch.",
        "The folderWipeout keeps 300 of the batch.",
    ],
)
def test_a_line_with_a_word_a_number_or_a_sign_of_its_own_is_told_with_its_number(odd: str) -> None:
    lines = filler(300)
    lines[170] = odd
    assert [one.text for one in rare_lines(lines, ())] == [f"171: {odd}"]


def test_the_part_of_a_long_line_is_told_that_has_the_word() -> None:
    lines = filler(300)
    lines[40] = " ".join(filler(6)) + " They went to Reykjavik. " + filler(1)[0]
    (told,) = rare_lines(lines, ())
    assert "Reykjavik" in told.text
    assert len(told.text) < 200


def test_nothing_is_told_where_most_lines_have_words_of_their_own_and_of_what_was_told_already() -> None:
    lines = filler(300)
    lines[9] = "A lonely walrus sang."
    assert rare_lines(lines, {10}) == []
    rng = random.Random(6)
    assert rare_lines(["".join(rng.choices("abcdefghijklmnop", k=9)) for _ in range(300)], ()) == []


def test_ids_of_letters_and_digits_are_no_words() -> None:
    lines = [f"{sha256(str(at).encode()).hexdigest()[:12]} goes to {WORDS[at % 10]}" for at in range(500)]
    assert any(line[:12].isdigit() for line in lines)
    lines[200] += " by way of Reykjavik"
    assert [one.text for one in rare_lines(lines, ())] == [f"201: {lines[200]}"]


def test_every_reader_of_a_long_text_numbers_its_lines_from_one() -> None:
    lines = filler(10_000)
    lines[9_000] = "A lonely walrus sang."
    assert [one.text for one in rare_lines(lines, ())] == ["9001: A lonely walrus sang."]


def test_a_credential_is_masked_wherever_its_line_is_told() -> None:
    lines = filler(300)
    lines[99] = (
        "(backup of the folder of the journal and of the guide) mysqldump --password=jZet6krDiZXGnwfEC2 shop > /srv/x.sql"
    )
    lines[200] = "ALTER ROLE report WITH PASSWORD 'K7Qd3fc3b50s0BDmG3K7'"
    text = foreword_of(Document.read("\n".join(lines).encode()), POLICY).within(2_000, POLICY.estimator)
    assert "jZet****" in text
    assert "K7Qd****" in text
    assert "jZet6krDiZXGnwfEC2" not in text
    assert "K7Qd3fc3b50s0BDmG3K7" not in text


def test_a_line_that_stands_out_anyway_is_told_once() -> None:
    lines = filler(300)
    lines[170] = "Disputes are heard in Reykjavik by three arbiters."
    text = foreword_of(Document.read("\n".join(lines).encode()), POLICY).within(2_000, POLICY.estimator)
    assert text.count("Reykjavik") == 1


def items(count: int = 200) -> list[tuple[str, str]]:
    """The texts of a JSON answer with their pointers: what is said of each item, and its id."""
    texts = filler(count)
    ids = [sha256(str(at).encode()).hexdigest()[:12] for at in range(count)]
    return [
        one for at in range(count) for one in ((f"/items/{at}/text", texts[at]), (f"/items/{at}/id", ids[at]))
    ]


def test_a_text_of_a_json_answer_with_a_word_of_its_own_is_told_with_its_pointer() -> None:
    texts = items()
    texts[240] = ("/items/120/text", "STOP: the folder was emptied by hand.")
    assert [one.text for one in rare_texts(texts, ())] == [
        "/items/120/text: STOP: the folder was emptied by hand."
    ]
    assert rare_texts(texts, {"/items/120"}) == []


def test_texts_that_all_have_words_of_their_own_are_free_texts() -> None:
    texts = [(f"/items/{at}/text", f"{chr(97 + at % 26)}{chr(97 + at // 26)}xyz speaks") for at in range(200)]
    assert rare_texts(texts, ()) == []
