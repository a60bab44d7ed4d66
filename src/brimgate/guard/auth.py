"""The contract of every way to authenticate: a token in, a principal out."""

import hmac
import re
from secrets import token_bytes
from typing import Final, Protocol

from brimgate.errors import Unauthenticated
from brimgate.guard.principal import Principal

_TOKEN: Final = re.compile(r"[\x21-\x7e]{1,8192}")
"""What may follow `Bearer`: it goes into a header again, so nothing may end that header."""
_FINGERPRINT_DIGITS: Final = 8


class Authenticator(Protocol):
    """One way to authenticate. Its calls raise AccessRefused."""

    def known(self, token: str, audience: frozenset[str]) -> Principal | None:
        """Return whose a token is, if that is known without asking anybody. It is called for every request.

        `audience` are the names of what the request is for: a token that names its audience must name one of them.
        """
        ...

    async def verify(self, token: str, audience: frozenset[str]) -> Principal:
        """Find out whose a token is."""
        ...

    def doubt(self, token: str) -> None:
        """Note that an upstream has refused a token that we took for valid."""
        ...

    async def check(self) -> None:
        """Check that tokens can be verified. Raise VerifierDown if not."""
        ...

    async def close(self) -> None: ...


class Fingerprints:
    """Turns tokens into what may be kept and logged: nobody can turn it back without the key."""

    def __init__(self, key: bytes = b"") -> None:
        self.use(key or token_bytes(32))

    def use(self, key: bytes) -> None:
        """Use another key, such as the one that all replicas have. All fingerprints are others then."""
        # A copy of it takes half as long as one that begins with the key.
        self._begun = hmac.new(key, digestmod="sha256")

    def of(self, token: str) -> str:
        digest = self._begun.copy()
        digest.update(token.encode("ascii", "replace"))
        return digest.hexdigest()


def short(fingerprint: str) -> str:
    return fingerprint[:_FINGERPRINT_DIGITS]


def bearer_token(header: bytes) -> str:
    """Return the token of an Authorization header. Raise Unauthenticated if there is none."""
    scheme, _, token = header.decode("latin-1").partition(" ")
    token = token.strip(" ")
    if scheme.lower() != "bearer":
        raise Unauthenticated(
            "authentication is required: send the header Authorization: Bearer TOKEN", error=""
        )
    if not is_token(token):
        raise malformed("the header Authorization must be: Bearer TOKEN")
    return token


def malformed(message: str) -> Unauthenticated:
    return Unauthenticated(message, error="invalid_request", status=400)


def is_token(text: str) -> bool:
    return _TOKEN.fullmatch(text) is not None
