"""Whose the sessions of a server with a URL are, so that they are found through any replica."""

from typing import Final

from brimgate.errors import StoreAway
from brimgate.share.shared_keys import SharedKeys
from brimgate.share.store_link import StoreLink, is_done

_KEEP_SECONDS: Final = 4 * 3_600
"""From when it was opened, or last looked up by a replica that did not know it."""


class SessionOwners:
    """Keeps that a session belongs to a principal, as one digest of both."""

    def __init__(self, link: StoreLink, keys: SharedKeys) -> None:
        self._link, self._keys = link, keys

    async def remember(self, upstream: str, session: bytes, principal: str) -> None:
        name = self._name(upstream, session, principal)
        try:
            await self._link.ask(
                lambda client: client.set(name, b"1", ex=_KEEP_SECONDS), is_done, writes=True
            )
        except StoreAway:
            return  # it is known here

    async def is_owner(self, upstream: str, session: bytes, principal: str) -> bool:
        name = self._name(upstream, session, principal)
        try:
            return bool(await self._link.ask(lambda client: client.expire(name, _KEEP_SECONDS), is_done))
        except StoreAway:
            return False

    async def forget(self, upstream: str, session: bytes, principal: str) -> None:
        name = self._name(upstream, session, principal)
        try:
            await self._link.ask(lambda client: client.delete(name), is_done, writes=True)
        except StoreAway:
            return  # the server knows that it has ended

    def _name(self, upstream: str, session: bytes, principal: str) -> str:
        return self._link.key("session", self._keys.digest(upstream.encode(), session, principal.encode()))
