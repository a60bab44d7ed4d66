"""JSON-RPC messages as bytes: only what routing needs is read, the rest stays unchanged text."""

import json
import math
import re
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from brimgate.relay.protocol.spans import TEXT, replaced, spans

Json = bytes | memoryview
"""The text of a JSON value. A view of its message, where a copy would be large."""

_BACKSLASH: Final = re.compile(rb"\\")
_WINDOW_BYTES: Final = 1 << 20
_MAX_LENIENT_BYTES: Final = 4 << 20
"""Python's own reader is slow and blocks other threads meanwhile."""

_LINE_ENDS: Final = bytes.maketrans(b"\r\n", b"  ")

NOTHING: Final = msgspec.Raw()
_MODERN: Final = "io.modelcontextprotocol/protocolVersion"
"""In the `_meta` of every request since 2026-07-28, and of none before."""

INVALID_PARAMS: Final = -32602
METHOD_NOT_FOUND: Final = -32601
UPSTREAM_GONE: Final = -32000
PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
INTERNAL_ERROR: Final = -32603


class Message(msgspec.Struct):
    """One request, notification or answer. A missing member is empty; one that is `null` is not."""

    id: msgspec.Raw = NOTHING
    method: str = ""
    params: msgspec.Raw = NOTHING
    result: msgspec.Raw = NOTHING
    error: msgspec.Raw = NOTHING

    @property
    def key(self) -> bytes:
        """The id as it was spelled; empty for a notification."""
        return bytes(self.id)

    @property
    def has_error(self) -> bool:
        """Whether there is an error. Some writers put `"error": null` beside every result."""
        return self.error is not NOTHING and bytes(memoryview(self.error)[:4]) != b"null"

    @property
    def is_request(self) -> bool:
        return bool(self.method) and self.id is not NOTHING


@dataclass(frozen=True, slots=True)
class Opaque:
    """A JSON object that is not JSON-RPC: it is passed unchanged."""


@dataclass(frozen=True, slots=True)
class Garbage:
    """Not a message at all."""

    reason: str


class _Answer(msgspec.Struct):
    """A message whose method is not a text: null counts as none."""

    id: msgspec.Raw = NOTHING
    result: msgspec.Raw = NOTHING
    error: msgspec.Raw = NOTHING


_one: Final = msgspec.json.Decoder(Message)
_answer: Final = msgspec.json.Decoder(_Answer)
_many: Final = msgspec.json.Decoder(list[msgspec.Raw])


Read = Message | list[msgspec.Raw] | Opaque | Garbage


def read_any(line: bytes | bytearray) -> Read:
    """Read a message as the most tolerant client would: the one reader for everything that has to be routed.

    Its members may be a strict copy of what came, so they are for looking at. What is sent on is the line itself.
    """
    found = read(line)
    if not isinstance(found, Garbage):
        return found
    strict = read_leniently(line)
    return read(strict) if strict is not None else _read_too_deep(line) or found


def _read_too_deep(line: bytes | bytearray) -> Message | None:
    """Read a message that is nested more deeply than any reader goes, by where its members begin and end."""
    if len(line) > _MAX_LENIENT_BYTES or line.lstrip()[:1] != b"{":
        return None
    try:
        found = {span.name: bytes(line[span.start : span.end]) for span in spans(line)}
        method = text_of(found.get("method") or b'""').decode("utf-8", "replace")
    except ValueError:
        return None
    raw = {name: msgspec.Raw(found[name]) for name in ("id", "params", "result", "error") if name in found}
    return Message(method=method, **raw) if raw or method else None


def elements_of(line: bytes | bytearray) -> list[bytes]:
    """Return the messages of a batch as they came."""
    try:
        return [bytes(raw) for raw in _many.decode(line)]
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return [bytes(line[span.start : span.end]) for span in spans(line)]


def read(line: bytes | bytearray) -> Read:
    try:
        return _one.decode(line)
    except msgspec.ValidationError:
        pass
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        return Garbage(str(error))
    return _read_other(line)


def _read_other(line: bytes | bytearray) -> Read:
    try:
        match line.lstrip()[:1]:
            case b"[":
                return _many.decode(line)
            case b"{":
                found = _answer.decode(line)
                if found.result is NOTHING and found.error is NOTHING:
                    return Opaque()
                return Message(found.id, result=found.result, error=found.error)
            case _:
                return Garbage("a JSON value that is no object")
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        return Garbage(str(error))


class _Spelled(float):
    """A number that is written exactly as it was read."""

    def __new__(cls, text: str) -> "_Spelled":
        made = super().__new__(cls, text)
        made.text = text
        return made

    text: str

    def __repr__(self) -> str:
        return self.text


def _finite(text: str) -> float | str:
    """Read a number; one beyond any range stays a text, as NaN does."""
    number = _Spelled(text)
    return number if math.isfinite(number) else text


def read_leniently(line: bytes | bytearray) -> bytes | None:
    """Convert a message that strict readers refuse and many clients accept: NaN, lone surrogates, broken UTF-8.

    Return the same message in strict JSON, or None if it is not a message or is too long. NaN becomes the text "NaN",
    an invalid character becomes U+FFFD.
    """
    if len(line) > _MAX_LENIENT_BYTES or line.lstrip()[:1] not in (b"{", b"["):
        return None
    try:
        value = json.loads(
            line.decode("utf-8", "replace"), parse_constant=str, parse_float=_finite, strict=False
        )
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    except (ValueError, RecursionError):
        return None


_ID: Final = re.compile(rb'"id"\s*:\s*("(?:[^"\\]|\\.){0,200}"|-?\d{1,30})')


_LAST_ID: Final = re.compile(_ID.pattern + rb"\s*\}\s*\Z")


def messages_in(line: bytes | bytearray) -> list[Message]:
    """Read one message or those of a batch, be it in JSON that strict readers refuse; none if nobody can."""
    found = read_any(line)
    each = [read(bytes(raw)) for raw in found] if isinstance(found, list) else [found]
    return [one for one in each if isinstance(one, Message)]


def guess_id(beginning: bytes | bytearray) -> bytes:
    """Find the id of a message that cannot be read as a whole, from its ends; empty if there is none."""
    head = bytes(beginning[:4_096])
    cut = min(
        (at for name in (b'"result"', b'"error"', b'"params"') if (at := head.find(name)) >= 0), default=-1
    )
    found = _ID.search(head[:cut] if cut >= 0 else head) or _LAST_ID.search(bytes(beginning[-400:]))
    return found[1] if found else b""


def text_of(raw: Json) -> bytes:
    """Return the text of a JSON string, in UTF-8."""
    if _BACKSLASH.search(raw) is None:
        return bytes(memoryview(raw)[1:-1])
    if len(memoryview(raw)) > _WINDOW_BYTES:
        return _long_text_of(memoryview(raw))
    return _text_of(raw)


def _text_of(raw: Json) -> bytes:
    try:
        return msgspec.json.decode(raw, type=str).encode()
    except (msgspec.DecodeError, UnicodeDecodeError):
        text = json.loads(bytes(raw).decode("utf-8", "replace"), strict=False)
        return str(text).encode("utf-8", "replace")


def _long_text_of(raw: memoryview) -> bytes:
    """Decode window by window: a text of 64 MiB with one emoji in it would take 256 as a Python string.

    A window ends before a character that is never part of an escape or of a character of several bytes.
    """
    out = bytearray()
    start, last = 1, len(raw) - 1
    while start < last:
        window = bytes(raw[start : min(start + _WINDOW_BYTES, last)])
        if start + len(window) < last:
            end = max(window.rfind(mark) for mark in (b" ", b",", b"=", b"\\n"))
            if end <= 0:
                return _text_of(raw)
            window = window[: _before_escape(window, end)]
        if not window:
            return _text_of(raw)
        out += _text_of(b'"' + window + b'"')
        start += len(window)
    return bytes(out)


def _before_escape(window: bytes, end: int) -> int:
    """Move back over backslashes, so that none is separated from what it escapes."""
    while end and window[end - 1 : end] == b"\\":
        end -= 1
    return end


def quoted(text: str) -> bytes:
    """Write a JSON string. Lone surrogates, which stand for bytes that were not UTF-8, become U+FFFD."""
    try:
        return msgspec.json.encode(text)
    except UnicodeEncodeError:
        return msgspec.json.encode(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))


def one_line(text: bytes) -> bytes:
    """Remove line ends from JSON: between its parts they are only space. Inside a text, where strict JSON has none, they
    are escaped."""
    if b"\n" not in text and b"\r" not in text:
        return text
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        text = TEXT.sub(_without_line_ends, text)
    return text.translate(_LINE_ENDS).strip()


def _without_line_ends(match: re.Match[bytes]) -> bytes:
    return match[0].replace(b"\r", b"\\r").replace(b"\n", b"\\n")


def members(raw: msgspec.Raw | None) -> dict[str, msgspec.Raw]:
    """Return the members of an object as they are spelled; empty if it is not an object."""
    if raw is None or raw is NOTHING:
        return {}
    try:
        return msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}


def member(raw: msgspec.Raw, name: str) -> msgspec.Raw:
    """Return one member; NOTHING if there is none of that name."""
    return members(raw).get(name, NOTHING)


class RpcError(msgspec.Struct):
    code: int
    message: str = ""


def read_error(raw: Json) -> RpcError | None:
    """Read a JSON-RPC error. Return None for anything else, such as an OAuth error."""
    try:
        return msgspec.json.decode(raw, type=RpcError)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def encode(value: Any) -> bytes:
    return msgspec.json.encode(value)


def answer(key: bytes, result: Json) -> bytes:
    return b"".join((b'{"jsonrpc":"2.0","id":', key or b"null", b',"result":', result, b"}"))


def with_result(line: bytes | bytearray, key: bytes, result: Json) -> bytes:
    """Return the same answer with another result, and with the members that nobody knows."""
    try:
        return replaced(line, ("result",), result)
    except ValueError:
        return answer(key, result)


def failed(key: bytes, error: Json) -> bytes:
    return b"".join((b'{"jsonrpc":"2.0","id":', key or b"null", b',"error":', error, b"}"))


def failure(key: bytes, code: int, text: str, data: bytes = b"") -> bytes:
    inside = b'{"code":%d,"message":%s%s}' % (code, quoted(text), b',"data":' + data if data else b"")
    return failed(key, inside)


def is_modern(params: msgspec.Raw) -> bool:
    """Return whether a request speaks 2026-07-28 or later. Decodes it only where that is possible."""
    raw = bytes(params)
    if b"protocolVersion" not in raw:
        return False
    try:
        return _MODERN in msgspec.json.decode(raw, type=_Params).meta
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


def protocol_version(result: msgspec.Raw) -> str:
    """Return the version that the answer to a handshake names; empty if it names none."""
    raw = bytes(member(result, "protocolVersion"))
    return text_of(raw).decode("utf-8", "replace") if raw[:1] == b'"' else ""


def client_name(params: msgspec.Raw) -> str:
    """Return the name and version that a client gives in its handshake, or in every request since 2026-07-28."""
    try:
        read = msgspec.json.decode(bytes(params), type=_Introduction)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    who = read.clientInfo or read.meta.client
    return f"{who.name} {who.version}".strip()[:100] if who else ""


class _Client(msgspec.Struct):
    name: str = ""
    version: str = ""


class _ModernMeta(msgspec.Struct):
    client: _Client | None = msgspec.field(name="io.modelcontextprotocol/clientInfo", default=None)


class _Introduction(msgspec.Struct):
    clientInfo: _Client | None = None  # noqa: N815  # as on the wire
    meta: _ModernMeta = msgspec.field(name="_meta", default_factory=_ModernMeta)


class _Params(msgspec.Struct):
    meta: dict[str, msgspec.Raw] = msgspec.field(name="_meta", default_factory=lambda: {})
