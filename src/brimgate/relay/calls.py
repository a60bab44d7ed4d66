"""Client requests that wait for their answers, and the handshake that a restarted upstream gets."""

import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import msgspec

from brimgate.errors import BadRequest
from brimgate.relay.protocol import message as rpc

if TYPE_CHECKING:
    from brimgate.engine.decision import Arm
    from brimgate.engine.policy import Rules, ToolRule
    from brimgate.relay.trace_context import CallTrace

MEASURED: Final = frozenset(("tools/call", "resources/read", "prompts/get", "tasks/result", "tasks/get"))
DIGEST_BYTES: Final = 8
_SUBSCRIPTION: Final = "subscriptions/listen"
_MAX_ORPHANS: Final = 100
_MAX_WAITING: Final = 10_000
"""Beyond this number the oldest is forgotten; its answer is then recognised by its shape."""


@dataclass(slots=True)
class PendingCall:
    id: bytes
    """The id as the client spelled it."""
    method: str
    rules: "Rules"
    """The rules in force when the call was made."""
    tool: str = ""
    modern: bool = False
    first_page: bool = False
    arm: "Arm" = "protected"
    digest: bytes = b""
    """A digest of its arguments, which tells whether the same call is made again."""
    arguments: bytes = b""
    """As the client wrote them: for a pack's formatter, and for whoever looks for what overflowed."""
    line: bytes | bytearray = b""
    """The request itself, where it may have to be sent again to a restarted upstream."""
    client: str = ""
    """The name of the program that calls."""
    sent_at: float = 0.0
    upstream_seconds: float = 0.0
    """How long the upstream took to answer."""
    token: bytes = b""
    """Its progress token, in one spelling."""
    heard_at: float = 0.0
    """When it was sent, or its upstream last reported progress."""
    trace: "CallTrace | None" = None
    """What its spans will tell; None without tracing."""
    _rule: "ToolRule | None" = field(default=None, init=False)

    @property
    def rule(self) -> "ToolRule":
        """What holds for its tool; looked up once, when the tool is known."""
        if self._rule is None:
            self._rule = self.rules.of(self.tool)
        return self._rule

    @property
    def protected(self) -> bool:
        return self.arm == "protected"

    @property
    def is_measured(self) -> bool:
        """Whether its answer is kept within a budget, and so makes a decision."""
        return self.method in MEASURED

    def page_by(self, limit: int) -> None:
        """Page the answer by the number of items that the call itself asked for."""
        policy = self.rule.policy
        if limit > policy.max_page_size:
            raise BadRequest(f"limit exceeds maximum of {policy.max_page_size}")
        self._rule = replace(self.rule, policy=replace(policy, default_page_size=limit, pages_always=True))


class PendingCalls:
    def __init__(self) -> None:
        self._calls: OrderedDict[bytes, PendingCall] = OrderedDict()
        self._subscriptions = 0

    def __contains__(self, key: bytes) -> bool:
        return same_spelling(key) in self._calls

    def __iter__(self) -> Iterator[PendingCall]:
        return iter(list(self._calls.values()))

    @property
    def count(self) -> int:
        """The number of calls that will be answered; a subscription never is."""
        return len(self._calls) - self._subscriptions

    def add(self, call: PendingCall) -> PendingCall | None:
        """Wait for the answer to a call. Return the one that is forgotten for it, if there is one."""
        key = same_spelling(call.id)
        forgotten = self._pop(key)
        self._calls[key] = call
        call.heard_at = time.monotonic()
        self._subscriptions += call.method == _SUBSCRIPTION
        if len(self._calls) > _MAX_WAITING:
            forgotten = self._pop(next(iter(self._calls)))
        return forgotten

    @property
    def awaited(self) -> set[bytes]:
        """The ids, in one spelling, of the calls that will be answered."""
        return {key for key, call in self._calls.items() if call.method != _SUBSCRIPTION}

    def get(self, key: bytes) -> PendingCall | None:
        return self._calls.get(same_spelling(key))

    def take(self, key: bytes) -> PendingCall | None:
        if not key:
            return None
        usual, other = spellings(key)
        return self._pop(usual if usual in self._calls else other)

    def _pop(self, key: bytes) -> PendingCall | None:
        call = self._calls.pop(key, None)
        self._subscriptions -= call is not None and call.method == _SUBSCRIPTION
        return call


class Silence:
    """Finds calls that an upstream says nothing about for too long, and what it says after all."""

    def __init__(self, calls: PendingCalls) -> None:
        self.limit_seconds = 0.0
        """0: there is no limit. It may change at any time."""
        self._calls = calls
        self._ended: OrderedDict[bytes, None] = OrderedDict()

    def note_progress(self, params: msgspec.Raw) -> None:
        token = same_spelling(bytes(rpc.member(params, "progressToken"))) if self.limit_seconds else b""
        for call in self._calls if token else ():
            if call.token == token:
                call.heard_at = time.monotonic()

    def left_seconds(self, key: bytes) -> float:
        """Return how long a call may still be silent; forever if nobody waits for it."""
        call = self._calls.get(key) if self.limit_seconds else None
        return float("inf") if call is None else call.heard_at + self.limit_seconds - time.monotonic()

    def overdue(self) -> list[PendingCall]:
        """Return calls that are to be given up, and note that their answers are no longer wanted."""
        found = [
            call for call in self._calls if call.method != _SUBSCRIPTION and self.left_seconds(call.id) <= 0
        ]
        self._ended.update((same_spelling(call.id), None) for call in found)
        while len(self._ended) > _MAX_WAITING:
            self._ended.popitem(last=False)
        return found

    def is_late(self, key: bytes) -> bool:
        return any(self._ended.pop(one, True) is None for one in spellings(key))


class Orphans:
    """Answers that name no call. Whose one is shows when all others that waited with it have been answered."""

    def __init__(self) -> None:
        self.waiting: list[tuple[bytes, set[bytes]]] = []

    def add(self, error: bytes, candidates: set[bytes]) -> None:
        self.waiting.append((error, candidates))
        del self.waiting[:-_MAX_ORPHANS]

    def settled(self, calls: PendingCalls) -> list[tuple[bytes, bytes]]:
        """Return the calls whose answers these must be, each with its error, and forget them."""
        found: list[tuple[bytes, bytes]] = []
        awaited = calls.awaited
        for error, candidates in self.waiting:
            candidates &= awaited.difference(key for key, _ in found)
            if len(candidates) == 1:
                found.append((candidates.pop(), error))
        self.waiting = [(error, candidates) for error, candidates in self.waiting if candidates]
        return found


def same_spelling(key: bytes) -> bytes:
    """Return an id in one spelling: an upstream may write `1.0` for `1`, and `"A"` for `"\\u0041"`."""
    if key.isdigit() or (b"\\" not in key and key[:1] == b'"'):
        return key
    try:
        value = msgspec.json.decode(key)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return key
    return msgspec.json.encode(int(value) if isinstance(value, float) and value.is_integer() else value)


def progress_token(params: msgspec.Raw) -> bytes:
    """Return the progress token of a request in one spelling; empty if it wants no progress."""
    raw = bytes(params)
    if b"progressToken" not in raw and b"\\" not in raw:
        return b""
    return same_spelling(bytes(rpc.member(rpc.member(params, "_meta"), "progressToken")))


def spellings(key: bytes) -> tuple[bytes, bytes]:
    """Return the ids that an answer may be meant for: clients accept "7" for 7, so some servers send it."""
    key = same_spelling(key)
    return key, key[1:-1] if key[:1] == b'"' else b'"' + key + b'"'


_ID: Final = b'"brimgate-revival-%d"'
Line = bytes | bytearray


class Greeting:
    def __init__(self) -> None:
        self.request: Line = b""
        """The `initialize` request that was answered; modern clients have none."""
        self.confirmation: Line = b""
        """The notification that followed it."""
        self._rounds = 0
        self.is_under_way = False
        """Sent and not yet answered: nothing else may reach the upstream."""

    def begin(self) -> bytes | None:
        """Return what to send first to a new upstream, or None if the old one never had a handshake."""
        if not self.request:
            return None
        self._rounds += 1
        self.is_under_way = True
        message = msgspec.json.decode(self.request, type=dict[str, msgspec.Raw])
        message["id"] = msgspec.Raw(_ID % self._rounds)
        return msgspec.json.encode(message)

    def is_answer(self, key: bytes) -> bool:
        return self.is_under_way and key == _ID % self._rounds
