"""Clients that try the newest revision first: they fall back where the server is older, and never because it is down."""

import asyncio
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.config.running import BRIMGATE
from tests.conformance.processes import free_port, listens, running
from tests.http.serving import FAULTY, modern, serve
from tests.http.visiting import PATIENCE, Place, Way, python_client, run_typescript
from tests.world import everything_server, needs_npm, node

MATRIX = [sys.executable, "-m", "tests.http.matrix_server"]
SECRET = [sys.executable, str(Path(__file__).parent / "secret_server.py")]
DIES = [sys.executable, "-c", "import sys; sys.stderr.write('no licence'); sys.exit(4)"]
READ_TOOL = "brimgate_read"


@dataclass(frozen=True)
class Connected:
    """What a client reached: the revision it agreed on, and the names of the tools."""

    version: str
    tools: list[str]


class Failed(Exception):
    """What a client that could not connect has to say of it."""


Connect = Callable[[Place, Way, Path], Connected]


def connect_python(place: Place, way: Way, _home: Path) -> Connected:
    async def connect() -> Connected:
        async with asyncio.timeout(PATIENCE), python_client(place, "auto", way) as client:
            tools = (await client.list_tools()).tools
            return Connected(client.protocol_version, [tool.name for tool in tools])

    try:
        return asyncio.run(connect())
    except ExceptionGroup as group:
        raise Failed(repr(group)) from None


def connect_typescript(place: Place, way: Way, home: Path) -> Connected:
    result = run_typescript("client-v2.mjs", place, home, way=way, mode="auto", tool=READ_TOOL)
    if result.returncode:
        raise Failed(result.stderr.decode())
    told = json.loads(result.stdout)
    return Connected(told["version"], [tool["name"] for tool in told["tools"]])


clients = pytest.mark.parametrize(
    "connect",
    [
        pytest.param(connect_python, id="python"),
        pytest.param(connect_typescript, id="typescript-v2", marks=[needs_npm, pytest.mark.slow]),
    ],
)


def check_older(connected: Connected) -> None:
    assert connected.version.startswith(("2024-", "2025-"))
    assert READ_TOOL in connected.tools
    assert len(connected.tools) > 1


# A server of the older era

OLDER_STDIO = [
    pytest.param([*MATRIX, "--stdio", "--legacy-only"], id="says-there-is-no-such-method"),
    pytest.param(FAULTY, id="has-an-answer-to-anything"),
    pytest.param([*SECRET, "frail"], id="dies-of-what-it-does-not-know"),
    pytest.param(everything_server(), id="everything", marks=[needs_npm, pytest.mark.slow]),
]


@clients
@pytest.mark.parametrize("command", OLDER_STDIO)
def test_in_front_of_an_older_stdio_server_through_serve(
    connect: Connect, command: list[str], tmp_path: Path
) -> None:
    with serve(command=command) as serving:
        check_older(connect(Place(url=f"http://127.0.0.1:{serving.port}/mcp"), "http", tmp_path))


@contextmanager
def older_http_server(kind: str, folder: Path) -> Iterator[str]:
    port = free_port()
    command = [*MATRIX, "--http", str(port), "--legacy-only"]
    if kind == "everything":
        script = "node_modules/@modelcontextprotocol/server-everything/dist/index.js"
        command = ["env", f"PORT={port}", *node(script, "streamableHttp")]
    with running(command, folder / "server.log", listens(port)):
        yield f"http://127.0.0.1:{port}/mcp"


OLDER_HTTP = [
    pytest.param("filtered", id="python-sdk"),
    pytest.param("everything", id="everything", marks=[needs_npm, pytest.mark.slow]),
]


@clients
@pytest.mark.parametrize("kind", OLDER_HTTP)
def test_in_front_of_an_older_http_server(connect: Connect, kind: str, tmp_path: Path) -> None:
    with older_http_server(kind, tmp_path) as url:
        check_older(connect(Place(command=(*BRIMGATE, "run", "--upstream", url)), "stdio", tmp_path))
        with serve("--upstream", url, command=()) as serving:
            check_older(connect(Place(url=f"http://127.0.0.1:{serving.port}/mcp"), "http", tmp_path))


# A server that is down

DOWN = [
    pytest.param(("--", "/nonexistent/server"), "no such command", id="no-such-command"),
    pytest.param(("--", *DIES), "no licence", id="dies-at-once"),
    pytest.param(("--upstream", "http://127.0.0.1:{port}/mcp"), "is the server running?", id="http"),
    pytest.param(("--upstream", "http://127.0.0.1:{port}/sse"), "is the server running?", id="sse"),
]


@clients
@pytest.mark.parametrize(("behind", "reason"), DOWN)
def test_a_server_that_is_down_is_called_so(
    connect: Connect, behind: tuple[str, ...], reason: str, tmp_path: Path
) -> None:
    options = tuple(part.format(port=free_port()) for part in behind)
    with serve(*options, command=()) as serving, pytest.raises(Failed) as failed:
        connect(Place(url=f"http://127.0.0.1:{serving.port}/mcp"), "http", tmp_path)
    assert reason in str(failed.value)
    with pytest.raises(Failed) as failed:
        connect(Place(command=(*BRIMGATE, "run", *options)), "stdio", tmp_path)
    assert reason in str(failed.value)


@pytest.mark.parametrize(("behind", "reason"), [DOWN[0], DOWN[2]])
def test_a_probe_of_a_server_that_is_down_is_503(behind: tuple[str, ...], reason: str) -> None:
    options = tuple(part.format(port=free_port()) for part in behind)
    with serve(*options, command=()) as serving:
        answer = modern(serving, "server/discover")
        assert answer.status == 503
        assert reason in answer.json["error"]["message"]
        assert serving.client().initialize().status == 503


def test_a_server_that_was_down_is_asked_again_for_its_era(tmp_path: Path) -> None:
    """That it died of the probe was no answer."""
    up = tmp_path / "up"
    script = f"import os, sys; os.path.exists({str(up)!r}) or sys.exit(4); os.execv({SECRET[0]!r}, {[*SECRET, 'stdio']!r})"
    with serve(command=[sys.executable, "-c", script], env=dict(os.environ)) as serving:
        assert modern(serving, "server/discover").status == 404
        assert serving.client().initialize().status == 503
        up.touch()
        answer = modern(serving, "server/discover")
        assert (answer.status, answer.json["result"]["supportedVersions"]) == (200, ["2026-07-28"])
