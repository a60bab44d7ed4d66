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

ARGUMENTS: Final = ("cursor", "limit", "fields", "path", "lines", "search", "pages", "format")
_NOTICE_TOKENS: Final = 60
_HINTS: Final[dict[str, dict[str, Any]]] = {
    "limit": {"type": "integer"},
    "fields": {"description": "id,guest.name"},
    "path": {"description": "/result/17"},
    "lines": {"description": "100-200"},
    "search": {"description": "words or /regex/"},
}


@lru_cache(8)
def definition(name: str) -> bytes:
    """Return its entry in the list of tools. Every client pays for it in every session: at most 250 tokens."""
    properties = {argument: {"type": "string"} | _HINTS.get(argument, {}) for argument in ARGUMENTS}
    return encode(
        {
            "name": name,
            "description": "Read more of a cut result by the cursor in its [brimgate] line.",
            "inputSchema": {"type": "object", "properties": properties, "required": ["cursor"]},
            "annotations": {"readOnlyHint": True},
        }
    )


def is_definition(schema: bytes) -> bool:
    """Return whether an input schema is that of a tool like this one, whatever its name."""
    if b'"cursor"' not in schema or b'"pages"' not in schema:
        return False
    try:
        return set(msgspec.json.decode(schema)["properties"]) == set(ARGUMENTS)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError, TypeError):
        return False


def check_arguments(arguments: dict[str, Any]) -> str:
    """Return what is wrong with the names of the arguments and what is right; empty if nothing is wrong."""
    unknown = [name for name in arguments if name not in ARGUMENTS]
    if unknown:
        return f"there is no argument {unknown[0][:40]!r}: use {', '.join(ARGUMENTS)}"
    if not isinstance(arguments.get("cursor"), str) or not arguments["cursor"]:
        return 'cursor is missing: pass the one from the "[brimgate]" line of the result to read on'
    return ""


@dataclass(frozen=True, slots=True)
class Reading:
    tool: str
    """The tool whose answer it is from."""
    reply: "Reply"
    picture: bytes = b""
    """A block that is shown as it is, not as text: an image that did not fit into the first answer."""


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
    from brimgate.engine.query import Query

    asked = asked_of(arguments, rules, protection, principal, upstream)
    cursor, binding, query, bound = asked.cursor, asked.binding, asked.query, asked.protection
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

    given = {name: value for name, value in arguments.items() if value is not None and value != ""}
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


def _picture(raw: bytes, policy: "Policy") -> "tuple[Reply, bytes] | None":
    """Return a held image that a path leads to, if it fits under the cap."""
    from brimgate.engine.replies.reply import Notice, Reply, budget_fields
    from brimgate.relay.budget import without_data
    from brimgate.relay.content import block_slot, resource_slot

    if raw[:1] != b"{":
        return None
    tokens, shown = block_slot(raw).media_tokens, raw
    if not tokens:
        tokens, shown = resource_slot(raw).media_tokens, b'{"type":"resource","resource":' + raw + b"}"
    whole = tokens + _NOTICE_TOKENS + policy.estimator.ceiling(without_data(shown))
    if not tokens or whole > policy.hard_output_token_cap:
        return None
    notice = Notice("section, whole: an image", whole, tokens, tool=policy.read_tool)
    record: dict[str, Any] = {
        "kind": "section",
        "format": "image",
        "total": {"tokens": tokens, "bytes": len(raw)},
    }
    return Reply(notice.line(), "", record | budget_fields(whole, policy.hard_output_token_cap)), shown
