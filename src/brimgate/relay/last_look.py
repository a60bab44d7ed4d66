"""The last look at an answer before it leaves: whatever shape an upstream invents, nothing over the cap gets by."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from brimgate.engine.policy import Policy
from brimgate.engine.rules import ToolRule
from brimgate.relay.content import (
    Slot,
    block_slot,
    close_list,
    close_object,
    message_slot,
    open_list,
    open_object,
    resource_slot,
)
from brimgate.relay.protocol.message import Json, quoted
from brimgate.relay.rewrite import LIGHT_BYTES, Bounded, Hold, as_tool_result, text_block, with_record

_KEPT_WHOLE: Final = frozenset(("isError", "resultType", "ttlMs", "cacheScope", "taskId", "status"))
_SLOT_MAKERS: Final[dict[str, Callable[[Json], Slot]]] = {
    "content": block_slot,
    "contents": resource_slot,
    "messages": message_slot,
}


def is_under_cap(bounded: Bounded | None, members: Mapping[str, Json], policy: Policy) -> bool:
    """Everything a model could be shown counts: all but `_meta`, the data of pictures, and `ui://` pages."""
    counted = 0
    if bounded is not None:
        counted = bounded.reply.record["estimatedTokens"]
        members = open_object(bounded.raw) or {}
        own = (quoted(bounded.reply.notice), quoted(bounded.reply.payload), quoted(bounded.reply.text))
        texts = frozenset(own)
    else:
        texts = frozenset[bytes]()
    rest = b"\n".join(_shown(members, texts))
    if counted + policy.estimator.bound_of(rest) <= policy.hard_cap:
        return True
    return len(rest) <= 8 * policy.hard_cap and counted + policy.estimator.ceiling(rest) <= policy.hard_cap


def _shown(members: Mapping[str, Json], own: frozenset[bytes]) -> Iterator[Json]:
    """What of an answer counts, besides our own texts, which are counted already."""
    for name, value in members.items():
        if name == "_meta":
            continue
        yield name.encode("utf-8", "replace")
        make = _SLOT_MAKERS.get(name)
        blocks = open_list(value) if make is not None else None
        if name == "result" and "taskId" in members:
            yield from _shown(open_object(value) or {}, own)
            continue
        if make is None or blocks is None:
            yield value
            continue
        for raw in blocks:
            slot = make(raw)
            if slot.is_plain and quoted(slot.text.decode("utf-8", "replace")) in own:
                yield close_object(
                    {key: inner for key, inner in (open_object(raw) or {}).items() if key != "text"}
                )
            elif slot.media_tokens:
                yield without_data(raw)
            elif not slot.is_app:
                yield raw


def without_data(raw: Json) -> bytes:
    """A block without its picture or sound."""
    members = open_object(raw) or {}
    for name in ("resource", "content"):
        if members.get(name, b"")[:1] == b"{":
            members[name] = without_data(members[name])
    return close_object({name: value for name, value in members.items() if name not in ("data", "blob")})


def hold_whole(members: Mapping[str, Json], rule: ToolRule, hold: Hold, schema: bytes) -> Bounded | None:
    """All of an answer as one JSON document, and in its place a plain one of its kind."""
    document = close_object({name: value for name, value in members.items() if name != "_meta"})
    reply = hold(document, rule.policy)
    if reply is None:
        return None
    kept: dict[str, Json] = {
        name: value for name, value in members.items() if name in _KEPT_WHOLE and len(value) <= LIGHT_BYTES
    }
    text = quoted(reply.text)
    if "content" not in members and "contents" in members:
        kept["contents"] = close_list(
            [b'{"uri":"brimgate:held","mimeType":"text/plain","text":' + text + b"}"]
        )
    elif "content" not in members and "messages" in members:
        kept["messages"] = close_list([b'{"role":"user","content":{"type":"text","text":' + text + b"}}"])
    elif "content" not in members and "taskId" in members:
        kept["result"] = as_tool_result(reply)
    else:
        kept["content"] = close_list([text_block(reply.notice), text_block(reply.payload)])
        if rule.output_schema != "drop" and (schema or "structuredContent" in members):
            kept["isError"] = b"true"  # a client that was promised structured data takes nothing else
    if "_meta" in members:
        kept["_meta"] = members["_meta"]
    return Bounded(with_record(kept, reply), reply)
