"""Encrypt what goes into the store, and notice what was changed there.

AES-256-GCM of the library `cryptography`. The key is derived from those of the cursors, so that whoever reads the
store without them reads nothing.
"""

import hmac
import secrets
from collections.abc import Callable
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from brimgate.share.store_link import missing

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_NONCE_BYTES: Final = 12
_NAME_BYTES: Final = 4
_PURPOSE: Final = b"brimgate store 1"


class Seal:
    def __init__(self, keys: Callable[[], tuple[bytes, ...]]) -> None:
        """Create it. `keys` returns those of the moment: the first seals, all open."""
        self._keys = keys

    def close(self, plain: bytes, place: bytes) -> bytes:
        """Encrypt. What is sealed opens at its own place only."""
        name, cipher = _cipher(self._keys()[0])
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return name + nonce + cipher.encrypt(nonce, plain, place)

    def open(self, sealed: bytes, place: bytes) -> bytes | None:
        """Decrypt. Return None if this was not sealed by any of the keys, or for another place, or was changed."""
        from cryptography.exceptions import InvalidTag

        wanted, rest = sealed[:_NAME_BYTES], sealed[_NAME_BYTES:]
        for key in self._keys():
            name, cipher = _cipher(key)
            if name == wanted and len(rest) > _NONCE_BYTES:
                try:
                    return cipher.decrypt(rest[:_NONCE_BYTES], rest[_NONCE_BYTES:], place)
                except InvalidTag:
                    return None
        return None


def key_name(key: bytes) -> bytes:
    """Return what all that is sealed by a key begins with."""
    return _cipher(key)[0]


@lru_cache(16)
def _cipher(key: bytes) -> "tuple[bytes, AESGCM]":
    """Return the name of the key that is derived from this one, and the cipher with it."""
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ModuleNotFoundError:
        raise missing("cryptography") from None
    derived = hmac.digest(key, _PURPOSE, "sha256")
    return sha256(_PURPOSE + derived).digest()[:_NAME_BYTES], AESGCM(derived)
