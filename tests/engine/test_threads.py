"""Several threads work on the same held answer at once, as over HTTP, and get what one after another would get."""

import json
from concurrent.futures import ThreadPoolExecutor

from brimgate.engine.cursor import Binding
from brimgate.engine.query import Query
from brimgate.hold.runtime import ProcessProtection
from brimgate.sandboxes.demo.log import log
from brimgate.testing.bookings import bookings

BINDING = Binding("p", "u", "t")
NOW = 1_000_000.0


def test_readers_of_one_answer_do_not_disturb_each_other() -> None:
    protection = ProcessProtection()()
    for data in (json.dumps(bookings(500)).encode(), log(4_000).encode()):
        first = protection.protect(data, BINDING, NOW)
        assert first is not None
        cursor = first.record["nextCursor"]
        requests = [Query(), Query(search="payment"), Query(limit=3), Query(search="error")] * 8

        def read(request: Query, cursor: str = cursor) -> str:
            return protection.read(cursor, BINDING, request, NOW).text

        alone = [read(request) for request in requests]
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(read, requests)) == alone


def test_threads_that_need_the_engine_first_at_once_get_the_same() -> None:
    make = ProcessProtection()
    with ThreadPoolExecutor(16) as pool:
        assert len({id(one) for one in pool.map(lambda _: make(), range(64))}) == 1
