"""The credential that an upstream gets for each caller: never the one that the caller shows us, unless it is its own."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from brimgate.errors import Forbidden, OperatorError
from brimgate.guard.auth import malformed
from brimgate.http.asgi import Header

_PLACE: Final = "{}"
_VALUE: Final = re.compile(rb"[\x21-\x7e](?:[\x20-\x7e]{0,8190}[\x21-\x7e])?")
"""Printable, so that nothing in it can begin another header."""
_NAME: Final = re.compile(r"[A-Za-z0-9-]{1,100}")
_OTHERS: Final = frozenset(
    ("accept", "accept-encoding", "connection", "content-length", "content-type", "expect", "host", "te")
) | frozenset(("last-event-id", "transfer-encoding", "upgrade", "x-request-id"))
"""Headers that say what a request is, not whose."""


class CallerCredential:
    """Finds the headers that one upstream gets for a caller."""

    def __init__(
        self, upstream: str, source: str, per_principal: Mapping[str, str], sent_as: str, static: str = ""
    ) -> None:
        """Create it. `source` is a header of the client's request, which comes before `per_principal`.

        `static` is for all who have neither. Raise OperatorError if the upstream could not be sent what is configured.
        """
        self._upstream, self._source = upstream, source.strip()
        self._header = self._source.lower().encode()
        self._name, self._value = _template(upstream, sent_as)
        key = f"upstreams.{upstream}.upstream_credential"
        self._kept = {
            name: _checked(f"{key}.per_principal.{name}", value) for name, value in per_principal.items()
        }
        self._static = _checked(f"{key}.static", static) if static else None

    @property
    def name(self) -> str:
        """The header that the upstream gets, in small letters."""
        return self._name

    def of(self, name: str, headers: Iterable[Header]) -> tuple[Header, ...]:
        """Return the headers for the caller of this name. Raise AccessRefused if it has no credential."""
        given = [value for key, value in headers if key == self._header] if self._header else []
        if len(given) > 1 or not all(_VALUE.fullmatch(value) for value in given):
            raise malformed(f"the header {self._source} must hold one credential of printable characters")
        value = given[0] if given else self._kept.get(name, self._static)
        if value is None:
            raise Forbidden(self._missing())
        return ((self._name.encode(), self._value.replace(_PLACE.encode(), value)),)

    def _missing(self) -> str:
        what = f"the server {self._upstream} needs a credential of yours"
        if self._source:
            return f"{what}: send it in the header {self._source}"
        return f"{what}, and the operator has configured none for you (upstream_credential.per_principal)"


def _template(upstream: str, sent_as: str) -> tuple[str, bytes]:
    name, colon, value = sent_as.partition(":")
    name, value = name.strip().lower(), value.strip()
    if not colon or not _NAME.fullmatch(name) or value.count(_PLACE) != 1 or not value.isascii():
        raise OperatorError(
            f'upstreams.{upstream}.upstream_credential.as must be a header with {{}}: "Authorization: Bearer {{}}"'
        )
    if name in _OTHERS or name.startswith("mcp-") or not value.isprintable():
        raise OperatorError(f"upstreams.{upstream}.upstream_credential.as: {name} cannot hold a credential")
    return name, value.encode()


def _checked(key: str, value: str) -> bytes:
    if not value.isascii() or not _VALUE.fullmatch(value.encode()):
        raise OperatorError(f"{key} is empty or has characters that no header may have")
    return value.encode()
