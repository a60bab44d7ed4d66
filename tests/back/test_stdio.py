"""A server behind pipes whose start nobody waits for any more."""

import asyncio
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from brimgate.back.channel import Listener
from brimgate.back.process import Command, spawn
from brimgate.back.stdio import StdioServer

HANGING = Command((sys.executable, "-c", "import time; time.sleep(600)"))


@pytest.mark.parametrize("turns", range(1, 12))
def test_a_connection_that_nobody_waits_for_leaves_no_process(turns: int) -> None:
    """Whichever turn of the event loop it is: the process has started, its pipes may not be connected yet."""
    process = spawn(HANGING)

    async def main() -> bool:
        connecting = asyncio.ensure_future(
            StdioServer("x", HANGING, max_line_bytes=100, started=process).connect(_deaf())
        )
        for _ in range(turns):
            await asyncio.sleep(0)
        connecting.cancel()
        with suppress(asyncio.CancelledError):
            await (await connecting).end(0)
            return False
        return True

    was_cancelled = asyncio.run(main())
    process.wait(60)
    assert was_cancelled or turns > 1
    assert not Path(f"/proc/{process.pid}").exists()


def _deaf() -> Listener:
    return Listener(
        on_line=lambda _: None,
        on_failed=lambda *_: None,
        on_too_long=lambda _: None,
        on_lost=lambda *_: None,
        on_pressure=lambda _: None,
        on_chatter=lambda _: None,
    )
