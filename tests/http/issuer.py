"""The authorization server of the tests, and `brimgate serve` that accepts its tokens."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.http.authorization_server import RESOURCE_SERVER
from tests.http.serving import FAULTY, PATIENCE, Answer, Serving, exchange, serve

PUBLIC = "https://gate.example.com"
PING = {"jsonrpc": "2.0", "id": "hello", "method": "ping"}
LET_IN = 404
"""What a request for a session that never was gets. Whoever is not let in does not learn that."""


@dataclass
class Issuer:
    url: str

    def ask(self, path: str, body: Any = None, method: str = "") -> Answer:
        connection = HTTPConnection(urlsplit(self.url).netloc, timeout=PATIENCE)
        try:
            how = method or ("GET" if body is None else "POST")
            return exchange(connection, how, path, body, {"content-type": "application/json"})
        finally:
            connection.close()

    def control(self, **given: Any) -> dict[str, Any]:
        return self.ask("/control", given).json

    def count(self, path: str) -> int:
        """How often this was asked for so far."""
        return self.control()["counts"].get(path, 0)

    def token(
        self, audience: Any = f"{PUBLIC}/mcp/a", *, key: str = "", head: Any = None, **claims: Any
    ) -> str:
        """A signed token; a claim that is None is left out."""
        said = {"aud": audience, "scope": "use"} | claims
        return self.control(claims=said, header=head or {}, key=key)["token"]


@contextmanager
def authorization_server() -> Iterator[Issuer]:
    command = [sys.executable, "-m", "tests.http.authorization_server"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield Issuer(process.stdout.readline().strip())
        finally:
            process.send_signal(signal.SIGKILL)


def settings(issuer: Issuer, /, **auth: Any) -> dict[str, Any]:
    """What a gateway needs that many tests share."""
    usual = {"mode": "jwt", "issuer": issuer.url, "attempts_per_address": 100_000, "attempts": 100_000}
    if auth.get("mode") == "introspection":
        usual |= {"introspection_url": f"{issuer.url}/introspect"}
        usual |= {"client_id": RESOURCE_SERVER[0], "client_secret": "${GATE_SECRET}"}
    return usual | auth


def written(folder: Path, config: dict[str, Any]) -> Path:
    path = folder / "brimgate.yaml"
    path.write_text(json.dumps(config))
    return path


@contextmanager
def gate(
    folder: Path,
    by: Issuer,
    /,
    *,
    names: tuple[str, ...] = ("a", "b"),
    server: dict[str, Any] | None = None,
    **auth: Any,
) -> Iterator[Serving]:
    """In front of several servers, each the faulty one of the relay's tests."""
    behind = {"command": FAULTY[0], "args": FAULTY[1:]}
    config = {
        "upstreams": dict.fromkeys(names, behind),
        "server": {"public_url": PUBLIC, "grace_seconds": 0} | (server or {}),
        "limits": {"requests": 100_000, "concurrency": 1_000, "sessions": 100, "processes": 100},
        "auth": settings(by, **auth),
    }
    path = written(folder, config)
    with serve("--config", str(path), command=(), env={"GATE_SECRET": RESOURCE_SERVER[1]}) as serving:
        yield serving


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def enter(serving: Serving, token: str, path: str = "/mcp/a", method: str = "POST") -> Answer:
    """A request with this token, or with none if it is empty. It starts no server."""
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    headers |= {"mcp-session-id": "never-was"} | (bearer(token) if token else {})
    answer = exchange(serving.connect(), method, path, PING if method == "POST" else None, headers)
    assert answer.status != LET_IN or b"no such session" in answer.body
    return answer
