"""Authenticate by keys that the operator gives out. The configuration has only their digests."""

import hmac
from collections.abc import Mapping, Sequence
from hashlib import sha256
from secrets import token_urlsafe
from typing import Final

from brimgate.errors import Unauthenticated
from brimgate.guard.principal import Principal

PREFIX: Final = "bg_"
"""Begins every key, so that people and secret scanners know it."""
DIGEST: Final = "sha256:"
_KEY_BYTES: Final = 32
_HEX_DIGITS: Final = 64


def new_key() -> str:
    """Return a new key of 256 random bits."""
    return PREFIX + token_urlsafe(_KEY_BYTES)


def digest_of(key: str) -> str:
    """Return what the configuration keeps of a key. It needs no salt: 256 random bits cannot be guessed."""
    return DIGEST + sha256(key.encode()).hexdigest()


def is_digest(text: str) -> bool:
    digits = text.removeprefix(DIGEST)
    return (
        text.startswith(DIGEST) and len(digits) == _HEX_DIGITS and not digits.strip("0123456789abcdefABCDEF")
    )


class StaticKeys:
    def __init__(self, keys: Mapping[str, Sequence[str]]) -> None:
        """Create it from the digests of each principal's keys. Several are valid at once, so that keys can be rotated."""
        self._names = {
            digest.removeprefix(DIGEST).lower(): name for name, digests in keys.items() for digest in digests
        }
        self._principals = {name: Principal(f"static:{name}", name) for name in keys}

    def known(self, token: str, audience: frozenset[str]) -> Principal | None:
        # The time this takes tells of the digest, and nobody can choose a key by its digest.
        digest = sha256(token.encode()).hexdigest()
        found = digest if digest in self._names else "0" * _HEX_DIGITS
        return self._principals[self._names[found]] if hmac.compare_digest(found, digest) else None

    async def verify(self, token: str, audience: frozenset[str]) -> Principal:
        raise Unauthenticated("this key is unknown: ask the operator for one, made by `brimgate key new`")

    def doubt(self, token: str) -> None:
        """Do nothing: no upstream knows these keys."""

    async def check(self) -> None:
        """Do nothing: nobody is asked."""

    async def close(self) -> None:
        """Do nothing: nothing is open."""
