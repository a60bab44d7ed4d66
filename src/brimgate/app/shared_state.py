"""What this replica shares with others: held answers, keys, limits, tickets and the cache of tokens, in one store."""

import asyncio
import time
from typing import Final

from brimgate.config.declarations import Config
from brimgate.engine.policy import Policy
from brimgate.errors import OperatorError, StoreAway
from brimgate.guard.auth import Fingerprints
from brimgate.hold.protection import Protection, ring_from_environment
from brimgate.hold.runtime import HoldOptions, ProcessProtection
from brimgate.share.replicas import Replicas
from brimgate.share.session_owners import SessionOwners
from brimgate.share.shared_answers import SharedAnswers
from brimgate.share.shared_keys import SharedKeys
from brimgate.share.shared_limits import SharedLimiter
from brimgate.share.shared_tickets import SharedTickets
from brimgate.share.shared_verdicts import SharedVerdicts
from brimgate.share.store_link import StoreLink, StoreState
from brimgate.watch.log import Log

_BEAT_SECONDS: Final = 1.0
_WITHOUT: Final = "answers, limits and tokens are those of this process alone until it is back"
_REFUSES: Final = "what it has is still read; new answers are held, and limits counted, in this process"


class SharedState:
    def __init__(self, url: str, config: Config, log: Log, name: str, fingerprints: Fingerprints) -> None:
        """Create it; nothing is connected yet. `fingerprints` get the key that all replicas have."""
        self._log, self._fingerprints = log, fingerprints
        self.link = StoreLink(url, config.redis_prefix, self._tell, config.redis_timeout_seconds)
        self.keys = SharedKeys(self.link, url, ring_from_environment(), self._warn)
        self.protection = SharedProtection(self, config)
        self.answers = SharedAnswers(self.link, self.keys, self.protection.bounds())
        self.limiter = SharedLimiter(self.link, self.keys)
        self.tickets = SharedTickets(self.link)
        self.verdicts = SharedVerdicts(self.link, self.keys)
        self.owners = SessionOwners(self.link, self.keys)
        self.replicas = Replicas(self.link, name)
        self.link.on_return += [self._take_keys, self.replicas.beat]
        self._watching: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Reach the store, if it is there. Raise OperatorError if it is not ours."""
        await self.link.probe()
        if self.keys.problem:
            raise OperatorError(self.keys.problem)
        self._watching = asyncio.get_running_loop().create_task(self._watch())

    async def _watch(self) -> None:
        """Probe the store for ever, and do what is to be done while it is well."""
        while True:
            await asyncio.sleep(_BEAT_SECONDS)
            try:
                await self.link.probe()
                if self.link.takes_writes:
                    await self._take_keys(at_once=False)
                    await self.replicas.beat()
                    await self.answers.hand_over(int(time.time() // 60))
            except StoreAway:
                continue
            except OperatorError as error:
                self.link.leave(str(error))

    async def _take_keys(self, *, at_once: bool = True) -> None:
        await self.keys.refresh(at_once=at_once)
        self._fingerprints.use(self.keys.identity)

    def _tell(self, state: StoreState, reason: str) -> None:
        if state == "healthy":
            self._log.write("store_healthy", {})
            return
        what = _WITHOUT if state == "away" else _REFUSES
        if reason.startswith(("Authentication", "Authorization", "NoPermission")):
            what = f"check user and password in `store` or REDIS_URL; {_WITHOUT}"
        self._log.write(f"store_{state}", {"reason": reason, "hint": what}, "warning")

    def _warn(self, hint: str) -> None:
        self._log.write("store_keys_in_clear", {"hint": hint}, "warning")

    async def close(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait([self._watching])
        await self.link.close()


class SharedProtection(ProcessProtection):
    """Creates the engine with the store of all replicas."""

    def __init__(self, shared: SharedState, options: HoldOptions) -> None:
        super().__init__(options)
        self._shared = shared

    def _make(self) -> Protection:
        shared = self._shared
        return Protection(Policy(), shared.keys, shared.answers, siblings=shared.replicas)
