"""Authenticate by tokens that only their authorization server can read: ask it about each (RFC 7662)."""

import base64
from typing import Final
from urllib.parse import quote, urlencode

from brimgate.errors import Unauthenticated, VerifierDown
from brimgate.guard.auth import Fingerprints
from brimgate.guard.json_client import JsonAnswer, JsonClient
from brimgate.guard.oauth import ClaimRules, OAuthTokens
from brimgate.guard.principal import Principal
from brimgate.guard.verdicts import VerdictCache, Verdicts

_MOST_SECONDS: Final = 60.0
"""A token may be revoked at any time: for so long at most we do not notice."""
_MOST_REFUSAL_SECONDS: Final = 10.0
_FORM: Final = (b"content-type", b"application/x-www-form-urlencoded")
_CHECKED: Final = "brimgate-check"


class IntrospectedTokens(OAuthTokens):
    def __init__(
        self,
        url: str,
        client_id: str,
        client_secret: str,
        rules: ClaimRules,
        *,
        seconds: float,
        refusal_seconds: float,
        fingerprints: Fingerprints,
        others: VerdictCache | None = None,
    ) -> None:
        """Create it. `client_id` and `client_secret` are our own: never those of a caller."""
        self._client = JsonClient(url)
        self._credentials = _basic(client_id, client_secret)
        self._rules = rules
        for_refusal = min(refusal_seconds, _MOST_REFUSAL_SECONDS)
        verdicts = Verdicts(min(seconds, _MOST_SECONDS), for_refusal, others=others)
        super().__init__(verdicts, fingerprints)

    async def check(self) -> None:
        """Ask about a token that nobody has: what counts is that we get an answer."""
        answer = await self._ask(_CHECKED)
        if answer.fields["active"]:
            raise VerifierDown(
                f"{self._client.origin} takes any token for active: is auth.introspection_url right?"
            )

    async def close(self) -> None:
        await self._verdicts.close()
        await self._client.close()

    async def _check(self, token: str) -> tuple[Principal, float]:
        answer = await self._ask(token)
        if not answer.fields["active"]:
            raise Unauthenticated("the token is unknown, expired or revoked")
        return self._rules.owner(answer.fields, is_signed=False)

    async def _ask(self, token: str) -> JsonAnswer:
        """Ask about a token. Raise VerifierDown if what comes is not an answer: that says nothing about the token."""
        body = urlencode({"token": token, "token_type_hint": "access_token"}).encode()
        answer = await self._client.ask([self._credentials, _FORM], body=body)
        if answer.status in (401, 403):
            raise self._down("refuses our own credentials: check auth.client_id and auth.client_secret")
        if answer.status != 200 or not isinstance(answer.fields.get("active"), bool):
            raise self._down(f"answers {answer.status} without saying whether a token is active")
        return answer

    def _down(self, what: str) -> VerifierDown:
        return VerifierDown(f"tokens cannot be checked now: {self._client.origin} {what}")


def _basic(client_id: str, client_secret: str) -> tuple[bytes, bytes]:
    """Return our credentials as a header, in the form of RFC 6749, section 2.3.1."""
    both = f"{quote(client_id, safe='')}:{quote(client_secret, safe='')}".encode()
    return b"authorization", b"Basic " + base64.b64encode(both)
