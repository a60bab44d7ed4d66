"""Decide whose a request is: the one principal that sessions, held answers and cursors are bound to.

A digest of what the client shows, not of who that is: we cannot check a credential that is meant for another server,
but whoever does not have it cannot show it.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Final

from brimgate.guard.access import FULL_ACCESS, Access
from brimgate.hold.stores.contract import SHOWN, account_of

_CREDENTIALS: Final = frozenset((b"authorization", b"cookie", b"x-api-key"))
_OF_ONE_REQUEST: Final = frozenset(
    (b"accept", b"content-type", b"last-event-id", b"traceparent", b"tracestate", b"x-request-id")
)
"""Headers that differ between the requests of one client. They are forwarded anyway, and tell nothing of it."""
_NAME_DIGITS: Final = 8
_GRANTED: Final = "\1"
"""Stands in an id before what is granted. No name has it, so that nobody is called like another with fewer rights."""


@dataclass(frozen=True, slots=True)
class Principal:
    """Whose a request is."""

    id: str
    """What sessions, held answers and cursors are bound to."""
    name: str
    """A short name for the log. It is no secret, and two principals may have the same."""
    scopes: frozenset[str] = frozenset()
    """What its token says that it may do."""
    audience: frozenset[str] = frozenset()
    """What its token is for, where tokens say so."""
    access: Access = FULL_ACCESS
    token: str = field(default="", repr=False, compare=False)
    """What it has shown us."""
    credential: tuple[tuple[bytes, bytes], ...] = field(default=(), repr=False, compare=False)
    """The headers that its upstream gets for it, and nobody else."""

    def granted(self, access: Access) -> "Principal":
        """Return the principal with what it may use. Who may use less sees nothing of what more has brought."""
        if access is self.access or access == self.access:
            return self
        return replace(self, id=f"{self.id}{_GRANTED}{access.key}" if access.key else self.id, access=access)

    def showing(self, headers: Iterable[tuple[bytes, bytes]], deciding: frozenset[bytes]) -> "Principal":
        """Return the principal with what it shows the upstream: another credential there sees other data."""
        shown = _shown(headers, deciding)
        return self if not shown else replace(self, id=f"{self.id}{SHOWN}{sha256(shown).hexdigest()}")

    @property
    def account(self) -> str:
        """What its bounds are counted by: whatever a caller shows the upstream, it has no more room."""
        return account_of(self.id)


LOCAL: Final = Principal("local", "local")
"""Whoever shows no credentials over HTTP."""
USER: Final = Principal("user", "user")
"""The user of the operating system: `run`, `call`, `read` and `reduce` share what they hold for each user (ADR 16)."""
NOBODY: Final = Principal("", "-")
"""For requests that reach no upstream: nothing is bound to it."""


def deciding_headers(forwarded: Iterable[str] = ()) -> frozenset[bytes]:
    """Return the names of the headers that decide: credentials, and what `forward_headers` shows the upstream."""
    return _CREDENTIALS | shown_headers(forwarded)


def shown_headers(forwarded: Iterable[str]) -> frozenset[bytes]:
    """Return the names of those headers that an upstream is shown, and that tell callers apart."""
    named = frozenset(name.strip().lower().encode() for name in forwarded if name.strip())
    return frozenset(name for name in named - _OF_ONE_REQUEST if not name.startswith(b"mcp-"))


def principal_of(
    headers: Iterable[tuple[bytes, bytes]], deciding: frozenset[bytes] = _CREDENTIALS
) -> Principal:
    """Return whoever sends the same deciding headers with the same values; LOCAL if there are none.

    The order counts among headers of one name only. Each name and value stands after its length, so that no value can
    pass for another header.
    """
    shown = _shown(headers, deciding)
    return _digested("key", shown) if shown else LOCAL


def _shown(headers: Iterable[tuple[bytes, bytes]], deciding: frozenset[bytes]) -> bytes:
    shown = [(lowered, value) for name, value in headers if (lowered := name.lower()) in deciding]
    shown.sort(key=lambda header: header[0])
    return b"".join(_measured(part) for header in shown for part in header)


def principal_of_scope(scope: Any) -> Principal:
    """Return the principal of an ASGI request by its credentials."""
    return principal_of(scope.get("headers", ()))


def principal_of_token(client: str, issuer: object, subject: object) -> Principal:
    """Return the principal of a token that was checked: client, issuer and subject stay when it is refreshed."""
    return _digested("token", json.dumps([client, issuer, subject], default=str).encode())


def as_principal(given: "str | Principal") -> Principal:
    """Return the principal that an application gives. Its id may be a secret, so that its name is a digest."""
    return given if isinstance(given, Principal) else Principal(given, _digested("user", given.encode()).name)


def _measured(part: bytes) -> bytes:
    return b"%d:%b" % (len(part), part)


def _digested(kind: str, shown: bytes) -> Principal:
    digest = sha256(shown).hexdigest()
    return Principal(f"{kind}:{digest}", f"{kind}:{digest[:_NAME_DIGITS]}")
