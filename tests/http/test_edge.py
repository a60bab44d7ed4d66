"""What comes in from the network before it is a message of MCP: names, lengths, sizes, paths, and clients that stall."""

import gzip
import json
import re
import resource
import socket
import subprocess
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.config.running import BRIMGATE, environment
from tests.http.serving import FAULTY, PATIENCE, Answer, Serving, serve, text_of, wait_until
from tests.http.wire import Wire, ask, chunked, request, wire

JSON = b"Content-Type: application/json"
POST = b"POST /mcp"
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
MAX_BODY = 50_000


@pytest.fixture(scope="module")
def serving() -> Iterator[Serving]:
    with serve("--set", f"max_body_bytes={MAX_BODY}", "--set", "grace_seconds=0") as started:
        yield started


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Serving]:
    """One that is known by other names too."""
    names = "gate.example.com,*.wild.example"
    with serve(
        "--set", f"allowed_hosts={names}", "--set", "allowed_origins=https://app.example.com"
    ) as started:
        yield started


@pytest.fixture(scope="module")
def stalled(serving: Serving) -> Iterator[dict[str, Wire]]:
    """Clients that have begun something, some time before they are looked at: being dropped takes a while."""
    beginnings = {
        "nothing at all": b"",
        "half a head": b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-",
        "half a body": request(POST, JSON, b"Content-Length: 100") + b'{"jsonrpc"',
        "half a chunk": request(POST, JSON, b"Transfer-Encoding: chunked") + b"ff\r\n{",
        "a second head by half": request() + b"GET /hea",
        "blank lines behind an answer": request(),
        "a body nobody waits for": request(b"POST /nothing", JSON, b"Content-Length: 4"),
    }
    with ExitStack() as closing:
        wires = {name: closing.enter_context(Wire(serving.port)) for name in beginnings}
        for name, begun in beginnings.items():
            wires[name].send(begun)
        for name in ("a second head by half", "blank lines behind an answer"):
            assert wires[name].answer().status == 200
        wires["blank lines behind an answer"].send(b"\r\n")
        assert wires["a body nobody waits for"].answer().status == 404
        wires["a body nobody waits for"].send(b"late")
        yield wires


def is_reached(answer: Answer) -> bool:
    """Whether a ping got as far as the endpoint, which misses the session."""
    return answer.status == 400 and "Mcp-Session-Id" in answer.json["error"]["message"]


def works(serving: Serving) -> bool:
    return is_reached(ask(serving, request(POST, JSON, body=PING)))


# Names


@pytest.mark.usefixtures("stalled")
@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LocalHost",
        "localhost.",
        "localhost:1",
        "127.0.0.1",
        "127.0.0.1:65535",
        "[::1]",
        "[::1]:80",
    ],
)
def test_this_machine_is_called_by_its_own_names_with_any_port(serving: Serving, host: str) -> None:
    assert ask(serving, request(host=b"Host: " + host.encode())).status == 200


@pytest.mark.parametrize(
    "host",
    [
        "example.com",
        "localhost.example.com",
        "127.0.0.1.example.com",
        "example.com#localhost",
        "user@localhost",
        "localhost/x",
        "localhost, example.com",
        "localhost:port",
        "localhost:123456",
        "0.0.0.0",  # noqa: S104
        "[::]",
        "::1",
        "",
    ],
)
def test_any_other_name_is_misdirected(serving: Serving, host: str) -> None:
    answer = ask(serving, request(host=b"Host: " + host.encode()))
    assert (answer.status, "allowed_hosts" in answer.json["error"]["message"]) == (421, True)


@pytest.mark.parametrize(
    "hosts",
    [b"", b"Host: localhost\r\nHost: localhost", b"Host: localhost\r\nhOST: example.com"],
    ids=["none", "the same twice", "two"],
)
def test_a_request_has_exactly_one_host(serving: Serving, hosts: bytes) -> None:
    with wire(serving) as opened:
        opened.send(request(host=hosts))
        assert opened.answer().status == 400
        assert opened.is_closed()


def test_an_old_request_may_leave_its_host_out_and_is_then_for_nobody(serving: Serving) -> None:
    assert ask(serving, b"GET /health HTTP/1.0\r\n\r\n").status == 421


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("gate.example.com", 200),
        ("Gate.Example.COM.:8443", 200),
        ("a.wild.example", 200),
        ("a.b.wild.example", 200),
        ("localhost", 200),
        ("wild.example", 421),
        ("a.wild.example.evil.example", 421),
        ("xgate.example.com", 421),
    ],
)
def test_names_and_all_below_one_can_be_allowed(elsewhere: Serving, host: str, status: int) -> None:
    assert ask(elsewhere, request(host=b"Host: " + host.encode())).status == status


# Pages


@pytest.mark.parametrize(
    "origin",
    [
        "https://example.com",
        "null",
        "",
        "http://localhost.example.com",
        "http://localhost@example.com",
        "http://example.com#http://localhost",
        "file://localhost",
        "localhost",
        "http://localhost http://example.com",
    ],
)
def test_a_page_elsewhere_may_not_call(serving: Serving, origin: str) -> None:
    answer = ask(serving, request(b"GET /health", b"Origin: " + origin.encode()))
    assert answer.status == 403
    assert "access-control-allow-origin" not in answer.headers
    asked = ask(serving, request(b"OPTIONS /mcp", b"Origin: " + origin.encode()))
    assert asked.status == 403


def test_a_page_elsewhere_does_not_hide_behind_one_of_ours(serving: Serving) -> None:
    both = (b"Origin: http://localhost", b"Origin: https://example.com")
    assert ask(serving, request(b"GET /health", *both)).status == 403
    assert ask(serving, request(b"GET /health", *both[::-1])).status == 403


@pytest.mark.parametrize("origin", ["http://localhost:6274", "https://127.0.0.1", "http://[::1]:3000"])
def test_a_page_of_this_machine_may_call_and_read_what_it_needs(serving: Serving, origin: str) -> None:
    answer = ask(serving, request(POST, JSON, b"Origin: " + origin.encode(), body=PING))
    assert is_reached(answer)
    assert answer.headers["access-control-allow-origin"] == origin
    assert "mcp-session-id" in answer.headers["access-control-expose-headers"]
    assert answer.headers["vary"] == "origin"


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("https://app.example.com", 200),
        ("https://gate.example.com", 200),  # the page we are ourselves, by a name of ours
        ("http://app.example.com", 403),
        ("https://app.example.com:8443", 403),
    ],
)
def test_pages_can_be_allowed(elsewhere: Serving, origin: str, status: int) -> None:
    assert ask(elsewhere, request(b"GET /health", b"Origin: " + origin.encode())).status == status


def test_a_preflight_is_told_what_may_be_sent(serving: Serving) -> None:
    answer = ask(
        serving,
        request(
            b"OPTIONS /mcp",
            b"Origin: http://localhost:6274",
            b"Access-Control-Request-Method: POST",
            b"Access-Control-Request-Headers: content-type, mcp-param-region, x-other",
        ),
    )
    assert (answer.status, answer.body) == (204, b"")
    assert answer.headers["access-control-allow-origin"] == "http://localhost:6274"
    assert {"GET", "POST", "DELETE"} <= set(answer.headers["access-control-allow-methods"].split(", "))
    allowed = set(answer.headers["access-control-allow-headers"].split(", "))
    assert {"content-type", "mcp-session-id", "mcp-protocol-version", "last-event-id"} <= allowed
    assert "mcp-param-region" in allowed
    assert "x-other" not in allowed


# Where a request ends


SMUGGLED = b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: smuggled\r\n\r\n"


@pytest.mark.parametrize(
    "framing",
    [
        b"Content-Length: 40\r\nTransfer-Encoding: chunked",
        b"Transfer-Encoding: chunked\r\nContent-Length: 40",
        b"Content-Length: 40\r\nContent-Length: 5",
        b"Content-Length: 40\r\nContent-Length: 40",
        b"Content-Length: 40, 40",
        b"Content-Length: +40",
        b"Content-Length: -1",
        b"Content-Length: 0x28",
        b"Content-Length: 4 0",
        b"Content-Length: 99999999999999999999999",
        b"Content-Length : 40",
        b"Content-Length: 40\r\n X: folded",
        b"Transfer-Encoding: xchunked",
        b"Transfer-Encoding: chunked, identity",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        b"Transfer-Encoding:\x0bchunked",
        b"X: a\nContent-Length: 40",
        b"X: a\rb",
        b"X: a\x00b",
        b"X y: a",
        b": a",
    ],
)
def test_a_request_whose_end_could_be_read_two_ways_is_refused(serving: Serving, framing: bytes) -> None:
    head = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + JSON + b"\r\n" + framing + b"\r\n\r\n"
    with wire(serving) as opened:
        opened.send(head, chunked(PING), SMUGGLED)
        assert opened.answer().status == 400
        assert opened.is_closed()  # and nothing behind it was answered


@pytest.mark.parametrize(
    "body",
    [b"zz\r\n", b"-1\r\n", b"5;\n12345\r\n0\r\n\r\n", b"2\r\nabcd\r\n0\r\n\r\n", b"ffffffffffffffffff\r\n"],
)
def test_a_chunk_that_is_none_is_refused(serving: Serving, body: bytes) -> None:
    with wire(serving) as opened:
        opened.send(request(POST, JSON, b"Transfer-Encoding: chunked"), body, SMUGGLED)
        assert opened.answer().status == 400
        assert opened.is_closed()


@pytest.mark.parametrize(
    "garbage", [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc", b"hello\r\n\r\n", b"GET\r\n\r\n"]
)
def test_what_is_not_http_is_told_so(serving: Serving, garbage: bytes) -> None:
    with wire(serving) as opened:
        opened.send(garbage)
        assert opened.answer().status == 400
        assert opened.is_closed()


def test_what_comes_behind_a_body_is_no_header(serving: Serving) -> None:
    """A trailer may be added by anyone on the way: what is decided by headers was decided before it came."""
    late = b"0\r\nMcp-Session-Id: 0123456789abcdef0123456789abcdef\r\nOrigin: https://example.com\r\n\r\n"
    answer = ask(serving, request(POST, JSON, b"Transfer-Encoding: chunked", body=chunked(PING, end=late)))
    assert is_reached(answer)


def test_a_client_that_would_rather_speak_another_protocol_is_answered_in_this_one(serving: Serving) -> None:
    """As Java's client does by default, with a body."""
    upgrade = (b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: AAMAAABkAAQAAP__")
    with wire(serving) as opened:
        for _ in range(2):
            opened.send(request(POST, JSON, *upgrade, body=PING))
            assert is_reached(opened.answer())
        opened.send(request(b"GET /health", *upgrade))
        assert opened.answer().status == 200
        opened.send(request())
        assert opened.answer().status == 200


def test_pipelined_requests_are_answered_in_their_order(serving: Serving) -> None:
    with wire(serving) as opened:
        names = [b"first", b"second", b"third", b"fourth"]
        lines = [b"GET /health", POST, b"GET /nothing", b"GET /health"]
        opened.send(
            *(
                request(line, JSON, b"X-Request-Id: " + name, body=PING if line == POST else None)
                for line, name in zip(lines, names, strict=True)
            )
        )
        answers = [opened.answer() for _ in names]
        assert [answer.headers["x-request-id"].encode() for answer in answers] == names
        assert [answer.status for answer in answers] == [200, 400, 404, 200]


def test_a_client_that_goes_away_in_a_pipelined_call_has_hung_up(serving: Serving) -> None:
    client = serving.client()
    client.initialize()
    call = {"jsonrpc": "2.0", "id": "h", "method": "tools/call", "params": {"name": "hang", "arguments": {}}}
    session = b"Mcp-Session-Id: " + client.session.encode()
    with wire(serving) as opened:
        opened.send(request(), request(POST, JSON, session, body=json.dumps(call).encode()))
        assert opened.answer().status == 200
        assert opened.head()[0] == 200  # the stream of the call
        wait_until(lambda: connections(serving) >= 2, "both connections")
        before = connections(serving)
    wait_until(lambda: connections(serving) < before, "the end of the connection")
    # The session has no response open any more, which is what lets it end.
    again = client.listen(**{"last-event-id": "2-0"})
    assert again.status == 200


# Sizes


def test_too_many_headers_are_refused(serving: Serving) -> None:
    with wire(serving) as opened:
        opened.send(request(b"GET /health", *(b"X-%d: y" % number for number in range(200))))
        assert opened.answer().status in (400, 431)
        assert opened.is_closed()


@pytest.mark.parametrize("begun", [b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: ", b"GET /"])
def test_a_header_or_path_without_end_is_refused(serving: Serving, begun: bytes) -> None:
    with wire(serving) as opened:
        opened.send(begun)
        pieces = 0
        while opened.try_to_send(b"x" * 10_000) and pieces < 10_000:
            pieces += 1
        assert pieces < 10_000
    with wire(serving) as opened:
        opened.send(begun, b"x" * 80_000)
        assert opened.answer().status in (400, 431)
        assert opened.is_closed()


def test_a_trailer_without_end_is_refused(serving: Serving) -> None:
    with wire(serving) as opened:
        opened.send(request(POST, JSON, b"Transfer-Encoding: chunked"), chunked(b"{}", end=b"0\r\nX: "))
        pieces = 0
        while opened.try_to_send(b"x" * 10_000) and pieces < 10_000:
            pieces += 1
        assert pieces < 10_000
    assert works(serving)


def test_a_head_in_two_pieces_may_have_a_large_body_behind_it(serving: Serving) -> None:
    """What is too large is the body, and not the head that came with it."""
    whole = request(POST, JSON, body=b"x" * 300_000)
    with wire(serving) as opened:
        opened.send(whole[:30])
        opened.wait_until_read()
        opened.send(whole[30:])
        assert opened.answer().status == 413


@pytest.mark.parametrize("size", [MAX_BODY + 1, 5_000_000])
def test_a_body_larger_than_allowed_is_refused_and_the_connection_goes_on(
    serving: Serving, size: int
) -> None:
    with wire(serving) as opened:
        for framed in (
            request(POST, JSON, body=b"x" * size),
            request(
                POST, JSON, b"Transfer-Encoding: chunked", body=chunked(*[b"x" * 1_000] * (size // 1_000 + 1))
            ),
        ):
            opened.send(framed)
            answer = opened.answer()
            assert answer.status == 413
            assert f"{MAX_BODY:,} bytes at most (max_body_bytes)" in answer.json["error"]["message"]
        opened.send(request(POST, JSON, body=PING))
        assert is_reached(opened.answer())


def test_a_body_as_large_as_allowed_is_taken(serving: Serving) -> None:
    assert is_reached(ask(serving, request(POST, JSON, body=PING.ljust(MAX_BODY))))
    assert ask(serving, request(POST, JSON, body=PING.ljust(MAX_BODY + 1))).status == 413


def test_whoever_asks_before_sending_too_much_is_spared_it(serving: Serving) -> None:
    expecting = (JSON, b"Expect: 100-continue")
    with wire(serving) as opened:
        opened.send(request(POST, *expecting, b"Content-Length: 999999"))
        assert opened.head()[0] == 413
    with wire(serving) as opened:
        opened.send(request(POST, *expecting, b"Content-Length: %d" % len(PING)))
        assert opened.head()[0] == 100
        opened.send(PING)
        assert is_reached(opened.answer())


# Codings and types


@pytest.mark.parametrize("coding", [b"gzip", b"GZIP", b"x-gzip", b"deflate", b"identity"])
def test_a_body_may_be_coded(serving: Serving, coding: bytes) -> None:
    packed = {b"deflate": zlib.compress, b"identity": bytes}.get(coding, gzip.compress)(PING)
    assert is_reached(ask(serving, request(POST, JSON, b"Content-Encoding: " + coding, body=packed)))


def test_a_bomb_is_too_large(serving: Serving) -> None:
    bomb = gzip.compress(bytes(20_000_000), mtime=0)
    assert len(bomb) < MAX_BODY
    assert ask(serving, request(POST, JSON, b"Content-Encoding: gzip", body=bomb)).status == 413


@pytest.mark.parametrize("body", [b"not gzip at all", gzip.compress(PING, mtime=0)[:-9], b""])
def test_a_body_that_is_not_what_it_says_is_refused(serving: Serving, body: bytes) -> None:
    assert ask(serving, request(POST, JSON, b"Content-Encoding: gzip", body=body)).status == 400


@pytest.mark.parametrize("coding", [b"compress", b"gzip, gzip", b"chunked"])
def test_a_coding_we_do_not_know_is_refused(serving: Serving, coding: bytes) -> None:
    assert ask(serving, request(POST, JSON, b"Content-Encoding: " + coding, body=PING)).status == 415


@pytest.mark.parametrize(
    "kind", [b"text/plain", b"application/x-www-form-urlencoded", b"application/jsonx", b""]
)
def test_a_body_of_another_type_is_refused(serving: Serving, kind: bytes) -> None:
    """What a page may send without asking first is none of ours."""
    answer = ask(serving, request(POST, b"Content-Type: " + kind, body=PING))
    assert (answer.status, "application/json" in answer.json["error"]["message"]) == (415, True)
    assert is_reached(ask(serving, request(POST, JSON + b"; charset=utf-8", body=PING)))


# Paths and methods


@pytest.mark.parametrize(
    "target",
    [
        "/mcp/../mcp",
        "//mcp",
        "/mcp/",
        "/mcp%2f",
        "/mcp%2F..%2Fmcp",
        "/MCP",
        "/mcp;x",
        "/mcp%00",
        "/mcp%3Fx",
        "/",
        "/%2fmcp",
        "/mcp/faulty_server",
        "/%256dcp",
        "/mcp\\",
        "http://localhost/nothing",
        "/health/../mcp",
    ],
)
def test_only_the_path_there_is_leads_anywhere(serving: Serving, target: str) -> None:
    answer = ask(serving, request(b"POST " + target.encode(), JSON, body=PING))
    assert answer.status == 404
    assert {"/mcp", "/sse", "/messages", "/health"} <= set(re.split(r",? ", answer.json["error"]["message"]))


@pytest.mark.parametrize(
    "target",
    ["/%6dcp", "/mcp?x", "/mcp?/health", "/mcp?a=/../", "http://localhost/mcp"],
)
def test_a_path_is_what_it_decodes_to_whatever_else_is_said(serving: Serving, target: str) -> None:
    assert is_reached(ask(serving, request(b"POST " + target.encode(), JSON, body=PING)))


@pytest.mark.parametrize("target", ["http://localhost/health", "http://localhost:1/health"])
def test_a_name_in_the_target_does_not_stand_in_for_the_host(serving: Serving, target: str) -> None:
    assert ask(serving, request(b"GET " + target.encode(), host=b"Host: example.com")).status == 400


@pytest.mark.parametrize(
    "line", [b"OPTIONS *", b"CONNECT localhost:80", b"GET /\xc3\xa9", b"GET health", b"GET /a b"]
)
def test_a_target_that_is_no_path_is_refused(serving: Serving, line: bytes) -> None:
    with wire(serving) as opened:
        opened.send(request(line))
        assert opened.answer().status in (400, 404)
    assert works(serving)


@pytest.mark.parametrize(
    ("line", "allowed"),
    [
        (b"PUT /mcp", "GET, POST, DELETE"),
        (b"PATCH /mcp", "GET, POST, DELETE"),
        (b"OPTIONS /mcp", "GET, POST, DELETE"),
        (b"POST /health", "GET"),
        (b"PUT /sse", "GET, POST"),
        (b"GET /messages", "POST"),
    ],
)
def test_a_method_there_is_not_is_answered_with_those_there_are(
    serving: Serving, line: bytes, allowed: str
) -> None:
    answer = ask(serving, request(line, JSON, body=b"{}"))
    assert (answer.status, answer.headers["allow"]) == (405, allowed)


def test_a_modern_client_only_posts(serving: Serving) -> None:
    for line in (b"GET /mcp", b"DELETE /mcp"):
        answer = ask(serving, request(line, b"Mcp-Protocol-Version: 2026-07-28"))
        assert (answer.status, answer.headers["allow"]) == (405, "POST")


def test_head_gets_a_head_and_the_connection_goes_on(serving: Serving) -> None:
    with wire(serving) as opened:
        opened.send(request(b"HEAD /nothing"))
        assert opened.answer(has_body=False).status == 404
        opened.send(request())
        assert opened.answer().status == 200


@pytest.mark.parametrize("given", ["abc-123", "a" * 128, "urn:x/1+2=3", "00-4bf92f3577b34da6"])
def test_the_id_of_a_request_comes_back(serving: Serving, given: str) -> None:
    answer = ask(serving, request(b"GET /nothing", b"X-Request-Id: " + given.encode()))
    assert answer.headers["x-request-id"] == given


@pytest.mark.parametrize("given", ["", "a" * 129, "a b", 'a"b', "<script>", "a;b", "\xe9"])
def test_an_id_that_could_do_harm_in_a_log_is_replaced(serving: Serving, given: str) -> None:
    answer = ask(serving, request(b"GET /health", b"X-Request-Id: " + given.encode("latin-1")))
    assert re.fullmatch("[0-9a-f]{16}", answer.headers["x-request-id"])


# Clients that stall, and many of them


def connections(serving: Serving) -> int:
    """That it knows of, but for the one that asks."""
    return ask(serving, request(b"GET /health", b"Connection: close")).json["connections"] - 1


@pytest.mark.slow
def test_thousands_that_stall_neither_stop_the_others_nor_stay() -> None:
    count = 2_000
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < count + 500:
        pytest.skip(f"at most {hard} descriptors are allowed here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, count + 500), hard))
    begun = (b"", b"POST /mcp HTTP/1.1\r\nHost: loc", b"G")
    try:
        with serve("--set", f"max_connections={count + 100}") as serving, ExitStack() as closing:
            client = serving.client()
            client.initialize()
            port = serving.port
            for number in range(count):
                opened = closing.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE))
                opened.sendall(begun[number % len(begun)])
                if number % 500 == 499:
                    assert text_of(client.call("echo", text=str(number))) == str(number)
            assert connections(serving) > count / 2
            wait_until(lambda: connections(serving) <= 2, "that all are shown out")
            assert text_of(client.call("echo", text="after")) == "after"
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_where_it_is_full_those_that_have_asked_nothing_make_room() -> None:
    with serve("--set", "max_connections=4") as serving, ExitStack() as closing:
        client = serving.client()
        client.initialize()
        stream = client.listen()
        assert stream.status == 200
        idle = [closing.enter_context(Wire(serving.port)) for _ in range(20)]
        assert text_of(client.call("echo", text="room")) == "room"  # if need be, by a connection anew
        assert sum(one.is_closed() for one in idle[:16]) == 16
        assert stream.isclosed() is False


def test_where_it_is_full_of_idle_ones_newcomers_do_not_close_each_other() -> None:
    with serve("--set", "max_connections=40") as serving, ExitStack() as closing:
        for _ in range(40):
            idle = closing.enter_context(Wire(serving.port))
            idle.send(request())
            assert idle.answer().status == 200
        newcomers = [closing.enter_context(Wire(serving.port)) for _ in range(4)]
        for one in newcomers:
            one.send(request())
        assert [one.answer().status for one in newcomers] == [200] * 4


def test_where_all_are_busy_one_more_is_told_so() -> None:
    with serve("--set", "max_connections=2", "--set", "grace_seconds=0") as serving:
        client = serving.client()
        client.initialize()
        client.connection.close()
        first = client.listen()
        assert first.status == 200
        held = client.begin(
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "hang", "arguments": {}}}
        )
        assert held.status == 200
        with wire(serving) as opened:
            answer = opened.answer()
            assert (answer.status, answer.body) == (503, b"too many connections")
            assert opened.is_closed()
        line = serving.wait_for_line(answer.headers["x-request-id"])
        assert " INFO request method=- path=- status=503 " in line
        serving.cut(held)
        wait_until(lambda: _is_let_in(serving), "room")


def _is_let_in(serving: Serving) -> bool:
    with wire(serving) as opened:
        return opened.try_to_send(request()) and opened.answer().status == 200


# Where it listens


def refused(*options: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*BRIMGATE, "serve", *options, "--", *FAULTY],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=PATIENCE,
        check=False,
    )


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.com", ""])  # noqa: S104
def test_it_listens_where_only_this_machine_can_call(host: str) -> None:
    ended = refused("--host", host, "--port", "0")
    assert ended.returncode == 2
    assert "Set `auth.mode`" in ended.stderr.replace("\n", " ")
    assert "Traceback" not in ended.stderr


def test_a_port_in_use_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = refused("--port", str(port))
    assert ended.returncode == 2
    assert f"cannot listen on 127.0.0.1:{port}" in ended.stderr
    assert "in use" in ended.stderr


def test_it_listens_on_the_other_loopback_too() -> None:
    if not socket.has_ipv6:
        pytest.skip("there is no IPv6 here")
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("there is no IPv6 here")
    with (
        serve("--host", "::1") as serving,
        socket.create_connection(("::1", serving.port), PATIENCE) as opened,
    ):
        opened.sendall(request(b"GET /health", b"Connection: close", host=b"Host: [::1]:%d" % serving.port))
        said: Any = opened.makefile("rb")
        with said:
            assert b" 200 " in said.readline()


# They were opened first, and have had their time


def test_clients_that_stall_are_dropped(serving: Serving, stalled: dict[str, Wire]) -> None:
    """Also one that goes on, but so slowly that it never comes to an end."""
    drip = stalled["half a head"]
    wait_until(lambda: not drip.try_to_send(b"x"), "the end of a drip", 30)
    for name, opened in stalled.items():
        opened.socket.settimeout(45)
        assert opened.is_closed(), name
    assert works(serving)
    # The second of them has not come to the end of its path; blank lines are no request, but they are not nothing.
    expected = [("-", "-"), ("GET", "/hea"), ("POST", "/mcp"), ("POST", "/mcp"), ("POST", "/mcp")]

    def late() -> list[tuple[str, str]]:
        lines = (line for line in serving.requests() if line["status"] == "408")
        return sorted((line["method"], line["path"]) for line in lines)

    # Connections close before we have read what the log says of them.
    wait_until(lambda: late() == expected, f"{expected} in the log")
