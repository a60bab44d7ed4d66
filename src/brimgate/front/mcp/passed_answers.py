"""The answers of a server that speaks HTTP itself: pass them on, and rewrite only what must be."""

import re
from codecs import BOM_UTF8
from collections.abc import Callable
from functools import partial
from typing import Final, Protocol, assert_never

from brimgate.errors import (
    AnswerTooLarge,
    ClientError,
    UpstreamError,
    UpstreamGarbled,
    UpstreamLost,
    UpstreamRefused,
)
from brimgate.front.mcp.request import SESSION_ID, HttpExchange
from brimgate.hold.runtime import run_work
from brimgate.http.asgi import Header
from brimgate.http.sse import EventBuffer, in_turns, read_event, with_data, write_event
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
from brimgate.relay.protocol import message as rpc
from brimgate.relay.protocol.message import Message
from brimgate.relay.protocol.versions import is_modern_header
from brimgate.relay.session import Session
from brimgate.wire.framing import TooLong

_ACCEPTED: Final = 202
_METADATA: Final = re.compile(rb'resource_metadata=(?:"[^"]*"|[^\s,]+)\s*,?\s*', re.IGNORECASE)
_MAX_PAGE_BYTES: Final = 4_096
"""The most we pass of anything but a JSON-RPC message: HTML pages say nothing to a model."""


class UpstreamAnswer(Protocol):
    status: int
    headers: list[Header]

    def header(self, name: bytes) -> bytes: ...
    async def next(self) -> bytes: ...
    async def read(self, max_bytes: int) -> bytes: ...
    def abort(self) -> None: ...


class Passing:
    def __init__(self, tell: Callable[[Told], None], shown: frozenset[bytes], *, max_bytes: int) -> None:
        """Create it. `shown` are headers of the server that a client may see."""
        self._tell, self._shown, self._max_bytes = tell, shown, max_bytes

    async def pass_on(
        self, exchange: HttpExchange, answer: UpstreamAnswer, session: Session, key: bytes, mine: list[bytes]
    ) -> bool:
        """Pass an answer on. Return whether what it lacks may still come: on a stream that the client resumes."""
        named = answer.header(b"content-type")
        # Only one Content-Type: otherwise clients might use another one than we do.
        headers = [
            (name, _own_login(value) if name == b"www-authenticate" else value)
            for name, value in answer.headers
            if (name in self._shown or name.startswith(b"mcp-"))
            and (name != b"content-type" or value is named)
        ]
        kind = named.partition(b";")[0].strip().lower()
        if kind == b"text/event-stream":
            return await self._pass_events(exchange, answer, session, key, mine, headers)
        if kind != b"application/json" and answer.status >= 400:
            page = await _beginning(answer)
            await self._failed(session, key, _refused(answer.status))
            await exchange.answer(answer.status, page, headers)
        elif kind != b"application/json" and mine:
            await answer.read(self._max_bytes)
            await exchange.answer_json(_joined(mine))
        else:
            # Whatever its type: some clients do not look at it.
            begun = await _first_piece(answer) if answer.status == 200 and session.passes_unread(key) else b""
            if rpc.guess_id(begun) == key and begun:
                await self._pass_pieces(exchange, answer, session, begun, headers)
                return False
            body = begun + await self._read(answer, key)
            if answer.status < 400:
                body = _addressed(body, key)
            whole = await self._rewritten(body, session) if body.strip() else body
            if key and answer.status < 400 and answer.status != _ACCEPTED and session.is_waiting_for(key):
                raise UpstreamGarbled(f"the upstream answered {answer.status} with {_what_it_is(body)}")
            if whole is None:
                whole = body[:_MAX_PAGE_BYTES]
            if answer.status >= 400 and session.is_waiting_for(key):
                await self._failed(session, key, _refused(answer.status))
            if mine and not whole.strip():
                await exchange.answer_json(_joined(mine))
            else:
                await exchange.answer(answer.status, _joined([*mine, whole]) if mine else whole, headers)
            return answer.status == _ACCEPTED
        return False

    async def _pass_pieces(
        self,
        exchange: HttpExchange,
        answer: UpstreamAnswer,
        session: Session,
        piece: bytes,
        headers: list[Header],
    ) -> None:
        """Pass JSON on as it comes. If it breaks, or is too large, the connection is cut: the client sees it."""
        await exchange.begin(headers, answer.status)
        pieces, size = [piece], 0
        while piece:
            size += len(piece)
            if size > self._max_bytes:
                raise self._too_large()
            await exchange.write(piece)
            piece = await answer.next()
            pieces.append(piece)
        await self._rewritten(b"".join(pieces), session)
        await exchange.end()

    async def _read(self, answer: UpstreamAnswer, key: bytes) -> bytes:
        try:
            return await answer.read(self._max_bytes)
        except UpstreamError:
            answer.abort()
            raise

    async def _pass_events(
        self,
        exchange: HttpExchange,
        answer: UpstreamAnswer,
        session: Session,
        key: bytes,
        mine: list[bytes],
        headers: list[Header],
    ) -> bool:
        await exchange.begin([*headers, (b"x-accel-buffering", b"no")], answer.status)
        if mine:
            await exchange.write(b"".join(write_event(line) for line in mine))
        buffer = EventBuffer(self._max_bytes)
        can_resume = False
        # A session that began with a handshake is one to its end, whatever its version.
        in_session = bool(exchange.header(SESSION_ID))
        may_resume = in_session or not is_modern_header(exchange.header(b"mcp-protocol-version"))
        try:
            while chunk := await answer.next():
                out: list[bytes] = []
                async for raw in in_turns(buffer.feed(chunk)):
                    if isinstance(raw, TooLong):
                        await self._break_off(
                            exchange, answer, session, b"".join(out), key, self._too_large()
                        )
                        return False
                    written, has_id = await self._event(raw, session, key)
                    can_resume = can_resume or (has_id and may_resume)
                    out.append(written)
                if out:
                    await exchange.write(b"".join(out))
        except UpstreamError as error:
            if can_resume or not key:
                answer.abort()
                return can_resume  # which cuts the connection: the client resumes, as it would without us
            await self._break_off(exchange, answer, session, b"", key, error)
            return False
        if rest := buffer.rest():
            # Incomplete, but some clients read it all the same.
            ended = rest + b"\n\n"
            written, has_id = await self._event(ended, session, key)
            can_resume = can_resume or (has_id and may_resume)
            rest = rest if written is ended else written
        if key and not can_resume and session.is_waiting_for(key):
            # Without the rest: our message would become the end of half an event.
            ended_early = UpstreamLost("the upstream ended its answer without the result")
            await self._break_off(exchange, answer, session, b"", key, ended_early)
            return False
        if rest:
            await exchange.write(rest)
        await exchange.end()
        return can_resume

    def _too_large(self) -> AnswerTooLarge:
        return AnswerTooLarge(
            f"the upstream's answer is larger than max_result_bytes ({self._max_bytes:,}): ask it for less"
        )

    async def _break_off(
        self,
        exchange: HttpExchange,
        answer: UpstreamAnswer,
        session: Session,
        before: bytes,
        key: bytes,
        failure: UpstreamError,
    ) -> None:
        answer.abort()
        fields = {"kind": failure.kind, "reason": str(failure)[:200]}
        self._tell(Note("answer_broken_off", fields, "error"))
        told = await self._failed(session, key, failure)
        await exchange.write(before + b"".join(write_event(line) for line in told))
        await exchange.end()

    async def _failed(self, session: Session, key: bytes, failure: UpstreamError) -> list[bytes]:
        """Let the session forget a call that gets no answer, and return the error for it."""
        if not key:
            return []
        return await client_messages(session.fail_requests(b"", [key], failure), self._tell)

    async def _event(self, raw: bytes, session: Session, key: bytes) -> tuple[bytes, bool]:
        # An event with a million lines takes seconds.
        event = await run_work(partial(read_event, raw), len(raw))
        if not event.data:
            return raw, bool(event.id)
        # Whatever its name: some clients do not look at it.
        data = await self._rewritten(_addressed(event.data, key), session)
        if data is None:
            data = b" ".join(event.data[:_MAX_PAGE_BYTES].splitlines())
        if data is event.data:
            return raw, bool(event.id)
        return await run_work(partial(with_data, raw, data), len(raw)), bool(event.id)

    async def _rewritten(self, text: bytes, session: Session) -> bytes | None:
        """Return the same object if nothing must change; None for large data that is not a message."""
        bare = text.removeprefix(BOM_UTF8)
        lines = await client_messages(session.from_upstream(bare), self._tell)
        if lines and lines[0] is not bare:
            return lines[0]
        return text if len(text) <= _MAX_PAGE_BYTES or (lines and _is_message(bare)) else None


async def client_messages(actions: list[Action], tell: Callable[[Told], None]) -> list[bytes]:
    """Do all work, wait where that is asked for, and return the messages for the client. Notes go to the log."""
    lines: list[bytes] = []
    for action in actions:
        match action:
            case ToClient():
                lines.append(action.data if isinstance(action.data, bytes) else bytes(action.data))
            case Note() | Decided() | Listed():
                tell(action)
            case Work():
                done = await run_work(action.run, action.size, blocks=action.blocks, errand=action.errand)
                lines += await client_messages(done, tell)
            case Wait():
                lines += await client_messages(await fetched(action), tell)
            case ToUpstream() | Greeted():
                pass  # they are about a handshake that is replayed: nobody does that here
            case _:
                assert_never(action)
    return lines


async def fetched(wait: Wait) -> list[Action]:
    """Fetch what is missing. Return what to do then, or instead."""
    try:
        await wait.until()
        return wait.then()
    except (UpstreamError, ClientError) as error:
        return wait.failed(error)


def _own_login(challenge: bytes) -> bytes:
    """Return a question for a login without where to log in: a token from there is for the server's URL, not for ours."""
    return _METADATA.sub(b"", challenge).rstrip(b", ")


async def _first_piece(answer: UpstreamAnswer) -> bytes:
    """Return the beginning of a body whose length nobody knows yet; nothing of any other."""
    return await answer.next() if not answer.header(b"content-length") else b""


def _addressed(text: bytes, key: bytes) -> bytes:
    """Return an answer that names no call under the id of the one whose response it is; anything else as it is."""
    if not key or len(text) > _MAX_PAGE_BYTES:
        return text
    message = rpc.read_any(text.removeprefix(BOM_UTF8))
    if not isinstance(message, Message) or message.method or message.key not in (b"", b"null"):
        return text
    return rpc.failed(key, bytes(message.error)) if rpc.read_error(bytes(message.error)) else text


def _what_it_is(body: bytes) -> str:
    """Say what came in place of an answer."""
    if not body.strip():
        return "nothing in place of an answer"
    if any(not one.method and one.key for one in rpc.messages_in(body)):
        return "an answer to another request"
    return "something that is no message: is its address right?"


def _joined(answers: list[bytes]) -> bytes:
    """Join several answers, each of which may be a batch, into one batch."""
    bare = [answer.strip() for answer in answers]
    return b"[" + b",".join(one[1:-1] if one[:1] == b"[" else one for one in bare) + b"]"


def _is_message(text: bytes) -> bool:
    """Return whether the JSON is a message: frameworks have errors of their own."""
    read = rpc.read_leniently(text) if isinstance(rpc.read(text), rpc.Garbage) else text
    found = rpc.read(read or b"")
    messages = [rpc.read(bytes(raw)) for raw in found] if isinstance(found, list) else [found]
    return all(
        isinstance(one, Message)
        and (one.method or one.result is not rpc.NOTHING or bytes(one.error)[:1] == b"{")
        for one in messages
    )


def _refused(status: int) -> UpstreamRefused:
    return UpstreamRefused(f"the upstream answered {status} with something that is no message", status)


def unanswered(status: int) -> UpstreamError:
    """Return why a call got no answer, though the upstream answered the request."""
    return (
        _refused(status) if status >= 400 else UpstreamGarbled(f"the upstream answered {status} without it")
    )


async def _beginning(answer: UpstreamAnswer) -> bytes:
    """Read as much of a page as may tell what went wrong."""
    out = b""
    while len(out) < _MAX_PAGE_BYTES and (chunk := await answer.next()):
        out += chunk
    answer.abort()
    return out[:_MAX_PAGE_BYTES]
