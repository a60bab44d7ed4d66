"""What is given out of an answer: what is declared, every value as it came."""

import asyncio
import csv
import io
import json

import pytest

from brimgate.back.rest.model import Shape, Table
from brimgate.back.rest.response import Misshapen, Opened, content
from tests.back.rest.declared import Ground, opened, told

BODY = rb""" { "status" : "ok", "count": 3, "a/b": {"~": [10, 20]},
  "result": [ {"id": 1E5, "big": 12345678901234567890123, "x": -0, "s": "\u00fc\/", "m": [1, 2]},
              {"id": 2.50, "m": null}, {"id": 3} ],
  "table": {"columns": [{"name": "a"}, {"name": "b"}, {"name": "a"}], "rows": [[1.0, "x" , null], [ 2, [ ], {} ]]} } """


def given_out(shape: Shape, body: bytes = BODY) -> bytes:
    return content(shape, Opened(body)).document


def test_values_stay_byte_for_byte_and_only_white_space_goes() -> None:
    shape = Shape("/result", is_list=True, name="items", keep={"count": "/count", "none": "/none"})
    assert given_out(shape) == (
        rb'{"count":3,"items":[{"id":1E5,"big":12345678901234567890123,"x":-0,"s":"\u00fc\/","m":[1,2]},'
        rb'{"id":2.50,"m":null},{"id":3}]}'
    )
    assert given_out(Shape("/result/1", is_object=True)) == b'{"id":2.50,"m":null}'
    assert given_out(Shape("/a~1b/~0/1")) == b"20"
    assert given_out(Shape(), b" [ 1.0 ] ") == b"[1.0]"
    assert given_out(Shape("/result", is_list=True, name="r"), b'{"result":[]}') == b'{"r":[]}'


def test_only_some_fields_are_kept_in_the_order_they_are_declared() -> None:
    shape = Shape("/result", is_list=True, fields=("big", "id", "none"))
    assert given_out(shape) == b'[{"big":12345678901234567890123,"id":1E5},{"id":2.50},{"id":3}]'


def test_lists_in_items_are_joined() -> None:
    assert given_out(Shape("/result", is_list=True, each="m")) == b"[1,2]"


def test_rows_become_objects_and_columns_of_one_name_are_told_apart() -> None:
    shape = Shape(is_list=True, table=Table("/table/columns", "/table/rows", "name"))
    assert given_out(shape) == b'[{"a":1.0,"b":"x","a (2)":null},{"a":2,"b":[],"a (2)":{}}]'
    plain = b'{"c":["x","y"],"r":[[1,2]]}'
    assert given_out(Shape(is_list=True, table=Table("/c", "/r")), plain) == b'[{"x":1,"y":2}]'


@pytest.mark.parametrize(
    ("shape", "body"),
    [
        (Shape("/r", is_list=True), b'{"r":"none"}'),
        (Shape("/r", is_list=True), b'{"r":{}}'),
        (Shape("/r", is_list=True), b"{}"),
        (Shape("/r", is_list=True), b'"r"'),
        (Shape("/r", is_object=True), b'{"r":[]}'),
        (Shape("/r", is_list=True, fields=("a",)), b'{"r":[7]}'),
        (Shape("/r", is_list=True, fields=("a",)), b'{"r":[{"a":1,"a":2}]}'),
        (Shape("/r", is_list=True, each="m"), b'{"r":[{"m":7}]}'),
        (Shape(is_list=True, table=Table("/c", "/r")), b'{"c":["x"],"r":[[1,2]]}'),
        (Shape(is_list=True, table=Table("/c", "/r")), b'{"c":[7],"r":[[1]]}'),
        (Shape(is_list=True, table=Table("/c", "/r", "n")), b'{"c":[{}],"r":[[1]]}'),
        (Shape("/r", is_list=True), b'{"r":[],"r":[]}'),
        (Shape(), b""),
        (Shape(), b'{"r":[1'),
        (Shape(), b"{'r': 1}"),
        (Shape(), b'{"r":1} x'),
        (Shape(), b'"\xff"'),
    ],
)
def test_what_is_not_as_declared_is_told_without_its_content(shape: Shape, body: bytes) -> None:
    with pytest.raises(Misshapen) as failed:
        given_out(shape, body)
    assert "none" not in str(failed.value)


def test_the_tools_of_the_sandbox_answer_what_they_declare(ground: Ground) -> None:
    async def main() -> None:
        async with opened(ground.url) as api:
            first = told(await api.run("list_reservations", {"limit": 1}))
            assert list(first) == ["count", "result"]
            number = first["result"][0]["id"]
            whole = told(await api.run("get_reservation", {"reservation_id": number}))
            guest = told(await api.run("get_guest", {"reservation_id": number}))
            assert guest == {name: whole[name] for name in ("guestName", "guestEmail")}
            talk = told(await api.run("messages_of_reservation", {"reservation_id": number}))
            assert {one["reservationId"] for one in talk["messages"]} == {number}
            assert told(await api.run("list_amenities", {}))[0] == {"id": 1, "name": "Cable TV"}

    asyncio.run(main())


def test_reports_come_as_rows_or_as_the_text_they_are(ground: Ground) -> None:
    async def main() -> None:
        async with opened(ground.url) as api:
            report = await api.run("consolidated_report", {})
            assert report.content_type == "application/json"
            row = json.loads(report.body)["rows"][0]
            assert {"id", "channelName", "ownerPayout"} <= set(row)
            text = await api.run("standard_report", {})
            assert text.content_type == "text/csv; charset=utf-8"
            assert len(list(csv.DictReader(io.StringIO(text.body.decode())))) > 100

    asyncio.run(main())
