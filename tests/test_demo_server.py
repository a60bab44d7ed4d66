"""The bundled server as a client has it: a real process, raw lines, both eras of the protocol."""

import json
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from threading import Timer
from typing import Any

import pytest

PREFIX = "io.modelcontextprotocol/"
ENVELOPE = {f"{PREFIX}protocolVersion": "2026-07-28", f"{PREFIX}clientCapabilities": {}}
OFFER = {"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
Message = dict[str, Any]


class Client:
    """Lines to and from a server of its own; `meta` goes with every request."""

    def __init__(self, meta: Message | None = None) -> None:
        command = [sys.executable, "-m", "brimgate.sandboxes.demo"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.meta = {"_meta": meta} if meta else {}
        self.numbers = count(1)
        self.watchdog = Timer(60, self.process.kill)  # so that no wait for a line is endless
        self.watchdog.start()

    def send(self, line: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self) -> Message:
        assert self.process.stdout
        return json.loads(self.process.stdout.readline())

    def ask(self, method: str, **params: Any) -> Message:
        """The whole answer."""
        number = next(self.numbers)
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params | self.meta}
        self.send(json.dumps(request).encode())
        answer = self.receive()
        assert answer["id"] == number
        assert answer["jsonrpc"] == "2.0"
        return answer

    def result(self, method: str, **params: Any) -> Message:
        answer = self.ask(method, **params)
        assert "result" in answer, answer
        return answer["result"]

    def refusal(self, method: str, **params: Any) -> int:
        return self.ask(method, **params)["error"]["code"]

    def call(self, tool: str, /, **arguments: Any) -> Message:
        return self.result("tools/call", name=tool, arguments=arguments)

    def close(self) -> int:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        code = self.process.wait()
        self.watchdog.cancel()
        self.process.stdout.close()
        return code


def handshake(version: str = "2025-11-25") -> Client:
    client = Client()
    assert client.result("initialize", protocolVersion=version, **OFFER)["protocolVersion"] == version
    client.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    return client


@pytest.fixture
def legacy() -> Iterator[Client]:
    client = handshake()
    yield client
    assert client.close() == 0


@pytest.fixture
def modern() -> Iterator[Client]:
    client = Client(ENVELOPE)
    yield client
    assert client.close() == 0


@pytest.fixture(params=["legacy", "modern"])
def either(request: pytest.FixtureRequest) -> Client:
    return request.getfixturevalue(request.param)


def text_of(result: Message) -> str:
    (block,) = result["content"]
    assert block["type"] == "text"
    return block["text"]


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_a_handshake_gets_the_revision_it_asks_for_and_only_what_that_knows(version: str) -> None:
    client = handshake(version)
    tools = {tool["name"]: tool for tool in client.result("tools/list")["tools"]}
    booking = client.call("list_bookings", limit=1)
    knows_structure = version >= "2025-06-18"
    assert ("outputSchema" in tools["list_bookings"]) == knows_structure
    assert ("structuredContent" in booking) == knows_structure
    assert client.result("ping") == {}
    assert client.close() == 0


def test_an_unknown_revision_gets_the_newest_handshake_revision() -> None:
    client = Client()
    answer = client.result("initialize", protocolVersion="2031-01-01", **OFFER)
    assert answer["protocolVersion"] == "2025-11-25"
    assert client.close() == 0


def test_modern_results_carry_their_type_and_what_can_be_cached_says_how_long(modern: Client) -> None:
    discovered = modern.result("server/discover")
    assert discovered["supportedVersions"] == ["2026-07-28"]
    assert set(discovered["capabilities"]) == {"tools", "resources", "prompts"}
    lists = [modern.result(f"{kind}/list") for kind in ("tools", "resources", "prompts")]
    read = modern.result("resources/read", uri="demo://documents/checklist")
    for result in (discovered, *lists, read):
        assert result["ttlMs"] >= 0
        assert result["cacheScope"] in ("public", "private")
    for result in (discovered, *lists, read, modern.call("get_booking", id=5_400_000)):
        assert result["resultType"] == "complete"
        assert result["_meta"][f"{PREFIX}serverInfo"]["name"] == "brimgate-demo"


def test_handshake_results_carry_nothing_of_the_modern_revision(legacy: Client) -> None:
    for result in (legacy.result("tools/list"), legacy.call("get_booking", id=5_400_000)):
        assert not {"resultType", "ttlMs", "cacheScope", "_meta"} & set(result)


def test_modern_requests_are_refused_without_envelope_or_with_a_version_not_spoken(modern: Client) -> None:
    modern.result("server/discover")
    assert modern.refusal("ping") == -32601
    modern.meta = {}
    assert modern.refusal("tools/list") == -32602
    modern.meta = {"_meta": ENVELOPE | {f"{PREFIX}protocolVersion": "2031-01-01"}}
    assert modern.ask("tools/list")["error"] == {
        "code": -32022,
        "message": "Unsupported protocol version",
        "data": {"supported": ["2026-07-28"], "requested": "2031-01-01"},
    }


def test_the_first_request_decides_the_era_for_good(legacy: Client, modern: Client) -> None:
    assert legacy.refusal("tools/list", _meta=ENVELOPE) == -32600
    modern.result("server/discover")
    assert modern.refusal("initialize", protocolVersion="2025-11-25", **OFFER) == -32022


def test_a_probe_by_a_handshake_client_is_an_unknown_method_and_initialize_still_works() -> None:
    client = Client()
    assert client.refusal("server/discover") == -32601
    assert client.refusal("tools/list") == -32602
    assert client.result("initialize", protocolVersion="2025-06-18", **OFFER)["serverInfo"]
    assert client.close() == 0


def test_five_hundred_bookings_come_as_text_and_structure(either: Client) -> None:
    tools = {tool["name"]: tool for tool in either.result("tools/list")["tools"]}
    assert tools["list_bookings"]["outputSchema"]["type"] == "object"
    result = either.call("list_bookings")
    assert len(result["structuredContent"]["result"]) == 500
    assert json.loads(text_of(result)) == result["structuredContent"]
    assert 250_000 < len(text_of(result)) < 300_000
    assert either.call("list_bookings", limit=3)["structuredContent"]["count"] == 3


def test_one_booking_is_found_by_its_id_and_a_wrong_id_says_where_ids_are(either: Client) -> None:
    assert either.call("get_booking", id=5_398_050)["structuredContent"]["status"] == "payment_failed"
    missing = either.call("get_booking", id=7)
    assert missing["isError"]
    assert "list_bookings" in text_of(missing)


def test_large_answers_are_as_large_as_real_ones(either: Client) -> None:
    listings = json.loads(text_of(either.call("list_listings")))["result"]
    assert len(listings) == 12
    assert all(len(listing) == 144 and 20_000 < len(json.dumps(listing)) < 40_000 for listing in listings)
    tasks = json.loads(text_of(either.call("list_tasks")))["tasks"]
    assert any(task["priority"] == 5 for task in tasks)
    lines = text_of(either.call("read_log")).splitlines()
    assert len(lines) == 10_000
    assert 3 <= sum(" ERROR " in line or " FATAL " in line for line in lines) <= 10
    assert len(text_of(either.call("read_document"))) > 100_000
    nodes = either.call("search_knowledge", query="boiler")["structuredContent"]["nodes"]
    assert all(len(node["name_embedding"]) == 1_024 for node in nodes)
    assert "boiler" in (nodes[0]["name"] + nodes[0]["summary"]).lower()
    failed = either.call("fail")
    assert failed["isError"]
    assert 50_000 <= len(text_of(failed)) < 55_000


def test_two_servers_give_the_same_bytes(legacy: Client) -> None:
    other = handshake()
    for name in ("list_bookings", "list_listings", "list_tasks", "read_log", "read_document", "fail"):
        assert legacy.call(name) == other.call(name)
    assert other.close() == 0


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("list_bookings", {"limit": 0}, "'limit' must be between 1 and 500"),
        ("list_bookings", {"limit": "ten"}, "'limit' must be a whole number"),
        ("list_bookings", {"limit": True}, "'limit' must be a whole number"),
        ("list_bookings", {"page": 2}, "no argument 'page'; known: limit"),
        ("get_booking", {}, "'id' is required"),
        ("read_log", {"name": "web"}, "'name' must be one of: app, sync"),
        ("search_knowledge", {"query": ""}, "'query' must not be empty"),
        ("search_knowledge", {"query": 7}, "'query' must be a text"),
    ],
)
def test_bad_arguments_get_a_sentence_that_says_what_is_right(
    legacy: Client, tool: str, arguments: Message, said: str
) -> None:
    result = legacy.call(tool, **arguments)
    assert result["isError"]
    assert said in text_of(result)
    assert "structuredContent" not in result


def test_resources_and_prompts_are_listed_and_read(either: Client) -> None:
    for resource in either.result("resources/list")["resources"]:
        (content,) = either.result("resources/read", uri=resource["uri"])["contents"]
        assert content["uri"] == resource["uri"]
        assert content["mimeType"] == resource["mimeType"]
        assert content["text"]
    prompts = either.result("prompts/list")["prompts"]
    assert [prompt["name"] for prompt in prompts] == ["welcome_guest", "review_log"]
    (message,) = either.result("prompts/get", name="review_log", arguments={"log": "app"})["messages"]
    assert len(message["content"]["text"]) > 900_000


def test_requests_that_make_no_sense_are_refused_with_the_right_code(either: Client) -> None:
    either.result("tools/list")
    assert either.refusal("sampling/createMessage") == -32601
    assert either.refusal("tools/call", name="rm") == -32602
    assert either.refusal("tools/call") == -32602
    assert either.refusal("tools/call", name="fail", arguments=[]) == -32602
    assert either.refusal("tools/list", cursor="x") == -32602
    assert either.refusal("prompts/get", name="nope") == -32602
    assert either.refusal("prompts/get", name="welcome_guest") == -32602
    assert either.refusal("prompts/get", name="review_log", arguments={"log": "web"}) == -32602
    assert either.refusal("resources/read", uri="demo://nope") in (-32002, -32602)


@pytest.mark.parametrize(
    ("line", "code", "number"),
    [
        (b"{", -32700, None),
        (b"[" * 100_000, -32700, None),
        (b"[]", -32600, None),
        (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":"a"}', -32600, "a"),
        (b'{"id":4,"method":"ping"}', -32600, 4),
        (b'{"jsonrpc":"2.0","id":5,"method":"ping","params":[]}', -32602, 5),
        (b'{"jsonrpc":"2.0","id":6,"method":"\\ud800"}', -32601, 6),
    ],
)
def test_lines_that_are_no_request_are_refused_and_the_server_lives_on(
    legacy: Client, line: bytes, code: int, number: object
) -> None:
    legacy.send(b"")
    legacy.send(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}')
    legacy.send(b'{"jsonrpc":"2.0","id":9,"result":{}}')
    legacy.send(line)
    answer = legacy.receive()
    assert (answer["error"]["code"], answer["id"]) == (code, number)
    assert legacy.result("ping") == {}
