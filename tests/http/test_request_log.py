"""The log has one line for every request, whatever became of it, and none that anybody could forge."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.http.raw_upstream import raw_upstream
from tests.http.serving import DEMO, PATIENT, Answer, Serving, exchange, next_event, serve, wait_until
from tests.http.test_entrance import ANN, CALL, JSON_TYPES, bearer, gated
from tests.http.wire import Wire, ask, chunked, request, wire
from tests.packs.test_discovery import ship

JSON = b"Content-Type: application/json"
_LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4} (brimgate: [A-Z]+ |\[[^]]+\] ).*")


@pytest.fixture(scope="module")
def serving() -> Iterator[Serving]:
    with serve("--budget", "600", "--set", "max_body_bytes=2000", command=PATIENT) as started:
        yield started


def line_of(serving: Serving, answer: Answer) -> dict[str, str]:
    """The one line of a request, by the id that came back with its answer."""
    key = answer.headers["x-request-id"]

    def found() -> list[dict[str, str]]:
        return [line for line in serving.requests() if line["request"] == key]

    (line,) = wait_until(found, f"a line of {key} in {serving.lines}")
    return line


def test_a_request_is_told_with_its_method_path_status_time_and_principal(serving: Serving) -> None:
    client = serving.client(authorization="Bearer secret-of-ann")
    line = line_of(serving, client.initialize())
    assert [*line] == ["method", "path", "status", "ms", "principal", "request"]
    assert (line["method"], line["path"], line["status"]) == ("POST", "/mcp", "200")
    assert float(line["ms"]) > 0
    assert re.fullmatch(r"key:[0-9a-f]{8}", line["principal"])
    assert "secret-of-ann" not in "".join(serving.lines)
    assert line_of(serving, serving.client().initialize())["principal"] == "local"


REFUSED: dict[str, tuple[bytes, tuple[str, str, int, str]]] = {
    "nothing there": (request(b"GET /nothing?key=secret"), ("GET", "/nothing", 404, "-")),
    "another method": (request(b"PUT /mcp"), ("PUT", "/mcp", 405, "local")),
    "another host": (request(b"GET /mcp", host=b"Host: example.com"), ("GET", "/mcp", 421, "-")),
    "another origin": (request(b"GET /mcp", b"Origin: https://example.com"), ("GET", "/mcp", 403, "-")),
    "a large body": (request(b"POST /mcp", JSON, body=b"x" * 3_000), ("POST", "/mcp", 413, "local")),
    "no JSON": (request(b"POST /mcp", JSON, body=b"{"), ("POST", "/mcp", 400, "local")),
    "another health": (request(b"POST /health"), ("POST", "/health", 405, "-")),
    "no HTTP": (b"\x16\x03\x01 hello\r\n\r\n", ("-", "-", 400, "-")),
    "no path": (request(b"GET nowhere"), ("-", "-", 400, "-")),
    "no host": (request(b"GET /mcp?key=secret", host=b""), ("GET", "/mcp", 400, "-")),
    "two hosts": (request(b"GET /mcp", b"Host: localhost"), ("GET", "/mcp", 400, "-")),
    "many headers": (
        request(b"GET /mcp", *(b"X-%d: 1" % number for number in range(200))),
        ("GET", "/mcp", 400, "-"),
    ),
    "long headers": (request(b"GET /mcp", b"X-Long: " + b"x" * 70_000), ("GET", "/mcp", 431, "-")),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_request_that_is_refused_is_told_too(serving: Serving, what: str) -> None:
    sent, expected = REFUSED[what]
    answer = ask(serving, sent)
    line = line_of(serving, answer)
    assert (line["method"], line["path"], int(line["status"]), line["principal"]) == expected
    assert answer.status == expected[2]
    assert "secret" not in "".join(serving.lines).replace("secret-of-ann", "")


def lines_from_now_on(serving: Serving, marker: str) -> Callable[[], list[dict[str, str]]]:
    """Return what tells the lines of later requests. Those of an earlier test may still come, before the marker's."""
    assert serving.get(marker).status == 404
    wait_until(lambda: any(line["path"] == marker for line in serving.requests()), "the line of the marker")
    before = [line["path"] for line in serving.requests()].index(marker) + 1
    return lambda: serving.requests()[before:]


def test_a_body_that_goes_wrong_is_told_once(serving: Serving) -> None:
    lines = lines_from_now_on(serving, "/before-a-wrong-body")
    with wire(serving) as opened:
        opened.send(request(b"POST /mcp", JSON, b"Transfer-Encoding: chunked"), chunked(b"{", end=b"zz\r\n"))
        assert opened.answer().status == 400
        assert opened.is_closed()
    assert serving.get("/end-of-it").status == 404
    wait_until(lambda: serving.requests()[-1]["path"] == "/end-of-it", "the line of the next")
    assert [line["status"] for line in lines()] == ["400", "404"]


def test_what_follows_an_answer_on_its_connection_has_a_line_of_its_own(serving: Serving) -> None:
    with wire(serving) as opened:
        opened.send(request(b"GET /first"))
        first = opened.answer()
        opened.send(b"\0garbage\r\n\r\n")
        second = opened.answer()
    assert (line_of(serving, first)["path"], line_of(serving, second)["path"]) == ("/first", "-")


def test_a_stream_is_told_once_when_it_ends(serving: Serving) -> None:
    client = serving.client()
    client.initialize()
    stream = client.listen(**{"x-request-id": "long-stream"})
    assert client.request("ping")["result"] == {}
    assert not [line for line in serving.requests() if line["request"] == "long-stream"]
    serving.cut(stream)
    serving.wait_for_line("request=long-stream")
    client.delete()
    (line,) = [line for line in serving.requests() if line["request"] == "long-stream"]
    assert (line["method"], line["status"]) == ("GET", "200")


def test_a_client_that_goes_before_its_answer_is_told_without_a_status(serving: Serving) -> None:
    with wire(serving) as opened:
        head = request(b"POST /mcp", JSON, b"X-Request-Id: gone-early", b"Content-Length: 10")
        opened.send(head + b"{")
        opened.wait_until_read()
    assert " status=0 " in serving.wait_for_line("request=gone-early")


@pytest.mark.parametrize(
    "path", ["/a%20status=200%20b", "/a%09status=200", "/a%0abrimgate:%20INFO%20request", "/%1b"]
)
def test_a_path_forges_nothing(serving: Serving, path: str) -> None:
    answer = serving.get(path)
    line = serving.wait_for_line(answer.headers["x-request-id"])
    assert _LINE.fullmatch(line)
    assert " status=404 " in line.replace(" status=200", "")
    assert line.isprintable() or "\t" not in line


def test_health_checks_are_told_at_debug_level_only(serving: Serving) -> None:
    health, other = serving.get("/health"), serving.get("/other")
    line_of(serving, other)
    assert not [line for line in serving.lines if health.headers["x-request-id"] in line]
    with serve("--log-level", "debug", command=PATIENT) as talkative:
        key = talkative.get("/health").headers["x-request-id"]
        assert " DEBUG request method=GET path=/health status=200 " in talkative.wait_for_line(key)


def test_above_info_level_no_request_is_told() -> None:
    with serve("--log-level", "warning", command=PATIENT) as quiet:
        assert quiet.client().initialize().status == 200
        assert ask(quiet, b"garbage\r\n\r\n").status == 400
        assert quiet.stop() == 0
        assert [line for line in quiet.lines if "serving http" not in line] == []


def test_every_line_begins_with_the_time(serving: Serving) -> None:
    with serve("--budget", "600", command=DEMO, env={"TZ": "Asia/Kolkata"}) as started:
        client = started.client()
        client.initialize()
        client.call("list_bookings")
        started.wait_for_line(" decision ")
        started.stop()
        lines = [line for line in started.lines if "serving http" not in line]
        assert lines and all(_LINE.fullmatch(line) and " +0530 brimgate: " in line for line in lines)


def test_lines_for_programs_have_the_same_fields() -> None:
    with serve("--log-format", "json", command=PATIENT) as started:
        answer = exchange(started.connect(), "GET", "/nothing", None, {"x-request-id": "mine"})
        told: dict[str, Any] = json.loads(started.wait_for_line('"request": "mine"'))
    assert answer.status == 404
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", told["time"])
    fields = {name: told[name] for name in ("level", "event", "method", "path", "status", "principal")}
    assert fields == {
        "level": "INFO", "event": "request", "method": "GET", "path": "/nothing", "status": 404, "principal": "-",
    }  # fmt: skip
    assert isinstance(told["ms"], float)


# What libraries and packs say

TALKING = """
import logging
from brimgate.packs import Pack, Tool
logging.basicConfig()
log = logging.getLogger("toy.pack")

def fine(answer, scene):
    log.info("formatting\\n%s", "an answer")
    try:
        1 / 0
    except ZeroDivisionError:
        log.exception("no \\x1b[31m luck")
    log.debug("too much")
    return "fine"

PACK = Pack("toy", "", {"list_bookings": Tool(fine)})
"""


def test_what_a_pack_logs_is_in_our_log_and_nowhere_else(tmp_path: Path) -> None:
    ship(tmp_path, "toy_logging", TALKING, "toy = toy_logging:PACK")
    with serve("--pack", "toy", command=DEMO, env={"PYTHONPATH": str(tmp_path)}) as started:
        client = started.client()
        client.initialize()
        client.call("list_bookings")
        failed = started.wait_for_line("luck")
        started.stop()
        said = next(line for line in started.lines if "formatting" in line)
        assert said.endswith(' brimgate: INFO library logger=toy.pack text="formatting\\nan answer"')
        expected = 'ERROR library logger=toy.pack text="no \\u001b[31m luck" error="ZeroDivisionError: division by zero"'
        assert failed.endswith(expected)
        assert all(_LINE.fullmatch(line) for line in started.lines if "serving http" not in line)
        assert "Traceback" not in "".join(started.lines) and "too much" not in "".join(started.lines)


def test_requests_on_one_connection_have_one_line_each(serving: Serving) -> None:
    lines = lines_from_now_on(serving, "/before-the-piped")
    with Wire(serving.port) as opened:
        opened.send(*(request(b"GET /piped-%d" % number) for number in range(5)))
        assert [opened.answer().status for _ in range(5)] == [404] * 5
    serving.wait_for_line("path=/piped-4")
    assert [line["path"] for line in lines()] == [f"/piped-{n}" for n in range(5)]


def test_what_is_cut_at_the_end_is_told_and_is_no_error() -> None:
    with serve("--set", "grace_seconds=0", command=PATIENT) as ending:
        client = ending.client()
        client.initialize()
        assert client.listen().status == 200
        older = ending.connect()
        older.request("GET", "/sse", headers={"accept": "text/event-stream"})
        next_event(ending.answer_of(older))
        assert ending.stop() == 0
        told = [line["path"] for line in ending.requests() if line["method"] == "GET"]
        assert sorted(told) == ["/mcp", "/sse"]
        assert not [line for line in ending.lines if "ERROR" in line]


# The order in which a request is looked at


def test_the_order_is_body_log_auth_limit_handler(tmp_path: Path) -> None:
    """What is refused at one step has no effect at the next: strangers do not count, and whoever is over asks nobody."""
    with raw_upstream({}) as upstream:
        url = {"notes": {"url": upstream.url}}
        server = {"grace_seconds": 0, "max_body_bytes": 2_000}
        with gated(tmp_path, upstreams=url, server=server, limits={"requests": 1}) as (gate, _):
            large = CALL | {"params": {"name": "echo", "arguments": {"text": "x" * 3_000}}}
            answers = [
                exchange(gate.connect(), "POST", "/mcp", body, JSON_TYPES | headers)
                for headers, body in (
                    ({}, large),
                    ({}, CALL),
                    (bearer(ANN), large),
                    *[(bearer(ANN), CALL)] * 2,
                )
            ]
            wait_until(lambda: len(gate.requests()) == len(answers), "a line for each")
            told = gate.requests()
        heard = [one for one in upstream.calls if one.name == "echo"]
    assert [one.status for one in answers] == [401, 401, 413, 200, 429]
    assert [one["status"] for one in told] == [str(one.status) for one in answers]
    assert [one["principal"] for one in told] == ["-", "-", "ann", "ann", "ann"]
    assert len(heard) == 1
    errors = [one.json for one in answers if one.status != 200]
    assert [one["error"]["code"] for one in errors] == [-32001, -32001, -32600, -32000]
    assert [one["id"] for one in errors[1::2]] == [1, 1]  # of a body that is too large nobody reads the id
