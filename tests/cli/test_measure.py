"""`brimgate measure` and `brimgate packs`, as processes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from brimgate.cli.savings import Measurement, Sizes, Spread, Summary

GRAPH = [
    sys.executable, "-m", "brimgate.sandboxes.graphiti", "--nodes", "300", "--facts", "300", "--episodes", "60",
]  # fmt: skip


def brimgate(folder: Path, *arguments: str, **more: str) -> "subprocess.CompletedProcess[str]":
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BRIMGATE_")}
    return subprocess.run(
        [sys.executable, "-m", "brimgate", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment | {"BRIMGATE_STATE_DIR": str(folder / "state")} | more,
        cwd=folder,
        timeout=120,
        check=False,
    )


def recorded(folder: Path, *calls: dict[str, object]) -> str:
    path = folder / "calls.jsonl"
    path.write_text("".join(json.dumps(call) + "\n" for call in calls), encoding="utf-8")
    return str(path)


def test_the_pack_meets_its_targets_on_its_own_samples(tmp_path: Path) -> None:
    done = brimgate(tmp_path, "measure")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "BELOW" not in done.stdout
    told = json.loads(brimgate(tmp_path, "measure", "--format", "json").stdout)
    assert told["pack"] == "graphiti" and told["family"] == "claude"
    operations = {one["operation"]: one for one in told["operations"]}
    assert {"search_nodes", "search_memory_facts", "get_episodes", "clear_graph"} <= set(operations)
    assert all(one["runs"] == 10 and one["meetsTarget"] for one in operations.values())
    nodes = operations["search_nodes"]
    assert nodes["targetPercent"] == 30 and operations["get_status"]["targetPercent"] == 25
    for sizes in (nodes["bytes"], nodes["tokens"]):
        assert sizes["pretty"] > sizes["minified"] > sizes["shown"] > 0
        assert sizes["savedOfPretty"]["mean"] > sizes["savedOfMinified"]["mean"]
        assert sizes["savedOfMinified"]["standardDeviation"] > 0, "ten different answers save differently"


def test_recorded_answers_are_measured_as_often_as_asked_and_below_target_exits_1(tmp_path: Path) -> None:
    long = {"message": "Nodes retrieved successfully", "nodes": [{"name": "N", "summary": "word " * 400}]}
    calls = recorded(tmp_path, {"tool": "search_nodes", "arguments": {"query": "x"}, "answer": long})
    done = brimgate(tmp_path, "measure", "--calls", calls, "--runs", "3", "--format", "json")
    assert done.returncode == 1
    assert "below target: search_nodes" in done.stderr
    [operation] = json.loads(done.stdout)["operations"]
    assert operation["runs"] == 3 and not operation["meetsTarget"]
    assert "BELOW TARGET" in brimgate(tmp_path, "measure", "--calls", calls).stdout


def test_live_calls_are_made_on_a_real_server_and_nothing_is_changed_there(tmp_path: Path) -> None:
    database = tmp_path / "graph.db"
    server = [*GRAPH, "--database", str(database)]
    done = brimgate(tmp_path, "measure", "--runs", "2", "--format", "json", "--", *server)
    told = json.loads(done.stdout)
    operations = {one["operation"] for one in told["operations"]}
    assert {"search_nodes", "search_memory_facts", "get_episodes", "get_status"} <= operations
    assert not operations & {"add_memory", "add_triplet", "delete_episode", "clear_graph"}
    assert "not called, as they change something: add_memory" in done.stderr
    assert "get_entity_edge" not in operations
    assert "the ids of the samples are of another server: " in done.stderr
    assert "get_entity_edge" in done.stderr
    left = brimgate(tmp_path, "call", "get_episodes", "max_episodes=100", "--json", "--", *server)
    assert len(json.loads(left.stdout)["episodes"]) > 40


@pytest.mark.slow
@pytest.mark.parametrize("generation", ["0.x", "1.0", "1.x"])
def test_a_live_server_is_searched_for_words_of_its_own(tmp_path: Path, generation: str) -> None:
    """The words of the samples are about another graph, and would find nothing."""
    database = tmp_path / "graph.db"
    server = [
        sys.executable, "-m", "brimgate.sandboxes.graphiti", "--nodes", "0", "--facts", "0", "--episodes", "0",
        "--database", str(database), "--generation", generation,
    ]  # fmt: skip
    for name in ("Zeppelin", "Xylophone"):
        added = brimgate(tmp_path, "call", "add_memory", name, f"{name} flies", "--", *server)
        assert added.returncode == 0, added.stderr
    done = brimgate(tmp_path, "measure", "--runs", "2", "--format", "json", "--", *server)
    operations = {one["operation"] for one in json.loads(done.stdout)["operations"]}
    assert "get_episodes" in operations and not operations & {"search_nodes", "search_memory_facts"}
    assert "finds nothing on this server and is left out: " in done.stderr
    if generation == "1.x":
        fact = ("Zeppelin", "LIKES", "The zeppelin likes the xylophone", "Xylophone")
        brimgate(tmp_path, "call", "add_triplet", *fact, "--", *server)
        done = brimgate(tmp_path, "measure", "--runs", "2", "--format", "json", "--", *server)
        operations = {one["operation"] for one in json.loads(done.stdout)["operations"]}
        assert {"search_nodes", "search_memory_facts"} <= operations


def test_answers_that_tell_of_a_failure_are_left_out(tmp_path: Path) -> None:
    good = {
        "message": "Nodes retrieved successfully",
        "nodes": [{"name": "N", "uuid": "u" * 300, "summary": "s"}],
    }
    calls = recorded(
        tmp_path,
        {"tool": "search_nodes", "answer": good},
        {"tool": "get_entity_edge", "arguments": {"uuid": "x"}, "answer": {"error": "no such edge"}},
    )
    done = brimgate(tmp_path, "measure", "--calls", calls, "--format", "json")
    assert [one["operation"] for one in json.loads(done.stdout)["operations"]] == ["search_nodes"]
    assert "get_entity_edge answers with an error and is left out: no such edge" in done.stderr


def test_nothing_to_measure_is_no_success(tmp_path: Path) -> None:
    calls = recorded(tmp_path, {"tool": "search_nodes", "answer": {"error": "down"}})
    done = brimgate(tmp_path, "measure", "--calls", calls)
    assert done.returncode == 2 and "nothing could be measured" in done.stderr


def test_a_tool_that_refuses_live_is_left_out_and_the_others_measured(tmp_path: Path) -> None:
    calls = recorded(
        tmp_path,
        {"tool": "search_nodes", "arguments": {"max_nodes": 3}},
        {"tool": "search_memory_facts", "arguments": {"query": "the", "max_facts": 3}},
    )
    done = brimgate(tmp_path, "measure", "--calls", calls, "--runs", "1", "--format", "json", "--", *GRAPH)
    assert [one["operation"] for one in json.loads(done.stdout)["operations"]] == ["search_memory_facts"]
    assert "search_nodes answers with an error and is left out" in done.stderr


def test_live_calls_of_a_file_that_change_something_want_force(tmp_path: Path) -> None:
    calls = recorded(tmp_path, {"tool": "clear_graph", "arguments": {}})
    refused = brimgate(tmp_path, "measure", "--calls", calls, "--", *GRAPH)
    assert refused.returncode == 2 and "clear_graph may change something: --force" in refused.stderr
    forced = brimgate(tmp_path, "measure", "--calls", calls, "--force", "--runs", "1", "--", *GRAPH)
    assert forced.returncode == 0, forced.stderr


def test_the_chart_is_an_svg_with_a_bar_for_each_measure(tmp_path: Path) -> None:
    path = tmp_path / "savings.svg"
    done = brimgate(tmp_path, "measure", "--format", "svg", "--output", str(path))
    assert done.returncode == 0 and done.stdout == ""
    root = ElementTree.parse(path).getroot()  # noqa: S314  # our own
    namespace = "{http://www.w3.org/2000/svg}"
    texts = [one.text or "" for one in root.iter(f"{namespace}text")]
    assert "search_nodes" in texts and {"pretty", "minified", "shown"} <= set(texts)
    bars = [one for one in root.iter(f"{namespace}rect") if one.get("x") == "190"]
    widths = [float(bar.get("width") or 0) for bar in bars]
    assert len(bars) == 3 * 14 and widths[0] > widths[1] > widths[2]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "holds no calls"),
        ("[1]\n", "calls.jsonl:1: must be"),
        ('{"tool": "x"}\n{nonsense\n', "calls.jsonl:2: is not JSON"),
        ('{"tool": "x",}\n', "calls.jsonl:1: is not JSON: Illegal trailing comma"),
        ("[" * 99_999 + "\n", "calls.jsonl:1: is nested too deeply"),
        ('{"arguments": {}}\n', "calls.jsonl:1: must be"),
        ('{"tool": "search_nodes", "arguments": {}}\n', "search_nodes has no answer in the file"),
    ],
    ids=["empty", "no object", "no JSON", "comma", "deep", "no tool", "no answer"],
)
def test_a_file_of_calls_that_cannot_be_used_says_where_and_why(
    tmp_path: Path, text: str, complaint: str
) -> None:
    (tmp_path / "calls.jsonl").write_text(text)
    done = brimgate(tmp_path, "measure", "--calls", "calls.jsonl")
    assert done.returncode == 2 and complaint in done.stderr and "Traceback" not in done.stderr


def test_other_wrong_usage_of_measure(tmp_path: Path) -> None:
    assert "there is no pack nobodys" in brimgate(tmp_path, "measure", "--pack", "nobodys").stderr
    assert brimgate(tmp_path, "measure", "--runs", "0").returncode == 2
    assert "No such file" in brimgate(tmp_path, "measure", "--calls", "missing.jsonl").stderr
    server = [sys.executable, "-m", "brimgate.sandboxes.demo"]
    assert "no pack recognises this server" in brimgate(tmp_path, "measure", "--", *server).stderr


def test_a_single_run_has_no_spread() -> None:
    assert Spread.of([5.0]) == Spread(5.0, 5.0, 0.0)


def test_a_target_is_met_only_in_bytes_and_in_tokens() -> None:
    def summary(shown_bytes: int, shown_tokens: int) -> Summary:
        one = Measurement("x", Sizes(200, 80), Sizes(100, 50), Sizes(shown_bytes, shown_tokens), 1.0)
        return Summary.of("x", 25, [one])

    assert summary(75, 37).is_met
    assert not summary(76, 10).is_met
    assert not summary(10, 38).is_met


def test_packs_lists_what_is_installed_and_tells_all_about_one(tmp_path: Path) -> None:
    listed = brimgate(tmp_path, "packs")
    assert listed.returncode == 0 and listed.stdout.startswith("graphiti  ")
    told = brimgate(tmp_path, "packs", "graphiti").stdout
    assert "clear_graph" in told and "asks for --force" in told and "compact: always" in told
    record = json.loads(brimgate(tmp_path, "packs", "graphiti", "--json").stdout)
    assert record["tools"]["delete_episode"] == {
        "formatter": True, "targetPercent": 25, "destructive": True, "references": ["uuid"],
    }  # fmt: skip
    assert record["files"] == ["rules.yaml", "samples.jsonl"]
    unknown = brimgate(tmp_path, "packs", "nobodys")
    assert unknown.returncode == 2 and "installed: graphiti" in unknown.stderr


def test_a_pack_that_cannot_be_loaded_is_told_of_beside_the_others(tmp_path: Path) -> None:
    info = tmp_path / "broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[brimgate.packs]\nbroken = nowhere_to_be_found:PACK\n")
    done = brimgate(tmp_path, "packs", PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    assert (
        "graphiti" in done.stdout
        and "the pack broken (nowhere_to_be_found:PACK) cannot be loaded" in done.stderr
    )
