"""The parts of an answer that a model sees: where its text, structured data and images are."""

from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final, Literal

import msgspec

from brimgate.engine import jsontext
from brimgate.engine.tokens.estimator import MAX_IMAGE_TOKENS, image_size, image_tokens
from brimgate.relay.protocol.message import NOTHING, Json, text_of

AUDIO_BYTES_PER_TOKEN: Final = 500
"""An assumption, not measured: 32 tokens for a second of sound, which is 16 KB at 128 kbit/s."""
_HEADER_CHARS: Final = 4_096
_LONG_HEADER_CHARS: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Binary:
    """The data of an image, a sound or a blob: base64, and not for a model to read."""

    member: Literal["data", "blob"]
    byte_count: int
    """Of the bytes themselves, not of their base64."""
    mime_type: str
    uri: str = ""
    is_file: bool = False
    """It is neither a picture nor a sound: no model is shown it, and it counts nothing."""
    is_odd: bool = False
    """It claims to be a picture or a sound and is not: it counts as the text that it is sent as."""
    hidden_text: bytes = b""
    """The text that is in odd data, if it is readable."""


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
    binary: Binary | None = None

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

    def without_data(self, instead: Mapping[str, Json] | None = None) -> bytes:
        """Return the slot without its binary data, with other members instead."""
        if self.inner is not None:
            return with_member(self.raw, self.inner_name, self.inner.without_data(instead))
        members = open_object(self.raw) or {}
        if self.binary is not None:
            members.pop(self.binary.member, None)
        return close_object({**members, **(instead or {})})

    @property
    def block(self) -> bytes:
        """The slot as a content block: that of a message, or one around the contents of a resource."""
        if self.member == "messages" and self.inner is not None:
            return bytes(self.inner.raw)
        return embedded(self.raw) if self.member == "contents" else bytes(self.raw)

    @property
    def bare_block(self) -> bytes:
        """The same with nothing but its data and short members that say what it is."""
        inner = self
        while inner.inner is not None:
            inner = inner.inner
        name = self.binary.member if self.binary is not None else ""
        kept = {
            key: value
            for key, value in (open_object(inner.raw) or {}).items()
            if key == name or (key in ("type", "mimeType", "uri") and len(value) <= _MAX_LABEL_BYTES)
        }
        return embedded(close_object(kept)) if name == "blob" else close_object(kept)


_NAMELESS: Final = ("content", "structuredContent", "message", "data")
"""Members whose place in an answer is taken by what is shown of them."""


class _Block(msgspec.Struct):
    type: msgspec.Raw = NOTHING
    text: msgspec.Raw = NOTHING
    data: msgspec.Raw = NOTHING
    mimeType: msgspec.Raw = NOTHING  # noqa: N815  # as on the wire
    resource: msgspec.Raw = NOTHING


class _Resource(msgspec.Struct):
    uri: msgspec.Raw = NOTHING
    text: msgspec.Raw = NOTHING
    blob: msgspec.Raw = NOTHING
    mimeType: msgspec.Raw = NOTHING  # noqa: N815


_block: Final = msgspec.json.Decoder(_Block)
_resource: Final = msgspec.json.Decoder(_Resource)
_list: Final = msgspec.json.Decoder(list[msgspec.Raw])
_object: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_exact: Final = msgspec.json.Decoder(float_hook=Decimal)


def embedded(resource: Json) -> bytes:
    return b'{"type":"resource","resource":' + resource + b"}"


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
    kind = _text(block.type)
    if kind == "text" and _is_string(block.text):
        return Slot(member, True, raw, text_of(memoryview(block.text)), is_plain=True)
    if kind in ("image", "audio") and _is_string(block.data):
        data = text_of(memoryview(block.data))
        return _data_slot(member, raw, data, "data", kind, _text(block.mimeType))
    if kind == "resource" and block.resource is not NOTHING:
        return _around(resource_slot(memoryview(block.resource), member), member, raw, "resource")
    return Slot(member, True, raw, bytes(raw))


def resource_slot(raw: Json, member: str = "contents") -> Slot:
    """Read the contents of a resource. An app's own page (`ui://`) is for the client, not for the model."""
    resource = _decode(_resource, raw)
    if resource is None:
        return Slot(member, True, raw, bytes(raw))
    uri, has_blob = _text(resource.uri), _is_string(resource.blob) and len(memoryview(resource.blob)) > 2
    if uri.startswith("ui://"):
        return Slot(member, True, raw, is_app=True)
    if _is_string(resource.text):
        text = text_of(memoryview(resource.text))
        return Slot(member, True, raw, text, is_plain=True, is_more=has_blob)
    if has_blob:
        data, mime_type = text_of(memoryview(resource.blob)), _text(resource.mimeType)
        kind = mime_type.strip().lower().partition("/")[0]
        return _data_slot(member, raw, data, "blob", kind, mime_type, uri)
    return Slot(member, True, raw, bytes(raw))


def _around(inner: Slot, member: str, raw: Json, name: str, *, is_more: bool = True) -> Slot:
    """Return the slot of what is around a resource or block: it costs what that costs."""
    return Slot(
        member, True, raw, inner.text, inner.media_tokens, inner=inner, inner_name=name, is_app=inner.is_app,
        is_more=is_more, binary=inner.binary,
    )  # fmt: skip


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
    return _around(inner, "messages", raw, "content", is_more=not is_bare)


# Binary data


class _Holding(msgspec.Struct):
    data: msgspec.Raw = NOTHING
    blob: msgspec.Raw = NOTHING
    resource: msgspec.Raw = NOTHING
    content: msgspec.Raw = NOTHING


_holding: Final = msgspec.json.Decoder(_Holding)


def has_data(raw: Json) -> bool:
    """Return whether a block, resource or message has a member for binary data. This decodes no text."""
    found = _decode(_holding, raw)
    if found is None:
        return False
    if found.data is not NOTHING or found.blob is not NOTHING:
        return True
    return any(
        inner is not NOTHING and has_data(memoryview(inner)) for inner in (found.resource, found.content)
    )


def _data_slot(
    member: str,
    raw: Json,
    data: bytes,
    name: Literal["data", "blob"],
    kind: str,
    mime_type: str,
    uri: str = "",
) -> Slot:
    """Read data that should be base64. What is none is a text, and counts as such.

    Pictures and sounds have their cost if they are what they say; a file of another kind costs nothing.
    """
    body = _base64(data)
    if not body:
        return Slot(member, True, raw, data, is_more=True)
    size = len(body) * 3 // 4
    binary = Binary(name, size, mime_type, uri, is_file=kind not in ("image", "audio"))
    if binary.is_file:
        return Slot(member, True, raw, binary=binary)
    tokens = _picture_tokens(body) if kind == "image" else _sound_tokens(body)
    if tokens:
        return Slot(member, True, raw, media_tokens=tokens, binary=binary)
    odd = replace(binary, is_odd=True, hidden_text=_readable(_decoded(body)))
    return Slot(member, True, raw, data, is_more=True, binary=odd)


def _base64(data: bytes) -> bytes | None:
    """Return base64 without what sloppy servers add to it; None if it is not base64.

    They put a `data:` URL there, break lines, leave out the padding or use the alphabet for URLs. Lines must be of one
    length: a text of words is not base64.
    """
    if data[:5].lower() == b"data:":
        head, _, _ = data[:_MAX_DATA_URL_HEAD].partition(b",")
        if not head.lower().endswith(b";base64"):
            return None
        data = data[len(head) + 1 :]
    if b"\n" in data:
        lines = data.replace(b"\r\n", b"\n").strip(b"\n").split(b"\n")
        width = len(lines[0])
        if len(lines) > 1 and (width < _MIN_LINE_CHARS or {len(line) for line in lines[:-1]} != {width}):
            return None
        data = b"".join(lines) if len(lines[-1]) <= width else b"\n"
    padding = len(data) - len(data.rstrip(b"="))
    body = data[: len(data) - padding] if padding else data
    is_whole = padding <= 2 and len(body) % 4 != 1
    return body if is_whole and not body.translate(None, _BASE64) else None


def _decoded(body: bytes) -> bytes:
    """Decode the base64 that `_base64` returned, or its beginning."""
    plain = body.translate(_STANDARD)
    return b64decode(plain + b"=" * (-len(plain) % 4))


def _readable(data: bytes) -> bytes:
    """Return the data if it is a text to be read, else nothing. Data that was encoded twice is none."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return b""
    is_text = len(data.translate(None, _CONTROLS)) == len(data) and _base64(data) is None
    return data if is_text else b""


def _sound_tokens(body: bytes) -> int:
    """Return the tokens of a sound, or 0 if it is a text. Raw samples have no header."""
    is_sound = _is_sound(_decoded(body[:_HEADER_CHARS])) or not _readable(_decoded(body))
    return len(body) * 3 // 4 // AUDIO_BYTES_PER_TOKEN + 1 if is_sound else 0


def _is_sound(head: bytes) -> bool:
    """Return whether data begins as a known format of sound does."""
    if head[:4] in (b"RIFF", b"RF64", b"FORM"):
        return head[8:12] in (b"WAVE", b"AIFF", b"AIFC")
    if head.startswith(_SOUNDS) or head[4:8] == b"ftyp":
        return True
    # A frame of MPEG audio or ADTS. FF FE begins a text in UTF-16.
    return len(head) > 2 and head[0] == 0xFF and head[1] & 0xE0 == 0xE0 and head[1] != 0xFE


def _picture_tokens(body: bytes) -> int:
    """Return the tokens of a picture, or 0 if the format is unknown.

    A photograph may have long metadata before its size.
    """
    head = b""
    for length in (_HEADER_CHARS, _LONG_HEADER_CHARS):
        head = _decoded(body[:length])
        if (size := image_size(head)) is not None:
            return max(image_tokens(*size), 1)
        if head[:2] != b"\xff\xd8":
            break
    is_modern = head[4:8] == b"ftyp" and head[8:12] in (b"avif", b"avis", b"heic", b"mif1")
    is_bitmap = head[:2] == b"BM" and head[6:10] == bytes(4)
    return MAX_IMAGE_TOKENS if is_modern or is_bitmap or head.startswith(_PICTURES) else 0


_BASE64: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_"
_STANDARD: Final = bytes.maketrans(b"-_", b"+/")
_MAX_LABEL_BYTES: Final = 200
_MIN_LINE_CHARS: Final = 16
_MAX_DATA_URL_HEAD: Final = 200
_CONTROLS: Final = bytes({*range(32), 0x7F} - set(b"\t\n\f\r\x1b"))
"""Bytes that no text has."""
_PICTURES: Final = (
    b"II*\0",  # TIFF
    b"MM\0*",
    b"8BPS\0",
    b"\0\0\1\0",  # icons
    b"\0\0\0\x0cjP  ",
    b"\0\0\0\x0cJXL ",
    b"\xff\x0a",
)
"""How formats begin of which the size is not read."""
_SOUNDS: Final = (b"ID3", b"OggS", b"fLaC", b"\x1aE\xdf\xa3", b"MThd", b"#!AMR", b"caff", b".snd\0")


def _is_string(raw: msgspec.Raw) -> bool:
    return raw is not NOTHING and bytes(memoryview(raw)[:1]) == b'"'


def _text(raw: msgspec.Raw) -> str:
    """Return the text of a member; empty if it is not one."""
    return text_of(memoryview(raw)).decode("utf-8", "replace") if _is_string(raw) else ""


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
