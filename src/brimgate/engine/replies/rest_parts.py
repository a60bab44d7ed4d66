"""REST replies that are not pages: summaries of objects, parts of a walk, chunks of text."""

from dataclasses import replace
from typing import Any, Final

from brimgate.engine import jsontext
from brimgate.engine.document import Document, Focus, PlainText, Position
from brimgate.engine.fields import chosen_part
from brimgate.engine.pointer import pointer_steps
from brimgate.engine.preview import mapped_fields, preview
from brimgate.engine.query import View
from brimgate.engine.replies.rest_frame import (
    CURSOR,
    START,
    RefusedQuery,
    RestFrame,
    RestTarget,
    Shaped,
    Unfit,
    counted,
    encoded,
    encoded_members,
    quoted,
    written,
)
from brimgate.engine.walk import Lines, Part, Walker
from brimgate.errors import CursorError

_CHUNK_TRIES: Final = 24
_SAMPLE_BYTES: Final = 16_384
_AROUND: Final = 90
"""Tokens of what surrounds a chunk, without its cursor."""
_NO_LINE_LIMIT: Final = 1_000_000_000
_PART_TRIES: Final = 10
_LEAST_PART_ROOM: Final = 8
_NO_LIMIT: Final = 1_000_000
_SUMMARY_TRIES: Final = 8
_NAMES: Final = 60
_SECTIONS: Final = 24
_OTHERS: Final = 3
_SECTION_CHARS: Final = 80
_LEAST_SUMMARY_ROOM: Final = 40


def chunk(frame: RestFrame, view: View, position: Position = START) -> Shaped:
    """Return the chunk at a position (its number, and its first byte) for a view of scope `text`.

    It always fits: it can be a single character.
    """
    whole = frame.document.as_text if frame.document.is_json else frame.document
    document, first_line = _range(whole, view.lines)
    if position.text >= max(len(document.data), 1):
        raise CursorError
    policy = frame.policy
    budget = policy.text_budget
    if view.lines or view.fields or not policy.enable_pagination:
        budget = policy.hard_output_token_cap
    if view.lines or view.fields:
        policy = replace(policy, chunk_size=_NO_LINE_LIMIT)
    planned = _planned(frame, document, budget)
    room = planned
    shaped: Shaped | None = None
    for _ in range(_CHUNK_TRIES):
        found = Walker(document, policy, room, 1, "", planned).part(position)
        shaped = _written_chunk(frame, view, found, whole, first_line, budget)
        if shaped.tokens <= budget or room <= 1:
            break
        room = max(int(room * budget / shaped.tokens * 0.93), 1)
    if shaped is None:
        raise AssertionError("there is at least one try")
    return shaped


def _range(whole: Document, lines: tuple[int, int] | None) -> tuple[Document, int]:
    """Return the requested lines as a text of their own, and the number of the first, from 0."""
    if lines is None:
        return whole, 0
    text = whole.long_text
    if lines[0] > text.line_count:
        raise RefusedQuery("invalid_lines", f"there are {text.line_count} lines")
    begin, end = text.line_start(lines[0] - 1), text.line_start(min(lines[1], text.line_count))
    return PlainText(text.data[begin:end]), lines[0] - 1


def _planned(frame: RestFrame, document: Document, budget: int) -> int:
    """Return how many tokens of plain text fit as JSON.

    Uses the beginning of the text, so that all chunks are planned alike.
    """
    estimator = frame.policy.estimator
    sample = document.data[:_SAMPLE_BYTES].decode("utf-8", "ignore")
    plain = max(estimator.ceiling(sample), 1)
    share = max(estimator.ceiling(jsontext.quote(sample)) / plain, 1.0)
    around = _AROUND + estimator.ceiling(encoded(CURSOR))
    return max(int((budget - around) / share), 20)


def _written_chunk(
    frame: RestFrame, view: View, found: Part, whole: Document, first_line: int, budget: int
) -> Shaped:
    lines = found.lines or Lines(1, 1, 1, 0, 1)
    members: list[tuple[str, bytes]] = [("content", quoted(found.content))]
    members += encoded_members({"chunkIndex": lines.chunk_index, "totalChunks": lines.total_chunks})
    if found.following is not None:
        members.append(("nextCursor", encoded(frame.issue(view, found.following))))
    metadata: dict[str, Any] = {
        "startLine": lines.first + first_line,
        "endLine": lines.last + first_line,
        "totalLines": whole.long_text.line_count,
    }
    if not lines.is_exact:
        metadata["totalChunksIsEstimate"] = True
    told_first = encoded_members(metadata)
    body, tokens = counted(
        lambda told: written([*members, ("metadata", written(told_first + told))]),
        budget,
        frame.policy.estimator,
    )
    return Shaped(body, "chunk", tokens, budget)


def part(frame: RestFrame, view: View, position: Position) -> Shaped:
    """Return the part at `position` for a view of scope `walk`."""
    budget, estimator = frame.policy.hard_output_token_cap, frame.policy.estimator
    document = _walked(frame, view)
    planned = budget - estimator.ceiling(encoded(CURSOR)) - 120
    room = planned
    for _ in range(_PART_TRIES):
        if room < _LEAST_PART_ROOM:
            break
        walker = Walker(document, frame.policy, room, view.limit or _NO_LIMIT, view.path, max(planned, 30))
        found = walker.part(position if position != START else None)
        shaped = _written_part(frame, view, found, budget)
        if shaped.tokens <= budget:
            return shaped
        room = min(int(room * budget / shaped.tokens * 0.95), room - (shaped.tokens - budget))
    raise Unfit


def _walked(frame: RestFrame, view: View) -> Document:
    there = frame.document.inside(frame.document.resolve(view.path))
    return there.chosen(view.fields, chosen_part) if view.fields else there


def _written_part(frame: RestFrame, view: View, found: Part, budget: int) -> Shaped:
    content = found.content.encode() if found.form == "json" else quoted(found.content)
    meta: dict[str, Any] = {
        "kind": "part",
        "part": found.kind,
        "path": found.pointer,
        "from": found.first,
        "count": found.count,
        "total": found.total,
    }
    if found.steps:
        meta["steps"] = [list(step) for step in found.steps]
    members = encoded_members(meta)
    onward: list[tuple[str, bytes]] = []
    if found.following is not None:
        onward = [("nextCursor", encoded(frame.issue(view, found.following)))]
    body, tokens = counted(
        lambda told: written([("content", content), *onward, ("meta", written(members + told))]),
        budget,
        frame.policy.estimator,
    )
    return Shaped(body, "part", tokens, budget, found.count if found.kind == "items" else 0)


def summarise(frame: RestFrame, target: RestTarget, thing: Focus, budget: int) -> Shaped:
    details = frame.details(target)
    children = target.document.open(thing.node)
    total = len(children) if children else 0
    room = budget - frame.policy.estimator.ceiling(encoded(details)) - 60
    for number in range(_SUMMARY_TRIES):
        if room < _LEAST_SUMMARY_ROOM:
            break
        summary, shown, sections = _essentials(frame, target, thing, room)
        names = _NAMES >> number // 2
        offered = _offered(frame, sections)[: max(_SECTIONS >> number // 2, 2)]
        meta: dict[str, Any] = {
            "kind": "preview",
            "totalFields": total,
            "projectedFields": shown[:names],
            "detailsAvailable": details | {"sections": offered},
        }
        written_meta = encoded_members(meta)
        body, tokens = counted(
            lambda told, summary=summary, meta=written_meta: written(
                [("summary", summary), ("meta", written(meta + told))]
            ),
            budget,
            frame.policy.estimator,
        )
        if tokens <= budget:
            return Shaped(body, "preview", tokens, budget)
        room -= max(tokens - budget, room // 10)
    raise Unfit


def _offered(frame: RestFrame, members: list[str]) -> list[str]:
    """Return the names that lead to the rest: those of sections, and few members that no section has."""
    named = dict(frame.policy.sections)
    covered = {name for fields in named.values() for name in fields}
    others = [name for name in members if name not in covered]
    return [*named, *(others[:_OTHERS] if named else others)]


def _essentials(
    frame: RestFrame, target: RestTarget, thing: Focus, room: int
) -> tuple[bytes, list[str], list[str]]:
    """Return the summary, the members it shows, and those it does not show whole, the largest first."""
    document, policy = target.document, frame.policy
    here = target.path + thing.pointer
    mapped = mapped_fields(document, thing, policy)
    if mapped is None:
        made = preview(document, thing.node, here, policy, room)
        if made.rendered.form != "json":
            raise Unfit
        return made.rendered.text.encode(), made.shown_fields, _names_below(made.sections, here)
    kept, shown = mapped.raw, mapped.shown
    if policy.estimator.ceiling(kept) > room:
        inner = Document(kept)
        made = preview(inner, inner.root, here, policy, room)
        if made.rendered.form != "json":
            raise Unfit
        kept = made.rendered.text.encode()
        shown = mapped.among(made.shown_fields)
    return kept, shown, [name for name in mapped.others if _can_be_asked(name)]


def _names_below(pointers: list[str], base: str) -> list[str]:
    """Return the members of the object that contain what was cut, by names that a query can use."""
    depth = len(pointer_steps(base))
    steps = [pointer_steps(pointer) for pointer in pointers]
    names = dict.fromkeys(path[depth] for path in steps if len(path) > depth)
    return [name for name in names if _can_be_asked(name)]


def _can_be_asked(name: str) -> bool:
    return 0 < len(name) <= _SECTION_CHARS and "," not in name and name == name.strip()
