"""Cells of CSV may have line breaks in quotes: rows are rows all the same, in the map and for queries."""

import pytest

from brimgate.engine.textkind import TextKind, text_kind
from tests.engine.holding import Held, policy
from tests.engine.test_queries import asked

EXPORT = '"Created","Id","Level","Message"\r\n' + "".join(
    f'"3/{1 + at // 20}/2026 {1 + at % 11}:15:00 PM","{4_600 + at % 5}","{"Error" if at == 77 else "Information"}",'
    f'"Logged on.\r\n\r\nAccount:\r\n\tName:\tuser{at}, of the ""north"" office"\r\n'
    for at in range(200)
)


def test_rows_are_asked_whatever_lines_their_cells_have() -> None:
    assert asked("SELECT Level, count(*) AS c FROM t GROUP BY 1 ORDER BY 1", EXPORT) == [
        {"Level": "Error", "c": 1},
        {"Level": "Information", "c": 199},
    ]


def test_the_map_tells_columns_and_the_odd_row() -> None:
    told = Held(EXPORT.encode(), policy(1_500)).opening().highlights
    assert "200 rows: Created, Id, Level, Message" in told
    assert "Level=Error (1 of 200)" in told


@pytest.mark.parametrize(
    "text",
    [
        'He said "yes, and\nno, or", and so on.\nThen "a, b" was said,\nwhich is no table, of course.\n' * 10,
        "".join(f"cpu,host=h{at},dc=north usage={at}.5,idle=3 17724212000000{at:05}\n" for at in range(60)),
    ],
)
def test_prose_with_quotes_and_pairs_are_no_csv(text: str) -> None:
    assert text_kind(text.encode()) is not TextKind.CSV
