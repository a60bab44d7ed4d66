"""Choose which part of an answer to hold, and the policy for what replaces it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from brimgate.engine.policy import Policy, ToolRule
from brimgate.engine.replies.reply import Reply
from brimgate.engine.tokens.families import MIN_BUDGET
from brimgate.relay.content import (
    Slot,
    block_slot,
    close_list,
    close_object,
    is_json,
    message_slot,
    open_list,
    open_object,
    resource_slot,
)
from brimgate.relay.protocol.message import Json, quoted
from brimgate.relay.rewrite import (
    LIGHT_BYTES,
    Bounded,
    Hold,
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
    kept_media, overflow = media_that_fits(slots, policy.hard_output_token_cap - min(bound, least))
    if overflow or not texts:
        return _compose(slots, [*texts, *overflow], _less(policy, 0, kept_media)) if overflow else None
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
        return _compose(slots, texts, _less(policy, 0, kept_media))
    return Choice(document, held, _less(policy, beside, kept_media))


def media_that_fits(slots: list[Slot], room: int) -> tuple[int, list[int]]:
    """Return the tokens of the images that stay, and which images no longer fit."""
    spent, overflow = 0, list[int]()
    for index, slot in enumerate(slots):
        if not slot.media_tokens:
            continue
        if spent + slot.media_tokens > room:
            overflow.append(index)
        else:
            spent += slot.media_tokens
    return spent, overflow


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
            elif slot.media_tokens:
                yield without_data(raw)
            elif not slot.is_app:
                yield raw


def _foreign(text: str, own: Reply | None) -> str:
    """Return what is not ours of a text: nothing of a notice or payload, and what stands between them in an error."""
    if own is None:
        return text
    notice, payload, whole = (clean(part) for part in (own.notice, own.payload, own.text))
    if text in (notice, payload, whole):
        return ""
    is_around = text.startswith(f"{notice}\n") and text.endswith(f"\n{payload}")
    return text[len(notice) : len(text) - len(payload)] if is_around else text


def without_data(raw: Json) -> bytes:
    """Return a block without its picture or sound."""
    members = open_object(raw) or {}
    for name in ("resource", "content"):
        if members.get(name, b"")[:1] == b"{":
            members[name] = without_data(members[name])
    return close_object({name: value for name, value in members.items() if name not in ("data", "blob")})


def hold_whole(members: Mapping[str, Json], rule: ToolRule, hold: Hold, schema: bytes) -> Bounded | None:
    """Hold all of an answer as one JSON document, and return a plain answer of the same kind in its place."""
    document = close_object({name: value for name, value in members.items() if name != "_meta"})
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
    return Bounded(with_record(kept, reply), reply)
