"""A Brimgate in front of a Brimgate: what the inner one bounded passes, and the cursors of both lead to their ends."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from brimgate.testing.bookings import bookings
from tests.config.running import BRIMGATE
from tests.http.serving import DEMO, LegacyClient, Serving, serve
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
