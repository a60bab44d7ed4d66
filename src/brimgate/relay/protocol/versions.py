"""The two eras of the protocol, and how to tell which one a request speaks.

Until 2025-11-25 client and server do a handshake (`initialize`) and share a session. Since 2026-07-28 every request
is independent and complete; over HTTP its headers repeat what its body says.
"""

import base64
import binascii
import re
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from brimgate.relay.protocol import message as rpc
from brimgate.relay.protocol.message import NOTHING, Message

HANDSHAKE_VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
ASSUMED_VERSION: Final = "2025-03-26"
"""Assumed for clients that do not say: the header came later."""
PRIMED_SINCE: Final = "2025-11-25"
"""Since this version clients know that a stream begins with an event that has nothing but an id."""
MODERN_VERSION: Final = "2026-07-28"

VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY: Final = "io.modelcontextprotocol/clientCapabilities"
LOG_LEVEL_KEY: Final = "io.modelcontextprotocol/logLevel"

HEADER_MISMATCH: Final = -32020
UNSUPPORTED_VERSION: Final = -32022
LISTEN: Final = "subscriptions/listen"

_NAMED_BY: Final = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}
"""The parameter that `Mcp-Name` repeats."""
_ROUTING: Final = (b"mcp-protocol-version", b"mcp-method", b"mcp-name")
_CODED: Final = re.compile(r"=\?base64\?(.*)\?=", re.DOTALL)
_PLAIN: Final = re.compile(r"[\x20-\x7e]*")

Headers = Sequence[tuple[bytes, bytes]]
"""Headers as they came: names in lower case, values without surrounding space."""


class ProtocolRefusal(Exception):
    """A request that contradicts itself or the protocol."""

    def __init__(self, code: int, text: str, data: bytes = b"") -> None:
        super().__init__(text)
        self.code, self.text, self.data = code, text, data


def is_modern_header(version: bytes) -> bool:
    """Return whether the version is modern. Unknown versions belong to the newer era, which has an answer for them."""
    return bool(version) and version.decode("latin-1") not in HANDSHAKE_VERSIONS


def meta_of(message: Message) -> dict[str, Any]:
    """Return the `_meta` of a modern request; empty if there is none."""
    if message.params is NOTHING:
        return {}
    try:
        return msgspec.json.decode(message.params, type=_Params).meta
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}


class _Params(msgspec.Struct):
    meta: dict[str, Any] = msgspec.field(name="_meta", default_factory=lambda: {})


class _Named(msgspec.Struct):
    name: str | None = None
    uri: str | None = None
    taskId: str | None = None  # noqa: N815  # as on the wire
    arguments: dict[str, Any] | None = None


def check_envelope(message: Message, headers: Headers) -> dict[str, Any]:
    """Check that headers and body of a modern request agree, and return its `_meta`.

    Raise ProtocolRefusal if they do not.
    """
    for name in _ROUTING:
        if sum(1 for given, _ in headers if given == name) > 1:
            raise ProtocolRefusal(HEADER_MISMATCH, f"the header {name.decode()} appears more than once")
    meta = meta_of(message)
    if missing := [key for key in (VERSION_KEY, CAPABILITIES_KEY) if key not in meta]:
        raise ProtocolRefusal(rpc.INVALID_PARAMS, f"params._meta is missing {' and '.join(missing)}")
    version = meta[VERSION_KEY]
    _check(headers, "mcp-protocol-version", version, "the protocol version in params._meta")
    _check(headers, "mcp-method", message.method, "the method")
    if member := _NAMED_BY.get(message.method):
        named = getattr(_named(message), member)
        if named is not None:
            _check(headers, "mcp-name", named, f"params.{member}")
    if version != MODERN_VERSION:
        data = rpc.encode({"supported": [MODERN_VERSION], "requested": version})
        raise ProtocolRefusal(
            UNSUPPORTED_VERSION, f"unsupported protocol version; supported: {MODERN_VERSION}", data
        )
    return meta


def _named(message: Message) -> _Named:
    try:
        return msgspec.json.decode(message.params, type=_Named)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _Named()


def _check(headers: Headers, name: str, said: Any, what: str) -> None:
    if header_text(headers, name) != said:
        raise ProtocolRefusal(HEADER_MISMATCH, f"the header {name} does not match {what}")


def header_text(headers: Headers, name: str) -> str | None:
    """Return the text of a header, or None if it is missing or wrongly encoded."""
    wanted = name.encode()
    value = next((value for given, value in headers if given == wanted), None)
    return None if value is None else decode_text(value.decode("latin-1"))


def decode_text(value: str) -> str | None:
    coded = _CODED.fullmatch(value)
    if coded is None:
        return value
    try:
        data = base64.b64decode(coded[1], validate=True)
        return data.decode() if base64.b64encode(data).decode() == coded[1] else None
    except (binascii.Error, ValueError):
        return None


def encode_text(text: str) -> bytes:
    """Encode a text as the value of a header; as base64 where it would not survive unchanged."""
    if _PLAIN.fullmatch(text) and text == text.strip() and not _CODED.fullmatch(text):
        return text.encode()
    return b"=?base64?" + base64.b64encode(text.encode("utf-8", "replace")) + b"?="


def envelope_headers(message: Message) -> list[tuple[bytes, bytes]]:
    """Return the headers that repeat what a modern request says."""
    meta = meta_of(message)
    found = [(b"mcp-protocol-version", encode_text(str(meta.get(VERSION_KEY, MODERN_VERSION))))]
    found.append((b"mcp-method", encode_text(message.method)))
    if (member := _NAMED_BY.get(message.method)) and (named := getattr(_named(message), member)) is not None:
        found.append((b"mcp-name", encode_text(named)))
    return found


def call_arguments(message: Message) -> tuple[str, dict[str, Any]]:
    """Return the name and arguments of a `tools/call`."""
    named = _named(message)
    return named.name or "", named.arguments or {}
