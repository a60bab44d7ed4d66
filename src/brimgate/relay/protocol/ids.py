"""Share one upstream among many clients: make their ids and tokens unique, and restore them in answers.

Since 2026-07-28 every request is independent, so one process serves many clients. Two clients may both use the id 1:
the upstream sees our numbers, and each client the id it chose.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import msgspec

from brimgate.relay.actions import Line
from brimgate.relay.calls import same_spelling
from brimgate.relay.protocol import message as rpc
from brimgate.relay.protocol.message import Message
from brimgate.relay.protocol.spans import replaced
from brimgate.relay.protocol.versions import LISTEN, LOG_LEVEL_KEY

_T = TypeVar("_T")
_SUBSCRIPTION: Final = "io.modelcontextprotocol/subscriptionId"
_PROGRESS: Final = "progressToken"
_LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
_ALL_LEVELS: Final = 0
_NO_LOGS: Final = len(_LEVELS)


@dataclass(slots=True)
class _Seat(Generic[_T]):
    who: _T
    id: bytes
    """The client's id of its request."""
    token: bytes
    """The client's progress token; empty if it wants no progress."""
    log_level: int
    """The least level of the logs it asked for."""
    listens: bool
    """It waits for no answer, only for what the upstream says by itself."""


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

    def enter(self, line: bytes, who: _T) -> tuple[int, bytes]:
        """Return a request of `who` as the upstream will see it, and its number there.

        Raise ValueError if it cannot be told where its id or token is.
        """
        message = rpc.read_any(line)
        if not isinstance(message, Message):
            raise ValueError("this is no request")  # of the client, not of our code
        number = self._last + 1
        meta = rpc.members(rpc.members(message.params).get("_meta"))
        seen = _with_token(replaced(line, ("id",), b"%d" % number), meta, b"%d" % number)
        token, level = meta.get(_PROGRESS), _level_of(meta.get(LOG_LEVEL_KEY), missing=_NO_LOGS)
        self._last = number
        self._seats[number] = _Seat(who, message.key, bytes(token or b""), level, message.method == LISTEN)
        return number, seen

    def leave(self, number: int) -> bytes:
        """Return the cancellation for a client that has gone; empty if the upstream has already answered."""
        if self._seats.pop(number, None) is None:
            return b""
        params = b'{"requestId":%d,"reason":"the client disconnected"}' % number
        return b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":' + params + b"}"

    def noted(self, line: bytes) -> bytes:
        """Return a client's notification as the upstream will see it; empty if it is about no request of ours."""
        message = rpc.read_any(line)
        if not isinstance(message, Message) or message.method != "notifications/cancelled":
            return line
        key = same_spelling(bytes(rpc.member(message.params, "requestId")))
        found = [number for number, seat in self._seats.items() if same_spelling(seat.id) == key]
        # Several clients may use the same id, and hanging up says better which one is meant.
        return replaced(line, ("params", "requestId"), b"%d" % found[0]) if len(found) == 1 else b""

    def route(self, line: Line) -> Iterator[Routed[_T]]:
        """Yield the clients that a message of the upstream is for, and its text there.

        Yield nothing if that is unknown.
        """
        message = rpc.read_any(line)
        if isinstance(message, list):
            for element in rpc.elements_of(line):
                yield from self.route(element)
        elif isinstance(message, Message) and message.method:
            yield from self._notification(message, line)
        elif isinstance(message, Message):
            yield from self._answer(message, line)

    def _answer(self, message: Message, line: Line) -> Iterator[Routed[_T]]:
        number = _number(message.key)
        seat = self._seats.pop(number, None)
        if seat is not None:
            yield Routed(seat.who, _readdressed(message, line, seat.id), is_last=True)

    def _notification(self, message: Message, line: Line) -> Iterator[Routed[_T]]:
        if message.key:
            return  # since 2026-07-28 no upstream sends requests to clients
        params = rpc.members(message.params)
        meta = rpc.members(params.get("_meta"))
        if message.method == "notifications/progress":
            seat = self._seat(params.get(_PROGRESS))
            if seat is not None and seat.token:
                written = replaced(line, ("params", _PROGRESS), seat.token)
                yield Routed(seat.who, written, is_last=False)
        elif seat := self._seat(meta.get(_SUBSCRIPTION)):
            written = _with_subscription(line, message.params, "params", seat.id)
            yield Routed(seat.who, written, is_last=False)
        else:
            for seat in self._audience(message, params):
                yield Routed(seat.who, line, is_last=False)

    def _audience(self, message: Message, params: dict[str, msgspec.Raw]) -> list[_Seat[_T]]:
        """Return who hears a message that names no request.

        Logs are for those who asked for them: for calls under way, else for whoever listens, so that a client with both
        hears them once. Everything else is for all.
        """
        if message.method != "notifications/message":
            return list(self._seats.values())
        level = _level_of(params.get("level"), missing=_NO_LOGS - 1)
        asked = [seat for seat in self._seats.values() if seat.log_level <= level]
        return [seat for seat in asked if not seat.listens] or asked

    def _seat(self, raw: msgspec.Raw | None) -> _Seat[_T] | None:
        return self._seats.get(_number(bytes(raw))) if raw is not None else None


def _readdressed(message: Message, line: Line, id_: bytes) -> bytes:
    """Return an answer under the client's id."""
    try:
        written = replaced(line, ("id",), id_)
        return written if message.has_error else _with_subscription(written, message.result, "result", id_)
    except ValueError as error:
        return rpc.failure(id_, rpc.UPSTREAM_GONE, f"the upstream's answer cannot be read: {error}")


def _number(key: bytes) -> int:
    """Return our number, however the upstream spells it; 0, which is nobody's, for anything else."""
    text = same_spelling(key).strip(b'"')
    return int(text) if text.isdigit() and len(text) < 20 else 0


def _level_of(raw: msgspec.Raw | None, *, missing: int) -> int:
    """Return a log level as a number. One that nobody knows is no reason to leave logs out."""
    if raw is None:
        return missing
    name = bytes(raw).strip(b'"').decode("latin-1").lower()
    return _LEVELS.index(name) if name in _LEVELS else (_ALL_LEVELS if missing == _NO_LOGS else missing)


def _with_token(line: bytes, meta: dict[str, msgspec.Raw], token: bytes) -> bytes:
    """Return the request with our progress token in place of the client's."""
    if not meta or (b"progressToken" not in line and b"\\" not in line):
        return line
    if _PROGRESS in meta:
        return replaced(line, ("params", "_meta", _PROGRESS), token)
    # Rewritten: if `_meta` occurred twice, the upstream could read the other one, with someone else's token.
    return replaced(line, ("params", "_meta"), rpc.encode(meta))


def _with_subscription(line: Line, within: msgspec.Raw, member: str, id_: bytes) -> bytes:
    """Restore the id of a subscription, which is that of the request that opened it, to the client's spelling."""
    if _SUBSCRIPTION.encode() not in bytes(memoryview(within)[:4_096]):
        return bytes(line)
    if _SUBSCRIPTION not in rpc.members(rpc.member(within, "_meta")):
        return bytes(line)
    return replaced(line, (member, "_meta", _SUBSCRIPTION), id_)
