"""No secret that passes through us, or that we are configured with, is left in a log, in health or in a file."""

import json
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from brimgate.guard.static_keys import digest_of, new_key
from tests.conformance.processes import free_port
from tests.http.raw_upstream import Called, RawUpstream, Script, into, raw_upstream
from tests.http.serving import FAULTY, Serving, modern, serve, text_of, wait_until
from tests.http.test_entrance import ask, bearer, commanded

SCRIPTS: dict[str, Script] = {
    "initialize": lambda called: called.result("hello", "Mcp-Session-Id: one"),
    "notifications/initialized": lambda called: called.answer(b"", status="202 Accepted"),
}
script = into(SCRIPTS)


def told(called: Called) -> str:
    """All that a careless server repeats: what it was sent, and where."""
    return f"{called.target} {called.headers} {called.body.decode()}"


@script
def page(called: Called) -> object:
    return called.answer(told(called).encode(), status="500 Internal Server Error", kind="text/html")


@script
def refused(called: Called) -> object:
    challenge = f'WWW-Authenticate: Bearer error_description="{called.header("authorization")}"'
    return called.answer(told(called).encode(), challenge, status="401 Unauthorized", kind="text/plain")


@script
def error(called: Called) -> object:
    failure = {"code": -32099, "message": told(called), "data": told(called)}
    message = {"jsonrpc": "2.0", "id": called.json["id"], "error": failure}
    return called.answer(json.dumps(message).encode())


@script
def no_message(called: Called) -> object:
    return called.answer(json.dumps({"detail": told(called)}).encode())


@script
def no_json(called: Called) -> object:
    return called.answer(told(called).encode())


@script
def cut(called: Called) -> object:
    called.head("200 OK", "application/json", "Content-Length: 100000")
    called.send(b'{"jsonrpc":"2.0","id":' + told(called).encode())
    return False


@script
def odd_event(called: Called) -> object:
    called.begin_stream()
    called.send(b"data: " + told(called).encode() + b"\n\n")
    return False


@script
def moved(called: Called) -> object:
    return called.answer(
        b"", f"Location: http://127.0.0.1:1/{called.header('authorization')}", status="302 Found"
    )


@script
def bad_head(called: Called) -> object:
    called.send(f"HTTP/1.1 {called.header('authorization')}\r\nX {told(called)}\r\n\r\n".encode())
    return False


TOOLS = ("page", "refused", "error", "no_message", "no_json", "cut", "odd_event", "moved", "bad_head", "fine")


@dataclass
class Canaries:
    """Every secret by where it is put."""

    made: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, place: str) -> str:
        return self.made.setdefault(place, f"canary{secrets.token_hex(12)}")

    def found_in(self, text: str) -> list[str]:
        return [place for place, secret in self.made.items() if secret in text]


@contextmanager
def gate(
    folder: Path, upstream: RawUpstream, canaries: Canaries, form: str
) -> Iterator[tuple[Serving, dict[str, str]]]:
    key = new_key()
    canaries.made["key"] = key
    canaries.made["digest"] = digest_of(key).removeprefix("sha256:")
    document = {
        "upstreams": {
            "url": {
                "url": f"{upstream.url}?apikey={canaries['query of a url']}",
                "headers": {
                    "Authorization": f"Bearer {canaries['header in YAML']}",
                    "X-Key": "${CANARY_KEY}",
                },
            },
            "gone": {"url": f"http://127.0.0.1:{free_port()}/mcp?apikey={canaries['query of a dead url']}"},
            "pipes": commanded(FAULTY) | {"env": {"API_TOKEN": canaries["env in YAML"]}},
            "absent": {"command": "no-such-command", "args": ["--token", canaries["argument of a command"]]},
        },
        "auth": {"mode": "static", "keys": {"ann": [digest_of(key)]}, "legacy_query_token": True},
        "limits": {"requests": 10_000, "sessions": 100},
        "server": {"grace_seconds": 0, "health_interval_seconds": 1},
        "log_format": form,
        "log_level": "debug",
    }
    config = folder / "brimgate.yaml"
    config.write_text(json.dumps(document))
    env = {"CANARY_KEY": canaries["environment"], "BRIMGATE_STATE_DIR": str(folder / "state")}
    with serve("--config", str(config), command=(), env=env) as serving:
        yield serving, bearer(key)


@pytest.mark.parametrize("form", ["text", "json"])
def test_no_secret_is_left_anywhere(tmp_path: Path, form: str) -> None:
    canaries = Canaries()
    with raw_upstream(SCRIPTS) as upstream, gate(tmp_path, upstream, canaries, form) as (serving, known):
        behind_a_url(serving, known, canaries)
        behind_pipes(serving, known, canaries)
        strangers(serving, canaries)
        odd_requests(serving, known, canaries)
        health = wait_until(lambda: checked(serving, known), "all upstreams were checked")
        serving.stop()
        log = "\n".join(serving.all_lines())
        sent = "".join(map(told, upstream.calls))
    assert "header in YAML" in canaries.found_in(sent) and "environment" in canaries.found_in(sent)
    assert canaries.found_in(health) == []
    assert canaries.found_in(log) == [], [line for line in log.splitlines() if canaries.found_in(line)][:5]
    assert "Traceback" not in log and "internal_error" not in log
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "brimgate.yaml"]
    for path in files:
        assert canaries.found_in(path.read_bytes().decode("latin-1")) == [], path


def checked(serving: Serving, known: dict[str, str]) -> str:
    answer = ask(serving, "GET", "/health", known)
    states = [one["status"] for one in answer.json["checks"].values()]
    return answer.body.decode() if "unknown" not in states and "unhealthy" in states else ""


def behind_a_url(serving: Serving, known: dict[str, str], canaries: Canaries) -> None:
    client = serving.client(path="/mcp/url", **known, **{"x-api-key": canaries["x-api-key"]})
    client.initialize()
    for number, tool in enumerate(TOOLS):
        params = {"name": tool, "arguments": {"password": canaries["argument"]}}
        client.connection = serving.connect()
        client.post({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
        modern(serving, "tools/call", params, path="/mcp/url", authorization=known["authorization"])
    assert serving.client(path="/mcp/gone", **known).initialize().status == 503
    assert serving.client(path="/mcp/absent", **known).initialize().status == 503


def behind_pipes(serving: Serving, known: dict[str, str], canaries: Canaries) -> None:
    client = serving.client(path="/mcp/pipes", **known)
    client.initialize()
    assert text_of(client.call("echo", text=canaries["argument of a command's tool"]))
    for tool in ("rpc_error", "error_result", "rows"):
        client.call(tool, text=canaries["argument of a failing tool"])
    client.call("no_such_tool", token=canaries["argument of an unknown tool"])
    client.call("brimgate_read", cursor=canaries["cursor"], no_such=canaries["odd argument"])
    client.call("die", text=canaries["argument of a tool that dies"])


def strangers(serving: Serving, canaries: Canaries) -> None:
    for name in ("authorization", "x-api-key", "cookie", "x-upstream-token", "proxy-authorization"):
        ask(serving, "POST", "/mcp/pipes", {name: f"Bearer {canaries[f'stranger {name}']}"})
    ask(serving, "POST", "/mcp/pipes", {"authorization": f"Basic {canaries['another scheme']}"})
    ask(
        serving,
        "POST",
        "/mcp/pipes",
        {"authorization": f"Bearer {canaries['two words']} {canaries['two words']}"},
    )
    for path in ("/mcp/pipes", "/sse/pipes", "/messages/pipes", "/health", "/nowhere", "/sse/ticket"):
        for name in ("token", "ticket", "access_token", "sessionId"):
            ask(serving, "GET", f"{path}?{name}={canaries[f'query {name}']}", {})
            ask(serving, "POST", f"{path}?{name}={canaries[f'query {name}']}", {})


def odd_requests(serving: Serving, known: dict[str, str], canaries: Canaries) -> None:
    secret = canaries["odd body"]
    bodies: list[Any] = [
        f'{{"token":"{secret}"'.encode(),
        {"jsonrpc": "2.0", "id": secret, "method": 5},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": secret},
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": secret}},
        [[secret]],
    ]
    for body in bodies:
        for path in ("/mcp/pipes", "/mcp/gone"):
            ask(serving, "POST", path, known | {"mcp-session-id": canaries["session id"]}, body)
            ask(serving, "POST", path, known | {"mcp-protocol-version": canaries["version"]}, body)
    ask(serving, "POST", "/mcp/pipes", known | {"content-type": f"text/{canaries['content type']}"})
    ask(serving, "GET", "/sse/pipes?token=" + canaries["wrong query token"], {})
    with socket.create_connection(("127.0.0.1", serving.port)) as opened:
        opened.sendall(f"GET /mcp {canaries['broken request']}\r\n: {secret}\r\n\r\n".encode())
        opened.recv(1_000)


@pytest.mark.parametrize(
    "auth",
    [
        {"mode": "static", "keys": {"ann": ["{}"]}},
        {"mode": "static", "keys": {"ann": [digest_of("x") + "{}"]}},
        {"mode": "introspection", "client_secret": "{}"},
        {"mode": "introspection", "client_secret": ["{}"]},
    ],
)
def test_a_start_that_fails_tells_no_secret(tmp_path: Path, auth: dict[str, Any]) -> None:
    canary = f"canary{secrets.token_hex(12)}"
    config = tmp_path / "brimgate.yaml"
    document = {"upstreams": {"pipes": commanded(FAULTY)}, "auth": auth, "log_level": "debug"}
    config.write_text(json.dumps(document).replace("{}", canary))
    with serve("--config", str(config), command=()) as serving:
        assert serving.process.wait(60) == 2
        assert not [line for line in serving.all_lines() if canary in line]
