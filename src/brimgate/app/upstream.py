"""One upstream behind `brimgate serve`: how it is reached, and who talks to it."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, assert_never
from weakref import WeakSet, WeakValueDictionary

from brimgate.app.connect import command_of, connector, is_sse, open_api
from brimgate.app.health import Probe, UpstreamHealth, check_mcp
from brimgate.app.link import Link
from brimgate.app.shared_server import SharedServer
from brimgate.back.channel import Connect
from brimgate.back.mcp.server import HttpServer
from brimgate.back.process import look_up_command
from brimgate.config.declarations import Config, Server
from brimgate.config.placeholders import filled
from brimgate.config.rule_reader import make_rules
from brimgate.engine.policy import Rules
from brimgate.errors import UpstreamError
from brimgate.front.mcp.errors import too_many
from brimgate.front.mcp.legacy_sse import LegacySse
from brimgate.front.mcp.pass_through import Through
from brimgate.front.mcp.request import HttpExchange
from brimgate.front.mcp.router import Endpoint, Handler
from brimgate.front.mcp.sessions import HandshakeSessions
from brimgate.front.mcp.stateless import StatelessExchanges
from brimgate.guard.principal import deciding_headers, principal_of
from brimgate.relay.actions import Decided, Note, ToClient, Told
from brimgate.relay.catalog import Catalog, Catalogs
from brimgate.relay.session import Session
from brimgate.watch.log import Log

if TYPE_CHECKING:
    from brimgate.back.rest.api import RestApi
    from brimgate.hold.live_lists import ClaimTickets
    from brimgate.hold.protection import Protection

_VERDICT_SECONDS: Final = 300.0
"""How long a server that speaks only the older era is not asked again."""
_CHECK_SECONDS: Final = 10.0
_START_SECONDS: Final = 60.0
"""For the check of a command: the first start may download it."""
_MAX_SHARED: Final = 500
"""Servers in our own process for single exchanges: one for each principal, and anyone can make up credentials."""
_LEAST_IDLE_SECONDS: Final = 1.0
"""A server that was used a moment ago may be about to get the next message of an exchange."""


class Slots:
    """Limits how many conversations, or servers for them, there are at once."""

    def __init__(self, most: Callable[[], int]) -> None:
        self._most = most
        self.taken = 0

    def take(self) -> bool:
        if self.taken >= self._most():
            return False
        self.taken += 1
        return True

    def give_back(self) -> None:
        self.taken -= 1


class ServedUpstream:
    def __init__(
        self,
        name: str,
        config: Config,
        protection: "Callable[[], Protection]",
        log: Log,
        slots: Slots,
        rooms: Slots,
        *,
        budget: int | None,
        messages_path: str,
    ) -> None:
        """Create it. `slots` are for processes, `rooms` for sessions. All served upstreams share them."""
        self.name = name
        self._rooms = rooms
        self._config, self._log, self._slots, self._budget = config, log, slots, budget
        self._protection = protection
        self._one = filled(config.upstreams[name])
        self._max_bytes = config.max_result_bytes
        self._read_tool = config.read_tool
        self._rules = self._make_rules(config)
        self.api: RestApi | None = open_api(self._one) if self._one.is_rest else None
        self._tickets: ClaimTickets | None = None
        self._connect = self._connector()
        self._live: WeakSet[Session] = WeakSet()
        self._deciding = deciding_headers(self._one.forward_headers)
        self._catalogs = Catalogs()
        self._shared: dict[tuple[str, str], SharedServer] = {}
        """By principal, and by client program where each has a process of its own."""
        self._probing: set[SharedServer] = set()
        """Servers whose era is not known yet."""
        self._sharing: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()
        """Held by those who wait, so that each is gone with the last of them."""
        self._older_until = float("inf") if self._one.url else 0.0
        """Until when it is known to speak only the older era; a server behind SSE always does."""
        self._needs_process = bool(self._one.command)
        self._seats = slots if self._needs_process else Slots(lambda: _MAX_SHARED)
        """For shared servers."""
        self._old_was_told = False

        self.health = UpstreamHealth(name, self._probe(), log, lambda: self._timing().health_interval_seconds)
        self.sessions = HandshakeSessions(self._converse, self._timing, self._note_handshake)
        self.singles = StatelessExchanges(self._share, lambda: self._timing().json_response)
        self.old_sse = LegacySse(self._converse, messages_path, self._note_old_client)
        self.through: Through | None = None
        self._http: HttpServer | None = None
        if self._one.url:
            self._http = HttpServer(name, self._one.url, self._one.headers)
            if not is_sse(self._one):
                self.through = Through(
                    self._http,
                    self._session,
                    self._tell,
                    forwarded=self._one.forward_headers,
                    max_bytes=self._max_bytes,
                )
        self._endpoint = Endpoint(self.sessions, self.singles)

    def _connector(self) -> Connect:
        if self.api is None:
            return connector(self.name, self._one, self._max_bytes)
        from brimgate.back.rest.server import RestServer
        from brimgate.hold.live_lists import ClaimTickets

        self._tickets = ClaimTickets()
        return RestServer(self.name, self.api, self._tickets).connect

    # Configuration

    def _make_rules(self, config: Config) -> Rules:
        # Clients know our tool by the name it had when they asked: a new name needs a restart.
        return make_rules(replace(config, read_tool=self._read_tool), self.name, self._budget)

    def apply(self, config: Config) -> None:
        self._config = config
        self._rules = self._make_rules(config)
        for session in self._live:
            session.rules = self._rules
            session.silence.limit_seconds = config.call_timeout_seconds

    def _timing(self) -> Server:
        return self._config.server

    # Conversations

    @property
    def handlers(self) -> dict[str, Handler]:
        """What it answers, by the beginning of the path. All of it knows whose a request is."""
        mcp = (self.through or self._endpoint).handle
        old = self.old_sse
        return {
            "/mcp": self._identified(mcp),
            "/sse": self._identified(old.sse),
            "/messages": self._identified(old.messages),
        }

    def _identified(self, handler: Handler) -> Handler:
        async def handle(exchange: HttpExchange) -> None:
            self.identify(exchange)
            await handler(exchange)

        return handle

    def identify(self, exchange: HttpExchange) -> None:
        """Decide whose a request is, the same way for MCP and for REST."""
        exchange.principal = principal_of(exchange.headers, self._deciding)

    def _session(self, catalog: Catalog | None, principal: str, *, names_calls: bool = False) -> Session:
        session = Session(
            self._rules,
            self._protection,
            time.time,
            upstream=self.name,
            principal=principal,
            catalog=catalog,
            defers_work=True,
            tickets=self._tickets,
            names_calls=names_calls,
        )
        session.silence.limit_seconds = self._config.call_timeout_seconds
        self._live.add(session)
        return session

    def _converse(self, on_answer: Callable[[ToClient], None], principal: str) -> Link:
        """Begin a conversation with a server of its own."""
        if not self._rooms.take():
            raise too_many("no more sessions can be opened now (max_sessions)", b"")
        if self._needs_process and not self._slots.take():
            self._rooms.give_back()
            raise too_many("no more servers can be started now (max_processes)", b"")
        return Link(
            self.name,
            self._connect,
            self._session(None, principal, names_calls=True),
            self._log,
            max_bytes=self._max_bytes,
            on_answer=on_answer,
            on_end=self._end_conversation,
        )

    def _end_conversation(self) -> None:
        if self._needs_process:
            self._slots.give_back()
        self._rooms.give_back()

    async def _share(self, principal: str, client: str) -> SharedServer | None:
        """Return the server that the single exchanges of a principal share, or of one of its client programs."""
        key = principal, client if self._timing().process == "per_client" else ""
        shared = self._shared.get(key)
        if shared is not None:
            shared.used_at = time.monotonic()
            return shared
        lock = self._sharing.setdefault(key, asyncio.Lock())
        async with lock:
            shared = self._shared.get(key)
            if shared is None and time.monotonic() >= self._older_until:
                shared = await self._start_shared(key)
        return shared

    async def _take_seat(self) -> bool:
        """Take a place for a shared server. If there is none, the one that has been idle for longest makes room."""
        if self._seats.take():
            return True
        until = time.monotonic() - _LEAST_IDLE_SECONDS
        idle = [key for key, shared in self._shared.items() if shared.is_idle and shared.used_at < until]
        if not idle:
            return False
        oldest = self._shared.pop(min(idle, key=lambda key: self._shared[key].used_at))
        await asyncio.shield(self.sessions.end_later(oldest.link.end(0.0)))
        return self._seats.take()

    async def _start_shared(self, key: tuple[str, str]) -> SharedServer | None:
        if not await self._take_seat():
            what = (
                "servers can be started now (max_processes)" if self._needs_process else "callers fit in now"
            )
            raise too_many(f"no more {what}", b"")
        catalog = self._catalogs.of(key[0])
        shared = SharedServer(
            self.name,
            self._connect,
            self._session(catalog, key[0], names_calls=True),
            catalog,
            self._log,
            max_bytes=self._max_bytes,
            on_end=self._seats.give_back,
        )
        is_modern = False
        self._probing.add(shared)
        try:
            is_modern = await shared.is_modern()
            if not is_modern and shared.link.is_up:  # one that died of it has given no answer
                self._older_until = time.monotonic() + _VERDICT_SECONDS
            self._note_handshake(None)
        except UpstreamError as error:
            self._note_handshake(error)
            raise
        finally:
            self._probing.discard(shared)
            if is_modern:
                self._shared[key] = shared
            else:
                await shared.link.end(0.0)
        return shared if is_modern else None

    def _tell(self, told: Told) -> None:
        match told:
            case Note():
                self._log.write_seldom(told.event, {"upstream": self.name} | told.fields, told.level)
            case Decided(decision):
                self._log.decided(decision)
            case _:
                assert_never(told)

    def _note_old_client(self) -> None:
        if not self._old_was_told:
            self._old_was_told = True
            what = "HTTP+SSE is deprecated since 2025-03-26: let the client use /mcp"
            self._log.write("deprecated_transport", {"upstream": self.name, "hint": what}, "warning")

    # Lifetime

    @property
    def active(self) -> int:
        return len(self.sessions) + len(self.old_sse) + (self.through.sessions if self.through else 0)

    @property
    def created(self) -> int:
        return self.sessions.created + self.old_sse.created

    @property
    def pending(self) -> int:
        through = self.through.pending if self.through else 0
        return self.sessions.pending + self.singles.pending + through + self.old_sse.pending

    def _probe(self) -> Probe:
        if self.api is not None:
            return Probe(self.api.check, _CHECK_SECONDS)
        check = partial(
            check_mcp,
            self.name,
            self._connect,
            self._max_bytes,
            forwards_credentials=bool(self._one.forward_headers),
        )
        if not self._needs_process:
            return Probe(check, _CHECK_SECONDS)
        look_up = partial(look_up_command, command_of(self._one))
        return Probe(
            check,
            _START_SECONDS,
            look_up,
            is_costly=True,
            is_in_use=lambda: self.active + len(self._shared) > 0,
        )

    def _note_handshake(self, failure: UpstreamError | None) -> None:
        """Note how the handshake of a client ended. Of a REST API it says nothing: we answer it ourselves."""
        if self.api is None:
            self.health.note(failure)

    def sweep(self) -> None:
        self.sessions.sweep()
        self.old_sse.sweep()
        over = time.monotonic() - self._timing().session_idle_seconds
        for key, shared in list(self._shared.items()):
            if shared.is_idle and shared.used_at < over:
                del self._shared[key]
                self.sessions.end_later(shared.link.end(1.0))

    def drain(self) -> None:
        self.sessions.drain()
        self.singles.drain()
        self.old_sse.drain()
        if self.through is not None:
            self.through.drain()

    async def end(self) -> None:
        self.old_sse.end()
        shared = [*self._shared.values(), *self._probing]
        await asyncio.gather(self.health.end(), self.sessions.end(), *(one.link.end(0.0) for one in shared))
        for reached in (self._http, self.api):
            if reached is not None:
                await reached.close()
