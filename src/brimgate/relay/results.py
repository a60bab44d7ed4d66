"""Apply one budget to a whole answer: text, structured data, resources, images, errors.

Light parts stay where they are. A heavy part is held, and a bounded reply takes its place. One heavy text or
structure is held as it is, so that a walk returns exactly that; several are held as one JSON document.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final, Literal, NamedTuple

import msgspec

from brimgate.engine.decision import AnswerSizes, Outcome, Trial, contents, small_sizes
from brimgate.engine.document import Document
from brimgate.engine.policy import Policy, ToolRule
from brimgate.engine.replies.reply import Reply, budget_fields
from brimgate.engine.tokens.estimator import MIN_BUDGET
from brimgate.hold.errand import Keeper
from brimgate.hold.stores.memory import Snapshot
from brimgate.relay import rewrite
from brimgate.relay.budget import Aside, Choice, choose, for_schema, hold_whole, is_under_cap, set_aside
from brimgate.relay.content import (
    Slot,
    block_slot,
    close_list,
    close_object,
    message_slot,
    open_list,
    open_object,
    repeats,
    resource_slot,
    with_member,
)
from brimgate.relay.protocol.message import Json, encode, quoted, text_of
from brimgate.relay.rewrite import (
    LIGHT_BYTES,
    Bounded,
    Hold,
    annotated,
    as_tool_result,
    clean,
    text_block,
    with_record,
)

_APART: Final = frozenset(
    (
        "content",
        "structuredContent",
        "contents",
        "messages",
        "isError",
        "resultType",
        "_meta",
        "ttlMs",
        "cacheScope",
    )
)
"""Members that are slots of their own, or that no model reads. `_meta` is for the client alone."""
_TWICE_TRIES: Final = 4
_BARE: Final = frozenset(("type", "text"))


def bound_result(
    raw: Json, rule: ToolRule, hold: Hold, schema: bytes = b"", *, modern: bool = False
) -> Bounded | None:
    """Bound the answer to a tools/call, resources/read, prompts/get or task. Return None if it goes out unchanged.

    If we misjudge its shape, it still stays bounded: then it is held whole.
    """
    if not schema and len(raw) <= _PLAIN_BYTES and (text := _only_text(raw)) is not None:
        reply = hold(text, rule.policy)
        return reply and Bounded(as_tool_result(reply), reply)
    members = open_object(raw)
    if members is None:
        return _bound_scalar(raw, rule.policy, hold)
    if _is_unfinished(members.get("resultType", b"null"), modern=modern):
        return None
    try:
        aside = set_aside(members, rule.policy, hold)
        members = aside.members
        bounded = _by_shape(dict(members), rule, hold, schema)
    except Exception:  # noqa: BLE001  # the boundary of one answer: it must not affect the others
        return hold_whole(members, rule, hold, schema)
    if is_under_cap(bounded, members, rule.policy):
        if bounded is None and aside.is_changed:
            bounded = _with_stubs(aside, raw, rule.policy)
        return bounded and aside.noted(bounded)
    whole = hold_whole(members, rule, hold, schema)
    return whole and aside.noted(whole)


class BoundTask(NamedTuple):
    """What `bound_result` needs in another process."""

    raw: bytes
    rule: ToolRule
    schema: bytes
    modern: bool
    keeper: Keeper


class BoundAnswer(NamedTuple):
    bounded: Bounded | None
    kept: list[Snapshot]
    """What is to be held."""
    seconds: float


def bound_elsewhere(task: BoundTask) -> BoundAnswer:
    """Do what `bound_result` does, in another process."""
    began = time.perf_counter()
    hold, store = task.keeper.holder()
    bounded = bound_result(task.raw, task.rule, hold, task.schema, modern=task.modern)
    return BoundAnswer(bounded, store.snapshots(), time.perf_counter() - began)


def _with_stubs(aside: Aside, raw: Json, policy: Policy) -> Bounded:
    """Return an answer in which nothing was too long, but binary data is not sent or was text."""
    sent = close_object(aside.members)
    total = {"tokens": sizes_of_answer(raw, policy).original_tokens, "bytes": len(raw)}
    record: dict[str, Any] = {"kind": "stub" if aside.blobs else "complete", "format": "text", "total": total}
    record |= budget_fields(sizes_of_answer(sent, policy).estimated_tokens, policy.output_token_threshold)
    cursors = [blob["cursor"] for blob in aside.blobs if "cursor" in blob]
    if cursors:
        record["detailsAvailable"] = {"tool": policy.read_tool, "cursor": cursors[0]}
    outcome: Outcome = "preview" if aside.blobs else "rendered"
    reply = Reply("", "", record, outcome=outcome, original_bytes=len(raw))
    return Bounded(annotated(sent, record), reply)


class _PlainBlock(msgspec.Struct, forbid_unknown_fields=True):
    type: Literal["text"]
    text: str


class _PlainResult(msgspec.Struct, forbid_unknown_fields=True):
    content: tuple[_PlainBlock]


_plain: Final = msgspec.json.Decoder(_PlainResult)
_PLAIN_BYTES: Final = 8 << 20
"""A longer text is taken out of its message piece by piece, to save memory."""


def _only_text(raw: Json) -> bytes | None:
    """Return the text of an answer that is a single text, as most are. Reads it in one pass instead of four."""
    try:
        return _plain.decode(raw).content[0].text.encode()
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def _is_unfinished(result_type: Json, *, modern: bool) -> bool:
    """Return whether this is not a result but a question, a task, or something from an extension.

    Before 2026-07-28 nobody reads the member, so that there it excuses only known values.
    """
    try:
        kind = msgspec.json.decode(result_type)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    if kind in ("input_required", "task"):
        return True
    return modern and isinstance(kind, str) and kind.strip() not in ("", "complete")


def _by_shape(members: dict[str, Json], rule: ToolRule, hold: Hold, schema: bytes) -> Bounded | None:
    if "contents" in members and "content" not in members:
        return _bound_listed(members, "contents", resource_slot, _as_resource, rule, hold)
    if "messages" in members and "content" not in members:
        return _bound_listed(members, "messages", message_slot, _as_message, rule, hold)
    if "content" not in members and "taskId" in members:
        return _bound_task(members, rule, hold)
    return _bound_tool_result(members, rule, hold, schema)


def looks_like_answer(raw: Json) -> bool:
    """Return whether the answer to an unknown request has the shape of one that must be bounded."""
    members = open_object(raw) or {}
    if members.get("content", b"")[:1] == b"[" or "structuredContent" in members:
        return True
    if any(members.get(name, b"")[:1] == b"[" for name in ("contents", "messages")):
        return True
    return "taskId" in members and ("result" in members or "error" in members)


def sizes_of_answer(raw: Json, policy: Policy) -> AnswerSizes:
    """Measure a result or an error that is sent as it is: all that a model reads, and the list it is about."""
    try:
        (block,) = _one_text.decode(raw).content
        if block.type == "text" and block.text:
            return small_sizes(block.text.encode(), policy)
    except (msgspec.DecodeError, UnicodeError, RecursionError, ValueError):
        pass  # it is none of the usual shape
    texts = [slot.text for slot in _slots(raw) if slot.text]
    if not texts:
        return AnswerSizes(0, 0)
    if len(texts) == 1:
        return small_sizes(texts[0], policy)
    longest = Document(max(texts, key=len))
    items, kind = contents(longest, policy)
    tokens = policy.estimator.table(b"\n".join(texts))
    return AnswerSizes(tokens, tokens, items, items, kind)


class _Text(msgspec.Struct, forbid_unknown_fields=True):
    type: str
    text: str


class _OneText(msgspec.Struct, forbid_unknown_fields=True):
    content: list[_Text]
    isError: bool = False  # noqa: N815  # as on the wire


_one_text: Final = msgspec.json.Decoder(_OneText)


def text_of_answer(raw: Json) -> bytes:
    """Return all that a model reads of a result or an error."""
    return b"\n".join(slot.text for slot in _slots(raw) if slot.text)


def tried(raw: bytes, rule: ToolRule, schema: bytes, *, modern: bool) -> AnswerSizes:
    """Measure a result that is sent as it is, and what protection would have done with it. Nothing is held."""
    from brimgate.engine.cursor import Binding
    from brimgate.hold.protection import trial_protection

    sizes = sizes_of_answer(raw, rule.policy)
    hold = trial_protection(rule.policy).holding(Binding("", "", ""), 0.0, rule.answer_format())
    bounded = bound_result(raw, rule, hold, schema, modern=modern)
    if bounded is None:
        return sizes._replace(trial=Trial("passed", sizes.original_tokens))
    return sizes._replace(trial=Trial(bounded.reply.outcome, bounded.reply.sizes.estimated_tokens))


def _slots(raw: Json) -> list[Slot]:
    members = open_object(raw)
    if members is None:
        return [Slot("content", False, raw, bytes(raw))]
    for name, make in (("content", block_slot), ("contents", resource_slot), ("messages", message_slot)):
        blocks = open_list(members.get(name, b""))
        if blocks is not None:
            slots = [make(block) for block in blocks]
            structured = members.get("structuredContent", b"null")
            if structured != b"null" and _what_repeats(slots, structured) is None:
                slots.append(Slot("structuredContent", False, structured, bytes(structured)))
            return slots
    if "taskId" in members and members.get("result", b"")[:1] == b"{":
        return _slots(members["result"])
    return [Slot("content", False, raw, bytes(raw))]


# Tool results


def _bound_tool_result(members: dict[str, Json], rule: ToolRule, hold: Hold, schema: bytes) -> Bounded | None:
    blocks = open_list(members.get("content", b"[]"))
    slots = [block_slot(raw) for raw in blocks] if blocks is not None else []
    if blocks is None:
        slots = [Slot("content", False, members["content"], bytes(members["content"]))]
    structured = members.get("structuredContent", b"")
    if structured == b"null":
        structured = b""
    is_kept = bool(schema or structured) and rule.output_schema != "drop"
    policy = for_schema(rule) if is_kept else rule.policy
    same = _what_repeats(slots, structured) if structured else None
    if structured and same is None:
        slots.append(Slot("structuredContent", False, structured, bytes(structured)))
    slots += [
        Slot(name, False, value, bytes(value))
        for name, value in members.items()
        if name not in _APART and len(value) > LIGHT_BYTES
    ]
    choice = choose(slots, policy, same)
    is_relaxed = is_kept and rule.output_schema == "relax"
    holding = partial(_hold_twice, hold, rule.policy) if is_relaxed else hold
    reply = choice and holding(choice.document, choice.policy)
    if choice is None or reply is None:
        return None
    if is_kept and rule.output_schema == "keep" and members.get("isError") != b"true":
        is_all = same is not None or all(slots[at].member == "structuredContent" for at in choice.held)
        kept = rewrite.still_valid(structured, schema, reply) if is_all else None
        if kept is not None:
            light = [
                slot.raw
                for at, slot in enumerate(slots)
                if slot.member == "content" and at not in choice.held
            ]
            members["content"] = close_list([text_block(reply.notice), *light])
            members["structuredContent"] = kept
            return Bounded(with_record(members, reply), reply)
        members["isError"] = b"true"
    _replace_content(members, slots, choice, reply)
    if is_relaxed:
        members["structuredContent"] = _as_object(reply)
    return Bounded(with_record(members, reply), reply)


def _as_object(reply: Reply) -> bytes:
    return encode({"notice": reply.notice, "payload": clean(reply.payload)})


def _hold_twice(hold: Hold, whole: Policy, document: bytes, policy: Policy) -> Reply | None:
    """Hold an answer whose reply is sent as text and as an object, where quotes cost more. Both fit the budget."""
    budget, estimator = whole.output_token_threshold, whole.estimator
    reply = hold(document, policy)
    for _ in range(_TWICE_TRIES):
        both = estimator.ceiling(reply.text) + estimator.ceiling(_as_object(reply)) if reply else 0
        if both <= budget:
            break
        share = 0.95 * budget / both
        policy = policy.with_thresholds(
            lambda tokens, share=share: max(int(tokens * share), MIN_BUDGET), policy.hard_output_token_cap
        )
        reply = hold(document, policy)
    return reply


def _what_repeats(slots: list[Slot], structured: Json) -> tuple[bytes, frozenset[int]] | None:
    """Return the text that says the same as the structured data, and the slots it is in."""
    plain = [index for index, slot in enumerate(slots) if slot.is_plain]
    together = repeats([slots[index].text for index in plain], structured)
    if together is not None:
        # One block takes the place of several: anything else that they carry would be lost.
        is_bare = len(plain) == 1 or all((open_object(slots[at].raw) or {}).keys() <= _BARE for at in plain)
        return (together, frozenset(plain)) if is_bare else None
    if len(plain) > 1:
        heaviest = max(plain, key=lambda index: len(slots[index].text))
        alone = repeats([slots[heaviest].text], structured)
        return None if alone is None else (alone, frozenset((heaviest,)))
    return None


def _replace_content(members: dict[str, Json], slots: list[Slot], choice: Choice, reply: Reply) -> None:
    payload = shown = text_block(reply.payload)
    content: list[Json] = []
    later: list[Json] = []
    placed = False
    for index, slot in enumerate(slots):
        is_held = index in choice.held
        if slot.member == "content":
            if is_held and not placed:
                shown = slot.with_text(quoted(reply.payload)) if len(choice.held) == 1 else payload
                content.append(shown)
                placed = True
            elif not is_held:
                content.append(slot.raw)
        elif slot.member == "structuredContent" and not is_held:
            later.append(text_block(slot.text.decode("utf-8", "replace")))
        elif is_held:
            members.pop(slot.member, None)
    if not placed:
        content.insert(0, payload)
    # Some clients show structured data instead of the text: beside a reduced answer it would hide the notice.
    members.pop("structuredContent", None)
    if rewrite.is_failure(members):
        content = _in_one_block(content, content.index(shown), reply)
    else:
        reply.record["payloadBlock"] = 1 + content.index(shown)
        content.insert(0, text_block(reply.notice))
    members["content"] = close_list([*content, *later])


def _in_one_block(content: list[Json], at: int, reply: Reply) -> list[Json]:
    """Put the notice of an error, the plain texts before its payload and the payload into the first block.

    Clients read no other block of an error.
    """
    before = [block_slot(raw) for raw in content[:at]]
    is_text = [slot.is_plain and (open_object(slot.raw) or {}).keys() <= _BARE for slot in before]
    texts = [
        slot.text.decode("utf-8", "replace")
        for slot, is_joined in zip(before, is_text, strict=True)
        if is_joined
    ]
    first = with_member(content[at], "text", quoted(rewrite.in_one_text(reply, *texts)))
    others = [slot.raw for slot, is_joined in zip(before, is_text, strict=True) if not is_joined]
    return [first, *others, *content[at + 1 :]]


# Resources, prompts, tasks


def _bound_listed(
    members: dict[str, Json],
    name: str,
    make_slot: Callable[[Json], Slot],
    write: Callable[[Slot, str], Json],
    rule: ToolRule,
    hold: Hold,
) -> Bounded | None:
    values = open_list(members[name])
    if values is None:
        return None  # the final check finds it
    slots = [make_slot(raw) for raw in values]
    choice = choose(slots, rule.policy)
    reply = choice and hold(choice.document, choice.policy)
    if choice is None or reply is None:
        return None
    first = min(choice.held)
    # Nothing from the upstream may precede the notice: where something would, the notice comes first, alone.
    shown = reply.text if first == 0 else reply.payload
    written = [
        write(slot, shown) if index == first else slot.raw
        for index, slot in enumerate(slots)
        if index == first or index not in choice.held
    ]
    if first > 0:
        written.insert(0, write(slots[first], reply.notice))
    members[name] = close_list(written)
    return Bounded(with_record(members, reply), reply)


def _as_resource(slot: Slot, text: str) -> bytes:
    members = open_object(slot.raw) or {}
    if members.pop("blob", None) is not None:
        members["mimeType"] = b'"text/plain"'
    return close_object({**members, "text": quoted(text)})


def _as_message(slot: Slot, text: str) -> bytes:
    return with_member(slot.raw, "content", text_block(text))


def _bound_task(members: dict[str, Json], rule: ToolRule, hold: Hold) -> Bounded | None:
    """Bound a finished task, which carries its result or error inside (tasks extension of 2026-07-28)."""
    bounded: Bounded | None = None
    for name, bound in (("result", bound_result), ("error", bound_error)):
        inner = members.get(name, b"")
        found = bound(inner, rule, hold) if inner[:1] == b"{" else None
        if found is not None:
            members[name] = found.raw
            bounded = Bounded(close_object(members), found.reply)
    return bounded


def bound_error(raw: Json, rule: ToolRule, hold: Hold, beside: Json = b"") -> Bounded | None:
    """Bound a JSON-RPC error: servers put whole traces into its message or data.

    `beside` is a result that should not be there at all.
    """
    try:
        bounded = _bound_error(raw, rule, hold, beside)
        members = open_object(bounded.raw if bounded else raw) or {}
        rest = sum(
            len(name) + len(value) for name, value in members.items() if name not in ("message", "data")
        )
        if rest <= LIGHT_BYTES:
            return bounded
    except Exception:  # noqa: BLE001, S110  # the boundary of one answer, as above
        pass
    reply = hold(bytes(raw), rule.policy)
    return reply and Bounded(encode({"code": -32603, "message": clean(reply.text)}), reply)


def _bound_error(raw: Json, rule: ToolRule, hold: Hold, beside: Json) -> Bounded | None:
    members = open_object(raw) or {"message": raw}
    if beside and beside != b"null":
        members["result"] = beside
    message = members.get("message", b"")
    text = text_of(message) if message[:1] == b'"' else bytes(message)
    slots = [Slot("message", False, message, text)]
    slots += [
        Slot(name, False, value, text_of(value) if value[:1] == b'"' else bytes(value))
        for name, value in members.items()
        if name not in ("message", "code")
    ]
    choice = choose(slots, rule.policy)
    reply = choice and hold(choice.document, choice.policy)
    if choice is None or reply is None:
        return None
    for index in choice.held:
        members.pop(slots[index].member)
    if 0 in choice.held:
        members = {"message": quoted(reply.text), **members}
    else:
        members["data"] = quoted(reply.text)
    return Bounded(close_object(members), reply)


def _bound_scalar(raw: Json, policy: Policy, hold: Hold) -> Bounded | None:
    """Bound a bare value where an object should be: as a text it can at least be read on."""
    reply = hold(text_of(raw) if raw[:1] == b'"' else bytes(raw), policy)
    if reply is None:
        return None
    return Bounded(as_tool_result(reply), reply)
