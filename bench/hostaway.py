"""The bars of the Hostaway system: tokens and latency of the documented session, and 1,000 sessions on one window."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from random import Random
from statistics import fmean, median, quantiles
from typing import Any

import yaml

from bench.hostaway_mix import Account, Step, documented_session, follow_up, step_of
from bench.report import Row
from brimgate.engine.tokens.estimator import Estimator
from brimgate.packs.hostaway import PACK

API_SECONDS = 0.1
SLOW_API_SECONDS = 0.3
CALLS = 20
WINDOW_TOKENS = 200_000
SESSIONS = 1_000
TURN_TOKENS = 250
"""What the model says and calls in a turn, besides the answers."""
KINDS = ("list", "get", "search", "report", "calendar")
ESTIMATOR = Estimator()
Json = dict[str, Any]


def rows() -> list[Row]:
    return [*_cpu(), *_session(), *_latency(), *_windows()]


# CPU of the gateway, and tokens of one record


def _cpu() -> Iterator[Row]:
    with system(0, listings=50) as (gated, plain):
        account = account_of(plain)
        for what, tool, path, most in (
            ("listings", "list_listings", "/api/v1/listings", 20),
            ("bookings", "list_reservations", "/api/v1/bookings", 15),
        ):
            calls = {"MCP": partial(gated.call, tool), "REST": partial(gated.get, path)}
            for side, call in calls.items():
                spent = _cpu_of(gated.process, call)
                yield Row(f"CPU of 50 {what} over {side}", f"≤ {most} ms", f"{spent:.1f} ms", spent <= most)
        for tool, name, numbers in (
            ("get_listing", "listing_id", account.listings[:20]),
            ("get_reservation", "reservation_id", account.reservations[:20]),
        ):
            largest = max(
                ESTIMATOR.ceiling(text_of(gated.call(tool, **{name: number}))) for number in numbers
            )
            yield Row(
                f"{tool} over MCP: the largest of 20", "≤ 600 tokens", f"{largest} tokens", largest <= 600
            )


def _cpu_of(process: int, call: Callable[[], object]) -> float:
    """Milliseconds of CPU of the gateway for one call: the least of five rounds."""
    for _ in range(5):
        call()
    rounds: list[float] = []
    for _ in range(5):
        before = cpu_seconds(process)
        for _ in range(CALLS):
            call()
        rounds.append(1_000 * (cpu_seconds(process) - before) / CALLS)
    return min(rounds)


def cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def text_of(result: Json) -> str:
    return "\n".join(block["text"] for block in result["content"])


# Latency


def _latency() -> Iterator[Row]:
    """The API answers in 300 ms: five rounds, and the median of what each adds."""
    added: list[float] = []
    with system(SLOW_API_SECONDS) as (gated, plain):
        steps = [step for step in documented_session(account_of(plain)) if not step.follows][::8]
        _warm(gated, plain, steps)
        for _ in range(5):
            times = [(gated.take(step), plain.take(step)) for step in steps]
            ours = _p95([one.seconds for one, _ in times if one])
            theirs = _p95([one.seconds for _, one in times if one])
            added.append(100 * (ours / theirs - 1))
    middle = median(added)
    text = f"{middle:+.1f} % ({', '.join(f'{one:+.1f}' for one in sorted(added))})"
    yield Row("p95 latency, the API answering in 300 ms: median of five", "≤ +10 %", text, middle <= 10)


# The documented session


def _session() -> list[Row]:
    with system(API_SECONDS) as (gated, plain):
        account = account_of(plain)
        steps = documented_session(account)
        _warm(gated, plain, steps)
        # In turns, so that whatever else the machine does is done to both.
        told = [
            (step, cost, None if step.follows else plain.take(step))
            for step in steps
            if (cost := gated.take(step)) is not None
        ]
    assert len(steps) == 200
    return [*_tokens_saved(told), *_latency_added(told)]


def _tokens_saved(told: "list[tuple[Step, Cost, Cost | None]]") -> Iterator[Row]:
    for kind in (*KINDS, "follow-up"):
        of_kind = [(step, gated, plain) for step, gated, plain in told if step.kind == kind]
        gated = fmean(cost.tokens for _, cost, _ in of_kind)
        plain = fmean(cost.tokens for _, _, cost in of_kind if cost) if kind != "follow-up" else 0
        before = f", {plain:,.0f} without" if plain else ""
        yield Row(f"… {kind} ({len(of_kind)} calls), tokens per answer", "", f"{gated:,.0f}{before}", True)
    gated = fmean(cost.tokens for _, cost, _ in told)
    plain = fmean(cost.tokens for _, _, cost in told if cost)
    saved = 100 * (1 - gated / plain)
    text = f"{saved:.1f} % ({gated:,.0f} instead of {plain:,.0f} tokens)"
    yield Row(
        "200-call session: tokens per answer, follow-up reads included", "≥ 80 % less", text, saved >= 80
    )
    sums = [sum(cost.tokens for _, cost, _ in told), sum(cost.tokens for _, _, cost in told if cost)]
    share = 100 * (1 - sums[0] / sums[1])
    yield Row("… the session as a whole", "", f"{share:.1f} % ({sums[0]:,} instead of {sums[1]:,})", True)
    largest = max(cost.tokens for _, cost, _ in told)
    cap = "≤ 12,000 tokens"
    yield Row("… the largest answer", cap, f"{largest:,} tokens", largest <= 12_000)


def _latency_added(told: "list[tuple[Step, Cost, Cost | None]]") -> Iterator[Row]:
    gated = _p95([cost.seconds for step, cost, _ in told if not step.follows])
    plain = _p95([cost.seconds for _, _, cost in told if cost])
    added = 100 * (gated / plain - 1)
    text = f"{added:+.1f} % ({1_000 * gated:.0f} and {1_000 * plain:.0f} ms)"
    yield Row("p95 latency, the API answering in 100 ms", "≤ +10 %", text, added <= 10)
    reads = _p95([cost.seconds for step, cost, _ in told if step.follows])
    yield Row("… of follow-up reads", "", f"{1_000 * reads:.0f} ms", True)


def _p95(seconds: list[float]) -> float:
    return quantiles(seconds, n=20)[-1]


def _warm(gated: "Client", plain: "Client", steps: list[Step]) -> None:
    """One of each kind: tokens fetched, engines loaded, connections open."""
    for kind in KINDS:
        step = next(step for step in steps if step.kind == kind)
        for client in (gated, plain):
            client.take(step)


# Many sessions on one window


def _windows() -> list[Row]:
    with system(0) as (gated, plain):
        account = account_of(plain)
        gated_over = plain_over = steps_taken = 0
        largest = 0
        costs: dict[str, int] = {}
        for number in range(SESSIONS):
            steps = random_session(account, Random(number))
            steps_taken += len(steps)
            used = gated.definitions + sum(turn_cost(gated, step) for step in steps)
            alone = plain.definitions + sum(_cost(plain, step, costs) for step in steps if not step.follows)
            largest = max(largest, used)
            gated_over += used > WINDOW_TOKENS
            plain_over += alone > WINDOW_TOKENS
    text = f"{gated_over} ({steps_taken:,} calls; the largest session took {largest:,} tokens)"
    share = f"{plain_over} ({100 * plain_over / SESSIONS:.1f} %)"
    return [
        Row(f"{SESSIONS:,} sessions on a window of 200,000 tokens: overflow", "0", text, not gated_over),
        Row("… the same without protection", "", share, True),
    ]


def random_session(account: Account, chance: Random) -> list[Step]:
    """5 to 15 steps; about half of the lists and listings are read on in."""
    steps: list[Step] = []
    for _ in range(chance.randrange(5, 16)):
        kind = chance.choices(KINDS, (5, 5, 4, 2, 2))[0]
        # From a pool of some hundred, so that the costs without protection need not be asked for a thousand times.
        steps.append(step_of(kind, account, Random(f"{kind} {chance.randrange(60)}")))
        if (kind == "list" or steps[-1].tool == "get_listing") and chance.random() < 0.5:
            steps.append(follow_up(steps[-1], chance))
    return steps


def turn_cost(client: "Client", step: Step) -> int:
    """What a step adds to the window of a model."""
    cost = client.take(step)
    return 0 if cost is None else cost.tokens + TURN_TOKENS


def _cost(plain: "Client", step: Step, known: dict[str, int]) -> int:
    key = json.dumps([step.tool, step.arguments], sort_keys=True)
    if key not in known:
        known[key] = turn_cost(plain, step)
    return known[key]


# The system


@dataclass
class Cost:
    tokens: int
    seconds: float


@dataclass
class Client:
    """An MCP client of one gateway, which goes on from the answer before."""

    port: int
    process: int
    definitions: int = 0
    _headers: dict[str, str] = field(default_factory=dict)
    _last: Json = field(default_factory=dict)
    _id: int = 0

    def __post_init__(self) -> None:
        self._connection = HTTPConnection("127.0.0.1", self.port, timeout=120)
        self._headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        who = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "b", "version": "1"},
        }
        self.request("initialize", who)
        self._post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        tools = self.request("tools/list", {})["tools"]
        self.definitions = ESTIMATOR.ceiling(json.dumps(tools))

    def close(self) -> None:
        self._connection.close()

    def take(self, step: Step) -> Cost | None:
        """None for a follow-up of an answer that came whole: there is nothing to ask."""
        arguments = step.arguments
        if step.follows:
            cursor = self._cursor()
            if not cursor:
                return None  # nothing was held back of it
            arguments = {"cursor": cursor, **arguments}
        began = time.perf_counter()
        result = self.call(step.tool, **arguments)
        seconds = time.perf_counter() - began
        text = text_of(result)
        assert not result.get("isError"), f"{step}: {text[:500]}"
        if not step.follows:
            self._last = result
        return Cost(ESTIMATOR.ceiling(text) if len(text) < 100_000 else ESTIMATOR.count(text), seconds)

    def call(self, tool: str, **arguments: Any) -> Json:
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def get(self, path: str) -> bytes:
        self._connection.request("GET", path)
        return self._connection.getresponse().read()

    def _cursor(self) -> str:
        record = (self._last.get("_meta") or {}).get("brimgate/result", {})
        return record.get("nextCursor") or record.get("detailsAvailable", {}).get("cursor", "")

    def request(self, method: str, params: Json) -> Json:
        self._id += 1
        return self._post({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})["result"]

    def _post(self, message: Json) -> Json:
        try:
            self._connection.request("POST", "/mcp", json.dumps(message), self._headers)
            answer = self._connection.getresponse()
        except ConnectionError:  # it was idle for longer than the gateway keeps it
            self._connection.close()
            self._connection.request("POST", "/mcp", json.dumps(message), self._headers)
            answer = self._connection.getresponse()
        if session := answer.headers.get("mcp-session-id"):
            self._headers["mcp-session-id"] = session
        body = answer.read()
        return json.loads(body) if body else {}


def account_of(client: Client) -> Account:
    def ids(tool: str, limit: int) -> list[int]:
        result = client.request("tools/call", {"name": tool, "arguments": {"limit": limit}})
        return [one["id"] for one in json.loads(result["content"][0]["text"])["items"]]

    return Account(ids("list_reservations", 200), ids("list_listings", 60))


@contextmanager
def system(api_seconds: float, listings: int = 80) -> Iterator[tuple[Client, Client]]:
    """A gateway that protects and one that does not, in front of one stand-in API; each a process of its own."""
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        options = (
            "--listings",
            str(listings),
            "--reservations",
            "2000",
            "--rate-ip",
            "0",
            "--rate-account",
            "0",
        )
        sandbox = ("-m", "brimgate.sandboxes.hostaway", "--port", "0", "--delay", str(api_seconds), *options)
        url, _ = _started(stack, "listening on ", *sandbox)
        clients: list[Client] = []
        for enabled in (True, False):
            config = _config(home / f"{enabled}.yaml", url, enabled=enabled)
            command = (
                "-m",
                "brimgate",
                "serve",
                "--port",
                "0",
                "--log-level",
                "warning",
                "--config",
                str(config),
            )
            address, process = _started(stack, "brimgate: serving http://127.0.0.1:", *command)
            clients.append(Client(int(address.partition("/")[0]), process))
            stack.callback(clients[-1].close)
        yield clients[0], clients[1]


def _config(path: Path, url: str, *, enabled: bool) -> Path:
    declared = yaml.safe_load(PACK.file("api.yaml")) | {"rate_limits": []}
    api = path.with_suffix(".api.yaml")
    api.write_text(json.dumps(declared))
    account = {"HOSTAWAY_ACCOUNT_ID": "61148", "HOSTAWAY_API_KEY": "sandbox-secret"}
    upstream = {"pack": "hostaway", "api": str(api), "base_url": url, "env": account}
    document = {
        "upstreams": {"hostaway": upstream},
        "server": {"json_response": True},
        "context_protection": {"enabled": enabled},
    }
    path.write_text(json.dumps(document))
    return path


def _started(stack: ExitStack, sign: str, *arguments: str) -> tuple[str, int]:
    """What a process says behind the sign, and its id; it ends with the stack."""
    process = stack.enter_context(
        subprocess.Popen((sys.executable, *arguments), stderr=subprocess.PIPE, text=True)
    )
    stack.callback(process.terminate)
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith(sign):
            return line.removeprefix(sign).split()[0], process.pid
    raise AssertionError(f"{arguments} ended without a word")
