"""The replicas that share a store. Each is known by its name while it runs."""

import re
from typing import Final

from brimgate.errors import StoreAway
from brimgate.share.store_link import StoreLink, is_done

_EXPIRY_SECONDS: Final = 15
"""A replica that was not heard of for so long has ended."""
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,40}")


class Replicas:
    """Keeps the contract of `Siblings`: who is still fetching a list."""

    are_one_user = False

    def __init__(self, link: StoreLink, name: str) -> None:
        self._link, self.name = link, name

    async def beat(self) -> None:
        """Tell the others that we run."""
        try:
            await self._link.ask(
                lambda client: client.set(self._key(self.name), b"1", ex=_EXPIRY_SECONDS),
                is_done,
                writes=True,
            )
        except StoreAway:
            return

    @property
    def token(self) -> bytes:
        return self.name.encode()

    def elsewhere(self, token: bytes) -> str:
        name = token.decode("ascii", "replace")
        if name == self.name or not _NAME.fullmatch(name):
            return ""
        try:
            runs = self._link.run(lambda client: client.exists(self._key(name)), is_done)
        except StoreAway:
            return ""
        # Without sessions, a load balancer may send the same request there the next time.
        return f"the replica {name}, which the same request may reach when it is sent again" if runs else ""

    def _key(self, name: str) -> str:
        return self._link.key("replica", name)
