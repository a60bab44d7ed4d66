"""The first bounded reply to an answer: whole in another form, a page, a preview, a chunk."""

from typing import Any, assert_never

from brimgate.engine import decision, jsontext
from brimgate.engine.document import Focus, Position
from brimgate.engine.fit import Fitted, fit
from brimgate.engine.forms import render
from brimgate.engine.jsontext import Children
from brimgate.engine.preview import preview
from brimgate.engine.replies.frame import BEGINNING, Frame, allowance_of
from brimgate.engine.replies.reply import Notice, Reply
from brimgate.engine.strip import is_noisy
from brimgate.engine.view import FOCUS, WHOLE, View
from brimgate.engine.walk import Part


def begin(frame: Frame, reduction: decision.Reduction) -> Reply:
    match reduction:
        case decision.Rerender(rendered, tokens, budget):
            record = {
                "kind": "complete",
                "format": rendered.form,
                "path": frame.base,
                "total": frame.total(),
            }
            notice = Notice(f"complete, as {rendered.form}", tokens, frame.total_tokens)
            return frame.finish(notice, rendered.text, record, budget)
        case decision.Page(focus, budget):
            return _first_page(frame, focus, budget)
        case decision.Preview(focus, budget):
            return _preview(frame, focus, budget)
        case decision.Chunk(focus, budget):
            return _first_chunk(frame, focus, budget)
        case decision.Walk(budget):
            return frame.part_reply(frame.walker(WHOLE, budget).part(None), WHOLE, budget)
        case _:
            assert_never(reduction)


def _first_page(frame: Frame, focus: Focus, budget: int) -> Reply:
    highlights = frame.highlights(budget)
    children = frame.source.open(focus.node)
    if frame.policy.essential_fields or (children and _is_noisy(frame, children)):
        view = View("focus", condensed=True, fields=frame.policy.essential_fields)
        envelope = _envelope(frame, focus, "<items below>") if focus.pointer else ""
        return frame.selection_reply(view, 0, None, budget, highlights, envelope)
    room = budget - allowance_of(frame.policy) - frame.cost(highlights)
    found = _fit_page(frame, focus, children, room) if children else None
    if children is None or found is None:
        return _preview(frame, focus, budget)
    total = frame.source.count(focus.node, children)
    base = 0 if focus.node == frame.source.root else focus.node.start
    following = Position(children.starts[found.count] - base) if found.count < len(children) else None
    part = Part(
        "items", frame.base + focus.pointer, 0, found.count, total, found.rendered.text, found.rendered.form,
        found.tokens, following, is_open_ended=frame.source.is_open_ended(focus.node),
    )  # fmt: skip
    return frame.part_reply(part, FOCUS, budget, highlights, envelope=bool(focus.pointer))


def _fit_page(frame: Frame, focus: Focus, children: Children, room: int) -> Fitted | None:
    """Whole items inside everything that stands around their list."""
    source, data = frame.source, frame.source.data
    before, after = data[source.root.start : focus.node.start], data[focus.node.end : source.root.end]
    starts, ends = children.starts, children.ends

    def rendered(count: int) -> Any:
        raw = before + b"[" + data[starts[0] : ends[count - 1]] + b"]" + after
        return render(jsontext.canonical(raw), frame.policy.form, frame.policy.estimator)

    most = min(len(children), frame.policy.page_size)
    return fit(rendered, most, lambda count: ends[count - 1] - starts[0], room, frame.policy.estimator)


def _preview(frame: Frame, focus: Focus, budget: int) -> Reply:
    """The essentials of the whole, what stands around the focus included."""
    named = f"sections: fields={','.join(dict(frame.policy.sections))}" if frame.policy.sections else ""
    room = budget - allowance_of(frame.policy, section=True) - frame.cost(named)
    made = preview(frame.source, frame.source.root, frame.base, frame.policy, room)
    cursor = frame.issue(WHOLE, BEGINNING)
    children = frame.source.open(focus.node)
    count = len(children) if children else 0
    what = "items" if children and children.keys is None else "keys"
    record = {
        "kind": "preview",
        "path": frame.base,
        "format": made.rendered.form,
        "derived": True,
        "total": frame.total() | {what: count},
        "totalFields": count,
        "projectedFields": made.shown_fields,
        "nextCursor": cursor,
        "detailsAvailable": {
            "tool": frame.policy.read_tool,
            "cursor": cursor,
            "sections": [*dict(frame.policy.sections), *made.sections],
        },
    }
    notice = Notice(f"summary of {count:,} {what}", made.tokens, frame.total_tokens, cursor, cursor)
    return frame.finish(notice, made.rendered.text, record, budget, remark=named)


def _is_noisy(frame: Frame, children: Children) -> bool:
    """Judged on the first item: what an embedding store sends has a vector in every item."""
    return is_noisy(frame.source.raw(frame.source.child(children, 0)), frame.policy)


def _first_chunk(frame: Frame, focus: Focus | None, budget: int) -> Reply:
    envelope = _envelope(frame, focus, "<text below>") if focus else ""
    highlights = frame.highlights(budget)
    spent = allowance_of(frame.policy) + frame.cost(highlights) + frame.cost(envelope)
    walker = frame.walker(FOCUS, budget, spent)
    return frame.part_reply(walker.part(None), FOCUS, budget, highlights, envelope_text=envelope)


def _envelope(frame: Frame, focus: Focus, mark: str) -> str:
    """What stands around the one list or text of an answer, with its place marked."""
    data, root = frame.source.data, frame.source.root
    raw = (
        data[root.start : focus.node.start] + jsontext.quote(mark).encode() + data[focus.node.end : root.end]
    )
    return jsontext.canonical(raw).decode()
