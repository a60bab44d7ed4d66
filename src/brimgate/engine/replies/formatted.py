"""Replies written by a pack's formatter: derived, marked as derived, with a cursor to the original."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from brimgate.engine import decision
from brimgate.engine.decision import surely_fits
from brimgate.engine.document import Document, Focus, Position
from brimgate.engine.fit import fit
from brimgate.engine.jsontext import Children
from brimgate.engine.policy import Policy
from brimgate.engine.query import FOCUS, WHOLE, View
from brimgate.engine.replies.frame import BEGINNING, Frame, allowance_of
from brimgate.engine.replies.reply import Notice, Reply

VIEW: Final = "view"
"""Stands for the form in a record. It is not a form, because it cannot be read back."""
_WORTH_TRYING: Final = 12
"""An answer this many times over the room does not fit even when formatted."""
AnswerFormat = Callable[[bytes, int, int | None], str | None]
"""Writes a document as text.

Takes the document, the number of its first item, and how many items there are (None: all are given). Returns None if
it cannot be formatted. It never raises.
"""
_CLEARLY: Final = 0.75
_NUMBER_HEADS: Final = frozenset(bytes((byte,)) for byte in b"-0123456789")
_FORMATTED: Final = View("focus", formatted=True)


@dataclass(frozen=True, slots=True)
class Formatted:
    text: str
    count: int = 0
    """The number of items shown, out of `total`, if it is a list."""
    total: int = 0


def format_all(source: Document, answer_format: AnswerFormat, room: int, policy: Policy) -> Formatted | None:
    """Format the whole answer, if that fits."""
    if not source.is_json or policy.estimator.table(source.data) > room * _WORTH_TRYING:
        return None
    text = answer_format(source.data, 0, None)
    if text is None:
        return None
    if not _fits(text, source, room, policy):
        return None
    count = _count(source)
    return Formatted(text, count, count)


def _fits(text: str, source: Document, room: int, policy: Policy) -> bool:
    """Return whether the text is within the room and not more expensive than the original."""
    estimator = policy.estimator
    is_cheaper = estimator.table(text) <= _CLEARLY * estimator.table(source.data)
    if is_cheaper and surely_fits(text, room, estimator):
        return True
    return estimator.ceiling(text) <= min(room, estimator.ceiling(source.data))


def format_page(
    source: Document, answer_format: AnswerFormat, start: int, limit: int, room: int, policy: Policy
) -> Formatted | None:
    """Format as many items of the focus list as fit, from `start` on, together with what is around the list."""
    from brimgate.engine.forms import Rendered

    focus = source.focus if source.is_json else None
    children = _items(source, focus) if focus else None
    if focus is None or not children or start >= len(children):
        return None
    data, total = source.data, len(children)
    before, after = _around(source, focus)
    starts, ends = children.starts, children.ends

    def formatted(count: int) -> Rendered:
        items = data[starts[start] : ends[start + count - 1]]
        text = answer_format(before + b"[" + items + b"]" + after, start, total)
        if text is None:
            raise _Unformatted
        return Rendered(VIEW, text)

    most = min(total - start, limit)
    try:
        found = fit(
            formatted, most, lambda count: ends[start + count - 1] - starts[start], room, policy.estimator
        )
    except _Unformatted:
        return None
    return found and Formatted(found.rendered.text, found.count, total)


class _Unformatted(Exception):
    """The formatter failed on a page."""


def _around(source: Document, focus: Focus) -> tuple[bytes, bytes]:
    data, root = source.data, source.root
    return data[root.start : focus.node.start], data[focus.node.end : root.end]


def _items(source: Document, focus: Focus) -> Children | None:
    """Return the items for a formatter.

    The numbers of a vector are not items, even if most of a fact is its embedding.
    """
    children = source.open(focus.node) if source.head(focus.node) == b"[" else None
    if not children or source.head(source.child(children, 0)) in _NUMBER_HEADS:
        return None
    return children


def _count(source: Document) -> int:
    return len(_items(source, source.focus) or ())


def first_formatted(frame: Frame, answer_format: AnswerFormat) -> Reply | None:
    """Format the first reply. Return None if that saves too little to be worth a notice, or is not possible."""
    budget = decision.budget_for(frame.source, frame.policy)
    fits = decision.measure(frame.source, budget, frame.policy) <= budget
    if fits and not frame.policy.is_compact:
        return None  # what fits stays unchanged, unless a compact answer is wanted
    room = budget - allowance_of(frame.policy, section=True)
    made = format_all(frame.source, answer_format, room, frame.policy)
    if made is not None:
        whole = frame.policy.estimator.ceiling(frame.source.data)
        is_worth = decision.is_worth(frame.policy.estimator.ceiling(made.text), whole)
        return _formatted_reply(frame, made, _FORMATTED, 0, budget) if is_worth else None
    if fits:
        return None
    highlights = frame.highlights(budget)
    room -= frame.cost(highlights)
    made = format_page(frame.source, answer_format, 0, frame.policy.default_page_size, room, frame.policy)
    return made and _formatted_reply(frame, made, _FORMATTED, 0, budget, highlights)


def read_formatted(
    frame: Frame, answer_format: AnswerFormat | None, view: View, start: int, pages: tuple[int, int] | None
) -> Reply:
    budget, limit = frame.budget(FOCUS), frame.limit(view)
    if pages:
        start, limit = (pages[0] - 1) * limit, limit * (pages[1] - pages[0] + 1)
        budget = min(frame.policy.hard_output_token_cap, budget * (pages[1] - pages[0] + 1))
    room = budget - allowance_of(frame.policy, section=True)
    made = answer_format and format_page(frame.source, answer_format, start, limit, room, frame.policy)
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
    details = frame.issue(WHOLE, BEGINNING)
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
    shown = f"view, items {start + 1:,}-{start + made.count:,} of {made.total:,}" if made.total else "view"
    tokens = frame.policy.estimator.ceiling(made.text)
    notice = Notice(shown, tokens, frame.total_tokens, section=details)
    following = start + made.count
    if following < made.total:
        notice.more = record["nextCursor"] = frame.issue(view, Position(following))
    return frame.finish(notice, made.text, record, budget, highlights)
