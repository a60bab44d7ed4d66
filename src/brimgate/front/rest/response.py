"""An application's answer on its way out: collected if we must bound it, passed on at once if not."""

import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, NamedTuple

from brimgate.engine.decision import MAX_ARGUMENT_BYTES, AnswerSizes, Arm, Decision, LazySizes, Outcome
from brimgate.engine.document import one_line
from brimgate.engine.policy import Policy
from brimgate.engine.replies.rest_frame import RefusedQuery, encoded, invalid_cursor
from brimgate.errors import BrimgateError, ClientError, CursorError, UpstreamError
from brimgate.front.rest.headers import Media, has_body, header, media_of, other_body, without_body
from brimgate.guard.principal import Principal
from brimgate.hold.rest_answers import RestAnswer
from brimgate.http.asgi import Header, Message, Receive, Scope, Send, send_response

_MESSAGE_CHARS: Final = 1_000
_CHARS_A_TOKEN: Final = 4
_MAX_KEPT_BYTES: Final = 8 << 20
_ASIDE: Final = ("http.response.push", "http.response.early_hint", "http.response.debug")
BYPASSES: Final = ("http.response.pathsend", "http.response.zerocopysend", "http.response.trailers")
"""Ways to send that would bypass us; an application that is not offered them uses plain bodies."""


class Failure(NamedTuple):
    status: int
    code: str
    message: str
    retry_after: str = ""

    @property
    def body(self) -> bytes:
        message = one_line(self.message[:_MESSAGE_CHARS])
        return encoded({"error": {"code": self.code, "message": message}})

    @property
    def headers(self) -> list[Header]:
        waiting = [(b"retry-after", self.retry_after.encode())] if self.retry_after else []
        return other_body(waiting, len(self.body))


TOO_LARGE: Final = Failure(502, "answer_too_large", "the answer is larger than can be held: ask for less")
UNREADABLE: Final = Failure(502, "unreadable_answer", "the answer is in an encoding that cannot be read")
HIDDEN: Final = Failure(404, "not_found", "there is nothing at this path")
OURS: Final = Failure(500, "internal_error", "what is held of the answer could not be read")


def failure_of(error: BrimgateError) -> Failure:
    """Return the answer to a request that failed: the one place that decides its status and code."""
    match error:
        case CursorError():
            return failure_of(invalid_cursor())
        case RefusedQuery():
            return Failure(400, error.code, str(error))
        case ClientError():
            return Failure(400, "bad_request", str(error))
        case UpstreamError():
            return _upstream_failure(error)
        case _:
            return Failure(UpstreamError.status, UpstreamError.kind, str(error))


def _upstream_failure(error: UpstreamError) -> Failure:
    told = str(error) or "the server behind this one could not be reached"
    wait = "" if error.retry_after is None else f"{error.retry_after:.0f}"
    return Failure(error.status, error.kind, told, wait)


class Account:
    """Keeps account of one request: what came, what is sent, how long both took. Makes its decision at the end."""

    def __init__(self, scope: Scope, send: Send, now: float, on_close: Callable[[], None]) -> None:
        self._send, self._now, self._on_close = send, now, on_close
        self._is_closed = False
        self._path: str = scope["path"]
        self._client = (header(scope.get("headers", ()), b"user-agent") or b"").decode("latin-1")[:100]
        self._began = time.perf_counter()
        self._came_at = 0.0
        self._sent_bytes = 0
        self._is_text = False
        self.status = 0
        """The status of the response, once it has begun."""
        self.outcome: Outcome | None = None
        """What was decided; None if the answer only passed."""
        self.sizes: LazySizes = AnswerSizes(0, 0)
        self.arm: Arm = "protected"
        self.measure: Callable[[AppAnswer], AnswerSizes] | None = None
        """Measures an answer that passes, later and elsewhere. Then its body is kept until that is done."""
        self._headers: list[Header] = []
        self._kept: list[bytes] = []
        self.answer = 0
        self.has_expired = False
        self.call = b""
        self._shown: Callable[[], bytes] | None = None
        self.original_bytes: int | None = None
        self.issued_cursor = False
        self.followed_cursor = False
        self.reason = ""

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status, self._headers = message["status"], list(message.get("headers", ()))
            self._is_text = media_of(header(message.get("headers", ()), b"content-type")).is_protectable
        elif message["type"] == "http.response.body":
            body = message.get("body", b"")
            self._sent_bytes += len(body)
            if self.measure is not None and self._is_text and self._sent_bytes <= _MAX_KEPT_BYTES:
                self._kept.append(body)
            if not message.get("more_body", False):
                self.close()  # before the end is sent, so that the log has it when the client has it
        await self._send(message)

    def close(self) -> None:
        """Report the decision, once."""
        if not self._is_closed:
            self._is_closed = True
            self._on_close()

    def note_answer(self) -> None:
        """Note that the application has answered: the rest is ours."""
        self._came_at = time.perf_counter()

    def note_own(self) -> None:
        """Note that the application is not asked: all of it is ours."""
        self._came_at = self._began

    def note_reply(self, answer: RestAnswer, original_bytes: int) -> None:
        self.outcome, self.sizes, self.original_bytes = answer.outcome, answer.sizes, original_bytes
        self.issued_cursor, self.answer = answer.issued_cursor, answer.answer
        self.followed_cursor = answer.outcome == "read"
        body = answer.shaped.body
        self._shown = lambda: body

    def note_failure(self, failure: Failure, outcome: Outcome) -> None:
        self.outcome, self.reason = outcome, failure.message
        self.has_expired = failure.code == invalid_cursor().code
        tokens = len(failure.body) // _CHARS_A_TOKEN
        self.sizes = AnswerSizes(0, tokens)
        self.original_bytes = self.original_bytes or 0

    def _passed_sizes(self) -> LazySizes:
        """Measure what passed: later, if its body was kept. Otherwise it is counted by its length alone."""
        if self.measure is not None and self._kept and sum(map(len, self._kept)) == self._sent_bytes:
            media = media_of(header(self._headers, b"content-type"))
            answer = AppAnswer(self.status, self._headers, media, b"".join(self._kept))
            return partial(self.measure, answer)
        tokens = self._sent_bytes // _CHARS_A_TOKEN if self._is_text else 0
        return AnswerSizes(tokens, tokens)

    def decision(self, principal: Principal, upstream: str, policy: Policy) -> Decision:
        outcome, sizes, method = self.outcome, self.sizes, policy.estimator.family
        if outcome is None:  # unprotected, or nothing a model reads
            outcome, sizes = ("error" if self.status >= 400 else "passed"), self._passed_sizes()
            method = "chars4" if isinstance(sizes, AnswerSizes) else method
        over = time.perf_counter()
        came_at = self._came_at or over
        return Decision(
            self._now,
            principal.name,
            upstream,
            self._path,
            outcome,
            self._sent_bytes if self.original_bytes is None else self.original_bytes,
            self._sent_bytes,
            sizes,
            self._client,
            method,
            engine_seconds=over - came_at,
            upstream_seconds=came_at - self._began,
            issued_cursor=self.issued_cursor,
            followed_cursor=self.followed_cursor,
            reason=self.reason,
            arm=self.arm,
            principal_id=principal.id,
            answer=self.answer,
            call=self.call,
            has_expired=self.has_expired,
            threshold=policy.output_token_threshold,
            shown=self._shown,
            arguments=self.call[:MAX_ARGUMENT_BYTES],
            error_type=str(self.status) if outcome == "error" else "",
        )


class AppAnswer(NamedTuple):
    status: int
    headers: list[Header]
    media: Media
    raw: bytes
    """The body as it came, encoded or not."""


class Stopped(OSError):
    """Raised into an application that sends too much, as a server does when the client has gone."""


class Answering:
    """Replaces `send` and `receive` of one request."""

    def __init__(
        self,
        send: Send,
        receive: Receive,
        finish: Callable[[AppAnswer], Awaitable[None]],
        max_bytes: int,
        *,
        is_head: bool,
        on_stop: Callable[[], None],
    ) -> None:
        """Create it. `on_stop` is called when the answer is refused for its size, before the client is told."""
        self._send = send
        self._receive = receive
        self._finish = finish
        self._on_stop = on_stop
        self._max_bytes = max_bytes
        self._is_head = is_head
        self._held: AppAnswer | None = None
        self._body = bytearray()
        self._is_passing = False
        self.is_stopped = False

    async def receive(self) -> Message:
        return {"type": "http.disconnect"} if self.is_stopped else await self._receive()

    async def send(self, message: Message) -> None:
        if self.is_stopped:
            raise Stopped
        if message["type"] == "http.response.start":
            await self._begin(message)
        elif self._is_passing:
            await self._send({**message, "body": b""} if self._is_head and "body" in message else message)
        elif message["type"] == "http.response.body":
            await self._collect(message)
        elif message["type"] in _ASIDE:
            await self._send(message)

    async def _begin(self, message: Message) -> None:
        status: int = message["status"]
        headers: list[Header] = [(bytes(key), bytes(value)) for key, value in message.get("headers", ())]
        media = media_of(header(headers, b"content-type"))
        if not media.is_protectable or not has_body(status) or self._is_head:
            self._is_passing = True
            if self._is_head and media.is_protectable and has_body(status):
                message = {**message, "headers": without_body(headers)}
            await self._send(message)
            return
        self._held = AppAnswer(status, headers, media, b"")
        length = header(headers, b"content-length") or b""
        if length.isdigit() and int(length) > self._max_bytes:
            await self._stop()

    async def _collect(self, message: Message) -> None:
        if self._held is None:  # before the start or after the end: the server handles that
            await self._send(message)
            return
        self._body += message.get("body", b"")
        if len(self._body) > self._max_bytes:
            await self._stop()
        elif not message.get("more_body", False):
            held, self._held = self._held, None
            body, self._body = bytes(self._body), bytearray()
            await self._finish(held._replace(raw=body))

    async def _stop(self) -> None:
        self.is_stopped = True
        self._body.clear()
        self._on_stop()
        await send_failure(self._send, TOO_LARGE)
        raise Stopped


class Completing:
    """For an unchanged answer that is only the beginning of a live list: completes it when its body comes."""

    def __init__(self, send: Send, complete: Callable[[], Awaitable[bytes | Failure | None]]) -> None:
        self._send = send
        self._complete = complete
        self._start: Message | None = None
        self._is_done = False

    async def send(self, message: Message) -> None:
        if self._is_done:
            return
        if message["type"] == "http.response.start":
            media = media_of(header(message.get("headers", ()), b"content-type"))
            if media.is_protectable:
                self._start = message
                return
        elif self._start is not None:
            start, self._start = self._start, None
            whole = await self._complete()
            self._is_done = whole is not None
            if isinstance(whole, Failure):
                await send_failure(self._send, whole)
                return
            if whole is not None:
                gone = (b"content-length", b"content-encoding", b"etag", b"transfer-encoding")
                kept = [pair for pair in start.get("headers", ()) if pair[0].lower() not in gone]
                length = (b"content-length", b"%d" % len(whole))
                await send_response(self._send, start["status"], [*kept, length], whole)
                return
            await self._send(start)
        await self._send(message)


async def send_failure(send: Send, failure: Failure, *, is_head: bool = False) -> None:
    await send_response(send, failure.status, failure.headers, b"" if is_head else failure.body)
