"""`/mcp` in front of a server that speaks HTTP itself: its answers as they come, but for what must be rewritten."""

import asyncio
from codecs import BOM_UTF8
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

from headgate.errors import UpstreamError
from headgate.front.http.endpoint import check_content_type, not_allowed
from headgate.front.http.exchange import Exchange, Header
from headgate.front.http.refusals import Refusal, from_refused, no_session, upstream_down
from headgate.front.http.sessions import SESSION_ID
from headgate.relay import message as rpc
from headgate.relay.actions import Action, Note, ToClient, ToUpstream, Work
from headgate.relay.catalog import Catalog
from headgate.relay.eras import Refused, check_envelope, is_modern_header
from headgate.relay.message import Message
from headgate.relay.session import Session
from headgate.wire.framing import TooLong
from headgate.wire.sse import EventBuffer, read_event, with_data, write_event

_MAX_SESSIONS: Final = 10_000
"""That are remembered; one that was forgotten is looked up again."""
_QUICK_BYTES: Final = 100_000
_MAX_PAGE_BYTES: Final = 4_096
"""Of an error that is no JSON-RPC message: pages of HTML say nothing to a model."""
_GREETINGS: Final = ("initialize", "server/discover")
_FORWARDED: Final = frozenset((b"accept", b"content-type", b"last-event-id", b"traceparent", b"tracestate"))
_ANSWERED: Final = frozenset(
    (b"content-type", SESSION_ID, b"mcp-protocol-version", b"cache-control", b"retry-after", b"allow")
)
"""Headers of the server that a client gets to see."""
_PING: Final = b'{"jsonrpc":"2.0","id":"headgate-session","method":"ping"}'


class Answer(Protocol):
    status: int
    headers: list[Header]

    def header(self, name: bytes) -> bytes: ...
    async def next(self) -> bytes: ...
    async def read(self, max_bytes: int) -> bytes: ...
    def abort(self) -> None: ...


class Caller(Protocol):
    """The server, as it is called: what the operator wants it to be told is added there."""

    async def call(self, method: bytes, headers: list[Header], body: bytes | None) -> Answer: ...


class Through:
    def __init__(
        self,
        caller: Caller,
        new_session: Callable[[Catalog, str], Session],
        note: Callable[[Note], None],
        *,
        forwarded: Sequence[str],
        max_bytes: int,
    ) -> None:
        """`forwarded`: headers of the client, besides those of MCP, that the server may see."""
        self._caller, self._new_session, self._note = caller, new_session, note
        self._forwarded = _FORWARDED | {name.lower().encode() for name in forwarded}
        shows_login = b"authorization" in self._forwarded
        self._answered = _ANSWERED | {b"www-authenticate"} if shows_login else _ANSWERED
        self._max_bytes = max_bytes
        self._sessions: OrderedDict[tuple[str, bytes], Session] = OrderedDict()
        self._unproven: set[tuple[str, bytes]] = set()
        """Sessions that were not opened through us; the server knows whether they are any."""
        self._catalogs: dict[str, Catalog] = {}
        self.pending = 0
        self._listening: set[asyncio.Task[Any]] = set()

    @property
    def sessions(self) -> int:
        return len(self._sessions)

    def live_sessions(self) -> list[Session]:
        return list(self._sessions.values())

    async def handle(self, exchange: Exchange) -> None:
        """When the client hangs up, so do we: at any moment, also before the server has said a word."""
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
        """Streams that wait for nothing in particular end."""
        for task in list(self._listening):
            task.cancel()

    # Requests

    async def _post(self, exchange: Exchange) -> None:
        check_content_type(exchange)
        body = await exchange.body()
        if not body.strip():
            raise Refusal(400, "the request has no body", code=rpc.PARSE_ERROR)
        message = rpc.read(body)
        method, key = (message.method, message.key) if isinstance(message, Message) else ("", b"")
        session = self._session(exchange)
        onward: bytes | None = None
        given: list[Action] = []
        for action in session.from_client(body):
            if isinstance(action, ToUpstream):
                onward = bytes(action.data)
            else:
                given.append(action)
        if given and isinstance(message, Message):
            await self._check_own(exchange, message)
        mine = await self._settled(given)
        if onward is None:
            await (exchange.answer_json(mine[0]) if mine else exchange.answer(202))
            return
        is_greeting = method in _GREETINGS
        counts = bool(key and method)
        self.pending += counts
        try:
            answer = await self._call(b"POST", exchange, onward)
            if method == "initialize" and answer.status < 300:
                self._remember(exchange.principal, answer.header(SESSION_ID), session)
            try:
                await self._pass_on(exchange, answer, session, key, mine)
            finally:
                answer.abort()  # if the client has gone in the middle of it; harmless after the end
        except UpstreamError as error:
            session.fail(body, "")
            raise upstream_down(error, key, is_greeting=is_greeting) from None
        finally:
            self.pending -= counts

    async def _plain(self, exchange: Exchange, method: bytes) -> None:
        """GET and DELETE: the server's to answer."""
        session = self._session(exchange)
        try:
            answer = await self._call(method, exchange, None)
            if answer.status == 404 or (method == b"DELETE" and answer.status < 300):
                self._forget(exchange)
            try:
                await self._pass_on(exchange, answer, session, b"", [])
            finally:
                answer.abort()
        except UpstreamError as error:
            raise upstream_down(error, b"", is_greeting=False) from None

    async def _call(self, method: bytes, exchange: Exchange, body: bytes | None) -> Answer:
        headers = [
            (name, value)
            for name, value in exchange.headers
            if name in self._forwarded or name.startswith(b"mcp-")
        ]
        headers.append((b"x-request-id", exchange.request_id))
        return await self._caller.call(method, headers, body)

    async def _check_own(self, exchange: Exchange, message: Message) -> None:
        """What we answer ourselves must be asked for as rightly as what the server answers."""
        if is_modern_header(exchange.header(b"mcp-protocol-version")) or rpc.is_modern(message.params):
            try:
                check_envelope(message, exchange.headers)
            except Refused as refused:
                raise from_refused(refused, message.key) from None
            return
        key = self._key(exchange)
        if key in self._sessions and key not in self._unproven:
            return
        answer = await self._call(b"POST", exchange, _PING)
        answer.abort()
        if answer.status == 404:
            self._forget(exchange)
            raise no_session(message.key)
        if answer.status >= 400:
            raise Refusal(answer.status, "the server does not take this session", key=message.key)
        self._unproven.discard(key)

    # Sessions

    def _key(self, exchange: Exchange) -> tuple[str, bytes]:
        return exchange.principal, exchange.header(SESSION_ID)

    def _session(self, exchange: Exchange) -> Session:
        """That of the client, or one for this exchange alone: where there are no sessions, ids mean nothing beyond."""
        key = self._key(exchange)
        if not key[1]:
            return self._make(exchange.principal)
        session = self._sessions.get(key)
        if session is None:
            session = self._make(exchange.principal)
            self._remember(*key, session)
            self._unproven.add(key)
        self._sessions.move_to_end(key)
        return session

    def _make(self, principal: str) -> Session:
        return self._new_session(self._catalogs.setdefault(principal, Catalog()), principal)

    def _remember(self, principal: str, given: bytes, session: Session) -> None:
        if given:
            self._sessions[principal, given] = session
            if len(self._sessions) > _MAX_SESSIONS:
                oldest, _ = self._sessions.popitem(last=False)
                self._unproven.discard(oldest)

    def _forget(self, exchange: Exchange) -> None:
        self._sessions.pop(self._key(exchange), None)
        self._unproven.discard(self._key(exchange))

    # Answers

    async def _pass_on(
        self, exchange: Exchange, answer: Answer, session: Session, key: bytes, mine: list[bytes]
    ) -> None:
        named = answer.header(b"content-type")
        # One type and no second: clients would go by another than we do.
        headers = [
            (name, value)
            for name, value in answer.headers
            if name in self._answered and (name != b"content-type" or value is named)
        ]
        kind = named.partition(b";")[0].strip().lower()
        if kind == b"text/event-stream":
            await self._pass_events(exchange, answer, session, key, mine, headers)
        elif kind != b"application/json" and answer.status >= 400:
            await exchange.answer(answer.status, await _beginning(answer), headers)
        elif kind != b"application/json" and mine:
            await answer.read(self._max_bytes)
            await exchange.answer_json(_joined(mine))
        else:
            # Whatever it is called: there are clients that do not look.
            body = await self._read(answer, key)
            whole = await self._rewritten(body, session) if body.strip() else body
            if whole is None and key and answer.status < 400:
                what = f"answered {answer.status} with something that is no message: is its address right?"
                raise UpstreamError(f"the upstream {what}")
            whole = body[:_MAX_PAGE_BYTES] if whole is None else whole
            if mine and not whole.strip():
                await exchange.answer_json(_joined(mine))
            else:
                await exchange.answer(answer.status, _joined([*mine, whole]) if mine else whole, headers)

    async def _read(self, answer: Answer, key: bytes) -> bytes:
        try:
            return await answer.read(self._max_bytes)
        except UpstreamError:
            answer.abort()
            raise

    async def _pass_events(
        self,
        exchange: Exchange,
        answer: Answer,
        session: Session,
        key: bytes,
        mine: list[bytes],
        headers: list[Header],
    ) -> None:
        await exchange.begin([*headers, (b"x-accel-buffering", b"no")], answer.status)
        if mine:
            await exchange.write(b"".join(write_event(line) for line in mine))
        buffer = EventBuffer(self._max_bytes)
        can_resume = False
        may_resume = not is_modern_header(exchange.header(b"mcp-protocol-version"))
        try:
            while chunk := await answer.next():
                out: list[bytes] = []
                for raw in buffer.feed(chunk):
                    if isinstance(raw, TooLong):
                        await self._break_off(exchange, answer, b"".join(out), key, self._too_large())
                        return
                    written, has_id = await self._event(raw, session)
                    can_resume = can_resume or (has_id and may_resume)
                    out.append(written)
                if out:
                    await exchange.write(b"".join(out))
        except UpstreamError as error:
            if can_resume or not key:
                answer.abort()
                return  # which cuts the connection: the client comes back for the rest, as it would without us
            await self._break_off(exchange, answer, b"", key, str(error))
            return
        if rest := buffer.rest():
            # Not whole, but some clients read it all the same.
            ended = rest + b"\n\n"
            written, has_id = await self._event(ended, session)
            can_resume = can_resume or (has_id and may_resume)
            rest = rest if written is ended else written
        if key and not can_resume and session.is_waiting_for(key):
            # Without the rest: what we say would become the end of half an event.
            await self._break_off(
                exchange, answer, b"", key, "the upstream ended its answer without the result"
            )
            return
        if rest:
            await exchange.write(rest)
        await exchange.end()

    def _too_large(self) -> str:
        return f"the upstream's answer is larger than max_result_bytes ({self._max_bytes:,}): ask it for less"

    async def _break_off(
        self, exchange: Exchange, answer: Answer, before: bytes, key: bytes, reason: str
    ) -> None:
        answer.abort()
        self._note(Note("answer_broken_off", {"reason": reason[:200]}, "error"))
        failure = write_event(rpc.failure(key, rpc.UPSTREAM_GONE, reason)) if key else b""
        await exchange.write(before + failure)
        await exchange.end()

    async def _event(self, raw: bytes, session: Session) -> tuple[bytes, bool]:
        # One of a million lines takes seconds.
        do = _at_once if len(raw) <= _QUICK_BYTES else asyncio.to_thread
        event = await do(read_event, raw)
        if not event.data:
            return raw, bool(event.id)
        # By whatever name: there are clients that do not look.
        data = await self._rewritten(event.data, session)
        if data is None:
            data = b" ".join(event.data[:_MAX_PAGE_BYTES].splitlines())
        return raw if data is event.data else await do(with_data, raw, data), bool(event.id)

    async def _rewritten(self, text: bytes, session: Session) -> bytes | None:
        """The same object where nothing must change; None of what is large and no message."""
        bare = text.removeprefix(BOM_UTF8)
        lines = await self._settled(session.from_upstream(bare))
        if lines and lines[0] is not bare:
            return lines[0]
        return text if len(text) <= _MAX_PAGE_BYTES or (lines and _is_message(bare)) else None

    async def _settled(self, actions: list[Action]) -> list[bytes]:
        """The messages for the client, all work done; the log is told the rest."""
        lines: list[bytes] = []
        for action in actions:
            if isinstance(action, ToClient):
                lines.append(action.data if isinstance(action.data, bytes) else bytes(action.data))
            elif isinstance(action, Note):
                self._note(action)
            elif isinstance(action, Work):
                lines += await self._settled(await _done(action))
        return lines


async def _done(work: Work) -> list[Action]:
    if work.is_quick:
        return work.run()
    return await asyncio.get_running_loop().run_in_executor(None, work.run)


def _joined(answers: list[bytes]) -> bytes:
    """One batch of several answers, each of which may be a batch."""
    bare = [answer.strip() for answer in answers]
    return b"[" + b",".join(one[1:-1] if one[:1] == b"[" else one for one in bare) + b"]"


async def _at_once(do: Callable[..., Any], *given: Any) -> Any:
    return do(*given)


def _is_message(text: bytes) -> bool:
    """Not every JSON is: frameworks have errors of their own."""
    read = rpc.read_leniently(text) if isinstance(rpc.read(text), rpc.Garbage) else text
    found = rpc.read(read or b"")
    messages = [rpc.read(bytes(raw)) for raw in found] if isinstance(found, list) else [found]
    return all(
        isinstance(one, Message)
        and (one.method or one.result is not rpc.NOTHING or bytes(one.error)[:1] == b"{")
        for one in messages
    )


async def _beginning(answer: Answer) -> bytes:
    """As much of a page as may tell what went wrong."""
    out = b""
    while len(out) < _MAX_PAGE_BYTES and (chunk := await answer.next()):
        out += chunk
    answer.abort()
    return out[:_MAX_PAGE_BYTES]
