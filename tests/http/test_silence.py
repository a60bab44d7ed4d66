"""`call_timeout_seconds`: a call to an upstream that says nothing ends with an error, and the upstream is told."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.config.running import BRIMGATE
from tests.http.raw_upstream import Called, RawUpstream, Script, into
from tests.http.serving import Serving, modern, serve, wait_until
from tests.relay.rawclient import RawClient

SERVER = Path(__file__).with_name("scripted_server.py")
LIMIT = ("--set", "call_timeout_seconds=0.5")
PROGRESS = '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}'
SCRIPTS: dict[str, Script] = {}
script = into(SCRIPTS)


@script
def silent(called: Called) -> None:
    called.wait_for_end()


@script
def silent_stream(called: Called) -> None:
    called.begin_stream()
    called.send(b": nothing\n\n")
    called.wait_for_end()


@script
def slow(called: Called) -> None:
    """Twice as slow as allowed, but never silent."""
    called.begin_stream()
    token = json.dumps(called.json["params"]["_meta"]["progressToken"])
    for step in range(6):
        called.was_closed.wait(0.2)
        called.send(b"data: " + (PROGRESS % (token, step)).encode() + b"\n\n")
    called.send(b"data: " + called.written("done") + b"\n\n")


@pytest.fixture(scope="module")
def relaying(upstream: RawUpstream) -> Iterator[Serving]:
    with serve("--upstream", upstream.url, *LIMIT, command=()) as started:
        yield started


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("silent") / "journal"


def ended(message: dict[str, Any], key: Any) -> bool:
    return message["id"] == key and "call_timeout_seconds" in message["error"]["message"]


def say(*lines: str) -> dict[str, Any]:
    return {"name": "say", "arguments": {"lines": lines}}


def test_over_stdio(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    with RawClient([*BRIMGATE, "run", *LIMIT, "--", sys.executable, str(SERVER), str(journal)]) as client:
        client.greet()
        number = client.begin("tools/call", say())
        assert ended(client.answer_to(number), number)
        wait_until(lambda: b'"notifications/cancelled"' in journal.read_bytes(), "a cancellation")
        # What comes late is no second answer.
        late = json.dumps({"jsonrpc": "2.0", "id": number, "result": {}})
        done = '{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}'
        assert "result" in client.request("tools/call", say(late, done))
        assert client.others == []


@pytest.mark.parametrize("era", ["older", "newer"])
def test_over_http_in_front_of_stdio(journal: Path, era: str) -> None:
    with serve(*LIMIT, command=[sys.executable, str(SERVER), str(journal)]) as serving:
        if era == "newer":
            answer = modern(serving, "tools/call", say(), key="k")
        else:
            client = serving.client()
            client.initialize()
            answer = client.post({"jsonrpc": "2.0", "id": "k", "method": "tools/call", "params": say()})
        assert ended(answer.messages[-1], "k")
        wait_until(lambda: b'"notifications/cancelled"' in journal.read_bytes(), "a cancellation")


@pytest.mark.parametrize("tool", ["silent", "silent_stream"])
def test_over_http_in_front_of_http(relaying: Serving, upstream: RawUpstream, tool: str) -> None:
    answer = modern(relaying, "tools/call", {"name": tool, "arguments": {}}, key="k")
    assert ended(answer.messages[-1], "k")
    assert answer.status == (504 if tool == "silent" else 200)
    assert upstream.last(tool).was_closed.wait(60)
    client = relaying.client()
    client.post(
        {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": tool, "arguments": {}}}
    )
    assert upstream.last("notifications/cancelled").json["params"]["requestId"] == 7


def test_progress_is_no_silence(relaying: Serving) -> None:
    answer = modern(relaying, "tools/call", {"name": "slow", "arguments": {}}, meta={"progressToken": "p"})
    assert "result" in answer.messages[-1]
