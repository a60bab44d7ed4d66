"""One upstream behind `brimgate serve`: how it is reached, and who talks to it."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, assert_never
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary, WeakValueDictionary

from brimgate.app.caller_credentials import CallerCredentials, check_callers, token_of
from brimgate.app.connect import command_of, connector, is_sse, open_api, reach_of
from brimgate.app.entrance import Admission, Entrance
from brimgate.app.health import Probe, UpstreamHealth, check_mcp
from brimgate.app.link import Link
from brimgate.app.shared_server import SharedServer
from brimgate.back.channel import Connect
from brimgate.back.mcp.server import HttpServer
from brimgate.back.process import look_up_command
from brimgate.config.declarations import Config, RolloutOverride, Server
from brimgate.config.placeholders import filled
from brimgate.config.rule_reader import make_rules, rollout_for
from brimgate.engine.policy import Rules
from brimgate.errors import OperatorError, UpstreamError, VerifierDown
from brimgate.front.mcp.errors import too_many
from brimgate.front.mcp.legacy_sse import LegacySse
from brimgate.front.mcp.pass_through import Through
from brimgate.front.mcp.request import HttpExchange
from brimgate.front.mcp.router import Endpoint, Handler
from brimgate.front.mcp.session_ids import SessionIds
from brimgate.front.mcp.sessions import HandshakeSessions
from brimgate.front.mcp.stateless import StatelessExchanges
from brimgate.guard.access import FULL_ACCESS, Access
from brimgate.guard.json_client import JsonClient, target_of
from brimgate.guard.principal import Principal, deciding_headers, principal_of, shown_headers
from brimgate.guard.resources import WELL_KNOWN
from brimgate.hold.runtime import ProtectionSource
from brimgate.hold.stores.contract import account_of
from brimgate.relay.actions import Decided, Listed, Note, ToClient, Told
from brimgate.relay.catalog import Catalog, Catalogs
from brimgate.relay.session import Session
from brimgate.watch.log import Log

if TYPE_CHECKING:
    from brimgate.back.rest.api import RestApi
    from brimgate.hold.live_lists import ClaimTickets
    from brimgate.share.session_owners import SessionOwners
    from brimgate.watch.otel import Otel

_VERDICT_SECONDS: Final = 300.0
"""How long a server that speaks only the older era is not asked again."""
_CHECK_SECONDS: Final = 10.0
_START_SECONDS: Final = 60.0
"""For the check of a command: the first start may download it."""
_MAX_SHARED: Final = 500
"""Servers in our own process for single exchanges: one for each principal, and anyone can make up credentials."""
_LOGIN_SECONDS: Final = 3.0
_NEEDS_LOGIN: Final = (
    "upstreams.{name} gets the header Authorization of callers, and {origin} is an OAuth resource: clients that log in through "
    "us would ask for tokens for our URL, which it must refuse. Give it a token of yours with `headers`, or let callers send "
    "theirs in another header, with upstream_credential: {{from: X-Upstream-Token}}"
)
_MAX_PERSONAL: Final = 1_000
_LEAST_IDLE_SECONDS: Final = 1.0
"""A server that was used a moment ago may be about to get the next message of an exchange."""


class Slots:
    """Limits how many conversations, or servers for them, there are at once: in all, and of each account."""

    def __init__(self, most: Callable[[], int], most_each: Callable[[], int]) -> None:
        self._most, self._most_each = most, most_each
        self._taken: Counter[str] = Counter()

    def take(self, account: str) -> bool:
        if self._taken.total() >= self._most() or not self.has_room_for(account):
            return False
        self._taken[account] += 1
        return True

    def has_room_for(self, account: str) -> bool:
        """Return whether an account has fewer than it may have."""
        return self._taken[account] < self._most_each()

    def taken_by(self, account: str) -> int:
        return self._taken[account]

    @property
    def most_each(self) -> int:
        return self._most_each()

    def bound_for(self, account: str, what: str) -> str:
        """Return the key that bounds an account that gets no more."""
        is_own = self._taken[account] >= self._most_each() < self._most()
        return f"limits.{what}" if is_own else f"max_{what}"

    def give_back(self, account: str) -> None:
        self._taken[account] -= 1
        if not self._taken[account]:
            del self._taken[account]

    @property
    def by_most(self) -> list[str]:
        """The accounts, the one with the most first."""
        return [account for account, _ in self._taken.most_common()]


class ServedUpstream:
    def __init__(
        self,
        name: str,
        config: Config,
        protection: ProtectionSource,
        log: Log,
        slots: Slots,
        rooms: Slots,
        entrance: Entrance,
        *,
        budget: int | None,
        messages_path: str,
        ids: SessionIds,
        owners: "SessionOwners | None" = None,
        otel: "Otel | None" = None,
    ) -> None:
        """Create it. `slots` are for processes, `rooms` for sessions. All served upstreams share them.

        `owners` tell whose sessions are that were opened through another replica. `otel` exports spans.
        """
        self.name = name
        self._entrance = entrance
        suffixes = ("", f"/{name}") if messages_path == "/messages" else (f"/{name}",)
        self.paths = tuple(
            beginning + suffix for beginning in ("/mcp", "/sse", "/messages") for suffix in suffixes
        )
        """Where clients reach it."""
        self._rooms = rooms
        self._config, self._log, self._slots, self._budget = config, log, slots, budget
        self._protection = protection
        self._one = filled(config.upstreams[name])
        self._tracer = otel.tracer(name, **reach_of(self._one)) if otel is not None else None
        self._max_bytes = config.max_result_bytes
        self._read_tool = config.read_tool
        self._rules = self._make_rules(config)
        self._personal: dict[tuple[Access, RolloutOverride | None], Rules] = {}
        self.api: RestApi | None = open_api(self._one) if self._one.is_rest else None
        self._tickets: ClaimTickets | None = None
        self._connect = self._connector()
        self._live: WeakKeyDictionary[Session, Principal] = WeakKeyDictionary()
        self._credentials = self._make_credentials(config)
        self._deciding, self._shown = self._deciding_headers()
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
        self._seats = slots if self._needs_process else Slots(lambda: _MAX_SHARED, lambda: rooms.most_each)
        """For shared servers."""
        self._old_was_told = False

        self.health = UpstreamHealth(name, self._probe(), log, lambda: self._timing().health_interval_seconds)
        self.sessions = HandshakeSessions(self._converse, self._timing, self._note_handshake, ids)
        self.singles = StatelessExchanges(self._share, lambda: self._timing().json_response)
        self.old_sse = LegacySse(
            self._converse, messages_path, self._note_old_client, ids, lambda: entrance.limits.concurrency
        )
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
                    most_each=lambda: rooms.most_each,
                    knows_callers=lambda: not entrance.is_open,
                    name=name,
                    owners=owners,
                    is_traced=self._tracer is not None,
                )
        self._endpoint = Endpoint(self.sessions, self.singles)

    def _connector(self) -> Connect:
        if self.api is None:
            return connector(self.name, self._one, self._max_bytes, is_traced=self._tracer is not None)
        from brimgate.back.rest.server import RestServer
        from brimgate.hold.live_lists import ClaimTickets

        self._tickets = ClaimTickets()
        return RestServer(self.name, self.api, self._tickets).connect

    # Configuration

    def _make_rules(self, config: Config) -> Rules:
        # Clients know our tool by the name it had when they asked: a new name needs a restart.
        return make_rules(replace(config, read_tool=self._read_tool), self.name, self._budget)

    def check(self, config: Config) -> None:
        """Raise OperatorError if callers could not be served by a configuration, or would be mixed."""
        check_callers(self.name, self._one, self.api, config.auth)

    def apply(self, config: Config) -> None:
        self._config = config
        self._credentials = self._make_credentials(config)
        self._deciding, self._shown = self._deciding_headers()
        self._rules = self._make_rules(config)
        self._personal.clear()
        for session, principal in self._live.items():
            session.rules = self._rules_for(principal)
            session.silence.limit_seconds = config.call_timeout_seconds

    def _rules_for(self, principal: Principal) -> Rules:
        """Return the rules for a caller: with its allow-list and its rollout, if there are any."""
        access, rollout = principal.access, rollout_for(self._config, principal.name)
        if access == FULL_ACCESS and rollout is None:
            return self._rules
        if (access, rollout) not in self._personal:
            if len(self._personal) >= _MAX_PERSONAL:
                self._personal.clear()
            rules = self._rules.narrowed(lambda tool: access.allows(self.name, tool))
            if rollout is not None:
                rules = rules.rolled_out(rollout.mode, rollout.rollout)
            self._personal[access, rollout] = rules
        return self._personal[access, rollout]

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
            async with self.admitted(exchange):
                await handler(exchange)

        return handle

    def admitted(self, exchange: HttpExchange, *, is_mcp: bool = True) -> Admission:
        """Let a request in, and decide whose it is, the same way for MCP and for REST."""
        return self._entrance.admitted(
            exchange,
            self.name,
            paths=self.paths,
            is_mcp=is_mcp,
            remembered=self._remembered_token,
            identify=self._identify,
        )

    def _identify(self, exchange: HttpExchange) -> None:
        if self._shown and self._entrance.is_open:
            exchange.principal = principal_of(exchange.headers, self._deciding)
        elif self._shown:
            exchange.principal = exchange.principal.showing(exchange.headers, self._shown)
        exchange.principal = self._credentials.equipped(exchange.principal, exchange.token, exchange.headers)

    def _deciding_headers(self) -> tuple[frozenset[bytes], frozenset[bytes]]:
        """Return the headers that tell callers apart, and those of them that the upstream is shown."""
        shown = [*self._one.forward_headers, self._one.upstream_credential.header]
        if self._credentials.are_needed and self._entrance.is_open:
            shown.append("authorization")
        return deciding_headers(shown), shown_headers(shown)

    def _make_credentials(self, config: Config) -> CallerCredentials:
        """Return what the upstream gets for callers: their own token not where the operator has given it another."""
        has_own = "authorization" in map(str.lower, self._one.headers)
        takes_bearer = not has_own and self._entrance.may_send_bearer(self._one.url)
        return CallerCredentials(self.name, self._one, self.api, auth=config.auth, takes_bearer=takes_bearer)

    def _remembered_token(self, exchange: HttpExchange) -> str:
        return self.old_sse.token_of(exchange) if self._entrance.takes_tokens_in_urls else ""

    def _session(
        self, catalog: Catalog | None, principal: Principal, *, names_calls: bool = False
    ) -> Session:
        session = Session(
            self._rules_for(principal),
            self._protection,
            time.time,
            upstream=self.name,
            principal=principal.id,
            catalog=catalog,
            defers_work=True,
            tickets=self._tickets,
            names_calls=names_calls,
        )
        session.silence.limit_seconds = self._config.call_timeout_seconds
        session.quotes_garbage = self._entrance.is_open
        session.tracer = self._tracer
        self._live[session] = principal
        return session

    def _converse(self, on_answer: Callable[[ToClient], None], principal: Principal) -> Link:
        """Begin a conversation with a server of its own."""
        if not self._rooms.take(principal.account):
            bound = self._rooms.bound_for(principal.account, "sessions")
            raise too_many(f"no more sessions can be opened now ({bound})", b"")
        if self._needs_process and not self._slots.take(principal.account):
            self._rooms.give_back(principal.account)
            bound = self._slots.bound_for(principal.account, "processes")
            raise too_many(f"no more servers can be started now ({bound})", b"")
        return Link(
            self.name,
            self._connect_for(principal),
            self._session(None, principal, names_calls=True),
            self._log,
            max_bytes=self._max_bytes,
            on_answer=on_answer,
            on_end=partial(self._end_conversation, principal.account),
        )

    def _connect_for(self, principal: Principal) -> Connect:
        """Return how to reach the upstream with the credential of a caller, which stays that of its conversation."""
        if not principal.credential:
            return self._connect
        if self.api is not None:
            from brimgate.back.rest.server import RestServer

            return RestServer(self.name, self.api_of(self.api, principal), self._tickets).connect
        if self._needs_process:
            return connector(self.name, self._one, self._max_bytes, token=token_of(principal))
        theirs = {name.decode(): value.decode() for name, value in principal.credential}
        one = replace(self._one, headers=self._one.headers | theirs)
        on_refused = partial(self._entrance.doubt, principal.token)
        is_traced = self._tracer is not None
        return connector(self.name, one, self._max_bytes, on_refused=on_refused, is_traced=is_traced)

    def api_of(self, api: "RestApi", principal: Principal) -> "RestApi":
        """Return the API with the credential of a caller."""
        if not principal.credential:
            return api
        return api.acting_as(list(principal.credential), partial(self._entrance.doubt, principal.token))

    def _end_conversation(self, account: str) -> None:
        if self._needs_process:
            self._slots.give_back(account)
        self._rooms.give_back(account)

    async def _share(self, principal: Principal, client: str) -> SharedServer | None:
        """Return the server that the single exchanges of a principal share, or of one of its client programs."""
        key = principal.id, client if self._timing().process == "per_client" else ""
        shared = self._shared.get(key)
        if shared is not None:
            shared.used_at = time.monotonic()
            return shared
        lock = self._sharing.setdefault(key, asyncio.Lock())
        async with lock:
            shared = self._shared.get(key)
            if shared is None and time.monotonic() >= self._older_until:
                shared = await self._start_shared(key, principal)
        return shared

    async def _take_seat(self, account: str) -> bool:
        """Take a place for a shared server. If there is none, the one that has been idle for longest makes room.

        Whoever has all that one may have gives up one of its own. Otherwise it is one of whoever has the most.
        """
        seats = self._seats
        if seats.take(account):
            return True
        until = time.monotonic() - _LEAST_IDLE_SECONDS
        is_own = not seats.has_room_for(account)
        idle = [
            (-seats.taken_by(owner), shared.used_at, key)
            for key, shared in self._shared.items()
            if shared.is_idle
            and shared.used_at < until
            and ((owner := account_of(key[0])) == account or not is_own)
        ]
        if not idle:
            return False
        oldest = self._shared.pop(min(idle)[2])
        await asyncio.shield(self.sessions.end_later(oldest.link.end(0.0)))
        return seats.take(account)

    async def _start_shared(self, key: tuple[str, str], principal: Principal) -> SharedServer | None:
        if not await self._take_seat(principal.account):
            bound = self._slots.bound_for(principal.account, "processes")
            what = f"servers can be started now ({bound})" if self._needs_process else "callers fit in now"
            raise too_many(f"no more {what}", b"")
        catalog = self._catalogs.of(key[0])
        shared = SharedServer(
            self.name,
            self._connect_for(principal),
            self._session(catalog, principal, names_calls=True),
            catalog,
            self._log,
            max_bytes=self._max_bytes,
            on_end=partial(self._seats.give_back, principal.account),
            owner=principal,
        )
        is_modern = False
        self._probing.add(shared)
        try:
            is_modern = await shared.is_modern()
            if not is_modern and shared.link.is_up:  # one that died of it has given no answer
                self._older_until = time.monotonic() + _VERDICT_SECONDS
            is_well = is_modern or shared.link.is_up
            self._note_handshake(None if is_well else shared.link.failure)
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
            case Listed():
                self._log.listed(self.name, told.measure, is_first=told.is_first)
            case _:
                assert_never(told)

    def _note_old_client(self) -> None:
        if not self._old_was_told:
            self._old_was_told = True
            what = "HTTP+SSE is deprecated since 2025-03-26: let the client use /mcp"
            self._log.write("deprecated_transport", {"upstream": self.name, "hint": what}, "warning")

    async def check_login(self) -> None:
        """Raise OperatorError if callers would have to log in at the server itself, while they reach it through us.

        They would ask its authorization server for a token for our URL, or refuse metadata that name another. A server
        that cannot be asked now is not refused.
        """
        forwarded = {name.strip().lower() for name in self._one.forward_headers}
        if self._one.url and "authorization" in forwarded and not self._entrance.takes_upstream_tokens:
            path = urlsplit(self._one.url).path.rstrip("/")
            client = JsonClient(self._one.url, _LOGIN_SECONDS)
            try:
                found = [await client.ask([], target=target_of(WELL_KNOWN + one)) for one in (path, "")]
            except VerifierDown:
                return
            finally:
                await client.close()
            if any(one.status == 200 and one.fields.get("authorization_servers") for one in found):
                raise OperatorError(_NEEDS_LOGIN.format(name=self.name, origin=client.origin))

    # Lifetime

    @property
    def check_name(self) -> str:
        """Its name among the checks of `/health`."""
        return (self.api.api.check_name if self.api is not None else "") or self.name

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
            forwards_credentials=bool(self._one.forward_headers) or self._credentials.are_sent,
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
            needs_caller=self._one.has_caller_env,
        )

    def _note_handshake(self, failure: UpstreamError | None) -> None:
        """Note how the handshake of a client ended. Of a REST API it says nothing: we answer it ourselves."""
        if self.api is None:
            self.health.note(failure)

    def sweep(self) -> None:
        if self._credentials.are_sent:  # what was started with a token goes with it
            self._end_unless(lambda principal: not self._entrance.was_refused(principal))
        self.sessions.sweep()
        self.old_sse.sweep()
        over = time.monotonic() - self._timing().session_idle_seconds
        for key, shared in list(self._shared.items()):
            if shared.is_idle and shared.used_at < over:
                del self._shared[key]
                self.sessions.end_later(shared.link.end(1.0))

    def end_strangers(self) -> None:
        """End the sessions and servers of callers who may no longer come in. Their streams end by themselves."""
        self._end_unless(self._entrance.may_stay)

    def _end_unless(self, may_stay: Callable[[Principal], bool]) -> None:
        self.sessions.end_unless(may_stay)
        for key, shared in list(self._shared.items()):
            if not may_stay(shared.owner):
                del self._shared[key]
                self.sessions.end_later(shared.link.end(0.0))

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
