"""Clients that cost little: raw HTTP on many connections at once, and the figures of the process they call."""

import asyncio
import json
import os
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from bench.driver import ROOT

_PATIENCE_SECONDS = 60.0
_OFFER = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Process:
    """A server on a port of its own; `{port}` in its command is that port."""

    def __init__(self, command: Sequence[str], state: Path, *, path: str = "/mcp") -> None:
        self.port, self.path = free_port(), path
        self.started = time.perf_counter()
        self._process = subprocess.Popen(
            [part.replace("{port}", str(self.port)) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
            env=os.environ | {"BRIMGATE_STATE_DIR": str(state)},
            start_new_session=True,
        )
        self._pid = self._process.pid

    def __enter__(self) -> "Process":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(self._pid, 9)
            self._process.wait()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.path}"

    def wait(self) -> "Process":
        """Until somebody listens."""
        until = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < until and self._process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                time.sleep(0.005)
            else:
                return self
        raise RuntimeError(f"{self._process.args} does not listen")

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def cpu_seconds(self) -> float:
        """As in `Driver.cpu_seconds`: of all threads, without children."""
        return time.clock_gettime((~self._pid << 3) | 2)

    def memory_bytes(self, field: str = "VmRSS") -> int:
        status = Path(f"/proc/{self._pid}/status").read_text(encoding="ascii")
        (line,) = (line for line in status.splitlines() if line.startswith(field))
        return int(line.split()[1]) * 1_024


class Place(NamedTuple):
    """Where a process listens that somebody else has started."""

    port: int
    path: str

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.path}"


class Client:
    """One session on one connection."""

    def __init__(self, process: "Process | Place", key: str = "") -> None:
        self._process = process
        self._shown = f"authorization: Bearer {key}\r\n".encode() if key else b""
        self._headers = self._shown
        self._number = 0
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def connect(self) -> None:
        """Again, if the server closed the connection meanwhile."""
        if self._reader is None or self._reader.at_eof():
            if self._writer is not None:
                self._writer.close()
            self._reader, self._writer = await asyncio.open_connection(
                "127.0.0.1", self._process.port, limit=256 << 20
            )

    async def open(self) -> None:
        await self.connect()
        head, body = await self.post({"id": 0, "method": "initialize", "params": _OFFER})
        if b'"result"' not in body:
            raise RuntimeError(f"{self._process.url}: {head!r} {body[:300]!r}")
        found = [line for line in head.split(b"\r\n") if line.lower().startswith(b"mcp-session-id:")]
        self._headers = b"".join(line + b"\r\n" for line in found) + b"mcp-protocol-version: 2025-11-25\r\n"
        self._headers += self._shown
        await self.post({"method": "notifications/initialized"})

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()

    async def leave(self) -> None:
        """Close the connection and wait for its end; the session stays."""
        if self._writer is not None:
            self._writer.close()
            with suppress(OSError):
                await self._writer.wait_closed()
        self._reader = self._writer = None

    async def call(self, tool: str, arguments: dict | None = None) -> bytes:
        self._number += 1
        params = {"name": tool, "arguments": arguments or {}}
        _, body = await self.post({"id": self._number, "method": "tools/call", "params": params})
        return body

    async def post(self, message: dict) -> tuple[bytes, bytes]:
        body = json.dumps({"jsonrpc": "2.0"} | message).encode()
        assert self._reader
        assert self._writer
        self._writer.write(
            b"POST %b HTTP/1.1\r\nhost: 127.0.0.1:%d\r\ncontent-type: application/json\r\n"
            b"accept: application/json, text/event-stream\r\n%bcontent-length: %d\r\n\r\n%b"
            % (self._process.path.encode(), self._process.port, self._headers, len(body), body)
        )
        head = await self._reader.readuntil(b"\r\n\r\n")
        lower = head.lower()
        if b"transfer-encoding: chunked" in lower:
            return head, await self._chunks()
        length = int(lower.partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
        return head, await self._reader.readexactly(length)

    async def _chunks(self) -> bytes:
        assert self._reader
        parts: list[bytes] = []
        while size := int(await self._reader.readuntil(b"\r\n"), 16):
            parts.append(await self._reader.readexactly(size))
            await self._reader.readexactly(2)
        await self._reader.readexactly(2)
        return b"".join(parts)


class Crowd:
    """Clients of one process, who all call at once."""

    def __init__(self, process: Process, size: int, key: str = "") -> None:
        """Create it. `key` is what all of them show, if the process has `auth`."""
        self.process = process
        self._clients = [Client(process, key) for _ in range(size)]

    async def open(self, *, and_close: bool = False) -> None:
        """`and_close`: their sessions stay, their connections do not."""
        for client in self._clients:
            await client.open()
            if and_close:
                client.close()

    def close(self) -> None:
        for client in self._clients:
            client.close()

    async def call(self, tool: str) -> bytes:
        await self._clients[0].connect()
        return await self._clients[0].call(tool)

    async def cpu_ms_per_call(self, tool: str, each: int) -> float:
        for client in self._clients:
            await client.connect()
        before = self.process.cpu_seconds()

        async def calls(client: Client) -> None:
            for _ in range(each):
                await client.call(tool)

        await asyncio.gather(*(calls(client) for client in self._clients))
        return (self.process.cpu_seconds() - before) * 1_000 / (each * len(self._clients))
