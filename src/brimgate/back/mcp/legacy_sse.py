"""A server behind HTTP+SSE, the transport of 2024-11-05: it sends on one stream, and receives by POST."""

import asyncio
from collections import deque
from contextlib import suppress
from typing import Final
from urllib.parse import urljoin

from brimgate.back.channel import Line, Listener
from brimgate.back.mcp.request import Backlog, Outgoing, Waiting, read_outgoing
from brimgate.back.mcp.response import Ear, Events, is_event_stream, read_refusal
from brimgate.back.mcp.server import HttpServer, ReachableServer, target_of
from brimgate.errors import (
    AnswerTooLarge,
    ConfigError,
    UpstreamError,
    UpstreamGarbled,
    UpstreamLost,
    UpstreamRefused,
    UpstreamTimeout,
    UpstreamUnreachable,
)
from brimgate.http.client import Origin, Response
from brimgate.http.sse import Event, in_turns
from brimgate.relay.protocol import message as rpc
from brimgate.relay.protocol.message import messages_in, one_line
from brimgate.relay.trace_context import context_headers
from brimgate.wire.framing import TooLong

_OPENING_SECONDS: Final = 10.0
_POST_SECONDS: Final = 30.0
_ORDER_SECONDS: Final = 1.0
"""A POST that is answered later than this no longer delays the messages after it."""
_MAX_DROPPED_BYTES: Final = 64 << 10
_EVENTS: Final = [(b"accept", b"text/event-stream")]
_JSON: Final = [(b"content-type", b"application/json")]


class SseServer(ReachableServer):
    """Begins a conversation, as often as it is asked to."""

    async def connect(self, listener: Listener) -> "SseUpstream":
        http = self.http()
        upstream = SseUpstream(self.name, http, listener, self.max_bytes, is_traced=self.is_traced)
        try:
            async with asyncio.timeout(_OPENING_SECONDS):
                await upstream.open()
        except TimeoutError:
            await http.close()
            what = f"does not say within {_OPENING_SECONDS:.0f} s where it takes messages: is it a server of HTTP+SSE?"
            raise UpstreamTimeout(f"the upstream {self.name} {what}") from None
        except ValueError as error:
            await http.close()
            raise UpstreamUnreachable(f"the upstream {self.name} cannot be called: {error}") from None
        except BaseException:
            await http.close()
            raise
        upstream.start()
        return upstream


class SseUpstream:
    def __init__(
        self, name: str, http: HttpServer, listener: Listener, max_bytes: int, *, is_traced: bool = False
    ) -> None:
        self._is_traced = is_traced
        self._name, self._http, self._listener = name, http, listener
        self._ear = Ear(max_bytes)
        self._events = Events(max_bytes)
        self._early: list[Event | TooLong] = []
        """Events that came together with the address."""
        self._stream: Response | None = None
        self._target = b""
        self._waiting = Waiting()
        self._backlog = Backlog(listener.on_pressure)
        self._unsent: deque[Outgoing] = deque()
        self._sending: asyncio.Task[None] | None = None
        self._posts: set[asyncio.Task[None]] = set()
        self._hearing: asyncio.Task[None] | None = None
        self._is_over = False
        self._ending: asyncio.Task[None] | None = None

    @property
    def is_stuck(self) -> bool:
        return self._events.is_skipping

    def pause(self) -> None:
        self._ear.pause()

    def resume(self) -> None:
        self._ear.resume()

    # Opening

    async def open(self) -> None:
        """Wait until the server has said where it takes messages. Raise UpstreamError if it does not."""
        self._stream = response = await self._http.call(b"GET", _EVENTS, None)
        if response.status != 200:
            raise (await read_refusal(response)).failure(self._name)
        if not is_event_stream(response):
            raise UpstreamGarbled(
                f"the upstream {self._name} does not answer with events: is it one of HTTP+SSE?"
            )
        while not self._target:
            piece = await response.next()
            if not piece:
                raise UpstreamLost(f"the upstream {self._name} closed its stream at once")
            for event in self._events.feed(piece):
                self._note_first(event)

    def _note_first(self, event: Event | TooLong) -> None:
        if self._target:
            self._early.append(event)
        elif isinstance(event, Event) and event.name == b"endpoint" and event.data:
            self._target = self._target_at(event.data.decode("utf-8", "replace").strip())

    def _target_at(self, address: str) -> bytes:
        there, is_ours = "", False
        with suppress(ConfigError, ValueError):
            there = urljoin(self._http.url, address)
            is_ours = Origin.of(there) == Origin.of(self._http.url)
        if not is_ours:
            raise UpstreamRefused(
                f"the upstream {self._name} wants its messages at another origin: we do not go there"
            )
        return target_of(there)

    def start(self) -> None:
        self._hearing = asyncio.get_running_loop().create_task(self._hear_all())

    # In

    async def _hear_all(self) -> None:
        reason = f"the upstream {self._name} closed its stream"
        try:
            await self._hear_stream()
        except UpstreamError as error:
            reason = f"{reason}: {error}"
        finally:
            self._lose(reason)

    async def _hear_stream(self) -> None:
        if self._stream is None:
            raise AssertionError("open() comes first")
        for event in self._early:
            self._hear(event)
        while piece := await self._ear.next(self._stream):
            was_stuck = self.is_stuck
            async for event in in_turns(self._events.feed(piece)):
                self._hear(event)
            if was_stuck and not self.is_stuck:
                self._listener.on_unstuck()

    def _hear(self, event: Event | TooLong) -> None:
        if self._is_over:
            return
        if isinstance(event, TooLong):
            self._refuse_size(event.beginning)
        elif event.name == b"message" and event.data and (line := one_line(event.data)):
            self._pass_on(line)

    def _pass_on(self, line: bytes) -> None:
        """Pass on a message; an answer only if somebody waits for it.

        Whoever was told of a failure gets no second answer.
        """
        messages = messages_in(line)
        answers = [one.key for one in messages if not one.method and one.key not in (b"", b"null")]
        awaited = [key for key in answers if self._waiting.take(key)]
        if awaited or len(answers) < len(messages) or not messages:
            self._listener.on_line(line)

    def _refuse_size(self, beginning: bytes) -> None:
        key = rpc.guess_id(beginning)
        if not self._waiting.take(key):
            # All who wait will be told, because nobody knows whose it was.
            self._waiting.take_all()
        self._listener.on_too_long(beginning)

    def _lose(self, reason: str) -> None:
        if not self._is_over:
            self._is_over = True
            self._listener.on_lost(self, UpstreamLost(reason))

    # Out

    def send(self, line: Line) -> None:
        if self._is_over:
            return
        sent = read_outgoing(line)
        for key in sent.keys:
            self._waiting.add(key)
        self._waiting.take(sent.cancels)
        self._backlog.add(sent)
        self._unsent.append(sent)
        if self._sending is None:
            self._sending = asyncio.get_running_loop().create_task(self._send_all())

    async def _send_all(self) -> None:
        try:
            while self._unsent and not self._is_over:
                sent = self._unsent.popleft()
                self._backlog.remove(sent)
                post = asyncio.get_running_loop().create_task(self._post(sent))
                self._posts.add(post)
                post.add_done_callback(self._posts.discard)
                await asyncio.wait((post,), timeout=_ORDER_SECONDS if sent.keys else None)
        finally:
            self._sending = None

    async def _post(self, sent: Outgoing) -> None:
        try:
            async with asyncio.timeout(_POST_SECONDS):
                await self._deliver(sent)
        except TimeoutError:
            text = f"the upstream {self._name} did not take the message within {_POST_SECONDS:.0f} s"
            self._fail(sent, UpstreamTimeout(text))
        except UpstreamError as error:
            self._fail(sent, error)
        except ValueError as error:  # it cannot be written as a request, so it was not sent
            self._fail(sent, UpstreamUnreachable(str(error)))

    async def _deliver(self, sent: Outgoing) -> None:
        """Hand a message to the server. Raise UpstreamError if it does not accept it."""
        headers = [*_JSON, *context_headers(sent.line)] if self._is_traced else _JSON
        response = await self._http.call(b"POST", headers, sent.line, target=self._target)
        if not 200 <= response.status < 300:
            raise (await read_refusal(response)).failure(self._name)
        with suppress(AnswerTooLarge):
            try:
                await response.read(_MAX_DROPPED_BYTES)
            finally:
                response.abort()

    def _fail(self, sent: Outgoing, failure: UpstreamError) -> None:
        if self._is_over:
            return
        keys = [key for key in sent.keys if self._waiting.take(key)]
        if keys:
            self._listener.on_failed(sent.line, keys, failure)
        elif not sent.keys:
            self._listener.on_chatter(f"{failure} ({sent.method or 'an answer of the client'})")

    # Closing

    async def end(self, grace_seconds: float) -> None:
        self._is_over = True
        if self._ending is None:
            self._ending = asyncio.get_running_loop().create_task(self._end())
        await asyncio.shield(self._ending)

    async def _end(self) -> None:
        tasks = [task for task in (self._sending, self._hearing, *self._posts) if task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await self._http.close()
