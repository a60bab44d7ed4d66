"""The public keys of an authorization server: found by its metadata, cached, and fetched again when one is unknown."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, Final, cast
from urllib.parse import urlsplit

from joserfc.errors import JoseError
from joserfc.jwk import ECKey, JWKRegistry, Key, OctKey, RSAKey

from brimgate.errors import RateLimited, VerifierDown
from brimgate.guard.json_client import JsonClient, target_of
from brimgate.guard.limits import Limiter, Rate
from brimgate.guard.oauth import ASYMMETRIC
from brimgate.guard.origin import is_confidential
from brimgate.http.client import Origin

_FRESH_SECONDS: Final = 600.0
"""After this the keys are fetched again, in the background: one that was withdrawn must not be accepted for ever."""
_UNKNOWN_SECONDS: Final = 60.0
"""How often an unknown key makes us ask."""
_FAILED_SECONDS: Final = 5.0
_FETCHES: Final = Rate(10, 60.0)
"""For all unknown keys together: whoever makes up tokens makes up keys, too."""
_MAX_UNKNOWN: Final = 1_000
_MAX_KEYS: Final = 100
_LEAST_RSA_BITS: Final = 2_048
_MALFORMED: Final = (JoseError, ValueError, TypeError, KeyError, AttributeError)


class IssuerKeys:
    def __init__(
        self, issuer: str, jwks_url: str = "", *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Create it. Without `jwks_url`, the metadata of the issuer say where its keys are: at its own origin."""
        self._issuer, self._clock = issuer, clock
        self._client = JsonClient(jwks_url or issuer)
        self._configured = target_of(jwks_url) if jwks_url else b""
        self._target = self._configured
        self._keys: list[Key] | None = None
        self._fetched_at = 0.0
        self._failure: VerifierDown | None = None
        self._failed_at = 0.0
        self._unknown: OrderedDict[str, float] = OrderedDict()
        """When we have last asked in vain for a key, by its id."""
        self._limiter = Limiter(clock)
        self._fetching: asyncio.Task[None] | None = None

    async def find(self, key_id: str, algorithm: str) -> Key | None:
        """Return the key that a token names. Raise VerifierDown if nobody can tell now."""
        await self.ensure()
        found = self._find(key_id, algorithm)
        if found is None and self._may_ask(key_id):
            await self._fetch()
            found = self._find(key_id, algorithm)
            if found is None:
                self._note_unknown(key_id)
        return found

    async def ensure(self) -> None:
        """Fetch the keys if there are none yet. Old ones are used while new ones come, or while none come."""
        if self._keys is None:
            await self._fetch()
        elif self._clock() - self._fetched_at > _FRESH_SECONDS and not self._has_failed:
            self._begin()

    def _find(self, key_id: str, algorithm: str) -> Key | None:
        fitting = [key for key in self._keys or () if _fits(key, algorithm)]
        if key_id:
            return next((key for key in fitting if key.kid == key_id), None)
        return fitting[0] if len(fitting) == 1 else None

    def _may_ask(self, key_id: str) -> bool:
        asked = self._unknown.get(key_id)
        if asked is not None and self._clock() - asked < _UNKNOWN_SECONDS:
            return False
        try:
            self._limiter.take("unknown", _FETCHES)
        except RateLimited:
            raise VerifierDown("too many tokens name keys that nobody knows: wait") from None
        return True

    def _note_unknown(self, key_id: str) -> None:
        self._unknown[key_id] = self._clock()
        self._unknown.move_to_end(key_id)
        if len(self._unknown) > _MAX_UNKNOWN:
            self._unknown.popitem(last=False)

    # Fetching

    @property
    def _has_failed(self) -> bool:
        return self._failure is not None and self._clock() - self._failed_at < _FAILED_SECONDS

    async def _fetch(self) -> None:
        """Fetch the keys, once for all who ask meanwhile. What has just failed is not tried again at once."""
        if self._failure is not None and self._has_failed:
            raise VerifierDown(str(self._failure))
        await asyncio.shield(self._begin())

    def _begin(self) -> "asyncio.Task[None]":
        if self._fetching is None or self._fetching.done():
            self._fetching = asyncio.get_running_loop().create_task(self._take_keys())
            self._fetching.add_done_callback(lambda done: done.cancelled() or done.exception())
        return self._fetching

    async def _take_keys(self) -> None:
        try:
            self._target = self._target or await self._discovered()
            answer = await self._client.ask([], target=self._target)
            keys = list(_read_keys(answer.fields)) if answer.status == 200 else []
            if not keys:
                raise VerifierDown(f"{self._client.origin} answers {answer.status} without a key set")
        except VerifierDown as failure:
            self._failure, self._failed_at = failure, self._clock()
            self._target = self._configured
            raise
        self._keys, self._fetched_at, self._failure = keys, self._clock(), None

    async def _discovered(self) -> bytes:
        """Return where the issuer says that its keys are (RFC 8414, OpenID Connect Discovery)."""
        for target in _metadata_targets(self._issuer):
            answer = await self._client.ask([], target=target)
            if answer.status == 200 and answer.fields.get("issuer") == self._issuer:
                return self._checked(answer.fields.get("jwks_uri"))
        raise VerifierDown(
            f"{self._client.origin} has no metadata for the issuer {self._issuer}: check auth.issuer, or set auth.jwks_url"
        )

    def _checked(self, url: object) -> bytes:
        if not isinstance(url, str) or not is_confidential(url) or Origin.of(url) != self._client.origin:
            raise VerifierDown(
                f"the metadata of {self._issuer} name no jwks_uri at the same origin: set auth.jwks_url if that is right"
            )
        return target_of(url)

    async def close(self) -> None:
        if self._fetching is not None:
            self._fetching.cancel()
        await self._client.close()


def _metadata_targets(issuer: str) -> list[bytes]:
    path = urlsplit(issuer).path.rstrip("/")
    paths = [
        f"/.well-known/oauth-authorization-server{path}",
        f"{path}/.well-known/openid-configuration",
        f"/.well-known/openid-configuration{path}",
    ]
    return [target_of(one) for one in dict.fromkeys(paths)]


def _read_keys(document: dict[str, Any]) -> Iterator[Key]:
    """Yield the keys of a set that signatures can be checked with. What we do not know is left out (RFC 7517)."""
    listed = document.get("keys")
    for one in cast("list[Any]", listed)[:_MAX_KEYS] if isinstance(listed, list) else ():
        try:
            key = JWKRegistry.import_key(one)
        except _MALFORMED:
            continue
        if not isinstance(key, OctKey) and one.get("use", "sig") == "sig" and not _is_weak(key):
            yield key


def _is_weak(key: Key) -> bool:
    return isinstance(key, RSAKey) and key.public_key.key_size < _LEAST_RSA_BITS


def _fits(key: Key, algorithm: str) -> bool:
    """Return whether a key is for this algorithm: one of another kind must never be tried."""
    if key.key_type != ASYMMETRIC[algorithm] or key.alg not in (None, algorithm):
        return False
    return not isinstance(key, ECKey) or key.curve_name == _CURVES[algorithm]


_CURVES: Final = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}
