"""Lines of one form, and those that have a form of their own."""

from brimgate.engine.highlights.findings import Finding
from brimgate.engine.maps.line_context import in_context
from brimgate.engine.maps.line_frames import common_frames, odd_frames

NAMES = [
    f"{first}-{second}"
    for first in ["alpha", "beta", "gamma", "delta"]
    for second in ["one", "two", "three", "four", "five"]
]


def report(odd: str = "") -> list[str]:
    """Return blocks of three lines each, as an audit prints them, with one more line in the middle block."""
    lines: list[str] = []
    for at, name in enumerate(NAMES * 3):
        lines += [f"{name} <{at}.2.1", "Severity: low", f"Prototype pollution in {name}"]
        lines += [odd] if odd and at == 30 else []
        lines.append("")
    return lines


def test_a_line_of_a_form_of_its_own_is_found() -> None:
    lines = report("This package steals environment variables on install")
    assert [(lines[one.place - 1], one.text) for one in odd_frames(lines)] == [
        ("This package steals environment variables on install",) * 2
    ]


def test_lines_of_the_common_forms_are_counted_and_none_of_them_is_found() -> None:
    assert odd_frames(report()) == []
    assert "60 × Prototype pollution in *" in [one.text for one in common_frames(report())]


def test_where_all_lines_differ_none_is_odd() -> None:
    words = ["north", "south", "east", "west", "upper", "lower"]
    lines = [
        f"{a} {b} {c} {d}"
        for a in words
        for b in words
        for c in words
        for d in words
        if len({a, b, c, d}) == 4
    ]
    assert odd_frames(lines) == []


def test_a_line_is_told_with_the_first_line_of_its_block() -> None:
    lines = ["start", "", "TASK [install]", "ok: [web1]", "changed: [web2]", "ok: [web3]", "", "TASK [stop]"]
    assert (
        in_context(Finding(5, 1.0, "changed: [web2]"), lines).text
        == "changed: [web2] · in line 3: TASK [install]"
    )


def test_a_line_is_told_with_what_it_is_indented_under_by_tabs_too() -> None:
    lines = ["", '"pool-1" daemon', "   State: RUNNABLE", "\tat Net.poll(Native Method)", ""]
    told = in_context(Finding(4, 1.0, "at Net.poll(Native Method)"), lines).text
    assert told.endswith('· in line 3: State: RUNNABLE · in line 2: "pool-1" daemon')


def test_what_looks_random_in_a_line_of_its_own_is_masked_under_any_name() -> None:
    lines = report('  + insecure_value is set here = "hP5ziQfSywt9HGfM"')
    (found,) = odd_frames(lines)
    assert "hP5z****" in found.text
    assert "hP5ziQfSywt9HGfM" not in found.text
