"""One client and one upstream, without I/O: a line from either side in, actions out.

Everything passes as the bytes it came in, except what the table in the design names: lists of tools, the
capability to have them, calls of our own tool, and answers over their budget.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, assert_never

import msgspec

from brimgate.engine.policy import Rules
from brimgate.errors import AnswerTooLarge, BrimgateError, UpstreamError, UpstreamRefused, UpstreamTimeout
from brimgate.hold.runtime import ProtectionSource, run_work
from brimgate.relay.actions import (
    Action,
    Decided,
    Greeted,
    Line,
    Listed,
    Note,
    ToClient,
    ToUpstream,
    Wait,
    Work,
    at_once,
    with_work_done,
)
from brimgate.relay.calls import (
    DIGEST_BYTES,
    MEASURED,
    Greeting,
    Orphans,
    PendingCall,
    PendingCalls,
    Silence,
    progress_token,
)
from brimgate.relay.catalog import Catalog, tool_tokens
from brimgate.relay.protocol import message as rpc
from brimgate.relay.protocol.message import NOTHING, Garbage, Message, Opaque
from brimgate.relay.reduction import Reducer, error_type
from brimgate.relay.trace_context import with_context

if TYPE_CHECKING:
    from brimgate.hold.live_lists import ClaimTickets
    from brimgate.relay.trace_context import Arrival, Tracer

_SHOWN_BYTES: Final = 200
"""Of a line that is no message, for the log."""
_TOO_DEEP: Final = "maximum recursion depth"
_SMALL_BYTES: Final = 10 << 10
"""An answer that cannot be estimated passes up to here."""
_NAMELESS: Final = rpc.encode({"code": rpc.UPSTREAM_GONE, "message": "the upstream's answer names no call"})
_GREETINGS: Final = frozenset(("initialize", "server/discover"))
_CANCELLED: Final = "cancelled"
_OTHER: Final = "_OTHER"
"""As OpenTelemetry calls an error that has no name."""

Reason = UpstreamError | str
"""Why a call gets no answer: a failure of the upstream, or what we say where it is none."""


class _CallParams(msgspec.Struct):
    name: str = ""
    arguments: msgspec.Raw = NOTHING


class _ListParams(msgspec.Struct):
    cursor: str | None = None


class _CancelParams(msgspec.Struct):
    requestId: msgspec.Raw = NOTHING  # noqa: N815  # as on the wire


_call_params: Final = msgspec.json.Decoder(_CallParams)
_list_params: Final = msgspec.json.Decoder(_ListParams)
_cancel_params: Final = msgspec.json.Decoder(_CancelParams)


class Session:
    def __init__(
        self,
        rules: Rules,
        protection: ProtectionSource,
        clock: Callable[[], float],
        *,
        upstream: str = "upstream",
        principal: str = "local",
        catalog: Catalog | None = None,
        defers_work: bool = False,
        tickets: "ClaimTickets | None" = None,
        names_calls: bool = False,
    ) -> None:
        """Create a session.

        `catalog` is shared where several sessions see the same tools. If `defers_work`, long work is left to the
        driver. `tickets` is where an upstream in our own process leaves its live lists. If `names_calls`, an answer must
        name its call, because each call has a response of its own: one that names none is given to the call it must be.
        """
        self.rules = rules
        """Replace it to change the rules: calls under way keep those they began with."""
        self._catalog = Catalog() if catalog is None else catalog
        self._reducer = Reducer(self._catalog, protection, clock, upstream, principal, tickets)
        self._defers_work = defers_work
        self._calls = PendingCalls()
        self._names_calls = names_calls
        self._orphans = Orphans()
        self.silence = Silence(self._calls)
        self._greeting = Greeting()
        self._held_back: list[ToUpstream] = []
        """What the client sent during the handshake with a restarted upstream."""
        self.quotes_garbage = True
        """Whether the log gets the beginning of what is no message. It may be anything, such as somebody's answer."""
        self._clash_told = False
        self._cost_told = False
        self._client = ""
        """The name of the client, once it has introduced itself."""
        self.tracer: Tracer | None = None
        """Is told of every request, if somebody traces them."""
        self._arrival: Arrival | None = None
        """How the line came that is looked at."""
        self._version = ""
        """The protocol version that the handshake agreed on, where somebody wants to know."""
        self._opened_at = 0.0

    @property
    def is_greeting(self) -> bool:
        """Whether a restarted upstream has not yet answered the handshake."""
        return self._greeting.is_under_way

    @property
    def pending_calls(self) -> int:
        return self._calls.count

    def is_waiting_for(self, key: bytes) -> bool:
        return key in self._calls

    def passes_unread(self, key: bytes) -> bool:
        """Return whether the answer to a call passes as it is, whatever it says: it is never reduced nor rewritten."""
        call = self._calls.get(key)
        rewritten = ("tools/list", *_GREETINGS)
        return call is not None and not call.is_measured and call.method not in rewritten

    # From the client

    def from_client(self, line: Line, arrival: "Arrival | None" = None) -> list[Action]:
        """Take a line. `arrival` tells how it came, if that was over HTTP."""
        if self.tracer is not None:
            self._arrival = arrival
        actions = self._from_client(line)
        if self._orphans.waiting:
            actions += self._end_orphans()
        return self._finish(self.hold_back(actions))

    def _from_client(self, line: Line) -> list[Action]:
        message = rpc.read(line)
        if isinstance(message, Message):
            return self._route(message, line)
        if isinstance(message, list):
            return self._batch_from_client(message, line)
        if isinstance(message, Garbage):
            return self._odd_from_client(line) if line.strip() else []
        return [ToUpstream(line)]

    def _finish(self, actions: list[Action]) -> list[Action]:
        return actions if self._defers_work else with_work_done(actions)

    def _odd_from_client(self, line: Line) -> list[Action]:
        """Route a message that strict JSON refuses by a strict copy. If it is forwarded, it goes unchanged."""
        strict = rpc.read_leniently(line)
        message = rpc.read(strict) if strict is not None else None
        actions: list[Action] = [ToUpstream(line, bool(rpc.guess_id(line)))]
        if strict is not None and isinstance(message, Message):
            actions = self._route(message, strict)
        elif strict is not None and isinstance(message, list):
            actions = self._batch_from_client(message, strict, is_copy=True)
        return [_as_it_came(action, strict, line) for action in actions]

    def _route(self, message: Message, line: Line) -> list[Action]:
        """Decide where a message of the client goes."""
        method = message.method
        if not method or message.id is NOTHING:
            self._note_notification(message, line)
            return [ToUpstream(line)]
        if method == "tools/call":
            return self._route_call(message, line)
        call = PendingCall(message.key, method, self.rules)
        if self.tracer is not None:
            call.trace = self.tracer.begin(message, self._arrival, self._version)
        if method in MEASURED:
            call.tool = method
            call.arm = call.rule.arm
            call.arguments = bytes(message.params)
            call.digest = blake2b(call.arguments, digest_size=DIGEST_BYTES).digest()
            self._note_caller(call, message)
        elif method == "tools/list":
            call.modern = rpc.is_modern(message.params)
            if not self._catalog.has_tools:
                own = self._catalog.own_list(self.rules, modern=call.modern)
                self._end_trace(call)
                return [ToClient(rpc.answer(message.key, own))]
            params = _decode(_list_params, message.params)
            call.first_page = params is None or params.cursor is None
        elif method in _GREETINGS:
            call.line = line
            self._client = rpc.client_name(message.params) or self._client
        if self.silence.limit_seconds:
            call.token = progress_token(message.params)
        forgotten = self._calls.add(call)
        if self.tracer is not None:
            return self._traced(call, line, forgotten)
        return [ToUpstream(line, True)]

    def _traced(self, call: PendingCall, line: Line, forgotten: PendingCall | None) -> list[Action]:
        """Send a request on with its trace, and end that of a call which nobody waits for any more."""
        if forgotten is not None:
            self._end_trace(forgotten, _OTHER)
        if call.trace is None:
            return [ToUpstream(line, True)]
        call.trace.sent_ns = time.time_ns()
        return [ToUpstream(with_context(line, call.trace.onward), True, call.trace)]

    def _end_trace(self, call: PendingCall, error: str = "") -> None:
        if call.trace is not None and self.tracer is not None:
            self.tracer.end(call.trace, error)

    def _route_call(self, message: Message, line: Line) -> list[Action]:
        params = _decode(_call_params, message.params)
        name: str = params.name if params else ""
        arguments = params.arguments if params else NOTHING
        call = PendingCall(message.key, "tools/call", self.rules, name, arguments=bytes(arguments))
        if self.tracer is not None:
            call.trace = self.tracer.begin(message, self._arrival, self._version)
        self._note_caller(call, message)
        if name == self.rules.read_tool and not self._catalog.is_chained:
            return self._reducer.read(message, arguments, call)
        if name == self.rules.read_tool:
            return self._route_chained_read(message, arguments, call, line)
        return self._forward(message, call, line)

    def _forward(self, message: Message, call: PendingCall, line: Line) -> list[Action]:
        rule = call.rule
        if rule.hidden:
            text = f"Unknown tool: {call.tool[:100]}"
            answer = rpc.failure(message.key, rpc.INVALID_PARAMS, text)
            return [self._reducer.refusal(call, answer, text, "refused"), ToClient(answer)]
        call.arm = rule.arm_of(call.tool, call.arguments)
        call.digest = blake2b(call.arguments, digest_size=DIGEST_BYTES).digest()
        if self.silence.limit_seconds:
            call.token = progress_token(message.params)
        forgotten = self._calls.add(call)
        if self.tracer is not None:
            return self._traced(call, line, forgotten)
        return [ToUpstream(line, True)]

    def _route_chained_read(
        self, message: Message, arguments: msgspec.Raw, call: PendingCall, line: Line
    ) -> list[Action]:
        """Route a read where the upstream is a Brimgate too: a cursor that is not ours belongs to it."""

        def route(*, is_ours: bool) -> list[Action]:
            if is_ours:
                return self._reducer.read(message, arguments, call)
            return self._forward(message, call, line)

        if not self._reducer.store_blocks:
            return route(is_ours=self._reducer.holds(arguments))
        found: list[bool] = []

        async def look_up() -> None:
            found.append(await run_work(partial(self._reducer.holds, arguments), 0, blocks=True))

        def failed(_: BrimgateError) -> list[Action]:
            return route(is_ours=False)

        return [Wait(look_up, lambda: route(is_ours=found[0]), failed)]

    def _note_caller(self, call: PendingCall, message: Message) -> None:
        call.modern = rpc.is_modern(message.params)
        call.client = rpc.client_name(message.params) if call.modern else self._client
        call.sent_at = time.perf_counter()

    def _note_notification(self, message: Message, line: Line) -> None:
        if message.method == "notifications/initialized":
            self._greeting.confirmation = line
        elif message.method == "notifications/cancelled":
            params = _decode(_cancel_params, message.params)
            call = self._calls.take(bytes(params.requestId)) if params is not None else None
            if call is not None:
                self._end_trace(call, _CANCELLED)

    def _batch_from_client(
        self, elements: list[msgspec.Raw], line: Line, *, is_copy: bool = False
    ) -> list[Action]:
        """Route the messages of a batch one by one. The batch stays unchanged unless part of it is for us, or is traced.

        `is_copy` says that the line stands for one that strict readers refuse: that one goes on as it came.
        """
        onward: list[bytes] = []
        ours: list[Action] = []
        expects = is_traced = False
        for element in elements:
            raw = bytes(element)
            message = rpc.read(raw)
            actions = self._route(message, raw) if isinstance(message, Message) else [ToUpstream(raw)]
            for action in _without_waits(actions):
                if isinstance(action, ToUpstream):
                    onward.append(raw if is_copy else bytes(action.data))
                    expects = expects or action.expects_answer
                    is_traced = is_traced or (action.trace is not None and not is_copy)
                else:
                    ours.append(action)
        if not ours:
            return [ToUpstream(b"[" + b",".join(onward) + b"]" if is_traced else line, expects)]
        blocks = any(isinstance(one, Work) and one.blocks for one in ours)
        work = Work(partial(_merged, [(b"", ours)], line), len(line), blocks)
        given: list[Action] = [work] if work.blocks else work.run()
        return [ToUpstream(b"[" + b",".join(onward) + b"]", expects), *given] if onward else given

    # From the upstream

    def from_upstream(self, line: Line) -> list[Action]:
        actions = self._read_from_upstream(line)
        if self._orphans.waiting:
            actions += self._end_orphans()
        return self._finish(actions)

    def _read_from_upstream(self, line: Line) -> list[Action]:
        message = rpc.read(line)
        if isinstance(message, Message):
            return self._from_upstream(message, line)
        if isinstance(message, list):
            return self._batch_from_upstream(message, line)
        if isinstance(message, Opaque):
            return [ToClient(line)]
        return self._from_odd_upstream(line, message.reason)

    def _from_upstream(self, message: Message, line: Line) -> list[Action]:
        if message.method:
            if message.method == "notifications/progress":
                self.silence.note_progress(message.params)
            is_task = message.method == "notifications/tasks"
            return self._reducer.task_note(message, self.rules, line) if is_task else [ToClient(line)]
        call = self._calls.take(message.key)
        if call is None:
            return self._unknown_answer(message, line)
        call.upstream_seconds = time.perf_counter() - call.sent_at
        if call.trace is not None:
            call.trace.answered_ns = time.time_ns()
        if message.has_error:
            return self._failed(message, call, line)
        if call.trace is not None and not call.is_measured:
            self._end_trace(call)
        if call.is_measured:
            if (begun := self._reducer.begun_list(message, call)) is not None:
                return begun
            if call.arm != "protected":
                return [self._reducer.passed(call, message), ToClient(line)]
            return self._reducer.result(message, call, line)
        if call.method == "tools/list":
            return self._listed(message, call, line)
        if call.method in _GREETINGS:
            return self._greeted_by_upstream(message, call, line)
        return [ToClient(line)]

    def _failed(self, message: Message, call: PendingCall, line: Line) -> list[Action]:
        error = rpc.read_error(memoryview(message.error)) if call.method == "tools/list" else None
        if error is not None and error.code == rpc.METHOD_NOT_FOUND:
            # A server without tools whose capabilities nobody asked for.
            if call.trace is not None:
                call.trace.upstream_error = str(error.code)
                self._end_trace(call)
            own = self._catalog.own_list(call.rules, modern=call.modern)
            return [ToClient(rpc.answer(message.key, own))]
        if call.trace is not None and not call.is_measured:
            self._end_trace(call, error_type(message))
        if not call.protected:
            return [*([self._reducer.passed(call, message)] if call.is_measured else []), ToClient(line)]
        return self._reducer.error(message, call, line)

    def _unknown_answer(self, message: Message, line: Line) -> list[Action]:
        if self._greeting.is_answer(message.key):
            return self._revived(message)
        if self.silence.is_late(message.key):
            return [Note("late_answer", {"bytes": len(line)}, "warning")]
        is_answer = message.has_error or message.result is not NOTHING
        if self._names_calls and is_answer and message.key in (b"", b"null"):
            error = bytes(message.error) if message.has_error else _NAMELESS
            self._orphans.add(error, self._calls.awaited)
            return [Note("nameless_answer", {"bytes": len(line)}, "warning")]
        call = PendingCall(message.key, "", self.rules)
        if message.has_error:
            return self._reducer.error(message, call, line)
        from brimgate.relay.results import looks_like_answer

        if message.result is not NOTHING and looks_like_answer(memoryview(message.result)):
            return self._reducer.result(message, call, line)
        return [ToClient(line)]

    def _end_orphans(self) -> list[Action]:
        ended: list[Action] = []
        for key, error in self._orphans.settled(self._calls):
            call = self._calls.take(key)
            if call is not None:
                answer = rpc.read_any(rpc.failed(call.id, error))
                ended += (
                    self._failed(answer, call, rpc.failed(call.id, error))
                    if isinstance(answer, Message)
                    else []
                )
        return ended

    def _listed(self, message: Message, call: PendingCall, line: Line) -> list[Action]:
        written = self._catalog.rewrite_list(
            memoryview(message.result), call.rules, first_page=call.first_page
        )
        if written is None:
            return [ToClient(line)]
        notes: list[Action] = []
        if self._catalog.clash_seen and not self._clash_told:
            self._clash_told = True
            what = f"the upstream has a tool named {call.rules.read_tool} too: ours is used; read_tool renames it"
            notes.append(Note("tool_name_clash", {"tool": call.rules.read_tool, "hint": what}, "warning"))
        return [
            *notes,
            *self._catalog_cost(written, call),
            Listed(partial(tool_tokens, written, call.rules.of("").policy.estimator), call.first_page),
            ToClient(rpc.with_result(line, message.key, written)),
        ]

    def _catalog_cost(self, written: rpc.Json, call: PendingCall) -> list[Action]:
        """Tell once if the list of tools is a heavy load for every session of its clients."""
        most = call.rules.catalog.warn_tokens
        if self._cost_told or not most or len(written) < most:
            return []
        tokens = call.rules.of("").policy.estimator.table(bytes(written))
        if tokens <= most:
            return []
        self._cost_told = True
        hint = "hide tools, or set trim_tools or max_description_chars"
        return [Note("large_catalog", {"tokens": tokens, "limit": most, "hint": hint}, "warning")]

    def _greeted_by_upstream(self, message: Message, call: PendingCall, line: Line) -> list[Action]:
        if call.method == "initialize":
            self._greeting.request = call.line
            if self.tracer is not None:
                self._version = rpc.protocol_version(message.result)
                self._opened_at = self._opened_at or time.monotonic()
        written = self._catalog.rewrite_capabilities(memoryview(message.result))
        if call.rules.is_shadow:
            written = None
        return [ToClient(line if written is None else rpc.with_result(line, message.key, written))]

    def _batch_from_upstream(self, elements: list[msgspec.Raw], line: Line) -> list[Action]:
        routed: list[tuple[bytes, list[Action]]] = []
        for element in elements:
            raw = bytes(element)
            message = rpc.read(raw)
            is_message = isinstance(message, Message)
            routed.append((raw, self._from_upstream(message, raw) if is_message else [ToClient(raw)]))
        # What is left to do touches nothing of the session.
        work = Work(partial(_merged, routed, line), len(line), self._reducer.store_blocks)
        return (
            [work] if any(isinstance(one, Work) for _, actions in routed for one in actions) else work.run()
        )

    def _from_odd_upstream(self, line: Line, reason: str) -> list[Action]:
        """Handle what strict JSON refuses: a message if clients might read it, else garbage."""
        if not line.strip():
            return []
        strict = rpc.read_leniently(line)
        if strict is not None:
            return [_as_it_came(action, strict, line) for action in self._read_from_upstream(strict)]
        call = self._calls.take(rpc.guess_id(line)) if line.lstrip()[:1] == b"{" else None
        if call is not None and call.trace is not None and not call.is_measured:
            self._end_trace(call, _OTHER)
        if call is not None and reason.startswith(_TOO_DEEP) and _passes_unread(call, line):
            return [*([self._reducer.passed(call, Message())] if call.is_measured else []), ToClient(line)]
        if call is not None:
            return self._reducer.unreadable(call, line, reason)
        begins = bytes(line[:_SHOWN_BYTES]).decode("utf-8", "replace")
        told = {"bytes": len(line)} | ({"begins": begins} if self.quotes_garbage else {})
        return [Note("garbage", told | {"reason": reason[:200]}, "warning")]

    # Upstream failures

    def refuse_answer(self, beginning: bytes, max_bytes: int) -> list[Action]:
        """Refuse an answer that exceeds the byte limit. Tell the caller, or all callers if its id is not readable."""
        key = rpc.guess_id(beginning)
        keys = [key] if key in self._calls else [call.id for call in self._calls]
        text = f"the upstream's answer is larger than max_result_bytes ({max_bytes:,}): ask it for less, or raise that"
        failure = AnswerTooLarge(text)
        return [
            Note("answer_too_large", {"max_bytes": max_bytes}, "error"),
            *(action for key in keys for action in _answers_of_ours([self._give_up(key, failure)], failure)),
        ]

    def end_silent(self) -> list[Action]:
        """End the calls that the upstream says nothing about for too long, and tell it so."""
        actions: list[Action] = []
        for call in self.silence.overdue():
            failure = silent_too_long(self.silence.limit_seconds)
            actions += _answers_of_ours([self._give_up(call.id, failure)], failure)
            if call.method != "initialize":  # which must not be cancelled, says the protocol
                actions.append(ToUpstream(cancellation(call.id)))
        return actions

    def fail_pending(self, reason: Reason, advice: str = "", but: Sequence[Line] = ()) -> list[Action]:
        """Fail all pending calls, because nobody will answer them, except those that have not been sent yet.

        `advice` is added to what the client reads.
        """
        self._greeting.is_under_way = False
        self._held_back.clear()
        unsent = {request.key for line in but for request in _requests(line)}
        return [
            action
            for call in self._calls
            if call.id not in unsent
            for action in _answers_of_ours([self._give_up(call.id, reason, advice)], reason)
        ]

    def is_greeting_of_client(self, line: Line) -> bool:
        """Return whether the client sends the handshake itself: then no other is needed."""
        return any(request.method == "initialize" for request in _requests(line))

    def fail(self, line: Line, reason: Reason, advice: str = "") -> list[Action]:
        """Answer a request that could not be sent. `advice` is added to what the client reads."""
        answers = [self._give_up(request.key, reason, advice, request) for request in _requests(line)]
        if not answers:
            return self.give_up_on(line, reason) if isinstance(rpc.read(line), Garbage) else []
        return _answers_of_ours(answers, reason, line)

    def fail_requests(self, line: Line, keys: Sequence[bytes], failure: UpstreamError) -> list[Action]:
        """Answer those requests of a line that was sent which the upstream will not answer."""
        if any(self._greeting.is_answer(key) for key in keys):
            return self._not_revived(failure)
        return _answers_of_ours([self._give_up(key, failure) for key in keys], failure, line)

    def fail_unanswered(self, line: Line, failure: UpstreamError) -> list[Action]:
        """Answer those requests of a line that still wait, though the upstream has answered the line."""
        keys = [request.key for request in _requests(line) if request.key in self._calls]
        return self.fail_requests(line, keys, failure) if keys else []

    def give_up_on(self, line: Line, reason: Reason) -> list[Action]:
        """Answer the caller whose answer could not be handled."""
        key = rpc.guess_id(line)
        return _answers_of_ours([self._give_up(key, reason)], reason) if key else []

    def _give_up(
        self, key: bytes, reason: Reason, advice: str = "", asked: Message | None = None
    ) -> tuple[bytes, Decided | None]:
        """Return the error for a call, and its decision if it was one whose answers are measured."""
        call = self._calls.take(key)
        if call is None and asked is not None:  # it never was on its way
            params = _decode(_call_params, asked.params)
            call = PendingCall(key, asked.method, self.rules, params.name if params else "")
        answer = rpc.failure(call.id if call else key, rpc.UPSTREAM_GONE, f"{reason}{advice}")
        if call is not None and call.trace is not None:
            call.trace.upstream_error = reason.kind if isinstance(reason, UpstreamError) else _OTHER
            if not call.is_measured:
                self._end_trace(call, str(rpc.UPSTREAM_GONE))
        if call is None or not call.is_measured:
            return answer, None
        call.upstream_seconds = time.perf_counter() - call.sent_at if call.sent_at else 0.0
        return answer, self._reducer.refusal(call, answer, str(reason), "error")

    def close(self) -> None:
        """End what somebody traces of this session: nobody waits for answers any more."""
        if self.tracer is None:
            return
        for call in self._calls:
            self._end_trace(call, _CANCELLED)
        if self._opened_at:
            self.tracer.note_session(time.monotonic() - self._opened_at, is_http=self._arrival is not None)
            self._opened_at = 0.0

    def prime(self, request: Line) -> None:
        """Send this handshake first whenever the upstream is started, before anything else reaches it."""
        self._greeting.request = request

    def revive(self) -> list[Action]:
        """Replay the client's handshake to a restarted upstream, before anything else reaches it."""
        greeting = self._greeting.begin()
        return [] if greeting is None else [ToUpstream(greeting)]

    def _revived(self, message: Message) -> list[Action]:
        if message.has_error:
            return self._not_revived(UpstreamRefused("the upstream was started and refuses the handshake"))
        held, self._held_back = self._held_back, []
        self._greeting.is_under_way = False
        confirmation = self._greeting.confirmation
        return [Greeted(bytes(message.result)), *([ToUpstream(confirmation)] if confirmation else []), *held]

    def _not_revived(self, failure: UpstreamError) -> list[Action]:
        """Fail what waited for the handshake."""
        held, self._held_back = self._held_back, []
        self._greeting.is_under_way = False
        return [Greeted(b""), *(action for sent in held for action in self.fail(sent.data, failure))]

    def hold_back(self, actions: list[Action]) -> list[Action]:
        """Hold back what must wait until the handshake with a restarted upstream is done, and return the rest."""
        if not self._greeting.is_under_way:
            return actions
        rest: list[Action] = []
        for action in actions:
            match action:
                case ToUpstream():
                    self._held_back.append(action)
                case ToClient() | Note() | Decided() | Listed() | Greeted() | Work() | Wait():
                    rest.append(action)
                case _:
                    assert_never(action)
        return rest


def silent_too_long(seconds: float) -> UpstreamTimeout:
    text = (
        f"the upstream said nothing for {seconds:g} s (call_timeout_seconds) and was told to cancel the call"
    )
    return UpstreamTimeout(f"{text}: what it has done by then is unknown")


def cancellation(key: bytes) -> bytes:
    """Return the notification that a request is no longer waited for."""
    params = b'{"requestId":' + key + b',"reason":"it took too long"}'
    return b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":' + params + b"}"


def _requests(line: Line) -> list[Message]:
    """Return the requests in a line, which may be a batch or something that strict readers refuse."""
    return [message for message in rpc.messages_in(line) if message.is_request]


def _passes_unread(call: PendingCall, line: Line) -> bool:
    """Return whether an answer passes that is nested too deeply to be read: one that is small whatever it says."""
    return not call.is_measured or len(line) <= _SMALL_BYTES


def _answers_of_ours(
    given_up: list[tuple[bytes, Decided | None]], reason: Reason, line: Line = b""
) -> list[Action]:
    """Return errors in place of answers that will not come: as a batch if the line that asked was one."""
    is_batch = line.lstrip()[:1] == b"["
    answers = [answer for answer, _ in given_up]
    data = b"[" + b",".join(answers) + b"]" if is_batch else answers[0]
    failure = reason if isinstance(reason, UpstreamError) else None
    return [*(decided for _, decided in given_up if decided is not None), ToClient(data, failure)]


def _without_waits(actions: Sequence[Action]) -> list[Action]:
    """Refuse what would have to be waited for. Work stays: it may have to be done elsewhere."""
    return [
        one for action in actions for one in ([action] if isinstance(action, Work) else at_once([action]))
    ]


def _merged(routed: list[tuple[bytes, list[Action]]], line: Line) -> list[Action]:
    """Make one batch of the answers in one. It stays as it came if none was changed."""
    notes: list[Action] = []
    written: list[bytes] = []
    for _, actions in routed:
        for action in at_once(actions):
            match action:
                case ToClient():
                    written.append(bytes(action.data))
                case ToUpstream() | Note() | Decided() | Listed() | Greeted():
                    notes.append(action)
                case _:
                    assert_never(action)
    if written == [raw for raw, _ in routed]:
        return [*notes, ToClient(line)]
    return [*notes, ToClient(b"[" + b",".join(written) + b"]")]


def _as_it_came(action: Action, strict: Line | None, line: Line) -> Action:
    """Put the original back in place of its strict copy, where nothing was changed."""
    match action:
        case ToUpstream(trace=trace) if trace is not None:
            return action._replace(data=with_context(line, trace.onward))
        case ToUpstream() | ToClient():
            return action._replace(data=line) if action.data is strict else action
        case Work(run, _, _):
            return action._replace(run=lambda: [_as_it_came(done, strict, line) for done in run()])
        case Wait(_, then, _):
            return action._replace(then=lambda: [_as_it_came(done, strict, line) for done in then()])
        case Note() | Decided() | Listed() | Greeted():
            return action
        case _:
            assert_never(action)


def _decode(decoder: Any, raw: msgspec.Raw) -> Any:
    """Decode parameters of a known shape, else return None: refusing wrong ones is up to the upstream."""
    if raw is NOTHING:
        return None
    try:
        return decoder.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
