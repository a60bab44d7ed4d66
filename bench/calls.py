"""The bars on the command line: what the Graphiti pack saves, and what `brimgate call` adds to a server's own time."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from statistics import fmean, median
from typing import Any

from bench.report import Row
from brimgate.cli.savings import Measurement, measure
from brimgate.engine.tokens.estimator import Estimator
from brimgate.packs.formatter import format_document
from brimgate.packs.graphiti import PACK
from brimgate.packs.pack import Scene
from brimgate.packs.short_ids import ids_in, shortener
from brimgate.sandboxes.graphiti import Graph

NOW = datetime(2026, 11, 15, 10, tzinfo=UTC)
SEEDS = (3, 14, 159)
QUERIES = (
    "team",
    "archive",
    "contract",
    "harbour",
    "kitchen",
    "night",
    "design",
    "office",
    "network",
    "minutes",
)
COUNTS = (1, 3, 10, 50)
EPISODE_COUNTS = (1, 2, 5, 10, 30, 100)
SMALL_TOKENS = 60
STARTS = 15
MOST_ADDED_SECONDS = 0.15
SERVER = (
    sys.executable,
    "-m",
    "brimgate.sandboxes.graphiti",
    "--nodes",
    "300",
    "--facts",
    "300",
    "--episodes",
    "100",
)
QUERY = {"query": "team", "max_nodes": 3}
"""A small answer: of a large one, paging takes the time."""


def rows() -> list[Row]:
    measured = list(_measured())
    return [*_savings(measured), *_before_1_0(), *_in_the_relay(), *_transform(measured), *_wall()]


# Savings


def _measured() -> Iterator[Measurement]:
    for seed in SEEDS:
        graph = Graph(nodes=2_000, facts=4_000, episodes=2_000, seed=seed)
        for tool, arguments in _calls(graph):
            yield _measure(tool, arguments, _document(graph.call(tool, arguments)))
        graph.close()


def _before_1_0() -> list[Row]:
    """The episodes of earlier servers, whose JSON names every fact."""
    runs: list[Measurement] = []
    for seed in SEEDS:
        graph = Graph(nodes=2_000, facts=4_000, episodes=2_000, seed=seed, generation="0.x")
        for count in EPISODE_COUNTS:
            arguments = {"last_n": count}
            runs.append(_measure("get_episodes", arguments, _document(graph.call("get_episodes", arguments))))
        graph.close()
    return [_saving("get_episodes before 1.0", BARS["get_episodes"], runs)]


def _document(answer: Any) -> bytes:
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()


def _in_the_relay() -> list[Row]:
    """Ids whole, times absolute: what a model gets. Told without the notice, and held to no bar."""
    graph = Graph(nodes=2_000, facts=4_000, episodes=2_000, seed=SEEDS[0])
    found: dict[str, list[Measurement]] = {}
    for tool, arguments in _calls(graph):
        if tool in BARS:
            document = _document(graph.call(tool, arguments))
            found.setdefault(tool, []).append(_measure(tool, arguments, document, Scene(arguments)))
    graph.close()
    told = ", ".join(
        f"{tool} {fmean(one.saved_tokens for one in runs):.1f} %" for tool, runs in found.items()
    )
    return [Row("… in the relay, of tokens", "", told, True)]


def _measure(
    tool: str, arguments: dict[str, Any], document: bytes, given: Scene | None = None
) -> Measurement:
    troubles: list[object] = []
    started = time.perf_counter()
    scene = given or Scene(arguments, NOW, shortener(ids_in(document)))
    shown = format_document(PACK, tool, document, scene, troubles.append)
    elapsed_ms = (time.perf_counter() - started) * 1_000
    assert shown is not None, troubles
    return measure(tool, document, shown, elapsed_ms, Estimator())


def _calls(graph: Graph) -> list[tuple[str, dict[str, Any]]]:
    facts = graph.call("search_memory_facts", {"query": " ".join(QUERIES), "max_facts": 30})["facts"]
    episodes = graph.call("get_episodes", {"max_episodes": 30})["episodes"]
    calls: list[tuple[str, dict[str, Any]]] = [("get_status", {}), ("build_communities", {})]
    for query in QUERIES:
        for count in COUNTS:
            calls.append(("search_nodes", {"query": query, "max_nodes": count}))
            calls.append(("search_memory_facts", {"query": query, "max_facts": count}))
    calls += [("get_episodes", {"max_episodes": count}) for count in EPISODE_COUNTS]
    calls += [("get_entity_edge", {"uuid": fact["uuid"]}) for fact in facts[:15]]
    calls += [("get_episode_entities", {"episode_uuids": [one["uuid"]]}) for one in episodes[:15]]
    calls += [("summarize_saga", {"saga_name": name}) for name in ("Kitchen rebuild", "Search migration")]
    for number, query in enumerate(QUERIES):
        calls.append(("add_memory", {"name": f"On {query}", "episode_body": f"Said about {query}."}))
        ends = {"source_node_name": f"Plan {number}", "target_node_name": query.title()}
        calls.append(("add_triplet", ends | {"edge_name": "COVERS", "fact": f"Plan {number} covers {query}"}))
    calls += [("delete_entity_edge", {"uuid": fact["uuid"]}) for fact in facts[15:]]
    calls += [("delete_episode", {"uuid": episode["uuid"]}) for episode in episodes[15:]]
    return [*calls, ("clear_graph", {"group_ids": ["work"]}), ("clear_graph", {})]


BARS = {"search_nodes": 45, "search_memory_facts": 75, "get_episodes": 40}


def _savings(measured: list[Measurement]) -> list[Row]:
    found: list[Row] = []
    for tool in dict.fromkeys(one.operation for one in measured):
        runs = [one for one in measured if one.operation == tool and one.minified.tokens > SMALL_TOKENS]
        if not runs:
            continue
        found.append(_saving(tool, BARS.get(tool, 25), runs))
    least = min(measured, key=lambda one: one.saved_tokens)
    told = f"least: {least.saved_tokens:.1f} % of tokens ({least.operation}, {least.minified.tokens} tokens)"
    found.append(
        Row(
            f"any of {len(measured)} answers, small ones too", "never negative", told, least.saved_tokens >= 0
        )
    )
    return found


def _saving(what: str, bar: int, runs: list[Measurement]) -> Row:
    tokens, size = (fmean(getattr(one, name) for one in runs) for name in ("saved_tokens", "saved_bytes"))
    told = f"{tokens:.1f} % of tokens, {size:.1f} % of bytes ({len(runs)} answers)"
    return Row(f"{what}: saved of minified JSON", f"≥ {bar} %", told, min(tokens, size) >= bar)


def _transform(measured: list[Measurement]) -> list[Row]:
    middle = median(one.elapsed_ms for one in measured)
    slowest = max(one.elapsed_ms for one in measured)
    told = f"{middle:.2f} ms, slowest {slowest:.1f} ms"
    return [Row("a formatter's work, median", "≤ 5 ms", told, middle <= 5)]


# Wall time


def _wall() -> list[Row]:
    """In turns, so that other users of the machine disturb all alike."""
    own: list[float] = []
    ours: dict[str, list[float]] = {"with its pack": [], "without a pack": []}
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"BRIMGATE_STATE_DIR": folder}
        # Where it is set, every start would compile us anew; an installed package is compiled once.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        _brimgate_call(environment)
        for _ in range(STARTS):
            own.append(_seconds(lambda: _ask_directly(environment)))
            ours["with its pack"].append(_seconds(lambda: _brimgate_call(environment)))
            ours["without a pack"].append(_seconds(lambda: _brimgate_call(environment, "--pack", "none")))
    return [_added(which, median(times), median(own)) for which, times in ours.items()]


def _added(which: str, seconds: float, own: float) -> Row:
    told = f"{seconds - own:.3f} s ({seconds:.3f} against {own:.3f} s)"
    what = f"`brimgate call` {which}, over the server's own start-up and answer"
    return Row(what, f"≤ {MOST_ADDED_SECONDS} s", told, seconds - own <= MOST_ADDED_SECONDS)


def _seconds(work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _brimgate_call(environment: dict[str, str], *options: str) -> None:
    words = [f"{name}={value}" for name, value in QUERY.items()]
    command = [sys.executable, "-m", "brimgate", "call", *options, "search_nodes", *words, "--", *SERVER]
    done = subprocess.run(command, env=environment, capture_output=True, check=True, timeout=60)
    assert done.stdout.startswith(b'{"message' if options else b"Found "), done.stdout[:200]


def _ask_directly(environment: dict[str, str]) -> None:
    """As small a client as there can be: what the server takes by itself."""
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    }
    call = {"name": "search_nodes", "arguments": QUERY}
    with subprocess.Popen(SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as server:
        assert server.stdin and server.stdout
        for number, (method, params) in enumerate(
            (("initialize", hello), ("tools/list", {}), ("tools/call", call))
        ):
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            server.stdin.write(json.dumps(message).encode() + b"\n")
            server.stdin.flush()
            assert json.loads(server.stdout.readline())["id"] == number
        server.stdin.close()
