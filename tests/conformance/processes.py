"""Servers started for a while, each ended by its own process group, whatever happens."""

import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from tests.conftest import ROOT

PATIENCE_SECONDS: Final = 60.0
_GRACE_SECONDS: Final = 20.0
_PAUSE_SECONDS: Final = 0.05


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def running(command: list[str], log: Path, is_ready: Callable[[], bool]) -> Iterator[None]:
    """The command as a process of its own group, from when it is ready on. Its output goes to the log."""
    state = log.with_suffix(".state")
    with log.open("wb") as out:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            cwd=ROOT,
            env=os.environ | {"BRIMGATE_STATE_DIR": str(state)},
            start_new_session=True,
        )
    try:
        _wait_for(process, is_ready, log)
        yield
    finally:
        _end(process)


def _wait_for(process: subprocess.Popen[bytes], is_ready: Callable[[], bool], log: Path) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not is_ready():
        if process.poll() is not None:
            raise RuntimeError(f"{process.args} ended with {process.returncode}:\n{_tail(log)}")
        if time.monotonic() > end:
            raise RuntimeError(f"{process.args} is not ready after {PATIENCE_SECONDS:.0f} s:\n{_tail(log)}")
        time.sleep(_PAUSE_SECONDS)


def _tail(log: Path) -> str:
    return "\n".join(log.read_text("utf-8", "replace").splitlines()[-20:])


def _end(process: subprocess.Popen[bytes]) -> None:
    for kind in (signal.SIGTERM, signal.SIGKILL):
        # The leader may have ended while something it started has not: the group is asked in any case.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, kind)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_SECONDS)


def listens(port: int) -> Callable[[], bool]:
    def is_ready() -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5):
            return True
        return False

    return is_ready


def is_healthy(port: int) -> Callable[[], bool]:
    def is_ready() -> bool:
        with (
            suppress(OSError),
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer,
        ):
            return answer.status == 200
        return False

    return is_ready
