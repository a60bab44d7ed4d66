"""Connections at their edges: half closed, refused while they still send, or with a head that says two things."""

import gzip
import json
import socket
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.http.raw_upstream import Called, Script, into, raw_upstream
from tests.http.serving import META, Serving, modern, serve, text_of, wait_until
from tests.http.wire import Wire, chunked, request, wire

SERVER = Path(__file__).with_name("modern_server.py")
USUAL = (b"Content-Type: application/json", b"Accept: application/json, text/event-stream")


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("modern") / "journal"


@pytest.fixture(scope="module")
def serving(journal: Path) -> Iterator[Serving]:
    with serve(command=[sys.executable, str(SERVER), str(journal)]) as started:
        yield started


def call(tool: str, *headers: bytes, first: bytes = b"POST /mcp", **arguments: Any) -> bytes:
    params = {"name": tool, "arguments": arguments, "_meta": META}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    named = (b"Mcp-Protocol-Version: 2026-07-28", b"Mcp-Method: tools/call", b"Mcp-Name: " + tool.encode())
    return request(first, *USUAL, *named, *headers, body=body)


def test_a_client_that_closed_its_half_gets_its_answer(serving: Serving) -> None:
    with wire(serving) as opened:
        opened.send(call("echo", text="whole", delay=0.3))
        opened.socket.shutdown(socket.SHUT_WR)
        answer = opened.answer()
        assert text_of(answer.json) == "whole"
        assert opened.is_closed()


def test_a_client_that_closed_its_half_gets_its_stream(serving: Serving) -> None:
    with wire(serving) as opened:
        opened.send(call("echo", text="whole", delay=0.3, steps=1))
        opened.socket.shutdown(socket.SHUT_WR)
        assert text_of(opened.answer().messages[-1]) == "whole"


def test_a_client_that_hung_up_is_gone_all_the_same(serving: Serving, journal: Path) -> None:
    text_of(modern(serving, "tools/call", {"name": "echo", "arguments": {}}).json)
    before = journal.read_text().count("cancelled")
    with wire(serving) as opened:
        opened.send(call("hang"))
        assert text_of(modern(serving, "tools/call", {"name": "echo", "arguments": {}}).json) == "ok"
    wait_until(lambda: journal.read_text().count("cancelled") > before, "a cancellation")


def test_half_a_request_is_none(serving: Serving) -> None:
    with wire(serving) as opened:
        opened.send(call("echo")[:-10])
        opened.socket.shutdown(socket.SHUT_WR)
        assert opened.is_closed()


@pytest.mark.parametrize("coding", [b"gzip, chunked", b"gzip", b"identity, chunked", b"chunked, chunked"])
def test_a_transfer_coding_besides_chunked_is_refused(serving: Serving, coding: bytes) -> None:
    head, _, body = call("echo", b"Transfer-Encoding: " + coding).partition(b"\r\n\r\n")
    with wire(serving) as opened:
        opened.send(head, b"\r\n\r\n", chunked(body))
        answer = opened.answer()
        assert (answer.status, answer.headers["content-type"]) == (400, "text/plain")


def test_a_target_of_another_host_is_refused(serving: Serving) -> None:
    port = str(serving.port).encode()
    with wire(serving) as opened:
        opened.send(call("echo", first=b"POST http://evil.example/mcp"))
        assert opened.answer().status in (400, 421)
    with wire(serving) as opened:
        whole = call("echo", first=b"POST http://127.0.0.1:" + port + b"/mcp")
        opened.send(whole.replace(b"Host: localhost\r\n", b"Host: 127.0.0.1:" + port + b"\r\n"))
        assert opened.answer().status == 200


def test_who_is_refused_while_sending_reads_why() -> None:
    """Closing a socket with unread bytes resets it, and the client loses what it was told."""
    with serve("--set", "max_connections=2") as serving:
        client = serving.client()
        client.initialize()
        client.connection.close()
        params = {"name": "hang", "arguments": {}}
        for key in range(2):
            held = client.begin({"jsonrpc": "2.0", "id": key, "method": "tools/call", "params": params})
            assert held.status == 200
        for _ in range(20):
            assert refusal_of(serving.port) == 503


def refusal_of(port: int) -> int:
    with Wire(port) as opened:
        opened.try_to_send(
            b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 200000\r\n\r\n" + b"x" * 100_000
        )
        opened.try_to_send(b"x" * 100_000)
        return opened.answer().status


# What an upstream compresses

SCRIPTS: dict[str, Script] = {}
script = into(SCRIPTS)


def coded(called: Called, data: bytes, coding: str) -> bool:
    return called.answer(data, f"Content-Encoding: {coding}")


@script
def members(called: Called) -> bool:
    text = called.written("x" * 1_000)
    return coded(
        called, b"".join(gzip.compress(text[at : at + 100]) for at in range(0, len(text), 100)), "gzip"
    )


@script
def trickled(called: Called) -> bool:
    text = called.written("x" * 1_000)
    data = gzip.compress(text[:500]) + gzip.compress(text[500:]) + b"\0\0"
    called.head("200 OK", "application/json", "Content-Encoding: gzip", f"Content-Length: {len(data)}")
    for at in range(len(data)):
        called.send(data[at : at + 1])
    return True


@script
def followed(called: Called) -> bool:
    return coded(called, gzip.compress(called.written("x")) + b"rest", "gzip")


@script
def deflated(called: Called) -> bool:
    return coded(called, zlib.compress(called.written("x" * 1_000)), "deflate")


@script
def with_brotli(called: Called) -> bool:
    import brotli

    return coded(called, brotli.compress(called.written("x" * 1_000)), "br")


@script
def with_zstd(called: Called) -> bool:
    from backports import zstd

    text = called.written("x" * 1_000)
    return coded(called, zstd.compress(text[:500]) + zstd.compress(text[500:]), "zstd")


@pytest.fixture(scope="module")
def relaying() -> Iterator[Serving]:
    with raw_upstream(SCRIPTS) as upstream, serve("--upstream", upstream.url, command=()) as started:
        yield started


@pytest.mark.parametrize("tool", ["members", "trickled", "deflated", "with_brotli", "with_zstd"])
def test_what_is_compressed_is_read(relaying: Serving, tool: str) -> None:
    for package, needs in (("with_brotli", "brotli"), ("with_zstd", "backports.zstd")):
        if tool == package:
            pytest.importorskip(needs)
    answer = modern(relaying, "tools/call", {"name": tool, "arguments": {}})
    assert text_of(answer.json) == "x" * 1_000


def test_what_follows_compressed_data_is_refused(relaying: Serving) -> None:
    answer = modern(relaying, "tools/call", {"name": "followed", "arguments": {}})
    assert (answer.status, answer.json["error"]["code"]) == (502, -32000)
