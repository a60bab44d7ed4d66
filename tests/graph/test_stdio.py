"""The graph server as a process on stdio: the same bytes every time, and changes that last where they should."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.graph.serving import HELLO, META, SMALL, Json, answers, call, converse, process, request

GREETING = request(0, "initialize", **HELLO)


def told(answer: Json) -> Any:
    return answer["result"]["structuredContent"]["result"]


def test_two_processes_say_the_same_bytes() -> None:
    triplet = {"source_node_name": "A", "edge_name": "B", "fact": "C", "target_node_name": "D"}
    messages = [
        GREETING,
        request(1, "tools/list"),
        call(2, "search_nodes", {"query": "in the", "max_nodes": 200}),
        call(3, "search_memory_facts", {"query": "uses in since", "max_facts": 200, "group_ids": []}),
        call(4, "add_memory", {"name": "a", "episode_body": "b"}),
        call(5, "add_triplet", triplet),
        call(6, "get_episodes", {"max_episodes": 200}),
        call(7, "build_communities", {}),
    ]
    first, second = converse(messages), converse(messages)
    assert first == second
    assert len(first) > 300_000


def test_changes_last_in_a_file_and_not_in_memory(tmp_path: Path) -> None:
    kept = (*SMALL, "--database", str(tmp_path / "graph.db"))
    search = call(1, "search_memory_facts", {"query": "uses in since on", "max_facts": 200})
    fact = told(answers([GREETING, search], *kept)[1])["facts"][0]
    asked = call(1, "get_entity_edge", {"uuid": fact["uuid"]})
    deletion = call(2, "delete_entity_edge", {"uuid": fact["uuid"]})
    for options, is_gone in ((kept, True), (SMALL, False)):
        assert told(answers([GREETING, asked], *options)[1]) == fact
        assert "message" in told(answers([GREETING, deletion], *options)[2])
        assert ("error" in told(answers([GREETING, asked], *options)[1])) == is_gone
    found = told(answers([GREETING, search], *kept)[1])["facts"]
    assert fact["uuid"] not in [one["uuid"] for one in found]


def test_what_is_added_in_a_file_by_one_process_is_unlike_what_another_adds(tmp_path: Path) -> None:
    options = (*SMALL, "--database", str(tmp_path / "graph.db"))
    added = call(1, "add_memory", {"name": "twice", "episode_body": "the same"})
    for _ in range(2):
        answers([GREETING, added], *options)
    every = call(1, "get_episodes", {"max_episodes": 1_000})
    found = told(answers([GREETING, every], *options)[1])["episodes"]
    newer, older, *_ = sorted(found, key=lambda one: one["created_at"], reverse=True)
    assert newer["name"] == older["name"] == "twice"
    assert newer["uuid"] != older["uuid"]
    assert newer["created_at"] > older["created_at"] > "2026-11-15T10:00:00+00:00"


def test_neither_the_api_nor_stdio_load_a_network_stack() -> None:
    code = "import brimgate.sandboxes.graphiti.__main__, brimgate.sandboxes.graphiti.stdio, sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert {"asyncio", "uvicorn", "mcp", "pydantic"}.isdisjoint(done.stdout.split())


def test_options_reach_the_graph() -> None:
    search = call(1, "search_memory_facts", {"query": "uses in since", "max_facts": 1}, _meta=META)
    answer = answers(
        [search], *SMALL, "--generation", "1.0", "--embeddings", "--now", "2020-05-06", "--seed", "5"
    )[1]
    (fact,) = told(answer)["facts"]
    assert len(fact["attributes"]["fact_embedding"]) == 1_536
    assert fact["created_at"] <= "2020-05-06T00:00:10Z"
    assert told(answers([search], "--not-initialized")[1]) == {"error": "Graphiti service not initialized"}


def test_schemas_are_those_of_the_sdk() -> None:
    tools = answers([request(1, "tools/list", _meta=META)])[1]["result"]["tools"]
    by_name = {tool["name"]: tool for tool in tools}
    text, texts = {"type": "string"}, {"items": {"type": "string"}, "type": "array"}
    null = {"type": "null"}
    assert by_name["search_nodes"]["inputSchema"] == {
        "properties": {
            "query": {"title": "Query"} | text,
            "group_ids": {"anyOf": [text, texts, null], "default": None, "title": "Group Ids"},
            "max_nodes": {"default": 10, "title": "Max Nodes", "type": "integer"},
            "entity_types": {"anyOf": [texts, null], "default": None, "title": "Entity Types"},
            "center_node_uuid": {"anyOf": [text, null], "default": None, "title": "Center Node Uuid"},
        },
        "required": ["query"],
        "title": "search_nodesArguments",
        "type": "object",
    }
    assert by_name["get_status"]["outputSchema"]["required"] == ["status", "message"]
    for name, tool in by_name.items():
        if name != "get_status":
            assert tool["outputSchema"]["required"] == ["result"]


def test_a_slow_call_lets_others_pass_and_can_be_called_off() -> None:
    with process(*SMALL, "--delay", "600") as server:
        stdin = server.stdin
        assert stdin
        assert server.stdout

        def send(message: Json) -> None:
            stdin.write(json.dumps(message).encode() + b"\n")
            stdin.flush()

        send(GREETING)
        assert json.loads(server.stdout.readline())["id"] == 0
        send(call(1, "get_status", {}, _meta={"progressToken": "p"}))
        assert json.loads(server.stdout.readline())["params"]["progressToken"] == "p"
        send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        send(call(2, "get_status", {}))
        send(request(3, "ping"))
        rest, _ = server.communicate(timeout=60)
        lines = [json.loads(line) for line in rest.splitlines()]
        assert [line["id"] for line in lines if "id" in line] == [3]
        assert server.returncode == 0
