"""What upstreams get for each caller: their own credentials, on every way to them, and never anybody else's."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.config.running import BRIMGATE, check, environment
from tests.http.callers import STDIO, Keys, serving_for, write_config
from tests.http.raw_upstream import Called, RawUpstream, raw_upstream
from tests.http.serving import PATIENCE, LegacyClient, Serving, exchange, modern, wait_until
from tests.http.test_life import call
from tests.http.wire import ask, request

KEYS = Keys("alice", "bob")
HEADER = {"from": "X-Upstream-Token", "as": "Authorization: Bearer {}"}
ECHO, OTHER = ({"name": name, "arguments": {}} for name in ("echo", "other"))
JSON = b"Content-Type: application/json"


def answer_greeting(called: Called) -> bool:
    result = {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "raw", "version": "1"},
    }
    body = {"jsonrpc": "2.0", "id": called.json["id"], "result": result}
    return called.answer(json.dumps(body).encode(), "Mcp-Session-Id: theirs")


def take_note(called: Called) -> bool:
    return called.answer(b"", status="202 Accepted", kind="")


def stand(called: Called) -> None:
    called.begin_stream()
    called.wait_for_end()


STREAMABLE = {
    "initialize": answer_greeting,
    "notifications/initialized": take_note,
    "GET": stand,
    "DELETE": take_note,
}


class SseScripts:
    """A server of 2024-11-05: it answers each client on its stream."""

    def __init__(self) -> None:
        self.streams: list[Called] = []
        self.scripts = {"GET": self.listen, "initialize": self.greet, "notifications/initialized": take_note}
        self.scripts |= {"echo": self.echo}

    def listen(self, called: Called) -> None:
        self.streams.append(called)
        called.begin_stream()
        called.send(b"event: endpoint\ndata: /messages?%d\n\n" % self.streams.index(called))
        called.wait_for_end()

    def greet(self, called: Called) -> bool:
        who = {"name": "old", "version": "1"}
        result = {"protocolVersion": "2024-11-05", "capabilities": {}, "serverInfo": who}
        line = json.dumps({"jsonrpc": "2.0", "id": called.json["id"], "result": result}).encode()
        return self.say(called, line)

    def echo(self, called: Called) -> bool:
        return self.say(called, called.written("ok"))

    def say(self, called: Called, line: bytes) -> bool:
        self.streams[int(called.target.rpartition("?")[2])].send(b"data: " + line + b"\n\n")
        return take_note(called)


@contextmanager
def upstream_of(kind: str) -> Iterator[tuple[RawUpstream, dict[str, Any]]]:
    with raw_upstream(dict(SseScripts().scripts if kind == "sse" else STREAMABLE)) as upstream:
        yield upstream, {"url": upstream.url, "transport": kind}


def opened(serving: Serving, **headers: str) -> LegacyClient:
    client = serving.client(**headers)
    assert client.initialize().status == 200
    return client


@pytest.mark.parametrize("kind", ["http", "sse"])
def test_the_credential_of_a_second_header_is_sent_with_everything(tmp_path: Path, kind: str) -> None:
    with upstream_of(kind) as (upstream, where):
        one = where | {"upstream_credential": HEADER}
        with serving_for(tmp_path, KEYS.auth(), one) as serving:
            checked = {id(called) for called in upstream.calls}
            client = opened(serving, **KEYS.of("alice"), **{"x-upstream-token": "tok-alice"})
            assert "result" in client.call("echo")
            if kind == "http":
                client.delete()
            theirs = [one for one in upstream.calls if one.header("authorization") and id(one) not in checked]
            assert {one.header("authorization") for one in theirs} == {"Bearer tok-alice"}
            wanted = {"initialize", "notifications/initialized", "echo"}
            wanted |= {"DELETE"} if kind == "http" else {"GET"}
            assert wanted <= {one.name for one in theirs}
            for called in upstream.calls:
                assert called.header("x-upstream-token") is None
                assert KEYS.key["alice"] not in str(called.headers)


def test_old_clients_of_a_newer_server_bring_theirs_too(tmp_path: Path) -> None:
    """Their conversation is ours to lead: also its standing stream and its end have the credential."""
    with upstream_of("http") as (upstream, where):
        one = where | {"upstream_credential": HEADER}
        with serving_for(tmp_path, KEYS.auth(), one) as serving:
            headers = KEYS.of("alice") | {"x-upstream-token": "tok-alice", "content-type": "application/json"}
            connection = serving.connect()
            connection.request("GET", "/sse", headers=headers)
            stream = serving.answer_of(connection)
            assert stream.status == 200
            address = _data(stream)
            hello = {
                "protocolVersion": "2024-11-05",
                "capabilities": {},
                "clientInfo": {"name": "t", "version": "1"},
            }
            for message in (
                {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello},
                {"jsonrpc": "2.0", "method": "notifications/initialized"},
                call(1, "echo"),
            ):
                assert exchange(serving.connect(), "POST", address, message, headers).status == 202
            assert json.loads(_data(stream))["id"] == 0
            assert json.loads(_data(stream))["id"] == 1
            serving.cut(stream)
            wait_until(lambda: _of(upstream, "DELETE"), "the end of the session")
            for name in ("initialize", "notifications/initialized", "echo", "GET", "DELETE"):
                assert {one.header("authorization") for one in _of(upstream, name)} == {"Bearer tok-alice"}, (
                    name
                )


def _of(upstream: RawUpstream, name: str) -> list[Called]:
    """Health checks have no credential, and end their session too."""
    return [one for one in upstream.calls if one.name == name and one.header("authorization")]


def _data(stream: Any) -> str:
    while not (line := stream.readline().decode()).startswith("data: "):
        assert line
    return line.removeprefix("data: ").strip()


@pytest.mark.parametrize("kind", ["http", "sse"])
def test_a_caller_without_a_credential_is_told_and_the_server_hears_nothing(
    tmp_path: Path, kind: str
) -> None:
    with upstream_of(kind) as (upstream, where):
        one = where | {"upstream_credential": HEADER}
        with serving_for(tmp_path, KEYS.auth(), one) as serving:
            for headers in ({}, {"x-upstream-token": ""}, {"x-upstream-token": "a\tb"}):
                answer = serving.client(**KEYS.of("alice"), **headers).post(call("mine", "echo"))
                assert (answer.status, answer.json["id"]) == (400 if headers else 403, "mine")
                assert answer.json["error"]["code"] == -32001
                assert "X-Upstream-Token" in answer.json["error"]["message"]
            twice = [b"X-Upstream-Token: a", b"X-Upstream-Token: b"]
            login = f"Authorization: {KEYS.of('alice')['authorization']}".encode()
            body = json.dumps(call(1, "echo")).encode()
            assert ask(serving, request(b"POST /mcp", JSON, login, *twice, body=body)).status == 400
            assert not [called for called in upstream.calls if called.name == "echo"]


def test_each_principal_has_the_credential_that_the_operator_gave_it(tmp_path: Path) -> None:
    with upstream_of("http") as (upstream, where):
        kept = {"per_principal": {"alice": "${ALICE_TOKEN}"}, "as": "X-Api-Key: {}"}
        with serving_for(
            tmp_path, KEYS.auth(), where | {"upstream_credential": kept}, env={"ALICE_TOKEN": "tok-alice"}
        ) as serving:
            answer = modern(serving, "tools/call", ECHO, authorization=KEYS.of("alice")["authorization"])
            assert answer.status == 200
            called = upstream.last("echo")
            assert (called.header("x-api-key"), called.header("authorization")) == ("tok-alice", None)
            refused = modern(serving, "tools/call", OTHER, authorization=KEYS.of("bob")["authorization"])
            assert (refused.status, refused.json["error"]["code"]) == (403, -32001)
            assert "per_principal" in refused.json["error"]["message"]
            assert "other" not in {one.name for one in upstream.calls}


def test_another_credential_is_another_caller_to_sessions(tmp_path: Path) -> None:
    with upstream_of("http") as (_, where):
        one = where | {"upstream_credential": HEADER}
        with serving_for(tmp_path, KEYS.auth(), one) as serving:
            client = opened(serving, **KEYS.of("alice"), **{"x-upstream-token": "first"})
            client.more["x-upstream-token"] = "second"
            answer = client.post(call(1, "echo"))
            assert (answer.status, answer.json["id"]) == (404, 1)


def test_no_credential_is_ever_written_down(tmp_path: Path) -> None:
    """Neither by the log at its most verbose, nor by errors, nor by `check`, nor by /health."""
    kept = {"per_principal": {"bob": "canary-kept"}, "from": "X-Upstream-Token"}
    with raw_upstream(
        {"echo": lambda called: called.answer(b"<p>no", status="500 No", kind="text/html")}
    ) as one:
        where = {"url": one.url, "upstream_credential": kept}
        with serving_for(tmp_path, KEYS.auth(), where, log_level="debug") as serving:
            answers = [
                serving.client(**KEYS.of("alice"), **{"x-upstream-token": "canary-shown"}).post(
                    call(1, "echo")
                ),
                serving.client(**KEYS.of("alice"), **{"x-upstream-token": "canary\tbad"}).post(
                    call(1, "echo")
                ),
                serving.client(**KEYS.of("bob")).post(call(1, "echo")),
            ]
            one.close()
            answers += [
                serving.client(**KEYS.of("bob")).post(call(1, "echo")),
                serving.get("/sse", **KEYS.of("bob")),
                serving.get("/health", **KEYS.of("bob")),
            ]
            checked = check(str(tmp_path / "brimgate.yaml"))
            assert checked.returncode == 0
            serving.stop()
        written = [*serving.all_lines(), checked.stdout, checked.stderr, *(str(one.body) for one in answers)]
        for secret in ("canary", *KEYS.key.values()):
            assert not [line for line in written if secret in line]


@pytest.mark.parametrize(
    ("upstream", "reason"),
    [
        (STDIO | {"upstream_credential": HEADER}, "a command has one environment"),
        (STDIO | {"upstream_credential": {"per_principal": {"alice": "x"}}}, "a command has one environment"),
        ({"pack": "hostaway", "upstream_credential": HEADER}, "an API has one account"),
        ({"upstream_credential": HEADER | {"as": "Bearer {}"}}, "must be a header with {}"),
        ({"upstream_credential": HEADER | {"as": "Authorization: Bearer"}}, "must be a header with {}"),
        ({"upstream_credential": HEADER | {"as": "Content-Length: {}"}}, "cannot hold a credential"),
        ({"upstream_credential": HEADER | {"as": "Mcp-Session-Id: {}"}}, "cannot hold a credential"),
        (
            {"upstream_credential": {"per_principal": {"alice": "x\r\nEvil: y"}}},
            "characters that no header may",
        ),
        (
            {"upstream_credential": HEADER, "headers": {"Authorization": "Bearer x"}},
            "both send authorization",
        ),
    ],
)
def test_what_cannot_work_is_refused_at_the_start(
    tmp_path: Path, upstream: dict[str, Any], reason: str
) -> None:
    where = {} if "command" in upstream or "pack" in upstream else {"url": "http://127.0.0.1:9/mcp"}
    said = refused_start(tmp_path, KEYS.auth(), where | upstream)
    assert reason in said
    assert "Evil" not in said


def refused_start(folder: Path, auth: dict[str, Any], *upstreams: dict[str, Any], **sections: Any) -> str:
    path = write_config(folder, auth, *upstreams, **sections)
    tried = subprocess.run(
        [*BRIMGATE, "serve", "--port", "0", "--config", str(path)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment(HOSTAWAY_ACCOUNT_ID="1", HOSTAWAY_API_KEY="k"),
        timeout=PATIENCE,
        check=False,
    )
    assert tried.returncode == 2, tried
    assert "Traceback" not in tried.stderr
    return tried.stderr


def test_names_need_callers_who_have_one(tmp_path: Path) -> None:
    one = {"url": "http://127.0.0.1:9/mcp", "upstream_credential": {"per_principal": {"alice": "x"}}}
    assert "needs `auth`" in refused_start(tmp_path, {"mode": "none"}, one)


def test_a_caller_that_is_let_in_does_not_log_in_again_for_the_server_behind_us(tmp_path: Path) -> None:
    def refuse(called: Called) -> bool:
        return called.answer(b"{}", status="401 Unauthorized")

    with (
        raw_upstream({"echo": refuse}) as upstream,
        serving_for(tmp_path, KEYS.auth(), {"url": upstream.url}) as serving,
    ):
        answer = modern(serving, "tools/call", ECHO, authorization=KEYS.of("alice")["authorization"])
        assert (answer.status, answer.json["id"]) == (502, 1)
        assert "refuses the credential" in answer.json["error"]["message"]
        assert "www-authenticate" not in answer.headers
