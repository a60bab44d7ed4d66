"""One event: every answer on every path makes exactly one decision, and all decisions have the same fields."""

import json
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, cast

import pytest

pytest.importorskip("fastmcp", reason="FastMCP is not installed")

import mcp_types as mt
from anyio.from_thread import start_blocking_portal
from fastmcp import Client, FastMCP
from fastmcp.tools.base import Tool, ToolResult

from brimgate.config.declarations import Override
from brimgate.engine.decision import Decision, Outcome, item_count
from brimgate.engine.document import Document
from brimgate.engine.tokens.estimator import Estimator
from brimgate.fastmcp import BrimgateMiddleware
from brimgate.rest import BrimgateMiddleware as RestMiddleware
from tests.answer_shapes import SHAPES
from tests.config.running import gateway
from tests.fastmcp.talking import Talk
from tests.http.serving import LegacyClient, Serving, exchange, modern, serve
from tests.in_process import Here
from tests.relay.conversation import policy, record_of
from tests.relay.rawclient import RawClient
from tests.rest.serving import Served, serve_alone
from tests.systems.hostaway import hostaway
from tests.telling_server import answer_to, over_http

TIMES: Final = int(os.environ.get("BRIMGATE_DECISIONS", "20"))
"""How often each answer is asked for; `make soak` asks far more often."""
Fields = dict[str, Any]
ASKED: Final[dict[Outcome, str]] = {
    "passed": "small_list",
    "rendered": "indented",
    "page": "large_list",
    "preview": "flat_object",
    "chunk": "prose",
}
"""Answers that have these outcomes within 1,000 tokens, whatever the path."""
TEXTS: Final = {shape: SHAPES[shape].decode() for shape in (*ASKED.values(), "short_prose")}
OUTCOMES: Final[tuple[Outcome, ...]] = (*ASKED, "read", "refused", "error")
NUMBERS: Final = (
    "originalTokens",
    "estimatedTokens",
    "originalBytes",
    "responseBytes",
    "itemCount",
    "itemsShown",
)
_KINDS: Final[dict[type, tuple[str, ...]]] = {
    str: ("outcome", "upstream", "tool", "principal", "client", "estimateMethod", "arm"),
    int: NUMBERS,
    float: ("engineMs", "upstreamMs", "latency", "reductionPercent"),
    bool: ("cursorIssued", "cursorFollowed", "paginationUsed", "summarizationUsed", "chunkingUsed"),
}
TYPES: Final = {name: kind for kind, names in _KINDS.items() for name in names}
ISSUING: Final[tuple[Outcome, ...]] = ("page", "preview", "chunk", "read")
ISSUING_OVER_REST: Final[tuple[Outcome, ...]] = ("page", "chunk", "read")
"""A preview over REST leads to the rest by another request to the application."""
_OF_THE_LOG: Final = ("time", "level", "event")


# What is checked of all decisions


def decisions_in(lines: Sequence[str]) -> list[Fields]:
    """The decisions in a log of JSON lines. It must be complete: a log may leave lines out."""
    told = [json.loads(line) for line in lines if line.startswith("{")]
    assert not [line for line in told if line["event"] == "lines_left_out"]
    found = [line for line in told if line["event"] == "decision"]
    return [{name: value for name, value in line.items() if name not in _OF_THE_LOG} for line in found]


def check_fields(decision: Fields, issuing: Sequence[Outcome] = ISSUING) -> None:
    reasoned = {"reason"} if "reason" in decision else set[str]()
    assert set(decision) == set(TYPES) | reasoned
    assert {name: type(decision[name]) for name in TYPES} == TYPES
    assert not [name for name in NUMBERS if decision[name] < 0]
    assert not reasoned or (decision["reason"] and decision["outcome"] in ("refused", "error"))
    assert decision["engineMs"] >= 0 and decision["upstreamMs"] >= 0
    assert decision["estimateMethod"] == "claude" and decision["upstream"] and decision["tool"]
    outcome: Outcome = decision["outcome"]
    assert decision["cursorIssued"] is (outcome in issuing)
    assert decision["cursorFollowed"] is (outcome == "read")
    if outcome == "passed":
        assert decision["originalBytes"] == decision["responseBytes"]
        assert decision["originalTokens"] == decision["estimatedTokens"]
        assert decision["itemCount"] == decision["itemsShown"]
    elif outcome not in ("refused", "error"):
        assert decision["originalBytes"] >= decision["responseBytes"]
        assert decision["itemsShown"] <= decision["itemCount"]


def check_answer(decision: Fields, shape: str) -> None:
    """Check what must be the same wherever the answer came from."""
    document = Document(SHAPES[shape])
    assert decision["itemCount"] == item_count(document, policy(1_000))
    assert decision["originalTokens"] == document.tokens(Estimator())
    if decision["outcome"] in ("passed", "rendered"):
        assert decision["itemsShown"] == decision["itemCount"]
    if decision["outcome"] == "page":
        assert 0 < decision["itemsShown"] < decision["itemCount"]


def check_all(
    decisions: Sequence[Fields],
    outcomes: Sequence[Outcome] = OUTCOMES,
    times: int = TIMES,
    asked: "dict[Outcome, str] | None" = None,
    issuing: Sequence[Outcome] = ISSUING,
) -> None:
    """Check that there are so many of each outcome, in this order, and not one more of any kind."""
    shapes = ASKED | (asked or {})
    assert [one["outcome"] for one in decisions] == [outcome for outcome in outcomes for _ in range(times)]
    for decision in decisions:
        check_fields(decision, issuing)
        outcome: Outcome = decision["outcome"]
        if outcome in shapes or outcome == "read":
            check_answer(decision, shapes.get(outcome, shapes["page"]))
    assert len({(one["principal"], one["client"], one["upstream"]) for one in decisions}) == 1
    for outcome in outcomes:
        alike = [one for one in decisions if one["outcome"] == outcome]
        # The text of cursors varies.
        varying = (
            "engineMs",
            "upstreamMs",
            "latency",
            "responseBytes",
            "estimatedTokens",
            "reductionPercent",
        )
        kept = [{name: value for name, value in one.items() if name not in varying} for one in alike]
        assert all(one == kept[0] for one in kept), outcome


def check_times(decisions: Sequence[Fields], without: Sequence[Outcome] = ("read", "refused")) -> None:
    for decision in decisions:
        assert (decision["upstreamMs"] > 0) is (decision["outcome"] not in without), decision


# The relay, as processes


def configured(folder: Path, **upstream: Any) -> list[str]:
    """The options for a gateway in front of the telling server, with one budget for all shapes."""
    answers = folder / "answers.json"
    answers.write_text(json.dumps(TEXTS), encoding="utf-8")
    server = str(Path(__file__).with_name("telling_server.py"))
    upstream = upstream or {"command": sys.executable, "args": ["-I", "-S", server, str(answers)]}
    budgets = dict.fromkeys(("output_token_threshold", "object_threshold", "chunk_threshold"), 1_000)
    rules = {"open": {"enabled": False}, "secret": {"hidden": True}}
    told = {"context_protection": budgets | {"tools": rules}, "upstreams": {"telling": upstream}}
    path = folder / "brimgate.yaml"
    path.write_text(json.dumps(told), encoding="utf-8")
    return ["--config", str(path), "--log-level", "debug", "--log-format", "json"]


Caller = RawClient | LegacyClient


def ask_for(client: Caller, outcome: Outcome, cursor: str = "") -> dict[str, Any]:
    match outcome:
        case "read":
            return client.call("brimgate_read", cursor=cursor)
        case "refused":
            return client.call("brimgate_read", cursor="no such cursor")
        case "error":
            return client.call("fail")
        case _:
            return client.call("tell", shape=ASKED[outcome])


def ask_all(client: Caller, times: int = TIMES) -> None:
    """Ask for each outcome so many times, and in between for what is no answer."""
    cursor = ""
    for outcome in OUTCOMES:
        for _ in range(times):
            result = ask_for(client, outcome, cursor)["result"]
            assert bool(result.get("isError")) is (outcome in ("refused", "error"))
            if outcome == "page":
                cursor = record_of(result)["nextCursor"]
        client.request("tools/list")
        client.request("ping")


def ask_others(client: Caller) -> list[tuple[str, str]]:
    """Ask for all kinds of answers, and return the tool and outcome that each should be told by."""
    told: list[tuple[str, str]] = []
    for outcome, shape in ASKED.items():
        client.request("resources/read", {"uri": f"telling://{shape}"})
        client.request("prompts/get", {"name": shape})
        client.request("tasks/result", {"taskId": shape})
        told += [(method, outcome) for method in ("resources/read", "prompts/get", "tasks/result")]
        client.call("open", shape=shape)
        told.append(("open", "passed"))
    for tool, outcome in (("secret", "refused"), ("break", "error"), ("nobody", "error")):
        client.call(tool)
        told.append((tool, outcome))
    client.request("tools/list")
    client.request("resources/list")
    return told


def told_by(decisions: Sequence[Fields]) -> list[tuple[str, str]]:
    return [(one["tool"], one["outcome"]) for one in decisions]


def batch(cursor: str = "no such cursor") -> list[dict[str, Any]]:
    calls: list[tuple[str, dict[str, Any]]] = [("tell", {"shape": shape}) for shape in ASKED.values()]
    calls += [("fail", {}), ("break", {}), ("secret", {}), ("brimgate_read", {"cursor": cursor})]
    requests = [("tools/call", {"name": name, "arguments": given}) for name, given in calls]
    requests += [("ping", {}), ("tools/list", {})]
    return [
        {"jsonrpc": "2.0", "id": 1_000 + at, "method": method, "params": params}
        for at, (method, params) in enumerate(requests)
    ]


IN_A_BATCH: Final = Counter([*ASKED, "error", "error", "refused", "refused"])


def test_the_relay_on_stdio_tells_every_answer_once(tmp_path: Path) -> None:
    with gateway(*configured(tmp_path), command=[]) as client:
        client.greet()
        ask_all(client)
        client.close()
        decisions = decisions_in(client.rest_of_log())
    check_all(decisions)
    check_times(decisions)


def test_the_relay_on_stdio_tells_answers_of_all_kinds(tmp_path: Path) -> None:
    with gateway(*configured(tmp_path), command=[]) as client:
        client.greet()
        wanted = ask_others(client)
        client.close()
        decisions = decisions_in(client.rest_of_log())
    assert told_by(decisions) == wanted
    for decision in decisions:
        check_fields(decision)


def test_each_element_of_a_batch_has_its_decision_on_stdio(tmp_path: Path) -> None:
    with gateway(*configured(tmp_path), command=[]) as client:
        client.greet()
        client.send(cast("list[Any]", batch()))
        answered: set[int] = set()
        while len(answered) < len(batch()):
            answered |= {one["id"] for one in client.receive()}
        client.close()
        decisions = decisions_in(client.rest_of_log())
    assert Counter(one["outcome"] for one in decisions) == IN_A_BATCH
    for decision in decisions:
        check_fields(decision)


@contextmanager
def served(folder: Path, way: str) -> Iterator[Serving]:
    """`brimgate serve` in front of a command, or of a URL."""
    if way == "command":
        with serve(*configured(folder), command=()) as serving:
            yield serving
        return
    with (
        serve_alone(over_http(TEXTS)) as upstream,
        serve(*configured(folder, url=f"http://127.0.0.1:{upstream.port}/mcp"), command=()) as serving,
    ):
        yield serving


def decisions_of(serving: Serving) -> list[Fields]:
    """Stop it, and return all decisions that it has logged."""
    serving.close_connections()
    serving.stop()
    return decisions_in(serving.all_lines())


WAYS: Final = ("command", "url")


@pytest.mark.parametrize("way", WAYS)
def test_a_gateway_over_http_tells_every_answer_once(tmp_path: Path, way: str) -> None:
    with served(tmp_path, way) as serving:
        client = serving.client()
        client.initialize()
        ask_all(client)
        decisions = decisions_of(serving)
    check_all(decisions)
    check_times(decisions)


@pytest.mark.parametrize("way", WAYS)
def test_a_gateway_over_http_tells_answers_of_all_kinds(tmp_path: Path, way: str) -> None:
    with served(tmp_path, way) as serving:
        client = serving.client()
        client.initialize()
        wanted = ask_others(client)
        decisions = decisions_of(serving)
    assert told_by(decisions) == wanted
    for decision in decisions:
        check_fields(decision)


@pytest.mark.parametrize("way", WAYS)
def test_each_element_of_a_batch_has_its_decision_over_http(tmp_path: Path, way: str) -> None:
    with served(tmp_path, way) as serving:
        client = serving.client("2025-03-26")
        client.initialize()
        answer = client.post(batch())
        assert answer.status == 200
        decisions = decisions_of(serving)
    assert Counter(one["outcome"] for one in decisions) == IN_A_BATCH
    for decision in decisions:
        check_fields(decision)


def test_clients_without_a_handshake_have_their_decisions_too(tmp_path: Path) -> None:
    with served(tmp_path, "url") as serving:
        for shape in ASKED.values():
            answer = modern(serving, "tools/call", {"name": "tell", "arguments": {"shape": shape}})
            assert answer.status == 200
        decisions = decisions_of(serving)
    assert [one["outcome"] for one in decisions] == [*ASKED]
    for decision in decisions:
        check_fields(decision)


@pytest.mark.parametrize("way", WAYS)
def test_fifty_clients_at_once_have_ten_decisions_each(tmp_path: Path, way: str) -> None:
    troubles: list[BaseException] = []
    clients, calls = 50, 10

    def visit(serving: Serving) -> None:
        try:
            client = serving.client()
            client.initialize()
            for at in range(calls):
                client.call("tell", shape=[*ASKED.values()][at % len(ASKED)])
        except BaseException as error:  # noqa: BLE001  # told by the test
            troubles.append(error)

    with served(tmp_path, way) as serving:
        assert serving.port
        visitors = [threading.Thread(target=visit, args=(serving,)) for _ in range(clients)]
        for visitor in visitors:
            visitor.start()
        for visitor in visitors:
            visitor.join(200)
        assert not troubles
        decisions = decisions_of(serving)
    assert Counter(one["outcome"] for one in decisions) == dict.fromkeys(ASKED, clients * calls // len(ASKED))
    for decision in decisions:
        check_fields(decision)


# Upstreams that fail


def _page(status: int, body: bytes, kind: bytes = b"text/html") -> Any:
    """An upstream that shakes hands, and answers all else with the same page."""
    well = over_http(TEXTS)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        event = await receive()

        async def again() -> Any:
            return event

        if b"initialize" in event.get("body", b""):
            await well(scope, again, send)
            return
        await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", kind)]})
        await send({"type": "http.response.body", "body": body})

    return app


PAGES: Final[dict[str, Any]] = {
    "500": _page(500, b"<h1>Oops</h1>"),
    "500 in JSON": _page(500, b'{"detail": "oops"}', b"application/json"),
    "no message": _page(200, b"<h1>Hello</h1>"),
    "no events": _page(200, b": bye\n\n", b"text/event-stream"),
}


@pytest.mark.parametrize("together", [False, True], ids=["alone", "batch"])
@pytest.mark.parametrize("page", PAGES)
def test_calls_that_get_no_answer_have_one_decision_each(
    tmp_path: Path, page: str, *, together: bool
) -> None:
    calls = [
        {"jsonrpc": "2.0", "id": at, "method": "tools/call", "params": {"name": "tell", "arguments": {}}}
        for at in range(3)
    ]
    with (
        serve_alone(PAGES[page]) as upstream,
        serve(*configured(tmp_path, url=f"http://127.0.0.1:{upstream.port}/mcp"), command=()) as serving,
    ):
        client = serving.client("2025-03-26")
        client.initialize()
        for message in [calls] if together else calls:
            client.post(message)
        decisions = decisions_of(serving)
    assert [one["outcome"] for one in decisions] == ["error"] * len(calls)
    for decision in decisions:
        check_fields(decision)
        assert decision["reason"]


def test_a_server_that_dies_has_one_decision_for_each_call(tmp_path: Path) -> None:
    options = configured(tmp_path, command=sys.executable, args=["-c", "input()"])
    with gateway(*options, command=[]) as client:
        client.request("initialize", {"protocolVersion": "2025-06-18"})
        for _ in range(3):
            assert "error" in client.call("tell")
        client.close()
        decisions = decisions_in(client.rest_of_log())
    assert [one["outcome"] for one in decisions] == ["error"] * 3
    for decision in decisions:
        check_fields(decision)


# A declared API


def test_a_declared_api_tells_every_answer_once_over_mcp_and_over_rest(tmp_path: Path) -> None:
    outcomes: tuple[Outcome, ...] = ("page", "read", "refused", "error")
    with hostaway(tmp_path, log_level="debug", log_format="json") as system:
        serving = system.serving
        client, rest = serving.client(), serving.connect()
        client.initialize()

        def get(path: str) -> Any:
            return exchange(rest, "GET", f"/api/v1{path}", None, {"user-agent": "test 1"})

        page = client.call("list_reservations")["result"]
        first = get("/reservations").json
        rest_paths = {
            "page": "/reservations",
            "read": f"/reservations?cursor={first['nextCursor']}",
            "refused": "/reservations?cursor=none",
            "error": "/reservations/999999999",
        }
        for outcome in outcomes:
            for _ in range(TIMES):
                match outcome:
                    case "page":
                        client.call("list_reservations")
                    case "read":
                        client.call("brimgate_read", cursor=record_of(page)["nextCursor"])
                    case "refused":
                        client.call("brimgate_read", cursor="none")
                    case _:
                        client.call("get_reservation", reservation_id=999_999_999)
                get(rest_paths[outcome])
        decisions = decisions_of(serving)[2:]
    told = [(one["outcome"], one["tool"].startswith("/")) for one in decisions]
    assert told == [pair for one in outcomes for _ in range(TIMES) for pair in ((one, False), (one, True))]
    for decision in decisions:
        check_fields(decision)
        if decision["outcome"] in ("page", "read"):
            assert decision["itemCount"] == decisions[0]["itemCount"] > decision["itemsShown"] > 0
        if decision["outcome"] != "read":  # which may have to fetch more of the list
            assert (decision["upstreamMs"] > 0) is (decision["outcome"] != "refused")


# In process


class _Telling(Tool):
    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        answer = answer_to(
            {"id": 1, "method": "tools/call", "params": {"name": self.name, "arguments": arguments}}, TEXTS
        )
        assert answer is not None
        return ToolResult.from_mcp_result(mt.CallToolResult.model_validate(answer["result"]))


def check_told(told: Sequence[Decision], unasked: Sequence[Outcome] = ("read", "refused")) -> list[Fields]:
    """Check the times as exactly as they were taken, and return the fields."""
    for one in told:
        assert one.engine_seconds >= 0
        assert (one.upstream_seconds > 0) is (one.outcome not in unasked), one
    return [one.fields() for one in told]


def test_fastmcp_tells_every_answer_once() -> None:
    told: list[Decision] = []
    rules = {"open": Override(enabled=False), "secret": Override(hidden=True)}
    server = FastMCP(
        "telling", middleware=[BrimgateMiddleware(policy(1_000), tools=rules, report=told.append)]
    )
    for name in ("tell", "open", "fail", "secret"):
        server.add_tool(_Telling(name=name, parameters={"type": "object"}))

    @server.resource("telling://{shape}")
    def resource(shape: str) -> str:
        return TEXTS[shape]

    @server.prompt
    def prompt() -> str:
        return TEXTS["prose"]

    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(server)) as client,
    ):
        talk, cursor = Talk(portal, client), ""
        for outcome in OUTCOMES:
            for _ in range(TIMES):
                match outcome:
                    case "read":
                        result = talk.read(cursor=cursor)
                    case "refused":
                        result = talk.read(cursor="no such cursor")
                    case "error":
                        result = talk.use("fail")
                    case _:
                        result = talk.use("tell", shape=ASKED[outcome])
                cursor = record_of(result)["nextCursor"] if outcome == "page" else cursor
            talk.tools()
        check_all(check_told(told))
        told.clear()
        for shape in ASKED.values():
            talk.resource(f"telling://{shape}")
            talk.use("open", shape=shape)
        talk.prompt("prompt")
        talk.use("secret")
        wanted = [(one, which) for which in ASKED for one in ("resources/read", "open")]
        wanted = [(tool, "passed" if tool == "open" else which) for tool, which in wanted]
        assert told_by([one.fields() for one in told]) == [
            *wanted,
            ("prompts/get", "chunk"),
            ("secret", "refused"),
        ]
        for one in check_told(told):
            check_fields(one)


def rest_app(told: Callable[[Decision], None], **options: Any) -> RestMiddleware:
    async def app(scope: Any, _receive: Any, send: Any) -> None:
        shape = scope["path"].rpartition("/")[2]
        body = TEXTS.get(shape, "it went wrong").encode()
        kind = b"application/json" if body[:1] in b"[{" else b"text/plain; charset=utf-8"
        status = 200 if shape in TEXTS else 500
        await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", kind)]})
        await send({"type": "http.response.body", "body": body})

    rules = {"/open/*": Override(enabled=False), "/secret": Override(hidden=True)}
    return RestMiddleware(app, policy(1_000), endpoints=rules, report=told, **options)


def test_rest_tells_every_answer_once() -> None:
    told: list[Decision] = []
    with serve_alone(rest_app(told.append)) as served_app:
        cursor = ""
        for outcome in OUTCOMES:
            for _ in range(TIMES):
                answer = ask_rest(served_app, outcome, cursor)
                cursor = answer.json["nextCursor"] if outcome == "page" else cursor
    check_all(check_told(told), issuing=ISSUING_OVER_REST)


def ask_rest(app: Served, outcome: Outcome, cursor: str) -> Any:
    match outcome:
        case "read":
            return app.ask("/large_list", cursor=cursor)
        case "refused":
            return app.ask("/large_list", cursor="none")
        case "error":
            return app.ask("/broken")
        case _:
            return app.ask(f"/{ASKED[outcome]}")


def test_rest_tells_the_unprotected_the_hidden_and_the_wrong_query() -> None:
    told: list[Decision] = []
    with serve_alone(rest_app(told.append)) as app:
        for shape in ASKED.values():
            app.ask(f"/open/{shape}")
        app.ask("/secret")
        app.ask("/large_list", limit="many")
        app.ask("/prose", fields="a")
        app.ask("/small_list", "HEAD")
    assert [one.outcome for one in told] == ["passed"] * len(ASKED) + ["refused"] * 3 + ["passed"]
    for one in told[: len(ASKED)]:
        assert one.original_bytes == one.response_bytes == len(TEXTS[one.tool.rpartition("/")[2]].encode())
    for one in told[len(ASKED) : -1]:
        check_fields(one.fields())


def test_an_answer_that_is_too_large_over_rest_has_its_reason() -> None:
    told: list[Decision] = []
    with serve_alone(rest_app(told.append, max_bytes=10_000)) as app:
        assert app.ask("/large_list").status == 502
    (decision,) = [one.fields() for one in told]
    check_fields(decision)
    assert decision["outcome"] == "error" and "larger" in str(decision["reason"])


# The shell


LOGGED: Final = {"BRIMGATE_LOG_LEVEL": "debug", "BRIMGATE_LOG_FORMAT": "json"}


def test_reduce_and_read_tell_every_answer_once(here: Here) -> None:
    decisions: list[Fields] = []

    def run(*words: str, answer: bytes = b"") -> bytes:
        ended = here(*words, stdin=answer, **LOGGED)
        decisions.extend(decisions_in(ended.stderr.decode().splitlines()))
        return ended.stdout

    for shape in ASKED.values():
        for _ in range(TIMES):
            run("reduce", "-", "--budget", "1000", answer=SHAPES[shape])
    first = json.loads(run("reduce", "-", "--budget", "1000", "--json", answer=SHAPES["large_list"]))
    assert decisions.pop()["outcome"] == "page"
    for _ in range(TIMES):
        run("read", first["result"]["nextCursor"], "--budget", "1000")
    for _ in range(TIMES):
        run("read", "none")
    check_all(decisions, (*ASKED, "read", "refused"))
    assert {one["upstreamMs"] for one in decisions} == {0}


def test_call_tells_every_answer_once(tmp_path: Path, here: Here) -> None:
    """Twenty times each, because every call starts a server."""
    outcomes: tuple[Outcome, ...] = ("passed", "rendered", "page", "preview", "chunk", "error")
    asked: dict[Outcome, str] = {"passed": "short_prose", "rendered": "small_list"}
    options = [*configured(tmp_path)[:2], "--log-level", "debug"]
    decisions: list[Fields] = []
    for outcome in outcomes:
        for _ in range(20):
            words = ["fail"] if outcome == "error" else ["tell", f"shape={(ASKED | asked)[outcome]}"]
            ended = here("call", *options, "telling", *words, **LOGGED)
            assert ended.returncode == (1 if outcome == "error" else 0), ended.stderr
            decisions += decisions_in(ended.stderr.decode().splitlines())
    check_all(decisions, outcomes, 20, asked)
    check_times(decisions)


def test_a_call_that_fails_has_all_fields_too(tmp_path: Path, here: Here) -> None:
    options = [*configured(tmp_path)[:2], "--log-level", "debug"]
    for words in (["telling", "break"], ["http://127.0.0.1:9/mcp", "tell"]):
        ended = here("call", *options, *words, **LOGGED)
        (decision,) = decisions_in(ended.stderr.decode().splitlines())
        check_fields(decision)
        assert decision["outcome"] == "error" and decision["reason"]
