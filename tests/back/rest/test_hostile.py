"""APIs that lie, operators who slip, and what is left behind: nothing is lost, and nothing grows without bound."""

import asyncio
import json
from dataclasses import dataclass

import pytest

from brimgate.back.rest.api import RestApi
from brimgate.back.rest.declaration import read_api
from brimgate.back.rest.errors import ApiError, Failures
from brimgate.back.rest.model import Shape, Table
from brimgate.back.rest.response import Opened, content
from brimgate.errors import OperatorError
from brimgate.hold.live_lists import ListState, LiveLists
from brimgate.hold.stores.contract import Bounds
from tests.back.rest.declared import PATIENCE
from tests.back.rest.listing_server import Numbers, respond
from tests.back.rest.test_paging import CURSOR, begin, read_all
from tests.back.rest.test_tokens import AUTH, issue, run_with

NO_TOTAL = "style: offset, limit: limit, offset: offset, size: 10, key: id"


# Lists


@pytest.mark.parametrize("most", [1, 3, 9, 10])
def test_an_api_that_gives_fewer_than_asked_and_no_total_is_read_to_its_end(most: int) -> None:
    numbers = Numbers(list(range(25)))
    numbers.most_in_page = most
    paging = NO_TOTAL if most > 1 else NO_TOTAL.replace(", key: id", "")
    assert asyncio.run(read_all(numbers, paging)) == list(range(25))


def test_cursors_that_lead_in_a_circle_are_refused() -> None:
    numbers = Numbers(list(range(30)))

    def go_back(query: dict[str, int]) -> None:
        if query.get("cursor") == 20:
            numbers.numbers = numbers.numbers[:5] * 100
            query["cursor"] = 0

    numbers.before = go_back

    async def main() -> None:
        async with asyncio.timeout(PATIENCE), numbers.server() as server:
            api, live_list = await begin(numbers, server.url, CURSOR)
            with pytest.raises(ApiError, match="a cursor that it gave before"):
                await live_list.reach(30)
            await api.close()

    asyncio.run(main())


def test_thousands_of_columns_of_one_name_are_told_apart() -> None:
    count = 20_000  # by looking through all names for each it would take hours
    opened = Opened(json.dumps({"c": ["a"] * count, "r": [list(range(count))]}).encode())
    (row,) = content(Shape(is_list=True, table=Table("/c", "/r")), opened).items
    assert len(json.loads(row)) == count


@dataclass
class Held:
    data: bytes
    total: int = 2
    held: int = 1
    pointer: str = ""
    page: int = 0
    is_complete: bool = False

    def state(self) -> ListState:
        return ListState(self.data, self.total, True, self.is_complete)

    async def reach(self, count: int) -> None: ...


def test_lists_that_nobody_reads_on_take_no_more_than_their_bounds() -> None:
    live_lists = LiveLists(Bounds(100_000, 150_000))
    for number in range(1_000):
        live_lists.add("ann", b"%d" % number, Held(b"x" * 8_000), now=1.0, until=10.0)
    assert len(live_lists) == 10
    assert live_lists.of("ann", b"0", 1.0) is None and live_lists.of("ann", b"990", 1.0) is not None
    for number in range(1_000):
        live_lists.add(f"guest {number}", b"0", Held(b"x" * 8_000), now=1.0, until=10.0)
    assert len(live_lists) == 15
    grown = live_lists.of("guest 999", b"0", 1.0)
    assert isinstance(grown, Held)
    grown.data *= 10
    assert live_lists.of("guest 999", b"0", 1.0) is grown and len(live_lists) < 9
    assert live_lists.of("guest 999", b"0", 1_000.0) is None and len(live_lists) == 0


# Credentials, messages and settings


@pytest.mark.parametrize("seconds", [10**400, 1e300, -(10**400)], ids=["too long", "long", "ended"])
def test_a_token_for_longer_than_there_are_numbers_is_a_token(seconds: float) -> None:
    asked = run_with([issue("good", expires_in=seconds)], [respond(b"{}")] * 2, calls=2)
    assert len(asked) == 3, "one token, two calls"


@pytest.mark.parametrize("name", ["Host", "content-length", "X Key", "''", "a:b"])
def test_credentials_in_a_header_that_cannot_be_sent_are_refused_at_the_start(name: str) -> None:
    declared = read_api(AUTH.format(auth=f"{{kind: header, name: {name}, value: hunter2}}").encode(), "x")
    with pytest.raises(OperatorError, match=r"auth\.name") as refused:
        RestApi(declared, variables={})
    assert "hunter2" not in str(refused.value)


def test_a_variable_of_spaces_is_not_set() -> None:
    declared = read_api(AUTH.format(auth="{kind: bearer, token: {env: TOKEN}}").encode(), "x")
    with pytest.raises(OperatorError, match="TOKEN"):
        RestApi(declared, variables={"TOKEN": "  \n"})


def test_addresses_are_hidden_and_prices_are_not() -> None:
    said = "at least 10.50 or 127.5, says db.internal:5432 on 8.8.8.8:53"
    assert '"at least 10.50 or 127.5, says (address) on (address)"' in str(
        Failures("x").refused(422, said, may_run=False)
    )
