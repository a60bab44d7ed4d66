"""A client of raw lines in front of a real process. Every wait is bounded."""

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Self

from brimgate.engine.rebuild import Rebuilder
from tests.relay.conversation import following, record_of, reply_of

PATIENCE = 60.0
"""Seconds; far more than anything here takes."""


def widen(pipe: IO[bytes] | None) -> None:
    """Let a process log a megabyte before we read it. It leaves lines out where nobody reads, and we may be slow."""
    if sys.platform == "linux" and pipe is not None:
        import fcntl

        with suppress(OSError):  # a system may allow less
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, 1 << 20)


class RawClient:
    def __init__(
        self, command: list[str], *, env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | dict(env or {}),
            cwd=cwd,
        )
        widen(self.process.stderr)
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._log: queue.Queue[str] = queue.Queue()
        self.log: list[str] = []
        self.others: list[dict[str, Any]] = []
        """Messages that came while another was waited for."""
        self._ids = 0
        for target in (self._read_out, self._read_err):
            threading.Thread(target=target, daemon=True).start()

    def _read_out(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def _read_err(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self._log.put(line.decode("utf-8", "replace").rstrip("\n"))
        self._log.put("")

    def send(self, message: dict[str, Any] | list[Any]) -> None:
        body = message if isinstance(message, list) else {"jsonrpc": "2.0"} | message
        self.send_line(json.dumps(body).encode())

    def send_line(self, line: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self) -> Any:
        """The next message; raises EOFError when there will be none."""
        return json.loads(self.receive_line())

    def receive_line(self) -> bytes:
        """The same as it came."""
        line = self._lines.get(timeout=PATIENCE)
        if not line:
            raise EOFError
        return line

    def answer_to(self, key: Any) -> dict[str, Any]:
        for index, message in enumerate(self.others):
            if message.get("id") == key and "method" not in message:
                return self.others.pop(index)
        while True:
            message = self.receive()
            if isinstance(message, dict) and message.get("id") == key and "method" not in message:
                return message
            self.others.append(message)

    def begin(self, method: str, params: dict[str, Any] | None = None) -> int:
        self._ids += 1
        self.send({"id": self._ids, "method": method, "params": params or {}})
        return self._ids

    def request(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        return self.answer_to(self.begin(method, params))

    def greet(self) -> dict[str, Any]:
        client = {"name": "raw", "version": "1"}
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        answer = self.request("initialize", params)
        self.send({"method": "notifications/initialized"})
        return answer

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def walk(self, first: dict[str, Any]) -> bytes:
        rebuilder = Rebuilder()
        result = first
        while True:
            reply = reply_of(result)
            rebuilder.feed(reply)
            cursor = following(reply.record)
            if not cursor:
                return rebuilder.answer()
            result = self.call("brimgate_read", cursor=cursor)["result"]
            assert record_of(result)

    def wait_for_log(self, part: str) -> str:
        for line in self.log:
            if part in line:
                return line
        while True:
            line = self._log.get(timeout=PATIENCE)
            self.log.append(line)
            if part in line:
                return line
            if not line:
                raise EOFError(f"the log ended without {part!r}: {self.log[-20:]}")

    def rest_of_log(self) -> list[str]:
        """All that was logged, once the process has ended."""
        while line := self._log.get(timeout=PATIENCE):
            self.log.append(line)
        return self.log

    def close(self) -> int:
        """Hang up, as a client does, and see it end."""
        if self.process.stdin and not self.process.stdin.closed:
            with suppress(BrokenPipeError):
                self.process.stdin.close()
        return self.process.wait(PATIENCE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            try:
                self.close()
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(PATIENCE)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream:
                with suppress(BrokenPipeError, ValueError):
                    stream.close()
