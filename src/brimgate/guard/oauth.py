"""What tokens of an authorization server say, whether they say it themselves (JWT) or it does (introspection)."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from brimgate.errors import Unauthenticated
from brimgate.guard.auth import Fingerprints
from brimgate.guard.principal import Principal, principal_of_token
from brimgate.guard.verdicts import Verdicts

ASYMMETRIC: Final = {
    "ES256": "EC",
    "ES384": "EC",
    "ES512": "EC",
    "RS256": "RSA",
    "RS384": "RSA",
    "RS512": "RSA",
    "PS256": "RSA",
    "PS384": "RSA",
    "PS512": "RSA",
    "Ed25519": "OKP",
    "EdDSA": "OKP",
}
"""The kind of key of every algorithm whose keys may be known to everyone."""
_MAX_NAME_CHARS: Final = 80
_FAR_AWAY: Final = 1e11
"""Seconds since 1970 that no token needs: a larger number is no time."""


@dataclass(frozen=True, slots=True)
class ClaimRules:
    """What every token must say."""

    issuer: str
    leeway_seconds: float = 0.0
    clock: Callable[[], float] = time.time

    def owner(self, claims: Mapping[str, Any], *, is_signed: bool) -> tuple[Principal, float]:
        """Return whose a token is, and for how many seconds. Raise Unauthenticated if it is not valid.

        One that is signed must say all by itself. Of others the authorization server has said that they are active.
        """
        if claims.get("iss", None if is_signed else self.issuer) != self.issuer:
            raise Unauthenticated("the token is from another issuer")
        if claims.get("cnf") is not None:
            raise Unauthenticated("the token is bound to a key of its client, and is no bearer token")
        lasts = self._lasts(claims, is_required=is_signed)
        return _owner(self.issuer, claims, may_be_client=not is_signed), lasts

    def _lasts(self, claims: Mapping[str, Any], *, is_required: bool) -> float:
        now = self.clock()
        for name in ("nbf", "iat"):
            if (begins := _time(claims, name)) is not None and begins > now + self.leeway_seconds:
                raise Unauthenticated("the token is not valid yet")
        expires = _time(claims, "exp")
        if expires is None:
            if is_required:
                raise Unauthenticated("the token does not say when it expires")
            return float("inf")
        if expires + self.leeway_seconds <= now:
            raise Unauthenticated("the token has expired")
        return expires + self.leeway_seconds - now


def for_audience(principal: Principal, audience: frozenset[str]) -> Principal:
    """Return the principal of a token that is for one of these. Raise Unauthenticated if it is not."""
    if principal.audience.isdisjoint(audience):
        raise Unauthenticated("the token is for another server: its audience does not name this one")
    return principal


def _owner(issuer: str, claims: Mapping[str, Any], *, may_be_client: bool) -> Principal:
    subject = claims.get("sub")
    is_client = may_be_client and subject is None
    if is_client:
        subject = claims.get("client_id")
    if not isinstance(subject, str) or not subject:
        raise Unauthenticated("the token does not say whose it is")
    found = principal_of_token("client" if is_client else "", issuer, subject)
    is_name = subject.isprintable() and len(subject) <= _MAX_NAME_CHARS
    return replace(
        found,
        name=subject if is_name else found.name,
        scopes=_words(claims.get("scope")) | _words(claims.get("scp")),
        audience=_audience(claims.get("aud")),
    )


def _time(claims: Mapping[str, Any], name: str) -> float | None:
    value = claims.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not -_FAR_AWAY < value < _FAR_AWAY:
        raise Unauthenticated(f"the token has no valid time in {name}")
    return float(value)


def _words(value: object) -> frozenset[str]:
    """Return the scopes of a claim: words in a text, or a list."""
    return frozenset(value.split()) if isinstance(value, str) else _texts(value)


def _audience(value: object) -> frozenset[str]:
    return frozenset((value,)) if isinstance(value, str) else _texts(value)


def _texts(value: object) -> frozenset[str]:
    listed = cast("list[object]", value) if isinstance(value, list) else []
    return frozenset(one for one in listed if isinstance(one, str))


class OAuthTokens(ABC):
    """Knows the tokens of an authorization server that were checked, each for its audience."""

    def __init__(self, verdicts: Verdicts, fingerprints: Fingerprints) -> None:
        self._verdicts, self._fingerprints = verdicts, fingerprints

    def known(self, token: str, audience: frozenset[str]) -> Principal | None:
        found = self._verdicts.known(self._fingerprints.of(token))
        return None if found is None else for_audience(found, audience)

    async def verify(self, token: str, audience: frozenset[str]) -> Principal:
        found = await self._verdicts.settle(self._fingerprints.of(token), lambda: self._check(token))
        return for_audience(found, audience)

    def doubt(self, token: str) -> None:  # noqa: B027  # both kinds do nothing
        """Do nothing: no upstream knows these tokens."""

    @abstractmethod
    async def _check(self, token: str) -> tuple[Principal, float]:
        """Return whose a token is, and for how many seconds that holds at most. Raise AccessRefused."""
