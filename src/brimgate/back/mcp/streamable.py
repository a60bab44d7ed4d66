"""A server behind Streamable HTTP, in either era, as a channel of single messages."""

import asyncio
from collections import deque
from contextlib import suppress
from typing import Final

from brimgate.back.channel import Line, Listener
from brimgate.back.mcp.exchange import Exchange
from brimgate.back.mcp.request import Backlog, Outgoing, read_outgoing
from brimgate.back.mcp.response import Ear
from brimgate.back.mcp.server import ReachableServer, ServerConversation, StandingStream
from brimgate.errors import UpstreamError, UpstreamUnreachable
from brimgate.relay.protocol.message import (
    PARSE_ERROR,
    Garbage,
    Message,
    failure,
    guess_id,
    messages_in,
    read_any,
)

_MAX_RUNNING: Final = 100
_REACH_SECONDS: Final = 10.0
_NOTE_SECONDS: Final = 30.0
_CANCELLED_SECONDS: Final = 30.0
"""After this time, a request that the server was told to cancel, but does not end, no longer counts."""
_LEAST_GRACE_SECONDS: Final = 0.5
"""A session that nobody ends stays on the server for hours."""


class StreamableServer(ReachableServer):
    """Begins a conversation, as often as it is asked to."""

    async def connect(self, listener: Listener) -> "StreamableUpstream":
        http = self.http()
        try:
            async with asyncio.timeout(_REACH_SECONDS):
                await http.reach()
        except TimeoutError:
            await http.close()
            raise UpstreamUnreachable(
                f"the upstream {self.name} cannot be reached: no connection in time"
            ) from None
        except BaseException:
            await http.close()
            raise
        conversation = ServerConversation(self.name, http, Ear(self.max_bytes), is_traced=self.is_traced)
        return StreamableUpstream(conversation, listener)


class StreamableUpstream:
    """Runs requests in parallel. Messages without an answer are sent in order."""

    def __init__(self, conversation: ServerConversation, listener: Listener) -> None:
        self._conversation, self._listener = conversation, listener
        self._backlog = Backlog(listener.on_pressure)
        self._held: deque[Outgoing] = deque()
        self._is_holding = False
        """A handshake is under way: nothing else may reach the server."""
        self._greeting: Exchange | None = None
        self._queued: deque[Outgoing] = deque()
        self._running: dict[Exchange, asyncio.Task[None]] = {}
        self._notes: deque[Outgoing] = deque()
        self._noting: asyncio.Task[None] | None = None
        self._standing: asyncio.Task[None] | None = None
        self._is_over = False
        self._is_lost = False
        self._ending: asyncio.Task[None] | None = None

    @property
    def is_stuck(self) -> bool:
        """Always False: every answer has a stream of its own."""
        return False

    def pause(self) -> None:
        self._conversation.ear.pause()

    def resume(self) -> None:
        self._conversation.ear.resume()

    # Out

    def send(self, line: Line) -> None:
        if self._is_over:
            return
        sent = read_outgoing(line)
        if isinstance(garbage := read_any(line), Garbage):
            # Over HTTP every message stands for itself, and nobody takes what is none.
            text = f"this is not a JSON-RPC message, and was not sent: {garbage.reason[:200]}"
            self._listener.on_line(failure(guess_id(line), PARSE_ERROR, text))
            return
        self._backlog.add(sent)
        if self._is_holding:
            self._held.append(sent)
        else:
            self._dispatch(sent)

    def _dispatch(self, sent: Outgoing) -> None:
        if sent.method == "initialize" and sent.keys:
            self._greet(sent)
        elif sent.keys:
            self._queued.append(sent)
            self._start_queued()
        elif not self._cancels_quietly(sent):
            self._is_holding = sent.method == "notifications/initialized"
            self._notes.append(sent)
            if self._noting is None:
                self._noting = asyncio.get_running_loop().create_task(self._tell_all())
        else:
            self._backlog.remove(sent)

    def _greet(self, sent: Outgoing) -> None:
        if self._standing is not None:
            self._standing.cancel()
        self._is_holding = True
        self._greeting = self._start(sent)

    def _release(self) -> None:
        self._is_holding = False
        while self._held and not self._is_holding and not self._is_over:
            self._dispatch(self._held.popleft())

    # Requests

    def _start_queued(self) -> None:
        while self._queued and len(self._running) < _MAX_RUNNING and not self._is_over:
            self._start(self._queued.popleft())

    def _start(self, sent: Outgoing) -> Exchange:
        self._backlog.remove(sent)
        exchange = Exchange(sent, self._conversation, self)
        task = asyncio.get_running_loop().create_task(exchange.run())
        self._running[exchange] = task
        task.add_done_callback(lambda task: self._finished(exchange, task))
        return exchange

    def _finished(self, exchange: Exchange, task: "asyncio.Task[None]") -> None:
        del self._running[exchange]
        if not task.cancelled() and (error := task.exception()) is not None:
            exchange.fail(UpstreamError(f"Brimgate failed on this message: {error!r:.200}"))
        self._check_greeting(exchange)
        self._start_queued()

    def _check_greeting(self, exchange: Exchange | None) -> None:
        if exchange is not None and exchange is self._greeting and not exchange.waiting:
            self._greeting = None
            self._release()

    def _cancels_quietly(self, sent: Outgoing) -> bool:
        """Cancel a request. Return whether the server need not be told."""
        key = sent.cancels
        if not key:
            return False
        for waiting in self._queued:
            if waiting.keys == (key,):
                self._queued.remove(waiting)
                self._backlog.remove(waiting)
                return True
        for exchange, task in self._running.items():
            if key in exchange.waiting:
                exchange.is_cancelled = True
                # In the newer era closing the connection cancels; in the older one the answer may still come.
                seconds = 0.0 if exchange.sent.is_modern else _CANCELLED_SECONDS
                asyncio.get_running_loop().call_later(seconds, task.cancel)
                return exchange.sent.is_modern
        return not self._conversation.is_greeted

    # Messages without an answer

    async def _tell_all(self) -> None:
        try:
            while self._notes and not self._is_over:
                sent = self._notes.popleft()
                self._backlog.remove(sent)
                if sent.method == "notifications/initialized":
                    await self._confirm(sent)
                else:
                    await self._tell(sent)
        finally:
            self._noting = None

    async def _confirm(self, sent: Outgoing) -> None:
        """Do the last step of the handshake. What was held back is sent after it."""
        try:
            if await self._tell(sent) and self._conversation.is_greeted:
                self._stand()
        finally:
            self._release()

    async def _tell(self, sent: Outgoing) -> bool:
        try:
            async with asyncio.timeout(_NOTE_SECONDS):
                return await Exchange(sent, self._conversation, self).tell()
        except TimeoutError:
            self.chatter(
                f"the upstream {self._conversation.name} did not take {sent.method or 'an answer'} in time"
            )
        except (UpstreamError, ValueError) as error:
            self.chatter(f"{sent.method or 'an answer'} did not reach the upstream: {error}")
        return False

    def _stand(self) -> None:
        if self._standing is not None:
            self._standing.cancel()
        stream = StandingStream(
            self._conversation,
            on_line=lambda line: self.heard(line, messages_in(line), None),
            on_lost=self.lost,
            on_chatter=self.chatter,
        )
        self._standing = asyncio.get_running_loop().create_task(stream.run())

    # In

    def heard(self, line: bytes, messages: list[Message], exchange: Exchange | None) -> None:
        """Pass on what the server sends; an answer only if somebody waits for it, so that nobody gets two."""
        if self._is_over:
            return
        answers = [one.key for one in messages if not one.method]
        awaited = [key for key in answers if self._settle(key, exchange)]
        if awaited or len(answers) < len(messages) or not messages:
            self._listener.on_line(line)
        self._check_greeting(exchange)

    def _settle(self, key: bytes, exchange: Exchange | None) -> bool:
        if exchange is not None and exchange.settle(key):
            return True
        return any(one.settle(key) for one in self._running if one is not exchange)

    def say(self, line: bytes) -> None:
        if not self._is_over:
            self._listener.on_line(line)

    def failed(self, sent: Outgoing, keys: list[bytes], failure: UpstreamError) -> None:
        if not self._is_over:
            self._listener.on_failed(sent.line, keys, failure)

    def too_long(self, beginning: bytes) -> None:
        if not self._is_over:
            self._listener.on_too_long(beginning)

    def chatter(self, text: str) -> None:
        if not self._is_over:
            self._listener.on_chatter(text)

    def lost(self, failure: UpstreamError) -> None:
        if not self._is_over:
            self._is_over = self._is_lost = True
            self._listener.on_lost(self, failure)

    # Closing

    async def end(self, grace_seconds: float) -> None:
        self._is_over = True
        if self._ending is None:
            self._ending = asyncio.get_running_loop().create_task(self._end(grace_seconds))
        await asyncio.shield(self._ending)

    async def _end(self, grace_seconds: float) -> None:
        tasks = [task for task in (self._noting, self._standing, *self._running.values()) if task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        if self._conversation.session_id and not self._is_lost:
            with suppress(UpstreamError, ValueError, TimeoutError):
                async with asyncio.timeout(max(grace_seconds, _LEAST_GRACE_SECONDS)):
                    await self._conversation.part()
        await self._conversation.http.close()
