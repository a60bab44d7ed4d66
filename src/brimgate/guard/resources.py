"""The metadata of protected resources (RFC 9728): where clients learn who gives out tokens for our URLs."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

WELL_KNOWN: Final = "/.well-known/oauth-protected-resource"


@dataclass(frozen=True, slots=True)
class ProtectedResources:
    """Our URLs, as an authorization server knows them."""

    public_url: str
    """Without a slash at its end."""
    issuer: str

    def audience(self, paths: Iterable[str]) -> frozenset[str]:
        """Return what tokens for these paths may name as their audience. One for all of us names no path."""
        if not self.public_url:
            return frozenset()
        return frozenset((self.public_url, f"{self.public_url}/", *(self.url(path) for path in paths)))

    def url(self, path: str) -> str:
        return self.public_url + quote(path)

    def metadata_url(self, path: str, paths: Iterable[str]) -> str:
        """Return where the metadata for a request are: those of the longest of these paths that it is under."""
        under = [one for one in paths if path == one or path.startswith(f"{one}/")]
        found = max(under, key=len, default="")
        if found.startswith("/messages"):
            found = found.replace("/messages", "/sse", 1)  # which is what clients are told
        return self.public_url + WELL_KNOWN + quote(found)

    def document(self, path: str, scopes: Iterable[str]) -> dict[str, Any]:
        listed = {"scopes_supported": found} if (found := sorted(scopes)) else {}
        return {
            "resource": self.url(path),
            "authorization_servers": [self.issuer],
            "bearer_methods_supported": ["header"],
            "resource_name": "Brimgate",
            **listed,
        }
