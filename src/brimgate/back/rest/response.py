"""Return the declared part of an answer. Values are cut out of the text unchanged: no number is ever rewritten."""

import re
from collections.abc import Collection
from contextlib import suppress
from functools import lru_cache
from typing import Final, NamedTuple

import msgspec

from brimgate.back.rest.html_text import plain_text
from brimgate.back.rest.model import FoundAt, Shape, Table
from brimgate.engine import jsontext
from brimgate.engine.jsontext import Children
from brimgate.engine.pointer import pointer_of, unescaped
from brimgate.errors import JsonRefused
from brimgate.hold.live_lists import WholeList

_any: Final = msgspec.json.Decoder(msgspec.Raw)
_STRING: Final = rb'"[^"\\]*(?:\\.[^"\\]*)*"'
_MISLEADING: Final = (b',":', b'{":', b'[":', b':":')
"""Without any of these, no string begins with a colon: then what lies between two strings is never taken for a key."""
_LEFT_OUT: Final = b"\0"
"""Stands for a member that is left out, until the comma beside it is gone, too. No JSON text has it."""
_KINDS: Final = {"{": "an object", "[": "a list", '"': "a text", "t": "true", "f": "false", "n": "null"}


class Misshapen(Exception):
    """An answer does not match its declaration. The text says where, and nothing of the content."""


class Opened:
    """A JSON answer, opened only where it is read."""

    def __init__(self, body: bytes) -> None:
        if not jsontext.is_utf8(body):
            raise Misshapen("it is not UTF-8")
        if jsontext.is_too_deep(body):
            raise Misshapen("it is nested too deeply")
        self.raw = body.strip(b" \t\r\n")
        self._levels: dict[str, dict[str, bytes]] = {}
        try:
            self._check()
        except (msgspec.DecodeError, RecursionError):
            raise Misshapen("it is not JSON, or ends early") from None

    def _check(self) -> None:
        """Read all of it once. To take an object apart does the same, and is needed anyway."""
        if self.raw.startswith(b"{"):
            with suppress(JsonRefused):
                self._levels[""] = jsontext.members(self.raw)
                return
        _any.decode(self.raw)

    def at(self, pointer: str) -> bytes | None:
        """Return the value at a JSON Pointer, or None if there is none."""
        if not pointer:
            return self.raw
        above, _, name = pointer.rpartition("/")
        if above not in self._levels:
            self._levels[above] = _children(self.at(above), above)
        return self._levels[above].get(unescaped(name))


def _children(raw: bytes | None, pointer: str) -> dict[str, bytes]:
    try:
        if raw is not None and raw.startswith(b"{"):
            return jsontext.members(raw)
        if raw is not None and raw.startswith(b"["):
            return {str(at): one for at, one in enumerate(jsontext.elements(raw))}
    except JsonRefused:
        raise Misshapen(f"the object at {pointer or 'its top'} holds a key twice") from None
    return {}


class Content(NamedTuple):
    """`before` and `after` surround the content: the items of a list, or one value."""

    before: bytes
    items: list[bytes]
    after: bytes

    @property
    def document(self) -> bytes:
        return self.before + b",".join(self.items) + self.after

    def as_list(self, name: str, page: int) -> WholeList:
        """Return the document of a list that stands alone in an object, under its name.

        Where the list lies is known, and `Opened` has checked what is in it.
        """
        data = self.document
        root = Children([len(self.before) - 1], [len(data) - 1], [name])
        return WholeList(data, page=page, pointer=pointer_of([name]), root=root)


def content(shape: Shape, opened: Opened) -> Content:
    kept = {name: opened.at(pointer) for name, pointer in shape.keep.items()}
    if shape.is_list:
        items, opening, closing = items_of(shape, opened), b"[", b"]"
    else:
        items, opening, closing = [_one(shape, opened)], b"", b""
    if not shape.name:
        return Content(opening, items, closing)
    members = {name: jsontext.minify(raw) for name, raw in kept.items() if raw is not None}
    # The content comes last: its brackets and the object's are closed behind it.
    before = jsontext.object_of(members | {shape.name: opening}).removesuffix(b"}")
    return Content(before, items, closing + b"}")


def items_of(shape: Shape, opened: Opened) -> list[bytes]:
    items = _rows(shape.table, opened) if shape.table else _list_at(opened.at(shape.pointer), shape.pointer)
    if shape.each:
        items = [inner for item in items for inner in _inner(item, shape.each)]
    if shape.fields:
        return [_picked(item, shape.fields) for item in items]
    # An API writes all of them alike: the ends tell whether there is white space to leave out.
    is_minified = all(jsontext.minify(item) == item for item in (*items[:1], *items[-1:]))
    return items if is_minified else [jsontext.minify(item) for item in items]


def whole_number(opened: Opened, pointer: str) -> int:
    raw = opened.at(pointer)
    if raw is None or not raw.isdigit() or len(raw) > 15:
        raise Misshapen(f"at {pointer} there must be a whole number, not {_kind(raw)}")
    return int(raw)


def number_at(place: FoundAt, opened: Opened, headers: Collection[tuple[bytes, bytes]]) -> int | None:
    """Return a whole number of an answer, from its JSON or from a header; None if it is told nowhere."""
    if not place.header:
        return whole_number(opened, place.pointer) if place.pointer else None
    found = [value.strip() for name, value in headers if name.lower() == place.header.encode()]
    if len(found) != 1 or not found[0].isdigit() or len(found[0]) > 15:
        raise Misshapen(f"the header {place.header} must hold a whole number")
    return int(found[0])


def tidied(raw: bytes, omit: frozenset[bytes], html: tuple[str, ...]) -> bytes:
    """Return minified JSON without the members whose values are left out, and with HTML as plain text.

    By patterns over the text: to take the objects apart takes ten times as long, and would rewrite numbers.
    """
    if any(mark in raw for mark in _MISLEADING):
        members, others = _every_member(omit, html), None
    else:
        members, others = _html_members(html), _omitted_members(omit)
    names = frozenset(jsontext.quote(name).encode() for name in html)

    def replaced(found: "re.Match[bytes]") -> bytes:
        key, value = found[1], found[2]
        if value is None:
            return found[0]
        if value in omit:
            return _LEFT_OUT
        return _as_text(key, value, omit) if key in names and value[:1] == b'"' else found[0]

    made = members.sub(replaced, raw) if members is not None else raw
    made = others.sub(_LEFT_OUT, made) if others is not None else made
    if _LEFT_OUT not in made:
        return made
    return made.replace(_LEFT_OUT + b",", b"").replace(b"," + _LEFT_OUT, b"").replace(_LEFT_OUT, b"")


def _as_text(key: bytes, value: bytes, omit: frozenset[bytes]) -> bytes:
    try:
        written = jsontext.quote(plain_text(jsontext.string_value(value))).encode()
    except (msgspec.DecodeError, UnicodeEncodeError):  # half a character, which only an escape can hold
        return key + b":" + value
    return _LEFT_OUT if written in omit else key + b":" + written


@lru_cache(16)
def _omitted_members(omit: frozenset[bytes]) -> "re.Pattern[bytes] | None":
    """Return a pattern for the members that are left out, for texts in which no quote can mislead it."""
    values = b"|".join(map(re.escape, sorted(omit)))
    return re.compile(rb"(?<=[{,])" + _STRING + b":(?:" + values + rb")(?=[,}])", re.DOTALL) if omit else None


@lru_cache(16)
def _html_members(html: tuple[str, ...]) -> "re.Pattern[bytes] | None":
    """Return a pattern for the members with HTML, for texts in which no quote can mislead it."""
    names = b"|".join(re.escape(jsontext.quote(name).encode()) for name in html)
    return re.compile(rb"(?<=[{,])(" + names + b"):(" + _STRING + rb")", re.DOTALL) if html else None


@lru_cache(16)
def _every_member(omit: frozenset[bytes], html: tuple[str, ...]) -> "re.Pattern[bytes] | None":
    """Return a pattern for every string, together with the value behind it if that is one to look at."""
    others = [re.escape(one) for one in sorted(omit) if not one.startswith(b'"')]
    value = b"|".join([_STRING, *(one + rb"(?=[,}])" for one in others)])
    return re.compile(b"(" + _STRING + b")(?::(" + value + b"))?", re.DOTALL) if omit or html else None


def _one(shape: Shape, opened: Opened) -> bytes:
    raw = opened.at(shape.pointer)
    if raw is None or (shape.is_object and not raw.startswith(b"{")):
        raise Misshapen(f"at {shape.pointer or 'its top'} there must be an object, not {_kind(raw)}")
    return _picked(raw, shape.fields) if shape.fields else jsontext.minify(raw)


def _list_at(raw: bytes | None, pointer: str) -> list[bytes]:
    if raw is None or not raw.startswith(b"["):
        raise Misshapen(f"at {pointer or 'its top'} there must be a list, not {_kind(raw)}")
    return jsontext.elements(raw)


def _inner(item: bytes, name: str) -> list[bytes]:
    """Return the inner list of an item; empty if it has none."""
    raw = _open(item, f"an item with {name}").get(name, b"null")
    return [] if raw == b"null" else _list_at(raw, name)


def _picked(item: bytes, fields: tuple[str, ...]) -> bytes:
    known = _open(item, "an item")
    return jsontext.minify(jsontext.object_of({name: known[name] for name in fields if name in known}))


def _open(item: bytes, what: str) -> dict[str, bytes]:
    if not item.startswith(b"{"):
        raise Misshapen(f"{what} must be an object, not {_kind(item)}")
    try:
        return jsontext.members(item)
    except JsonRefused:
        raise Misshapen(f"{what} holds a key twice") from None


def _rows(table: Table, opened: Opened) -> list[bytes]:
    names = _unlike([_name(one, table) for one in _list_at(opened.at(table.columns), table.columns)])
    keys = [jsontext.quote(name).encode() for name in names]
    made: list[bytes] = []
    for row in _list_at(opened.at(table.rows), table.rows):
        values = _list_at(row, f"{table.rows}/…")
        if len(values) != len(keys):
            raise Misshapen(f"a row at {table.rows} has {len(values)} values for {len(keys)} columns")
        made.append(
            b"{" + b",".join(key + b":" + value for key, value in zip(keys, values, strict=True)) + b"}"
        )
    return made


def _name(column: bytes, table: Table) -> str:
    raw = _open(column, "a column").get(table.name, b"") if table.name else column
    if not raw.startswith(b'"'):
        raise Misshapen(f"a column at {table.columns} has no name")
    return jsontext.string_value(raw)


def _unlike(names: list[str]) -> list[str]:
    """Make column names unique: some reports repeat them, but members of an object cannot."""
    made: dict[str, None] = {}
    last: dict[str, int] = {}
    for name in names:
        new = name
        while new in made:
            last[name] = last.get(name, 1) + 1
            new = f"{name} ({last[name]})"
        made[new] = None
    return list(made)


def _kind(raw: bytes | None) -> str:
    return "nothing" if raw is None else _KINDS.get(raw[:1].decode("latin-1"), "a number")
