"""The parts of an answer that a model sees: where its text, structured data and images are."""

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import msgspec

from brimgate.engine import jsontext
from brimgate.engine.tokens.estimator import MAX_IMAGE_TOKENS, image_size, image_tokens
from brimgate.relay.protocol.message import NOTHING, Json, text_of

AUDIO_BYTES_PER_TOKEN: Final = 500
"""An assumption, not measured: 32 tokens for a second of sound, which is 16 KB at 128 kbit/s."""
_HEADER_CHARS: Final = 4_096
_LONG_HEADER_CHARS: Final = 1 << 20


@dataclass(slots=True)
class Slot:
    """One block, resource, message or member of an answer."""

    member: str
    """The name of the member of the answer that it is in."""
    listed: bool
    """Whether that member is a list of such slots."""
    raw: Json
    text: bytes = b""
    """The part of it that is read as text."""
    media_tokens: int = 0
    """Its other cost: an image by its pixels, sound by its length."""
    is_plain: bool = False
    """It is a text, in its member `text`."""
    inner: "Slot | None" = None
    """The resource inside a block, or the block inside a message."""
    inner_name: str = ""
    is_app: bool = False
    """A page of an app (`ui://`): for the client, not for the model."""
    is_more: bool = False
    """It has more than its text, such as an address or a type: when it is held alone, that is held too."""

    @property
    def document(self) -> Json:
        """The slot in a document made of several. A text that is JSON becomes that JSON."""
        if self.inner is not None:
            return with_member(self.raw, self.inner_name, self.inner.document)
        return with_member(self.raw, "text", self.text) if self.is_plain and is_json(self.text) else self.raw

    @property
    def alone(self) -> bytes:
        """What is held if it is the only one."""
        if not self.listed and self.member not in _NAMELESS:
            return close_object({self.member: self.raw})
        return bytes(self.document) if self.is_more else self.text

    def with_text(self, text: bytes) -> bytes:
        """Return the block with another text (in JSON), or a new text block if it was not one."""
        return with_member(self.raw if self.is_plain else b'{"type":"text"}', "text", text)


_NAMELESS: Final = ("content", "structuredContent", "message", "data")
"""Members whose place in an answer is taken by what is shown of them."""


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
_exact: Final = msgspec.json.Decoder(float_hook=Decimal)


def open_object(raw: Json) -> dict[str, Json] | None:
    """Return the members of an object, each value as it was spelled, or None if it is not an object."""
    try:
        return {name: memoryview(value) for name, value in _object.decode(raw).items()}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def close_object(members: Mapping[str, Json]) -> bytes:
    named = (
        part for name, value in members.items() for part in (b",", msgspec.json.encode(name), b":", value)
    )
    return b"{" + b"".join(named)[1:] + b"}"


def open_list(raw: Json) -> list[Json] | None:
    try:
        return [memoryview(value) for value in _list.decode(raw)]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def close_list(values: Sequence[Json]) -> bytes:
    return b"[" + b",".join(values) + b"]"


def with_member(raw: Json, name: str, value: Json) -> bytes:
    return close_object({**(open_object(raw) or {}), name: value})


def is_json(text: bytes) -> bool:
    """Return whether a text is a strict JSON list or object and could be embedded as such."""
    if text.lstrip()[:1] not in (b"[", b"{"):
        return False
    try:
        jsontext.canonical(text)
        text.decode()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return not jsontext.is_too_deep(text)


def block_slot(raw: Json, member: str = "content") -> Slot:
    """Read a content block of a tool result or prompt."""
    block = _decode(_block, raw)
    if block is None:
        return Slot(member, True, raw, bytes(raw))
    if block.type == "text" and _is_string(block.text):
        return Slot(member, True, raw, text_of(memoryview(block.text)), is_plain=True)
    if block.type == "image":
        return _media_slot(member, raw, block.data, block.mimeType or "image/")
    if block.type == "audio":
        return Slot(member, True, raw, media_tokens=len(block.data) * 3 // 4 // AUDIO_BYTES_PER_TOKEN + 1)
    if block.type == "resource" and block.resource is not NOTHING:
        inner = resource_slot(memoryview(block.resource), member)
        return Slot(
            member,
            True,
            raw,
            inner.text,
            inner.media_tokens,
            inner=inner,
            inner_name="resource",
            is_app=inner.is_app,
            is_more=True,
        )
    return Slot(member, True, raw, bytes(raw))


def resource_slot(raw: Json, member: str = "contents") -> Slot:
    """Read the contents of a resource. An app's own page (`ui://`) is for the client, not for the model."""
    resource = _decode(_resource, raw)
    if resource is None:
        return Slot(member, True, raw, bytes(raw))
    if resource.uri.startswith("ui://"):
        return Slot(member, True, raw, is_app=True)
    if _is_string(resource.text):
        text = text_of(memoryview(resource.text))
        return Slot(member, True, raw, text, is_plain=True, is_more=bool(resource.blob))
    if resource.blob:
        return _media_slot(member, raw, resource.blob, resource.mimeType)
    return Slot(member, True, raw, bytes(raw))


def message_slot(raw: Json) -> Slot:
    """Read a message of a prompt. One with several blocks counts unchanged."""
    members = open_object(raw) or {}
    content = members.get("content", b"")
    if content[:1] != b"{":
        return Slot("messages", True, raw, bytes(raw))
    inner = block_slot(content)
    is_bare = members.keys() == {"role", "content"} and (open_object(content) or {}).keys() == {
        "type",
        "text",
    }
    return Slot(
        "messages",
        True,
        raw,
        inner.text,
        inner.media_tokens,
        inner=inner,
        inner_name="content",
        is_app=inner.is_app,
        is_more=not is_bare,
    )


def _media_slot(member: str, raw: Json, data: str, mime_type: str) -> Slot:
    """Read media. Pictures cost by their pixels; data of an unknown kind counts as the text it is sent as."""
    if mime_type.startswith("image/") and (tokens := _picture_tokens(data)):
        return Slot(member, True, raw, media_tokens=tokens)
    if mime_type.startswith("audio/"):
        return Slot(member, True, raw, media_tokens=len(data) * 3 // 4 // AUDIO_BYTES_PER_TOKEN + 1)
    return Slot(member, True, raw, data.encode("utf-8", "replace"), is_more=True)


def _picture_tokens(data: str) -> int:
    """Return the tokens of a picture, or 0 if the format is unknown.

    A photograph may have long metadata before its size.
    """
    for length in (_HEADER_CHARS, _LONG_HEADER_CHARS):
        try:
            head = b64decode(data[:length], validate=True)
        except (Base64Error, ValueError):
            return 0
        if (size := image_size(head)) is not None:
            return max(image_tokens(*size), 1)
        if head[:2] != b"\xff\xd8":
            break
    is_modern = head[4:8] == b"ftyp" and head[8:12] in (b"avif", b"avis", b"heic", b"mif1")
    return MAX_IMAGE_TOKENS if is_modern else 0


def _is_string(raw: msgspec.Raw) -> bool:
    return raw is not NOTHING and bytes(memoryview(raw)[:1]) == b'"'


def _decode(decoder: Any, raw: Json) -> Any:
    try:
        return decoder.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


_WRAPPERS: Final = frozenset(("result", "content", "text", "output", "data"))
"""Names that servers put around a value that is not an object, and that say nothing: SDK, FastMCP, filesystem."""


def repeats(texts: list[bytes], structured: Json) -> bytes | None:
    """Return the fuller version if text blocks and structured data say the same, else None.

    Some servers send a list as one block per item.
    """
    if not texts:
        return None
    members = open_object(structured) or {}
    if len(texts) == 1 and _says(texts[0], structured):
        return texts[0]
    candidates = [structured, *(members.values() if len(members) == 1 else ())]
    is_named = len(members) == 1 and not members.keys() <= _WRAPPERS
    for candidate in candidates:
        if len(texts) == 1 and candidate is not structured and _says(texts[0], candidate):
            return bytes(structured) if is_named else texts[0]
        if candidate[:1] == b"[":
            items = open_list(candidate) or []
            if len(items) == len(texts) > 1 and all(map(_says, texts, items)):
                return bytes(structured if is_named else candidate)
    return None


def _says(text: bytes, value: Json) -> bool:
    """Return whether a text is this JSON value, or the text in it."""
    if value[:1] == b'"':
        return len(text) <= len(value) and text_of(value) == text
    if not 0.2 < (len(text) + 16) / (len(value) + 16) < 5:
        return False
    try:
        if jsontext.canonical(text) == jsontext.canonical(bytes(value)):
            return True
        return _same(_exact.decode(text), _exact.decode(value))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


def _same(one: Any, other: Any) -> bool:
    """Compare as JSON: 1 equals 1.0, true does not equal 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())  # type: ignore[misc]
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))  # type: ignore[arg-type]
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return one == other
