"""The stand-in for Hostaway's API over real sockets: tokens, pages, limits, refusals, and the same data each time."""

from urllib.parse import urlencode

import pytest

from brimgate.sandboxes.hostaway import sandbox
from tests.hostaway.asking import CREDENTIALS, SMALL, Caller, Json, ids, process, small


def test_credentials_give_a_token_that_opens_the_api(caller: Caller) -> None:
    told = Caller(caller.url).ask("/accessTokens", "POST", urlencode(CREDENTIALS))
    assert told.status == 200
    assert set(told.json) == {"token_type", "expires_in", "access_token"}
    assert (told.json["token_type"], told.json["expires_in"]) == ("Bearer", 3_600)
    assert Caller(caller.url, told.json["access_token"]).ask("/listings", limit=1).status == 200


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"client_secret": "guessed"}, 401),
        ({"client_id": "1"}, 401),
        ({"client_secret": ""}, 400),
        ({"grant_type": "password"}, 400),
        ({"scope": "all"}, 400),
    ],
)
def test_wrong_credentials_give_no_token(caller: Caller, changed: dict[str, str], status: int) -> None:
    told = Caller(caller.url).ask("/accessTokens", "POST", urlencode(CREDENTIALS | changed))
    assert (told.status, told.json["status"]) == (status, "fail")
    assert set(told.json) == {"status", "message"}


def test_without_a_token_or_with_a_foreign_one_nothing_is_told(caller: Caller) -> None:
    for token in ("", "made-up"):
        told = Caller(caller.url, token).ask("/reservations")
        assert (told.status, told.json["status"]) == (401, "fail")


def test_a_revoked_token_is_worth_nothing(caller: Caller) -> None:
    other = Caller(caller.url).sign_in()
    told = other.ask("/accessTokens", "DELETE", token=other.token)
    assert (told.status, told.json) == (200, {"status": "success", "result": []})
    assert other.ask("/listings").status == 401
    assert other.ask("/accessTokens", "DELETE", token=other.token).status == 404


def test_a_token_runs_out() -> None:
    with sandbox(**SMALL, token_seconds=0) as started:
        assert Caller(started.url).sign_in().ask("/listings").status == 401


def test_tokens_can_be_made_to_run_out_and_a_new_one_goes_on() -> None:
    with sandbox(**SMALL) as started:
        first = Caller(started.url).sign_in()
        assert first.ask("/users").status == 200
        first.control("/expire_tokens")
        assert first.ask("/users").status == 401
        assert first.sign_in().ask("/users").status == 200


@pytest.mark.parametrize(
    ("path", "limit", "count"),
    [("/listings", 5, 12), ("/reservations", 40, 130), ("/conversations", 65, 130)],
)
def test_pages_are_disjoint_and_complete_and_the_count_is_true(
    caller: Caller, path: str, limit: int, count: int
) -> None:
    seen: list[int] = []
    for page in caller.walk(path, limit):
        assert (page["status"], page["count"], page["limit"]) == ("success", count, limit)
        assert page["offset"] == len(seen)
        seen += ids(page["result"])
    assert len(seen) == len(set(seen)) == count


def test_reservations_come_newest_first_and_can_be_read_on_after_one(caller: Caller) -> None:
    all_of_them = caller.result("/reservations", limit=500)
    made = [one["insertedOn"] for one in all_of_them]
    assert made == sorted(made, reverse=True)
    after = caller.ask("/reservations", afterId=all_of_them[9]["id"], limit=20, offset=7).json
    assert ids(after["result"]) == ids(all_of_them[10:30])
    assert (after["count"], after["offset"]) == (130, 10)


def test_limits_are_a_hundred_and_at_most_five_hundred(caller: Caller) -> None:
    assert caller.ask("/reservations", limit="", offset="").json["limit"] == 100
    assert caller.ask("/reservations", limit=5_000).json["limit"] == 500
    assert caller.ask("/reservations", offset=1_000).json["result"] == []


def test_a_record_alone_is_the_one_of_the_list(caller: Caller) -> None:
    for path in ("/listings", "/reservations", "/conversations"):
        record = caller.result(path, limit=1, offset=3)[0]
        assert caller.ask(f"{path}/{record['id']}").json == {"status": "success", "result": record}


@pytest.mark.parametrize(
    ("path", "query", "status"),
    [
        ("/nothing", {}, 404),
        ("/listings/1", {}, 404),
        ("/listings/abc", {}, 404),
        ("/reservations/999999999999999999", {}, 404),
        ("/conversations/5/messages", {}, 404),
        ("/reservations", {"limit": "many"}, 422),
        ("/reservations", {"limit": 0}, 422),
        ("/reservations", {"offset": -1}, 422),
        ("/reservations", {"arrivalStartDate": "soon"}, 422),
        ("/reservations", {"arrivalStartDate": "9999-12-31"}, 422),
        ("/reservations", {"isStarred": "perhaps"}, 422),
        ("/reservations", {"sortOrder": "price"}, 422),
        ("/reservations", {"afterId": 5}, 422),
        ("/listings", {"sortOrder": "price"}, 422),
        ("/listings/206016/calendar", {"startDate": "2026-02-01", "endDate": "2026-01-01"}, 422),
    ],
)
def test_what_is_asked_wrongly_is_refused_in_a_sentence(
    caller: Caller, path: str, query: Json, status: int
) -> None:
    told = caller.ask(path, **query)
    assert (told.status, told.json["status"], set(told.json)) == (status, "fail", {"status", "message"})
    assert told.json["message"]


def test_a_wrong_method_is_refused_and_the_right_one_named(caller: Caller) -> None:
    for path, method, allowed in (("/listings", "POST", "GET"), ("/finance/report/standard", "GET", "POST")):
        told = caller.ask(path, method)
        assert (told.status, told.headers["allow"], told.json["status"]) == (405, allowed, "fail")
    assert caller.ask("/accessTokens").headers["allow"] == "POST, DELETE"
    assert caller.ask("/finance/report/consolidated", "POST", "sortOrder=asc").status == 422


def test_an_address_gets_429_when_it_asks_too_much() -> None:
    with sandbox(**small(rate_ip=15), rate_window_seconds=600) as started:
        caller = Caller(started.url).sign_in()
        told = [caller.ask("/users") for _ in range(16)]
        assert [one.status for one in told] == [200] * 14 + [429] * 2  # signing in was the first
        assert told[-1].json == {"status": "fail", "message": "Too many requests"}
        assert "retry-after" not in told[-1].headers
        assert caller.ask("/accessTokens", "POST", urlencode(CREDENTIALS)).status == 429
        caller.control("/reset")
        assert caller.ask("/users").status == 200


def test_an_account_gets_429_when_it_asks_too_much() -> None:
    with sandbox(**small(rate_account=20), rate_window_seconds=600) as started:
        one, other = Caller(started.url).sign_in(), Caller(started.url).sign_in()
        assert [caller.ask("/users").status for caller in (one, other) for _ in range(10)] == [200] * 20
        assert (one.ask("/users").status, other.ask("/users").status) == (429, 429)
        assert Caller(started.url).ask("/users").status == 401


def test_a_window_passes() -> None:
    with sandbox(**small(rate_account=1), rate_window_seconds=0) as started:
        caller = Caller(started.url).sign_in()
        assert [caller.ask("/users").status for _ in range(5)] == [200] * 5


def test_an_empty_account_is_answered_for() -> None:
    with sandbox(**small(listings=0, reservations=9)) as started:
        caller = Caller(started.url).sign_in()
        for path in ("/listings", "/reservations", "/conversations", "/reviews"):
            assert caller.ask(path).json["count"] == 0
        told = caller.ask("/finance/report/consolidated", "POST", "format=json").json
        assert told["result"]["rows"] == []


def test_two_processes_with_the_same_seed_tell_the_same_and_another_seed_tells_other_things() -> None:
    options = ("--listings", "6", "--reservations", "60", "--rate-ip", "0", "--rate-account", "0")
    told: list[list[bytes]] = []
    for seed in ("5", "5", "6"):
        with process(*options, "--seed", seed) as url:
            caller = Caller(url).sign_in()
            calendar = f"/listings/{caller.result('/listings')[0]['id']}/calendar"
            paths = ("/listings", "/reservations", "/conversations", "/reviews", calendar)
            told.append([caller.ask(path).body for path in paths])
    assert told[0] == told[1]
    assert all(one != other for one, other in zip(told[0], told[2], strict=True))


def test_a_process_is_what_its_options_say() -> None:
    options = (
        "--account-id",
        "7",
        "--secret",
        "s",
        "--delay",
        "0.01",
        "--rate-ip",
        "2",
        "--token-seconds",
        "60",
    )
    with process(*options, "--reservations", "3", "--rate-window", "600", "--control") as url:
        caller = Caller(url).sign_in(client_id="7", client_secret="s")  # noqa: S106
        assert caller.ask("/reservations").json["count"] == 3
        assert caller.ask("/reservations").status == 429
        assert [one["status"] for one in caller.control("/requests")] == [200, 200, 429]
