"""Short ids and the way back."""

import os
import re
import subprocess
import sys
from pathlib import Path
from uuid import UUID

import pytest

from brimgate.errors import BadRequest, OperatorError
from brimgate.packs.short_ids import ReferenceBook, ids_in, shortener

A = "550e8400-e29b-41d4-a716-446655440001"
B = "6a1f0c2e-1111-4b6b-9c3d-446655440002"
LIKE_A = "7b2e0d3f-2222-4c7c-8d4e-999955440001"
ALL_TWELVE_OF_A = "7b2e0d3f-2222-4c7c-8d4e-446655440001"


def book_at(folder: Path, *ids: str) -> ReferenceBook:
    book = ReferenceBook(folder / "references" / "toy.txt")
    book.remember(ids)
    return book


def made_up(number: int) -> str:
    return str(UUID(int=number << 64 | number))


def test_an_id_is_written_as_its_last_eight_characters() -> None:
    assert shortener([A, B])(A) == "55440001"


def test_where_ids_end_alike_more_is_written() -> None:
    shorten = shortener([A, LIKE_A])
    assert (shorten(A), shorten(LIKE_A)) == ("655440001", "955440001")


def test_no_short_id_begins_with_a_hyphen() -> None:
    shorten = shortener([A, ALL_TWELVE_OF_A])
    assert (shorten(A), shorten(ALL_TWELVE_OF_A)) == ("6-446655440001", "e-446655440001")


def test_ids_that_differ_in_the_first_character_only_stay_whole_or_nearly() -> None:
    other = "6" + A[1:]
    assert (shortener([A, other])(A), shortener([A, A.upper()])(A)) == (A, A)


def test_an_id_nobody_spoke_of_before_is_short_all_the_same() -> None:
    assert shortener([])(A) == "55440001"


@pytest.mark.parametrize(
    "odd", ["", "node-17", "550e8400e29b41d4a716446655440000", f"x{A}", f"{A}-1", "日誌"]
)
def test_what_is_no_uuid_stays_as_it_is(tmp_path: Path, odd: str) -> None:
    assert shortener([A, odd])(odd) == odd
    assert book_at(tmp_path, A).resolve(odd) == odd


def test_ids_of_a_document_are_found_once_and_in_order() -> None:
    document = f'{{"b":"{B}","a":["{A}","{B}","{A.upper()}"],"no":"x{A}","text":"see {LIKE_A}."}}'.encode()
    assert ids_in(document + b"\xff") == [B, A, A.upper(), LIKE_A]


@pytest.mark.parametrize(
    "written", ["55440001", "#55440001", "...55440001", "…55440001", "655440001", "6-446655440001", A[1:]]
)
def test_what_was_printed_leads_back(tmp_path: Path, written: str) -> None:
    assert book_at(tmp_path, A, B).resolve(written) == A


def test_upper_and_lower_case_are_one(tmp_path: Path) -> None:
    capital = "44444444-4444-4444-8444-9999CCCCDDDD"
    book = book_at(tmp_path, capital, "550e8400-e29b-41d4-a716-44665544abcd")
    assert book.resolve("ccccdddd") == capital
    assert book.resolve("#5544ABCD") == "550e8400-e29b-41d4-a716-44665544abcd"


@pytest.mark.parametrize("prefix", ["", "#", "...", "…"])
def test_a_whole_id_is_taken_whether_it_is_known_or_not(tmp_path: Path, prefix: str) -> None:
    assert book_at(tmp_path, B).resolve(prefix + A) == A


def test_lists_are_resolved_one_by_one_and_other_values_left(tmp_path: Path) -> None:
    book = book_at(tmp_path, A, B)
    assert book.resolve(["#55440001", B, ["55440002"], None, 7]) == [A, B, [B], None, 7]
    assert [book.resolve(value) for value in (None, 7, True, {"a": 1}, 1.5)] == [None, 7, True, {"a": 1}, 1.5]


def test_an_ambiguous_one_is_refused_with_what_it_may_be(tmp_path: Path) -> None:
    book = book_at(tmp_path, A, LIKE_A)
    with pytest.raises(BadRequest, match=f"{A}, {LIKE_A}.*more of its characters"):
        book.resolve("#55440001")
    assert (book.resolve("655440001"), book.resolve("955440001")) == (A, LIKE_A)


@pytest.mark.parametrize("unknown", ["deadbeef", "#deadbeef", "...deadbeef", "0-deadbeef0000"])
def test_an_unknown_one_is_refused_with_what_to_do(tmp_path: Path, unknown: str) -> None:
    with pytest.raises(BadRequest, match=f"{re.escape(unknown)} is no id that was printed here lately"):
        book_at(tmp_path, A).resolve(unknown)


@pytest.mark.parametrize(
    "odd", ["55440001 ", "5544-0001", "5544000", "--------", "#", "##55440001", "5544000\n1"]
)
def test_what_does_not_look_like_the_end_of_an_id_stays_as_it_is(tmp_path: Path, odd: str) -> None:
    assert book_at(tmp_path, A).resolve(odd) == odd


def test_ids_remembered_earlier_count_when_one_is_shortened(tmp_path: Path) -> None:
    book_at(tmp_path, A)
    book = book_at(tmp_path)
    short = shortener([LIKE_A, *book.ids])(LIKE_A)
    book.remember([LIKE_A])
    assert book.resolve(short) == LIKE_A
    assert book_at(tmp_path).resolve(short) == LIKE_A


def test_the_book_outlives_the_process_and_is_its_owners(tmp_path: Path) -> None:
    book_at(tmp_path, A)
    book_at(tmp_path, B)
    assert book_at(tmp_path).ids == [A, B]
    if os.name == "posix":
        file = tmp_path / "references" / "toy.txt"
        assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_a_book_that_cannot_be_written_is_told_to_the_operator(tmp_path: Path) -> None:
    (tmp_path / "references").write_text("a file where the folder should be")
    book = ReferenceBook(tmp_path / "references" / "toy.txt")
    with pytest.raises(OperatorError):
        book.remember([A])
    (tmp_path / "folder.txt").mkdir()
    with pytest.raises(OperatorError):
        ReferenceBook(tmp_path / "folder.txt").remember([A])


@pytest.mark.parametrize(
    "damage", [b"", b"\0" * 500, b"\xff\xfe junk 55440001\nx55440001", A[4:].encode(), b"\n\n  \n"], ids=repr
)
def test_a_damaged_book_costs_what_is_damaged_only(tmp_path: Path, damage: bytes) -> None:
    file = tmp_path / "references" / "toy.txt"
    file.parent.mkdir()
    file.write_bytes(damage + f"\n{B}\n".encode() + damage)
    book = book_at(tmp_path, LIKE_A)
    assert (book.resolve("55440002"), book.resolve("55440001")) == (B, LIKE_A)
    assert book_at(tmp_path).ids == [B, LIKE_A]


def test_the_newest_five_thousand_are_kept(tmp_path: Path) -> None:
    ids = [made_up(number) for number in range(1, 12_001)]
    for start in range(0, len(ids), 400):
        book_at(tmp_path, *ids[start : start + 400])
    book = book_at(tmp_path)
    assert book.ids == ids[-5_000:]
    file = tmp_path / "references" / "toy.txt"
    assert file.stat().st_size < 2 * 5_000 * 37 + 400 * 37
    assert book.resolve(ids[7_000][-12:]) == ids[7_000]
    with pytest.raises(BadRequest):
        book.resolve(ids[6_999][-12:])


def test_one_answer_with_more_than_that_keeps_its_last(tmp_path: Path) -> None:
    ids = [made_up(number) for number in range(1, 11_001)]
    book_at(tmp_path, *ids)
    assert book_at(tmp_path).ids == ids[-5_000:]


def test_an_id_that_is_printed_again_counts_as_new(tmp_path: Path) -> None:
    ids = [made_up(number) for number in range(1, 5_001)]
    book_at(tmp_path, *ids)
    book_at(tmp_path, ids[0])
    book_at(tmp_path, A)
    book = book_at(tmp_path)
    assert book.resolve(ids[0][-12:]) == ids[0]
    assert ids[1] not in book.ids


def test_printing_the_same_again_does_not_let_the_file_grow(tmp_path: Path) -> None:
    book_at(tmp_path, A, B)
    size = (tmp_path / "references" / "toy.txt").stat().st_size
    book_at(tmp_path, A, B)
    assert (tmp_path / "references" / "toy.txt").stat().st_size == size


_WRITER = """
import sys
from pathlib import Path
from uuid import UUID
from brimgate.packs.short_ids import ReferenceBook
path, first = Path(sys.argv[1]), int(sys.argv[2])
sys.stdin.readline()
for number in range(first, first + 200):
    book = ReferenceBook(path)
    book.remember([str(UUID(int=number << 64 | number))])
"""


def test_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "references" / "toy.txt"
    writers = [
        subprocess.Popen([sys.executable, "-c", _WRITER, str(path), str(first)], stdin=subprocess.PIPE)
        for first in (1, 1_001)
    ]
    for writer in writers:  # both are up, or nearly, before either begins
        assert writer.stdin is not None
        writer.stdin.write(b"\n")
        writer.stdin.close()
    assert [writer.wait(60) for writer in writers] == [0, 0]
    wanted = {made_up(number) for first in (1, 1_001) for number in range(first, first + 200)}
    assert set(ReferenceBook(path).ids) == wanted
