"""Replicas that are killed under load, again and again: whoever tries again gets the right answer, and only its own."""

import json
import os
import random
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from brimgate.guard.static_keys import digest_of, new_key
from tests.http.callers import bearer
from tests.http.crowd import SECRET as CANARY
from tests.http.serving import META, Serving, exchange, serve, wait_until
from tests.relay.replies import as_rebuilt, following, rebuild
from tests.store.redis_server import free_port, redis_server

KILLS = int(os.environ.get("BRIMGATE_KILLS", "8"))
"""`make soak` kills 200 times."""
CALLERS = 6
ROWS = 2_500
SERVER = str(Path(__file__).with_name("secret_server.py"))
_GONE = (OSError, EOFError, json.JSONDecodeError, KeyError, IndexError)
"""What a client meets whose server dies: no connection, half an answer, or none."""


def rows_of(secret: str, call: int) -> str:
    words = f"{secret} call-{call}"
    return json.dumps(
        [{"row": row, "words": words, "note": f"{row * 7_919**5 % 10**16:x}"} for row in range(ROWS)]
    )


class Caller(threading.Thread):
    """Calls, and reads each page from any replica that runs. Tries again whenever one dies."""

    def __init__(self, number: int, key: str, replicas: list["Replica"]) -> None:
        super().__init__(daemon=True)
        self.secret = f"secret-{number:016x}"
        self._headers = {
            "content-type": "application/json",
            "accept": "application/json",
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "tools/call",
            **bearer(key),
        }
        self._replicas, self._dice = replicas, random.Random(number)
        self.walks = self.retries = self.lost = 0
        self.problems: list[Any] = []
        self.is_over = threading.Event()

    def run(self) -> None:
        while not self.is_over.is_set() and not self.problems:
            try:
                self._walk(self.walks)
                self.walks += 1
            except Exception as error:  # noqa: BLE001
                self.problems.append(repr(error))

    def _walk(self, call: int) -> None:
        arguments = {"call": call, "secret": self.secret, "rows": ROWS}
        results = [self._ask({"name": "tell", "arguments": arguments})]
        while cursor := following(results[-1]):
            found = self._ask({"name": "brimgate_read", "arguments": {"cursor": cursor}})
            if found.get("isError"):
                # Held by a replica that died before the store had it, or by one that works alone just now.
                self.lost += 1
                return
            results.append(found)
        if rebuild(results) != as_rebuilt(rows_of(self.secret, call)):
            self.problems.append("another answer")

    def _ask(self, params: dict[str, Any]) -> dict[str, Any]:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {**params, "_meta": META}}
        while not self.is_over.is_set():
            serving = self._dice.choice(self._replicas).serving
            try:
                headers = self._headers | {"mcp-name": params["name"]}
                answer = exchange(serving.connect(), "POST", "/mcp", message, headers)
                foreign = set(CANARY.findall(answer.body)) - {self.secret.encode()}
                if foreign:
                    self.problems.append(foreign)
                if answer.status < 500:
                    return answer.messages[-1]["result"]
            except (*_GONE, AssertionError):
                pass
            self.retries += 1
            self.is_over.wait(0.05)
        raise OSError("it is over")


class Replica:
    """One that is started again whenever it was killed."""

    def __init__(self, start: Callable[[], Serving]) -> None:
        self._start = start
        self.serving = start()

    def kill(self) -> None:
        self.serving.process.kill()
        self.serving.process.wait(60)
        self.serving = self._start()
        assert self.serving.port


@pytest.mark.slow
@pytest.mark.timeout(3_600)
def test_whoever_tries_again_gets_the_right_answer(tmp_path: Path) -> None:
    keys = [new_key() for _ in range(CALLERS)]
    document = {
        "upstreams": {"one": {"command": sys.executable, "args": [SERVER, "stdio"]}},
        "auth": {"mode": "static", "keys": {f"caller-{n}": [digest_of(key)] for n, key in enumerate(keys)}},
        "limits": {"requests": 10**9, "reads": 10**9},
    }
    path = tmp_path / "brimgate.json"
    path.write_text(json.dumps(document))
    with redis_server() as store, ExitStack() as running:

        def start() -> Serving:
            options = ("--config", str(path), "--set", f"store={store.url}", "--log-level", "warning")
            return running.enter_context(serve(*options, command=(), port=free_port()))

        replicas = [Replica(start) for _ in range(2)]
        assert all(one.serving.port for one in replicas)
        callers = [Caller(number, key, replicas) for number, key in enumerate(keys)]
        for caller in callers:
            caller.start()
        for number in range(KILLS):
            before = [caller.walks for caller in callers]
            wait_until(
                lambda at=before: (
                    sum(caller.walks for caller in callers) > sum(at) or any(_problems(callers))
                ),
                "somebody gets an answer",
                300,
            )
            replicas[number % 2].kill()
        before = [caller.walks for caller in callers]
        wait_until(
            lambda: (
                all(caller.walks > at + 1 for caller, at in zip(callers, before, strict=True))
                or any(_problems(callers))
            ),
            "everybody gets an answer",
            300,
        )
        for caller in callers:
            caller.is_over.set()
        for caller in callers:
            caller.join(60)
    problems = [one for one in _problems(callers) if one != ["OSError('it is over')"]]
    assert not any(problems), problems
    assert sum(caller.retries for caller in callers) > 0


def _problems(callers: list[Caller]) -> list[list[Any]]:
    return [caller.problems for caller in callers]
