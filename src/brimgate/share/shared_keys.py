"""The keys that all replicas have: they seal cursors and what is in the store, and turn over by themselves.

They are in the environment (BRIMGATE_CURSOR_KEY), or in the store. There they are encrypted by the password that opens
the store, so that a copy of its data opens nothing. A store without a password has them in clear, and that is logged.
What tells callers and tokens apart is there in any case, encrypted by either, so that it stays when keys change.
"""

import hmac
import secrets
import time
from base64 import b64decode, b64encode
from collections.abc import Callable
from contextlib import suppress
from hashlib import scrypt
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import msgspec

from brimgate.engine.cursor import KeyRing
from brimgate.errors import OperatorError, StoreAway
from brimgate.share.seal import Seal, key_name
from brimgate.share.store_link import StoreLink, is_done, is_value

_KEY_BYTES: Final = 32
_TURN_SECONDS: Final = 86_400.0
"""After this time a new key is made."""
_NOTICE_SECONDS: Final = 180.0
"""So long before it seals, a new key is there to be read by all replicas."""
_REFRESH_SECONDS: Final = 60.0
_MAX_KEYS: Final = 4
_KEEP_SECONDS: Final = 2 * 86_400.0
"""The longest life of a cursor is a day."""
_PLACE: Final = b"keys"
_SEALED, _IN_CLEAR = b"s", b"p"
_CLEAR: Final = (
    "the URL of the store has no password, so that the keys are in the store in clear: give it one, or give all replicas "
    "the same BRIMGATE_CURSOR_KEY"
)
_REPLACE: Final = """
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('SET', KEYS[1], ARGV[2]) return 1 end
return 0
"""


class _Key(msgspec.Struct, array_like=True):
    key: bytes
    since: float
    """When it begins to seal, by the clock of the store."""


class _Record(msgspec.Struct, array_like=True):
    identity: bytes
    """Tells callers and tokens apart. It stays: their sessions and answers are bound to it."""
    keys: list[_Key]
    """The newest first."""


class SharedKeys(KeyRing):
    """The key ring of a replica: its own until the store is reached, then that of all."""

    def __init__(self, link: StoreLink, url: str, given: KeyRing | None, warn: Callable[[str], None]) -> None:
        """Create it. `given` are the keys of the environment, if it has any. `warn` is told once of keys in clear."""
        own = secrets.token_bytes(_KEY_BYTES)
        super().__init__(own)
        self._link, self._given_keys = link, given.keys if given is not None else ()
        self._current: tuple[bytes, ...] = self._given_keys or (own,)
        self.identity = _derived(self._current[0])
        self._record: _Record | None = None
        self._stored: bytes = b""
        self._checked_at = -_REFRESH_SECONDS
        self._skew = 0.0
        password = unquote(urlsplit(url).password or "")
        wrapping = self._given_keys or ((_stretched(password, link.prefix),) if password else ())
        self._wrapping = Seal(lambda: wrapping) if wrapping else None
        self._own, self._warn = own, warn
        self._has_warned = False
        self.problem = ""
        """Why the keys of the store cannot be used, if they cannot."""
        self._replace = link.script(_REPLACE)

    @property
    def keys(self) -> tuple[bytes, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self._current

    def digest(self, *parts: bytes) -> str:
        """Return a name for what these parts name together. It is the same for all replicas, and tells nothing of them."""
        sized = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
        return hmac.digest(self.identity, sized, "sha256").hex()[:32]

    async def refresh(self, *, at_once: bool = True) -> None:
        """Take the keys of the store, or give it ours. Turn them over when their time has come.

        Raise StoreAway if that is not possible now: without its keys, what is in the store cannot be found.
        """
        if not at_once and time.monotonic() - self._checked_at < _REFRESH_SECONDS:
            return
        self._checked_at = time.monotonic()
        try:
            await self._exchange()
            self.problem = ""
        except StoreAway:
            self._choose()  # another key may seal by now
            raise
        except OperatorError as error:
            self.problem = str(error)
            raise

    async def _exchange(self) -> None:
        name = self._link.key("keys")
        seconds, micros = await self._link.ask(lambda client: client.time(), _is_time)
        self._skew = seconds + micros / 1e6 - time.time()
        stored: bytes | None = await self._link.ask(lambda client: client.get(name), is_value)
        if stored is None:
            ours = self._wrapped(self._record or _Record(self.identity, [_Key(self._own, self._now)]))
            await self._link.ask(lambda client: client.set(name, ours, nx=True), is_done, writes=True)
            stored = await self._link.ask(lambda client: client.get(name), is_value)
        self._take(stored or b"")
        turned = self._turned()
        if turned is not None:
            packed = self._wrapped(turned)
            if await self._replace.ask([name], self._stored, packed):
                self._take(packed)

    @property
    def _now(self) -> float:
        """The time by the clock of the store."""
        return time.time() + self._skew

    def _take(self, stored: bytes) -> None:
        if stored != self._stored or self._record is None:
            self._record, self._stored = self._unwrapped(stored), stored
            self.identity = self._record.identity
            if stored[:1] == _IN_CLEAR and not self._has_warned:
                self._has_warned = True
                self._warn(_CLEAR)
        self._choose()

    def _choose(self) -> None:
        """Let the newest key seal whose time has come. Keys that we had alone still open."""
        if self._record is None or self._given_keys:
            return
        now = self._now
        sealing = [one.key for one in self._record.keys if one.since <= now]
        coming = [one.key for one in self._record.keys if one.since > now]
        chosen = dict.fromkeys((*(sealing or coming), *coming, self._own))
        self._current = tuple(chosen)

    def _turned(self) -> _Record | None:
        """Return the record with a new key, if the newest is old enough. Keys of the environment are the operator's."""
        record, now = self._record, self._now
        if record is None:
            return None
        if self._given_keys:
            # So that it can be read on when the key that sealed it is dropped from the environment.
            is_newest = self._stored[1:].startswith(key_name(self._given_keys[0]))
            return None if is_newest else record
        if now - record.keys[0].since < _TURN_SECONDS:
            return None
        fresh = _Key(secrets.token_bytes(_KEY_BYTES), now + _NOTICE_SECONDS)
        kept = [one for one in record.keys if now - one.since < _TURN_SECONDS + _KEEP_SECONDS]
        return _Record(record.identity, [fresh, *(kept or record.keys[:1])][:_MAX_KEYS])

    def _wrapped(self, record: _Record) -> bytes:
        plain = msgspec.msgpack.encode(record)
        return (
            _SEALED + self._wrapping.close(plain, _PLACE) if self._wrapping else _IN_CLEAR + b64encode(plain)
        )

    def _unwrapped(self, stored: bytes) -> _Record:
        kind, rest = stored[:1], stored[1:]
        plain: bytes | None = None
        with suppress(msgspec.MsgspecError, ValueError):
            if kind == _SEALED and self._wrapping is not None:
                plain = self._wrapping.open(rest, _PLACE)
            elif kind == _IN_CLEAR and not self._given_keys:
                plain = b64decode(rest, validate=True)
            if plain is not None and (record := msgspec.msgpack.decode(plain, type=_Record)).keys:
                return record
        raise OperatorError(
            "the keys in the store cannot be read: they were put there by replicas with another password of the store, or "
            "another BRIMGATE_CURSOR_KEY. Use the same for all, or another redis_prefix; or, if that was changed on purpose, "
            f"delete {self._link.key('keys')} in the store"
        )


def _is_time(found: Any) -> bool:
    match found:
        case (int(), int()):
            return True
        case _:
            return False


def _derived(key: bytes) -> bytes:
    return hmac.digest(key, b"brimgate identity 1", "sha256")


def _stretched(password: str, prefix: str) -> bytes:
    """Make a key of a password, slowly: whoever has a copy of the store can try passwords."""
    return scrypt(password.encode(), salt=b"brimgate keys 1" + prefix.encode(), n=1 << 14, r=8, p=1, dklen=32)
