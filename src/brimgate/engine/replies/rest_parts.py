"""Long texts in chunks that end where something ends, and ranges of their lines."""

from dataclasses import replace
from typing import Any, Final

from brimgate.engine import jsontext
from brimgate.engine.document import Position, Source, Text
from brimgate.engine.replies.rest_frame import Scene
from brimgate.engine.view import View
from brimgate.engine.walk import Lines, Part, Walker
from brimgate.errors import CursorError
from brimgate.front.rest.body import CURSOR, Shaped, encoded, encoded_members, quoted, settled, written
from brimgate.front.rest.parameters import Refusal

_TRIES: Final = 24
_SAMPLE_BYTES: Final = 16_384
_AROUND: Final = 90
"""Tokens of what stands around a chunk, without its cursor."""
_NO_LIMIT: Final = 1_000_000_000


def chunk(scene: Scene, view: View, offset: int) -> Shaped:
    """What a view of scope `text` shows from byte `offset` on. Always fits: a chunk can be as short as a character."""
    whole = scene.source.as_text if scene.source.is_json else scene.source
    source, first_line = _range(whole, view.lines)
    if offset >= max(len(source.data), 1):
        raise CursorError
    policy = scene.policy
    budget = policy.text_threshold
    if view.lines or view.fields or not policy.pagination:
        budget = policy.hard_cap
    if view.lines or view.fields:
        policy = replace(policy, chunk_lines=_NO_LIMIT)
    planned = _planned(scene, source, budget)
    room = planned
    shaped: Shaped | None = None
    for _ in range(_TRIES):
        found = Walker(source, policy, room, 1, "", planned).part(Position(0, offset))
        shaped = _written(scene, view, found, whole, first_line, budget)
        if shaped.tokens <= budget or room <= 1:
            break
        room = max(int(room * budget / shaped.tokens * 0.93), 1)
    if shaped is None:
        raise AssertionError("there is at least one try")
    return shaped


def _range(whole: Source, lines: tuple[int, int] | None) -> tuple[Source, int]:
    """The lines asked for as a text of their own, and the number of the first, from 0."""
    if lines is None:
        return whole, 0
    text = whole.long_text
    if lines[0] > text.line_count:
        raise Refusal("invalid_lines", f"there are {text.line_count} lines")
    begin, end = text.line_start(lines[0] - 1), text.line_start(min(lines[1], text.line_count))
    return Text(text.data[begin:end]), lines[0] - 1


def _planned(scene: Scene, source: Source, budget: int) -> int:
    """Tokens of plain text whose JSON fits; from the beginning of the text, so that every chunk is planned alike."""
    estimator = scene.policy.estimator
    sample = source.data[:_SAMPLE_BYTES].decode("utf-8", "ignore")
    plain = max(estimator.ceiling(sample), 1)
    share = max(estimator.ceiling(jsontext.quote(sample)) / plain, 1.0)
    around = _AROUND + estimator.ceiling(encoded(CURSOR))
    return max(int((budget - around) / share), 20)


def _written(scene: Scene, view: View, found: Part, whole: Source, first_line: int, budget: int) -> Shaped:
    lines = found.lines or Lines(1, 1, 1, 0, 1)
    members: list[tuple[str, bytes]] = [("content", quoted(found.content))]
    members += encoded_members({"chunkIndex": lines.chunk_index, "totalChunks": lines.total_chunks})
    if found.following is not None:
        members.append(("nextCursor", encoded(scene.issue(view, found.following))))
    metadata: dict[str, Any] = {
        "startLine": lines.first + first_line,
        "endLine": lines.last + first_line,
        "totalLines": whole.long_text.line_count,
    }
    told_first = encoded_members(metadata)
    body, tokens = settled(
        lambda told: written([*members, ("metadata", written(told_first + told))]),
        budget,
        scene.policy.estimator,
    )
    return Shaped(body, "chunk", tokens, budget, lines.last - lines.first + 1)
