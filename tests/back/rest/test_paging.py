"""Pages of a list: all of it, once, in order, whatever happens to it meanwhile; and no more than is asked for."""

import asyncio
import json
from typing import Any
from urllib.parse import parse_qs

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from brimgate.back.rest.api import RestApi
from brimgate.back.rest.declaration import read_api
from brimgate.back.rest.errors import ApiError
from brimgate.back.rest.live_list import FetchedList
from brimgate.errors import BadRequest, UpstreamError
from tests.back.rest.declared import PATIENCE, Ground, opened, told
from tests.back.rest.listing_server import OFFSET, PAGED, Numbers

PAGE = "style: page, limit: limit, page: page, size: 10, total: /total, key: id"
CURSOR = "style: cursor, limit: limit, parameter: cursor, next: /next, size: 10, key: id"


async def begin(
    numbers: Numbers, url: str, paging: str = OFFSET, **arguments: Any
) -> tuple[RestApi, FetchedList]:
    api = RestApi(read_api(PAGED.format(paging=paging).encode(), "x"), base_url=url, variables={})
    answer = await api.run("numbers", arguments)
    assert isinstance(answer.live_list, FetchedList)
    return api, answer.live_list


def ids(live_list: FetchedList) -> list[int]:
    return [item["id"] for item in json.loads(live_list.data)["items"]]


async def read_all(numbers: Numbers, paging: str = OFFSET, **arguments: Any) -> list[int]:
    async with asyncio.timeout(PATIENCE), numbers.server() as server:
        api, live_list = await begin(numbers, server.url, paging, **arguments)
        while not live_list.is_complete:
            before, held = live_list.data, live_list.held
            await live_list.reach(live_list.held + 1)
            assert live_list.data[: len(before) - 2] == before[:-2]
            assert live_list.held > held or live_list.is_complete
        await api.close()
        assert live_list.total == live_list.held == len(ids(live_list))
        return ids(live_list)


def test_all_reservations_come_once_and_in_order(ground: Ground) -> None:
    async def main() -> None:
        async with opened(ground.url) as api:
            answer = await api.run("list_reservations", {})
            live_list = answer.live_list
            assert live_list is not None
            assert answer.body.startswith(b'{"count":500,"result":[{"id":')
            assert (live_list.total, live_list.held, live_list.is_complete) == (500, 51, False)
            first = live_list.data
            await live_list.reach(101)
            assert live_list.data.startswith(first[:-2])
            await live_list.reach(500)
            found = [one["id"] for one in json.loads(live_list.data)["result"]]
            assert (len(found), len(set(found)), live_list.total, live_list.is_complete) == (
                500,
                500,
                500,
                True,
            )
            assert found == sorted(found, reverse=True)

    asyncio.run(main())


def test_a_limit_bounds_what_is_asked_for(ground: Ground) -> None:
    async def main() -> None:
        async with opened(ground.url) as api:
            answer = await api.run("list_reservations", {"max_records": 10})
            assert (answer.live_list, len(told(answer)["result"])) == (None, 10)
            more = (await api.run("list_reservations", {"max_records": 105})).live_list
            assert more is not None
            assert (more.total, more.held) == (105, 51)
            await more.reach(1_000)
            assert (more.total, more.held, more.is_complete) == (105, 105, True)

    asyncio.run(main())
    asked = [parse_qs(one["query"]) for one in ground.asked("/reservations")]
    assert [(one["limit"], one["offset"]) for one in asked] == [
        (["10"], ["0"]),
        (["51"], ["0"]),
        (["55"], ["50"]),
    ]


def test_one_page_is_fetched_ahead_and_only_one(ground: Ground) -> None:
    async def main() -> None:
        async with opened(ground.url) as api:
            live_list = (await api.run("list_reservations", {})).live_list
            assert live_list is not None
            assert len(ground.asked("/reservations")) == 1
            await live_list.reach(20)  # the next question finds enough as well
            assert len(ground.asked("/reservations")) == 1
            await live_list.reach(40)
            await ground.until_asked("/reservations", 2)
            await live_list.reach(150)  # what was fetched ahead is enough
            assert live_list.held == 150
            await ground.until_asked("/reservations", 3)
            await live_list.reach(200)
            await live_list.reach(150)
            assert len(ground.asked("/reservations")) <= 4

    asyncio.run(main())


def test_what_is_put_on_top_meanwhile_is_not_shown_and_nothing_comes_twice(ground: Ground) -> None:
    async def main() -> None:
        async with opened(ground.url) as api:
            live_list = (await api.run("list_reservations", {})).live_list
            assert live_list is not None
            while not live_list.is_complete:
                ground.control("/add_reservations", count=7)
                await live_list.reach(live_list.held + 1)
            found = [one["id"] for one in json.loads(live_list.data)["result"]]
            assert (len(found), len(set(found)), live_list.total) == (500, 500, 500)
            assert found == sorted(found, reverse=True)

    asyncio.run(main())


@pytest.mark.parametrize("paging", [OFFSET, PAGE, CURSOR])
def test_a_list_that_stands_still_comes_whole(paging: str) -> None:
    assert asyncio.run(read_all(Numbers(list(range(47))), paging)) == list(range(47))
    assert asyncio.run(read_all(Numbers(list(range(47))), paging, max_records=25)) == list(range(25))


@pytest.mark.parametrize("paging", [OFFSET, PAGE])
@pytest.mark.parametrize(
    "gone", [[3], [0, 1, 2], [9], [8, 9], list(range(10)), [12, 9, 4], [30, 31], list(range(25))]
)
def test_deletions_leave_out_nothing_that_still_exists(paging: str, gone: list[int]) -> None:
    numbers = Numbers(list(range(60)))

    def before(_: dict[str, int]) -> None:
        if len(numbers.asked) == 2:
            numbers.numbers = [one for one in numbers.numbers if one not in gone]

    numbers.before = before
    found = asyncio.run(read_all(numbers, paging))
    assert found == [one for one in range(60) if one < 10 or one not in gone]


@pytest.mark.parametrize("new", [1, 9, 10, 25, 60])
@pytest.mark.parametrize("paging", [OFFSET, PAGE])
def test_insertions_on_top_are_left_out_however_many(paging: str, new: int) -> None:
    numbers = Numbers(list(range(40)))

    def before(_: dict[str, int]) -> None:
        if len(numbers.asked) == 2:
            numbers.numbers = [*range(1_000, 1_000 + new), *numbers.numbers]

    numbers.before = before
    assert asyncio.run(read_all(numbers, paging)) == list(range(40))


def test_an_item_that_moves_to_the_end_hides_none_before_it() -> None:
    numbers = Numbers(list(range(30)))

    def before(_: dict[str, int]) -> None:
        if len(numbers.asked) == 2:
            numbers.numbers = [*range(1, 30), 0]

    numbers.before = before
    assert asyncio.run(read_all(numbers)) == list(range(30))


@pytest.mark.property
@given(
    st.lists(st.tuples(st.integers(0, 15), st.sets(st.integers(0, 59), max_size=15)), min_size=1, max_size=8)
)
@example([(9, set())] * 3)  # the page that is asked for is each time the one before
def test_whatever_is_put_on_top_or_deleted_each_remaining_one_comes_once(
    changes: list[tuple[int, set[int]]],
) -> None:
    numbers, pending, deleted = Numbers(list(range(60))), list(changes), set[int]()

    def before(query: dict[str, int]) -> None:
        if query["offset"] and pending:
            new, gone = pending.pop()
            deleted.update(gone)
            fresh = range(10_000 * len(numbers.asked), 10_000 * len(numbers.asked) + new)
            numbers.numbers = [*fresh, *(one for one in numbers.numbers if one not in gone)]

    numbers.before = before
    found = asyncio.run(read_all(numbers))
    old = [one for one in found if one < 60]
    assert len(set(found)) == len(found)
    assert old == sorted(old)
    assert set(range(60)) - deleted <= set(old)


def test_a_total_that_promises_too_much_is_lowered_at_the_end() -> None:
    numbers = Numbers(list(range(25)))
    numbers.told_total = 400
    assert asyncio.run(read_all(numbers)) == list(range(25))
    small_pages = Numbers(list(range(25)))
    small_pages.most_in_page = 4  # although ten are asked for
    assert asyncio.run(read_all(small_pages)) == list(range(25))


@pytest.mark.parametrize("total", ["", ", total: /total"])
@pytest.mark.parametrize("most_in_page", [1_000, 4])
@pytest.mark.parametrize("count", [24, 30, 33])
@pytest.mark.parametrize("style", ["offset, offset: offset", "page, page: page"])
def test_without_key_pages_are_taken_as_they_come(
    style: str, count: int, most_in_page: int, total: str
) -> None:
    numbers = Numbers(list(range(count)))
    numbers.most_in_page = most_in_page
    plain = f"style: {style}, limit: limit, size: 10{total}"
    assert asyncio.run(read_all(numbers, plain)) == list(range(count))
    assert len(numbers.asked) <= -(-count // min(10, most_in_page)) + 1


def test_pages_are_counted_from_their_first_number() -> None:
    numbers = Numbers(list(range(33)))
    numbers.before = lambda query: query.update(page=query["page"] + 1)
    plain = "style: page, page: page, first: 0, limit: limit, size: 10"
    assert asyncio.run(read_all(numbers, plain)) == list(range(33))


def test_too_many_requests_at_once_are_refused_and_what_is_here_stays() -> None:
    numbers = Numbers(list(range(500)))

    async def main() -> None:
        async with asyncio.timeout(PATIENCE), numbers.server() as server:
            api, live_list = await begin(numbers, server.url)
            with pytest.raises(BadRequest, match=r"narrow the query .* or read on page by page"):
                await live_list.reach(500)
            assert len(numbers.asked) == 1
            await live_list.reach(150)
            assert ids(live_list)[:150] == list(range(150))
            await api.close()

    asyncio.run(main())


def test_those_who_ask_at_once_share_one_fetch() -> None:
    numbers = Numbers(list(range(30)))

    async def main() -> None:
        async with asyncio.timeout(PATIENCE), numbers.server() as server:
            api, live_list = await begin(numbers, server.url)
            await asyncio.gather(*(live_list.reach(30) for _ in range(20)))
            assert ids(live_list) == list(range(30))
            assert len(numbers.asked) == 4
            await api.close()

    asyncio.run(main())


def test_who_goes_away_takes_nothing_from_those_who_stay() -> None:
    numbers = Numbers(list(range(30)))

    async def main() -> None:
        async with asyncio.timeout(PATIENCE), numbers.server() as server:
            api, live_list = await begin(numbers, server.url)
            leaving = asyncio.ensure_future(live_list.reach(15))
            staying = asyncio.ensure_future(live_list.reach(15))
            await asyncio.sleep(0)
            leaving.cancel()
            await staying
            assert ids(live_list)[:15] == list(range(15))
            await api.close()

    asyncio.run(main())


def test_a_failed_look_ahead_is_silent_and_tried_again_on_demand(ground: Ground) -> None:
    async def main() -> None:
        async with opened(ground.url) as api:
            live_list = (await api.run("list_reservations", {})).live_list
            assert live_list is not None
            ground.fault("/reservations", "html500")
            await live_list.reach(50)  # and looks ahead, in vain
            await ground.until_asked("/reservations", 2)
            await live_list.reach(150)
            assert live_list.held >= 150
            ground.fault("/reservations", "html500", times=3)
            with pytest.raises(ApiError) as failed:
                await live_list.reach(400)
            assert failed.value.kind == "unavailable"
            ground.control("/reset")
            await live_list.reach(500)
            assert live_list.held == 500

    asyncio.run(main())


def test_closing_ends_what_is_fetched(ground: Ground) -> None:
    async def main() -> None:
        async with opened(ground.url) as api:
            live_list = (await api.run("list_reservations", {})).live_list
            assert live_list is not None
            ground.fault("/reservations", "hang")
            waiting = asyncio.ensure_future(live_list.reach(150))
            await ground.until_asked("/reservations", 2)
            await api.close()
            with pytest.raises(UpstreamError):
                await waiting
            with pytest.raises(UpstreamError, match="run the tool again"):
                await live_list.reach(150)

    asyncio.run(main())


def test_a_cursor_that_does_not_move_on_is_refused() -> None:
    numbers = Numbers(list(range(30)))
    stuck = CURSOR.replace("/next", "/total")

    async def main() -> None:
        async with asyncio.timeout(PATIENCE), numbers.server() as server:
            api, live_list = await begin(numbers, server.url, stuck)
            with pytest.raises(ApiError, match="cursor") as failed:
                await live_list.reach(30)
            assert failed.value.kind == "broken"
            await api.close()

    asyncio.run(main())
