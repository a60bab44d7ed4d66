"""Whose the sessions of a server with a URL are, so that they are found through any replica."""

import hmac
from typing import Final

from brimgate.errors import StoreAway
from brimgate.share.shared_keys import SharedKeys
from brimgate.share.store_link import StoreLink, is_done

_KEEP_SECONDS: Final = 86_400
"""After the last request that was not answered by the replica that knows it."""


class SessionOwners:
    """Keeps that a session belongs to a principal. The store has digests of both, and of neither alone."""

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
        parts = (upstream.encode(), session, principal.encode())
        sized = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
        return self._link.key("session", hmac.digest(self._keys.identity, sized, "sha256").hex()[:32])
