"""Snapshots in Redis or Valkey, for all replicas of a gateway.

An answer is a hash: pieces of 256 KB, each compressed and sealed, so that a page of a large answer is one read of a
few of them; its views; and last of all its head, without which nobody takes it for whole. Names are keyed digests.
While the store is away, answers are held in the memory of this process; they are copied when it is back.
"""

import asyncio
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from threading import Lock
from typing import Any, Final, cast

import msgspec

from brimgate.errors import AnswerOutOfReach, CursorError, StoreAway
from brimgate.hold.stores.contract import MAX_VIEWS, Bounds, account_of
from brimgate.hold.stores.memory import MemoryStore
from brimgate.share.seal import Seal
from brimgate.share.shared_keys import SharedKeys
from brimgate.share.store_link import StoreLink, is_done, is_value, missing

PIECE_BYTES: Final = 1 << 18
_BATCH_BYTES: Final = 1 << 20
"""Sent at once: more might take longer than anybody waits for the store."""
_WHOLE_PIECES: Final = 2
"""An answer of so many pieces is fetched as a whole."""
_AHEAD: Final = 2
"""Pieces that are fetched with one that is asked for: a page may end in the next."""
_HEAD: Final = b"m"
_EXPIRES: Final = b"e"
_BOOKS_SECONDS: Final = 2 * 86_400
_AGAIN_SECONDS: Final = 30.0
"""After which a store that had no room for what is held here is tried again."""

# The books are kept beside the answers: who holds how many bytes, what was used least recently, what has expired. All
# of it is reached by names that the scripts make, so that they need one server and no cluster.
_BOOKS: Final = """
local prefix = ARGV[1]
local sizes, expiry = prefix .. 'sizes', prefix .. 'expiry'
local accounts, total = prefix .. 'accounts', prefix .. 'total'
local function of(account) return prefix .. 'of:' .. account end
local function answer(name) return prefix .. 'answer:' .. name end
local function forget(name)
  local kept = redis.call('HGET', sizes, name)
  redis.call('HDEL', sizes, name)
  redis.call('ZREM', expiry, name)
  if not kept then return end
  local account, size = string.match(kept, '^(%x+) (%d+)$')
  redis.call('ZREM', of(account), name)
  redis.call('DECRBY', total, size)
  redis.call('EXPIRE', total, 172800)
  if tonumber(redis.call('ZINCRBY', accounts, -tonumber(size), account)) <= 0 then
    redis.call('ZREM', accounts, account)
  end
end
local function drop(name)
  redis.call('DEL', answer(name))
  forget(name)
end
local function use(name)
  local kept = redis.call('HGET', sizes, name)
  if not kept then return end
  local own, uses = of(string.match(kept, '^%x+')), prefix .. 'uses'
  redis.call('ZADD', own, redis.call('INCR', uses), name)
  redis.call('EXPIRE', own, 172800)
  redis.call('EXPIRE', uses, 172800)
end
"""
_PUBLISH: Final = (
    _BOOKS
    + """
local name, account, size, ttl, head, expires = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6], ARGV[7]
local most_each, most = tonumber(ARGV[8]), tonumber(ARGV[9])
for number = 0, tonumber(ARGV[11]) - 1 do  -- a piece may have been evicted while the others came
  if redis.call('HEXISTS', answer(name), tostring(number)) == 0 then
    drop(name)
    return 0
  end
end
local now = tonumber(redis.call('TIME')[1])
for _, old in ipairs(redis.call('ZRANGEBYSCORE', expiry, '-inf', now, 'LIMIT', 0, 100)) do forget(old) end
redis.call('HSET', answer(name), 'm', head, 'e', expires)
redis.call('EXPIRE', answer(name), ttl)
forget(name)
redis.call('HSET', sizes, name, account .. ' ' .. size)
redis.call('ZADD', expiry, now + ttl, name)
redis.call('ZINCRBY', accounts, size, account)
redis.call('INCRBY', total, size)
use(name)
for _, key in ipairs({sizes, expiry, accounts, total, prefix .. 'uses', of(account)}) do
  redis.call('EXPIRE', key, ARGV[10])
end
local function drop_oldest_of(one)  -- one fewer each time, whatever of the books was lost
  local oldest = one and redis.call('ZRANGE', of(one), 0, 0)[1]
  if oldest then
    drop(oldest)
    redis.call('ZREM', of(one), oldest)
  elseif one then
    redis.call('ZREM', accounts, one)
  end
  return oldest
end
while tonumber(redis.call('ZSCORE', accounts, account) or 0) > most_each do
  if not drop_oldest_of(account) then break end
end
local function largest()  -- of several, the one with what was used least recently
  local found, least
  local most_bytes = redis.call('ZREVRANGE', accounts, 0, 0, 'WITHSCORES')[2]
  if not most_bytes then return end
  for _, one in ipairs(redis.call('ZRANGEBYSCORE', accounts, most_bytes, most_bytes, 'LIMIT', 0, 20)) do
    local used = tonumber(redis.call('ZRANGE', of(one), 0, 0, 'WITHSCORES')[2]) or 0
    if not least or used < least then found, least = one, used end
  end
  return found
end
while tonumber(redis.call('GET', total) or 0) > most do
  local one = largest()
  local oldest = one and redis.call('ZRANGE', of(one), 0, 0)[1]
  if not oldest or oldest == name then
    -- Either what was just put is too much, or the books were lost in part: count anew.
    if one and not oldest then redis.call('ZREM', accounts, one) end
    local held, sum = redis.call('ZRANGE', accounts, 0, -1, 'WITHSCORES'), 0
    for at = 2, #held, 2 do sum = sum + tonumber(held[at]) end
    redis.call('SET', total, string.format('%.0f', sum), 'EX', ARGV[10])
    if sum > most and oldest then drop(oldest) end
    if not one then break end
  else
    drop_oldest_of(one)
  end
end
return 1
"""
)
_RENEW: Final = (
    _BOOKS
    + """
local name, ttl, expires, now_minute = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local until_minute = tonumber(redis.call('HGET', answer(name), 'e'))
if not until_minute or redis.call('HEXISTS', answer(name), 'm') == 0 then return 0 end
if until_minute <= now_minute then
  drop(name)
  return 0
end
if expires > until_minute then
  redis.call('HSET', answer(name), 'e', expires)
  redis.call('EXPIRE', answer(name), ttl)
  redis.call('ZADD', expiry, 'XX', tonumber(redis.call('TIME')[1]) + ttl, name)
end
use(name)
return 1
"""
)
_GET: Final = (
    _BOOKS
    + """
local found = redis.call('HMGET', answer(ARGV[2]), 'm', 'e')
if not found[1] or not found[2] then return false end
if tonumber(found[2]) <= tonumber(ARGV[3]) then
  drop(ARGV[2])
  return false
end
use(ARGV[2])
return found[1]
"""
)
_PUT_VIEW: Final = """
if redis.call('HEXISTS', KEYS[1], 'm') == 0 then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
if redis.call('HLEN', KEYS[1]) > tonumber(ARGV[3]) then
  local views = {}
  for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
    -- Those of our own, such as whose it is, begin with a zero and stay.
    if string.sub(field, 1, 1) == 'v' and string.byte(field, 2) ~= 0 and field ~= ARGV[1] then
      views[#views + 1] = field
    end
  end
  if #views >= tonumber(ARGV[3]) then redis.call('HDEL', KEYS[1], views[1]) end
end
return 1
"""
_DROP: Final = _BOOKS + "drop(ARGV[2]) return 1"


class _Head(msgspec.Struct, array_like=True):
    size: int
    pieces: int


class SharedAnswers:
    """Keeps the contract of `SnapshotStore`."""

    blocks = True
    is_distant = True

    def __init__(self, link: StoreLink, keys: SharedKeys, bounds: Bounds) -> None:
        self._link, self._keys, self._bounds = link, keys, bounds
        self._seal = Seal(lambda: keys.keys)
        self._here = MemoryStore(bounds)
        """For what the store does not take now."""
        self._hand_over_at = 0.0
        self._publish, self._renew = link.script(_PUBLISH), link.script(_RENEW)
        self._get, self._drop = link.script(_GET, is_value), link.script(_DROP)
        self._put_view = link.script(_PUT_VIEW)
        _compression()  # a missing package is told at the start

    @property
    def is_reachable(self) -> bool:
        return not self._link.is_away

    # Names

    def _name(self, principal: str, snapshot: bytes) -> str:
        return self._keys.digest(b"answer", principal.encode(), snapshot)

    def _key(self, name: str) -> str:
        return self._link.key("answer", name)

    # The contract

    def put(self, principal: str, snapshot: bytes, data: bytes, expires_minute: int, now_minute: int) -> bool:
        if len(data) > self._bounds.per_principal_bytes:
            return False
        try:
            if not self.renew(principal, snapshot, expires_minute, now_minute):
                self._put(principal, snapshot, data, (expires_minute, now_minute), {})
        except StoreAway:
            return self._here.put(principal, snapshot, data, expires_minute, now_minute)
        return True

    def _put(
        self,
        principal: str,
        snapshot: bytes,
        data: bytes,
        minutes: tuple[int, int],
        views: Mapping[bytes, bytes],
    ) -> None:
        """Put an answer into the store. `minutes` are that of its expiry, and that of now."""
        name = self._name(principal, snapshot)
        account = self._keys.digest(b"account", account_of(principal).encode())
        ttl = _seconds(*minutes)
        places = range(0, len(data), PIECE_BYTES)
        fields = [(_view_field(key), view) for key, view in views.items()]
        fields += [(b"%d" % number, data[at : at + PIECE_BYTES]) for number, at in enumerate(places)]
        try:
            for batch in _batches(self._packed(name, field, plain) for field, plain in fields):
                self._link.run(
                    lambda client, batch=batch: self._send(client, name, batch, ttl), is_done, writes=True
                )
        except StoreAway:
            self._clean_up(name)
            raise
        head = self._sealed(name, _HEAD, msgspec.msgpack.encode(_Head(len(data), len(places))))
        is_whole = self._publish.run(
            [],
            self._link.prefix,
            name,
            account,
            len(data),
            ttl,
            head,
            minutes[0],
            self._bounds.per_principal_bytes,
            self._bounds.total_bytes,
            _BOOKS_SECONDS,
            len(places),
        )
        if not is_whole:
            raise StoreAway("it has no room")

    def _clean_up(self, name: str) -> None:
        """Leave nothing of an answer that the store has not taken: it would take the room of others."""
        with suppress(StoreAway):
            self._link.run(lambda client: client.delete(self._key(name)), is_done)

    def _send(self, client: Any, name: str, batch: list[tuple[bytes, bytes]], ttl: int) -> int:
        with client.pipeline(transaction=True) as pipe:
            pipe.hset(self._key(name), mapping=dict(batch))
            pipe.expire(self._key(name), ttl)
            return int(pipe.execute()[0])

    def renew(self, principal: str, snapshot: bytes, expires_minute: int, now_minute: int) -> bool:
        is_here = self._here.renew(principal, snapshot, expires_minute, now_minute)
        name, ttl = self._name(principal, snapshot), _seconds(expires_minute, now_minute)
        try:
            renewed = self._renew.run([], self._link.prefix, name, ttl, expires_minute, now_minute)
            return bool(renewed) or is_here
        except StoreAway:
            return is_here

    def get(self, principal: str, snapshot: bytes, now_minute: int) -> "bytes | StoredBytes | None":
        found = self._here.get(principal, snapshot, now_minute)
        if found is not None:
            return found
        name = self._name(principal, snapshot)
        head = self._opened(name, _HEAD, self._sealed_head(name, now_minute))
        if head is None:
            return None
        read = msgspec.msgpack.decode(head, type=_Head)
        stored = StoredBytes(self, name, read.size)
        return stored.part(0, read.size) if read.pieces <= _WHOLE_PIECES else stored

    def _sealed_head(self, name: str, now_minute: int) -> Any:
        try:
            return self._get.run([], self._link.prefix, name, now_minute)
        except StoreAway:
            # One that takes nothing, not even that this was used, is still read.
            head, expires = self._fields(name, [_HEAD, _EXPIRES])
        is_over = not isinstance(expires, bytes) or int(expires) <= now_minute
        return None if is_over else head

    def pieces(self, name: str, numbers: Iterable[int]) -> list[bytes]:
        """Return pieces of an answer. Raise CursorError if they are gone, AnswerOutOfReach if the store is."""
        names = [b"%d" % number for number in numbers]
        found = [
            self._unpacked(name, field, sealed)
            for field, sealed in zip(names, self._fields(name, names), strict=True)
        ]
        if any(one is None for one in found):
            self._clean_up(name)  # so that the same answer is put again
            raise CursorError
        return [one for one in found if one is not None]

    def put_view(self, principal: str, snapshot: bytes, key: bytes, view: bytes) -> bool:
        if self._here.put_view(principal, snapshot, key, view):
            return True
        name, field = self._name(principal, snapshot), _view_field(key)
        _, sealed = self._packed(name, field, view)
        try:
            return bool(self._put_view.run([self._key(name)], field, sealed, MAX_VIEWS))
        except StoreAway:
            return False

    def get_view(self, principal: str, snapshot: bytes, key: bytes) -> bytes | None:
        found = self._here.get_view(principal, snapshot, key)
        if found is not None or (principal, snapshot) in self._here:
            return found
        name, field = self._name(principal, snapshot), _view_field(key)
        (sealed,) = self._fields(name, [field])
        return self._unpacked(name, field, sealed)

    def drop(self, principal: str, snapshot: bytes) -> None:
        self._here.drop(principal, snapshot)
        name = self._name(principal, snapshot)
        try:
            self._drop.run([], self._link.prefix, name)
        except StoreAway:
            return  # it expires

    def sweep(self, now_minute: int) -> int:
        """Drop what has expired here. The store does it by itself."""
        return self._here.sweep(now_minute)

    # What was held here while the store was away

    async def hand_over(self, now_minute: int) -> None:
        """Copy into the store what it did not take before. Raise StoreAway if it does not take it now either."""
        if self._here.is_empty or time.monotonic() < self._hand_over_at:
            return
        self._hand_over_at = time.monotonic() + _AGAIN_SECONDS
        await asyncio.to_thread(self._hand_over, now_minute)
        self._hand_over_at = 0.0

    def _hand_over(self, now_minute: int) -> None:
        for one in self._here.snapshots():
            if one.expires_minute > now_minute:
                minutes = one.expires_minute, now_minute
                self._put(one.principal, one.id, one.data, minutes, one.views)
            late = self._here.take(one.principal, one.id)
            for key, view in late.items():
                if one.views.get(key) != view:
                    self.put_view(one.principal, one.id, key, view)

    # Fields

    def _fields(self, name: str, fields: list[bytes]) -> list[Any]:
        try:
            return self._link.run(
                lambda client: client.hmget(self._key(name), fields),
                lambda found: isinstance(found, list) and len(cast("list[Any]", found)) == len(fields),
            )
        except StoreAway:
            raise AnswerOutOfReach from None

    def _place(self, name: str, field: bytes) -> bytes:
        return name.encode() + b" " + field

    def _sealed(self, name: str, field: bytes, plain: bytes) -> bytes:
        return self._seal.close(plain, self._place(name, field))

    def _opened(self, name: str, field: bytes, sealed: Any) -> bytes | None:
        return self._seal.open(sealed, self._place(name, field)) if isinstance(sealed, bytes) else None

    def _packed(self, name: str, field: bytes, plain: bytes) -> tuple[bytes, bytes]:
        return field, self._sealed(name, field, _compression().compress(plain, 1))

    def _unpacked(self, name: str, field: bytes, sealed: Any) -> bytes | None:
        packed = self._opened(name, field, sealed)
        return None if packed is None else _compression().decompress(packed)


class StoredBytes:
    """The bytes of an answer in the store. They are fetched as they are needed, and stay."""

    def __init__(self, answers: SharedAnswers, name: str, size: int) -> None:
        self._answers, self._name, self._size = answers, name, size
        self._known: dict[int, bytes] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        return self._size

    def part(self, start: int, end: int) -> bytes:
        first, last = start // PIECE_BYTES, max(start, min(end, self._size) - 1) // PIECE_BYTES
        with self._lock:
            self._fetch(first, last)
        by = first * PIECE_BYTES
        pieces = [self._known.get(number, b"") for number in range(first, last + 1)]
        return (pieces[0] if len(pieces) == 1 else b"".join(pieces))[start - by : end - by]

    def _fetch(self, first: int, last: int) -> None:
        count = -(-self._size // PIECE_BYTES)
        if all(number in self._known for number in range(first, min(last + 1, count))):
            return
        wanted = [
            number for number in range(first, min(last + 1 + _AHEAD, count)) if number not in self._known
        ]
        for at in range(0, len(wanted), _BATCH_BYTES // PIECE_BYTES):
            numbers = wanted[at : at + _BATCH_BYTES // PIECE_BYTES]
            self._known.update(zip(numbers, self._answers.pieces(self._name, numbers), strict=True))


def _seconds(expires_minute: int, now_minute: int) -> int:
    """Return for how long the store keeps something. That it has expired is told by its minute, which comes earlier."""
    return max(1, 60 * (expires_minute - now_minute))


def _view_field(key: bytes) -> bytes:
    return b"v" + key


def _batches(fields: Iterable[tuple[bytes, bytes]]) -> Iterable[list[tuple[bytes, bytes]]]:
    """Yield fields that are sent at once."""
    batch: list[tuple[bytes, bytes]] = []
    size = 0
    for one in fields:
        batch.append(one)
        size += len(one[1])
        if size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


@cache
def _compression() -> Any:
    """Return the module that speaks zstd: the standard library has it since Python 3.14."""
    for name in ("compression.zstd", "backports.zstd"):
        with suppress(ModuleNotFoundError):
            return import_module(name)
    raise missing("backports.zstd")
