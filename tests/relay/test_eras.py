"""Headers that repeat what a request says: checked as the specification wants it, and made the same way."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brimgate.relay.protocol import message as rpc
from brimgate.relay.protocol.headers import check_params, make_params, param_headers_of
from brimgate.relay.protocol.message import Message
from brimgate.relay.protocol.versions import (
    HEADER_MISMATCH,
    UNSUPPORTED_VERSION,
    ProtocolRefusal,
    check_envelope,
    decode_text,
    encode_text,
    envelope_headers,
    is_modern_header,
)

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "x-mcp-header": "City"},
        "count": {"type": "integer", "x-mcp-header": "Count"},
        "where": {
            "type": "object",
            "properties": {"exact": {"type": "boolean", "x-mcp-header": "Exact"}},
        },
        "free": {"type": "string"},
    },
}


def request(method: str = "tools/call", meta: Any = META, **params: Any) -> Message:
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": method,
        "params": params | ({"_meta": meta} if meta is not None else {}),
    }
    read = rpc.read(json.dumps(body).encode())
    assert isinstance(read, Message)
    return read


def headers(**given: str) -> list[tuple[bytes, bytes]]:
    usual = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "t"}
    told = usual | {name.replace("_", "-"): value for name, value in given.items()}
    return [(name.encode(), value.encode()) for name, value in told.items() if value]


def code_of(message: Message, given: list[tuple[bytes, bytes]]) -> int:
    with pytest.raises(ProtocolRefusal) as caught:
        check_envelope(message, given)
    return caught.value.code


def test_a_request_that_agrees_with_its_headers_passes() -> None:
    assert check_envelope(request(name="t"), headers()) == META


@pytest.mark.parametrize(
    ("message", "given", "code"),
    [
        (request(meta=None, name="t"), headers(), rpc.INVALID_PARAMS),
        (request(meta={}, name="t"), headers(), rpc.INVALID_PARAMS),
        (request(meta=5, name="t"), headers(), rpc.INVALID_PARAMS),
        (request(name="t"), headers(mcp_protocol_version=""), HEADER_MISMATCH),
        (request(name="t"), headers(mcp_method="TOOLS/CALL"), HEADER_MISMATCH),
        (request(name="t"), headers(mcp_method=""), HEADER_MISMATCH),
        (request(name="t"), headers(mcp_name="u"), HEADER_MISMATCH),
        (request(name="t"), headers(mcp_name=""), HEADER_MISMATCH),
        (request(name="t"), headers(mcp_name="=?base64?dA?="), HEADER_MISMATCH),
        (request(name="t"), [*headers(), (b"mcp-name", b"t")], HEADER_MISMATCH),
        (
            request(name="t", meta=META | {"io.modelcontextprotocol/protocolVersion": "v999"}),
            headers(),
            HEADER_MISMATCH,
        ),
        (
            request(name="t", meta=META | {"io.modelcontextprotocol/protocolVersion": "v999"}),
            headers(mcp_protocol_version="v999"),
            UNSUPPORTED_VERSION,
        ),
    ],
)
def test_a_request_that_contradicts_itself_is_refused(
    message: Message, given: list[tuple[bytes, bytes]], code: int
) -> None:
    assert code_of(message, given) == code


def test_the_refusal_of_a_version_says_which_there_are() -> None:
    meta = META | {"io.modelcontextprotocol/protocolVersion": "v999"}
    with pytest.raises(ProtocolRefusal) as caught:
        check_envelope(request(name="t", meta=meta), headers(mcp_protocol_version="v999"))
    assert json.loads(caught.value.data) == {"supported": ["2026-07-28"], "requested": "v999"}


def test_versions_nobody_knows_are_of_the_newer_era() -> None:
    assert not is_modern_header(b"")
    assert not is_modern_header(b"2025-06-18")
    assert is_modern_header(b"2026-07-28")
    assert is_modern_header(b"v999")


@pytest.mark.property
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_survives_as_a_header(text: str) -> None:
    value = encode_text(text)
    assert value.isascii()
    assert not set(value) & {0, 10, 13}
    assert value.strip() == value
    assert decode_text(value.decode()) == text


@pytest.mark.parametrize(
    "value", ["=?base64?SGVsbG8?=", "=?base64?SGVs!!!bG8=?=", "=?base64?/w==?=", "=?base64?SGVsbG9=?="]
)
def test_broken_coding_is_nothing(value: str) -> None:
    assert decode_text(value) is None


@pytest.mark.parametrize("value", ["=?base64?SGVsbG8=", "SGVsbG8=?=", "plain", ""])
def test_what_is_not_coded_is_literal(value: str) -> None:
    assert decode_text(value) == value


@pytest.mark.property
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "city": st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.none(),
            "count": st.integers(),
            "where": st.fixed_dictionaries({}, optional={"exact": st.booleans()}),
            "free": st.text(max_size=5),
        },
    )
)
def test_the_headers_we_make_are_those_we_accept(arguments: dict[str, Any]) -> None:
    wanted = param_headers_of(json.dumps(SCHEMA).encode())
    made = [(name.lower(), value) for name, value in make_params(wanted, arguments)]
    check_params(wanted, arguments, made)
    for at in range(len(made)):
        with pytest.raises(ProtocolRefusal):
            check_params(wanted, arguments, made[:at] + made[at + 1 :])
        with pytest.raises(ProtocolRefusal):
            check_params(wanted, arguments, [*made, made[at]])


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ({"city": "Oslo"}, "Bergen"),
        ({"city": "Oslo"}, "oslo"),
        ({}, "Oslo"),
        ({"city": ["Oslo"]}, "Oslo"),
    ],
)
def test_a_header_that_says_something_else_is_refused(arguments: dict[str, Any], given: str) -> None:
    wanted = param_headers_of(json.dumps(SCHEMA).encode())
    with pytest.raises(ProtocolRefusal):
        check_params(wanted, arguments, [(b"mcp-param-city", given.encode())])


def test_whole_numbers_are_compared_as_numbers() -> None:
    wanted = param_headers_of(json.dumps(SCHEMA).encode())
    for value, said in ((42, b"42.0"), (42.0, b"42"), (10**30, b"1" + b"0" * 30)):
        check_params(wanted, {"count": value}, [(b"mcp-param-count", said)])
    for value, said in ((42, b"42.5"), (42, b"4.2e1"), (42, b" 43")):
        with pytest.raises(ProtocolRefusal):
            check_params(wanted, {"count": value}, [(b"mcp-param-count", said)])


@pytest.mark.parametrize(
    "schema",
    [
        {"x-mcp-header": "A", "type": "string"},
        {"properties": {"a": {"type": "number", "x-mcp-header": "A"}}},
        {"properties": {"a": {"type": "string", "x-mcp-header": "A b"}}},
        {"properties": {"a": {"type": "string", "x-mcp-header": 5}}},
        {
            "properties": {
                "a": {"type": "string", "x-mcp-header": "A"},
                "b": {"type": "string", "x-mcp-header": "a"},
            }
        },
        {"items": {"properties": {"a": {"type": "string", "x-mcp-header": "A"}}}},
        {"properties": {"a": {"type": "array", "items": {"type": "string", "x-mcp-header": "A"}}}},
    ],
)
def test_a_schema_that_misuses_the_mark_wants_nothing(schema: dict[str, Any]) -> None:
    assert param_headers_of(json.dumps(schema).encode()) == ()


def test_the_headers_of_a_request_are_those_that_are_checked() -> None:
    for message in (
        request(name="größe"),
        request("resources/read", uri="file:///x y"),
        request("prompts/get", name=" p "),
        request("tools/list"),
    ):
        check_envelope(message, envelope_headers(message))
