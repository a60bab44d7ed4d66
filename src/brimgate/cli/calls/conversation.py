"""A conversation with a server: started before our other modules load, limited by a timeout, and ended cleanly."""

import argparse
import signal
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final, TypeVar

from brimgate.back.process import Command, Process, end_group, spawn
from brimgate.cli.calls.target import Target
from brimgate.cli.gateway import warn_of_unknown
from brimgate.config.placeholders import filled
from brimgate.errors import UpstreamTimeout
from brimgate.platform import STOP_SIGNALS, EarlySignals
from brimgate.watch.log import LEVELS, Log

if TYPE_CHECKING:
    from brimgate.app.client import McpClient
    from brimgate.cli.calls.progress import Patience

_GRACE_SECONDS: Final = 2.0
"""Time for a server to end by itself once its input is closed; the answer is shown meanwhile."""
_HASTY_GRACE_SECONDS: Final = 0.3
_CLOSING_SECONDS: Final = 0.01

T = TypeVar("T")
Talk = Callable[["McpClient", "Patience"], Awaitable[T]]


def converse(
    target: Target,
    options: argparse.Namespace,
    prepare: Callable[[], None],
    talk: "Talk[T]",
    show: Callable[[T], int],
) -> int:
    """Start or reach the server, `prepare` meanwhile, `talk` to it, and `show` the outcome while the server ends."""
    log = Log(options.log_level or target.config.log_level or "warning", target.config.log_format)
    warn_of_unknown(log, target.config)
    early = EarlySignals()
    one = filled(target.upstream)
    # Before our other modules are loaded, so that the server starts meanwhile.
    process = (
        spawn(Command((one.command, *one.args), env=one.env_for(), cwd=one.cwd or None))
        if one.command
        else None
    )
    try:
        import asyncio

        from brimgate.app.client import McpClient
        from brimgate.app.connect import connector

        max_bytes = target.config.max_result_bytes
        connect = connector(target.name, one, max_bytes, started=process)
        caller = McpClient(target.name, connect, max_bytes=max_bytes, on_chatter=_chatter(log, target.name))
        prepare()
        return asyncio.run(_speak(caller, talk, show, options.timeout, early))
    finally:
        _leave_nothing_behind(process)


async def _speak(
    caller: "McpClient", talk: "Talk[T]", show: Callable[[T], int], seconds: float, early: EarlySignals
) -> int:
    import asyncio

    stopping = _Stopping(early)
    try:
        told = await _in_time(caller, talk, seconds)
        ending = asyncio.create_task(caller.end(_GRACE_SECONDS))
        # Long enough for its input to be closed: it ends while we are busy.
        await asyncio.wait({ending}, timeout=_CLOSING_SECONDS)
        stopping.let_interrupts_through()
        try:
            return show(told)
        finally:
            await ending
    except asyncio.CancelledError:
        stopping.raise_if_stopped()
        raise


async def _in_time(caller: "McpClient", talk: "Talk[T]", seconds: float) -> T:
    """Return the outcome of the talk. If a signal or the timeout ends it, cancel the call and end the server first."""
    import asyncio

    from brimgate.cli.calls.progress import Patience

    loop = asyncio.get_running_loop()
    limit = asyncio.timeout(seconds)
    try:
        with Patience(loop, caller, lambda: limit.reschedule(loop.time() + seconds)) as patience:
            async with limit:
                await caller.open()
                return await talk(caller, patience)
    except BaseException:
        await caller.end(_HASTY_GRACE_SECONDS)
        if limit.expired():
            text = f"no {caller.awaited} within {seconds:g} s ({caller.name}): --timeout raises it"
            raise UpstreamTimeout(text) from None
        raise


def _leave_nothing_behind(process: Process | None) -> None:
    """Kill the process, in case we were stopped before there was a conversation to end."""
    if process is not None and process.poll() is None:
        end_group(process, forcibly=True)


def _chatter(log: Log, name: str) -> Callable[[str], None]:
    if log.level > LEVELS["debug"]:
        return lambda _: None
    return lambda text: log.pass_on(name, text)


class _Stopping:
    """Handles signals that end the conversation. Only the first counts, so that the next does not cut the end short."""

    def __init__(self, early: EarlySignals) -> None:
        import asyncio

        self._number: int | None = None
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        for number in STOP_SIGNALS:
            try:
                self._loop.add_signal_handler(number, self._stop, number)
            except NotImplementedError:  # on Windows
                signal.signal(number, lambda number, _: self._loop.call_soon_threadsafe(self._stop, number))
        if early.came:
            self._stop(signal.SIGINT)

    def _stop(self, number: int) -> None:
        if self._number is None and self._task is not None:
            self._number = number
            self._task.cancel()

    def raise_if_stopped(self) -> None:
        if self._number == signal.SIGINT:
            raise KeyboardInterrupt
        if self._number is not None:
            raise SystemExit(128 + self._number)

    def let_interrupts_through(self) -> None:
        """Let Ctrl-C through.

        Showing an answer may block, in a pager for example, and no loop would get the signal then.
        """
        signal.signal(signal.SIGINT, signal.default_int_handler)
