"""Every way in which a server fails, for real: the exit code of a call, and what a client of `run` and `serve` is told.

An error that the server itself sent is none of them, whatever its words: the tool failed, and the server is there.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from brimgate.cli.main import exit_code
from brimgate.errors import (
    AnswerTooLarge,
    BadRequest,
    BrimgateError,
    ConfigError,
    UpstreamError,
    UpstreamGarbled,
    UpstreamLost,
    UpstreamRefused,
    UpstreamTimeout,
    UpstreamUnreachable,
)
from brimgate.front.mcp.errors import upstream_down
from brimgate.front.rest.response import failure_of
from tests.config.running import BRIMGATE, environment, gateway
from tests.http.raw_upstream import Called, RawUpstream, Script, into, raw_upstream
from tests.http.serving import PATIENCE, Serving, serve
from tests.http.wire import request, wire

SERVER = Path(__file__).with_name("call_server.py")
NOBODY = "http://127.0.0.1:1/mcp"
GONE = -32000
OURS = (
    "cannot connect to postgres",
    "the upstream is down",
    "the connection to the database was lost",
    "the answer from the oracle is no",
)
"""What a server may say that sounds like us."""

SCRIPTS: dict[str, Script] = {}
script = into(SCRIPTS)


def call(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*BRIMGATE, "call", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        env=environment(),
        timeout=PATIENCE,
        check=False,
    )


# A command


def behind(journal: Path, mode: str = "plain") -> list[str]:
    return [sys.executable, "-I", "-S", str(SERVER), mode, str(journal)]


@dataclass(frozen=True)
class Fault:
    """What a server does, and how a call of it ends."""

    tool: str
    code: int
    words: str
    mode: str = "plain"


COMMANDS = [
    Fault("echo", 3, "exited with code 7", "dead"),
    Fault("echo", 3, "refused initialize: come back later (-32603)", "refusing"),
    Fault("die", 3, "exited with code 3"),
    Fault("break", 3, "answered in broken JSON"),
    Fault("hang", 4, "no answer to tools/call within"),
    Fault("fail", 1, "it went wrong"),
]


@pytest.mark.parametrize("fault", COMMANDS, ids=lambda fault: f"{fault.mode}-{fault.tool}")
def test_a_call_of_a_command_ends_by_what_went_wrong(tmp_path: Path, fault: Fault) -> None:
    patience = ["--timeout", "2"] if fault.code == 4 else []
    result = call(fault.tool, "x", *patience, "--", *behind(tmp_path / "journal", fault.mode))
    assert result.returncode == fault.code
    assert fault.words in result.stdout + result.stderr


def test_a_command_that_cannot_be_started_is_unreachable() -> None:
    result = call("echo", "--", "/nonexistent/server")
    assert (result.returncode, result.stdout) == (3, "")
    with gateway(command=["/nonexistent/server"]) as client:
        error = client.greet()["error"]
        assert error["code"] == GONE and "there is no such command" in error["message"]
        assert "kind=unreachable" in client.wait_for_log("upstream_lost")
    with serve(command=["/nonexistent/server"]) as serving:
        answer = serving.client().initialize()
        assert (answer.status, answer.json["error"]["code"]) == (503, GONE)


@pytest.mark.parametrize("words", OURS)
def test_what_a_command_says_in_our_words_is_the_failure_of_its_tool(tmp_path: Path, words: str) -> None:
    server = behind(tmp_path / "journal")
    result = call("excuse", words, "--", *server)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == f"brimgate: excuse failed: {words} (-32000)\n"
    with gateway(command=server) as client:
        client.greet()
        assert client.call("excuse", text=words)["error"] == {"code": GONE, "message": words}


def test_another_brimgate_between_says_it_as_its_own(tmp_path: Path) -> None:
    """The one at the shell got an answer: that of the one it started."""
    server = behind(tmp_path / "journal")
    result = call("die", "x", "--", *BRIMGATE, "run", "--", *server)
    assert result.returncode == 1 and "exited with code 3" in result.stderr


# A URL


@script
def page(called: Called) -> bool:
    return called.answer(b"<html>oh no</html>", status="500 Internal Server Error", kind="text/html")


@script
def garbage(called: Called) -> bool:
    return called.answer(b"it works!" + b"!" * 5_000, kind="text/html")


@script
def drop(called: Called) -> None:
    pass


@script
def no_http(called: Called) -> None:
    called.send(b"220 mail.example.com ESMTP\r\n\r\n")


@script
def endless(called: Called) -> None:
    called.begin_stream()
    called.send(b'data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n')


@script
def large(called: Called) -> bool:
    return called.answer(called.written("x" * 3_000_000))


@script
def hang(called: Called) -> None:
    called.wait_for_end()


def excused(called: Called) -> bytes:
    error = {"code": GONE, "message": called.json["params"]["arguments"]["text"]}
    return called.message(error=error)


@script
def excuse(called: Called) -> bool:
    return called.answer(excused(called))


@script
def excuse_in_events(called: Called) -> None:
    called.begin_stream()
    called.send(b"data: " + excused(called) + b"\n\n")


@script
def excuse_with_status(called: Called) -> bool:
    return called.answer(excused(called), status="500 Internal Server Error")


EXCUSES = ("excuse", "excuse_in_events", "excuse_with_status")


def listed(called: Called) -> bool:
    tools = [{"name": name, "inputSchema": {}} for name in SCRIPTS]
    return called.answer(called.message(result={"tools": tools}))


@dataclass(frozen=True)
class HttpFault(Fault):
    status: int = 502
    """That a client of `serve` gets; 200 where the error is in the events that had begun."""


URLS = [
    HttpFault("page", 3, "answered 500 Internal Server Error", status=500),
    HttpFault("garbage", 3, "something that is no message"),
    HttpFault("drop", 3, "was lost before an answer"),
    HttpFault("no_http", 3, "was refused"),
    HttpFault("endless", 3, "ended its answer without the result", status=200),
    HttpFault("large", 3, "max_result_bytes"),
]


@pytest.fixture(scope="module")
def upstream() -> Iterator[RawUpstream]:
    with raw_upstream({"tools/list": listed} | SCRIPTS) as started:
        yield started


@pytest.fixture(scope="module")
def serving(upstream: RawUpstream) -> Iterator[Serving]:
    limits = ("--set", "max_result_bytes=2000000", "--set", "grace_seconds=0")
    with serve("--upstream", upstream.url, *limits, command=()) as started:
        yield started


@pytest.mark.parametrize("fault", URLS, ids=lambda fault: fault.tool)
def test_a_call_of_a_url_ends_by_what_went_wrong(
    upstream: RawUpstream, fault: HttpFault, tmp_path: Path
) -> None:
    config = tmp_path / "brimgate.yaml"
    config.write_text("max_result_bytes: 2000000\n")
    result = call(upstream.url, fault.tool, "--config", str(config))
    assert (result.returncode, result.stdout) == (fault.code, "")
    assert fault.words in result.stderr


def test_a_url_that_does_not_answer_ends_in_4(upstream: RawUpstream) -> None:
    result = call(upstream.url, "hang", "--timeout", "2")
    assert result.returncode == 4 and "no answer to tools/call within 2 s" in result.stderr


def test_a_url_where_nobody_listens_is_unreachable() -> None:
    result = call(NOBODY, "echo")
    assert (result.returncode, result.stdout) == (3, "")
    assert "is the server running?" in result.stderr
    with gateway("--upstream", NOBODY, command=[]) as client:
        error = client.greet()["error"]
        assert error["code"] == GONE and "is the server running?" in error["message"]
    with serve("--upstream", NOBODY, command=()) as serving:
        assert serving.client().initialize().status == 503


@pytest.mark.parametrize("fault", URLS, ids=lambda fault: fault.tool)
def test_a_client_is_told_what_went_wrong(upstream: RawUpstream, fault: HttpFault) -> None:
    options = ("--upstream", upstream.url, "--set", "max_result_bytes=2000000")
    with gateway(*options, command=[]) as client:
        client.greet()
        error = client.call(fault.tool)["error"]
        assert error["code"] == GONE and fault.words in error["message"]
        assert set(error) == {"code", "message"}
        assert "result" in client.call("unscripted")


def posted(serving: Serving, tool: str, **arguments: Any) -> Any:
    params = {"name": tool, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    head = (b"Content-Type: application/json", b"Accept: application/json, text/event-stream")
    with wire(serving) as opened:
        opened.send(request(b"POST /mcp", *head, body=json.dumps(message).encode()))
        return opened.answer()


@pytest.mark.parametrize("fault", URLS, ids=lambda fault: fault.tool)
def test_a_client_over_http_gets_a_status_by_what_went_wrong(serving: Serving, fault: HttpFault) -> None:
    answer = posted(serving, fault.tool)
    assert answer.status == fault.status
    if fault.status != 500:  # a page passes as it is
        assert answer.messages[-1]["error"]["code"] == GONE


@pytest.mark.parametrize("words", OURS[:2])
@pytest.mark.parametrize("tool", EXCUSES)
def test_what_a_url_says_in_our_words_is_the_failure_of_its_tool(
    upstream: RawUpstream, serving: Serving, tool: str, words: str
) -> None:
    result = call(upstream.url, tool, f"text={words}")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == f"brimgate: {tool} failed: {words} (-32000)\n"
    with gateway("--upstream", upstream.url, command=[]) as client:
        client.greet()
        assert client.call(tool, text=words)["error"] == {"code": GONE, "message": words}
    answer = posted(serving, tool, text=words)
    assert answer.status == (500 if tool == "excuse_with_status" else 200)
    assert answer.messages[-1]["error"] == {"code": GONE, "message": words}


@pytest.mark.slow
def test_a_server_of_the_older_transport_that_says_nothing_is_a_timeout() -> None:
    """It is given ten seconds."""
    with raw_upstream({"GET": lambda called: called.wait_for_end()}) as silent:
        url = f"http://127.0.0.1:{silent.port}/sse"
        assert call(url, "echo").returncode == 4
        with serve("--upstream", url, command=()) as serving:
            answer = serving.client().initialize()
            assert (answer.status, answer.json["error"]["code"]) == (504, GONE)


# What decides


@pytest.mark.parametrize(
    ("error", "kind", "ends_in", "status", "at_the_handshake"),
    [
        (UpstreamError("x"), "upstream_error", 3, 502, 503),
        (UpstreamUnreachable("x"), "unreachable", 3, 502, 503),
        (UpstreamLost("x"), "lost", 3, 502, 503),
        (UpstreamTimeout("x"), "timeout", 4, 504, 504),
        (UpstreamRefused("x", 401), "refused", 3, 502, 503),
        (UpstreamGarbled("x"), "garbled", 3, 502, 503),
        (AnswerTooLarge("x"), "too_large", 3, 502, 503),
    ],
)
def test_a_failure_has_one_kind_one_exit_code_and_one_status(
    error: UpstreamError, kind: str, ends_in: int, status: int, at_the_handshake: int
) -> None:
    assert (error.kind, exit_code(error)) == (kind, ends_in)
    assert upstream_down(error, b"1", is_greeting=False).status == status
    assert upstream_down(error, b"1", is_greeting=True).status == at_the_handshake
    assert failure_of(error)[:3] == (status, kind, "x")


@pytest.mark.parametrize("error", [BadRequest("x"), ConfigError("x"), BrimgateError("x")])
def test_what_is_no_failure_of_an_upstream_is_for_the_caller_to_mend(error: BrimgateError) -> None:
    assert exit_code(error) == 2
