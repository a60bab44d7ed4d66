"""Tickets that any replica redeems, once.

The store knows a ticket by its digest, and has its token encrypted by the ticket itself: who reads the store has
neither.
"""

from hashlib import sha256
from typing import Final

from brimgate.errors import StoreAway
from brimgate.guard.tickets import TICKET_SECONDS, Tickets
from brimgate.share.seal import Seal
from brimgate.share.store_link import StoreLink, is_done, is_value

_TAKE: Final = """
local found = redis.call('GET', KEYS[1])
redis.call('DEL', KEYS[1])
return found
"""
_MAX_CHARS: Final = 100
"""More than any of ours has: what is longer is not worth a question."""


class SharedTickets:
    def __init__(self, link: StoreLink) -> None:
        self._link, self._here = link, Tickets()
        self._take = link.script(_TAKE, is_value)

    async def give(self, token: str) -> str:
        ticket = await self._here.give(token)
        name, sealed = self._name(ticket), _seal(ticket).close(token.encode(), b"ticket")
        try:
            await self._link.ask(
                lambda client: client.set(name, sealed, ex=TICKET_SECONDS), is_done, writes=True
            )
        except StoreAway:
            return ticket  # it is good here
        await self._here.redeem(ticket)
        return ticket

    async def redeem(self, ticket: str) -> str:
        """Return the token that a ticket stands for; empty if it was used, has expired or never was."""
        if (found := await self._here.redeem(ticket)) or len(ticket) > _MAX_CHARS:
            return found
        try:
            sealed = await self._take.ask([self._name(ticket)])
        except StoreAway:
            return ""
        token = _seal(ticket).open(sealed, b"ticket") if isinstance(sealed, bytes) else None
        return token.decode() if token is not None else ""

    def _name(self, ticket: str) -> str:
        return self._link.key("ticket", sha256(b"brimgate ticket 1" + ticket.encode()).hexdigest())


def _seal(ticket: str) -> Seal:
    return Seal(lambda: (ticket.encode(),))
