"""Records of several lines are rows: what a field says can be counted, compared and asked in SQL."""

import pytest

from brimgate.engine.maps.record_rows import record_rows
from brimgate.engine.maps.survey import TextLines

CALENDAR = """BEGIN:VEVENT
UID:{at}@example.org
DTSTART;TZID=Europe/Berlin:20260107T{hour}0000
ATTENDEE;CN=ann:mailto:ann@
 example.org
ATTENDEE;CN=bob:mailto:bob@example.org
BEGIN:VALARM
TRIGGER:-PT15M
END:VALARM
END:VEVENT"""
LDIF = """# person {at}
dn: uid=p{at},dc=example
cn: Person {at}
mail: p{at}@example.org
description: goes on
  in the next line
"""
SUBTITLE = """{at}
00:0{minute}:01,840 --> 00:0{minute}:05,327
One line,
and another one.
"""
ENTRY = """@article{{key{at},
  author = {{Kamau, Deniz}},
  year   = 20{at:02},
}}
"""
MESSAGE = """#, fuzzy
#: src/view.py:{at}
msgid "Delete {at}"
msgstr ""
"Lö"
"schen"
"""


def text_of(form: str, count: int = 12) -> TextLines:
    return TextLines.of(
        "\n".join(form.format(at=at, hour=10 + at % 9, minute=at % 10) for at in range(1, count + 1))
    )


@pytest.mark.parametrize(
    ("form", "first", "place"),
    [
        (
            CALENDAR,
            {
                "UID": "1@example.org",
                "DTSTART": "20260107T110000",
                "ATTENDEE": "mailto:ann@example.org | mailto:bob@example.org",
                "VALARM.TRIGGER": "-PT15M",
            },
            1,
        ),
        (
            LDIF,
            {
                "dn": "uid=p1,dc=example",
                "cn": "Person 1",
                "mail": "p1@example.org",
                "description": "goes on in the next line",
            },
            2,
        ),
        (
            SUBTITLE,
            {
                "number": "1",
                "start": "00:01:01,840",
                "end": "00:01:05,327",
                "text": "One line, and another one.",
            },
            1,
        ),
        (ENTRY, {"type": "article", "key": "key1", "author": "Kamau, Deniz", "year": "2001"}, 1),
        (MESSAGE, {"flags": "fuzzy", "places": "src/view.py:1", "msgid": "Delete 1", "msgstr": "Löschen"}, 1),
    ],
)
def test_each_record_is_a_row_at_its_first_line(form: str, first: dict[str, str], place: int) -> None:
    rows = record_rows(text_of(form))
    assert rows is not None and len(rows.rows) == 12
    assert (rows.rows[0], rows.places[0]) == (first, place)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "BEGIN:VEVENT",
        "END:VEVENT\n" * 40,
        "@article{x,\n" * 3,
        '"lost"\n' * 40,
        "A sentence: with a colon.\n\nAnother one follows, and more.\n" * 20,
        "\n".join(f"key{at}: value" for at in range(60)),
    ],
)
def test_other_texts_have_no_records(text: str) -> None:
    assert record_rows(TextLines.of(text)) is None
