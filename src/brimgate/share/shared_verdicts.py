"""Whose tokens are, as any replica has found out, so that the verifier is asked once for all of them."""

import time
from typing import Any, Final, cast

import msgspec

from brimgate.errors import StoreAway, Unauthenticated
from brimgate.guard.principal import Principal
from brimgate.guard.verdicts import Verdict
from brimgate.share.seal import Seal
from brimgate.share.shared_keys import SharedKeys
from brimgate.share.store_link import StoreLink

# Says how old it is by the clock of the store: those of replicas may differ.
_FIND: Final = """
local found = redis.call('HMGET', KEYS[1], 'verdict', 'at')
if not found[1] then return false end
local time = redis.call('TIME')
return {found[1], math.max(time[1] * 1000 + math.floor(time[2] / 1000) - tonumber(found[2]), 0)}
"""
_KEEP: Final = """
local time = redis.call('TIME')
redis.call('HSET', KEYS[1], 'verdict', ARGV[1], 'at', string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
"""
_STARTED: Final = time.monotonic()


def _is_found(found: Any) -> bool:
    match found:
        case None | [bytes(), int()]:
            return True
        case _:
            return False


class _Entry(msgspec.Struct, array_like=True):
    id: str = ""
    name: str = ""
    scopes: frozenset[str] = frozenset()
    audience: frozenset[str] = frozenset()
    lasts: float = 0.0
    """For how long it holds at most, from when it was found out."""
    refusal: str = ""
    error: str = ""


class SharedVerdicts:
    """A cache that all replicas have. An entry counts only if it was found out after this process has started."""

    def __init__(self, link: StoreLink, keys: SharedKeys, way: str = "") -> None:
        """Create it. `way` says how tokens are checked: what was found out in another way is not known here."""
        self._link, self._keys, self._way = link, keys, way
        self._seal = Seal(lambda: keys.keys)
        self._find, self._keep = link.script(_FIND, _is_found, writes=False), link.script(_KEEP)

    def of_way(self, way: str) -> "SharedVerdicts":
        return SharedVerdicts(self._link, self._keys, way)

    async def find(self, fingerprint: str) -> tuple[Verdict, float] | None:
        """Return what is known of a token, and its age in seconds."""
        try:
            found = await self._find.ask([self._name(fingerprint)])
        except StoreAway:
            return None
        sealed, milliseconds = cast("tuple[bytes, int]", found) if found else (b"", 0)
        plain, age = self._seal.open(sealed, fingerprint.encode()), milliseconds / 1_000
        if plain is None or age > time.monotonic() - _STARTED:
            return None
        entry = msgspec.msgpack.decode(plain, type=_Entry)
        if entry.refusal:
            return Unauthenticated(entry.refusal, error=entry.error), age
        return (Principal(entry.id, entry.name, entry.scopes, entry.audience), entry.lasts - age), age

    async def keep(self, fingerprint: str, verdict: Verdict, seconds: float) -> None:
        """Tell the others, for so many seconds."""
        if isinstance(verdict, Unauthenticated):
            entry = _Entry(refusal=str(verdict), error=verdict.error)
        else:
            one, lasts = verdict
            entry = _Entry(one.id, one.name, one.scopes, one.audience, lasts)
        sealed = self._seal.close(msgspec.msgpack.encode(entry), fingerprint.encode())
        try:
            await self._keep.ask([self._name(fingerprint)], sealed, max(1, int(1_000 * seconds)))
        except StoreAway:
            return

    def _name(self, fingerprint: str) -> str:
        return self._link.key("token", self._keys.digest(b"token", self._way.encode(), fingerprint.encode()))
