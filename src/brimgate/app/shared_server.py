"""One server for the single exchanges of many clients (since 2026-07-28), all at once."""

import asyncio
import time
from collections.abc import Callable
from typing import Any, Final

from brimgate.app.link import Link
from brimgate.back.channel import Connect
from brimgate.errors import UpstreamError
from brimgate.front.mcp.stateless import Replies
from brimgate.guard.principal import Principal
from brimgate.relay.actions import Line, ToClient
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
from brimgate.relay.trace_context import Arrival
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
        on_end: Callable[[], None],
        owner: Principal,
    ) -> None:
        self._name, self._log, self._catalog = name, log, catalog
        self.owner = owner
        # The first message decides the era of a server that speaks both, so we send it.
        session.prime(_DISCOVER)
        self.link = Link(
            name, connect, session, log, max_bytes=max_bytes, on_answer=self._deliver, on_end=on_end
        )
        self._seats: Multiplexer[Replies] = Multiplexer()
        self.used_at = time.monotonic()
        self._unroutable = 0
        self._unlisted: set[str] = set()
        """Tools that were called and are in no list."""

    async def is_modern(self) -> bool:
        """Start the server and ask for its era. Raise UpstreamError if it cannot be started."""
        self.link.greeted = asyncio.get_running_loop().create_future()
        await self.link.start()
        if not self.link.is_up:
            raise self.link.failure
        try:
            async with asyncio.timeout(_PROBE_SECONDS):
                return speaks_modern(await asyncio.shield(self.link.greeted))
        except (TimeoutError, UpstreamError):
            # It does not answer, or died of it: a server of the older era.
            return False

    @property
    def is_idle(self) -> bool:
        return not len(self._seats)

    # Exchanges

    def enter(self, line: bytes, replies: Replies, arrival: Arrival | None = None) -> int:
        """Send a request. Raise ValueError if its id or token cannot be made unique."""
        self.used_at = time.monotonic()
        number, seen = self._seats.enter(line, replies)
        self.link.from_client(seen, arrival)
        return number

    def leave(self, number: int) -> None:
        self.used_at = time.monotonic()
        if cancelled := self._seats.leave(number):
            self.link.from_client(cancelled)

    def tell(self, line: bytes) -> None:
        """Send a notification of a client."""
        self.used_at = time.monotonic()
        if seen := self._seats.noted(line):
            self.link.from_client(seen)

    def _deliver(self, answer: ToClient) -> None:
        is_routed = False
        for one in self._seats.route(answer.data):
            is_routed = True
            one.who.put(one.line, is_last=one.is_last, failure=answer.failure)
        if not is_routed:
            self._refuse(answer.data)

    def _refuse(self, line: Line) -> None:
        """Answer a request, which no client of this era takes. Count everything else that nobody can get."""
        for message in rpc.messages_in(line):
            if message.is_request:
                text = f"since {MODERN_VERSION} a server sends no requests: it answers with what it needs"
                self.link.from_client(rpc.failure(message.key, rpc.METHOD_NOT_FOUND, text))
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
                async with asyncio.timeout(LIST_SECONDS):
                    await self._list({VERSION_KEY: MODERN_VERSION, **meta})
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
            number = self.enter(request(0, "tools/list", list_params(meta, cursor)), replies)
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
