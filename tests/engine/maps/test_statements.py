"""Prose: the sentences that say what the rest does not."""

from brimgate.engine.maps.credentials_scan import find_secrets, masked_secrets
from brimgate.engine.maps.statements import statement_findings

NOUNS = ("branch", "ticket", "folder", "parcel", "invoice", "sensor")
FILLER = [
    f"The {one} service keeps the {two} in order as it was. Each {two} belongs to a {one}\nand follows its {three}."
    for one in NOUNS
    for two in NOUNS
    for three in NOUNS
    if len({one, two, three}) == 3
]


def prose(*planted: str) -> list[str]:
    """Return paragraphs of filler with the planted ones between them, far apart."""
    parts = list(FILLER)
    for at, text in enumerate(planted, 1):
        parts.insert(at * len(FILLER) // (len(planted) + 1), text)
    return "\n\n".join(parts).split("\n")


def test_a_duty_with_a_figure_stands_out_of_filler_with_its_line() -> None:
    lines = prose(
        "A frame MUST NOT be longer than 16384 octets.", "The launch moves from 14 November to 6 October."
    )
    found, _ = statement_findings(lines)
    told = {one.text: lines[one.place - 1] for one in found}
    assert told.keys() == {
        "A frame MUST NOT be longer than 16384 octets.",
        "The launch moves from 14 November to 6 October.",
    }
    assert all(text == line for text, line in told.items())


def test_a_sentence_that_begins_inside_of_a_paragraph_has_the_line_it_begins_in() -> None:
    lines = prose(
        "The folder service keeps the ticket in order as it was.\nRefunds above 4,000 euros MUST be signed twice."
    )
    found, _ = statement_findings(lines)
    assert [lines[one.place - 1] for one in found] == ["Refunds above 4,000 euros MUST be signed twice."]


def test_what_is_repeated_on_every_page_and_what_stands_in_code_is_not_told() -> None:
    lines = [line for part in FILLER for line in (part, "", "RFC 98431 February 2025.", "")]
    lines += ["```", "timeout MUST be 900 seconds.", "```"]
    found, listed = statement_findings(lines)
    assert not found
    assert not any("RFC" in one.text or "900" in one.text for one in listed)


def test_where_every_sentence_has_a_figure_none_stands_out() -> None:
    lines = [
        f"Order {number} costs {number * 7} euros and is due on {number % 28 + 1} May."
        for number in range(200)
    ]
    assert statement_findings(lines)[0] == []


def test_a_password_that_a_sentence_gives_away_is_found_and_masked() -> None:
    line = "The admin password of the staging portal is TzeFWDKFJ0dBCH until we rotate it."
    assert [one.text for one in find_secrets(["Hello", line])] == ["secret told in words (password): Tz****"]
    assert "TzeFWDKFJ0dBCH" not in masked_secrets(line)
    assert find_secrets(["The password of a user is required and the token is checked twice."]) == []
