"""A range of lines of a held text, exactly; what does not fit goes on with a cursor."""

from brimgate.engine.document import Source
from brimgate.engine.policy import Policy
from brimgate.engine.selection import Selection
from brimgate.errors import BadRequest


def select_lines(source: Source, wanted: tuple[int, int], start: int, room: int, policy: Policy) -> Selection:
    """Lines count from 1; `start` is the byte to go on at, 0 for the first line of the range."""
    text = source.as_text.long_text if source.is_json else source.long_text
    first, last = wanted
    if first > text.line_count:
        raise BadRequest(f"there are {text.line_count:,} lines")
    begin = start or text.line_start(first - 1)
    stop = text.line_start(min(last, text.line_count))
    # No text has more than eight bytes a token over any length that matters; more is not worth counting.
    end = stop if stop - begin <= 8 * room else text.cut(begin, begin + 8 * max(room, 1))
    while (tokens := policy.estimator.ceiling(text.data[begin:end])) > room:
        shorter = text.cut(begin, begin + max(1, int((end - begin) * max(room, 1) / tokens * 0.97)))
        if shorter >= end:
            break
        end = shorter
    content = text.data[begin:end].decode("utf-8", "surrogateescape")
    shown = {"startLine": text.line_of(begin) + 1, "endLine": text.line_of(max(end - 1, begin)) + 1}
    return Selection(
        "lines", f"lines {shown['startLine']:,}-{shown['endLine']:,} of {text.line_count:,}", content, "text", tokens,
        {"lines": text.line_count}, shown, end if end < stop else None,
    )  # fmt: skip
