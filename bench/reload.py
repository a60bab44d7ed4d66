"""What a change of the configuration file costs a running gateway, and what waiting for one costs."""

import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from bench.report import Row

ROUNDS = 15
IDLE_SECONDS = 4.0
MAX_CPU_MS, MAX_LATENCY_MS = 40.0, 100.0
_TICKS = os.sysconf("SC_CLK_TCK")


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        config = home / "brimgate.yaml"
        config.write_text(_configuration(20))
        with Served(config, home) as served:
            served.wait_for("serving")
            wakes = served.wakes_per_second(IDLE_SECONDS)
            cpu, latency = _reloads(served, config)
    yield Row(
        "CPU of a reload, Hostaway pack, `serve`",
        f"≤ {MAX_CPU_MS:.0f} ms",
        f"{cpu:.0f} ms",
        cpu <= MAX_CPU_MS,
    )
    yield Row(
        "from the write to active, Hostaway pack, `serve`",
        f"≤ {MAX_LATENCY_MS:.0f} ms",
        f"{latency:.0f} ms (median of {ROUNDS})",
        latency <= MAX_LATENCY_MS,
    )
    yield Row("an idle `serve` wakes up, times a second", "", f"{wakes:.1f}", met=True)


def _configuration(size: int) -> str:
    return f"context_protection: {{default_page_size: {size}}}\nupstreams: {{hostaway: {{pack: hostaway}}}}\n"


def _reloads(served: "Served", config: Path) -> tuple[float, float]:
    """CPU and latency of one reload, in milliseconds; the first, which loads what the others find, is left out."""
    latencies: list[float] = []
    used = 0.0
    for number in range(ROUNDS + 1):
        before = served.cpu_seconds
        config.write_text(_configuration(30 + number % 100))
        told = served.wait_for("config_reloaded")
        found = re.search(r"latency_ms=([\d.]+)", told)
        assert found, told
        time.sleep(0.3)  # until it has settled, so that all of its looks are counted
        if number:
            used += served.cpu_seconds - before
            latencies.append(float(found[1]))
    return used / ROUNDS * 1_000, statistics.median(latencies)


class Served:
    def __init__(self, config: Path, home: Path) -> None:
        command = [sys.executable, "-m", "brimgate", "serve", "--config", str(config), "--port", "0"]
        keys = {
            "HOSTAWAY_ACCOUNT_ID": "1",
            "HOSTAWAY_API_KEY": "none",
            "HOSTAWAY_API_URL": "http://127.0.0.1:9",
        }
        environment = os.environ | keys | {"BRIMGATE_STATE_DIR": str(home / "state")}
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
        self._lines: list[str] = []
        self._told = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> "Served":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(20)

    def _read(self) -> None:
        assert self._process.stderr
        for line in self._process.stderr:
            with self._told:
                self._lines.append(line)
                self._told.notify_all()

    def wait_for(self, word: str) -> str:
        """The next line with this word."""
        with self._told:
            found = self._told.wait_for(lambda: [line for line in self._lines if word in line], 30)
            assert found, f"nothing said {word}: {self._lines}"
            self._lines.clear()
            return found[0]

    @property
    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def wakes_per_second(self, seconds: float) -> float:
        before = self._switches()
        time.sleep(seconds)
        return (self._switches() - before) / seconds

    def _switches(self) -> int:
        total = 0
        for status in Path(f"/proc/{self._process.pid}/task").glob("*/status"):
            found = re.search(r"^voluntary_ctxt_switches:\s+(\d+)", status.read_text(), re.MULTILINE)
            total += int(found[1]) if found else 0
        return total
