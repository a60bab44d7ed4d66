"""Every call is answered over HTTP, whatever the server says in place of an answer, and whatever the client sends."""

import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.config.running import BRIMGATE
from tests.http.raw_upstream import Called, RawUpstream, Script, into
from tests.http.serving import META, PATIENCE, Answer, Serving, modern, serve, text_of, wait_until
from tests.http.wire import Wire, request, wire
from tests.relay.rawclient import RawClient

SERVER = Path(__file__).with_name("scripted_server.py")
ODD = {
    "lone surrogate": r'"\ud83d"',
    "not a number": '{"score":NaN}',
    "infinity": '{"most":Infinity,"least":-Infinity}',
    "control character": '"a\x01\tb"',
    "broken utf-8": '"\xff\xfe"',
    "huge number": "1e999",
    "deep": "[" * 1_500 + "]" * 1_500,
}
"""What strict readers refuse, as the value of a member."""


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scripted") / "journal"


@pytest.fixture(scope="module")
def serving(journal: Path) -> Iterator[Serving]:
    with serve(command=[sys.executable, str(SERVER), str(journal)]) as started:
        yield started


class Either:
    """A client of either era."""

    def __init__(self, serving: Serving, era: str) -> None:
        self.serving, self.era = serving, era
        self.client = serving.client()
        if era == "older":
            self.client.initialize()

    def say(self, *lines: str, key: Any = 1, meta: dict[str, Any] | None = None) -> Answer:
        return self.request("tools/call", {"name": "say", "arguments": {"lines": lines}}, key, meta)

    def request(self, method: str, params: dict[str, Any], key: Any = 1, meta: Any = None) -> Answer:
        if self.era == "newer":
            return modern(self.serving, method, params, key=key, meta=meta)
        given = params | ({"_meta": meta} if meta else {})
        return self.client.post({"jsonrpc": "2.0", "id": key, "method": method, "params": given})

    def send(self, body: bytes, method: str) -> Answer:
        """A body as it is; its `_meta` is up to the caller."""
        if self.era == "older":
            return self.client.post(body)
        with wire(self.serving) as opened:
            named = (b"Mcp-Protocol-Version: 2026-07-28", b"Mcp-Method: " + method.encode())
            usual = (b"Content-Type: application/json", b"Accept: application/json, text/event-stream")
            opened.send(request(b"POST /mcp", *usual, *named, b"Mcp-Name: say", body=body))
            return opened.answer()


@pytest.fixture(params=["older", "newer"])
def client(serving: Serving, request: pytest.FixtureRequest) -> Either:
    return Either(serving, request.param)


def data_of(answer: Answer) -> bytes:
    """The last message of an answer, as it came."""
    if "text/event-stream" not in answer.headers["content-type"]:
        return answer.body
    return [line for line in answer.body.splitlines() if line.startswith(b"data: {")][-1][6:]


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD.keys())
def test_an_odd_answer_reaches_its_call_as_it_came(client: Either, odd: str) -> None:
    line = f'{{"jsonrpc":"2.0","id":$ID,"result":{{"content":[],"odd":{odd}}},"more":{{"x":1.50}}}}'
    answer = client.say(line, key="mine")
    assert answer.status == 200
    assert data_of(answer) == line.replace("$ID", '"mine"').encode("latin-1")


@pytest.mark.parametrize("odd", [text for name, text in ODD.items() if name not in ("broken utf-8", "deep")])
def test_an_odd_request_reaches_the_server_as_it_came(client: Either, journal: Path, odd: str) -> None:
    meta = json.dumps(META if client.era == "newer" else {})
    arguments = f'"arguments":{{"odd":{odd},"number":1.50}}'
    params = f'{{"name":"say","_meta":{meta},{arguments}}}'
    body = f'{{"jsonrpc":"2.0","id":7,"method":"resources/list","params":{params}}}'
    answer = client.send(body.encode("latin-1"), "resources/list")
    assert (answer.status, answer.messages[-1]["id"]) == (200, 7), answer
    assert arguments.encode("latin-1") in journal.read_bytes()


def test_an_error_that_names_no_call_ends_the_only_one(client: Either) -> None:
    answer = client.say('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no JSON"}}', key="k")
    [message] = answer.messages
    assert (message["id"], message["error"]["code"], message["error"]["message"]) == ("k", -32700, "no JSON")


def test_a_result_that_names_no_call_ends_the_only_one_with_an_error(client: Either) -> None:
    [message] = client.say('{"jsonrpc":"2.0","id":null,"result":{"content":[]}}', key="k").messages
    assert message["id"] == "k"
    assert "names no call" in message["error"]["message"]


def test_an_error_that_names_no_call_ends_the_one_that_is_left(
    client: Either, serving: Serving, journal: Path
) -> None:
    """Whose it is shows when all others that waited are answered."""
    before = journal.stat().st_size if journal.exists() else 0
    connection = serving.connect()
    headers = client.client.headers
    if client.era == "newer":
        headers |= {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "say"}
    meta = META if client.era == "newer" else {}
    params = {"name": "say", "arguments": {"lines": []}, "_meta": meta}
    body = {"jsonrpc": "2.0", "id": "left", "method": "tools/call", "params": params}
    connection.request("POST", "/mcp", json.dumps(body), headers)
    wait_until(lambda: b'"lines": []' in journal.read_bytes()[before:], "the call")
    lost = '{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"lost"}}'
    done = '{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"ok"}]}}'
    assert text_of(client.say(lost, done, key=3).messages[-1]) == "ok"
    with connection.getresponse() as response:
        assert b'"lost"' in response.read()


@pytest.mark.parametrize("spelling", ["$TOKEN.0", "$TOKEN"])
def test_progress_tokens_are_compared_as_values(client: Either, spelling: str) -> None:
    progress = (
        '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}'
    )
    done = '{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}'
    answer = client.say(progress % spelling, done, meta={"progressToken": 1})
    assert [one.get("method") for one in answer.messages] == ["notifications/progress", None]


def test_escaped_progress_tokens_are_the_same(serving: Serving) -> None:
    client = Either(serving, "older")
    listening = client.client.listen()
    progress = r'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"\u0061","progress":1}}'
    done = '{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}'
    answer = client.say(progress, done, meta={"progressToken": "a"})
    assert len(answer.messages) == 2
    serving.cut(listening)


def test_a_custom_notification_of_the_server_arrives(client: Either) -> None:
    note = '{"jsonrpc":"2.0","method":"notifications/x-custom","params":{"n":1},"more":[1]}'
    done = '{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}'
    first, last = client.say(note, done).messages
    assert (first, last["id"]) == (json.loads(note), 1)


# In front of a server over HTTP

SCRIPTS: dict[str, Script] = {}
script = into(SCRIPTS)


@script
def another_id(called: Called) -> bool:
    return called.answer(b'{"jsonrpc":"2.0","id":"not yours","result":{"content":[]}}')


@script
def no_id(called: Called) -> bool:
    return called.answer(b'{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"whose?"}}')


@script
def no_id_in_a_stream(called: Called) -> None:
    called.begin_stream()
    called.send(b'data: {"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"whose?"}}\n\n')


@script
def white_space(called: Called) -> bool:
    return called.answer(b" \n\t ")


@script
def empty(called: Called) -> bool:
    return called.answer(b"")


@script
def no_content(called: Called) -> bool:
    called.head("204 No Content", "")
    return True


@script
def page(called: Called) -> bool:
    return called.answer(b"<html>ok</html>", kind="text/html")


@script
def text(called: Called) -> bool:
    return called.answer(b"it works", kind="text/plain")


@script
def half_a_message(called: Called) -> bool:
    return called.answer(b'{"jsonrpc":"2.0","id":')


@script
def surrogate(called: Called) -> bool:
    return called.answer(
        rb'{"jsonrpc":"2.0","id":%b,"result":{"content":[],"odd":"\ud83d"}}'
        % json.dumps(called.json["id"]).encode()
    )


@script
def tagged(called: Called) -> bool:
    return called.result("ok", "Mcp-Trace: 42")


@pytest.fixture(scope="module")
def relaying(upstream: RawUpstream) -> Iterator[Serving]:
    with serve("--upstream", upstream.url, command=()) as started:
        yield started


@pytest.mark.parametrize(
    "tool", ["another_id", "white_space", "empty", "no_content", "page", "text", "half_a_message"]
)
def test_what_is_no_answer_is_a_502_that_says_so(relaying: Serving, tool: str) -> None:
    answer = modern(relaying, "tools/call", {"name": tool, "arguments": {}}, key="k")
    assert answer.status == 502
    assert (answer.json["id"], answer.json["error"]["code"]) == ("k", -32000)
    assert "the upstream" in answer.json["error"]["message"]


@pytest.mark.parametrize("tool", ["no_id", "no_id_in_a_stream"])
def test_an_error_without_an_id_is_the_answer_of_its_exchange(relaying: Serving, tool: str) -> None:
    answer = modern(relaying, "tools/call", {"name": tool, "arguments": {}}, key="k")
    [message] = answer.messages
    assert (message["id"], message["error"]["message"]) == ("k", "whose?")


def test_an_odd_answer_over_http_passes_as_it_came(relaying: Serving) -> None:
    answer = modern(relaying, "tools/call", {"name": "surrogate", "arguments": {}}, key="k")
    assert rb'"odd":"\ud83d"' in answer.body


def test_headers_of_mcp_reach_the_client(relaying: Serving) -> None:
    answer = modern(relaying, "tools/call", {"name": "tagged", "arguments": {}})
    assert answer.headers["mcp-trace"] == "42"


GOES_ON = threading.Event()
STREAMED = b'{"jsonrpc":"2.0","id":"k","result":{"first":1,', b'"second":2}}'


def streamed(called: Called) -> bool:
    called.head("200 OK", "application/json", "Transfer-Encoding: chunked")
    for piece in STREAMED:
        called.send(b"%x\r\n%b\r\n" % (len(piece), piece))
        GOES_ON.wait(PATIENCE)
    called.send(b"0\r\n\r\n")
    return True


SCRIPTS["example/streamed"] = streamed
SCRIPTS["example/cut"] = lambda called: (
    called.head("200 OK", "application/json", "Transfer-Encoding: chunked"),
    called.send(b"%x\r\n%b\r\n" % (len(STREAMED[0]), STREAMED[0])),
    None,
)[-1]


def ask_raw(opened: Wire, method: bytes) -> None:
    body = b'{"jsonrpc":"2.0","id":"k","method":"%b"}' % method
    usual = (b"Content-Type: application/json", b"Accept: application/json, text/event-stream")
    opened.send(request(b"POST /mcp", *usual, body=body))


def test_json_that_streams_is_passed_as_it_comes_where_it_is_never_reduced(relaying: Serving) -> None:
    with wire(relaying) as opened:
        ask_raw(opened, b"example/streamed")
        status, _ = opened.head()
        pieces = opened.chunks()
        first = next(pieces)
        assert (status, first) == (200, STREAMED[0])
        GOES_ON.set()
        assert first + b"".join(pieces) == b"".join(STREAMED)


def test_json_that_streams_and_breaks_is_cut(relaying: Serving) -> None:
    with wire(relaying) as opened:
        ask_raw(opened, b"example/cut")
        opened.head()
        with pytest.raises((EOFError, ConnectionResetError)):
            list(opened.chunks())


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
def test_the_id_of_a_task_is_in_a_header_and_checked(serving: Serving, method: str) -> None:
    assert modern(serving, method, {"taskId": "t-1"}).json["result"] == {"method": method}
    for wrong in ("t-2", ""):
        refused = modern(serving, method, {"taskId": "t-1"}, mcp_name=wrong)
        assert (refused.status, refused.json["error"]["code"]) == (400, -32020)


def test_the_id_of_a_task_is_sent_to_a_server_over_http(upstream: RawUpstream) -> None:
    with RawClient([*BRIMGATE, "run", "--upstream", upstream.url]) as client:
        client.request("tasks/get", {"taskId": "täsk", "_meta": META})
        assert upstream.last("tasks/get").header("mcp-name") == "=?base64?dMOkc2s=?="


def test_garbage_of_a_client_on_stdio_is_answered(upstream: RawUpstream) -> None:
    with RawClient([*BRIMGATE, "run", "--upstream", upstream.url]) as client:
        client.send_line(b"this is no JSON")
        answer = client.receive()
        assert (answer["id"], answer["error"]["code"]) == (None, -32700)
        client.send_line(b'{"jsonrpc":"2.0","id":7,"method":')
        assert client.receive()["id"] == 7


def test_a_session_stays_in_its_era_whatever_its_version(serving: Serving, journal: Path) -> None:
    client = serving.client("2031-01-01")
    assert client.initialize().status == 200
    assert client.session
    client.post({"jsonrpc": "2.0", "method": "notifications/x-mark", "params": {"mark": 815}})
    wait_until(lambda: b"815" in journal.read_bytes(), "the notification")
    assert client.request("tools/list")["result"]["tools"]
    assert client.delete().status == 200
