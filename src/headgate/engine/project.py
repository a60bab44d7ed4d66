"""Chosen fields of an object or of every item of a list: nested paths, siblings kept together, source order."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from headgate.engine import jsontext
from headgate.errors import JsonRefused

ALL: Final = "all"


@dataclass(slots=True)
class FieldTree:
    whole: bool = False
    below: "dict[str, FieldTree]" = field(default_factory=lambda: {})


def field_tree(paths: Iterable[str]) -> FieldTree:
    root = FieldTree()
    for path in paths:
        node = root
        for name in path.split("."):
            node = node.below.setdefault(name, FieldTree())
        node.whole = True
    return root


def project(raw: bytes, tree: FieldTree, found: set[str], prefix: str = "") -> bytes | None:
    """What of `raw` the tree selects; None when nothing is. The paths that led somewhere are added to `found`."""
    if tree.whole and prefix:
        return raw
    if raw[:1] == b"[":
        picked = [project(item, tree, found, prefix) for item in jsontext.elements(raw)]
        return b"[" + b",".join(item or b"{}" for item in picked) + b"]" if any(picked) else None
    if raw[:1] != b"{":
        return None
    try:
        members = jsontext.members(raw)
    except JsonRefused:
        return raw  # it cannot be taken apart, so nothing of it is withheld
    out: list[bytes] = []
    for key, value in members.items():
        kept = _pick(key, value, tree, found, prefix)
        if kept is not None:
            out.append(jsontext.quote(key).encode() + b":" + kept)
    return b"{" + b",".join(out) + b"}" if out else None


def _pick(key: str, value: bytes, tree: FieldTree, found: set[str], prefix: str) -> bytes | None:
    """The part of one member that is selected. A key may itself contain dots."""
    below = tree
    for name in key.split("."):
        following = below.below.get(name)
        if following is None:
            return None
        below = following
    path = f"{prefix}.{key}" if prefix else key
    kept = project(value, below, found, path)
    if below.whole and kept is not None:
        found.add(path)
    return kept
