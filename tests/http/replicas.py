"""Several `brimgate serve` that share a store, and a wire to that store which can be disturbed."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.http.callers import STDIO
from tests.http.serving import DEMO, LegacyClient, Serving, exchange, serve
from tests.store.redis_server import free_port

DEMO_SERVER = {"command": DEMO[0], "args": DEMO[1:]}


@contextmanager
def replicas(
    folder: Path, store: str, count: int = 2, upstream: dict[str, Any] | None = None, **sections: Any
) -> Iterator[list[Serving]]:
    document = {
        "store": store,
        "redis_timeout_seconds": 5,  # a busy machine is no fault of the store
        "upstreams": {"one": upstream or STDIO},
        "server": {"grace_seconds": 0} | sections.pop("server", {}),
        **sections,
    }
    path = folder / "replicas.yaml"
    path.write_text(json.dumps(document))
    with ExitStack() as running:
        yield [running.enter_context(serve("--config", str(path), command=())) for _ in range(count)]


def opened(serving: Serving, **headers: str) -> LegacyClient:
    client = serving.client(**headers)
    client.initialize()
    return client


def health(serving: Serving) -> dict[str, Any]:
    answer = exchange(serving.connect(), "GET", "/health", None, {})
    return answer.json | {"http": answer.status}


class StoreWire:
    """Stands between a replica and its store, and may be slow, talk garbage, drop, or lead elsewhere."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.way = "pass"
        self._listening = socket.create_server(("127.0.0.1", free_port()))
        self.port = self._listening.getsockname()[1]
        self._open: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                if self.way == "refuse":
                    client.close()
                    continue
                try:
                    server = socket.create_connection(("127.0.0.1", self.target), 5)
                except OSError:
                    client.close()
                    continue
                self._open |= {client, server}
                for pair in ((client, server, False), (server, client, True)):
                    threading.Thread(target=self._carry, args=pair, daemon=True).start()

    def _carry(self, source: socket.socket, sink: socket.socket, is_answer: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                match self.way:
                    case "slow" if is_answer:
                        time.sleep(0.5)
                    case "garbage" if is_answer:
                        data = b"\x00\xff<html>?</html>" * 20
                    case "wrong" if is_answer:
                        data = b"$5\r\nhello\r\n"
                    case "drop":
                        break
                    case _:
                        pass
                sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def cut(self) -> None:
        """Cut what is open, as a network does."""
        for end in list(self._open):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self._open.clear()

    def close(self) -> None:
        self._listening.close()
        self.cut()
