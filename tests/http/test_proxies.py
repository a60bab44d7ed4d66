"""Behind a reverse proxy: which peers may name a caller or its address, and what a header from anybody else is worth."""

import socket
from pathlib import Path
from typing import Any

import pytest

from tests.http.callers import STDIO, Keys, bearer, serving_for
from tests.http.serving import PATIENCE, Answer, Serving, wait_until
from tests.http.test_credentials import refused_start
from tests.http.wire import Wire, request

PING = b'{"jsonrpc":"2.0","id":"mine","method":"ping"}'
HELLO = (
    b'{"jsonrpc":"2.0","id":"mine","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'
    b'"clientInfo":{"name":"t","version":"1"}}}'
)
JSON = b"Content-Type: application/json"
PROXY: dict[str, Any] = {
    "mode": "proxy",
    "principal_header": "X-Forwarded-User",
    "trusted_proxies": ["127.0.0.7", "127.0.1.0/24"],
}


def ask_from(address: str, serving: Serving, *headers: bytes, body: bytes = HELLO) -> Answer:
    """As a peer of this address: all of 127.0.0.0/8 is this machine."""
    opened = socket.create_connection(("127.0.0.1", serving.port), PATIENCE, source_address=(address, 0))
    with Wire.over(opened) as wire:
        wire.send(request(b"POST /mcp", JSON, *headers, body=body))
        return wire.answer()


def test_a_trusted_proxy_names_the_caller_and_nobody_else_does(tmp_path: Path) -> None:
    with serving_for(tmp_path, PROXY) as serving:
        ann = b"X-Forwarded-User: ann"
        for peer in ("127.0.0.7", "127.0.1.200"):
            assert ask_from(peer, serving, ann).status == 200
        for peer in ("127.0.0.1", "127.0.2.1"):
            answer = ask_from(peer, serving, ann)
            assert (answer.status, answer.json["id"], answer.json["error"]["code"]) == (401, "mine", -32001)
        wait_until(lambda: len(serving.requests()) == 4, "four lines")
        assert [one["principal"] for one in serving.requests()] == ["ann", "ann", "-", "-"]


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [b"X-Forwarded-User: "],
        [b"X-Forwarded-User: ann", b"X-Forwarded-User: bob"],
        [b"X-Forwarded-User: a\tb"],
        [b"X-Forwarded-User: Ren\xe9"],
        [b"X-Forwarded-User: " + b"a" * 201],
    ],
)
def test_a_proxy_that_names_nobody_lets_nobody_in(tmp_path: Path, headers: list[bytes]) -> None:
    with serving_for(tmp_path, PROXY) as serving:
        assert ask_from("127.0.0.7", serving, *headers).status == 401
        assert ask_from("127.0.0.7", serving, *headers, bearer_of("made-up")).status == 401


def bearer_of(token: str) -> bytes:
    return f"Authorization: {bearer(token)['authorization']}".encode()


def test_callers_of_one_proxy_are_kept_apart(tmp_path: Path) -> None:
    with serving_for(tmp_path, PROXY) as serving:
        opened = ask_from("127.0.0.7", serving, b"X-Forwarded-User: ann")
        session = b"Mcp-Session-Id: " + opened.headers["mcp-session-id"].encode()
        statuses = [
            ask_from("127.0.0.7", serving, session, b"X-Forwarded-User: " + name, body=PING).status
            for name in (b"ann", b"bob")
        ]
        assert statuses == [200, 404]


def test_attempts_are_counted_by_the_last_address_that_no_proxy_has(tmp_path: Path) -> None:
    """Whatever a client puts before it: what its proxy adds comes last."""
    keys = Keys("ann")
    auth = keys.auth(trusted_proxies=["127.0.0.7", "127.0.0.8"], attempts_per_address=2)
    with serving_for(tmp_path, auth) as serving:

        def tried(peer: str, forwarded: bytes) -> int:
            headers = (b"X-Forwarded-For: " + forwarded, bearer_of("made-up"))
            return ask_from(peer, serving, *headers, body=PING).status

        assert [tried("127.0.0.7", b"192.0.2.1, 192.0.2.9") for _ in range(2)] == [401, 401]
        assert tried("127.0.0.7", b"192.0.2.2, 192.0.2.9, 127.0.0.8") == 429
        assert tried("127.0.0.7", b"192.0.2.9, 192.0.2.3") == 401
        # From a peer that nobody trusts, the header is worth nothing.
        assert [tried("127.0.0.5", b"192.0.2.%d" % number) for number in range(3)] == [401, 401, 429]


def test_without_auth_a_request_from_elsewhere_is_not_served(tmp_path: Path) -> None:
    with serving_for(tmp_path, {"mode": "none"}) as serving:
        assert ask_from("127.0.0.1", serving).status == 200
        for header in (
            b"Forwarded: for=192.0.2.1",
            b"X-Forwarded-For: 127.0.0.1",
            b"X-Forwarded-Host: localhost",
            b"Via: 1.1 proxy",
            b"X-Real-IP: 127.0.0.1",
        ):
            answer = ask_from("127.0.0.1", serving, header)
            assert (answer.status, answer.json["id"]) == (403, "mine"), header


def test_a_proxy_on_the_unix_socket(tmp_path: Path) -> None:
    path = tmp_path / "gate.sock"
    auth = PROXY | {"trusted_proxies": ["unix"]}
    with serving_for(tmp_path, auth, server={"socket": str(path)}) as serving:
        serving.wait_for_line("serving http://unix:")
        for header, status in ((b"X-Forwarded-User: ann", 200), (b"X-Other: ann", 401)):
            with socket.socket(socket.AF_UNIX) as opened:
                opened.settimeout(PATIENCE)
                opened.connect(str(path))
                with Wire.over(opened) as wire:
                    wire.send(request(b"POST /mcp", JSON, header, body=HELLO))
                    assert wire.answer().status == status


@pytest.mark.parametrize(
    ("auth", "reason"),
    [
        (PROXY | {"trusted_proxies": []}, "needs auth.trusted_proxies"),
        (PROXY | {"principal_header": ""}, "needs auth.principal_header"),
        (PROXY | {"trusted_proxies": ["proxy.example.com"]}, "auth.trusted_proxies"),
        (PROXY | {"trusted_proxies": ["unix"]}, "needs server.socket"),
    ],
)
def test_what_cannot_work_is_refused_at_the_start(tmp_path: Path, auth: dict[str, Any], reason: str) -> None:
    assert reason in refused_start(tmp_path, auth, STDIO)
