"""The bars on records: what one costs a call, what a million cost whoever asks, and what they cost the start.

`python -m bench telemetry`.
"""

import asyncio
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from bench.http import PYTHON, RAW_HTTP
from bench.load import Client, Crowd, Process
from bench.report import Row
from brimgate.watch.record import Record
from brimgate.watch.record_store import RecordBatch, RecordStore

CLIENTS = 16
EACH = 120
ROUNDS = 15
SMALL = "bookings-1000"
MOST_CPU_MS = 0.03
MOST_METRICS_MS = 0.02
MOST_P99_MS = 0.5
MILLION = 1_000_000
MOST_SECONDS = 1.0
MAX_BYTES = 256 << 20
STARTS = 15
MOST_START = 1.05


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder)
        return [*asyncio.run(_cost(state)), *_million(state), *_start(state)]


@contextmanager
def _gates(state: Path) -> Iterator[dict[str, Process]]:
    """A gateway with records and one without, before the same cheap server."""
    with ExitStack() as stack:
        upstream = stack.enter_context(Process(RAW_HTTP, state)).wait()
        gates: dict[str, Process] = {}
        for name in ("on", "off"):
            path = state / f"{name}.json"
            document: dict[str, Any] = {
                "upstreams": {"one": {"url": upstream.url}},
                "log_level": "error",
                "telemetry": {"enabled": name == "on", "file": str(state / "cost.db")},
            }
            path.write_text(json.dumps(document))
            command = [PYTHON, "-m", "brimgate", "serve", "--port", "{port}", "--config", str(path)]
            gates[name] = stack.enter_context(Process(command, state)).wait()
        yield gates


async def _cost(state: Path) -> list[Row]:
    """Without records decisions are counted all the same: what is taken off is only the file. So nothing is hidden,
    the CPU of one who counts nothing is measured in this process, too."""
    found: dict[str, list[float]] = {"on": [], "off": []}
    tails: dict[str, list[float]] = {"on": [], "off": []}
    with _gates(state) as gates:
        crowds = {name: Crowd(gate, CLIENTS) for name, gate in gates.items()}
        alone = {name: Client(gate) for name, gate in gates.items()}
        for name, crowd in crowds.items():
            await crowd.open()
            await alone[name].open()
            await crowd.cpu_ms_per_call(SMALL, EACH // 4)
        for _ in range(ROUNDS):
            for name, crowd in crowds.items():
                found[name].append(await crowd.cpu_ms_per_call(SMALL, EACH))
                tails[name].append(quantiles([await _wait(alone[name]) for _ in range(200)], n=100)[98])
        for crowd in crowds.values():
            crowd.close()
        for client in alone.values():
            client.close()
    on, off = median(found["on"]), median(found["off"])
    added = on - off
    whole = _cpu_of_recorder(state)
    tail = {name: median(found) * 1_000 for name, found in tails.items()}
    late = tail["on"] - tail["off"]
    return [
        Row(f"CPU per call of 1 KB with records ({off:.3f} ms without a file)", "", f"{on:.3f} ms", True),
        Row("… of it, for the file of the records", "", f"{added:.3f} ms", True),
        Row(
            "CPU of a record: taken, measured, counted and kept",
            f"≤ {MOST_CPU_MS} ms",
            f"{whole:.4f} ms",
            whole <= MOST_CPU_MS,
        ),
        _metrics_row(),
        Row(
            f"added to the 99th percentile of a call ({tail['off']:.2f} ms without a file)",
            f"≤ {MOST_P99_MS} ms",
            f"{late:.2f} ms",
            late <= MOST_P99_MS,
        ),
    ]


async def _wait(client: Client) -> float:
    began = time.perf_counter()
    await client.call(SMALL)
    return time.perf_counter() - began


def _cpu_of_recorder(state: Path) -> float:
    """The CPU of the whole of it, in this process: answers of 1 KB that pass, in batches of a busy second."""
    from functools import partial

    import numpy  # noqa: F401  # as a busy gateway has it

    from brimgate.config.declarations import Telemetry
    from brimgate.engine.decision import Decision
    from brimgate.engine.policy import Policy
    from brimgate.relay.results import sizes_of_answer
    from brimgate.watch.recorder import Recorder

    text = json.dumps([{"id": at, "name": f"room {at}", "status": "free"} for at in range(20)])
    raw = json.dumps({"content": [{"type": "text", "text": text}]}).encode()
    recorder, policy = Recorder(Telemetry(file=str(state / "cpu.db")), lambda *_: None), Policy()
    costs: list[float] = []
    for _ in range(20):
        began = time.process_time()
        for _ in range(500):
            sizes = partial(sizes_of_answer, raw, policy)
            decision = Decision(
                time.time(), "local", "up", "tool", "passed", len(raw), len(raw), sizes, "client", "claude"
            )
            recorder.take(decision)
        recorder.flush()
        costs.append((time.process_time() - began) / 500)
    recorder.close()
    return 1_000 * min(costs)  # what others do to the machine is no cost of ours


def _metrics_row() -> Row:
    """The CPU of counting one answer for Prometheus, with as many tools as have series of their own."""
    from brimgate.engine.decision import AnswerSizes, Decision
    from brimgate.watch.metrics import Metrics, exposition, merged

    sizes, now = AnswerSizes(5_000, 900, 100, 20, "list"), time.time()
    decisions = [
        Decision(
            now, "local", "up", f"tool_{at % 200}", ("page", "passed")[at % 2], 20_000, 4_000, sizes, "client", "claude",
            method="tools/call",
        )
        for at in range(2_000)
    ]  # fmt: skip
    records = [(Record.of(one), one) for one in decisions]
    metrics, costs = Metrics(), list[float]()
    for _ in range(20):
        began = time.process_time()
        for record, decision in records:
            metrics.count(record, decision)
        costs.append(1_000 * (time.process_time() - began) / len(records))
    began = time.process_time()
    text = exposition(merged([metrics.document()]))
    scrape = 1_000 * (time.process_time() - began)
    cost = min(costs)
    what = f"… of it, counted as metrics (a scrape of 200 tools: {len(text) >> 10} KiB, {scrape:.0f} ms)"
    return Row(what, f"≤ {MOST_METRICS_MS} ms", f"{cost:.4f} ms", cost <= MOST_METRICS_MS)


# A million


def _million(state: Path) -> list[Row]:
    path = state / "million.db"
    fill(path, MILLION)
    seconds: list[float] = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-m", "brimgate", "stats", "--file", str(path)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    took, size = median(seconds), path.stat().st_size
    return [
        Row(
            "CPU of `stats` over 1,000,000 records, the whole command",
            f"≤ {MOST_SECONDS:g} s",
            f"{took:.2f} s",
            took <= MOST_SECONDS,
        ),
        Row("their file", f"≤ {MAX_BYTES >> 20} MiB", f"{size / (1 << 20):.0f} MiB", size <= MAX_BYTES),
    ]


def fill(path: Path, count: int) -> None:
    """Write made records into a file, one for every 2.5 seconds that have passed."""
    draw = random.Random(5)  # no secret
    outcomes = (
        ["passed"] * 60 + ["page"] * 15 + ["preview"] * 5 + ["chunk"] * 5 + ["rendered"] * 3 + ["read"] * 9
    )
    store, now = RecordStore(path, MAX_BYTES, 10_000), time.time()

    def record(at: int) -> Record:
        outcome, tool = draw.choice(outcomes), draw.randrange(60)
        before = int(draw.lognormvariate(6.5 if outcome == "passed" else 9, 1))
        after = before if outcome == "passed" else min(before, 3_900)
        is_held = outcome in ("page", "preview", "chunk")
        return Record(
            now - 2.5 * at, f"up{tool % 6}", f"tool_{tool}", draw.choice(("claude-code", "cursor", "codex")), "local",
            outcome, "protected", "list", "", before, after, 0, 4 * before, 4 * after, 10, 10, draw.randrange(300_000),
            2_000, is_held or outcome == "read", outcome == "read", False, is_held, 0, 0, draw.getrandbits(62),
        )  # fmt: skip

    for start in range(0, count, 10_000):
        store.add(RecordBatch([record(start + at) for at in range(10_000)]))
    store.close()


# The start


def _start(state: Path) -> list[Row]:
    """From the start of `run` to its answer to `initialize`, with records and without, in turns."""
    found: dict[str, list[float]] = {"true": [], "false": []}
    for _ in range(STARTS):
        for enabled, times in found.items():
            times.append(_answered(state, enabled))
    ratio = min(found["true"]) / min(found["false"])
    what = f"start of `run` with records, of the start without ({min(found['false']):.3f} s)"
    return [Row(what, f"≤ {MOST_START:g}", f"{ratio:.2f}", ratio <= MOST_START)]


def _answered(state: Path, enabled: str) -> float:
    greeting = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18"},
    }
    began = time.perf_counter()
    with subprocess.Popen(
        [PYTHON, "-m", "brimgate", "run", "--", PYTHON, "-m", "brimgate.sandboxes.demo"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"BRIMGATE_STATE_DIR": str(state), "BRIMGATE_TELEMETRY_ENABLED": enabled},
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(greeting).encode() + b"\n")
        process.stdin.flush()
        assert b'"result"' in process.stdout.readline()
        took = time.perf_counter() - began
        process.stdin.close()
    return took
