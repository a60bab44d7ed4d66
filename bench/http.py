"""The bars on `brimgate serve`, beside what users would otherwise put there, all in one run."""

import asyncio
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from bench.driver import ROOT
from bench.load import Crowd, Process
from bench.report import Row

CLIENTS = 16
ROUNDS = 7
SIZES = {"1 KB": (1_000, 60), "100 KB": (100_000, 8), "1 MB": (1_000_000, 2)}
"""Bytes of an answer, and calls of each client in one round."""
STARTS = 7
SESSIONS = 200
PYTHON = sys.executable
RAW = [PYTHON, str(ROOT / "bench" / "upstreams" / "raw.py")]
RAW_HTTP = [PYTHON, str(ROOT / "bench" / "upstreams" / "raw_http.py"), "{port}"]
PEERS = str(ROOT / ".venv-peers" / "bin" / "python")
MCP_PROXY = str(ROOT / ".venv-mcp-proxy" / "bin" / "mcp-proxy")
QUIET = ["--log-level", "error", "--set", "max_processes=1000", "--set", "max_sessions=1000"]
OFF = ["--set", "enabled=false"]
_INITIALIZED = (
    '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},'
    '"serverInfo":{"name":"small","version":"1"}}}'
)
SMALL_SERVER = ["sh", "-c", f"read x; echo '{_INITIALIZED}'; while read x; do :; done"]


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_rows(Path(folder)))


async def _rows(state: Path) -> list[Row]:
    out = [*await _calls(state), *await _large(state), *await _starts(state)]
    return [*out, *await _memory(state)]


def brimgate(*options: str) -> list[str]:
    return [PYTHON, "-m", "brimgate", "serve", "--port", "{port}", *QUIET, *options]


async def _calls(state: Path) -> list[Row]:
    """Rounds are taken in turns, so that other users of the machine disturb all paths alike."""
    with ExitStack() as stack:
        upstream = stack.enter_context(Process(RAW_HTTP, state)).wait()
        commands = {
            "http": brimgate("--upstream", upstream.url),
            "http off": brimgate(*OFF, "--upstream", upstream.url),
            "sdk": [PEERS, "bench/peers/sdk_http.py", upstream.url, "{port}"],
            "fastmcp": [PEERS, "bench/peers/fastmcp_http.py", upstream.url, "{port}"],
            "stdio": brimgate("--", *RAW),
            "stdio off": brimgate(*OFF, "--", *RAW),
            "mcp-proxy": [MCP_PROXY, "--port", "{port}", "--pass-environment", "--", *RAW],
        }
        crowds: dict[str, Crowd] = {}
        for name, command in commands.items():
            process = stack.enter_context(Process(command, state)).wait()
            crowds[name] = Crowd(process, CLIENTS)
            await crowds[name].open()
        rounds: dict[tuple[str, str], list[float]] = {}
        for label, (size, each) in SIZES.items():
            tool = f"bookings-{size}"
            for name, crowd in crowds.items():
                answer = await crowd.call(tool)
                assert b'"result"' in answer, f"{name} at {label}: {answer[:300]!r}"
            for _ in range(ROUNDS):
                for name, crowd in crowds.items():
                    each_now = max(1, each // 8) if name == "fastmcp" else each
                    rounds.setdefault((name, label), []).append(await crowd.cpu_ms_per_call(tool, each_now))
        for crowd in crowds.values():
            crowd.close()
    return _told(rounds)


def _told(rounds: dict[tuple[str, str], list[float]]) -> list[Row]:
    named = {
        "http": "HTTP to HTTP: Brimgate",
        "http off": "HTTP to HTTP: Brimgate, protection off",
        "sdk": "HTTP to HTTP: SDK 2.3 low-level pass-through",
        "fastmcp": "HTTP to HTTP: FastMCP 4.1 proxy",
        "stdio": "stdio behind HTTP: Brimgate",
        "stdio off": "stdio behind HTTP: Brimgate, protection off",
        "mcp-proxy": "stdio behind HTTP: mcp-proxy 0.13",
    }
    out = [
        Row(
            f"CPU per call at {', '.join(SIZES)}, {CLIENTS} clients: {text}",
            "",
            " / ".join(_ms(median(rounds[name, label])) for label in SIZES),
            True,
        )
        for name, text in named.items()
    ]
    took = median(rounds["http", "1 KB"])
    out.append(Row("1 KB, HTTP to HTTP", "≤ 0.2 ms", _ms(took), took <= 0.2))
    for mine, theirs, text, least in (
        ("http", "sdk", "HTTP to HTTP: less CPU than the SDK pass-through", 10),
        ("stdio", "mcp-proxy", "stdio behind HTTP: less CPU than mcp-proxy", 6),
    ):
        pairs = zip(rounds[theirs, "1 KB"], rounds[mine, "1 KB"], strict=True)
        times = median(other / ours for other, ours in pairs)
        out.append(Row(f"1 KB, {text}", f"≥ {least} ×", f"{times:.1f} ×", times >= least))
    return out


async def _large(state: Path) -> list[Row]:
    """An event of more than 1 MiB from a server that answers with streams."""
    told: list[str] = []
    with ExitStack() as stack:
        upstream = stack.enter_context(Process(RAW_HTTP, state, path="/sse")).wait()
        url = upstream.url
        for name, command in {
            "Brimgate": brimgate(*OFF, "--transport", "http", "--upstream", url),
            "SDK": [PEERS, "bench/peers/sdk_http.py", url, "{port}"],
            "FastMCP": [PEERS, "bench/peers/fastmcp_http.py", url, "{port}"],
        }.items():
            crowd = Crowd(stack.enter_context(Process(command, state)).wait(), 1)
            await crowd.open()
            try:
                answer = await asyncio.wait_for(crowd.call("bookings-2000000"), 30)
                told.append(f"{name}: {'passes' if len(answer) > 1_900_000 else 'fails'}")
            except (TimeoutError, OSError, EOFError, ValueError):
                told.append(f"{name}: fails")
            crowd.close()
    return [Row("2 MB in one event of a stream", "passes", ", ".join(told), told[0] == "Brimgate: passes")]


async def _starts(state: Path) -> list[Row]:
    """From the start of the process to the answer of `initialize`."""
    out: list[Row] = []
    for text, command, most in (
        ("a stdio server", brimgate("--", *SMALL_SERVER), 0.45),
        ("Hostaway's sandbox, which starts too", brimgate("--pack", "hostaway", "--sandbox"), 1.0),
    ):
        took: list[float] = []
        for _ in range(STARTS):
            with Process(command, state) as process:
                crowd = Crowd(process.wait(), 1)
                await crowd.open()
                took.append(time.perf_counter() - process.started)
                crowd.close()
        usual = median(took)
        out.append(
            Row(f"start to the first answer, before {text}", f"≤ {most} s", f"{usual:.2f} s", usual <= most)
        )
    return out


async def _memory(state: Path) -> list[Row]:
    """Of sessions whose servers are as small as can be; a client between two calls need not stay connected."""
    idle, each = await _per_session(state, stay=False)
    _, connected = await _per_session(state, stay=True)
    return [
        Row("memory with 20 sessions", "≤ 45 MB", f"{idle / 1e6:.0f} MB", idle <= 45e6),
        Row(f"memory per extra session, of {SESSIONS}", "≤ 20 KB", f"{each / 1e3:.1f} KB", each <= 20e3),
        Row("… while its client stays connected", "", f"{connected / 1e3:.1f} KB", True),
    ]


async def _per_session(state: Path, *, stay: bool) -> tuple[int, float]:
    with Process(brimgate("--", *SMALL_SERVER), state) as process:
        first, many = Crowd(process.wait(), 20), Crowd(process, SESSIONS)
        await first.open(and_close=not stay)
        idle = process.memory_bytes()
        await many.open(and_close=not stay)
        each = (process.memory_bytes() - idle) / SESSIONS
        first.close()
        many.close()
    return idle, each


def _ms(value: float) -> str:
    return f"{value:.3f} ms" if value < 1 else f"{value:.1f} ms"
