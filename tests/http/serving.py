"""`brimgate serve` as a process, and raw HTTP clients for it: what they send and get is what is on the wire."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any, TypeVar

from tests.config.running import BRIMGATE, SERVER, environment
from tests.relay.rawclient import widen

T = TypeVar("T")
PATIENCE = 60.0
FAULTY = SERVER
PATIENT = [sys.executable, "-I", "-S", str(Path(__file__).with_name("patient_server.py"))]
DEMO = [sys.executable, "-m", "brimgate.sandboxes.demo"]
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
_FIELD = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|\S+)')
_SERVING = re.compile(r"serving https?://([^:/ ]+|\[[0-9a-f:]+\]):(\d+)(/\S*)")


def wait_until(happened: Callable[[], Any], what: str, patience: float = PATIENCE) -> Any:
    """The first true value; fails if none comes."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        if value := happened():
            return value
        time.sleep(0.02)
    raise AssertionError(f"{what}: not within {patience:g} s")


@dataclass
class Serving:
    process: "subprocess.Popen[bytes]"
    lines: list[str] = field(default_factory=list)
    """Of its log, so far."""
    reader: threading.Thread | None = None
    """Reads them until the process has ended."""
    _closing: ExitStack = field(default_factory=ExitStack)
    _connections: dict[int, HTTPConnection] = field(default_factory=dict)

    @property
    def port(self) -> int:
        return int(wait_until(self._served, f"an address in {self.lines}")[2])

    def _served(self) -> Any:
        if self.process.poll() is not None:
            raise AssertionError(f"it ended with {self.process.returncode}: {self.lines}")
        return next((found for line in self.lines if (found := _SERVING.search(line))), None)

    def wait_for_line(self, text: str) -> str:
        return wait_until(
            lambda: next((line for line in list(self.lines) if text in line), None),
            f"{text!r} in {self.lines}",
        )

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)

    def all_lines(self) -> list[str]:
        """Its whole log, once it has stopped."""
        if self.reader is not None:
            self.reader.join(PATIENCE)
            assert not self.reader.is_alive(), f"it still runs: {self.lines}"
        return list(self.lines)

    def connect(self) -> HTTPConnection:
        return self._closing.enter_context(closing(HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)))

    def answer_of(self, connection: HTTPConnection) -> HTTPResponse:
        response = self._closing.enter_context(connection.getresponse())
        self._connections[id(response)] = connection
        return response

    def cut(self, response: HTTPResponse) -> None:
        """As a dying network does it, for all that the other side can tell."""
        connection = self._connections.pop(id(response))
        if connection.sock is not None:
            connection.sock.shutdown(socket.SHUT_RDWR)
        connection.close()
        response.close()

    def socket(self) -> socket.socket:
        return self._closing.enter_context(
            socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        )

    def keep(self, opened: AbstractContextManager[T]) -> T:
        """Closed with all the others."""
        return self._closing.enter_context(opened)

    def close_connections(self) -> None:
        self._closing.close()

    def get(self, path: str, **headers: str) -> "Answer":
        return exchange(self.connect(), "GET", path, None, headers)

    def client(self, version: str = "2025-11-25", path: str = "/mcp", **headers: str) -> "LegacyClient":
        """`headers` go with every request of it."""
        return LegacyClient(self, version, path, headers)

    def requests(self) -> list[dict[str, str]]:
        """The fields of the lines that its log has of requests, so far."""
        lines = [line.partition(" INFO request ")[2] for line in list(self.lines)]
        found = [_FIELD.findall(line) for line in lines if line]
        return [{name: json.loads(text) if text[0] == '"' else text for name, text in one} for one in found]


@contextmanager
def serve(
    *options: str,
    command: Sequence[str] | None = None,
    env: dict[str, str] | None = None,
    port: int | None = 0,
) -> Iterator[Serving]:
    """In front of the faulty server of the relay's tests, unless told otherwise; `command=()` for none."""
    listening = [] if port is None else ["--port", str(port)]
    behind = ["--", *(FAULTY if command is None else command)] if command != () else []
    with subprocess.Popen(
        [*BRIMGATE, "serve", *listening, *options, *behind],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment(**(env or {})),
        start_new_session=True,
    ) as process:
        widen(process.stderr)
        serving = Serving(process)
        reader = threading.Thread(target=_read, args=(process, serving.lines), daemon=True)
        serving.reader = reader
        reader.start()
        try:
            yield serving
        finally:
            serving.close_connections()
            if process.poll() is None:
                process.terminate()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                raise AssertionError(f"it did not end: {serving.lines}") from None
            finally:
                reader.join(PATIENCE)


def _read(process: "subprocess.Popen[bytes]", lines: list[str]) -> None:
    if process.stderr is not None:
        lines.extend(line.decode("utf-8", "replace").rstrip("\n") for line in process.stderr)


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[dict[str, str]]:
        return list(parse_events(self.body.decode()))

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The JSON-RPC messages in it, whichever way they came."""
        if "text/event-stream" not in self.headers.get("content-type", ""):
            return [self.json]
        return [json.loads(event["data"]) for event in self.events if event.get("data")]


def parse_events(text: str) -> Iterator[dict[str, str]]:
    for block in text.replace("\r\n", "\n").split("\n\n"):
        event: dict[str, str] = {}
        for line in block.split("\n"):
            name, colon, value = line.partition(":")
            if colon and name:
                event[name] = value.removeprefix(" ")
        if event:
            yield event


def exchange(
    connection: HTTPConnection, method: str, path: str, body: Any, headers: dict[str, str]
) -> Answer:
    """One request on a connection that may be used again."""
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    connection.request(method, path, data, headers)
    response = connection.getresponse()
    return Answer(
        response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
    )


class LegacyClient:
    """A client that shakes hands, without anything of an SDK."""

    def __init__(self, serving: Serving, version: str, path: str, more: dict[str, str] | None = None) -> None:
        self.serving, self.version, self.path = serving, version, path
        self.more = more or {}
        self.connection = serving.connect()
        self.session = ""
        self.accept = "application/json, text/event-stream"
        self._last = 0

    @property
    def headers(self) -> dict[str, str]:
        given = {"content-type": "application/json", "accept": self.accept, **self.more}
        if self.session:
            given |= {"mcp-session-id": self.session, "mcp-protocol-version": self.version}
        return given

    def post(self, message: Any, **headers: str) -> Answer:
        return exchange(self.connection, "POST", self.path, message, self.headers | headers)

    def begin(self, message: Any) -> HTTPResponse:
        """The answer before it was read, on a connection of its own."""
        connection = self.serving.connect()
        connection.request("POST", self.path, json.dumps(message).encode(), self.headers)
        return self.serving.answer_of(connection)

    def initialize(self) -> Answer:
        who = {"name": "test", "version": "1"}
        params = {"protocolVersion": self.version, "capabilities": {}, "clientInfo": who}
        answer = self.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
        self.session = answer.headers.get("mcp-session-id", "")
        if self.session:
            accepted = self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
            assert accepted.status == 202, accepted
        return answer

    def request(self, method: str, params: dict[str, Any] | None = None, **headers: str) -> dict[str, Any]:
        """The answer to a request, whatever else came with it."""
        self._last += 1
        message = {"jsonrpc": "2.0", "id": self._last, "method": method, "params": params or {}}
        answer = self.post(message, **headers)
        assert answer.status == 200, answer
        return next(one for one in answer.messages if one.get("id") == self._last and "method" not in one)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def delete(self) -> Answer:
        return exchange(self.connection, "DELETE", self.path, None, self.headers)

    def listen(self, **headers: str) -> HTTPResponse:
        """The stream of GET, on a connection of its own."""
        connection = self.serving.connect()
        connection.request("GET", self.path, headers=self.headers | {"accept": "text/event-stream"} | headers)
        return self.serving.answer_of(connection)


def modern(
    serving: Serving,
    method: str,
    params: dict[str, Any] | None = None,
    *,
    key: Any = 1,
    path: str = "/mcp",
    meta: dict[str, Any] | None = None,
    connection: HTTPConnection | None = None,
    **headers: str,
) -> Answer:
    """One exchange as of 2026-07-28. A header that is given as the empty text is left out."""
    params = {**(params or {}), "_meta": META | (meta or {})}
    named = params.get("name", params.get("uri", params.get("taskId", "")))
    is_named = method in ("tools/call", "prompts/get", "resources/read") or method.startswith("tasks/")
    usual = {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        "mcp-name": named if is_named else "",
    }
    given = usual | {name.replace("_", "-"): value for name, value in headers.items()}
    message = {"jsonrpc": "2.0", "id": key, "method": method, "params": params}
    return exchange(
        connection or serving.connect(),
        "POST",
        path,
        message,
        {name: value for name, value in given.items() if value},
    )


def next_event(response: HTTPResponse) -> dict[str, str]:
    """The next event of an open stream; comments are passed over."""
    lines: list[str] = []
    while True:
        line = response.readline().decode()
        if not line:
            raise AssertionError(f"the stream ended after {lines}")
        line = line.rstrip("\r\n")
        if line:
            lines.append(line)
        elif found := list(parse_events("\n".join(lines))):
            return found[0]
        else:
            lines.clear()


def text_of(answer: dict[str, Any]) -> str:
    """The first text of an answer to a call."""
    return answer["result"]["content"][0]["text"]


def workers_of(serving: Serving, what: str = "spawn_main") -> set[int]:
    """The processes that it has started to work on answers, or others that are started so."""
    threads = Path(f"/proc/{serving.process.pid}/task").glob("*/children")
    children = [int(child) for thread in threads for child in _text_of(thread).split()]
    return {child for child in children if what in _text_of(Path(f"/proc/{child}/cmdline"))}


def _text_of(path: Path) -> str:
    """Empty if whose file it is has ended meanwhile."""
    try:
        return path.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
