"""The knowledge-graph system of the brief (004), end to end: real processes, a real graph, over stdio and HTTP."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from brimgate.engine.rebuild import Rebuilder, next_on_walk
from brimgate.engine.replies.reply import Reply
from brimgate.packs.pack import fold
from brimgate.sandboxes.graphiti import Graph
from tests.relay.rawclient import RawClient

PATIENCE = 120
SIZE = ("--nodes", "400", "--facts", "500", "--episodes", "120")
SERVER = [sys.executable, "-m", "brimgate.sandboxes.graphiti", *SIZE]
SHORT = r"#[0-9a-f]{8}"


@pytest.fixture
def graph() -> Iterator[Graph]:
    """The same graph as the server's."""
    graph = Graph(nodes=400, facts=500, episodes=120)
    yield graph
    graph.close()


class Shell:
    """`brimgate` with a state folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        known = {name: value for name, value in os.environ.items() if not name.startswith("BRIMGATE_")}
        self.environment = known | {"BRIMGATE_STATE_DIR": str(folder / "state")}

    def run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "brimgate", *arguments]
        return subprocess.run(
            command, capture_output=True, text=True, encoding="utf-8", env=self.environment, cwd=self.folder,
            stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False,
        )  # fmt: skip

    def call(self, *words: str, server: tuple[str, ...] = ()) -> "subprocess.CompletedProcess[str]":
        return self.run("call", *words, "--", *SERVER, *server)

    def answer(self, *words: str, server: tuple[str, ...] = ()) -> str:
        done = self.call(*words, server=server)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_a_node_search_in_the_words_of_the_brief(shell: Shell, graph: Graph) -> None:
    lines = shell.answer("search_nodes", "team", "5").splitlines()
    assert lines[0] == 'Found 5 entities for "team":'
    nodes = graph.call("search_nodes", {"query": "team", "max_nodes": 5})["nodes"]
    for number, (line, node) in enumerate(zip(lines[1:], nodes, strict=True), 1):
        kinds = [f"[{label}" for label in node["labels"] if label != "Entity"]
        assert line.startswith(f"{number}. {fold(node['name'])} ") and all(kind in line for kind in kinds[:1])
        assert f"- {fold(node['summary'])}" in line and line.endswith(f"#{node['uuid'][-8:]}")


def test_a_fact_search_an_episode_list_and_the_status(shell: Shell) -> None:
    facts = shell.answer("search_memory_facts", "the", "3").splitlines()
    assert facts[0] == 'Found 3 relationships for "the":'
    assert all(re.fullmatch(rf"\d\. \[[A-Z_]+\] .+ {SHORT}", line) for line in facts[1:])
    assert shell.answer("get_episodes", "3").startswith("Recent episodes (3):\n")
    assert shell.answer("get_status") == "Knowledge Graph Status: HEALTHY (sqlite)\n"


def test_a_short_id_that_was_printed_is_taken_back(shell: Shell, graph: Graph) -> None:
    listed = shell.answer("search_memory_facts", "the", "3")
    short = re.findall(SHORT, listed)[1]
    told = shell.answer("get_entity_edge", short)
    fact = graph.call("search_memory_facts", {"query": "the", "max_facts": 3})["facts"][1]
    assert fold(fact["fact"]) in told and f"source: {fact['source_node_uuid'][-8:]}" in told
    whole = json.loads(shell.answer("get_entity_edge", f"uuid={short[1:]}", "--json"))
    assert whole["uuid"] == fact["uuid"]
    sent = json.loads(shell.answer("get_entity_edge", short, "--dry-run"))
    assert sent == {"name": "get_entity_edge", "arguments": {"uuid": fact["uuid"]}}
    near = shell.answer("search_nodes", "the", "2", f"center_node_uuid={fact['source_node_uuid'][-8:]}")
    assert near.startswith("Found 2 entities")


def test_an_id_that_was_never_printed_is_refused_before_anything_is_called(shell: Shell) -> None:
    done = shell.call("get_entity_edge", "deadbeef")
    assert done.returncode == 2 and done.stdout == ""
    assert "uuid: deadbeef is no id that was printed here lately" in done.stderr


def test_json_is_the_whole_answer_and_raw_the_result_as_it_came(shell: Shell, graph: Graph) -> None:
    expected = graph.call("search_nodes", {"query": "team", "max_nodes": 3})
    printed = shell.answer("search_nodes", "team", "3", "--json")
    assert json.loads(printed) == expected and ": " not in printed[:40]
    result = json.loads(shell.answer("search_nodes", "team", "3", "--raw"))
    assert result["structuredContent"] == {"result": expected}
    assert json.loads(result["content"][0]["text"]) == expected


def test_an_error_that_comes_as_a_success_ends_in_1_on_stderr(shell: Shell) -> None:
    done = shell.call("search_nodes", "team", server=("--not-initialized",))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "brimgate: search_nodes failed: Graphiti service not initialized\n"
    as_json = shell.call("search_nodes", "team", "--json", server=("--not-initialized",))
    assert as_json.returncode == 1
    assert json.loads(as_json.stdout) == {"error": "Graphiti service not initialized"}
    status = shell.call("get_status", server=("--not-initialized",))
    assert status.returncode == 1 and "get_status failed: " in status.stderr


def test_without_its_pack_a_server_is_shown_in_a_lossless_form(shell: Shell) -> None:
    done = shell.call("search_nodes", "team", "max_nodes=3", "--pack", "none")
    assert done.returncode == 0 and "table 1: 3 rows" in done.stdout and "a view" not in done.stderr
    failed = shell.call("search_nodes", "team", "--pack", "none", server=("--not-initialized",))
    assert failed.returncode == 0, "nobody knows there that this is an error"


@pytest.mark.slow
def test_what_is_deleted_by_a_short_id_is_gone_and_only_by_force(shell: Shell, tmp_path: Path) -> None:
    kept = ("--database", str(tmp_path / "graph.db"))
    first = shell.answer("get_episodes", "2", server=kept)
    short = re.findall(SHORT, first)[0]
    refused = shell.call("delete_episode", short, server=kept)
    assert refused.returncode == 2 and "--force" in refused.stderr
    assert re.findall(SHORT, shell.answer("get_episodes", "2", server=kept))[0] == short
    assert shell.answer("delete_episode", short, "--force", server=kept) == (
        f"✓ Episode deleted (id: ...{short[1:]})\n"
    )
    assert short not in shell.answer("get_episodes", "2", server=kept)
    again = shell.call("delete_episode", short, "--force", server=kept)
    assert again.returncode == 1 and "delete_episode failed: Error deleting episode" in again.stderr


@pytest.mark.slow
def test_what_is_added_is_found_again(shell: Shell, tmp_path: Path) -> None:
    kept = ("--database", str(tmp_path / "graph.db"))
    (tmp_path / "note.md").write_text("Use the :Z suffix when mounting volumes with Podman.\n")
    added = shell.answer("add_memory", "name=Podman volumes", "episode_body=@note.md", server=kept)
    assert added == '✓ Episode queued: "Podman volumes" (main)\n'
    every = shell.answer("get_episodes", "200", "--budget", "12000", server=kept)
    assert "Podman volumes - Use the :Z suffix" in every
    triplet = ("Podman", "MOUNTS", "Podman mounts volumes with :Z", "Volume")
    told = shell.answer("add_triplet", *triplet, server=kept)
    assert "✓ Triplet added:" in told and "Podman --MOUNTS--> Volume: Podman mounts volumes with :Z" in told
    assert shell.answer("clear_graph", "main", "--force", server=kept) == "✓ Graph cleared: main\n"
    assert shell.answer("get_episodes", "1", server=kept) == "No episodes found\n"


LACKING = """
import json, sys
from brimgate.testing.mcp_session import FakeServer, FakeSession, ToolOutcome

class Tool:
    output_schema = None
    def definition(self):
        return {"name": "search_nodes", "description": "", "inputSchema": {"type": "object"}}
    def call(self, arguments):
        nodes = [{"uuid": "u", "summary": "a node without a name", "labels": []}]
        return ToolOutcome(json.dumps({"message": "Nodes retrieved successfully", "nodes": nodes}))

session = FakeSession(FakeServer("graph", "1", "", {"search_nodes": Tool()}))
for line in sys.stdin.buffer:
    if answer := session.answer(line):
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()
"""


def test_a_missing_required_field_is_logged_and_the_answer_shown(shell: Shell, tmp_path: Path) -> None:
    done = shell.run("call", "--pack", "graphiti", "search_nodes", "--", sys.executable, "-c", LACKING)
    assert done.returncode == 0 and "a node without a name" in done.stdout
    assert "the answer lacks 'name'" in done.stderr
    [line] = (tmp_path / "state" / "wrapper.log").read_text("utf-8").splitlines()
    noted = json.loads(line)
    raw = shell.run("call", "--raw", "search_nodes", "--", sys.executable, "-c", LACKING)
    size = len(json.loads(raw.stdout)["content"][0]["text"].encode())
    told = (noted["operation"], noted["inputBytes"], noted["error"])
    assert told == ("search_nodes", size, "the answer lacks 'name'")
    assert noted["elapsedMs"] >= 0 and noted["time"]


def test_embeddings_are_not_shown(shell: Shell) -> None:
    plain = shell.answer("search_memory_facts", "the", "2")
    assert shell.answer("search_memory_facts", "the", "2", server=("--embeddings",)) == plain


OLD = ("--generation", "0.x")


def newest_first(text: str) -> bool:
    """Whether the headings of days, and the times of single episodes, go back in time."""
    days = re.findall(r"^(\d{4}-\d\d-\d\d)$|^- \[(\d{4}-\d\d-\d\d)", text, re.MULTILINE)
    told = [heading or single for heading, single in days]
    return told == sorted(told, reverse=True) and len(set(told)) == len(told) > 2


@pytest.mark.parametrize("server", [OLD, ("--generation", "1.0"), ()], ids=["0.x", "1.0", "1.x"])
def test_episodes_are_counted_by_a_bare_number_and_shown_by_time(
    shell: Shell, server: tuple[str, ...]
) -> None:
    shown = shell.answer("get_episodes", "9", server=(*server, "--now", "2020-05-06"))
    assert shown.startswith("Recent episodes (9):\n") and newest_first(shown)
    assert len(re.findall(rf"^- .* {SHORT}$", shown, re.MULTILINE)) == 9, "each on a line of its own"
    assert ("picked by id" in shown) == (server != OLD)
    one = shell.answer("get_episodes", "1", server=server)
    assert one.startswith("Recent episodes (1):\n")


def test_servers_before_1_0_are_known_too(shell: Shell) -> None:
    nodes = shell.answer("search_memory_nodes", "team", "2", server=OLD)
    assert nodes.startswith('Found 2 entities for "team"')
    facts = shell.answer("search_memory_facts", "the", "2", server=OLD)
    assert facts.startswith("Found 2 relationships")
    added = shell.answer("add_memory", "Note", "Said.", server=OLD)
    assert added == '✓ Episode queued: "Note" (position: 1)\n'
    cleared = shell.answer("clear_graph", "--force", server=OLD)
    assert cleared == "✓ Graph cleared, indices rebuilt\n"
    nobody = shell.answer("get_episodes", "group_id=5", server=OLD)
    assert nobody == 'No episodes found for group "5"\n'
    nothing = [
        shell.answer(tool, "xyzzy", server=OLD) for tool in ("search_memory_nodes", "search_memory_facts")
    ]
    assert nothing == ['No entities found for "xyzzy"\n', 'No relationships found for "xyzzy"\n']


@pytest.mark.parametrize("server", [("--generation", "1.0"), ()], ids=["1.0", "1.x"])
def test_several_groups_are_given_with_commas(shell: Shell, server: tuple[str, ...]) -> None:
    found = shell.answer("search_nodes", "the", "40", "group_ids=work,travel", "--json", server=server)
    assert {node["group_id"] for node in json.loads(found)["nodes"]} == {"work", "travel"}
    cleared = shell.answer("clear_graph", "work,travel", "--force", server=server)
    assert cleared == "✓ Graph cleared: work, travel\n"


def test_metrics_are_told_and_written_down_in_the_names_of_the_brief(shell: Shell, tmp_path: Path) -> None:
    asked = ("search_memory_facts", "the", "5", "--metrics", "--metrics-file", "metrics.jsonl")
    before, done = shell.call(*asked), shell.call(*asked)
    for one in (before, done):
        assert one.returncode == 0 and "against minified JSON" in one.stderr
    first, second = map(json.loads, (tmp_path / "metrics.jsonl").read_text().splitlines())
    fields = {
        "operation", "rawBytes", "compactBytes", "savingsPercent", "estimatedTokensBefore", "estimatedTokensAfter",
    }  # fmt: skip
    assert fields <= set(first) and first["operation"] == "search_memory_facts"
    assert first["compactBytes"] == len(done.stdout.rstrip("\n").encode()) == second["compactBytes"]
    assert first["savingsPercent"] == pytest.approx(
        100 - first["compactBytes"] / first["rawBytes"] * 100, abs=0.1
    )
    assert first["estimatedTokensBefore"] > 2 * first["estimatedTokensAfter"]
    whole = shell.call("search_memory_facts", "the", "5", "--json", "--metrics")
    assert whole.returncode == 0 and "search_memory_facts: " in whole.stderr
    (tmp_path / "folder").mkdir()
    refused = shell.call("get_status", "--metrics-file", "folder")
    assert refused.returncode == 2 and "folder: cannot be written" in refused.stderr
    assert refused.stdout == "", "it is refused before anything is called"
    full = shell.call("get_status", "--metrics-file", "/dev/full")
    assert full.returncode == 0 and "/dev/full: cannot be written" in full.stderr


@pytest.mark.slow
def test_a_large_answer_goes_on_in_the_same_words_in_another_process(shell: Shell, graph: Graph) -> None:
    first = shell.answer("search_nodes", "the of in", "90", "--budget", "1800")
    nodes = graph.call("search_nodes", {"query": "the of in", "max_nodes": 90})["nodes"]
    assert first.startswith("[brimgate] view, items #0-") and f"Found {len(nodes)} entities" in first
    seen, printed = 0, first
    while True:
        shown = re.findall(r"^(\d+)\. ", printed, re.MULTILINE)
        assert [int(one) for one in shown] == list(range(seen + 1, seen + 1 + len(shown))) and shown
        assert all(fold(nodes[int(one) - 1]["summary"]) in printed for one in shown)
        seen += len(shown)
        cursor = re.search(r"more: brimgate read (\S+?),", printed)
        if cursor is None:
            break
        going_on = shell.run("read", cursor[1], "--budget", "1800")
        assert going_on.returncode == 0, going_on.stderr
        printed = going_on.stdout
    assert seen == len(nodes)
    last = re.findall(SHORT, printed)[-1]
    sent = json.loads(shell.answer("search_nodes", "x", f"center_node_uuid={last}", "--dry-run"))
    assert sent["arguments"]["center_node_uuid"] == nodes[-1]["uuid"], "ids of later pages are known as well"


@pytest.mark.slow
def test_over_http_by_its_name_in_the_configuration(shell: Shell, tmp_path: Path) -> None:
    command = [*SERVER, "--http", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr
            said = server.stderr.readline()
            url = said.removeprefix("listening on ").strip()
            assert url.startswith("http://127.0.0.1:"), said
            (tmp_path / "brimgate.yaml").write_text(f"upstreams: {{graphiti: {{url: {url!r}}}}}\n")
            options = ("call", "--config", "brimgate.yaml", "graphiti")
            found = shell.run(*options, "search_nodes", "team", "10")
            assert found.returncode == 0 and found.stdout.startswith('Found 10 entities for "team":\n'), (
                found.stderr
            )
            by_url = shell.run("call", url, "search_nodes", "team", "10")
            assert by_url.stdout == found.stdout
            completed = shell.run("completion", "--line", "brimgate call graphiti search_n")
            assert completed.stdout == "search_nodes\n"
        finally:
            server.terminate()


# The same pack in the relay


def relayed(*options: str, server: tuple[str, ...] = ()) -> RawClient:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BRIMGATE_")}
    command = [sys.executable, "-m", "brimgate", "run", *options, "--", *SERVER, *server]
    return RawClient(command, env=environment)


def result_of(client: RawClient, tool: str, **arguments: Any) -> dict[str, Any]:
    return client.call(tool, **arguments)["result"]


def test_in_the_relay_ids_are_whole_and_times_absolute(graph: Graph) -> None:
    with relayed("--pack", "graphiti") as client:
        client.greet()
        got = result_of(client, "search_nodes", query="team", max_nodes=10)
        again = result_of(client, "search_nodes", query="team", max_nodes=10)
    notice, formatted = (block["text"] for block in got["content"])
    assert got["content"] == again["content"], "the same answer gives the same bytes"
    assert "structuredContent" not in got
    assert notice.startswith("[brimgate] view, items #0-9 of 10 · ")
    assert formatted.startswith('Found 10 entities for "team":\n1. ')
    nodes = graph.call("search_nodes", {"query": "team", "max_nodes": 10})["nodes"]
    assert all(f"#{node['uuid']}" in formatted and fold(node["summary"]) in formatted for node in nodes)
    assert "ago" not in re.sub(r"- .*? #", "", formatted)
    assert got["_meta"]["brimgate/result"]["derived"] is True


def test_in_the_relay_everything_as_it_came_is_one_cursor_away(graph: Graph) -> None:
    with relayed("--pack", "graphiti", "--budget", "1200") as client:
        client.greet()
        got = result_of(client, "search_memory_facts", query="the of", max_facts=200)
        record = got["_meta"]["brimgate/result"]
        total = record["total"]["items"]
        assert (
            record["shown"]["items"] < total and f"Found {total} relationships" in got["content"][1]["text"]
        )
        following = result_of(client, "brimgate_read", cursor=record["nextCursor"])
        first = record["shown"]["items"] + 1
        assert f"\n{first}. [" in "\n" + following["content"][1]["text"]
        rebuilder, cursor = Rebuilder(), record["detailsAvailable"]["cursor"]
        while cursor:
            part = result_of(client, "brimgate_read", cursor=cursor)
            texts = [block["text"] for block in part["content"]]
            reply = Reply.from_wire(texts[0], texts[1], part["_meta"]["brimgate/result"])
            rebuilder.feed(reply)
            cursor = next_on_walk(reply)
    facts = graph.call("search_memory_facts", {"query": "the of", "max_facts": 200})
    assert json.loads(rebuilder.answer()) == facts


def test_in_the_relay_many_texts_of_a_server_before_1_0_lose_nothing() -> None:
    with relayed("--pack", "graphiti", server=OLD) as client:
        client.greet()
        got = result_of(client, "get_episodes", last_n=40)
        single = result_of(client, "get_episodes", last_n=3)
    assert got["_meta"]["brimgate/result"]["total"]["items"] == 40
    assert "text.name" in got["content"][1]["text"] and "text.content" in got["content"][1]["text"]
    assert "Recent episodes (1)" not in str(single), "each text is one of three"


def test_in_the_relay_small_answers_and_errors_stay_as_they_are() -> None:
    with relayed("--pack", "graphiti") as client, relayed() as plain:
        client.greet()
        plain.greet()
        for tool, arguments in (("get_status", {}), ("get_entity_edge", {"uuid": "nobody"})):
            assert client.call(tool, **arguments)["result"] == plain.call(tool, **arguments)["result"]
        usual = result_of(plain, "search_nodes", query="team", max_nodes=10)
        assert "structuredContent" in usual, "without the pack nothing changes for what fits"


# What the shell may be given, and what it is not fooled by


def test_arguments_written_as_for_a_direct_call_are_taken_as_such(shell: Shell) -> None:
    sent = json.loads(shell.answer("search_nodes", '{"query": "team", "max_nodes": 3}', "--dry-run"))
    assert sent["arguments"] == {"query": "team", "max_nodes": 3}
    text = json.loads(shell.answer("search_nodes", '{"colour": "red"}', "--dry-run"))
    assert text["arguments"] == {"query": '{"colour": "red"}'}


def test_the_words_are_taken_in_the_order_that_is_shown(shell: Shell) -> None:
    refused = shell.call("search_nodes", "team", "main")
    assert refused.returncode == 2
    assert "max_nodes must be a whole number" in refused.stderr
    assert "search_nodes(query, max_nodes=10, group_ids?" in refused.stderr
    told = shell.run("tools", "search_nodes", "--", *SERVER).stdout
    assert told.startswith("search_nodes(query, max_nodes=10, group_ids?")


def test_without_the_words_of_its_pack_a_tool_that_destroys_still_asks(shell: Shell) -> None:
    refused = shell.call("clear_graph", "main", "--pack", "none")
    assert refused.returncode == 2 and "--force" in refused.stderr


def test_a_server_and_a_command_at_once_are_refused(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "brimgate.yaml").write_text("upstreams: {graphiti: {command: x}}\n")
    both = shell.run("call", "--config", "brimgate.yaml", "graphiti", "get_status", "--", *SERVER)
    assert both.returncode == 2 and "either graphiti or a command behind --, not both" in both.stderr


def test_read_knows_the_sections_of_the_pack(shell: Shell) -> None:
    first = shell.answer("search_nodes", "the of in", "300", "--budget", "1500")
    cursor = re.search(r"more: brimgate read (\S+?),", first)
    assert cursor
    picked = shell.run("read", cursor[1], "--fields", "origin", "--format", "json", "--limit", "2")
    assert '"created_at"' in picked.stdout and '"summary"' not in picked.stdout, picked.stdout
