"""Every reading of a held answer after the first reply: on from a cursor, or in another way."""

from dataclasses import replace
from typing import Final

from brimgate.engine import decision, jsontext
from brimgate.engine.document import Position, Source
from brimgate.engine.fields import ALL, are_around
from brimgate.engine.forms import render
from brimgate.engine.query import Request
from brimgate.engine.replies.formatted import read_worded
from brimgate.engine.replies.frame import BEGINNING, Frame, allowance_of
from brimgate.engine.replies.reply import Notice, Reply
from brimgate.engine.replies.text import begin
from brimgate.engine.view import FOCUS, WHOLE, View
from brimgate.engine.wording import Wording
from brimgate.errors import BadRequest

_WORTH_TRYING: Final = 6
"""A section this many times over the budget fits in no form."""


def read(
    frame: Frame, view: View, position: Position, request: Request, wording: Wording | None = None
) -> Reply:
    """Go on from a cursor, or look at the held answer in another way."""
    view, position = _refine(frame, view, position, request)
    frame = replace(frame, policy=replace(frame.policy, form=view.form or frame.policy.form))
    if view.worded:
        return read_worded(frame, wording, view, position.node, request.pages)
    if view.is_selection:
        return frame.selection_reply(view, position.node, request.pages)
    if view.scope == "path" and position == BEGINNING and not request.pages:
        return _first_of_path(frame, view)
    budget = frame.budget(view)
    if request.pages:
        return _pages_reply(frame, view, request.pages, budget)
    start = position if position != BEGINNING else None
    return frame.part_reply(frame.walker(view, budget).part(start), view, budget)


def _refine(frame: Frame, view: View, position: Position, request: Request) -> tuple[View, Position]:
    """The view a request asks for; a request that selects begins anew, the others go on where they were."""
    if request.path is not None:
        view, position = View("path", request.path, limit=view.limit, form=view.form), BEGINNING
    fields = () if ALL in request.fields else frame.policy.spelled_out(request.fields)
    if request.fields or request.search or request.lines:
        # Lines are those of the text as it came, not of a list inside it.
        is_around = not request.search and are_around(frame.source, fields)
        plain = WHOLE if is_around or (request.lines and _is_about_json(frame)) else FOCUS
        base = View("path", view.path) if view.scope in ("path", "walk") else plain
        view, position = (
            replace(base, fields=fields, search=request.search, lines=request.lines),
            BEGINNING,
        )
    if request.form:
        # In a form of its own an answer is not in anybody's words.
        view = replace(view, form=request.form, condensed=view.condensed or view.worded, worded=False)
    if request.limit:
        view = replace(view, limit=request.limit)
    return view, position


def _is_about_json(frame: Frame) -> bool:
    return frame.source.is_json and frame.source.head(frame.source.focus.node) != b'"'


def _first_of_path(frame: Frame, view: View) -> Reply:
    """What a path leads to: whole if it fits, else as any answer begins."""
    inner, base = frame.scope(view)

    def issue(sub: View, at: Position) -> str:
        return frame.issue(replace(_inside(base, sub, inner), form=view.form), at)

    below = Frame(inner, frame.policy, issue, base)
    return _whole(below, frame.budget(view)) or begin(below, decision.decide_oversized(inner, frame.policy))


def _whole(frame: Frame, budget: int) -> Reply | None:
    """All of a section with its notice, if that fits."""
    source = frame.source
    if frame.policy.estimator.table(source.data) > budget * _WORTH_TRYING:
        return None
    if source.is_json:
        rendered = render(jsontext.canonical(source.data), frame.policy.form, frame.policy.estimator)
        content, form = rendered.text, rendered.form
    else:
        content, form = source.data.decode("utf-8", "surrogateescape"), "text"
    tokens = frame.policy.estimator.ceiling(content)
    if tokens > budget - allowance_of(frame.policy):
        return None
    record = {"kind": "section", "path": frame.base, "format": form, "total": frame.total()}
    return frame.finish(Notice("section, whole", tokens, frame.total_tokens), content, record, budget)


def _pages_reply(frame: Frame, view: View, pages: tuple[int, int], budget: int) -> Reply:
    """Several pages in one reply, within the hard cap."""
    first, last = pages
    inner, _ = frame.scope(view)
    wide = min(frame.policy.hard_cap, budget * (last - first + 1))
    size = frame.limit(view)
    children = inner.open(inner.root) if inner.is_json else None
    if children is not None:
        start = (first - 1) * size
        if start >= len(children):
            raise BadRequest(f"there are {-(-len(children) // size)} pages of {size} items")
        at = Position(children.starts[start])
        limit = (last - first + 1) * size
    else:
        ends = frame.walker(view, budget).chunks(inner).ends
        if first > len(ends):
            raise BadRequest(f"there are {len(ends)} chunks")
        at, limit = Position(0, 0 if first == 1 else ends[first - 2]), size
    planned = frame.walker(view, budget).chunk_budget
    walker = replace(
        frame.walker(view, wide), limit=limit, chunk_budget=planned, chunk_count=last - first + 1
    )
    return frame.part_reply(walker.part(at if at != BEGINNING else None), view, wide)


def _inside(base: str, sub: View, inner: Source) -> View:
    """The same view of the whole answer that `sub` is of the part at `base`."""
    if sub.scope == "focus" and inner.is_json:
        base += inner.focus.pointer
    return replace(sub, scope="walk", path=base)
