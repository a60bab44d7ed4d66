"""Phrases of maps: counts, places, folders."""

from brimgate.engine.maps.phrases import (
    bare,
    brief,
    by_folder,
    count,
    folder,
    places,
    seconds,
    tally,
    template,
)


def test_a_tally_names_the_most_frequent_and_counts_the_rest() -> None:
    assert tally({"a": 1, "b": 12, "c": 3, "d": 2}, most=2) == "b 12, c 3, … 2 more with 3"
    assert tally({}) == ""


def test_neighbouring_lines_become_a_range() -> None:
    assert places([3, 7, 8, 9, 20]) == "3, 7-9, 20"
    assert places([1, 3, 5, 7], most=2) == "1, 3, … 2 more"


def test_folders_are_as_deep_as_a_few_hold_nearly_everything() -> None:
    assert by_folder({"src/a/x.py": 5, "src/b/y.py": 3, "z": 1}) == {"src/a": 5, "src/b": 3, ".": 1}
    many = {f"src/p{number}/x.py": 1 for number in range(100)}
    assert by_folder(many) == {"src": 100}
    assert folder("/etc/passwd", 1) == "/"


def test_texts_of_one_form_have_one_template() -> None:
    assert template("order 17 of 'bob'") == template("order 4 of 'alice'") == "order # of #"


def test_small_words() -> None:
    assert count(1, "file") == "1 file"
    assert count(1200, "entry", "entries") == "1,200 entries"
    assert seconds(0.5) == "0.50 s"
    assert seconds(725) == "12 min 5 s"
    assert brief("a" * 300, 100).count("…") == 1


def test_colours_and_stamps_of_ci_are_removed() -> None:
    assert bare(["\x1b[31mred\x1b[0m"]) == ["red"]
    assert bare(["2026-11-15T00:10:22.1234567Z make: done"]) == ["make: done"]
