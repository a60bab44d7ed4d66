"""An answer written anew around a reply: what both the shapes of results and the last look need."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from brimgate.engine.policy import Policy
from brimgate.engine.replies.reply import Reply, budget_fields
from brimgate.engine.rules import ToolRule
from brimgate.relay.content import close_list, close_object, open_object
from brimgate.relay.protocol.message import Json, encode, quoted

RECORD: Final = "brimgate/result"
Hold = Callable[[bytes, Policy], Reply | None]
"""Keeps a document and gives the first reply about it; None if it fits as it is."""

LIGHT_BYTES: Final = 200


@dataclass(frozen=True, slots=True)
class Bounded:
    raw: bytes
    reply: Reply


def as_tool_result(reply: Reply, extra: Mapping[str, Json] | None = None, picture: bytes = b"") -> bytes:
    """A reply as the result of a call; a picture stands in the place of its payload."""
    reply.record["payloadBlock"] = 1
    content = close_list([text_block(reply.notice), picture or text_block(reply.payload)])
    return with_record({"content": content, **(extra or {})}, reply)


def text_block(text: str) -> bytes:
    return b'{"type":"text","text":' + quoted(text) + b"}"


def clean(text: str) -> str:
    """Without what is no character, such as bytes that were no UTF-8."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def with_record(members: dict[str, Json], reply: Reply) -> bytes:
    return annotated(close_object(members), reply.record)


def annotated(raw: Json, record: dict[str, Any]) -> bytes:
    """The answer with a record for programs in its `_meta`, beside what stands there."""
    members = open_object(raw) or {}
    meta = open_object(members.get("_meta", b"{}")) or {}
    members["_meta"] = close_object({**meta, RECORD: encode(record)})
    return close_object(members)


def untouched_record(raw: bytes, rule: ToolRule) -> dict[str, Any]:
    """What `annotate` puts on an answer that goes out as it came."""
    tokens = rule.policy.estimator.count(raw)
    return {"kind": "untouched"} | budget_fields(tokens, rule.policy.list_threshold)
