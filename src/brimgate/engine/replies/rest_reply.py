"""Shape a REST answer: unchanged where it fits, otherwise the mildest shape that fits. Pure; no sockets here."""

from dataclasses import replace
from typing import Final, assert_never

from brimgate.engine import decision, jsontext
from brimgate.engine.document import Document, Focus, Position
from brimgate.engine.fields import ALL, are_around, is_noisy
from brimgate.engine.policy import Policy
from brimgate.engine.query import Query, View, ViewScope
from brimgate.engine.replies.rest_frame import (
    START,
    RefusedQuery,
    RestFrame,
    RestTarget,
    Shaped,
    Unfit,
    about,
    envelope_of,
)
from brimgate.engine.replies.rest_pages import Pager, choose
from brimgate.engine.replies.rest_parts import chunk, part, summarise
from brimgate.errors import BadRequest

_NO_LIMIT: Final = 1_000_000_000
_MOST_SPACE: Final = 4
"""Indented JSON has at most this many times the tokens of minified JSON."""


def rest_policy(policy: Policy, *, is_error: bool = False) -> Policy:
    """Return a policy for JSON without highlights. Errors are left unchanged as long as they are within the cap."""
    policy = replace(policy, form="json", highlights=False, compact=False)
    if is_error:
        policy = replace(policy.with_thresholds(lambda _: policy.hard_cap, policy.hard_cap), pagination=False)
    return policy


def shape(frame: RestFrame, request: Query) -> Shaped | None:
    """Return the bounded answer, or None where it goes out unchanged."""
    if not frame.source.is_json:
        return _text(frame, request)
    try:
        return _begin(frame, RestTarget(frame.source), request)
    except Unfit:
        return last_resort(frame)


def read_on(frame: RestFrame, view: View, position: Position, request: Query) -> Shaped:
    """Continue from a cursor, or look at the same answer in another way."""
    try:
        found = _read(frame, view, position, request)
    except Unfit:
        return last_resort(frame)
    return found or _whole(frame, RestTarget(frame.source), frame.policy.hard_cap)


def last_resort(frame: RestFrame) -> Shaped:
    """Return the answer as plain text in chunks. This makes no assumption about the content, so none can fail."""
    return chunk(frame, View("text", form="json"), 0)


def budget_of(frame: RestFrame, request: Query) -> int:
    """Return the budget of an answer that goes out unchanged."""
    policy, source = frame.policy, frame.source
    if ALL in request.fields:
        return policy.hard_cap
    if not source.is_json:
        return policy.text_threshold if policy.pagination else policy.hard_cap
    if source.head(about(source, policy).node) == b"[":
        return policy.list_threshold if policy.pagination else policy.hard_cap
    return policy.object_budget if policy.summarization else policy.hard_cap


def _read(frame: RestFrame, view: View, position: Position, request: Query) -> Shaped | None:
    if request.path is not None:
        return _at_path(frame, view, request)
    scope: ViewScope = view.scope if frame.source.is_json else "text"
    match scope:
        case "text":
            if request.fields or request.lines:
                return _text(frame, request) or chunk(frame, View("text", fields=(ALL,), form="json"), 0)
            return chunk(frame, view, position.text)
        case "whole":
            return _begin(frame, RestTarget(frame.source), request)
        case "walk" | "focus" | "path" | "chosen" if request.lines:
            return _begin(frame, RestTarget(frame.source), request)
        case "walk" if request.fields:
            return _at_path(frame, view, replace(request, path=view.path))
        case "walk":
            return _walk(frame, replace(view, limit=request.limit or view.limit), position)
        case "focus" | "path" | "chosen":
            return _read_page(frame, view, position, request)
        case _:
            assert_never(scope)


def _read_page(frame: RestFrame, view: View, position: Position, request: Query) -> Shaped | None:
    if request.fields:
        fields = (ALL,) if ALL in request.fields else frame.policy.spelled_out(request.fields)
        view = replace(view, fields=fields, condensed=False)
    view = replace(view, limit=request.limit or view.limit)
    target = frame.at(view.path) if view.scope == "path" else RestTarget(frame.source)
    return _page(frame, target, about(target.source, frame.policy), view, position.node)


def _at_path(frame: RestFrame, view: View, request: Query) -> Shaped:
    try:
        target = frame.at(request.path or "")
    except BadRequest as error:
        raise RefusedQuery("invalid_path", str(error)) from None
    if request.lines:
        raise RefusedQuery("invalid_lines", "lines cannot be combined with a path")
    limit = request.limit or view.limit
    found = _begin(frame, target, replace(request, limit=limit, path=None))
    return found or _whole(frame, target, frame.policy.hard_cap)


def _begin(frame: RestFrame, target: RestTarget, request: Query) -> Shaped | None:
    """Return the first reply about an answer, or about a part of one."""
    policy, source = frame.policy, target.source
    if request.lines:
        raise RefusedQuery("invalid_lines", "lines can be chosen from text only; this is JSON: choose fields")
    if not source.is_json:
        return _value(frame, target, request)
    thing = about(source, policy)
    is_list = source.head(thing.node) == b"["
    if ALL in request.fields:
        if is_list and request.limit and _count(target, thing) > request.limit and policy.pagination:
            return _page(frame, target, thing, _page_view(target, request.limit, (ALL,)), 0)
        return _all(frame, target)
    if request.fields and not (is_list and not _count(target, thing)):
        fields = policy.spelled_out(request.fields)
        if are_around(source, fields):
            return _chosen(frame, target, Focus(source.root, ""), fields)
        if is_list and not _is_heavy_around(frame, target, thing):
            return _page(frame, target, thing, _page_view(target, _limit(policy, request), fields), 0)
        return _chosen(frame, target, thing, fields)
    if is_list:
        return _list(frame, target, thing, _limit(policy, request))
    return _object(frame, target, thing)


def _limit(policy: Policy, request: Query) -> int:
    return (request.limit or policy.page_size) if policy.pagination else _NO_LIMIT


def _count(target: RestTarget, thing: Focus) -> int:
    children = target.source.open(thing.node)
    return target.source.count(thing.node, children) if children else 0


def _list(frame: RestFrame, target: RestTarget, thing: Focus, limit: int) -> Shaped | None:
    policy, source = frame.policy, target.source
    budget = policy.list_threshold if policy.pagination else policy.hard_cap
    if _count(target, thing) <= limit and not source.is_beginning and _fits(target, budget, policy):
        return None
    if _is_heavy_around(frame, target, thing):
        return _object(frame, target, Focus(source.root, ""))
    if _count(target, thing) <= limit and (small := _minified(frame, target, budget)):
        return small
    children = source.open(thing.node)
    noisy = bool(children) and is_noisy(source.raw(source.child(children, 0)), policy)
    view = _page_view(target, limit, policy.essential_fields)
    return _page(frame, target, thing, replace(view, condensed=bool(policy.essential_fields) or noisy), 0)


def _page_view(target: RestTarget, limit: int, fields: tuple[str, ...]) -> View:
    scope = "path" if target.path else "focus"
    return View(scope, target.path, fields, limit=limit, form="json")


def _page(frame: RestFrame, target: RestTarget, thing: Focus, view: View, start: int) -> Shaped:
    policy = frame.policy
    capped = view.fields == (ALL,) or not policy.pagination
    budget = policy.hard_cap if capped else policy.list_threshold
    envelope = envelope_of(target.source, thing)
    try:
        return Pager(
            frame, target, thing, envelope, view, start, view.limit or policy.page_size, budget
        ).page()
    except Unfit:
        return _walk(frame, View("walk", target.path, form="json"), START)


def _is_heavy_around(frame: RestFrame, target: RestTarget, thing: Focus) -> bool:
    """Return whether what surrounds a list is too much to repeat on every page."""
    source = target.source
    around = source.data[source.root.start : thing.node.start] + source.data[thing.node.end : source.root.end]
    return frame.policy.estimator.table(around) > frame.policy.list_threshold // 2


def _object(frame: RestFrame, target: RestTarget, thing: Focus) -> Shaped | None:
    policy = frame.policy
    budget = policy.object_budget if policy.summarization else policy.hard_cap
    if _fits(target, budget, policy) and not target.source.is_beginning:
        return None
    if small := _minified(frame, target, budget):
        return small
    if policy.summarization:
        try:
            return summarise(frame, target, thing, budget)
        except Unfit:
            pass  # a walk needs less around it
    return _walk(frame, View("walk", target.path, form="json"), START)


def _all(frame: RestFrame, target: RestTarget) -> Shaped | None:
    if _fits(target, frame.policy.hard_cap, frame.policy) and not target.source.is_beginning:
        return None
    small = _minified(frame, target, frame.policy.hard_cap)
    return small or _walk(frame, View("walk", target.path, form="json"), START)


def _minified(frame: RestFrame, target: RestTarget, budget: int) -> Shaped | None:
    """Return all of it without white space, if only the white space makes it too large."""
    policy, source = frame.policy, target.source
    if source.is_beginning or source.tokens(policy.estimator) > _MOST_SPACE * budget:
        return None
    body = jsontext.canonical(source.data)
    tokens = policy.estimator.ceiling(body)
    return Shaped(body, "minified", tokens, budget) if tokens <= budget else None


def _chosen(frame: RestFrame, target: RestTarget, thing: Focus, fields: tuple[str, ...]) -> Shaped:
    policy = frame.policy
    chosen = choose(target.source, thing, fields)
    tokens = policy.estimator.ceiling(chosen.raw)
    if tokens <= policy.hard_cap:
        return Shaped(chosen.raw, "fields", tokens, policy.hard_cap, missing=chosen.missing)
    view = View("walk", target.path + chosen.pointer, fields, form="json")
    return replace(_walk(frame, view, START), missing=chosen.missing)


def _walk(frame: RestFrame, view: View, position: Position) -> Shaped:
    return part(frame, view, position)


def _value(frame: RestFrame, target: RestTarget, request: Query) -> Shaped | None:
    """Return the text or number that a path leads to."""
    if request.fields and ALL not in request.fields:
        raise RefusedQuery("invalid_fields", "the path leads to a value without fields")
    policy = frame.policy
    budget = policy.hard_cap if request.fields or not policy.pagination else policy.text_threshold
    if policy.estimator.bound(len(target.source.data)) <= budget or _fits(target, budget, policy):
        return None
    return _walk(frame, View("walk", target.path, form="json"), START)


def _text(frame: RestFrame, request: Query) -> Shaped | None:
    policy = frame.policy
    if request.lines:
        return chunk(frame, View("text", lines=request.lines, form="json"), 0)
    if request.fields and ALL not in request.fields:
        names = frame.names
        choose_lines = f"choose {names.start_line} and {names.end_line}"
        raise RefusedQuery(
            "invalid_fields", f"fields can be chosen from JSON only; this is text: {choose_lines}"
        )
    budget = policy.hard_cap if request.fields or not policy.pagination else policy.text_threshold
    if _is_within(frame.source, budget, policy):
        return None
    return chunk(frame, View("text", fields=(ALL,) if request.fields else (), form="json"), 0)


def _fits(target: RestTarget, budget: int, policy: Policy) -> bool:
    return _is_within(target.source, budget, policy)


def _is_within(source: Document, budget: int, policy: Policy) -> bool:
    """Return whether the document is within the budget.

    The quick check finds what is clearly over; what goes out is counted exactly, because its headers state
    the count.
    """
    if decision.measure(source, budget, policy) > budget:
        return False
    estimator = policy.estimator
    return estimator.bound(len(source.data)) <= budget or estimator.ceiling(source.data) <= budget


def _whole(frame: RestFrame, target: RestTarget, budget: int) -> Shaped:
    """Return the value itself if it fits, otherwise begin a walk."""
    raw = target.raw(frame)
    body = jsontext.canonical(raw) if frame.source.is_json else jsontext.quote(raw.decode()).encode()
    tokens = frame.policy.estimator.ceiling(body)
    if tokens <= budget:
        return Shaped(body, "whole", tokens, budget)
    return _walk(frame, View("walk", target.path, form="json"), START)
