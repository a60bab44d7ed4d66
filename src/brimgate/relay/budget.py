"""Choose which part of an answer to hold, and the policy for what replaces it."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, cast
from urllib.parse import quote

from brimgate.engine.policy import Policy, ToolRule
from brimgate.engine.replies.reply import MARK, Reply, budget_fields
from brimgate.engine.tokens.estimator import MIN_BUDGET
from brimgate.relay.content import (
    Binary,
    Slot,
    block_slot,
    close_list,
    close_object,
    has_data,
    is_json,
    message_slot,
    open_list,
    open_object,
    resource_slot,
    with_member,
)
from brimgate.relay.protocol.message import Json, quoted
from brimgate.relay.rewrite import (
    LIGHT_BYTES,
    Bounded,
    Hold,
    annotated,
    as_tool_result,
    clean,
    is_failure,
    reply_blocks,
    with_record,
)

_LIGHT_SHARE: Final = 4
"""Texts beside the heaviest one stay if together they take at most this fraction (1/n) of the budget."""
_SECOND_NOTICE: Final = 250
"""Tokens for a second notice in the structured data, and for the quotes around a text there."""
_STUB_TOKENS: Final = 150
BLOCK_NOTICE_TOKENS: Final = 60
_MAX_URI_CHARS: Final = 200
_URI_CHARS: Final = ":/?#[]@!$&'()*+,;=%~"
"""What stays as it is in an address. Anything else is escaped: no sentence of a server stands in a stub."""
_MIME_TYPE: Final = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,80}", re.ASCII)
_UNKNOWN_TYPE: Final = "application/octet-stream"
_KEPT_WHOLE: Final = frozenset(("isError", "resultType", "ttlMs", "cacheScope", "taskId", "status"))
_SLOT_MAKERS: Final[dict[str, Callable[[Json], Slot]]] = {
    "content": block_slot,
    "contents": resource_slot,
    "messages": message_slot,
}


@dataclass(frozen=True, slots=True)
class Choice:
    document: bytes
    held: frozenset[int]
    """The numbers of the slots it was made of."""
    policy: Policy


def choose(
    slots: list[Slot], policy: Policy, same: tuple[bytes, frozenset[int]] | None = None
) -> Choice | None:
    """Choose what to hold of an answer, and within which policy. Return None if all of it surely fits."""
    estimator = policy.estimator
    texts = [index for index, slot in enumerate(slots) if slot.text]
    least = policy.least_threshold
    bound = sum(estimator.bound_of(slots[index].text) for index in texts)
    media = sum(slot.media_tokens for slot in slots)
    if bound <= least and bound + media <= policy.hard_output_token_cap and not policy.reads_everything:
        return None
    if not texts:
        return None
    if same is not None:
        document, held = same
        # An unchanged answer goes out twice: as text and as structured data.
        policy = _within(policy, policy.hard_output_token_cap // 2)
    else:
        heaviest = max(texts, key=lambda index: len(slots[index].text))
        document, held = slots[heaviest].alone, frozenset((heaviest,))
    rest = b"\n".join(slots[index].text for index in texts if index not in held)
    beside = estimator.ceiling(rest) if 0 < len(rest) <= 8 * least else len(rest)
    if beside * _LIGHT_SHARE > least or least - beside < MIN_BUDGET <= beside:
        return _compose(slots, texts, _less(policy, 0, media))
    return Choice(document, held, _less(policy, beside, media))


def _compose(slots: list[Slot], held: list[int], policy: Policy) -> Choice:
    """Combine several heavy slots into one JSON document, each in its place."""
    lists: dict[str, list[Json]] = {}
    members: dict[str, Json] = {}
    for index in sorted(held):
        slot = slots[index]
        if slot.listed:
            lists.setdefault(slot.member, []).append(slot.document)
            members[slot.member] = b""
        else:
            members[slot.member] = slot.text if is_json(slot.text) else slot.raw
    members |= {name: close_list(values) for name, values in lists.items()}
    return Choice(close_object(members), frozenset(held), policy)


def _less(policy: Policy, beside: int, media: int) -> Policy:
    """Return what is left for a reply beside other texts, and under the hard cap beside images."""
    if not beside and policy.hard_output_token_cap - media >= policy.output_token_threshold:
        return policy
    cap = max(policy.hard_output_token_cap - media - beside, MIN_BUDGET)

    def left(threshold: int) -> int:
        return max(min(threshold - beside, cap), MIN_BUDGET)

    return policy.with_thresholds(left, cap)


def _within(policy: Policy, most: int) -> Policy:
    return policy.with_thresholds(
        lambda tokens: max(min(tokens, most), MIN_BUDGET), policy.hard_output_token_cap
    )


def for_schema(rule: "ToolRule") -> Policy:
    """Return the policy for a tool with an output schema.

    With `relax` a reply is sent twice, as text and as structured data; with `keep` only the notice is.
    """
    policy = rule.policy
    if rule.output_schema == "relax":
        return policy.with_thresholds(
            lambda tokens: max(tokens // 2, MIN_BUDGET), policy.hard_output_token_cap // 2
        )
    plain = replace(policy, format="json", highlights=False)
    return _less(plain, _SECOND_NOTICE, 0)


def is_under_cap(bounded: Bounded | None, members: Mapping[str, Json], policy: Policy) -> bool:
    """Return whether an answer is within the hard cap.

    Everything that a model could see counts: all but `_meta`, the data of pictures, and `ui://` pages.
    """
    counted, own = 0, None
    if bounded is not None:
        counted, own = bounded.reply.record["estimatedTokens"], bounded.reply
        members = open_object(bounded.raw) or {}
    rest = b"\n".join(_shown(members, own))
    if counted + policy.estimator.bound_of(rest) <= policy.hard_output_token_cap:
        return True
    return (
        len(rest) <= 8 * policy.hard_output_token_cap
        and counted + policy.estimator.ceiling(rest) <= policy.hard_output_token_cap
    )


def _shown(members: Mapping[str, Json], own: Reply | None) -> Iterator[Json]:
    """Yield the parts of an answer that count, except our own texts, which are already counted."""
    for name, value in members.items():
        if name == "_meta":
            continue
        yield name.encode("utf-8", "replace")
        make = _SLOT_MAKERS.get(name)
        blocks = open_list(value) if make is not None else None
        if name == "result" and "taskId" in members:
            yield from _shown(open_object(value) or {}, own)
            continue
        if make is None or blocks is None:
            yield value
            continue
        for raw in blocks:
            slot = make(raw)
            if slot.is_plain:
                # As it is read, and not as JSON spells it: the same text was decided about.
                yield _foreign(slot.text.decode("utf-8", "replace"), own).encode()
                yield close_object(
                    {key: inner for key, inner in (open_object(raw) or {}).items() if key != "text"}
                )
            elif slot.binary is not None and not slot.binary.is_odd:
                yield slot.without_data()
            elif not slot.is_app:
                yield raw


def untouched_record(raw: Json, rule: ToolRule) -> dict[str, Any]:
    """Return the record that `annotate` puts on an unchanged answer. Binary data counts nothing."""
    tokens = rule.policy.estimator.count(_without_data(raw))
    return {"kind": "untouched"} | budget_fields(tokens, rule.policy.output_token_threshold)


def _without_data(raw: Json) -> bytes:
    members = open_object(raw) or {}
    for name, make in _SLOT_MAKERS.items():
        values = open_list(members.get(name, b"")) or []
        if any(map(has_data, values)):
            bare = (
                slot.without_data() if slot.binary is not None else slot.raw for slot in map(make, values)
            )
            members[name] = close_list(list(bare))
            raw = close_object(members)
    return bytes(raw)


def _foreign(text: str, own: Reply | None) -> str:
    """Return what is not ours of a text: nothing of a notice or payload, and what stands between them in an error."""
    if own is None:
        return text
    notice, payload, whole = (clean(part) for part in (own.notice, own.payload, own.text))
    if text in (notice, payload, whole):
        return ""
    is_around = text.startswith(f"{notice}\n") and text.endswith(f"\n{payload}")
    return text[len(notice) : len(text) - len(payload)] if is_around else text


def hold_whole(members: Mapping[str, Json], rule: ToolRule, hold: Hold, schema: bytes) -> Bounded | None:
    """Hold all of an answer as one JSON document, and return a plain answer of the same kind in its place.

    Binary data is held apart: in the document are the stubs.
    """
    aside = set_aside(members, rule.policy, hold, everything=True)
    document = close_object({name: value for name, value in aside.members.items() if name != "_meta"})
    reply = hold(document, rule.policy)
    if reply is None:
        return None
    kept: dict[str, Json] = {
        name: value for name, value in members.items() if name in _KEPT_WHOLE and len(value) <= LIGHT_BYTES
    }
    text = quoted(reply.text)
    if "content" not in members and "contents" in members:
        kept["contents"] = close_list(
            [b'{"uri":"brimgate:held","mimeType":"text/plain","text":' + text + b"}"]
        )
    elif "content" not in members and "messages" in members:
        kept["messages"] = close_list([b'{"role":"user","content":{"type":"text","text":' + text + b"}}"])
    elif "content" not in members and "taskId" in members:
        kept["result"] = as_tool_result(reply)
    else:
        if rule.output_schema != "drop" and (schema or "structuredContent" in members):
            kept["isError"] = b"true"  # a client that was promised structured data accepts nothing else
        kept["content"] = close_list(reply_blocks(reply, is_error=is_failure(kept)))
    if "_meta" in members:
        kept["_meta"] = members["_meta"]
    return aside.noted(Bounded(with_record(kept, reply), reply))


# Binary data


@dataclass(frozen=True, slots=True)
class Aside:
    """An answer with stubs in place of the binary data that is not sent."""

    members: dict[str, Json]
    blobs: list[dict[str, Any]]
    """What the record says of each."""
    is_changed: bool = False

    def noted(self, bounded: Bounded) -> Bounded:
        """Return an answer with the blobs in its record, beside those that are there."""
        if not self.blobs:
            return bounded
        record = bounded.reply.record
        record["blobs"] = [*record.get("blobs", ()), *self.blobs]
        return Bounded(annotated(bounded.raw, record), bounded.reply)


def set_aside(members: Mapping[str, Json], policy: Policy, hold: Hold, *, everything: bool = False) -> Aside:
    """Hold the binary data of an answer that is not to be sent: what is too large, too much, or not wanted.

    What claims to be a picture and is a text becomes that text. `everything` leaves no binary data, and puts stubs
    where the data was instead of where its block was, for a document that is held as a whole.
    """
    aside = Aside(dict(members), [])
    for name, make in _SLOT_MAKERS.items():
        values = open_list(members.get(name, b"")) or []
        if not any(map(has_data, values)):
            continue
        slots = [make(raw) for raw in values]
        beside = policy.estimator.bound_of(bytes(members.get("structuredContent", b"")))
        chosen = range(len(slots)) if everything else sorted(_unwanted(slots, beside, policy))
        stubs = {at: _Stub(slots[at], policy, hold) for at in chosen if slots[at].binary is not None}
        if not stubs:
            continue
        values = [
            stubs[at].written(in_place=everything) if at in stubs else raw for at, raw in enumerate(values)
        ]
        aside.members[name] = close_list(values)
        aside.blobs.extend(stub.record for stub in stubs.values() if not stub.binary.hidden_text)
        aside = replace(aside, is_changed=True)
    inner = open_object(members.get("result", b"")) if everything and "taskId" in members else None
    if inner is not None:
        within = set_aside(inner, policy, hold, everything=True)
        aside.members["result"] = close_object(within.members)
        aside.blobs.extend(within.blobs)
    return aside


def _unwanted(slots: list[Slot], beside: int, policy: Policy) -> set[int]:
    """Return which slots have binary data that is not to be sent."""
    bound = beside + sum(policy.estimator.bound_of(slot.text) for slot in slots)
    is_small = bound <= policy.least_threshold
    chosen = {
        at
        for at, slot in enumerate(slots)
        if slot.binary is not None and _is_unwanted(slot.binary, policy, is_small=is_small)
    }
    media = [
        (at, slot.media_tokens) for at, slot in enumerate(slots) if slot.media_tokens and at not in chosen
    ]
    cap = policy.hard_output_token_cap
    if bound + sum(tokens for _, tokens in media) <= cap:
        return chosen
    room = cap - min(bound + _STUB_TOKENS * len(media), policy.least_threshold)
    for at, tokens in media:
        if tokens > room:
            chosen.add(at)
        else:
            room -= tokens
    return chosen


def _is_unwanted(binary: Binary, policy: Policy, *, is_small: bool) -> bool:
    if binary.is_odd:
        return not is_small
    return binary.byte_count > policy.max_blob_bytes or (binary.is_file and policy.blobs == "stub")


class _Stub:
    """What stands for binary data that is not sent: its type, size and address, and the cursor that leads to it."""

    def __init__(self, slot: Slot, policy: Policy, hold: Hold) -> None:
        self._slot, self._policy, self._hold = slot, policy, hold
        self.binary: Final = cast("Binary", slot.binary)
        cap, around = policy.hard_output_token_cap, cost_around_data(slot, policy)
        self._can_be_sent = slot.media_tokens + BLOCK_NOTICE_TOKENS <= cap
        # What is too much beside the data stays where it is, and is counted there.
        self._is_light = around + (slot.media_tokens if self._can_be_sent else 0) <= cap
        self._cursor = ""
        if self._can_be_sent and not self.binary.hidden_text:
            self._cursor = hold.block(slot.block if self._is_light else slot.bare_block)

    def written(self, *, in_place: bool) -> bytes:
        """Return the slot with the stub instead of its data (`in_place`), or instead of its block."""
        slot, name = self._slot, self.binary.member
        text = quoted(self.binary.hidden_text.decode("utf-8", "replace") or self._text())
        is_taken = self.binary.hidden_text and '"text"' in slot.without_data().decode("utf-8", "replace")
        if in_place or is_taken or not self._is_light:
            return slot.without_data({name: text})
        if self.binary.hidden_text:
            return slot.without_data({"text": text} | ({"type": b'"text"'} if name == "data" else {}))
        if slot.member == "contents":
            return slot.without_data({"mimeType": b'"text/plain"', "text": text})
        block = b'{"type":"text","text":' + text + b"}"
        return with_member(slot.raw, "content", block) if slot.member == "messages" else block

    @property
    def record(self) -> dict[str, Any]:
        binary = self.binary
        known = {"mimeType": binary.mime_type, "uri": binary.uri, "cursor": self._held_cursor}
        return {"bytes": binary.byte_count} | {name: value for name, value in known.items() if value}

    @property
    def _held_cursor(self) -> str:
        """The cursor, if what was held after it has left room for this."""
        return self._cursor if self._cursor and self._hold.has(self._cursor) else ""

    def _text(self) -> str:
        binary = self.binary
        mime_type = binary.mime_type.lower() if _MIME_TYPE.fullmatch(binary.mime_type) else _UNKNOWN_TYPE
        parts = [mime_type, f"{binary.byte_count:,} bytes"]
        if binary.uri:
            uri = quote(binary.uri[:_MAX_URI_CHARS], safe=_URI_CHARS)
            parts.append(uri if len(binary.uri) <= _MAX_URI_CHARS else f"{uri}…")
        return f"{MARK} {', '.join(parts)}: {self._onward()}"

    def _onward(self) -> str:
        tokens, cap = self._slot.media_tokens, self._policy.hard_output_token_cap
        if not self._can_be_sent:
            return f"not sent, because about {tokens:,} tokens are over the hard cap of {cap:,}"
        cursor = self._held_cursor
        if not cursor:
            return "not sent, and there was no room to hold it"
        return f'held; {self._policy.read_tool}(cursor="{cursor}") returns it whole'


def cost_around_data(slot: Slot, policy: Policy) -> int:
    """Return the tokens of a content block that is sent whole without its data, and of its notice."""
    around = slot.without_data()
    is_long = len(around) > 8 * policy.hard_output_token_cap
    return BLOCK_NOTICE_TOKENS + (len(around) if is_long else policy.estimator.ceiling(around))
