"""The servers that the suite is run against: one per SDK, none of them ours."""

import json
import sys
from importlib.metadata import version
from typing import Final, NamedTuple

from tests.world import NODE_FOLDER, node


class Fixture(NamedTuple):
    package: str
    version: str
    command: list[str]
    """Takes `--stdio`, or `--http PORT`."""


def npm_version(package: str) -> str:
    return json.loads((NODE_FOLDER / "package.json").read_text("utf-8"))["dependencies"][package]


def _python(module: str) -> list[str]:
    return [sys.executable, "-m", f"tests.conformance.{module}"]


_NPM: Final = "@modelcontextprotocol/server"
FIXTURES: Final = {
    "mcp": Fixture("PyPI `mcp`", version("mcp"), _python("fixture_server")),
    "fastmcp": Fixture("PyPI `fastmcp` with `fastmcp-tasks`", version("fastmcp"), _python("fastmcp_server")),
    "npm": Fixture(f"npm `{_NPM}`", npm_version(_NPM), node("fixture-server.mjs")),
}
