"""Requests keep to the limits of an API, wait in line for it, and are refused at once where that would take too long."""

import asyncio

import pytest

from brimgate.back.rest.api import RestApi
from brimgate.back.rest.declaration import read_api
from brimgate.back.rest.errors import ApiError
from brimgate.back.rest.model import RateLimit
from brimgate.back.rest.rates import Line, NoRoom, Rates, RateWindow, Turn
from brimgate.sandboxes.hostaway import sandbox
from tests.back.rest.declared import PATIENCE, VARIABLES, Ground, opened
from tests.back.rest.listing_server import respond
from tests.back.scripted import Peer, Server

FIVE = (RateLimit(5, 60, "address"),)


def rates(
    *limits: RateLimit, address: str = "a", account: str = "x", waiting: int = 100, seconds: float = 30
) -> Rates:
    return Rates(limits, address=address, account=account, max_waiting=waiting, max_wait_seconds=seconds)


async def pass_through(one: Rates, times: int = 1) -> None:
    for _ in range(times):
        async with one.place():
            pass


def test_two_limits_of_a_real_api_are_never_exceeded() -> None:
    limits = "rate_limits: [{requests: 15, seconds: 0.4, per: address}, {requests: 20, seconds: 0.4, per: account}]"

    async def main(url: str) -> None:
        async with opened(url, limits) as api, asyncio.timeout(PATIENCE):
            other = RestApi(
                api.api,
                base_url=url,
                variables=VARIABLES,
            )
            await asyncio.gather(*((api, other)[at % 2].run("list_amenities", {}) for at in range(48)))
            await other.close()

    with sandbox(
        listings=2, reservations=2, rate_ip=15, rate_account=20, rate_window_seconds=0.4, control=True
    ) as api:
        asyncio.run(main(api.url))
        statuses = [one["status"] for one in Ground(api).asked()]
    assert statuses == [200] * 50


def test_limits_of_an_address_are_shared_and_those_of_an_account_by_those_who_have_it() -> None:
    async def main() -> None:
        first, second, far = (
            rates(*FIVE, address="a"), rates(*FIVE, address="a", account="y"), rates(*FIVE, address="b")
        )  # fmt: skip
        await pass_through(first, 5)
        with pytest.raises(NoRoom):
            await pass_through(second)
        await pass_through(far, 5)
        mine = RateLimit(2, 60, "account")
        one, same, other = (rates(mine, account="1"), rates(mine, account="1"), rates(mine, account="2"))
        await pass_through(one, 2)
        with pytest.raises(NoRoom):
            await pass_through(same)
        await pass_through(other, 2)

    asyncio.run(main())


def test_nothing_is_kept_of_those_who_are_gone() -> None:
    async def main() -> None:
        await pass_through(rates(*FIVE), 5)
        await pass_through(rates(*FIVE), 5)

    asyncio.run(main())


def test_who_would_wait_too_long_is_refused_at_once_and_told_how_long() -> None:
    async def main() -> None:
        one = rates(*FIVE)
        await pass_through(one, 5)
        with pytest.raises(NoRoom) as failed:
            await pass_through(one)
        assert 0 < failed.value.seconds <= 60

    asyncio.run(main())


def test_only_so_many_wait_and_one_who_leaves_frees_its_place() -> None:
    async def main() -> None:
        one = rates(RateLimit(1, 60, "address"), waiting=2, seconds=1_000)
        await pass_through(one)
        first, second = (asyncio.ensure_future(pass_through(one)) for _ in range(2))
        await asyncio.sleep(0)
        with pytest.raises(NoRoom):
            await pass_through(one)
        first.cancel()
        await asyncio.wait([first])
        third = asyncio.ensure_future(pass_through(one))
        done, waiting = await asyncio.wait([second, third], timeout=0)
        assert (len(done), len(waiting)) == (0, 2)
        for task in waiting:
            task.cancel()
        await asyncio.wait(waiting)

    asyncio.run(main())


def test_the_line_moves_in_the_order_it_was_joined() -> None:
    async def main() -> None:
        one, went = rates(RateLimit(2, 0.02, "address")), list[int]()

        async def go(number: int) -> None:
            async with one.place():
                went.append(number)

        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*map(go, range(9)))
        assert went == list(range(9))

    asyncio.run(main())


def test_one_account_does_not_hold_up_another() -> None:
    async def main() -> None:
        busy, free = (rates(RateLimit(1, 60, "account"), account=name, seconds=100) for name in "12")
        await pass_through(busy)
        stuck = asyncio.ensure_future(pass_through(busy))
        await asyncio.sleep(0)
        async with asyncio.timeout(PATIENCE):
            await pass_through(free)
        assert not stuck.done()
        stuck.cancel()

    asyncio.run(main())


def test_the_wait_is_known_by_the_place_in_line() -> None:
    window, line = RateWindow(RateLimit(2, 10, "address")), Line()
    assert [window.free_at(100.0, place) for place in range(5)] == [100, 100, 110, 110, 120]
    for at in (95.0, 99.0):
        ticket = Turn(at)
        ticket.answered = at
        window.add(ticket)
    assert [window.free_at(100.0, place) for place in range(5)] == [105, 109, 115, 119, 125]
    assert line.wait_for((window,), 100.0) == 5
    assert [window.free_at(106.0, place) for place in range(3)] == [106, 109, 116]


def answering(*answers: bytes) -> tuple[Server, list[bytes]]:
    left, heads = list(answers), list[bytes]()

    async def serve(peer: Peer) -> None:
        while True:
            head, _ = await peer.request()
            heads.append(head)
            await peer.say(left.pop(0))

    return Server(serve), heads


DECLARED = """
name: x
title: X
base_url: http://127.0.0.1:1
max_wait_seconds: 5
tools:
  look: {path: /look}
  change: {method: POST, path: /change}
"""
OK = respond(b"{}")


def limited(headers: str = "") -> bytes:
    return respond(b"{}", "429 Too Many", headers)


def run_against(*answers: bytes, tool: str = "look") -> tuple[list[bytes], ApiError | None]:
    async def main() -> tuple[list[bytes], ApiError | None]:
        server, heads = answering(*answers)
        async with asyncio.timeout(PATIENCE), server:
            api = RestApi(read_api(DECLARED.encode(), "x"), base_url=server.url, variables={})
            try:
                await api.run(tool, {})
            except ApiError as error:
                return heads, error
            finally:
                await api.close()
            return heads, None

    return asyncio.run(main())


@pytest.mark.parametrize("tool", ["look", "change"])
def test_one_429_is_waited_out_and_the_next_is_told(tool: str) -> None:
    heads, error = run_against(limited("Retry-After: 0\r\n"), OK, tool=tool)
    assert (len(heads), error) == (2, None)
    heads, error = run_against(limited("Retry-After: 0\r\n"), limited("Retry-After: 7\r\n"), tool=tool)
    assert len(heads) == 2
    assert error is not None
    assert (error.kind, error.status) == ("rate_limited", 503)
    assert error.retry_after == 7


@pytest.mark.parametrize("after", ["Retry-After: 3600\r\n", "Retry-After: Wed, 21 Oct 2099 07:28:00 GMT\r\n"])
def test_a_wait_longer_than_may_be_is_left_to_the_caller(after: str) -> None:
    heads, error = run_against(limited(after))
    assert len(heads) == 1
    assert error is not None
    assert error.kind == "rate_limited"
    assert error.retry_after is not None
    assert error.retry_after >= 3600


def test_a_date_that_has_passed_is_no_wait_and_nonsense_is_none() -> None:
    heads, error = run_against(limited("Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n"), OK)
    assert (len(heads), error) == (2, None)


def test_a_429_without_a_word_waits_for_the_declared_window(ground: Ground) -> None:
    async def main() -> None:
        limits = "rate_limits: [{requests: 100, seconds: 0.05, per: account}]"
        async with opened(ground.url, limits) as api:
            ground.fault("/amenities", "rate_limited")
            await api.run("list_amenities", {})
            ground.fault("/amenities", "rate_limited", times=2)
            with pytest.raises(ApiError) as failed:
                await api.run("list_amenities", {})
            assert failed.value.kind == "rate_limited"
            ground.fault("/accessTokens", "rate_limited")
            ground.control("/expire_tokens")
            await api.run("list_amenities", {})

    asyncio.run(main())
    assert [one["status"] for one in ground.asked("/amenities")] == [429, 200, 429, 429, 401, 200]


def test_a_full_queue_is_told_as_rate_limited(ground: Ground) -> None:
    async def main() -> None:
        limits = "rate_limits: [{requests: 2, seconds: 60}]\nmax_wait_seconds: 1"
        async with opened(ground.url, limits) as api:
            await api.run("list_amenities", {})  # and the token
            with pytest.raises(ApiError, match="try again in") as failed:
                await api.run("list_amenities", {})
            assert (failed.value.kind, failed.value.status) == ("rate_limited", 503)
            assert failed.value.retry_after is not None
            assert failed.value.retry_after > 1

    asyncio.run(main())
    assert len(ground.asked()) == 2
