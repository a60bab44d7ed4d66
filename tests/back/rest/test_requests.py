"""Arguments are checked, and written where they belong: nothing leads out of the API's own address."""

import asyncio
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brimgate.back.rest.declaration import read_api
from brimgate.back.rest.model import ApiTool
from brimgate.back.rest.request import Checker, Fixed, coerced, compose, target_of
from brimgate.errors import BadRequest
from tests.back.rest.declared import Ground, api_of, opened

KINDS = read_api(
    b"""
name: x
base_url: http://h
tools:
  t:
    method: POST
    path: /a/{p}/b
    body: json
    fixed: {query: {q: 1, on: true}, header: {X-Version: "7"}, body: {f: 1.5}}
    parameters:
      p: {}
      flag: {in: query, schema: {type: boolean}}
      many: {in: query, schema: {type: array, items: {type: string}}}
      each: {in: query, explode: true, schema: {type: array, items: {type: integer}}}
      number: {in: query, name: n, schema: {type: number}}
      whole: {in: query, schema: {type: integer}}
      head: {in: header, name: X-Head}
      deep: {in: body, schema: {type: object}}
  form:
    method: POST
    path: /form
    body: form
    fixed: {body: {format: json}}
    parameters:
      ids: {schema: {type: array, items: {type: integer}}}
      text: {}
      flag: {schema: {type: boolean}}
""",
    "x",
)
TOOL, FORM = KINDS.tools["t"], KINDS.tools["form"]
FIXED: Fixed = {"query": {"q": 1, "on": True}, "header": {"X-Version": "7"}, "body": {"f": 1.5}}
ANYTHING = api_of().tools["get_anything"]

BAD_SEGMENTS = [
    "", ".", "..", "../x", "x/../y", "%2e%2e", "%2E%2E%2Fx", "%252e%252e", "..\\x", "..;x", "..%3bx", "%2e", "a\nb",
    "a\0b", "%00", "a%0d%0ab", "\x7f", "x" * 10_000, "\ud800", "%2525252525252541",
]  # fmt: skip
GOOD_SEGMENTS = [
    "a/b",
    "?x=1",
    "#f",
    "//host",
    "a b",
    "ü",
    "x:y@z",
    "...",
    "http://host/",
    "a%2Fb",
    ";x",
    "*",
    "100%",
]


@pytest.mark.parametrize("value", BAD_SEGMENTS)
def test_what_may_lead_elsewhere_is_refused_before_anything_is_sent(ground: Ground, value: str) -> None:
    async def main() -> None:
        async with opened(ground.url) as api:
            with pytest.raises(BadRequest) as failed:
                await api.run("get_anything", {"name": value})
            assert len(str(failed.value)) < 300

    asyncio.run(main())
    assert ground.asked() == []


@pytest.mark.parametrize("value", GOOD_SEGMENTS)
def test_whatever_else_is_one_segment(value: str) -> None:
    target = target_of("/v1", ANYTHING.path, {"name": value})
    segments = urlsplit(target).path.split("/")
    assert segments[:3] + segments[4:] == ["", "v1", "listings", "calendar"]
    assert unquote(segments[3]) == value
    assert urlsplit(target).query == ""


@pytest.mark.property
@given(st.text(max_size=40) | st.text(alphabet="./\\%2eEfF;?#@: ", max_size=20))
def test_whatever_the_value_the_target_stays_under_its_prefix(value: str) -> None:
    try:
        target = compose(ANYTHING, "/v1", {}, {"name": value}, {}).target.decode()
    except BadRequest:
        return
    assert target.startswith("/v1/listings/")
    assert target.endswith("/calendar")
    assert target.count("/") == 4
    plain = target
    for _ in range(10):
        plain = unquote(plain)
        assert not {".", ".."} & set(plain.replace("\\", "/").split("/"))


def test_each_value_is_written_in_its_own_place() -> None:
    arguments = {
        "p": "x y",
        "flag": False,
        "many": ["a&b", "c=d"],
        "each": [1, 2],
        "number": 1.5,
        "whole": 7.0,
        "head": "hé",
        "deep": {"a": [True, None]},
    }
    method, target, headers, body, may_run = compose(TOOL, "/v1", FIXED, arguments, {"page": 2})
    assert (method, may_run) == (b"POST", True)
    assert target == b"/v1/a/x%20y/b?q=1&on=1&flag=0&many=a%26b%2Cc%3Dd&each=1&each=2&n=1.5&whole=7&page=2"
    assert (b"X-Head", "hé".encode("latin-1")) in headers
    assert (b"X-Version", b"7") in headers
    assert (b"content-type", b"application/json") in headers
    assert body == b'{"f":1.5,"deep":{"a":[true,null]}}'
    form = compose(FORM, "", {"body": {"format": "json"}}, {"ids": [1, 2], "text": "a&b\n", "flag": True}, {})
    assert form.body == b"format=json&ids=1%2C2&text=a%26b%0A&flag=1"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"head": "a\r\nHost: evil"}, "head: must be printable Latin-1"),
        ({"head": "漢"}, "head: must be printable Latin-1"),
        ({"head": "x" * 5_000}, "at most 4000 characters"),
        ({"many": ["a,b"]}, "many: its values are sent as a list with commas"),
        ({"many": ["x" * 9_000]}, "too long for a request"),
        ({"deep": {"a": ["\udc00"]}}, "deep: holds half a character"),
    ],
)
def test_what_cannot_be_sent_is_refused(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(BadRequest, match=said):
        compose(TOOL, "/v1", FIXED, {"p": "x", **arguments}, {})


def refused(tool: ApiTool, arguments: dict[str, object]) -> str:
    with pytest.raises(BadRequest) as failed:
        Checker(tool).check(arguments)
    assert len(str(failed.value)) <= 500
    assert str(failed.value).isprintable()
    return str(failed.value)


def test_arguments_are_taken_as_they_are_or_refused_with_what_is_right() -> None:
    tools = api_of().tools
    reservations = tools["list_reservations"]
    assert 'listing_id: "7" is not of type "integer"' in refused(reservations, {"listing_id": "7"})
    assert "listing_id" in refused(reservations, {"listing_id": True})
    assert "limit: 0 is less than the minimum of 1" in refused(reservations, {"limit": 0})
    assert 'arrival: "soon" is not a "date"' in refused(reservations, {"arrival": "soon"})
    assert "order" in refused(reservations, {"order": "up"})
    assert "its parameters: listing_id, arrival, order, limit" in refused(reservations, {"lising_id": 7})
    assert "reservation_id" in refused(tools["get_reservation"], {})
    assert "and 2 more" in refused(reservations, {"listing_id": "x", "arrival": 1, "order": 1, "limit": "x"})
    refused(reservations, {"x" * 10_000: "\n" * 10_000, "listing_id": "y" * 10_000})
    refused(reservations, {"listing_id": float("nan")})
    refused(reservations, {"arrival": "\ud800"})
    refused(reservations, {"listing_id": object()})
    assert Checker(reservations).check({"listing_id": 7, "arrival": "2026-01-02"})


def test_texts_of_a_url_become_what_the_tool_declares() -> None:
    texts = {
        "flag": "true", "many": "a,b", "each": "1, 2,x", "number": "1.5e3", "whole": "-7", "head": "12", "other": "1",
        "deep": "{}",
    }  # fmt: skip
    assert coerced(TOOL, texts) == {
        "flag": True, "many": ["a", "b"], "each": [1, 2, "x"], "number": 1500.0, "whole": -7, "head": "12",
        "other": "1", "deep": "{}",
    }  # fmt: skip
    assert coerced(TOOL, {"flag": "yes", "whole": "1.0", "number": "nan", "many": ""}) == {
        "flag": "yes", "whole": "1.0", "number": "nan", "many": [],
    }  # fmt: skip
    assert coerced(TOOL, {"whole": "9" * 5_000})["whole"] == "9" * 5_000
    assert coerced(api_of().tools["list_reservations"], {"limit": "5"}) == {"limit": 5}


def test_an_unknown_tool_is_told_with_those_there_are(ground: Ground) -> None:
    async def main() -> None:
        async with opened(ground.url) as api:
            with pytest.raises(BadRequest, match="there are: list_reservations"):
                await api.run("nothing", {})

    asyncio.run(main())
