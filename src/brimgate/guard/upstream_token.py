"""Authenticate by the upstream's own tokens: whoever shows one that its API accepts is whoever it belongs to.

The token goes to the one origin that is configured, and nowhere else. What is kept of it is a fingerprint.
"""

import asyncio
from secrets import token_hex
from typing import Final

from brimgate.errors import Unauthenticated, VerifierDown
from brimgate.guard.auth import Fingerprints, short
from brimgate.guard.json_client import JsonAnswer, JsonClient, target_of
from brimgate.guard.principal import Principal
from brimgate.guard.verdicts import VerdictCache, Verdicts

_REFUSED: Final = (401, 403)
_MAX_NAME_CHARS: Final = 80
_UNKNOWN: Final = "the token is unknown, expired or revoked: use a valid API token of the server behind us"
_FOREVER: Final = float("inf")


class UpstreamTokens:
    def __init__(
        self,
        verify_url: str,
        user_url: str = "",
        *,
        seconds: float,
        refusal_seconds: float,
        fingerprints: Fingerprints,
        others: VerdictCache | None = None,
    ) -> None:
        """Create it. `verify_url` answers 2xx with JSON to a valid token; `user_url` says whose it is, if it may."""
        self._client = JsonClient(verify_url)
        self._user_target = target_of(user_url) if user_url else b""
        self._fingerprints = fingerprints
        self._verdicts = Verdicts(seconds, refusal_seconds, others=others)
        self._proof: asyncio.Task[None] | None = None
        self._refuses_others = False
        """Whether the verifier was seen to refuse a token that cannot be valid."""

    def known(self, token: str, audience: frozenset[str]) -> Principal | None:
        return self._verdicts.known(self._fingerprints.of(token))

    async def verify(self, token: str, audience: frozenset[str]) -> Principal:
        if not self._refuses_others:
            await self._prove()
        return await self._verdicts.settle(self._fingerprints.of(token), lambda: self._ask(token))

    async def _prove(self) -> None:
        """Check the verifier once for all who wait for it: many tokens at once must not cost it twice as many requests."""
        if self._proof is None or self._proof.done():
            self._proof = asyncio.get_running_loop().create_task(self.check())
        try:
            await asyncio.shield(self._proof)
        except VerifierDown as down:
            raise VerifierDown(str(down)) from None  # one that is raised twice would collect tracebacks

    def doubt(self, token: str) -> None:
        self._verdicts.doubt(self._fingerprints.of(token), lambda: self._ask(token))

    async def check(self) -> None:
        """Ask about a made-up token. A verifier that accepts it, such as a page that answers 200 to all, proves nothing."""
        answer = await self._client.ask([_bearer(f"brimgate-check-{token_hex(16)}")])
        self._refuses_others = answer.status in _REFUSED
        if answer.status < 300:
            raise VerifierDown(
                f"{self._client.origin} accepts any token at auth.verify_url: it must be an address that refuses invalid ones"
            )
        if not self._refuses_others:
            raise self._odd(answer)

    async def close(self) -> None:
        if self._proof is not None:
            self._proof.cancel()
        await self._verdicts.close()
        await self._client.close()

    async def _ask(self, token: str) -> tuple[Principal, float]:
        answer = await self._client.ask([_bearer(token)])
        if answer.status in _REFUSED:
            raise Unauthenticated(_UNKNOWN)
        if answer.status >= 300 or answer.document is None:
            raise self._odd(answer)
        fingerprint = self._fingerprints.of(token)
        name = await self._user_name(token) or f"token:{short(fingerprint)}"
        return Principal(f"token:{fingerprint}", name), _FOREVER

    async def _user_name(self, token: str) -> str:
        """Return the user's name and id, if the token may ask for them. It is valid without.

        A name without an id is of no use: users may choose theirs, and allow-lists go by it.
        """
        if not self._user_target:
            return ""
        try:
            answer = await self._client.ask([_bearer(token)], target=self._user_target)
        except VerifierDown:
            return ""
        name = answer.fields.get("username") or answer.fields.get("name")
        number = answer.fields.get("id")
        known = [str(one) for one in (name, number) if isinstance(one, str | int) and str(one).isprintable()]
        if answer.status != 200 or len(known) < 2 or not all(known):
            return ""
        return "#".join(one[:_MAX_NAME_CHARS] for one in known)

    def _odd(self, answer: JsonAnswer) -> VerifierDown:
        if 300 <= answer.status < 400:
            what = (
                f"redirects ({answer.status}), which is not followed with a token: is auth.verify_url right?"
            )
        elif answer.status < 300:
            what = f"answers {answer.status} without JSON: is auth.verify_url right?"
        else:
            what = f"answers {answer.status}"
        return VerifierDown(f"tokens cannot be checked now: {self._client.origin} {what}")


def _bearer(token: str) -> tuple[bytes, bytes]:
    return b"authorization", f"Bearer {token}".encode("ascii")
