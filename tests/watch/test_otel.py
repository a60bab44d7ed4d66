"""OpenTelemetry: a client's trace goes through real processes to a real upstream, and a real collector sees all of it."""

import json
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="the extra `otel` is not installed")

from tests.config.running import gateway
from tests.http.raw_upstream import Called, RawUpstream, Script, into, raw_upstream
from tests.http.serving import Serving, modern, serve, wait_until
from tests.watch.collector import Collector, SeenSpan, collector

SCRIPTED = Path(__file__).parents[1] / "http" / "scripted_server.py"
ON = ("--set", "telemetry.otel=true")
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{SPAN}-01"
OTHER = "00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-01"
CONTEXT = {"traceparent": PARENT, "tracestate": "vendor=1,other=x", "baggage": "user=7"}
DURATIONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
SCRIPTS: dict[str, Script] = {}
script = into(SCRIPTS)


@script
def initialize(called: Called) -> object:
    told = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "raw"}}
    return called.answer(called.message(result=told), "Mcp-Session-Id: upstream-1")


SCRIPTS["notifications/initialized"] = lambda called: called.answer(b"", status="202 Accepted", kind="")
SCRIPTS["GET"] = lambda called: called.answer(b"", status="405 Method Not Allowed", kind="")


@script
def silent(called: Called) -> None:
    called.wait_for_end()


@pytest.fixture
def seen() -> Iterator[Collector]:
    with collector() as started:
        yield started


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "journal"


@pytest.fixture
def upstream() -> Iterator[RawUpstream]:
    with raw_upstream(SCRIPTS) as started:
        yield started


def scripted(journal: Path) -> list[str]:
    return [sys.executable, str(SCRIPTED), str(journal)]


def say(text: str = "ok", **meta: Any) -> dict[str, Any]:
    result = json.dumps({"content": [{"type": "text", "text": text}]})
    line = f'{{"jsonrpc":"2.0","id":$ID,"result":{result}}}'
    return {"name": "say", "arguments": {"lines": [line]}} | ({"_meta": meta} if meta else {})


def sent_to(journal: Path, method: str) -> list[dict[str, Any]]:
    """What the upstream got."""
    read = [json.loads(line) for line in journal.read_bytes().splitlines()]
    return [one for one in read if one.get("method") == method]


def check_pair(server: SeenSpan, client: SeenSpan) -> None:
    assert client.trace == server.trace and client.parent == server.id and client.id != server.id
    assert server.name == client.name
    assert server.began <= client.began <= client.ended <= server.ended


def open_client(serving: Serving, **headers: str) -> Any:
    client = serving.client(**headers)
    client.initialize()
    return client


# A client's trace


def test_a_call_over_stdio_is_two_spans_and_the_upstream_is_told(seen: Collector, journal: Path) -> None:
    with gateway(*ON, command=scripted(journal), env=seen.env) as client:
        client.greet()
        client.request("tools/call", say(**CONTEXT, progressToken="p"))
        server = seen.wait_for("tools/call say")
        onward = seen.wait_for("tools/call say", "client")
        check_pair(server, onward)
        assert (server.trace, server.parent, server.state) == (TRACE, SPAN, CONTEXT["tracestate"])
        assert server.attributes | {
            "brimgate.result.tokens.before": 0,
            "brimgate.result.tokens.after": 0,
        } == {
            "mcp.method.name": "tools/call",
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "say",
            "jsonrpc.request.id": "2",
            "mcp.protocol.version": "2025-06-18",
            "network.transport": "pipe",
            "brimgate.upstream": server.attributes["brimgate.upstream"],
            "brimgate.outcome": "passed",
            "brimgate.result.tokens.before": 0,
            "brimgate.result.tokens.after": 0,
        }
        assert server.attributes["brimgate.result.tokens.before"] > 0
        assert (
            onward.attributes["network.transport"] == "pipe" and not onward.is_error and not server.is_error
        )
        assert server.resource["service.name"] == "brimgate" and server.resource["service.instance.id"]
        (got,) = sent_to(journal, "tools/call")
        told = {"traceparent": f"00-{TRACE}-{onward.id}-01", "progressToken": "p"}
        assert got["params"]["_meta"] == CONTEXT | told
        assert seen.wait_for("initialize").attributes["mcp.method.name"] == "initialize"
        assert seen.wait_for("initialize", "client").parent == seen.wait_for("initialize").id


@pytest.mark.parametrize("era", ["older", "newer"])
def test_a_call_over_http_begins_in_meta_and_links_to_the_header(
    seen: Collector, journal: Path, era: str
) -> None:
    with serve(*ON, command=scripted(journal), env=seen.env) as serving:
        if era == "newer":
            modern(serving, "tools/call", say(), key="mine", meta=CONTEXT, traceparent=OTHER)
        else:
            client = open_client(serving)
            message = {"jsonrpc": "2.0", "id": "mine", "method": "tools/call", "params": say(**CONTEXT)}
            client.post(message, traceparent=OTHER)
        server, onward = seen.wait_for("tools/call say"), seen.wait_for("tools/call say", "client")
        check_pair(server, onward)
        assert (server.trace, server.parent) == (TRACE, SPAN)
        assert server.links == (("a" * 32, "b" * 16),) and onward.links == ()
        assert server.attributes["jsonrpc.request.id"] == "mine"
        assert server.attributes["network.transport"] == "tcp"
        assert onward.attributes["network.transport"] == "pipe"
        version = "2026-07-28" if era == "newer" else "2025-11-25"
        assert server.attributes["mcp.protocol.version"] == version
        assert ("mcp.session.id" in server.attributes) is (era == "older")
        meta = sent_to(journal, "tools/call")[-1]["params"]["_meta"]
        assert {name: meta[name] for name in CONTEXT} == CONTEXT | {
            "traceparent": f"00-{TRACE}-{onward.id}-01"
        }


def test_without_meta_the_header_is_the_parent_and_its_state_travels_on(
    seen: Collector, journal: Path
) -> None:
    with serve(*ON, command=scripted(journal), env=seen.env) as serving:
        open_client(serving).request("tools/call", say(), **CONTEXT)
        server, onward = seen.wait_for("tools/call say"), seen.wait_for("tools/call say", "client")
        assert (server.trace, server.parent, server.links) == (TRACE, SPAN, ())
        (got,) = sent_to(journal, "tools/call")
        assert got["params"]["_meta"] == CONTEXT | {"traceparent": f"00-{TRACE}-{onward.id}-01"}


def test_a_chain_of_two_is_one_trace(seen: Collector, journal: Path) -> None:
    inner = serve(*ON, command=scripted(journal), env=seen.env | {"OTEL_SERVICE_NAME": "inner"})
    with inner as behind:
        url = f"http://127.0.0.1:{behind.port}/mcp"
        outer = serve(*ON, "--upstream", url, command=(), env=seen.env | {"OTEL_SERVICE_NAME": "outer"})
        with outer as serving:
            open_client(serving).request("tools/call", say(**CONTEXT))
            seen.wait_for("tools/call say", "client", 2)
            seen.wait_for("tools/call say", "server", 2)
    spans = {
        (one.resource["service.name"], one.kind): one for one in seen.spans if one.name == "tools/call say"
    }
    order = [spans[who, kind] for who in ("outer", "inner") for kind in ("server", "client")]
    assert [one.parent for one in order] == [SPAN, *(one.id for one in order[:-1])]
    assert {one.trace for one in order} == {TRACE}
    (got,) = sent_to(journal, "tools/call")
    assert got["params"]["_meta"]["traceparent"] == f"00-{TRACE}-{order[-1].id}-01"


def test_an_upstream_with_a_url_gets_it_in_header_and_meta(seen: Collector, upstream: RawUpstream) -> None:
    params = {"name": "ask", "arguments": {}, "_meta": CONTEXT}
    with serve(*ON, "--upstream", upstream.url, command=(), env=seen.env) as serving:
        open_client(serving).request("tools/call", params, traceparent=OTHER, baggage="other=1")
    with gateway(*ON, "--upstream", upstream.url, command=[], env=seen.env) as client:
        client.greet()
        client.request("tools/call", params)
        spans = [seen.wait_for("tools/call ask", "client", number) for number in (1, 2)]
    calls = [one for one in upstream.calls if one.name == "ask"]
    assert len(calls) == 2
    for called, span in zip(calls, spans, strict=True):
        parent = f"00-{TRACE}-{span.id}-01"
        assert called.json["params"]["_meta"] == CONTEXT | {"traceparent": parent}
        assert {name: called.header(name) for name in CONTEXT} == CONTEXT | {"traceparent": parent}
        assert sum(name == "traceparent" for name, _ in called.headers) == 1
        assert span.attributes["server.address"] == "127.0.0.1"
        assert span.attributes["server.port"] == upstream.port
        assert span.attributes["network.transport"] == "tcp"


def test_an_untraced_gateway_forwards_the_headers_of_a_trace(upstream: RawUpstream) -> None:
    with serve("--upstream", upstream.url, command=()) as serving:
        open_client(serving).request("tools/call", {"name": "ask", "arguments": {}}, **CONTEXT)
    called = upstream.last("ask")
    assert {name: called.header(name) for name in CONTEXT} == CONTEXT
    assert "_meta" not in called.json["params"]


def test_a_rest_api_has_spans_too(seen: Collector) -> None:
    with serve(*ON, "--sandbox", "--pack", "hostaway", command=(), env=seen.env) as serving:
        client = open_client(serving)
        tool = client.request("tools/list")["result"]["tools"][0]["name"]
        client.call(tool)
        server = seen.wait_for(f"tools/call {tool}")
        check_pair(server, seen.wait_for(f"tools/call {tool}", "client"))


# What else passes


def test_every_request_has_spans_and_our_own_tool_only_one(seen: Collector) -> None:
    with gateway(*ON, "--budget", "1000", env=seen.env) as client:
        client.greet()
        client.request("ping")
        client.request("tools/list")
        client.request("resources/read", {"uri": "book://1"})
        client.request("prompts/get", {"name": "hello"})
        page = client.call("rows")
        cursor = page["result"]["content"][0]["text"].partition('cursor="')[2].partition('"')[0]
        client.call("brimgate_read", cursor=cursor)
        for name in ("ping", "tools/list", "resources/read", "prompts/get hello", "tools/call rows"):
            check_pair(seen.wait_for(name), seen.wait_for(name, "client"))
        read = seen.wait_for("tools/call brimgate_read")
        assert read.attributes["brimgate.outcome"] == "read"
    assert not [one for one in seen.spans if one.name == read.name and one.kind == "client"]
    assert seen.wait_for("resources/read").attributes["mcp.resource.uri"] == "book://1"
    assert seen.wait_for("prompts/get hello").attributes["gen_ai.prompt.name"] == "hello"
    rows = seen.wait_for("tools/call rows").attributes
    assert rows["brimgate.outcome"] == "page"
    assert rows["brimgate.result.tokens.before"] > 10_000 > rows["brimgate.result.tokens.after"] > 0


def test_each_request_of_a_batch_has_spans(seen: Collector, journal: Path) -> None:
    with gateway(*ON, command=scripted(journal), env=seen.env) as client:
        client.greet()
        requests = [{"jsonrpc": "2.0", "id": key, "method": "ping"} for key in ("a", "b")]
        client.send([*requests, {"jsonrpc": "2.0", "method": "notifications/x"}])
        client.answer_to("a")
        client.answer_to("b")
        spans = [seen.wait_for("ping", "client", number) for number in (1, 2)]
    (batch,) = [
        got for line in journal.read_bytes().splitlines() if isinstance(got := json.loads(line), list)
    ]
    assert [one.get("id") for one in batch] == ["a", "b", None]
    told = {one["params"]["_meta"]["traceparent"].split("-")[2] for one in batch[:2]}
    assert told == {one.id for one in spans} and "params" not in batch[2]


# Errors


def error_of(span: SeenSpan) -> tuple[bool, Any, Any]:
    return (
        span.is_error,
        span.attributes.get("error.type"),
        span.attributes.get("rpc.response.status_code"),
    )


def test_errors_have_a_type(seen: Collector) -> None:
    with gateway(*ON, "--set", "call_timeout_seconds=0.5", env=seen.env) as client:
        client.greet()
        client.call("error_result")
        client.call("rpc_error")
        client.call("hang")
        client.call("die")
        for kind in ("server", "client"):
            assert error_of(seen.wait_for("tools/call error_result", kind)) == (True, "tool_error", None)
            assert error_of(seen.wait_for("tools/call rpc_error", kind)) == (True, "-32042", "-32042")
        assert error_of(seen.wait_for("tools/call hang")) == (True, "-32000", "-32000")
        assert error_of(seen.wait_for("tools/call hang", "client")) == (True, "timeout", None)
        assert error_of(seen.wait_for("tools/call die")) == (True, "-32000", "-32000")
        assert error_of(seen.wait_for("tools/call die", "client")) == (True, "lost", None)
        assert seen.point("mcp.server.operation.duration", {"error.type": "-32042"}).count == 1


def test_a_cancelled_call_ends(seen: Collector) -> None:
    with gateway(*ON, env=seen.env) as client:
        client.greet()
        key = client.begin("tools/call", {"name": "hang", "arguments": {}})
        client.send({"method": "notifications/cancelled", "params": {"requestId": key}})
        for kind in ("server", "client"):
            assert error_of(seen.wait_for("tools/call hang", kind)) == (True, "cancelled", None)


def test_a_call_whose_client_has_gone_ends(seen: Collector, upstream: RawUpstream) -> None:
    with serve(*ON, "--upstream", upstream.url, command=(), env=seen.env) as serving:
        connection = serving.connect()
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "silent"}}
        headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        connection.request("POST", "/mcp", json.dumps(message), headers)
        upstream.last("silent")
        connection.close()
        assert error_of(seen.wait_for("tools/call silent")) == (True, "cancelled", None)


def test_calls_under_way_end_with_the_process(seen: Collector) -> None:
    with serve(*ON, "--set", "server.grace_seconds=0.1", env=seen.env) as serving:
        client = open_client(serving)
        client.begin({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "hang"}})
        serving.stop(signal.SIGTERM)
    assert error_of(seen.wait_for("tools/call hang")) == (True, "cancelled", None)


def test_a_hidden_tool_never_reaches_the_upstream(seen: Collector, tmp_path: Path) -> None:
    config = tmp_path / "brimgate.yaml"
    config.write_text("context_protection: {tools: {echo: {hidden: true}}}", encoding="utf-8")
    with gateway(*ON, "--config", str(config), env=seen.env) as client:
        client.greet()
        client.call("echo")
        assert error_of(seen.wait_for("tools/call echo")) == (True, "-32602", "-32602")
    assert not [one for one in seen.spans if one.name == "tools/call echo" and one.kind == "client"]


# What is not sent


def test_nothing_of_content_or_callers_is_sent_unless_asked_for(seen: Collector, journal: Path) -> None:
    secret = {"name": "say", "arguments": {"key": "hidden-argument", **say("hidden-result")["arguments"]}}
    with serve(*ON, "--set", "auth.mode=none", command=scripted(journal), env=seen.env) as serving:
        open_client(serving).request("tools/call", secret)
        seen.wait_for("tools/call say", "client")
        seen.point("brimgate.result.tokens", {"stage": "before"})
    assert not [body for body in seen.bodies if b"hidden" in body or b"principal" in body]


def test_content_is_sent_where_that_is_asked_for_and_is_cut(seen: Collector, journal: Path) -> None:
    content = ("--set", "telemetry.otel_content=true")
    with gateway(*ON, *content, "--budget", "50000", command=scripted(journal), env=seen.env) as client:
        client.greet()
        client.request("tools/call", say("begins " + "x" * 50_000))
        about = seen.wait_for("tools/call say").attributes
        assert about["gen_ai.tool.call.result"].startswith("begins xxx")
        assert about["gen_ai.tool.call.arguments"].startswith('{"lines":')
        assert max(map(len, (about["gen_ai.tool.call.arguments"], about["gen_ai.tool.call.result"]))) <= 8_000


def test_names_from_outside_are_bounded(seen: Collector) -> None:
    with gateway(*ON, env=seen.env) as client:
        client.greet()
        client.call("t" * 100_000)
        client.request("m" * 100_000)
        seen.wait_for(f"tools/call {'t' * 200}")
        seen.wait_for("m" * 200)
    assert max(len(body) for body in seen.bodies) < 50_000


def test_off_is_as_if_there_were_nothing(tmp_path: Path) -> None:
    lines = [
        b'{"jsonrpc":"2.0","id":1.0,"method":"ping","params":{"_meta":{"traceparent":"'
        + PARENT.encode()
        + b'"},"a":1e2,"a":2}}',
        b'{ "id" : "x" , "jsonrpc":"2.0","method":"ping"}',
        b'[{"jsonrpc":"2.0","id":5,"method":"ping"} , {"jsonrpc":"2.0","method":"notifications/x"}]',
    ]
    env = {"OTEL_SDK_DISABLED": "true"}
    for number, (options, more) in enumerate([((), {}), (ON, env)]):
        journal = tmp_path / str(number)
        with gateway(*options, command=scripted(journal), env=more) as client:
            for line in lines:
                client.send_line(line)
            for _ in lines:
                client.receive()
        assert journal.read_bytes().splitlines() == lines


def test_the_sampler_decides_and_the_upstream_is_told_so(seen: Collector, journal: Path) -> None:
    env = seen.env | {"OTEL_TRACES_SAMPLER": "always_off"}
    with gateway(*ON, command=scripted(journal), env=env) as client:
        client.greet()
        client.request("tools/call", say(traceparent=PARENT))
        assert seen.point("mcp.client.operation.duration", {"gen_ai.tool.name": "say"}).count == 1
    assert seen.spans == []
    (got,) = sent_to(journal, "tools/call")
    assert got["params"]["_meta"]["traceparent"][:36] == f"00-{TRACE}-"
    assert got["params"]["_meta"]["traceparent"][-3:] == "-00" and SPAN not in str(got)


def test_the_standard_variables_are_honoured(seen: Collector) -> None:
    env = {"OTEL_SERVICE_NAME": "ours", "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test"}
    with gateway(*ON, env=seen.env | env | {"OTEL_METRICS_EXPORTER": "none"}) as client:
        client.greet()
        resource = seen.wait_for("initialize").resource
        assert resource["service.name"] == "ours" and resource["deployment.environment.name"] == "test"
    assert seen.metrics == {}


# Metrics


def test_metrics(seen: Collector) -> None:
    with serve(*ON, "--budget", "1000", env=seen.env) as serving:
        client = open_client(serving)
        client.call("rows")
        client.request("ping")
        server = seen.point("mcp.server.operation.duration", {"gen_ai.tool.name": "rows"})
        onward = seen.point("mcp.client.operation.duration", {"gen_ai.tool.name": "rows"})
        assert server.unit == onward.unit == "s" and server.bounds == onward.bounds == DURATIONS
        about = {"mcp.method.name": "tools/call", "gen_ai.tool.name": "rows"}
        assert server.attributes == about | {"network.transport": "tcp"}
        assert onward.attributes == about | {"network.transport": "pipe"}
        assert seen.point("mcp.server.operation.duration", {"mcp.method.name": "ping"}).count == 1
        for stage in ("before", "after"):
            tokens = seen.point("brimgate.result.tokens", {"stage": stage})
            assert tokens.unit == "{token}" and tokens.bounds == tuple(250 * 2**n for n in range(11))
            assert tokens.attributes == {
                "stage": stage,
                "gen_ai.tool.name": "rows",
                "brimgate.outcome": "page",
            }
            assert seen.point("brimgate.result.bytes", {"stage": stage}).count == 1
        client.delete()
        assert seen.point("mcp.server.session.duration").attributes == {"network.transport": "tcp"}


def test_tools_that_somebody_makes_up_are_one(seen: Collector) -> None:
    with gateway(*ON, env=seen.env) as client:
        client.greet()
        for number in range(250):
            client.call(f"made_up_{number}")
        wait_until(
            lambda: seen.point("mcp.server.operation.duration", {"gen_ai.tool.name": "_other"}).count >= 50,
            "the rest",
        )
    tools = {one.attributes.get("gen_ai.tool.name") for one in seen.metrics.values()} - {None}
    assert len(tools) == 201


# A collector that does not do what it should


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])


def check_undisturbed(env: dict[str, str], seen: Collector | None = None) -> None:
    """Answers come, the log stays short, and the process ends."""
    with gateway(*ON, env=env) as client:
        client.greet()
        for number in range(300):
            assert client.call("echo", text=str(number))["result"]["content"][0]["text"] == str(number)
        if seen is not None:
            wait_until(lambda: seen.posts > 0, "a try")
        began = time.monotonic()
        assert client.close() == 0
        ended = time.monotonic() - began
        lines = [line for line in client.rest_of_log() if "opentelemetry" in line or "otel" in line]
    assert len(lines) < 10, lines
    assert ended < 30, "nothing waits for the timeout of an export"


def test_nobody_listens() -> None:
    port = closed_port()
    check_undisturbed(Collector(port=port).env)


def test_it_answers_500() -> None:
    with collector(status=500) as one:
        check_undisturbed(one.env, one)


def test_it_never_answers() -> None:
    with collector(is_silent=True) as one:
        check_undisturbed(one.env | {"OTEL_EXPORTER_OTLP_TIMEOUT": "600"}, one)


# At the start


def test_missing_packages_are_named_before_anything_is_started(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nsys.modules['opentelemetry.exporter'] = None\n", encoding="utf-8"
    )
    env = {"PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    with gateway(*ON, env=env) as client:
        assert client.process.wait(60) == 2
        told = "\n".join(client.rest_of_log())
    assert "pip install 'brimgate[otel]'" in told and "opentelemetry-exporter-otlp-proto-http" in told
