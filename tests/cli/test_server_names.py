"""What a server is called that is given by its command: log, statistics and cursors know it by that."""

import pytest

from brimgate.cli.gateway import server_name
from brimgate.config.declarations import Config, Upstream

NAMES = {
    "npx -y @modelcontextprotocol/server-filesystem /data": "server-filesystem",
    "npx mcp-server-commands@1.2.3": "mcp-server-commands",
    "uvx mcp-server-git --repository .": "mcp-server-git",
    "uv run server.py": "server.py",
    "pipx run some_server": "some_server",
    "npx": "npx",
    "npx -y": "npx",
    "npx ..": "npx",
    "/usr/bin/python3 -m thing": "python3",
    "node server.js": "node",
    "./my-server.sh": "my-server",
}


@pytest.mark.parametrize("command", NAMES)
def test_a_server_is_called_by_what_a_runner_runs(command: str) -> None:
    assert server_name(command.split(), Config()) == NAMES[command]


def test_whoever_has_rules_for_a_runner_keeps_its_name() -> None:
    config = Config(upstreams={"npx": Upstream()})
    assert server_name(["npx", "-y", "some-server"], config) == "npx"
