"""A server over HTTP that means harm, or is written without care: what a client gets of it, and what it cannot do."""

import json
import subprocess
from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from brimgate.back.mcp.server import target_of
from brimgate.errors import ConfigError
from brimgate.http.client import Origin
from tests.config.running import BRIMGATE, environment
from tests.http.raw_upstream import Called, RawUpstream, Script, into, raw_upstream
from tests.http.serving import PATIENCE, Answer, Serving, modern, parse_events, serve, text_of, wait_until
from tests.http.wire import request, wire
from tests.relay.rawclient import RawClient

JSON = b"Content-Type: application/json"
ACCEPT = b"Accept: application/json, text/event-stream"
LARGE = "".join(f"line {number} of a long text that says nothing\n" for number in range(8_000))
LARGEST = 20_000
"""Bytes, that an answer within its budget stays well under."""

SCRIPTS: dict[str, Script] = {}
script = into(SCRIPTS)


@pytest.fixture(scope="module")
def serving(upstream: RawUpstream) -> Iterator[Serving]:
    with serve("--upstream", upstream.url, "--set", "grace_seconds=0", command=()) as started:
        yield started


def asked(serving: Serving, tool: str, **arguments: Any) -> Answer:
    params = {"name": tool, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    with wire(serving) as opened:
        opened.send(request(b"POST /mcp", JSON, ACCEPT, body=json.dumps(message).encode()))
        return opened.answer()


def given(called: Called) -> dict[str, Any]:
    return called.json["params"]["arguments"]


# More than may be, by another name


@script
def large_by_another_name(called: Called) -> bool:
    return called.answer(called.written(LARGE), *given(called)["more"], **given(called)["how"])


@pytest.mark.parametrize("how", [{}, {"status": "202 Accepted"}], ids=["200", "202"])
@pytest.mark.parametrize(
    "kind",
    ["", "text/json", "text/plain", "application/json-rpc", "text/plain, application/json", "application/x"],
)
def test_a_large_answer_is_reduced_whatever_it_is_called(
    serving: Serving, kind: str, how: dict[str, str]
) -> None:
    answer = asked(serving, "large_by_another_name", how={"kind": kind, **how}, more=[])
    assert answer.headers.get("content-type", "") == kind
    assert text_of(answer.json).startswith("[brimgate] lines 1-")
    assert len(answer.body) < LARGEST


def test_of_two_types_one_counts_for_us_and_for_the_client(serving: Serving) -> None:
    more = ["Content-Type: application/json"]
    answer = asked(serving, "large_by_another_name", how={"kind": "text/plain"}, more=more)
    assert answer.headers["content-type"] == "text/plain"
    assert len(answer.body) < LARGEST


@script
def other_json(called: Called) -> bool:
    body = json.dumps({"detail": [{"input": LARGE}]}).encode()
    return called.answer(body, status=given(called)["status"])


def test_an_error_in_json_that_is_no_message_is_cut_like_any_page(serving: Serving) -> None:
    answer = asked(serving, "other_json", status="422 Unprocessable Entity")
    assert answer.status == 422
    assert answer.body.startswith(b'{"detail": [{"input": "line 0')
    assert len(answer.body) <= 4_096


def test_json_that_is_no_message_is_no_answer(serving: Serving) -> None:
    answer = asked(serving, "other_json", status="200 OK")
    assert answer.status == 502
    assert "no message" in answer.json["error"]["message"]
    assert answer.json["id"] == 1


@script
def page(called: Called) -> bool:
    return called.answer(b"<html>" + b"x" * 500_000, kind=given(called)["kind"])


@pytest.mark.parametrize("kind", ["text/html", "application/json"])
def test_a_long_page_in_place_of_an_answer_is_an_error(serving: Serving, kind: str) -> None:
    answer = asked(serving, "page", kind=kind)
    assert answer.status == 502
    assert answer.json["id"] == 1


@script
def much_beside_an_error(called: Called) -> bool:
    error = {"code": -32602, "message": "wrong"}
    return called.answer(json.dumps({"jsonrpc": "2.0", "id": 1, "error": error, "junk": LARGE}).encode())


def test_what_stands_beside_an_error_is_not_for_the_client(serving: Serving) -> None:
    answer = asked(serving, "much_beside_an_error")
    assert answer.json == {"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "wrong"}}


@script
def events(called: Called) -> None:
    """`before` and `after` stand around the answer; it ends with the connection."""
    text = LARGE if given(called)["is_large"] else "small"
    called.begin_stream()
    called.send(given(called)["before"].encode() + called.written(text) + given(called)["after"].encode())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("event: answer\ndata: ", "\n\n"),
        ("event:  message\ndata: ", "\n\n"),
        ("\ufeffdata: ", "\n\n"),
        ("\ufeffevent: message\nid: 7\ndata: ", "\n\n"),
        ("data: \ufeff", "\n\n"),
        ("data: ", "\n"),
        ("data: ", ""),
    ],
    ids=["named", "spaced", "bom", "bom-id", "bom-data", "no-end", "no-line-end"],
)
def test_a_large_event_is_reduced_however_it_is_written(serving: Serving, before: str, after: str) -> None:
    answer = asked(serving, "events", is_large=True, before=before, after=after)
    assert len(answer.body) < LARGEST
    [event] = answer.events
    assert text_of(json.loads(event["data"])).startswith("[brimgate] lines 1-")
    assert event.get("id") == ("7" if "id: 7" in before else None)


def test_a_small_event_by_another_name_passes_byte_for_byte(serving: Serving) -> None:
    answer = asked(serving, "events", is_large=False, before="event: answer\ndata: ", after="\n\n")
    assert answer.body.startswith(b"event: answer\ndata: {")
    assert text_of(answer.messages[0]) == "small"
    assert len(answer.messages) == 1


@script
def half_an_event(called: Called) -> None:
    called.begin_stream()
    called.send(b": first\n\nevent: message\ndata: " + called.written("x" * 100)[: given(called)["length"]])


@pytest.mark.parametrize("length", [0, 10, 60])
def test_half_an_event_does_not_spoil_the_error_that_follows(serving: Serving, length: int) -> None:
    """The stream ends with the connection, so a server that dies in the middle ends it properly."""
    answer = asked(serving, "half_an_event", length=length)
    [message] = answer.messages
    assert message["id"] == 1
    assert message["error"]["code"] == -32000


@script
def ends_behind_an_id(called: Called) -> None:
    called.begin_stream()
    called.send(b"id: 3\ndata:\n\n")


def test_a_stream_nobody_can_take_up_again_ends_with_an_error(serving: Serving) -> None:
    """Since 2026-07-28 an id leads nowhere."""
    answer = modern(serving, "tools/call", {"name": "ends_behind_an_id", "arguments": {}})
    [message] = answer.messages
    assert "without the result" in message["error"]["message"]
    assert asked(serving, "ends_behind_an_id").body == b"id: 3\ndata:\n\n"


@script
def with_a_mark(called: Called) -> bool:
    return called.answer(BOM_UTF8 + called.written("x " * given(called)["length"]))


def test_json_behind_a_byte_order_mark_is_json(serving: Serving) -> None:
    small = asked(serving, "with_a_mark", length=1_000)
    assert small.body.startswith(BOM_UTF8)
    assert json.loads(small.body.decode("utf-8-sig"))["id"] == 1
    large = asked(serving, "with_a_mark", length=100_000)
    assert text_of(large.json).startswith("[brimgate]")


READING = {"name": "brimgate_read", "arguments": {"cursor": "none"}}


def answers_of_batch(serving: Serving, *others: dict[str, Any]) -> Answer:
    """To one in which the first is ours to answer."""
    reading = {"id": 5, "method": "tools/call", "params": READING}
    batch = [{"jsonrpc": "2.0", **one} for one in (reading, *others)]
    with wire(serving) as opened:
        opened.send(request(b"POST /mcp", JSON, ACCEPT, body=json.dumps(batch).encode()))
        return opened.answer()


@script
def POST(called: Called) -> bool:  # noqa: N802  # what a batch is called by
    ids = [one["id"] for one in called.json if "id" in one]
    answers = [{"jsonrpc": "2.0", "id": key, "result": {}} for key in ids]
    return called.answer(
        json.dumps(answers).encode() if ids else b"", status="200 OK" if ids else "202 Accepted"
    )


def test_what_we_answer_in_a_batch_is_not_lost_where_the_server_has_nothing_to_say(serving: Serving) -> None:
    answer = answers_of_batch(serving, {"method": "notifications/roots/list_changed"})
    assert answer.status == 200
    assert [one["id"] for one in answer.json] == [5]


def test_what_we_and_the_server_answer_is_one_batch(serving: Serving) -> None:
    answer = answers_of_batch(serving, {"id": 6, "method": "ping"}, {"id": 7, "method": "ping"})
    assert [one["id"] for one in answer.json] == [5, 6, 7]


# It sends us elsewhere


@script
def moved(called: Called) -> bool:
    if called.target != "/mcp":
        return called.result(called.target)
    where = given(called)["where"]
    # The script writes UTF-8.
    called.head("307 Temporary Redirect", "", *([f"Location: {where}"] if where else []), "Content-Length: 0")
    return True


def test_an_address_that_is_none_is_not_gone_to(serving: Serving) -> None:
    answer = asked(serving, "moved", where="http://[evil/")
    assert answer.status == 502
    assert answer.json["id"] == 1
    assert "another origin" in answer.json["error"]["message"]


def test_a_call_is_not_made_again_where_no_other_address_is_named(
    serving: Serving, upstream: RawUpstream
) -> None:
    before = len(upstream.calls)
    assert asked(serving, "moved", where="").status == 502
    assert len(upstream.calls) == before + 1


def test_an_address_may_have_any_character(serving: Serving) -> None:
    assert text_of(asked(serving, "moved", where="/café%20au/lait?x=ü").json) == (
        "/caf%C3%A9%20au/lait?x=%C3%BC"
    )


# It keeps us busy


@script
def a_million_lines(called: Called) -> None:
    called.begin_stream()
    called.pour(b"data:\n" * 10_000, 150)
    called.send(b"\n\n")


def test_an_event_of_a_million_lines_is_nothing_to_pass_on(serving: Serving) -> None:
    answer = asked(serving, "a_million_lines")
    assert len(answer.body) < LARGEST
    assert "without the result" in json.loads(answer.events[-1]["data"])["error"]["message"]


def greeted(called: Called) -> bool:
    info = {"name": "raw", "version": "1"}
    result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
    return called.answer(called.message(result=result), "Mcp-Session-Id: s")


def taken(called: Called) -> bool:
    return called.answer(b"", status="202 Accepted", kind="")


def test_a_server_that_hangs_up_and_wants_us_back_at_once_is_not_called_without_end() -> None:
    def hangs_up(called: Called) -> None:
        called.begin_stream()
        called.send(b"id: 1\nretry: 0\n\n")

    scripts: dict[str, Script] = {
        "initialize": greeted,
        "notifications/initialized": taken,
        "GET": hangs_up,
        "DELETE": taken,
    }
    with (
        raw_upstream(scripts) as upstream,
        RawClient([*BRIMGATE, "run", "--upstream", upstream.url]) as client,
    ):
        client.greet()

        def streams() -> int:
            return sum(one.method == "GET" for one in upstream.calls)

        wait_until(lambda: streams() > 1, "a second stream")
        # Without a pause a new stream would be opened about as often as a call is made.
        before = streams()
        assert {text_of(client.call("anything")) for _ in range(200)} == {"ok"}
        assert streams() - before < 60


def test_json_with_something_around_it_is_understood_by_a_client_on_pipes_too() -> None:
    def marked(called: Called) -> bool:
        return called.answer(BOM_UTF8 + b"  " + called.written("marked") + b"  ")

    def streamed(called: Called) -> None:
        called.begin_stream()
        called.send(BOM_UTF8 + b"data: " + called.written("streamed") + b"\n\n")

    def spaced(called: Called) -> bool:
        error = {"code": -32602, "message": "spaced"}
        return called.answer(b" " + called.message(error=error), status="400 Bad Request")

    scripts: dict[str, Script] = {
        "initialize": greeted,
        "notifications/initialized": taken,
        "GET": lambda called: called.answer(b"", status="405 No", kind=""),
        "marked": marked,
        "streamed": streamed,
        "spaced": spaced,
    }
    with (
        raw_upstream(scripts) as upstream,
        RawClient([*BRIMGATE, "run", "--upstream", upstream.url]) as client,
    ):
        client.greet()
        assert text_of(client.call("marked")) == "marked"
        assert text_of(client.call("streamed")) == "streamed"
        assert client.call("spaced")["error"]["message"] == "spaced"


# Whoever sets it up makes mistakes


def refused(*arguments: str) -> str:
    done = subprocess.run(
        [*BRIMGATE, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=environment(),
    )
    assert done.returncode == 2, done
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.parametrize("command", ["run", "serve"])
@pytest.mark.parametrize(
    "url", ["http://[::1", "http://a..b/mcp", f"http://{'a' * 64}.com/mcp", "http://me:hush@host/mcp"]
)
def test_an_address_nobody_can_call_is_refused_and_no_secret_repeated(command: str, url: str) -> None:
    said = refused(command, "--upstream", url)
    assert "http://" in said or "url" in said
    assert "hush" not in said


@pytest.mark.parametrize(
    "url", ["http://host:99999/", "http://host:0/", "http://host:x/", "http://a..b/", "http://[::1/"]
)
def test_an_address_nobody_can_call_is_found_by_checking_the_file(tmp_path: Path, url: str) -> None:
    file = tmp_path / "brimgate.yaml"
    file.write_text(f"upstreams:\n  x:\n    url: '{url}'\n")
    assert "brimgate.yaml:3: upstreams.x.url" in refused("check", str(file))


@pytest.mark.parametrize("host", ["a", "a.b.", "xn--mnchen-3ya.de", "a" * 63, "127.0.0.1", "[::1]"])
def test_hosts_there_may_be_are_taken(host: str) -> None:
    assert Origin.of(f"http://{host}/mcp").host == host.strip("[]")


@pytest.mark.parametrize("host", [".", "a..", ".a", "a" * 64])
def test_hosts_there_cannot_be_are_refused(host: str) -> None:
    with pytest.raises(ConfigError):
        Origin.of(f"http://{host}/mcp")


def test_an_address_is_called_as_browsers_would() -> None:
    assert target_of("http://host/größe?q=ü&r=%20+'\"") == b"/gr%C3%B6%C3%9Fe?q=%C3%BC&r=%20+'\""


def test_a_header_that_cannot_be_sent_is_told_before_the_first_call(tmp_path: Path) -> None:
    file = tmp_path / "brimgate.yaml"
    where = "url: http://127.0.0.1:1/mcp"
    file.write_text(f"upstreams:\n  x:\n    {where}\n    headers:\n      Expect: 100-continue\n")
    assert "headers.Expect" in refused("serve", "--port", "0", "--config", str(file))
    file.write_text(f"upstreams:\n  x:\n    {where}\n    forward_headers: [Expect]\n")
    assert "forward_headers" in refused("serve", "--port", "0", "--config", str(file))


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_a_name_that_no_path_can_hold_is_refused(tmp_path: Path, name: str) -> None:
    file = tmp_path / "brimgate.yaml"
    file.write_text(f"upstreams:\n  '{name}':\n    command: x\n  other:\n    command: y\n")
    assert "/mcp/NAME" in refused("serve", "--port", "0", "--config", str(file))


def test_servers_are_found_under_any_other_name(tmp_path: Path) -> None:
    names = ["a b", "a/b", "größe", "A B", "x?y#z", "50%2f"]
    command = "command: 'false'"
    file = tmp_path / "brimgate.yaml"
    file.write_text("upstreams:\n" + "".join(f"  '{name}':\n    {command}\n" for name in names))
    with serve("--config", str(file), command=()) as serving:
        for name in names:
            path = f"/mcp/{quote(name)}"
            assert serving.wait_for_line(path + " ")
            assert serving.get(path).status != 404


def test_a_client_of_the_old_kind_is_told_an_address_it_can_call(
    tmp_path: Path, upstream: RawUpstream
) -> None:
    file = tmp_path / "brimgate.yaml"
    file.write_text(
        "".join(["upstreams:\n", *(f"  '{name}':\n    url: {upstream.url}\n" for name in ("x?y", "z"))])
    )
    with serve("--config", str(file), command=()) as serving, wire(serving) as opened:
        opened.send(request(b"GET /sse/x%3Fy", b"Accept: text/event-stream"))
        assert opened.head()[0] == 200
        [event] = parse_events(next(opened.chunks()).decode())
        assert event["data"].startswith("/messages/x%3Fy?sessionId=")
