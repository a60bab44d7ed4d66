"""All of something, part by part within the cap, in the order of the source: whoever follows has every value."""

from typing import Any, Final

from brimgate.engine.document import Position, Source
from brimgate.engine.fields import chosen_part
from brimgate.engine.replies.rest_frame import START, Scene
from brimgate.engine.view import View
from brimgate.engine.walk import Part, Walker
from brimgate.front.rest.body import CURSOR, Shaped, Unfit, encoded, encoded_members, quoted, settled, written

_TRIES: Final = 10
_LEAST_ROOM: Final = 8
_NO_LIMIT: Final = 1_000_000


def part(scene: Scene, view: View, position: Position) -> Shaped:
    """The part at `position` of what a view of scope `walk` looks at."""
    budget, estimator = scene.policy.hard_cap, scene.policy.estimator
    source = _walked(scene, view)
    planned = budget - estimator.ceiling(encoded(CURSOR)) - 120
    room = planned
    for _ in range(_TRIES):
        if room < _LEAST_ROOM:
            break
        walker = Walker(source, scene.policy, room, view.limit or _NO_LIMIT, view.path, max(planned, 30))
        found = walker.part(position if position != START else None)
        shaped = _written(scene, view, found, budget)
        if shaped.tokens <= budget:
            return shaped
        room = min(int(room * budget / shaped.tokens * 0.95), room - (shaped.tokens - budget))
    raise Unfit


def _walked(scene: Scene, view: View) -> Source:
    there = scene.source.inside(scene.source.resolve(view.path))
    return there.chosen(view.fields, chosen_part) if view.fields else there


def _written(scene: Scene, view: View, found: Part, budget: int) -> Shaped:
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
        onward = [("nextCursor", encoded(scene.issue(view, found.following)))]
    body, tokens = settled(
        lambda told: written([("content", content), *onward, ("meta", written(members + told))]),
        budget,
        scene.policy.estimator,
    )
    return Shaped(body, "part", tokens, budget, found.count if found.lines is None else 0)
