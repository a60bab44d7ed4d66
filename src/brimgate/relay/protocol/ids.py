"""Share one upstream among many clients: make their ids and tokens unique, and restore them in answers.

Since 2026-07-28 every request is independent, so one process serves many clients. Two clients may both use the id 1:
the upstream sees our numbers, and each client the id it chose.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import msgspec

from brimgate.relay.actions import Line
from brimgate.relay.protocol import message as rpc
from brimgate.relay.protocol.message import NOTHING, Message

_T = TypeVar("_T")
_SUBSCRIPTION: Final = "io.modelcontextprotocol/subscriptionId"
_PROGRESS: Final = "progressToken"


@dataclass(slots=True)
class _Seat(Generic[_T]):
    who: _T
    id: bytes
    """The client's id of its request."""
    token: bytes
    """The client's progress token; empty if it wants no progress."""


@dataclass(frozen=True, slots=True)
class Routed(Generic[_T]):
    who: _T
    line: Line
    is_last: bool


class Multiplexer(Generic[_T]):
    def __init__(self) -> None:
        self._seats: dict[int, _Seat[_T]] = {}
        self._last = 0

    def __len__(self) -> int:
        return len(self._seats)

    def enter(self, message: Message, who: _T) -> tuple[int, bytes]:
        """Return a request of `who` as the upstream will see it, and its number there."""
        self._last += 1
        number = self._last
        params, token = _with_token(message.params, b"%d" % number)
        self._seats[number] = _Seat(who, message.key, token)
        inner = (b',"params":', params) if params is not NOTHING else ()
        head = (b'{"jsonrpc":"2.0","id":%d,"method":' % number, rpc.quoted(message.method))
        return number, b"".join((*head, *inner, b"}"))

    def leave(self, number: int) -> bytes:
        """Return the cancellation for a client that has gone; empty if the upstream has already answered."""
        if self._seats.pop(number, None) is None:
            return b""
        params = b'{"requestId":%d,"reason":"the client disconnected"}' % number
        return b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":' + params + b"}"

    def route(self, line: Line) -> Iterator[Routed[_T]]:
        """Yield the client that a message of the upstream is for, and its text there.

        Yield nothing if that is unknown.
        """
        message = rpc.read(line)
        if isinstance(message, list):
            for element in message:
                yield from self.route(bytes(element))
        elif isinstance(message, Message):
            routed = self._notification(message) if message.method else self._answer(message)
            if routed is not None:
                yield routed

    def _answer(self, message: Message) -> Routed[_T] | None:
        is_ours = message.key.isdigit() and len(message.key) < 20
        seat = self._seats.pop(int(message.key), None) if is_ours else None
        if seat is None:
            return None
        if message.has_error:
            line = b"".join((b'{"jsonrpc":"2.0","id":', seat.id, b',"error":', message.error, b"}"))
        else:
            result = _with_subscription(message.result, seat.id, only_if_number=True)
            line = rpc.answer(seat.id, memoryview(result))
        return Routed(seat.who, line, is_last=True)

    def _notification(self, message: Message) -> Routed[_T] | None:
        if message.key:
            return None  # since 2026-07-28 no upstream sends requests to clients
        params = rpc.members(message.params)
        if message.method == "notifications/progress":
            seat = self._seat(params.get(_PROGRESS))
            if seat is None or not seat.token:
                return None
            params[_PROGRESS] = msgspec.Raw(seat.token)
            written = rpc.encode(params)
        else:
            seat = self._seat(rpc.members(params.get("_meta")).get(_SUBSCRIPTION))
            if seat is None:
                return None
            written = bytes(_with_subscription(message.params, seat.id))
        head = b'{"jsonrpc":"2.0","method":' + rpc.quoted(message.method)
        return Routed(seat.who, head + b',"params":' + written + b"}", is_last=False)

    def _seat(self, raw: msgspec.Raw | None) -> _Seat[_T] | None:
        text = bytes(raw).strip(b'"') if raw is not None else b""
        return self._seats.get(int(text)) if text.isdigit() and len(text) < 20 else None


def _with_token(params: msgspec.Raw, token: bytes) -> tuple[msgspec.Raw, bytes]:
    """Return the parameters with our progress token, and the token that was there before."""
    raw = bytes(params)
    if b"progressToken" not in raw and b"\\" not in raw:
        return params, b""
    members = rpc.members(params)
    meta = rpc.members(members.get("_meta"))
    given = meta.get(_PROGRESS)
    if given is not None:
        meta[_PROGRESS] = msgspec.Raw(token)
    # Rewritten: if a member occurred twice, the upstream could read another one than we did, with someone
    # else's token.
    members["_meta"] = msgspec.Raw(rpc.encode(meta))
    return msgspec.Raw(rpc.encode(members)), bytes(given or b"")


def _with_subscription(raw: msgspec.Raw, id_: bytes, *, only_if_number: bool = False) -> msgspec.Raw:
    """Restore the id of a subscription, which is that of the request that opened it, to the client's spelling."""
    if only_if_number and _SUBSCRIPTION.encode() not in bytes(memoryview(raw)[:4_096]):
        return raw
    members = rpc.members(raw)
    meta = rpc.members(members.get("_meta"))
    if _SUBSCRIPTION not in meta:
        return raw
    meta[_SUBSCRIPTION] = msgspec.Raw(id_)
    members["_meta"] = msgspec.Raw(rpc.encode(meta))
    return msgspec.Raw(rpc.encode(members))
