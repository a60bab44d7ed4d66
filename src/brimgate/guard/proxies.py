"""Proxies in front of us: which are trusted, and whom they speak for."""

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

from brimgate.http.asgi import Header

UNIX: Final = "unix"
"""Stands for whoever connects to our Unix socket."""
_FORWARDED_FOR: Final = b"x-forwarded-for"
_ONE_SITE: Final = 64
"""Whoever has an IPv6 address has all of its network of this length."""


class TrustedProxies:
    def __init__(self, networks: Iterable[str]) -> None:
        """Create it from addresses and networks. Raise ValueError if one is none."""
        named = tuple(networks)
        self._trusts_socket = UNIX in named
        self._networks: list[IPv4Network | IPv6Network] = [
            ip_network(one, strict=False) for one in named if one != UNIX
        ]
        self.trusts = lru_cache(10_000)(self._trusts)

    def _trusts(self, address: str) -> bool:
        if not address:
            return self._trusts_socket
        try:
            found = _plain(address)
        except ValueError:
            return False
        return any(found in network for network in self._networks)

    def client_address(self, peer: str, headers: Iterable[Header]) -> str:
        """Return the address of the client: behind trusted proxies it is the last one that they do not trust."""
        if not self.trusts(peer):
            return peer
        named = b",".join(value for name, value in headers if name == _FORWARDED_FOR).decode("latin-1")
        hops = [hop.strip() for hop in named.split(",") if hop.strip()]
        return next((hop for hop in reversed(hops) if not self.trusts(_without_port(hop))), peer)


def site_of(address: str) -> str:
    """Return what an address is counted under: itself, or its network where one caller has many."""
    try:
        found = _plain(_without_port(address))
    except ValueError:
        return address[:100]
    if isinstance(found, IPv6Address):
        return str(ip_network((found, _ONE_SITE), strict=False))
    return str(found)


def _plain(address: str) -> IPv4Address | IPv6Address:
    found = ip_address(address.partition("%")[0].strip("[]"))
    return (found.ipv4_mapped or found) if isinstance(found, IPv6Address) else found


def _without_port(hop: str) -> str:
    if hop.startswith("["):
        return hop.partition("]")[0][1:]
    host, colon, _ = hop.partition(":")
    return host if colon and ":" not in hop.partition(":")[2] else hop
