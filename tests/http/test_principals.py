"""Whose a request is: nobody uses the session of another, or reads what another's call held, whichever way both come."""

import json
import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from brimgate.guard.principal import (
    LOCAL,
    deciding_headers,
    principal_of,
    principal_of_scope,
    principal_of_token,
)
from brimgate.relay.catalog import Catalogs
from tests.conformance.processes import free_port, listens, running
from tests.http.processes import children
from tests.http.raw_upstream import Script, raw_upstream
from tests.http.serving import (
    PATIENT,
    Answer,
    LegacyClient,
    Serving,
    exchange,
    modern,
    next_event,
    serve,
    wait_until,
)
from tests.http.test_isolation import SECRET, tell
from tests.relay.replies import following

Headers = dict[str, str]
ANN: Headers = {"authorization": "Bearer ann"}
OTHERS: dict[str, Headers] = {
    "other credentials": {"authorization": "Bearer bob"},
    "none": {},
    "the same in another header": {"x-api-key": "Bearer ann"},
    "more than these": ANN | {"cookie": "a=b"},
}
OPTIONS = ("--budget", "600")
REFUSAL = "invalid or expired cursor"


# What decides


def test_without_credentials_everyone_is_local() -> None:
    assert principal_of([]) is principal_of([(b"accept", b"*/*"), (b"x-user", b"ann")]) is LOCAL
    assert principal_of_scope({"type": "http"}) is LOCAL


def test_names_have_no_case_and_different_headers_no_order() -> None:
    one = [(b"Authorization", b"Bearer ann"), (b"x-api-key", b"1"), (b"host", b"a")]
    other = [(b"X-API-Key", b"1"), (b"host", b"b"), (b"authorization", b"Bearer ann")]
    assert principal_of(one) == principal_of(other) != LOCAL


def test_every_header_of_one_name_counts() -> None:
    several = [[b"a"], [b"b"], [b"a", b"b"], [b"b", b"a"], [b"a", b"a"], [b"a, b"], [b"ab"], [b""]]
    assert len({principal_of([(b"cookie", value) for value in values]) for values in several}) == len(several)


def test_what_is_forwarded_counts_and_what_differs_between_requests_does_not() -> None:
    deciding = deciding_headers(["X-User", "traceparent", "X-Request-Id", "Accept", "Mcp-Session-Id"])
    ann = [(b"x-user", b"ann"), (b"traceparent", b"1"), (b"mcp-session-id", b"2"), (b"x-request-id", b"3")]
    assert principal_of(ann, deciding) == principal_of([(b"X-User", b"ann")], deciding)
    assert principal_of(ann, deciding) != principal_of([(b"x-user", b"bob")], deciding)
    assert principal_of(ann) is LOCAL


def test_the_name_is_short_and_no_secret() -> None:
    ann = principal_of([(b"authorization", b"Bearer ann")])
    assert ann.name.startswith("key:") and len(ann.name) == 12
    assert ann.id.startswith(ann.name) and "ann" not in ann.id


def test_a_token_is_its_client_issuer_and_subject() -> None:
    tokens = [("a", "b", "c"), ("a", None, "c"), ("a", "b", None), ("a", "None", "c"), ('a","b', "", "c")]
    assert len({principal_of_token(*token) for token in tokens}) == len(tokens)
    assert principal_of_token("a", "b", "c") == principal_of_token("a", "b", "c")


_shown = st.lists(
    st.tuples(
        st.sampled_from([b"authorization", b"cookie", b"x-api-key"]), st.binary(max_size=12) | st.just(b"1:a")
    ),
    max_size=4,
)


@pytest.mark.property
@given(_shown, _shown)
def test_two_that_show_different_headers_are_two(one: Any, other: Any) -> None:
    by_name: Callable[[Any], Any] = lambda header: header[0]  # noqa: E731
    assume(sorted(one, key=by_name) != sorted(other, key=by_name))
    assert principal_of(one) != principal_of(other)


# Places


@contextmanager
def in_front_of_url(folder: Path, **keys: Any) -> Iterator[Serving]:
    """It knows sessions, and nothing of credentials: only we can tell whose they are."""
    port = free_port()
    config = folder / "brimgate.json"
    one = {"url": f"http://127.0.0.1:{port}/mcp", **keys}
    config.write_text(json.dumps({"upstreams": {"secret": one}}))
    with (
        running([*SECRET, "http", str(port)], folder / "server.log", listens(port)),
        serve(*OPTIONS, "--config", str(config), command=()) as serving,
    ):
        yield serving


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Serving]]:
    with ExitStack() as closing:
        forwarding = in_front_of_url(tmp_path_factory.mktemp("forwarding"), forward_headers=["authorization"])
        yield {
            "command": closing.enter_context(serve(*OPTIONS, command=[*SECRET, "stdio"])),
            "url, forwarding": closing.enter_context(forwarding),
            "url": closing.enter_context(in_front_of_url(tmp_path_factory.mktemp("url"))),
        }


PLACES = ("command", "url, forwarding", "url")


@dataclass
class Listener:
    """A client of 2024-11-05."""

    serving: Serving
    headers: Headers
    stream: HTTPResponse = field(init=False)
    address: str = field(init=False)

    def __post_init__(self) -> None:
        connection = self.serving.connect()
        connection.request("GET", "/sse", headers=self.headers | {"accept": "text/event-stream"})
        self.stream = self.serving.answer_of(connection)
        self.address = next_event(self.stream)["data"]
        who = {"name": "old", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": who})

    def post(self, method: str, params: dict[str, Any], headers: Headers) -> Answer:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        given = {"content-type": "application/json", **headers}
        return exchange(self.serving.connect(), "POST", self.address, message, given)

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        assert self.post(method, params, self.headers).status == 202
        return json.loads(next_event(self.stream)["data"])["result"]


def opened(serving: Serving, headers: Headers) -> LegacyClient:
    client = serving.client(**headers)
    assert client.initialize().status == 200
    return client


# Sessions


@pytest.mark.parametrize("who", OTHERS)
@pytest.mark.parametrize("place", PLACES)
def test_a_session_is_unknown_to_whoever_shows_other_credentials(
    places: dict[str, Serving], place: str, who: str
) -> None:
    serving = places[place]
    owner = opened(serving, ANN)
    thief = serving.client(**OTHERS[who])
    thief.session = owner.session
    asked = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": tell()}
    reading = {"name": "brimgate_read", "arguments": {"cursor": "x"}}
    for message in (asked, {**asked, "params": reading}, {"jsonrpc": "2.0", "method": "notifications/x"}):
        answer = thief.post(message)
        assert answer.status == 404, answer
        assert answer.json.get("id") == message.get("id")
    assert thief.listen().status == 404
    assert thief.delete().status == 404
    assert owner.request("tools/call", tell())["result"]
    assert owner.delete().status in (200, 405)  # the server behind the URL has no DELETE


@pytest.mark.parametrize("who", OTHERS)
def test_nobody_else_speaks_for_a_client_of_the_older_way(places: dict[str, Serving], who: str) -> None:
    serving = places["command"]
    owner = Listener(serving, ANN)
    assert owner.post("tools/call", tell(), OTHERS[who]).status == 404
    assert "mine" in json.dumps(owner.ask("tools/call", tell()))
    serving.cut(owner.stream)


def test_a_server_that_gives_everyone_the_same_session_serves_everyone() -> None:
    """As some do that keep none: then its id tells nothing."""
    scripts: dict[str, Script] = {
        "initialize": lambda called: called.result("hello", "Mcp-Session-Id: same"),
        "notifications/initialized": lambda called: called.answer(b"", status="202 Accepted"),
    }
    with raw_upstream(scripts) as upstream, serve("--upstream", upstream.url, command=()) as serving:
        clients = [opened(serving, headers) for headers in (ANN, OTHERS["other credentials"])]
        for client in clients:
            assert client.session == "same"
            assert client.request("ping")["result"]
        stranger = serving.client()
        stranger.session = "same"
        assert stranger.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}).status == 404


@pytest.mark.slow
def test_made_up_sessions_do_not_make_us_forget_whose_the_others_are(places: dict[str, Serving]) -> None:
    serving = places["url"]
    owner = opened(serving, ANN)

    def make_up(part: int) -> None:
        client = serving.client(**OTHERS["other credentials"])
        for number in range(1_300):
            client.session = f"{part:016x}{number:016x}"
            assert client.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}).status == 404

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(make_up, range(8)))
    thief = serving.client(**OTHERS["other credentials"])
    thief.session = owner.session
    assert thief.post({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": tell()}).status == 404
    assert owner.request("tools/call", tell())["result"]


# Held answers

Ask = Callable[[dict[str, Any]], dict[str, Any]]


def shaking(serving: Serving, headers: Headers) -> Ask:
    client = opened(serving, headers)
    return lambda params: client.request("tools/call", params)["result"]


def single(serving: Serving, headers: Headers) -> Ask:
    named: Any = {name.replace("-", "_"): value for name, value in headers.items()}
    return lambda params: modern(serving, "tools/call", params, **named).json["result"]


def listening(serving: Serving, headers: Headers) -> Ask:
    client = Listener(serving, headers)
    return lambda params: client.ask("tools/call", params)


WAYS: dict[str, tuple[str, Callable[[Serving, Headers], Ask]]] = {
    "handshake, command": ("command", shaking),
    "handshake, url": ("url, forwarding", shaking),
    "single, command": ("command", single),
    "single, url": ("url, forwarding", single),
    "sse, command": ("command", listening),
    "sse, url": ("url, forwarding", listening),
}


@pytest.mark.parametrize("who", OTHERS)
@pytest.mark.parametrize("way", WAYS)
def test_what_was_held_for_one_is_no_cursor_to_another(
    places: dict[str, Serving], way: str, who: str
) -> None:
    place, begin = WAYS[way]
    owner, other = begin(places[place], ANN), begin(places[place], OTHERS[who])
    cursor = following(owner(tell(rows=80)))
    assert cursor
    reading = {"name": "brimgate_read", "arguments": {"cursor": cursor}}
    refused = other(reading)
    assert refused["isError"] and REFUSAL in json.dumps(refused)
    assert "mine" not in json.dumps(refused)
    read = owner(reading)
    assert not read.get("isError") and "mine" in json.dumps(read)


def test_an_owner_reads_on_from_another_connection_and_session(places: dict[str, Serving]) -> None:
    cursor = following(shaking(places["command"], ANN)(tell(rows=80)))
    reading = {"name": "brimgate_read", "arguments": {"cursor": cursor}}
    assert "mine" in json.dumps(shaking(places["command"], ANN)(reading))


# REST


@pytest.fixture(scope="module")
def hostaway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    config = tmp_path_factory.mktemp("api") / "brimgate.json"
    config.write_text(json.dumps({"upstreams": {"homes": {"pack": "hostaway"}}}))
    with serve("--config", str(config), "--sandbox", command=()) as serving:
        yield serving


@pytest.mark.parametrize("who", OTHERS)
def test_a_cursor_of_rest_is_none_to_another(hostaway: Serving, who: str) -> None:
    cursor = hostaway.get("/api/v1/bookings", **ANN).json["nextCursor"]
    refused = hostaway.get(f"/api/v1/bookings?cursor={cursor}", **OTHERS[who])
    assert (refused.status, refused.json["error"]["code"]) == (400, "invalid_cursor")
    assert hostaway.get(f"/api/v1/bookings?cursor={cursor}", **ANN).status == 200


@pytest.mark.parametrize("headers", [{}, ANN, {"x-api-key": "1"}, ANN | {"cookie": "a=b"}])
def test_a_caller_is_the_same_over_mcp_and_over_rest(hostaway: Serving, headers: Headers) -> None:
    # A line is written once its request is over: those of an earlier test may still come.
    ours = secrets.token_hex(8)
    shown = headers | {"x-request-id": ours}

    def lines_of_ours() -> list[dict[str, str]]:
        return [line for line in hostaway.requests() if line["request"] == ours]

    opened(hostaway, shown)
    named: Any = {name.replace("-", "_"): value for name, value in shown.items()}
    assert modern(hostaway, "tools/list", **named).status == 200
    assert hostaway.get("/api/v1/listings?limit=1", **shown).status == 200
    Listener(hostaway, shown)
    wait_until(lambda: len(lines_of_ours()) >= 5, "their lines")
    lines = lines_of_ours()
    assert {line["path"] for line in lines} >= {"/mcp", "/api/v1/listings", "/messages"}
    names = {line["principal"] for line in lines}
    assert len(names) == 1
    assert (names == {"local"}) == (not headers)


# Credentials that somebody makes up


def test_a_server_that_nobody_uses_makes_room_for_another_caller() -> None:
    with serve("--set", "max_processes=1", command=[*PATIENT, "--modern"]) as serving:
        for number in range(3):
            wait_until(
                lambda name=f"Bearer {number}": (
                    modern(serving, "tools/list", authorization=name).status == 200
                ),
                "room",
            )
            assert len(children(serving.process.pid)) == 1


def test_catalogs_are_forgotten_oldest_first() -> None:
    catalogs = Catalogs(most=2)
    first, second = catalogs.of("a"), catalogs.of("b")
    assert catalogs.of("a") is first
    catalogs.of("c")
    assert len(catalogs) == 2
    assert catalogs.of("a") is first and catalogs.of("b") is not second
