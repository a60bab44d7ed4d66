"""What the client is told about tools: the list, and the capability to have one."""

import re
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, cast

import msgspec

from brimgate.engine.policy import Rules
from brimgate.engine.tokens.estimator import Estimator
from brimgate.hold.stores.contract import account_of
from brimgate.relay.content import close_list, close_object, open_list, open_object
from brimgate.relay.protocol.headers import ParamHeaders, param_headers_of
from brimgate.relay.protocol.message import NOTHING, Json, encode, text_of
from brimgate.relay.read_tool import definition, is_definition

_CUT: Final = "…"
TOOL_CURSOR: Final = "tool:"
"""Begins what the read tool takes for the whole description of a tool."""
_MAX_TOOLS: Final = 10_000
_MAX_NAME_CHARS: Final = 100
_MAX_CATALOGS: Final = 500
_ANY_OBJECT: Final = b'{"type":"object"}'


class _Entry(msgspec.Struct):
    name: msgspec.Raw = NOTHING
    description: msgspec.Raw = NOTHING
    inputSchema: msgspec.Raw = NOTHING  # noqa: N815  # as on the wire
    outputSchema: msgspec.Raw = NOTHING  # noqa: N815


_entry: Final = msgspec.json.Decoder(_Entry)


@dataclass(slots=True)
class Catalog:
    """The tools as the upstream last listed them, as far as reduction needs it."""

    schemas: dict[str, bytes] = field(default_factory=lambda: {})
    """The output schemas that the client was told, by tool."""
    param_headers: dict[str, ParamHeaders] = field(default_factory=lambda: {})
    """The arguments that are repeated in HTTP headers, by tool; every listed tool has an entry."""
    descriptions: dict[str, str] = field(default_factory=lambda: {})
    """The descriptions that were shortened, by tool."""
    has_tools: bool = True
    """False once the upstream has said that it has no tools: then the list has only our tool."""
    clash_seen: bool = False
    is_chained: bool = False
    """The upstream is a Brimgate too: its held answers are read through its own tool."""

    def rewrite_list(self, raw: Json, rules: Rules, *, first_page: bool) -> Json | None:
        """Rewrite the upstream's list of tools for the client. Return None if the result has no such list."""
        members = open_object(raw)
        entries = open_list(members["tools"]) if members and "tools" in members else None
        if members is None or entries is None:
            return None
        kept = [written for entry in entries if (written := self._rewrite(entry, rules)) is not None]
        if first_page and not rules.is_shadow:
            kept.append(_own_entry(rules))
        if rules.is_personal and "cacheScope" in members:
            members["cacheScope"] = b'"private"'  # others may see other tools
        elif kept == entries:
            return raw
        return close_object({**members, "tools": close_list(kept)})

    def _rewrite(self, raw: Json, rules: Rules) -> Json | None:
        """Rewrite one entry, or return None to hide it. An entry that needs no change keeps its bytes."""
        try:
            entry = _entry.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return raw
        name = _text(entry.name)
        is_brimgate = is_definition(bytes(entry.inputSchema))
        self.is_chained = self.is_chained or is_brimgate
        if name == rules.read_tool:
            self.clash_seen = self.clash_seen or not is_brimgate
            return None
        self._note_params(name, entry.inputSchema)
        rule = rules.of(name)
        if rule.hidden:
            return None
        changes: dict[str, Json] = {}
        self.descriptions.pop(name, None)
        if rule.max_description_chars and rule.max_description_chars < len(text := _text(entry.description)):
            self.descriptions[name] = text
            more = f'{_CUT} (all: {rules.read_tool}(cursor="{TOOL_CURSOR}{name}"))'
            changes["description"] = encode(text[: rule.max_description_chars] + more)
        self.schemas.pop(name, None)
        drop = False
        if entry.outputSchema is not NOTHING and rule.is_on:
            drop = rule.output_schema == "drop"
            if rule.output_schema == "relax":
                changes["outputSchema"] = _ANY_OBJECT
            if rule.output_schema != "drop":
                self.schemas[name] = bytes(entry.outputSchema)
        if not changes and not drop and not rules.catalog.trims:
            return raw
        members = {**(open_object(raw) or {}), **changes}
        if drop:
            members.pop("outputSchema")
        if rules.catalog.trims:
            trim(members, name)
        return close_object(members)

    def _note_params(self, name: str, schema: msgspec.Raw) -> None:
        if len(self.param_headers) < _MAX_TOOLS:
            self.param_headers[name] = param_headers_of(bytes(schema))

    def own_list(self, rules: Rules, *, modern: bool) -> bytes:
        """Return a list with only the read tool, for a server without tools."""
        members: dict[str, Json] = {"tools": close_list([_own_entry(rules)])}
        if modern:
            members |= {"resultType": b'"complete"', "ttlMs": b"300000", "cacheScope": b'"public"'}
        return close_object(members)

    def rewrite_capabilities(self, raw: Json) -> bytes | None:
        """Add tools to the answer to `initialize` or `server/discover`. Return None if it already has them."""
        members = open_object(raw)
        capabilities = open_object(members["capabilities"]) if members and "capabilities" in members else None
        if members is None or capabilities is None:
            return None
        self.has_tools = "tools" in capabilities
        if self.has_tools:
            return None
        return close_object({**members, "capabilities": close_object({**capabilities, "tools": b"{}"})})


def tool_tokens(raw: Json, estimator: Estimator) -> dict[str, int]:
    """Return what each tool of a list costs every session of a client."""
    members = open_object(raw) or {}
    entries = open_list(members.get("tools", b"[]")) or []
    found: dict[str, int] = {}
    for entry in entries[:_MAX_TOOLS]:
        try:
            name = _text(_entry.decode(entry).name)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        found[name[:_MAX_NAME_CHARS]] = estimator.table(bytes(entry))
    return found


def trim(members: dict[str, Json], name: str) -> None:
    """Leave out of a tool what says nothing, at any depth of its schemas."""
    for member, says_nothing in _EMPTY.items():
        if member in members and says_nothing(bytes(members[member]), name):
            del members[member]
    notes = open_object(members["annotations"]) if "annotations" in members else None
    if notes and "title" in notes and _repeats(bytes(notes["title"]), name):
        left = {key: value for key, value in notes.items() if key != "title"}
        members["annotations"] = close_object(left)
    for member in ("inputSchema", "outputSchema"):
        if member in members:
            members[member] = _trimmed_schema(bytes(members[member]))


def _repeats(raw: bytes, name: str) -> bool:
    """Return whether a title has the words of the name and no others."""
    words = re.findall(r"[a-z]+|\d+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())
    return re.findall(r"[a-z]+|\d+", text_of(raw).decode("utf-8", "replace").lower()) == words


_EMPTY: Final[dict[str, Callable[[bytes, str], bool]]] = {
    "title": _repeats,
    "description": lambda raw, _: raw in (b'""', b"null"),
    "annotations": lambda raw, _: raw in (b"{}", b"null"),
}


def _trimmed_schema(raw: bytes) -> bytes:
    if b'"$schema"' not in raw and b'"additionalProperties"' not in raw and b'"title"' not in raw:
        return raw
    try:
        schema = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return raw
    trimmed = encode(_without_noise(schema, is_schema=True))
    return trimmed if len(trimmed) < len(raw) else raw


_PROPERTY_MAPS: Final = ("properties", "$defs", "definitions", "patternProperties")


def _without_noise(value: Any, *, is_schema: bool, name: str = "") -> Any:
    """Leave out what a schema says by default. Examples, defaults and constants are data, and stay as they are."""
    if isinstance(value, list):
        return [_without_noise(one, is_schema=is_schema) for one in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    members = cast("dict[str, Any]", value)
    if not is_schema:
        return {key: _without_noise(one, is_schema=True, name=key) for key, one in members.items()}
    kept = {key: one for key, one in members.items() if not _is_noise(key, one, name)}
    return {
        key: one if key in _DATA else _without_noise(one, is_schema=key not in _PROPERTY_MAPS)
        for key, one in kept.items()
    }


_DATA: Final = frozenset(("default", "const", "enum", "examples", "example", "required", "type"))


def _is_noise(key: str, value: Any, name: str) -> bool:
    if key == "title" and name and isinstance(value, str):
        return _repeats(encode(value), name)
    return (
        key == "$schema"
        or (key == "additionalProperties" and value is True)
        or (key == "description" and value == "")
    )


def _own_entry(rules: Rules) -> bytes:
    return definition(rules.read_tool, rules.of(rules.read_tool).policy.max_page_size)


def _text(raw: msgspec.Raw) -> str:
    """Return the text of a JSON string; empty if it is not a string."""
    value = memoryview(raw)
    return text_of(value).decode("utf-8", "replace") if value[:1].tobytes() == b'"' else ""


class Catalogs:
    """The catalogs of many principals.

    Of the account that has the most, the least recently used is forgotten first: it is filled again by its next list.
    """

    def __init__(self, most: int = _MAX_CATALOGS) -> None:
        self._most = most
        self._known: OrderedDict[str, Catalog] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def of(self, principal: str) -> Catalog:
        catalog = self._known.setdefault(principal, Catalog())
        self._known.move_to_end(principal)
        if len(self._known) > self._most:
            self._forget_one()
        return catalog

    def _forget_one(self) -> None:
        account = Counter(map(account_of, self._known)).most_common(1)[0][0]
        del self._known[next(one for one in self._known if account_of(one) == account)]
