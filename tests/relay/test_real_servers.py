"""Large answers of real servers, through Brimgate: bounded, complete, and asked for once."""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client, StdioServerParameters

from brimgate.engine.tokens.estimator import Estimator
from tests.relay.conversation import texts
from tests.relay.large_answers import (
    Case,
    a_large_diff,
    a_large_graph,
    a_long_echo,
    a_long_file,
    a_long_output,
    many_rows,
)
from tests.relay.replies import Result, as_rebuilt, following, rebuild
from tests.relay.tap import ASKED
from tests.world import everything_server, needs_npm, tapped, through_brimgate

if TYPE_CHECKING:
    from collections.abc import Callable

BUDGET = 4_000
MODES = ("legacy", "auto")
"""How the client connects: with the handshake, or by asking for 2026-07-28 first."""


NEEDS_NPM = [a_long_file, a_large_graph, many_rows, a_long_output, a_long_echo]


@pytest.fixture(
    scope="module",
    params=[*(pytest.param(case, marks=needs_npm) for case in NEEDS_NPM), a_large_diff],
    ids=lambda case: case.__name__,
)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    make: Callable[[Path], Case] = request.param
    return make(tmp_path_factory.mktemp("server"))


@dataclass
class Answer:
    version: str
    results: list[Result]
    """For every call the first result, and what the cursors led to."""


async def _ask(command: list[str], mode: str, calls: dict[str, dict[str, Any]]) -> Answer:
    server = StdioServerParameters(command=command[0], args=command[1:])
    async with asyncio.timeout(120), Client(server, mode=mode, read_timeout_seconds=60) as client:
        await client.list_tools()  # from here on the client checks answers against the schemas it was told

        async def call(name: str, given: dict[str, Any]) -> Result:
            return (await client.call_tool(name, given)).model_dump(
                mode="json", by_alias=True, exclude_none=True
            )

        results: list[Result] = []
        for tool, arguments in calls.items():
            results.append(await call(tool, arguments))
            while cursor := following(results[-1]):
                results.append(await call("brimgate_read", {"cursor": cursor}))
        return Answer(client.protocol_version, results)


def ask(command: list[str], mode: str, calls: dict[str, dict[str, Any]]) -> Answer:
    return asyncio.run(_ask(command, mode, calls))


def calls_in(journal: Path) -> list[str]:
    messages = (json.loads(line) for line in (journal / ASKED).read_bytes().splitlines())
    return [message["params"]["name"] for message in messages if message.get("method") == "tools/call"]


@pytest.mark.slow_except("a_large_graph-auto")
@pytest.mark.parametrize("mode", MODES)
def test_a_large_answer_is_bounded_complete_and_asked_for_once(case: Case, mode: str, tmp_path: Path) -> None:
    direct = ask(case.command, mode, {case.tool: case.arguments})
    command = through_brimgate(tapped(case.command, tmp_path), "--budget", str(BUDGET))
    through = ask(command, mode, {case.tool: case.arguments})

    assert through.version == direct.version
    assert calls_in(tmp_path) == [case.tool]
    count = Estimator("claude").ceiling
    for result in through.results:
        assert count("\n".join(texts(result))) <= BUDGET
        assert "structuredContent" not in result
        assert not result.get("isError")
        assert texts(result)[0].startswith("[brimgate] ")
    (original,) = texts(direct.results[0])
    assert len(through.results) > 5
    assert rebuild(through.results) == as_rebuilt(original)


SMALL = {
    "echo": {"message": "hello"},
    "get-sum": {"a": 2, "b": 3},
    "get-structured-content": {"location": "Chicago"},
    "get-tiny-image": {},
    "get-annotated-message": {"messageType": "error", "includeImage": True},
    "get-resource-links": {"count": 3},
}


@pytest.mark.slow_except("auto")
@needs_npm
@pytest.mark.parametrize("mode", MODES)
def test_what_fits_comes_as_the_server_sent_it(mode: str) -> None:
    direct = ask(everything_server(), mode, SMALL)
    through = ask(through_brimgate(everything_server(), "--budget", str(BUDGET)), mode, SMALL)
    assert through == direct
    assert any("structuredContent" in result for result in through.results)
    assert any(block["type"] == "image" for result in through.results for block in result["content"])
