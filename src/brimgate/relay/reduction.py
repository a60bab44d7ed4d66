"""Keep answers within their budget and answer the read tool, as messages. Safe to use from several threads."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec

from brimgate.engine.policy import Rules, ToolRule
from brimgate.errors import BadRequest, ClientError, UpstreamGarbled
from brimgate.relay.actions import Action, Line, Note, ToClient, Wait, Work
from brimgate.relay.calls import PendingCall
from brimgate.relay.catalog import Catalog
from brimgate.relay.protocol import message as rpc
from brimgate.relay.protocol.message import NOTHING, Message
from brimgate.relay.read_tool import read_on

if TYPE_CHECKING:
    from brimgate.engine.decision import AnswerFormat
    from brimgate.engine.policy import Policy
    from brimgate.engine.replies.reply import Reply
    from brimgate.hold.live_lists import ClaimTickets, LiveList
    from brimgate.hold.protection import Protection
    from brimgate.relay.rewrite import Bounded

_ENVELOPE_BYTES: Final = 2_000
_TASKS: Final = "tasks/get"


class Reducer:
    def __init__(
        self,
        catalog: Catalog,
        protection: "Callable[[], Protection]",
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

    def result(
        self,
        message: Message,
        rules: Rules,
        tool: str,
        line: Line,
        *,
        modern: bool = False,
        arguments: bytes = b"",
    ) -> list[Action]:
        rule = self._rule(rules, tool, line)
        if not rule.reads_everything and not rule.may_be_large(line):
            return [ToClient(line)]
        if message.result is NOTHING:
            text = "the upstream's answer has neither a result nor an error"
            return [ToClient(rpc.failure(message.key, rpc.UPSTREAM_GONE, text))]
        work = partial(self._result, message, rules, tool, line, modern=modern, arguments=arguments)
        return [Work(work, len(line))]

    def _result(
        self,
        message: Message,
        rules: Rules,
        tool: str,
        line: Line,
        *,
        modern: bool,
        arguments: bytes,
    ) -> list[Action]:
        from brimgate.relay import results

        rule = self._rule(rules, tool, line)
        schema = self._catalog.schemas.get(tool, b"")
        raw, key = memoryview(message.result), message.key
        notes: list[Action] = []
        answer_format = rule.answer_format(
            arguments, lambda fields: notes.append(Note("view", fields, "warning"))
        )
        hold = self._hold(rules, tool, answer_format)
        bounded = results.bound_result(raw, rule, hold, schema, modern=modern)
        return [*notes, *self._bounded(bounded, rule, tool, line, raw, key)]

    def _bounded(
        self, bounded: "Bounded | None", rule: ToolRule, tool: str, line: Line, raw: memoryview, key: bytes
    ) -> list[Action]:
        from brimgate.relay import rewrite

        if bounded is not None:
            return [_noted(bounded, tool, len(line)), ToClient(rpc.answer(key, bounded.raw))]
        if rule.annotates_all and bytes(raw[:1]) == b"{":
            record = rewrite.untouched_record(bytes(raw), rule)
            return [ToClient(rpc.answer(key, rewrite.annotated(raw, record)))]
        if len(line) - len(raw) > _ENVELOPE_BYTES:
            # Nothing beside a result is meant for a client to read.
            return [ToClient(rpc.answer(key, raw))]
        return [ToClient(line)]

    def _rule(self, rules: Rules, tool: str, line: Line) -> ToolRule:
        """Return the rule.

        An answer already bounded by another Brimgate is bounded again only where it exceeds our cap.
        """
        rule = rules.of(tool)
        if not self._catalog.is_chained or b'"brimgate/result"' not in line:
            return rule
        policy = rule.policy.with_budget(rule.policy.hard_output_token_cap)
        return replace(rule, policy=replace(policy, compact="never"), annotate="reduced", formats=None)

    def error(self, message: Message, rules: Rules, tool: str, line: Line) -> list[Action]:
        if not rules.of(tool).may_be_large(line):
            return [ToClient(line)]
        return [Work(partial(self._error, message, rules, tool, line), len(line))]

    def _error(self, message: Message, rules: Rules, tool: str, line: Line) -> list[Action]:
        from brimgate.relay import results

        raw, key = memoryview(message.error), message.key
        beside = memoryview(message.result) if message.result is not NOTHING else b""
        bounded = results.bound_error(raw, rules.of(tool), self._hold(rules, tool), beside)
        if bounded is None and (len(line) - len(raw) <= _ENVELOPE_BYTES or bytes(raw[:1]) != b"{"):
            return [ToClient(line)]
        # As beside a result: nothing there is meant for a client to read.
        error = raw if bounded is None else bounded.raw
        data = b"".join((b'{"jsonrpc":"2.0","id":', key or b"null", b',"error":', error, b"}"))
        return [*([] if bounded is None else [_noted(bounded, tool, len(line))]), ToClient(data)]

    def task_note(self, message: Message, rules: Rules, line: Line) -> list[Action]:
        """Reduce the notification with the result of a finished task (2026-07-28 and its tasks extension)."""
        rule = rules.of(_TASKS)
        if not rule.enabled or not rule.may_be_large(line):
            return [ToClient(line)]
        return [Work(partial(self._task_note, message, rules, line), len(line))]

    def _task_note(self, message: Message, rules: Rules, line: Line) -> list[Action]:
        from brimgate.relay import results

        raw = memoryview(message.params)
        bounded = results.bound_result(raw, rules.of(_TASKS), self._hold(rules, _TASKS))
        if bounded is None:
            return [ToClient(line)]
        data = b'{"jsonrpc":"2.0","method":"notifications/tasks","params":' + bounded.raw + b"}"
        return [_noted(bounded, _TASKS, len(line)), ToClient(data)]

    def unreadable(self, call: PendingCall, line: Line, reason: str) -> list[Action]:
        """Send an unreadable answer to the caller who waits for it, as a text that can be read on if it is long."""
        return [Work(partial(self._unreadable, call, line, reason), len(line))]

    def _unreadable(self, call: PendingCall, line: Line, reason: str) -> list[Action]:
        note = Note("unreadable_answer", {"bytes": len(line), "reason": reason[:200]}, "warning")
        if call.method == "tools/call":
            from brimgate.relay.rewrite import as_tool_result

            reply = self._hold(call.rules, call.tool)(bytes(line), call.rules.of(call.tool).policy)
            if reply is not None:
                result = as_tool_result(reply, {"isError": b"true"})
                return [note, ToClient(rpc.answer(call.id, result))]
        text = f"the upstream's answer is not valid JSON ({reason[:200]})"
        return [note, ToClient(rpc.failure(call.id, rpc.UPSTREAM_GONE, text), UpstreamGarbled(text))]

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
        if live_list is None:
            text = "the answer is held no more: run the tool again"
            return _refusing(message.key, modern=call.modern)(text)
        # An unprotected caller gets all of it; others one item more than a page, because the cursor leads
        # there.
        page = call.rules.of(call.tool).policy.default_page_size + 1
        return [
            Wait(
                partial(live_list.reach, page if call.protected else EVERYTHING),
                lambda: self._begun(message, call, live_list),
                _refusing(message.key, modern=call.modern),
            )
        ]

    def _begun(self, message: Message, call: PendingCall, live_list: "LiveList") -> list[Action]:
        if call.protected:
            return [Work(partial(self._first_of_list, message, call, live_list), len(live_list.data))]
        return [ToClient(rpc.answer(message.key, _text_result(live_list.data, modern=call.modern)))]

    def _first_of_list(self, message: Message, call: PendingCall, live_list: "LiveList") -> list[Action]:
        from brimgate.engine.cursor import Binding
        from brimgate.relay.rewrite import Bounded, annotated, as_tool_result, untouched_record

        rule, notes = call.rules.of(call.tool), list[Action]()
        answer_format = rule.answer_format(
            call.arguments, lambda fields: notes.append(Note("view", fields, "warning"))
        )
        binding = Binding(self._principal, self._upstream, call.tool)
        protection = replace(self._protection(), policy=rule.policy, ttl_seconds=call.rules.ttl_seconds)
        reply = protection.protect(live_list.data, binding, self._clock(), answer_format, live_list)
        if reply is None:
            result = _text_result(live_list.data, modern=call.modern)
            if rule.annotates_all:
                result = annotated(result, untouched_record(result, rule))
            return [*notes, ToClient(rpc.answer(message.key, result))]
        result = as_tool_result(reply, {"resultType": b'"complete"'} if call.modern else None)
        noted = _noted(Bounded(result, reply), call.tool, len(live_list.data))
        return [*notes, noted, ToClient(rpc.answer(message.key, result))]

    async def _fill(self, arguments: msgspec.Raw, rules: Rules) -> None:
        """Fetch what a query will need. Errors in the query are reported later, when it is read."""
        from brimgate.relay.read_tool import asked_of

        try:
            cursor = msgspec.json.decode(arguments, type=_ReadArguments).cursor.strip()
            protection = self._protection()
            if protection.live_owner(cursor, self._principal, self._upstream) is None:
                return  # and so the store is not asked here, on the event loop
            given = msgspec.json.decode(arguments, type=dict[str, Any])
            asked = asked_of(given, rules, protection, self._principal, self._upstream)
        except (ClientError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return
        await asked.protection.fill(asked.cursor, asked.binding, asked.request, self._clock())

    def _hold(
        self, rules: Rules, tool: str, answer_format: "AnswerFormat | None" = None
    ) -> "Callable[[bytes, Policy], Reply | None]":
        from brimgate.engine.cursor import Binding

        protection = replace(self._protection(), ttl_seconds=rules.ttl_seconds)
        binding = Binding(self._principal, self._upstream, tool)
        return protection.holding(binding, self._clock(), answer_format)

    # Our own tool

    def holds(self, arguments: msgspec.Raw) -> bool:
        """Return whether a cursor is one of ours that has not expired."""
        try:
            cursor = msgspec.json.decode(arguments, type=_ReadArguments).cursor.strip()
            self._protection().owner(cursor, self._principal, self._upstream)
        except (msgspec.DecodeError, UnicodeDecodeError, ClientError):
            return False
        return True

    def read(self, message: Message, arguments: msgspec.Raw, rules: Rules) -> list[Action]:
        # It may have to search the whole document, whose size is not known here.
        work = Work(partial(self._read, message, arguments, rules), _UNKNOWN_BYTES)
        if self._tickets is None:
            return [work]
        modern = rpc.is_modern(message.params)
        return [
            Wait(
                partial(self._fill, arguments, rules),
                lambda: [work],
                _refusing(message.key, modern=modern),
            )
        ]

    def _read(self, message: Message, arguments: msgspec.Raw, rules: Rules) -> list[Action]:
        modern = rpc.is_modern(message.params)
        notes: list[Action] = []
        try:
            result, note = self._reading(arguments, rules, notes, modern=modern)
        except ClientError as error:
            result = _refusal(f"{rules.read_tool}: {error}", modern=modern)
            note = Note("read_refused", {"reason": str(error)[:200]})
        return [*notes, note, ToClient(rpc.answer(message.key, result))]

    def _reading(
        self, arguments: msgspec.Raw, rules: Rules, notes: list[Action], *, modern: bool
    ) -> tuple[bytes, Note]:
        from brimgate.relay.rewrite import as_tool_result

        try:
            given = msgspec.json.decode(arguments, type=dict[str, Any]) if arguments is not NOTHING else {}
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise BadRequest('the arguments must be an object, such as {"cursor": "…"}') from None
        reading = read_on(
            given,
            rules,
            self._protection(),
            principal=self._principal,
            upstream=self._upstream,
            now=self._clock(),
            on_trouble=lambda fields: notes.append(Note("view", fields, "warning")),
        )
        note = Note("read", {"tool": reading.tool} | _summary(reading.reply))
        era = {"resultType": b'"complete"'} if modern else None
        return as_tool_result(reading.reply, era, reading.picture), note


_UNKNOWN_BYTES: Final = 1 << 20


class _ReadArguments(msgspec.Struct):
    cursor: str = ""


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


def _refusal(text: str, *, modern: bool) -> bytes:
    result: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": True}
    return rpc.encode(result | ({"resultType": "complete"} if modern else {}))


def _refusing(key: bytes, *, modern: bool) -> Callable[[str], list[Action]]:
    return lambda why: [ToClient(rpc.answer(key, _refusal(why, modern=modern)))]


def _noted(bounded: "Bounded", tool: str, line_bytes: int) -> Note:
    return Note("reduced", {"tool": tool, "responseBytes": line_bytes} | _summary(bounded.reply))


def _summary(reply: "Reply") -> dict[str, Any]:
    """Return what the log says about a decision: sizes and kinds, nothing of the content."""
    record = reply.record
    fields = {"decision": record["kind"], "estimatedTokens": record["estimatedTokens"]}
    fields["originalTokens"] = record["total"]["tokens"]
    if "items" in record["total"]:
        fields["itemCount"] = record["total"]["items"]
    if record.get("degraded"):
        fields["degraded"] = True
    return fields
