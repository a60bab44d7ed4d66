"""Snapshots of pages: what can be done on them, and which row or card is different."""

import pytest

from brimgate.engine.maps.accessibility_tree import DETECTOR, recognise, survey
from brimgate.engine.maps.survey import Survey, TextLines


def row(number: int) -> str:
    status, total = "refused" if number == 11 else "paid", 98_000 if number == 14 else 30 + number
    button = "" if number == 7 else f'            - button "Edit" [ref=b{number}]\n'
    return (
        f'        - row "A-{number} {status}" [ref=r{number}]:\n          - cell "A-{number}" [ref=c{number}]\n'
        f'          - cell "{status}"\n          - cell "{total}"\n          - cell [ref=d{number}]:\n{button}'
    )


SNAPSHOT = (
    "- Page URL: https://shop.example/orders\n- Page Title: Orders\n- Page Snapshot:\n- generic [active] [ref=e1]:\n"
    '  - main [ref=e4]:\n    - heading "Orders" [level=1] [ref=e5]\n    - alert [ref=e6]: Payment gateway is down\n'
    '    - textbox "Email" [required] [invalid] [ref=e7]: foo\n    - \'button "Delete: all" [ref=e8]\'\n    - table [ref=e9]:\n'
    '      - rowgroup:\n        - row "Order Status Total":\n          - columnheader "Order"\n          -'
    ' columnheader "Status"\n'
    '          - columnheader "Total"\n      - rowgroup:\n' + "".join(map(row, range(20)))
)


def look(text: str) -> Survey:
    lines = TextLines.of(text)
    assert recognise(lines) > 0.9
    return survey(lines)


def test_a_snapshot_has_its_page_parts_and_fields() -> None:
    result = look(SNAPSHOT)
    assert result.title.startswith(
        "page snapshot “Orders” https://shop.example/orders: 132 elements: cell 80, row 21, button 20"
    )
    assert [line.text for line in result.lines] == [
        "headings Orders 6",
        "parts main 5-135",
        "fields Email (textbox required invalid) = foo 8 [e7]",
        "20 × row 17-135 (Order, Status, Total): Status paid ×19, refused ×1 (84 A-11 [r11]) · always button Edit enabled",
        "buttons Delete: all 9 [e8], Edit ×19",
    ]


def test_rows_that_differ_alerts_and_dangerous_buttons_are_told_with_their_reference() -> None:
    assert [(one.place, one.text) for one in look(SNAPSHOT).findings] == [
        (7, "alert: Payment gateway is down [e6]"),
        (8, "textbox “Email” is invalid [e7]"),
        (9, "button “Delete: all” [e8]"),
        (59, "A-7 [r7] lacks button Edit, the others have it"),
        (84, "A-11 [r11]: Status refused (others paid ×19)"),
        (103, "A-14 [r14]: Total 98000, far from the others (others 30 to 49)"),
    ]


def test_the_tree_of_chrome_is_known() -> None:
    text = (
        'uid=1_0 RootWebArea "Cart" url="https://x.y/cart"\n  uid=1_1 heading "Cart" level="1"\n'
        '  uid=1_2 textbox "Code" value="ABC" required\n  uid=1_3 StaticText "Your card was declined"\n  uid=1_4'
        ' StaticText "0 errors"\n'
    )
    result = look(text)
    assert (
        result.title
        == "page snapshot “Cart” https://x.y/cart: 5 elements: RootWebArea 1, heading 1, textbox 1"
    )
    assert [(one.place, one.text) for one in result.findings] == [(4, "text: Your card was declined [1_3]")]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "- item one\n- item two\n- item three\n",
        "a: 1\nb:\n  - c: 2\n  - d: 3\n",
        "# T\n\n- list of things\n- text and more\n",
    ],
)
def test_other_kinds_are_left_to_others(text: str) -> None:
    assert recognise(TextLines.of(text)) == 0


@pytest.mark.parametrize(
    "text",
    ["", "\x00", '- button "' + "\\" * 1_900, "- row:\n" * 300, "uid=1 \n" * 9, '- row "a" [[[[\n' * 30],
)
def test_odd_input_is_survived(text: str) -> None:
    assert DETECTOR.survey(TextLines.of(text)).title
