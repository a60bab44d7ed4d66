"""`fields=`: chosen members of one object, as an object of their own."""

from dataclasses import dataclass
from typing import Final

from brimgate.engine import jsontext
from brimgate.engine.document import Focus, Source, one_line
from brimgate.engine.fields import field_tree, project
from brimgate.errors import JsonRefused
from brimgate.front.rest.parameters import Refusal

_NAMES_SHOWN: Final = 30
_NAME_CHARS: Final = 40


@dataclass(frozen=True, slots=True)
class Chosen:
    raw: bytes
    pointer: str
    """Of the object they were chosen from."""
    missing: tuple[str, ...]


def choose(source: Source, thing: Focus, fields: tuple[str, ...]) -> Chosen:
    """From what the answer is about; where that has none of them, from what is around it."""
    for place in (thing, Focus(source.root, "")):
        found: set[str] = set()
        raw = source.raw(place.node)
        kept = project(raw, field_tree(fields), found)
        if kept is not None:
            missing = [name for name in fields if not _is_found(name, found)]
            return Chosen(jsontext.canonical(kept), place.pointer, tuple(missing))
    raise Refusal("invalid_fields", no_such_field(fields, source.raw(thing.node)))


def _is_found(name: str, found: set[str]) -> bool:
    return name in found or any(path.startswith(name + ".") for path in found)


def no_such_field(fields: tuple[str, ...], raw: bytes) -> str:
    asked = ", ".join(name[:_NAME_CHARS] for name in fields[:_NAMES_SHOWN])
    try:
        names = list(jsontext.members(raw)) if raw[:1] == b"{" else []
    except JsonRefused:
        names = []
    there = ", ".join(name[:_NAME_CHARS] for name in names[:_NAMES_SHOWN])
    more = ", …" if len(names) > _NAMES_SHOWN else ""
    return one_line(f"no such field: {asked}" + (f"; there are: {there}{more}" if there else ""))
