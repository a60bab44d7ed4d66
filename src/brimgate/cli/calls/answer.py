"""What of the result of a call is the answer: the one document a reader wants, and whether it tells of a failure."""

from dataclasses import dataclass
from typing import Final

import msgspec

from brimgate.engine import jsontext
from brimgate.errors import JsonRefused
from brimgate.relay.content import close_list, is_json, open_list, open_object
from brimgate.relay.protocol.message import Json, text_of

_decode: Final = msgspec.json.Decoder().decode


@dataclass(frozen=True, slots=True)
class Answer:
    document: bytes
    """A text, or JSON."""
    is_error: bool = False

    @property
    def as_json(self) -> bytes:
        """Minified, its values as they were spelled; a text becomes a JSON string."""
        try:
            return jsontext.canonical(self.document)
        except (msgspec.DecodeError, JsonRefused):
            return msgspec.json.encode(self.document.decode("utf-8", "replace"))


def read_answer(result: bytes) -> Answer:
    members = open_object(result)
    if members is None:
        return Answer(bytes(result))
    is_error = bytes(members.get("isError", b"")) == b"true"
    structured = bytes(members.get("structuredContent", b"null"))
    blocks = open_list(members.get("content", b"[]")) or []
    texts = [text for block in blocks if (text := _text_of_block(block)) is not None]
    inner = _unwrapped(structured)
    is_same = structured == b"null" or inner[:1] == b'"' or (bool(texts) and is_json(texts[0]))
    if len(texts) == len(blocks) == 1 and is_same:
        return Answer(texts[0], is_error)
    if structured != b"null":
        # Servers put the same into texts, often several, for clients that know nothing else.
        return Answer(inner, is_error)
    if len(texts) == len(blocks):
        return Answer(_several(texts), is_error)
    return Answer(close_list([bytes(block) for block in blocks]), is_error)


def _text_of_block(raw: Json) -> bytes | None:
    members = open_object(raw) or {}
    if bytes(members.get("type", b"")) != b'"text"' or members.get("text", b"")[:1] != b'"':
        return None
    return text_of(members["text"])


def _several(texts: list[bytes]) -> bytes:
    """A list of objects comes from some servers as one text each."""
    if texts and all(is_json(text) for text in texts):
        return close_list(texts)
    return b"\n".join(texts)


def _unwrapped(structured: bytes) -> bytes:
    """What is no object has to stand in one, by the rules before 2026-07-28; FastMCP calls it `result`."""
    members = open_object(structured) or {}
    return bytes(members["result"]) if set(members) == {"result"} else structured
