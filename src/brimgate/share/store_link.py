"""The connection to Redis or Valkey, and whether it can be used now.

A gateway works without its store, only alone. So nothing waits for it for long: after one failure it is left alone
until it answers a probe again. Whoever asks meanwhile gets StoreAway at once, and does without.
"""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final, Literal, TypeVar

from brimgate.errors import OperatorError, StoreAway

_T = TypeVar("_T")
_TIMEOUT_SECONDS: Final = 0.2
_PROBE_SECONDS: Final = 1.0
_MAX_CONNECTIONS: Final = 64
_PROBE: Final = "probe"
_REASON_CHARS: Final = 120
Check = Callable[[_T], bool]
"""Whether an answer can be one of the store."""
StoreState = Literal["healthy", "refusing", "away"]
"""A store that is refusing answers, but takes nothing: it is full, or a read-only replica."""


class StoreLink:
    """Two clients of one store: one for threads, one for the event loop."""

    def __init__(self, url: str, prefix: str, tell: Callable[[StoreState, str], None]) -> None:
        """Create it. Nothing is connected yet. `tell` is told of every change of state, in any thread."""
        self.prefix = prefix
        self._tell = tell
        self._threads, self._loop = _clients(url)
        self.state: StoreState = "away"
        self.reason = "it was not reached yet"
        self.latency_ms = 0.0
        self.on_return: list[Callable[[], Awaitable[None]]] = []
        """Done before the store is used: at first, and when it answers again. They raise OperatorError if it is not ours."""
        self._mark = secrets.token_hex(4)
        self._is_returning = False
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
        self, text: str, is_right: "Check[Any]" = lambda found: isinstance(found, int)
    ) -> "StoreScript":
        """Return a script. Without another check, its answer is a number."""
        return StoreScript(self, text, is_right)

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
        if not self._is_returning and (self.is_away or (writes and not self.takes_writes)):
            raise StoreAway(self.reason)

    def _failure(self, error: Exception) -> StoreAway:
        """Note what went wrong. Only a store that answers, and in words, is not taken for away."""
        from redis.exceptions import NoPermissionError, OutOfMemoryError, ReadOnlyError, ResponseError

        refuses = isinstance(error, OutOfMemoryError | ReadOnlyError | NoPermissionError) or (
            isinstance(error, ResponseError)
            and str(error).startswith(("OOM", "MISCONF", "READONLY", "NOREPLICAS"))
        )
        self._change("refusing" if refuses else "away", _reason(error))
        return StoreAway(self.reason)

    def _change(self, state: StoreState, reason: str = "") -> None:
        has_changed, self.state, self.reason = state != self.state, state, reason
        if has_changed or not self._has_told:
            self._has_told = True
            self._tell(state, reason)

    # Watching it

    async def watch(self) -> None:
        """Probe the store for ever."""
        while True:
            await self.probe()
            await asyncio.sleep(_PROBE_SECONDS)

    async def probe(self) -> None:
        """Write something. If that works, everything does."""
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

    async def _return(self) -> None:
        self._is_returning = True
        try:
            for back in self.on_return:
                await back()
        except (StoreAway, OperatorError) as error:
            self._change("away", str(error))
        else:
            self._change("healthy")
        finally:
            self._is_returning = False

    def health(self) -> dict[str, Any]:
        if self.state == "healthy":
            return {"status": "healthy", "latency": round(self.latency_ms, 1)}
        return {"status": "unhealthy", "error": self.reason}

    async def close(self) -> None:
        await self._loop.aclose()
        self._threads.close()


class StoreScript:
    """A script that runs inside the store, as a whole or not at all."""

    def __init__(self, link: StoreLink, text: str, is_right: Check[Any]) -> None:
        self._link, self._text, self._is_right = link, text, is_right
        self._made: dict[bool, Any] = {}

    def run(self, keys: list[str], *arguments: Any) -> Any:
        """Run it, from a thread. Raise StoreAway if that is not possible now."""
        return self._link.run(
            lambda client: self._of(client, False)(keys, arguments), self._is_right, writes=True
        )

    async def ask(self, keys: list[str], *arguments: Any) -> Any:
        """Run it, on the event loop."""
        return await self._link.ask(
            lambda client: self._of(client, True)(keys, arguments), self._is_right, writes=True
        )

    def _of(self, client: Any, is_async: bool) -> Any:
        if is_async not in self._made:
            self._made[is_async] = client.register_script(self._text)
        return self._made[is_async]


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


def _clients(url: str) -> tuple[Any, Any]:
    """Return a client for threads and one for the event loop. None of them tries anything twice."""
    try:
        import redis
        import redis.asyncio
        from redis.asyncio.retry import Retry as AsyncRetry
        from redis.backoff import NoBackoff
        from redis.retry import Retry
    except ModuleNotFoundError as error:
        raise OperatorError(
            f"a store in Redis or Valkey needs the package {error.name}: pip install 'brimgate[redis]'"
        ) from None
    usual: dict[str, Any] = {
        "socket_timeout": _TIMEOUT_SECONDS,
        "socket_connect_timeout": _TIMEOUT_SECONDS,
        "protocol": 2,
        "client_name": "brimgate",
    }
    bound = {"max_connections": _MAX_CONNECTIONS, "timeout": _TIMEOUT_SECONDS}
    threads: Any = redis.Redis
    pools: Any = redis.asyncio.BlockingConnectionPool
    try:
        pool = pools.from_url(url, retry=AsyncRetry(NoBackoff(), 0), **bound, **usual)
        return threads.from_url(url, retry=Retry(NoBackoff(), 0), **usual), redis.asyncio.Redis.from_pool(
            pool
        )
    except (ValueError, TypeError):
        # Without its words, which repeat the URL.
        raise OperatorError(
            "store: must be redis://[:PASSWORD@]HOST[:PORT][/DATABASE], rediss://… or unix://[:PASSWORD@]/PATH[?db=N]"
        ) from None


def _reason(error: Exception) -> str:
    """Say what went wrong in one line. The libraries' words name no password."""
    text = " ".join(str(error).split())[:_REASON_CHARS]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
