"""Show a range of the lines of a text."""

from brimgate.engine.chunks import LongText
from brimgate.engine.document import Document
from brimgate.engine.fit import Selection
from brimgate.engine.policy import Policy
from brimgate.engine.query import View
from brimgate.errors import BadRequest


def select_lines(document: Document, view: View, start: int, room: int, policy: Policy) -> Selection:
    """Return a range of lines, counted from 1.

    `start` is the byte to continue at, 0 for the first line of the range.
    """
    text = document.as_text.long_text if document.is_json else document.long_text
    first, last = view.lines or (1, 1)
    if first > text.line_count:
        raise BadRequest(f"there are {text.line_count:,} lines")
    begin = start or _column_start(text, first - 1, view.column)
    stop = text.line_start(min(last, text.line_count))
    # No text has more than eight bytes a token over any length that matters; more is not worth counting.
    end = stop if stop - begin <= 8 * room else text.cut(begin, begin + 8 * max(room, 1))
    while (tokens := policy.estimator.ceiling(text.between(begin, end))) > room:
        shorter = text.cut(begin, begin + max(1, int((end - begin) * max(room, 1) / tokens * 0.97)))
        if shorter >= end:
            break
        end = shorter
    shown = {"startLine": text.line_of(begin) + 1, "endLine": text.line_of(max(end - 1, begin)) + 1}
    return Selection(
        "lines", f"lines {shown['startLine']:,}-{shown['endLine']:,} of {text.line_count:,}", text.between(begin, end),
        "text", tokens, {"lines": text.line_count}, shown, end if end < stop else None,
    )  # fmt: skip


def _column_start(text: LongText, line: int, column: int) -> int:
    """Return the byte where a column of a line begins. Columns count characters, from 1."""
    start, end = text.line_start(line), text.line_start(line + 1)
    if column <= 1:
        return start
    before = text.between(start, end)[: column - 1]
    return min(start + len(before.encode("utf-8", "surrogateescape")), max(end - 1, start))
