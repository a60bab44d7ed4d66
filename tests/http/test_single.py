"""Clients since 2026-07-28 in front of a stdio server: every POST stands for itself, and all share one process."""

import json
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

import pytest

from tests.http.serving import META, Answer, Serving, modern, next_event, serve, text_of, wait_until

SERVER = Path(__file__).with_name("modern_server.py")
LOG_LEVEL = "io.modelcontextprotocol/logLevel"


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("modern") / "journal"
    path.touch()  # any test may be the first
    return path


@pytest.fixture(scope="module")
def serving(journal: Path) -> Iterator[Serving]:
    with serve(command=[sys.executable, str(SERVER), str(journal)]) as started:
        yield started


def call(serving: Serving, tool: str, arguments: dict[str, Any] | None = None, **more: Any) -> Answer:
    return modern(serving, "tools/call", {"name": tool, "arguments": arguments or {}}, **more)


def begin(serving: Serving, method: str, params: dict[str, Any], key: Any = 1) -> HTTPResponse:
    """An exchange that is not over yet."""
    connection = serving.connect()
    headers = {
        "content-type": "application/json",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
    } | ({"mcp-name": params["name"]} if "name" in params else {})
    message = {"jsonrpc": "2.0", "id": key, "method": method, "params": {"_meta": META} | params}
    connection.request("POST", "/mcp", json.dumps(message), headers)
    return serving.answer_of(connection)


def test_a_call_is_answered_with_plain_json_under_its_own_id(serving: Serving) -> None:
    answer = call(serving, "echo", {"text": "hello"}, key="mine")
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert answer.json["id"] == "mine"
    assert text_of(answer.json) == "hello"
    assert "mcp-session-id" not in answer.headers


def test_all_exchanges_share_one_process(serving: Serving) -> None:
    pids = {text_of(call(serving, "pid").json) for _ in range(5)}
    assert len(pids) == 1


def test_the_same_ids_at_once_do_not_meet(serving: Serving) -> None:
    def ask(number: int) -> tuple[int, Answer]:
        arguments = {"text": f"secret {number}", "delay": 0.05 * (number % 3), "steps": 2}
        return number, call(serving, "echo", arguments, meta={"progressToken": "same"})

    with ThreadPoolExecutor(16) as pool:
        for number, answer in pool.map(ask, range(64)):
            secret = f"secret {number}"
            *steps, last = answer.messages
            assert (last["id"], text_of(last)) == (1, secret)
            assert [(step["params"]["message"], step["params"]["progressToken"]) for step in steps] == [
                (secret, "same")
            ] * 2


def test_a_large_answer_is_reduced_and_read_on(serving: Serving) -> None:
    text = "".join(f"line {number} of a long report about nothing in particular\n" for number in range(3_000))
    result = call(serving, "echo", {"text": text}).json["result"]
    record = result["_meta"]["brimgate/result"]
    assert result["resultType"] == "complete"
    assert record["total"]["bytes"] == len(text)
    arguments = {"cursor": record["nextCursor"]}
    more = call(serving, "brimgate_read", arguments).json["result"]
    assert more["_meta"]["brimgate/result"]["shown"]["from"] > 0
    refused = call(serving, "brimgate_read", arguments, mcp_name="echo")
    assert (refused.status, refused.json["error"]["code"]) == (400, -32020)


def test_the_list_has_our_tool_too(serving: Serving) -> None:
    names = [tool["name"] for tool in modern(serving, "tools/list").json["result"]["tools"]]
    assert names == ["echo", "city", "brimgate_read"]


def test_arguments_in_headers_are_checked_against_the_tool(serving: Serving) -> None:
    assert text_of(call(serving, "city", {"city": "Oslo"}, mcp_param_city="Oslo").json) == "Oslo"
    assert (
        text_of(call(serving, "city", {"city": "Århus"}, mcp_param_city="=?base64?w4VyaHVz?=").json)
        == "Århus"
    )
    for header in ("Bergen", "", "=?base64?w4VyaHVz"):
        answer = call(serving, "city", {"city": "Oslo"}, mcp_param_city=header)
        assert (answer.status, answer.json["error"]["code"]) == (400, -32020)
        assert answer.json["id"] == 1


def test_arguments_in_headers_are_checked_before_anybody_asked_for_the_list(tmp_path: Path) -> None:
    with serve(command=[sys.executable, str(SERVER), str(tmp_path / "journal")]) as fresh:
        assert call(fresh, "city", {"city": "Oslo"}, mcp_param_city="Bergen").status == 400
        assert text_of(call(fresh, "city", {"city": "Oslo"}, mcp_param_city="Oslo").json) == "Oslo"
        assert (tmp_path / "journal").read_text().count("list") == 1


@pytest.mark.parametrize(
    ("method", "status", "code"),
    [
        ("initialize", 404, -32601),
        ("ping", 404, -32601),
        ("unknown/method", 404, -32601),
        ("tools/call", 400, -32602),
    ],
)
def test_errors_have_the_status_of_their_code(serving: Serving, method: str, status: int, code: int) -> None:
    answer = modern(serving, method, {"name": "nope", "arguments": {}})
    assert (answer.status, answer.json["error"]["code"], answer.json["id"]) == (status, code, 1)


def test_there_is_neither_get_nor_delete(serving: Serving) -> None:
    answer = serving.get("/mcp", **{"mcp-protocol-version": "2026-07-28"})
    assert (answer.status, answer.headers["allow"]) == (405, "POST")


def notify(serving: Serving, method: str, params: dict[str, Any]) -> int:
    headers = {"content-type": "application/json", "mcp-protocol-version": "2026-07-28"}
    connection = serving.connect()
    body = {"jsonrpc": "2.0", "method": method, "params": params}
    connection.request("POST", "/mcp", json.dumps(body), headers)
    with connection.getresponse() as response:
        return response.status


def test_a_notification_is_passed_on(serving: Serving, journal: Path) -> None:
    assert notify(serving, "notifications/custom", {"note": 4711}) == 202
    wait_until(lambda: "4711" in journal.read_text(), "the notification")


def test_a_cancellation_of_nobodys_request_goes_nowhere(serving: Serving, journal: Path) -> None:
    assert notify(serving, "notifications/cancelled", {"requestId": 424242}) == 202
    assert text_of(call(serving, "echo").json) == "ok"
    assert "424242" not in journal.read_text()


def test_hanging_up_calls_the_request_off(serving: Serving, journal: Path) -> None:
    before = journal.read_text().count("cancelled")
    connection = serving.connect()
    params = {"name": "hang", "arguments": {}, "_meta": META}
    headers = {
        "content-type": "application/json",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "hang",
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    connection.request("POST", "/mcp", json.dumps(body), headers)
    assert text_of(call(serving, "echo").json) == "ok"  # the other has arrived by now, or soon will have
    connection.close()
    wait_until(lambda: journal.read_text().count("cancelled") > before, "a cancellation")


def test_a_subscription_hears_what_another_connection_caused(serving: Serving, journal: Path) -> None:
    response = begin(
        serving, "subscriptions/listen", {"notifications": {"toolsListChanged": True}}, key="sub"
    )
    assert response.getheader("content-type") == "text/event-stream"
    first = json.loads(next_event(response)["data"])
    assert first["method"] == "notifications/subscriptions/acknowledged"
    assert text_of(call(serving, "change").json) == "changed"
    told = json.loads(next_event(response)["data"])
    assert told["params"]["_meta"] == {"io.modelcontextprotocol/subscriptionId": "sub"}
    before = journal.read_text().count("cancelled")
    serving.cut(response)
    wait_until(lambda: journal.read_text().count("cancelled") > before, "the end of the subscription")


LOGGED = {LOG_LEVEL: "info"}


def logs_of(answer: Answer) -> list[Any]:
    return [one["params"]["data"] for one in answer.messages if "method" in one]


def test_logs_reach_the_call_that_caused_them(serving: Serving) -> None:
    assert logs_of(call(serving, "echo", {"text": "mine"}, meta=LOGGED)) == ["mine"] * 3


def test_logs_of_one_caller_never_reach_another(serving: Serving) -> None:
    def ask(number: int) -> tuple[int, Answer]:
        arguments = {"text": f"log {number % 4}", "delay": 0.02}
        return number, call(
            serving, "echo", arguments, meta=LOGGED, authorization=f"Bearer caller {number % 4}"
        )

    with ThreadPoolExecutor(8) as pool:
        for number, answer in pool.map(ask, range(16)):
            logs = logs_of(answer)
            assert len(logs) >= 3
            assert set(logs) == {f"log {number % 4}"}


def test_logs_reach_only_those_who_asked_for_them_or_for_their_level(serving: Serving) -> None:
    quiet = begin(serving, "subscriptions/listen", {}, key="quiet")
    next_event(quiet)
    with ThreadPoolExecutor(2) as pool:
        slow = {"text": "slow", "delay": 0.5}
        unasked = pool.submit(call, serving, "echo", slow)
        severe = pool.submit(call, serving, "echo", slow, meta={LOG_LEVEL: "error"})
        assert logs_of(call(serving, "echo", {"text": "loud"}, meta=LOGGED)) == ["loud"] * 3
        assert logs_of(unasked.result()) == []
        assert logs_of(severe.result()) == []
    assert text_of(call(serving, "change").json) == "changed"
    assert "list_changed" in next_event(quiet)["data"]


def test_whoever_listens_with_logs_blocks_nobody(serving: Serving) -> None:
    listening = begin(serving, "subscriptions/listen", {"_meta": META | LOGGED}, key="sub")
    next_event(listening)
    hanging = begin(serving, "tools/call", {"name": "hang", "arguments": {}, "_meta": META | LOGGED})
    pids = {text_of(call(serving, "pid", meta=meta).messages[-1]) for meta in (LOGGED, {})}
    assert len(pids) == 1
    assert text_of(call(serving, "change", meta=LOGGED).messages[-1]) == "changed"
    assert "list_changed" in next_event(listening)["data"]
    # What one of them loses is no loss for the others.
    with ThreadPoolExecutor(1) as pool:
        under_way = pool.submit(call, serving, "echo", {"text": "whole", "delay": 0.5}, meta=LOGGED)
        serving.cut(hanging)
        assert text_of(under_way.result().messages[-1]) == "whole"
    assert text_of(call(serving, "pid").json) in pids
    serving.cut(listening)


def test_a_process_per_client_keeps_the_programs_of_one_caller_apart(tmp_path: Path) -> None:
    def who(name: str) -> dict[str, Any]:
        return {"io.modelcontextprotocol/clientInfo": {"name": name, "version": "1"}} | LOGGED

    command = [sys.executable, str(SERVER), str(tmp_path / "journal")]
    with serve("--set", "process=per_client", command=command) as strict, ThreadPoolExecutor(2) as pool:
        slow = pool.submit(call, strict, "echo", {"text": "one", "delay": 0.5}, meta=who("one"))
        other = call(strict, "echo", {"text": "other"}, meta=who("other"))
        assert logs_of(other) == ["other"] * 3
        assert logs_of(slow.result()) == ["one"] * 3
        pids = [text_of(call(strict, "pid", meta=who(name)).messages[-1]) for name in ("one", "one", "other")]
        assert pids[0] == pids[1] != pids[2]


def test_a_process_that_dies_fails_its_calls_and_the_next_one_finds_another(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    with serve(command=[sys.executable, str(SERVER), str(journal)]) as fresh:
        before = text_of(call(fresh, "pid").json)
        answer = call(fresh, "die")
        assert "exited with code 3" in answer.json["error"]["message"]
        assert text_of(call(fresh, "pid").json) != before
        assert journal.read_text().count("start") == 2


def test_eras_never_share_a_process(serving: Serving, journal: Path) -> None:
    starts = journal.read_text().count("start")
    serving.client().initialize()
    wait_until(lambda: journal.read_text().count("start") == starts + 1, "a process for the session")


def test_a_batch_is_no_single_exchange(serving: Serving) -> None:
    connection = serving.connect()
    headers = {"content-type": "application/json", "mcp-protocol-version": "2026-07-28"}
    connection.request("POST", "/mcp", b'[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]', headers)
    with connection.getresponse() as response:
        assert response.status == 400
