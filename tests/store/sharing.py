"""What a replica has of a store, without the replica."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from brimgate.hold.stores.contract import Bounds
from brimgate.share.shared_answers import SharedAnswers
from brimgate.share.shared_keys import SharedKeys
from brimgate.share.store_link import StoreLink
from tests.store.redis_server import RedisServer


@dataclass
class Replica:
    """A link to a store with its loop in a thread, as `serve` has it."""

    link: StoreLink
    keys: SharedKeys
    loop: asyncio.AbstractEventLoop
    told: list[tuple[str, str]]

    def run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(60)

    def answers(self, bounds: Bounds | None = None) -> SharedAnswers:
        return SharedAnswers(self.link, self.keys, bounds or Bounds())


@contextmanager
def replica(url: str, prefix: str = "brimgate:") -> Iterator[Replica]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    told: list[tuple[str, str]] = []

    async def begin() -> tuple[StoreLink, SharedKeys]:
        link = StoreLink(url, prefix, lambda state, reason: told.append((state, reason)), 5.0)
        keys = SharedKeys(link, url, None, lambda _: None)
        link.on_return.append(keys.refresh)
        await link.probe()
        return link, keys

    link, keys = asyncio.run_coroutine_threadsafe(begin(), loop).result(60)
    made = Replica(link, keys, loop, told)
    try:
        yield made
    finally:
        made.run(link.close())
        loop.call_soon_threadsafe(loop.stop)
        thread.join(60)
        loop.close()


@contextmanager
def shared_answers(server: RedisServer) -> Iterator[Callable[[Bounds], SharedAnswers]]:
    with replica(server.url) as made:
        yield made.answers
