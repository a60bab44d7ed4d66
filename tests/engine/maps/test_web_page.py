"""Pages and other markup: their parts, and what in them is not like the rest."""

import pytest

from brimgate.engine.maps.survey import Survey, TextLines
from brimgate.engine.maps.web_page import DETECTOR, recognise, survey


def row(number: int) -> str:
    status, total = "disputed" if number == 17 else "paid", 98_000 if number == 21 else 20 + number
    return f"<tr><td>A-{number}<td>{status}</td><td>{total}</td></tr>\n"


def card(number: int) -> str:
    button = "<button disabled>Sold out</button>" if number == 4 else "<button>Buy</button>"
    return f"<li class='card'><h3>Item {number}</h3><span class='price'>9.99</span>{button}</li>\n"


PAGE = (
    "<!DOCTYPE html>\n<html><head><title>Shop &amp; more</title>\n<link rel='canonical'"
    " href='https://shop.example/admin'></head>\n"
    "<body><!-- TODO remove the debug account -->\n<h1>Orders</h1>\n<div class='alert alert-danger'>Gateway"
    " is <b>down</b></div>\n"
    "<form id='pay' method='post' action='https://other.example/x'>\n<input type='hidden' name='price' value='100'>\n"
    "<input name='user' required></form>\n<table id='t'><tr><th>Order</th><th>Status</th><th>Total</th></tr>\n"
    + "".join(map(row, range(1, 31)))
    + "</table><ul id='t'>\n"
    + "".join(map(card, range(1, 9)))
    + "</ul><script>if (1<2) { x = '<h1>no</h1>' }</script></body></html>\n"
)


def look(text: str) -> Survey:
    lines = TextLines.of(text)
    assert recognise(lines) > 0.9
    return survey(lines)


def test_a_page_has_headings_forms_and_tables() -> None:
    result = look(PAGE)
    assert result.title == "HTML page “Shop & more”: 50 lines, 1 form, 1 table, 1 script"
    texts = [line.text for line in result.lines]
    assert texts[0].startswith("headings h1 Orders 5, h3 Item 1 42")
    assert "form pay 7-9 POST https://other.example/x: price (hidden), user (text required)" in texts
    assert "30 table rows 11-40 (Order, Status, Total): Status paid ×29, disputed ×1 (27 A-17)" in texts


def test_what_differs_on_a_page_is_told() -> None:
    assert [(one.place, one.text.partition(" (others")[0]) for one in look(PAGE).findings] == [
        (4, "comment: TODO remove the debug account"),
        (6, "alert: Gateway is down"),
        (7, "form is sent to another host: https://other.example/x"),
        (8, "hidden field price = 100"),
        (27, "A-17: Status disputed"),
        (31, "A-21: Total 98000, far from the others"),
        (41, "id t ×2, also at 10"),
        (45, "Item 4 alone has button disabled true; Item 4: button Sold out"),
    ]


def test_failures_of_a_junit_report_are_told_with_their_message() -> None:
    text = (
        '<?xml version="1.0"?>\n<testsuite name="a">\n<testcase classname="t.A" name="one" time="0.5"/>\n'
        '<testcase classname="t.A" name="two" time="3.5"><failure message="1 &lt; 2">trace</failure></testcase>\n'
        '<testcase classname="t.A" name="three"><skipped/></testcase>\n</testsuite>\n'
    )
    result = look(text)
    assert result.title == "JUnit report: 3 tests in 1 suite: 1 failed, 1 skipped, 1 passed, 4.00 s"
    assert [(one.place, one.text) for one in result.findings] == [(4, "failure: t.A.two: 1 < 2")]


def test_repeated_elements_of_xml_are_compared() -> None:
    rows = [
        (
            f"<dependency><groupId>org.acme</groupId><artifactId>lib{n}</artifactId><version"
            f">{'0.9' if n == 5 else '2.1.0'}</version></dependency>"
        )
        for n in range(9)
    ]
    result = look("<project>\n" + "\n".join(rows) + "\n</project>\n")
    assert [(one.place, one.text) for one in result.findings] == [(7, "lib5: version 0.9 (others 2.1.0 ×8)")]


def test_a_page_on_one_line_is_not_looked_at_thoroughly() -> None:
    assert not look("<!doctype html><html><body>" + "<p>text</p>" * 900).is_thorough


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "a < b\nc > d\n",
        "<?php\necho 1;\n",
        "# Title\n\n<div>x</div>\n",
        "2026-01-01 <x> INFO\n" * 4,
    ],
)
def test_other_kinds_are_left_to_others(text: str) -> None:
    assert recognise(TextLines.of(text)) == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\x00<",
        "<" * 5_000,
        "<div>" * 5_000,
        "<!--" * 900,
        "<a '\"\n" * 500,
        "</p>" * 900,
        "<script>\n<b>",
    ],
)
def test_odd_input_is_survived(text: str) -> None:
    assert DETECTOR.survey(TextLines.of(text)).title
