"""Lists that go on upstream: only as much is fetched as an answer needs, and what fails there is told as it is."""

import json
from typing import Any

import pytest

from brimgate.errors import BadRequest, UpstreamError
from brimgate.hold.live_lists import ListState
from brimgate.rest import BrimgateMiddleware, Override
from tests.rest.serving import Served, serve

ROWS = [{"id": number, "name": f"row {number}"} for number in range(1_000)]


class Upstream:
    """A list of rows that comes a hundred at a time."""

    pointer = "/result"

    def state(self) -> ListState:
        return ListState(self.data, self.total, True, self.is_complete)

    def __init__(self, fault: Exception | None = None, faulty_after: int = 0) -> None:
        self.held = 0
        self.total = len(ROWS)
        self._fault = fault
        self._faulty_after = faulty_after

    @property
    def data(self) -> bytes:
        return json.dumps({"status": "success", "count": self.total, "result": ROWS[: self.held]}).encode()

    @property
    def is_complete(self) -> bool:
        return self.held >= self.total

    async def reach(self, count: int) -> None:
        while self.held < min(count, self.total):
            if self._fault is not None and self.held >= self._faulty_after:
                raise self._fault
            self.held += 100


def app_over(upstream: Upstream, **options: Any) -> BrimgateMiddleware:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        scope["brimgate.live_list"] = upstream
        pairs = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": pairs})
        await send({"type": "http.response.body", "body": upstream.data})

    return BrimgateMiddleware(app, **options)


def rows_of(served: Served, **query: object) -> list[Any]:
    first = served.ask("/rows", **query)
    return [row for page in served.follow("/rows", first) for row in page.json["result"]]


def test_a_page_fetches_what_it_needs_and_knows_the_total() -> None:
    upstream = Upstream()
    with serve(app_over(upstream)) as served:
        first = served.ask("/rows").json
        assert first["meta"] | {"totalCount": 1_000, "pageSize": 50, "hasMore": True} == first["meta"]
        assert first["result"] == ROWS[:50]
        assert upstream.held == 100
        served.ask("/rows", cursor=first["nextCursor"])
        assert upstream.held == 100  # its total tells that it goes on
        assert rows_of(served) == ROWS
        assert upstream.is_complete


def test_an_item_is_fetched_by_its_path() -> None:
    upstream = Upstream()
    with serve(app_over(upstream, endpoints={"*": Override(fields=("id",))})) as served:
        details = served.ask("/rows").json["meta"]["detailsAvailable"]
        parameters = details["parameters"] | {"path": details["parameters"]["path"].replace("{index}", "555")}
        assert served.ask("/rows", **parameters).json == ROWS[555]
        assert upstream.held == 600


def test_everything_is_fetched_where_everything_is_wanted() -> None:
    with serve(app_over(Upstream(), endpoints={"*": Override(enabled=False)})) as served:
        assert served.ask("/rows").json["result"] == ROWS
    upstream = Upstream()
    with serve(app_over(upstream)) as served:
        answer = served.ask("/rows", fields="all")
        assert answer.json["result"] and answer.json["meta"]["hasMore"], "whole items, page by page"
        assert not upstream.is_complete


class Busy(UpstreamError):
    status = 429
    kind = "rate_limited"
    retry_after = 17


@pytest.mark.parametrize(
    ("fault", "status", "code"),
    [
        (Busy("slow down"), 429, "rate_limited"),
        (UpstreamError("gone"), 502, "upstream_error"),
        (BadRequest("no such filter"), 400, "bad_request"),
    ],
)
def test_what_fails_upstream_is_told(fault: Exception, status: int, code: str) -> None:
    with serve(app_over(Upstream(fault))) as served:
        answer = served.ask("/rows")
        assert (answer.status, answer.json["error"]["code"]) == (status, code)
        assert answer.headers.get("retry-after") == ("17" if status == 429 else None)
    with serve(app_over(Upstream(fault, faulty_after=100))) as served:
        first = served.ask("/rows").json
        answer = served.ask("/rows", cursor=first["nextCursor"], limit=200)
        assert (answer.status, answer.json["error"]["code"]) == (status, code)
    with serve(app_over(Upstream(fault), endpoints={"*": Override(rollout=0)})) as served:
        answer = served.ask("/rows")
        assert (answer.status, answer.json["error"]["code"]) == (status, code)
