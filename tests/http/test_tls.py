"""`brimgate serve` over TLS: who can connect, how the certificate is renewed, and what TLS lacks of TCP."""

import asyncio
import json
import shutil
import signal
import socket
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from http.client import HTTPSConnection
from pathlib import Path

import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.config.running import BRIMGATE, environment
from tests.http.authorities import Issued, issue, shown
from tests.http.serving import DEMO, FAULTY, PATIENCE, Answer, Serving, exchange, serve, wait_until
from tests.http.wire import request


def connected(serving: Serving, issued: Issued) -> HTTPSConnection:
    opened = HTTPSConnection("127.0.0.1", serving.port, timeout=PATIENCE, context=issued.trusting())
    return serving.keep(closing(opened))


def health(serving: Serving, issued: Issued) -> Answer:
    return exchange(connected(serving, issued), "GET", "/healthz", None, {})


def test_a_client_that_trusts_the_certificate_calls_and_others_do_not(tmp_path: Path) -> None:
    issued, other = issue(tmp_path, "one"), issue(tmp_path, "other")
    with serve(*issued.options) as serving:
        assert "serving https://127.0.0.1:" in serving.wait_for_line("serving")
        assert health(serving, issued).status == 200
        with pytest.raises(ssl.SSLCertVerificationError):
            health(serving, other)
        with socket.create_connection(("127.0.0.1", serving.port), PATIENCE) as plain:
            plain.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert b"200" not in plain.recv(100)
        assert health(serving, issued).status == 200


def test_versions_before_1_2_are_refused(tmp_path: Path) -> None:
    issued = issue(tmp_path, "one")
    with serve(*issued.options) as serving:
        for version, is_taken in (("-tls1_1", False), ("-tls1_2", True), ("-tls1_3", True)):
            tried = subprocess.run(
                [
                    "openssl",
                    "s_client",
                    "-connect",
                    f"127.0.0.1:{serving.port}",
                    version,
                    "-cipher",
                    "ALL:@SECLEVEL=0",
                ],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=PATIENCE,
                check=False,
            )
            assert (b"BEGIN CERTIFICATE" in tried.stdout) is is_taken, version


def test_the_python_sdk_calls_over_https(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    issued = issue(tmp_path, "one")
    monkeypatch.setenv("SSL_CERT_FILE", str(issued.cert))

    async def names(url: str) -> list[str]:
        async with Client(streamable_http_client(url)) as client:
            return [tool.name for tool in (await client.list_tools()).tools]

    with serve(*issued.options, command=DEMO) as serving:
        assert "brimgate_read" in asyncio.run(names(f"https://localhost:{serving.port}/mcp"))


def _by_signal(serving: Serving, folder: Path) -> None:
    serving.process.send_signal(signal.SIGHUP)


def _by_file(serving: Serving, folder: Path) -> None:
    path = folder / "brimgate.yaml"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"log_level": "debug"}))


@pytest.mark.parametrize("renew", [_by_signal, _by_file])
def test_a_new_certificate_is_shown_to_new_clients_and_drops_no_old_one(
    tmp_path: Path, renew: Callable[[Serving, Path], None]
) -> None:
    first, second = issue(tmp_path, "first"), issue(tmp_path, "second")
    served = Issued(tmp_path / "served.pem", tmp_path / "served.key")
    _put(first, served)
    with serving_by_file(tmp_path, served) as serving:
        old = connected(serving, first)
        assert exchange(old, "GET", "/healthz", None, {}).status == 200
        _put(second, served)
        renew(serving, tmp_path)
        serving.wait_for_line("certificate_renewed")
        assert health(serving, second).status == 200
        assert shown(serving) == second.cert.read_bytes()
        with pytest.raises(ssl.SSLCertVerificationError):
            health(serving, first)
        assert exchange(old, "GET", "/healthz", None, {}).status == 200


def _put(issued: Issued, served: Issued) -> None:
    shutil.copy(issued.cert, served.cert)
    shutil.copy(issued.key, served.key)


def serving_by_file(folder: Path, issued: Issued) -> "AbstractContextManager[Serving]":
    path = folder / "brimgate.yaml"
    tls = {"tls_cert": str(issued.cert), "tls_key": str(issued.key)}
    path.write_text(
        json.dumps({"upstreams": {"one": {"command": FAULTY[0], "args": FAULTY[1:]}}, "server": tls})
    )
    return serve("--config", str(path), command=())


def test_a_certificate_that_cannot_be_used_changes_nothing(tmp_path: Path) -> None:
    first, second = issue(tmp_path, "first"), issue(tmp_path, "second")
    served = Issued(tmp_path / "served.pem", tmp_path / "served.key")
    _put(first, served)
    with serving_by_file(tmp_path, served) as serving:
        assert health(serving, first).status == 200
        shutil.copy(second.cert, served.cert)
        serving.process.send_signal(signal.SIGHUP)
        assert "is not that of the certificate" in serving.wait_for_line("certificate_rejected")
        assert health(serving, first).status == 200
        served.cert.unlink()
        serving.process.send_signal(signal.SIGHUP)
        serving.wait_for_line("cannot read")
        assert health(serving, first).status == 200


def test_files_that_cannot_be_used_are_told_at_the_start(tmp_path: Path) -> None:
    one, other = issue(tmp_path, "one"), issue(tmp_path, "other")
    locked = issue(tmp_path, "locked", is_locked=True)
    (tmp_path / "words.pem").write_text("no certificate")
    for cert, key, reason in (
        (str(one.cert), str(other.key), "is not that of the certificate"),
        (str(tmp_path / "missing.pem"), str(one.key), "cannot read"),
        (str(tmp_path / "words.pem"), str(one.key), "in PEM"),
        (str(locked.cert), str(locked.key), "has a passphrase"),
        ("", str(one.key), "needs server.tls_cert"),
    ):
        options = ["--tls-key", key, *(["--tls-cert", cert] if cert else [])]
        tried = subprocess.run(
            [*BRIMGATE, "serve", "--port", "0", *options, "--", *FAULTY],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=environment(),
            timeout=PATIENCE,
            check=False,
        )
        assert tried.returncode == 2, tried
        assert reason in tried.stderr
        assert "Traceback" not in tried.stderr


@contextmanager
def wrapped(serving: Serving, issued: Issued) -> Iterator[ssl.SSLSocket]:
    with (
        socket.create_connection(("127.0.0.1", serving.port), PATIENCE) as plain,
        issued.trusting().wrap_socket(plain, server_hostname="localhost") as opened,
    ):
        yield opened


def test_one_that_is_refused_while_it_sends_reads_why(tmp_path: Path) -> None:
    """A TLS connection has no halves that could be closed one by one."""
    issued = issue(tmp_path, "one")
    with serve(*issued.options) as serving:
        with wrapped(serving, issued) as wire, wire.makefile("rb") as reading:
            wire.sendall(request(b"GET /healthz", b"X: " + b"x" * 200_000))
            assert b" 431 " in reading.readline()
        with wrapped(serving, issued) as wire, wire.makefile("rb") as reading:
            wire.sendall(b"nonsense\r\n\r\n")
            assert b" 400 " in reading.readline()
            assert reading.read().endswith(b"this is not a request we understand")
        wait_until(lambda: len(serving.requests()) == 2, "two lines in the log")
        assert health(serving, issued).status == 200
    assert not [line for line in serving.all_lines() if "Traceback" in line or "rror" in line]


def test_a_client_that_hangs_up_over_tls_leaves_nothing(tmp_path: Path) -> None:
    issued = issue(tmp_path, "one")
    with serve(*issued.options, "--set", "server.health_details=true") as serving:
        with wrapped(serving, issued) as wire:
            wire.sendall(request(b"GET /sse", b"Accept: text/event-stream"))
            assert b"200" in wire.recv(100)
        wait_until(lambda: _details(serving, issued)["sessions"]["active"] == 0, "the end of its session")
    assert not [line for line in serving.all_lines() if "Traceback" in line or "eof_received" in line]


def _details(serving: Serving, issued: Issued) -> dict[str, dict[str, int]]:
    return exchange(connected(serving, issued), "GET", "/health", None, {}).json
