"""The server of the conformance suite serves the official client in both eras, on both transports."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from tests.conformance.fixture_server import TOOLS
from tests.conformance.processes import PATIENCE_SECONDS, free_port, listens, running
from tests.conftest import ROOT

_MODULE = ["-m", "tests.conformance.fixture_server"]


@contextmanager
def over_stdio(_folder: Path) -> Iterator[StdioServerParameters]:
    yield StdioServerParameters(command=sys.executable, args=[*_MODULE, "--stdio"], cwd=ROOT)


@contextmanager
def over_http(folder: Path) -> Iterator[str]:
    port = free_port()
    command = [sys.executable, *_MODULE, "--http", str(port)]
    with running(command, folder / "fixture.log", listens(port)):
        yield f"http://127.0.0.1:{port}/mcp"


@pytest.mark.parametrize(
    ("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")], ids=["auto", "legacy"]
)
@pytest.mark.parametrize("serve", [over_stdio, over_http])
def test_the_fixture_serves_the_official_client(
    serve: Callable[[Path], AbstractContextManager[Any]], mode: str, version: str, tmp_path: Path
) -> None:
    async def use(server: Any) -> None:
        with anyio.fail_after(PATIENCE_SECONDS):
            async with Client(server, mode=mode) as client:
                assert client.protocol_version == version
                listed = await client.list_tools()
                assert [tool.name for tool in listed.tools] == list(TOOLS.entries)
                (block,) = (await client.call_tool("test_simple_text")).content
                assert isinstance(block, types.TextContent)
                assert block.text == "This is a simple text response for testing."

    with serve(tmp_path) as server:
        anyio.run(use, server)
