"""The bars of the Vikunja system: tokens of a team's session, a first page of 2,000 tasks, latency through nginx."""

import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from http.client import HTTPSConnection
from pathlib import Path
from random import Random
from statistics import median, quantiles
from typing import Any

from bench.report import Row
from brimgate.engine.tokens.estimator import Estimator
from tests.deploy.test_reverse_proxies import in_front_of
from tests.http.serving import exchange
from tests.vikunja.asking import Caller
from tests.vikunja.team import team

CALLS = 200
TASKS = 2_000
DELAY_SECONDS = 0.1
RUNS = 5
CALLS_OF_RUN = 60
ESTIMATOR = Estimator()
FILTERS = ("done = false", "done = false && due_date < now+30d", "priority > 2", "percent_done > 0.4")
Step = tuple[str, dict[str, Any], Callable[[Caller], object]]
"""A tool, its arguments, and the same question to the API itself."""


def rows() -> list[Row]:
    return [*_session(), *_first_page(), *_latency()]


# Tokens


def _session() -> Iterator[Row]:
    """Compare what two people get in a session with what the API answers to the same calls, as minified JSON."""
    with team(tasks=TASKS) as our:
        members = {name: our.member(name) for name in ("alice", "bob")}
        ours = plain = 0
        by_tool: Counter[str] = Counter()
        dice = Random(7)
        for number in range(CALLS):
            name = ("alice", "bob")[number % 2]
            tool, arguments, ask = _step(dice)
            before = ask(getattr(our.standin, name))
            told = members[name].client.call(tool, **arguments)
            ours += ESTIMATOR.ceiling("\n".join(block["text"] for block in told["result"]["content"]))
            plain += ESTIMATOR.ceiling(json.dumps(before, ensure_ascii=False, separators=(",", ":")))
            by_tool[tool] += 1
        saved = 100 * (1 - ours / plain)
        kinds = ", ".join(f"{count} {tool}" for tool, count in by_tool.most_common())
        yield Row(
            f"Tokens of a session of two people with {CALLS} calls ({kinds}), against minified JSON",
            "≥ 80 % fewer",
            f"{saved:.1f} % ({ours:,} instead of {plain:,})",
            saved >= 80,
        )


def _step(dice: Random) -> Step:
    """Draw what people of a team ask for: mostly lists and single tasks, and changes now and then."""
    drawn, number = dice.random(), dice.randint(1, 60)
    where = f"/tasks/{number}"
    if drawn < 0.35:
        chosen = dice.choice(FILTERS)
        return "list_tasks", {"filter": chosen}, lambda api: api.ask("GET", "/tasks", filter=chosen).json
    if drawn < 0.65:
        return "get_task", {"task_id": number}, lambda api: api.ask("GET", where).json
    if drawn < 0.75:
        return "list_comments", {"task_id": number}, lambda api: api.ask("GET", f"{where}/comments").json
    if drawn < 0.82:
        return "list_projects", {}, lambda api: api.ask("GET", "/projects").json
    if drawn < 0.87:
        return "list_labels", {}, lambda api: api.ask("GET", "/labels").json
    if drawn < 0.95:
        change = {"priority": dice.randint(1, 5)}
        return "update_task", {"task_id": number, **change}, lambda api: api.ask("GET", where).json
    return "complete_task", {"task_id": number}, lambda api: api.ask("GET", where).json


def _first_page() -> Iterator[Row]:
    with team(tasks=50) as our:
        home = our.standin.project(our.standin.alice, "Heliotrope household")["id"]
        our.standin.control("/add_tasks", user="alice", project_id=home, count=TASKS)
        total = sum(1 for _ in our.standin.alice.walk(f"/projects/{home}/tasks"))
        alice = our.member("alice")
        told = alice.call("list_tasks", project_id=home)
        tokens = ESTIMATOR.ceiling(told)
        yield Row(f"First page of {total:,} tasks", "< 4,000 tokens", f"{tokens:,} tokens", tokens < 4_000)
        before = len(our.asked)
        lines = alice.walk("list_tasks", project_id=home)
        yield Row(
            f"Of {total:,} tasks reached by the cursors", f"{total:,}", f"{len(lines):,}", len(lines) == total
        )
        pages = Counter(our.asked[before:])
        most = max(pages.values())
        yield Row("Requests for any page of them", "1", f"{most} ({len(pages)} in all)", most == 1)


# Latency


def _latency() -> Iterator[Row]:
    """Compare 95 of 100 calls through nginx and Brimgate with the stand-in alone, which takes 100 ms."""
    with (
        tempfile.TemporaryDirectory() as folder,
        team("--set", "log_level=error", tasks=400, delay_seconds=DELAY_SECONDS) as our,
        in_front_of(our.serving, "nginx", Path(folder)) as proxy,
    ):
        connection = proxy.connect()
        login = {"authorization": f"Bearer {our.tokens['alice']}", "content-type": "application/json"}
        for tool, path in (("get_task", "/tasks/2"), ("list_tasks", "/tasks"), ("list_labels", "/labels")):
            arguments = {"task_id": 2} if tool == "get_task" else {}
            through = partial(_through, connection, login, tool, arguments)
            through()
            ratios = [_p95(through) / _p95(partial(our.standin.alice.ask, "GET", path)) for _ in range(RUNS)]
            more = 100 * (median(ratios) - 1)
            yield Row(
                f"p95 of {tool} through nginx and Brimgate, over an API of {1_000 * DELAY_SECONDS:.0f} ms",
                "≤ +10 %",
                f"{more:+.1f} % (median of {RUNS} runs)",
                more <= 10,
            )
        connection.close()


def _through(
    connection: HTTPSConnection, login: dict[str, str], tool: str, arguments: dict[str, Any]
) -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    named = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": tool}
    headers = login | named | {"accept": "application/json, text/event-stream"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    answer = exchange(connection, "POST", "/mcp", message, headers)
    assert answer.status == 200 and not answer.messages[-1]["result"].get("isError"), answer


def _p95(ask: Callable[[], object]) -> float:
    taken: list[float] = []
    for _ in range(CALLS_OF_RUN):
        began = time.perf_counter()
        ask()
        taken.append(time.perf_counter() - began)
    return quantiles(taken, n=20)[-1]
