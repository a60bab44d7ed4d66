"""Decide whose a request is: the one principal that sessions, held answers and cursors are bound to.

A digest of what the client shows, not of who that is: we cannot check a credential that is meant for another server,
but whoever does not have it cannot show it.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

_CREDENTIALS: Final = frozenset((b"authorization", b"cookie", b"x-api-key"))
_OF_ONE_REQUEST: Final = frozenset(
    (b"accept", b"content-type", b"last-event-id", b"traceparent", b"tracestate", b"x-request-id")
)
"""Headers that differ between the requests of one client. They are forwarded anyway, and tell nothing of it."""
_NAME_DIGITS: Final = 8


@dataclass(frozen=True, slots=True)
class Principal:
    """Whose a request is."""

    id: str
    """What sessions, held answers and cursors are bound to."""
    name: str
    """A short name for the log. It is no secret, and two principals may have the same."""


LOCAL: Final = Principal("local", "local")
"""Whoever shows no credentials over HTTP."""
USER: Final = Principal("user", "user")
"""The user of the operating system: `run`, `call`, `read` and `reduce` share what they hold for each user (ADR 16)."""
NOBODY: Final = Principal("", "-")
"""For requests that reach no upstream: nothing is bound to it."""


def deciding_headers(forwarded: Iterable[str] = ()) -> frozenset[bytes]:
    """Return the names of the headers that decide: credentials, and what `forward_headers` shows the upstream."""
    named = frozenset(name.strip().lower().encode() for name in forwarded)
    return _CREDENTIALS | {name for name in named - _OF_ONE_REQUEST if not name.startswith(b"mcp-")}


def principal_of(
    headers: Iterable[tuple[bytes, bytes]], deciding: frozenset[bytes] = _CREDENTIALS
) -> Principal:
    """Return whoever sends the same deciding headers with the same values; LOCAL if there are none.

    The order counts among headers of one name only. Each name and value stands after its length, so that no value can
    pass for another header.
    """
    shown = [(lowered, value) for name, value in headers if (lowered := name.lower()) in deciding]
    if not shown:
        return LOCAL
    shown.sort(key=lambda header: header[0])
    return _digested("key", b"".join(_measured(part) for header in shown for part in header))


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
