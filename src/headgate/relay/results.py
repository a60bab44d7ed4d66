"""One budget over a whole answer: text, structured data, resources, images, errors, whatever carries them.

What is light stays where it was; what is heavy is held and its place taken by a bounded reply. One heavy text or
structure is held as it is, so that a walk gives back just that; several are held as one JSON document.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from headgate.engine.policy import Policy
from headgate.engine.reply import Reply, budget_fields
from headgate.relay import keeping
from headgate.relay.choice import Choice, choose, for_schema
from headgate.relay.message import Json, encode, quoted, text_of
from headgate.relay.rules import ToolRule
from headgate.relay.slots import (
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

RECORD: Final = "headgate/result"
Hold = Callable[[bytes, Policy], Reply | None]
"""Keeps a document and gives the first reply about it; None if it fits as it is."""

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
_LIGHT_BYTES: Final = 200


@dataclass(frozen=True, slots=True)
class Bounded:
    raw: bytes
    reply: Reply


def bound_result(raw: Json, rule: ToolRule, hold: Hold, schema: bytes = b"") -> Bounded | None:
    """The answer to a tools/call, resources/read, prompts/get or for a task; None if it goes out as it came.

    Whatever we get wrong about its shape, it stays bounded: then it is held as plain text.
    """
    try:
        return _bound_result(raw, rule, hold, schema)
    except Exception:  # noqa: BLE001  # the boundary of one answer: it must not cost the others theirs
        return _bound_scalar(raw, rule.policy, hold)


def _bound_result(raw: Json, rule: ToolRule, hold: Hold, schema: bytes = b"") -> Bounded | None:
    members = open_object(raw)
    if members is None:
        return _bound_scalar(raw, rule.policy, hold)
    if members.get("resultType", b'"complete"') != b'"complete"':
        return None
    if "contents" in members and "content" not in members:
        return _bound_listed(members, "contents", resource_slot, _as_resource, rule, hold)
    if "messages" in members and "content" not in members:
        return _bound_listed(members, "messages", message_slot, _as_message, rule, hold)
    if "content" not in members and ("result" in members or "error" in members) and "status" in members:
        return _bound_task(members, rule, hold)
    return _bound_tool_result(members, rule, hold, schema)


def looks_like_answer(raw: Json) -> bool:
    """Whether the answer to an unknown request has the shape of one that must be bounded."""
    members = open_object(raw) or {}
    if members.get("content", b"")[:1] == b"[" or "structuredContent" in members:
        return True
    if any(members.get(name, b"")[:1] == b"[" for name in ("contents", "messages")):
        return True
    return "taskId" in members and ("result" in members or "error" in members)


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
        if name not in _APART and len(value) > _LIGHT_BYTES
    ]
    choice = choose(slots, policy, same)
    reply = choice and hold(choice.document, choice.policy)
    if choice is None or reply is None:
        return None
    if is_kept and rule.output_schema == "keep" and members.get("isError") != b"true":
        kept = keeping.still_valid(structured, schema, reply)
        if kept is not None:
            members["content"] = close_list([_text_block(reply.notice)])
            members["structuredContent"] = kept
            return Bounded(_with_record(members, reply), reply)
        members["isError"] = b"true"
    _replace_content(members, slots, choice, reply)
    if is_kept and rule.output_schema == "relax":
        members["structuredContent"] = encode({"notice": reply.notice, "payload": _clean(reply.payload)})
    return Bounded(_with_record(members, reply), reply)


def _what_repeats(slots: list[Slot], structured: Json) -> tuple[bytes, frozenset[int]] | None:
    """The text that says the same as the structured data, and where it stands."""
    plain = [index for index, slot in enumerate(slots) if slot.is_plain]
    together = repeats([slots[index].text for index in plain], structured)
    if together is not None:
        return together, frozenset(plain)
    for index in plain:
        alone = repeats([slots[index].text], structured)
        if alone is not None:
            return alone, frozenset((index,))
    return None


def _replace_content(members: dict[str, Json], slots: list[Slot], choice: Choice, reply: Reply) -> None:
    payload = _text_block(reply.payload)
    content: list[Json] = []
    later: list[Json] = []
    placed = False
    for index, slot in enumerate(slots):
        is_held = index in choice.held
        if slot.member == "content":
            if is_held and not placed:
                content.append(slot.with_text(quoted(reply.payload)) if len(choice.held) == 1 else payload)
                placed = True
            elif not is_held:
                content.append(slot.raw)
        elif slot.member == "structuredContent" and not is_held:
            later.append(_text_block(slot.text.decode("utf-8", "replace")))
        elif is_held:
            members.pop(slot.member, None)
    if not placed:
        content.insert(0, payload)
    # Structured data is what some clients show instead of the text: beside a reduced answer it would hide the notice.
    members.pop("structuredContent", None)
    members["content"] = close_list([_text_block(reply.notice), *content, *later])


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
        return None
    slots = [make_slot(raw) for raw in values]
    choice = choose(slots, rule.policy)
    reply = choice and hold(choice.document, choice.policy)
    if choice is None or reply is None:
        return None
    first = min(choice.held)
    written = [
        write(slot, reply.text) if index == first else slot.raw
        for index, slot in enumerate(slots)
        if index == first or index not in choice.held
    ]
    members[name] = close_list(written)
    return Bounded(_with_record(members, reply), reply)


def _as_resource(slot: Slot, text: str) -> bytes:
    members = open_object(slot.raw) or {}
    if members.pop("blob", None) is not None:
        members["mimeType"] = b'"text/plain"'
    return close_object({**members, "text": quoted(text)})


def _as_message(slot: Slot, text: str) -> bytes:
    return with_member(slot.raw, "content", _text_block(text))


def _bound_task(members: dict[str, Json], rule: ToolRule, hold: Hold) -> Bounded | None:
    """A task that has ended carries its result or its error inside (tasks extension of 2026-07-28)."""
    for name, bound in (("result", bound_result), ("error", bound_error)):
        inner = members.get(name, b"")
        bounded = bound(inner, rule, hold) if inner[:1] == b"{" else None
        if bounded is not None:
            return Bounded(close_object({**members, name: bounded.raw}), bounded.reply)
    return None


def bound_error(raw: Json, rule: ToolRule, hold: Hold) -> Bounded | None:
    """A JSON-RPC error: servers put whole traces into its message or its data."""
    try:
        return _bound_error(raw, rule, hold)
    except Exception:  # noqa: BLE001  # the boundary of one answer, as above
        reply = hold(bytes(raw), rule.policy)
        return reply and Bounded(encode({"code": -32603, "message": _clean(reply.text)}), reply)


def _bound_error(raw: Json, rule: ToolRule, hold: Hold) -> Bounded | None:
    members = open_object(raw) or {"message": raw}
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
    """Where an object should stand there is a bare value: as a text, it can at least be read on."""
    reply = hold(text_of(raw) if raw[:1] == b'"' else bytes(raw), policy)
    if reply is None:
        return None
    return Bounded(as_tool_result(reply), reply)


def as_tool_result(reply: Reply, extra: Mapping[str, Json] | None = None, picture: bytes = b"") -> bytes:
    """A reply as the result of a call; a picture stands in the place of its payload."""
    content = close_list([_text_block(reply.notice), picture or _text_block(reply.payload)])
    return _with_record({"content": content, **(extra or {})}, reply)


# Writing


def _text_block(text: str) -> bytes:
    return b'{"type":"text","text":' + quoted(text) + b"}"


def _clean(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _with_record(members: dict[str, Json], reply: Reply) -> bytes:
    return annotated(close_object(members), reply.record)


def annotated(raw: Json, record: dict[str, Any]) -> bytes:
    """The answer with a record for programs in its `_meta`, beside what stands there."""
    members = open_object(raw) or {}
    meta = open_object(members.get("_meta", b"{}")) or {}
    members["_meta"] = close_object({**meta, RECORD: encode(record)})
    return close_object(members)


def untouched_record(raw: bytes, rule: ToolRule) -> dict[str, Any]:
    """What `annotate` puts on an answer that goes out as it came."""
    tokens = rule.policy.estimator.count(raw)
    return {"kind": "untouched"} | budget_fields(tokens, rule.policy.list_threshold)
