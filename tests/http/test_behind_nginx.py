"""Two replicas behind a real nginx, by the file in deploy/: every kind of client finds its session, and every cursor is read."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from brimgate.testing.bookings import bookings
from tests.http.callers import Keys
from tests.http.replicas import DEMO_SERVER
from tests.http.serving import Serving, exchange, serve, wait_until
from tests.relay.replies import as_rebuilt, following, rebuild
from tests.store.redis_server import free_port, redis_server

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy" / "replicas"
KEYS = Keys("alice")


@contextmanager
def nginx(folder: Path, ports: dict[str, int]) -> Iterator[int]:
    binary = shutil.which("nginx") or "/usr/sbin/nginx"
    if not os.access(binary, os.X_OK):
        pytest.skip("nginx is not here: apt-get install nginx-light")
    port = free_port()
    text = (DEPLOY / "nginx.conf").read_text()
    for name, at in ports.items():
        text = text.replace(f"replica-{name}:3010", f"127.0.0.1:{at}")
    text = text.replace("listen 8080", f"listen 127.0.0.1:{port}").replace("/run/nginx.pid", f"{folder}/pid")
    temporary = "".join(
        f"    {kind}_temp_path {folder}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    text = text.replace("http {\n", "http {\n" + temporary, 1)
    path = folder / "nginx.conf"
    path.write_text(text)
    with (folder / "nginx.log").open("wb") as log:
        process = subprocess.Popen([binary, "-c", str(path), "-g", "daemon off;"], stderr=log, stdout=log)
    try:
        wait_until(lambda: _listens(port) or process.poll() is not None, "nginx listens")
        assert process.poll() is None, (folder / "nginx.log").read_text()
        yield port
    finally:
        process.terminate()
        process.wait(60)


def _listens(port: int) -> bool:
    import socket

    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


@contextmanager
def behind_nginx(folder: Path, upstream: dict[str, Any]) -> Iterator[tuple[str, list[Serving]]]:
    """The address of nginx, and the replicas behind it."""
    document = {
        "upstreams": {"one": upstream},
        "auth": KEYS.auth(trusted_proxies=["127.0.0.1"]),
        "limits": {"requests": 100_000},
        "server": {"grace_seconds": 0},
        "redis_timeout_seconds": 5,
    }
    path = folder / "brimgate.yaml"
    path.write_text(json.dumps(document))
    with redis_server() as store:
        options = ("--config", str(path), "--set", f"store={store.url}")
        with (
            serve(*options, "--set", "replica=a", command=()) as one,
            serve(*options, "--set", "replica=b", command=()) as two,
            nginx(folder, {"a": one.port, "b": two.port}) as port,
        ):
            yield f"http://127.0.0.1:{port}", [one, two]


@pytest.mark.slow
@pytest.mark.parametrize("way", ["http", "sse"])
def test_clients_of_the_sdk_walk_through_nginx(way: str, tmp_path: Path) -> None:
    with behind_nginx(tmp_path, DEMO_SERVER) as (base, servings):
        address = f"{base}/{'sse' if way == 'sse' else 'mcp'}"
        for _ in range(4):  # new clients go to each replica in turn
            command = [
                sys.executable,
                "-m",
                "tests.http.sdk_walk",
                address,
                way,
                KEYS.key["alice"],
                "list_bookings",
            ]
            done = subprocess.run(command, capture_output=True, timeout=120, check=False, cwd=ROOT)
            assert done.returncode == 0, done.stderr.decode()
            assert rebuild(json.loads(done.stdout)) == as_rebuilt(json.dumps(bookings(500)))
        for serving in servings:
            wait_until(lambda at=serving: _paths(at) & {"/mcp", "/messages"}, "both were asked")


def _paths(serving: Serving) -> set[str]:
    return {one["path"] for one in serving.requests()}


def test_each_page_comes_from_another_replica(tmp_path: Path) -> None:
    """Without sessions, nginx sends every request to the next replica."""
    script = Path(__file__).with_name("modern_server.py")
    upstream = {"command": sys.executable, "args": [str(script), str(tmp_path / "journal")]}
    with behind_nginx(tmp_path, upstream) as (base, servings):
        port = int(base.rpartition(":")[2])
        large = {"name": "echo", "arguments": {"text": "A sentence that is told again. ", "times": 4_000}}
        seen = [_modern(port, large)]
        while cursor := following(seen[-1]):
            seen.append(_modern(port, {"name": "brimgate_read", "arguments": {"cursor": cursor}}))
        assert "".join(one["content"][1]["text"] for one in seen) == large["arguments"]["text"] * 4_000
        # Each process of nginx takes turns by itself, and the log is read in the background.
        wait_until(lambda: min(_asked(serving) for serving in servings) >= len(seen) // 4, "both were asked")


def _asked(serving: Serving) -> int:
    return sum(one["path"] == "/mcp" for one in serving.requests())


def _modern(port: int, params: dict[str, Any]) -> dict[str, Any]:
    from http.client import HTTPConnection

    from tests.http.serving import META

    headers = {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": params["name"],
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params | {"_meta": META}}
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        return exchange(connection, "POST", "/mcp", message, headers | KEYS.of("alice")).messages[-1][
            "result"
        ]
    finally:
        connection.close()


def test_the_files_of_the_deployment_agree(tmp_path: Path) -> None:
    import yaml

    from brimgate.config.sources import load

    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    names = {name for name in compose["services"] if name.startswith("replica-")}
    assert set(re.findall(r"replica-\w+", (DEPLOY / "nginx.conf").read_text())) == names
    given = {"STORE_PASSWORD": "secret", "BRIMGATE_REPLICA": "a"}
    config = load(DEPLOY / "brimgate.yaml", environment=given)
    assert config.server.replica == "a" and "valkey" in compose["services"]
