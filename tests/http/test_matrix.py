"""Every client in front of every kind of server, through `brimgate serve` and `brimgate run`: all of it works."""

import json
import sys
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from brimgate.engine.tokens.estimator import Estimator
from tests.config.running import BRIMGATE
from tests.conformance.processes import free_port, listens, running
from tests.http.matrix_server import LARGE, TOOLS
from tests.http.serving import Serving, serve
from tests.http.visiting import OVER_HTTP, OVER_STDIO, Kind, Place, Visit, as_params, only_text, run_node
from tests.relay.conversation import texts
from tests.relay.replies import as_rebuilt, rebuild, record_of
from tests.world import needs_npm, node

BUDGET = 2_000
SERVER = [sys.executable, "-m", "tests.http.matrix_server"]
UPSTREAMS = ("http", "sse", "stdio", "stdio-legacy-only")
MODERN_UPSTREAMS = ("http", "stdio")


@dataclass
class World:
    """Servers, and a gateway before each of them, started when they are first asked for."""

    folder: Path
    _closing: ExitStack
    _urls: dict[str, str]
    _gateways: dict[str, Serving]

    def url(self, upstream: str) -> str:
        """Where a server is that runs by itself."""
        if upstream not in self._urls:
            port = free_port()
            command = [*SERVER, f"--{upstream}", str(port)]
            self._closing.enter_context(running(command, self.folder / f"{upstream}.log", listens(port)))
            self._urls[upstream] = f"http://127.0.0.1:{port}{'/mcp' if upstream == 'http' else '/sse'}"
        return self._urls[upstream]

    def gateway(self, upstream: str) -> Serving:
        if upstream not in self._gateways:
            self._gateways[upstream] = self._closing.enter_context(self._serve(upstream))
        return self._gateways[upstream]

    def _serve(self, upstream: str) -> Any:
        budget = ("--budget", str(BUDGET))
        if upstream in ("http", "sse"):
            return serve(*budget, "--upstream", self.url(upstream), command=())
        more = ["--legacy-only"] if upstream == "stdio-legacy-only" else []
        return serve(*budget, command=[*SERVER, "--stdio", *more])

    def run_command(self, upstream: str) -> tuple[str, ...]:
        return (*BRIMGATE, "run", "--budget", str(BUDGET), "--upstream", self.url(upstream))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with ExitStack() as closing:
        yield World(tmp_path_factory.mktemp("matrix"), closing, {}, {})


def check(visit: Visit, mark: str) -> None:
    """Everything came as it would without us, but for what is too large, which came in parts."""
    assert sorted(visit.tools) == sorted([*TOOLS, "brimgate_read"])
    assert only_text(visit.small) == only_text(visit.after) == f"small {mark}"
    count = Estimator("claude").ceiling
    assert len(visit.large) > 3
    assert all(count("\n".join(texts(result))) <= BUDGET for result in visit.large)
    assert rebuild(visit.large) == as_rebuilt(LARGE)
    assert only_text(visit.slow) == "done"
    assert visit.progress == [1, 2, 3]
    assert visit.hung == "called off"
    assert only_text(visit.cancelled) == "cancelled"


def check_era(kind: Kind, version: str | None, *, server_is_modern: bool) -> None:
    """Who can speak the newest revision does, where the server can."""
    if version is not None:
        assert (version == "2026-07-28") == (kind.modern_first and server_is_modern)


@pytest.mark.slow_except("python-auto-stdio", "python-legacy-http")
@pytest.mark.parametrize("upstream", UPSTREAMS)
@pytest.mark.parametrize("kind", as_params(OVER_HTTP))
def test_through_serve(world: World, kind: Kind, upstream: str, tmp_path: Path) -> None:
    mark = uuid.uuid4().hex
    path = "/mcp" if kind.way == "http" else "/sse"
    place = Place(url=f"http://127.0.0.1:{world.gateway(upstream).port}{path}")
    visit = kind.visit(place, mark, tmp_path)
    check(visit, mark)
    check_era(kind, visit.version, server_is_modern=upstream in MODERN_UPSTREAMS)


@pytest.mark.slow_except("python-auto-http")
@pytest.mark.parametrize("upstream", ["http", "sse"])
@pytest.mark.parametrize("kind", as_params(OVER_STDIO))
def test_through_run(world: World, kind: Kind, upstream: str, tmp_path: Path) -> None:
    mark = uuid.uuid4().hex
    visit = kind.visit(Place(command=world.run_command(upstream)), mark, tmp_path)
    check(visit, mark)
    # A pipe has no headers that could contradict the server: the SDK's speaks both eras also over HTTP+SSE.
    check_era(kind, visit.version, server_is_modern=True)


def inspect(folder: Path, *options: str) -> Any:
    launcher = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
    result = run_node(node(launcher, "--cli", *options), folder)
    assert result.returncode == 0, result.stderr.decode()
    return json.loads(result.stdout)


def check_inspector(folder: Path, *where: str) -> None:
    """A process per request: the list, a call, and the first part of a large answer."""
    listed = inspect(folder, *where, "--method", "tools/list")
    assert sorted(tool["name"] for tool in listed["tools"]) == sorted([*TOOLS, "brimgate_read"])
    call = ("--method", "tools/call", "--tool-name")
    assert only_text(inspect(folder, *where, *call, "small", "--tool-arg", "mark=abc")) == "small abc"
    first = inspect(folder, *where, *call, "large")
    record = record_of(first)
    assert record is not None
    assert record["nextCursor"]
    assert Estimator("claude").ceiling("\n".join(texts(first))) <= BUDGET


@pytest.mark.slow
@needs_npm
@pytest.mark.parametrize("upstream", UPSTREAMS)
def test_inspector_through_serve(world: World, upstream: str, tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{world.gateway(upstream).port}/mcp"
    check_inspector(tmp_path, url, "--transport", "http")
