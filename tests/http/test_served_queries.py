"""Queries over HTTP: in processes of their own, so that a hostile one costs nobody else anything."""

import os
import re
import signal
from concurrent.futures import ThreadPoolExecutor

from tests.http.processes import is_alive
from tests.http.serving import DEMO, LegacyClient, Serving, serve, text_of, wait_until, workers_of

ENDLESS = "WITH RECURSIVE x(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM x) SELECT count(*) FROM x"
_CURSOR = re.compile(r'cursor="([\w-]+)"')


def asked(client: LegacyClient, cursor: str, sql: str) -> str:
    return text_of(client.call("brimgate_read", cursor=cursor, query=sql))


def opened(serving: Serving) -> tuple[LegacyClient, str]:
    client = serving.client()
    client.initialize()
    found = _CURSOR.search(text_of(client.call("list_bookings")))
    assert found
    return client, found[1]


def test_a_query_is_answered_by_a_process_that_keeps_the_tables() -> None:
    with serve("--", *DEMO) as serving:
        client, cursor = opened(serving)
        assert "[brimgate] 4 rows, all · query over t (500 rows)" in asked(
            client, cursor, "SELECT status, count(*) AS n FROM t GROUP BY 1"
        )
        processes = workers_of(serving)
        assert "500" in asked(client, cursor, "SELECT count(*) AS n FROM t")
        assert workers_of(serving) == processes
        told = client.call("brimgate_read", cursor=cursor, query="SELECT prize FROM t")
        assert told["result"]["isError"] and "tables: t" in text_of(told)
    wait_until(lambda: not any(map(is_alive, processes)), "their end")


def test_calls_of_others_are_answered_while_queries_run_that_never_end() -> None:
    with serve("--", *DEMO) as serving, ThreadPoolExecutor(6) as threads:
        client, cursor = opened(serving)
        crowd = [opened(serving) for _ in range(6)]
        endless = [threads.submit(asked, *one, ENDLESS) for one in crowd]
        while not all(one.done() for one in endless):
            assert "[brimgate]" in text_of(client.call("list_bookings"))
            assert "[brimgate]" in text_of(client.call("brimgate_read", cursor=cursor))
        # By itself after a second; where others keep the processor busy, its process is killed a moment later.
        assert all("query: stopped" in one.result() for one in endless)
        assert "500" in asked(client, cursor, "SELECT count(*) AS n FROM t")


def test_a_process_that_is_killed_costs_its_query_only() -> None:
    with serve("--", *DEMO) as serving, ThreadPoolExecutor(1) as threads:
        client, cursor = opened(serving)
        before = workers_of(serving)
        assert "500" in asked(client, cursor, "SELECT count(*) AS n FROM t")
        (process,) = workers_of(serving) - before
        running = threads.submit(asked, client, cursor, ENDLESS)
        os.kill(process, signal.SIGKILL)
        assert "stopped" in running.result()
        assert "500" in asked(client, cursor, "SELECT count(*) AS n FROM t")
