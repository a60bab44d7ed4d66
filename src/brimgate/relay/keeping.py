"""`output_schema: keep`: structured data that is shortened and still what the tool promised."""

import json
from functools import lru_cache
from typing import Any, Final

from brimgate.engine.replies.reply import Reply
from brimgate.relay.content import close_object, open_object
from brimgate.relay.protocol.message import Json, quoted

NOTICE_MEMBER: Final = "brimgate"


def still_valid(structured: Json, schema: bytes, reply: Reply) -> bytes | None:
    """The reply as structured data of the promised shape, with the notice in it; None if there is no such shape.

    A client may show its model the structured data alone: without the notice it would take a page for the whole.
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
    """What was held may have been the one value of the structured object, not the object."""
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
    """A schema is foreign text: it shall not make us fetch anything."""
    raise ValueError(f"not fetched: {uri}")
