"""Requests in a moving window, counted for all replicas together, by the clock of the store.

Each replica counts for itself as well, before it asks the store: so its limit holds on when the store is away, or
comes back empty. Of what it has counted itself the store knows at least as much, so that nobody is refused too early.
"""

import math
from collections.abc import Sequence
from typing import Any, Final, cast

from brimgate.errors import RateLimited, StoreAway
from brimgate.guard.limits import Claim, Limiter, Quota, refusal_text
from brimgate.share.shared_keys import SharedKeys
from brimgate.share.store_link import StoreLink

_MICROSECONDS: Final = 1_000_000
_REFUSED: Final = 3
"""The numbers of a refusal."""

# Of each claim, a list of the times of its requests, oldest first, and whether it is blocked. All are checked before any
# is counted. Returns {0, number of the claim that is refused, microseconds until it would be admitted}, or {1} with two
# numbers for each claim: how many requests there are, and the microseconds until the oldest is forgotten.
_TAKE: Final = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local answer = {}
for at = 1, #KEYS do
  local key, block = KEYS[at], KEYS[at] .. ':block'
  local most, window, pause, cost =
    tonumber(ARGV[4 * at - 3]), tonumber(ARGV[4 * at - 2]), tonumber(ARGV[4 * at - 1]), tonumber(ARGV[4 * at])
  local first = tonumber(redis.call('LINDEX', key, 0))
  while first and (first <= now - window or first > now) do
    redis.call('LPOP', key)
    first = tonumber(redis.call('LINDEX', key, 0))
  end
  local count, blocked = redis.call('LLEN', key), redis.call('PTTL', block)
  if blocked > 0 or count + cost > most then
    if blocked <= 0 and pause > 0 then
      redis.call('SET', block, '1', 'PX', pause)
      blocked = pause
    end
    local over, free = count + cost - most, 0
    if over > 0 and count > 0 then
      free = tonumber(redis.call('LINDEX', key, math.min(over, count) - 1)) + window - now
    end
    return {0, at, math.max(free, math.max(blocked, 0) * 1000)}
  end
  answer[at] = {count, first or now}
end
local told = {1}
for at = 1, #KEYS do
  local window, cost = tonumber(ARGV[4 * at - 2]), tonumber(ARGV[4 * at])
  for _ = 1, cost do redis.call('RPUSH', KEYS[at], string.format('%.0f', now)) end
  redis.call('PEXPIRE', KEYS[at], math.ceil(window / 1000))
  told[#told + 1] = answer[at][1] + cost
  told[#told + 1] = math.max(answer[at][2] + window - now, 0)
end
return told
"""


class SharedLimiter:
    """Counts as `Limiter` does."""

    def __init__(self, link: StoreLink, keys: SharedKeys) -> None:
        self._keys = keys
        self._prefix = link.key("limit", "")
        self._take = link.script(_TAKE, _is_told)
        self._here = Limiter()

    async def admit(self, claims: Sequence[Claim]) -> list[Quota]:
        """Count the requests of several claims: all of them, or none. Raise RateLimited if there are too many."""
        own = self._here.take_all(claims)
        if not claims:
            return own
        try:
            told: list[int] = await self._take.ask(
                [self._name(claim) for claim in claims], *_arguments(claims)
            )
        except StoreAway:
            return own
        if len(told) == 1 + 2 * len(claims) and told[0]:
            return [
                Quota(claim.rate, max(0, claim.rate.requests - count), reset / _MICROSECONDS)
                for claim, count, reset in zip(claims, told[1::2], told[2::2], strict=True)
            ]
        if len(told) != _REFUSED or not 0 < told[1] <= len(claims):
            return own  # no answer of our script
        self._here.give_back(claims)
        raise _refusal(claims[told[1] - 1], told[2])

    def _name(self, claim: Claim) -> str:
        return self._prefix + self._keys.digest(b"limit", repr(claim.key).encode())

    def sweep(self, longest_seconds: float) -> None:
        self._here.sweep(longest_seconds)


def _is_told(found: Any) -> bool:
    """Return whether an answer can be that of the script: a refusal of three numbers, or two for each claim."""
    return (
        isinstance(found, list)
        and all(isinstance(one, int) for one in cast("list[Any]", found))
        and len(cast("list[Any]", found)) % 2 == 1
    )


def _arguments(claims: Sequence[Claim]) -> list[Any]:
    found: list[Any] = []
    for _, rate, cost in claims:
        found += (rate.requests, int(rate.seconds * _MICROSECONDS), int(rate.block_seconds * 1_000), cost)
    return found


def _refusal(claim: Claim, wait: int) -> RateLimited:
    seconds = max(1, math.ceil(wait / _MICROSECONDS))
    return RateLimited(refusal_text(claim), seconds, claim.rate.requests, claim.rate.seconds)
