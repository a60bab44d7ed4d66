"""Pages of a list: as many whole items or important fields as fit, together with everything around them."""

from dataclasses import dataclass, field
from typing import Any, Final

from brimgate.engine import jsontext
from brimgate.engine.document import Document, Focus, Position, one_line
from brimgate.engine.fields import ALL, FieldTree, field_tree, occurs, project, strip
from brimgate.engine.fit import fit
from brimgate.engine.forms import Rendered
from brimgate.engine.lazy import lazy
from brimgate.engine.preview import preview
from brimgate.engine.query import View
from brimgate.engine.replies.rest_frame import (
    CURSOR,
    Envelope,
    RefusedQuery,
    RestFrame,
    RestTarget,
    Shaped,
    Unfit,
    counted,
    encoded,
    encoded_members,
    written,
)
from brimgate.errors import CursorError, JsonRefused

_NAMES_SHOWN: Final = 30
_NAME_CHARS: Final = 40
_MARGIN: Final = 14
"""Tokens by which cursors of one length can differ."""
_PREVIEWS: Final = 4
"""How many items that are too large for a page share one."""
_LEAST_ROOM: Final = 40
_MAX_BYTES_PER_TOKEN: Final = 16
"""No text of any relevant length has more."""


@dataclass(frozen=True, slots=True)
class Chosen:
    raw: bytes
    pointer: str
    """The pointer of the object that they were chosen from."""
    missing: tuple[str, ...]


def choose(document: Document, thing: Focus, fields: tuple[str, ...]) -> Chosen:
    """Choose fields of the focus. If it has none of them, choose them from the object around it."""
    for place in (thing, Focus(document.root, "")):
        found: set[str] = set()
        raw = document.raw(place.node)
        kept = project(raw, field_tree(fields), found)
        if kept is not None:
            missing = [name for name in fields if not _is_found(name, found)]
            return Chosen(jsontext.canonical(kept), place.pointer, tuple(missing))
    raise RefusedQuery("invalid_fields", no_such_field(fields, document.raw(thing.node)))


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


@dataclass
class Pager:
    frame: RestFrame
    target: RestTarget
    focus: Focus
    envelope: Envelope
    view: View
    start: int
    limit: int
    budget: int
    _units: dict[int, bytes] = field(default_factory=lambda: {})
    _found: set[str] = field(default_factory=lambda: set())
    _details: str = ""

    def page(self) -> Shaped:
        if self.start >= len(self._children):
            raise CursorError if self.start else Unfit  # large surroundings with an empty list
        room = self.budget - self._cost_around()
        if room < _LEAST_ROOM:
            raise Unfit
        self._fill(room)
        sizes = self._sizes(room)
        fitted = fit(
            lambda count: Rendered("json", self._draft(count).decode()),
            len(sizes),
            lambda count: sizes[count - 1],
            self.budget - _MARGIN,
            self.frame.policy.estimator,
        )
        count = fitted.count if fitted else 0
        while count:
            shaped = self._finished(count)
            if shaped.tokens <= self.budget:
                return shaped
            count -= 1
        return self._alone(room)

    def _sizes(self, room: int) -> list[int]:
        """Return the bytes of the first item, the first two and so on, as far as they could fit."""
        most = min(self.limit, len(self._children) - self.start)
        sizes: list[int] = []
        for at in range(self.start, self.start + most):
            sizes.append((sizes[-1] if sizes else 0) + len(self._unit(at, room)) + 1)
            if sizes[-1] > self.budget * _MAX_BYTES_PER_TOKEN:
                break
        return sizes

    @property
    def _children(self) -> jsontext.Children:
        return self.target.document.open(self.focus.node) or jsontext.Children([], [], None)

    @property
    def _total(self) -> int:
        return self.target.document.count(self.focus.node, self._children)

    @property
    def _pointer(self) -> str:
        return self.target.path + self.focus.pointer

    def _fill(self, room: int) -> None:
        """Read the first item, which tells whether the requested fields exist at all."""
        self._unit(self.start, room)
        asked = self.view.fields if not self.view.condensed else ()
        if asked and asked != (ALL,) and self.start == 0 and len(self._missing()) == len(asked):
            raise RefusedQuery("invalid_fields", no_such_field(asked, self._raw(0)))

    def _raw(self, at: int) -> bytes:
        document = self.target.document
        return document.raw(document.child(self._children, at))

    def _unit(self, at: int, room: int) -> bytes:
        if at not in self._units:
            kept = self._kept(at)
            estimator = self.frame.policy.estimator
            if estimator.bound(len(kept)) > room and estimator.table(kept) > room:
                share = max(room // min(_PREVIEWS, self.limit, len(self._children) - self.start), _LEAST_ROOM)
                kept = self._previewed(at, kept, share)
            self._units[at] = kept
        return self._units[at]

    def _kept(self, at: int) -> bytes:
        raw, policy = self._raw(at), self.frame.policy
        fields = () if self.view.fields == (ALL,) else self.view.fields
        if not fields:
            return strip(raw, policy) if self.view.condensed else jsontext.canonical(raw)
        # Only what is shown is written anew: an item can be a hundred times as large.
        chosen = project(raw, self._tree, self._found)
        if not self.view.condensed and not (chosen and policy.spell_section(fields)):
            return jsontext.canonical(chosen) if chosen else b"{}"
        return strip(chosen or raw, policy)  # an item unknown to the field map is shown unchanged

    @lazy
    def _tree(self) -> FieldTree:
        return field_tree(self.view.fields)

    def _previewed(self, at: int, kept: bytes, room: int) -> bytes:
        """Return the essentials of an item that does not fit even alone, and how to get it whole."""
        pointer = f"{self._pointer}/{at}"
        details = encoded(
            {
                "endpoint": self.frame.endpoint,
                "parameters": self._parameters(pointer),
            }
        )
        document = Document(kept)
        estimator = self.frame.policy.estimator
        room = max(room - estimator.ceiling(details) - 8, _LEAST_ROOM)
        made = preview(document, document.root, pointer, self.frame.policy, room).rendered
        raw = made.text.encode() if made.form == "json" else encoded(made.text)
        if raw[:1] == b"{" and "detailsAvailable" not in (members := jsontext.members(raw)):
            return written([*members.items(), ("detailsAvailable", details)])
        return written([("value", raw), ("detailsAvailable", details)])

    def _parameters(self, pointer: str) -> dict[str, str]:
        names = self.frame.names
        self._details = self._details or self.frame.whole_cursor()
        return {names.cursor: self._details, names.path: pointer, names.fields: ALL}

    def _cost_around(self) -> int:
        meta = encoded_members(self._meta(self.limit, has_more=True))
        body, _ = counted(
            lambda told: self.envelope.page([], encoded(CURSOR), meta + told),
            self.budget,
            self.frame.policy.estimator,
        )
        return self.frame.policy.estimator.ceiling(body) + _MARGIN

    def _draft(self, count: int) -> bytes:
        last = self.start + count
        meta = self._meta(count, has_more=last < self._total) | {"estimatedTokens": self.budget}
        meta |= {"budgetUsed": 0.99, "budgetRemaining": self.budget // 9}
        cursor = encoded(CURSOR) if last < self._total else None
        return self.envelope.page(self._items(count), cursor, encoded_members(meta))

    def _items(self, count: int) -> list[bytes]:
        return [self._unit(at, self.budget) for at in range(self.start, self.start + count)]

    def _finished(self, count: int) -> Shaped:
        last = self.start + count
        has_more = last < self._total
        meta = encoded_members(self._meta(count, has_more=has_more))
        items = self._items(count)
        cursor = encoded(self.frame.issue(self.view, Position(last))) if has_more else None
        body, tokens = counted(
            lambda told: self.envelope.page(items, cursor, meta + told),
            self.budget,
            self.frame.policy.estimator,
        )
        return Shaped(body, "page", tokens, self.budget, count, missing=tuple(self._missing()))

    def _alone(self, room: int) -> Shaped:
        """Write a page with one item that does not fit even alone, or not unchanged."""
        kept = self._kept(self.start)
        for _ in range(6):
            self._units[self.start] = self._previewed(self.start, kept, room)
            shaped = self._finished(1)
            if shaped.tokens <= self.budget:
                return shaped
            room = int(room * 0.7) - max(shaped.tokens - self.budget, 0) // 2
        raise Unfit

    def _meta(self, count: int, *, has_more: bool) -> dict[str, Any]:
        meta: dict[str, Any] = {"totalCount": self._total, "pageSize": count, "hasMore": has_more}
        if self.target.document.is_open_ended(self.focus.node):
            del meta["totalCount"]  # the API does not say, and we do not guess
        if self.view.condensed:
            meta["detailsAvailable"] = self._details_of_items()
        if missing := self._missing():
            meta["missingFields"] = missing
        return meta

    def _details_of_items(self) -> dict[str, Any]:
        if self.frame.template and not self.target.path:
            return {"endpoint": self.frame.template, "parameters": {self.frame.names.fields: ALL}}
        parameters = self._parameters(f"{self._pointer}/{{index}}")
        return {"endpoint": self.frame.endpoint, "parameters": parameters, "firstIndex": self.start}

    def _missing(self) -> list[str]:
        if self.view.condensed or self.view.fields == (ALL,):
            return []
        return [name for name in self.view.fields if not occurs(name, self._found, self.target.document.data)]
