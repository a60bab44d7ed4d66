"""Keep answers within their budget and answer the read tool, as messages. Safe to use from several threads.

Every answer comes with its decision.
"""

import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec

from brimgate.engine.decision import (
    MAX_ARGUMENT_BYTES,
    TOOL_ERROR,
    AnswerSizes,
    Decision,
    LazySizes,
    Outcome,
    short_name,
)
from brimgate.engine.policy import Rules, ToolRule
from brimgate.errors import BadRequest, BrimgateError, ClientError, CursorError, UpstreamGarbled
from brimgate.hold.runtime import ERRAND_BYTES, UNKNOWN_BYTES, ProtectionSource
from brimgate.relay.actions import Action, Decided, Line, Note, ToClient, Wait, Work
from brimgate.relay.calls import PendingCall
from brimgate.relay.catalog import TOOL_CURSOR, Catalog
from brimgate.relay.protocol import message as rpc
from brimgate.relay.protocol.message import NOTHING, Message
from brimgate.relay.read_tool import read_on

if TYPE_CHECKING:
    from brimgate.engine.cursor import Binding
    from brimgate.engine.decision import AnswerFormat
    from brimgate.engine.policy import Policy
    from brimgate.hold.errand import Errand
    from brimgate.hold.live_lists import ClaimTickets, LiveList
    from brimgate.hold.protection import Holder
    from brimgate.relay.results import BoundAnswer
    from brimgate.relay.rewrite import Bounded

_ENVELOPE_BYTES: Final = 2_000
_TASKS: Final = "tasks/get"
_ERROR_MEMBER: Final = re.compile(rb'"isError"')


class Reducer:
    def __init__(
        self,
        catalog: Catalog,
        protection: ProtectionSource,
        clock: Callable[[], float],
        upstream: str,
        principal: str,
        tickets: "ClaimTickets | None" = None,
    ) -> None:
        self._tickets = tickets
        self._catalog = catalog
        self._protection = protection
        self._clock = clock
        self._upstream = upstream
        self._principal = principal
        self._name = short_name(principal)

    # Decisions

    def _decided(
        self, call: PendingCall, outcome: Outcome, came: int, sent: int, sizes: LazySizes, **more: Any
    ) -> Decided:
        tool, policy = call.tool or call.method, call.rule.policy
        if call.trace is not None:
            call.trace.ended_ns = time.time_ns()
        return Decided(
            Decision(
                self._clock(), self._name, self._upstream, tool, outcome, came, sent, sizes, call.client,
                policy.estimator.family, upstream_seconds=call.upstream_seconds, arm=call.arm,
                principal_id=self._principal, call=call.digest, threshold=policy.output_token_threshold,
                method=call.method, arguments=call.arguments[:MAX_ARGUMENT_BYTES],
                trace=call.trace, **more,
            )
        )  # fmt: skip

    def passed(self, call: PendingCall, message: Message) -> Decided:
        """Decide that an answer goes out as it came. It is measured only if somebody asks."""
        raw: Any = message.error if message.has_error else message.result
        failed = "" if message.has_error or not reports_failure(raw) else TOOL_ERROR
        failure = error_code(message) if message.has_error else failed
        outcome: Outcome = "error" if failure else "passed"
        size = len(memoryview(raw)) if raw is not NOTHING else 0
        sizes = partial(_sizes_of, raw, call.rule.policy)
        if call.arm == "shadow" and not message.has_error:
            schema = self._catalog.schemas.get(call.tool, b"")
            sizes = partial(_tried, raw, call.rule, schema, modern=call.modern)
        return self._decided(
            call, outcome, size, size, sizes, shown=partial(_text_of, raw), error_type=failure
        )

    def _reduced(
        self, call: PendingCall, bounded: "Bounded", came: int, seconds: float, error: str = ""
    ) -> Decided:
        error = error or (TOOL_ERROR if reports_failure(bounded.raw) else "")
        outcome: Outcome = "error" if error else bounded.reply.outcome
        return self._decided(
            call, outcome, came, len(bounded.raw), bounded.reply.sizes,
            engine_seconds=seconds, issued_cursor=bounded.reply.has_cursor, answer=bounded.reply.answer,
            highlights=bounded.reply.highlight_count, shown=partial(_text_of, bounded.raw), error_type=error,
        )  # fmt: skip

    def refusal(
        self, call: PendingCall, answer: bytes, reason: str, outcome: Outcome, *, has_expired: bool = False
    ) -> Decided:
        """Decide that a call gets an error of ours: it is refused, or the upstream failed."""
        read = rpc.read(answer)
        # As of every other answer, only the result or error counts, and not the message around it.
        failed = read if isinstance(read, Message) and read.has_error else None
        sent = bytes(failed.error) if failed is not None else answer
        tokens = call.rule.policy.estimator.table(sent)
        return self._decided(
            call, outcome, 0, len(sent), AnswerSizes(0, tokens), reason=reason, has_expired=has_expired,
            error_type=error_code(failed) if failed is not None else TOOL_ERROR,
        )  # fmt: skip

    # Answers

    def result(self, message: Message, call: PendingCall, line: Line) -> list[Action]:
        if (b'"brimgate/' in line or b'"[brimgate]' in line) and not call.rules.chained:
            message, line = _disowned(message, line)
        rule = self._rule(call, line)
        if not rule.reads_everything and not rule.may_be_large(line):
            return [self.passed(call, message), ToClient(line)]
        if message.result is NOTHING:
            text = "the upstream's answer has neither a result nor an error"
            answer = rpc.failure(message.key, rpc.UPSTREAM_GONE, text)
            return [self.refusal(call, answer, text, "error"), ToClient(answer, UpstreamGarbled(text))]
        work = self._work(partial(self._result, message, call, line), len(line))
        is_worth = ERRAND_BYTES[0] < len(line) <= ERRAND_BYTES[1]
        if is_worth and self._protection.is_loaded and rule.formats is None:
            return [work._replace(errand=self._errand(message, call, line))]
        return [work]

    def _work(self, run: Callable[[], list[Action]], size: int) -> Work:
        return Work(run, size, self._protection.blocks)

    def _errand(self, message: Message, call: PendingCall, line: Line) -> "Errand[list[Action]]":
        """Return the work of `_result` for another process. A pack's formatters stay in this one."""
        from brimgate.hold.errand import Errand, Keeper, hold_again
        from brimgate.relay.results import BoundTask, bound_elsewhere

        rule, raw, protection = self._rule(call, line), bytes(message.result), self._protection()
        schema, now = self._catalog.schemas.get(call.tool, b""), self._clock()
        store = protection.store
        keeper = Keeper(
            protection.ring.keys, call.rules.ttl_seconds, self._binding(call), now, store.is_distant
        )

        def then(done: "BoundAnswer") -> list[Action]:
            hold_again(protection, done.kept, now)
            return self._bounded(message, call, line, done.bounded, done.seconds)

        task = BoundTask(raw, rule, schema, call.modern, keeper)
        return Errand(bound_elsewhere, task, then, store.blocks)

    def _result(self, message: Message, call: PendingCall, line: Line) -> list[Action]:
        from brimgate.relay import results

        began = time.perf_counter()
        rule = self._rule(call, line)
        schema = self._catalog.schemas.get(call.tool, b"")
        notes: list[Action] = []
        answer_format = rule.answer_format(
            call.arguments, lambda fields: notes.append(Note("view", fields, "warning"))
        )
        hold = self._hold(call, answer_format)
        bounded = results.bound_result(memoryview(message.result), rule, hold, schema, modern=call.modern)
        return [*notes, *self._bounded(message, call, line, bounded, time.perf_counter() - began)]

    def _bounded(
        self, message: Message, call: PendingCall, line: Line, bounded: "Bounded | None", seconds: float
    ) -> list[Action]:
        raw, key = memoryview(message.result), message.key
        if bounded is not None:
            answer = ToClient(_with_result(line, raw, key, bounded.raw))
            return [self._reduced(call, bounded, len(raw), seconds), answer]
        rule = self._rule(call, line)
        return [self.passed(call, message), ToClient(_unchanged(rule, line, raw, key))]

    def _rule(self, call: PendingCall, line: Line) -> ToolRule:
        """Return the rule. An answer already bounded by another Brimgate is bounded only where it exceeds our cap."""
        rule = call.rule
        is_bounded = call.rules.chained and self._catalog.is_chained and b'"brimgate/result"' in line
        return rule.for_bounded_answers() if is_bounded else rule

    def error(self, message: Message, call: PendingCall, line: Line) -> list[Action]:
        if not call.rule.may_be_large(line):
            return [*self._passed_error(message, call), ToClient(line)]
        return [self._work(partial(self._error, message, call, line), len(line))]

    def _passed_error(self, message: Message, call: PendingCall) -> list[Action]:
        return [self.passed(call, message)] if call.is_measured else []

    def _error(self, message: Message, call: PendingCall, line: Line) -> list[Action]:
        from brimgate.relay import results

        began = time.perf_counter()
        raw, key = memoryview(message.error), message.key
        beside = memoryview(message.result) if message.result is not NOTHING else b""
        bounded = results.bound_error(raw, call.rule, self._hold(call), beside)
        if bounded is None and (len(line) - len(raw) <= _ENVELOPE_BYTES or bytes(raw[:1]) != b"{"):
            return [*self._passed_error(message, call), ToClient(line)]
        # As beside a result: nothing there is meant for a client to read.
        error = raw if bounded is None else bounded.raw
        answer = ToClient(b"".join((b'{"jsonrpc":"2.0","id":', key or b"null", b',"error":', error, b"}")))
        if bounded is None:
            return [*self._passed_error(message, call), answer]
        seconds = time.perf_counter() - began
        return [self._reduced(call, bounded, len(raw), seconds, error_code(message)), answer]

    def task_note(self, message: Message, rules: Rules, line: Line) -> list[Action]:
        """Reduce the notification with the result of a finished task (2026-07-28 and its tasks extension)."""
        rule = rules.of(_TASKS)
        if not rule.is_on or not rule.may_be_large(line):
            return [*self._passed_task(message, rules), ToClient(line)]
        return [self._work(partial(self._task_note, message, rules, line), len(line))]

    def _passed_task(self, message: Message, rules: Rules) -> list[Action]:
        """Decide about a task only if the notification carries its result: others tell how far it is."""
        if b'"result"' not in memoryview(message.params).tobytes():
            return []
        carried = Message(result=message.params)
        return [self.passed(PendingCall(b"", _TASKS, rules, _TASKS), carried)]

    def _task_note(self, message: Message, rules: Rules, line: Line) -> list[Action]:
        from brimgate.relay import results

        began = time.perf_counter()
        raw, call = memoryview(message.params), PendingCall(b"", _TASKS, rules, _TASKS)
        bounded = results.bound_result(raw, rules.of(_TASKS), self._hold(call))
        if bounded is None:
            return [*self._passed_task(message, rules), ToClient(line)]
        data = b'{"jsonrpc":"2.0","method":"notifications/tasks","params":' + bounded.raw + b"}"
        return [self._reduced(call, bounded, len(raw), time.perf_counter() - began), ToClient(data)]

    def unreadable(self, call: PendingCall, line: Line, reason: str) -> list[Action]:
        """Send an unreadable answer to the caller who waits for it, as a text that can be read on if it is long."""
        return [self._work(partial(self._unreadable, call, line, reason), len(line))]

    def _unreadable(self, call: PendingCall, line: Line, reason: str) -> list[Action]:
        began = time.perf_counter()
        note = Note("unreadable_answer", {"bytes": len(line), "reason": reason[:200]}, "warning")
        if call.method == "tools/call":
            from brimgate.relay.rewrite import Bounded, as_tool_result

            reply = self._hold(call)(bytes(line), call.rule.policy)
            if reply is not None:
                bounded = Bounded(as_tool_result(reply, {"isError": b"true"}), reply)
                answer = ToClient(rpc.answer(call.id, bounded.raw))
                return [note, self._reduced(call, bounded, len(line), time.perf_counter() - began), answer]
        text = f"the upstream's answer is not valid JSON ({reason[:200]})"
        answer = rpc.failure(call.id, rpc.UPSTREAM_GONE, text)
        told = [self.refusal(call, answer, text, "error")] if call.is_measured else []
        return [note, *told, ToClient(answer, UpstreamGarbled(text))]

    # Live lists

    def begun_list(self, message: Message, call: PendingCall) -> list[Action] | None:
        """Answer with a live list that a server in our own process has begun to fetch.

        Return None for any other answer.
        """
        if self._tickets is None:
            return None
        from brimgate.hold.live_lists import EVERYTHING, TICKET

        token = _meta_member(message, TICKET)
        if not token:
            return None
        live_list = self._tickets.take(token)
        failed = partial(self._refuse, message.key, call)
        if live_list is None:
            return failed(BadRequest("the answer is held no more: run the tool again"))
        try:
            if live_list.page and call.protected:
                call.page_by(live_list.page)
        except BadRequest as error:
            return failed(error)
        # An unprotected caller gets all that it asks for; others one item more than a page, because the
        # cursor leads there. A formatted page is numbered, and its cursor needs no item where the total is known.
        page = call.rule.policy.page_size
        if call.rule.formats is None or not live_list.state().is_total_known:
            page += 1
        count = page if call.protected else live_list.page or EVERYTHING
        return [
            Wait(
                partial(_fetched, call, partial(live_list.reach, count)),
                lambda: self._begun(message, call, live_list),
                failed,
            )
        ]

    def _begun(self, message: Message, call: PendingCall, live_list: "LiveList") -> list[Action]:
        if call.protected:
            return [self._work(partial(self._first_of_list, message, call, live_list), len(live_list.data))]
        from brimgate.hold.live_lists import first_items

        data = first_items(live_list, live_list.page) if live_list.page else live_list.data
        return self._whole_list(message, call, data)

    def _whole_list(self, message: Message, call: PendingCall, data: bytes) -> list[Action]:
        result, rule = _text_result(data, modern=call.modern), call.rule
        carried = Message(result=msgspec.Raw(result))
        if rule.annotates_all and call.protected:
            from brimgate.relay.budget import untouched_record
            from brimgate.relay.rewrite import annotated

            result = annotated(result, untouched_record(result, rule))
        return [self.passed(call, carried), ToClient(rpc.answer(message.key, result))]

    def _first_of_list(self, message: Message, call: PendingCall, live_list: "LiveList") -> list[Action]:
        from brimgate.engine.cursor import Binding
        from brimgate.relay.rewrite import Bounded, as_tool_result

        began = time.perf_counter()
        rule, notes = call.rule, list[Action]()
        answer_format = rule.answer_format(
            call.arguments, lambda fields: notes.append(Note("view", fields, "warning"))
        )
        binding = Binding(self._principal, self._upstream, call.tool, call.rules.pack)
        protection = replace(self._protection(), policy=rule.policy, ttl_seconds=call.rules.ttl_seconds)
        reply = protection.protect(live_list.data, binding, self._clock(), answer_format, live_list)
        if reply is None:
            return [*notes, *self._whole_list(message, call, live_list.data)]
        result = as_tool_result(reply, {"resultType": b'"complete"'} if call.modern else None)
        seconds = time.perf_counter() - began
        decided = self._reduced(call, Bounded(result, reply), len(live_list.data), seconds)
        return [*notes, decided, ToClient(rpc.answer(message.key, result))]

    async def _fill(self, arguments: msgspec.Raw, call: PendingCall) -> None:
        """Fetch what a query will need. Errors in the query are reported later, when it is read."""
        from brimgate.relay.read_tool import asked_of

        try:
            cursor = msgspec.json.decode(arguments, type=_ReadArguments).cursor.strip()
            protection = self._protection()
            if protection.live_owner(cursor, self._principal, self._upstream) is None:
                return  # and so the store is not asked here, on the event loop
            given = msgspec.json.decode(arguments, type=dict[str, Any])
            asked = asked_of(given, call.rules, protection, self._principal, self._upstream)
        except (ClientError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return
        fill = asked.protection.fill
        await _fetched(call, partial(fill, asked.cursor, asked.binding, asked.query, self._clock()))

    def _hold(self, call: PendingCall, answer_format: "AnswerFormat | None" = None) -> "Holder":
        protection = replace(self._protection(), ttl_seconds=call.rules.ttl_seconds)
        return protection.holding(self._binding(call), self._clock(), answer_format)

    def _binding(self, call: PendingCall) -> "Binding":
        from brimgate.engine.cursor import Binding

        return Binding(self._principal, self._upstream, call.tool or call.method, call.rules.pack)

    # Our own tool

    @property
    def store_blocks(self) -> bool:
        return self._protection.blocks

    def holds(self, arguments: msgspec.Raw) -> bool:
        """Return whether a cursor is one of ours that has not expired."""
        try:
            cursor = msgspec.json.decode(arguments, type=_ReadArguments).cursor.strip()
            return self._protection().holds(cursor, self._principal)
        except (msgspec.DecodeError, UnicodeDecodeError, ClientError):
            return False

    def read(self, message: Message, arguments: msgspec.Raw, call: PendingCall) -> list[Action]:
        # It may have to search the whole document, whose size is not known here.
        work = self._work(partial(self._read, message, arguments, call), UNKNOWN_BYTES)
        work = work._replace(waits=b'"query"' in bytes(arguments))
        if self._tickets is None:
            return [work]  # without live lists there is nothing to wait for
        failed = partial(self._refuse, message.key, call)
        return [Wait(partial(self._fill, arguments, call), lambda: [work], failed)]

    def _read(self, message: Message, arguments: msgspec.Raw, call: PendingCall) -> list[Action]:
        from brimgate.relay.rewrite import as_tool_result

        began, notes = time.perf_counter(), list[Action]()
        try:
            try:
                given = (
                    msgspec.json.decode(arguments, type=dict[str, Any]) if arguments is not NOTHING else {}
                )
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                raise BadRequest('the arguments must be an object, such as {"cursor": "…"}') from None
            if (name := _asked_tool(given)) is not None:
                return self._description(name, message, call)
            reading = read_on(
                given,
                call.rules,
                self._protection(),
                principal=self._principal,
                upstream=self._upstream,
                now=self._clock(),
                on_trouble=lambda fields: notes.append(Note("view", fields, "warning")),
            )
        except ClientError as error:
            return [*notes, *self._refuse(message.key, call, error, f"{call.rules.read_tool}: ")]
        from brimgate.engine.cursor import answer_number

        reply, era = reading.reply, {"resultType": b'"complete"'} if call.modern else None
        result = as_tool_result(reply, era, reading.block)
        call = replace(call, tool=reading.tool)  # whose answer it is
        decided = self._decided(
            call, "read", reply.original_bytes, len(result), reply.sizes, engine_seconds=time.perf_counter() - began,
            issued_cursor=reply.has_cursor, followed_cursor=True, answer=answer_number(str(given.get("cursor"))),
            highlights=reply.highlight_count, shown=partial(_text_of, result),
        )  # fmt: skip
        return [*notes, decided, ToClient(rpc.answer(message.key, result))]

    def _description(self, name: str, message: Message, call: PendingCall) -> list[Action]:
        """Return the whole description of a tool that was shortened in the list."""
        began, text = time.perf_counter(), self._catalog.descriptions.get(name)
        if text is None:
            raise BadRequest(f"no description of {name[:80]!r} was shortened: see the list of tools")
        from brimgate.relay.rewrite import Bounded, as_tool_result

        data = text.encode("utf-8", "replace")
        reply = self._hold(call)(data, call.rule.policy)
        if reply is None:
            result = _text_result(data, modern=call.modern)
            carried = Message(result=msgspec.Raw(result))
            return [self.passed(call, carried), ToClient(rpc.answer(message.key, result))]
        result = as_tool_result(reply, {"resultType": b'"complete"'} if call.modern else None)
        decided = self._reduced(call, Bounded(result, reply), len(data), began)
        return [decided, ToClient(rpc.answer(message.key, result))]

    def _refuse(self, key: bytes, call: PendingCall, error: BrimgateError, prefix: str = "") -> list[Action]:
        """Answer a call with the reason why it cannot be answered."""
        result: dict[str, Any] = {"content": [{"type": "text", "text": f"{prefix}{error}"}], "isError": True}
        answer = rpc.encode(result | ({"resultType": "complete"} if call.modern else {}))
        outcome: Outcome = "refused" if isinstance(error, ClientError) else "error"
        has_expired = isinstance(error, CursorError)
        return [
            self.refusal(call, answer, str(error), outcome, has_expired=has_expired),
            ToClient(rpc.answer(key, answer)),
        ]


def _asked_tool(arguments: dict[str, Any]) -> str | None:
    """Return the tool whose whole description is asked for; None if it is not one."""
    cursor = arguments.get("cursor")
    is_tool = isinstance(cursor, str) and cursor.startswith(TOOL_CURSOR)
    return cursor.removeprefix(TOOL_CURSOR) if isinstance(cursor, str) and is_tool else None


def _disowned(message: Message, line: Line) -> tuple[Message, Line]:
    """Return an answer without what it says in our name."""
    from brimgate.relay.rewrite import disowned

    result = disowned(bytes(message.result)) if message.result is not NOTHING else None
    if result is None:
        return message, line
    return Message(id=message.id, result=msgspec.Raw(result)), rpc.with_result(line, message.key, result)


async def _fetched(call: PendingCall, fetch: Callable[[], Awaitable[None]]) -> None:
    """Fetch what a call needs of a live list: that is the upstream's time too."""
    began = time.perf_counter()
    try:
        await fetch()
    finally:
        call.upstream_seconds += time.perf_counter() - began
        if call.trace is not None:
            call.trace.answered_ns = time.time_ns()


class _ReadArguments(msgspec.Struct):
    cursor: str = ""


def _with_result(line: Line, raw: memoryview, key: bytes, result: bytes) -> bytes:
    """Return an answer with another result. What else it has stays, unless that is large: it is not measured."""
    plain = len(rpc.answer(key, b""))
    return (
        rpc.with_result(line, key, result)
        if plain < len(line) - len(raw) <= _ENVELOPE_BYTES
        else rpc.answer(key, result)
    )


def _unchanged(rule: ToolRule, line: Line, raw: memoryview, key: bytes) -> Line:
    """Return the message for an answer that fits."""
    if rule.annotates_all and bytes(raw[:1]) == b"{":
        from brimgate.relay.budget import untouched_record
        from brimgate.relay.rewrite import annotated

        return _with_result(line, raw, key, annotated(raw, untouched_record(raw, rule)))
    # Nothing beside a result is meant for a client to read.
    return rpc.answer(key, raw) if len(line) - len(raw) > _ENVELOPE_BYTES else line


def _meta_member(message: Message, name: str) -> str:
    try:
        found = msgspec.json.decode(message.result, type=_WithMeta).meta.get(name)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    return found if isinstance(found, str) else ""


class _WithMeta(msgspec.Struct):
    meta: dict[str, Any] = msgspec.field(name="_meta", default_factory=lambda: {})


def _text_result(data: bytes, *, modern: bool) -> bytes:
    result: dict[str, Any] = {"content": [{"type": "text", "text": data.decode("utf-8", "replace")}]}
    return rpc.encode(result | ({"resultType": "complete"} if modern else {}))


class _WithError(msgspec.Struct):
    isError: bool = False  # noqa: N815  # as on the wire


_with_error: Final = msgspec.json.Decoder(_WithError)


def reports_failure(raw: Any) -> bool:
    """Return whether a result reports a failure. Most have no such member, which is found out without decoding."""
    if _ERROR_MEMBER.search(raw) is None:
        return False
    try:
        return _with_error.decode(raw).isError
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


def error_type(message: Message) -> str:
    """Return what kind of failure an answer reports, as OpenTelemetry has it; empty if it reports none."""
    if message.has_error:
        return error_code(message)
    return TOOL_ERROR if reports_failure(message.result) else ""


def error_code(message: Message) -> str:
    """Return the code of a JSON-RPC error."""
    error = rpc.read_error(memoryview(message.error))
    return str(error.code) if error is not None else "unknown"


def _sizes_of(raw: Any, policy: "Policy") -> AnswerSizes:
    from brimgate.relay.results import sizes_of_answer

    return sizes_of_answer(bytes(raw), policy)


def _tried(raw: Any, rule: ToolRule, schema: bytes, *, modern: bool) -> AnswerSizes:
    from brimgate.relay.results import tried

    return tried(bytes(raw), rule, schema, modern=modern)


def _text_of(raw: Any) -> bytes:
    from brimgate.relay.results import text_of_answer

    return text_of_answer(bytes(raw))
