"""An errand is answered whatever becomes of the process that runs it."""

import asyncio
import os
import signal
from multiprocessing.connection import Connection
from typing import Any

import pytest

from brimgate.hold.engine_processes import EngineProcesses
from brimgate.hold.errand import Errand
from tests.http.processes import is_alive

ENOUGH = 8
"""Errands that are asked for until processes are worth starting."""


def _size(data: bytes) -> int:
    return len(data)


def _pid(_: None) -> int:
    return os.getpid()


def _refuse(reason: str) -> None:
    raise ValueError(reason)


def _die(_: None) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _die_while_telling(_: None) -> bytes:
    """Come back half, as if killed for want of memory while a large answer is written."""

    def send(self: Any, buffer: Any, write: Any = None) -> None:
        os.write(self.fileno(), bytes(buffer)[: len(buffer) // 2])
        os.kill(os.getpid(), signal.SIGKILL)

    Connection._send = send  # type: ignore[attr-defined]
    return bytes(10_000)


def _errand(run: Any, argument: Any = None) -> "Errand[Any]":
    return Errand(run, argument, lambda found: found)


async def _started(count: int = 1) -> EngineProcesses:
    processes = EngineProcesses(count)
    assert not any(processes.are_ready() for _ in range(ENOUGH))
    while not processes.are_ready():
        await asyncio.sleep(0.01)
    return processes


def test_large_arguments_and_errors_come_back() -> None:
    async def run() -> None:
        processes = await _started()
        try:
            assert await processes.run(_errand(_size, bytes(20 << 20))) == 20 << 20
            with pytest.raises(ValueError, match="no such thing"):
                await processes.run(_errand(_refuse, "no such thing"))
            assert len({await processes.run(_errand(_pid)) for _ in range(5)}) == 1, "it works on"
        finally:
            processes.stop()

    asyncio.run(run())


@pytest.mark.parametrize("end", [_die, _die_while_telling])
def test_a_process_that_dies_takes_one_errand_with_it(end: Any) -> None:
    async def run() -> None:
        processes = await _started(2)
        try:
            fatal = asyncio.gather(*(processes.run(_errand(end)) for _ in range(3)), return_exceptions=True)
            others = await asyncio.gather(*(processes.run(_errand(_size, b"abc")) for _ in range(20)))
            assert others == [3] * 20
            assert all(isinstance(one, EOFError | OSError) for one in await fatal)
            assert await processes.run(_errand(_size, b"abc")) == 3
        finally:
            processes.stop()

    asyncio.run(run())


def test_one_that_was_killed_while_it_waited_costs_nothing() -> None:
    async def run() -> None:
        processes = await _started()
        try:
            first = await processes.run(_errand(_pid))
            os.kill(first, signal.SIGKILL)
            assert await processes.run(_errand(_pid)) != first
        finally:
            processes.stop()

    asyncio.run(run())


def test_they_end_when_they_are_stopped() -> None:
    async def run() -> int:
        processes = await _started()
        pid = await processes.run(_errand(_pid))
        processes.stop()
        return pid

    assert not is_alive(asyncio.run(run()))
