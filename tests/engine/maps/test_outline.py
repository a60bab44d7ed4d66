"""Documents: where their sections are, and what in them is unfinished or cannot be true."""

import pytest

from brimgate.engine.maps.outline import DETECTOR, recognise, survey
from brimgate.engine.maps.survey import Survey, TextLines

GUIDE = """# Guide

Intro to the guide with [a link](#install) and [another](#missing-part).

## Install

The default timeout is 30 seconds and the session cookie lifetime is 24 hours.

```python
# not a heading
```

## Configure

| Variable | Meaning | Default |
|---|---|---|
| `MAX_UPLOAD` | size | 10 |

### Limits

TODO: describe the limits of uploads

### Empty one

## Operate

`MAX_UPLOAD` defaults to 20 on small machines. Nothing else.

> WARNING: restarting drops all sessions.

## Install

Again the same text as before here.
"""


def look(text: str) -> Survey:
    lines = TextLines.of(text)
    assert recognise(lines) > 0.5
    return survey(lines)


def told(text: str) -> list[tuple[int, str]]:
    return [(one.place, one.text) for one in look(text).findings]


def test_markdown_has_an_outline_with_line_ranges() -> None:
    result = look(GUIDE)
    assert (
        result.title == "document: 7 headings, 87 words, 33 lines, 1 table with 1 row, 1 code block, 2 links"
    )
    assert [line.text for line in result.lines] == [
        "1-33 Guide",
        "5-12 Install",
        "13-24 Configure: Limits 19, Empty one 23",
        "25-30 Operate",
        "31-33 Install",
    ]


def test_what_is_unfinished_or_contradicts_itself_stands_out() -> None:
    assert told(GUIDE) == [
        (3, "link to #missing-part, which no heading has"),
        (21, "TODO: describe the limits of uploads"),
        (23, "section without text: Empty one"),
        (27, "two values of one quantity (MAX_UPLOAD): 20 here, 10 at 17"),
        (29, "> WARNING: restarting drops all sessions."),
        (31, "heading a second time: Install, first at 5"),
    ]


def test_skipped_and_repeated_numbers_of_sections_are_told() -> None:
    titles = [
        "1.  Introduction",
        "2.  Terms",
        "2.1.  Parties",
        "2.3.  Things",
        "3.  Use",
        "3.  Use again",
        "4.  End",
    ]
    text = "\n\n".join(f"{title}\n\n   This part describes the things that are in it." for title in titles)
    assert told(text) == [
        (13, "number 2.2 is missing before 2.3. Things"),
        (21, "number 3 a second time, first at 17: 3. Use again"),
    ]


def test_articles_of_a_contract_are_its_outline() -> None:
    articles = [
        f"Article {n}\n\nThe supplier delivers item {n} with a delivery notice period of {60 if n == 7 else 30} days.\n"
        for n in range(1, 13)
    ]
    result = look("\n".join(articles))
    assert result.lines[4].text == "17-20 Article 5"
    ((line, text),) = [(one.place, one.text) for one in result.findings]
    assert line == 27 and "60 days here, 30 days at 3 and 10 more" in text


def test_the_one_date_that_breaks_the_order_of_a_changelog_is_told() -> None:
    releases = [
        f"## 1.{20 - n}.0 - 2024-{12 - n:02}-01\n\n- Something that is useful for the users\n"
        for n in range(9)
    ]
    releases[4] = releases[4].replace("2024", "2023")
    assert told("\n".join(releases)) == [
        (17, "date out of order: 1.16.0 - 2023-08-01 (before it 1.17.0 - 2024-09-01)")
    ]


@pytest.mark.parametrize(
    "text",
    [
        (
            "Title of it\n===========\n\nSome text that explains what this is.\n\nFirst\n-----\n\nMore text that"
            " explains it.\n\nNext\n----\n\nAnd more of the text here.\n"
        ),
        (
            "= Title\n\nSome text that explains what this is.\n\n== First\n\nMore text that explains it.\n\n=="
            " Next\n\nAnd more of the text.\n"
        ),
        (
            "NAME\n       ls - list the contents of folders\n\nSYNOPSIS\n       ls [OPTION]\n\nDESCRIPTION\n      "
            " List information about the files in it.\n"
        ),
    ],
)
def test_other_ways_to_write_headings_are_known(text: str) -> None:
    assert look(text).title.startswith("document: 3 headings")


@pytest.mark.parametrize(
    "text",
    [
        "",
        '{"a": "# b"}\n' * 4,
        "# comment\nkey: value\nother: 1\nlast:\n  a: 1\n",
        "2026-01-01 10:00:00 INFO the server is up and runs\n" * 5,
        "# a\nimport os\n# b\ndef f():\n    return os.sep\n# c\nx = f()\n",
    ],
)
def test_other_kinds_are_left_to_others(text: str) -> None:
    assert recognise(TextLines.of(text)) < 0.2


@pytest.mark.parametrize(
    "text", ["", "\x00", "#" * 5_000, "# \n## \n===\n---\n", "|" * 3_000, "1.1.1\n" * 40, "é" * 9_999]
)
def test_odd_input_is_survived(text: str) -> None:
    assert DETECTOR.survey(TextLines.of(text)).title


def test_latex_is_a_document_with_the_headings_of_its_commands() -> None:
    part = "\\section{{Part {at}}}\\label{{sec:{at}}}\n\nThe water runs from here to the other end of the town.\n"
    chapter = "\\chapter{{Site {at}}}\n\nWhat follows was measured by two people in one week.\n\n"
    text = "\\documentclass{book}\n" + "".join(
        chapter.format(at=at) + part.format(at=at) * 3 for at in range(6)
    )
    lines = TextLines.of(text)
    assert recognise(lines) >= 0.5
    assert survey(lines).title.startswith("document: 6 chapters, 18 sections, ")
