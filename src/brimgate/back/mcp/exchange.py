"""One message POSTed to a server, and everything that comes in answer to it."""

import asyncio
from contextlib import suppress
from typing import Final, Protocol

import msgspec

from brimgate.back.mcp.request import Outgoing, Waiting
from brimgate.back.mcp.response import (
    HttpRefusal,
    OverCap,
    Trail,
    is_event_stream,
    read_refusal,
)
from brimgate.back.mcp.server import ServerConversation, learn_tools, list_tools
from brimgate.errors import AnswerTooLarge, UpstreamError, UpstreamGarbled, UpstreamLost, UpstreamUnreachable
from brimgate.http.client import Response
from brimgate.http.sse import Event
from brimgate.relay.protocol import message as rpc
from brimgate.relay.protocol.message import Message, messages_in, one_line
from brimgate.relay.protocol.versions import HEADER_MISMATCH, call_arguments
from brimgate.wire.framing import TooLong

_MAX_FAILURES: Final = 5
"""The number of retries in a row to resume a broken stream that brought nothing."""
_LINGER_SECONDS: Final = 1.0
"""How long a stream may stay open after its answer, so that its connection can be reused."""
_MAX_DROPPED_BYTES: Final = 64 << 10
_NOBODY: Final = (b"", b"null")


class Owner(Protocol):
    def heard(self, line: bytes, messages: list[Message], exchange: "Exchange") -> None:
        """Take a message of the server."""
        ...

    def say(self, line: bytes) -> None:
        """Take an answer of the server in other words: under another id, or for its status of HTTP."""
        ...

    def failed(self, sent: Outgoing, keys: list[bytes], failure: UpstreamError) -> None:
        """Take that these requests get no answer."""
        ...

    def too_long(self, beginning: bytes) -> None: ...

    def lost(self, failure: UpstreamError) -> None: ...

    def chatter(self, text: str) -> None: ...


class Exchange:
    def __init__(self, sent: Outgoing, conversation: ServerConversation, owner: Owner) -> None:
        self.sent = sent
        self.waiting = Waiting(sent.keys)
        self.is_cancelled = False
        self._conversation, self._owner = conversation, owner
        self._trail = Trail()
        self._limit: asyncio.Timeout | None = None

    @property
    def _is_greeting(self) -> bool:
        return self.sent.method == "initialize"

    @property
    def _is_owed(self) -> bool:
        return bool(self.waiting) and not self.is_cancelled

    async def run(self) -> None:
        try:
            await self._converse()
        except OverCap as error:
            self._refuse_size(error.beginning)
        except UpstreamError as error:
            self.fail(error)
        except ValueError as error:  # it cannot be written as a request, so it was not sent
            self.fail(UpstreamUnreachable(str(error)))

    async def tell(self) -> bool:
        """Send a message that gets no answer.

        Return whether it was accepted. Raise UpstreamError if that is unknown.
        """
        response = await self._conversation.post(self.sent)
        if 200 <= response.status < 300:
            await _drop(response)
            return True
        self._refused(await read_refusal(response))
        return False

    async def _converse(self) -> None:
        response = await self._conversation.post(self.sent)
        if not 200 <= response.status < 300:
            refusal = await read_refusal(response)
            if not await self._learns_from(refusal):
                self._refused(refusal)
                return
            # It was refused before it ran, for missing headers: we know them now.
            response = await self._conversation.post(self.sent)
            if not 200 <= response.status < 300:
                self._refused(await read_refusal(response))
                return
        if self._is_greeting:
            self._conversation.begin(response)
        if is_event_stream(response):
            await self._hear_stream(response)
        else:
            await self._hear_body(response)
        self.fail(UpstreamLost(f"the upstream {self._conversation.name} ended its answer without the result"))

    async def _learns_from(self, refusal: HttpRefusal) -> bool:
        message = self.sent.message
        if message is None or not self.sent.is_modern or message.method != "tools/call":
            return False
        tool, _ = call_arguments(message)
        if refusal.code != HEADER_MISMATCH or tool in self._conversation.tools:
            return False
        await list_tools(self._conversation, message, tool)
        return True

    # Incoming

    async def _hear_body(self, response: Response) -> None:
        body = one_line(await self._conversation.ear.body(response))
        if body[:1] in (b"{", b"["):
            self._hear(body)
        elif body:
            what = f"answered {response.status} with something that is no message"
            self.fail(UpstreamGarbled(f"the upstream {self._conversation.name} {what}"))

    async def _hear_stream(self, response: Response) -> None:
        """Read the whole stream. If it breaks before the answer and has event ids, resume it."""
        going: Response | None = response
        while going is not None:
            broken = await self._hear_out(going)
            may_resume = self._is_owed and self._trail.last_id and not self.sent.is_modern
            going = await self._take_up() if may_resume else None
            if going is None and broken is not None:
                raise broken

    async def _hear_out(self, response: Response) -> UpstreamError | None:
        """Read until the stream ends. Return the error, if it ended with one."""
        try:
            async with asyncio.timeout(None) as self._limit:
                await self._conversation.ear.follow(response, self._hear_event)
        except TimeoutError:
            return None  # the answer is there, and the stream stays open
        except UpstreamError as error:
            return error
        finally:
            self._limit = None
        return None

    async def _take_up(self) -> Response | None:
        """Resume a broken stream. Return None if that is not possible."""
        trail = self._trail
        while self._is_owed and trail.failures < _MAX_FAILURES:
            await trail.rest()
            trail.failures += 1
            try:
                response = await self._conversation.listen(trail.last_id)
            except UpstreamError:
                continue
            except ValueError:
                return None  # the id cannot be repeated in a header
            if response.status == 200 and is_event_stream(response):
                return response
            response.abort()
            if 400 <= response.status < 500 and response.status not in (409, 429):
                return None
        return None

    def _hear_event(self, event: Event | TooLong) -> None:
        if isinstance(event, TooLong):
            raise OverCap(event.beginning)
        self._trail.note(event)
        if event.name == b"message" and event.data and (line := one_line(event.data)):
            self._hear(line)

    def _hear(self, line: bytes) -> None:
        messages = messages_in(line)
        if not messages and (key := rpc.guess_id(line)):
            messages = [Message(msgspec.Raw(key))]
        for message in messages:
            if self._is_nobodys(message) and rpc.read_error(bytes(message.error)) is not None:
                self._answer_all(bytes(message.error))
                return
            if not message.method and message.key in self.waiting:
                self._learn(message)
        self._owner.heard(line, messages, self)

    def _is_nobodys(self, message: Message) -> bool:
        return not message.method and message.key in _NOBODY and message.key not in self.waiting

    def _learn(self, answer: Message) -> None:
        if self._is_greeting:
            self._conversation.note_greeting(answer)
        elif self.sent.is_modern and self.sent.method == "tools/list":
            learn_tools(self._conversation, bytes(answer.result))

    def settle(self, key: bytes) -> bool:
        """Return whether this is an answer that was waited for."""
        was_awaited = self.waiting.take(key)
        if was_awaited and not self.waiting and self._limit is not None:
            self._limit.reschedule(asyncio.get_running_loop().time() + _LINGER_SECONDS)
        return was_awaited

    # Failures

    def _refused(self, refusal: HttpRefusal) -> None:
        conversation, sent = self._conversation, self.sent
        is_in_session = conversation.session_id and not sent.is_modern and not self._is_greeting
        if is_in_session and refusal.is_outside_session:
            self._owner.lost(conversation.session_lost(refusal.status))
        elif sent.method == "server/discover" and refusal.is_of_older_era:
            # So says a server of the older era that it has no such method.
            text = f"{refusal.text(conversation.name)}; it does not know server/discover"
            self._answer_all(rpc.encode({"code": rpc.METHOD_NOT_FOUND, "message": text}))
        elif refusal.error and self.waiting:
            self._answer_all(refusal.error)
        elif refusal.error and sent.message is None and not self.is_cancelled:
            self._owner.say(refusal.body)
        elif self.waiting:
            self.fail(refusal.failure(conversation.name))
        else:
            what = sent.method or "an answer of the client"
            self._owner.chatter(f"{refusal.text(conversation.name)} to {what}")

    def _answer_all(self, error: bytes) -> None:
        """Treat an error that names no request as the answer to this one."""
        answers = [rpc.failed(key, error) for key in self.waiting.take_all()]
        if not answers or self.is_cancelled:
            return
        is_batch = self.sent.line.lstrip()[:1] == b"["
        self._owner.say(b"[" + b",".join(answers) + b"]" if is_batch else answers[0])

    def fail(self, failure: UpstreamError) -> None:
        """Fail all requests that still wait for an answer."""
        keys = self.waiting.take_all()
        if keys and self._is_greeting:
            self._owner.lost(failure)
        elif keys and not self.is_cancelled:
            self._owner.failed(self.sent, keys, failure)

    def _refuse_size(self, beginning: bytes) -> None:
        """Refuse an answer for its size. Its beginning may not show whose it is, so one that does is put before it."""
        failure = AnswerTooLarge(f"the answer of the upstream {self._conversation.name} is too large")
        if self._is_greeting or self.is_cancelled:
            self.fail(failure)
        for key in self.waiting.take_all():
            shown = b'{"jsonrpc":"2.0","id":' + key + b',"result":' + beginning
            if rpc.guess_id(shown) == key:
                self._owner.too_long(shown)
            else:
                self._owner.failed(self.sent, [key], failure)


async def _drop(response: Response) -> None:
    """Read the small rest, so that the connection can be reused."""
    try:
        if not is_event_stream(response):
            with suppress(UpstreamError):
                await response.read(_MAX_DROPPED_BYTES)
    finally:
        response.abort()
