"""A message on its way to a server over HTTP, and how its answer is recognised."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import msgspec

from brimgate.back.channel import Line
from brimgate.relay.calls import same_spelling, spellings
from brimgate.relay.protocol import message as rpc
from brimgate.relay.protocol.message import NOTHING, Message

_HIGH_BYTES: Final = 16 << 20
_LOW_BYTES: Final = 4 << 20


class _CancelParams(msgspec.Struct):
    requestId: msgspec.Raw = NOTHING  # noqa: N815  # as on the wire


@dataclass(frozen=True, slots=True, eq=False)
class Outgoing:
    line: bytes
    message: Message | None
    """None for a batch, and for what cannot be read."""
    keys: tuple[bytes, ...]
    """The ids of its requests, as they were spelled: each gets one answer."""
    is_modern: bool = False

    @property
    def method(self) -> str:
        return self.message.method if self.message is not None else ""

    @property
    def cancels(self) -> bytes:
        """The id of the request that it cancels."""
        if self.message is None or self.method != "notifications/cancelled" or self.keys:
            return b""
        try:
            return bytes(msgspec.json.decode(self.message.params, type=_CancelParams).requestId)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return b""


def read_outgoing(line: Line) -> Outgoing:
    messages = rpc.messages_in(line)
    keys = tuple(one.key for one in messages if one.is_request)
    if len(messages) == 1 and line.lstrip()[:1] == b"{":
        return Outgoing(bytes(line), messages[0], keys, rpc.is_modern(messages[0].params))
    if not messages and (key := rpc.guess_id(line)):
        keys = (key,)
    return Outgoing(bytes(line), None, keys)


class Waiting:
    """The ids of requests that wait for an answer."""

    def __init__(self, keys: tuple[bytes, ...] = ()) -> None:
        self._keys = {same_spelling(key): key for key in keys}

    def __bool__(self) -> bool:
        return bool(self._keys)

    def __contains__(self, key: bytes) -> bool:
        return same_spelling(key) in self._keys

    def add(self, key: bytes) -> None:
        self._keys[same_spelling(key)] = key

    def take(self, key: bytes) -> bool:
        """Return whether somebody waited for this; from now on nobody does."""
        if not key:
            return False
        return any(self._keys.pop(spelling, None) is not None for spelling in spellings(key))

    def take_all(self) -> list[bytes]:
        keys = list(self._keys.values())
        self._keys.clear()
        return keys


class Backlog:
    """Counts what waits to be sent. Reports when it is too much, and when it no longer is."""

    def __init__(self, on_pressure: Callable[[bool], None]) -> None:
        self._on_pressure = on_pressure
        self._bytes = 0
        self._is_pressed = False

    def add(self, sent: Outgoing) -> None:
        self._bytes += len(sent.line)
        if self._bytes > _HIGH_BYTES and not self._is_pressed:
            self._is_pressed = True
            self._on_pressure(True)

    def remove(self, sent: Outgoing) -> None:
        self._bytes -= len(sent.line)
        if self._bytes <= _LOW_BYTES and self._is_pressed:
            self._is_pressed = False
            self._on_pressure(False)
