"""Tickets for clients that cannot send a header: each opens one stream, once, within half a minute."""

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, Protocol

TICKET_SECONDS: Final = 30
_MAX_TICKETS: Final = 10_000


class TicketOffice(Protocol):
    """Gives out tickets, here or for all replicas together."""

    async def give(self, token: str) -> str: ...

    async def redeem(self, ticket: str) -> str:
        """Return the token that a ticket stands for; empty if it was used, has expired or never was."""
        ...


class Tickets:
    """Each ticket stands for the token that it was given for, which is checked again when it is used."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._given: OrderedDict[str, tuple[str, float]] = OrderedDict()

    async def give(self, token: str) -> str:
        self._sweep()
        if len(self._given) >= _MAX_TICKETS:
            self._given.popitem(last=False)
        ticket = secrets.token_urlsafe(32)
        self._given[ticket] = token, self._clock() + TICKET_SECONDS
        return ticket

    async def redeem(self, ticket: str) -> str:
        token, until = self._given.pop(ticket, ("", 0.0))
        return token if self._clock() < until else ""

    def _sweep(self) -> None:
        now = self._clock()
        while self._given and next(iter(self._given.values()))[1] <= now:
            self._given.popitem(last=False)
