"""Other people's clients in front of Brimgate: the TypeScript SDKs, and Inspector."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from brimgate.engine.tokens.estimator import Estimator
from tests.relay.conversation import texts
from tests.relay.large_answers import Case, a_large_graph, many_rows
from tests.relay.replies import as_rebuilt, rebuild, record_of
from tests.world import everything_server, inspector, needs_npm, node, through_brimgate

pytestmark = needs_npm
BUDGET = 4_000
CLIENTS: dict[str, tuple[str, dict[str, str]]] = {
    "TypeScript v1": ("client-v1.mjs", {}),
    "TypeScript v2": ("client-v2.mjs", {"mode": "legacy"}),
    "TypeScript v2, modern if it can": ("client-v2.mjs", {"mode": "auto"}),
}
CASES = (a_large_graph, many_rows)
"""A handshake server with output schemas, and one that speaks both eras."""


def run(command: list[str], home: Path) -> Any:
    """What a client prints. It has a home of its own, so that it finds no settings of the user."""
    environment = os.environ | {"HOME": str(home)}
    result = subprocess.run(command, capture_output=True, env=environment, timeout=120, check=False)
    assert result.returncode == 0, result.stderr.decode()
    return json.loads(result.stdout)


def as_listed(tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A list of tools without what Brimgate adds and drops."""
    return [
        {key: tool[key] for key in tool if key != "outputSchema"}
        for tool in tools
        if tool["name"] != "brimgate_read"
    ]


@pytest.mark.slow_except("TypeScript v2, modern if it can-a_large_graph")
@pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_typescript_client_reads_a_large_answer_to_its_end(
    client: str, make: Callable[[Path], Case], tmp_path: Path
) -> None:
    script, options = CLIENTS[client]
    case = make(tmp_path)

    def use(command: list[str]) -> Any:
        call = {"command": command[0], "args": command[1:], "tool": case.tool, "arguments": case.arguments}
        return run(node(script, json.dumps(call | options)), tmp_path)

    direct = use(case.command)
    through = use(through_brimgate(case.command, "--budget", str(BUDGET)))
    assert through["version"] == direct["version"]
    assert as_listed(through["tools"]) == as_listed(direct["tools"])
    count = Estimator("claude").ceiling
    for result in through["results"]:
        assert count("\n".join(texts(result))) <= BUDGET
        assert "structuredContent" not in result
    (original,) = texts(direct["results"][0])
    assert rebuild(through["results"]) == as_rebuilt(original)


def inspect(command: list[str], folder: Path, *options: str) -> Any:
    config = folder / "mcp.json"
    config.write_text(json.dumps({"mcpServers": {"tested": {"command": command[0], "args": command[1:]}}}))
    return run(inspector(config, *options), folder)


@pytest.mark.slow
def test_inspector_lists_the_same_tools_and_one_more(tmp_path: Path) -> None:
    direct, through = (
        inspect(command, tmp_path, "--method", "tools/list")["tools"]
        for command in (everything_server(), through_brimgate(everything_server()))
    )
    assert as_listed(through) == as_listed(direct)
    assert [tool["name"] for tool in through].count("brimgate_read") == 1


@pytest.mark.slow
@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_inspector_gets_a_bounded_answer(era: str, tmp_path: Path) -> None:
    case = many_rows(tmp_path)
    options = ("--protocol-era", era, "--method", "tools/call", "--tool-name", case.tool)
    given = ("--tool-args-json", json.dumps(case.arguments))
    command = through_brimgate(case.command, "--budget", str(BUDGET))
    result = inspect(command, tmp_path, *options, *given)
    assert Estimator("claude").ceiling("\n".join(texts(result))) <= BUDGET
    record = record_of(result)
    assert record is not None
    assert record["nextCursor"]
    small = ("--tool-args-json", json.dumps({"sql": "select 1 as one"}))
    assert inspect(command, tmp_path, *options, *small) == inspect(case.command, tmp_path, *options, *small)
