"""A client that costs nothing to speak of: raw lines to a process, one call in flight, and that process's own figures."""

import json
import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_READ_BYTES = 1 << 20
_WAIT_SECONDS = 300


class Driver:
    """One server, or one proxy with its upstream behind it."""

    def __init__(self, command: Sequence[str], state: Path) -> None:
        environment = os.environ | {"BRIMGATE_STATE_DIR": str(state)}
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
            env=environment,
            bufsize=0,
        )
        assert self._process.stdin
        assert self._process.stdout
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        self._number = 0
        self._pid = self._process.pid

    def __enter__(self) -> "Driver":
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def send(self, message: dict) -> None:
        data = memoryview(json.dumps({"jsonrpc": "2.0"} | message).encode() + b"\n")
        while data:
            data = data[os.write(self._in, data) :]

    def line(self) -> bytes:
        parts: list[bytes] = []
        while not parts or not parts[-1].endswith(b"\n"):
            part = os.read(self._out, _READ_BYTES)
            if not part:
                raise EOFError(f"process {self._pid} ended with {self._process.wait(_WAIT_SECONDS)}")
            parts.append(part)
        return b"".join(parts)

    def ask(self, method: str, params: dict) -> bytes:
        """The answer's line; anything that is not the answer (a notification) is passed over."""
        self._number += 1
        self.send({"id": self._number, "method": method, "params": params})
        while True:
            line = self.line()
            if b'"method"' not in line[:200]:
                break
        if b'"error":' in line[:200]:
            raise ValueError(line[:500].decode())
        return line

    def call(self, tool: str) -> bytes:
        return self.ask("tools/call", {"name": tool, "arguments": {}})

    def shake_hands(self) -> None:
        offer = {"protocolVersion": "2025-11-25", "capabilities": {}}
        self.ask("initialize", offer | {"clientInfo": {"name": "bench", "version": "1"}})
        self.send({"method": "notifications/initialized"})
        self.ask("tools/list", {})

    def cpu_seconds(self) -> float:
        """CPU of the process with all its threads, ended ones too, but without its children.

        Linux gives every process a clock; this is how clock_getcpuclockid(3) makes its number. /proc/PID/stat
        has the same figure in steps of 10 ms.
        """
        return time.clock_gettime((~self._pid << 3) | 2)

    def cpu_ms_per_call(self, tool: str, calls: int) -> float:
        before = self.cpu_seconds()
        for _ in range(calls):
            self.call(tool)
        return (self.cpu_seconds() - before) * 1_000 / calls

    def memory_bytes(self, field: str) -> int:
        """`VmRSS` now, or `VmHWM`, the most it ever was."""
        status = Path(f"/proc/{self._pid}/status").read_text(encoding="ascii")
        (line,) = (line for line in status.splitlines() if line.startswith(field))
        return int(line.split()[1]) * 1_024
