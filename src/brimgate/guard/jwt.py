"""Authenticate by signed tokens of an authorization server (JWT, RFC 9068), checked with its public keys."""

import base64
from collections.abc import Iterable
from typing import Any, Final, cast

import msgspec
from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import Key

from brimgate.errors import Unauthenticated
from brimgate.guard.auth import Fingerprints
from brimgate.guard.issuer_keys import IssuerKeys
from brimgate.guard.oauth import ASYMMETRIC, ClaimRules, OAuthTokens
from brimgate.guard.principal import Principal
from brimgate.guard.verdicts import Verdicts

_KINDS: Final = ("", "jwt", "at+jwt", "application/at+jwt", "application/jwt")
_MALFORMED: Final = (JoseError, ValueError, TypeError, KeyError, AttributeError, RecursionError)
_MAX_HEADER_BYTES: Final = 6_144
"""Certificates may stand in it. The whole token is limited further up."""


class _Signatures(jws.JWSRegistry):
    max_header_length = _MAX_HEADER_BYTES


class JwtTokens(OAuthTokens):
    def __init__(
        self,
        keys: IssuerKeys,
        rules: ClaimRules,
        algorithms: Iterable[str],
        *,
        seconds: float,
        refusal_seconds: float,
        fingerprints: Fingerprints,
    ) -> None:
        super().__init__(Verdicts(seconds, refusal_seconds), fingerprints)
        self._keys, self._rules = keys, rules
        self._algorithms = frozenset(algorithms) & ASYMMETRIC.keys()

    async def check(self) -> None:
        await self._keys.ensure()

    async def close(self) -> None:
        await self._verdicts.close()
        await self._keys.close()

    async def _check(self, token: str) -> tuple[Principal, float]:
        header = _header(token)
        algorithm, key_id = header.get("alg"), header.get("kid", "")
        if algorithm not in self._algorithms or not isinstance(key_id, str):
            raise Unauthenticated("the token is not signed by an algorithm that is accepted here")
        if str(header.get("typ", "")).lower() not in _KINDS:
            raise Unauthenticated("the token is of another type than an access token")
        key = await self._keys.find(key_id, algorithm)
        if key is None:
            raise Unauthenticated("the token is signed by a key that its issuer does not have")
        return self._rules.owner(_claims(token, key, algorithm), is_signed=True)


def _header(token: str) -> dict[str, Any]:
    part = token.partition(".")[0]
    try:
        header = msgspec.json.decode(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict):
        raise Unauthenticated("the token is not a JWT")
    return cast("dict[str, Any]", header)


def _claims(token: str, key: Key, algorithm: str) -> dict[str, Any]:
    """Return what a token says, once its signature is verified. Where keys come from is no matter of the token."""
    registry = _Signatures(algorithms=[algorithm], strict_check_header=False)
    try:
        payload = jws.deserialize_compact(token.encode(), key, registry=registry).payload
        claims = msgspec.json.decode(payload)
    except _MALFORMED:
        raise Unauthenticated("the signature of the token is wrong") from None
    if not isinstance(claims, dict):
        raise Unauthenticated("the token has no claims")
    return cast("dict[str, Any]", claims)
