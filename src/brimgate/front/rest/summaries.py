"""An object too large to send: its essentials, and what else there is to ask for."""

from typing import Any, Final

from brimgate.engine import jsontext
from brimgate.engine.document import Focus, Source, pointer_steps
from brimgate.engine.fields import field_tree, project
from brimgate.engine.preview import preview
from brimgate.engine.replies.rest_frame import Scene, Target
from brimgate.engine.strip import strip
from brimgate.front.rest.body import Shaped, Unfit, encoded, encoded_members, settled, written

_TRIES: Final = 8
_NAMES: Final = 60
_SECTIONS: Final = 24
_SECTION_CHARS: Final = 80
_LEAST_ROOM: Final = 40


def summarise(scene: Scene, target: Target, thing: Focus, budget: int) -> Shaped:
    details = scene.details(target)
    children = target.source.open(thing.node)
    total = len(children) if children else 0
    room = budget - scene.policy.estimator.ceiling(encoded(details)) - 60
    for number in range(_TRIES):
        if room < _LEAST_ROOM:
            break
        summary, shown, sections = _essentials(scene, target, thing, room)
        names = _NAMES >> number // 2
        offered = [*dict(scene.policy.sections), *sections][: max(_SECTIONS >> number // 2, 2)]
        meta: dict[str, Any] = {
            "kind": "preview",
            "totalFields": total,
            "projectedFields": shown[:names],
            "detailsAvailable": details | {"sections": offered},
        }
        written_meta = encoded_members(meta)
        body, tokens = settled(
            lambda told, summary=summary, meta=written_meta: written(
                [("summary", summary), ("meta", written(meta + told))]
            ),
            budget,
            scene.policy.estimator,
        )
        if tokens <= budget:
            return Shaped(body, "preview", tokens, budget, total)
        room -= max(tokens - budget, room // 10)
    raise Unfit


def _essentials(scene: Scene, target: Target, thing: Focus, room: int) -> tuple[bytes, list[str], list[str]]:
    """The summary, the members it shows, and those it does not show whole, the largest first."""
    source, policy = target.source, scene.policy
    raw = source.raw(thing.node)
    found: set[str] = set()
    chosen = project(raw, field_tree(policy.essential_fields), found) if policy.essential_fields else None
    if chosen is None:
        made = preview(source, thing.node, target.path + thing.pointer, policy, room)
        if made.rendered.form != "json":
            raise Unfit
        held = _names_below(made.sections, target.path + thing.pointer)
        return made.rendered.text.encode(), made.shown_fields, held
    kept = jsontext.canonical(strip(chosen, policy))
    if policy.estimator.ceiling(kept) > room:
        inner = Source(kept)
        made = preview(inner, inner.root, target.path + thing.pointer, policy, room).rendered
        if made.form != "json":
            raise Unfit
        kept = made.text.encode()
    order = [name for name in policy.essential_fields if name in found]
    return kept, order, _others(source, thing, {name.partition(".")[0] for name in order})


def _names_below(pointers: list[str], base: str) -> list[str]:
    """The members of the object that hold what was cut, by the names that can be asked for."""
    depth = len(pointer_steps(base))
    steps = [pointer_steps(pointer) for pointer in pointers]
    names = dict.fromkeys(path[depth] for path in steps if len(path) > depth)
    return [name for name in names if _can_be_asked(name)]


def _others(source: Source, thing: Focus, shown: set[str]) -> list[str]:
    children = source.open(thing.node)
    if children is None or children.keys is None:
        return []
    sizes = {key: children.ends[at] - children.starts[at] for at, key in enumerate(children.keys)}
    return sorted(
        (key for key in sizes if key not in shown and _can_be_asked(key)), key=lambda key: -sizes[key]
    )


def _can_be_asked(name: str) -> bool:
    return 0 < len(name) <= _SECTION_CHARS and "," not in name and name == name.strip()
