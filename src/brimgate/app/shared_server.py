"""One server for the single exchanges of many clients (since 2026-07-28)."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final

import msgspec

from brimgate.app.link import Link
from brimgate.back.channel import Connect
from brimgate.errors import UpstreamError
from brimgate.front.mcp.stateless import Replies
from brimgate.relay.actions import ToClient
from brimgate.relay.catalog import Catalog
from brimgate.relay.protocol import message as rpc
from brimgate.relay.protocol.client import (
    LIST_SECONDS,
    MAX_LIST_PAGES,
    MODERN_META,
    list_params,
    read_tool_page,
    request,
    speaks_modern,
)
from brimgate.relay.protocol.headers import ParamHeaders
from brimgate.relay.protocol.ids import Multiplexer
from brimgate.relay.protocol.message import Message
from brimgate.relay.protocol.versions import MODERN_VERSION, VERSION_KEY
from brimgate.relay.session import Session
from brimgate.watch.log import Log

_PROBE_SECONDS: Final = 15.0
_MAX_UNLISTED: Final = 1_000
_MAX_NAME_CHARS: Final = 200
_DISCOVER: Final = request(0, "server/discover", {"_meta": MODERN_META})


class SharedServer:
    def __init__(
        self,
        name: str,
        connect: Connect,
        session: Session,
        catalog: Catalog,
        log: Log,
        *,
        max_bytes: int,
        one_at_a_time: bool,
        on_end: Callable[[], None],
    ) -> None:
        """Create it.

        With `one_at_a_time`, a message of no particular call, such as a log, belongs to the current one.
        """
        self._name, self._log, self._catalog = name, log, catalog
        # The first message decides the era of a server that speaks both, so we send it.
        session.prime(_DISCOVER)
        self.link = Link(
            name, connect, session, log, max_bytes=max_bytes, on_answer=self._deliver, on_end=on_end
        )
        self._seats: Multiplexer[Replies] = Multiplexer()
        self._one_at_a_time = one_at_a_time
        self._queue: deque[tuple[int, bytes, Replies]] = deque()
        self._current: tuple[int, Replies] | None = None
        self.used_at = time.monotonic()
        self._unroutable = 0
        self._unlisted: set[str] = set()
        """Tools that were called and are in no list."""
        self._is_spoilt = False
        """A cancelled call may still send messages."""

    async def is_modern(self) -> bool:
        """Start the server and ask for its era. Raise UpstreamError if it cannot be started."""
        self.link.greeted = asyncio.get_running_loop().create_future()
        await self.link.start()
        if not self.link.is_up:
            raise self.link.failure
        try:
            return speaks_modern(await asyncio.wait_for(asyncio.shield(self.link.greeted), _PROBE_SECONDS))
        except (TimeoutError, UpstreamError):
            # It does not answer, or died of it: a server of the older era.
            return False

    @property
    def is_idle(self) -> bool:
        return not len(self._seats) and not self._queue

    # Exchanges

    def enter(self, message: Message, replies: Replies) -> int:
        self.used_at = time.monotonic()
        number, line = self._seats.enter(message, replies)
        if not self._one_at_a_time:
            self.link.from_client(line)
        elif self._current is None:
            self._begin(number, line, replies)
        else:
            self._queue.append((number, line, replies))
        return number

    def leave(self, number: int) -> None:
        self.used_at = time.monotonic()
        waiting = [entry for entry in self._queue if entry[0] == number]
        cancelled = self._seats.leave(number)
        if waiting:
            self._queue.remove(waiting[0])
        elif cancelled:
            self.link.from_client(cancelled)
            if self._one_at_a_time:
                # It may continue for a while, and its messages must not be taken for the next call's.
                self._is_spoilt = not self.link.part()
        self._next(number)

    def _next(self, done: int) -> None:
        if self._current is None or self._current[0] != done:
            return
        self._current = None
        if self._queue:
            self._begin(*self._queue.popleft())

    def _begin(self, number: int, line: bytes, replies: Replies) -> None:
        self._current = (number, replies)
        if self._is_spoilt:
            self._is_spoilt = not self.link.part()
        self.link.from_client(line)

    def _deliver(self, answer: ToClient) -> None:
        routed = False
        for one in self._seats.route(answer.data):
            routed = True
            one.who.put(one.line, is_last=one.is_last, failure=answer.failure)
            if one.is_last and self._current is not None and self._current[1] is one.who:
                self._next(self._current[0])
        if not routed:
            self._deliver_rest(answer)

    def _deliver_rest(self, answer: ToClient) -> None:
        message = rpc.read(answer.data)
        is_notification = isinstance(message, Message) and bool(message.method) and not message.key
        if is_notification and self._current is not None and not self._is_spoilt:
            self._current[1].put(answer.data, is_last=False)
            return
        self._unroutable += 1
        if self._unroutable in (1, 100, 10_000):
            self._log.write("unroutable", {"upstream": self._name, "messages": self._unroutable}, "warning")

    # Arguments repeated in headers

    async def param_headers(self, tool: str, meta: dict[str, Any]) -> ParamHeaders:
        """Return the header parameters of a tool.

        If it is unknown, list the tools first. If that fails, the call goes on unchecked.
        """
        known = self._catalog.param_headers
        if tool not in known and tool not in self._unlisted and tool != self.link.session.rules.read_tool:
            try:
                await asyncio.wait_for(self._list({VERSION_KEY: MODERN_VERSION, **meta}), LIST_SECONDS)
            except TimeoutError:
                self._log.write("list_timeout", {"upstream": self._name}, "warning")
            if tool not in known:
                self._note_unlisted(tool)
        return known.get(tool, ())

    def _note_unlisted(self, tool: str) -> None:
        """Remember that a tool is not listed, so that we do not ask again. Bounded, because anyone can invent names."""
        if len(self._unlisted) >= _MAX_UNLISTED:
            self._unlisted.clear()
        if len(tool) <= _MAX_NAME_CHARS:
            self._unlisted.add(tool)

    async def _list(self, meta: dict[str, Any]) -> None:
        cursor = ""
        for _ in range(MAX_LIST_PAGES):
            replies = Replies(only_last=True)
            raw = msgspec.Raw(rpc.encode(list_params(meta, cursor)))
            number = self.enter(Message(msgspec.Raw(b"0"), "tools/list", raw), replies)
            try:
                while not replies.is_done:
                    await replies.wait(LIST_SECONDS)
            finally:
                self.leave(number)
            answer = rpc.read(replies.lines[-1])
            if not isinstance(answer, Message) or answer.has_error:
                return
            cursor = read_tool_page(answer.result).nextCursor
            if not cursor:
                return
