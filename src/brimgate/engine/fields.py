"""Select fields of an object or of every item of a list: nested paths, siblings kept together, document order."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, Final, cast

import msgspec

from brimgate.engine import jsontext
from brimgate.engine.document import Document, one_line
from brimgate.engine.fit import INDEX, Selection, clipped, fit_units, indexed, list_items
from brimgate.engine.jsontext import Children
from brimgate.engine.pointer import escaped
from brimgate.engine.policy import Policy
from brimgate.engine.query import View
from brimgate.errors import BadRequest, JsonRefused

MIN_NUMBERS: Final = 32
_STUB_BYTES: Final = 20
"""A value no longer than its stub is kept."""

_LOOKS_LIKE_VECTOR: Final = re.compile(
    rb"\[\s*-?\d+\.\d+(?:[eE][-+]?\d+)?(?:\s*,\s*-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?){31}"
)
_EMPTY: Final = re.compile(rb':\s*(?:null|""|\[\s*\]|\{\s*\})')
_NAME: Final = re.compile(rb'"([^"\\]*)"\s*:')
_NAMED: Final = 60
_NAME_CHARS: Final = 60
_HELD_MARK: Final = "… "
_HELD: Final = re.compile(rb'"\xe2\x80\xa6 [\d,]+ (?:numbers|bytes)"\Z')
HELD_REMARK: Final = '"… N numbers" or "… N bytes" stands for a value left out here; its path reads it'
ALL: Final = "all"


def has_vector(raw: bytes) -> bool:
    """Return whether the value contains a list of many fractions."""
    return _LOOKS_LIKE_VECTOR.search(raw) is not None


def is_vector(raw: bytes) -> bool:
    """Return whether the value is such a list and nothing else."""
    return (
        _LOOKS_LIKE_VECTOR.match(raw) is not None
        and raw.count(b"[") == 1
        and b'"' not in raw
        and b"{" not in raw
    )


def is_noisy(raw: bytes, policy: Policy) -> bool:
    """Return whether an item has something that the policy leaves out."""
    if raw[:1] != b"{":
        return False
    if policy.strip_vectors and has_vector(raw):
        return True
    if policy.strip_empty and _EMPTY.search(raw):
        return True
    return bool(policy.strip_fields) and any(_matches(policy.strip_fields, name) for name in _names(raw))


def strip(raw: bytes, policy: Policy) -> bytes:
    """Return the value without its noise.

    Vectors and configured fields become a stub with their size, empty members are removed, and numbers stay as written.
    """
    value = jsontext.faithful_value(jsontext.canonical(raw))
    return raw if value is None else msgspec.json.encode(_stripped(value, policy))


def _names(raw: bytes) -> set[str]:
    return {name.decode("utf-8", "replace") for name in _NAME.findall(raw)}


@lru_cache(4_096)
def _matches(patterns: tuple[str, ...], name: str) -> bool:
    """Return whether a name matches. Cached: the items of a list have the same names one after the other."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _stripped(value: Any, policy: Policy) -> Any:
    if isinstance(value, dict):
        return {
            key: _stub(inner) if _matches(policy.strip_fields, key) else _stripped(inner, policy)
            for key, inner in cast("dict[str, Any]", value).items()
            if not (policy.strip_empty and inner in (None, "", [], {}))
        }
    if not isinstance(value, list):
        return value
    items = cast("list[Any]", value)
    is_vector = len(items) >= MIN_NUMBERS and all(type(item) in (int, float, msgspec.Raw) for item in items)
    if policy.strip_vectors and is_vector:
        return f"… {len(items):,} numbers"
    return [_stripped(item, policy) for item in items]


def _stub(value: Any) -> Any:
    size = len(msgspec.json.encode(value))
    return f"… {size:,} bytes" if size > _STUB_BYTES else value


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
    """Return what the tree selects of `raw`, or None if nothing. Add the paths that led somewhere to `found`."""
    if tree.whole and prefix:
        return raw
    if raw[:1] == b"[":
        picked = [project(item, tree, found, prefix) for item in jsontext.elements(raw)]
        return b"[" + b",".join(item or b"{}" for item in picked) + b"]" if any(picked) else None
    if raw[:1] != b"{":
        return None
    try:
        members = jsontext.uncopied_members(raw)
    except JsonRefused:
        return raw  # it cannot be taken apart, so nothing of it is withheld
    out: list[bytes] = []
    below = tree.below
    for key in [key for key in members if key in below or "." in key]:
        if key in below and below[key].whole:
            kept = bytes(members[key])
            found.add(f"{prefix}.{key}" if prefix else key)
        else:
            kept = _pick(key, bytes(members[key]), tree, found, prefix)
        if kept is not None:
            out.append(jsontext.quote(key).encode() + b":" + kept)
    return b"{" + b",".join(out) + b"}" if out else None


def _pick(key: str, value: bytes, tree: FieldTree, found: set[str], prefix: str) -> bytes | None:
    """Return the selected part of one member. A key may itself contain dots."""
    below = tree.below.get(key)
    if below is None:
        below = _through_dots(key, tree)
        if below is None:
            return None
    path = f"{prefix}.{key}" if prefix else key
    kept = project(value, below, found, path)
    if below.whole and kept is not None:
        found.add(path)
    return kept


def _through_dots(key: str, tree: FieldTree) -> FieldTree | None:
    below: FieldTree | None = tree if "." in key else None
    for name in key.split("."):
        below = below.below.get(name) if below is not None else None
    return below


def are_around(document: Document, fields: tuple[str, ...]) -> bool:
    """Return whether the fields belong to the object around a dominant list, and not to the items of that list."""
    focus = document.focus if document.is_json and document.focus.pointer else None
    children = document.open(document.root) if focus else None
    if focus is None or children is None or children.keys is None:
        return False
    if set(children.keys).isdisjoint(name.partition(".")[0] for name in fields):
        return False
    # Kubernetes has `kind` and `metadata` around a list and in its items: the better match is meant.
    items = document.open(focus.node)
    data, root, tree = document.data, document.root, field_tree(fields)
    around, inside = set[str](), set[str]()
    project(data[root.start : focus.node.start] + b"0" + data[focus.node.end : root.end], tree, around)
    if items:
        project(document.raw(document.child(items, 0)), tree, inside)
    return len(around) > len(inside)


@dataclass(frozen=True, slots=True)
class _Units:
    """What fields are chosen from: the items of a list, the values of a map, the rows of a table, or one object."""

    raws: Sequence[bytes]
    what: str
    """What they are called, in the plural; empty for one object."""
    names: Callable[[int], str | int] | None = None
    """Returns the key in a map, or the line in a text, which takes the place of a number."""
    columns: tuple[str, ...] = ()
    """The names of columns, where items are lists."""

    def label(self, at: int) -> int | str:
        return at if self.names is None else self.names(at)


def select_fields(
    document: Document, view: View, start: int, limit: int, room: int, policy: Policy
) -> Selection:
    """Select the chosen fields of every item of a list, of every value of a map, or of one object."""
    units = _units(document, view)
    if start >= len(units.raws):
        raise BadRequest(f"there are {len(units.raws):,} {units.what or 'items'}")
    found: set[str] = set()
    pick = _picker(units, view, policy, found)
    is_list = bool(units.what)
    left = len(units.raws) - start
    # A number that somebody asks for must not change how many fit.
    asked, most = (limit, left) if view.limit else (0, min(limit, left))
    made = fit_units(pick, start, most, room, policy, is_list=is_list, asked=asked)
    is_clipped = made is None
    if made is None:
        made = clipped(
            jsontext.canonical(pick(start)).decode(), 0, "; ask for fewer fields, or one path", room, policy
        )
    # Where nothing was found at all, say so, even if a name occurs elsewhere.
    missing = [name for name in view.fields if not found or not occurs(name, found, document.data)]
    last = start + made.count
    held = ""
    if view.condensed and _HELD_MARK in made.rendered.text:
        held = next(filter(None, (held_pointer(pick(at), f"/{at}") for at in range(start, last))), "")
    is_open_ended = document.is_json and document.is_open_ended(document.root)
    total = len(units.raws) if is_open_ended else max(len(units.raws), document.expected)
    of_total = f"{'more than ' if is_open_ended else ''}{total:,}"
    what = "chosen fields" if view.fields else _left_out(policy)
    return Selection(
        kind="page" if is_list else "object",
        label=f"{units.what} {_range(units.what, start, last)} of {of_total}, {what}" if is_list else what,
        text=made.rendered.text,
        form=made.rendered.form,
        tokens=made.tokens,
        total={} if is_open_ended else {"items": total},
        shown={"items": made.count},
        following=last if last < len(units.raws) else None,
        missing=missing,
        remark=HELD_REMARK
        if held
        else _missing_remark(missing, units)
        if missing and not view.condensed
        else "",
        is_clipped=is_clipped,
        sections=["/" + INDEX] if view.condensed else [],
        example=held or f"/{start}" if is_list else "",
    )


def _range(what: str, start: int, last: int) -> str:
    """Write a range. Items are numbered as in a path, from 0."""
    return f"#{start:,}-{last - 1:,}" if what == "items" else f"{start + 1:,}-{last:,}"


def _units(document: Document, view: View) -> _Units:
    if not document.is_json:
        return _table_rows(document, view.lines)
    children = document.open(document.root)
    raws = list_items(document)
    if document.head(document.root) == b"[":
        return _Units(raws, "items", columns=_columns_of(document, raws))
    keys = (children.keys if children else None) or []
    wanted = {name.partition(".")[0] for name in view.fields}
    is_map = bool(view.fields) and wanted.isdisjoint(keys) and _has_containers(document, children)
    if not is_map:
        there = (*keys[: _NAMED - 1], "…") if len(keys) > _NAMED else ()
        return _Units([_wanted_part(document, children, view.fields)], "", columns=there)
    return _Units(raws, "keys", keys.__getitem__)


def _wanted_part(document: Document, children: Children | None, fields: tuple[str, ...]) -> bytes:
    """Return an object with at least its wanted members: all of a large one would take many times its memory."""
    if children is None or children.keys is None or children.blocks is None or not fields:
        return document.raw(document.root)
    names = [name for field in fields for name in dict.fromkeys((field, field.partition(".")[0]))]
    places = sorted({children.keys.index(name) for name in names if name in children.keys})
    return jsontext.object_of(
        {children.keys[at]: document.raw(document.child(children, at)) for at in places}
    )


def _has_containers(document: Document, children: Children | None) -> bool:
    starts = children.starts if children else ()
    return any(document.data[at] in b"{[" for at in starts)


def _picker(units: _Units, view: View, policy: Policy, found: set[str]) -> Callable[[int], bytes]:
    tree, is_section = field_tree(view.fields), policy.spell_section(view.fields)

    def chosen(raw: bytes) -> bytes | None:
        if raw[:1] == b"[" and (units.columns or not units.names):
            return project_row(raw, view.fields, units.columns, found)
        return project(raw, tree, found)

    def pick(at: int) -> bytes:
        raw = units.raws[at]
        kept = (chosen(raw) or (raw if view.condensed else b"{}")) if view.fields else raw
        is_numbered = view.condensed or (bool(units.what) and view.form != "json") or bool(units.names)
        if (is_numbered or is_section) and is_noisy(kept, policy):
            kept = strip(kept, policy)
        return indexed(kept, units.label(at)) if is_numbered else kept

    return pick


def project_row(
    raw: bytes, fields: tuple[str, ...], columns: tuple[str, ...], found: set[str]
) -> bytes | None:
    """Return the chosen columns of a list of values, by name or by number from 0."""
    values = jsontext.elements(raw)
    out: list[bytes] = []
    for name in fields:
        at = columns.index(name) if name in columns else int(name) if name.isdigit() else -1
        if 0 <= at < len(values):
            found.add(name)
            out.append(jsontext.quote(name).encode() + b":" + values[at])
    if out:
        return b"{" + b",".join(out) + b"}"
    return project(raw, field_tree(fields), found)


def _columns_of(document: Document, raws: Sequence[bytes]) -> tuple[str, ...]:
    """Return the names of the columns of a list of lists: its first row, if that has only texts."""
    if not raws or raws[0][:1] != b"[":
        return ()
    if document.columns:
        return document.columns
    first = jsontext.elements(raws[0])
    if not all(value[:1] == b'"' for value in first):
        return ()
    return tuple(map(jsontext.string_value, first))


def _table_rows(document: Document, lines: tuple[int, int] | None) -> _Units:
    """Return the rows of CSV or JSON lines, by the numbers of their lines."""
    rows = document.table_rows
    if rows is None:
        raise BadRequest(
            "fields can be chosen from JSON, CSV and JSON lines only; this is text: use lines or search"
        )
    rows = rows.within(*lines) if lines else rows
    return _Units(rows, "rows", rows.line, rows.columns)


def held_pointer(raw: bytes, pointer: str) -> str:
    """Return the pointer of the first value of which only a stub is left; empty if there is none."""
    if raw[:1] == b'"':
        return pointer if _HELD.match(raw) else ""
    if _HELD_MARK.encode() not in raw:
        return ""
    try:
        named = jsontext.members(raw) if raw[:1] == b"{" else dict(enumerate(jsontext.elements(raw)))
    except JsonRefused:
        return ""
    inside = (held_pointer(bytes(value), f"{pointer}/{escaped(str(key))}") for key, value in named.items())
    return next(filter(None, inside), "")


def chosen_part(document: Document, fields: tuple[str, ...]) -> Document:
    """Return the chosen fields of an object as a document of their own."""
    raw = project(document.raw(document.root), field_tree(fields), set()) or b"{}"
    return Document(jsontext.canonical(raw))


def _left_out(policy: Policy) -> str:
    return "noise left out" if policy.strip_empty or policy.strip_fields else "vectors left out"


def occurs(name: str, found: set[str], data: bytes) -> bool:
    """Return whether a field was found on this page, or its name occurs anywhere in the answer."""
    if name in found or any(path.startswith(name + ".") for path in found):
        return True
    last = jsontext.quote(name.rpartition(".")[2]).encode("utf-8", "replace")
    return last in data


def _names_of(raw: bytes) -> list[str]:
    try:
        return list(jsontext.uncopied_members(raw)) if raw[:1] == b"{" else []
    except JsonRefused:
        return []


def _some(names: Sequence[str]) -> str:
    """Name as many as help."""
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(name[:_NAME_CHARS] for name in names[:_NAMED]) + more


def _missing_remark(missing: list[str], units: _Units) -> str:
    """Say which fields there are instead."""
    first = units.raws[0]
    there = _some(units.columns or _names_of(first))
    if not there and first[:1] == b"[":
        there = f"columns 0 to {len(jsontext.elements(first)) - 1}, by number"
    remark = f"no such field: {', '.join(missing)}" + (f"; there are: {there}" if there else "")
    return one_line(remark.encode("utf-8", "replace").decode())
