"""What lines end with is counted, and a tag of its own among few stands out."""

from brimgate.engine.maps.line_tags import line_tags


def test_tags_are_counted_and_a_rare_one_stands_out_with_its_line() -> None:
    tags = ("errcheck", "revive", "lll")
    lines = [f"src/{at}.go:{at}:3: something is wrong with it ({tags[at % 3]})" for at in range(120)]
    lines[70] = "src/70.go:70:3: a weak hash is used (gosec)"
    told, found = line_tags(lines)
    assert [one.text for one in told] == ["ends with (…): errcheck 40, lll 40, revive 39, gosec 1"]
    assert [(one.place, one.text) for one in found] == [(71, f"gosec (1 of 120 such lines): {lines[70]}")]


def test_states_in_capital_letters_and_kinds_in_brackets_are_counted() -> None:
    lines = [f"> Task :part{at}:test {('UP-TO-DATE', 'FROM-CACHE')[at % 2]}" for at in range(60)]
    lines += [
        f"Main.java:{at}: warning: [{('deprecation', 'unchecked')[at % 2]}] it is old" for at in range(60)
    ]
    told, found = line_tags(lines)
    assert [one.text for one in told] == [
        "has […]: deprecation 30, unchecked 30",
        "ends with: FROM-CACHE 30, UP-TO-DATE 30",
    ]
    assert found == []


def test_free_text_in_brackets_is_no_tag() -> None:
    assert line_tags([f"see the chapter (Part{chr(97 + at % 26)}{at})" for at in range(200)]) == ([], [])
