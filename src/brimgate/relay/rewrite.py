"""Rewrite an answer around a reply: shared by the shapes of results and the final check."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Protocol

from brimgate.engine.policy import Policy
from brimgate.engine.replies.reply import MARK, Reply
from brimgate.relay.content import close_list, close_object, open_list, open_object
from brimgate.relay.protocol.message import Json, encode, quoted

RECORD: Final = "brimgate/result"
LIGHT_BYTES: Final = 200
NOTICE_MEMBER: Final = "brimgate"


class Hold(Protocol):
    """Holds the parts of one answer."""

    def __call__(self, data: bytes, policy: Policy, /) -> Reply | None:
        """Hold a document and return the first reply about it; None if it fits as it is."""
        ...

    def block(self, raw: bytes, /) -> str:
        """Hold a content block that is read whole, and return its cursor."""
        ...

    def has(self, cursor: str, /) -> bool:
        """Return whether there was room for what a cursor leads to."""
        ...


@dataclass(frozen=True, slots=True)
class Bounded:
    raw: bytes
    reply: Reply


def as_tool_result(reply: Reply, extra: Mapping[str, Json] | None = None, block: bytes = b"") -> bytes:
    """Return a reply as the result of a call. A block that is shown as it is replaces its payload."""
    members = dict(extra or {})
    if block:
        blocks: list[Json] = [text_block(reply.notice), block]
        reply.record["payloadBlock"] = 1
    else:
        blocks = reply_blocks(reply, is_error=is_failure(members))
    return with_record({"content": close_list(blocks), **members}, reply)


def is_failure(members: Mapping[str, Json]) -> bool:
    return members.get("isError", b"") == b"true"


def reply_blocks(reply: Reply, *, is_error: bool) -> list[Json]:
    """Return the blocks of a reply: notice and payload. Of an error, clients read the first block alone."""
    if is_error:
        return [text_block(in_one_text(reply))]
    reply.record["payloadBlock"] = 1
    return [text_block(reply.notice), text_block(reply.payload)]


def in_one_text(reply: Reply, *between: str) -> str:
    """Return notice and payload as one text, with other texts between them, and record where its content begins."""
    before = [part for part in (reply.notice, *between) if part]
    reply.record["payloadBlock"] = 0
    reply.record["contentFrom"] = reply.record.get("contentFrom", 0) + sum(len(part) + 1 for part in before)
    return "\n".join([*before, reply.payload] if reply.payload else before)


def text_block(text: str) -> bytes:
    return b'{"type":"text","text":' + quoted(text) + b"}"


def clean(text: str) -> str:
    """Replace invalid characters, such as bytes that were not UTF-8."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def with_record(members: dict[str, Json], reply: Reply) -> bytes:
    return annotated(close_object(members), reply.record)


def annotated(raw: Json, record: dict[str, Any]) -> bytes:
    """Add a record for programs to the answer's `_meta`, beside what is already there."""
    members = open_object(raw) or {}
    meta = open_object(members.get("_meta", b"{}")) or {}
    members["_meta"] = close_object({**meta, RECORD: encode(record)})
    return close_object(members)


_OURS: Final = "brimgate/"
_SERVERS_WORDS: Final = "[from the server] "


def disowned(raw: Json) -> bytes | None:
    """Take out of an upstream's answer what only we may say: our records, and a text that begins like our notice.

    Return None if there is nothing of it.
    """
    members = open_object(raw)
    if members is None:
        return None
    changes: dict[str, Json] = {}
    meta = open_object(members["_meta"]) if "_meta" in members else None
    if meta and any(name.startswith(_OURS) for name in meta):
        kept = {name: value for name, value in meta.items() if not name.startswith(_OURS)}
        changes["_meta"] = close_object(kept)
    blocks = open_list(members["content"]) if "content" in members else None
    marked = [_marked(block) or block for block in blocks or ()]
    if blocks and marked != blocks:
        changes["content"] = close_list(marked)
    return close_object({**members, **changes}) if changes else None


def _marked(block: Json) -> bytes | None:
    """Say of a text that begins like a notice of ours that it is the server's."""
    members = open_object(block)
    text = bytes(members["text"]) if members and "text" in members else b""
    if members is None or not text.startswith(b'"' + MARK.encode()):
        return None
    return close_object({**members, "text": b'"' + _SERVERS_WORDS.encode() + text[1:]})


def still_valid(structured: Json, schema: bytes, reply: Reply) -> bytes | None:
    """Return the reply as structured data of the promised shape, with the notice in it, or None if that is impossible.

    A client may show its model only the structured data: without the notice it would take a page for the whole.
    """
    shortened = _shortened(structured, reply)
    if shortened is None:
        return None
    return shortened if not schema or _is_valid(schema, shortened) else None


def _shortened(structured: Json, reply: Reply) -> bytes | None:
    kind, form = reply.record.get("kind"), reply.record.get("format")
    if kind == "chunk" and form == "text" and not reply.envelope:
        return _wrapped(structured, quoted(reply.text))
    if kind not in ("page", "complete") or form != "json":
        return None
    shown = open_object(_wrapped(structured, reply.content.encode()) or b"")
    return close_object({**shown, NOTICE_MEMBER: quoted(reply.notice)}) if shown is not None else None


def _wrapped(structured: Json, value: bytes) -> bytes | None:
    """Wrap a value: what was held may have been the one value of the structured object, not the object."""
    if value[:1] == b"{":
        return value
    members = open_object(structured)
    return close_object(dict.fromkeys(members, value)) if members and len(members) == 1 else None


def _is_valid(schema: bytes, value: bytes) -> bool:
    check = _validator(schema)
    return check is not None and check.is_valid(json.loads(value))


@lru_cache(64)
def _validator(schema: bytes) -> Any:
    import jsonschema_rs  # 45 ms, and only for those who keep schemas

    try:
        return jsonschema_rs.validator_for(json.loads(schema), retriever=_refuse)
    except ValueError:
        return None


def _refuse(uri: str) -> Any:
    """Refuse to fetch: a schema is foreign text and must not make us fetch anything."""
    raise ValueError(f"not fetched: {uri}")
