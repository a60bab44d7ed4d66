"""A declaration is read strictly: every mistake is told with its file, its line, its key and what is right."""

import re

import pytest

from brimgate.back.rest.api import RestApi
from brimgate.back.rest.declaration import read_api
from brimgate.errors import ConfigError, OperatorError
from brimgate.front.api.openapi import rest_method
from tests.back.rest.declared import VARIABLES, api_of

GOOD = """name: one
base_url: https://api.example.com/v1
auth: {kind: bearer, token: x}
rate_limits: [{requests: 1, seconds: 2}]
tools:
  look:
    path: /things/{id}
    routes: ["/things/{id}"]
    parameters: {id: {schema: {type: integer}}, size: {schema: {type: integer}}}
    answer: {items: /result, as: things, keep: {count: /count}}
    paging: {style: offset, limit: limit, offset: offset, total: /count, key: id}
"""


def test_the_example_is_read_whole() -> None:
    api = api_of()
    assert (api.name, api.title, api.timeout_seconds, api.errors.message) == (
        "hostaway",
        "Hostaway",
        30,
        "/message",
    )
    tool = api.tools["list_reservations"]
    assert (tool.method, tool.path, tool.routes) == ("GET", "/reservations", ("/bookings", "/reservations"))
    assert tool.is_list
    assert tool.annotations == {"readOnlyHint": True}
    assert tool.input_schema["additionalProperties"] is False
    assert tool.input_schema["properties"]["listing_id"] == {
        "type": "integer",
        "description": "Of one listing",
    }
    assert tool.input_schema["properties"]["limit"]["type"] == "integer"
    assert "required" not in tool.input_schema
    one = api.tools["get_reservation"]
    assert not one.is_list
    assert one.input_schema["required"] == ["reservation_id"]
    assert "limit" not in one.input_schema["properties"]
    assert api.tools["standard_report"].annotations == {}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("name: one", "title: one", "name: is missing"),
        ("name: one", "name: a b", "name: must look like"),
        ("name: one", "name: 7", "name: must be a text"),
        ("name: one", "nmae: one", "name: is missing"),
        ("name: one", "name: one\nbase: x", "base: unknown key; did you mean base_url?"),
        ("name: one", "name: one\nname: two", "name: is given twice"),
        ("name: one", "name: one\nmax_waiting: many", "max_waiting: must be a whole number from 0"),
        ("name: one", "name: one\ntimeout_seconds: 0", "timeout_seconds: must be a number from 0.01"),
        ("name: one", "name: one\ntimeout_seconds: .nan", "timeout_seconds: must be a number"),
        ("name: one", "name: one\nerrors: {message: text}", "errors.message: must be a JSON Pointer"),
        ("https://api", "ftp://api", "base_url: must begin with http:// or https://"),
        ("https://api.example.com/v1", "{env: A B}", "base_url.env: must look like"),
        ("https://api.example.com/v1", "{env: A, else: b}", "base_url.else: unknown key"),
        ("kind: bearer", "kind: magic", "auth.kind: must be one of none, bearer"),
        ("token: x", "key: x", "auth.token: is missing"),
        ("token: x", "token: [x]", "auth.token: must be a text or {env"),
        ("{kind: bearer, token: x}", "{kind: basic, username: a, password: b, token: c}", "auth.token: unknown key"),
        ("requests: 1", "requests: 0", "rate_limits.0.requests: must be a whole number from 1"),
        ("requests: 1, ", "", "rate_limits.0.requests: must be"),
        ("seconds: 2", "seconds: 2, per: planet", "rate_limits.0.per: must be one of address, account"),
        ("rate_limits: [{requests: 1, seconds: 2}]", "rate_limits: 7", "rate_limits: must be a list"),
        ("look:", "'look at it':", "tools.look at it: is no name here"),
        ("path: /things/{id}", "path: things", "tools.look.path: must look like"),
        ("path: /things/{id}", "path: //host/{id}", "tools.look.path: must look like"),
        ("path: /things/{id}", "path: /../{id}", "tools.look.path: must not have . or .."),
        ("path: /things/{id}", "path: /x?y={id}", "tools.look.path: must look like"),
        ("path: /things/{id}", "path: /{id}/{id}", "names a parameter twice"),
        ("path: /things/{id}", "path: /things/{id}/{other}", "tools.look.parameters: lacks other"),
        ('["/things/{id}"]', '["/things/{what}"]', "tools.look.routes: /things/{what} has {what}"),
        ('["/things/{id}"]', '["things"]', "tools.look.routes: must be a path"),
        ('["/things/{id}"]', '["/things/{id}", "/things/{size}"]', "have the same route"),
        ("path: /things/{id}", "path: /things/{id}\n    method: FETCH", "tools.look.method: must be one of GET"),
        ("path: /things/{id}", "path: /things/{id}\n    fixed: {cookie: {a: 1}}", "fixed.cookie: unknown key"),
        ("path: /things/{id}", "path: /things/{id}\n    fixed: {header: {Host: x}}", "fixed.header.Host: is no header"),
        ("path: /things/{id}", "path: /things/{id}\n    fixed: {query: {size: 1}}", "set by more than one"),
        ("path: /things/{id}", "path: /things/{id}\n    fixed: {query: {offset: 1}}", "set by more than one"),
        ("path: /things/{id}", "path: /things/{id}\n    fixed: {body: {x: 1}}", "a GET has no body"),
        ("path: /things/{id}", "path: /things/{id}\n    annotations: {safe: true}", "annotations.safe: unknown key"),
        ("size: {schema: {type: integer}}", "size: {schema: {type: whole}}", "size.schema: must have one `type`"),
        ("size: {schema: {type: integer}}", "size: {schema: 7}", "size.schema: must"),
        ("size: {schema: {type: integer}}", "size: {schema: {type: string, pattern: '('}}", "is no JSON Schema"),
        ("size: {schema: {type: integer}}", "size: {schema: {type: string, $ref: 'http://x/y'}}", "is no JSON Schema"),
        ("size: {schema: {type: integer}}", "size: {schema: {type: object}}", "only be sent in a body"),
        ("size: {schema: {type: integer}}", "size: {in: cookie}", "size.in: must be one of path, query"),
        ("size: {schema: {type: integer}}", "size: {in: path}", "size.in: must be path for what the path has"),
        ("size: {schema: {type: integer}}", "size: {in: header, name: Host}", "a header that Brimgate sets"),
        ("size: {schema: {type: integer}}", "size: {in: header, name: 'a b'}", "size.name: must look like"),
        ("size: {schema", "limit: {name: l, schema", "must not hold limit"),
        ("size: {schema", "'a b': {schema", "a b: is no name here"),
        ("items: /result", "items: result", "answer.items: must be a JSON Pointer"),
        ("items: /result", "items: /result, item: /result", "items and item exclude each other"),
        ("items: /result", "items: /result, text: true", "items and text exclude each other"),
        ("items: /result", "item: /result", "paging: needs an answer with items"),
        ("as: things, ", "", "answer.as: is missing"),
        ("as: things", "as: count", "answer.keep: must not hold count"),
        ("items: /result", "items: /result, fields: [name]", "paging.key: must be one of answer.fields"),
        ("style: offset", "style: leap", "paging.style: must be one of offset, page, cursor"),
        ("style: offset", "style: cursor", "paging.parameter: is missing"),
        ("offset: offset, ", "", "paging.offset: is missing"),
        ("key: id}", "key: id, size: 1}", "paging.size: must be a whole number from 2"),
        ("tools:", "tools: {}\nother:", "other: unknown key"),
    ],
)  # fmt: skip
def test_each_mistake_is_told_with_file_key_and_what_is_right(old: str, new: str, said: str) -> None:
    assert old in GOOD
    with pytest.raises(ConfigError) as failed:
        read_api(GOOD.replace(old, new, 1).encode(), "one.yaml")
    assert said in str(failed.value)
    assert re.match(r"one\.yaml(:\d+)?: ", str(failed.value))
    assert len(str(failed.value)) < 700


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "name"),
        (b"- 1", "must hold keys and values"),
        (b"name: [", "not YAML"),
        (b"name: \xff", "not UTF-8"),
        (b"a: 1\n---\nb: 2", "second document"),
        (b"a: !!python/object/apply:os.system [ls]", "tags such as"),
        (b"a: &a [*a]", "stands within what it stands for"),
        (b"a: {<<: {b: 1}}", "merge keys"),
        (b"? [a]\n: 1", "a key must be a word"),
        (b"x: " + b"[" * 200 + b"]" * 200, "nested deeper"),
        (b"x: " + b"{a: " * 200 + b"1" + b"}" * 200, "nested deeper"),
        (b"#" * 2_000_000, "larger than"),
        (
            b"a: &a [1,1,1,1,1,1,1,1,1,1]\n"
            + b"".join(b"%c: &%c [%s]\n" % (98 + n, 98 + n, b",".join([b"*%c" % (97 + n)] * 10)) for n in range(8)),
            "more than 20,000 values",
        ),
        (b"b0: &b0 [1]\n" + b"".join(b"b%d: &b%d [*b%d]\n" % (n + 1, n + 1, n) for n in range(60)), "nested deeper"),
        (b"a: \x00", "a character that YAML does not allow"),
    ],
)  # fmt: skip
def test_what_is_no_plain_yaml_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(ConfigError, match=r"^x\.yaml") as failed:
        read_api(data, "x.yaml")
    assert said in str(failed.value)


@pytest.mark.parametrize(
    ("first", "second", "is_refused"),
    [
        ("method: GET", "method: POST, annotations: {readOnlyHint: true}", True),
        ("method: POST, annotations: {readOnlyHint: true}", "method: PUT, annotations: {readOnlyHint: true}", True),
        ("method: POST", "method: POST", True),
        ("method: GET", "method: POST", False),
        ("method: POST, annotations: {readOnlyHint: true}", "method: POST", False),
    ],
)  # fmt: skip
def test_routes_are_told_apart_by_the_method_they_are_served_with(
    first: str, second: str, is_refused: bool
) -> None:
    tools = f"""
name: x
base_url: http://h
tools:
  one: {{path: /a, routes: [/x], {first}}}
  other: {{path: /b, routes: [/x], {second}}}
""".encode()
    if is_refused:
        with pytest.raises(ConfigError, match="other and one have the same route /x"):
            read_api(tools, "x")
    else:
        methods = {rest_method(tool) for tool in read_api(tools, "x").tools.values()}
        assert methods == {tool.served_method for tool in read_api(tools, "x").tools.values()}
        assert len(methods) == 2


def test_words_are_read_as_json_would_read_them() -> None:
    api = read_api(
        b"""
name: x
base_url: http://h
tools:
  t:
    path: /t
    parameters:
      a: {schema: {type: string, enum: [on, no, "1", 2026-01-02, 012, null, true, 1.5, 7]}}
""",
        "x",
    )
    words = api.tools["t"].input_schema["properties"]["a"]["enum"]
    assert words == ["on", "no", "1", "2026-01-02", "012", None, True, 1.5, 7]


def test_variables_come_from_the_environment_and_missing_ones_are_named() -> None:
    for variables in ({}, {"HOSTAWAY_ACCOUNT_ID": "1", "HOSTAWAY_API_KEY": ""}):
        with pytest.raises(
            OperatorError, match=r"HOSTAWAY_API_KEY \(for auth\.client_secret\).*set it"
        ) as failed:
            RestApi(api_of(), variables=variables)
        assert ("HOSTAWAY_ACCOUNT_ID" in str(failed.value)) == (not variables)
    RestApi(api_of(), variables=VARIABLES)  # the address has a default
    with pytest.raises(OperatorError, match="HOSTAWAY_API_KEY holds characters that no header can") as failed:
        RestApi(api_of(), variables=VARIABLES | {"HOSTAWAY_API_KEY": "secret\r\nx: y"})
    assert "secret" not in str(failed.value)


@pytest.mark.parametrize(
    "url",
    [
        "http://user:pass@host/v1", "http://host/v1?x=1", "http://host/v1#f", "http://host/v1/../x", "host/v1",
        "http://host/a b", "http://host/%2e%2e/x", "http://host//x", "file:///etc/passwd",
    ],
)  # fmt: skip
def test_an_address_that_cannot_be_is_refused(url: str) -> None:
    with pytest.raises(OperatorError, match="hostaway: base_url") as failed:
        RestApi(api_of(), base_url=url, variables=VARIABLES)
    assert "pass@" not in str(failed.value)
