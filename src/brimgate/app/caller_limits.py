"""How much each caller may ask for: the limits of the configuration, applied to the requests of an exchange."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final

from brimgate.config.declarations import Config, LimitOverride
from brimgate.errors import RateLimited
from brimgate.guard.limits import Claim, Concurrency, Limiter, Quota, Rate, RequestLimiter
from brimgate.http.asgi import Header
from brimgate.relay.protocol.message import Message
from brimgate.relay.protocol.versions import LISTEN, call_arguments

_FREE: Final = frozenset(("ping", "server/discover"))
"""Requests that are not counted."""
GREETING: Final = "\0initialize"
"""Stands for a handshake among the names of tools.

It is counted apart: it costs nothing of the limit, but each may start a process.
"""
_USUAL_REQUESTS: Final = 100
_USUAL_CONCURRENCY: Final = 32
_READ_FACTOR: Final = 10
_MINUTE: Final = 60.0


class CallerLimits:
    def __init__(self, config: Config, limiter: RequestLimiter | None = None) -> None:
        self._limiter: RequestLimiter = limiter or Limiter()
        self._running = Concurrency()
        self.use(config)

    def use(self, config: Config) -> None:
        """Use other limits from now on. What was counted stays counted."""
        self._limits, self._auth, self._read_tool = config.limits, config.auth, config.read_tool
        self._is_open = config.auth.mode == "none"
        self._rate_of = lru_cache(10_000)(self._find_rate)

    @property
    def is_unlimited(self) -> bool:
        return not self._requests and not self.concurrency

    @property
    def concurrency(self) -> int:
        """How many calls of a principal may run at a time; 0 if there is no limit."""
        return self._limits.concurrency or (0 if self._is_open else _USUAL_CONCURRENCY)

    # Before anybody is known

    async def count_attempt(self, site: str) -> None:
        """Bound how many tokens that nobody knows are tried: each may cost the verifier a request."""
        try:
            of_address = Claim(("address", site), Rate(self._auth.attempts_per_address, _MINUTE))
            await self._limiter.admit([of_address, Claim("attempts", Rate(self._auth.attempts, _MINUTE))])
        except RateLimited as refusal:
            text = "too many attempts to authenticate: wait"
            raise RateLimited(text, refusal.retry_after, refusal.limit, refusal.window) from None

    # Requests

    async def count(self, principal: str, upstream: str, by_tool: dict[str, int]) -> list[Header]:
        """Count requests: all of them, or none if there are too many. Return what the caller is told of its limits."""
        claims: dict[tuple[str, ...], Claim] = {}
        for tool, number in by_tool.items():
            bucket, rate = self._rate_of(upstream, tool)
            if rate is not None:
                before = claims[bucket].cost if bucket in claims else 0
                claims[bucket] = Claim((principal, bucket), rate, before + number)
        try:
            quotas = await self._limiter.admit(list(claims.values()))
        except RateLimited as refusal:
            refusal.policy = next(
                name[0] for name, one in claims.items() if one.rate.requests == refusal.limit
            )
            raise
        told = [_quota_headers(quota, bucket[0]) for bucket, quota in zip(claims, quotas, strict=True)]
        if self._limits.legacy_headers:
            told += map(_legacy_headers, quotas[:1])
        return [header for headers in told for header in headers]

    def take_places(self, principal: str, calls: int) -> int:
        """Take places for calls, as far as these are limited. Return how many are to be given back."""
        if not calls or not self.concurrency:
            return 0
        self._running.take(principal, self.concurrency, calls)
        return calls

    def give_back(self, principal: str, calls: int) -> None:
        self._running.give_back(principal, calls)

    def _find_rate(self, upstream: str, tool: str) -> tuple[tuple[str, ...], Rate | None]:
        """Return the rate for a call, and the name of what is counted together."""
        limits = self._limits
        many = limits.reads or _READ_FACTOR * self._requests
        if tool == GREETING:
            return ("session",), self._usual_rate(many)
        if tool and tool == self._read_tool:
            return ("read",), self._usual_rate(many)
        for pattern, override in reversed(limits.tools.items()):
            if tool and fnmatchcase(tool, pattern):
                return ("tool", upstream, pattern), _rate(override)
        if upstream in limits.upstreams:
            return ("upstream", upstream), _rate(limits.upstreams[upstream])
        return ("user",), self._usual_rate(self._requests)

    def _usual_rate(self, requests: int) -> Rate | None:
        return Rate(requests, self._limits.window_seconds, self._limits.block_seconds) if requests else None

    @property
    def _requests(self) -> int:
        return self._limits.requests or (0 if self._is_open else _USUAL_REQUESTS)

    def sweep(self) -> None:
        """Forget windows in which nothing counts any more."""
        overrides = (*self._limits.tools.values(), *self._limits.upstreams.values())
        windows = [self._limits.window_seconds, _MINUTE, *(one.window_seconds for one in overrides)]
        self._limiter.sweep(max(windows))


def counted(messages: Iterable[Message]) -> list[Message]:
    """Return the requests that count."""
    return [one for one in messages if one.is_request and one.method not in _FREE]


def lasting_calls(messages: Iterable[Message]) -> int:
    """Return how many calls there are that take a place until they are answered."""
    return sum(one.method != LISTEN for one in messages)


def by_tool(messages: Iterable[Message]) -> dict[str, int]:
    """Return how many requests there are for each tool; under no name, those that call none."""
    counts: dict[str, int] = {}
    for message in messages:
        tool = call_arguments(message)[0] if message.method == "tools/call" else ""
        tool = GREETING if message.method == "initialize" else tool
        counts[tool] = counts.get(tool, 0) + 1
    return counts


def _rate(one: LimitOverride) -> Rate:
    return Rate(one.requests, one.window_seconds, one.block_seconds)


def _quota_headers(quota: Quota, name: str) -> list[Header]:
    """Return what the draft RateLimit header fields for HTTP, revision 11, says of a quota."""
    rate, policy = quota.rate, name.encode()
    return [
        (b"ratelimit-policy", b'"%b";q=%d;w=%d' % (policy, rate.requests, rate.seconds)),
        (b"ratelimit", b'"%b";r=%d;t=%d' % (policy, quota.remaining, _reset(quota))),
    ]


def _legacy_headers(quota: Quota) -> list[Header]:
    return [
        (b"x-ratelimit-limit", b"%d" % quota.rate.requests),
        (b"x-ratelimit-remaining", b"%d" % quota.remaining),
        (b"x-ratelimit-reset", b"%d" % _reset(quota)),
    ]


def _reset(quota: Quota) -> int:
    return max(0, round(quota.reset_seconds))
