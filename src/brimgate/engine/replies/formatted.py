"""Replies in the words of a pack: derived, said to be, with a cursor to everything as it came."""

from dataclasses import replace
from typing import Any, Final

from brimgate.engine import decision
from brimgate.engine.document import Position
from brimgate.engine.replies.frame import BEGINNING, Frame, allowance_of
from brimgate.engine.replies.reply import Notice, Reply
from brimgate.engine.view import FOCUS, WHOLE, View
from brimgate.engine.wording import VIEW, Worded, Wording, word_all, word_page

_WORDED: Final = View("focus", worded=True)


def first_worded(frame: Frame, wording: Wording) -> Reply | None:
    """None where that saves too little to be worth a notice, or cannot be said."""
    budget = decision.budget_for(frame.source, frame.policy)
    fits = decision.measure(frame.source, budget, frame.policy) <= budget
    if fits and not frame.policy.compact:
        return None  # what fits stays as it is, unless somebody wants it shorter
    room = budget - allowance_of(frame.policy, section=True)
    made = word_all(frame.source, wording, room, frame.policy)
    if made is not None:
        whole = frame.policy.estimator.ceiling(frame.source.data)
        is_worth = decision.is_worth(frame.policy.estimator.ceiling(made.text), whole)
        return _worded_reply(frame, made, _WORDED, 0, budget) if is_worth else None
    if fits:
        return None
    highlights = frame.highlights(budget)
    room -= frame.cost(highlights)
    made = word_page(frame.source, wording, 0, frame.policy.page_size, room, frame.policy)
    return made and _worded_reply(frame, made, _WORDED, 0, budget, highlights)


def read_worded(
    frame: Frame, wording: Wording | None, view: View, start: int, pages: tuple[int, int] | None
) -> Reply:
    budget, limit = frame.budget(FOCUS), frame.limit(view)
    if pages:
        start, limit = (pages[0] - 1) * limit, limit * (pages[1] - pages[0] + 1)
        budget = min(frame.policy.hard_cap, budget * (pages[1] - pages[0] + 1))
    room = budget - allowance_of(frame.policy, section=True)
    made = wording and word_page(frame.source, wording, start, limit, room, frame.policy)
    if not made:
        # Whoever had the words is gone, or fails on this page: each item in short, from the same one on.
        fields = frame.policy.essential_fields
        return frame.selection_reply(replace(view, worded=False, condensed=True, fields=fields), start, pages)
    return _worded_reply(frame, made, view, start, budget)


def _worded_reply(
    frame: Frame, made: Worded, view: View, start: int, budget: int, highlights: str = ""
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
