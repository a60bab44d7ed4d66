"""What to do with an answer: nothing, if it fits as it is; else the mildest thing that makes it fit."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from brimgate.engine import jsontext
from brimgate.engine.document import Document, Focus
from brimgate.engine.policy import Policy
from brimgate.engine.tokens.estimator import Estimator

if TYPE_CHECKING:
    from brimgate.engine.forms import Rendered

BEST_SAVING: Final = 6
"""No form has been seen to shrink JSON by more than this factor; beyond it, rendering the whole is not tried."""


_WORTH_COMPACTING: Final = 0.15


@dataclass(frozen=True, slots=True)
class Pass:
    """It fits: send the same bytes."""

    tokens: int


@dataclass(frozen=True, slots=True)
class Rerender:
    """It fits in another, lossless form: nothing is held back."""

    rendered: "Rendered"
    tokens: int
    budget: int


@dataclass(frozen=True, slots=True)
class Page:
    """A list, alone or inside an envelope: whole items, as many as fit."""

    focus: Focus
    budget: int


@dataclass(frozen=True, slots=True)
class Preview:
    """An object, or a list not one item of which fits: its essentials."""

    focus: Focus
    budget: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """A text, alone or inside an envelope: a piece that ends where something ends."""

    focus: Focus | None
    budget: int


@dataclass(frozen=True, slots=True)
class Walk:
    """An object when previews are switched off: its members in order."""

    budget: int


Reduction = Rerender | Page | Preview | Chunk | Walk
Plan = Pass | Reduction


def decide(source: Document, policy: Policy) -> Plan:
    if source.is_beginning:
        return decide_oversized(source, policy)
    budget = budget_for(source, policy)
    tokens = measure(source, budget, policy)
    if tokens <= budget:
        return (_compact(source, budget, policy) if policy.compact else None) or Pass(tokens)
    if source.is_json and tokens <= budget * BEST_SAVING:
        rendered = _rendered(source, policy)
        if (cost := policy.estimator.ceiling(rendered.text)) <= budget - NOTICE_ALLOWANCE:
            return Rerender(rendered, cost, budget)
    return decide_oversized(source, policy)


def _compact(source: Document, budget: int, policy: Policy) -> Rerender | None:
    """A cheaper form of what would fit as it is, if it is worth a change."""
    if not source.is_json:
        return None
    rendered = _rendered(source, policy)
    cost = policy.estimator.ceiling(rendered.text)
    worth = is_worth(cost, policy.estimator.ceiling(source.data))
    return Rerender(rendered, cost, budget) if worth and cost <= budget - NOTICE_ALLOWANCE else None


def _rendered(source: Document, policy: Policy) -> "Rendered":
    # The forms are loaded where one is written: an answer in the words of a pack needs none.
    from brimgate.engine.forms import render

    return render(jsontext.canonical(source.data), policy.form, policy.estimator)


def is_worth(cost: int, whole: int) -> bool:
    """Whether a change of what might go out as it came saves enough, the notice included."""
    return cost + NOTICE_ALLOWANCE <= whole * (1 - _WORTH_COMPACTING)


def budget_for(source: Document, policy: Policy) -> int:
    """By the shape of what the answer is about; without paging or summaries only the hard cap holds."""
    head = source.head(source.focus.node) if source.is_json else b'"'
    if not (policy.summarization if head == b"{" else policy.pagination):
        return policy.hard_cap
    return {b"[": policy.list_threshold, b'"': policy.text_threshold}.get(head, policy.object_budget)


def decide_oversized(source: Document, policy: Policy) -> Reduction:
    """What to do with an answer that cannot be sent whole."""
    budget = budget_for(source, policy)
    if not source.is_json:
        return Chunk(None, budget)
    focus = source.focus
    head = source.head(focus.node)
    light = len(source.data) - (focus.node.end - focus.node.start) <= budget
    if head == b"[" and light:
        return Page(focus, budget)
    if head == b'"' and light:
        return Chunk(focus, budget)
    return (
        Preview(focus if light else Focus(source.root, ""), budget) if policy.summarization else Walk(budget)
    )


NOTICE_ALLOWANCE: Final = 60
"""Tokens for the one-line notice above a re-rendered answer, which has no cursor."""


def measure(source: Document, budget: int, policy: Policy) -> int:
    """Tokens of what is held, as exactly as the question "more than the budget?" needs."""
    estimator = policy.estimator
    if (bound := estimator.bound(len(source.data))) <= budget:
        return bound
    tokens = source.tokens(estimator)
    if tokens > _BEYOND_DOUBT * budget:
        return tokens
    if tokens > _CLEARLY_OVER * budget and len(source.data.translate(None, _ASCII)) * 5 < tokens:
        return tokens
    # What is taken to be under can cost up to twice as much; that must not lead past the cap.
    if 2 * budget <= policy.hard_cap and _is_surely_under(source.data, tokens, budget, estimator):
        return tokens
    return estimator.ceiling(source.data)


def surely_fits(text: str, budget: int, estimator: Estimator) -> bool:
    """By the table alone, which needs no vocabulary: loading one takes longer than all the rest of a call from a shell."""
    data = text.encode("utf-8", "surrogateescape")
    return _is_surely_under(data, estimator.table(data), budget, estimator)


def _is_surely_under(data: bytes, tokens: int, budget: int, estimator: Estimator) -> bool:
    if 2 * tokens > budget or len(data) > _MOST_BYTES_A_TOKEN * budget:
        return False
    odd = len(data.translate(None, _ORDINARY)) * estimator.bound(1)
    return max(2 * tokens, _by_runs(data) * estimator.multiplier) + odd <= budget


def _by_runs(data: bytes) -> float:
    """Tokens of a text by where its kinds of characters change. The table is a sum over pairs of bytes, some of which
    count less than nothing: of pairs that no text is made of (`aA aA`, `"A"A`) it can say that they are free."""
    letters = len(data) - len(data.translate(None, _LETTERS))
    in_long_runs = sum(map(len, _LONG_RUN.findall(data)))
    return 1.6 * len(_RUN.findall(data)) + letters / 4 + 0.75 * in_long_runs


_ORDINARY: Final = (
    bytes(range(0x30, 0x3A)) + bytes(range(0x41, 0x5B)) + bytes(range(0x61, 0x7B)) + b' \n\r\t"{}[]:,.-_/'
)
"""Bytes of which the table was never seen to count less than half of what a text of them costs. Others (symbols,
scripts beyond ASCII) can cost several times what it says: they are taken at their most."""
_LETTERS: Final = bytes(range(0x41, 0x5B)) + bytes(range(0x61, 0x7B))
_RUN: Final = re.compile(rb"[a-z]+|[A-Z]+|[0-9]{1,3}| +|[^a-zA-Z0-9 ]")
_LONG_RUN: Final = re.compile(rb"[A-Za-z]{13,}")
_MOST_BYTES_A_TOKEN: Final = 8
_ASCII: Final = bytes(range(128))
_CLEARLY_OVER: Final = 2.5
"""In plain text. Beyond ASCII the table can also be several times too high, and what fits must not be touched."""
_BEYOND_DOUBT: Final = 15
