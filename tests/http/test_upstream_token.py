"""Callers who show the token of the server behind us: how it is checked, by whatever kind of verifier, and where it goes."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.http.callers import STDIO, bearer, serving_for
from tests.http.raw_upstream import Called, RawUpstream, raw_upstream
from tests.http.serving import Answer, Serving, exchange, wait_until
from tests.http.test_credentials import STREAMABLE, SseScripts, refused_start
from tests.http.test_life import call

GOOD, OTHER = "tk_good", "tk_other"
MANY = {"attempts": 100_000, "attempts_per_address": 100_000}


class Verifier:
    """Answers GET /token/test and GET /user, as it is told to."""

    def __init__(self) -> None:
        self.valid = {GOOD, OTHER}
        self.asked: list[tuple[str, str]] = []
        self.gate = threading.Event()
        self.gate.set()
        self.way = "honest"

    def __call__(self, called: Called) -> bool:
        token = (called.header("authorization") or "").removeprefix("Bearer ")
        self.asked.append((called.target, token))
        self.gate.wait(60)
        if called.target == "/user" and token == GOOD:
            return called.answer(b'{"id": 7, "username": "ann", "email": "ann@example.com"}')
        is_valid = token in self.valid and called.target == "/token/test"
        match self.way:
            case "html":
                return called.answer(b"<html>welcome</html>", kind="text/html")
            case "liar":
                return called.answer(b'{"message": "ok"}')
            case "redirect":
                return called.answer(b"", f"Location: {called.target}", status="302 Found")
            case "garbage":
                called.send(b"\x00\x01 this is no HTTP\r\n\r\n")
                return False
            case "mute":
                return False
            case "500" | "429" | "204":
                return called.answer(b"", status=f"{self.way} So")
            case "good html" if is_valid:
                return called.answer(b"<html>welcome</html>", kind="text/html")
            case _ if is_valid:
                return called.answer(b'{"message": "ok"}')
            case _:
                return called.answer(b'{"code": 11}', status="401 Unauthorized")

    def checks(self, token: str) -> int:
        return sum(one == ("/token/test", token) for one in self.asked)


@contextmanager
def verified(
    folder: Path, verifier: Verifier, *upstreams: dict[str, Any], **auth: Any
) -> Iterator[tuple[Serving, RawUpstream]]:
    with raw_upstream({**STREAMABLE, "GET": verifier}) as upstream:
        base = upstream.url.removesuffix("/mcp")
        given = {"mode": "upstream_token", "verify_url": f"{base}/token/test", **MANY, **auth}
        if given.get("user_url"):
            given["user_url"] = base + given["user_url"]
        behind = upstreams or ({"url": upstream.url},)
        with serving_for(folder, given, *behind, limits={"requests": 100_000}) as serving:
            yield serving, upstream


def ask(serving: Serving, token: str = GOOD, tool: str = "echo", path: str = "/mcp") -> Answer:
    headers = {"content-type": "application/json", "accept": "application/json", **bearer(token)}
    return exchange(serving.connect(), "POST", path, call("mine", tool), headers)


def test_a_token_is_checked_once_and_opens_every_route(tmp_path: Path) -> None:
    verifier = Verifier()
    with verified(tmp_path, verifier) as (serving, upstream):
        for _ in range(5):
            assert ask(serving).status == 200
        assert verifier.checks(GOOD) == 1
        assert upstream.last("echo").header("authorization") == f"Bearer {GOOD}"
        refused = [ask(serving, "tk_made_up") for _ in range(5)]
        assert {one.status for one in refused} == {401}
        assert refused[0].json["id"] == "mine" and refused[0].json["error"]["code"] == -32001
        assert "resource_metadata" not in refused[0].headers["www-authenticate"]
        assert verifier.checks("tk_made_up") == 1
    assert not [line for line in serving.all_lines() if "tk_" in line]


def test_the_log_has_the_name_where_the_token_may_ask_for_it(tmp_path: Path) -> None:
    with verified(tmp_path, Verifier(), user_url="/user") as (serving, _):
        assert ask(serving, GOOD).status == ask(serving, OTHER).status == 200
        wait_until(lambda: len(serving.requests()) == 2, "both lines")
        names = [one["principal"] for one in serving.requests()]
        assert names[0] == "ann#7"
        assert names[1].startswith("token:") and len(names[1]) == len("token:") + 8
    assert not [line for line in serving.all_lines() if "example.com" in line]


def test_two_tokens_are_two_callers(tmp_path: Path) -> None:
    with verified(tmp_path, Verifier(), STDIO) as (serving, _):
        client = serving.client(**bearer(GOOD))
        assert client.initialize().status == 200
        client.more = bearer(OTHER)
        assert client.post(call(1, "echo")).status == 404


@pytest.mark.parametrize("kind", ["http", "sse"])
def test_the_token_goes_to_its_own_origin_and_to_no_other(tmp_path: Path, kind: str) -> None:
    scripts = dict(SseScripts().scripts if kind == "sse" else STREAMABLE)
    with raw_upstream(scripts) as other:
        verifier = Verifier()
        with raw_upstream({**STREAMABLE, "GET": verifier}) as own:
            base = own.url.removesuffix("/mcp")
            auth = {"mode": "upstream_token", "verify_url": f"{base}/token/test", **MANY}
            elsewhere = {"url": other.url, "transport": kind}
            with serving_for(tmp_path, auth, {"url": own.url}, elsewhere) as serving:
                assert ask(serving, path="/mcp/one").status == 200
                client = serving.client(path="/mcp/two", **bearer(GOOD))
                assert client.initialize().status == 200
                assert "result" in client.call("echo")
                assert own.last("echo").header("authorization") == f"Bearer {GOOD}"
                assert not [
                    one for one in other.calls if GOOD in str(one.headers) or one.header("authorization")
                ]


def test_an_old_server_of_the_same_origin_gets_the_token(tmp_path: Path) -> None:
    verifier, old = Verifier(), SseScripts()
    listen = old.scripts["GET"]

    def get(called: Called) -> Any:
        return listen(called) if called.target == "/sse" else verifier(called)

    with raw_upstream({**old.scripts, "GET": get}) as upstream:
        base = upstream.url.removesuffix("/mcp")
        auth = {"mode": "upstream_token", "verify_url": f"{base}/token/test", **MANY}
        with serving_for(tmp_path, auth, {"url": f"{base}/sse"}) as serving:
            client = serving.client(**bearer(GOOD))
            assert client.initialize().status == 200
            assert "result" in client.call("echo")
            assert upstream.last("echo").header("authorization") == f"Bearer {GOOD}"


WAYS = ["html", "liar", "redirect", "garbage", "mute", "500", "429", "204"]


@pytest.mark.parametrize("way", WAYS)
def test_a_verifier_that_proves_nothing_lets_nobody_in(tmp_path: Path, way: str) -> None:
    """Never a free pass, and never a 401 either: the token may be good."""
    verifier = Verifier()
    verifier.way = way
    with verified(tmp_path, verifier) as (serving, upstream):
        answer = ask(serving)
        assert (answer.status, answer.json["id"]) == (503, "mine")
        assert int(answer.headers["retry-after"]) > 0
        assert "www-authenticate" not in answer.headers
        assert "echo" not in {one.name for one in upstream.calls}
        assert GOOD not in {token for _, token in verifier.asked}, (
            "a token was shown to a verifier that proves nothing"
        )
        verifier.way = "honest"
        assert ask(serving).status == 200


@pytest.mark.parametrize("way", [*WAYS, "good html"])
def test_whoever_is_known_stays_while_the_verifier_fails_and_others_wait(tmp_path: Path, way: str) -> None:
    verifier = Verifier()
    with verified(tmp_path, verifier) as (serving, _):
        assert ask(serving, GOOD).status == 200
        verifier.way = way
        assert ask(serving, GOOD).status == 200
        # One that answers 200 to all is found out by the next look at it; until then it is believed.
        assert ask(serving, OTHER).status == (200 if way == "liar" else 503)
        verifier.way = "honest"
        assert ask(serving, OTHER).status == 200


def test_a_verifier_that_is_away_is_503_until_it_is_back(tmp_path: Path) -> None:
    with raw_upstream({}) as gone:
        base = gone.url.removesuffix("/mcp")
    auth = {"mode": "upstream_token", "verify_url": f"{base}/token/test", **MANY}
    with serving_for(tmp_path, auth, STDIO) as serving:
        assert ask(serving).status == 503
        wait_until(lambda: serving.get("/readyz").status == 503, "that it is not ready")
        assert serving.get("/healthz").status == 200


@pytest.mark.slow
def test_a_verifier_that_is_slow_is_503_after_a_while(tmp_path: Path) -> None:
    verifier = Verifier()
    verifier.gate.clear()
    with verified(tmp_path, verifier) as (serving, _):
        assert ask(serving).status == 503
        verifier.gate.set()
        assert ask(serving).status == 200


def test_many_requests_with_one_token_cost_one_check(tmp_path: Path) -> None:
    verifier = Verifier()
    with verified(tmp_path, verifier) as (serving, _), ThreadPoolExecutor(20) as pool:
        assert serving.port
        verifier.gate.clear()
        asked = [pool.submit(ask, serving) for _ in range(20)]
        wait_until(lambda: verifier.asked, "the first question")
        verifier.gate.set()
        assert {one.result().status for one in asked} == {200}
        assert verifier.checks(GOOD) == 1


def test_a_thousand_bad_tokens_cost_no_more_checks_than_configured(tmp_path: Path) -> None:
    verifier = Verifier()
    with (
        verified(tmp_path, verifier, attempts=50, attempts_per_address=1_000) as (serving, _),
        ThreadPoolExecutor(20) as pool,
    ):
        assert ask(serving).status == 200
        before = len(verifier.asked)
        statuses = list(pool.map(lambda n: ask(serving, f"tk_bad_{n}").status, range(1_000)))
        assert statuses.count(401) == 49 and statuses.count(429) == 951
        made_up = [one for one in verifier.asked[before:] if one[1].startswith("tk_bad")]
        assert len(made_up) == 49
        assert ask(serving).status == 200, "whoever is known is not held up"


def test_bad_tokens_at_the_start_cost_one_look_at_the_verifier(tmp_path: Path) -> None:
    verifier = Verifier()
    with verified(tmp_path, verifier, attempts=50) as (serving, _), ThreadPoolExecutor(20) as pool:
        verifier.gate.clear()
        asked = [pool.submit(ask, serving, f"tk_bad_{n}") for n in range(20)]
        wait_until(lambda: verifier.asked, "the first question")
        verifier.gate.set()
        assert {one.result().status for one in asked} == {401}
        looks = [one for one in verifier.asked if not one[1].startswith("tk_bad")]
        # One for all of them, and those of the health check.
        assert len(looks) <= 3


def test_what_is_known_and_what_is_refused_is_forgotten_in_time(tmp_path: Path) -> None:
    verifier = Verifier()
    with verified(tmp_path, verifier, cache_seconds=1, refusal_seconds=1) as (serving, _):
        assert ask(serving, GOOD).status == 200
        verifier.valid = {OTHER, "tk_new"}
        wait_until(lambda: ask(serving, GOOD).status == 401, "that it is checked again")
        assert ask(serving, "tk_late").status == 401
        verifier.valid |= {"tk_late"}
        wait_until(lambda: ask(serving, "tk_late").status == 200, "that it is checked again")


def test_known_callers_are_served_until_expiry_only(tmp_path: Path) -> None:
    verifier = Verifier()
    with verified(tmp_path, verifier, cache_seconds=1) as (serving, _):
        assert ask(serving, GOOD).status == 200
        verifier.way = "500"
        wait_until(lambda: ask(serving, GOOD).status == 503, "the end of what is known")


def test_a_call_that_the_server_refuses_checks_the_token_again(tmp_path: Path) -> None:
    """A 401 may mean that this token may not do this. Only a check that refuses it drops it."""
    verifier = Verifier()

    def deny(called: Called) -> bool:
        return called.answer(b'{"code": 11}', status="401 Unauthorized")

    with verified(tmp_path, verifier, refusal_seconds=3_600) as (serving, upstream):
        upstream.scripts["denied"] = deny
        assert ask(serving).status == 200
        for _ in range(3):
            assert ask(serving, tool="denied").status == 401
        assert ask(serving).status == 200, "it is valid, whatever it may do"
        assert verifier.checks(GOOD) == 2, (
            "the first refusal is checked at once, the next ones are too soon after it"
        )


@pytest.mark.slow
def test_a_token_that_was_withdrawn_is_dropped_by_the_first_refused_call(tmp_path: Path) -> None:
    verifier = Verifier()

    def deny(called: Called) -> bool:
        return called.answer(b'{"code": 11}', status="401 Unauthorized")

    with verified(tmp_path, verifier, refusal_seconds=3_600) as (serving, upstream):
        upstream.scripts["denied"] = deny
        assert ask(serving).status == 200
        wait_until(
            lambda: ask(serving, tool="denied").status == 401 and verifier.checks(GOOD) == 2, "a check"
        )
        assert ask(serving).status == 200
        verifier.valid.discard(GOOD)
        wait_until(
            lambda: ask(serving, tool="denied").status == 401 and verifier.checks(GOOD) == 3, "a check"
        )
        wait_until(lambda: ask(serving).status == 401, "that it is dropped")
        assert verifier.checks(GOOD) == 3


def test_the_user_is_asked_for_at_the_same_origin(tmp_path: Path) -> None:
    auth = {
        "mode": "upstream_token",
        "verify_url": "http://127.0.0.1:9/a",
        "user_url": "http://127.0.0.2:9/b",
    }
    assert "must have the origin of auth.verify_url" in refused_start(tmp_path, auth, STDIO)
