"""`brimgate_read`: the one tool for reading everything that is held."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import msgspec

from brimgate.errors import BadRequest
from brimgate.relay.protocol.message import encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from brimgate.engine.cursor import Binding
    from brimgate.engine.policy import Policy, Rules, ToolRule
    from brimgate.engine.query import Query
    from brimgate.engine.replies.reply import Reply
    from brimgate.hold.protection import Protection
    from brimgate.relay.content import Slot

ARGUMENTS: Final = ("cursor", "limit", "fields", "path", "lines", "search", "pages", "format", "query")
_ABOUT: Final[dict[str, str]] = {
    "fields": "id",
    "path": "/items/3",
    "search": "words, /RE2/, ! inverts",
    "format": "count",
    "query": "SQL over t",
}
"""What some arguments look like; the names of the others say it, and every word is paid for in every session."""


@lru_cache(8)
def definition(name: str, max_limit: int = 200) -> bytes:
    """Return its entry in the list of tools. Every client pays for it in every session: at most 250 tokens.

    So its words are few. Clients that load tools on demand would not find it when a notice names it: it asks to be
    loaded always.
    """
    properties: dict[str, dict[str, Any]] = {
        argument: {"type": "string"} | ({"description": _ABOUT[argument]} if argument in _ABOUT else {})
        for argument in ARGUMENTS
    }
    properties["limit"] |= {"type": "integer", "maximum": max_limit}
    return encode(
        {
            "name": name,
            "description": "Read on by [brimgate] cursor",
            "inputSchema": {"type": "object", "properties": properties, "required": ["cursor"]},
            "annotations": {"readOnlyHint": True},
            "_meta": {"anthropic/alwaysLoad": True},
        }
    )


def is_definition(schema: bytes) -> bool:
    """Return whether an input schema is that of a tool like this one, whatever its name."""
    if b'"cursor"' not in schema or b'"pages"' not in schema:
        return False
    try:
        names = set(msgspec.json.decode(schema)["properties"])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError, TypeError):
        return False
    return names | {"query"} == set(ARGUMENTS)  # an older one has no query


def check_arguments(arguments: dict[str, Any]) -> str:
    """Return what is wrong with the names of the arguments and what is right; empty if nothing is wrong."""
    unknown = [name for name in arguments if name not in ARGUMENTS]
    if unknown:
        return f"there is no argument {unknown[0][:40]!r}: use {', '.join(ARGUMENTS)}"
    if not isinstance(arguments.get("cursor"), str) or not arguments["cursor"]:
        return 'cursor is missing: pass the one from the "[brimgate]" line of the result to read on'
    return ""


def _is_empty(name: str, value: object) -> bool:
    """Return whether an argument means "not given": clients with strict schemas fill in every argument."""
    if isinstance(value, str):
        value = value.strip()
    if isinstance(value, bool):
        return False
    return value is None or value == "" or (name == "limit" and value in (0, "0"))


@dataclass(frozen=True, slots=True)
class Reading:
    tool: str
    """The tool whose answer it is from."""
    reply: "Reply"
    block: bytes = b""
    """A content block that is sent as it came: an image, a sound or a blob that was not in the first answer."""


def read_on(
    arguments: dict[str, Any],
    rules: "Rules",
    protection: "Protection",
    *,
    principal: str,
    upstream: str,
    now: float,
    on_trouble: "Callable[[dict[str, Any]], None]" = lambda _: None,
) -> Reading:
    """Answer a call. Raise ClientError with a message that says what is right."""
    from brimgate.engine.cursor import peek
    from brimgate.engine.query import BLOCK, Query

    asked = asked_of(arguments, rules, protection, principal, upstream)
    cursor, binding, query, bound = asked.cursor, asked.binding, asked.query, asked.protection
    if peek(cursor).view == BLOCK.key():
        return Reading(binding.tool, *_block(asked, now))
    if query == Query(path=query.path) and query.path is not None:
        found = _picture(bound.section(cursor, binding, query.path, now), bound.policy)
        if found is not None:
            return Reading(binding.tool, *found)
    words = _rule_of(binding, rules).answer_format(b"", on_trouble)
    return Reading(binding.tool, bound.read(cursor, binding, query, now, words))


@dataclass(frozen=True, slots=True)
class ReadCall:
    """A parsed call of the tool."""

    cursor: str
    binding: "Binding"
    query: "Query"
    protection: "Protection"
    """Protection under the rules of the tool whose answer it is."""


def asked_of(
    arguments: dict[str, Any], rules: "Rules", protection: "Protection", principal: str, upstream: str
) -> ReadCall:
    from brimgate.engine.query import parse_query

    given = {name: value for name, value in arguments.items() if not _is_empty(name, value)}
    if wrong := check_arguments(given):
        raise BadRequest(wrong)
    cursor: str = given.pop("cursor").strip()
    binding = protection.owner(cursor, principal, upstream)
    policy = _rule_of(binding, rules).policy
    query = parse_query(form=given.pop("format", None), max_limit=policy.max_page_size, **given)
    return ReadCall(cursor, binding, query, replace(protection, policy=policy, ttl_seconds=rules.ttl_seconds))


def _rule_of(binding: "Binding", rules: "Rules") -> "ToolRule":
    """Return the rule for the tool whose answer it is. The tool of another pack shares no more than a name with ours."""
    return rules.of(binding.tool if binding.pack == rules.pack else "")


def _block(asked: ReadCall, now: float) -> "tuple[Reply, bytes]":
    """Return a content block that was held whole."""
    from brimgate.engine.query import Query
    from brimgate.relay.content import block_slot

    if replace(asked.query, limit=0, form="") != Query():
        raise BadRequest("this cursor leads to binary data, which is read whole: pass the cursor alone")
    policy = asked.protection.policy
    raw = asked.protection.opened(asked.cursor, asked.binding, now)[0].document.original
    found = _whole(block_slot(raw), policy)
    if found is None:
        raise BadRequest(f"it is over the hard cap of {policy.hard_output_token_cap:,} tokens")
    return found


def _picture(raw: bytes, policy: "Policy") -> "tuple[Reply, bytes] | None":
    """Return an image or sound in a held answer that a path leads to, if it fits under the cap."""
    from brimgate.relay.content import block_slot, embedded

    if raw[:1] != b"{":
        return None
    for slot in (block_slot(raw), block_slot(embedded(raw))):
        if slot.media_tokens:
            return _whole(slot, policy)
    return None


def _whole(slot: "Slot", policy: "Policy") -> "tuple[Reply, bytes] | None":
    """Return a block with its notice, or None if it does not fit under the cap."""
    from brimgate.engine.replies.reply import Notice, Reply, budget_fields
    from brimgate.relay.budget import cost_around_data

    tokens, raw = slot.media_tokens + cost_around_data(slot, policy), bytes(slot.raw)
    if tokens > policy.hard_output_token_cap:
        return None
    size = slot.binary.byte_count if slot.binary is not None else len(raw)
    what = "an image or sound" if slot.media_tokens else "binary data"
    notice = Notice(f"section, whole: {what}, {size:,} bytes", tokens, tokens, tool=policy.read_tool)
    total = {"tokens": slot.media_tokens, "bytes": len(raw)}
    record: dict[str, Any] = {"kind": "section", "format": "block", "total": total}
    record |= budget_fields(tokens, policy.hard_output_token_cap)
    return Reply(notice.line(), "", record, original_bytes=len(raw)), raw
