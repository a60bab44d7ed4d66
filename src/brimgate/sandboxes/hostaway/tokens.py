"""OAuth client credentials: tokens are issued, expire and are revoked."""

import base64
import json
import secrets
import time
from typing import Any, Final

from brimgate.sandboxes.hostaway.settings import Settings
from brimgate.sandboxes.hostaway.wire import Refusal

_MOST_TOKENS: Final = 1_000


class Tokens:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._ends: dict[str, float] = {}

    def issue(self, form: dict[str, list[str]]) -> dict[str, Any]:
        told = {name: values[-1] for name, values in form.items() if values}
        for name in ("grant_type", "client_id", "client_secret", "scope"):
            if not told.get(name):
                raise Refusal(400, f"The request is missing a required parameter: {name}")
        if told["grant_type"] != "client_credentials":
            raise Refusal(400, "The authorization grant type is not supported by the authorization server")
        if told["scope"] != "general":
            raise Refusal(400, "The requested scope is invalid, unknown, or malformed")
        expected = (str(self._settings.account_id), self._settings.secret)
        if (told["client_id"], told["client_secret"]) != expected:
            raise Refusal(401, "Client authentication failed")
        token = _token(self._settings)
        while len(self._ends) >= _MOST_TOKENS:
            del self._ends[next(iter(self._ends))]
        self._ends[token] = time.monotonic() + self._settings.token_seconds
        return {
            "token_type": "Bearer",
            "expires_in": int(self._settings.token_seconds),
            "access_token": token,
        }

    def check(self, authorization: str) -> None:
        kind, _, token = authorization.partition(" ")
        if kind.lower() != "bearer" or not token:
            raise Refusal(401, "The resource owner or authorization server denied the request")
        if token not in self._ends or self._ends[token] <= time.monotonic():
            raise Refusal(401, "Access token is invalid, expired or has been revoked")

    def revoke(self, token: str) -> None:
        if self._ends.pop(token, None) is None:
            raise Refusal(404, "Access token not found")

    def expire_all(self) -> None:
        self._ends = dict.fromkeys(self._ends, 0.0)


def _token(settings: Settings) -> str:
    """Make a token like the real ones, which are signed JSON Web Tokens of about 600 characters."""
    claims = {"aud": str(settings.account_id), "jti": secrets.token_hex(40), "sub": "", "scopes": ["general"]}
    parts = (
        json.dumps({"typ": "JWT", "alg": "RS256"}).encode(),
        json.dumps(claims).encode(),
        secrets.token_bytes(256),
    )
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)
