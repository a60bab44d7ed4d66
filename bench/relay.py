"""The bars on `brimgate run`: stdio to stdio, beside what users would otherwise put there, all in one run."""

import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from bench.driver import ROOT, Driver
from bench.report import Row

UPSTREAM = (sys.executable, str(ROOT / "bench" / "upstreams" / "raw.py"))
UNDECIDED = """
import sys
from brimgate.cli.main import main
from brimgate.relay.actions import Note
from brimgate.relay.reduction import Reducer

nothing = Note("nothing", {}, "debug")
Reducer.passed = lambda *_: nothing
sys.exit(main(sys.argv[1:]))
"""
"""Our own relay without the event of an answer that passes."""
PEERS = ROOT / ".venv-peers" / "bin" / "python"
CONFIGS = {
    "off": "context_protection:\n  enabled: false\n",
    "plain": "context_protection:\n  highlights: false\n",
    "small": "context_protection:\n  output_token_threshold: 2000\n",
    "large": "context_protection:\n  output_token_threshold: 8000\n",
}
SIZES = {"1 KB": (1_000, 150), "100 KB": (100_000, 24), "1 MB": (1_000_000, 6)}
"""Bytes of a line, and calls in one round."""
ROUNDS = 8
STARTS = 7
RELOADS = 15
HUGE = 60 << 20
MARK = b"brimgate/result"
Rounds = dict[tuple[str, str], list[float]]
"""CPU ms per call in each round, by path and size."""


def rows() -> list[Row]:
    if not PEERS.is_file():
        sys.exit("the relay is measured against its peers: run `make .venv-peers/.ready` first")
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder)
        for name, text in CONFIGS.items():
            (state / f"{name}.yaml").write_text(text, encoding="utf-8")
        return [*_calls(state), *_starts(state), *_huge(state), *_reload(state)]


def brimgate(*options: str) -> list[str]:
    return [sys.executable, "-m", "brimgate", "run", *options, "--", *UPSTREAM]


def commands(state: Path) -> dict[str, Sequence[str]]:
    return {
        "direct": UPSTREAM,
        "default": brimgate(),
        "undecided": [sys.executable, "-c", UNDECIDED, "run", "--", *UPSTREAM],
        "plain": brimgate("--config", str(state / "plain.yaml")),
        "off": brimgate("--config", str(state / "off.yaml")),
        "sdk": [str(PEERS), "bench/peers/sdk_passthrough.py", *UPSTREAM],
        "fastmcp": [str(PEERS), "bench/peers/fastmcp_proxy.py", *UPSTREAM],
    }


def _calls(state: Path) -> list[Row]:
    """Rounds are taken in turns, so that other users of the machine disturb all paths alike."""
    rounds: Rounds = {}
    with ExitStack() as stack:
        paths = {name: stack.enter_context(Driver(line, state)) for name, line in commands(state).items()}
        for driver in paths.values():
            driver.shake_hands()
        idle = paths["default"].memory_bytes("VmRSS")
        idle_peers = {name: paths[name].memory_bytes("VmRSS") for name in ("sdk", "fastmcp")}
        for label, (size, calls) in SIZES.items():
            tool = f"bookings-{size}"
            _check(label, {name: driver.call(tool) for name, driver in paths.items()})
            for _ in range(ROUNDS):
                for name, driver in paths.items():
                    rounds.setdefault((name, label), []).append(driver.cpu_ms_per_call(tool, calls))
    return [*_told(rounds), *_bars(rounds), *_idle(idle, idle_peers)]


def _check(label: str, answers: dict[str, bytes]) -> None:
    """A figure is worth nothing if the path did something else than its name says."""
    whole = answers["direct"].split(b'"result"', 1)[1]
    assert answers["off"].split(b'"result"', 1)[1] == whole, f"{label}: changed with the protection off"
    for name in ("default", "plain"):
        reduced = MARK in answers[name] and len(answers[name]) < len(whole)
        assert reduced == (label != "1 KB"), f"{label}: {name} answered {answers[name][:300]!r}"
    for name in ("sdk", "fastmcp"):
        assert len(answers[name]) >= len(whole), f"{label}: {name} did not pass the answer on"


def _told(rounds: Rounds) -> list[Row]:
    named = {
        "off": "Brimgate, protection off",
        "default": "Brimgate",
        "undecided": "Brimgate, no decisions",
        "plain": "Brimgate, highlights off",
        "sdk": "SDK 2.3 low-level pass-through",
        "fastmcp": "FastMCP 4.1 proxy",
        "direct": "(the upstream itself)",
    }
    return [
        Row(
            f"CPU per call at {', '.join(SIZES)}: {text}",
            "",
            " / ".join(_ms(median(rounds[name, label])) for label in SIZES),
            True,
        )
        for name, text in named.items()
    ]


def _bars(rounds: Rounds) -> list[Row]:
    out: list[Row] = []
    for peer, text, least in (("fastmcp", "FastMCP's proxy", 12), ("sdk", "the SDK pass-through", 8)):
        ours = rounds["default", "1 KB"]
        times = median(theirs / mine for theirs, mine in zip(rounds[peer, "1 KB"], ours, strict=True))
        out.append(Row(f"1 KB: less CPU than {text}", f"≥ {least} ×", f"{times:.1f} ×", times >= least))
    pairs = zip(rounds["default", "1 KB"], rounds["undecided", "1 KB"], strict=True)
    times = median(decided / undecided for decided, undecided in pairs)
    out.append(
        Row("1 KB relayed with its decision, against without", "≤ 1.10 ×", f"{times:.2f} ×", times <= 1.1)
    )
    for label, most in (("100 KB", 0.5), ("1 MB", 4.0)):
        took = median(rounds["off", label])
        out.append(Row(f"{label} relayed without the engine", f"≤ {most:g} ms", _ms(took), took <= most))
    reduced, relayed = median(rounds["plain", "1 MB"]), median(rounds["sdk", "1 MB"])
    out.append(
        Row(
            "1 MB reduced, highlights off, against the SDK relaying it whole",
            f"< {_ms(relayed)}",
            _ms(reduced),
            reduced < relayed,
        )
    )
    return out


def _idle(idle: int, peers: dict[str, int]) -> list[Row]:
    beside = f"{_mb(peers['sdk'])} / {_mb(peers['fastmcp'])}"
    return [
        Row("memory after the handshake", "≤ 35 MB", _mb(idle), idle <= 35e6),
        Row("… SDK pass-through / FastMCP's proxy", "", beside, True),
    ]


def _starts(state: Path) -> list[Row]:
    """From the start of the process to the answers of initialize and tools/list."""
    lines = commands(state)
    took: dict[str, list[float]] = {name: [] for name in ("direct", "default", "sdk", "fastmcp")}
    for attempt in range(STARTS):
        for name, each in took.items():
            if name in ("sdk", "fastmcp") and attempt >= 3:
                continue
            start = time.perf_counter()
            with Driver(lines[name], state) as driver:
                driver.shake_hands()
                each.append(time.perf_counter() - start)
    own = median(took["direct"])
    over = {name: median(each) - own for name, each in took.items()}
    beside = f"{over['sdk']:.2f} s / {over['fastmcp']:.2f} s"
    return [
        Row(
            f"start to first answers, over the upstream's own {own * 1_000:.0f} ms",
            "≤ 0.2 s",
            f"{over['default']:.3f} s",
            over["default"] <= 0.2,
        ),
        Row("… SDK pass-through / FastMCP's proxy", "", beside, True),
    ]


def _huge(state: Path) -> list[Row]:
    out: list[Row] = []
    for kind, text in (("log", "log lines"), ("bookings", "a JSON list")):
        tool = f"{kind}-{HUGE}"
        cpu, memory, answer = _one(commands(state)["default"], state, tool)
        relay_cpu, relay_memory, whole = _one(commands(state)["off"], state, tool)
        assert MARK in answer, answer[:300]
        times, relay_times = memory / len(whole), relay_memory / len(whole)
        name = f"one line of {len(whole) / (1 << 20):.0f} MiB, {text}"
        out += [
            Row(f"{name}: relayed and reduced, CPU", "≤ 3 s", f"{cpu:.2f} s", cpu <= 3),
            Row(f"{name}: peak memory", "≤ 4 ×", f"{times:.2f} ×", times <= 4),
            Row("… with the protection off", "", f"{relay_cpu:.2f} s, {relay_times:.2f} ×", True),
        ]
    return out


def _one(command: Sequence[str], state: Path, tool: str) -> tuple[float, int, bytes]:
    """CPU of one call, the most memory ever held, the answer."""
    with Driver(command, state) as driver:
        driver.shake_hands()
        before = driver.cpu_seconds()
        answer = driver.call(tool)
        return driver.cpu_seconds() - before, driver.memory_bytes("VmHWM"), answer


def _reload(state: Path) -> list[Row]:
    """From the moment a new file is in place to the end of the first call that obeys it."""
    active = state / "active.yaml"
    _put(state / "small.yaml", active)
    took: list[float] = []
    with Driver(brimgate("--config", str(active)), state) as driver:
        driver.shake_hands()
        limit = 2 * len(driver.call("bookings-100000"))
        for turn in range(RELOADS):
            grows = turn % 2 == 0
            _put(state / ("large.yaml" if grows else "small.yaml"), active)
            start = time.perf_counter()
            while (len(driver.call("bookings-100000")) > limit) != grows:
                assert time.perf_counter() - start < 30, "a new configuration was not taken up in 30 s"
            took.append((time.perf_counter() - start) * 1_000)
    usual, worst = median(took), max(took)
    return [
        Row("a changed configuration is active, median", "< 100 ms", f"{usual:.0f} ms", usual < 100),
        Row(f"… slowest of {RELOADS}", "< 100 ms", f"{worst:.0f} ms", worst < 100),
    ]


def _put(source: Path, target: Path) -> None:
    """As editors and deployments do: written beside, then moved into place."""
    beside = target.with_suffix(".new")
    beside.write_bytes(source.read_bytes())
    beside.replace(target)


def _ms(value: float) -> str:
    return f"{value:.3f} ms" if value < 1 else f"{value:.1f} ms"


def _mb(value: int) -> str:
    return f"{value / 1e6:.0f} MB"
