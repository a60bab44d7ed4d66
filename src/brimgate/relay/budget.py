"""What of an answer to hold back, and within which policy what is shown in its place must stay."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from brimgate.engine.policy import Policy
from brimgate.engine.tokens.families import MIN_BUDGET
from brimgate.relay.content import Slot, close_list, close_object, is_json

if TYPE_CHECKING:
    from brimgate.engine.rules import ToolRule
    from brimgate.relay.protocol.message import Json

_LIGHT_SHARE: Final = 4
"""Texts beside the heaviest one stay if together they take no more than one part in so many of the budget."""
_SECOND_NOTICE: Final = 250
"""Tokens for a notice that stands in the structured data as well, and for the quotes around a text there."""


@dataclass(frozen=True, slots=True)
class Choice:
    document: bytes
    held: frozenset[int]
    """Numbers of the slots it was made of."""
    policy: Policy


def choose(
    slots: list[Slot], policy: Policy, same: tuple[bytes, frozenset[int]] | None = None
) -> Choice | None:
    """What of an answer to hold, and within which policy; None if all of it surely fits."""
    estimator = policy.estimator
    texts = [index for index, slot in enumerate(slots) if slot.text]
    least = min(policy.text_threshold, policy.list_threshold, policy.object_threshold)
    bound = sum(estimator.bound_of(slots[index].text) for index in texts)
    media = sum(slot.media_tokens for slot in slots)
    if bound <= least and bound + media <= policy.hard_cap and not policy.compact:
        return None
    kept_media, overflow = media_that_fits(slots, policy.hard_cap - min(bound, least))
    if overflow or not texts:
        return _compose(slots, [*texts, *overflow], _less(policy, 0, kept_media)) if overflow else None
    if same is not None:
        document, held = same
        # What goes out as it came goes out twice: as text and as structured data.
        policy = _within(policy, policy.hard_cap // 2)
    else:
        heaviest = max(texts, key=lambda index: len(slots[index].text))
        document, held = slots[heaviest].alone, frozenset((heaviest,))
    rest = b"\n".join(slots[index].text for index in texts if index not in held)
    beside = estimator.ceiling(rest) if 0 < len(rest) <= 8 * least else len(rest)
    if beside * _LIGHT_SHARE > least or least - beside < MIN_BUDGET <= beside:
        return _compose(slots, texts, _less(policy, 0, kept_media))
    return Choice(document, held, _less(policy, beside, kept_media))


def media_that_fits(slots: list[Slot], room: int) -> tuple[int, list[int]]:
    """Tokens of the images that stay, and which of them do not fit any more."""
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
    """Several heavy slots as one JSON document, each where it stood."""
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
    """What is left for a reply beside other texts, and under the hard cap beside images."""
    if not beside and policy.hard_cap - media >= max(policy.list_threshold, policy.object_threshold):
        return policy
    cap = max(policy.hard_cap - media - beside, MIN_BUDGET)

    def left(threshold: int) -> int:
        return max(min(threshold - beside, cap), MIN_BUDGET)

    return policy.with_thresholds(left, cap)


def _within(policy: Policy, most: int) -> Policy:
    return policy.with_thresholds(lambda tokens: max(min(tokens, most), MIN_BUDGET), policy.hard_cap)


def for_schema(rule: "ToolRule") -> Policy:
    """A relaxed reply is sent twice, as text and as structured data; of a kept one only the notice is."""
    policy = rule.policy
    if rule.output_schema == "relax":
        return policy.with_thresholds(lambda tokens: max(tokens // 2, MIN_BUDGET), policy.hard_cap // 2)
    plain = replace(policy, form="json", highlights=False)
    return _less(plain, _SECOND_NOTICE, 0)
