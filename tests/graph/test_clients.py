"""The official client against the graph server, over stdio and HTTP, in both eras."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from brimgate.sandboxes.graphiti import Graph
from tests.graph.serving import PATIENCE, SMALL, http_server

ERAS = {"legacy": "2025-11-25", "auto": "2026-07-28"}
TOOLS = [
    "add_memory", "search_nodes", "search_memory_facts", "delete_entity_edge", "delete_episode", "get_entity_edge",
    "get_episodes", "summarize_saga", "build_communities", "add_triplet", "get_episode_entities", "clear_graph",
    "get_status",
]  # fmt: skip
QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("search_nodes", {"query": "in the city", "max_nodes": 5}),
    ("search_memory_facts", {"query": "uses or works", "group_ids": ["main", "work"]}),
    ("search_memory_facts", {"query": "x", "max_facts": 0}),
    ("get_episodes", {"max_episodes": 3}),
    ("get_entity_edge", {"uuid": "nope"}),
    ("summarize_saga", {"saga_name": "Kitchen rebuild"}),
    ("build_communities", {}),
    ("get_status", {}),
]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with http_server(*SMALL) as address:
        yield address


@asynccontextmanager
async def connected(where: str | StdioServerParameters, mode: str) -> AsyncIterator[Client]:
    async with asyncio.timeout(PATIENCE), Client(where, mode=mode, read_timeout_seconds=PATIENCE) as client:
        yield client


def stdio(*options: str) -> StdioServerParameters:
    return StdioServerParameters(command=sys.executable, args=["-m", "brimgate.sandboxes.graphiti", *options])


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("way", ["stdio", "http"])
def test_the_official_client_gets_what_the_graph_answers(way: str, mode: str, url: str) -> None:
    async def visit() -> None:
        async with connected(url if way == "http" else stdio(*SMALL), mode) as client:
            assert client.protocol_version == ERAS[mode]
            listed = (await client.list_tools()).tools
            assert [tool.name for tool in listed] == TOOLS
            assert all(tool.output_schema and not tool.annotations for tool in listed)
            for tool, arguments in QUESTIONS:
                # The client checks the structure against the schema on its own.
                result = await client.call_tool(tool, arguments)
                answer = graph.call(tool, arguments)
                (block,) = result.content
                assert block.type == "text"
                assert block.text == json.dumps(answer, indent=2, ensure_ascii=False)
                assert result.structured_content == (answer if tool == "get_status" else {"result": answer})
                assert not result.is_error

    with Graph(nodes=60, facts=120, episodes=40) as graph:
        asyncio.run(visit())


@pytest.mark.parametrize("mode", ERAS)
def test_every_tool_that_changes_is_called_over_the_wire(mode: str) -> None:
    async def visit() -> None:
        async with connected(stdio(*SMALL), mode) as client:

            async def call(tool: str, **arguments: Any) -> Any:
                result = await client.call_tool(tool, arguments)
                assert result.structured_content
                return result.structured_content["result"]

            await call("add_memory", name="Über", episode_body="☕")
            told = (await call("get_episodes", max_episodes=10_000))["episodes"]
            (episode,) = (one for one in told if one["content"] == "☕")
            ends = {"source_node_name": "A", "target_node_name": "B"}
            added = await call("add_triplet", edge_name="USES", fact="A uses B", **ends)
            assert "message" in await call("delete_entity_edge", uuid=added["edges"][0]["uuid"])
            assert "message" in await call("delete_episode", uuid=episode["uuid"])
            assert "message" in await call("clear_graph")
            assert (await call("get_episodes"))["episodes"] == []
            assert (await call("get_episode_entities", episode_uuids=[episode["uuid"]]))["edges"] == []

    asyncio.run(visit())


@pytest.mark.parametrize("mode", ERAS)
def test_wrong_arguments_are_an_error_the_model_can_read(mode: str, url: str) -> None:
    async def visit() -> None:
        async with connected(url, mode) as client:
            result = await client.call_tool("search_nodes", {"max_nodes": "ten"})
            assert result.is_error
            (block,) = result.content
            assert block.type == "text"
            assert block.text.startswith("Error executing tool search_nodes: 2 validation errors")

    asyncio.run(visit())


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("way", ["stdio", "http"])
def test_a_slow_call_reports_progress_where_it_is_asked_to(way: str, mode: str) -> None:
    options = (*SMALL, "--delay", "1.2")

    async def visit(where: str | StdioServerParameters) -> None:
        async with connected(where, mode) as client:
            heard: list[tuple[float, float | None]] = []

            async def note(progress: float, total: float | None, message: str | None) -> None:
                heard.append((progress, total))

            told, untold = await asyncio.gather(
                client.call_tool("get_status", {}, progress_callback=note), client.call_tool("get_status", {})
            )
            assert told.structured_content == untold.structured_content
            # A client may forget progress that it reads in one piece with the answer.
            assert heard
            assert heard == [(0.5, 1.2), (1.0, 1.2)][: len(heard)]

    if way == "stdio":
        asyncio.run(visit(stdio(*options)))
    else:
        with http_server(*options) as address:
            asyncio.run(visit(address))
