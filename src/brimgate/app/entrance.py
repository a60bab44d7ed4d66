"""Who may come in, and how much: authentication, allow-lists and limits, decided here for every route.

The order is that of requirement T-R7: the size of the body is limited where it is read, then comes authentication,
then the limits, then the handler. What refuses a request is an error that `front.mcp.errors` turns into a response.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs

from brimgate.app.authenticators import OAUTH_MODES, TOKEN_MODES, check_auth, make_authenticator
from brimgate.app.caller_limits import GREETING, CallerLimits, by_tool, counted, lasting_calls
from brimgate.config.declarations import AuthOptions, Config
from brimgate.errors import (
    AccessRefused,
    Forbidden,
    RateLimited,
    Unauthenticated,
    UpstreamUnreachable,
)
from brimgate.front.mcp.errors import Challenge, HttpError, from_access
from brimgate.front.mcp.request import HttpExchange, messages_of
from brimgate.guard.access import FULL_ACCESS, SCOPE, AllowLists, Grant
from brimgate.guard.auth import Authenticator, Fingerprints, bearer_token, is_token, malformed, short
from brimgate.guard.origin import is_local
from brimgate.guard.principal import NOBODY, Principal, principal_of
from brimgate.guard.proxies import TrustedProxies, site_of
from brimgate.guard.resources import ProtectedResources
from brimgate.guard.tickets import TicketOffice, Tickets
from brimgate.http.client import Origin
from brimgate.relay.protocol.ambiguity import is_ambiguous
from brimgate.relay.protocol.message import Message, encode
from brimgate.watch.log import Log
from brimgate.watch.record import fingerprint

if TYPE_CHECKING:
    from brimgate.app.shared_state import SharedState

_THIS_MACHINE: Final = "127.0.0.1"
"""Whoever uses our Unix socket is on it."""
_RECHECK_SECONDS: Final = 60.0
"""How often the token of a long exchange is checked again: a stream must not outlive it for long."""
_QUERY_TOKENS: Final = (
    "legacy_query_token accepts GET /sse?token=…: proxies and browsers write such tokens down. Let clients send "
    "Authorization, or a ticket from POST /sse/ticket"
)
_NO_LONGER: Final = "your access was withdrawn while this request ran: authenticate again"
_MAX_NAME_CHARS: Final = 200
Count = Callable[[str, tuple[str, ...]], None]
"""Counts one more of a metric, by its name and labels."""


def _count_nothing(name: str, labels: tuple[str, ...]) -> None:
    del name, labels


class Entrance:
    def __init__(
        self,
        config: Config,
        log: Log,
        fingerprints: Fingerprints | None = None,
        shared: "SharedState | None" = None,
    ) -> None:
        """Create it. What is `shared` is counted, given and known together with other replicas."""
        self._log = log
        self._fingerprints = fingerprints or Fingerprints()
        self.limits = CallerLimits(config, shared.limiter if shared else None)
        self.tickets: TicketOffice = shared.tickets if shared else Tickets()
        self._verdicts = shared.verdicts if shared else None
        self._auth, self._limits = config.auth, config.limits
        self._read_tool = config.read_tool
        self.authenticator: Authenticator | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._inside: set[Admission] = set()
        self.count: Count = _count_nothing
        """Is told how many were let in, and why others were not."""
        self._is_another_way = False
        self._begin(config)

    def _begin(self, config: Config) -> None:
        check_auth(config)
        # What may fail comes first: then all that is in force stays.
        way = repr((*_way_of(config.auth), config.auth.user_url))
        others = self._verdicts.of_way(way) if self._verdicts is not None else None
        self.authenticator = make_authenticator(config, self._fingerprints, others)
        self._auth, self._limits = config.auth, config.limits
        self._proxies = TrustedProxies(config.auth.trusted_proxies)
        self._lists = AllowLists(
            {name: Grant(one.upstreams, one.tools) for name, one in config.auth.access.items()}
        )
        self._resources = ProtectedResources(config.server.public_url.rstrip("/"), config.auth.issuer)
        self.limits.use(config)
        self._audience_of = lru_cache(1_000)(self._find_audience)
        if config.auth.legacy_query_token:
            self._log.write("query_tokens", {"hint": _QUERY_TOKENS}, "warning")

    def apply(self, config: Config) -> bool:
        """Use another configuration. If anything about tokens has changed, they are checked anew; return whether.

        Then all who are here are checked at once: `may_stay` tells whose sessions are to end.
        """
        is_same = (config.auth, config.limits) == (self._auth, self._limits)
        if is_same and config.server.public_url.rstrip("/") == self._resources.public_url:
            return False
        before, way = self.authenticator, _way_of(self._auth)
        self._begin(config)
        self._is_another_way = way != _way_of(self._auth)
        self._check_inside(float("inf"))
        if before is not None:
            task = asyncio.get_running_loop().create_task(before.close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)
        return True

    def may_stay(self, principal: Principal) -> bool:
        """Return whether somebody who was let in before the last change may keep sessions."""
        if self._is_another_way or (self._auth.mode == "static" and principal.name not in self._auth.keys):
            return False
        return self.is_open or self._lists.of(principal.name, principal.scopes) == principal.access

    @property
    def is_open(self) -> bool:
        """Whether callers of this machine need no credentials."""
        return self._auth.mode == "none"

    @property
    def takes_tokens(self) -> bool:
        """Whether callers show who they are by a token."""
        return self._auth.mode in TOKEN_MODES

    @property
    def takes_upstream_tokens(self) -> bool:
        """Whether what callers show us is meant for the upstream."""
        return self._auth.mode == "upstream_token"

    # Requests

    def admitted(
        self,
        exchange: HttpExchange,
        upstream: str,
        *,
        paths: tuple[str, ...] = (),
        is_mcp: bool = True,
        is_free: bool = False,
        is_watching: bool = False,
        remembered: Callable[[HttpExchange], str] = lambda _: "",
        identify: Callable[[HttpExchange], None] = lambda _: None,
    ) -> "Admission":
        """Let a request in while the context lasts, or raise HttpError.

        What is free counts as an attempt to come in, not as a request. Whoever watches, as a page does that is
        fetched every second, counts as neither while its token is known.

        `paths` are those of the upstream, which OAuth tokens name as their audience. `remembered` returns the token of
        the session that a request belongs to, for old clients that cannot repeat it. `identify` decides by what the
        request shows the upstream whose it is. It may raise AccessRefused.
        """
        admission = Admission(self, exchange, upstream, paths, remembered, identify)
        admission.is_mcp, admission.is_free, admission.is_watching = is_mcp, is_free, is_watching
        return admission

    async def enter(self, admission: "Admission") -> None:
        """Let a request in, or raise HttpError."""
        exchange = admission.exchange
        try:
            exchange.token = await self._token(exchange, admission.remembered)
            audience = self._audience_of(admission.paths)
            exchange.principal = await self._authenticated(exchange, exchange.token, audience)
            admission.principal = exchange.principal
            self._check_upstream(exchange.principal, admission.upstream)
            if admission.is_free and exchange.token and not admission.is_watching:
                await self._count_attempt(exchange)
            if not admission.is_free:
                admission.calls = await self._counted(exchange, admission.upstream, is_mcp=admission.is_mcp)
            admission.identify(exchange)
        except AccessRefused as refusal:
            self.leave(admission)
            self._count_refusal(refusal)
            raise await self.refusal(
                exchange, refusal, is_mcp=admission.is_mcp, paths=admission.paths
            ) from None
        self.count("brimgate_auth_total", ("accepted",))
        exchange.doubt = partial(self.doubt, exchange.token)
        exchange.is_login_of_server = self.takes_upstream_tokens
        self._inside.add(admission)

    def _count_refusal(self, refusal: AccessRefused) -> None:
        if isinstance(refusal, RateLimited):
            scope = refusal.policy or ("attempts" if refusal.window else "concurrency")
            self.count("brimgate_limited_total", (scope,))
        else:
            self.count("brimgate_auth_total", (refusal.word,))

    def leave(self, admission: "Admission") -> None:
        self._inside.discard(admission)
        admission.forget()
        if admission.calls:
            self.limits.give_back(admission.principal.id, admission.calls)

    async def dismiss(self, admission: "Admission") -> None:
        """Answer a caller that had to go. The handler has taken it for gone, but it is there, and is told why."""
        gone = Unauthenticated(_NO_LONGER)
        refusal = await self.refusal(admission.exchange, gone, is_mcp=admission.is_mcp, paths=admission.paths)
        await admission.exchange.refuse(refusal)

    async def refusal(
        self, exchange: HttpExchange, refusal: AccessRefused, *, is_mcp: bool, paths: tuple[str, ...] = ()
    ) -> HttpError:
        """Return the error for a caller that is not let in, and leave the reason for the log."""
        self._note_refusal(exchange, exchange.token, refusal)
        key = await exchange.posted_key() if is_mcp else b""
        return from_access(refusal, key, self._challenge(exchange.path, paths))

    def may_send_bearer(self, url: str) -> bool:
        """Return whether the caller's token is that of the server at this URL: then it is sent there, and nowhere else."""
        if self._auth.mode != "upstream_token" or not url:
            return False
        return Origin.of(url) == Origin.of(self._auth.verify_url)

    @property
    def _is_oauth(self) -> bool:
        return self._auth.mode in OAUTH_MODES

    def _find_audience(self, paths: tuple[str, ...]) -> frozenset[str]:
        return self._resources.audience(paths) | frozenset(self._auth.audience)

    def _challenge(self, path: str, paths: tuple[str, ...]) -> Challenge:
        if not self._is_oauth:
            return Challenge()
        return Challenge(self._resources.metadata_url(path, paths), self._auth.required_scopes)

    def metadata(self, path: str, upstream: str) -> bytes | None:
        """Return the metadata of what is at a path (RFC 9728); None where no authorization server gives out tokens."""
        if not self._is_oauth:
            return None
        scopes = {*self._auth.required_scopes, *self._lists.scopes_for(upstream)}
        return encode(self._resources.document(path, scopes))

    def _note_refusal(self, exchange: HttpExchange, token: str, refusal: AccessRefused) -> None:
        """Put what the log may say into the line of the request."""
        if exchange.principal is NOBODY and token:
            exchange.principal = Principal("", f"refused:{short(self._fingerprints.of(token))}")
        exchange.refusal = str(refusal)

    def doubt(self, token: str) -> None:
        """Note that an upstream has refused a token that we took for valid."""
        if token and self.authenticator is not None:
            self.authenticator.doubt(token)

    # Authentication

    async def _token(self, exchange: HttpExchange, remembered: Callable[[HttpExchange], str]) -> str:
        if self._auth.mode not in TOKEN_MODES:
            return ""
        shown = [value for name, value in exchange.headers if name == b"authorization"]
        if len(shown) > 1:
            raise malformed("send one Authorization header, not several")
        if shown or not exchange.path.startswith(("/sse", "/messages")):
            return bearer_token(shown[0] if shown else b"")
        return await self._token_of_query(exchange) or remembered(exchange) or bearer_token(b"")

    async def _token_of_query(self, exchange: HttpExchange) -> str:
        """Return the token that a ticket stands for, or that an old client has in its URL."""
        query = parse_qs(exchange.query.decode("latin-1")) if exchange.query else {}
        if exchange.method == "GET" and (ticket := query.get("ticket")):
            found = await self.tickets.redeem(ticket[0])
            if not found:
                raise Unauthenticated("the ticket was used, or has expired: POST /sse/ticket gives another")
            return found
        given = query.get("token", [""])[0] if self._auth.legacy_query_token else ""
        return given if is_token(given) else ""

    @property
    def takes_tokens_in_urls(self) -> bool:
        return self._auth.legacy_query_token

    async def _authenticated(self, exchange: HttpExchange, token: str, audience: frozenset[str]) -> Principal:
        if self._auth.mode == "none":
            return self._local(exchange)
        found = (
            self._proxied(exchange)
            if self._auth.mode == "proxy"
            else await self._owner(exchange, token, audience)
        )
        self._check_scopes(found)
        return found.granted(self._lists.of(found.name, found.scopes))

    def _local(self, exchange: HttpExchange) -> Principal:
        if not is_local(exchange.client or _THIS_MACHINE, exchange.headers):
            raise Forbidden(
                "this server answers its own machine alone, and this request comes from elsewhere, by way of a proxy: "
                "configure `auth`, for example mode: proxy"
            )
        return principal_of(exchange.headers)

    def _proxied(self, exchange: HttpExchange) -> Principal:
        if not self._proxies.trusts(exchange.client):
            raise Unauthenticated("this server is reached through its proxy only", error="")
        header = self._auth.principal_header.lower().encode()
        named = [value for name, value in exchange.headers if name == header]
        name = ""
        with suppress(UnicodeDecodeError):  # two that cannot be read must not look the same
            name = named[0].decode().strip() if len(named) == 1 else ""
        if not name or not name.isprintable() or len(name) > _MAX_NAME_CHARS:
            raise Unauthenticated(f"the proxy names no caller in {self._auth.principal_header}", error="")
        return Principal(f"proxy:{name}", name)

    async def _owner(self, exchange: HttpExchange, token: str, audience: frozenset[str]) -> Principal:
        authenticator = self.authenticator
        if authenticator is None:
            raise AssertionError("a mode with tokens has an authenticator")
        known = authenticator.known(token, audience)
        if known is not None:
            return known
        await self._count_attempt(exchange)
        found = await authenticator.verify(token, audience)
        self._log.write("authenticated", {"principal": found.name, "address": self._address(exchange)})
        return found

    async def _count_attempt(self, exchange: HttpExchange) -> None:
        await self.limits.count_attempt(site_of(self._address(exchange)))

    def _address(self, exchange: HttpExchange) -> str:
        return self._proxies.client_address(exchange.client, exchange.headers)

    def _check_inside(self, due_at: float) -> None:
        """Check those whose check is due then. All who can show nothing valid have to go."""
        for admission in [one for one in self._inside if one.check_at <= due_at]:
            admission.check_at = time.monotonic() + _RECHECK_SECONDS
            admission.check(self._may_stay_here)

    async def _may_stay_here(self, admission: "Admission") -> bool:
        token = admission.exchange.token
        if self._auth.mode in TOKEN_MODES and not token:
            return False
        try:
            again = await self._authenticated(admission.exchange, token, self._audience_of(admission.paths))
        except (Unauthenticated, Forbidden):
            return False
        except AccessRefused:
            return True  # nobody can tell now
        return (again.id, again.access) == (admission.principal.id, admission.principal.access)

    # Access and limits

    def _check_scopes(self, principal: Principal) -> None:
        if self._is_oauth and not principal.scopes.issuperset(self._auth.required_scopes):
            raise self._lacks(principal, "a scope that every token must have")

    def _lacks(self, principal: Principal, what: str, scopes: Iterable[str] = ()) -> Forbidden:
        """Return the refusal that names all scopes that a new token needs, so that it can do all that this one can."""
        ours = principal.scopes.intersection(self._lists.scopes_for())
        return Forbidden(
            f"the token lacks {what}", tuple(sorted({*self._auth.required_scopes, *ours, *scopes}))
        )

    def _check_upstream(self, principal: Principal, upstream: str) -> None:
        access = principal.access
        if not upstream or access is FULL_ACCESS or access.allows_upstream(upstream):
            return
        if self._is_oauth and (scopes := self._lists.scopes_for(upstream)):
            raise self._lacks(principal, "a scope for this server", scopes)
        raise HttpError(404, "there is nothing here")

    def _check_tool(self, principal: Principal, upstream: str, tool: str) -> None:
        """Refuse what a token with more scopes may do. What nobody may do is unknown, as the session says."""
        if principal.access.allows(upstream, tool) or tool == self._read_tool:
            return
        if self._is_oauth and (scopes := self._lists.scopes_for(upstream, tool)):
            raise self._lacks(principal, "a scope for this tool", scopes)

    async def _counted(self, exchange: HttpExchange, upstream: str, *, is_mcp: bool) -> int:
        """Count the requests of an exchange, and take places for its calls. Return how many places these are."""
        principal, limits = exchange.principal, self.limits
        if self.is_open and limits.is_unlimited:
            return 0
        if not is_mcp:
            tool = self._read_tool if _reads_on(exchange) else ""
            exchange.more_headers += await limits.count(principal.id, upstream, {tool: 1})
            return limits.take_places(principal.id, 1)
        if exchange.method != "POST":
            return 0
        requests = await self._requests_in(exchange)
        tools = by_tool(requests)
        if principal.access is not FULL_ACCESS:
            for tool in tools.keys() - {"", GREETING}:
                self._check_tool(principal, upstream, tool)
        exchange.more_headers += await limits.count(principal.id, upstream, tools)
        return limits.take_places(principal.id, lasting_calls(requests))

    async def _requests_in(self, exchange: HttpExchange) -> list[Message]:
        """Return the requests of a POST that count."""
        posted = await exchange.posted()
        message = posted.message
        if not self.is_open and is_ambiguous(posted.body):
            raise HttpError(400, "a member stands twice in this message, or not in small letters")
        messages = [message] if isinstance(message, Message) else []
        if isinstance(message, list):
            messages = list(messages_of(posted.body))
        return counted(messages)

    # Health

    def was_refused(self, principal: Principal) -> bool:
        """Return whether the token of somebody who was let in has been refused since."""
        if not principal.token or self.authenticator is None:
            return False
        try:
            self.authenticator.known(principal.token, frozenset())
        except AccessRefused:
            return True
        return False

    def is_admin(self, principal: Principal) -> bool:
        """Return whether a caller may see what others have asked for."""
        entitled = (principal.name, *(f"{SCOPE}{scope}" for scope in principal.scopes))
        # Nobody gets a scope by being called like one.
        return not principal.name.startswith(SCOPE) and any(one in self._auth.admins for one in entitled)

    def sees_all(self, principal: Principal) -> bool:
        """Return whether a caller may see what is of others too: an admin, or anybody where all are of this machine."""
        return self.is_open or self.is_admin(principal)

    def sight_of(self, principal: Principal) -> str:
        """Return whose answers a caller may see, as records name them; empty for those of all."""
        return "" if self.sees_all(principal) else fingerprint(principal.id)

    def is_at_home(self, exchange: HttpExchange) -> bool:
        """Return whether a request comes from this machine itself, and not through a proxy."""
        return is_local(exchange.client or _THIS_MACHINE, exchange.headers)

    async def is_known(self, exchange: HttpExchange, paths: tuple[str, ...]) -> bool:
        """Return whether a request is authenticated for any of these paths, without counting it or asking anybody."""
        try:
            token = await self._token(exchange, lambda _: "")
            if token and self.authenticator is not None:
                return self.authenticator.known(token, self._audience_of(paths)) is not None
            await self._authenticated(exchange, token, frozenset())
        except AccessRefused:
            return False
        return True

    async def check_verifier(self) -> None:
        """Check that tokens can be verified. Raise UpstreamError if not."""
        try:
            if self.authenticator is not None:
                await self.authenticator.check()
        except AccessRefused as refusal:
            raise UpstreamUnreachable(str(refusal)) from None

    # Lifetime

    def sweep(self) -> None:
        self._check_inside(time.monotonic())
        self.limits.sweep()

    async def close(self) -> None:
        if self.authenticator is not None:
            await self.authenticator.close()


class Admission:
    """A request from its entrance to its end. It may last for hours."""

    __slots__ = (
        "_entrance",
        "_task",
        "calls",
        "check_at",
        "exchange",
        "identify",
        "is_free",
        "is_mcp",
        "is_over",
        "is_watching",
        "paths",
        "principal",
        "remembered",
        "upstream",
    )

    def __init__(
        self,
        entrance: Entrance,
        exchange: HttpExchange,
        upstream: str,
        paths: tuple[str, ...],
        remembered: Callable[[HttpExchange], str],
        identify: Callable[[HttpExchange], None],
    ) -> None:
        self._entrance, self.exchange, self.upstream, self.paths = entrance, exchange, upstream, paths
        self.remembered, self.identify = remembered, identify
        self.is_mcp, self.is_free, self.is_watching = True, False, False
        self.principal = NOBODY
        """Who came in, whatever it shows the upstream."""
        self.calls = 0
        self.check_at = time.monotonic() + _RECHECK_SECONDS
        self.is_over = False
        """Whether its caller had to go."""
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> None:
        await self._entrance.enter(self)

    async def __aexit__(self, _: object, error: BaseException | None, __: object) -> bool:
        is_ours = self.is_over and isinstance(error, asyncio.CancelledError)
        if is_ours and (task := asyncio.current_task()) is not None:
            task.uncancel()  # our hanging up has cancelled it, and it still has to tell the caller why
        self._entrance.leave(self)
        if self.is_over and (is_ours or error is None) and not self.exchange.status:
            await self._entrance.dismiss(self)
        return is_ours

    def check(self, may_stay: "Callable[[Admission], Awaitable[bool]]") -> None:
        self.forget()
        self._task = asyncio.get_running_loop().create_task(self._check(may_stay))

    async def _check(self, may_stay: "Callable[[Admission], Awaitable[bool]]") -> None:
        if not await may_stay(self):
            self.is_over = True
            self.exchange.hangup()

    def forget(self) -> None:
        if self._task is not None:
            self._task.cancel()


def _reads_on(exchange: HttpExchange) -> bool:
    """Return whether a REST request has a cursor. One that only has the word in a value asks the API."""
    return b"cursor=" in exchange.query and "cursor" in parse_qs(exchange.query.decode("latin-1"))


def _way_of(auth: AuthOptions) -> tuple[object, ...]:
    """Return what decides who somebody is. If it changes, nobody is who they were."""
    oauth = auth.issuer, auth.audience, auth.required_scopes, auth.jwks_url, auth.introspection_url
    return auth.mode, auth.verify_url, *oauth, auth.principal_header, auth.trusted_proxies
