"""What to do with an answer: nothing, if it fits as it is; else the mildest thing that makes it fit."""

from dataclasses import dataclass
from typing import Final

from headgate.engine import jsontext
from headgate.engine.policy import Policy
from headgate.engine.render import Rendered, render
from headgate.engine.source import Focus, Source

_BEST_SAVING: Final = 6
"""No form has been seen to shrink JSON by more than this factor; beyond it, rendering the whole is not tried."""


@dataclass(frozen=True, slots=True)
class Pass:
    """It fits: send the same bytes."""

    tokens: int


@dataclass(frozen=True, slots=True)
class Rerender:
    """It fits in another, lossless form: nothing is held back."""

    rendered: Rendered
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


Plan = Pass | Rerender | Page | Preview | Chunk | Walk


def decide(source: Source, policy: Policy) -> Plan:
    return _decide_json(source, policy) if source.is_json else _decide_text(source, policy)


def _decide_text(source: Source, policy: Policy) -> Plan:
    budget = policy.text_threshold if policy.pagination else policy.hard_cap
    tokens = measure(source, budget, policy)
    if tokens <= max(budget, min(policy.untouched_text, policy.text_threshold)):
        return Pass(tokens)
    return Chunk(None, budget)


def _decide_json(source: Source, policy: Policy) -> Plan:
    raw = source.data
    focus = source.focus
    head = source.head(focus.node)
    enabled = policy.pagination if head != b"{" else policy.summarization
    threshold = {b"[": policy.list_threshold, b'"': policy.text_threshold}.get(head, policy.object_budget)
    budget = threshold if enabled else policy.hard_cap
    tokens = measure(source, budget, policy)
    if tokens <= budget:
        return Pass(tokens)
    if tokens <= budget * _BEST_SAVING:
        rendered = render(jsontext.canonical(raw), policy.form, policy.estimator)
        if (cost := policy.estimator.ceiling(rendered.text)) <= budget - NOTICE_ALLOWANCE:
            return Rerender(rendered, cost, budget)
    light = len(raw) - (focus.node.end - focus.node.start) <= budget
    if head == b"[" and light:
        return Page(focus, budget)
    if head == b'"' and light:
        return Chunk(focus, budget)
    return (
        Preview(focus if light else Focus(source.root, ""), budget) if policy.summarization else Walk(budget)
    )


NOTICE_ALLOWANCE: Final = 60
"""Tokens for the one-line notice above a re-rendered answer, which has no cursor."""


def measure(source: Source, budget: int, policy: Policy) -> int:
    """Tokens of what is held, as exactly as the question "more than the budget?" needs."""
    estimator = policy.estimator
    if (bound := estimator.bound(len(source.data))) <= budget:
        return bound
    tokens = source.tokens(estimator)
    if 0.6 * budget < tokens < 1.7 * budget:
        return estimator.ceiling(source.data)
    return tokens
