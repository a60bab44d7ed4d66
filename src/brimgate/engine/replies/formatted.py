"""Replies written by a pack's formatter: derived, marked as derived, with a cursor to the original."""

from dataclasses import dataclass, replace
from typing import Any, Final

from brimgate.engine.decision import AnswerFormat, Format, formatted_items
from brimgate.engine.document import Document, Focus, Position
from brimgate.engine.fit import fit
from brimgate.engine.policy import Policy
from brimgate.engine.query import FOCUS, View
from brimgate.engine.replies.frame import Frame, allowance_of
from brimgate.engine.replies.reply import Reply, plain_path

VIEW: Final = "view"
"""Stands for the form in a record. It is not a form, because it cannot be read back."""
_FORMATTED: Final = View("focus", formatted=True)


@dataclass(frozen=True, slots=True)
class Formatted:
    text: str
    count: int = 0
    """The number of items shown, out of `total`, if it is a list."""
    total: int = 0


def format_page(
    document: Document, answer_format: AnswerFormat, start: int, limit: int, room: int, policy: Policy
) -> Formatted | None:
    """Format as many items of the focus list as fit, from `start` on, together with what is around the list."""
    from brimgate.engine.forms import Rendered

    children = formatted_items(document) if document.is_json else None
    if not children or start >= len(children):
        return None
    focus = document.focus
    if document.is_open_ended(focus.node):
        return None  # how many there are is what a formatter says first
    data, total = document.data, document.count(focus.node, children)
    before, after = _around(document, focus)
    starts, ends = children.starts, children.ends

    def formatted(count: int) -> Rendered:
        items = data[starts[start] : ends[start + count - 1]]
        text = answer_format(before + b"[" + items + b"]" + after, start, total, len(data))
        if text is None:
            raise _Unformatted
        return Rendered(VIEW, text)

    most = min(len(children) - start, limit)
    try:
        found = fit(
            formatted, most, lambda count: ends[start + count - 1] - starts[start], room, policy.estimator
        )
    except _Unformatted:
        return None
    return found and Formatted(found.rendered.text, found.count, total)


class _Unformatted(Exception):
    """The formatter failed on a page."""


def _around(document: Document, focus: Focus) -> tuple[bytes, bytes]:
    data, root = document.data, document.root
    return data[root.start : focus.node.start], data[focus.node.end : root.end]


def formatted_whole(frame: Frame, plan: Format) -> Reply:
    made = Formatted(plan.text, plan.items, plan.items)
    return _formatted_reply(frame, made, _FORMATTED, 0, plan.budget)


def formatted_beginning(frame: Frame, answer_format: AnswerFormat, budget: int) -> Reply | None:
    """Format the first page of a list. Return None if not even one item fits that way."""
    room = budget - allowance_of(frame.policy, section=True)
    size = frame.policy.page_size

    def page(highlights: str) -> Formatted | None:
        left = room - frame.cost(highlights)
        return format_page(frame.document, answer_format, 0, size, left, frame.policy) or None

    highlights, made = frame.beside_highlights(budget, page)
    return made and _formatted_reply(frame, made, _FORMATTED, 0, budget, highlights)


def read_formatted(
    frame: Frame, answer_format: AnswerFormat | None, view: View, start: int, pages: tuple[int, int] | None
) -> Reply:
    budget, limit = frame.budget(FOCUS), frame.limit(view)
    if pages:
        limit = frame.numbered_page(view)
        start, limit = (pages[0] - 1) * limit, limit * (pages[1] - pages[0] + 1)
        budget = min(frame.policy.hard_output_token_cap, budget * (pages[1] - pages[0] + 1))
    room = budget - allowance_of(frame.policy, section=True)
    made = answer_format and format_page(frame.document, answer_format, start, limit, room, frame.policy)
    if not made:
        # The formatter is gone or fails on this page: show each item in short, starting at the same one.
        fields = frame.policy.fields
        return frame.selection_reply(
            replace(view, formatted=False, condensed=True, fields=fields), start, pages
        )
    return _formatted_reply(frame, made, view, start, budget)


def _formatted_reply(
    frame: Frame, made: Formatted, view: View, start: int, budget: int, highlights: str = ""
) -> Reply:
    details = frame.everything()
    record: dict[str, Any] = {
        "kind": "page" if made.total else "preview",
        "format": VIEW,
        "derived": True,
        "path": "",
        "total": frame.total() | ({"items": made.total} if made.total else {}),
        "shown": {"from": start} | ({"items": made.count} if made.total else {}),
        "detailsAvailable": {
            "tool": frame.policy.read_tool,
            "cursor": details,
            "sections": [*dict(frame.policy.sections)],
        },
    }
    shown = f"view, items #{start:,}-{start + made.count - 1:,} of {made.total:,}" if made.total else "view"
    tokens = frame.policy.estimator.ceiling(made.text)
    notice = frame.notice(shown, tokens, section=details)
    listed, pointer = frame.scope(FOCUS)
    if listed.is_json and (items := listed.open(listed.root)) and items.keys is None and start < len(items):
        notice.example = plain_path([f"{pointer}/{start}"])
    following = start + made.count
    if following < made.total:
        notice.more = record["nextCursor"] = frame.issue(view, Position(following))
    return frame.finish(notice, made.text, record, budget, highlights)
