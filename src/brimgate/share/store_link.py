"""The connection to Redis or Valkey, and whether it can be used now.

A gateway works without its store, only alone. So nothing waits for it for long: after one failure it is left alone
until it answers a probe again. Whoever asks meanwhile gets StoreAway at once, and does without.
"""

import re
import secrets
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, Final, Literal, TypeVar
from urllib.parse import unquote, urlsplit

from brimgate.errors import BrimgateError, OperatorError, StoreAway

_T = TypeVar("_T")
_TIMEOUT_SECONDS: Final = 0.2
_MAX_CONNECTIONS: Final = 64
_PROBE: Final = "probe"
_REASON_CHARS: Final = 120
_SENT: Final = re.compile(r",? with args beginning with.*|Command # \d+.*? of pipeline caused error: ")
"""Where servers and libraries repeat what they were sent."""
Check = Callable[[_T], bool]
"""Whether an answer can be one of the store."""
StoreState = Literal["healthy", "refusing", "away"]
"""A store that is refusing answers, but takes nothing: it is full, or a read-only replica."""


_RETURNING: Final = ContextVar("returning", default=False)
"""Whether whoever asks does what comes before the store is used again: nobody else may ask then."""


class StoreLink:
    """Two clients of one store: one for threads, one for the event loop."""

    def __init__(
        self,
        url: str,
        prefix: str,
        tell: Callable[[StoreState, str], None],
        timeout_seconds: float = _TIMEOUT_SECONDS,
    ) -> None:
        """Create it. Nothing is connected yet. `tell` is told of every change of state, in any thread."""
        self.prefix = prefix
        self._password = unquote(urlsplit(url).password or "")
        self._tell = tell
        self._threads, self._loop = _clients(url, timeout_seconds)
        self.state: StoreState = "away"
        self.reason = "it was not reached yet"
        self.latency_ms = 0.0
        self.on_return: list[Callable[[], Awaitable[None]]] = []
        """Done before the store is used: at first, and when it answers again. They raise OperatorError if it is not ours."""
        self._mark = secrets.token_hex(4)
        self._has_told = False

    def key(self, *parts: str) -> str:
        return self.prefix + ":".join(parts)

    @property
    def is_away(self) -> bool:
        return self.state == "away"

    @property
    def takes_writes(self) -> bool:
        return self.state == "healthy"

    def script(
        self, text: str, is_right: "Check[Any] | None" = None, *, writes: bool = True
    ) -> "StoreScript":
        """Return a script. Without a check of its own, its answer is a number."""
        return StoreScript(self, text, is_right or (lambda found: isinstance(found, int)), writes)

    # Asking it

    def run(self, work: Callable[[Any], _T], is_right: "Check[_T]", *, writes: bool = False) -> _T:
        """Do something with the store, in a thread. Raise StoreAway if that is not possible now.

        An answer that is not `is_right` does not come from a store that works.
        """
        self._check(writes)
        try:
            return _checked(work(self._threads), is_right)
        except Exception as error:  # noqa: BLE001  # whatever it is, nobody's call may fail for it
            raise self._failure(error) from None

    async def ask(
        self, work: Callable[[Any], Awaitable[_T]], is_right: "Check[_T]", *, writes: bool = False
    ) -> _T:
        """Do the same on the event loop."""
        self._check(writes)
        try:
            return _checked(await work(self._loop), is_right)
        except Exception as error:  # noqa: BLE001
            raise self._failure(error) from None

    def _check(self, writes: bool) -> None:
        if not _RETURNING.get() and (self.is_away or (writes and not self.takes_writes)):
            raise StoreAway(self.reason)

    def _failure(self, error: Exception) -> StoreAway:
        """Note what went wrong. Only a store that answers, and in words, is not taken for away."""
        if "No connection available" in str(error):
            return StoreAway("too many ask at once")  # which says nothing of the store
        from redis.exceptions import NoPermissionError, OutOfMemoryError, ReadOnlyError, ResponseError

        refuses = isinstance(error, OutOfMemoryError | ReadOnlyError | NoPermissionError) or (
            isinstance(error, ResponseError)
            and str(error).startswith(("OOM", "MISCONF", "READONLY", "NOREPLICAS"))
        )
        self._change("refusing" if refuses else "away", self._told(error))
        return StoreAway(self.reason)

    def _told(self, error: Exception) -> str:
        """Say what went wrong in one line, without what we have sent."""
        text = _SENT.sub("", " ".join(str(error).split()))
        text = text.replace(self._password, "…") if self._password else text
        return f"{type(error).__name__}: {text[:_REASON_CHARS]}" if text else type(error).__name__

    def _change(self, state: StoreState, reason: str = "") -> None:
        has_changed, self.state, self.reason = state != self.state, state, reason
        if has_changed or not self._has_told:
            self._has_told = True
            self._tell(state, reason)

    # Watching it

    async def probe(self) -> None:
        """Write something, and read it back. If that works, everything does."""
        began, mark = time.perf_counter(), secrets.token_hex(8).encode()
        name = self.key(_PROBE, self._mark)
        try:
            await self._loop.set(name, mark, px=60_000)
            _checked(await self._loop.get(name), lambda found: found == mark)
        except Exception as error:  # noqa: BLE001
            self._failure(error)
            return
        self.latency_ms = 1_000 * (time.perf_counter() - began)
        if self.state != "healthy":
            await self._return()

    def leave(self, reason: str) -> None:
        """Take the store for away: it answers, but is not ours."""
        self._change("away", reason)

    async def _return(self) -> None:
        returning = _RETURNING.set(True)
        try:
            for back in self.on_return:
                await back()
        except Exception as error:  # noqa: BLE001  # what it has is not ours, or makes no sense
            self._change("away", str(error) if isinstance(error, BrimgateError) else self._told(error))
        else:
            self._change("healthy")
        finally:
            _RETURNING.reset(returning)

    def health(self) -> dict[str, Any]:
        if self.state == "healthy":
            return {"status": "healthy", "latency": round(self.latency_ms, 1)}
        return {"status": "unhealthy", "error": self.reason}

    async def close(self) -> None:
        await self._loop.aclose()
        self._threads.close()


class StoreScript:
    """A script that runs inside the store, as a whole or not at all."""

    def __init__(self, link: StoreLink, text: str, is_right: Check[Any], writes: bool) -> None:
        self._link, self._text, self._is_right, self._writes = link, text, is_right, writes
        self._made: dict[bool, Any] = {}

    def run(self, keys: list[str], *arguments: Any) -> Any:
        """Run it, from a thread. Raise StoreAway if that is not possible now."""
        return self._link.run(
            lambda client: self._of(client, False)(keys, arguments), self._is_right, writes=self._writes
        )

    async def ask(self, keys: list[str], *arguments: Any) -> Any:
        """Run it, on the event loop."""
        return await self._link.ask(
            lambda client: self._of(client, True)(keys, arguments), self._is_right, writes=self._writes
        )

    def _of(self, client: Any, is_async: bool) -> Any:
        if is_async not in self._made:
            self._made[is_async] = client.register_script(self._text)
        return self._made[is_async]


def missing(package: str) -> OperatorError:
    return OperatorError(
        f"a store in Redis or Valkey (`store`, or REDIS_URL) needs the package {package}: pip install 'brimgate[redis]'"
    )


def is_value(found: Any) -> bool:
    """Return whether an answer can be that to GET."""
    return found is None or isinstance(found, bytes)


def is_done(found: Any) -> bool:
    """Return whether an answer can be that to a command that says whether, or of how many, it was done."""
    return found is None or isinstance(found, int)


def _checked(found: _T, is_right: Check[_T]) -> _T:
    if not is_right(found):
        raise ValueError("its answers make no sense")
    return found


def _clients(url: str, timeout_seconds: float) -> tuple[Any, Any]:
    """Return a client for threads and one for the event loop.

    They try again only where a connection was cut, which says little of the store: it may have been idle for long.
    """
    try:
        import redis
        import redis.asyncio
        from redis.asyncio.retry import Retry as AsyncRetry
        from redis.backoff import NoBackoff
        from redis.exceptions import ConnectionError as Cut
        from redis.retry import Retry
    except ModuleNotFoundError as error:
        raise missing(error.name or "redis") from None
    usual: dict[str, Any] = {
        "socket_timeout": timeout_seconds,
        "socket_connect_timeout": timeout_seconds,
        "protocol": 2,
        "client_name": "brimgate",
    }
    bound = {"max_connections": _MAX_CONNECTIONS, "timeout": timeout_seconds}
    threads: Any = redis.Redis
    pools: Any = redis.asyncio.BlockingConnectionPool
    try:
        pool = pools.from_url(url, retry=AsyncRetry(NoBackoff(), 1, (Cut,)), **bound, **usual)
        pool.make_connection()  # an option that there is not is told at once
        client = threads.from_url(url, retry=Retry(NoBackoff(), 1, (Cut,)), **usual)
        return client, redis.asyncio.Redis.from_pool(pool)
    except (ValueError, TypeError):
        # Without its words, which repeat the URL.
        raise OperatorError(
            "the URL of the store must be redis://[:PASSWORD@]HOST[:PORT][/DATABASE], rediss://… or unix://[:PASSWORD@]/PATH[?db=N]"
        ) from None
