"""What of an answer a model gets to see: the places where text, structured data and images stand in it."""

from base64 import b64decode
from binascii import Error as Base64Error
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from headgate.engine import jsontext
from headgate.engine.tokens import image_size, image_tokens
from headgate.relay.message import NOTHING, text_of

AUDIO_BYTES_PER_TOKEN: Final = 500
"""Models take about 32 tokens for a second of sound, which is 16 KB at 128 kbit/s."""
_HEADER_CHARS: Final = 65_536
"""Enough base64 to find the size of an image behind the metadata of a photograph."""


@dataclass(slots=True)
class Slot:
    """One block, resource, message or member of an answer."""

    member: str
    """Name of the member of the answer it stands in."""
    listed: bool
    """Whether that member is a list of such slots."""
    raw: bytes
    text: bytes = b""
    """What of it is read as text."""
    media_tokens: int = 0
    """What it costs otherwise: an image by its pixels, sound by its length."""
    is_plain: bool = False
    """All that matters of it is its text."""

    @property
    def document(self) -> bytes:
        """How it stands in a document made of several: a text that is JSON as that JSON."""
        if not self.is_plain:
            return self.raw
        value = (
            self.text
            if is_json(self.text)
            else bytes(msgspec.json.encode(self.text.decode("utf-8", "replace")))
        )
        return with_member(self.raw, "text", value)


class _Block(msgspec.Struct):
    type: str = ""
    text: msgspec.Raw = NOTHING
    data: str = ""
    mimeType: str = ""  # noqa: N815  # as on the wire
    resource: msgspec.Raw = NOTHING


class _Resource(msgspec.Struct):
    uri: str = ""
    text: msgspec.Raw = NOTHING
    blob: str = ""
    mimeType: str = ""  # noqa: N815


_block: Final = msgspec.json.Decoder(_Block)
_resource: Final = msgspec.json.Decoder(_Resource)
_list: Final = msgspec.json.Decoder(list[msgspec.Raw])
_object: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


def open_object(raw: bytes | msgspec.Raw) -> dict[str, bytes] | None:
    """The members of an object, each value as it was spelled; None if it is no object."""
    try:
        return {name: bytes(value) for name, value in _object.decode(raw).items()}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def close_object(members: dict[str, bytes]) -> bytes:
    return (
        b"{" + b",".join(msgspec.json.encode(name) + b":" + value for name, value in members.items()) + b"}"
    )


def open_list(raw: bytes | msgspec.Raw) -> list[bytes] | None:
    try:
        return [bytes(value) for value in _list.decode(raw)]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def close_list(values: list[bytes]) -> bytes:
    return b"[" + b",".join(values) + b"]"


def with_member(raw: bytes, name: str, value: bytes) -> bytes:
    return close_object((open_object(raw) or {}) | {name: value})


def is_json(text: bytes) -> bool:
    """Whether a text is a strict JSON list or object and could stand as such."""
    if text.lstrip()[:1] not in (b"[", b"{"):
        return False
    try:
        jsontext.canonical(text)
        text.decode()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return not jsontext.is_too_deep(text)


def block_slot(raw: bytes, member: str = "content") -> Slot:
    """A content block of a tool result or prompt."""
    block = _decode(_block, raw)
    if block is None:
        return Slot(member, True, raw, raw)
    if block.type == "text" and _is_string(block.text):
        return Slot(member, True, raw, text_of(block.text), is_plain=True)
    if block.type == "image":
        return _media_slot(member, raw, block.data, block.mimeType or "image/")
    if block.type == "audio":
        return Slot(member, True, raw, media_tokens=len(block.data) * 3 // 4 // AUDIO_BYTES_PER_TOKEN + 1)
    if block.type == "resource" and block.resource is not NOTHING:
        inner = resource_slot(bytes(block.resource), member)
        return Slot(member, True, raw, inner.text, inner.media_tokens)
    return Slot(member, True, raw, raw)


def resource_slot(raw: bytes, member: str = "contents") -> Slot:
    """What was read of a resource. An app's own page (`ui://`) is for the client, not for the model."""
    resource = _decode(_resource, raw)
    if resource is None:
        return Slot(member, True, raw, raw)
    if resource.uri.startswith("ui://"):
        return Slot(member, True, raw)
    if _is_string(resource.text):
        return Slot(member, True, raw, text_of(resource.text), is_plain=True)
    if resource.blob:
        return _media_slot(member, raw, resource.blob, resource.mimeType)
    return Slot(member, True, raw, raw)


def message_slot(raw: bytes) -> Slot:
    """A message of a prompt; one with several blocks counts as it stands."""
    members = open_object(raw) or {}
    content = members.get("content", b"")
    if content[:1] != b"{":
        return Slot("messages", True, raw, raw)
    inner = block_slot(content)
    return Slot("messages", True, raw, inner.text, inner.media_tokens)


def _media_slot(member: str, raw: bytes, data: str, mime_type: str) -> Slot:
    """Pictures cost by their pixels. What cannot be recognised as one counts as the text it is sent as."""
    if mime_type.startswith("image/"):
        try:
            size = image_size(b64decode(data[:_HEADER_CHARS], validate=True))
        except (Base64Error, ValueError):
            size = None
        if size is not None:
            return Slot(member, True, raw, media_tokens=image_tokens(*size))
    if mime_type.startswith("audio/"):
        return Slot(member, True, raw, media_tokens=len(data) * 3 // 4 // AUDIO_BYTES_PER_TOKEN + 1)
    return Slot(member, True, raw, data.encode("utf-8", "replace"))


def _is_string(raw: msgspec.Raw) -> bool:
    return raw is not NOTHING and bytes(memoryview(raw)[:1]) == b'"'


def _decode(decoder: Any, raw: bytes) -> Any:
    try:
        return decoder.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def repeats(texts: list[bytes], structured: bytes) -> bytes | None:
    """What text blocks and structured data both say, if they say the same: the fuller writing of it, else None.

    Servers wrap what is no object: `{"result": …}` (SDK, FastMCP), `{"content": …}` (filesystem). A list is sent
    as one block per item by some.
    """
    if not texts:
        return None
    for candidate in (structured, _only_value(structured)):
        if not candidate:
            continue
        if len(texts) == 1 and _says(texts[0], candidate):
            return texts[0]
        if candidate[:1] == b"[":
            items = open_list(candidate) or []
            if len(items) == len(texts) > 1 and all(map(_says, texts, items)):
                return candidate
    return None


def _only_value(structured: bytes) -> bytes:
    members = open_object(structured) if structured[:1] == b"{" else None
    return next(iter(members.values())) if members and len(members) == 1 else b""


def _says(text: bytes, value: bytes) -> bool:
    """Whether a text is this JSON value, or the text it holds."""
    if value[:1] == b'"':
        return text_of(value) == text
    if not 0.2 < (len(text) + 16) / (len(value) + 16) < 5:
        return False
    try:
        if jsontext.canonical(text) == jsontext.canonical(value):
            return True
        return _same(msgspec.json.decode(text), msgspec.json.decode(value))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON: 1 and 1.0 are, true and 1 are not."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())  # type: ignore[misc]
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))  # type: ignore[arg-type]
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return one == other
