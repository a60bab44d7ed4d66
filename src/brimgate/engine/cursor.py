"""Cursors: where reading continues, in at most 64 characters because the model pays for each.

    base64url( kind · snapshot id (8) · expiry in minutes (4) · view id (0 or 4) · position (2 varints) · tag (16) )

The tag is HMAC-SHA256 over these fields and over three that are not in the cursor: principal, upstream and tool.
So a cursor fails for another user, tool or server, at no cost in length. Every problem raises the same error.
"""

import hmac
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from threading import Lock
from typing import Final

import msgspec

from brimgate.engine.document import Position
from brimgate.errors import CursorError, OperatorError

MAX_CHARS: Final = 64
MIN_KEY_BYTES: Final = 16

_WALK: Final = 0x10
_VIEW: Final = 0x11
_TAG_BYTES: Final = 16
_HEAD_BYTES: Final = 13
_CANONICAL: Final = re.compile(r"[A-Za-z0-9_-]{40,64}\Z")
_WELL_KNOWN: Final = (b"secret", b"changeme", b"password", b"default", b"test", b"your-secret", b"example")


@dataclass(frozen=True, slots=True)
class Binding:
    """The principal, upstream and tool that a held answer and its cursors belong to."""

    principal: str = ""
    upstream: str = ""
    tool: str = ""
    pack: str = ""
    """The pack whose formatter writes the answer. It is kept with the answer, and is no part of the seal."""

    def digest(self) -> bytes:
        fields = (self.principal, self.upstream, self.tool)
        return b"".join(len(part := text.encode()).to_bytes(4, "big") + part for text in fields)

    def to_bytes(self) -> bytes:
        return msgspec.json.encode(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Binding":
        """Read what a store has kept. Raise CursorError if it is something else."""
        try:
            return msgspec.json.decode(data, type=cls)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise CursorError from None


@dataclass(frozen=True, slots=True)
class Cursor:
    snapshot: bytes
    expires_minute: int
    position: Position
    view: bytes = b""


class KeyRing:
    """The keys for cursors. The first key seals; every key unseals."""

    def __init__(self, *keys: bytes) -> None:
        if not keys:
            raise OperatorError("at least one cursor key is needed")
        for key in keys:
            check_key(key)
        self._given = keys

    @cached_property
    def keys(self) -> tuple[bytes, ...]:
        return self._given

    def seal(self, cursor: Cursor, binding: Binding) -> str:
        body = _pack(cursor)
        return urlsafe_b64encode(body + self._tag(self.keys[0], body, binding)).rstrip(b"=").decode()

    def unseal(self, text: str, binding: Binding, now_minute: int) -> Cursor:
        body, tag = _split(text)
        if not any(hmac.compare_digest(tag, self._tag(key, body, binding)) for key in self.keys):
            raise CursorError
        cursor = _unpack(body)
        if cursor.expires_minute <= now_minute:
            raise CursorError
        return cursor

    def snapshot_id(self, data: bytes, binding: Binding) -> bytes:
        """Return an id that is the same for the same answer and caller, and cannot be guessed without the key."""
        seal = hmac.new(self.keys[0], binding.digest(), sha256)
        seal.update(data)
        return seal.digest()[:8]

    def _tag(self, key: bytes, body: bytes, binding: Binding) -> bytes:
        return hmac.new(key, body + binding.digest(), sha256).digest()[:_TAG_BYTES]


class LazyKeyRing(KeyRing):
    """Keys that are read when the first cursor needs them: they may be in a file, and a disk may have to be waited for."""

    def __init__(self, load: Callable[[], KeyRing]) -> None:
        self._load = load
        self._lock = Lock()
        self._given = ()

    @cached_property
    def keys(self) -> tuple[bytes, ...]:
        with self._lock:  # two threads that need them at the same time must get the same
            self._given = self._given or self._load().keys
        return self._given


def check_key(key: bytes) -> None:
    if len(key) < MIN_KEY_BYTES:
        raise OperatorError(
            f"the cursor key has {len(key)} bytes; at least {MIN_KEY_BYTES} random bytes are needed"
        )
    lowered = key.lower()
    if any(word in lowered for word in _WELL_KNOWN) or len(set(key)) < 8:
        raise OperatorError("the cursor key is well known or has hardly any variety; use random bytes")


def peek(text: str) -> Cursor:
    """Decode a cursor without checking that we sealed it (for debugging)."""
    body, _ = _split(text)
    return _unpack(body)


def answer_number(text: str) -> int:
    """Return the number by which statistics know the answer that a cursor leads to; 0 if it is no cursor."""
    try:
        return number_of(peek(text).snapshot)
    except CursorError:
        return 0


def number_of(snapshot: bytes) -> int:
    """Return the number of a snapshot: positive, and within the integers of every database."""
    return int.from_bytes(snapshot[:8], "big") >> 1


def _split(text: str) -> tuple[bytes, bytes]:
    if not _CANONICAL.match(text):
        raise CursorError
    try:
        data = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        raise CursorError from None
    # The last character can carry bits that decode to nothing: accept only the one canonical spelling.
    if urlsafe_b64encode(data).rstrip(b"=").decode() != text:
        raise CursorError
    return data[:-_TAG_BYTES], data[-_TAG_BYTES:]


def _pack(cursor: Cursor) -> bytes:
    kind = _VIEW if cursor.view else _WALK
    head = bytes((kind,)) + cursor.snapshot + cursor.expires_minute.to_bytes(4, "big") + cursor.view
    return head + _varint(cursor.position.node) + _varint(cursor.position.text)


def _unpack(body: bytes) -> Cursor:
    if len(body) < _HEAD_BYTES or body[0] not in (_WALK, _VIEW):
        raise CursorError
    at = _HEAD_BYTES + (4 if body[0] == _VIEW else 0)
    node, at2 = _read_varint(body, at)
    text, end = _read_varint(body, at2)
    if end != len(body):
        raise CursorError
    return Cursor(body[1:9], int.from_bytes(body[9:13], "big"), Position(node, text), body[_HEAD_BYTES:at])


def _varint(number: int) -> bytes:
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while at < len(data) and shift < 49:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at
        shift += 7
    raise CursorError
