"""The ways to a fixture: directly, through one Brimgate, through a chain of two."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from tests.conformance.fixtures import Fixture
from tests.conformance.processes import free_port, is_healthy, listens, running

_SERVE: Final = [sys.executable, "-m", "brimgate", "serve"]
PATHS: Final = ("direct", "one Brimgate", "chain of two")


class Route(NamedTuple):
    upstream: str
    """How the last Brimgate talks to the fixture: http or stdio. The suite itself speaks HTTP only."""
    brimgates: int

    @property
    def path(self) -> str:
        return PATHS[self.brimgates]


DIRECT: Final = Route("http", 0)
THROUGH: Final = (Route("http", 1), Route("http", 2), Route("stdio", 1), Route("stdio", 2))


@contextmanager
def serving(fixture: Fixture, route: Route, folder: Path) -> Iterator[str]:
    """Gives the address of a fixture of its own, at the end of a route."""
    with ExitStack() as started:
        url, upstream = "", ["--", *fixture.command, "--stdio"]
        if route.upstream == "http":
            url = started.enter_context(_fixture(fixture, folder / "fixture.log"))
            upstream = ["--upstream", url]
        for number in range(route.brimgates):
            chained = ["--chained"] if number else []
            url = started.enter_context(_brimgate([*chained, *upstream], folder / f"brimgate-{number}.log"))
            upstream = ["--upstream", url]
        yield url


@contextmanager
def _fixture(fixture: Fixture, log: Path) -> Iterator[str]:
    port = free_port()
    with running([*fixture.command, "--http", str(port)], log, listens(port)):
        yield _address(port)


@contextmanager
def _brimgate(options: list[str], log: Path) -> Iterator[str]:
    port = free_port()
    with running([*_SERVE, "--port", str(port), *options], log, is_healthy(port)):
        yield _address(port)


def _address(port: int) -> str:
    return f"http://127.0.0.1:{port}/mcp"
