"""A Brimgate in front of a Brimgate: what the inner one bounded passes, and the cursors of both lead to their ends."""

import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from brimgate.testing.bookings import bookings
from tests.config.running import BRIMGATE, environment
from tests.http.serving import DEMO, PATIENCE, LegacyClient, Serving, serve
from tests.relay.rawclient import RawClient
from tests.relay.replies import as_rebuilt, following, rebuild, record_of

WHOLE = as_rebuilt(json.dumps(bookings(500)))
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


@pytest.fixture(scope="module")
def inner() -> Iterator[Serving]:
    with serve(command=DEMO) as serving:
        yield serving


@pytest.fixture(scope="module")
def outer(inner: Serving) -> Iterator[Serving]:
    with serve("--upstream", f"http://127.0.0.1:{inner.port}/mcp", "--chained", command=()) as serving:
        yield serving


def walk(client: LegacyClient) -> list[dict[str, Any]]:
    results = [client.call("list_bookings")["result"]]
    while cursor := following(results[-1]):
        results.append(client.call("brimgate_read", cursor=cursor)["result"])
    return results


def test_an_answer_is_bounded_once_and_walked_to_its_end(inner: Serving, outer: Serving) -> None:
    direct, client = inner.client(), outer.client()
    direct.initialize()
    client.initialize()
    tools = client.request("tools/list")["result"]["tools"]
    assert [tool["name"] for tool in tools].count("brimgate_read") == 1
    assert client.call("list_bookings")["result"] == direct.call("list_bookings")["result"]
    assert rebuild(walk(client)) == WHOLE
    refused = client.call("brimgate_read", cursor="nonsense")["result"]
    assert refused["isError"]
    assert "run the tool again" in refused["content"][0]["text"]


def test_what_only_the_outer_one_finds_large_is_held_there(inner: Serving) -> None:
    address = f"http://127.0.0.1:{inner.port}/mcp"
    low = ["--set", "hard_output_token_cap=2500", "--set", "output_token_threshold=2000"]
    with serve("--upstream", address, *low, command=()) as tight:
        client = tight.client()
        client.initialize()
        client.request("tools/list")
        first = client.call("list_bookings")["result"]
        record = record_of(first)
        assert record is not None
        assert record["estimatedTokens"] <= 2_500
        outer_cursor = following(first)
        more = client.call("brimgate_read", cursor=outer_cursor)["result"]
        assert not more.get("isError")


def test_a_stdio_client_in_front_of_a_served_brimgate(inner: Serving) -> None:
    address = f"http://127.0.0.1:{inner.port}/mcp"
    with RawClient([*BRIMGATE, "run", "--upstream", address, "--chained"]) as client:
        client.request("initialize", HELLO)
        client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        client.request("tools/list")
        results = [client.request("tools/call", {"name": "list_bookings", "arguments": {}})["result"]]
        while cursor := following(results[-1]):
            params = {"name": "brimgate_read", "arguments": {"cursor": cursor}}
            results.append(client.request("tools/call", params)["result"])
    assert rebuild(results) == WHOLE


@pytest.mark.parametrize("path", ["/sse", f"/sse/{quote(Path(DEMO[0]).name)}"], ids=["alone", "by name"])
def test_the_older_way_is_known_by_its_address(inner: Serving, path: str) -> None:
    with RawClient([*BRIMGATE, "run", "--upstream", f"http://127.0.0.1:{inner.port}{path}"]) as client:
        assert client.request("initialize", HELLO)["result"]["serverInfo"]["name"] == "brimgate-demo"


def test_a_brimgate_that_is_not_named_as_one_is_a_server_like_any_other(inner: Serving) -> None:
    """Anyone can say that an answer is bounded, and what its notice says."""
    with serve("--upstream", f"http://127.0.0.1:{inner.port}/mcp", command=()) as plain:
        client = plain.client()
        client.initialize()
        client.request("tools/list")
        result = client.call("list_bookings")["result"]
        assert result["content"][0]["text"].startswith("[from the server] [brimgate] items")
        assert "brimgate/result" not in result.get("_meta", {})


# A shell in front of one


def shell(line: str) -> str:
    """What a command line of ours prints."""
    words = shlex.split(line.replace("…", ""))
    done = subprocess.run(
        [*BRIMGATE, *words[1:]],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_shell_gets_the_reply_as_it_is_and_the_next_command_to_copy(inner: Serving) -> None:
    address = f"http://127.0.0.1:{inner.port}/mcp"
    client = inner.client()
    client.initialize()
    [notice, *rest] = shell(f"brimgate call {address} list_bookings").splitlines()
    expected = "\n".join(block["text"] for block in client.call("list_bookings")["result"]["content"])
    assert rest == expected.splitlines()[1:]
    command = re.search(r"more: (brimgate call \S+ brimgate_read cursor=\S+) \(or add query=", notice)
    assert command is not None and address in command[1] and "(cursor=" not in notice
    shown = re.search(r"items #0-(\d+) of 500", notice)
    assert shown is not None
    assert f"items #{int(shown[1]) + 1}-" in shell(command[1]).splitlines()[0]
    counted = shell(f"{command[1]} query='SELECT count(*) FROM t'")
    assert "query over t (500 rows)" in counted and "500" in counted.splitlines()[1]
    found = shell(f"{command[1]} search=payment_failed").splitlines()[0]
    assert "matching items 1-2 of 2, of 500" in found


def test_one_section_is_told_in_words_of_the_shell(inner: Serving) -> None:
    notice = shell(f"brimgate call http://127.0.0.1:{inner.port}/mcp list_listings").splitlines()[0]
    command = re.search(r"everything: (\S.*), one section: add (path=\S+)", notice)
    assert command is not None
    assert "/result/0" in shell(f"{command[1]} {command[2]}")


def test_what_the_inner_one_lets_pass_is_not_reduced_by_the_shell(inner: Serving) -> None:
    """Over the budget of the shell, and under the hard cap."""
    with serve("--set", "enabled=false", command=DEMO) as generous:
        address = f"http://127.0.0.1:{generous.port}/mcp"
        whole = json.loads(shell(f"brimgate call --json {address} list_bookings limit=40"))
        assert len(json.dumps(whole)) > 12_000
        shown = shell(f"brimgate call --budget 1000 {address} list_bookings limit=40")
        assert "[brimgate]" not in shown and all(str(one["id"]) in shown for one in whole["result"])


def test_headers_are_repeated_without_their_secrets(inner: Serving) -> None:
    address = f"http://127.0.0.1:{inner.port}/mcp"
    printed = shell(f"brimgate call --header 'Authorization: Bearer s3cret' {address} list_bookings")
    assert "--header 'Authorization: •••'" in printed and "s3cret" not in printed
