"""Shape a REST answer: unchanged where it fits, otherwise the mildest shape that fits. Pure; no sockets here."""

from dataclasses import replace
from typing import Final, assert_never

from brimgate.engine import decision, jsontext
from brimgate.engine.decision import Chunk, Format, Page, Pass, Plan, Preview, Rerender, Walk
from brimgate.engine.document import Document, Focus, Position
from brimgate.engine.fields import ALL, are_around, strip
from brimgate.engine.pointer import pointer_steps
from brimgate.engine.policy import USUAL_PAGE, Policy
from brimgate.engine.query import Query, View, ViewScope
from brimgate.engine.replies.rest_frame import (
    OWN_MEMBERS,
    START,
    RefusedQuery,
    RestFrame,
    RestTarget,
    Shaped,
    Unfit,
    envelope_of,
)
from brimgate.engine.replies.rest_pages import Pager, choose
from brimgate.engine.replies.rest_parts import chunk, part, summarise
from brimgate.errors import BadRequest

_NO_LIMIT: Final = 1_000_000_000
_CHUNK_LINES: Final = 200
_TEXT_BUDGET: Final = 2_000
_MOST_SPACE: Final = 4
"""Indented JSON has at most this many times the tokens of minified JSON."""


def rest_policy(policy: Policy, *, is_error: bool = False) -> Policy:
    """Return a policy for JSON without highlights or notices, whose lists are always paged.

    Errors are left unchanged as long as they are within the cap.
    """
    policy = replace(
        policy,
        format="json",
        highlights=False,
        compact="never",
        has_notices=False,
        pages_always=True,
        reads_odd_json=False,
        chunks_members=False,
        default_page_size=policy.default_page_size or min(USUAL_PAGE, policy.max_page_size),
        chunk_size=policy.chunk_size or _CHUNK_LINES,
        chunk_threshold=policy.chunk_threshold or min(_TEXT_BUDGET, policy.hard_output_token_cap),
        text_slack=0.0,
    )
    if is_error:
        policy = replace(
            policy.with_thresholds(lambda _: policy.hard_output_token_cap, policy.hard_output_token_cap),
            enable_pagination=False,
        )
    return policy


def shape(frame: RestFrame, query: Query) -> Shaped | None:
    """Return the bounded answer, or None where it goes out unchanged."""
    if not frame.document.is_json:
        return _text(frame, query)
    try:
        return _begin(frame, RestTarget(frame.document), query)
    except Unfit:
        return last_resort(frame)


def read_on(frame: RestFrame, view: View, position: Position, query: Query) -> Shaped:
    """Continue from a cursor, or look at the same answer in another way."""
    try:
        found = _read(frame, view, position, query)
    except Unfit:
        return last_resort(frame)
    return found or _whole(frame, RestTarget(frame.document), frame.policy.hard_output_token_cap)


def last_resort(frame: RestFrame) -> Shaped:
    """Return the answer as plain text in chunks. This makes no assumption about the content, so none can fail."""
    return chunk(frame, View("text", form="json"))


def budget_of(frame: RestFrame, query: Query) -> int:
    """Return the budget of an answer that goes out unchanged."""
    if ALL in query.fields:
        return frame.policy.hard_output_token_cap
    return decision.budget_for(frame.document, frame.policy)


def _read(frame: RestFrame, view: View, position: Position, query: Query) -> Shaped | None:
    if query.path is not None:
        return _at_path(frame, view, query)
    scope: ViewScope = view.scope if frame.document.is_json else "text"
    match scope:
        case "text":
            if query.fields or query.lines:
                return _text(frame, query) or chunk(frame, View("text", fields=(ALL,), form="json"))
            return chunk(frame, view, position)
        case "whole" | "block":
            return _begin(frame, RestTarget(frame.document), query)
        case "walk" | "focus" | "path" | "chosen" if query.lines:
            return _begin(frame, RestTarget(frame.document), query)
        case "walk" if query.fields:
            return _at_path(frame, view, replace(query, path=view.path))
        case "walk":
            return _walk(frame, replace(view, limit=query.limit or view.limit), position)
        case "focus" | "path" | "chosen":
            return _read_page(frame, view, position, query)
        case _:
            assert_never(scope)


def _read_page(frame: RestFrame, view: View, position: Position, query: Query) -> Shaped | None:
    if query.fields:
        fields = (ALL,) if ALL in query.fields else frame.policy.spelled_out(query.fields)
        view = replace(view, fields=fields, condensed=False)
    view = replace(view, limit=query.limit or view.limit)
    target = frame.at(view.path) if view.scope == "path" else RestTarget(frame.document)
    return _page(frame, target, decision.subject(target.document, frame.policy), view, position.node)


def _at_path(frame: RestFrame, view: View, query: Query) -> Shaped:
    try:
        target = frame.at(query.path or "")
    except BadRequest as error:
        raise RefusedQuery("invalid_path", str(error)) from None
    if query.lines:
        raise RefusedQuery("invalid_lines", "lines cannot be combined with a path")
    frame = replace(frame, policy=decision.policy_at(frame.document, target.path, frame.policy))
    limit = query.limit or view.limit
    found = _begin(frame, target, replace(query, limit=limit, path=None))
    return found or _whole(frame, target, frame.policy.hard_output_token_cap)


def _begin(frame: RestFrame, target: RestTarget, query: Query) -> Shaped | None:
    """Return the first reply about an answer, or about a part of one."""
    policy, document = frame.policy, target.document
    if query.lines:
        raise RefusedQuery("invalid_lines", "lines can be chosen from text only; this is JSON: choose fields")
    if not document.is_json:
        return _value(frame, target, query)
    thing = decision.subject(document, policy)
    is_list = document.head(thing.node) == b"["
    count = decision.item_count(document, policy)
    if ALL in query.fields:
        is_asked = bool(query.limit) and count > query.limit and policy.enable_pagination
        return _all(frame, target, thing, query.limit, is_paged=is_asked)
    if query.fields and not (is_list and not count):
        fields = policy.spelled_out(query.fields)
        if are_around(document, fields):
            return _chosen(frame, target, Focus(document.root, ""), fields)
        limit = query.limit or policy.default_page_size if policy.enable_pagination else _NO_LIMIT
        if is_list and decision.is_light_around(document, thing, policy.output_token_threshold, policy):
            return _page(frame, target, thing, _page_view(target, limit, fields), 0)
        return _chosen(frame, target, thing, fields)
    if query.limit:
        policy = replace(policy, default_page_size=min(query.limit, policy.max_page_size))
    return _decided(frame, target, decision.decide(document, policy), policy)


def _decided(frame: RestFrame, target: RestTarget, plan: Plan, policy: Policy) -> Shaped | None:
    """Write what was decided as JSON."""
    match plan:
        case Pass():
            return None
        case Rerender(rendered, _, budget):
            shaped = _complete(rendered.text.encode(), budget, policy)
        case Page(focus, _, condensed):
            shaped = _first_page(frame, target, focus, policy, is_condensed=condensed)
        case Preview(focus, budget):
            shaped = _preview(frame, target, focus, budget, policy)
        case Walk() | Chunk() | Format():  # of these REST's own policy has only the first
            shaped = _walk(frame, View("walk", target.path, form="json"), START)
        case _:
            assert_never(plan)
    return replace(shaped, outcome=decision.outcome_of(plan))


def _complete(body: bytes, budget: int, policy: Policy) -> Shaped:
    return Shaped(body, "minified", policy.estimator.ceiling(body), budget)


def _preview(frame: RestFrame, target: RestTarget, focus: Focus, budget: int, policy: Policy) -> Shaped:
    """Write the essentials of an object; of a list the essentials of its first items, as a page."""
    if target.document.head(focus.node) == b"[" and target.document.open(focus.node):
        condensed = decision.is_condensed(target.document, focus, policy)
        return _first_page(frame, target, focus, policy, is_condensed=condensed)
    try:
        return summarise(frame, target, focus, budget)
    except Unfit:  # a walk needs less around it
        return _walk(frame, View("walk", target.path, form="json"), START)


def _first_page(
    frame: RestFrame, target: RestTarget, focus: Focus, policy: Policy, *, is_condensed: bool
) -> Shaped:
    limit = policy.default_page_size if policy.enable_pagination else _NO_LIMIT
    view = _page_view(target, limit, policy.fields if is_condensed else ())
    return _page(frame, target, focus, replace(view, condensed=is_condensed), 0)


def _page_view(target: RestTarget, limit: int, fields: tuple[str, ...]) -> View:
    scope = "path" if target.path else "focus"
    return View(scope, target.path, fields, limit=limit, form="json")


def _page(frame: RestFrame, target: RestTarget, thing: Focus, view: View, start: int) -> Shaped:
    policy = frame.policy
    capped = view.fields == (ALL,) or not policy.enable_pagination
    budget = policy.hard_output_token_cap if capped else policy.page_budget
    if thing.pointer and pointer_steps(thing.pointer)[0] in OWN_MEMBERS:
        # A page has a `meta` of its own, in the place of the one that holds the list.
        return _walk(frame, View("walk", target.path + thing.pointer, form="json"), START)
    envelope = envelope_of(target.document, thing)
    try:
        return Pager(
            frame, target, thing, envelope, view, start, view.limit or policy.default_page_size, budget
        ).page()
    except Unfit:
        return _walk(frame, View("walk", target.path, form="json"), START)


def _all(frame: RestFrame, target: RestTarget, thing: Focus, limit: int, *, is_paged: bool) -> Shaped | None:
    """Return all there is: at once if that fits, of a list page by page, of an object part by part."""
    policy, document = frame.policy, target.document
    cap = policy.hard_output_token_cap
    if not is_paged:
        if _fits(target, cap, policy) and not document.is_beginning:
            return None
        if (small := _minified(frame, target, cap)) is not None:
            return small
    is_list = document.head(thing.node) == b"[" and bool(document.open(thing.node))
    if is_list and policy.enable_pagination and decision.is_light_around(document, thing, cap, policy):
        return _page(frame, target, thing, _page_view(target, limit or policy.default_page_size, (ALL,)), 0)
    return _walk(frame, View("walk", target.path, form="json"), START)


def _minified(frame: RestFrame, target: RestTarget, budget: int) -> Shaped | None:
    """Return all of it without white space, if only the white space makes it too large."""
    policy, document = frame.policy, target.document
    if document.is_beginning or document.tokens(policy.estimator) > _MOST_SPACE * budget:
        return None
    body = jsontext.canonical(document.data)
    tokens = policy.estimator.ceiling(body)
    return Shaped(body, "minified", tokens, budget) if tokens <= budget else None


def _chosen(frame: RestFrame, target: RestTarget, thing: Focus, fields: tuple[str, ...]) -> Shaped:
    policy = frame.policy
    chosen = choose(target.document, thing, fields)
    raw = strip(chosen.raw, policy) if policy.spell_section(fields) else chosen.raw
    tokens = policy.estimator.ceiling(raw)
    if tokens <= policy.hard_output_token_cap:
        return Shaped(raw, "fields", tokens, policy.hard_output_token_cap, missing=chosen.missing)
    view = View("walk", target.path + chosen.pointer, fields, form="json")
    return replace(_walk(frame, view, START), missing=chosen.missing)


def _walk(frame: RestFrame, view: View, position: Position) -> Shaped:
    return part(frame, view, position)


def _value(frame: RestFrame, target: RestTarget, query: Query) -> Shaped | None:
    """Return the text or number that a path leads to."""
    if query.fields and ALL not in query.fields:
        raise RefusedQuery("invalid_fields", "the path leads to a value without fields")
    policy = frame.policy
    budget = (
        policy.hard_output_token_cap if query.fields or not policy.enable_pagination else policy.text_budget
    )
    if policy.estimator.bound(len(target.document.data)) <= budget or _fits(target, budget, policy):
        return None
    return _walk(frame, View("walk", target.path, form="json"), START)


def _text(frame: RestFrame, query: Query) -> Shaped | None:
    policy = frame.policy
    if query.lines:
        return chunk(frame, View("text", lines=query.lines, form="json"))
    if query.fields and ALL not in query.fields:
        names = frame.names
        choose_lines = f"choose {names.start_line} and {names.end_line}"
        raise RefusedQuery(
            "invalid_fields", f"fields can be chosen from JSON only; this is text: {choose_lines}"
        )
    if query.fields:
        fits = _is_within(frame.document, policy.hard_output_token_cap, policy)
    else:
        fits = isinstance(decision.decide(frame.document, policy), Pass)
    if fits:
        return None
    shaped = chunk(frame, View("text", fields=(ALL,) if query.fields else (), form="json"))
    return replace(shaped, outcome="chunk")


def _fits(target: RestTarget, budget: int, policy: Policy) -> bool:
    return _is_within(target.document, budget, policy)


def _is_within(document: Document, budget: int, policy: Policy) -> bool:
    """Return whether the document is within the budget.

    The quick check finds what is clearly over; what goes out is counted exactly, because its headers state
    the count.
    """
    if decision.measure(document, budget, policy) > budget:
        return False
    estimator = policy.estimator
    return estimator.bound(len(document.data)) <= budget or estimator.ceiling(document.data) <= budget


def _whole(frame: RestFrame, target: RestTarget, budget: int) -> Shaped:
    """Return the value itself if it fits, otherwise begin a walk."""
    raw = target.raw(frame)
    body = jsontext.canonical(raw) if frame.document.is_json else jsontext.quote(raw.decode()).encode()
    tokens = frame.policy.estimator.ceiling(body)
    if tokens <= budget:
        return Shaped(body, "whole", tokens, budget)
    return _walk(frame, View("walk", target.path, form="json"), START)
