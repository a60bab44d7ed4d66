"""A session and its upstream, which is started, lost and restarted. Used for every kind of client."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any, Final, assert_never

from brimgate.back.channel import Channel, Connect, Listener, Revival
from brimgate.errors import ClientError, UpstreamError, UpstreamLost, UpstreamTimeout, UpstreamUnreachable
from brimgate.hold.runtime import run_work
from brimgate.relay.actions import (
    Action,
    Decided,
    Greeted,
    Line,
    Listed,
    Note,
    ToClient,
    ToUpstream,
    Wait,
    Work,
)
from brimgate.relay.session import Session
from brimgate.relay.trace_context import Arrival
from brimgate.watch.log import Log

_ENDING_SECONDS: Final = 10.0
_STARTING_SECONDS: Final = 30.0
_GREETING_SECONDS: Final = 60.0
_STUCK_SECONDS: Final = 2.0
_LOOK_SECONDS: Final = 1.0
"""How often calls are looked for that took too long."""
_Failing = Callable[[Line, str], list[Action]]


class BackgroundTasks:
    def __init__(self, on_idle: Callable[[], None] = lambda: None) -> None:
        """`on_idle` is called whenever the last of them has ended."""
        self._tasks: set[asyncio.Task[Any]] = set()
        self._on_idle = on_idle

    def __bool__(self) -> bool:
        return bool(self._tasks)

    def start(self, work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not self._tasks:
            self._on_idle()

    def cancel(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def finish(self, within_seconds: float) -> None:
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=within_seconds)


def _nothing(_: Line, __: str) -> list[Action]:
    return []


class Link:
    def __init__(
        self,
        name: str,
        connect: Connect,
        session: Session,
        log: Log,
        *,
        max_bytes: int,
        on_answer: Callable[[ToClient], None],
        on_pressure: Callable[[bool], None] = lambda _: None,
        on_end: Callable[[], None] = lambda: None,
        on_idle: Callable[[], None] = lambda: None,
    ) -> None:
        """`on_answer` is given every message for the client; `on_pressure` True when the upstream does not keep up.
        `on_idle` is called when nothing is fetched or worked on any more (see `is_busy`)."""
        self._on_end: Callable[[], None] | None = on_end
        self.session = session
        self._name, self._connect, self._log = name, connect, log
        self._max_bytes = max_bytes
        self._on_answer, self._on_pressure = on_answer, on_pressure
        self.room = asyncio.Event()
        """Unset while the upstream does not keep up with what it is sent."""
        self.room.set()
        self._unstuck = asyncio.Event()
        """Set when an answer that was refused for its size has ended, or its server has gone."""
        self._upstream: Channel | None = None
        self._voice: object = None
        """Marks whose lines we read: not those of a server that we have left."""
        self._starting: list[ToUpstream] | None = None
        """What waits for a server that is being started; None if there is none."""
        self._revival = Revival()
        self.failure: UpstreamError = UpstreamUnreachable(f"the upstream {name} was not started")
        """Why there is no upstream, if there is none."""
        self._tasks = BackgroundTasks(on_idle)
        self._waits = BackgroundTasks(on_idle)
        """Fetches before a call can be answered; they are cancelled when we end."""
        self._is_ending = False
        self._patience: asyncio.TimerHandle | None = None
        """The timeout of a handshake."""
        self._watching: asyncio.TimerHandle | None = None
        self.was_up = False
        self.greeted: asyncio.Future[bytes] | None = None
        """Set if somebody waits for the answer to the handshake that the session was primed with."""

    @property
    def is_up(self) -> bool:
        return self._upstream is not None

    @property
    def is_busy(self) -> bool:
        """Whether something is still being fetched or computed for an answer."""
        return bool(self._waits) or bool(self._tasks)

    async def start(self) -> None:
        """Start the server. If that fails, `failure` says why, and the next call tries again."""
        self._starting = self._starting or []
        await self._restart(first=True)

    async def end(self, grace_seconds: float) -> None:
        self._is_ending = True
        self._waits.cancel()
        for timer in (self._patience, self._watching):
            if timer is not None:
                timer.cancel()
        if self._starting is not None:
            # A server that is just being started would outlive us.
            await self._tasks.finish(_STARTING_SECONDS)
        if self._upstream is not None:
            upstream, self._upstream = self._upstream, None
            self._tasks.start(upstream.end(grace_seconds))
        # Also those that were lost before and are still being ended.
        await self._tasks.finish(_ENDING_SECONDS)
        self.session.close()
        on_end, self._on_end = self._on_end, None
        if on_end is not None:
            on_end()

    # Messages

    def from_client(self, line: Line, arrival: Arrival | None = None) -> None:
        if self.session.silence.limit_seconds and self._watching is None:
            self._watch()
        try:
            self.do(self.session.from_client(line, arrival), line, self.session.fail)
        except Exception as error:  # noqa: BLE001  # one message must not end the session
            self._log.write("internal_error", {"side": "client", "error": repr(error)[:200]}, "error")
            self.do(self.session.fail(line, "Brimgate failed on this message; its log says why"))

    def _watch(self) -> None:
        """Look now and then for calls that the upstream says nothing about, as long as there are calls."""
        seconds = min(self.session.silence.limit_seconds / 4 or _LOOK_SECONDS, _LOOK_SECONDS)
        self._watching = asyncio.get_running_loop().call_later(seconds, self._end_silent)

    def _end_silent(self) -> None:
        self._watching = None
        self.do(self.session.end_silent())
        if self.session.pending_calls and not self._is_ending:
            self._watch()

    def _from_upstream(self, line: Line) -> None:
        try:
            self.do(self.session.from_upstream(line), line, self.session.give_up_on)
        except Exception as error:  # noqa: BLE001  # one message must not end the session
            self._log.write("internal_error", {"side": "upstream", "error": repr(error)[:200]}, "error")
            self.do(self.session.give_up_on(line, "Brimgate failed on this answer; its log says why"))

    def do(self, actions: list[Action], line: Line = b"", failing: _Failing = _nothing) -> None:
        """Carry out actions. `failing` returns what to do for the line if the work fails, given a message."""
        for action in actions:
            match action:
                case ToClient():
                    self._on_answer(action)
                case ToUpstream():
                    self._send(action)
                case Decided(decision):
                    self._log.decided(decision)
                case Listed():
                    self._log.listed(self._name, action.measure, is_first=action.is_first)
                case Note():
                    self._log.write_seldom(
                        action.event, {"upstream": self._name} | action.fields, action.level
                    )
                case Work():
                    self._work(action, line, failing)
                case Wait():
                    self._waits.start(self._wait(action, line, failing))
                case Greeted():
                    self._note_greeting(action)
                case _:
                    assert_never(action)

    def _work(self, work: Work, line: Line, failing: _Failing) -> None:
        if work.is_quick and work.errand is None:
            self.do(work.run())
        else:
            self._tasks.start(self._work_elsewhere(work, line, failing))

    async def _work_elsewhere(self, work: Work, line: Line, failing: _Failing) -> None:
        """Do work in a thread, while others are served. Whoever waits for it gets an answer in any case."""
        try:
            done = await run_work(
                work.run, work.size, blocks=work.blocks, errand=work.errand, waits=work.waits
            )
            self.do(done)
        except Exception as error:  # noqa: BLE001  # one message must not end the session
            self._log.write("internal_error", {"side": "work", "error": repr(error)[:200]}, "error")
            self.do(failing(line, "Brimgate failed on this message; its log says why"))

    async def _wait(self, wait: Wait, line: Line, failing: _Failing) -> None:
        try:
            await wait.until()
            self.do(wait.then(), line, failing)
        except (UpstreamError, ClientError) as error:
            self.do(wait.failed(error))
        except Exception as error:  # noqa: BLE001  # one message must not end the session
            self._log.write("internal_error", {"side": "wait", "error": repr(error)[:200]}, "error")
            self.do(failing(line, "Brimgate failed on this message; its log says why"))

    def _note_greeting(self, greeted: Greeted) -> None:
        if self.greeted is not None and not self.greeted.done():
            self.greeted.set_result(greeted.answer)

    def _send(self, action: ToUpstream) -> None:
        if self._starting is not None:
            self._starting.append(action)
        elif self._upstream is None:
            self._revive_for(action)
        elif action.expects_answer and self._upstream.is_stuck:
            self._starting = [action]
            self._unstuck.clear()
            self._tasks.start(self._unstick(self._upstream))
        else:
            self._upstream.send(action.data)

    def _refuse(self, beginning: bytes) -> None:
        self.do(self.session.refuse_answer(beginning, self._max_bytes))

    def _note_pressure(self, pressed: bool) -> None:
        if pressed:
            self.room.clear()
        else:
            self.room.set()
        self._on_pressure(pressed)

    def pause(self) -> None:
        """Pause the server because the client does not keep up, as it would without us."""
        if self._upstream is not None:
            self._upstream.pause()

    def resume(self) -> None:
        if self._upstream is not None:
            self._upstream.resume()

    # Lifetime of the server

    async def _adopt(self) -> None:
        voice = self._voice = object()

        def failed(line: Line, keys: Sequence[bytes], failure: UpstreamError) -> None:
            if self._voice is voice:
                self.do(self.session.fail_requests(line, keys, failure))

        listener = Listener(
            on_line=lambda line: self._from_upstream(line) if self._voice is voice else None,
            on_failed=failed,
            on_too_long=self._refuse,
            on_lost=self._lost,
            on_pressure=self._note_pressure,
            on_chatter=lambda text: self._log.pass_on(self._name, text),
            on_unstuck=self._unstuck.set,
        )
        upstream = await self._connect(listener)
        self._revival.started(time.monotonic())
        self._note_pressure(False)
        self._upstream = upstream
        self.was_up = True

    def _lost(self, upstream: Channel, failure: UpstreamError) -> None:
        if self._upstream is not upstream:
            return  # we have already left it
        self._upstream = None
        self.room.set()
        self._unstuck.set()
        self._note_death(failure)
        if self._starting is not None:
            self._starting.clear()  # these calls are answered below, and must not run afterwards
        self._fail_greeting()
        self.do(self.session.fail_pending(failure, ". The next call starts it again."))
        self._tasks.start(upstream.end(0.0))

    def _fail_greeting(self) -> None:
        if self.greeted is not None and not self.greeted.done():
            self.greeted.set_exception(self.failure)
            with suppress(UpstreamError):
                self.greeted.exception()  # nobody may be waiting for it

    def _note_death(self, failure: UpstreamError) -> None:
        self.failure = failure.with_traceback(None)  # which would keep its frames as long as we live
        self._revival.died(time.monotonic())
        fields = {"upstream": self._name, "kind": failure.kind, "reason": str(failure)}
        self._log.write("upstream_lost", fields, "error")

    def _revive_for(self, action: ToUpstream) -> None:
        """Restart the server for a call. A message that expects no answer is not worth it."""
        if not action.expects_answer or self._is_ending:
            return
        wait = self._revival.wait_seconds(time.monotonic())
        if wait > 0:
            advice = f". It has died {self._revival.deaths} times in a row; next try in {wait:.1f} s."
            self.do(self.session.fail(action.data, self.failure, advice))
            return
        self._starting = [action]
        self._tasks.start(self._restart())

    async def _unstick(self, upstream: Channel) -> None:
        """Wait for the end of a refused answer, or end the server."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_STUCK_SECONDS):
                await self._unstuck.wait()
        if self._upstream is upstream and upstream.is_stuck:
            self._upstream = None
            what = "was in an answer without end and had to be stopped"
            self._note_death(UpstreamLost(f"the upstream {self._name} {what}"))
            waiting = [action.data for action in self._starting or []]
            self.do(self.session.fail_pending(self.failure, but=waiting))
            self._tasks.start(upstream.end(0.0))
        if self._upstream is None:
            await self._restart()
            return
        waiting, self._starting = self._starting or [], None
        for action in waiting:
            self._upstream.send(action.data)

    async def _restart(self, *, first: bool = False) -> None:
        try:
            await self._adopt()
        except UpstreamError as error:
            self._note_death(error)
        waiting, self._starting = self._starting or [], None
        if self._upstream is None:
            self._fail_greeting()
            for action in waiting:
                self.do(self.session.fail(action.data, self.failure))
            return
        if not first:
            self._log.write("upstream_restarted", {"upstream": self._name})
        if not any(self.session.is_greeting_of_client(action.data) for action in waiting):
            self.do(self.session.revive())
        self.do(self.session.hold_back(list(waiting)))
        if self.session.is_greeting:
            loop = asyncio.get_running_loop()
            self._patience = loop.call_later(_GREETING_SECONDS, self._check_greeting, self._upstream)

    def _check_greeting(self, upstream: Channel) -> None:
        if self._upstream is upstream and self.session.is_greeting:
            what = "was started and does not answer the handshake"
            self._lost(upstream, UpstreamTimeout(f"the upstream {self._name} {what}"))
