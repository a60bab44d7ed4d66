"""What the lines of a text begin with is counted, where a few words name the kinds of lines."""

import pytest

from brimgate.engine.maps.line_openings import LEAD, line_marks, line_openings

PORT = """interface Gig{at}/1
 description ACCESS
 switchport mode {mode}
 switchport access vlan {at}
!
"""


def told(lines: list[str]) -> str:
    (line,) = line_openings(lines)
    return line.text.removeprefix(LEAD)


def test_lines_are_counted_by_their_first_words() -> None:
    text = "".join(PORT.format(at=at, mode="trunk" if at == 17 else "access") for at in range(40))
    assert told(text.splitlines()) == (
        "description ACCESS 40, interface 40, switchport access 40, switchport mode 40"
    )


def test_two_words_are_told_where_the_second_is_one_of_few() -> None:
    lines = [f"CREATE {'TABLE' if at % 3 else 'INDEX'} public.a{at} (" for at in range(90)]
    assert told([*lines, *["ALTER TABLE ONLY x"] * 10]) == "CREATE TABLE 60, CREATE INDEX 30, ALTER TABLE 10"


def test_numbers_times_and_the_name_of_the_process_stand_before_the_first_word() -> None:
    calls = ["read", "read", "write"] * 30
    assert told([f"{at:05} 12:00:{at % 60:02} {call}({at}, ...)" for at, call in enumerate(calls)]) == (
        "read 60, write 30"
    )
    assert told([f"==77== {call} at 0x{at:X}" for at, call in enumerate(calls)]) == "read at 60, write at 30"


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["interface 1", "interface 2"],
        [f"The {word} of a house is {at}." for at in range(50) for word in ("roof", "door")],
        [f"{at * 7919:x} {at}" for at in range(100)],
        ["x" * 100_000] * 80,
        [" " * 5_000] * 80,
        ["\x00\ud800"] * 80,
        ["-*" * 5_000] * 80,
    ],
)
def test_of_few_lines_sentences_and_odd_text_nothing_is_told(lines: list[str]) -> None:
    assert line_openings(lines) == []


def test_directives_of_a_document_are_counted_whatever_else_it_has() -> None:
    prose = ["The queue keeps what nobody has read yet, and says so.", ""] * 60
    marks = [".. option:: --depth", ":type: integer"] * 12 + [".. note::"] * 5 + [".. raw::"]
    (line,) = line_marks([*prose, *marks])
    assert line.text.removeprefix(LEAD) == ".. option:: 12, :type: 12, .. note:: 5"
    assert line_marks(prose) == []
