"""`/mcp` in front of a server that speaks HTTP itself: pass its answers on, and rewrite only what must be."""

import asyncio
import re
from collections import Counter, OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, Protocol, assert_never

from brimgate.errors import UpstreamError, UpstreamRefused
from brimgate.front.mcp.errors import HttpError, from_refused, no_session, upstream_down
from brimgate.front.mcp.passed_answers import Passing, UpstreamAnswer, client_messages, fetched, unanswered
from brimgate.front.mcp.request import SESSION_ID, HttpExchange
from brimgate.front.mcp.router import not_allowed
from brimgate.guard.principal import Principal
from brimgate.hold.stores.contract import account_of
from brimgate.http.asgi import Header
from brimgate.http.sse import write_event
from brimgate.relay.actions import (
    Action,
    Decided,
    Greeted,
    Listed,
    Note,
    ToClient,
    Told,
    ToUpstream,
    Wait,
    Work,
)
from brimgate.relay.catalog import Catalog, Catalogs
from brimgate.relay.protocol import message as rpc
from brimgate.relay.protocol.message import Message
from brimgate.relay.protocol.versions import ProtocolRefusal, check_envelope, is_modern_header
from brimgate.relay.session import Session, cancellation, silent_too_long
from brimgate.relay.trace_context import Arrival, context_headers

_MAX_SESSIONS: Final = 10_000
"""How many sessions are remembered in all."""
_MAX_UNPROVEN: Final = 500
"""Of those, how many whose ids the server has neither given nor taken as far as we saw: anyone can make them up."""
_SESSION: Final = re.compile(rb"[\x21-\x7e]{1,4096}")
_GREETINGS: Final = ("initialize", "server/discover")
_FORWARDED: Final = frozenset(
    (b"accept", b"content-type", b"last-event-id", b"traceparent", b"tracestate", b"baggage")
)
_ANSWERED: Final = frozenset(
    (b"content-type", SESSION_ID, b"mcp-protocol-version", b"cache-control", b"retry-after", b"allow")
)
"""Headers of the server that a client may see."""
_TRACE_HEADERS: Final = frozenset((b"traceparent", b"tracestate"))
_PING: Final = b'{"jsonrpc":"2.0","id":"brimgate-session","method":"ping"}'


class CalledServer(Protocol):
    """The server to call. The operator's own headers are added there."""

    async def call(self, method: bytes, headers: list[Header], body: bytes | None) -> UpstreamAnswer: ...


class KnownOwners(Protocol):
    """Whose sessions are, as other replicas know."""

    async def remember(self, upstream: str, session: bytes, principal: str) -> None: ...
    async def is_owner(self, upstream: str, session: bytes, principal: str) -> bool: ...
    async def forget(self, upstream: str, session: bytes, principal: str) -> None: ...


class Through:
    def __init__(
        self,
        caller: CalledServer,
        new_session: Callable[[Catalog, Principal], Session],
        tell: Callable[[Told], None],
        *,
        forwarded: Sequence[str],
        max_bytes: int,
        most_each: Callable[[], int],
        knows_callers: Callable[[], bool],
        name: str = "",
        owners: KnownOwners | None = None,
        is_traced: bool = False,
    ) -> None:
        """Create the handler. `forwarded` are client headers, besides those of MCP, that the server may see.

        `most_each` is how many sessions of one account are remembered. Where callers are authenticated
        (`knows_callers`), a session that we do not remember is nobody's: the server may not know whose it is. Elsewhere
        it is looked up there. `owners` tell which of the upstream `name` other replicas remember. If `is_traced`, the
        server gets the trace context of a message in headers, too.
        """
        self._is_traced = is_traced
        self._name, self._owners_elsewhere = name, owners
        self._most_each, self._knows_callers = most_each, knows_callers
        self._caller, self._new_session, self._tell = caller, new_session, tell
        self._forwarded = _FORWARDED | {name.lower().encode() for name in forwarded}
        shows_login = b"authorization" in self._forwarded
        shown = _ANSWERED | {b"www-authenticate"} if shows_login else _ANSWERED
        self._passing = Passing(tell, shown, max_bytes=max_bytes)
        self._sessions: OrderedDict[tuple[str, bytes], Session] = OrderedDict()
        self._unproven: dict[tuple[str, bytes], None] = {}
        """Sessions that were not opened through us, oldest first; only the server knows whether they exist."""
        self._owners: Counter[bytes] = Counter()
        """How many principals have a session of this id: one, unless a server gives everyone the same."""
        self._remembered: Counter[str] = Counter()
        """How many are remembered of each account."""
        self._catalogs = Catalogs()
        self.pending = 0
        self._listening: set[asyncio.Task[Any]] = set()

    @property
    def sessions(self) -> int:
        return len(self._sessions)

    async def handle(self, exchange: HttpExchange) -> None:
        """Handle a request. When the client hangs up, so do we, even before the server has answered."""
        task = asyncio.current_task()
        if task is None:
            raise AssertionError("handlers run in tasks")
        cancel = task.cancel
        exchange.hangup.then(cancel)
        try:
            match exchange.method:
                case "POST":
                    await self._post(exchange)
                case "GET":
                    self._listening.add(task)
                    await self._plain(exchange, b"GET")
                case "DELETE":
                    await self._plain(exchange, b"DELETE")
                case _:
                    raise not_allowed("GET, POST, DELETE")
        finally:
            self._listening.discard(task)
            exchange.hangup.forget(cancel)

    def drain(self) -> None:
        """End streams that wait for nothing in particular."""
        for task in list(self._listening):
            task.cancel()

    # Requests

    async def _post(self, exchange: HttpExchange) -> None:
        body, message = await exchange.posted()
        if not body.strip():
            raise HttpError(400, "the request has no body", code=rpc.PARSE_ERROR)
        method, key = (message.method, message.key) if isinstance(message, Message) else ("", b"")
        session = await self._session(exchange, key)
        onward, given = await _routed(session.from_client(body, Arrival(exchange.headers)))
        if given and isinstance(message, Message):
            await self._check_own(exchange, message)
        mine = await client_messages(given, self._tell)
        if onward is None:
            await (exchange.answer_json(mine[0]) if mine else exchange.answer(202))
            return
        is_greeting = method in _GREETINGS
        counts = bool(key and method)
        self.pending += counts
        try:
            async with self._patience(session, key):
                await self._answer(exchange, session, onward, method, key, mine)
        except asyncio.CancelledError:
            if not exchange.header(SESSION_ID):
                session.close()  # it was made for this exchange
            raise
        except TimeoutError:
            await self._end_silent(exchange, session, key)
        except UpstreamError as error:
            # The session is to forget it; the answer is ours.
            await client_messages(session.fail(onward, error), self._tell)
            raise upstream_down(error, key, is_greeting=is_greeting) from None
        finally:
            self.pending -= counts

    async def _answer(
        self,
        exchange: HttpExchange,
        session: Session,
        onward: bytes,
        method: str,
        key: bytes,
        mine: list[bytes],
    ) -> None:
        answer = await self._call(b"POST", exchange, onward)
        if method == "initialize" and answer.status < 300:
            given = answer.header(SESSION_ID)
            self._remember(exchange.principal.id, given, session)
            if given and self._owners_elsewhere is not None:
                await self._owners_elsewhere.remember(self._name, given, exchange.principal.id)
        elif answer.status < 300:
            self._unproven.pop(self._key(exchange), None)
        try:
            may_follow = await self._passing.pass_on(exchange, answer, session, key, mine)
        finally:
            answer.abort()  # if the client has gone in the middle of it; does nothing after the end
        if not may_follow:
            # The client has got what there is. The session is to forget what is missing.
            failure = unanswered(answer.status)
            await client_messages(session.fail_unanswered(onward, failure), self._tell)

    @asynccontextmanager
    async def _patience(self, session: Session, key: bytes) -> AsyncGenerator[None]:
        """Raise TimeoutError if the server says nothing about a call for too long."""
        loop, timer = asyncio.get_running_loop(), None
        async with asyncio.timeout(None) as limit:

            def look() -> None:
                nonlocal timer
                left = session.silence.left_seconds(key)
                if left <= 0:
                    limit.reschedule(loop.time())
                elif left < float("inf"):
                    timer = loop.call_later(left, look)

            look()
            try:
                yield
            finally:
                if timer is not None:
                    timer.cancel()

    async def _end_silent(self, exchange: HttpExchange, session: Session, key: bytes) -> None:
        """Tell the client that its call took too long, and the server too.

        In the newer era the connection that was cut tells the server.
        """
        failure = silent_too_long(session.silence.limit_seconds)
        told = await client_messages(session.fail_requests(b"", [key], failure), self._tell)
        if not is_modern_header(exchange.header(b"mcp-protocol-version")):
            with suppress(UpstreamError):
                (await self._call(b"POST", exchange, cancellation(key))).abort()
        if not exchange.status:
            raise upstream_down(failure, key, is_greeting=False)
        await exchange.write(b"".join(write_event(line) for line in told), is_last=True)

    async def _plain(self, exchange: HttpExchange, method: bytes) -> None:
        """Handle GET and DELETE, which the server answers."""
        session = await self._session(exchange)
        try:
            answer = await self._call(method, exchange, None)
            if answer.status == 404 or (method == b"DELETE" and answer.status < 300):
                await self._forget(exchange)
            try:
                await self._passing.pass_on(exchange, answer, session, b"", [])
            finally:
                answer.abort()
        except UpstreamError as error:
            raise upstream_down(error, b"", is_greeting=False) from None

    async def _call(self, method: bytes, exchange: HttpExchange, body: bytes | None) -> UpstreamAnswer:
        credential = exchange.principal.credential
        ours = {name for name, _ in credential}
        headers = [
            (name, value)
            for name, value in exchange.headers
            if (name in self._forwarded or name.startswith(b"mcp-")) and name not in ours
        ]
        if self._is_traced and body is not None and (written := context_headers(body)):
            ours = _TRACE_HEADERS | {name for name, _ in written}
            headers = [one for one in headers if one[0] not in ours] + written
        answer = await self._caller.call(
            method, [*headers, (b"x-request-id", exchange.request_id), *credential], body
        )
        if answer.status == 401:
            exchange.doubt()
            if self._knows_callers() and not exchange.is_login_of_server:
                # The caller has proved who it is. A 401 would make it log in again, in vain.
                answer.abort()
                raise UpstreamRefused("the server behind us refuses the credential that it gets (401)", 401)
        return answer

    async def _check_own(self, exchange: HttpExchange, message: Message) -> None:
        """Check a request that we answer ourselves as strictly as the server would."""
        is_modern = is_modern_header(exchange.header(b"mcp-protocol-version"))
        if rpc.is_modern(message.params) or (is_modern and self._key(exchange) not in self._sessions):
            try:
                check_envelope(message, exchange.headers)
            except ProtocolRefusal as refused:
                raise from_refused(refused, message.key) from None
            return
        key = self._key(exchange)
        if key in self._sessions and key not in self._unproven:
            return
        answer = await self._call(b"POST", exchange, _PING)
        answer.abort()
        if answer.status == 404:
            await self._forget(exchange)
            raise no_session(message.key)
        if answer.status >= 400:
            raise HttpError(answer.status, "the server does not take this session", key=message.key)
        self._unproven.pop(key, None)

    # Sessions

    def _key(self, exchange: HttpExchange) -> tuple[str, bytes]:
        return exchange.principal.id, exchange.header(SESSION_ID)

    async def _session(self, exchange: HttpExchange, message_key: bytes = b"") -> Session:
        """Return the client's session. Raise HttpError if it is another's: the server may not tell them apart.

        Without a session id, make one for this exchange alone: ids mean nothing beyond it.
        """
        key = self._key(exchange)
        if not key[1]:
            return self._make(exchange.principal)
        session = self._sessions.get(key)
        if session is None and await self._is_known_elsewhere(exchange):
            session = self._make(exchange.principal)
            self._remember(*key, session)
        if session is None:
            if self._owners[key[1]] or self._knows_callers():
                raise no_session(message_key)
            if _SESSION.fullmatch(key[1]) is None:
                raise HttpError(400, "Mcp-Session-Id must be up to 4,096 visible characters", key=message_key)
            session = self._make(exchange.principal)
            if len(self._unproven) >= _MAX_UNPROVEN:
                self._drop(self._oldest_made_up())
            self._remember(*key, session)
            self._unproven[key] = None
        self._sessions.move_to_end(key)
        return session

    async def _is_known_elsewhere(self, exchange: HttpExchange) -> bool:
        principal, given = self._key(exchange)
        others = self._owners_elsewhere
        if others is None or not self._knows_callers() or _SESSION.fullmatch(given) is None:
            return False
        return await others.is_owner(self._name, given, principal)

    def _make(self, principal: Principal) -> Session:
        return self._new_session(self._catalogs.of(principal.id), principal)

    def _remember(self, principal: str, given: bytes, session: Session) -> None:
        if not given:
            return
        key = principal, given
        if key not in self._sessions:
            self._owners[given] += 1
            self._remembered[account_of(principal)] += 1
        self._sessions[key] = session
        self._sessions.move_to_end(key)
        self._unproven.pop(key, None)
        self._make_room(account_of(principal))

    def _make_room(self, account: str) -> None:
        """Forget the least recently used session of an account that has too many, or else of the one that has the most."""
        if self._knows_callers() and self._remembered[account] > self._most_each():
            self._drop(_oldest(self._sessions, account))
        elif len(self._sessions) > _MAX_SESSIONS:
            # Ids that somebody made up go first: they must not make us forget whose the others are.
            most = self._remembered.most_common(1)[0][0]
            self._drop(self._oldest_made_up() if self._unproven else _oldest(self._sessions, most))

    def _oldest_made_up(self) -> tuple[str, bytes]:
        most = Counter(account_of(principal) for principal, _ in self._unproven).most_common(1)[0][0]
        return _oldest(self._unproven, most)

    async def _forget(self, exchange: HttpExchange) -> None:
        principal, given = self._key(exchange)
        self._drop((principal, given))
        if self._owners_elsewhere is not None:
            await self._owners_elsewhere.forget(self._name, given, principal)

    def _drop(self, key: tuple[str, bytes]) -> None:
        self._unproven.pop(key, None)
        if (session := self._sessions.pop(key, None)) is not None:
            session.close()
            _count_down(self._owners, key[1])
            _count_down(self._remembered, account_of(key[0]))


def _oldest(sessions: Iterable[tuple[str, bytes]], account: str) -> tuple[str, bytes]:
    return next(key for key in sessions if account_of(key[0]) == account)


def _count_down(counts: Counter[Any], key: object) -> None:
    counts[key] -= 1
    if not counts[key]:
        del counts[key]


async def _routed(actions: list[Action]) -> tuple[bytes | None, list[Action]]:
    """Return what goes on to the server, and what is left to us. Where that has to be looked up, wait for it."""
    onward: bytes | None = None
    given: list[Action] = []
    while actions:
        action, *actions = actions
        match action:
            case ToUpstream():
                onward = bytes(action.data)
            case Wait():
                actions = [*await fetched(action), *actions]
            case ToClient() | Note() | Decided() | Listed() | Greeted() | Work():
                given.append(action)
            case _:
                assert_never(action)
    return onward, given
