"""Conversations: who speaks, what was decided, and what does not fit."""

import pytest

from brimgate.engine.maps.survey import Survey, TextLines
from brimgate.engine.maps.transcript import DETECTOR, recognise, survey

CHAT = """[09:01] Alice: Good morning everyone, shall we start?
[09:02] Bob: Yes, let's look at the numbers first.
[09:03] Alice: The project budget is 40000 EUR as of today.
[09:05] Carol: I'll send the slides by Friday.
[09:07] Bob: We decided to use the new vendor.
[09:10] Alice: Fine with me, any objections to that?
[09:12] Carol: No objections from my side at all.
[09:13] Bob: Please keep this confidential until the launch.
[08:40] Alice: Wait, the clock is off on my side.
[09:15] Dave: I only joined to say hello to you.
[09:16] Carol: The project budget is 45000 EUR, not what was said.
[09:17] Bob: Let us check that after the meeting then.
[09:18] Alice: Okay, moving on to the next point now.
[09:19] Carol: See attached report.pdf for the details of it.
[09:20] Bob: Thanks, that is all from my side today.
"""
MAIL = """From: Ann Lee <ann@acme.com>
Date: Mon, 12 Jan 2026 10:00:00 +0000
Subject: Contract renewal
To: Bob

Hi Bob, can we renew by January 30? The price would be $12,000.

From: Bob Ray <bob@acme.com>
Date: Mon, 12 Jan 2026 11:00:00 +0000
Subject: Re: Contract renewal

Approved. Please send the contract.

On Mon, Jan 12, 2026 at 10:00 AM Ann Lee <ann@acme.com> wrote:
> Hi Bob, can we renew?
"""


def look(text: str) -> Survey:
    lines = TextLines.of(text)
    assert recognise(lines) > 0.8
    return survey(lines)


def test_a_chat_has_people_decisions_and_amounts() -> None:
    result = look(CHAT)
    assert result.title == "conversation: 15 messages of 4 people, 09:01 … 09:20, 15 lines"
    texts = [line.text for line in result.lines]
    assert texts[0] == "messages by Alice 5, Bob 5, Carol 4, Dave 1"
    assert "decisions 1: 5 decided to use the new vendor." in texts
    assert "amounts 2: 3 40000 EUR · 11 45000 EUR" in texts
    assert "questions 2: lines 1, 6" in texts


def test_what_does_not_fit_in_a_chat_is_told() -> None:
    assert [(one.place, one.text) for one in look(CHAT).findings] == [
        (4, "[09:05] Carol: I'll send the slides by Friday."),
        (5, "[09:07] Bob: We decided to use the new vendor."),
        (8, "[09:13] Bob: Please keep this confidential until the launch."),
        (9, "time goes back: 08:40 (Alice) after 09:13"),
        (10, "Dave says something only once"),
        (11, "two values of one quantity (project budget): 45000 EUR here, 40000 EUR at 3"),
    ]


def test_mails_are_found_by_their_headers_and_by_quotes() -> None:
    result = look(MAIL)
    assert result.title.startswith("e-mails: 3 messages of 2 people, Mon, 12 Jan 2026 10:00:00 +0000 … ")
    assert [line.text for line in result.lines][:2] == [
        "messages by Ann Lee 2, Bob Ray 1",
        "subjects Contract renewal ×2 from 1",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "INFO: a b c d\nWARN: e f g h\nINFO: i j k l\nERROR: m n o p\n",
        "name: x\nserver:\n  host: a\n  port: 1\nlast: 1\n",
        "# Title\n\nSome text about it: with more.\n\n## Next\n\nMore of the text here.\n",
        "10:00:01 INFO server: up and running now\n" * 5,
        "def f(x):\n    return x\n\nclass A:\n    y: int = 2\n    z: int = 3\n",
    ],
)
def test_other_kinds_are_left_to_others(text: str) -> None:
    assert recognise(TextLines.of(text)) == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\x00:",
        "From:\nDate:\n\n",
        "A: \n" * 50,
        "a b c d e f: " * 150,
        "[99:99] X: y\n" * 20,
        ": : :\n" * 9,
    ],
)
def test_odd_input_is_survived(text: str) -> None:
    assert DETECTOR.survey(TextLines.of(text)).title
