"""A real nginx and a real Caddy, by the files in deploy/, in front of a real `brimgate serve`."""

import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPSConnection
from pathlib import Path
from typing import Any

import pytest

from brimgate.packs.discovery import load_pack
from brimgate.testing.bookings import bookings
from tests.conftest import ROOT
from tests.http.authorities import Issued, issue
from tests.http.callers import Keys
from tests.http.replicas import DEMO_SERVER
from tests.http.serving import PATIENCE, Answer, Serving, exchange, next_event, serve, wait_until
from tests.relay.replies import as_rebuilt, rebuild
from tests.store.redis_server import free_port

KEYS = Keys("alice")
MEGABYTE = 1 << 20
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2024-11-05",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


@dataclass
class Proxied:
    name: str
    folder: Path
    port: int
    issued: Issued
    serving: Serving

    def connect(self, source: str = "127.0.0.1") -> HTTPSConnection:
        return HTTPSConnection(
            "127.0.0.1",
            self.port,
            timeout=PATIENCE,
            context=self.issued.trusting(),
            source_address=(source, 0),
        )

    def ask(
        self, method: str, path: str, body: object = None, source: str = "127.0.0.1", **headers: str
    ) -> Answer:
        connection = self.connect(source)
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            return exchange(connection, method, path, body, JSON | given)
        finally:
            connection.close()

    def logs(self) -> str:
        """All that the proxy has written anywhere."""
        return "".join(path.read_text("utf-8", "replace") for path in self.folder.glob("*.log"))


def _program(name: str, package: str) -> str:
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin")
    if found is None:
        pytest.skip(f"{name} is not here: apt-get install {package}")
    return found


def _nginx(folder: Path, port: int, behind: int, issued: Issued) -> list[str]:
    """Our file as conf.d holds it, with ports, certificate and logs of the test."""
    text = (ROOT / "deploy/nginx/vikunja-mcp.conf").read_text()
    text = re.sub(r"(?m)^ *listen \[::\].*\n", "", text)
    for old, new in (
        ("listen 443 ssl http2", f"listen 127.0.0.1:{port} ssl http2"),
        ("listen 80", f"listen 127.0.0.1:{free_port()}"),
        ("127.0.0.1:3010", f"127.0.0.1:{behind}"),
        ("/etc/letsencrypt/live/mcp.example.com/fullchain.pem", str(issued.cert)),
        ("/etc/letsencrypt/live/mcp.example.com/privkey.pem", str(issued.key)),
        ("mcp.example.com", "127.0.0.1"),
        ("/var/log/nginx", str(folder)),
        ("allow 127.0.0.0/8", "allow 127.0.0.1/32"),
    ):
        assert old in text, old
        text = text.replace(old, new)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    path = folder / "nginx.conf"
    # Its processes give up root otherwise, and cannot enter the folders of the tests.
    user = "user root;\n" if os.getuid() == 0 else ""
    path.write_text(
        f"{user}pid {folder}/pid;\nerror_log {folder}/start.log crit;\nevents {{}}\nhttp {{\n{temporary}{text}}}\n"
    )
    return [_program("nginx", "nginx-light"), "-c", str(path), "-g", "daemon off;"]


def _caddy(folder: Path, port: int, behind: int, issued: Issued) -> list[str]:
    """Our file, with a certificate of the test instead of one that Caddy gets itself."""
    text = (ROOT / "deploy/caddy/Caddyfile").read_text()
    for old, new in (
        ("{\n\t# Without", "{\n\tadmin off\n\tauto_https disable_redirects\n\t# Without"),
        ("\nmcp.example.com {", f"\nhttps://127.0.0.1:{port} {{\n\ttls {issued.cert} {issued.key}"),
        ("127.0.0.1:3010", f"127.0.0.1:{behind}"),
        ("/var/log/caddy", str(folder)),
        ("127.0.0.0/8", "127.0.0.1/32"),
    ):
        assert old in text, old
        text = text.replace(old, new)
    path = folder / "Caddyfile"
    path.write_text(text)
    return [_program("caddy", "caddy"), "run", "--adapter", "caddyfile", "--config", str(path)]


@contextmanager
def proxied(name: str, folder: Path) -> Iterator[Proxied]:
    document = {
        "upstreams": {"one": DEMO_SERVER},
        "auth": KEYS.auth(trusted_proxies=["127.0.0.1"], attempts_per_address=2),
        # As the pack has it.
        "server": {
            "grace_seconds": 0,
            "max_body_bytes": load_pack("vikunja").serving({}, "")["max_body_bytes"],
        },
    }
    (folder / "brimgate.yaml").write_text(json.dumps(document))
    with (
        serve("--config", str(folder / "brimgate.yaml"), command=()) as serving,
        in_front_of(serving, name, folder) as made,
    ):
        yield made


@contextmanager
def in_front_of(serving: Serving, name: str, folder: Path) -> Iterator[Proxied]:
    issued, port = issue(folder, "proxy"), free_port()
    make = _nginx if name == "nginx" else _caddy
    command = make(folder, port, serving.port, issued)
    homes = {"XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "HOME": str(folder)}
    with (
        (folder / "program.log").open("wb") as log,
        subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | homes) as process,
    ):
        try:
            wait_until(lambda: _listens(port) or process.poll() is not None, f"{name} listens")
            assert process.poll() is None, (folder / "program.log").read_text()
            yield Proxied(name, folder, port, issued, serving)
        finally:
            process.terminate()
            process.wait(PATIENCE)


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


@pytest.fixture(scope="module", params=["nginx", "caddy"])
def proxy(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    with proxied(request.param, tmp_path_factory.mktemp(request.param)) as made:
        yield made


@pytest.mark.parametrize("way", ["http", "sse"])
def test_a_client_of_the_sdk_reads_a_large_answer(way: str, proxy: Proxied) -> None:
    results = _walked(proxy, way, KEYS.key["alice"], "list_bookings")
    assert rebuild(results) == as_rebuilt(json.dumps(bookings(500)))


def _walked(proxy: Proxied, way: str, token: str, tool: str) -> list[dict[str, Any]]:
    address = f"https://127.0.0.1:{proxy.port}/{'sse' if way == 'sse' else 'mcp'}"
    done = subprocess.run(
        [sys.executable, "-m", "tests.http.sdk_walk", address, way, token, tool],
        capture_output=True,
        timeout=120,
        check=False,
        cwd=ROOT,
        env=os.environ | {"SSL_CERT_FILE": str(proxy.issued.cert)},
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", ["nginx", "caddy"])
def test_the_pack_serves_a_team_there(name: str, tmp_path: Path) -> None:
    """By the variables that the example names, with the tokens of its stand-in for Vikunja."""
    env = {"BRIMGATE_PUBLIC_URL": "https://127.0.0.1", "BRIMGATE_AUTH_TRUSTED_PROXIES": "127.0.0.1"}
    with (
        serve("--pack", "vikunja", "--sandbox", command=(), env=env) as serving,
        in_front_of(serving, name, tmp_path) as proxy,
    ):
        token = serving.wait_for_line("token of alice: ").rpartition(" ")[2]
        for way in ("http", "sse"):
            assert not _walked(proxy, way, token, "list_projects")[0].get("isError")
        assert proxy.ask("POST", "/mcp", HELLO, authorization="Bearer tk_wrong").status == 401
        assert proxy.ask("GET", "/health").status == 200
        # The pack shows all of it to everyone who gets there.
        assert proxy.ask("GET", "/health", source="127.0.0.9").status in (403, 404)


def test_events_come_at_once(proxy: Proxied) -> None:
    """Each while the stream stays open: one that is collected first would never come."""
    connection = proxy.connect()
    connection.request("GET", "/sse", headers={"accept": "text/event-stream", **KEYS.of("alice")})
    stream = connection.getresponse()
    try:
        assert (stream.status, stream.getheader("content-type", "")[:17]) == (200, "text/event-stream")
        path = next_event(stream)["data"]
        assert proxy.ask("POST", path, HELLO, **KEYS.of("alice")).status == 202
        assert json.loads(next_event(stream)["data"])["id"] == 1
    finally:
        stream.close()
        connection.close()


def _call(size: int) -> bytes:
    """A call whose body has this size."""
    arguments = {"tool": "x" * (size - 200)}
    return json.dumps(HELLO | {"params": HELLO["params"] | {"_meta": arguments}}).encode()  # type: ignore[operator]


@pytest.mark.parametrize("megabytes", [5, 28])
def test_a_large_body_passes(megabytes: int, proxy: Proxied) -> None:
    answer = proxy.ask("POST", "/mcp", _call(megabytes * MEGABYTE), **KEYS.of("alice"))
    assert answer.status == 200 and answer.messages[-1]["id"] == 1


def test_too_large_a_body_is_refused(proxy: Proxied) -> None:
    body = _call(40 * MEGABYTE)
    head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n"
    headers = "".join(f"{name}: {value}\r\n" for name, value in (JSON | KEYS.of("alice")).items())
    with socket.create_connection(("127.0.0.1", proxy.port), PATIENCE) as opened:
        wire = proxy.issued.trusting().wrap_socket(opened, server_hostname="127.0.0.1")
        try:
            wire.sendall(f"{head}{headers}\r\n".encode())
            wire.sendall(body)
        except (ConnectionError, ssl.SSLError):
            pass  # whoever refuses need not read it all
        assert b" 413 " in wire.recv(100)
        wire.close()


def test_callers_are_told_apart_by_their_own_addresses(proxy: Proxied) -> None:
    """One that guesses keys is held back, whatever it says of itself, and nobody else is."""
    guess = {"authorization": "Bearer brimgate_" + "x" * 43}
    own = {"source": "127.0.0.2", "x_forwarded_for": "192.0.2.1"}
    first = [
        proxy.ask("POST", "/mcp", HELLO, **own, **guess | {"authorization": f"Bearer {n}"}).status
        for n in range(4)
    ]
    assert first[0] == 401 and first[-1] == 429
    other = proxy.ask("POST", "/mcp", HELLO, source="127.0.0.3", **guess)
    assert other.status == 401


def test_health_is_shown_inside_without_details(proxy: Proxied) -> None:
    answer = proxy.ask("GET", "/health")
    assert answer.status == 200 and set(answer.json) == {"status"}
    for path in ("/health", "/healthz", "/readyz"):
        assert proxy.ask("GET", path, source="127.0.0.9").status in (403, 404)


def test_what_is_not_ours_is_not_asked_for(proxy: Proxied) -> None:
    answer = proxy.ask("GET", "/admin", **KEYS.of("alice"))
    assert answer.status == 404 and b"brimgate" not in answer.body


@pytest.mark.parametrize("name", ["nginx", "caddy"])
def test_no_log_has_a_query_string(name: str, tmp_path: Path) -> None:
    """Neither of what works, nor of what fails."""
    with proxied(name, tmp_path) as proxy:
        secret = {"referer": "https://x.example/?token=S3CRET"}
        proxy.ask("GET", "/sse?token=S3CRET", **secret)
        wait_until(lambda: "/sse" in proxy.logs(), "it is in the log")
        proxy.serving.stop()
        answer = proxy.ask("GET", "/mcp?token=S3CRET", **secret)
        assert answer.status == 502
        wait_until(lambda: "/mcp" in proxy.logs(), "it is in the log")
        assert "S3CRET" not in proxy.logs() and KEYS.key["alice"] not in proxy.logs()
