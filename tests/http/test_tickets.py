"""Old clients that cannot send a header: a ticket for one stream, or, if the operator insists, a token in the URL."""

import asyncio
from http.client import HTTPResponse
from pathlib import Path

from brimgate.guard.tickets import TICKET_SECONDS, Tickets
from tests.http.callers import Keys, serving_for
from tests.http.serving import Answer, Serving, exchange, next_event, wait_until
from tests.http.test_life import call

KEYS = Keys("alice", "bob")
JSON = {"content-type": "application/json"}


def ticket(serving: Serving, name: str = "alice") -> Answer:
    return exchange(serving.connect(), "POST", "/sse/ticket", b"", KEYS.of(name))


def listen(serving: Serving, query: str) -> HTTPResponse:
    connection = serving.connect()
    connection.request("GET", f"/sse?{query}")
    return serving.answer_of(connection)


def test_a_ticket_opens_one_stream_and_messages_need_the_key(tmp_path: Path) -> None:
    with serving_for(tmp_path, KEYS.auth()) as serving:
        given = ticket(serving)
        assert (given.status, given.json["expires_in"], given.headers["cache-control"]) == (
            201,
            30,
            "no-store",
        )
        stream = listen(serving, f"ticket={given.json['ticket']}")
        assert stream.status == 200
        address = next_event(stream)["data"]
        assert exchange(serving.connect(), "POST", address, call(1, "echo"), JSON).status == 401
        for name, status in (("bob", 404), ("alice", 202)):
            headers = JSON | KEYS.of(name)
            assert exchange(serving.connect(), "POST", address, call(1, "echo"), headers).status == status
        again = listen(serving, f"ticket={given.json['ticket']}")
        assert again.status == 401
        assert listen(serving, "ticket=made-up").status == 401
        assert exchange(serving.connect(), "POST", "/sse/ticket", b"", {}).status == 401
        assert given.json["ticket"] not in "".join(serving.lines)


def test_a_ticket_is_worth_nothing_elsewhere(tmp_path: Path) -> None:
    with serving_for(tmp_path, KEYS.auth()) as serving:
        query = f"?ticket={ticket(serving).json['ticket']}"
        answers = [
            exchange(serving.connect(), "POST", path + query, call(1, "echo"), JSON).status
            for path in ("/mcp", "/sse", "/messages")
        ]
        assert answers == [401, 401, 401]
        assert exchange(serving.connect(), "GET", "/mcp" + query, None, {}).status == 401
        assert listen(serving, query[1:]).status == 200, "none of that has used it up"


def test_a_ticket_of_a_key_that_was_removed_opens_nothing(tmp_path: Path) -> None:
    from tests.http.callers import write_config

    with serving_for(tmp_path, KEYS.auth()) as serving:
        given = ticket(serving).json["ticket"]
        write_config(tmp_path, KEYS.auth("bob"), server={"grace_seconds": 0})
        serving.wait_for_line("config_reloaded")
        assert listen(serving, f"ticket={given}").status == 401


def test_a_ticket_lasts_half_a_minute() -> None:
    now = [0.0]
    tickets = Tickets(lambda: now[0])
    early, late = (asyncio.run(tickets.give("token")) for _ in range(2))
    now[0] = TICKET_SECONDS - 0.001
    assert asyncio.run(tickets.redeem(early)) == "token"
    now[0] = TICKET_SECONDS
    assert asyncio.run(tickets.redeem(late)) == ""


def test_tickets_cost_nothing_of_the_limit_and_are_not_given_without_end(tmp_path: Path) -> None:
    auth = KEYS.auth(attempts_per_address=3)
    with serving_for(tmp_path, auth, limits={"requests": 1}) as serving:
        assert [ticket(serving).status for _ in range(4)] == [201, 201, 201, 429]
        client = serving.client(**KEYS.of("alice"))
        assert client.initialize().status == 200
        assert "result" in client.call("echo")
        assert client.post(call(9, "echo")).status == 429


def test_a_token_in_the_url_is_refused_unless_the_operator_wants_it(tmp_path: Path) -> None:
    key = KEYS.key["alice"]
    with serving_for(tmp_path, KEYS.auth()) as serving:
        assert listen(serving, f"token={key}").status == 401
        assert not [line for line in serving.lines if "query_tokens" in line]


def test_old_clients_with_a_token_in_the_url(tmp_path: Path) -> None:
    key = KEYS.key["alice"]
    with serving_for(tmp_path, KEYS.auth(legacy_query_token=True), log_level="debug") as serving:
        stream = listen(serving, f"token={key}")
        assert stream.status == 200
        address = next_event(stream)["data"]
        assert "token" not in address
        assert exchange(serving.connect(), "POST", address, call(1, "echo"), JSON).status == 202
        assert next_event(stream)["data"]
        assert listen(serving, f"token={key[:-1]}").status == 401
        assert listen(serving, f"token={key}%0d%0aX:y").status == 401
        headers = JSON | {"accept": "application/json, text/event-stream"}
        assert (
            exchange(serving.connect(), "POST", f"/mcp?token={key}", call(1, "echo"), headers).status == 401
        )
        assert "WARNING" in serving.wait_for_line("query_tokens")
        wait_until(lambda: len(serving.requests()) == 4, "the lines of requests that have ended")
        serving.stop()
    assert not [line for line in serving.all_lines() if key[:-1] in line]
