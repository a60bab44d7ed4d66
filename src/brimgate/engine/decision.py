"""Decide what to do with an answer: nothing if it fits as it is, otherwise the mildest change that makes it fit."""

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
"""No form has ever shrunk JSON by more than this factor. Beyond it, rendering the whole answer is not tried."""


_WORTH_COMPACTING: Final = 0.15


@dataclass(frozen=True, slots=True)
class Pass:
    """The answer fits: send the same bytes."""

    tokens: int


@dataclass(frozen=True, slots=True)
class Rerender:
    """The answer fits in another, lossless form: nothing is held back."""

    rendered: "Rendered"
    tokens: int
    budget: int


@dataclass(frozen=True, slots=True)
class Page:
    """A list, alone or inside an envelope: send as many whole items as fit."""

    focus: Focus
    budget: int


@dataclass(frozen=True, slots=True)
class Preview:
    """An object, or a list of which not even one item fits: send its essentials."""

    focus: Focus
    budget: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """A text, alone or inside an envelope: send a piece that ends at a natural boundary."""

    focus: Focus | None
    budget: int


@dataclass(frozen=True, slots=True)
class Walk:
    """An object when previews are switched off: send its members in order."""

    budget: int


Reduction = Rerender | Page | Preview | Chunk | Walk
Plan = Pass | Reduction


def decide(source: Document, policy: Policy) -> Plan:
    if source.is_beginning:
        return decide_oversized(source, policy)
    budget = budget_for(source, policy)
    tokens = measure(source, budget, policy)
    if tokens <= budget:
        return (_compact(source, budget, policy) if policy.is_compact else None) or Pass(tokens)
    if source.is_json and tokens <= budget * BEST_SAVING:
        rendered = _rendered(source, policy)
        if (cost := policy.estimator.ceiling(rendered.text)) <= budget - NOTICE_ALLOWANCE:
            return Rerender(rendered, cost, budget)
    return decide_oversized(source, policy)


def _compact(source: Document, budget: int, policy: Policy) -> Rerender | None:
    """Return a cheaper form of an answer that would fit as it is, or None if the saving is too small."""
    if not source.is_json:
        return None
    rendered = _rendered(source, policy)
    cost = policy.estimator.ceiling(rendered.text)
    worth = is_worth(cost, policy.estimator.ceiling(source.data))
    return Rerender(rendered, cost, budget) if worth and cost <= budget - NOTICE_ALLOWANCE else None


def _rendered(source: Document, policy: Policy) -> "Rendered":
    # Import the forms only here, where one is written: an answer from a pack's formatter needs none.
    from brimgate.engine.forms import render

    return render(jsontext.canonical(source.data), policy.format, policy.estimator)


def is_worth(cost: int, whole: int) -> bool:
    """Return whether changing an answer that could go out unchanged saves enough, including the notice."""
    return cost + NOTICE_ALLOWANCE <= whole * (1 - _WORTH_COMPACTING)


def budget_for(source: Document, policy: Policy) -> int:
    """Return the budget for the shape of the focus. Without paging or summaries only the hard cap applies."""
    head = source.head(source.focus.node) if source.is_json else b'"'
    if not (policy.enable_summarization if head == b"{" else policy.enable_pagination):
        return policy.hard_output_token_cap
    return {b"[": policy.output_token_threshold, b'"': policy.chunk_threshold}.get(head, policy.object_budget)


def decide_oversized(source: Document, policy: Policy) -> Reduction:
    """Choose the reduction for an answer that cannot be sent whole."""
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
        Preview(focus if light else Focus(source.root, ""), budget)
        if policy.enable_summarization
        else Walk(budget)
    )


NOTICE_ALLOWANCE: Final = 60
"""Tokens for the one-line notice above a re-rendered answer, which has no cursor."""


def measure(source: Document, budget: int, policy: Policy) -> int:
    """Count the tokens of the document, only as exactly as the question "more than the budget?" needs."""
    estimator = policy.estimator
    if (bound := estimator.bound(len(source.data))) <= budget:
        return bound
    tokens = source.tokens(estimator)
    if tokens > _BEYOND_DOUBT * budget:
        return tokens
    if tokens > _CLEARLY_OVER * budget and len(source.data.translate(None, _ASCII)) * 5 < tokens:
        return tokens
    # A text that we take to be under the budget can cost up to twice as much; that must not exceed the cap.
    if 2 * budget <= policy.hard_output_token_cap and _is_surely_under(
        source.data, tokens, budget, estimator
    ):
        return tokens
    return estimator.ceiling(source.data)


def surely_fits(text: str, budget: int, estimator: Estimator) -> bool:
    """Return whether a text fits by the pair table alone, which needs no vocabulary.

    Loading a vocabulary takes longer than all the rest of a call from a shell.
    """
    data = text.encode("utf-8", "surrogateescape")
    return _is_surely_under(data, estimator.table(data), budget, estimator)


def _is_surely_under(data: bytes, tokens: int, budget: int, estimator: Estimator) -> bool:
    if 2 * tokens > budget or len(data) > _MOST_BYTES_A_TOKEN * budget:
        return False
    odd = len(data.translate(None, _ORDINARY)) * estimator.bound(1)
    return max(2 * tokens, _by_runs(data) * estimator.multiplier) + odd <= budget


def _by_runs(data: bytes) -> float:
    """Estimate the tokens of a text by where its kinds of characters change.

    The table is a sum over pairs of bytes, some with negative weights. For pairs that no real text is made of
    (`aA aA`, `"A"A`) it can say that they are free.
    """
    letters = len(data) - len(data.translate(None, _LETTERS))
    in_long_runs = sum(map(len, _LONG_RUN.findall(data)))
    return 1.6 * len(_RUN.findall(data)) + letters / 4 + 0.75 * in_long_runs


_ORDINARY: Final = (
    bytes(range(0x30, 0x3A)) + bytes(range(0x41, 0x5B)) + bytes(range(0x61, 0x7B)) + b' \n\r\t"{}[]:,.-_/'
)
"""Bytes for which the table has never counted less than half of what a text of them costs.

Others (symbols, scripts beyond ASCII) can cost several times what it says: they are counted at their maximum.
"""
_LETTERS: Final = bytes(range(0x41, 0x5B)) + bytes(range(0x61, 0x7B))
_RUN: Final = re.compile(rb"[a-z]+|[A-Z]+|[0-9]{1,3}| +|[^a-zA-Z0-9 ]")
_LONG_RUN: Final = re.compile(rb"[A-Za-z]{13,}")
_MOST_BYTES_A_TOKEN: Final = 8
_ASCII: Final = bytes(range(128))
_CLEARLY_OVER: Final = 2.5
"""Applies to plain text.

Beyond ASCII the table can also be several times too high, and what fits must stay unchanged.
"""
_BEYOND_DOUBT: Final = 15
