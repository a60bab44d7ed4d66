"""A server over HTTP that lies, stalls, floods and dies: what of it a client gets to see, and what it costs us."""

import gzip
import json
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.http.processes import memory
from tests.http.raw_upstream import Called, RawUpstream, Script, into, raw_upstream
from tests.http.serving import PATIENCE, Answer, Serving, serve, text_of, wait_until
from tests.http.wire import Wire, request, wire

JSON = b"Content-Type: application/json"
ACCEPT = b"Accept: application/json, text/event-stream"
MAX_RESULT = 2_000_000
GIGABYTE = 1 << 30
LINES = "2026-11-16 12:00:00 INFO request served in 12 ms\n"

SCRIPTS: dict[str, Script] = {}
script = into(SCRIPTS)


@pytest.fixture(scope="module")
def serving(upstream: RawUpstream) -> Iterator[Serving]:
    given = ("--set", f"max_result_bytes={MAX_RESULT}", "--set", "grace_seconds=0")
    with serve("--upstream", upstream.url, *given, command=()) as started:
        yield started


def call(tool: str, key: Any = 1, *headers: bytes, **arguments: Any) -> bytes:
    message = {
        "jsonrpc": "2.0",
        "id": key,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }
    return request(b"POST /mcp", JSON, ACCEPT, *headers, body=json.dumps(message).encode())


def asked(serving: Serving, tool: str, key: Any = 1, *headers: bytes, **arguments: Any) -> Answer:
    with wire(serving) as opened:
        opened.send(call(tool, key, *headers, **arguments))
        return opened.answer()


def works(serving: Serving) -> bool:
    return text_of(asked(serving, "echo").json) == "ok"


def failed(answer: Answer, key: Any = 1) -> str:
    """What a client is told that gets no answer of the server's."""
    [message] = answer.messages
    assert message["id"] == key
    return message["error"]["message"]


# It dies


@script
def dies_at_once(called: Called) -> None:
    pass


@script
def dies_in_the_head(called: Called) -> None:
    called.send(b"HTTP/1.1 200 OK\r\nContent-Type: appl")


@script
def dies_in_json(called: Called) -> None:
    called.head("200 OK", "application/json", "Content-Length: 5000")
    called.send(called.written("half of it"))


@script
def dies_in_a_chunk(called: Called) -> None:
    called.head("200 OK", "application/json", "Transfer-Encoding: chunked")
    called.send(b"fff\r\n{")


@script
def says_too_little(called: Called) -> bool:
    body = called.written("x" * 100)
    called.head("200 OK", "application/json", f"Content-Length: {len(body) - 30}")
    called.send(body)
    return True


@script
def says_two_lengths(called: Called) -> None:
    called.head("200 OK", "application/json", "Content-Length: 10", "Content-Length: 20")


@script
def speaks_no_http(called: Called) -> None:
    called.send(b"220 mail.example.com ESMTP\r\n")


@pytest.mark.parametrize(
    "tool",
    [
        "dies_at_once",
        "dies_in_the_head",
        "dies_in_json",
        "dies_in_a_chunk",
        "says_two_lengths",
        "speaks_no_http",
    ],
)
def test_half_an_answer_is_none(serving: Serving, tool: str) -> None:
    answer = asked(serving, tool, "k")
    assert answer.status == 502
    assert "127.0.0.1" in failed(answer, "k")
    assert works(serving)


def test_what_follows_the_end_of_an_answer_is_not_taken_for_another(serving: Serving) -> None:
    """The body it got is no JSON, and passes as what it is; the rest must not reach anyone."""
    answer = asked(serving, "says_too_little")
    assert answer.status in (200, 502)
    assert not answer.body.endswith(b'"}]}}')
    for _ in range(5):
        assert works(serving)


@script
def dies_in_a_stream(called: Called) -> None:
    called.begin_stream()
    called.send(b'data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\ndata: {"json')
    called.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # a reset


@script
def dies_in_a_stream_with_ids(called: Called) -> None:
    called.head("200 OK", "text/event-stream", "Transfer-Encoding: chunked")
    event = b'id: 7\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n'
    called.send(b"%x\r\n%b\r\nffff\r\ndata" % (len(event), event))


@script
def dies_in_a_chunked_stream(called: Called) -> None:
    called.head("200 OK", "text/event-stream", "Transfer-Encoding: chunked")
    event = b'data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n'
    called.send(b"%x\r\n%b\r\nffff\r\ndata" % (len(event), event))


@script
def says_nothing(called: Called) -> None:
    called.begin_stream()


@script
def ends_without_the_answer(called: Called) -> None:
    called.begin_stream()
    called.send(b'data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n')


@pytest.mark.parametrize(
    "tool", ["dies_in_a_stream", "dies_in_a_chunked_stream", "ends_without_the_answer", "says_nothing"]
)
def test_a_stream_that_dies_ends_with_an_error_in_place_of_the_answer(serving: Serving, tool: str) -> None:
    *before, failure = asked(serving, tool, "k").messages
    assert [one["method"] for one in before] in ([], ["notifications/message"])  # a reset may overtake it
    assert (failure["id"], failure["error"]["code"] < 0) == ("k", True)
    assert works(serving)


def test_a_stream_that_can_be_resumed_is_cut_as_it_was(serving: Serving) -> None:
    """An error would be the answer; so the client comes back for the rest, as it would without us."""
    with wire(serving) as opened:
        opened.send(call("dies_in_a_stream_with_ids"))
        assert opened.head()[0] == 200
        with pytest.raises(EOFError):
            for piece in opened.chunks():
                assert b"id: 7" in piece
    assert works(serving)
    assert not [line for line in serving.lines if " library " in line], "what is meant is no error"


# It hangs


@script
def hangs(called: Called) -> None:
    called.wait_for_end()


@script
def hangs_in_json(called: Called) -> None:
    called.head("200 OK", "application/json", "Content-Length: 5000")
    called.send(b"{")
    called.wait_for_end()


@script
def hangs_in_a_stream(called: Called) -> None:
    called.begin_stream()
    called.send(b": here\n\n")
    called.wait_for_end()


@pytest.mark.parametrize("tool", ["hangs", "hangs_in_json", "hangs_in_a_stream"])
def test_a_client_that_hangs_up_hangs_up_on_the_server(
    serving: Serving, upstream: RawUpstream, tool: str
) -> None:
    with wire(serving) as opened:
        opened.send(call(tool))
        called = upstream.last(tool)
        assert not called.was_closed.is_set()
        if tool == "hangs_in_a_stream":
            assert opened.head()[0] == 200
            assert next(opened.chunks()) == b": here\n\n"
    assert called.was_closed.wait(PATIENCE)
    assert works(serving)


def test_a_listening_client_that_hangs_up_hangs_up_on_the_server(
    serving: Serving, upstream: RawUpstream
) -> None:
    upstream.scripts["GET"] = hangs_in_a_stream
    with wire(serving) as opened:
        opened.send(request(b"GET /mcp", b"Accept: text/event-stream", b"Mcp-Session-Id: s"))
        assert opened.head()[0] == 200
        called = upstream.last("GET")
    assert called.was_closed.wait(PATIENCE)


def test_a_server_that_hangs_holds_up_nobody_else(serving: Serving, upstream: RawUpstream) -> None:
    wires = [Wire(serving.port) for _ in range(30)]
    try:
        for number, opened in enumerate(wires):
            opened.send(call("hangs", number))
        upstream.last("hangs")
        assert works(serving)
    finally:
        for opened in wires:
            opened.__exit__()
    wait_until(
        lambda: all(one.was_closed.is_set() for one in upstream.calls if one.name == "hangs"),
        "the end of all",
    )


# Its events


def events(data: bytes) -> Script:
    def send(called: Called) -> None:
        called.begin_stream()
        called.send(data)

    return send


ANSWER = b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"ok"}]}}'
NOTE = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}'
AS_THEY_CAME = {
    "plain": b"data: " + ANSWER + b"\n\n",
    "crlf": b"id: 1\r\nretry: 250\r\ndata: " + NOTE + b"\r\n\r\nid: 2\r\ndata: " + ANSWER + b"\r\n\r\n",
    "cr only": b"id: 1\rdata: " + NOTE + b"\r\rdata:" + ANSWER + b"\r\r",
    "mixed": b"data: " + NOTE + b"\r\n\ndata: " + NOTE + b"\n\r\ndata: " + ANSWER + b"\n\n",
    "comments": b": hello\n\n:\n\n:" + b"x" * 3_000 + b"\ndata: " + ANSWER + b"\n: bye\n\n",
    "primed": b"id: 0\nretry: 1000\ndata: \n\nid: 1\nevent: message\ndata: " + ANSWER + b"\n\n",
    "several lines": b"data: " + ANSWER.replace(b",", b",\ndata: ") + b"\n\n",
    "other events": b"event: endpoint\ndata: /x\n\nevent: ping\ndata: {}\n\ndata: " + ANSWER + b"\n\n",
    "other fields": b"colour: blue\nid\ndata\ndata: " + ANSWER + b"\n\n",
    "strange ids": b"id: \xc3\xa9 \x01\ndata: "
    + NOTE
    + b"\n\nid: "
    + b"9" * 2_000
    + b"\ndata: "
    + ANSWER
    + b"\n\n",
    "garbage": b"\x00\xff\xfe<html>\n\ndata: {not json}\n\ndata: [1,\n\ndata: " + ANSWER + b"\n\n",
    "no end": b"data: " + NOTE + b"\n\ndata: " + ANSWER,
    "blank lines": b"\n\n\n\n\r\n\r\n\r\rdata: " + ANSWER + b"\n\n",
    "answer twice": b"data: " + ANSWER + b"\n\ndata: " + ANSWER + b"\n\n",
    "not its answer": b'data: {"jsonrpc":"2.0","id":"other","result":{}}\n\ndata: ' + ANSWER + b"\n\n",
}
SCRIPTS.update({name: events(data) for name, data in AS_THEY_CAME.items()})


@pytest.mark.parametrize("tool", AS_THEY_CAME)
def test_events_that_need_no_change_pass_byte_for_byte(serving: Serving, tool: str) -> None:
    with wire(serving) as opened:
        opened.send(call(tool))
        assert opened.head()[0] == 200
        assert b"".join(opened.chunks()) == AS_THEY_CAME[tool]


@script
def byte_by_byte(called: Called) -> None:
    called.begin_stream()
    for byte in AS_THEY_CAME["crlf"]:
        called.send(bytes([byte]))


def test_events_pass_however_they_are_cut(serving: Serving) -> None:
    with wire(serving) as opened:
        opened.send(call("byte_by_byte"))
        assert opened.head()[0] == 200
        assert b"".join(opened.chunks()) == AS_THEY_CAME["crlf"]


@script
def large_event(called: Called) -> None:
    called.begin_stream()
    size = called.json["params"]["arguments"]["bytes"]
    called.send(b"id: 5\nretry: 9\ndata: " + called.written(LINES * (size // len(LINES))) + b"\n\n")


def test_a_large_event_is_reduced_and_keeps_its_id(serving: Serving) -> None:
    answer = asked(serving, "large_event", bytes=1_500_000)
    [event] = answer.events
    assert (event["id"], event["retry"]) == ("5", "9")
    assert len(answer.body) < 20_000
    assert "brimgate_read" in text_of(json.loads(event["data"]))


def test_a_large_event_in_several_lines_is_reduced_too(serving: Serving) -> None:
    answer = asked(serving, "large_in_lines")
    assert len(answer.body) < 20_000
    assert answer.messages[0]["id"] == 1


@script
def large_in_lines(called: Called) -> None:
    called.begin_stream()
    rows = json.dumps([{"id": number, "note": "x" * 50} for number in range(3_000)])
    for line in json.dumps(json.loads(called.written(rows)), indent=1).split("\n"):
        called.send(b"data: " + line.encode() + b"\r\n")
    called.send(b"\r\n")


def test_an_event_larger_than_allowed_ends_the_stream_with_an_error(serving: Serving) -> None:
    answer = asked(serving, "large_event", "k", bytes=MAX_RESULT + 500_000)
    assert f"max_result_bytes ({MAX_RESULT:,})" in failed(answer, "k")
    assert works(serving)


@script
def many_events(called: Called) -> None:
    called.begin_stream()
    called.send(b": ping\n\n" * 200_000 + b"data: " + ANSWER + b"\n\n")


def test_many_small_events_hold_up_nobody(upstream: RawUpstream) -> None:
    """They come many at a time; that takes as long as they are many, and not as the square of it."""
    answers: list[bytes] = []

    def take() -> None:
        with wire(serving) as opened:
            opened.send(call("many_events"))
            opened.head()
            answers.append(b"".join(opened.chunks()))

    with serve("--upstream", upstream.url, "--set", "grace_seconds=0", command=()) as serving:
        taking = threading.Thread(target=take)
        taking.start()
        assert works(serving)
        taking.join(PATIENCE)
        assert len(answers[0]) == 8 * 200_000 + len(b"data: \n\n") + len(ANSWER)


# Its pages, logins and detours


@script
def error_page(called: Called) -> bool:
    body = b"<html><h1>Bad Gateway</h1>" + b"<p>sorry</p>" * 100_000
    return called.answer(body, status="502 Bad Gateway", kind="text/html")


@script
def error_page_without_end(called: Called) -> None:
    called.head("500 Internal Server Error", "text/html", "Connection: close")
    called.pour(b"<p>sorry</p>" * 10_000, 10_000)


@pytest.mark.parametrize(("tool", "status"), [("error_page", 502), ("error_page_without_end", 500)])
def test_of_a_page_that_says_it_failed_the_beginning_passes(
    serving: Serving, upstream: RawUpstream, tool: str, status: int
) -> None:
    answer = asked(serving, tool)
    assert answer.status == status
    assert 0 < len(answer.body) <= 10_000
    if tool == "error_page_without_end":
        assert upstream.last(tool).was_closed.wait(PATIENCE)


@script
def wants_a_login(called: Called) -> bool:
    body = b'{"error":"invalid_token"}'
    login = 'WWW-Authenticate: Bearer error="invalid_token", resource_metadata="http://x", scope="s"'
    return called.answer(body, login, status="401 Unauthorized")


@script
def fails_as_json(called: Called) -> bool:
    error = {"code": -32602, "message": "no such thing"}
    return called.answer(called.message(error=error), "Retry-After: 7", status="400 Bad Request")


def test_a_refusal_of_the_server_passes_with_its_status(serving: Serving) -> None:
    login = asked(serving, "wants_a_login")
    assert (login.status, login.json) == (401, {"error": "invalid_token"})
    assert "www-authenticate" not in login.headers  # it is the operator who logs in
    refused = asked(serving, "fails_as_json", "k")
    assert (refused.status, refused.headers["retry-after"]) == (400, "7")
    assert failed(refused, "k") == "no such thing"


@script
def moved_elsewhere(called: Called) -> bool:
    return called.answer(b"", "Location: http://127.0.0.1:9/mcp", status="307 Temporary Redirect")


@script
def moved_to_another_port(called: Called) -> bool:
    return called.answer(b"", "Location: //127.0.0.1/mcp", status="308 Permanent Redirect")


@script
def moved_nowhere(called: Called) -> bool:
    return called.answer(b"", "Location: javascript:alert(1)", status="307 Temporary Redirect")


@script
def moved_as_get(called: Called) -> bool:
    return called.answer(b"", "Location: /other", status="303 See Other")


@script
def moved_in_circles(called: Called) -> bool:
    return called.answer(b"", "Location: /mcp", status="307 Temporary Redirect")


@script
def moved_here(called: Called) -> bool:
    if called.target == "/there?x=1":
        return called.result(f"at {called.target}: {called.method}")
    return called.answer(b"", "Location: there?x=1", status="307 Temporary Redirect")


@pytest.mark.parametrize(
    "tool",
    ["moved_elsewhere", "moved_to_another_port", "moved_nowhere", "moved_as_get", "moved_in_circles"],
)
def test_a_detour_off_its_own_ground_is_not_taken(serving: Serving, tool: str) -> None:
    answer = asked(serving, tool, "k")
    assert answer.status == 502
    assert failed(answer, "k")
    assert "location" not in answer.headers


def test_a_detour_on_its_own_ground_is_taken(serving: Serving) -> None:
    assert text_of(asked(serving, "moved_here").json) == "at /there?x=1: POST"


# Codings and sizes


@script
def packed(called: Called) -> bool:
    return called.answer(gzip.compress(called.written("unpacked")), "Content-Encoding: gzip")


@script
def packed_stream(called: Called) -> None:
    called.begin_stream("Content-Encoding: gzip")
    called.send(gzip.compress(b"data: " + called.written("unpacked") + b"\n\n"))


@script
def packed_strangely(called: Called) -> bool:
    return called.answer(b"\x1b\x00\x00", "Content-Encoding: br")


@script
def bomb(called: Called) -> bool:
    return called.answer(gzip.compress(bytes(200_000_000), 1), "Content-Encoding: gzip")


@script
def bomb_in_a_stream(called: Called) -> None:
    called.begin_stream("Content-Encoding: gzip")
    called.send(gzip.compress(b"data: " + bytes(200_000_000), 1))


@script
def bomb_of_a_page(called: Called) -> bool:
    return called.answer(
        gzip.compress(bytes(200_000_000), 1),
        "Content-Encoding: gzip",
        status="500 Internal Server Error",
        kind="text/html",
    )


def test_a_packed_answer_is_unpacked_although_nobody_asked_for_it(serving: Serving) -> None:
    answer = asked(serving, "packed")
    assert text_of(answer.json) == "unpacked"
    assert "content-encoding" not in answer.headers
    streamed = asked(serving, "packed_stream")
    assert text_of(streamed.messages[0]) == "unpacked"
    assert "content-encoding" not in streamed.headers
    assert asked(serving, "packed_strangely").status == 502


def gigabyte(*lines: str, beginning: bytes = b"\r\n") -> Callable[[Called], None]:
    """`beginning`: what comes between the last header and the flood."""

    def send(called: Called) -> None:
        called.send("".join(f"{line}\r\n" for line in ("HTTP/1.1 200 OK", *lines)).encode() + beginning)
        called.pour(b"x" * (1 << 20), GIGABYTE >> 20)

    return send


SCRIPTS["gigabyte announced"] = gigabyte("Content-Type: application/json", f"Content-Length: {GIGABYTE}")
SCRIPTS["gigabyte"] = gigabyte("Content-Type: application/json")
SCRIPTS["gigabyte of text"] = gigabyte("Content-Type: text/plain")
SCRIPTS["gigabyte in an event"] = gigabyte("Content-Type: text/event-stream", beginning=b"\r\ndata: ")
SCRIPTS["gigabyte of comment"] = gigabyte("Content-Type: text/event-stream", beginning=b"\r\n:")
SCRIPTS["gigabyte of headers"] = gigabyte("Content-Type: application/json", beginning=b"X: ")
MEMORY_BYTES = 60_000_000
"""More than this above what it had is not held for any of them; each would take from 200 MB to 1 GB as a whole."""


@pytest.mark.parametrize("tool", [name for name in SCRIPTS if name.startswith(("gigabyte", "bomb"))])
def test_too_large_an_answer_is_refused_while_it_comes(
    serving: Serving, upstream: RawUpstream, tool: str
) -> None:
    assert works(serving)
    before = memory(serving.process.pid)
    answer = asked(serving, tool, "k")
    if tool == "bomb_of_a_page":
        assert (answer.status, len(answer.body) <= 10_000) == (500, True)
    else:
        assert answer.status == (200 if "text/event-stream" in answer.headers["content-type"] else 502)
        assert failed(answer, "k")
    if tool.startswith("gigabyte"):
        assert upstream.last(tool).was_closed.wait(PATIENCE)
    assert memory(serving.process.pid, "VmHWM") < max(before, 60_000_000) + MEMORY_BYTES
    assert works(serving)


# Headers


@script
def tells_much(called: Called) -> bool:
    return called.result(
        "ok",
        "Set-Cookie: session=secret",
        "Server: upstream/1.0",
        "X-Powered-By: something",
        "Mcp-Session-Id: 0123-abc",
        "Mcp-Protocol-Version: 2025-11-25",
        "Access-Control-Allow-Origin: *",
        "Strict-Transport-Security: max-age=1",
        "Transfer-Encodings: x",
        "Cache-Control: no-store",
    )


def test_a_client_sees_the_headers_of_mcp_and_no_others(serving: Serving) -> None:
    headers = asked(serving, "tells_much").headers
    assert headers["mcp-session-id"] == "0123-abc"
    assert headers["mcp-protocol-version"] == "2025-11-25"
    assert headers["cache-control"] == "no-store"
    known = {"content-type", "content-length", "x-request-id", "mcp-session-id", "mcp-protocol-version"}
    assert set(headers) == known | {"cache-control"}


def test_a_server_sees_what_is_meant_for_it_and_nothing_else(serving: Serving, upstream: RawUpstream) -> None:
    theirs = {
        "Origin": "http://localhost:6274",
        "Cookie": "a=b",
        "Authorization": "Bearer secret",
        "Proxy-Authorization": "Basic secret",
        "Referer": "http://localhost:6274/page",
        "User-Agent": "a client/1.0",
        "Accept-Encoding": "gzip, br",
        "Accept-Language": "de",
        "Connection": "keep-alive",
        "X-Other": "y",
        "Mcp-Session-Id": "s-1",
        "MCP-Protocol-Version": "2025-11-25",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "=?base64?c2Vlcw==?=",
        "Mcp-Param-Region": "  eu  ",
        "Last-Event-ID": "7",
        "Traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "X-Request-Id": "mine",
    }
    given = [f"{name}: {value}".encode() for name, value in theirs.items()]
    assert asked(serving, "sees", 1, *given).status == 200
    called = upstream.last("sees")
    body = called.header("content-length")
    assert dict(called.headers) == {
        "host": f"127.0.0.1:{upstream.port}",
        "accept-encoding": "identity",
        "accept": "application/json, text/event-stream",
        "content-type": "application/json",
        "content-length": body,
        "mcp-session-id": "s-1",
        "mcp-protocol-version": "2025-11-25",
        "mcp-method": "tools/call",
        "mcp-name": "=?base64?c2Vlcw==?=",
        "mcp-param-region": "eu",
        "last-event-id": "7",
        "traceparent": theirs["Traceparent"],
        "x-request-id": "mine",
    }
    assert len(called.headers) == 13


def test_a_server_is_told_what_its_operator_wants_and_what_it_may_see(
    upstream: RawUpstream, tmp_path: Any
) -> None:
    path = tmp_path / "brimgate.yaml"
    keys = {
        "url": upstream.url,
        "headers": {"Authorization": "Bearer ours", "X-Tenant": "7"},
        "forward_headers": ["X-User", "X-Tenant", "cookie"],
    }
    path.write_text(f"upstreams: {json.dumps({'raw': keys})}\n")
    with serve("--config", str(path), command=()) as serving:
        given = (
            b"Authorization: Bearer theirs",
            b"X-User: ada",
            b"X-Tenant: 8",
            b"Cookie: a=b",
            b"X-Other: y",
        )
        assert asked(serving, "told", 1, *given).status == 200
    headers = upstream.last("told").headers
    for name, value in (
        ("authorization", "Bearer ours"),
        ("x-tenant", "7"),
        ("x-user", "ada"),
        ("cookie", "a=b"),
    ):
        assert [given for key, given in headers if key == name] == [value]
    assert not [value for name, value in headers if name == "x-other"]


def test_the_login_of_a_client_passes_where_it_may_and_so_does_the_question_for_it(
    upstream: RawUpstream, tmp_path: Any
) -> None:
    path = tmp_path / "brimgate.yaml"
    keys = {"url": upstream.url, "forward_headers": ["Authorization"]}
    path.write_text(f"upstreams: {json.dumps({'raw': keys})}\n")
    with serve("--config", str(path), command=()) as serving:
        answer = asked(serving, "wants_a_login", 1, b"Authorization: Bearer theirs")
        # Its metadata name its own URL, not ours: clients would refuse them.
        assert answer.headers["www-authenticate"] == 'Bearer error="invalid_token", scope="s"'
    assert upstream.last("wants_a_login").header("authorization") == "Bearer theirs"


# A client that does not read


@script
def pours(called: Called) -> None:
    """As much as is taken, or a gigabyte."""
    called.begin_stream()
    event = b"data: " + NOTE[:-2] + b',"more":"' + b"y" * 60_000 + b'"}}\n\n'
    called.pour(event, GIGABYTE // len(event))


def test_a_client_that_does_not_read_makes_its_server_wait_and_nobody_else(
    serving: Serving, upstream: RawUpstream
) -> None:
    assert works(serving)
    before = memory(serving.process.pid)
    wires = [Wire(serving.port) for _ in range(3)]
    try:
        for opened in wires:
            opened.send(call("pours"))
            assert opened.head()[0] == 200
        for _ in range(100):
            assert works(serving)
        assert not any(one.was_closed.is_set() for one in upstream.calls if one.name == "pours")
        assert memory(serving.process.pid) < before + MEMORY_BYTES
    finally:
        for opened in wires:
            opened.__exit__()
    wait_until(
        lambda: all(one.was_closed.is_set() for one in upstream.calls if one.name == "pours"),
        "that their servers are told",
    )
    assert works(serving)


# The end


@script
def waits(called: Called) -> bool:
    RELEASED.wait(PATIENCE)
    return called.result("at last")


RELEASED = threading.Event()


def test_a_call_under_way_is_answered_before_the_end(upstream: RawUpstream) -> None:
    upstream.scripts["GET"] = hangs_in_a_stream
    with (
        serve("--upstream", upstream.url, "--set", "grace_seconds=60", command=()) as serving,
        wire(serving) as opened,
        wire(serving) as listening,
    ):
        listening.send(request(b"GET /mcp", b"Accept: text/event-stream", b"Mcp-Session-Id: s"))
        assert listening.head()[0] == 200
        opened.send(call("waits"))
        upstream.last("waits")
        serving.process.send_signal(signal.SIGTERM)
        serving.wait_for_line("stopping")
        assert serving.process.poll() is None
        RELEASED.set()
        assert text_of(opened.answer().json) == "at last"
        assert serving.process.wait(PATIENCE) == 0


def test_a_server_that_is_not_there_is_unavailable_to_whom_it_is_new_and_failing_to_others() -> None:
    with raw_upstream({}) as gone:
        url = gone.url
    with serve("--upstream", url, command=()) as serving:
        assert serving.client().initialize().status == 503
        answer = asked(serving, "echo", "k")
        assert answer.status == 502
        assert "is the server running?" in failed(answer, "k")
        wait_until(lambda: serving.get("/health").status == 503, "the outcome of a check")
        assert serving.get("/health").json["status"] == "unhealthy"
