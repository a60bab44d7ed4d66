"""What a principal may use: upstreams and tools, by allow-lists."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from hashlib import sha256
from typing import Final

SCOPE: Final = "scope:"
"""Begins the name of a list that is for everyone with this scope, not for one principal."""
EVERYONE: Final = "*"


@dataclass(frozen=True, slots=True)
class Grant:
    """Some tools of some upstreams, by patterns: `*` matches anything."""

    upstreams: tuple[str, ...] = (EVERYONE,)
    tools: tuple[str, ...] = (EVERYONE,)

    def covers(self, upstream: str, tool: str) -> bool:
        return _matches(upstream, self.upstreams) and _matches(tool, self.tools)


@dataclass(frozen=True, slots=True)
class Access:
    """All that a principal is granted."""

    grants: tuple[Grant, ...]

    def allows_upstream(self, upstream: str) -> bool:
        return any(_matches(upstream, grant.upstreams) for grant in self.grants)

    def allows(self, upstream: str, tool: str) -> bool:
        return any(grant.covers(upstream, tool) for grant in self.grants)

    @property
    def key(self) -> str:
        """Stands for what is granted. It is empty if that is everything."""
        if Grant() in self.grants:
            return ""
        return sha256(repr(sorted(map(repr, self.grants))).encode()).hexdigest()[:16]


FULL_ACCESS: Final = Access((Grant(),))


class AllowLists:
    """Grants by the name of a principal, by scope, and for everyone. Without any list, everything is allowed."""

    def __init__(self, lists: Mapping[str, Grant]) -> None:
        self._lists = dict(lists)
        self.of = lru_cache(10_000)(self._of)

    def _of(self, name: str, scopes: frozenset[str]) -> Access:
        if not self._lists:
            return FULL_ACCESS
        # Names may come from elsewhere: nobody gets a scope by being called like one.
        named = () if name.startswith(SCOPE) or name == EVERYONE else (name,)
        entitled = (EVERYONE, *named, *sorted(SCOPE + scope for scope in scopes))
        return Access(tuple(self._lists[one] for one in entitled if one in self._lists))

    def scopes_for(self, upstream: str = "", tool: str = "") -> list[str]:
        """Return the scopes that would allow a call, or something of an upstream, or anything at all."""
        return [
            name.removeprefix(SCOPE)
            for name, grant in self._lists.items()
            if name.startswith(SCOPE)
            and (not upstream or _matches(upstream, grant.upstreams))
            and (not tool or _matches(tool, grant.tools))
        ]


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
