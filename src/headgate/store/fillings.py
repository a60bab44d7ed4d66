"""Lists that go on upstream, while their cursors are valid and on their way to whoever reads them."""

from collections import OrderedDict
from dataclasses import dataclass
from secrets import token_hex
from threading import Lock
from typing import Final

from headgate.engine.filling import Filling

HANDED_OVER: Final = "headgate/filling"
"""Member of a result's `_meta` under which its list can be taken over."""
_MAX_LEFT: Final = 1_000
_MARGIN_SECONDS: Final = 60
"""A cursor's end is rounded up to the minute."""


class Fillings:
    """By whom and what they were begun for, as long as their cursors are valid."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, bytes], tuple[float, Filling]] = {}
        self._lock = Lock()

    def add(self, principal: str, snapshot: bytes, filling: Filling, until: float) -> None:
        with self._lock:
            self._known[principal, snapshot] = (until, filling)

    def of(self, principal: str, snapshot: bytes, now: float) -> Filling | None:
        with self._lock:
            for key in [key for key, (until, _) in self._known.items() if until + _MARGIN_SECONDS < now]:
                del self._known[key]
            found = self._known.get((principal, snapshot))
            return found[1] if found else None


@dataclass(frozen=True, slots=True)
class Filled:
    """A whole answer that is handed over as lists are."""

    data: bytes
    total: int = 0
    held: int = 0
    is_complete: bool = True

    async def reach(self, count: int) -> None:
        """All of it is here."""


class Handover:
    """Where a server in our own process leaves its lists for those who read them, under a name that is used once."""

    def __init__(self) -> None:
        self._left: OrderedDict[str, Filling] = OrderedDict()

    def give(self, filling: Filling) -> str:
        token = token_hex(8)
        self._left[token] = filling
        if len(self._left) > _MAX_LEFT:
            self._left.popitem(last=False)
        return token

    def take(self, token: str) -> Filling | None:
        return self._left.pop(token, None)
