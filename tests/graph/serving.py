"""The graph server as a process, on stdio and over HTTP. Every process is ended by its own id; every wait is bounded."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from typing import Any, NamedTuple
from urllib.parse import urlsplit

PATIENCE = 60.0
SMALL = ("--nodes", "60", "--facts", "120", "--episodes", "40")
COMMAND = [sys.executable, "-m", "brimgate.sandboxes.graphiti"]
PREFIX = "io.modelcontextprotocol/"
META = {f"{PREFIX}protocolVersion": "2026-07-28", f"{PREFIX}clientCapabilities": {}}
MODERN = {"mcp-protocol-version": "2026-07-28"}
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
Json = dict[str, Any]


def request(number: int, method: str, **params: Any) -> Json:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def call(number: int, tool: str, arguments: Json, **params: Any) -> Json:
    return request(number, "tools/call", name=tool, arguments=arguments, **params)


@contextmanager
def process(*options: str) -> Iterator["subprocess.Popen[bytes]"]:
    pipe = subprocess.PIPE
    started = subprocess.Popen([*COMMAND, *options], stdin=pipe, stdout=pipe, stderr=pipe)
    watchdog = threading.Timer(PATIENCE, started.kill)  # so that no wait for a line is endless
    watchdog.start()
    try:
        yield started
    finally:
        watchdog.cancel()
        started.kill()
        started.communicate()


def converse(messages: list[Json], *options: str) -> bytes:
    """All that a process says to these messages, until its input ends and it has ended well."""
    lines = b"".join(json.dumps(message).encode() + b"\n" for message in messages)
    done = subprocess.run(
        [*COMMAND, *options], input=lines, capture_output=True, timeout=PATIENCE, check=True
    )
    assert not done.stderr
    return done.stdout


def answers(messages: list[Json], *options: str) -> dict[Any, Json]:
    """The answers, by id."""
    told = [json.loads(line) for line in converse(messages, *options).splitlines()]
    return {message["id"]: message for message in told}


@contextmanager
def http_server(*options: str) -> Iterator[str]:
    with process("--http", "0", *options) as started:
        assert started.stderr
        line = started.stderr.readline().decode()
        assert line.startswith("listening on http://127.0.0.1:"), line
        yield line.removeprefix("listening on ").strip()


class Response(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[Any]:
        blocks = self.body.decode().strip().split("\n\n")
        return [json.loads(block.partition("data: ")[2]) for block in blocks]


def ask(url: str, message: Json | bytes, method: str = "POST", **headers: str) -> Response:
    """One request, on a connection of its own. Underscores in the names of headers stand for hyphens."""
    address = urlsplit(url)
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with closing(HTTPConnection(address.hostname or "", address.port, timeout=PATIENCE)) as connection:
        connection.request(method, address.path, body, named)
        told = connection.getresponse()
        return Response(told.status, {name.lower(): value for name, value in told.getheaders()}, told.read())


def open_session(url: str) -> str:
    told = ask(url, request(0, "initialize", **HELLO))
    assert told.status == 200
    return told.headers["mcp-session-id"]
