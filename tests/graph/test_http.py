"""The graph server over Streamable HTTP, in raw requests: sessions, statuses, and what is accepted."""

import json
from collections.abc import Iterator
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from tests.graph.serving import (
    HELLO,
    META,
    MODERN,
    PATIENCE,
    SMALL,
    ask,
    call,
    http_server,
    open_session,
    request,
)

STATUS = {"status": "ok", "message": "Graphiti MCP server is running and connected to sqlite database"}
EVENTS = "text/event-stream"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with http_server(*SMALL) as address:
        yield address


@pytest.fixture(scope="module")
def slow_url() -> Iterator[str]:
    with http_server(*SMALL, "--delay", "600") as address:
        yield address


def test_a_session_lasts_from_initialize_to_its_deletion(url: str) -> None:
    session = open_session(url)
    assert ask(url, b"", mcp_session_id=session).status == 400
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert ask(url, note, mcp_session_id=session).status == 202
    told = ask(url, call(1, "get_status", {}), mcp_session_id=session)
    assert (told.status, told.headers["content-type"]) == (200, "application/json")
    assert told.json["result"]["structuredContent"] == STATUS
    assert ask(url, request(2, "nope"), mcp_session_id=session).status == 200
    assert ask(url, b"", "DELETE", mcp_session_id=session).status == 200
    for method in ("POST", "DELETE"):
        assert ask(url, request(3, "tools/list"), method, mcp_session_id=session).status == 404
    assert ask(url, request(3, "tools/list")).status == 400


def test_a_handshake_that_fails_opens_no_session(url: str) -> None:
    told = ask(url, request(1, "initialize"))
    assert told.status == 400
    assert "mcp-session-id" not in told.headers


def test_modern_requests_stand_alone_and_their_headers_must_match(url: str) -> None:
    asked = request(1, "tools/list", _meta=META)
    told = ask(url, asked, **MODERN, mcp_method="tools/list")
    assert (told.status, told.json["result"]["resultType"]) == (200, "complete")
    assert "mcp-session-id" not in told.headers
    for headers in ({}, MODERN, MODERN | {"mcp_method": "tools/call"}):
        told = ask(url, asked, **headers)
        assert (told.status, told.json["error"]["code"]) == (400, -32020)
    assert ask(url, request(2, "nope", _meta=META), **MODERN, mcp_method="nope").status == 404


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("application/json", "application/json"),
        ("application/json, text/event-stream", "application/json"),
        ("application/*;q=0.5", "application/json"),
        ("*/*", "application/json"),
        (EVENTS, EVENTS),
    ],
)
def test_the_answer_is_of_a_kind_that_is_accepted(url: str, accept: str, kind: str) -> None:
    told = ask(url, request(0, "initialize", **HELLO), accept=accept)
    assert (told.status, told.headers["content-type"]) == (200, kind)
    (message,) = told.events if kind == EVENTS else [told.json]
    assert message["result"]["serverInfo"]["name"] == "Graphiti Agent Memory"


def test_what_is_not_for_us_is_refused(url: str) -> None:
    assert ask(url, request(0, "initialize", **HELLO), accept="text/html").status == 406
    assert ask(url, b"{").status == 400
    assert ask(url, b"[]").status == 400
    assert ask(url, b" " * (4 << 20) + b"{}").status == 413
    refused = ask(url, b"", "GET")
    assert (refused.status, refused.headers["allow"]) == (405, "POST, DELETE")
    assert ask(url.replace("/mcp", "/else"), b"{}").status == 404


def test_health_is_told(url: str) -> None:
    told = ask(url.replace("/mcp", "/health"), b"", "GET")
    assert (told.status, told.json) == (200, {"status": "healthy", "service": "graphiti-mcp"})


def test_the_oldest_session_makes_room(url: str) -> None:
    address = urlsplit(url)
    first, second = open_session(url), open_session(url)
    assert ask(url, request(1, "ping"), mcp_session_id=first).status == 200  # used since: not the oldest
    connection = HTTPConnection(address.hostname or "", address.port, timeout=PATIENCE)
    body = '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}'
    for _ in range(999):
        connection.request("POST", "/mcp", body)
        assert connection.getresponse().read()
    connection.close()
    assert ask(url, request(1, "ping"), mcp_session_id=first).status == 200
    assert ask(url, request(1, "ping"), mcp_session_id=second).status == 404


def test_a_slow_call_can_be_called_off_within_its_session(slow_url: str) -> None:
    session = open_session(slow_url)
    address = urlsplit(slow_url)
    connection = HTTPConnection(address.hostname or "", address.port, timeout=PATIENCE)
    asked = call(7, "get_status", {}, _meta={"progressToken": 1})

    connection.request("POST", "/mcp", json.dumps(asked), {"mcp-session-id": session})
    response = connection.getresponse()
    assert response.headers["content-type"] == EVENTS
    assert b"event" in response.readline()
    assert b'"progress":0.5' in response.readline()
    off = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
    assert ask(slow_url, off, mcp_session_id=session).status == 202
    assert b'"code": -32800' in response.read()
    connection.close()


def test_a_caller_that_goes_leaves_the_server_well(slow_url: str) -> None:
    address = urlsplit(slow_url)
    for accept in (EVENTS, "application/json"):
        connection = HTTPConnection(address.hostname or "", address.port, timeout=PATIENCE)
        session = open_session(slow_url)

        headers = {"mcp-session-id": session, "accept": accept}
        connection.request("POST", "/mcp", json.dumps(call(1, "get_status", {})), headers)
        connection.close()
        assert ask(slow_url, request(2, "ping"), mcp_session_id=session).status == 200
