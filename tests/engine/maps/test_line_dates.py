"""Dates of texts: those that no calendar has, and what the last word of a heading tells of the order."""

from brimgate.engine.document import Document
from brimgate.engine.maps import foreword_of
from brimgate.engine.maps.line_dates import heading_dates, impossible_dates
from tests.engine.holding import policy

CHANGES = [
    line
    for at in range(40)
    for line in (
        f"## [1.{40 - at}.0] - 20{24 - at // 12}-{12 - at % 12:02}-{10 + at % 9:02}",
        "",
        "- Something was mended, as somebody had asked us to do.",
        "",
    )
]


def test_a_date_of_no_calendar_is_found_among_dates() -> None:
    lines = [*CHANGES, "Released on 2023-02-30, at last"]
    (found,) = impossible_dates(lines)
    assert found.place == len(lines) and found.text.startswith("2023-02-30 is no date of a calendar")


def test_numbers_in_the_form_of_a_date_are_no_dates_where_none_is_one() -> None:
    assert impossible_dates([f"part 2099-{at:02}-77 in stock" for at in range(20, 60)]) == []


def test_headings_that_end_with_dates_tell_from_when_to_when() -> None:
    assert len(list(heading_dates(CHANGES))) == 40
    text = (
        "# Changes\n\nAll that a user of this program notices is told here, the newest first.\n\n"
        + "\n".join(CHANGES)
    )
    told = foreword_of(Document.read(text.encode()), policy()).within(900, policy().estimator)
    assert "40 lines end with a date: 2021-09-13 … 2024-12-10" in told
